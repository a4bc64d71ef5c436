/* acp-proxy (`agent-intercom acp`): the Agent Client Protocol between an editor, on stdin and
 * stdout, and an agent that it starts.
 *
 * All that they say passes as it is and in order, but for what lets the agent act: its requests for
 * permission, the files that it has the editor write, and the commands that it has it run. Each
 * becomes a question to mcp-front, as a hook's call does (intercom/hook, host "acp"): the policy
 * answers, or a person; a permission is also shown by the editor's own dialog, and the first answer
 * counts. Written and run is what was shown, while the file is what it was.
 *
 * Reads and writes no table. Outside: stdin, stdout, the agent's process, the sockets that
 * mcp-stdio connects to, hashes of files that are about to be written, starting agent-intercom. */
#include "child.h"
#include "clock.h"
#include "config.h"
#include "due.h"
#include "envelope.h"
#include "instance.h"
#include "io.h"
#include "log.h"
#include "options.h"
#include "proxy.h"
#include "question.h"
#include "session.h"
#include "signals.h"
#include "traffic.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sysexits.h>
#include <unistd.h>

enum {
	GOODBYE_MS = 5000, /* for the agent to end once its stdin is closed, */
	TERM_MS = 3000, /* and after SIGTERM */
	EXIT_MS = 2000, /* once it says nothing more */
	DRAIN_MS = 1000, /* for what an agent that has ended leaves in its pipe */
	ERR_BYTES = 64 << 10,
	OWN_FDS = 7, /* besides those of questions */
};

enum { FD_EDITOR_IN, FD_EDITOR_OUT, FD_AGENT_OUT, FD_AGENT_IN, FD_AGENT_ERR, FD_ENDED, FD_SIGNALS };

struct options {
	const char *config, *database, *folder;
	enum if_down when_down;
	char *const *command; /* NULL-terminated */
};

struct run {
	struct proxy proxy;
	struct child child;
	struct channel_taker from_agent, from_editor;
	int signals;
	int stdin_flags, stdout_flags; /* as they were */
	int64_t end_ms; /* when the next step of ending is due; 0: nothing ends */
	bool is_over;
};

/* ---- ending ---- */

/* The editor is gone, or we are to leave: the agent hears of it by the end of its stdin. */
static void begin_end(struct run *r)
{
	if (r->end_ms)
		return;
	r->end_ms = clock_monotonic_ms() + GOODBYE_MS;
	r->proxy.to_agent.from = -1;
	question_end_all(&r->proxy);
}

/* The agent says nothing more. */
static void end_now(struct run *r)
{
	question_end_all(&r->proxy);
	r->proxy.to_editor.from = -1;
	r->is_over = true;
}

/* What the agent still gets is written before its stdin ends. */
static void close_agent_in(struct run *r)
{
	struct channel *c = &r->proxy.to_agent;

	if (r->end_ms && c->to >= 0 && (channel_is_empty(c) || c->is_broken)) {
		c->to = -1;
		io_shut(&r->child.process.in);
	}
}

static void step_end(struct run *r, int64_t now)
{
	close_agent_in(r);
	if (!r->end_ms || now < r->end_ms)
		return;
	if (r->child.has_ended || r->child.was_told) {
		end_now(r);
		return;
	}
	child_end(&r->child);
	r->end_ms = now + TERM_MS;
}

/* ---- the loop ---- */

static void note_end_of_child(struct run *r)
{
	child_reap(&r->child);
	if (!r->child.has_ended)
		return;
	io_shut(&r->child.process.ended);
	begin_end(r);
	r->end_ms = clock_monotonic_ms() + DRAIN_MS;
}

/* For the editor's log. What it does not take at once is lost: a full pipe must not stop the agent.
 */
