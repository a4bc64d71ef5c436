/* Commands of [commands] from Slack (user story 8): what they write is one message that is edited,
 * with a button that stops them. */
#include "slack_story_case.h"

static void a_system_with_commands(const char *commands)
{
	OWNED(str) struct str more = { 0 };

	str_addf(
	    &more,
	    "command_timeout_seconds = 86400\n[slack]\nchannel_id = \"C01AGENTS\"\n[commands]\n%s",
	    commands);
	slack_with(more.bytes);
	site_start(&site);
	(void)slack_wait_for("hello");
}

static const char *command(const char *text)
{
	return member(slack_acked("{'slash':{'text':'%s'}}", text), "payload.text");
}

/* What Slack shows once the row says this. */
static char *shown_at(const char *ts, const char *state)
{
	pass_time_until("SELECT coalesce(outcome, state) FROM alias_run", state);
	return shown_now(ts);
}

START_TEST(an_alias_runs_and_its_message_is_edited_to_its_end)
{
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *during = NULL;
	OWNED(char_ptr) char *after = NULL;

	a_system_with_commands("test = \"echo one; while [ ! -e go ]; do sleep 0.05; done; echo "
	                       "two '<@U01OP>'; exit 3\"\n");
	says(command("test"), "Run 1: `test` runs in ");
	ts = ts_of("alias");
	pass_time_until("SELECT shown FROM alias_run", "one\n\n");
	during = shown_at(ts, "running\n");
	says(during, "*Running*: `test` in ");
	says(during, "one");
	says(during, "alias_stop");
	put_file(site.workspace, "go", "");
	after = shown_at(ts, "failed\n");
	says(after, "*Failed*: `test` in ");
	says(after, "exit status 3, ");
	says(after, "two <@U01OP>"); /* as text: nobody is called */
	says(after, "Run 1 by <@U01OP>: `echo one; ");
	is_not_in(after, "alias_stop");
	expect("SELECT kind, state, root_seq IS NULL FROM slack_message", "alias|sent|1\n");
	end_system();
}
END_TEST

START_TEST(the_button_stops_it_once)
{
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *after = NULL;

	a_system_with_commands("serve = \"echo ready; sleep 1000 & wait\"\n");
	(void)command("run serve");
	ts = ts_of("alias");
	pass_time_until("SELECT state FROM alias_run", "running\n");
	all_is_said();
	OWNED(char_ptr)
	char *id = xstrdup(member(slack_deliver("{'click':{'channel':'C01AGENTS',"
	                                        "'ts':'%s','action_id':'alias_stop'}}",
	                                        ts),
	                          "envelope_id"));
	(void)slack_wait_for("ack");
	(void)slack_order("redeliver", "{'envelope_id':'%s','new_id':true}", id);
	(void)slack_wait_for("ack");
	after = shown_at(ts, "stopped\n");
	says(after, "*Stopped*: `serve` in ");
	says(after, "signal 15 (TERM)");
	says(after, "stopped by <@U01OP>");
	is_not_in(after, "alias_stop");
	expect("SELECT outcome FROM command WHERE verb = 'run-stop'", "done\n");
	end_system();
}
END_TEST

START_TEST(a_long_output_follows_whole_as_a_file)
{
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *after = NULL;

	a_system_with_commands("count = \"seq 1 100000\"\n");
	(void)command("count");
	ts = ts_of("alias");
	after = shown_at(ts, "done\n");
	says(after, "*Done*: `count` in ");
	says(after, "exit status 0");
	says(after, " lines …");
	says(after, "100000");
	says(after, "Output truncated at 64 KB.");
	pass_time_until("SELECT state FROM slack_message WHERE kind = 'output'", "sent\n");
	expect("SELECT file_name, root_seq = (SELECT seq FROM slack_message WHERE kind = 'alias')"
	       " FROM slack_message WHERE kind = 'output'",
	       "count.txt|1\n");
	end_system();
}
END_TEST

