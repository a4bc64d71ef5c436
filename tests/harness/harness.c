#include "harness.h"

#include "db.h"
#include "doorbell.h"
#include "instance.h"
#include "paths.h"
#include "process.h"
#include "refused.h"
#include "str.h"
#include "worker.h"

#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_BYTES = 512, MAX_WORKERS = 64, LOOK_MS = 3 };

static const char ROOT_NAME[] = "/intercom-test-XXXXXX", TEST_NAME[] = "/test-XXXXXX";

static char root[PATH_BYTES]; /* made once per program; tests run in its children */
static pid_t owner;
static char dir[PATH_BYTES]; /* of this test, below root */
static char db_path[PATH_BYTES + 20], run_dir[PATH_BYTES + 20];
static volatile int64_t *page; /* the clock's offset, shared with the workers */
static sqlite3 *db;
static int run_fd = -1;
static struct started {
	pid_t pid; /* as the test knows it; 0: none */
	pid_t now; /* of its successor, if it was renewed */
	char name[WORKER_NAME_BYTES];
} workers[MAX_WORKERS];
static pthread_mutex_t leaving = PTHREAD_MUTEX_INITIALIZER;

/* ---- directories ---- */

/* The prefix of names made by short_scratch. */
static const char *short_mark(void)
{
	static char mark[40];

	(void)snprintf(mark, sizeof(mark), "/tmp/intercom-%d-", (int)owner);
	return mark;
}

static void remove_root(void)
{
	char pattern[60];
	glob_t found;
	int refused;

	if (getpid() != owner)
		return;
	refused = refused_calls_show();
	(void)remove_tree(root);
	(void)snprintf(pattern, sizeof(pattern), "%s*", short_mark());
	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			(void)remove_tree(found.gl_pathv[i]);
		globfree(&found);
	}
	if (refused > 0)
		_exit(EXIT_FAILURE);
}

/* A test's run directory holds sockets, so its path must be short enough for them. */
static void check_length(const char *tmp)
{
	size_t room = PATHS_RUN_BYTES_MAX - strlen(ROOT_NAME) - strlen(TEST_NAME) - strlen("/run");

	if (strlen(tmp) <= room)
		return;
	(void)fprintf(stderr,
	              "$TMPDIR %s: is %zu bytes long, the sockets of tests allow %zu; set it to a "
	              "shorter directory\n",
	              tmp, strlen(tmp), room);
	_exit(EXIT_FAILURE);
}

/* Runs before main, so that Check's children share the directory and their parent can remove it. */
__attribute__((constructor)) static void make_root(void)
{
	const char *tmp = getenv("TMPDIR"), *given_root = getenv("INTERCOM_TEST_ROOT");

	if (given_root) { /* a test program started by a test */
		(void)snprintf(root, sizeof(root), "%s", given_root);
		return;
	}
	tmp = tmp ? tmp : "/tmp";
	check_length(tmp);
	(void)snprintf(root, sizeof(root), "%s%s", tmp, ROOT_NAME);
	if (!mkdtemp(root) || chmod(root, 0711) != 0) { /* tests pass through it as nobody */
		perror(root);
		_exit(EXIT_FAILURE);
	}
	owner = getpid();
	(void)setenv("INTERCOM_TEST_ROOT", root, 1);
	refused_calls_look(root);
	(void)atexit(remove_root);
}

/* One page per process: clock.c looks for it only once. */
static void make_clock(void)
{
	char path[PATH_BYTES + 40];
	int fd;

	if (!page) {
		(void)snprintf(path, sizeof(path), "%s/clock-%d", root, (int)getpid());
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
		ck_assert_msg(fd >= 0 && ftruncate(fd, sizeof(*page)) == 0, "cannot make %s", path);
		page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		ck_assert(page != MAP_FAILED);
		(void)close(fd);
		(void)setenv("INTERCOM_CLOCK_PAGE", path, 1);
	}
	*page = 0;
}

