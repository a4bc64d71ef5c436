/* The IPC socket, <run>/ipc.sock: for programs on this machine that answer without SQLite. Each
 * line, in both directions, is one JSON object:
 *   {"command":"approve","id":"..."}  ->  {"ok":true,"data":{...}}  or  {"ok":false,"error":"..."}
 * The commands are the verbs of src/operator/verb.c. They become the same rows as those of
 * agent-intercom-ctl, with the source 'socket'. Each line is a transaction of its own, committed
 * before its answer is sent: a caller that got none may ask again, and an answer applies once.
 *
 * Every program of our uid may connect. With ipc.require_token each line must also carry, as
 * auth_token, the token in <run>/ipc.token (0600), which changes at every start.
 *
 * An agent behind a fence (agent_run.fence) gives no orders, nor does anything that it has started:
 * it would start, by one, an agent that has no fence. */
#include "ipc.h"

#include "clock.h"
#include "command.h"
#include "content.h"
#include "front.h"
#include "json_writer.h"
#include "log.h"
#include "peer_process.h"
#include "say.h"
#include "seen.h"
#include "socket.h"
#include "sql/agent_run.h"
#include "sql/file_look.h"

#include <event2/buffer.h>
#include <event2/listener.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	IPC_MAX_LINE = 128 << 10, /* bytes, without its newline */
	IPC_MAX_UNREAD = 256 << 10, /* bytes of answers; above this no further line is read */
	IPC_LINES_A_TURN = 8, /* per caller, before the others get their turn */
	IPC_WRITE_SECONDS = 30, /* within which a caller must read some of its answers */
	IPC_MAX_CALLERS = 64,
	IPC_LOOK_MS = 20000, /* longer than reader takes for a look */
	IPC_DIFF_MS = 620000, /* and than archivist takes, by default, to read a workspace */
	IPC_IDLE_SECONDS = IPC_DIFF_MS / 1000 + 30, /* who waits for a look may be silent */
};

static const char SOCKET_NAME[] = "ipc.sock", TOKEN_NAME[] = "ipc.token";

struct ipc_caller {
	LIST_ENTRY(ipc_caller) next;
	struct front *front;
	struct bufferevent *pipe;
	bool skips; /* skipping the rest of a line that is too long */
	bool fenced; /* its first line is refused, and it is cut */
	bool ended; /* it has stopped sending, but may still read */
	int64_t look; /* command.seq of a look whose answer it waits for; 0: none */
	int look_ms; /* how long it waits */
	int64_t look_until_ms; /* monotonic */
};

/* ---- commands ---- */

/* The member of a line that holds the text. */
static const char *text_member(const struct verb *v)
{
	return v->text_name ? v->text_name : "instruction";
}

/* Whether a program may use the verb: its answer is JSON. */
static bool is_spoken(const struct verb *v)
{
	return !v->only_talk;
}

static const struct verb *find_verb(const cJSON *line, struct err *e)
{
	const char *command = json_text(line, "command");
	const struct verb *v = command ? verb_find(command) : NULL;
	OWNED(str) struct str all = { 0 };

	if (v && is_spoken(v))
		return v;
	for (size_t i = 0; (v = verb_at(i)) != NULL; i++)
		if (is_spoken(v))
			str_addf(&all, "%s%s", all.length ? ", " : "", v->word);
	if (command)
		(void)err_set(e, ERR_INPUT, "ipc: unknown command '%.40s'; there are %s", command,
		              str_text(&all));
	else
		(void)err_set(e, ERR_INPUT, "ipc: command is missing (a string)");
	return NULL;
}

/* What is no text would count as not said: a reason would be lost, a digest would bind nothing. */
static int check_texts(const cJSON *line, const struct verb *v, struct err *e)
{
	const char *const names[] = { "id",     text_member(v), "session",  "digest",
		                      "edited", "agent",        "workspace" };

	for (size_t i = 0; i < COUNT(names); i++) {
		const cJSON *item = cJSON_GetObjectItemCaseSensitive(line, names[i]);

		if (item && !cJSON_IsString(item) && !cJSON_IsNull(item))
			return err_set(e, ERR_INPUT, "ipc: %s must be a string", names[i]);
	}
	return 0;
}