START_TEST(in_a_sessions_thread_it_runs_for_that_session)
{
	OWNED(char_ptr) char *head = NULL;

	a_system_with_commands("test = \"echo said\"\n");
	struct agent a = agent_hello(front_port(), "", "2025-11-25");
	free(call_for_message(&a, "ping", "{}"));
	expect("SELECT count(*) FROM session", "1\n");
	says(command("test"), "Run 1: `test` runs in ");
	pass_time_until("SELECT r.outcome, m.state, h.kind FROM alias_run AS r"
	                " JOIN slack_message AS m ON m.alias_run_seq = r.seq"
	                " JOIN slack_message AS h ON h.seq = m.root_seq"
	                " JOIN session AS s ON s.seq = r.session_seq",
	                "done|sent|session\n");
	all_is_said();
	head = ts_of("session");
	(void)slack_acked("{'message':{'text':'run test','thread_ts':'%s'}}", head);
	pass_time_until("SELECT count(*) FROM alias_run WHERE outcome = 'done'"
	                " AND session_seq IS NOT NULL",
	                "2\n");
	(void)slack_acked("{'message':{'text':'run tests','thread_ts':'%s'}}", head);
	expect("SELECT text FROM steering", "run tests\n");
	expect("SELECT count(*) FROM alias_run", "2\n");
	end_system();
}
END_TEST

START_TEST(nothing_behind_an_alias_reaches_the_shell_and_the_nearest_alias_is_named)
{
	a_system_with_commands("test = \"touch ran\"\nTests-all = \"touch ran\"\n");
	says(command("test; rm -rf x"), "`test` takes no arguments, and was not run: 'rm -rf x'");
	says(command("test $(id)"), "`test` takes no arguments, and was not run: '$(id)'");
	says(command("run test --fast"), "`test` takes no arguments, and was not run: '--fast'");
	says(command("tset"), "command not found: tset; did you mean `test`?");
	says(command("run tset"), "command not found: tset; did you mean `test`?");
	expect("SELECT count(*) FROM alias_run", "0\n");
	says(command("tests-ALL"), "command not found: ");
	says(command("Tests-all"), "Run 1: `Tests-all` runs in ");
	says(command("help custom"), "`test` — touch ran");
	pass_time_until("SELECT outcome FROM alias_run", "done\n");
	end_system();
}
END_TEST

START_TEST(a_killed_commander_is_told_once_in_the_same_message)
{
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *after = NULL;
	OWNED(char_ptr) char *began = NULL;

	a_system_with_commands("serve = \"echo x >> began; sleep 1000 & wait\"\n");
	(void)command("serve");
	ts = ts_of("alias");
	pass_time_until("SELECT state FROM alias_run", "running\n");
	while (!began) { /* its shell may not have come so far */
		(void)poll(NULL, 0, 10);
		began = get_file(site.workspace, "began");
	}
	kill_and_await("commander");
	after = shown_at(ts, "interrupted\n");
	says(after, "*Interrupted*: `serve` in ");
	says(after, "agent-intercom was killed while it ran");
	is_not_in(after, "alias_stop");
	expect("SELECT count(*) FROM slack_message", "1\n");
	char_ptr_clear(&began);
	began = get_file(site.workspace, "began");
	ck_assert_str_eq(began, "x\n");
	end_system();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_story_aliases");
	TCase *c = store_case(s, "aliases", 300);

	tcase_add_test(c, an_alias_runs_and_its_message_is_edited_to_its_end);
	tcase_add_test(c, the_button_stops_it_once);
	tcase_add_test(c, a_long_output_follows_whole_as_a_file);
	tcase_add_test(c, in_a_sessions_thread_it_runs_for_that_session);
	tcase_add_test(c, nothing_behind_an_alias_reaches_the_shell_and_the_nearest_alias_is_named);
	tcase_add_test(c, a_killed_commander_is_told_once_in_the_same_message);
	return run_suite(s);
}
