/* sentry: tools that ran by the host's own transcript, although no hook had asked. */
#include "harness.h"
#include "process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[400];

static const char LAPSES[] =
    "SELECT kind, host, subject, session_seq FROM gate_lapse WHERE ended_at IS NULL";
static const char ONE[] = "unasked|claude|s1|1\n";

static void writes(const char *name, const char *use, int ms)
{
	char path[500];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "ae");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_gt(
	    fprintf(f,
	            "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\","
	            "\"tool_use_id\":\"%s\"}]},\"timestamp\":\"%s\",\"toolUseResult\":"
	            "{\"stdout\":\"\"}}\n",
	            use, clock_instant(clock_now_ms() + ms).text),
	    0);
	ck_assert_int_eq(fclose(f), 0);
}

/* The host writes down that a command ran: so many ms after now. */
static void runs(const char *use, int ms)
{
	writes("t.jsonl", use, ms);
}

static int hook_session;
static const char *hook_host;
static const char *transcript; /* that its hooks name */

/* A call of a hook of that session: its gate_call has this number. */
static void given_hook(int seq, const char *moment, const char *use, const char *decision)
{
	char sql[2000];
	struct instant now = clock_now();

	(void)snprintf(
	    sql, sizeof(sql),
	    "INSERT INTO tool_call (seq, connection_seq, session_seq, rpc_id, era, tool, arguments,"
	    " digest, state, created_at, finished_at) VALUES (%d, 2, %d, '%d', 'legacy',"
	    " 'intercom/hook', '{}', printf('%%064d', 1), 'done', '%s', '%s');"
	    "INSERT INTO gate_call (seq, call_seq, session_seq, host, helper, event, moment, class,"
	    " tool_use_id, transcript, digest, decision, created_at, decided_at) VALUES (%d, %d, "
	    "%d,"
	    " '%s', '0', 'e', '%s', 'execute', %s%s%s, '%s/%s', printf('%%064d', 1), '%s',"
	    " '%s', '%s')",
	    seq, hook_session, seq, now.text, now.text, seq, seq, hook_session, hook_host, moment,
	    use ? "'" : "", use ? use : "NULL", use ? "'" : "", folder, transcript, decision,
	    now.text, now.text);
	given(sql);
}

static void setup(void)
{
	char sql[1200];
	struct instant now;

	fresh_store();
	hook_session = 1;
	hook_host = "claude";
	transcript = "t.jsonl";
	now = clock_now();
	(void)snprintf(folder, sizeof(folder), "%s", scratch());
	(void)setenv("HOME", folder, 1);
	(void)snprintf(
	    sql, sizeof(sql),
	    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	    " created_at, updated_at) VALUES (1, 's1', 'h', 'local:ann', '%s', 'active', 'remote',"
	    " '%s', '%s');"
	    "INSERT INTO connection (seq, key, machine, transport, protocol_version, client_name,"
	    " session_seq, identity, created_at) VALUES (2, 'hook', 'h', 'hook', '2025-06-18',"
	    " 'claude', 1, '{}', '%s')",
	    folder, now.text, now.text, now.text);
	given(sql);
}

START_TEST(a_command_that_ran_although_no_hook_was_called_is_told_once)
{
	given_hook(1, "prompt", NULL, "noted");
	given_hook(2, "pre_tool", "asked", "allow");
	runs("asked", 1);
	run_worker("sentry");
	expect(LAPSES, "");
	runs("unasked", 2);
	runs("another", 3);
	run_worker("sentry");
	expect(LAPSES, ONE);
	expect("SELECT detail LIKE '%although no hook had asked (2, the first at %'"
	       " FROM gate_lapse",
	       "1\n");
	expect("SELECT kind, session_seq FROM event WHERE kind LIKE 'gate.%'", "gate.unasked|1\n");
	run_worker("sentry");
	expect("SELECT count(*) FROM gate_lapse", "1\n");
}
END_TEST