/* A program must name its request or session, unless there is only one possibility. */
static int check_members(const struct words *w, struct err *e)
{
	const struct verb *v = w->verb;
	bool optional = v->about == ABOUT_NOTHING || v->about == ABOUT_SESSIONS ||
	                v->about == ABOUT_RUN || v->about == ABOUT_FILES ||
	                v->row == VERB_READING || w->workspace || strcmp(v->word, "resume") == 0;

	if (w->id && !*w->id)
		return err_set(e, ERR_INPUT, "ipc: id is empty");
	if (!w->id && !optional)
		return err_set(e, ERR_INPUT, "ipc: id is missing (the %s's id)",
		               v->about == ABOUT_SESSION ? "session" : "request");
	if (!w->text && v->text == TEXT_MUST && v->row != VERB_DECISION)
		return err_set(e, ERR_INPUT, "ipc: %s is missing", text_member(v));
	return 0;
}

/* A member that may be a number. */
static const char *text_of(const cJSON *line, const char *name, char *buffer, size_t size)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(line, name);

	if (!cJSON_IsNumber(item))
		return json_text(line, name);
	(void)snprintf(buffer, size, "%.10g", item->valuedouble);
	return buffer;
}

/* A refused answer is kept as a row too, so the transaction commits in either case. */
static int run(struct front *f, const cJSON *line, struct said *out, struct err *e)
{
	const struct speaker who = { .source = "socket",
		                     .has_seen = seen_in_inbox,
		                     .no_reason = "rejected via ipc" };
	struct words w = { .verb = find_verb(line, e),
		           .id = json_text(line, "id"),
		           .certain = true };
	struct store *st = &f->worker.store;
	struct err commit = { 0 };
	char depth[24], park[24];
	int failed;

	if (!w.verb || check_texts(line, w.verb, e))
		return -1;
	w.text = json_text(line, text_member(w.verb));
	w.session = json_text(line, "session");
	w.paths = cJSON_GetObjectItemCaseSensitive(line, "paths");
	w.digest = json_text(line, "digest");
	w.edited = json_text(line, "edited");
	w.agent = json_text(line, "agent");
	w.workspace = json_text(line, "workspace");
	w.park = text_of(line, "park", park, sizeof(park));
	w.depth = text_of(line, "depth", depth, sizeof(depth));
	w.lines = json_text(line, "lines");
	if (check_members(&w, e))
		return -1;
	if (w.verb->row == VERB_READING)
		return operator_say(st, &who, &w, out, e);
	if (store_begin(st, e))
		return -1;
	failed = operator_say(st, &who, &w, out, e);
	if (store_commit(st, &commit)) {
		*e = commit;
		return -1;
	}
	if (failed || out->outcome == SAID_DONE)
		return failed;
	return err_set(e, ERR_INPUT, "%s", str_text(&out->text));
}

/* Takes the same time whatever was given. */
static int check_token(const struct front *f, const cJSON *line, struct err *e)
{
	const char *given = json_text(line, "auth_token");
	size_t n = strlen(f->ipc_token);

	if (n == 0 || (given && strlen(given) == n && CRYPTO_memcmp(given, f->ipc_token, n) == 0))
		return 0;
	return err_set(e, ERR_INPUT, "ipc: unauthorized: auth_token is %s",
	               given ? "not that of ipc.token" : "missing (see ipc.token)");
}

/* Answers a line; with e if said is NULL. */
static void reply(struct ipc_caller *c, const struct said *said, const struct err *e)
{
	OWNED(str) struct str out = { 0 };
	char *data = said && said->json ? cJSON_PrintUnformatted(said->json) : NULL;

	json_object(&out);
	json_member_bool(&out, "ok", said != NULL);
	if (said)
		json_member_raw(&out, "data", data ? data : "{}");
	else
		json_member(&out, "error", e->text); /* a name in it may have been cut */
	json_object_end(&out);
	str_add_char(&out, '\n');
	(void)bufferevent_write(c->pipe, out.bytes, out.length);
	cJSON_free(data);
}

