/* hook (`agent-intercom hook HOST EVENT`): what an agent's host runs before and after its tools and
 * around its turns.
 *
 * Takes the host's JSON from stdin to mcp-front, over its Unix socket, waits, and says the answer,
 * which the front words as the host needs it. Before a tool, whatever goes wrong is a deny with its
 * reason; at other events it is silence. It runs at every call of every tool: so it loads no
 * library, not even the C library, and parses nothing.
 *
 * Reads and writes no table. Outside: stdin, stdout, stderr, <run>/mcp.sock. */
#include "clock.h"
#include "gate_answer.h"
#include "gate_canary.h"
#include "gate_wire.h"
#include "instance.h"
#include "io.h"
#include "last_word.h"
#include "paths.h"
#include "question.h"
#include "reach.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

enum {
	READ_BYTES = 64 << 10,
	INPUT_MS = 10000, /* for the host to send all of its JSON */
	SECONDS_MAX = 30 * 24 * 3600,
	MS_PER_S = 1000,
	SPARE_MS = 500, /* before a timer answers for us */
	STATUS_DENY = 2, /* as gate_answer's */
};

struct hook {
	const char *host_name, *event; /* as they were given */
	const struct gate_host *host; /* NULL: not known */
	bool gates; /* the host waits for our leave */
	bool may_end; /* before a tool: the host's process may end with the call */
	bool when_down_allow;
	const char *seconds; /* --deadline */
	const char *unknown; /* why the system could not be found, from agent-intercom */
	bool by_config;
	struct question_system system;
	int64_t deadline_ms; /* clock_monotonic_ms */
};

/* ---- answers ---- */

static _Noreturn void finish(const struct gate_answer *answer)
{
	int status = answer->status;

	last_word_withhold();
	if (io_write_all(STDOUT_FILENO, str_text(&answer->out), answer->out.length) && !status)
		status = STATUS_DENY; /* an allow that nobody has read is none */
	(void)io_write_all(STDERR_FILENO, str_text(&answer->err), answer->err.length);
	exit(status);
}

static void word_deny(const struct hook *h, const char *reason, struct gate_answer *answer)
{
	const struct gate_verdict deny = { .decision = GATE_DENY, .reason = reason };

	if (h->host) {
		gate_answer_write(h->host, h->event, &deny, answer);
	} else if (h->gates) { /* the form that needs no dialect */
		str_addf(&answer->err, "%s\n", reason);
		answer->status = STATUS_DENY;
	}
}

static _Noreturn void fail(const struct hook *h, const struct err *e)
{
	OWNED(gate_answer) struct gate_answer answer = { 0 };
	OWNED(str) struct str reason = { 0 };

	str_addf(&reason, "agent-intercom: %s", e->text);
	if (h->gates)
		word_deny(h, str_text(&reason), &answer);
	finish(&answer);
}

static void prepare_last_word(const struct hook *h)
{
	OWNED(gate_answer) struct gate_answer answer = { 0 };

	if (h->gates)
		word_deny(h,
		          "agent-intercom: the hook was stopped before there was an answer; "
		          "call the same again",
		          &answer);
	last_word_prepare(&answer.out, &answer.err, answer.status);
	last_word_at(h->deadline_ms + SPARE_MS);
}

/* ---- arguments ---- */

static void help(void)
{
	(void)puts(
	    "usage: agent-intercom hook HOST EVENT [--deadline SECONDS]\n"
	    "                           [--when-down deny|allow] [--config FILE | --db PATH | "
	    "--run DIR]\n\n"
	    "Answers a hook of an agent's host (claude, codex, gemini, copilot, cursor, vscode,\n"
	    "opencode, qwen) for an event by the host's own name. agent-intercom install\n"
	    "HOST --gate writes the calls into the host's settings.\n\n"
	    "  --deadline SECONDS  deny if there is no answer by then; it must be less than the\n"
	    "                      host's own timeout, at which every host runs the tool\n"
	    "  --when-down allow   if agent-intercom cannot be reached, let the host decide\n"
	    "  --help, --version\n\n"
	    "Exit status: 0, or 2 where the tool must not run.");
}

