/* store: opening, migrating, transactions among processes, and what happens when the disk ends. */
#include "doorbell.h"
#include "harness.h"
#include "sha256.h"
#include "sql/decision.h"
#include "sql/request.h"
#include "sql/setting.h"
#include "sql/store.h"
#include "str.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

enum { WRITERS = 3, WRITES = 40, COURTESY_MS = 50, SLACK_MS = 700 };

/* ---- helpers ---- */

static void open_here(struct store *st)
{
	struct err e = { 0 };

	ck_assert_msg(!store_open(st, test_db(), test_run(), &e), "%s", e.text);
}

static void expect_not_opened(const char *path, enum err_kind kind, const char *why)
{
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };

	ck_assert_int_eq(store_open(&st, path, NULL, &e), -1);
	ck_assert_msg(strstr(e.text, why) != NULL, "%s\nexpected: %s", e.text, why);
	ck_assert_int_eq(e.kind, kind);
	ck_assert_ptr_null(st.db);
}

static void expect_not_migrated(const char *path, const char *why)
{
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };

	ck_assert_int_eq(store_migrate(&st, path, NULL, &e), -1);
	ck_assert_msg(strstr(e.text, why) != NULL, "%s\nexpected: %s", e.text, why);
	ck_assert_int_eq(e.kind, ERR_INPUT);
}

/* One row of `setting`. */
static int put(struct store *st, const char *name, const char *value, struct err *e)
{
	return sql_setting_put(st, name, value, SETTING_SOURCE_SYSTEM, e) ? -1 : 1;
}

static int put_alone(struct store *st, const char *name, const char *value, struct err *e)
{
	if (store_begin(st, e))
		return -1;
	if (put(st, name, value, e) < 0) {
		store_rollback(st);
		return -1;
	}
	return store_commit(st, e);
}

static int decide(struct store *st, struct err *e)
{
	const struct decision_insert_args args = { .request_id = "nothing",
		                                   .verdict = "approve",
		                                   .source = "ctl" };

	return sql_decision_insert(st, &args, e) < 0 ? -1 : 1;
}

/* This program in another role (see main), with the database as its argument. */
static pid_t other(const char *role)
{
	pid_t pid = fork();

	if (pid == 0) {
		(void)execl("/proc/self/exe", role, test_db(), (char *)NULL);
		_exit(127);
	}
	ck_assert_int_gt(pid, 0);
	return pid;
}

/* Until the other process has said, in a file beside the database, that it is there. */
static void wait_until_ready(void)
{
	OWNED(str) struct str path = { 0 };

	str_addf(&path, "%s-ready", test_db());
	while (access(path.bytes, F_OK) != 0)
		(void)poll(NULL, 0, 2);
}

static int end_of(pid_t pid)
{
	int status = -1;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Opens and writes as somebody who may do less; what went wrong is left in `told`. */
static void write_to_as_nobody(const char *database, char told[ERR_TEXT_BYTES])
{
	int fds[2];
	pid_t pid;
	ssize_t got;

	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		(void)dup2(fds[1], STDOUT_FILENO);
		(void)execl("/proc/self/exe", "nobody", database, (char *)NULL);
		_exit(127);
	}
	(void)close(fds[1]);
	got = read(fds[0], told, ERR_TEXT_BYTES - 1);
	told[got > 0 ? got : 0] = '\0';
	(void)close(fds[0]);
	ck_assert_msg(end_of(pid) == EX_CONFIG, "not refused as wrong input: %s", told);
}

static void write_as_nobody(char told[ERR_TEXT_BYTES])
{
	write_to_as_nobody(test_db(), told);
}

/* ---- opening ---- */

START_TEST(a_database_that_is_not_there_is_not_made)
{
	OWNED(str) struct str path = { 0 };

	str_addf(&path, "%s/none.db", scratch());
	expect_not_opened(path.bytes, ERR_INPUT, "there is no database at");
	ck_assert_int_ne(access(path.bytes, F_OK), 0);
}
END_TEST