/* Codex calls no hook for it, and the command before it was asked about. */
START_TEST(what_the_agent_of_codex_types_into_a_program_is_told)
{
	char path[500];
	FILE *f;

	hook_host = "codex";
	given_hook(1, "prompt", NULL, "noted");
	given_hook(2, "pre_tool", "asked", "allow");
	(void)snprintf(path, sizeof(path), "%s/t.jsonl", folder);
	f = fopen(path, "ae");
	ck_assert_ptr_nonnull(f);
	for (const char *const *chars = (const char *const[]){ "", "!touch x\\\\n", NULL }; *chars;
	     chars++)
		ck_assert_int_gt(
		    fprintf(f,
		            "{\"timestamp\":\"%s\",\"type\":\"response_item\",\"payload\":{"
		            "\"type\":\"function_call\",\"name\":\"write_stdin\",\"arguments\":"
		            "\"{\\\"session_id\\\":1,\\\"chars\\\":\\\"%s\\\"}\","
		            "\"call_id\":\"typed\"}}\n",
		            clock_instant(clock_now_ms() + 1).text, *chars),
		    0);
	ck_assert_int_eq(fclose(f), 0);
	run_worker("sentry");
	expect(LAPSES, "unasked|codex|s1|1\n");
	expect("SELECT detail LIKE '%typed into a program that it had started (1, the first at %'"
	       " FROM gate_lapse",
	       "1\n");
	expect("SELECT kind, session_seq FROM event WHERE kind LIKE 'gate.%'", "gate.unasked|1\n");
}
END_TEST

START_TEST(a_command_whose_hook_was_killed_is_told)
{
	given_hook(1, "prompt", NULL, "noted");
	given_hook(2, "pre_tool", "killed", "deny");
	runs("killed", 1);
	run_worker("sentry");
	expect(LAPSES, ONE);
}
END_TEST

/* An event and a message say so already. */
START_TEST(a_command_whose_end_a_hook_told_is_not_told_twice)
{
	given_hook(1, "prompt", NULL, "noted");
	given_hook(2, "post_tool", "ended", "noted");
	runs("ended", 1);
	run_worker("sentry");
	expect(LAPSES, "");
}
END_TEST

START_TEST(what_ran_before_the_hooks_were_installed_is_nobodys_business)
{
	runs("earlier", -1000);
	given_hook(1, "prompt", NULL, "noted");
	run_worker("sentry");
	expect(LAPSES, "");
}
END_TEST

START_TEST(a_session_that_is_over_is_looked_at_for_another_minute)
{
	given_hook(1, "prompt", NULL, "noted");
	runs("late", 1);
	given("UPDATE session SET status = 'terminated', terminated_at = updated_at");
	run_worker("sentry");
	expect(LAPSES, ONE);
}
END_TEST

/* One that ended, and began again under the host's same id. */
START_TEST(of_two_sessions_with_one_transcript_the_newer_explains_it)
{
	given_hook(1, "prompt", NULL, "noted");
	given_hook(2, "pre_tool", "first", "allow");
	runs("first", 1);
	run_worker("sentry");
	given("UPDATE session SET status = 'terminated', terminated_at = updated_at;"
	      "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	      " created_at, updated_at) SELECT 2, 's2', machine, owner_user_id, workspace_root,"
	      " 'active', mode, created_at, updated_at FROM session");
	advance(1000);
	hook_session = 2;
	given_hook(3, "prompt", NULL, "noted");
	given_hook(4, "pre_tool", "second", "allow");
	runs("second", 1);
	run_worker("sentry");
	expect(LAPSES, "");
	runs("third", 2);
	run_worker("sentry");
	expect(LAPSES, "unasked|claude|s2|2\n");
}
END_TEST

