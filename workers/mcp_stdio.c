/* mcp-stdio (`agent-intercom mcp`): MCP over stdin and stdout for one agent.
 *
 * A relay to mcp-front's Unix socket: one JSON message per line in both directions. It opens no
 * database. If none of the user's is running, it takes that of the machine, for several users, if
 * there is one that serves them, or else starts the user's, detached. When the front dies,
 * it reconnects to the next one and repeats the requests that have no answer yet: the front knows
 * them by their ids.
 *
 * Reads and writes no table. Outside: stdin, stdout, <run>/mcp.sock,
 * /run/agent-intercom/mcp.sock, $XDG_RUNTIME_DIR/agent-intercom.sock, starting agent-intercom. */
#include "clock.h"
#include "contact.h"
#include "instance.h"
#include "io.h"
#include "json.h"
#include "json_writer.h"
#include "lines.h"
#include "log.h"
#include "options.h"
#include "reach.h"
#include "rpc.h"
#include "signals.h"
#include "workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

enum {
	MAX_LINE = 4 << 20, /* as the front's */
	READ_BYTES = 64 << 10,
	FIRST_MS = 5000, /* a host that has started us asks at once */
	LAST_MS = 1000, /* for what was asked just before the end of stdin */
};

/* Of the initialize that we repeat: its answer is not for the agent. */
static const char OUR_ID[] = "\"agent-intercom again\"";

/* An unanswered request of the agent. */
struct request {
	TAILQ_ENTRY(request) next;
	char *id; /* JSON token, see json_add_id */
	struct str line;
	bool is_short; /* its answer waits for nobody */
	bool is_first; /* initialize */
	bool is_sent; /* to the front that is connected */
};

struct relay {
	struct contact system; /* that we relay to */
	struct str hello; /* how we introduce ourselves, without the closing brace */
	const char *config_path, *database, *workspace;
	char key[80]; /* identifies our connection to the next front */
	int front; /* socket, -1 while there is none */
	int signals;
	struct lines from_agent, from_front;
	TAILQ_HEAD(, request) open;
	struct str first; /* the initialize that was answered last, for a front that knows us not */
	int64_t end_ms; /* monotonic: stdin has ended, and so do we then; 0: it has not */
	bool is_unknown; /* to the front: its database is not the one that it was */
	bool over; /* the agent is gone, */
	bool refused; /* or there will be no system for it */
	struct str told; /* of a start that failed, until one succeeds */
};

/* ---- unanswered requests ---- */

static void remember(struct relay *r, const struct rpc_message *m, const char *line, size_t length)
{
	struct request *q = xcalloc(1, sizeof(*q));
	OWNED(str) struct str token = { 0 };

	json_add_id_token(&token, m->id);
	q->id = str_take(&token);
	q->is_short =
	    strcmp(m->method, "tools/call") != 0 && strcmp(m->method, "subscriptions/listen") != 0;
	q->is_first = strcmp(m->method, "initialize") == 0;
	str_add_bytes(&q->line, line, length);
	TAILQ_INSERT_TAIL(&r->open, q, next);
}

static void forget(struct relay *r, const char *id)
{
	struct request *q = TAILQ_FIRST(&r->open);

	while (q && strcmp(q->id, id) != 0)
		q = TAILQ_NEXT(q, next);
	if (!q)
		return;
	TAILQ_REMOVE(&r->open, q, next);
	if (q->is_first)
		str_move(&r->first, &q->line);
	free(q->id);
	str_clear(&q->line);
	free(q);
}

static void forget_all(struct relay *r)
{
	while (!TAILQ_EMPTY(&r->open))
		forget(r, TAILQ_FIRST(&r->open)->id);
}

/* Keeps a request until its answer, or until it is cancelled. */
static void note_message(struct relay *r, const struct rpc_message *m, const char *bytes,
                         size_t length)
{
	const cJSON *id;
	OWNED(str) struct str token = { 0 };

	if (m->kind == RPC_REQUEST) {
		remember(r, m, bytes, length);
	} else if (m->kind == RPC_NOTIFICATION &&
	           strcmp(m->method, "notifications/cancelled") == 0) {
		id = cJSON_GetObjectItemCaseSensitive(m->params, "requestId");
		if (id)
			json_add_id(&token, id);
		forget(r, str_text(&token));
	}
}