START_TEST(somebody_elses_database_is_left_alone)
{
	OWNED(str) struct str path = { 0 }, command = { 0 };

	str_addf(&path, "%s/other.db", scratch());
	str_addf(&command, "sqlite3 %s 'CREATE TABLE t (a)'", path.bytes);
	ck_assert_int_eq(system(command.bytes), 0); /* NOLINT(cert-env33-c) */
	expect_not_opened(path.bytes, ERR_INPUT, "is not a database of agent-intercom");
	expect_not_migrated(path.bytes, "is not a database of agent-intercom");
}
END_TEST

START_TEST(a_file_that_is_no_database_is_named_so)
{
	OWNED(str) struct str path = { 0 };
	FILE *f;

	str_addf(&path, "%s/text.db", scratch());
	f = fopen(path.bytes, "we");
	ck_assert_ptr_nonnull(f);
	for (int i = 0; i < 1000; i++)
		(void)fputs("this is a text\n", f);
	(void)fclose(f);
	expect_not_opened(path.bytes, ERR_INPUT, "file is not a database");
	expect_not_migrated(path.bytes, "file is not a database");
}
END_TEST

START_TEST(an_empty_file_is_not_opened)
{
	OWNED(str) struct str path = { 0 };

	str_addf(&path, "%s/empty.db", scratch());
	ck_assert_int_ge(open(path.bytes, O_CREAT | O_WRONLY | O_CLOEXEC, 0600), 0);
	expect_not_opened(path.bytes, ERR_AGAIN, "is empty: agent-intercom fills it");
}
END_TEST

START_TEST(a_newer_schema_asks_for_a_newer_program)
{
	fresh_store();
	given("PRAGMA user_version = 999");
	expect_not_opened(test_db(), ERR_INPUT,
	                  "written by a newer agent-intercom: upgrade this one");
	expect_not_migrated(test_db(), "written by a newer agent-intercom: upgrade this one");
}
END_TEST

START_TEST(a_schema_from_before_the_first_release_is_refused_with_the_way_out)
{
	fresh_store();
	given("PRAGMA user_version = 99");
	expect_not_opened(test_db(), ERR_INPUT, "before release 0.2.0");
	expect_not_migrated(test_db(), "move it away");
	given("PRAGMA user_version = 27");
	expect_not_migrated(test_db(), "schema version 27");
	expect("PRAGMA user_version", "27\n");
}
END_TEST

/* Two builds between releases have the same version. */
START_TEST(a_schema_of_another_build_is_refused_with_the_way_out_and_left_alone)
{
	fresh_store();
	given("ALTER TABLE session RENAME COLUMN machine TO host");
	expect_not_migrated(test_db(), "its table session is not that of this one");
	expect("SELECT count(*) FROM pragma_table_info('session') WHERE name = 'host'", "1\n");
	expect("SELECT count(*) > 100 FROM sqlite_schema WHERE type = 'trigger'", "1\n");
}
END_TEST

START_TEST(a_read_only_file_is_refused_with_the_way_out)
{
	static const char *const SUFFIX[] = { "-next", "-now", "-wal", "-shm" };
	OWNED(str) struct str folder = { 0 };
	char told[ERR_TEXT_BYTES];

	fresh_store();
	ck_assert_int_eq(chmod(test_db(), 0444), 0);
	str_addf(&folder, "%.*s", (int)(strrchr(test_db(), '/') - test_db()), test_db());
	ck_assert_int_eq(chmod(folder.bytes, 0777), 0);
	for (size_t i = 0; i < COUNT(SUFFIX); i++) {
		OWNED(str) struct str path = { 0 };

		str_addf(&path, "%s%s", test_db(), SUFFIX[i]);
		(void)chmod(path.bytes, 0666);
	}
	write_as_nobody(told);
	ck_assert_msg(strstr(told, "writable for this user") || strstr(told, "Permission denied"),
	              "%s", told);
}
END_TEST