static void pump_err(struct run *r)
{
	char bytes[ERR_BYTES];
	struct pollfd out = { .fd = STDERR_FILENO, .events = POLLOUT };
	ssize_t n = read(r->child.process.err, bytes, sizeof(bytes));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0)
		io_shut(&r->child.process.err);
	else if (poll(&out, 1, 0) > 0 && (out.revents & POLLOUT))
		(void)!write(STDERR_FILENO, bytes, (size_t)(n > PIPE_BUF ? PIPE_BUF : n));
}

static struct pollfd watch(int fd, bool reads, bool writes)
{
	return (struct pollfd){ .fd = fd,
		                .events = (short)((reads ? POLLIN : 0) | (writes ? POLLOUT : 0)) };
}

/* A descriptor of which nothing is wanted still tells that the other end is gone. */
static void prepare(const struct run *r, struct pollfd *fds)
{
	const struct channel *in = &r->proxy.to_agent, *out = &r->proxy.to_editor;
	const struct launch *a = &r->child.process;
	bool may_read = r->proxy.held_bytes < PROXY_HELD_BYTES && channel_is_open(out);

	fds[FD_EDITOR_IN] = watch(channel_is_open(in) ? in->from : -1, true, false);
	fds[FD_EDITOR_OUT] = watch(out->is_broken ? -1 : out->to, false, !channel_is_empty(out));
	fds[FD_AGENT_OUT] = watch(may_read ? out->from : -1, true, false);
	fds[FD_AGENT_IN] = watch(in->is_broken ? -1 : in->to, false, !channel_is_empty(in));
	fds[FD_AGENT_ERR] = watch(a->err, true, false);
	fds[FD_ENDED] = watch(a->ended, true, false);
	fds[FD_SIGNALS] = watch(r->signals, true, false);
}

static void write_out(struct channel *c, const struct pollfd *fd)
{
	if (fd->revents & (POLLOUT | POLLERR | POLLHUP))
		channel_write(c);
	if (fd->revents & POLLERR)
		c->is_broken = true;
}

static void drop_signals(const struct run *r)
{
	struct signalfd_siginfo info;

	(void)!read(r->signals, &info, sizeof(info));
}

static void serve(struct run *r, const struct pollfd *fds)
{
	struct channel *in = &r->proxy.to_agent, *out = &r->proxy.to_editor;

	write_out(out, &fds[FD_EDITOR_OUT]);
	write_out(in, &fds[FD_AGENT_IN]);
	if (fds[FD_AGENT_ERR].revents)
		pump_err(r);
	if (fds[FD_EDITOR_IN].revents && in->from >= 0 && channel_read(in))
		begin_end(r);
	if (fds[FD_AGENT_OUT].revents && out->from >= 0 && channel_read(out))
		end_now(r);
	if (fds[FD_ENDED].revents)
		note_end_of_child(r);
	if (fds[FD_SIGNALS].revents) {
		drop_signals(r);
		begin_end(r);
	}
	if (out->is_broken)
		begin_end(r);
}

static int timeout_ms(const struct run *r, int64_t due, int64_t now)
{
	if (r->end_ms && r->end_ms < due)
		due = r->end_ms;
	if (due == INT64_MAX)
		return -1;
	if (due <= now)
		return 0;
	return due - now > INT_MAX ? INT_MAX : (int)(due - now);
}

static void turn(struct run *r)
{
	struct pollfd fds[OWN_FDS + PROXY_QUESTIONS];
	int64_t now = clock_monotonic_ms();
	int64_t due = question_tick(&r->proxy, now);
	size_t count;

	step_end(r, now);
	if (r->is_over)
		return;
	prepare(r, fds);
	count = question_watch(&r->proxy, fds + OWN_FDS);
	if (poll(fds, OWN_FDS + count, timeout_ms(r, due, now)) <= 0)
		return;
	question_serve(&r->proxy, fds + OWN_FDS, count);
	serve(r, fds);
}

