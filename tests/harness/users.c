#include "users.h"

#include "agent.h"
#include "db.h"
#include "process.h"
#include "suite.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { AGENTS = 60110, OPERATORS = 60111, LOOK_MS = 20, WORDS = 40 };

const uid_t USER_IDS[USERS] = { 60101, 60102, 60103, 60104, 60105, 60106 };

/* Their further groups, as setpriv takes them. */
static const char *const GROUPS[USERS] = { "--groups=60110,60111", "--groups=60110",
	                                   "--groups=60111",       "--clear-groups",
	                                   "--groups=60110",       "--clear-groups" };

static const char *const NAMES[USERS] = { "t-service",  "t-agent", "t-operator",
	                                  "t-stranger", "t-other", "t-helper" };

/* ---- folders ---- */

static void make(const char *path, mode_t mode, enum user owner)
{
	ck_assert_msg(mkdir(path, mode) == 0 && chmod(path, mode) == 0 &&
	                  chown(path, USER_IDS[owner], USER_IDS[owner]) == 0,
	              "cannot make %s", path);
}

void users_configure(const struct users *u, const char *lines)
{
	OWNED(str) struct str config = { 0 };
	char path[120];

	str_addf(&config, "http_port = %d\n%s", u->port, lines);
	(void)snprintf(path, sizeof(path), "%s/etc/agent-intercom", u->base);
	put_file(path, "config.toml", config.bytes);
	(void)snprintf(path, sizeof(path), "%s/etc/agent-intercom/config.toml", u->base);
	ck_assert_int_eq(chown(path, USER_IDS[SERVICE], USER_IDS[SERVICE]), 0);
}

struct users users_make(const char *more)
{
	struct users u = { .port = free_port() };
	const char *parent = getenv("TMPDIR");
	OWNED(str) struct str config = { 0 };
	char path[120];

	(void)snprintf(u.base, sizeof(u.base), "%.40s/users-XXXXXX", parent ? parent : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(u.base));
	ck_assert_int_eq(chmod(u.base, 0755), 0);
	(void)snprintf(u.shared, sizeof(u.shared), "%s/shared", u.base);
	(void)snprintf(u.project, sizeof(u.project), "%s/project", u.base);
	(void)snprintf(path, sizeof(path), "%s/state", u.base);
	(void)snprintf(u.database, sizeof(u.database), "%s/state/agent-intercom/intercom.db",
	               u.base);
	make(u.shared, 0755, SERVICE);
	make(u.project, 0777, AGENT);
	make(path, 0700, SERVICE);
	for (int i = 0; i < USERS; i++) {
		(void)snprintf(path, sizeof(path), "%s/home-%u", u.base, (unsigned)USER_IDS[i]);
		make(path, 0700, (enum user)i);
	}
	(void)snprintf(path, sizeof(path), "%s/etc", u.base);
	make(path, 0700, SERVICE);
	(void)snprintf(path, sizeof(path), "%s/etc/agent-intercom", u.base);
	make(path, 0700, SERVICE);
	(void)snprintf(u.owner_socket, sizeof(u.owner_socket), "%s/owner.sock", u.base);
	(void)snprintf(u.start_socket, sizeof(u.start_socket), "%s/start.sock", u.base);
	str_addf(&config,
	         "[shared]\nagents = \"%d\"\noperators = \"%d\"\nowner_socket = \"%s\"\n"
	         "start_socket = \"%s\"\n%s",
	         AGENTS, OPERATORS, u.owner_socket, u.start_socket, more);
	users_configure(&u, config.bytes);
	return u;
}

void users_remove(struct users *u)
{
	ck_assert(remove_tree(u->base));
}

/* ---- accounts ---- */

/* The file of /etc with more lines, in its place. */
static bool extend(const struct users *u, const char *name, const char *lines)
{
	OWNED(char_ptr) char *before = NULL;
	OWNED(str) struct str all = { 0 };
	char ours[100], theirs[40];

	(void)snprintf(ours, sizeof(ours), "%s/%s", u->base, name);
	(void)snprintf(theirs, sizeof(theirs), "/etc/%s", name);
	(void)umount2(theirs, MNT_DETACH); /* that of before */
	(void)unlink(ours);
	before = get_file("/etc", name);
	str_addf(&all, "%s%s", before ? before : "", lines);
	put_file(u->base, name, all.bytes);
	return chmod(ours, 0644) == 0 && mount(ours, theirs, NULL, MS_BIND, NULL) == 0;
}