const char *scratch(void)
{
	make_clock();
	(void)snprintf(dir, sizeof(dir), "%.480s%s", root, TEST_NAME);
	ck_assert_msg(mkdtemp(dir) != NULL, "cannot make a directory beneath %s", root);
	return dir;
}

const char *short_scratch(void)
{
	static char path[60];

	(void)snprintf(path, sizeof(path), "%sXXXXXX", short_mark());
	ck_assert_msg(mkdtemp(path) != NULL, "cannot make a directory %s", path);
	return path;
}

/* ---- the store ---- */

TCase *store_case(Suite *s, const char *name, int seconds)
{
	TCase *c = tcase_create(name);

	tcase_set_timeout(c, seconds);
	tcase_add_checked_fixture(c, NULL, close_store);
	suite_add_tcase(s, c);
	return c;
}

const char *test_db(void)
{
	return db_path;
}

const char *test_run(void)
{
	return run_dir;
}

void leave_store(void)
{
	(void)sqlite3_close(db);
	db = NULL;
}

void close_store(void)
{
	for (int i = 0; i < MAX_WORKERS; i++)
		if (workers[i].pid)
			kill_worker(workers[i].pid);
	leave_store();
	if (run_fd >= 0)
		(void)close(run_fd);
	run_fd = -1;
	if (dir[0])
		(void)remove_tree(dir);
	dir[0] = '\0';
}

static bool copy_file(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);
	int out = in < 0 ? -1 : open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool done = out >= 0;
	struct stat st = { 0 };

	if (done)
		done = fstat(in, &st) == 0 &&
		       copy_file_range(in, NULL, out, NULL, (size_t)st.st_size, 0) == st.st_size;
	if (in >= 0)
		(void)close(in);
	if (out >= 0)
		(void)close(out);
	return done;
}

/* Makes a new database. That takes longer than most tests, so the first test of a program leaves a
 * copy for the others. */
static void make_database(void)
{
	struct err e = { 0 };
	char first[PATH_BYTES + 20], copy[PATH_BYTES + 40];

	(void)snprintf(first, sizeof(first), "%s/new.db", root);
	if (copy_file(first, db_path))
		return;
	{
		OWNED(store) struct store st = STORE_INIT;

		(void)unlink(db_path);
		ck_assert_msg(!store_migrate(&st, db_path, run_dir, &e), "%s", e.text);
	}
	(void)snprintf(copy, sizeof(copy), "%s-%d", first, (int)getpid());
	if (copy_file(db_path, copy))
		(void)rename(copy, first);
}