static int take_option(struct hook *h, int option, struct err *e)
{
	switch (option) {
	case 'c':
		h->by_config = true;
		return 0;
	case 'd':
		h->system.database = optarg;
		return 0;
	case 'r':
		h->system.run = optarg;
		return 0;
	case 's':
		h->seconds = optarg;
		return 0;
	case 'u':
		h->unknown = optarg;
		return 0;
	case 'w':
		h->when_down_allow = strcmp(optarg, "allow") == 0;
		if (!h->when_down_allow && strcmp(optarg, "deny") != 0)
			return err_set(e, ERR_INPUT, "--when-down takes deny or allow, not '%.40s'",
			               optarg);
		return 0;
	case 'h':
		help();
		exit(EX_OK);
	case 'v':
		(void)printf("hook %s\n", INSTANCE_BUILD);
		exit(EX_OK);
	default:
		return err_set(e, ERR_INPUT,
		               "an option of the hook is wrong; see agent-intercom "
		               "hook --help");
	}
}

/* All options are read, so that what can be known of the host is known at an error. */
static int parse(struct hook *h, int argc, char **argv, struct err *e)
{
	static const struct option OPTIONS[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "db", required_argument, NULL, 'd' },
		{ "run", required_argument, NULL, 'r' },
		{ "deadline", required_argument, NULL, 's' },
		{ "unknown", required_argument, NULL, 'u' }, /* from agent-intercom */
		{ "when-down", required_argument, NULL, 'w' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ NULL, 0, NULL, 0 },
	};
	int option, failed = 0;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "", OPTIONS, NULL)) != -1)
		failed |= take_option(h, option, e);
	h->host_name = optind < argc ? argv[optind] : NULL;
	h->event = optind + 1 < argc ? argv[optind + 1] : NULL;
	if (failed)
		return -1;
	if (!h->event || optind + 2 < argc)
		return err_set(e, ERR_INPUT,
		               "the hook is called as: hook HOST EVENT; see "
		               "agent-intercom hook --help");
	return 0;
}

/* An event that is not known may be one before a tool: it is treated so. */
static int identify(struct hook *h, struct err *e)
{
	const struct gate_event_name *event = NULL;

	h->gates = true;
	h->host = h->event ? gate_host_named(h->host_name) : NULL;
	if (h->host)
		event = gate_host_event(h->host, h->event);
	if (event)
		h->gates = event->event == GATE_PRE_TOOL || event->event == GATE_PERMISSION;
	h->may_end = event && event->event == GATE_PRE_TOOL;
	if (!h->event || event)
		return 0;
	if (!h->host)
		return err_set(e, ERR_INPUT, "no host is called '%.40s'", h->host_name);
	return err_set(e, ERR_INPUT, "%s has no hook event '%.60s'", h->host->title, h->event);
}

static int set_deadline(struct hook *h, int64_t start_ms, struct err *e)
{
	const struct gate_event_name *event = h->host ? gate_host_event(h->host, h->event) : NULL;
	int most = h->host ? h->host->wait_seconds_max : 0;
	long seconds = event ? gate_host_wait_seconds(h->host, event->event) : 1;
	char *end = NULL;
	int failed = 0;

	if (h->seconds) {
		seconds = strtol(h->seconds, &end, 10);
		if (!*h->seconds || *end || seconds < 1 || seconds > SECONDS_MAX) {
			failed =
			    err_set(e, ERR_INPUT, "--deadline takes 1 to %d seconds, not '%.40s'",
			            (int)SECONDS_MAX, h->seconds);
			seconds = 1;
		}
	}
	if (most && seconds > most)
		seconds = most;
	h->deadline_ms = start_ms + seconds * MS_PER_S;
	return failed;
}

/* ---- the host's JSON ---- */

