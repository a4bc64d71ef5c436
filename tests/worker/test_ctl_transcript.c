/* agent-intercom-ctl transcript, and what watch shows of agents that we started. */
#include "ctl_case.h"

#define AT(n) "2026-02-08T09:3" #n ":00.000Z"

static void says_not(const char *text)
{
	ck_assert_msg(!strstr(str_text(&out), text), "'%s' is in:\n%s", text, str_text(&out));
}

/* A session that we started; its agent runs, has been told its task and works on it. */
static void given_run(void)
{
	given("INSERT INTO session (id, machine, owner_user_id, workspace_root, status, mode,"
	      " origin, protocol_mode, prompt, created_at, updated_at) VALUES ('" SESSION_A
	      "', 'h',"
	      " 'local:tester', '/ws/a', 'created', 'local', 'started', 'acp', 'mend it',"
	      " '" AT(0) "', '" AT(
	          0) "');"
	             "INSERT INTO agent_run (seq, session_seq, generation, machine, agent, "
	             "protocol, state,"
	             " created_at, prompt) VALUES (1, 1, 1, 'h', 'claude', 'acp', 'wanted', '" AT(
	                 0) "',"
	                    " 'mend it');"
	                    "UPDATE agent_run SET state = 'starting', pid = 7, process_start = 7;"
	                    "UPDATE agent_run SET state = 'running', started_at = '" AT(
	                        1) "';"
	                           "INSERT INTO agent_input (seq, session_seq, kind, text, "
	                           "created_at) VALUES (1, 1,"
	                           " 'task', 'mend it', '" AT(
	                               1) "');"
	                                  "INSERT INTO agent_turn (seq, run_seq, number, "
	                                  "input_seq, began_at)"
	                                  " VALUES (1, 1, 1, 1, '" AT(2) "')");
}

static void given_line(const char *kind, const char *key, const char *text, const char *detail,
                       const char *at)
{
	OWNED(str) struct str sql = { 0 };

	str_addf(&sql,
	         "INSERT INTO agent_line (run_seq, turn_seq, kind, key, text, detail, at, over_at)"
	         " VALUES (1, 1, '%s', %s, %s, %s, '%s', '%s')",
	         kind, key, text, detail, at, at);
	given(sql.bytes);
}

/* All that can be in one: words, a tool, a plan, a question with its answer, ends. */
static void given_story(void)
{
	given_run();
	given_line("text", "NULL", "'I begin.' || char(10) || 'Then I go on.'", "NULL", AT(3));
	given_line("tool", "'c1'", "'make test'",
	           "'{\"kind\":\"execute\",\"status\":\"completed\",\"path\":\"Makefile\"}'",
	           AT(3));
	given_line("plan", "''", "NULL",
	           "'[{\"label\":\"look\",\"status\":\"done\"},"
	           "{\"label\":\"mend\",\"status\":\"in_progress\"}]'",
	           AT(3));
	given("INSERT INTO request (id, session_seq, kind, state, digest, title, description, body,"
	      " file_path, risk_level, created_at, updated_at) VALUES ('" CHANGE
	      "', 1, 'permission',"
	      " 'pending', printf('%064d', 1), 'Write a.c', 'why', '--- a/a.c' || char(10) ||"
	      " '+++ b/a.c' || char(10) || '@@ -1 +1 @@' || char(10) || '-one' || char(10) ||"
	      " '+two <b>' || char(10), 'a.c', 'high', '" AT(4) "', '" AT(
	          4) "');"
	             "INSERT INTO decision (request_id, verdict, reason, created_at)"
	             " VALUES ('" CHANGE "', 'reject', 'no tests', '" AT(
	                 5) "');"
	                    "UPDATE agent_turn SET stop = 'end_turn', ended_at = '" AT(
	                        6) "';"
	                           "INSERT INTO steering (session_id, text, created_at)"
	                           " VALUES ('" SESSION_A "', 'add tests', '" AT(
	                               7) "');"
	                                  "UPDATE agent_run SET state = 'ended', outcome = "
	                                  "'exited', exit_code = 3,"
	                                  " stderr_tail = 'out of memory', ended_at = '" AT(8) "'");
}

