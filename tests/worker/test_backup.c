/* backup and restore: whole or not there, in use or not; what is restored does nothing twice. */
#include "agent.h"
#include "db.h"
#include "rpc.h"
#include "slack_peer.h"
#include "sql/store.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

/* A site whose database is not the harness's, which keeps its own open. */
static struct site site;
static char file[300]; /* the backup */
static struct str said;

static void given_place_with(const char *more)
{
	char database[200];

	fresh_store();
	(void)snprintf(database, sizeof(database), "%.150s-site", test_run());
	ck_assert_int_eq(mkdir(database, 0700), 0);
	(void)snprintf(file, sizeof(file), "%s/copy.db", database);
	(void)strncat(database, "/intercom.db", sizeof(database) - strlen(database) - 1);
	site = site_make_at(database, more);
}

static void given_place(void)
{
	given_place_with("");
}

/* What the sqlite3 shell says to a text, of the database at path. Valid until the next call. */
static const char *sql(const char *path, const char *text)
{
	static struct str out;

	(void)shell(&out, "sqlite3 -cmd '.timeout 10000' %s \"%s\" 2>&1", path, text);
	return str_text(&out);
}

static void has_rows(const char *path, const char *text, const char *wanted)
{
	const char *have = sql(path, text);

	ck_assert_msg(strcmp(have, wanted) == 0, "%s\nis:\n%sexpected:\n%s", text, have, wanted);
}

static void has_rows_soon(const char *text, const char *wanted)
{
	db_expect_soon(site.database, text, wanted);
}

static int intercom(const char *command, const char *path)
{
	return shell(&said, "%s/agent-intercom --config %s %s %s 2>&1 </dev/null",
	             getenv("INTERCOM_BUILD"), site.config, command, path);
}

static int back_up(void)
{
	return intercom("backup", file);
}

static int restore(const char *path)
{
	return intercom("restore --yes", path);
}

static void succeeds(int status)
{
	ck_assert_msg(status == 0, "exit %d: %s", status, str_text(&said));
}

static void fails(int status, int wanted, const char *part)
{
	ck_assert_msg(status == wanted, "exit %d: %s", status, str_text(&said));
	says(str_text(&said), part);
}

/* How many files of the site's directory have a part in their name. */
static int count_files(const char *part)
{
	OWNED(str) struct str out = { 0 };

	(void)shell(&out, "ls -A $(dirname %s) | grep -c -e '%s'", site.database, part);
	return atoi(str_text(&out));
}

/* The site's database, with rules and rows; nothing runs. */
static void given_database(void)
{
	given_place();
	site_start(&site);
	ck_assert_int_eq(site_stop(&site), 0);
	has_rows(site.database,
	         "INSERT INTO command (verb, argument) VALUES ('mode', 'local');"
	         "SELECT outcome FROM command",
	         "done\n");
}

#define WHOLE "PRAGMA integrity_check; SELECT count(*) FROM pragma_foreign_key_check"

static void is_whole(const char *path)
{
	has_rows(path, WHOLE, "ok\n0\n");
}

/* ---- backup ---- */

START_TEST(a_backup_is_one_private_file_with_all_rows)
{
	struct stat about;

	given_database();
	has_rows(site.database, "PRAGMA journal_mode", "wal\n");
	succeeds(back_up());

	ck_assert_int_eq(stat(file, &about), 0);
	ck_assert_uint_eq(about.st_mode, S_IFREG | 0600);
	has_rows(file, "SELECT outcome FROM command; PRAGMA journal_mode", "done\ndelete\n");
	is_whole(file);
	ck_assert_int_eq(count_files("copy.db"), 1);
	ck_assert_int_eq(count_files("part"), 0);
}
END_TEST