/* A message of a batch: it is repeated alone, for the others may have been answered. */
static void note_item(void *arg, const char *bytes, size_t length)
{
	struct rpc_message m = { 0 };
	struct rpc_error ignored;

	if (rpc_parse(bytes, length, &m, &ignored) == 0)
		note_message(arg, &m, bytes, length);
	rpc_message_clear(&m);
}

/* A line from the agent. A batch that is too long the front refuses as a whole. */
static void note_from_agent(struct relay *r, const char *line, size_t length)
{
	struct rpc_message m = { 0 };
	struct rpc_error ignored;

	if (rpc_parse(line, length, &m, &ignored) == 0) {
		if (m.kind != RPC_BATCH)
			note_message(r, &m, line, length);
		else if (cJSON_GetArraySize(m.root) <= RPC_MAX_BATCH)
			json_split(line, length, note_item, r);
	}
	rpc_message_clear(&m);
}

/* Whether it is for the agent. */
static bool note_from_front(struct relay *r, const char *line, size_t length)
{
	struct rpc_message m = { 0 };
	OWNED(str) struct str token = { 0 };
	struct rpc_error ignored;
	bool is_ours = false;

	if (rpc_parse(line, length, &m, &ignored) == 0 && m.kind == RPC_RESPONSE && m.id) {
		json_add_id_token(&token, m.id);
		forget(r, token.bytes);
		is_ours = strcmp(m.id, OUR_ID) == 0;
	}
	rpc_message_clear(&m);
	return !is_ours;
}

/* ---- bytes ---- */

static void lose_front(struct relay *r)
{
	io_shut(&r->front);
	lines_clear(&r->from_front);
}

static bool line_of_front(void *arg, const char *line, size_t length)
{
	struct relay *r = arg;

	if (length == 0 || !note_from_front(r, line, length))
		return true;
	if (io_write_all(STDOUT_FILENO, line, length) || io_write_all(STDOUT_FILENO, "\n", 1))
		r->over = true;
	return !r->over;
}