START_TEST(a_transcript_is_all_of_a_session_in_order)
{
	static const char *const PARTS[] = {
		AT(0) "  session " SESSION_A
		      " begins in /ws/a, local mode, local:tester\n  | mend it\n",
		AT(1) "  agent claude starts\n",
		AT(2) "  prompt\n  | mend it\n",
		AT(3) "  agent\n  | I begin.\n  | Then I go on.\n",
		AT(3) "  tool: make test (execute, completed) Makefile\n",
		AT(3) "  plan: [x] look [>] mend\n",
		AT(4) "  asks: Write a.c [permission, high risk, rejected] " CHANGE "\n  | why\n",
		"  | --- a/a.c\n  | +++ b/a.c\n  | @@ -1 +1 @@\n  | -one\n  | +two <b>\n",
		AT(5) "  answer: reject to " CHANGE ", local:tester\n  | no tests\n",
		AT(6) "  turn ended: end_turn\n",
		AT(7) "  said by sql, never told: the session ended, local:tester\n  | add tests\n",
		AT(8) "  agent ended: exited, exit code 3\n  | out of memory\n",
	};
	const char *at;

	given_story();
	ctl("transcript 01900000 --text");
	ck_assert_msg(status == 0, "%s", str_text(&err_out));
	at = str_text(&out);
	for (size_t i = 0; i < COUNT(PARTS); i++) {
		const char *found = strstr(at, PARTS[i]);

		ck_assert_msg(found, "'%s' is not (or not here) in:\n%s", PARTS[i], str_text(&out));
		at = found + strlen(PARTS[i]);
	}
}
END_TEST

START_TEST(words_that_were_a_prompt_are_said_once_with_who_said_them)
{
	given_run();
	given("UPDATE agent_turn SET stop = 'end_turn', ended_at = '" AT(
	    3) "';"
	       "INSERT INTO steering (seq, session_id, text, created_at)"
	       " VALUES (1, '" SESSION_A
	       "', 'the docs', '" AT(4) "');"
	                                "UPDATE steering SET run_seq = 1, delivered_at = '" AT(
	                                    5) "';"
	                                       "INSERT INTO agent_input (seq, session_seq, kind, "
	                                       "steering_seq, created_at)"
	                                       " VALUES (2, 1, 'steer', 1, '" AT(
	                                           5) "');"
	                                              "INSERT INTO agent_turn (seq, run_seq, "
	                                              "number, input_seq, began_at)"
	                                              " VALUES (2, 1, 2, 2, '" AT(5) "')");
	ctl("transcript 01900000 --text");
	says(AT(5) "  prompt by sql, local:tester\n  | the docs\n");
	says_not("said by");
}
END_TEST

START_TEST(an_agent_on_mcp_has_a_transcript_of_its_calls_questions_and_words)
{
	given_questions();
	given(
	    "INSERT INTO connection (seq, key, machine, transport, protocol_version, session_seq,"
	    " identity, created_at) VALUES (1, 'k', 'h', 'stdio', '2025-06-18', 1, '{}', '" T "');"
	    "INSERT INTO tool_call (seq, connection_seq, session_seq, rpc_id, era, tool, arguments,"
	    " digest, state, request_seq, created_at, finished_at) VALUES"
	    " (1, 1, 1, '1', 'legacy', 'ping', '{\"status_message\":\"here\"}', '', 'done', NULL,"
	    "  '" T "', '" T "'), (2, 1, 1, '2', 'legacy', 'check_clearance', '{}', '', 'waiting',"
	    "  1, '" T "', NULL)");
	ctl("approve " CHANGE);
	ctl("steer " SESSION_A " 'use tabs'");
	ctl("transcript " SESSION_A " --text");
	ck_assert_msg(status == 0, "%s", str_text(&err_out));
	says(T "  session " SESSION_A " begins: claude in /ws/a, local mode, local:tester\n");
	says(T "  calls ping\n  | {\"status_message\":\"here\"}\n");
	says("asks: Add a line [clearance, high risk, approved] " CHANGE "\n  | why\n");
	says("answer: approve to " CHANGE ", local:tester\n");
	says("said by ctl, not told yet, local:tester\n  | use tabs\n");
	says_not("check_clearance");
}
END_TEST