START_TEST(what_is_there_is_not_overwritten)
{
	OWNED(char_ptr) char *text = NULL;
	char dir[300], path[400];

	given_database();
	(void)snprintf(dir, sizeof(dir), "%s", file);
	*strrchr(dir, '/') = '\0';
	put_file(dir, "copy.db", "precious");
	fails(back_up(), EX_CONFIG, "already exists");
	text = get_file(dir, "copy.db");
	ck_assert_str_eq(text, "precious");

	ck_assert_int_eq(shell(NULL, "ln -sf /nowhere/at/all %s", file), 0);
	fails(back_up(), EX_CONFIG, "already exists");

	(void)snprintf(path, sizeof(path), "%s-wal", site.database);
	fails(intercom("backup", path), EX_CONFIG, "a part of the database");
	(void)snprintf(path, sizeof(path), "%s/nowhere/copy.db", dir);
	fails(intercom("backup", path), EX_CONFIG, "No such file");
	ck_assert_int_eq(count_files("part"), 0);
}
END_TEST

START_TEST(without_a_database_there_is_no_backup)
{
	given_place();
	fails(back_up(), EX_CONFIG, "there is no database");
	ck_assert_int_eq(count_files("."), 0);
}
END_TEST

START_TEST(a_damaged_database_gives_no_backup)
{
	given_database();
	has_rows(site.database, "PRAGMA wal_checkpoint(TRUNCATE)", "0|0|0\n");
	ck_assert_int_eq(shell(NULL,
	                       "dd if=/dev/urandom of=%s bs=4096 seek=$(sqlite3 %s \"SELECT "
	                       "rootpage - 1 FROM sqlite_schema WHERE name = 'command'\") "
	                       "count=1 conv=notrunc 2>/dev/null",
	                       site.database, site.database),
	                 0);
	fails(back_up(), EX_CONFIG, "malformed");
	ck_assert_int_eq(count_files("copy.db"), 0);
	ck_assert_int_eq(count_files("part"), 0);
}
END_TEST

