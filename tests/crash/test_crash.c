/* SIGKILL, full disks, wrong files: nothing is lost, nothing happens twice, and a program that
 * cannot start says why. */
#include "agent.h"
#include "relay.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

static const char *const WORKERS[] = { "watchdog",  "applier",   "retention", "mcp-front",
	                               "archivist", "commander", "sentry" };

static struct site site;

/* ---- one story ---- */

static void begin_applying(struct relay *r)
{
	OWNED(char_ptr) char *id = rows("SELECT id FROM request ORDER BY seq DESC LIMIT 1");
	char arguments[100];

	(void)snprintf(arguments, sizeof(arguments), "{\"request_id\":\"%.36s\"}", id);
	relay_begin(r, "check_diff", arguments);
}

/* Holds at the end of each story about one file. */
static void once(const char *content)
{
	OWNED(char_ptr) char *text = get_file(site.workspace, "f");

	ck_assert_ptr_nonnull(text);
	ck_assert_str_eq(text, content);
	expect("SELECT count(*) FROM request", "1\n");
	expect("SELECT count(*) FROM decision WHERE outcome = 'applied'", "1\n");
	expect("SELECT count(*) FROM apply WHERE state = 'applied'", "1\n");
	expect("SELECT count(*) FROM file_change WHERE state = 'done'", "1\n");
	expect("PRAGMA integrity_check", "ok\n");
	expect("SELECT count(*) FROM pragma_foreign_key_check", "0\n");
}

/* A site whose applier has stopped before an approved write of f. */
static struct relay given_queued_write(const char *content)
{
	OWNED(char_ptr) char *answer = NULL;
	struct relay r;

	site = given_running_site();
	r = given_relay(&site);
	begin_asking(&r, "f", content);
	approve_all();
	answer = relay_end(&r);
	has(answer, "status", "approved");
	halt_worker(worker_pid("applier"));
	begin_applying(&r);
	expect_soon("SELECT state FROM apply", "queued\n");
	return r;
}

