/* A relay that has no system, or that will have none, says why to its agent. */
#include "agent.h"
#include "process.h"
#include "relay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char HELLO[] = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"initialize\",\"params\":{"
                            "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"
                            "\"clientInfo\":{\"name\":\"tester\",\"version\":\"1\"}}}";

static struct site site;

/* The answer to its first request says why, and it ends by itself. */
static void is_refused(struct relay *r, const char *why, int status)
{
	OWNED(char_ptr) char *answer = NULL;
	int ended = -1;

	relay_send(r, HELLO);
	answer = relay_line(r);
	ck_assert_ptr_nonnull(answer);
	has(answer, "id", "7");
	says(member(answer, "error.message"), why);
	ck_assert(ends_within(r->pid, AGENT_PATIENCE_MS, &ended));
	ck_assert_int_eq(ended, status);
	relay_clear(r);
}

/* A command, for which $DB is the database. */
static void on_database(const char *command)
{
	(void)setenv("DB", test_db(), 1);
	ck_assert_int_eq(system(command), 0);
}

START_TEST(a_relay_that_cannot_work_says_why)
{
	static const char *const WRONG[] = { "--wait", "soon", NULL };
	static const char *const NOWHERE[] = { "--workspace", "/no/such/place", NULL };
	static const char *const STRAY[] = { "stray", NULL };
	static const char *const UNKNOWN[] = { "--taks", NULL };
	static const char *const VALUELESS[] = { "--wait", NULL };
	static const char *const VALUED[] = { "--tasks=1", NULL };
	static const char *const FILE_INSTEAD[] = { "--workspace", "/etc/passwd", NULL };
	static const char *const NO_CONFIG[] = { "--config", "/no/such/file", NULL };
	struct relay r;

	site = given_site();
	relay_start(&r, site.workspace, NULL, WRONG);
	is_refused(&r, "--wait takes seconds, not 'soon'", 64);
	relay_start(&r, site.workspace, NULL, NOWHERE);
	is_refused(&r, "/no/such/place: No such file", 78);
	relay_start(&r, site.workspace, NULL, STRAY);
	is_refused(&r, "'stray' is no option", 64);
	relay_start(&r, site.workspace, NULL, UNKNOWN);
	is_refused(&r, "the option '--taks' does not exist", 64);
	relay_start(&r, site.workspace, NULL, VALUELESS);
	is_refused(&r, "the option '--wait' needs a value", 64);
	relay_start(&r, site.workspace, NULL, VALUED);
	is_refused(&r, "the option '--tasks=1' takes no value", 64);
	relay_start(&r, site.workspace, NULL, FILE_INSTEAD);
	is_refused(&r, "is no folder", 78);
	relay_start(&r, site.workspace, NULL, NO_CONFIG);
	is_refused(&r, "/no/such/file", 78);
}
END_TEST

START_TEST(a_relay_that_cannot_work_and_is_asked_nothing_ends_with_its_input)
{
	static const char *const STRAY[] = { "stray", NULL };
	struct relay r;

	site = given_site();
	relay_start(&r, site.workspace, NULL, STRAY);
	ck_assert_int_eq(relay_stop(&r), 64);
}
END_TEST

/* One that would never start: who waits for it would wait for ever. */
START_TEST(an_agent_is_told_why_the_system_refuses_to_start)
{
	struct relay r;

	site = given_site();
	given("ALTER TABLE session ADD COLUMN of_another_build INTEGER");
	given("DROP VIEW inbox");
	relay_start(&r, site.workspace, NULL, NULL);
	is_refused(&r, "was made by another build of agent-intercom", 78);
}
END_TEST

/* What another user, here uid 1, has put there; the second line says that nothing was written. */
static const char *const FOREIGN[][2] = {
	{ ": >$DB-log; chown 1 $DB-log", "test ! -s $DB-log" },
	{ "ln -s x $DB-log; chown -h 1 $DB-log", "test ! -e $DB-log" },
	{ ": >$DB-x; chown 1 $DB-x; ln -s $DB-x $DB-log", "test ! -s $DB-x" },
	{ "chown 1 $DB", "test ! -e $DB-log" },
};