static bool is_look(const char *command)
{
	const struct verb *v = verb_find(command);

	return v && v->about == ABOUT_FILES;
}

/* ---- looks, which reader answers ---- */

static void serve(struct ipc_caller *c);

/* What was found: its facts, and the text. */
static int read_look(struct front *f, int64_t command, const char *detail, struct said *out,
                     struct err *e)
{
	OWNED(file_look_of_command_row) struct file_look_of_command_row look = { 0 };
	OWNED(str) struct str text = { 0 };

	if (sql_file_look_of_command(&f->worker.store, command, &look, e) < 0 ||
	    content_get(&f->worker.store, look.content_seq, &text, e))
		return -1;
	out->json = cJSON_Parse(detail ? detail : "{}");
	(void)cJSON_AddStringToObject(out->json, "text", str_text(&text));
	return 0;
}

/* Whether its caller has been answered: with what was found, or why not. */
static bool answer_look(struct ipc_caller *c)
{
	OWNED(command_result) struct command_result result = { 0 };
	OWNED(said) struct said said = { 0 };
	struct err e = { 0 };
	int failed = command_read(&c->front->worker.store, c->look, &result, &e);

	if (!failed && !result.is.outcome && clock_monotonic_ms() < c->look_until_ms)
		return false;
	if (!failed && !result.is.outcome)
		failed = err_set(&e, ERR_AGAIN, "ipc: ordered, but not answered within %d s",
		                 c->look_ms / 1000);
	if (!failed)
		failed = command_check(&result, &e) ||
		         read_look(c->front, c->look, result.is.reply, &said, &e);
	c->look = 0;
	reply(c, failed ? NULL : &said, &e);
	return true;
}

void ipc_look(struct front *f)
{
	for (struct ipc_caller *c = LIST_FIRST(&f->ipc_pipes), *after; c; c = after) {
		after = LIST_NEXT(c, next);
		if (c->look && answer_look(c))
			serve(c);
	}
}

/* ---- a line ---- */

static void take_line(struct ipc_caller *c, const char *text, size_t length)
{
	struct err e = { 0 };
	OWNED(cJSON_ptr) cJSON *line = json_read_strictly(text, length, "the line", &e);
	OWNED(said) struct said said = { 0 };
	int failed;

	if (!line)
		failed = err_prefix(&e, "ipc");
	else if (!cJSON_IsObject(line))
		failed = err_set(&e, ERR_INPUT, "ipc: the line is not a JSON object");
	else
		failed = check_token(c->front, line, &e) || run(c->front, line, &said, &e);
	if (!failed && said.row == VERB_COMMAND && is_look(json_text(line, "command"))) {
		c->look = said.seq;
		c->look_ms =
		    strcmp(json_text(line, "command"), "diff") == 0 ? IPC_DIFF_MS : IPC_LOOK_MS;
		c->look_until_ms = clock_monotonic_ms() + c->look_ms;
		return;
	}
	reply(c, failed ? NULL : &said, &e);
}

/* ---- agents behind a fence ---- */

/* Whether such an agent is, or may be, at the other end. Decided once: who has connected a caller
 * stays the same, whoever holds it later. */
static bool is_fenced(struct front *f, int fd)
{
	OWNED(agent_run_fenced_row) struct agent_run_fenced_row row = { 0 };
	struct err e = { 0 };
	pid_t *pids = NULL;
	size_t count = 0;
	bool known = true;
	int got, found;

	sql_agent_run_fenced(&f->worker.store, f->worker.machine, &row);
	while ((got = row_next(&row.row, &e)) > 0) {
		pids = xrealloc(pids, (count + 2) * sizeof(*pids));
		pids[count++] = (pid_t)row.pid;
		if (row.runner_pid)
			pids[count++] = (pid_t)row.runner_pid;
		known = known && row.runner_pid;
	}
	if (got < 0)
		log_warn("ipc: refused a caller: %s", e.text);
	found = got < 0 || !known ? -1 : count ? peer_process_descends(fd, pids, count) : 0;
	free(pids);
	return found != 0;
}