/* Reads stdin to its end; what is too long is read but not kept. 0 or -1. */
static int read_input(const struct hook *h, struct str *in, struct err *e)
{
	struct pollfd fd = { .fd = STDIN_FILENO, .events = POLLIN };
	int64_t until = clock_monotonic_ms() + INPUT_MS;
	static char bytes[READ_BYTES]; /* on the stack each of its pages would be touched */

	if (until > h->deadline_ms)
		until = h->deadline_ms;
	for (;;) {
		int64_t left = until - clock_monotonic_ms();
		ssize_t n;

		if (left <= 0 || poll(&fd, 1, (int)left) == 0)
			return err_set(e, ERR_INPUT, "the hook's input does not end");
		n = read(STDIN_FILENO, bytes, sizeof(bytes));
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n < 0)
			return err_errno(e, ERR_INPUT, "the hook's input cannot be read");
		if (n == 0)
			return 0;
		if (in->length <= GATE_WIRE_INPUT_BYTES)
			str_add_bytes(in, bytes, (size_t)n);
	}
}

/* JSON allows line breaks between its parts, a line does not; its texts have none. */
static void make_one_line(struct str *json)
{
	for (size_t i = 0; i < json->length; i++)
		if (json->bytes[i] == '\n' || json->bytes[i] == '\r')
			json->bytes[i] = ' ';
}

static int take_input(const struct hook *h, struct str *bytes, struct err *e)
{
	if (read_input(h, bytes, e))
		return -1;
	if (bytes->length > GATE_WIRE_INPUT_BYTES)
		return err_set(e, ERR_INPUT, "the hook's input is longer than %d bytes",
		               (int)GATE_WIRE_INPUT_BYTES);
	make_one_line(bytes);
	return 0;
}

/* ---- the system ---- */

/* Runs agent-intercom instead of us; it gets our arguments and stdin as they are. */
static _Noreturn void become(char *path, char **argv)
{
	static char command[] = "hook";
	char **longer;
	size_t count = 0;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (argv[count])
		count++;
	longer = xcalloc(count + 2, sizeof(*longer));
	longer[0] = path;
	longer[1] = command;
	memcpy(longer + 2, argv + 1, count * sizeof(*longer));
	(void)execv(path, longer);
	_exit(EX_OSFILE);
}

/* Only a configuration tells which system is meant. agent-intercom reads it, and calls the hook
 * again with --run or, if there is none, with --unknown. It is a process of its own, so that a
 * program that cannot start, or dies, denies as well. */
static _Noreturn void ask_for_system(const struct hook *h, char **argv)
{
	OWNED(str) struct str path = { 0 };
	struct err e = { 0 };
	int status = 0;
	pid_t pid;

	if (paths_bin(&path, &e))
		fail(h, &e);
	str_add(&path, "/agent-intercom");
	pid = fork();
	if (pid == 0)
		become(path.bytes, argv);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid > 0 && WIFEXITED(status) &&
	    (WEXITSTATUS(status) == EX_OK || WEXITSTATUS(status) == STATUS_DENY)) {
		last_word_withhold();
		exit(WEXITSTATUS(status)); /* it has said the rest */
	}
	err_tell(&e, ERR_INPUT, "%s did not say which system is meant; install it again",
	         str_text(&path));
	fail(h, &e);
}

static void find_system(const struct hook *h, char **argv)
{
	OWNED(str) struct str run = { 0 };

	if (h->system.run || h->system.database || h->unknown)
		return;
	if (h->by_config || (!reach_usual(&run) && !reach_shared_is_open(REACH_AGENTS)))
		ask_for_system(h, argv);
}

/* No system of ours runs, nor was another one named. */
static bool is_barred(const struct hook *h)
{
	OWNED(str) struct str run = { 0 };

	if (h->by_config || h->system.database || !reach_shared_bars_agents())
		return false;
	if (h->system.run)
		str_add(&run, h->system.run);
	else
		(void)reach_usual(&run);
	return !run.length || access(run.bytes, F_OK) != 0 || instance_is_stopped(run.bytes);
}

static void tell_barred(struct err *e)
{
	err_tell(e, ERR_INPUT,
	         "you run no system, and that of this machine, for several users (%s), does not "
	         "serve your agents: an administrator adds you to its group of agents; then log in "
	         "again, and call the same again",
	         reach_shared_directory());
}