START_TEST(a_transcript_as_a_page_is_escaped_and_stands_alone)
{
	given_story();
	ctl("transcript 01900000 --html");
	ck_assert_msg(status == 0, "%s", str_text(&err_out));
	says("<!DOCTYPE html>\n");
	says("<title>Session " SESSION_A "</title>");
	says("<section class=\"text\">\n<p><time>" AT(
	    3) "</time> agent</p>\n"
	       "<pre>I begin.\nThen I go on.</pre>\n</section>\n");
	says("<span class=\"del\">-one</span>\n<span class=\"add\">+two &lt;b&gt;</span>\n");
	says("answer: reject to " CHANGE ", <b>local:tester</b></p>\n<pre>no tests</pre>");
	says("</body>\n</html>\n");
	says_not("<script");
	says_not("src=");
	says_not("href");
	says_not("url(");
}
END_TEST

START_TEST(a_transcript_as_json_is_an_object_a_line)
{
	given_story();
	ctl("transcript 01900000");
	ck_assert_msg(status == 0, "%s", str_text(&err_out));
	says("{\"at\":\"" AT(3) "\",\"what\":\"text\",\"who\":null,\"head\":\"agent\","
	                        "\"texts\":[\"I begin.\\nThen I go on.\"],\"detail\":null}\n");
	says("{\"at\":\"" AT(5) "\",\"what\":\"answer\",\"who\":\"local:tester\"");
}
END_TEST

START_TEST(nothing_that_an_agent_says_acts_on_a_terminal_or_a_page)
{
	static const char *const FORMS[] = { "--text", "--html", "--json" };
	static const char OVERRIDE[] = { (char)0xE2, (char)0x80, (char)0xAE, 0 }; /* U+202E */

	given_run();
	given_line("text", "NULL",
	           "'<script>alert(1)</script>' || char(27) || '[2J' || char(0x202e) || char(0x9b)",
	           "NULL", AT(3));
	given_line("tool", "'c1'", "'\"><img src=x>' || char(7) || char(10) || 'x'",
	           "'{\"kind\":\"<i>\",\"status\":\"\\u001b[31m\"}'", AT(3));
	for (size_t i = 0; i < COUNT(FORMS); i++) {
		char line[80];

		(void)snprintf(line, sizeof(line), "transcript 01900000 %s", FORMS[i]);
		ctl(line);
		ck_assert_msg(status == 0, "%s", str_text(&err_out));
		for (size_t k = 0; k < out.length; k++) {
			unsigned char c = (unsigned char)out.bytes[k];

			ck_assert_msg((c >= 0x20 && c != 0x7F) || c == '\n', "byte %02x of:\n%s", c,
			              out.bytes);
		}
		says_not(OVERRIDE);
		says_not("\xC2\x9B");
		if (i == 1) {
			says_not("<script");
			says_not("<img");
			says_not("<i>");
			says("&lt;script&gt;alert(1)&lt;/script&gt;&lt;U+001B&gt;[2J");
		}
	}
}
END_TEST

START_TEST(a_session_that_has_ended_has_a_transcript_by_its_short_id)
{
	given_story();
	given("UPDATE session SET status = 'terminated'");
	ctl("transcript 01900000-00 --text");
	ck_assert_msg(status == 0, "%s", str_text(&err_out));
	says("session " SESSION_A " begins");
}
END_TEST