static bool refuse_fenced(struct ipc_caller *c, struct evbuffer *in)
{
	struct err e = { 0 };

	if (evbuffer_get_length(in) == 0)
		return false;
	(void)err_set(&e, ERR_INPUT,
	              "ipc: an agent behind a fence gives no orders; ask the operator");
	log_warn("ipc: refused a caller: an agent behind a fence, or one whose process is gone");
	reply(c, NULL, &e);
	(void)bufferevent_disable(c->pipe, EV_READ);
	(void)evbuffer_drain(in, evbuffer_get_length(in));
	c->ended = true;
	return true;
}

/* ---- lines ---- */

static void refuse_line(struct ipc_caller *c)
{
	struct err e = { 0 };

	(void)err_set(&e, ERR_INPUT, "ipc: the line is longer than %d bytes", IPC_MAX_LINE);
	reply(c, NULL, &e);
}

/* Drops what has arrived of a line that is too long. Returns whether its end was reached. */
static bool skip_line(struct ipc_caller *c, struct evbuffer *in)
{
	struct evbuffer_ptr end = evbuffer_search_eol(in, NULL, NULL, EVBUFFER_EOL_LF);

	c->skips = end.pos < 0;
	(void)evbuffer_drain(in, c->skips ? evbuffer_get_length(in) : (size_t)end.pos + 1);
	return !c->skips;
}

/* Takes the next line, if it is complete (or the caller has stopped sending). */
static bool take_next(struct ipc_caller *c)
{
	struct evbuffer *in = bufferevent_get_input(c->pipe);
	OWNED(char_ptr) char *line = NULL;
	size_t length;

	if (c->fenced)
		return refuse_fenced(c, in);
	if (c->skips && !skip_line(c, in))
		return false;
	line = evbuffer_readln(in, &length, EVBUFFER_EOL_LF);
	if (!line && evbuffer_get_length(in) > IPC_MAX_LINE) {
		refuse_line(c);
		c->skips = true;
		return true;
	}
	if (!line && c->ended && evbuffer_get_length(in) > 0) {
		length = evbuffer_get_length(in);
		line = xcalloc(1, length + 1);
		(void)evbuffer_remove(in, line, length);
	}
	if (!line)
		return false;
	if (length > IPC_MAX_LINE)
		refuse_line(c);
	else
		take_line(c, line, length);
	return true;
}

/* ---- connections ---- */

static void hang_up(struct ipc_caller *c)
{
	LIST_REMOVE(c, next);
	c->front->ipc_callers--;
	bufferevent_free(c->pipe);
	free(c);
}

/* Takes some lines; the rest in another turn, or after the caller has read its answers. */
static void serve(struct ipc_caller *c)
{
	const struct evbuffer *out = bufferevent_get_output(c->pipe);

	for (int i = 0; i < IPC_LINES_A_TURN; i++) {
		if (evbuffer_get_length(out) > IPC_MAX_UNREAD || c->look)
			return;
		if (take_next(c))
			continue;
		if (c->ended && evbuffer_get_length(out) == 0)
			hang_up(c);
		return;
	}
	bufferevent_trigger(c->pipe, EV_READ,
	                    BEV_TRIG_IGNORE_WATERMARKS | BEV_TRIG_DEFER_CALLBACKS);
}

static void on_bytes(struct bufferevent *pipe, void *arg)
{
	(void)pipe;
	serve(arg);
}

/* A caller that has closed only its sending side still gets its answers. */
static void on_event(struct bufferevent *pipe, short what, void *arg)
{
	struct ipc_caller *c = arg;

	(void)pipe;
	if ((what & BEV_EVENT_EOF) && !c->ended) {
		c->ended = true;
		serve(c);
	} else if (what & (BEV_EVENT_EOF | BEV_EVENT_ERROR | BEV_EVENT_TIMEOUT)) {
		hang_up(c);
	}
}

