/* What a process that was taken over can still reach: each worker, once its fence is up, tries what
 * the test tells it to (src/fence/probe.h). Kernels with older ABIs of Landlock are played by a
 * shim, which answers as they do. */
#include "attack.h"

#include "explain.h"
#include "fence.h"
#include "fences.h"
#include "probe.h"
#include "refusals.h"
#include "refused.h"

#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <linux/landlock.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

enum { NEWEST = 7 /* the ABI that these tests know */ };

static char outside[60]; /* a folder that no worker needs, with the file "secret" */
static pid_t victim; /* a process of this user */
static int port; /* one that listens */
static int control = -1; /* of the process that attacks */
static pid_t attacker;

/* ---- the shim ---- */

static int shim_abi; /* 0: the kernel itself answers */
static uint64_t shim_fs; /* what the last set of rules handles */

/* fs, net and scope that an ABI knows, by Documentation/userspace-api/landlock.rst. */
static const struct known {
	uint64_t fs, net, scope;
	size_t size;
} KNOWN[NEWEST + 1] = {
	[1] = { 0x1fff, 0, 0, 8 },  [2] = { 0x3fff, 0, 0, 8 },  [3] = { 0x7fff, 0, 0, 8 },
	[4] = { 0x7fff, 3, 0, 16 }, [5] = { 0xffff, 3, 0, 16 }, [6] = { 0xffff, 3, 3, 24 },
	[7] = { 0xffff, 3, 3, 24 },
};

long __real_syscall(long number, ...);
long __wrap_syscall(long number, ...);

static long refuse(int error)
{
	errno = error;
	return -1;
}

static long shim_create(const uint64_t *attr, size_t size, long flags)
{
	const struct known *k = &KNOWN[shim_abi];

	if (flags == LANDLOCK_CREATE_RULESET_VERSION)
		return shim_abi;
	if (size > k->size)
		return refuse(E2BIG);
	if ((attr[0] & ~k->fs) || (size > 8 && (attr[1] & ~k->net)) ||
	    (size > 16 && (attr[2] & ~k->scope)))
		return refuse(EINVAL);
	shim_fs = attr[0];
	return __real_syscall(SYS_landlock_create_ruleset, attr, size, flags);
}

long __wrap_syscall(long number, ...)
{
	long a[4];
	va_list arguments;

	va_start(arguments, number);
	for (int i = 0; i < 4; i++)
		a[i] = va_arg(arguments, long);
	va_end(arguments);
	if (shim_abi && number == SYS_landlock_create_ruleset)
		return shim_create((const uint64_t *)a[0], (size_t)a[1], a[2]);
	if (shim_abi && number == SYS_landlock_add_rule && a[1] != 1 && shim_abi < 4)
		return refuse(EINVAL);
	if (shim_abi && number == SYS_landlock_add_rule && a[1] == 1 &&
	    (((const struct landlock_path_beneath_attr *)a[2])->allowed_access & ~shim_fs))
		return refuse(EINVAL);
	return __real_syscall(number, a[0], a[1], a[2], a[3]);
}

/* ---- the ground ---- */

static int listener(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert(bind(fd, (const struct sockaddr *)&a, sizeof(a)) == 0 && listen(fd, 9) == 0 &&
	          getsockname(fd, (struct sockaddr *)&a, &size) == 0);
	port = ntohs(a.sin_port);
	return fd;
}

static void given_ground(void)
{
	fresh_store();
	(void)snprintf(outside, sizeof(outside), "%s", short_scratch());
	put_file(outside, "secret", "nobody's business\n");
	(void)listener();
	victim = fork();
	if (victim == 0) {
		(void)pause();
		_exit(0);
	}
}

static void leave(void)
{
	for (int i = 0; i < 2; i++) {
		pid_t *pid = i ? &victim : &attacker;

		if (*pid > 0) {
			(void)kill(*pid, SIGKILL);
			(void)waitpid(*pid, NULL, 0);
		}
		*pid = 0;
	}
	if (control >= 0)
		(void)close(control);
	control = -1;
	(void)unsetenv("INTERCOM_PROBE_FD");
}