void open_database_again(void)
{
	(void)sqlite3_close(db);
	ck_assert_int_eq(sqlite3_open_v2(db_path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	(void)sqlite3_busy_timeout(db, AGENT_PATIENCE_MS);
	given("PRAGMA foreign_keys = ON; PRAGMA synchronous = OFF; PRAGMA wal_autocheckpoint = 0");
}

void fresh_store(void)
{
	OWNED(str) struct str sql = { 0 };

	close_store();
	(void)scratch();
	(void)setenv("INTERCOM_HOST", "h", 1);
	(void)snprintf(db_path, sizeof(db_path), "%s/intercom.db", dir);
	(void)snprintf(run_dir, sizeof(run_dir), "%s/run", dir);
	ck_assert_int_eq(mkdir(run_dir, 0700), 0);
	run_fd = open(run_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(run_fd, 0);
	make_database();
	open_database_again();
	str_addf(&sql,
	         "INSERT INTO operator (id, kind, user_id, is_default)"
	         " VALUES ('local:tester', 'local', 'tester', 1);"
	         "INSERT INTO setting (name, value, source, updated_at) VALUES"
	         " ('system.build', '%s', 'system', '%s'), ('mode', 'local', 'default', '%s'),"
	         " ('slack.configured', 'false', 'system', '%s')",
	         INSTANCE_BUILD, clock_now().text, clock_now().text, clock_now().text);
	given(sql.bytes);
}

/* ---- the clock ---- */

void at(int64_t unix_ms)
{
	advance(unix_ms - clock_now_ms());
}

void advance(int64_t ms)
{
	*page += ms;
	if (run_fd >= 0)
		doorbell_ring_all(run_fd);
}

/* ---- rows ---- */

void given(const char *sql)
{
	char *why = NULL;

	(void)sqlite3_exec(db, sql, NULL, NULL, &why);
	ck_assert_msg(!why, "given %s\n%s", sql, why);
	doorbell_ring_all(run_fd);
}

void given_mode(const char *mode)
{
	OWNED(str) struct str sql = { 0 };

	/* Remote and hybrid need Slack, and an order without a session also changes the default. */
	str_addf(&sql,
	         "CREATE TEMP TABLE before AS SELECT * FROM setting;"
	         "INSERT INTO setting VALUES ('slack.configured', 'true', 'system', "
	         "'2026-01-01T00:00:00.000Z') ON CONFLICT (name) DO UPDATE SET value = 'true';"
	         "INSERT INTO command (verb, argument) VALUES ('mode', '%s');"
	         "DELETE FROM command WHERE seq = last_insert_rowid();"
	         "DELETE FROM setting; INSERT INTO setting SELECT * FROM before;"
	         "DROP TABLE before",
	         mode);
	given(sql.bytes);
}

char *rows(const char *sql)
{
	sqlite3_stmt *s = db_prepare(db, sql);
	char *text = db_rows(s);

	(void)sqlite3_finalize(s);
	return text;
}

void expect(const char *sql, const char *text)
{
	OWNED(char_ptr) char *have = rows(sql);

	ck_assert_msg(strcmp(have, text) == 0, "%s\nis:\n%sexpected:\n%s", sql, have, text);
}

/* Real time: how long the test waits has nothing to do with the clock that it moves. */
static int64_t real_ms(void)
{
	return clock_monotonic_ms() - *page;
}

void expect_soon(const char *sql, const char *text)
{
	sqlite3_stmt *s = db_prepare(db, sql);
	bool came = db_becomes(s, text);

	(void)sqlite3_finalize(s);
	if (!came)
		expect(sql, text);
}

void expect_still(const char *sql, const char *text, int ms)
{
	for (int64_t end = real_ms() + ms; real_ms() < end; (void)poll(NULL, 0, LOOK_MS))
		expect(sql, text);
	expect(sql, text);
}

/* ---- workers ---- */

/* "runner-12" is the program runner with --run-row 12; any other name is a program. Returns the
 * arguments to add, NULL-terminated, and writes the program's path to path. */
static const char *const *row_arguments(const char *name, char path[PATH_BYTES])
{
	static const char *arguments[3];
	size_t digits = strcspn(name, "0123456789");
	size_t length = strlen(name);
	bool has_row = digits > 1 && digits < length && name[digits - 1] == '-';

	arguments[0] = has_row ? "--run-row" : NULL;
	arguments[1] = has_row ? name + digits : NULL;
	(void)snprintf(path, PATH_BYTES, "%s/%.*s", getenv("INTERCOM_BUILD"),
	               (int)(has_row ? digits - 1 : length), name);
	return arguments;
}

static pid_t spawn(const char *name, bool drain)
{
	const char *build = getenv("INTERCOM_BUILD");
	char path[PATH_BYTES];
	pid_t pid;

	ck_assert_msg(build != NULL, "INTERCOM_BUILD must name the folder of the binaries");
	(void)snprintf(path, sizeof(path), "%s/%s", build, name);
	ck_assert_msg(access(path, X_OK) == 0, "there is no worker %s", path);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (drain)
			(void)setenv("INTERCOM_DRAIN", "1", 1);
		(void)execl(path, name, "--db", db_path, "--run", run_dir, "--log-level", "warn",
		            (char *)NULL);
		_exit(127);
	}
	return pid;
}

static int wait_for(pid_t pid)
{
	int status = 0;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* The slot of a worker that was started, or a free one for pid 0; NULL: there is none. */
static struct started *find_started(pid_t pid)
{
	for (int i = 0; i < MAX_WORKERS; i++)
		if (workers[i].pid == pid)
			return &workers[i];
	return NULL;
}

/* Of the process that is that worker now; from here on it is the test's own. */
static pid_t leave(pid_t pid)
{
	struct started *w = find_started(pid);
	pid_t now = pid;

	(void)pthread_mutex_lock(&leaving);
	if (w) {
		w->pid = 0;
		now = w->now;
	}
	(void)pthread_mutex_unlock(&leaving);
	return now;
}

/* As the supervisor does, starts the successors that a worker wants. A thread, since the test may
 * wait for anything meanwhile; it lives as long as the last of them, which ends with it. */
static void *renew(void *slot)
{
	struct started *w = slot;
	siginfo_t end = { .si_pid = 0 };
	pid_t pid = w->now;
	bool wants = true;

	while (wants && waitid(P_PID, (id_t)pid, &end, WEXITED | WNOWAIT) == 0) {
		(void)pthread_mutex_lock(&leaving);
		wants = end.si_code == CLD_EXITED && end.si_status == WORKER_RENEWS && w->pid &&
		        w->now == pid;
		if (wants) {
			(void)wait_for(pid);
			pid = w->now = spawn(w->name, false);
		}
		(void)pthread_mutex_unlock(&leaving);
	}
	return NULL;
}

int try_worker(const char *name)
{
	int status = WORKER_RENEWS;

	while (status == WORKER_RENEWS)
		status = wait_for(spawn(name, true));
	return status;
}

void run_worker(const char *name)
{
	int status = try_worker(name);

	ck_assert_msg(status == 0, "%s ended with status %d", name, status);
}

pid_t start_worker(const char *name)
{
	struct started *w = find_started(0);
	pid_t pid = spawn(name, false);
	char sql[100];

	ck_assert_ptr_nonnull(w);
	w->pid = w->now = pid;
	(void)snprintf(w->name, sizeof(w->name), "%s", name);
	(void)snprintf(sql, sizeof(sql),
	               "SELECT state FROM worker WHERE pid = %d AND state <> 'died'", (int)pid);
	expect_soon(sql, "ready\n");
	if (strcmp(name, "applier") == 0) {
		pthread_t thread;

		ck_assert_int_eq(pthread_create(&thread, NULL, renew, w), 0);
		(void)pthread_detach(thread);
	}
	return pid;
}

void kill_worker(pid_t pid)
{
	pid = leave(pid);
	(void)kill(pid, SIGKILL);
	(void)wait_for(pid);
}

void halt_worker(pid_t pid)
{
	const struct started *w = find_started(pid);
	bool rests = false;

	pid = w ? w->now : pid;
	for (int tries = 0; tries < 100 && !rests; tries++) {
		ck_assert_int_eq(kill(pid, SIGSTOP), 0);
		/* Others may write for a moment; only the halted one keeps its lock. */
		(void)sqlite3_busy_timeout(db, 200);
		rests =
		    sqlite3_exec(db, "BEGIN IMMEDIATE; ROLLBACK", NULL, NULL, NULL) == SQLITE_OK;
		if (!rests)
			(void)kill(pid, SIGCONT);
	}
	(void)sqlite3_busy_timeout(db, AGENT_PATIENCE_MS);
	ck_assert_msg(rests, "worker %d cannot be halted outside of a transaction", (int)pid);
}

void stop_worker(pid_t pid)
{
	int status;

	pid = leave(pid);
	(void)kill(pid, SIGTERM);
	status = wait_for(pid);
	ck_assert_msg(status == 0, "the worker ended with status %d after SIGTERM", status);
}

/* ---- killed or stopped at a system call ---- */

enum { KILLS_MAX = 200 };

/* Becomes strace with the worker as its child. calls: which it traces; how: what it injects into
 * them, or NULL. */
static void exec_strace(const char *name, const char *calls, const char *how, const char *only,
                        const char *log)
{
	char inject[200], trace[400], path[PATH_BYTES];
	const char *const *row = row_arguments(name, path);
	/* The agent of a runner is not a worker. */
	const char *argv[24] = {
		"strace", row[0] ? "-q" : "-f", "-qq", "-y", "-o", log, "-e", trace
	};
	int count = 8;

	(void)snprintf(trace, sizeof(trace), "trace=%s", calls);
	(void)snprintf(inject, sizeof(inject), "inject=%s:%s", calls, how ? how : "");
	if (how) {
		argv[count++] = "-e";
		argv[count++] = inject;
	}
	if (only) {
		argv[count++] = "-P";
		argv[count++] = only;
	}
	const char *const worker[] = { path,       "--db",        test_db(), "--run",
		                       test_run(), "--log-level", "error" };
	for (size_t i = 0; i < COUNT(worker); i++)
		argv[count++] = worker[i];
	for (; *row; row++)
		argv[count++] = *row;
	(void)setenv("ASAN_OPTIONS", "detect_leaks=0", 0); /* it does not work under strace */
	(void)execvp("strace", (char **)argv);
	_exit(127);
}

pid_t start_traced(const char *name, const char *calls, const char *how, const char *log)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	(void)setpgid(0, 0);
	exec_strace(name, calls, how, NULL, log);
	return -1;
}

int try_traced_on(const char *path, const char *name, const char *calls, const char *how,
                  const char *log)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		(void)setenv("INTERCOM_DRAIN", "1", 1);
		exec_strace(name, calls, how, path, log);
	}
	return wait_for(pid);
}