/* All but `left` are in the groups that they are to be in; `deleted` is unknown. */
static bool have_accounts(const struct users *u, enum user left, enum user deleted)
{
	OWNED(str) struct str passwd = { 0 };
	OWNED(str) struct str group = { 0 };

	for (int i = 0; i < USERS; i++) {
		if (i == (int)deleted)
			continue;
		str_addf(&passwd, "%s:x:%u:%u::%s/home-%u:/bin/sh\n", NAMES[i],
		         (unsigned)USER_IDS[i], (unsigned)USER_IDS[i], u->base,
		         (unsigned)USER_IDS[i]);
		str_addf(&group, "%s:x:%u:\n", NAMES[i], (unsigned)USER_IDS[i]);
	}
	str_addf(&group, "t-agents:x:%d:%s,%s\nt-operators:x:%d:%s,%s\n", AGENTS,
	         left == AGENT ? "" : NAMES[AGENT], left == OTHER_AGENT ? "" : NAMES[OTHER_AGENT],
	         OPERATORS, left == OPERATOR ? "" : NAMES[OPERATOR], NAMES[OTHER_AGENT]);
	return extend(u, "passwd", passwd.bytes) && extend(u, "group", group.bytes);
}

void users_leave(const struct users *u, enum user who)
{
	ck_assert(have_accounts(u, who, USERS));
}

void users_delete(const struct users *u, enum user who)
{
	ck_assert(have_accounts(u, who, who));
}

bool users_have_accounts(const struct users *u)
{
	return may_mount() && have_accounts(u, USERS, USERS);
}

/* ---- programs ---- */

struct words {
	const char *word[WORDS + 1];
	size_t count;
	char kept[12][160];
	size_t kept_count;
};

static void add(struct words *w, const char *word)
{
	ck_assert_uint_lt(w->count, WORDS);
	w->word[w->count++] = word;
}

__attribute__((format(printf, 2, 3))) static void add_made(struct words *w, const char *format, ...)
{
	va_list args;

	ck_assert_uint_lt(w->kept_count, COUNT(w->kept));
	va_start(args, format);
	(void)vsnprintf(w->kept[w->kept_count], sizeof(w->kept[0]), format, args);
	va_end(args);
	add(w, w->kept[w->kept_count++]);
}

/* What makes the words that follow a program of this user's. */
static void begin_as(struct words *w, const struct users *u, enum user who, bool is_begun)
{
	static const char *const PASSED[] = { "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS",
		                              "INTERCOM_FENCE" };

	if (!is_begun)
		add(w, "setpriv");
	add_made(w, "--reuid=%u", (unsigned)USER_IDS[who]);
	add_made(w, "--regid=%u", (unsigned)USER_IDS[who]);
	add(w, GROUPS[who]);
	add(w, "--");
	add(w, "env");
	add(w, "-i");
	add_made(w, "HOME=%s/home-%u", u->base, (unsigned)USER_IDS[who]);
	add_made(w, "INTERCOM_SHARED=%s", u->shared);
	add(w, "PATH=/usr/bin:/bin");
	if (who == SERVICE) {
		add_made(w, "XDG_STATE_HOME=%s/state", u->base);
		add_made(w, "XDG_CONFIG_HOME=%s/etc", u->base);
	}
	for (size_t i = 0; i < COUNT(PASSED); i++)
		if (getenv(PASSED[i]))
			add_made(w, "%s=%s", PASSED[i], getenv(PASSED[i]));
}

int users_run(const struct users *u, enum user who, struct str *said, const char *format, ...)
{
	OWNED(str) struct str line = { 0 };
	char script[80], text[6000], name[20];
	struct words w = { .count = 0 };
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	(void)snprintf(name, sizeof(name), "script-%d", who);
	put_file(u->base, name, text);
	(void)snprintf(script, sizeof(script), "%s/%s", u->base, name);
	begin_as(&w, u, who, false);
	str_addf(&line, "cd %s &&", u->project);
	for (size_t i = 0; i < w.count; i++)
		str_addf(&line, " '%s'", w.word[i]);
	return shell(said, "%s sh %s 2>&1 </dev/null", line.bytes, script);
}