/* Forks; in the child, returns true with a probe that is ready. */
static bool forked(void)
{
	int ends[2];
	char number[20];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	attacker = fork();
	if (attacker == 0) {
		(void)close(ends[0]);
		(void)snprintf(number, sizeof(number), "%d", ends[1]);
		(void)setenv("INTERCOM_PROBE_FD", number, 1);
		return true;
	}
	(void)close(ends[1]);
	control = ends[0];
	return false;
}

static void given_worker(const char *name)
{
	char program[PROGRAM_BYTES];

	test_program(name, program);
	if (!forked())
		return;
	(void)setenv("SLACK_BOT_TOKEN", "xoxb-none", 1);
	(void)setenv("SLACK_APP_TOKEN", "xapp-none", 1);
	(void)execl(program, program, "--db", test_db(), "--run", test_run(), "--log-level",
	            "error", (char *)NULL);
	_exit(127);
}

/* ---- attacks ---- */

static int attack(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The errno it fails with, 0: it is possible. */
static int attack(const char *format, ...)
{
	char line[600], answer[20];
	va_list arguments;
	size_t n = 0;

	va_start(arguments, format);
	(void)vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	ck_assert_int_gt(dprintf(control, "%s\n", line), 0);
	while (n + 1 < sizeof(answer) && read(control, answer + n, 1) == 1 && answer[n] != '\n')
		n++;
	answer[n] = '\0';
	ck_assert_msg(n > 0, "no answer to '%s'", line);
	ck_assert_msg(strcmp(answer, "-1") != 0, "'%s' is no attack", line);
	return (int)strtol(answer, NULL, 10);
}

static void is_refused(int error, const char *worker, const char *what)
{
	ck_assert_msg(error == EACCES || error == EPERM, "%s may %s: %s", worker, what,
	              error ? strerror(error) : "nothing refuses it");
}

static void is_possible(int error, const char *worker, const char *what)
{
	ck_assert_msg(error == 0, "%s may not %s: %s", worker, what, strerror(error));
}

#define REFUSED(worker, ...) is_refused(attack(__VA_ARGS__), worker, #__VA_ARGS__)
#define POSSIBLE(worker, ...) is_possible(attack(__VA_ARGS__), worker, #__VA_ARGS__)

/* What no fenced process may. */
static void nothing_runs_or_is_traced(const char *worker)
{
	REFUSED(worker, "exec /bin/true");
	REFUSED(worker, "device %s/device", outside);
	REFUSED(worker, "mount %s", outside);
	REFUSED(worker, "connect %d", port);
	REFUSED(worker, "signal %d", (int)victim);
	REFUSED(worker, "trace %d", (int)victim);
}

static void nothing_runs_listens_or_is_traced(const char *worker)
{
	nothing_runs_or_is_traced(worker);
	REFUSED(worker, "listen 0");
}

static void nothing_outside_is_written(const char *worker)
{
	REFUSED(worker, "write %s/secret", outside);
	REFUSED(worker, "make %s/new", outside);
	REFUSED(worker, "link %s/secret", outside);
	REFUSED(worker, "remove %s/secret", outside);
	REFUSED(worker, "rename %s/secret", outside);
}

/* Landlock does not restrict it, but a filter of system calls does. */
static void no_mode_is_changed(const char *worker)
{
#ifndef __SANITIZE_ADDRESS__ /* calls.h */
	REFUSED(worker, "mode %s/secret", outside);
#else
	(void)worker;
#endif
}

static void nothing_outside_is_read(const char *worker)
{
	REFUSED(worker, "read %s/secret", outside);
	REFUSED(worker, "list %s", outside);
	REFUSED(worker, "list /");
}

static void its_own_is_reached(const char *worker)
{
	POSSIBLE(worker, "read %s", test_db());
	POSSIBLE(worker, "make %s-new", test_db());
	POSSIBLE(worker, "remove %s-new", test_db());
	POSSIBLE(worker, "make %s/new", test_run());
	POSSIBLE(worker, "remove %s/new", test_run());
}

#define NEEDS_ALL                                                                                  \
	SKIP_UNLESS(fence_abi() >= NEWEST && geteuid() == 0,                                       \
	            "ABI 7 of Landlock, and root, whom nothing but a fence refuses these")

START_TEST(without_a_fence_each_of_these_is_possible)
{
	NEEDS_ALL;
	given_ground();
	given("INSERT OR REPLACE INTO setting (name, value, source, updated_at) VALUES "
	      "('fence', 'off', 'file', '2026-01-01T00:00:00.000Z')");
	given_worker("watchdog");
	POSSIBLE("watchdog", "exec /bin/true");
	POSSIBLE("watchdog", "device %s/device", outside);
	POSSIBLE("watchdog", "listen 0");
	POSSIBLE("watchdog", "connect %d", port);
	POSSIBLE("watchdog", "signal %d", (int)victim);
	POSSIBLE("watchdog", "trace %d", (int)victim);
	POSSIBLE("watchdog", "list /");
	POSSIBLE("watchdog", "read %s/secret", outside);
	POSSIBLE("watchdog", "write %s/secret", outside);
	POSSIBLE("watchdog", "make %s/new", outside);
	POSSIBLE("watchdog", "link %s/secret", outside);
	POSSIBLE("watchdog", "rename %s/secret", outside);
	POSSIBLE("watchdog", "mode %s/secret", outside);
	POSSIBLE("watchdog", "remove %s/new", outside);
	leave();
}
END_TEST

START_TEST(slack_is_reached_through_the_proxy_and_with_the_certificates_of_the_environment)
{
	char proxy[60], file[100];

	NEEDS_ALL;
	given_ground();
	(void)snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%d", port);
	(void)snprintf(file, sizeof(file), "%s/secret", outside);
	ck_assert_int_eq(setenv("https_proxy", proxy, 1), 0);
	ck_assert_int_eq(setenv("SSL_CERT_FILE", file, 1), 0);
	given_worker("slack-poster");
	POSSIBLE("slack-poster", "connect %d", port);
	POSSIBLE("slack-poster", "read %s/secret", outside);
	nothing_outside_is_written("slack-poster");
	leave();
}
END_TEST

static const char *const ALONE[] = { "watchdog", "retention", "slack-poster", "slack-listener" };

START_TEST(a_worker_that_needs_no_workspace_reaches_none)
{
	const char *worker = ALONE[_i];

	NEEDS_ALL;
	given_ground();
	given_worker(worker);
	nothing_outside_is_read(worker);
	nothing_outside_is_written(worker);
	no_mode_is_changed(worker);
	nothing_runs_listens_or_is_traced(worker);
	its_own_is_reached(worker);
	leave();
}
END_TEST

static const char *const LOOKERS[] = { "reader", "archivist", "sentry" };

START_TEST(a_worker_that_looks_into_workspaces_writes_into_none)
{
	const char *worker = LOOKERS[_i];

	NEEDS_ALL;
	given_ground();
	given_worker(worker);
	POSSIBLE(worker, "read %s/secret", outside);
	nothing_outside_is_written(worker);
	no_mode_is_changed(worker);
	nothing_runs_listens_or_is_traced(worker);
	its_own_is_reached(worker);
	leave();
}
END_TEST

static void given_session(const char *machine, const char *root)
{
	static int seq;
	char sql[600];
	struct instant now = clock_now();

	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO session (id, machine, owner_user_id, workspace_root, status,"
	               " mode, created_at, updated_at) VALUES ('s%d', '%s', 'local:tester', '%s',"
	               " 'active', 'local', '%s', '%s')",
	               ++seq, machine, root, now.text, now.text);
	given(sql);
}

/* A folder; valid until the next. */
static const char *given_workspace(void)
{
	static char workspace[60];

	(void)snprintf(workspace, sizeof(workspace), "%s", short_scratch());
	ck_assert_int_eq(mkdir(below(workspace, "folder"), 0755), 0);
	put_file(workspace, "folder/a", "text\n");
	return workspace;
}

static void a_workspace_is_reached(const char *who, const char *workspace)
{
	POSSIBLE(who, "write %s/folder/a", workspace);
	POSSIBLE(who, "make %s/new", workspace);
	POSSIBLE(who, "link %s/new", workspace);
	POSSIBLE(who, "rename %s/folder/a", workspace);
	POSSIBLE(who, "remove %s/folder/a", workspace);
}

START_TEST(the_applier_writes_its_workspaces_and_does_nothing_else)
{
	char ended[60], others[60];
	const char *workspace;

	NEEDS_ALL;
	given_ground();
	(void)snprintf(ended, sizeof(ended), "%s", given_workspace());
	given_session("h", ended);
	given("UPDATE session SET status = 'terminated', terminated_at = updated_at");
	(void)snprintf(others, sizeof(others), "%s", given_workspace());
	given_session("other", others);
	workspace = given_workspace();
	given_session("h", workspace);
	given_worker("applier");
	REFUSED("applier", "rename %s/folder", workspace); /* out of it */
	a_workspace_is_reached("applier", workspace);
	REFUSED("applier", "make %s/new", ended);
	REFUSED("applier", "make %s/new", others);
	nothing_outside_is_read("applier");
	nothing_outside_is_written("applier");
	no_mode_is_changed("applier");
	nothing_runs_listens_or_is_traced("applier");
	its_own_is_reached("applier");
	leave();
}
END_TEST

START_TEST(a_workspace_behind_a_symlink_is_not_reached)
{
	const char *workspace;

	NEEDS_ALL;
	given_ground();
	workspace = given_workspace();
	ck_assert_int_eq(symlink(workspace, below(outside, "link")), 0);
	given_session("h", below(outside, "link"));
	given_worker("applier");
	REFUSED("applier", "make %s/new", workspace);
	leave();
}
END_TEST

START_TEST(mcp_front_starts_nothing_but_hand_and_writes_nothing_of_others)
{
	char hand[PROGRAM_BYTES];

	NEEDS_ALL;
	given_ground();
	given("INSERT OR REPLACE INTO setting (name, value, source, updated_at) VALUES "
	      "('http_port', '0', 'file', '2026-01-01T00:00:00.000Z')");
	given_worker("mcp-front");
	test_program("hand", hand);
	ck_assert_int_eq(attack("exec %s", hand), EX_USAGE); /* as by hand */
	POSSIBLE("mcp-front", "listen 0");
	nothing_outside_is_written("mcp-front");
	no_mode_is_changed("mcp-front");
	nothing_runs_or_is_traced("mcp-front");
	its_own_is_reached("mcp-front");
	leave();
}
END_TEST

START_TEST(who_looks_into_a_workspace_reads_that_one_and_writes_nowhere)
{
	const char *who = "a hand";
	char workspace[60], objects[PATH_MAX];

	NEEDS_ALL;
	given_ground();
	(void)snprintf(workspace, sizeof(workspace), "%s", short_scratch());
	put_file(workspace, "a", "text\n");
	(void)snprintf(objects, sizeof(objects), "%s/objects", test_run());
	ck_assert_int_eq(mkdir(objects, 0700), 0);
	put_file(objects, "b", "kept\n");
	if (forked()) {
		const struct fence_view view = { .root = workspace, .objects = objects };

		if (fence_workspace("require", &view, NULL) == 0)
			probe_serve();
		_exit(0);
	}
	POSSIBLE(who, "read %s/a", workspace);
	POSSIBLE(who, "list %s", workspace);
	REFUSED(who, "write %s/a", workspace);
	REFUSED(who, "make %s/new", workspace);
	POSSIBLE(who, "read %s/b", objects); /* of a checkpoint */
	REFUSED(who, "write %s/b", objects);
	REFUSED(who, "make %s/new", objects);
	REFUSED(who, "read %s", test_db());
#ifndef __SANITIZE_ADDRESS__ /* calls.h */
	REFUSED(who, "socket %s/mcp.sock", test_run());
#endif
	nothing_outside_is_read(who);
	nothing_outside_is_written(who);
	no_mode_is_changed(who);
	nothing_runs_listens_or_is_traced(who);
	leave();
}
END_TEST

START_TEST(an_older_kernel_takes_what_it_knows_and_the_rest_is_possible)
{
	int abi = _i;
	struct roots roots = { .count = 0 };
	struct fence f = { .moves = false, .roots = &roots };
	const char *workspace;

	NEEDS_ALL;
	given_ground();
	workspace = given_workspace();
	roots_add(&roots, workspace);
	if (forked()) {
		shim_abi = abi;
		fence_allow(&f, "/usr/share", FENCE_READ);
		fence_allow_port(&f, 443);
		if (fence_raise(&f, NULL) == abi)
			probe_serve();
		_exit(0);
	}
	if (abi == 1)
		ck_assert_int_eq(attack("rename %s/folder/a", workspace), EXDEV);
	else
		a_workspace_is_reached("it", workspace);
	POSSIBLE("it", "make %s/folder/b", workspace);
	POSSIBLE("it", "list /usr/share");
	nothing_outside_is_read("it");
	nothing_outside_is_written("it");
	REFUSED("it", "exec /bin/true");
	REFUSED("it", "trace %d", (int)victim);
	if (abi >= 4)
		REFUSED("it", "connect %d", port);
	else
		POSSIBLE("it", "connect %d", port);
	if (abi >= 6)
		REFUSED("it", "signal %d", (int)victim);
	else
		POSSIBLE("it", "signal %d", (int)victim);
	leave();
}
END_TEST

/* ---- what is told ---- */

#ifdef __SANITIZE_ADDRESS__ /* calls.h */
#define SECCOMP ""
#define NONE "none: "
#else
#define SECCOMP ", seccomp"
#define NONE "seccomp, no Landlock: "
#endif

#ifndef __SANITIZE_ADDRESS__
START_TEST(a_refused_call_is_an_event_with_the_name_of_the_worker_once_a_minute)
{
	NEEDS_ALL;
	given_ground();
	given_worker("watchdog");
	REFUSED("watchdog", "trace %d", (int)victim);
	REFUSED("watchdog", "trace %d", (int)victim);
	REFUSED("watchdog", "mount %s", outside);
	(void)close(control);
	control = -1;
	expect_soon("SELECT worker, what, name, count FROM fence_refusal ORDER BY name",
	            "watchdog|call|mount|1\nwatchdog|call|ptrace|2\n");
	expect("SELECT kind, actor, json_extract(detail, '$.name') FROM event"
	       " WHERE kind = 'fence.refused' ORDER BY seq",
	       "fence.refused|watchdog|ptrace\nfence.refused|watchdog|mount\n");
	expect("SELECT state FROM health WHERE what = 'fences'", "3 refused\n");
	leave();
}
END_TEST
#endif

START_TEST(a_path_that_a_fence_denies_is_an_event_and_one_that_its_mode_denies_is_not)
{
	char path[200];
	struct fence f = { .moves = true };
	struct err e = { 0 };

	NEEDS_ALL;
	fresh_store();
	(void)snprintf(outside, sizeof(outside), "%s", short_scratch());
	put_file(outside, "secret", "nobody's business\n");
	fence_allow(&f, test_run(), FENCE_WRITE);
	refusals_open("it");
	ck_assert_int_gt(fence_raise(&f, NULL), 0);
	(void)snprintf(path, sizeof(path), "cannot open %s/secret: Permission denied", outside);
	ck_assert(explain_denies(path, path, sizeof(path)));
	ck_assert(!explain_denies("cannot open : Permission denied", path, sizeof(path)));
	(void)snprintf(path, sizeof(path), "cannot open %s/x: Permission denied", test_run());
	ck_assert(!explain_denies(path, path, sizeof(path)));

	errno = EACCES;
	(void)err_errno(&e, ERR_INPUT, "cannot read %s/new/file", outside);
	errno = ENOENT;
	(void)err_errno(&e, ERR_INPUT, "cannot read %s/other", outside);
	{
		struct refusals_kind kind;

		(void)snprintf(path, sizeof(path), "%s/new/file", outside);
		ck_assert(refusals_next(&kind, 100000));
		ck_assert_str_eq(kind.what, "path");
		ck_assert_str_eq(kind.name, path);
		ck_assert_uint_eq(kind.count, 1);
		ck_assert(!refusals_next(&kind, 101000));
		refusals_add_path(path);
		ck_assert(!refusals_next(&kind, 150000));
		ck_assert(refusals_next(&kind, 160000));
	}
}
END_TEST

START_TEST(the_row_of_a_worker_says_what_is_in_force)
{
	static const struct {
		const char *worker, *abi, *fence;
	} CASES[] = {
		{ "watchdog", "99", "landlock 7" },
		{ "watchdog", "2", "landlock 2" },
		{ "applier", "1", NONE },
		{ "watchdog", "0", NONE },
		{ "mcp-front", "99", "landlock 7" SECCOMP },
		{ "commander", "99", "open" },
	};

	NEEDS_ALL;
	(void)setenv("INTERCOM_LANDLOCK_ABI", CASES[_i].abi, 1);
	fresh_store();
	given("INSERT OR REPLACE INTO setting (name, value, source, updated_at) VALUES "
	      "('http_port', '0', 'file', '2026-01-01T00:00:00.000Z')");
	stop_worker(start_worker(CASES[_i].worker));
	{
		OWNED(char_ptr) char *fence = rows("SELECT fence FROM worker");

		ck_assert_int_eq(strncmp(fence, CASES[_i].fence, strlen(CASES[_i].fence)), 0);
	}
	(void)unsetenv("INTERCOM_LANDLOCK_ABI");
}
END_TEST

START_TEST(with_require_nothing_is_served_without_a_fence)
{
	NEEDS_ALL;
	fresh_store();
	given("INSERT OR REPLACE INTO setting (name, value, source, updated_at) VALUES "
	      "('fence', 'require', 'file', '2026-01-01T00:00:00.000Z')");
	ck_assert_int_eq(try_worker("watchdog"), 0);
	expect("SELECT fence FROM worker", "landlock 7" SECCOMP "\n");
	(void)setenv("INTERCOM_LANDLOCK_ABI", "0", 1);
	ck_assert_int_eq(try_worker("watchdog"), EX_CONFIG);
	(void)setenv("INTERCOM_LANDLOCK_ABI", "1", 1);
	ck_assert_int_eq(try_worker("applier"), EX_CONFIG);
	ck_assert_int_eq(try_worker("watchdog"), 0);
	(void)unsetenv("INTERCOM_LANDLOCK_ABI");
}
END_TEST

START_TEST(a_fence_that_cannot_be_put_up_keeps_nothing_from_being_served)
{
	enum { LAYERS = 16 }; /* that Landlock allows */
	struct fence f = { .any_port = true, .listens = true };
	struct err e = { 0 };

	NEEDS_ALL;
	fresh_store();
	fence_allow(&f, "/", FENCE_WRITE | FENCE_RUN);
	for (int i = 0; i < LAYERS; i++)
		ck_assert_int_gt(fence_raise(&f, &e), 0);
	ck_assert_int_eq(try_worker("watchdog"), 0);
	expect("SELECT fence FROM worker",
	       NONE "fence: Landlock does not take it: Argument list too long\n");
	given("INSERT OR REPLACE INTO setting (name, value, source, updated_at) VALUES "
	      "('fence', 'require', 'file', '2026-01-01T00:00:00.000Z')");
	ck_assert_int_eq(try_worker("watchdog"), EX_TEMPFAIL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("attack fence");

	(void)unsetenv("INTERCOM_FENCE");
	refused_calls_expect();
	TCase *c = store_case(s, "attack fence", 60);

	tcase_add_checked_fixture(c, NULL, leave);
	tcase_add_test(c, without_a_fence_each_of_these_is_possible);
	tcase_add_test(
	    c, slack_is_reached_through_the_proxy_and_with_the_certificates_of_the_environment);
	tcase_add_loop_test(c, a_worker_that_needs_no_workspace_reaches_none, 0, COUNT(ALONE));
	tcase_add_loop_test(c, a_worker_that_looks_into_workspaces_writes_into_none, 0,
	                    COUNT(LOOKERS));
	tcase_add_test(c, the_applier_writes_its_workspaces_and_does_nothing_else);
	tcase_add_test(c, a_workspace_behind_a_symlink_is_not_reached);
	tcase_add_test(c, mcp_front_starts_nothing_but_hand_and_writes_nothing_of_others);
	tcase_add_test(c, who_looks_into_a_workspace_reads_that_one_and_writes_nowhere);
	tcase_add_loop_test(c, an_older_kernel_takes_what_it_knows_and_the_rest_is_possible, 1,
	                    NEWEST + 1);
	tcase_add_loop_test(c, the_row_of_a_worker_says_what_is_in_force, 0, 6);
#ifndef __SANITIZE_ADDRESS__
	tcase_add_test(c, a_refused_call_is_an_event_with_the_name_of_the_worker_once_a_minute);
#endif
	tcase_add_test(c,
	               a_path_that_a_fence_denies_is_an_event_and_one_that_its_mode_denies_is_not);
	tcase_add_test(c, with_require_nothing_is_served_without_a_fence);
	tcase_add_test(c, a_fence_that_cannot_be_put_up_keeps_nothing_from_being_served);
	return run_suite(s);
}
