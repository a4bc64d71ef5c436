/* restore: what one that is killed or refused leaves, and what others are told meanwhile. */
#include "agent.h"
#include "db.h"
#include "instance.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

static struct site site; /* its database is not the harness's, which keeps its own open */
static struct str said;

/* A site with a database and a backup of it, $DB and $FILE; nothing runs. */
static void given_backup(void)
{
	char database[200], file[200];

	fresh_store();
	(void)snprintf(database, sizeof(database), "%.150s-site", test_run());
	ck_assert_int_eq(mkdir(database, 0700), 0);
	(void)snprintf(file, sizeof(file), "%.160s/copy.db", database);
	(void)strncat(database, "/intercom.db", sizeof(database) - strlen(database) - 1);
	site = site_make_at(database, "");
	(void)setenv("DB", site.database, 1);
	(void)setenv("FILE", file, 1);
	(void)setenv("CONFIG", site.config, 1);
	site_start(&site);
	ck_assert_int_eq(site_stop(&site), 0);
	ck_assert_int_eq(
	    shell(&said, "$INTERCOM_BUILD/agent-intercom --config $CONFIG backup $FILE"), 0);
}

static int run(const char *command)
{
	return shell(&said, "$INTERCOM_BUILD/%s 2>&1 </dev/null", command);
}

static void exits(int status, int wanted, const char *words)
{
	ck_assert_msg(status == wanted, "exit %d: %s", status, str_text(&said));
	says(str_text(&said), words);
}

/* A restore, killed when it would for the n-th time do this. */
static void given_killed_restore(const char *call, int n)
{
	ck_assert_int_eq(shell(&said,
	                       "ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o /dev/null -e trace=%s "
	                       "-e inject=%s:signal=SIGKILL:when=%d $INTERCOM_BUILD/agent-intercom "
	                       "--config $CONFIG restore $FILE --yes 2>&1 </dev/null",
	                       call, call, n),
	                 128 + SIGKILL);
}

static int count(const char *command)
{
	OWNED(str) struct str out = { 0 };

	(void)shell(&out, "%s | wc -l", command);
	return atoi(str_text(&out));
}

#define KEPT "ls $DB.before-restore-* 2>/dev/null"

START_TEST(after_a_restore_that_was_killed_a_start_needs_nobody)
{
	static const char *const LOOKS[] = {
		"agent-intercom-ctl --config $CONFIG list",
		"agent-intercom --config $CONFIG doctor",
		"agent-intercom --config $CONFIG backup $FILE.2",
	};
	struct stat about;

	given_backup();
	given_killed_restore("renameat", 1);
	ck_assert_int_eq(count(KEPT), 1);
	for (size_t i = 0; i < COUNT(LOOKS); i++) {
		ck_assert_int_ne(run(LOOKS[i]), 0);
		says(str_text(&said), "a restore of it was interrupted; start agent-intercom");
	}
	site_start(&site);
	ck_assert_int_eq(site_stop(&site), 0);
	ck_assert_int_eq(count(KEPT), 0);
	ck_assert_int_eq(stat(site.database, &about), 0);
	ck_assert_uint_eq(about.st_nlink, 1);
}
END_TEST

/* Its log could not be folded in, is kept beside it, and has lost its own name. */
START_TEST(a_damaged_database_has_its_log_again_after_a_restore_that_was_killed)
{
	OWNED(str) struct str before = { 0 };
	OWNED(str) struct str after = { 0 };

	given_backup();
	ck_assert_int_eq(shell(NULL, "head -c 50000 /dev/urandom >$DB && echo log >$DB-wal"), 0);
	(void)shell(&before, "sha256sum $DB $DB-wal");
	given_killed_restore("renameat", 1);
	ck_assert_int_eq(shell(NULL, "test ! -e $DB-wal && test -e $DB.before-restore-*-wal"), 0);
	ck_assert_int_ne(run("agent-intercom --config $CONFIG restore $FILE.none --yes"), 0);
	says(str_text(&said), "is removed");
	(void)shell(&after, "sha256sum $DB $DB-wal");
	ck_assert_str_eq(str_text(&before), str_text(&after));
	ck_assert_int_eq(count(KEPT), 0);
	exits(run("agent-intercom --config $CONFIG restore $FILE --yes"), 0, "restored");
	ck_assert_int_eq(count("ls $DB.before-restore-*Z"), 1);
}
END_TEST