/* SQLite, which makes its files there, calls it a failure of the disk. */
START_TEST(a_folder_that_cannot_be_written_is_refused_with_the_way_out)
{
	OWNED(str) struct str path = { 0 }, command = { 0 };
	char told[ERR_TEXT_BYTES];

	SKIP_UNLESS(geteuid() == 0, "root, who can be two users");
	fresh_store();
	str_addf(&path, "%s/x.db", short_scratch());
	str_addf(&command,
	         "cd %.*s && sqlite3 %s 'VACUUM INTO \"x.db\"' && sqlite3 x.db 'PRAGMA "
	         "journal_mode = WAL' >&2 && touch x.db-next x.db-now && chown -R 65534:65534 . "
	         "&& chmod 500 .",
	         (int)path.length - 5, path.bytes, test_db());
	ck_assert_int_eq(system(command.bytes), 0);
	write_to_as_nobody(path.bytes, told);
	ck_assert_msg(strstr(told, "its directory writable for this user"), "%s", told);
}
END_TEST

START_TEST(a_file_of_another_user_is_refused_by_name)
{
	OWNED(str) struct str folder = { 0 };
	char told[ERR_TEXT_BYTES];

	SKIP_UNLESS(geteuid() == 0, "root, who can be two users");
	fresh_store();
	str_addf(&folder, "%.*s", (int)(strrchr(test_db(), '/') - test_db()), test_db());
	ck_assert_int_eq(chmod(folder.bytes, 0755), 0);
	write_as_nobody(told);
	ck_assert_msg(strstr(told, "Permission denied") && strstr(told, "intercom.db"), "%s", told);
}
END_TEST

START_TEST(a_directory_without_permission_is_refused_by_name)
{
	char told[ERR_TEXT_BYTES];

	SKIP_UNLESS(geteuid() == 0, "root, who can be two users");
	fresh_store(); /* its directory is 0700 and root's */
	write_as_nobody(told);
	ck_assert_msg(strstr(told, "Permission denied"), "%s", told);
}
END_TEST

/* ---- migrating ---- */

START_TEST(every_file_of_the_database_is_private)
{
	static const char *const SUFFIX[] = { "", "-wal", "-shm", "-next", "-now" };
	OWNED(store) struct store st = STORE_INIT;
	struct stat s;

	(void)umask(0);
	fresh_store();
	open_here(&st);
	for (size_t i = 0; i < COUNT(SUFFIX); i++) {
		OWNED(str) struct str path = { 0 };

		str_addf(&path, "%s%s", test_db(), SUFFIX[i]);
		ck_assert_msg(stat(path.bytes, &s) == 0, "%s", path.bytes);
		ck_assert_msg((s.st_mode & 0777) == 0600, "%s is %o", path.bytes, s.st_mode & 0777);
	}
	ck_assert_int_eq(umask(022), 0); /* and the process keeps its own */
}
END_TEST

/* ---- transactions ---- */

