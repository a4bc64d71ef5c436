/* Starts the agent of a profile as a session would, opens a session, and ends it: so it is known
 * whether the agent speaks ACP and is logged in, before anybody waits for it. */
#include "agents.h"

#include "acp.h"
#include "clock.h"
#include "environment.h"
#include "launch.h"
#include "program.h"
#include "tail.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	MS_PER_S = 1000,
	LOOK_MS = 60000, /* the longest wait at a time */
	GOODBYE_MS = 1000, /* between the end of its stdin and the kill */
	CHUNK_BYTES = 65536,
	WHY_BYTES = 500, /* of a text of the agent */
};

struct probe {
	struct agent_look *look;
	struct launch launch;
	struct acp acp;
	struct tail tail;
	int signals;
	bool over;
	bool closed; /* it ended before it was ready */
	bool interrupted; /* by a signal that is to end us */
};

static void probe_clear(struct probe *p)
{
	launch_clear(&p->launch);
	acp_clear(&p->acp);
	tail_clear(&p->tail);
	if (p->signals >= 0)
		(void)close(p->signals);
}

/* ---- what comes of it ---- */

static void settle(struct probe *p, enum agent_state state, const char *why)
{
	if (p->over)
		return;
	p->over = true;
	p->look->state = state;
	str_add_shown(&p->look->detail, why, strlen(why), WHY_BYTES);
}

static void say_login(struct probe *p, const char *why)
{
	struct agent_look *look = p->look;

	settle(p, AGENT_LOGIN, why);
	if (look->profile->login)
		str_addf(&look->detail, "; log in with `%s` in a terminal", look->profile->login);
	else
		str_add(&look->detail, "; log in to it in a terminal");
	str_add(&look->detail, ", or set env or auth_method in [[agent]]");
}

static void take(void *arg, const struct acp_event *event)
{
	struct probe *p = arg;
	const char *text = event->text ? event->text : "";

	if (event->kind == ACP_OPENED) {
		settle(p, AGENT_READY, "");
	} else if (event->kind == ACP_FAILED && event->code == ACP_LOGIN_NEEDED) {
		say_login(p, text);
	} else if (event->kind == ACP_FAILED || event->kind == ACP_CLOSED) {
		p->closed = event->kind == ACP_CLOSED && !p->over;
		settle(p, AGENT_FAILED, text);
	}
}

/* ---- its process ---- */

static void set_environment(struct environment *variables, const struct agent_look *look)
{
	const struct config_agent *a = look->profile;
	OWNED(str) struct str pass = { 0 }, set = { 0 }, path = { 0 };

	config_add_texts(&pass, &a->env_pass);
	config_add_map(&set, &a->env_set);
	program_path(str_text(&look->path), &path);
	environment_pass(variables, environ, str_text(&pass));
	environment_set(variables, "PATH", str_text(&path));
	environment_set(variables, "NO_COLOR", "1");
	environment_set_all(variables, str_text(&set));
}

static int start(struct probe *p, const char *root, struct err *e)
{
	const struct config_agent *a = p->look->profile;
	OWNED(environment) struct environment variables = { 0 };
	char **argv = xcalloc(a->args.count + 2, sizeof(*argv));
	struct launch_plan plan = { .argv = argv, .directory = root, .talks = true };
	int failed;

	argv[0] = p->look->path.bytes;
	for (size_t i = 0; i < a->args.count; i++)
		argv[i + 1] = a->args.items[i];
	set_environment(&variables, p->look);
	plan.environment = variables.variables;
	failed = launch_hold(&p->launch, &plan, e) || launch_go(&p->launch, &plan, e);
	free(argv);
	return failed;
}

static void write_some(struct probe *p)
{
	struct str *out = &p->acp.out;
	ssize_t n = write(p->launch.in, out->bytes, out->length);

	if (n > 0) {
		memmove(out->bytes, out->bytes + n, out->length - (size_t)n);
		out->length -= (size_t)n;
	} else if (n < 0 && errno != EAGAIN && errno != EINTR) {
		str_reset(out); /* it reads no more; what it wrote is still to come */
	}
}