/* A program of ours, with arguments. */
static int run_ours(const struct users *u, enum user who, struct str *said, const char *name,
                    const char *format, va_list args)
{
	char program[PROGRAM_BYTES], text[4000];

	(void)vsnprintf(text, sizeof(text), format, args);
	test_program(name, program);
	return users_run(u, who, said, "exec %s %s", program, text);
}

int users_intercom(const struct users *u, enum user who, struct str *said, const char *format, ...)
{
	va_list args;
	int status;

	va_start(args, format);
	status = run_ours(u, who, said, "agent-intercom", format, args);
	va_end(args);
	return status;
}

int users_ctl(const struct users *u, enum user who, struct str *said, const char *format, ...)
{
	va_list args;
	int status;

	va_start(args, format);
	status = run_ours(u, who, said, "agent-intercom-ctl", format, args);
	va_end(args);
	return status;
}

void users_operator_sees(const struct users *u, const char *arguments, int status,
                         const char *answer)
{
	OWNED(str) struct str said = { 0 };
	int got = users_ctl(u, OPERATOR, &said, "--text %s", arguments);

	ck_assert_msg(got == status && strstr(str_text(&said), answer), "%s: %d\n%s", arguments,
	              got, str_text(&said));
}

const char *users_sql(const struct users *u, const char *query)
{
	static struct str said;
	int status = users_ctl(u, SERVICE, &said, "--db %s sql \"%s\"", u->database, query);

	ck_assert_msg(status == 0, "%s: %s", query, str_text(&said));
	return str_text(&said);
}

void users_expect_soon(const struct users *u, const char *query, const char *answer)
{
	db_expect_soon(u->database, query, answer);
}

/* entered: by the user, and not by root before, who then may be where the user cannot go. */
static struct relay start_relay(const struct users *u, enum user who, const char *folder,
                                bool entered)
{
	char program[PROGRAM_BYTES];
	struct words w = { .count = 0 };
	struct relay r;

	test_program("agent-intercom", program);
	begin_as(&w, u, who, false);
	if (entered) {
		add(&w, "sh");
		add(&w, "-c");
		add(&w, "cd \"$0\" && exec \"$@\"");
		add(&w, folder);
	}
	add(&w, program);
	add(&w, "mcp");
	relay_start_as(&r, entered ? u->base : folder, w.word);
	relay_hello(&r);
	return r;
}

struct relay users_relay_in(const struct users *u, enum user who, const char *folder)
{
	return start_relay(u, who, folder, true);
}

struct relay users_relay(const struct users *u, enum user who)
{
	return start_relay(u, who, u->project, false);
}

/* ---- the system ---- */

void users_await_log(const struct users *u, const char *text)
{
	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS;; (void)poll(NULL, 0, LOOK_MS)) {
		OWNED(char_ptr) char *said = get_file(u->base, "log");

		if (said && strstr(said, text))
			return;
		ck_assert_msg(agent_ms() < end, "'%s' is not in the log: %s", text, said);
	}
}

void users_start(struct users *u)
{
	char program[PROGRAM_BYTES], log[100];
	struct words w = { .count = 0 };
	int64_t end = agent_ms() + AGENT_PATIENCE_MS;

	test_program("agent-intercom", program);
	begin_as(&w, u, SERVICE, false);
	add(&w, program);
	add(&w, "--shared");
	add(&w, u->shared);
	(void)snprintf(log, sizeof(log), "%s/log", u->base);
	(void)unlink(log);
	u->pid = fork();
	ck_assert_int_ge(u->pid, 0);
	if (u->pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (chdir("/") != 0 || !freopen(log, "w", stdout) || fchmod(1, 0600) != 0 ||
		    dup2(1, 2) < 0)
			_exit(126);
		(void)execvp(w.word[0], (char *const *)w.word);
		_exit(127);
	}
	for (;; (void)poll(NULL, 0, LOOK_MS)) {
		OWNED(char_ptr) char *said = get_file(u->base, "log");

		if (said && strstr(said, "all workers are ready"))
			return;
		ck_assert_msg(agent_ms() < end && kill(u->pid, 0) == 0 &&
		                  !ends_within(u->pid, 0, NULL),
		              "the system does not start: %s", said ? said : "");
	}
}

/* ---- as-owner ---- */

static int listen_for_owner(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);

	(void)unlink(path);
	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	ck_assert_msg(fd >= 0 && bind(fd, (const struct sockaddr *)&a, sizeof(a)) == 0 &&
	                  listen(fd, 100) == 0 && chmod(path, 0600) == 0 &&
	                  chown(path, USER_IDS[SERVICE], 0) == 0,
	              "cannot listen on %s", path);
	return fd;
}