START_TEST(a_commit_rings_the_bells_of_the_tables_it_changed)
{
	OWNED(store) struct store st = STORE_INIT;
	struct doorbell ctl = DOORBELL_INIT, watchdog = DOORBELL_INIT;
	struct doorbell applier = DOORBELL_INIT; /* it may have asked about force */
	struct err e = { 0 };
	char byte;

	fresh_store();
	int run = open(test_run(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert(!doorbell_open(&ctl, run, "agent-intercom-ctl", &e));
	ck_assert(!doorbell_open(&watchdog, run, "watchdog", &e));
	ck_assert(!doorbell_open(&applier, run, "applier", &e));
	open_here(&st);

	ck_assert(!store_begin(&st, &e) && decide(&st, &e) == 1);
	ck_assert_int_eq(recv(ctl.fd, &byte, 1, MSG_DONTWAIT), -1); /* not before the commit */
	ck_assert(!store_commit(&st, &e));
	ck_assert_int_eq(recv(ctl.fd, &byte, 1, MSG_DONTWAIT), 0);
	ck_assert_int_eq(recv(watchdog.fd, &byte, 1, MSG_DONTWAIT), -1);
	ck_assert_int_eq(recv(applier.fd, &byte, 1, MSG_DONTWAIT), 0);

	ck_assert(!store_begin(&st, &e) &&
	          decide(&st, &e) == 1); /* what is taken back rings nobody */
	store_rollback(&st);
	ck_assert_int_eq(put_alone(&st, "a", "b", &e), 0);
	ck_assert_int_eq(recv(ctl.fd, &byte, 1, MSG_DONTWAIT), -1);
	doorbell_clear(&ctl);
	doorbell_clear(&watchdog);
	doorbell_clear(&applier);
	(void)close(run);
}
END_TEST

START_TEST(what_triggers_change_rings_too)
{
	OWNED(store) struct store st = STORE_INIT;
	struct doorbell front = DOORBELL_INIT;
	struct err e = { 0 };
	struct instant now = clock_now();
	OWNED(str) struct str sql = { 0 };
	char byte;

	fresh_store();
	str_addf(
	    &sql,
	    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	    " created_at, updated_at) VALUES (1, 's', 'h', 'local:tester', '/w', 'active', 'local',"
	    " '%s', '%s');"
	    "INSERT INTO connection (seq, key, machine, transport, protocol_version, identity, "
	    "created_at)"
	    " VALUES (1, 'k', 'h', 'http', 'v', '{}', '%s');"
	    "INSERT INTO request (seq, id, session_seq, kind, state, digest, title, created_at,"
	    " updated_at, file_path, risk_level, original_hash) VALUES (1, 'nothing', 1, "
	    "'clearance',"
	    " 'pending', '%064d', 't', '%s', '%s', 'f', 'low', 'new_file');"
	    "INSERT INTO tool_call (connection_seq, session_seq, rpc_id, era, tool, digest, state,"
	    " request_seq, created_at) VALUES (1, 1, '1', 'modern', 'check_clearance', '', "
	    "'waiting', 1,"
	    " '%s')",
	    now.text, now.text, now.text, 1, now.text, now.text, now.text);
	given(sql.bytes);
	int run = open(test_run(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert(!doorbell_open(&front, run, "mcp-front", &e));
	open_here(&st);

	ck_assert(!store_begin(&st, &e) && decide(&st, &e) >= 1 && !store_commit(&st, &e));

	expect("SELECT outcome FROM decision", "applied\n");
	ck_assert_int_eq(recv(front.fd, &byte, 1, MSG_DONTWAIT), 0);
	doorbell_clear(&front);
	(void)close(run);
}
END_TEST

START_TEST(a_part_that_fails_fails_alone)
{
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };

	fresh_store();
	open_here(&st);
	ck_assert(!store_begin(&st, &e) && put(&st, "a", "1", &e) == 1);
	ck_assert(!store_part(&st, &e) && put(&st, "b", "2", &e) == 1);
	ck_assert_int_eq(put(&st, "c", NULL, &e), -1); /* value is NOT NULL */
	ck_assert_int_eq(e.kind, ERR_REFUSED);
	store_undo(&st);
	ck_assert(!store_part(&st, &e) && put(&st, "d", "4", &e) == 1 && !store_keep(&st, &e));
	ck_assert_int_eq(store_commit(&st, &e), 0);
	expect("SELECT name FROM setting WHERE length(name) = 1", "a\nd\n");
}
END_TEST

START_TEST(a_rollback_leaves_nothing)
{
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };

	fresh_store();
	open_here(&st);
	ck_assert(!store_begin(&st, &e) && put(&st, "a", "1", &e) == 1);
	store_rollback(&st);
	store_rollback(&st); /* harmless outside of a transaction */
	expect("SELECT name FROM setting WHERE name = 'a'", "");
	ck_assert_int_eq(put_alone(&st, "a", "2", &e), 0);
}
END_TEST

START_TEST(processes_that_write_at_once_lose_nothing)
{
	pid_t pids[WRITERS];
	char want[20];

	fresh_store();
	for (int i = 0; i < WRITERS; i++)
		pids[i] = other("write");
	for (int i = 0; i < WRITERS; i++)
		ck_assert_int_eq(end_of(pids[i]), 0);
	(void)snprintf(want, sizeof(want), "%d\n", WRITERS * WRITES);
	expect("SELECT count(*) FROM decision", want);
	expect("PRAGMA integrity_check", "ok\n");
}
END_TEST

START_TEST(a_writer_that_is_killed_in_its_transaction_stops_nobody)
{
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };
	pid_t pid;

	fresh_store();
	open_here(&st);
	pid = other("write-and-stay");
	wait_until_ready();
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);

	int64_t begin = clock_monotonic_ms();
	ck_assert_msg(!put_alone(&st, "a", "b", &e), "%s", e.text);
	ck_assert_int_lt(clock_monotonic_ms() - begin, SLACK_MS);
	expect("SELECT count(*) FROM decision", "0\n");
}
END_TEST