/* Each transaction of a writer makes one row here and one there, both too young for retention. */
START_TEST(a_backup_beside_four_writers_is_one_moment_of_theirs)
{
	enum { WRITERS = 4, BACKUPS = 5 };
	/* The site's own machine has gaps, too: if it stood still in between. */
	static const char COUNTS[] = "SELECT (SELECT count(*) FROM time_gap WHERE machine = 'w') = "
	                             "(SELECT count(*) FROM command WHERE source = 'w')";
	OWNED(str) struct str stop = { 0 };
	int before;

	given_database();
	site_start(&site);
	(void)sql(site.database, "INSERT INTO content (hash, size, bytes) WITH RECURSIVE n (i) AS "
	                         "(SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) SELECT "
	                         "printf('%064d', i), 50000, randomblob(50000) FROM n");
	str_addf(&stop, "%s.stop", file);
	for (int i = 0; i < WRITERS; i++)
		(void)shell(
		    NULL,
		    "(while [ ! -e %s ]; do echo \"BEGIN IMMEDIATE; INSERT INTO command "
		    "(verb, source) VALUES ('odd', 'w'); INSERT INTO time_gap (machine, kind, "
		    "started_at, ended_at) SELECT 'w', 'suspend', at, at FROM (SELECT "
		    "strftime('%%Y-%%m-%%dT%%H:%%M:%%fZ', 'now') AS at); COMMIT;\"; "
		    "done | sqlite3 -bail -cmd '.timeout 60000' %s) >/dev/null 2>&1 &",
		    str_text(&stop), site.database);
	has_rows_soon("SELECT count(*) > 100 FROM time_gap", "1\n");
	for (int i = 0; i < BACKUPS; i++) {
		before = atoi(sql(site.database, "SELECT count(*) FROM time_gap"));
		succeeds(back_up());
		has_rows(file, COUNTS, "1\n");
		ck_assert_int_ge(atoi(sql(file, "SELECT count(*) FROM time_gap")), before);
		is_whole(file);
		ck_assert_int_eq(unlink(file), 0);
	}
	before = atoi(sql(site.database, "SELECT count(*) FROM time_gap"));
	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS;
	     agent_ms() < end &&
	     atoi(sql(site.database, "SELECT count(*) FROM time_gap")) == before;)
		(void)poll(NULL, 0, 10);
	ck_assert_int_gt(atoi(sql(site.database, "SELECT count(*) FROM time_gap")), before);
	ck_assert_int_eq(shell(NULL, "touch %s", str_text(&stop)), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ---- killed ---- */

struct step {
	const char *call;
	int every; /* looks at each so-maniest of these calls */
};

/* Runs it, killed at each of its calls of these kinds, until it comes through; looks after each. */
static void kill_at(const struct step *s, const char *arguments, void (*look)(void))
{
	int status = 137;

	for (int n = 1; status == 137; n += s->every) {
		status =
		    shell(&said,
		          "ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o /dev/null -e trace=%s "
		          "-e inject=%s:signal=SIGKILL:when=%d %s/agent-intercom --config %s "
		          "%s 2>&1 </dev/null",
		          s->call, s->call, n, getenv("INTERCOM_BUILD"), site.config, arguments);
		ck_assert_int_lt(n, 2000);
		look();
	}
	succeeds(status);
}

static void no_half_backup(void)
{
	struct stat about;

	if (lstat(file, &about) != 0)
		return;
	has_rows(file, WHOLE ";SELECT outcome FROM command", "ok\n0\ndone\n");
	ck_assert_int_eq(unlink(file), 0);
}

START_TEST(a_backup_that_is_killed_leaves_no_half_file)
{
	static const struct step STEPS[] = { { "mkdir", 1 },     { "openat", 5 },
		                             { "pwrite64", 29 }, { "sync_file_range", 1 },
		                             { "fsync", 1 },     { "renameat2", 1 },
		                             { "unlinkat", 1 } };
	char arguments[400];

	given_database();
	(void)snprintf(arguments, sizeof(arguments), "backup %s", file);
	for (size_t i = 0; i < COUNT(STEPS); i++)
		kill_at(&STEPS[i], arguments, no_half_backup);
	/* and the next one has swept away what they left */
	ck_assert_int_eq(count_files("part"), 0);
	is_whole(site.database);
}
END_TEST

static void old_or_new(void)
{
	/* In one shell: each reads all rules before it can say anything. */
	const char *mark =
	    sql(site.database, WHOLE ";SELECT count(*) FROM command;"
	                             "SELECT count(*) FROM event WHERE kind = 'database.restored';"
	                             "INSERT INTO command (verb) SELECT 'odd'"
	                             " WHERE (SELECT count(*) FROM command) = 1");

	ck_assert_msg(strcmp(mark, "ok\n0\n1\n1\n") == 0 || strncmp(mark, "ok\n0\n2\n", 7) == 0,
	              "%s", mark);
	(void)shell(NULL, "rm -f %s.before-restore-*", site.database);
}

START_TEST(a_restore_that_is_killed_leaves_the_old_or_the_new_database)
{
	static const struct step STEPS[] = { { "mkdir", 1 },       { "openat", 9 },
		                             { "pwrite64", 97 },   { "fsync", 1 },
		                             { "linkat,link", 1 }, { "unlink", 1 },
		                             { "renameat", 1 },    { "unlinkat", 1 } };
	char arguments[400];

	given_database();
	succeeds(back_up());
	(void)sql(site.database, "INSERT INTO command (verb) VALUES ('odd')");
	(void)snprintf(arguments, sizeof(arguments), "restore %s --yes", file);
	for (size_t i = 0; i < COUNT(STEPS); i++)
		kill_at(&STEPS[i], arguments, old_or_new);
	ck_assert_int_eq(count_files("part"), 0);
	site_start(&site);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ---- what is not restored ---- */

static void is_refused(const char *path, const char *part)
{
	OWNED(str) struct str before = { 0 };
	OWNED(str) struct str after = { 0 };

	(void)shell(&before, "sha256sum %s", site.database);
	fails(restore(path), EX_CONFIG, part);
	(void)shell(&after, "sha256sum %s", site.database);
	ck_assert_str_eq(str_text(&before), str_text(&after));
	ck_assert_int_eq(count_files("before-restore"), 0);
	ck_assert_int_eq(count_files("part"), 0);
}

START_TEST(only_a_whole_database_of_ours_is_restored)
{
	char other[400], dir[300];

	given_database();
	succeeds(back_up());
	(void)snprintf(other, sizeof(other), "%s.other", file);
	(void)snprintf(dir, sizeof(dir), "%s", file);
	*strrchr(dir, '/') = '\0';
	is_refused(other, "No such file");
	put_file(dir, "copy.db.other", "");
	is_refused(other, "not a database of agent-intercom");
	put_file(dir, "copy.db.other",
	         "Dear diary, this is not a database. It only looks like one.");
	is_refused(other, "not a database");
	ck_assert_int_eq(shell(NULL, "rm %s && mkfifo %s", other, other), 0);
	is_refused(other, "is a FIFO; name a file");
	ck_assert_int_eq(unlink(other), 0);
	(void)sql(other, "CREATE TABLE t (a)");
	is_refused(other, "not a database of agent-intercom");
	is_refused(dir, "cannot open");
	is_refused(site.database, "is the database itself");

	(void)shell(NULL, "cp %s %s", file, other);
	(void)sql(other, "PRAGMA user_version = 4242");
	is_refused(other, "copy.db.other has schema version 4242,");

	/* an entry of an index that has no row */
	(void)shell(NULL, "cp %s %s", file, other);
	(void)shell(NULL,
	            "sqlite3 -cmd '.dbconfig defensive off' %s \"PRAGMA writable_schema = ON; "
	            "UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema "
	            "WHERE name = 'request_due') WHERE name = 'worker_heartbeat'\"",
	            other);
	is_refused(other, "is damaged");

	/* cut off, and with a page that is noise */
	(void)shell(NULL, "head -c 100000 %s >%s", file, other);
	is_refused(other, "copy.db.other");
	(void)shell(NULL,
	            "cp %s %s && dd if=/dev/urandom of=%s bs=4096 seek=30 count=1 conv=notrunc "
	            "2>/dev/null",
	            file, other, other);
	is_refused(other, "copy.db.other");
}
END_TEST

START_TEST(nothing_is_restored_while_the_system_runs)
{
	char part[60];

	given_database();
	succeeds(back_up());
	site_start(&site);
	(void)snprintf(part, sizeof(part), "stop it with `kill %d`", (int)site.pid);
	fails(restore(file), EX_TEMPFAIL, part);
	fails(intercom("restore", file), EX_TEMPFAIL, part); /* also before anybody is asked */
	has_rows(site.database, "SELECT count(*) FROM event WHERE kind = 'database.restored'",
	         "0\n");
	ck_assert_int_eq(site_stop(&site), 0);
	succeeds(restore(file));
}
END_TEST

START_TEST(nothing_is_restored_while_somebody_has_the_database_open)
{
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };

	given_database();
	succeeds(back_up());
	ck_assert_msg(!store_open(&st, site.database, NULL, &e), "%s", e.text);
	ck_assert_int_ge(sql_store_version(&st, &e), 0);
	fails(restore(file), EX_TEMPFAIL, "stop that first");
	ck_assert_int_eq(count_files("before-restore"), 0);
	store_clear(&st);
	succeeds(restore(file));
}
END_TEST

START_TEST(a_restore_asks_on_a_terminal_and_needs_yes_without)
{
	char arguments[400];

	given_database();
	succeeds(back_up());
	(void)snprintf(arguments, sizeof(arguments), "restore %s", file);
	fails(intercom("restore", file), EX_USAGE, "add --yes");
	says(str_text(&said), "to be replaced: ");
	says(str_text(&said), ", 0 question(s) open\n");
	fails(intercom("restore --yes", ""), EX_USAGE, "which file");

	ck_assert_int_eq(shell(&said,
	                       "echo n | script -qec '%s/agent-intercom --config %s %s' /dev/null",
	                       getenv("INTERCOM_BUILD"), site.config, arguments),
	                 1);
	says(str_text(&said), "[y/N]");
	says(str_text(&said), "Nothing is changed");
	ck_assert_int_eq(count_files("before-restore"), 0);

	succeeds(shell(&said, "echo y | script -qec '%s/agent-intercom --config %s %s' /dev/null",
	               getenv("INTERCOM_BUILD"), site.config, arguments));
	says(str_text(&said), "restored");
	ck_assert_int_eq(count_files("before-restore"), 1);
}
END_TEST

/* ---- what is restored ---- */

START_TEST(the_database_of_before_is_kept)
{
	OWNED(str) struct str kept = { 0 };

	given_database();
	succeeds(back_up());
	(void)sql(site.database, "INSERT INTO command (verb) VALUES ('odd')");
	succeeds(restore(file));

	has_rows(site.database, "SELECT count(*) FROM command", "1\n");
	(void)shell(&kept, "echo %s.before-restore-20*Z", site.database);
	kept.bytes[--kept.length] = '\0';
	has_rows(str_text(&kept), "SELECT count(*) FROM command", "2\n");
	is_whole(str_text(&kept));

	/* and is itself something to restore */
	succeeds(restore(str_text(&kept)));
	has_rows(site.database, "SELECT count(*) FROM command", "2\n");
}
END_TEST

/* ---- Slack ---- */

/* A session whose thread nobody has begun yet, and what is to be said in it. Nothing runs. */
static void given_an_unsaid_thread(void)
{
	given_place_with("[slack]\nchannel_id = \"C01AGENTS\"\n");
	slack_start();
	slack_credentials();
	site_start(&site);
	ck_assert_int_eq(site_stop(&site), 0);
	has_rows(site.database,
	         "INSERT INTO session (id, machine, owner_user_id, workspace_root, status, mode,"
	         " created_at, updated_at) SELECT 's', 'elsewhere', id, '/w', 'active', 'remote',"
	         " '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z' FROM operator"
	         " WHERE is_default = 1;"
	         "INSERT INTO slack_notice (kind, session_seq, text)"
	         " VALUES ('reply', 1, 'one'), ('reply', 1, 'two');"
	         "SELECT kind, state FROM slack_message",
	         "session|queued\nreply|queued\nreply|queued\n");
}

static void all_is_said(void)
{
	static const char OPEN[] = "SELECT count(*) FROM slack_outbox WHERE state IN ('queued',"
	                           " 'sending', 'doubtful')";

	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS; agent_ms() < end;
	     (void)poll(NULL, 0, 10)) {
		if (strcmp(sql(site.database, OPEN), "0\n") == 0)
			return;
		advance(1000);
	}
	has_rows(site.database, OPEN, "0\n");
}