START_TEST(while_a_restore_is_at_work_nobody_is_told_to_kill_it)
{
	static const char *const OTHERS[] = { "agent-intercom --config $CONFIG",
		                              "agent-intercom --config $CONFIG restore $FILE" };
	int lock = -1;

	given_backup();
	given_killed_restore("renameat", 1);
	ck_assert_int_eq(shell(NULL, "grep -q restore $DB-instance"), 0);
	ck_assert_int_eq(instance_take(site.database, true, &lock, NULL), 0);
	for (size_t i = 0; i < COUNT(OTHERS); i++) {
		exits(run(OTHERS[i]), EX_TEMPFAIL, "agent-intercom restore (pid ");
		ck_assert_ptr_null(strstr(str_text(&said), "kill"));
	}
	(void)close(lock);
	site_start(&site);
	ck_assert_int_eq(shell(NULL, "grep -q restore $DB-instance"), 1);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_restore_says_how_many_checkpoints_lose_what_they_hold)
{
	static const char RESTORE[] = "agent-intercom --config $CONFIG restore $FILE.2 --yes";
	char create[300];

	given_backup();
	site_start(&site);
	(void)snprintf(create, sizeof(create),
	               "agent-intercom-ctl --config $CONFIG checkpoint create --workspace '%s'",
	               site.workspace);
	exits(run(create), 0, "checkpoint");
	db_expect_soon(site.database, "SELECT state FROM checkpoint", "done\n");
	ck_assert_int_eq(site_stop(&site), 0);
	exits(run("agent-intercom --config $CONFIG backup $FILE.2"), 0, "-objects holds what");
	exits(run(RESTORE), 0, "restored");
	ck_assert_ptr_null(strstr(str_text(&said), "WARNING"));
	ck_assert_int_eq(shell(NULL, "rm -r $FILE.2-objects"), 0);
	exits(run(RESTORE), 0,
	      ".2-objects is not there: what 1 checkpoint(s) hold is lost, unless "
	      "it is in ");
}
END_TEST

START_TEST(a_name_that_a_backup_cannot_get_gets_no_objects)
{
	static const struct {
		const char *name, *words;
	} NAMES[] = { { "$DB-x", "would be taken for a part of the database" },
		      { "''", "names no file" },
		      { "$DB.folder/", "names no file" },
		      { "$DB.nowhere/copy.db", "No such file or directory" } };
	char command[300];

	given_backup();
	ck_assert_int_eq(shell(NULL, "mkdir -p $DB-objects $DB.folder"), 0);
	for (size_t i = 0; i < COUNT(NAMES); i++) {
		(void)snprintf(command, sizeof(command),
		               "agent-intercom --config $CONFIG backup %s", NAMES[i].name);
		exits(run(command), EX_CONFIG, NAMES[i].words);
	}
	ck_assert_int_eq(count("find $(dirname $DB) . -maxdepth 1 -name '*-objects'"), 1);
}
END_TEST

/* The words are about FILE: not about the copy that is looked at, nor about a database in use. */
START_TEST(what_cannot_be_restored_is_told_of_by_its_name)
{
	static const struct {
		const char *spoils, *words;
	} CASES[] = {
		{ "sqlite3 $FILE 'DROP TABLE steering'",
		  "/copy.db: was made by another build of agent-intercom: its table steering" },
		{ "sqlite3 $FILE 'PRAGMA user_version = 1'",
		  "before release 0.2.0, which cannot be brought up to date\n" },
		{ "dd if=/dev/urandom of=$FILE bs=4096 conv=notrunc count=1 seek=$(sqlite3 $FILE "
		  "\"SELECT rootpage - 1 FROM sqlite_schema WHERE name = 'command'\") 2>/dev/null",
		  "/copy.db is damaged: " },
	};

	given_backup();
	ck_assert_int_eq(shell(NULL, "cp $FILE $FILE.whole"), 0);
	for (size_t i = 0; i < COUNT(CASES); i++) {
		ck_assert_int_eq(shell(NULL, "cp $FILE.whole $FILE; %s", CASES[i].spoils), 0);
		exits(run("agent-intercom --config $CONFIG restore $FILE --yes"), EX_CONFIG,
		      CASES[i].words);
		ck_assert_ptr_null(strstr(str_text(&said), "***"));
	}
}
END_TEST

/* Another command would start another system. */
START_TEST(a_restore_says_how_to_start_the_system_that_it_was_told_of)
{
	OWNED(str) struct str words = { 0 };

	given_backup();
	str_addf(&words, "start the system with: agent-intercom --config %s\n", site.config);
	exits(run("agent-intercom --config $CONFIG restore $FILE --yes"), 0, words.bytes);
	str_reset(&words);
	str_addf(&words, "start the system with: agent-intercom --db %s\n", site.database);
	exits(run("agent-intercom restore $FILE --yes --db $DB"), 0, words.bytes);
	exits(run("agent-intercom restore $FILE --yes"), 0,
	      "start the system with: agent-intercom\n");
}
END_TEST