START_TEST(a_stopped_holder_of_the_queue_costs_no_more_than_the_courtesy)
{
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };
	pid_t pid;

	fresh_store();
	open_here(&st);
	pid = other("queue-and-stay");
	wait_until_ready();
	(void)kill(pid, SIGSTOP);

	int64_t begin = clock_monotonic_ms();
	ck_assert_msg(!put_alone(&st, "a", "b", &e), "%s", e.text);
	int64_t took = clock_monotonic_ms() - begin;
	ck_assert_int_ge(took, COURTESY_MS - 1);
	ck_assert_int_lt(took, COURTESY_MS + SLACK_MS);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
}
END_TEST

START_TEST(the_version_of_the_data_changes_with_commits_of_others)
{
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };

	fresh_store();
	open_here(&st);
	int64_t first = sql_store_version(&st, &e);
	ck_assert_int_eq(put_alone(&st, "a", "b", &e), 0);
	ck_assert_int_eq(sql_store_version(&st, &e), first); /* not with one's own */
	given("UPDATE setting SET value = 'c' WHERE name = 'a'");
	ck_assert_int_ne(sql_store_version(&st, &e), first);
}
END_TEST

/* ---- queries ---- */

static void collect(int columns, const char *const *names, const char *const *values, void *arg)
{
	for (int i = 0; i < columns; i++)
		str_addf(arg, "%s=%s;", names[i], values[i] ? values[i] : "NULL");
}

START_TEST(a_query_reads)
{
	OWNED(store) struct store st = STORE_INIT;
	OWNED(str) struct str out = { 0 };
	struct err e = { 0 };

	fresh_store();
	open_here(&st);
	ck_assert(!store_query(&st, "SELECT 1 AS a, NULL AS b; SELECT 'x' AS c; -- end", collect,
	                       &out, &e));
	ck_assert_str_eq(str_text(&out), "a=1;b=NULL;c=x;");
	ck_assert_int_eq(store_query(&st, "SELEC 1", collect, &out, &e), -1);
	ck_assert_int_eq(e.kind, ERR_INPUT);
}
END_TEST

START_TEST(a_query_refuses_to_write)
{
	static const char *const WRITES_SOMETHING[] = {
		"DELETE FROM setting",
		"INSERT INTO setting VALUES ('a', 'b', 'system', '2026-01-01T00:00:00.000Z') "
		"RETURNING name",
		"UPDATE setting SET value = 'x'",
		"WITH x AS (SELECT 1) UPDATE setting SET value = 'x'",
		"CREATE TABLE t (a)",
		"DROP VIEW inbox",
		"SELECT 1; DELETE FROM setting",
		"PRAGMA user_version = 7",
		"PRAGMA journal_mode = DELETE",
		"VACUUM",
		"BEGIN IMMEDIATE",
		"REINDEX",
	};
	OWNED(store) struct store st = STORE_INIT;
	OWNED(str) struct str out = { 0 };
	OWNED(char_ptr) char *before = NULL, *after = NULL;

	fresh_store();
	open_here(&st);
	before =
	    rows("SELECT name, value FROM setting UNION ALL SELECT name, sql FROM sqlite_schema");
	for (size_t i = 0; i < COUNT(WRITES_SOMETHING); i++) {
		struct err e = { 0 };

		ck_assert_msg(store_query(&st, WRITES_SOMETHING[i], collect, &out, &e) == -1,
		              "passed: %s", WRITES_SOMETHING[i]);
		ck_assert_int_eq(e.kind, ERR_INPUT);
	}
	after =
	    rows("SELECT name, value FROM setting UNION ALL SELECT name, sql FROM sqlite_schema");
	ck_assert_str_eq(before, after);
	expect("PRAGMA journal_mode", "wal\n");
}
END_TEST