/* The front is told of what waits no longer, and the editor gets the agent's last words. */
static void say_goodbye(struct run *r)
{
	int64_t until = clock_monotonic_ms() + PROXY_LINGER_MS;
	struct channel *out = &r->proxy.to_editor;

	for (;;) {
		struct pollfd fds[1 + PROXY_QUESTIONS];
		int64_t now = clock_monotonic_ms();
		int64_t due = question_tick(&r->proxy, now);
		size_t count;

		if (now >= until ||
		    (question_is_quiet(&r->proxy) && (channel_is_empty(out) || out->is_broken)))
			return;
		fds[0] = watch(out->is_broken ? -1 : out->to, false, !channel_is_empty(out));
		count = question_watch(&r->proxy, fds + 1);
		if (due > until)
			due = until;
		if (poll(fds, 1 + count, due > now ? (int)(due - now) : 0) <= 0)
			continue;
		write_out(out, &fds[0]);
		question_serve(&r->proxy, fds + 1, count);
	}
}

/* ---- opening ---- */

static void help(void)
{
	(void)puts(
	    "usage: agent-intercom acp [OPTIONS] PROFILE\n"
	    "       agent-intercom acp [OPTIONS] COMMAND [ARGUMENT ...]\n\n"
	    "Starts an agent that speaks ACP, for the editor on stdin and stdout, and holds what\n"
	    "lets it act: its requests for permission, the files that it has the editor write, "
	    "and\n"
	    "the commands that it has it run. The policy answers, or you do: in Slack, in a\n"
	    "terminal, and permissions also in the editor. The first answer counts. Everything "
	    "else\n"
	    "passes unchanged.\n\n"
	    "PROFILE is one of `agent-intercom agents` that speaks ACP. Starts agent-intercom if\n"
	    "it is not running.\n\n"
	    "  --when-down editor|deny  if agent-intercom cannot be reached, permissions are the\n"
	    "                           editor's alone (the default), or are refused; files and\n"
	    "                           commands, which the editor does not ask about, always are\n"
	    "  --workspace DIR          where the agent is started: else where we were\n"
	    "  --config FILE, --db PATH, --help, --version\n\n"
	    "Exit status: the agent's.");
}

static int take_when_down(void *arg, const char *text, struct err *e)
{
	struct options *o = arg;

	if (strcmp(text, "editor") != 0 && strcmp(text, "deny") != 0)
		return err_set(e, ERR_INPUT, "--when-down takes editor or deny, not '%.40s'", text);
	o->when_down = strcmp(text, "deny") == 0 ? IF_DOWN_DENY : IF_DOWN_EDITOR;
	return 0;
}

static int parse(struct options *o, int argc, char **argv, struct err *e)
{
	bool asks_help = false, asks_version = false;
	const struct options_row rows[] = {
		{ "config", .text = &o->config },
		{ "db", .text = &o->database },
		{ "workspace", .text = &o->folder },
		{ "when-down", .take = take_when_down },
		{ "help", .flag = &asks_help, .ends = true },
		{ "version", .flag = &asks_version, .ends = true },
		{ NULL },
	};

	if (options_read(rows, "+", o, argc, argv, e))
		return e->kind ? -1 : err_set(e, ERR_INPUT, "see agent-intercom acp --help");
	if (asks_help)
		help();
	if (asks_version)
		(void)printf("acp-proxy %s\n", INSTANCE_BUILD);
	if (asks_help || asks_version)
		exit(EX_OK);
	if (optind >= argc)
		return err_set(e, ERR_INPUT,
		               "name a profile or a command; see agent-intercom acp --help");
	o->command = argv + optind;
	return 0;
}

/* The profile that a single word names; NULL: it is a command. */
static int find_profile(const struct options *o, struct config *config,
                        const struct config_agent **ret, struct err *e)
{
	const struct config_source source = { .config = o->config, .database = o->database };

	*ret = NULL;
	if (o->command[1] || strchr(o->command[0], '/'))
		return 0;
	if (config_load(&source, config, e))
		return -1;
	for (size_t i = 0; i < config->agents.count; i++)
		if (strcmp(config->agents.items[i].name, o->command[0]) == 0)
			*ret = &config->agents.items[i];
	if (*ret && (*ret)->protocol != PROTOCOL_ACP)
		return err_set(e, ERR_INPUT,
		               "the profile %s does not speak ACP; see agent-intercom agents",
		               o->command[0]);
	return 0;
}