/* The workers end first, and the log with what was stopped. */
START_TEST(an_agent_is_told_the_error_and_not_the_last_line_of_the_log)
{
	static const char *const NONE[] = { NULL };
	char folder[150];
	struct relay r;

	site = given_site();
	(void)snprintf(folder, sizeof(folder), "%s/bin", site.home);
	ck_assert_int_eq(shell(NULL,
	                       "mkdir '%s' && cd \"$INTERCOM_BUILD\" && cp $(find . -maxdepth 1 "
	                       "-type f -perm -u+x ! -name hand) '%s'",
	                       folder, folder),
	                 0);
	(void)setenv("INTERCOM_BUILD", folder, 1);
	relay_start(&r, site.workspace, NULL, NONE);
	is_refused(&r, "/bin/hand", 78);
}
END_TEST

START_TEST(nothing_is_written_into_the_log_of_another_user)
{
	struct relay r;

	SKIP_UNLESS(geteuid() == 0, "root");
	site = given_site();
	on_database(FOREIGN[_i][0]);
	relay_start(&r, site.workspace, NULL, NULL);
	is_refused(&r, "belongs to uid 1, not to us (uid 0); run as its owner, or move it away",
	           78);
	on_database(FOREIGN[_i][1]);
	on_database("chown 0 $DB");
}
END_TEST