/* Reads what there is. False at the end of it. */
static bool read_some(int fd, char *chunk, size_t *ret_length)
{
	ssize_t n = read(fd, chunk, CHUNK_BYTES);

	*ret_length = n > 0 ? (size_t)n : 0;
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static void hear(struct probe *p, const struct pollfd *out, struct pollfd *err)
{
	static char chunk[CHUNK_BYTES];
	size_t length;

	if (err->revents) {
		if (!read_some(err->fd, chunk, &length))
			err->fd = -1;
		tail_add(&p->tail, chunk, length);
	}
	if (!out->revents)
		return;
	if (read_some(out->fd, chunk, &length))
		acp_feed(&p->acp, chunk, length, clock_monotonic_ms());
	else
		acp_end(&p->acp, clock_monotonic_ms());
}

static int patience_ms(const struct probe *p)
{
	int64_t due = acp_due_ms(&p->acp), left = due - clock_monotonic_ms();

	if (left < 0)
		return 0;
	return left < LOOK_MS ? (int)left : LOOK_MS;
}

static void talk(struct probe *p)
{
	enum { IN, OUT, ERR, SIGNALS, COUNT_OF };
	struct pollfd fds[COUNT_OF] = {
		[IN] = { .fd = p->launch.in, .events = POLLOUT },
		[OUT] = { .fd = p->launch.out, .events = POLLIN },
		[ERR] = { .fd = p->launch.err, .events = POLLIN },
		[SIGNALS] = { .fd = p->signals, .events = POLLIN },
	};

	while (!p->over) {
		fds[IN].fd = p->acp.out.length ? p->launch.in : -1;
		if (poll(fds, COUNT_OF, patience_ms(p)) < 0 && errno != EINTR)
			return settle(p, AGENT_FAILED, strerror(errno));
		if (fds[SIGNALS].revents) {
			p->interrupted = true;
			return;
		}
		if (fds[IN].fd >= 0 && fds[IN].revents)
			write_some(p);
		hear(p, &fds[OUT], &fds[ERR]);
		acp_tick(&p->acp, clock_monotonic_ms());
	}
}

/* How it ended, if it did so of itself, and the last line that it wrote. */
static void add_end(struct probe *p, int status)
{
	static char chunk[CHUNK_BYTES];
	OWNED(str) struct str words = { 0 };
	const char *line;
	size_t length;

	if (!p->closed)
		return;
	if (WIFEXITED(status))
		str_addf(&p->look->detail, "; it ended with status %d", WEXITSTATUS(status));
	while (read_some(p->launch.err, chunk, &length) && length)
		tail_add(&p->tail, chunk, length);
	tail_text(&p->tail, &words);
	line = words.length ? strrchr(words.bytes, '\n') : NULL;
	if (words.length)
		str_addf(&p->look->detail, "; its last words: %s", line ? line + 1 : words.bytes);
}

/* Nothing of it stays, however many processes it has made. */
static void end(struct probe *p)
{
	struct pollfd ended = { .fd = p->launch.ended, .events = POLLIN };
	int status = 0;

	if (p->launch.pid == 0)
		return;
	acp_close(&p->acp, "", clock_monotonic_ms());
	if (p->acp.out.length)
		write_some(p);
	(void)close(p->launch.in);
	p->launch.in = -1;
	(void)poll(&ended, 1, p->interrupted ? 0 : GOODBYE_MS);
	(void)kill(-p->launch.pid, SIGKILL);
	(void)waitpid(p->launch.pid, &status, 0);
	p->launch.pid = 0;
	add_end(p, status);
}

/* ---- the probe ---- */

static void open_session(struct probe *p, const char *root)
{
	static const int VERSIONS[] = { [ACP_OFFER_1] = ACP_VERSION_1,
		                        [ACP_OFFER_2] = ACP_VERSION_2,
		                        [ACP_OFFER_AUTO] = ACP_VERSION_ANY };
	const struct config_agent *a = p->look->profile;
	OWNED(str) struct str refused = { 0 };

	config_add_texts(&refused, &a->refused_modes);
	const struct acp_how how = {
		.dialect = ACP_STANDARD,
		.framing = a->framing == FRAMING_LSP ? ACP_LSP : ACP_NDJSON,
		.most = (size_t)a->max_line_length,
		.startup_ms = a->startup_timeout_seconds * MS_PER_S,
		.root = root,
		.version = VERSIONS[a->acp_version],
		.auth_method = a->auth_method,
		.asking = a->asking,
		.refused = str_text(&refused),
	};
	const struct acp_sink sink = { .take = take, .arg = p };

	acp_open(&p->acp, &how, &sink, clock_monotonic_ms());
	talk(p);
	p->look->acp_version = p->acp.agent.version;
	if (p->acp.agent.release.length) {
		str_reset(&p->look->version);
		str_add_shown(&p->look->version, p->acp.agent.release.bytes,
		              p->acp.agent.release.length, AGENT_VERSION_BYTES);
	}
}

static void run(struct probe *p, const char *root)
{
	int64_t begin = clock_monotonic_ms();
	struct err e = { 0 };

	if (start(p, root, &e))
		settle(p, AGENT_FAILED, e.text);
	else
		open_session(p, root);
	p->look->milliseconds = clock_monotonic_ms() - begin;
	end(p);
}

void agents_probe(struct agent_look *look, const char *root)
{
	OWNED(probe) struct probe p = { .look = look, .launch = LAUNCH_INIT, .signals = -1 };
	char empty[] = "/tmp/agent-intercom-XXXXXX";
	sigset_t ending, before;

	(void)sigemptyset(&ending);
	(void)sigaddset(&ending, SIGINT);
	(void)sigaddset(&ending, SIGTERM);
	(void)sigaddset(&ending, SIGHUP);
	(void)sigprocmask(SIG_BLOCK, &ending, &before);
	(void)signal(SIGPIPE, SIG_IGN);
	p.signals = signalfd(-1, &ending, SFD_CLOEXEC);
	if (*root)
		run(&p, root);
	else if (mkdtemp(empty))
		run(&p, empty);
	else
		settle(&p, AGENT_FAILED, strerror(errno));
	if (!*root)
		(void)rmdir(empty);
	/* A signal that came is still pending: now that nothing of the agent is left, it ends us.
	 */
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
}