static int open_run(struct run *r, const struct options *o, char folder[PATH_MAX], struct err *e)
{
	OWNED(config) struct config config = { 0 };
	const struct config_agent *profile;

	if (!realpath(o->folder ? o->folder : ".", folder))
		return err_errno(e, ERR_INPUT, "the workspace %s", o->folder ? o->folder : ".");
	r->proxy.when_down = o->when_down;
	if (find_profile(o, &config, &profile, e) || signals_hear(SIGHUP, &r->signals, e) ||
	    contact_find(&r->proxy.system.to, o->config, o->database, e) ||
	    child_start(&r->child, o->command, profile, folder, &r->proxy.system.to.is, e))
		return -1;
	r->proxy.to_agent.to = r->child.process.in;
	r->proxy.to_editor.from = r->child.process.out;
	return 0;
}

static void init_run(struct run *r)
{
	struct proxy *p = &r->proxy;

	p->run = id_new_secret();
	TAILQ_INIT(&p->sessions);
	TAILQ_INIT(&p->questions);
	TAILQ_INIT(&p->openings);
	TAILQ_INIT(&p->lates);
	r->from_agent = (struct channel_taker){ .take = traffic_take_agent,
		                                .refuse = traffic_refuse_agent,
		                                .arg = p };
	r->from_editor = (struct channel_taker){ .take = traffic_take_editor,
		                                 .refuse = traffic_refuse_editor,
		                                 .arg = p };
	p->to_agent = (struct channel){ .from = STDIN_FILENO, .to = -1, .by = &r->from_editor };
	p->to_editor = (struct channel){ .from = -1, .to = STDOUT_FILENO, .by = &r->from_agent };
	r->child.process = (struct launch)LAUNCH_INIT;
	r->signals = -1;
	r->stdin_flags = fcntl(STDIN_FILENO, F_GETFL);
	r->stdout_flags = fcntl(STDOUT_FILENO, F_GETFL);
}

static void close_run(struct run *r)
{
	(void)fcntl(STDIN_FILENO, F_SETFL, r->stdin_flags);
	(void)fcntl(STDOUT_FILENO, F_SETFL, r->stdout_flags);
	question_clear_all(&r->proxy);
	session_clear_all(&r->proxy);
	due_clear(&r->proxy);
	uplink_system_clear(&r->proxy.system);
	channel_clear(&r->proxy.to_agent);
	channel_clear(&r->proxy.to_editor);
	io_shut(&r->signals);
}

int main(int argc, char **argv)
{
	struct options o = { .when_down = IF_DOWN_EDITOR };
	struct run r = { .end_ms = 0 };
	char folder[PATH_MAX];
	struct err e = { 0 };

	log_open("acp-proxy", 0, LOG_LEVEL_INFO);
	init_run(&r);
	if (parse(&o, argc, argv, &e)) {
		log_error("%s", e.text);
		return EX_USAGE;
	}
	if (open_run(&r, &o, folder, &e)) {
		log_error("%s", e.text);
		child_clear(&r.child);
		close_run(&r);
		return err_exit(&e);
	}
	(void)fcntl(STDIN_FILENO, F_SETFL, r.stdin_flags | O_NONBLOCK);
	(void)fcntl(STDOUT_FILENO, F_SETFL, r.stdout_flags | O_NONBLOCK);
	while (!r.is_over)
		turn(&r);
	say_goodbye(&r);
	child_await(&r.child, EXIT_MS);
	child_clear(&r.child);
	close_run(&r);
	return r.child.status;
}