pid_t start_killed_at(const char *name, const char *call, int n)
{
	char how[60];

	(void)snprintf(how, sizeof(how), "signal=SIGKILL:when=%d", n);
	return start_traced(name, call, how, "/dev/null");
}

/* The pid in a line "PID --- stopped by SIGSTOP ---" of strace's log, 0 if there is none yet. */
static pid_t stopped_in(const char *log)
{
	char line[1000];
	FILE *f = fopen(log, "re");
	pid_t pid = 0;

	while (f && !pid && fgets(line, sizeof(line), f))
		if (strstr(line, "--- stopped by SIGSTOP ---"))
			pid = (pid_t)strtol(line, NULL, 10);
	if (f)
		(void)fclose(f);
	return pid;
}

struct stopped start_stopped_at(const char *name, const char *call, int n, const char *path)
{
	struct stopped s = { .pid = 0 };
	char log[PATH_BYTES + 20], how[60];

	(void)snprintf(log, sizeof(log), "%s/strace", dir);
	(void)unlink(log); /* of the one before it */
	s.tracer = fork();
	ck_assert_int_ge(s.tracer, 0);
	(void)snprintf(how, sizeof(how), "signal=SIGSTOP:when=%d", n);
	if (s.tracer == 0) {
		(void)setenv("INTERCOM_DRAIN", "1", 1);
		exec_strace(name, call, how, path, log);
	}
	for (int64_t end = real_ms() + AGENT_PATIENCE_MS; s.pid == 0;
	     (void)poll(NULL, 0, LOOK_MS)) {
		ck_assert_msg(waitpid(s.tracer, NULL, WNOHANG) == 0, "%s ended before its %s no %d",
		              name, call, n);
		ck_assert_msg(real_ms() < end, "%s does not come to its %s no %d", name, call, n);
		s.pid = stopped_in(log);
	}
	return s;
}

void go_on(struct stopped s)
{
	int status;

	ck_assert_int_eq(kill(s.pid, SIGCONT), 0);
	status = wait_for(s.tracer);
	ck_assert_msg(status == 0, "the worker ended with status %d", status);
}

int kill_step(int sample)
{
	const char *wanted = getenv("INTERCOM_KILLS");

	return wanted && strcmp(wanted, "all") == 0 ? 1 : sample;
}

void kill_at_each(const char *call, int sample, bool (*survives)(const char *call, int n))
{
	int n = 1, step = kill_step(sample);

	while (survives(call, n)) {
		n += step;
		ck_assert_int_lt(n, KILLS_MAX);
	}
	ck_assert_msg(n > 2 * step, "killed at %s only up to %d", call, n);
}