START_TEST(options_of_a_backup_may_follow_its_file)
{
	given_backup();
	exits(run("agent-intercom backup $FILE.two --config $CONFIG"), 0, "is a backup of");
	exits(run("agent-intercom backup $FILE.three --db $DB"), 0, "is a backup of");
	exits(run("agent-intercom backup $FILE.four $FILE.five --db $DB"), EX_USAGE, "usage: ");
	exits(run("agent-intercom backup"), EX_USAGE, "usage: ");
}
END_TEST

#define AT "'2026-01-01T09:00:00.000Z'"

/* In the backup: a checkpoint that may be put back, a command that may be run, what was said to an
 * agent and what is to be its next prompt. */
static const char OF_THEN[] =
    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode, "
    "created_at, updated_at) SELECT 9, 's', 'h', id, '/w', 'active', 'local', " AT ", " AT
    " FROM operator WHERE is_default = 1;"
    "INSERT INTO request (id, session_seq, kind, state, digest, title, prompt_type, created_at, "
    "updated_at) VALUES ('back', 9, 'restore', 'pending', printf('%064d', 1), 't', NULL, " AT
    ", " AT "), ('run', 9, 'permission', 'pending', printf('%064d', 2), 't', NULL, " AT ", " AT
    "), ('on', 9, 'prompt', 'pending', printf('%064d', 3), 't', 'continuation', " AT ", " AT ");"
    "INSERT INTO workspace_restore (session_seq, checkpoint_id, to_hash, state, created_at, "
    "updated_at) VALUES (9, 'c', printf('%064d', 1), 'wanted', " AT ", " AT ");"
    "UPDATE workspace_restore SET state = 'asked', from_hash = printf('%064d', 2), "
    "request_seq = (SELECT seq FROM request WHERE id = 'back');"
    "INSERT INTO decision (request_id, verdict) VALUES ('back', 'approve'), ('run', 'approve'), "
    "('on', 'continue');"
    "INSERT INTO steering (session_id, text) VALUES ('s', 'not there');"
    "INSERT INTO steering (kind, text) VALUES ('task', 'mend it');"
    "INSERT INTO agent_run (session_seq, generation, machine, agent, protocol, state, created_at) "
    "VALUES (9, 1, 'h', 'a', 'acp', 'wanted', " AT ");"
    "INSERT INTO agent_input (session_seq, kind, text, created_at) VALUES (9, 'words', 'x', " AT
    ")";

START_TEST(what_may_have_been_used_or_told_since_the_backup_is_counted_and_is_not_used_again)
{
	given_backup();
	(void)setenv("SQL", OF_THEN, 1);
	ck_assert_msg(shell(&said, "sqlite3 $FILE \"$SQL\" 2>&1") == 0, "%s", str_text(&said));
	exits(run("agent-intercom --config $CONFIG restore $FILE --yes"), 0,
	      "used since: 2; words that agents may be told twice: 3\n");
	(void)shell(&said, "sqlite3 $DB \"SELECT state, error_code FROM workspace_restore; SELECT "
	                   "state, delivered_at IS NOT NULL FROM request WHERE id = 'run'; SELECT "
	                   "run_seq, sent_at IS NOT NULL FROM agent_input; SELECT json_extract("
	                   "detail, '$.lapsed_approvals') FROM event WHERE kind = "
	                   "'database.restored'\" 2>&1");
	ck_assert_str_eq(str_text(&said), "refused|restored\nexpired|1\n1|1\n2\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("restore");
	TCase *c = store_case(s, "restore", 60);

	tcase_add_test(c, after_a_restore_that_was_killed_a_start_needs_nobody);
	tcase_add_test(c, a_damaged_database_has_its_log_again_after_a_restore_that_was_killed);
	tcase_add_test(c, while_a_restore_is_at_work_nobody_is_told_to_kill_it);
	tcase_add_test(c, a_restore_says_how_many_checkpoints_lose_what_they_hold);
	tcase_add_test(c, a_name_that_a_backup_cannot_get_gets_no_objects);
	tcase_add_test(c, what_cannot_be_restored_is_told_of_by_its_name);
	tcase_add_test(c, a_restore_says_how_to_start_the_system_that_it_was_told_of);
	tcase_add_test(c, options_of_a_backup_may_follow_its_file);
	tcase_add_test(
	    c, what_may_have_been_used_or_told_since_the_backup_is_counted_and_is_not_used_again);
	return run_suite(s);
}