START_TEST(a_running_sentry_reads_what_is_added_and_a_line_that_is_not_whole_yet)
{
	given_hook(1, "prompt", NULL, "noted");
	given_hook(2, "pre_tool", "asked", "allow");
	runs("asked", 1);
	(void)start_worker("sentry");
	expect_soon("SELECT state FROM worker WHERE name = 'sentry'", "ready\n");
	writes("line", "unasked", 1);
	ck_assert_int_eq(shell(NULL, "cd '%s' && head -c 40 line >>t.jsonl", folder), 0);
	advance(6000);
	expect(LAPSES, "");
	ck_assert_int_eq(shell(NULL, "cd '%s' && tail -c +41 line >>t.jsonl", folder), 0);
	advance(6000);
	expect_soon(LAPSES, ONE);
}
END_TEST

static void grows(const char *by)
{
	ck_assert_int_eq(shell(NULL, "truncate -s +%s '%s/t.jsonl'", by, folder), 0);
}

START_TEST(a_transcript_that_grows_by_a_hundred_gigabytes_keeps_nobody_from_reading_the_others)
{
	given_hook(1, "prompt", NULL, "noted");
	runs("unasked", 1);
	(void)start_worker("sentry");
	expect_soon(LAPSES, ONE);
	given("INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	      " created_at, updated_at) SELECT 2, 's2', machine, owner_user_id, workspace_root,"
	      " status, mode, created_at, updated_at FROM session");
	hook_session = 2;
	transcript = "u.jsonl";
	given_hook(2, "prompt", NULL, "noted");
	writes("u.jsonl", "theirs", 1);
	grows("100G");
	advance(6000);
	expect_soon(LAPSES, "unasked|claude|s1|1\nunasked|claude|s2|2\n");
}
END_TEST

START_TEST(what_follows_a_line_of_twenty_megabytes_is_read_some_looks_later)
{
	given_hook(1, "prompt", NULL, "noted");
	given_hook(2, "pre_tool", "asked", "allow");
	runs("asked", 1);
	(void)start_worker("sentry");
	expect_soon("SELECT state FROM worker WHERE name = 'sentry'", "ready\n");
	advance(6000);
	grows("20M");
	advance(6000);
	runs("its end", 1); /* of that line: no line of its own */
	advance(6000);
	advance(6000);
	expect(LAPSES, "");
	runs("unasked", 1);
	advance(6000);
	advance(6000);
	expect_soon(LAPSES, ONE);
}
END_TEST

START_TEST(a_host_that_is_told_once_is_told_again_an_hour_later_but_of_new_ones_only)
{
	given_hook(1, "prompt", NULL, "noted");
	runs("unasked", 1);
	run_worker("sentry");
	expect(LAPSES, ONE);
	advance(2 * 3600 * 1000);
	run_worker("sentry");
	expect(LAPSES, "");
	run_worker("sentry");
	expect("SELECT count(*) FROM gate_lapse", "1\n");
	runs("again", 1);
	run_worker("sentry");
	expect("SELECT count(*), count(ended_at) FROM gate_lapse", "2|1\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sentry_transcripts");
	TCase *c = store_case(s, "sentry_transcripts", 60);

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, a_command_that_ran_although_no_hook_was_called_is_told_once);
	tcase_add_test(c, what_the_agent_of_codex_types_into_a_program_is_told);
	tcase_add_test(c, a_command_whose_hook_was_killed_is_told);
	tcase_add_test(c, a_command_whose_end_a_hook_told_is_not_told_twice);
	tcase_add_test(c, what_ran_before_the_hooks_were_installed_is_nobodys_business);
	tcase_add_test(c, a_session_that_is_over_is_looked_at_for_another_minute);
	tcase_add_test(c, of_two_sessions_with_one_transcript_the_newer_explains_it);
	tcase_add_test(c, a_running_sentry_reads_what_is_added_and_a_line_that_is_not_whole_yet);
	tcase_add_test(
	    c, a_transcript_that_grows_by_a_hundred_gigabytes_keeps_nobody_from_reading_the_others);
	tcase_add_test(c, what_follows_a_line_of_twenty_megabytes_is_read_some_looks_later);
	tcase_add_test(c,
	               a_host_that_is_told_once_is_told_again_an_hour_later_but_of_new_ones_only);
	suite_add_tcase(s, c);
	return run_suite(s);
}