/* The texts that Slack shows in the channel, a line each. */
static void slack_shows(const char *wanted)
{
	OWNED(cJSON_ptr) cJSON *root = cJSON_Parse(slack_ask("messages?channel=C01AGENTS"));
	OWNED(str) struct str texts = { 0 };
	const cJSON *m;

	cJSON_ArrayForEach (m, cJSON_GetObjectItem(root, "messages"))
		if (!cJSON_IsTrue(cJSON_GetObjectItem(m, "deleted")))
			str_addf(&texts, "%.7s\n",
			         cJSON_GetStringValue(cJSON_GetObjectItem(m, "text")));
	ck_assert_str_eq(str_text(&texts), wanted);
}

START_TEST(what_was_said_in_slack_since_the_backup_is_not_said_again)
{
	given_an_unsaid_thread();
	succeeds(back_up());
	site_start(&site);
	all_is_said();
	ck_assert_int_eq(site_stop(&site), 0);
	slack_shows("🚀 *S\none\ntwo\n");

	succeeds(restore(file));
	has_rows(site.database, "SELECT count(*) FROM slack_message WHERE ts IS NOT NULL", "0\n");
	site_start(&site);
	all_is_said();
	has_rows(site.database, "SELECT count(*) FROM slack_message WHERE ts IS NOT NULL", "3\n");
	ck_assert_int_eq(site_stop(&site), 0);
	slack_shows("🚀 *S\none\ntwo\n");
	slack_stop();
}
END_TEST