START_TEST(watch_says_which_words_no_agent_was_told)
{
	given_run();
	shell("mkfifo $HOME/answers; exec 5<>$HOME/answers;"
	      " (exec 5>&-; ctl $DB watch <$HOME/answers >$HOME/seen) & watching=$!;"
	      " await seen 'nothing waits';"
	      " ctl $DB steer " SESSION_A " use tabs >&2;"
	      " sqlite3 $HOME/state/intercom.db \"UPDATE agent_run SET state = 'ended',"
	      " outcome = 'exited', exit_signal = 9, ended_at = '" AT(
	          8) "'\";"
	             " await seen 'use tabs'; exec 5>&-; wait $watching; cat $HOME/seen");
	says("\nsession 01900000-0000 ended before its agent was told:\n  | use tabs\n");
	expect("SELECT status FROM session", "terminated\n");
}
END_TEST

START_TEST(a_transcript_needs_one_session)
{
	given_sessions();
	ctl("transcript 0199");
	failed(1, "no session has an id that begins with '0199'");
	ctl("transcript 0190");
	failed(1, "several sessions");
	ctl("transcript");
	failed(64, "'transcript' needs ID [--html]");
	ctl("list --html");
	failed(64, "'list' does not take --html");
	ctl("transcript " SESSION_A " --html --json");
	failed(64, "--html excludes --json and --text");
}
END_TEST

START_TEST(watch_shows_what_an_agent_says_and_the_end_of_its_turn)
{
	given_run();
	given_line("text", "NULL", "'Long ago.'", "NULL", AT(3));
	shell("mkfifo $HOME/answers; exec 5<>$HOME/answers;"
	      " (exec 5>&-; ctl $DB watch <$HOME/answers >$HOME/seen) & watching=$!;"
	      " await seen 'nothing waits';"
	      " sqlite3 $HOME/state/intercom.db \"INSERT INTO agent_line (run_seq, turn_seq, kind,"
	      " text, at, over_at) VALUES (1, 1, 'text', 'It is ' || char(27) || '[1mmended.',"
	      " '" AT(4) "', '" AT(
	          4) "')\";"
	             " await seen 'mended.';"
	             " sqlite3 $HOME/state/intercom.db \"UPDATE agent_turn SET stop = 'end_turn',"
	             " ended_at = '" AT(5) "'\";"
	                                   " await seen 'has ended its turn'; exec 5>&-; wait "
	                                   "$watching; cat $HOME/seen");
	ck_assert_msg(status == 0, "%s", str_text(&err_out));
	says("\nagent of session 01900000-0000: claude says\n  | It is <U+001B>[1mmended.\n");
	says("\nagent of session 01900000-0000: claude has ended its turn;"
	     " agent-intercom-ctl steer 01900000-0000 TEXT is its next prompt\n");
	says_not("Long ago.");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ctl_transcript");
	TCase *c = tcase_create("transcript");

	tcase_set_timeout(c, 60);
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, a_transcript_is_all_of_a_session_in_order);
	tcase_add_test(c, words_that_were_a_prompt_are_said_once_with_who_said_them);
	tcase_add_test(c, an_agent_on_mcp_has_a_transcript_of_its_calls_questions_and_words);
	tcase_add_test(c, a_transcript_as_a_page_is_escaped_and_stands_alone);
	tcase_add_test(c, a_transcript_as_json_is_an_object_a_line);
	tcase_add_test(c, nothing_that_an_agent_says_acts_on_a_terminal_or_a_page);
	tcase_add_test(c, a_session_that_has_ended_has_a_transcript_by_its_short_id);
	tcase_add_test(c, watch_says_which_words_no_agent_was_told);
	tcase_add_test(c, a_transcript_needs_one_session);
	tcase_add_test(c, watch_shows_what_an_agent_says_and_the_end_of_its_turn);
	suite_add_tcase(s, c);
	return run_suite(s);
}