/* ---- the question ---- */

/* Whether the host's process can end with this call: its transcript says so. hook-ends reads it. */
static bool can_end(const struct question *q)
{
	OWNED(str) struct str path = { 0 };
	int fd = memfd_create("input", MFD_CLOEXEC), status = -1;
	pid_t pid = -1;

	if (fd >= 0 && !paths_bin(&path, NULL) &&
	    !io_write_all(fd, q->bytes.bytes, q->bytes.length) && lseek(fd, 0, SEEK_SET) == 0) {
		str_add(&path, "/hook-ends");
		pid = fork();
	}
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)dup2(fd, STDIN_FILENO);
		(void)execl(path.bytes, path.bytes, q->host->name, q->event, (char *)NULL);
		_exit(EX_OSFILE);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	io_shut(&fd);
	return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == EX_OK;
}

/* Asks; where the host's process cannot end with this call, it waits after all. */
static int ask(struct question *q, struct gate_answer *answer, struct err *e)
{
	static const struct gate_verdict ENDS = { .decision = GATE_DEFER };

	if (question_ask(q, answer, e))
		return -1;
	if (!q->process || !q->ends)
		return 0; /* a process that cannot end is denied */
	if (can_end(q)) {
		gate_answer_clear(answer);
		gate_answer_write(q->host, q->event, &ENDS, answer);
		return 0;
	}
	gate_answer_clear(answer);
	q->process = 0;
	return question_ask(q, answer, e);
}

static bool may_open(const struct hook *h, const struct question *q)
{
	return h->when_down_allow && h->host && !q->reached && !q->abandoned;
}

static _Noreturn void say_nothing(const struct hook *h)
{
	static const struct gate_verdict NONE = { .decision = GATE_NONE };
	OWNED(gate_answer) struct gate_answer answer = { 0 };

	gate_answer_write(h->host, h->event, &NONE, &answer);
	finish(&answer);
}

/* The host runs as a canary: what it does is denied, and nobody is asked or told. */
static _Noreturn void refuse_canary(const struct hook *h, const char *word)
{
	struct err e = { 0 };

	if (!h->gates)
		say_nothing(h);
	err_tell(&e, ERR_INPUT, "nothing is let through to a canary: %.80s", word);
	fail(h, &e);
}

static _Noreturn void run(const struct hook *h)
{
	OWNED(gate_answer) struct gate_answer answer = { 0 };
	struct question q = { .system = &h->system,
		              .host = h->host,
		              .event = h->event,
		              .waits = h->gates,
		              .process = h->may_end ? gate_host_process(h->host) : 0,
		              .deadline_ms = h->deadline_ms };
	const char *canary = getenv(GATE_CANARY_VARIABLE);
	struct err e = { 0 };

	if (take_input(h, &q.bytes, &e))
		fail(h, &e);
	if (canary)
		refuse_canary(h, canary);
	if (h->unknown || ask(&q, &answer, &e)) {
		if (may_open(h, &q))
			say_nothing(h);
		if (is_barred(h) && !q.reached)
			tell_barred(&e);
		else if (h->unknown)
			err_tell(&e, ERR_INPUT, "%s", h->unknown);
		fail(h, &e);
	}
	finish(&answer);
}

/* A descriptor that we open must not become our stdout. */
static void fill_standard(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)open("/dev/null", O_RDWR);
}

int main(int argc, char **argv)
{
	struct hook h = { .gates = true };
	struct err e = { 0 }, unknown = { 0 }, late = { 0 };
	int64_t start_ms = clock_monotonic_ms();
	int wrong;

	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	fill_standard();
	last_word_begin("agent-intercom: the hook has no memory\n", STATUS_DENY);
	wrong = parse(&h, argc, argv, &e);
	wrong |= identify(&h, &unknown);
	wrong |= set_deadline(&h, start_ms, &late);
	prepare_last_word(&h);
	if (wrong)
		fail(&h, e.kind ? &e : unknown.kind ? &unknown : &late);
	find_system(&h, argv);
	run(&h);
}