START_TEST(what_was_not_said_before_the_restore_is_said_after_it_in_order)
{
	given_an_unsaid_thread();
	succeeds(back_up());
	succeeds(restore(file));
	site_start(&site);
	all_is_said();
	ck_assert_int_eq(site_stop(&site), 0);
	slack_shows("🚀 *S\none\ntwo\n");
	slack_stop();
}
END_TEST

START_TEST(a_database_that_is_noise_is_kept_and_replaced)
{
	given_database();
	succeeds(back_up());
	ck_assert_int_eq(shell(NULL, "head -c 50000 /dev/urandom >%s && echo log >%s-wal",
	                       site.database, site.database),
	                 0);
	succeeds(restore(file));
	says(str_text(&said), " bytes; it cannot be read: it is damaged");
	ck_assert_int_eq(count_files("before-restore-.*Z$"), 1);
	ck_assert_int_eq(count_files("before-restore-.*Z-wal$"), 1);
	is_whole(site.database);
	has_rows(site.database, "SELECT count(*) FROM command", "1\n");
}
END_TEST

START_TEST(a_backup_is_restored_where_there_is_no_database)
{
	given_database();
	succeeds(back_up());
	ck_assert_int_eq(shell(NULL, "rm %s", site.database), 0);
	succeeds(restore(file));
	says(str_text(&said), ": there is none to be replaced");
	ck_assert_int_eq(count_files("before-restore"), 0);
	site_start(&site);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_backup_from_before_the_first_release_is_refused)
{
	given_database();
	succeeds(back_up());
	(void)sql(file, "PRAGMA user_version = 27");
	is_refused(file, "schema version 27, of an agent-intercom before release 0.2.0");
	has_rows(file, "PRAGMA user_version", "27\n");
}
END_TEST