START_TEST(a_relay_outlives_a_system_that_refuses_to_start_again)
{
	OWNED(char_ptr) char *refused = NULL;
	OWNED(char_ptr) char *result = NULL;
	struct relay r;

	site = given_running_site();
	r = given_relay(&site);
	site_kill(&site);
	given("PRAGMA user_version = 9999");
	relay_begin(&r, "ping", "{}");
	refused = relay_line(&r);
	says(member(refused, "error.message"), "written by a newer agent-intercom");
	given("PRAGMA user_version = 100");
	site_start(&site);
	result = relay_call(&r, "ping", "{}");
	has(result, "acknowledged", "true");
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ---- a database that was lost under the system ---- */

static const char LOST[] = "is not the file any more that this system has open";

static const char *const LOSSES[] = {
	"mkdir $DB.aside && mv $DB $DB-wal $DB-shm $DB.aside",
	"rm $DB $DB-wal $DB-shm",
	": >$DB",
};

/* The agent waits for an answer when the database is lost, and is told. */
static void given_loss(struct relay *r, const char *how)
{
	OWNED(char_ptr) char *refused = NULL;

	site = given_running_site();
	*r = given_relay(&site);
	begin_asking(r, "f", "hello\n");
	on_database(how);
	refused = relay_line(r);
	says(member(refused, "error.message"), LOST);
	ck_assert_int_eq(site_stop(&site), 78);
}

/* A hook, the doctor and ctl, which start nothing. */
static void tell_why(void)
{
	static const char *const COMMANDS[] = {
		"echo '{\"session_id\":\"s\",\"hook_event_name\":\"PreToolUse\",\"tool_name\":"
		"\"Bash\",\"tool_input\":{\"command\":\"ls\"},\"cwd\":\"/\"}' | "
		"$INTERCOM_BUILD/hook claude PreToolUse --deadline 10 --db $DB",
		"$INTERCOM_BUILD/agent-intercom --db $DB doctor | grep FAIL.*database",
		"$INTERCOM_BUILD/agent-intercom-ctl --db $DB inbox",
	};

	for (size_t i = 0; i < COUNT(COMMANDS); i++) {
		OWNED(str) struct str said = { 0 };

		(void)shell(&said, "(%s) 2>&1", COMMANDS[i]);
		says(str_text(&said), LOST);
		says(str_text(&said), "begins with an empty one");
	}
}

/* An empty one would hide what was asked, and be in the way of what is put back. */
START_TEST(no_agent_begins_anew_a_database_that_was_lost)
{
	OWNED(char_ptr) char *later = NULL;
	struct relay r, fresh;

	given_loss(&r, LOSSES[_i]);
	relay_begin(&r, "ping", "{}");
	later = relay_line(&r);
	says(member(later, "error.message"), LOST);
	relay_start(&fresh, site.workspace, NULL, NULL);
	is_refused(&fresh, LOST, 78);
	tell_why();
	on_database("test ! -s $DB");
	ck_assert_int_eq(relay_stop(&r), 0);
}
END_TEST

/* The doctor and ctl find its run directory by its name. */
START_TEST(who_looks_for_a_database_that_was_lost_with_its_folder_is_told)
{
	OWNED(str) struct str said = { 0 };
	struct relay r, fresh;

	given_loss(&r, "mv $(dirname $DB) $(dirname $DB).aside");
	ck_assert_int_ne(shell(&said, "$INTERCOM_BUILD/agent-intercom-ctl --db $DB inbox 2>&1"), 0);
	says(str_text(&said), LOST);
	str_reset(&said);
	ck_assert_int_ne(shell(&said, "$INTERCOM_BUILD/agent-intercom --db $DB doctor 2>&1"), 0);
	says(str_text(&said), LOST);
	relay_start(&fresh, site.workspace, NULL, NULL);
	is_refused(&fresh, LOST, 78);
	on_database("test ! -e $(dirname $DB)"); /* where it will be put back */
	ck_assert_int_eq(relay_stop(&r), 0);
}
END_TEST

START_TEST(what_was_asked_is_there_again_with_the_database_that_was_put_back)
{
	OWNED(char_ptr) char *result = NULL;
	struct relay r;

	given_loss(&r, LOSSES[0]);
	on_database("mv $DB.aside/* $(dirname $DB)");
	site_start(&site);
	expect("SELECT state FROM request", "interrupted\n");
	begin_asking(&r, "f", "hello\n");
	approve_all();
	result = relay_end(&r);
	has(result, "status", "approved");
	expect("SELECT count(*) FROM request", "1\n");
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* Sooner than the system looks. */
START_TEST(no_agent_begins_anew_a_database_that_was_lost_before_the_stop)
{
	struct relay r;

	site = given_running_site();
	on_database("rm $DB $DB-wal $DB-shm");
	ck_assert_int_eq(site_stop(&site), 78);
	relay_start(&r, site.workspace, NULL, NULL);
	is_refused(&r, LOST, 78);
	on_database("test ! -e $DB");
}
END_TEST

/* Nobody could write why. Either a run directory or the link to it is left. */
START_TEST(no_agent_begins_anew_a_database_that_was_lost_with_all_processes)
{
	static const char *const ALSO[] = { "rm $DB-run", "rm -r $(readlink $DB-run)" };
	struct relay r;

	site = given_running_site();
	site_kill(&site);
	on_database("rm $DB $DB-wal $DB-shm");
	on_database(ALSO[_i]);
	relay_start(&r, site.workspace, NULL, NULL);
	is_refused(&r, "is not there any more", 78);
	on_database("test ! -e $DB");
	site_start(&site);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ctl and what else writes by itself, into a file that is there. */
static void nothing_writes(void)
{
	static const char *const COMMANDS[] = {
		"-ctl --db $DB approve 0",    "-ctl --db $DB task 'do x'",
		" --db $DB retention --once", " --db $DB policy trust $W",
		" --db $DB audit verify",     " --db $DB backup $DB.copy",
	};

	for (size_t i = 0; i < COUNT(COMMANDS); i++) {
		OWNED(str) struct str said = { 0 };

		ck_assert_int_ne(shell(&said, "$INTERCOM_BUILD/agent-intercom%s 2>&1", COMMANDS[i]),
		                 0);
		says(str_text(&said), "put that file back");
		says(str_text(&said), "agent-intercom restore FILE");
	}
}

/* An answer in it would be lost with it, once the file is put back. */
START_TEST(nothing_is_written_into_a_copy_in_the_place_of_the_database)
{
	OWNED(char_ptr) char *result = NULL, *refused = NULL;
	struct relay r;

	site = given_running_site();
	(void)setenv("W", site.workspace, 1);
	r = given_relay(&site);
	begin_asking(&r, "f", "hello\n");
	on_database("mkdir $W/.intercom && echo '{}' >$W/.intercom/settings.json");
	on_database("mv $DB $DB.good && cp $DB.good $DB && cp $DB $DB.before");
	nothing_writes();
	refused = relay_line(&r);
	says(member(refused, "error.message"), LOST);
	ck_assert_int_eq(site_stop(&site), 78);
	nothing_writes();
	on_database("cmp $DB $DB.before && mv $DB.good $DB");
	site_start(&site);
	begin_asking(&r, "f", "hello\n");
	approve_all();
	result = relay_end(&r);
	has(result, "status", "approved");
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ---- a database that was moved while the system was stopped ---- */

/* With the link to the run directory, or without it. */
static const char *const MOVES[] = {
	"mv $DB* $NEW", "mv $DB* $NEW && rm $NEW/*-run",
	"find $DB $DB-wal $DB-shm -exec cp {} $NEW ';' || true", /* what was there stays */
};
enum { COPIED = 2 };

/* The configuration is changed with it. */
static void move_database(const char *how)
{
	OWNED(str) struct str folder = { 0 };

	str_addf(&folder, "%s/new", site.home);
	(void)setenv("NEW", folder.bytes, 1);
	(void)setenv("C", site.config, 1);
	on_database("mkdir $NEW");
	on_database(how);
	on_database("sed -i \"s|$DB|$NEW/$(basename $DB)|\" $C");
	(void)snprintf(site.database, sizeof(site.database), "%s%s", folder.bytes,
	               strrchr(test_db(), '/'));
}

static void approve_in_new_place(void)
{
	OWNED(str) struct str said = { 0 };

	ck_assert_int_eq(shell(&said,
	                       "$INTERCOM_BUILD/agent-intercom-ctl --config $C approve"
	                       " $(sqlite3 $NEW/$(basename $DB) 'SELECT id FROM request') 2>&1"),
	                 0);
}

/* It waits, named or not, and starts nothing: only the operator knows when all is in place. */
START_TEST(an_agent_that_is_connected_goes_on_with_the_database_that_was_moved)
{
	OWNED(char_ptr) char *result = NULL, *pong = NULL;
	const char *named[] = { "--config", NULL, NULL };
	struct relay r;

	site = given_running_site();
	named[1] = site.config;
	relay_start(&r, site.workspace, NULL, _i < 3 ? NULL : named);
	relay_hello(&r);
	begin_asking(&r, "f", "hello\n");
	ck_assert_int_eq(site_stop(&site), 0);
	move_database(MOVES[_i % 3]);
	/* longer than a relay waits for a front that was killed */
	ck_assert(!ends_within(r.pid, 2800, NULL));
	on_database("! fuser -s $NEW/$(basename $DB)");
	if (_i % 3 != COPIED)
		on_database("test ! -e $DB");
	site_start(&site);
	approve_in_new_place();
	result = relay_end(&r);
	has(result, "status", "approved");
	pong = relay_call(&r, "ping", "{}");
	has(pong, "acknowledged", "true");
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(an_agent_that_is_new_starts_the_system_on_the_database_that_was_moved)
{
	struct relay r;

	site = given_running_site();
	ck_assert_int_eq(site_stop(&site), 0);
	move_database(MOVES[_i]);
	r = given_relay(&site);
	on_database("test ! -e $DB && fuser -s $NEW/$(basename $DB)");
	ck_assert_int_eq(relay_stop(&r), 0);
}
END_TEST

START_TEST(a_database_that_is_gone_after_a_stop_is_not_said_to_be_lost_by_a_kill)
{
	struct relay r;

	site = given_running_site();
	ck_assert_int_eq(site_stop(&site), 0);
	on_database("rm $DB");
	relay_start(&r, site.workspace, NULL, NULL);
	is_refused(
	    &r, "is not there any more: it was moved or removed while its system was stopped", 78);
	on_database("test ! -e $DB");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("relay_refused");
	TCase *c = tcase_create("relay");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, a_relay_that_cannot_work_says_why);
	tcase_add_test(c, a_relay_that_cannot_work_and_is_asked_nothing_ends_with_its_input);
	tcase_add_test(c, an_agent_is_told_why_the_system_refuses_to_start);
	tcase_add_test(c, an_agent_is_told_the_error_and_not_the_last_line_of_the_log);
	tcase_add_loop_test(c, nothing_is_written_into_the_log_of_another_user, 0, COUNT(FOREIGN));
	tcase_add_test(c, a_relay_outlives_a_system_that_refuses_to_start_again);
	tcase_add_loop_test(c, no_agent_begins_anew_a_database_that_was_lost, 0, COUNT(LOSSES));
	tcase_add_test(c, who_looks_for_a_database_that_was_lost_with_its_folder_is_told);
	tcase_add_test(c, what_was_asked_is_there_again_with_the_database_that_was_put_back);
	tcase_add_test(c, no_agent_begins_anew_a_database_that_was_lost_before_the_stop);
	tcase_add_loop_test(c, no_agent_begins_anew_a_database_that_was_lost_with_all_processes, 0,
	                    2);
	tcase_add_test(c, nothing_is_written_into_a_copy_in_the_place_of_the_database);
	tcase_add_loop_test(c, an_agent_that_is_connected_goes_on_with_the_database_that_was_moved,
	                    0, 2 * COUNT(MOVES));
	tcase_add_loop_test(
	    c, an_agent_that_is_new_starts_the_system_on_the_database_that_was_moved, 0, COPIED);
	tcase_add_test(c, a_database_that_is_gone_after_a_stop_is_not_said_to_be_lost_by_a_kill);
	suite_add_tcase(s, c);
	return run_suite(s);
}