static bool goes_on(ssize_t n)
{
	return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

/* Hands on the complete lines of what the front has sent, and takes that out of the socket only
 * then: what is still in it when we end has not been told, and the front learns so. Returns 0 if
 * more may come, -1 if the front is gone. */
static int pump_front(struct relay *r)
{
	char bytes[READ_BYTES];
	ssize_t n = recv(r->front, bytes, sizeof(bytes), MSG_PEEK);

	if (n > 0 && lines_feed(&r->from_front, bytes, (size_t)n, line_of_front, r))
		n = recv(r->front, bytes, (size_t)n, 0);
	return goes_on(n) ? 0 : -1;
}

/* Waits until the front takes more, or has something to say: it takes nothing while its answers are
 * not read. */
static void await_room(struct relay *r)
{
	struct pollfd fds[] = { { .fd = r->front, .events = POLLIN | POLLOUT },
		                { .fd = r->signals, .events = POLLIN } };

	if (poll(fds, COUNT(fds), -1) <= 0)
		return;
	if (fds[1].revents)
		r->over = true;
	if ((fds[0].revents & ~POLLOUT) && pump_front(r))
		lose_front(r);
}

static void send_front(struct relay *r, const char *bytes, size_t length)
{
	while (r->front >= 0 && !r->over && length > 0) {
		ssize_t n = send(r->front, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n > 0) {
			bytes += n;
			length -= (size_t)n;
		} else if (n < 0 && errno == EAGAIN) {
			await_room(r);
		} else if (n == 0 || errno != EINTR) {
			lose_front(r);
		}
	}
}

static void to_front(struct relay *r, const char *line, size_t length)
{
	send_front(r, line, length);
	send_front(r, "\n", 1);
}

/* The agent sent a line that is too long. Its id may have been the last thing in it. */
static void refuse_over(struct relay *r)
{
	const struct json_peek *asked = r->from_agent.peek;
	const char *id = asked->method[0] && asked->id[0] ? asked->id : NULL;
	OWNED(str) struct str refusal = { 0 };

	rpc_failure(&refusal, id, RPC_PARSE_ERROR,
	            "the message is longer than 4 MiB; send a smaller one", NULL);
	str_add_char(&refusal, '\n');
	if (io_write_all(STDOUT_FILENO, refusal.bytes, refusal.length))
		r->over = true;
}

static bool line_of_agent(void *arg, const char *line, size_t length)
{
	struct relay *r = arg;

	if (!line) {
		refuse_over(r);
	} else if (length > 0) {
		note_from_agent(r, line, length);
		to_front(r, line, length);
	}
	return true;
}

static int pump_agent(struct relay *r)
{
	char bytes[READ_BYTES];
	ssize_t n = read(STDIN_FILENO, bytes, sizeof(bytes));

	if (n > 0)
		(void)lines_feed(&r->from_agent, bytes, (size_t)n, line_of_agent, r);
	return goes_on(n) ? 0 : -1;
}

/* ---- the system ---- */

/* Waits for the front's first word. A front that hangs must not keep us from exiting. */
static int await(struct relay *r, int fd)
{
	struct pollfd fds[] = { { .fd = fd, .events = POLLIN },
		                { .fd = r->signals, .events = POLLIN },
		                { .fd = STDIN_FILENO, .events = 0 } }; /* hang-up only */
	int got, timeout_ms = -1;

	while ((got = poll(fds, COUNT(fds), timeout_ms)) > 0 || (got < 0 && errno == EINTR)) {
		if (got < 0)
			continue;
		if (fds[0].revents)
			return 0;
		if (fds[1].revents)
			break;
		fds[2].fd = -1; /* what the agent has asked may still be answered */
		timeout_ms = LAST_MS;
	}
	r->over = true;
	return -1;
}

/* Reads one line from the socket, byte by byte, so that nothing after it is lost. */
static int read_line(struct relay *r, int fd, char *line, size_t size)
{
	size_t n = 0;

	while (n + 1 < size) {
		if (await(r, fd))
			return -1;
		ssize_t got = read(fd, line + n, 1);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -1;
		if (line[n] == '\n')
			break;
		n++;
	}
	line[n] = '\0';
	return 0;
}

/* The system of the machine does not serve our user: we need one of our own. */
static void leave_shared(struct relay *r, const char *why)
{
	struct err e = { 0 };

	log_warn("%s", why);
	r->over = r->key[0] || contact_leave_shared(&r->system, &e);
	if (e.kind)
		log_error("%s", e.text);
}

static int greet(struct relay *r, int fd)
{
	OWNED(str) struct str line = { 0 };
	OWNED(cJSON_ptr) cJSON *reply = NULL;
	char answer[256];
	const char *key;

	str_add(&line, r->hello.bytes);
	if (r->key[0])
		str_addf(&line, ",\"resume\":\"%s\"", r->key);
	str_add(&line, "}\n");
	(void)io_write_all(fd, line.bytes,
	                   line.length); /* one that refuses us does not wait for it */
	if (read_line(r, fd, answer, sizeof(answer)))
		return -1;
	reply = cJSON_Parse(answer);
	key = json_text(reply, "key");
	if (!key && r->system.shared && json_text(reply, "error"))
		leave_shared(r, json_text(reply, "error"));
	if (!key)
		return -1;
	r->is_unknown = r->key[0] && strcmp(r->key, key) != 0;
	(void)snprintf(r->key, sizeof(r->key), "%s", key);
	contact_reached(&r->system);
	str_clear(&r->told);
	return 0;
}

static struct request *first_unsent(struct relay *r)
{
	struct request *q;

	TAILQ_FOREACH (q, &r->open, next)
		if (!q->is_sent)
			return q;
	return NULL;
}

/* Says once more how the agent has begun: with a database that was put back, or begun anew, the
 * front knows nothing of it. */
static void begin_again(struct relay *r)
{
	static const char INITIALIZED[] =
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";
	OWNED(cJSON_ptr)
	cJSON *message = cJSON_ParseWithLength(str_text(&r->first), r->first.length);
	OWNED(str) struct str line = { 0 };

	if (!message)
		return;
	cJSON_ReplaceItemInObjectCaseSensitive(message, "id", cJSON_Parse(OUR_ID));
	json_canonical(&line, message);
	to_front(r, line.bytes, line.length);
	to_front(r, INITIALIZED, sizeof(INITIALIZED) - 1);
}

/* Introduces us to the front at the other end, and sends the unanswered requests again. */
static bool take_front(struct relay *r, int front)
{
	struct request *q;

	r->front = front;
	if (r->front < 0)
		return false;
	if (greet(r, r->front)) {
		lose_front(r);
		return false;
	}
	if (r->is_unknown)
		begin_again(r);
	TAILQ_FOREACH (q, &r->open, next)
		q->is_sent = false;
	while (r->front >= 0 && !r->over && (q = first_unsent(r)) != NULL) {
		OWNED(str) struct str line = { 0 };

		/* A copy: while it is sent, answers end requests. */
		str_add_bytes(&line, q->line.bytes, q->line.length);
		q->is_sent = true;
		to_front(r, line.bytes, line.length);
	}
	return r->front >= 0;
}

/* ---- the loop ---- */

/* Waits for one of the descriptors, or timeout_ms. Handles lines from the agent and the front. */
static void wait_once(struct relay *r, int timeout_ms)
{
	struct pollfd fds[] = { { .fd = r->end_ms ? -1 : STDIN_FILENO, .events = POLLIN },
		                { .fd = r->signals, .events = POLLIN },
		                { .fd = r->front, .events = POLLIN } };

	if (poll(fds, COUNT(fds), timeout_ms) <= 0)
		return;
	if (fds[1].revents)
		r->over = true;
	if (fds[2].revents && pump_front(r))
		lose_front(r);
	if (fds[0].revents && pump_agent(r)) {
		(void)lines_end(&r->from_agent, line_of_agent, r);
		r->end_ms = clock_monotonic_ms() + LAST_MS;
	}
}

static void refuse_all(struct relay *r, const char *text)
{
	const struct request *q;

	TAILQ_FOREACH (q, &r->open, next) {
		OWNED(str) struct str refusal = { 0 };

		rpc_failure(&refusal, q->id, RPC_INTERNAL_ERROR, text, NULL);
		str_add_char(&refusal, '\n');
		if (io_write_all(STDOUT_FILENO, refusal.bytes, refusal.length))
			r->over = true;
	}
	forget_all(r);
}

/* We cannot serve, and end. What a host shows is the answer to its first request, seldom our
 * stderr, so we wait for that one, though not for somebody at a terminal. */
static void refuse_and_end(struct relay *r, const char *text)
{
	int64_t end = clock_monotonic_ms() + FIRST_MS, left;

	log_error("%s", text);
	while (!r->over && !r->end_ms && TAILQ_EMPTY(&r->open) && !isatty(STDIN_FILENO) &&
	       (left = end - clock_monotonic_ms()) > 0)
		wait_once(r, (int)left);
	refuse_all(r, text);
	r->over = true;
}

/* The system does not start, so whoever waits for it would wait for ever. One that has served us
 * may be mended, and one that only failed may succeed (a disk was full): what is asked later is
 * tried again. */
static void give_up(struct relay *r, enum start_end end, const char *why)
{
	OWNED(str) struct str text = { 0 };

	str_addf(&text, "agent-intercom does not start: %s", why);
	r->refused = end == START_REFUSED && !r->system.reached;
	if (r->refused) {
		refuse_and_end(r, text.bytes);
		return;
	}
	if (strcmp(str_text(&r->told), text.bytes) != 0)
		log_error("%s", text.bytes);
	refuse_all(r, text.bytes);
	str_move(&r->told, &text);
}

/* How long we still serve; -1: without end. After the end of stdin, only until what needs no person
 * is answered. */
static int left_ms(const struct relay *r)
{
	const struct request *q;
	int64_t left = r->end_ms - clock_monotonic_ms();

	if (r->over || !r->end_ms)
		return r->over ? 0 : -1;
	TAILQ_FOREACH (q, &r->open, next)
		if (q->is_short)
			return left > 0 ? (int)left : 0;
	return 0;
}

/* Reaches a front, or waits a while before the next attempt. */
static void seek_front(struct relay *r)
{
	OWNED(str) struct str why = { 0 };
	enum start_end end;
	int wait, left;

	if (take_front(r, contact_connect(&r->system)))
		return;
	if (r->over) /* the agent left while we tried: no system is needed */
		return;
	contact_lost(&r->system, clock_monotonic_ms());
	if (take_front(r, contact_start(&r->system, clock_monotonic_ms())))
		return;
	end = contact_start_ended(&r->system, &why);
	if (end != START_GOES_ON) {
		give_up(r, end, str_text(&why));
		return;
	}
	wait = contact_wait_ms(&r->system, clock_monotonic_ms());
	left = left_ms(r);
	wait_once(r, left >= 0 && left < wait ? left : wait);
}

static void serve(struct relay *r)
{
	int left;

	while ((left = left_ms(r)) != 0) {
		if (r->front < 0) {
			seek_front(r);
			continue;
		}
		wait_once(r, left);
		if (r->front < 0)
			contact_lost(&r->system, clock_monotonic_ms());
	}
}

/* ---- who we are ---- */

static void say(struct str *hello, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	str_addf(hello, ",\"%s\":", name);
	json_quote(hello, value);
}

/* How this agent's calls are to wait. */
struct waiting {
	const char *seconds; /* NULL: as configured */
	bool tasks;
};

static int introduce(struct relay *r, const struct waiting *how, struct err *e)
{
	const char *root = r->workspace ? r->workspace : getenv("INTERCOM_WORKSPACE_ROOT");
	const char *configured = getenv("INTERCOM_WORKSPACE_ID");
	char path[PATH_MAX];
	struct stat about;
	const char *unfit;

	if (!realpath(root && *root ? root : ".", path))
		return err_errno(e, ERR_INPUT, "the workspace %s", root ? root : ".");
	if (stat(path, &about) == 0 && !S_ISDIR(about.st_mode))
		return err_set(e, ERR_INPUT, "the workspace %s is no folder", path);
	/* If the folder we were merely started in is unfit, the front uses the default
	 * workspace. */
	unfit = root && *root ? workspace_unfit(path) : NULL;
	if (unfit)
		return err_set(e, ERR_INPUT, "the workspace %s is %s; name the folder of a project",
		               path, unfit);
	str_add(&r->hello, "{\"agent-intercom\":1");
	say(&r->hello, "workspace", path);
	say(&r->hello, "workspace_id", configured);
	say(&r->hello, "session_id", getenv("INTERCOM_SESSION_ID"));
	say(&r->hello, "channel_id", getenv("INTERCOM_CHANNEL_ID"));
	say(&r->hello, "agent", getenv("INTERCOM_AGENT"));
	say(&r->hello, "stall", getenv("INTERCOM_STALL"));
	if (how->seconds)
		str_addf(&r->hello, ",\"wait\":%lld", strtoll(how->seconds, NULL, 10));
	if (how->tasks)
		str_add(&r->hello, ",\"tasks\":true");
	return 0;
}

static void help(void)
{
	(void)puts(
	    "usage: agent-intercom mcp [--config FILE] [--db PATH] [--workspace DIR] [--wait "
	    "SECONDS]\n"
	    "                          [--tasks]\n\n"
	    "Speaks MCP on stdin and stdout for one agent, and starts agent-intercom if it is not\n"
	    "running. Without --config and --db it connects to the system that runs, whatever\n"
	    "configuration that was started with, or else to that of this machine, if there is "
	    "one\n"
	    "for several users that serves yours (/run/agent-intercom/mcp.sock, see "
	    "agent-intercom\n"
	    "where); that one it waits for, and never starts.\n\n"
	    "The workspace is what --workspace or INTERCOM_WORKSPACE_ROOT names, else the working\n"
	    "directory. Where that is /, a home, what holds one or a protected folder, it is\n"
	    "default_workspace_root of the configuration; if there is none, tool calls say what "
	    "to\n"
	    "set. INTERCOM_SESSION_ID, INTERCOM_WORKSPACE_ID, INTERCOM_CHANNEL_ID and\n"
	    "INTERCOM_AGENT tell more about the agent; with INTERCOM_STALL=off its silence raises\n"
	    "no alert.\n\n"
	    "  --wait SECONDS  how long a call may wait for the operator before it says 'pending'\n"
	    "  --tasks         a call that waits becomes a task, if the client knows tasks: it "
	    "goes\n"
	    "                  on at once and fetches the answer later\n"
	    "  --help, --version\n\n"
	    "Claude Code:  claude mcp add intercom -- agent-intercom mcp");
}

static int take_wait(void *arg, const char *value, struct err *e)
{
	struct waiting *how = arg;

	how->seconds = value;
	if (strspn(value, "0123456789") != strlen(value) || strlen(value) > 8)
		return err_set(e, ERR_INPUT, "--wait takes seconds, not '%s'", value);
	return 0;
}

/* What getopt_long has not taken: --word, or --word=value. */
static int refuse_option(const char *given, const struct options_row *rows, struct err *e)
{
	const char *word = given + strspn(given, "-"), *wrong = "does not exist";
	size_t length = strcspn(word, "=");

	for (const struct options_row *row = rows; row->name; row++)
		if (strlen(row->name) == length && strncmp(row->name, word, length) == 0)
			wrong = row->flag ? "takes no value" : "needs a value";
	return err_set(e, ERR_INPUT, "the option '%.60s' %s; see agent-intercom mcp --help", given,
	               wrong);
}

static int parse(struct relay *r, int argc, char **argv, struct waiting *how, struct err *e)
{
	bool asks_help = false, asks_version = false;
	const struct options_row rows[] = {
		{ "config", .text = &r->config_path },
		{ "db", .text = &r->database },
		{ "workspace", .text = &r->workspace },
		{ "wait", .take = take_wait },
		{ "tasks", .flag = &how->tasks },
		{ "help", .flag = &asks_help, .ends = true },
		{ "version", .flag = &asks_version, .ends = true },
		{ NULL },
	};

	opterr = 0; /* we say it, in the first answer, too */
	if (options_read(rows, ":", how, argc, argv, e))
		return e->kind ? -1 : refuse_option(argv[optind - 1], rows, e);
	if (asks_help)
		help();
	if (asks_version)
		(void)printf("mcp-stdio %s\n", INSTANCE_BUILD);
	if (asks_help || asks_version)
		exit(EX_OK);
	if (optind < argc)
		return err_set(e, ERR_INPUT, "'%.40s' is no option; see agent-intercom mcp --help",
		               argv[optind]);
	return 0;
}

static int find_system(struct relay *r, struct err *e)
{
	const struct contact *system = &r->system;

	if (contact_find(&r->system, r->config_path, r->database, e))
		return -1;
	if (!system->shared && !system->named && reach_shared_is_open(REACH_AGENTS))
		log_info("this agent asks in a system of your own, which runs; operators of that "
		         "of this machine (%s) do not see it",
		         reach_shared_directory());
	return 0;
}

static int open_relay(struct relay *r, const struct waiting *how, struct err *e)
{
	return introduce(r, how, e) || signals_hear(SIGHUP, &r->signals, e) || find_system(r, e)
	           ? -1
	           : 0;
}

static void close_relay(struct relay *r)
{
	forget_all(r);
	lose_front(r);
	contact_clear(&r->system);
	str_clear(&r->hello);
	str_clear(&r->first);
	str_clear(&r->told);
	lines_clear(&r->from_agent);
	lines_clear(&r->from_front);
}

int main(int argc, char **argv)
{
	struct relay r = { .front = -1,
		           .signals = -1,
		           .from_agent = LINES_INIT(MAX_LINE),
		           .from_front = LINES_INIT(SIZE_MAX - 1) };
	struct waiting how = { .seconds = NULL };
	struct err e = { 0 };

	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	log_open("mcp-stdio", 0, LOG_LEVEL_INFO);
	TAILQ_INIT(&r.open);
	if (parse(&r, argc, argv, &how, &e)) {
		refuse_and_end(&r, e.text);
		close_relay(&r);
		return EX_USAGE;
	}
	if (open_relay(&r, &how, &e) == 0)
		serve(&r);
	else
		refuse_and_end(&r, e.text);
	close_relay(&r);
	return r.refused ? EX_CONFIG : err_exit(&e);
}