START_TEST(rules_that_are_not_as_they_were_made_do_not_come_back_with_a_backup)
{
	given_database();
	succeeds(back_up());
	(void)sql(file, "DROP TRIGGER decision_takes_effect;"
	                "CREATE TRIGGER mine AFTER INSERT ON decision BEGIN SELECT 1; END");
	succeeds(restore(file));
	says(str_text(&said), "made again: mine (foreign), decision_takes_effect (missing)");
	has_rows(site.database,
	         "SELECT name FROM sqlite_schema WHERE name IN ('mine', 'decision_takes_effect');"
	         "SELECT count(*) FROM event WHERE kind = 'rules.restored'",
	         "decision_takes_effect\n1\n");
}
END_TEST

START_TEST(numbers_given_since_the_backup_are_not_given_again)
{
	given_database();
	succeeds(back_up());
	(void)sql(site.database, "INSERT INTO command (verb) VALUES ('odd')");
	succeeds(restore(file));
	has_rows(
	    site.database,
	    "INSERT INTO command (verb) VALUES ('odd'); SELECT max(seq) > 1000000 FROM command",
	    "1\n");
	has_rows(site.database, "SELECT seq > 1000000 FROM tool_call_next", "1\n");
	has_rows(site.database, "SELECT seq > 1000000 FROM gate_call_next", "1\n");
}
END_TEST

/* ---- the story ---- */

static void ask(struct relay *r, const char *path, const char *content)
{
	OWNED(char_ptr) char *arguments = proposal(path, content);
	char text[200];

	relay_begin(r, "check_clearance", arguments);
	(void)snprintf(text, sizeof(text), "SELECT count(*) FROM request WHERE file_path = '%s'",
	               path);
	has_rows_soon(text, "1\n");
}

static void approve(void)
{
	(void)sql(site.database, "INSERT INTO decision (request_id, verdict) SELECT id, 'approve' "
	                         "FROM request WHERE state IN ('pending', 'interrupted')");
}