/* What it has started, and its user has stopped, outlives a test that fails: it must not hold the
 * test's output open, for whose end ctest waits. */
static void say_to(const struct users *u, const char *file)
{
	char log[200];
	int to;

	(void)snprintf(log, sizeof(log), "%s/%s", u->base, file);
	to = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	(void)dup2(to, STDOUT_FILENO);
	(void)dup2(to, STDERR_FILENO);
}

static pid_t start_owner(const struct users *u, const char *path, const char *kinds)
{
	static const char RIGHTS[] = "-all,+setuid,+setgid";
	char program[PROGRAM_BYTES];
	struct words w = { .count = 0 };
	int listener = listen_for_owner(path);
	pid_t pid;

	test_program("as-owner", program);
	add(&w, "setpriv");
	add(&w, "--no-new-privs");
	add_made(&w, "--inh-caps=%s", RIGHTS);
	add_made(&w, "--ambient-caps=%s", RIGHTS);
	add_made(&w, "--bounding-set=%s", RIGHTS);
	begin_as(&w, u, HELPER, true);
	add(&w, program);
	add(&w, "--service=60101");
	add(&w, "--agents=60110");
	add(&w, "--operators=60111");
	add_made(&w, "--starts=%s", kinds);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		say_to(u, "owner.log");
		if (listener != 3)
			(void)dup2(listener, 3);
		(void)execvp(w.word[0], (char *const *)w.word);
		_exit(127);
	}
	(void)close(listener);
	return pid;
}

void users_start_owner(struct users *u)
{
	(void)snprintf(u->owner_socket, sizeof(u->owner_socket), "%s/owner.sock", u->base);
	u->owner_pid = start_owner(u, u->owner_socket, "files");
}

void users_start_starter(struct users *u)
{
	u->starter_pid = start_owner(u, u->start_socket, "agents");
}

/* Until it has blocked SIGTERM, to read it when it comes, it would die of it; true too if it has
 * ended. */
static bool takes_sigterm(pid_t pid)
{
	OWNED(char_ptr) char *status = NULL;
	char folder[40];

	(void)snprintf(folder, sizeof(folder), "/proc/%d", (int)pid);
	status = get_file(folder, "status");
	if (!status || strstr(status, "State:\tZ"))
		return true;
	return strtoull(strstr(status, "SigBlk:") + 7, NULL, 16) & (1U << (SIGTERM - 1));
}

static int stop_owner(pid_t *pid)
{
	pid_t stopped = *pid;

	*pid = 0;
	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS;
	     !takes_sigterm(stopped) && agent_ms() < end; (void)poll(NULL, 0, 10))
		;
	(void)kill(stopped, SIGTERM);
	return end_of(stopped);
}

int users_stop_owner(struct users *u)
{
	return stop_owner(&u->owner_pid);
}

int users_stop_starter(struct users *u)
{
	return stop_owner(&u->starter_pid);
}

int users_stop(struct users *u)
{
	pid_t pid = u->pid;

	u->pid = 0;
	(void)kill(pid, SIGTERM);
	return end_of(pid);
}

void users_kill(struct users *u)
{
	(void)kill(u->pid, SIGKILL);
	(void)end_of(u->pid);
	u->pid = 0;
}

const char *users_ask(const struct users *u, struct relay *r, const char *path, const char *content)
{
	static char id[40];
	OWNED(char_ptr) char *arguments = proposal(path, content);

	relay_begin(r, "check_clearance", arguments);
	users_expect_soon(u, "SELECT count(*) FROM inbox", "1\n");
	(void)snprintf(id, sizeof(id), "%.36s", users_sql(u, "SELECT id FROM inbox"));
	return id;
}

void users_is_written(const struct users *u, struct relay *r, const char *id, const char *path,
                      const char *content)
{
	OWNED(char_ptr) char *answer = relay_end(r), *written = NULL, *have = NULL;
	char arguments[80];

	has(answer, "status", "approved");
	(void)snprintf(arguments, sizeof(arguments), "{\"request_id\":\"%s\"}", id);
	written = relay_call(r, "check_diff", arguments);
	has(written, "status", "applied");
	have = get_file(u->project, path);
	ck_assert_str_eq(have, content);
}