static bool refuses(const struct front *f, int fd)
{
	static const char FULL[] = "{\"ok\":false,\"error\":\"ipc: too many connections\"}\n";
	bool ours = socket_is_ours(fd);

	if (ours && f->ipc_callers < IPC_MAX_CALLERS && fd < f->max_fd)
		return false;
	log_warn("ipc: refused a caller: %s", ours ? "too many" : "of another user");
	if (ours)
		(void)send(fd, FULL, sizeof(FULL) - 1, MSG_DONTWAIT | MSG_NOSIGNAL);
	return true;
}

static void on_accept(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address,
                      int size, void *arg)
{
	const struct timeval idle = { .tv_sec = IPC_IDLE_SECONDS };
	const struct timeval unread = { .tv_sec = IPC_WRITE_SECONDS };
	struct front *f = arg;
	struct ipc_caller *c;

	(void)listener;
	(void)address;
	(void)size;
	if (refuses(f, fd)) {
		(void)close(fd);
		return;
	}
	c = xcalloc(1, sizeof(*c));
	c->front = f;
	c->fenced = is_fenced(f, fd);
	c->pipe = bufferevent_socket_new(f->base, fd, BEV_OPT_CLOSE_ON_FREE);
	LIST_INSERT_HEAD(&f->ipc_pipes, c, next);
	f->ipc_callers++;
	bufferevent_setcb(c->pipe, on_bytes, on_bytes, on_event, c);
	bufferevent_setwatermark(c->pipe, EV_READ, 0, IPC_MAX_LINE + 1);
	(void)bufferevent_set_timeouts(c->pipe, &idle, &unread);
	(void)bufferevent_enable(c->pipe, EV_READ | EV_WRITE);
}

/* ---- the token ---- */

/* Writes a file that only we can read, atomically. */
static int write_token(const struct front *f, struct err *e)
{
	static const char NEW[] = "ipc.token.new";
	int dir = f->worker.run_fd;
	int fd = openat(dir, NEW, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	size_t n = strlen(f->ipc_token);
	bool written =
	    fd >= 0 && write(fd, f->ipc_token, n) == (ssize_t)n && write(fd, "\n", 1) == 1;

	if (fd >= 0)
		written = close(fd) == 0 && written;
	if (!written || renameat(dir, NEW, dir, TOKEN_NAME) != 0)
		return err_errno(e, ERR_AGAIN, "cannot write %s/%s", f->worker.run_dir, TOKEN_NAME);
	return 0;
}

static int make_token(struct front *f, struct err *e)
{
	struct secret token = id_new_secret();

	(void)unlinkat(f->worker.run_fd, TOKEN_NAME, 0);
	if (!f->ipc_requires_token)
		return 0;
	(void)snprintf(f->ipc_token, sizeof(f->ipc_token), "%s", token.text);
	return write_token(f, e);
}

int ipc_start(struct front *f, struct err *e)
{
	return make_token(f, e) ? -1 : ipc_listen(f, e);
}

int ipc_listen(struct front *f, struct err *e)
{
	if (f->ipc_token[0] && write_token(f, e))
		return -1;
	front_deafen(&f->ipc_listener);
	f->ipc_listener = socket_listen(f, SOCKET_NAME, on_accept, e);
	return f->ipc_listener ? 0 : -1;
}

void ipc_stop(struct front *f)
{
	front_deafen(&f->ipc_listener);
	for (struct ipc_caller *c = LIST_FIRST(&f->ipc_pipes), *after; c; c = after) {
		after = LIST_NEXT(c, next);
		hang_up(c);
	}
	(void)unlinkat(f->worker.run_fd, SOCKET_NAME, 0);
	if (f->ipc_token[0])
		(void)unlinkat(f->worker.run_fd, TOKEN_NAME, 0);
}