/* The write is reported to the agent, and everything ends in order. */
static void end_applied(struct relay *r, const char *content)
{
	OWNED(char_ptr) char *written = relay_end(r);

	has(written, "status", "applied");
	ck_assert_int_eq(relay_stop(r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
	once(content);
}

static void finish(struct relay *r, const char *content)
{
	OWNED(char_ptr) char *answer = NULL;

	approve_all();
	answer = relay_end(r);
	has(answer, "status", "approved");
	begin_applying(r);
	end_applied(r, content);
}

/* ---- SIGKILL ---- */

START_TEST(each_worker_may_be_killed_while_a_question_waits)
{
	struct relay r;

	site = given_running_site();
	r = given_relay(&site);
	begin_asking(&r, "f", "hello\n");
	for (size_t i = 0; i < COUNT(WORKERS); i++) {
		kill_and_await(WORKERS[i]);
		expect("SELECT state FROM request", "pending\n");
	}
	finish(&r, "hello\n");
}
END_TEST

START_TEST(each_worker_may_be_killed_while_a_write_is_queued)
{
	struct relay r = given_queued_write("hello\n");

	for (size_t i = 0; i < COUNT(WORKERS); i++)
		if (strcmp(WORKERS[i], "applier") != 0)
			kill_and_await(WORKERS[i]);
	expect("SELECT state FROM apply", "queued\n");
	kill_and_await("applier");
	end_applied(&r, "hello\n");
}
END_TEST

START_TEST(everything_may_be_killed_while_a_question_waits)
{
	struct relay r;

	site = given_running_site();
	r = given_relay(&site);
	begin_asking(&r, "f", "hello\n");
	site_kill(&site);
	site_start(&site);
	expect_soon("SELECT count(*) FROM tool_call AS t JOIN worker AS w ON w.id = t.listener"
	            " WHERE w.state = 'ready'",
	            "1\n");
	finish(&r, "hello\n");
}
END_TEST

START_TEST(everything_may_be_killed_while_a_write_is_queued)
{
	struct relay r = given_queued_write("hello\n");

	site_kill(&site);
	site_start(&site);
	end_applied(&r, "hello\n");
}
END_TEST

START_TEST(an_answer_given_while_nothing_ran_is_delivered)
{
	struct relay r;
	OWNED(char_ptr) char *answer = NULL;

	site = given_running_site();
	r = given_relay(&site);
	begin_asking(&r, "f", "hello\n");
	site_kill(&site);
	ck_assert_int_eq(
	    shell(NULL,
	          "sqlite3 -cmd '.timeout 10000' %s \"INSERT INTO decision (request_id, verdict)"
	          " SELECT id, 'approve' FROM request\"",
	          test_db()),
	    0);
	site_start(&site);
	answer = relay_end(&r);
	has(answer, "status", "approved");
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
	expect("SELECT count(*) FROM request", "1\n");
}
END_TEST

/* The applier dies at any instruction, some milliseconds after the order. */
START_TEST(the_applier_may_be_killed_at_any_time)
{
	enum { FILES = 7 }; /* the supervisor doubles its wait each time */
	struct relay r;
	char path[20], content[40];

	site = given_running_site();
	r = given_relay(&site);
	for (int i = 0; i < FILES; i++) {
		OWNED(char_ptr) char *answer = NULL;
		OWNED(char_ptr) char *written = NULL;
		OWNED(char_ptr) char *text = NULL;
		pid_t applier;

		(void)snprintf(path, sizeof(path), "f%d", i);
		(void)snprintf(content, sizeof(content), "content %d\n", i);
		begin_asking(&r, path, content);
		approve_all();
		answer = relay_end(&r);
		has(answer, "status", "approved");
		applier = worker_pid("applier");
		begin_applying(&r);
		(void)usleep((useconds_t)i * 1200); /* deliberately not synchronised */
		if (applier)
			(void)kill(applier, SIGKILL);
		written = relay_end(&r);
		has(written, "status", "applied");
		text = get_file(site.workspace, path);
		ck_assert_str_eq(text, content);
		expect_soon(
		    "SELECT count(*) FROM worker WHERE name = 'applier' AND state = 'ready'",
		    "1\n");
	}
	expect("SELECT count(*), count(DISTINCT request_seq) FROM apply WHERE state = 'applied'",
	       "7|7\n");
	{
		OWNED(str) struct str said = { 0 };

		(void)shell(&said, "ls -A %s | wc -l", site.workspace);
		ck_assert_msg(atoi(said.bytes) == FILES, "something is left behind: %s",
		              said.bytes);
	}
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
	expect("PRAGMA integrity_check", "ok\n");
}
END_TEST

/* ---- disks ---- */

START_TEST(a_full_disk_takes_no_questions_and_still_takes_answers)
{
	OWNED(char_ptr) char *first = proposal("f", "hello\n");
	OWNED(char_ptr) char *second = proposal("g", "hello\n");
	OWNED(char_ptr) char *pending = NULL;
	OWNED(char_ptr) char *refused = NULL;
	OWNED(char_ptr) char *approved = NULL;
	OWNED(char_ptr) char *written = NULL;
	OWNED(char_ptr) char *text = NULL;
	OWNED(str) struct str said = { 0 };
	char disk[300], database[400];
	OWNED(char_ptr) char *arguments = NULL;
	struct agent a;

	SKIP_UNLESS(may_mount(), "root and mount namespaces");
	fresh_store();
	(void)snprintf(disk, sizeof(disk), "%.280s-disk", test_run());
	(void)snprintf(database, sizeof(database), "%s/intercom.db", disk);
	ck_assert_int_eq(mkdir(disk, 0700), 0);
	ck_assert_int_eq(mount("tmpfs", disk, "tmpfs", 0, "size=100m,mode=0700"), 0);
	site = site_make_at(database, "");
	site_start(&site);
	a = agent_hello(site.port, "?wait=1", "2025-11-25");
	pending = agent_call(&a, "check_clearance", first);
	has(pending, "status", "pending");

	ck_assert_int_eq(
	    shell(NULL, "dd if=/dev/zero of=%s/filler bs=1M count=60 2>/dev/null", disk), 0);
	refused = agent_call(&a, "check_clearance", second);
	has(refused, "status", "error");
	has(refused, "error_code", "disk_full");
	says(member(refused, "error_message"), "64 MiB");
	ck_assert_int_eq(shell(&said, "%s/agent-intercom-ctl --db %s health 2>&1",
	                       getenv("INTERCOM_BUILD"), database),
	                 1);
	says(said.bytes, "MiB are free: new questions are refused below 64 MiB");

	ck_assert_int_eq(shell(&said, "%s/agent-intercom-ctl --db %s approve %s 2>&1",
	                       getenv("INTERCOM_BUILD"), database, member(pending, "request_id")),
	                 0);
	approved = agent_call(&a, "check_clearance", first);
	ck_assert_msg(strcmp(member(approved, "status"), "approved") == 0,
	              "the answer to what was asked before is not told: %s", approved);
	arguments = diff_of(member(pending, "request_id"));
	written = agent_write(&a, arguments);
	has(written, "status", "applied");
	text = get_file(site.workspace, "f");
	ck_assert_str_eq(text, "hello\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

static void send_hello(struct relay *r, int id)
{
	OWNED(str) struct str line = { 0 };

	str_addf(&line,
	         "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"initialize\",\"params\":{"
	         "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"
	         "\"clientInfo\":{\"name\":\"tester\",\"version\":\"1\"}}}",
	         id);
	relay_send(r, line.bytes);
}

static void stop_system(const char *database)
{
	(void)shell(NULL,
	            "kill $(cat %s-instance) && while kill -0 $(cat %s-instance) 2>/dev/null; do "
	            "sleep 0.05; done",
	            database, database);
}

/* Its log is on that disk, too. */
START_TEST(an_agent_is_told_that_a_full_disk_keeps_the_system_from_starting_and_served_after_it)
{
	OWNED(char_ptr) char *refused = NULL;
	OWNED(char_ptr) char *answer = NULL;
	OWNED(str) struct str said = { 0 };
	char disk[300], database[400];
	struct relay r;

	SKIP_UNLESS(may_mount(), "root and mount namespaces");
	fresh_store();
	(void)snprintf(disk, sizeof(disk), "%.280s-disk", test_run());
	(void)snprintf(database, sizeof(database), "%s/intercom.db", disk);
	ck_assert_int_eq(mkdir(disk, 0700), 0);
	ck_assert_int_eq(mount("tmpfs", disk, "tmpfs", 0, "size=32m,mode=0700"), 0);
	site = site_make_at(database, "");
	if (_i == 1) { /* as it was left by a system before */
		site_start(&site);
		ck_assert_int_eq(site_stop(&site), 0);
	}
	(void)shell(NULL, "cat /dev/zero >%s/filler 2>/dev/null", disk);
	ck_assert_int_eq(site_try(&site, &said), EX_TEMPFAIL);
	ck_assert_msg(_i == 0 || strstr(str_text(&said), "full; free space on"), "%s",
	              str_text(&said));

	relay_start(&r, site.workspace, NULL, NULL);
	send_hello(&r, 7);
	refused = relay_line(&r);
	ck_assert_ptr_nonnull(refused);
	has(refused, "id", "7");
	says(member(refused, "error.message"), "agent-intercom does not start: ");
	says(member(refused, "error.message"), "full; free space on");

	ck_assert_int_eq(shell(NULL, "rm %s/filler", disk), 0);
	for (int id = 8; !answer || strstr(answer, "\"error\""); id++) {
		free(answer);
		send_hello(&r, id);
		answer = relay_line(&r);
		ck_assert_ptr_nonnull(answer);
	}
	says(answer, "\"serverInfo\"");
	ck_assert_int_eq(relay_stop(&r), 0);
	stop_system(database);
}
END_TEST

/* ---- programs that cannot start ---- */

static void cannot_start(int status, const char *part)
{
	OWNED(str) struct str said = { 0 };
	int got = site_try(&site, &said);

	ck_assert_msg(got == status && strstr(str_text(&said), part),
	              "exit %d instead of %d, '%s' is wanted in: %s", got, status, part,
	              str_text(&said));
}

START_TEST(a_read_only_database_is_named)
{
	SKIP_UNLESS(may_mount(), "root and mount namespaces");
	site = given_site();
	ck_assert_int_eq(mount(test_db(), test_db(), NULL, MS_BIND, NULL), 0);
	ck_assert_int_eq(mount(NULL, test_db(), NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL), 0);
	cannot_start(EX_CONFIG, "make the database file");
	ck_assert_int_eq(umount2(test_db(), MNT_DETACH), 0);
}
END_TEST

START_TEST(a_second_instance_names_the_first)
{
	struct site first;
	char part[60];

	site = given_running_site();
	first = site;
	(void)snprintf(part, sizeof(part), "already running (pid %d)", (int)first.pid);
	cannot_start(EX_TEMPFAIL, part);
	expect_soon("SELECT count(*) FROM worker WHERE state = 'ready'", SITE_WORKERS "\n");
	ck_assert_int_eq(site_stop(&first), 0);
}
END_TEST

START_TEST(a_database_of_a_newer_program_is_left_alone)
{
	site = given_site();
	given("PRAGMA user_version = 4242");
	cannot_start(EX_CONFIG, "newer");
	expect("PRAGMA user_version", "4242\n");
}
END_TEST

START_TEST(a_file_that_is_no_database_is_left_alone)
{
	OWNED(char_ptr) char *text = NULL;

	site = given_site();
	(void)snprintf(site.database, sizeof(site.database), "%s/notes.txt", site.home);
	put_file(site.home, "notes.txt",
	         "Dear diary, this is not a database. It only looks like one.\n");
	(void)shell(NULL, "sed -i 's|^path = .*|path = \"%s\"|' %s", site.database, site.config);
	cannot_start(EX_CONFIG, "notes.txt");
	text = get_file(site.home, "notes.txt");
	says(text, "Dear diary");
}
END_TEST

START_TEST(a_worker_of_another_build_does_not_work)
{
	OWNED(str) struct str said = { 0 };

	fresh_store();
	given("UPDATE setting SET value = '9.9.9' WHERE name = 'system.build'");
	ck_assert_int_eq(try_worker("watchdog"), EX_TEMPFAIL);
	ck_assert_int_eq(try_worker("mcp-front"), EX_TEMPFAIL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("crash");
	TCase *c = tcase_create("crash");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, each_worker_may_be_killed_while_a_question_waits);
	tcase_add_test(c, each_worker_may_be_killed_while_a_write_is_queued);
	tcase_add_test(c, everything_may_be_killed_while_a_question_waits);
	tcase_add_test(c, everything_may_be_killed_while_a_write_is_queued);
	tcase_add_test(c, an_answer_given_while_nothing_ran_is_delivered);
	tcase_add_test(c, the_applier_may_be_killed_at_any_time);
	tcase_add_test(c, a_full_disk_takes_no_questions_and_still_takes_answers);
	tcase_add_loop_test(
	    c, an_agent_is_told_that_a_full_disk_keeps_the_system_from_starting_and_served_after_it,
	    0, 2);
	tcase_add_test(c, a_read_only_database_is_named);
	tcase_add_test(c, a_second_instance_names_the_first);
	tcase_add_test(c, a_database_of_a_newer_program_is_left_alone);
	tcase_add_test(c, a_file_that_is_no_database_is_left_alone);
	tcase_add_test(c, a_worker_of_another_build_does_not_work);
	suite_add_tcase(s, c);
	return run_suite(s);
}