/* ---- the disk ends ---- */

static void fill(const char *folder, int64_t leave)
{
	OWNED(str) struct str path = { 0 };
	static char block[4096];
	FILE *f;

	str_addf(&path, "%s/filler", folder);
	f = fopen(path.bytes, "we");
	ck_assert_ptr_nonnull(f);
	(void)setvbuf(f, NULL, _IONBF, 0);
	while (store_free_bytes(folder) > leave && fwrite(block, sizeof(block), 1, f) == 1)
		continue;
	(void)fclose(f);
}

static int put_much(struct store *st, struct err *e)
{
	static char value[200000];

	memset(value, 'x', sizeof(value) - 1);
	return put_alone(st, "much", value, e);
}

START_TEST(a_full_disk_is_told_and_survived)
{
	OWNED(store) struct store st = STORE_INIT;
	OWNED(str) struct str path = { 0 }, filler = { 0 };
	struct err e = { 0 };
	const char *folder = scratch();

	/* The next test does it without a file system of its own. */
	SKIP_UNLESS(may_mount() && mount("tmpfs", folder, "tmpfs", 0, "size=2m") == 0,
	            "root and mount namespaces");
	str_addf(&path, "%s/intercom.db", folder);
	str_addf(&filler, "%s/filler", folder);
	ck_assert_msg(!store_migrate(&st, path.bytes, NULL, &e), "%s", e.text);
	ck_assert_msg(!put_alone(&st, "a", "before", &e), "%s", e.text);
	fill(folder, 8192);

	ck_assert_int_eq(put_much(&st, &e), -1);
	ck_assert_int_eq(e.kind, ERR_AGAIN);
	ck_assert_msg(strstr(e.text, "free space on the database's disk") != NULL, "%s", e.text);
	ck_assert_int_lt(store_free_bytes(path.bytes), STORE_MIN_FREE_BYTES);

	ck_assert_int_eq(unlink(filler.bytes), 0);
	e = (struct err){ 0 };
	ck_assert_msg(!put_much(&st, &e), "%s", e.text);
	ck_assert_msg(!put_alone(&st, "a", "after", &e), "%s", e.text);
	store_clear(&st);
	ck_assert_msg(!store_open(&st, path.bytes, NULL, &e), "%s", e.text);
	store_clear(&st);
	(void)umount(folder);
}
END_TEST

START_TEST(a_file_that_may_not_grow_is_told_and_survived)
{
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };
	struct rlimit before, small = { .rlim_cur = 400000, .rlim_max = RLIM_INFINITY };

	fresh_store();
	open_here(&st);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	small.rlim_max = before.rlim_max;
	(void)signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
	int got = put_much(&st, &e) || put_much(&st, &e) || put_alone(&st, "much", "x", &e) ||
	          put_much(&st, &e);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	ck_assert_int_ne(got, 0);
	ck_assert_int_eq(e.kind, ERR_AGAIN);
	e = (struct err){ 0 };
	ck_assert_msg(!put_much(&st, &e), "%s", e.text);
	expect("SELECT length(value) FROM setting WHERE name = 'much'", "199999\n");
	expect("PRAGMA integrity_check", "ok\n");
}
END_TEST

/* ---- the other processes ---- */

static int write_rows(const char *path)
{
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };

	if (store_open(&st, path, NULL, &e))
		return err_exit(&e);
	for (int i = 0; i < WRITES; i++)
		if (store_begin(&st, &e) || decide(&st, &e) < 0 || store_commit(&st, &e)) {
			(void)fprintf(stderr, "%s\n", e.text);
			return err_exit(&e);
		}
	return 0;
}