static void begin_writing(struct relay *r, const char *id)
{
	char arguments[100];

	(void)snprintf(arguments, sizeof(arguments), "{\"request_id\":\"%.36s\"}", id);
	relay_begin(r, "check_diff", arguments);
}

/* Its agent writes f, a second one asks for g; the backup is made between order and write. */
static void given_backup_of_a_write(char id[40])
{
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *written = NULL;
	struct relay writer, asker;

	given_place();
	site_start(&site);
	writer = given_relay(&site);
	ask(&writer, "f", "hello\n");
	approve();
	answer = relay_end(&writer);
	has(answer, "status", "approved");
	(void)snprintf(id, 40, "%s", member(answer, "request_id"));
	asker = given_relay(&site);
	ask(&asker, "g", "good bye\n");
	pid_t applier = (pid_t)atoi(sql(
	    site.database, "SELECT pid FROM worker WHERE name = 'applier' AND state = 'ready'"));
	ck_assert_int_eq(kill(applier, SIGSTOP), 0);
	begin_writing(&writer, id);
	has_rows_soon("SELECT state FROM apply", "queued\n");

	succeeds(back_up());

	ck_assert_int_eq(kill(applier, SIGCONT), 0);
	written = relay_end(&writer);
	has(written, "status", "applied");
	ck_assert_int_eq(relay_stop(&writer), 0);
	ck_assert_int_eq(relay_stop(&asker), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}

START_TEST(the_seals_go_on_after_a_restore)
{
	given_database();
	succeeds(intercom("audit export >/dev/null", ""));
	succeeds(back_up());
	(void)sql(site.database, "INSERT INTO event (at, kind) VALUES ('2026-01-01T09:00:00.000Z', "
	                         "'lost')");
	succeeds(intercom("audit export >/dev/null", ""));
	succeeds(restore(file));

	succeeds(intercom("audit verify", ""));
	says(str_text(&said), "1 not sealed yet"); /* that of the restore */
	site_start(&site);
	has_rows_soon("SELECT max(seq) = (SELECT max(seq) FROM event) AND max(seq) > 1000000 FROM "
	              "seal",
	              "1\n");
	succeeds(intercom("audit verify", ""));
	ck_assert_int_eq(site_stop(&site), 0);
	succeeds(intercom("audit export >/dev/null", ""));
	succeeds(intercom("audit verify", ""));
}
END_TEST

START_TEST(an_old_question_can_be_answered_and_nothing_is_written_twice)
{
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *again = NULL;
	OWNED(char_ptr) char *text = NULL;
	char id[40], path[200];
	struct stat before, after;
	struct relay r;

	given_backup_of_a_write(id);
	(void)snprintf(path, sizeof(path), "%s/f", site.workspace);
	put_file(site.workspace, "f", "hello\nand what a person has added\n");
	ck_assert_int_eq(stat(path, &before), 0);

	succeeds(restore(file));
	says(str_text(&said), "2 session(s), 1 question(s); writes to be parked: 1\nunused appr");
	says(str_text(&said), "Z, 1 question(s) open\n");
	has_rows(
	    site.database,
	    "SELECT state, error_code FROM apply; SELECT state, remaining_ms > 0 FROM request; "
	    "SELECT DISTINCT status FROM session; SELECT state FROM tool_call WHERE tool = "
	    "'check_diff'; SELECT actor, listening FROM event e, inbox WHERE e.kind = 'apply.dead'",
	    "dead|restored\nexpired|\ninterrupted|1\ninterrupted\nanswered\nrestore|0\n");

	site_start(&site);
	has_rows_soon("SELECT count(*) FROM worker WHERE state = 'ready'", SITE_WORKERS "\n");
	r = given_relay(&site);
	begin_writing(&r, id);
	again = relay_end(&r);
	has(again, "error_code", "not_approved");
	ck_assert_int_eq(stat(path, &after), 0);
	ck_assert_uint_eq(before.st_ino, after.st_ino);
	text = get_file(site.workspace, "f");
	ck_assert_str_eq(text, "hello\nand what a person has added\n");

	approve();
	ask(&r, "g", "good bye\n"); /* not a new one */
	answer = relay_end(&r);
	has(answer, "status", "approved");
	has_rows(site.database, "SELECT count(*) FROM request", "2\n");
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
	is_whole(site.database);
}
END_TEST

START_TEST(a_write_that_was_begun_is_parked_with_its_files)
{
	char id[40];

	given_backup_of_a_write(id);
	(void)sql(file,
	          "UPDATE apply SET state = 'claimed', claim = claim + 1; INSERT INTO "
	          "file_change (apply_seq, path, action, hash_before, hash_after, bytes, "
	          "state, created_at, updated_at) SELECT seq, 'f', 'create', 'new_file', 'x', "
	          "6, 'planned', created_at, created_at FROM apply; UPDATE file_change SET "
	          "state = 'staged', temp_name = '.x'");
	succeeds(restore(file));
	has_rows(site.database, "SELECT state, claim FROM apply; SELECT state FROM file_change",
	         "dead|2\nundone\n");
}
END_TEST

START_TEST(agents_and_workers_of_the_time_of_the_backup_are_lost)
{
	char id[40];

	given_backup_of_a_write(id);
	(void)sql(file, "INSERT INTO agent_run (session_seq, generation, machine, agent, protocol, "
	                "state, created_at) SELECT seq, 1, 'h', 'a', 'mcp', 'wanted', created_at "
	                "FROM session");
	succeeds(restore(file));
	has_rows(site.database, "SELECT DISTINCT outcome FROM agent_run", "interrupted\n");
	has_rows(site.database, "SELECT 1 FROM worker WHERE state IN ('starting', 'ready')", "");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("backup");
	TCase *c = store_case(s, "backup", 100);

	tcase_add_test(c, a_backup_is_one_private_file_with_all_rows);
	tcase_add_test(c, what_is_there_is_not_overwritten);
	tcase_add_test(c, without_a_database_there_is_no_backup);
	tcase_add_test(c, a_damaged_database_gives_no_backup);
	tcase_add_test(c, a_backup_beside_four_writers_is_one_moment_of_theirs);
	tcase_add_test(c, a_backup_that_is_killed_leaves_no_half_file);
	tcase_add_test(c, a_restore_that_is_killed_leaves_the_old_or_the_new_database);
	tcase_add_test(c, only_a_whole_database_of_ours_is_restored);
	tcase_add_test(c, nothing_is_restored_while_the_system_runs);
	tcase_add_test(c, nothing_is_restored_while_somebody_has_the_database_open);
	tcase_add_test(c, a_restore_asks_on_a_terminal_and_needs_yes_without);
	tcase_add_test(c, the_database_of_before_is_kept);
	tcase_add_test(c, a_database_that_is_noise_is_kept_and_replaced);
	tcase_add_test(c, a_backup_is_restored_where_there_is_no_database);
	tcase_add_test(c, a_backup_from_before_the_first_release_is_refused);
	tcase_add_test(c, rules_that_are_not_as_they_were_made_do_not_come_back_with_a_backup);
	tcase_add_test(c, numbers_given_since_the_backup_are_not_given_again);
	tcase_add_test(c, the_seals_go_on_after_a_restore);
	tcase_add_test(c, an_old_question_can_be_answered_and_nothing_is_written_twice);
	tcase_add_test(c, a_write_that_was_begun_is_parked_with_its_files);
	tcase_add_test(c, agents_and_workers_of_the_time_of_the_backup_are_lost);
	c = store_case(s, "backup_slack", 100);
	tcase_add_test(c, what_was_said_in_slack_since_the_backup_is_not_said_again);
	tcase_add_test(c, what_was_not_said_before_the_restore_is_said_after_it_in_order);
	return run_suite(s);
}