static int write_less(const char *path)
{
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };

	if (geteuid() == 0 && !become_nobody())
		return EX_OSERR;
	if (!store_open(&st, path, NULL, &e))
		(void)put_alone(&st, "a", "b", &e);
	(void)printf("%s", e.text);
	return err_exit(&e);
}

static int stay(const char *path, bool in_transaction)
{
	OWNED(store) struct store st = STORE_INIT;
	OWNED(str) struct str ready = { 0 };
	struct err e = { 0 };

	if (store_open(&st, path, NULL, &e))
		return err_exit(&e);
	if (in_transaction && (store_begin(&st, &e) || decide(&st, &e) < 0))
		return err_exit(&e);
	if (!in_transaction && (flock(st.lock_next, LOCK_EX) || flock(st.lock_now, LOCK_EX)))
		return 1;
	str_addf(&ready, "%s-ready", path);
	(void)close(open(ready.bytes, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	for (;;)
		(void)pause();
}

/* Whoever changed it: no program is to blame, and none dumps core. */
START_TEST(a_statement_that_does_not_fit_a_changed_database_ends_the_program_with_75)
{
	struct store st = STORE_INIT;
	struct inbox_list_row row;

	fresh_store();
	given("DROP VIEW request_listener");
	open_here(&st);
	sql_inbox_list(&st, 0, &row);
}
END_TEST

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[0], "write") == 0)
		return write_rows(argv[1]);
	if (argc == 2 && strcmp(argv[0], "nobody") == 0)
		return write_less(argv[1]);
	if (argc == 2 && strcmp(argv[0], "write-and-stay") == 0)
		return stay(argv[1], true);
	if (argc == 2 && strcmp(argv[0], "queue-and-stay") == 0)
		return stay(argv[1], false);

	Suite *s = suite_create("store");
	TCase *c = tcase_create("store");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, a_database_that_is_not_there_is_not_made);
	tcase_add_test(c, somebody_elses_database_is_left_alone);
	tcase_add_test(c, a_file_that_is_no_database_is_named_so);
	tcase_add_test(c, an_empty_file_is_not_opened);
	tcase_add_test(c, a_newer_schema_asks_for_a_newer_program);
	tcase_add_test(c, a_schema_from_before_the_first_release_is_refused_with_the_way_out);
	tcase_add_test(c, a_schema_of_another_build_is_refused_with_the_way_out_and_left_alone);
	tcase_add_test(c, a_read_only_file_is_refused_with_the_way_out);
	tcase_add_test(c, a_folder_that_cannot_be_written_is_refused_with_the_way_out);
	tcase_add_test(c, a_file_of_another_user_is_refused_by_name);
	tcase_add_test(c, a_directory_without_permission_is_refused_by_name);
	tcase_add_test(c, every_file_of_the_database_is_private);
	tcase_add_test(c, a_commit_rings_the_bells_of_the_tables_it_changed);
	tcase_add_test(c, what_triggers_change_rings_too);
	tcase_add_test(c, a_part_that_fails_fails_alone);
	tcase_add_test(c, a_rollback_leaves_nothing);
	tcase_add_test(c, processes_that_write_at_once_lose_nothing);
	tcase_add_test(c, a_writer_that_is_killed_in_its_transaction_stops_nobody);
	tcase_add_test(c, a_stopped_holder_of_the_queue_costs_no_more_than_the_courtesy);
	tcase_add_test(c, the_version_of_the_data_changes_with_commits_of_others);
	tcase_add_test(c, a_query_reads);
	tcase_add_test(c, a_query_refuses_to_write);
	tcase_add_exit_test(
	    c, a_statement_that_does_not_fit_a_changed_database_ends_the_program_with_75,
	    EX_TEMPFAIL);
	tcase_add_test(c, a_full_disk_is_told_and_survived);
	tcase_add_test(c, a_file_that_may_not_grow_is_told_and_survived);
	suite_add_tcase(s, c);
	return run_suite(s);
}
