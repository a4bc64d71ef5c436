/* Which sessions an agent behind `agent-intercom acp` can act for: those that its editor knows,
 * where it opened them. */
#include "acp_proxy_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char MAKE[] =
    "{\"id\":\"m\",\"method\":\"terminal/create\",\"params\":{\"sessionId\":\"%s\","
    "\"command\":\"make\"}}";

static const char *make_of(const char *session)
{
	static char line[200];

	(void)snprintf(line, sizeof(line), MAKE, session);
	return line;
}

/* The agent has a command run, and is asked about it in this folder. */
static void is_judged_in(struct trio *a, const char *session, const char *folder)
{
	struct asked q;

	party_say(&a->agent, make_of(session));
	q = front_hears(a);
	has(q.params, "params.input.cwd", folder);
	front_decides(&q, "deny", "no");
	hears_part(&a->agent, "-32001");
	asked_clear(&q);
}

static void is_refused(struct trio *a, const char *session)
{
	party_say(&a->agent, make_of(session));
	hears_part(&a->agent, "its editor has opened no such session");
	hears_nothing_but_marks(a);
}

START_TEST(a_session_works_where_its_editor_opened_it)
{
	struct trio a = given_trio_without_session(NULL);

	opened(&a, "/tmp", "s1");
	is_judged_in(&a, "s1", "/tmp");
	trio_ends(&a, 0);
}
END_TEST

START_TEST(an_editor_that_opens_a_session_in_no_absolute_folder_is_told)
{
	struct trio a = given_trio_without_session(NULL);

	party_say(&a.editor, "{\"id\":7,\"method\":\"session/new\",\"params\":{\"cwd\":\"src\","
	                     "\"mcpServers\":[]}}");
	hears_part(&a.editor, "\"message\":\"cwd must be an absolute path\"");
	hears_nothing_but_marks(&a);
	opened(&a, "/tmp", "s1");
	is_judged_in(&a, "s1", "/tmp");
	trio_ends(&a, 0);
}
END_TEST

START_TEST(an_agent_cannot_act_for_a_session_that_no_editor_opened)
{
	static const char NONE[] =
	    "{\"id\":\"m\",\"method\":\"terminal/create\",\"params\":{\"command\":\"make\"}}";
	struct trio a = given_trio(NULL);

	is_refused(&a, "s2");
	party_say(&a.agent, NONE);
	hears_part(&a.agent, "its editor has opened no such session");
	hears_nothing_but_marks(&a);
	is_judged_in(&a, "s1", a.folder);
	trio_ends(&a, 0);
}
END_TEST

/* To some reader, each names s1. */
START_TEST(an_answer_that_hides_the_session_that_it_opens_does_not_reach_the_editor)
{
	static const char *const ANSWERS[] = {
		"{\"id\":7,\"result\":{\"sessionId\":\"a\",\"sessionId\":\"s1\"}}",
		"{\"id\":7,\"result\":{\"sessionId\":\"a\"},\"result\":{\"sessionId\":\"s1\"}}",
		"{\"id\":7,\"result\":{\"_meta\":{\"a\":\"\\ud800\"},\"sessionId\":\"s1\"}}",
		"{\"id\":7,\"result\":{\"sessionId\":1}}",
		"{\"id\":7,\"result\":{\"sessionId\":\"\"}}",
		"{\"id\":7,\"result\":{\"sessionId\":\"s1\\u0000\"}}",
		"{\"id\":7,\"result\":{}}",
		"{\"id\":7,\"result\":null}",
		"{\"id\":7}",
		"{\"id\":\"7\",\"result\":{\"sessionId\":\"s1\"}}",
		"{\"id\":7,\"method\":\"_x\",\"result\":{\"sessionId\":\"s1\"}}",
		"{\"id\":7,\"method\":null,\"result\":{\"sessionId\":\"s1\"}}",
		"{\"id\":7,\"result\":{\"sessionId\":\"a\"},\"Result\":{\"sessionId\":\"s1\"}}",
	};
	struct trio a = given_trio_without_session(NULL);

	for (size_t i = 0; i < COUNT(ANSWERS); i++) {
		OWNED(char_ptr) char *got = NULL;

		editor_opens(&a, "/tmp", ANSWERS[i]);
		got = party_hear(&a.editor);
		ck_assert_msg(got && strstr(got, "\"id\":7,\"error\":{\"code\":-32603"), "%s: %s",
		              ANSWERS[i], got);
		hears_nothing_but_marks(&a);
		is_refused(&a, "s1");
		is_refused(&a, "a");
	}
	opened(&a, "/tmp", "s1");
	is_judged_in(&a, "s1", "/tmp");
	trio_ends(&a, 0);
}
END_TEST

START_TEST(no_reader_finds_an_answer_to_an_opening_within_a_line)
{
	static const char OPENED[] = "{\"x\":\r{\"id\":7,\"result\":{\"sessionId\":\"s1\"}}\r}";
	struct trio a = given_trio_without_session(NULL);

	editor_opens(&a, "/tmp", OPENED);
	hears_part(&a.agent, "differently");
	hears_nothing_but_marks(&a);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(an_agent_cannot_move_a_session_to_another_folder)
{
	static const char AGAIN[] = "{\"id\":7,\"result\":{\"sessionId\":\"s1\"}}";
	struct trio a = given_trio(NULL);

	editor_opens(&a, "/tmp", AGAIN);
	hears_part(&a.editor, "\"error\"");
	is_judged_in(&a, "s1", a.folder);
	opened(&a, a.folder, "s1");
	opened(&a, "/tmp", "s2");
	party_say(&a.agent, AGAIN); /* a second answer */
	hears_nothing_but_marks(&a);
	is_judged_in(&a, "s2", "/tmp");
	is_judged_in(&a, "s1", a.folder);
	trio_ends(&a, 0);
}
END_TEST

static void editor_asks(struct trio *a, const char *method, const char *session, const char *answer)
{
	OWNED(str) struct str line = { 0 };

	str_addf(&line,
	         "{\"id\":9,\"method\":\"%s\",\"params\":{\"sessionId\":\"%s\",\"cwd\":\"/tmp\"}}",
	         method, session);
	party_say(&a->editor, line.bytes);
	hears(&a->agent, line.bytes);
	party_say(&a->agent, answer);
	hears(&a->editor, answer);
}

START_TEST(a_session_that_is_loaded_works_where_it_was_loaded)
{
	struct trio a = given_trio(NULL);

	editor_asks(&a, "session/load", "s2", "{\"id\":9,\"result\":null}");
	is_judged_in(&a, "s2", "/tmp");
	editor_asks(&a, "session/resume", "s3", "{\"id\":9,\"result\":{\"modes\":null}}");
	is_judged_in(&a, "s3", "/tmp");
	editor_asks(&a, "session/load", "s1", "{\"id\":9,\"error\":{\"code\":1,\"message\":\"\"}}");
	is_judged_in(&a, "s1", a.folder); /* as it was */
	editor_asks(&a, "session/list", "s1", "{\"id\":9,\"result\":{\"sessions\":[]}}");
	is_judged_in(&a, "s1", a.folder);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(a_fork_works_in_its_own_folder_and_leaves_its_origin_there)
{
	struct trio a = given_trio(NULL);

	editor_asks(&a, "session/fork", "s1", "{\"id\":9,\"result\":{\"sessionId\":\"s2\"}}");
	is_judged_in(&a, "s2", "/tmp");
	is_judged_in(&a, "s1", a.folder);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(what_is_told_of_a_session_before_its_opening_is_answered_belongs_to_it)
{
	static const char UPDATE[] =
	    "{\"method\":\"session/update\",\"params\":{\"sessionId\":\"s1\",\"update\":{"
	    "\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"c7\",\"kind\":\"execute\","
	    "\"title\":\"T\",\"rawInput\":{\"command\":\"make all\"}}}}";
	static const char OPENED[] = "{\"id\":7,\"result\":{\"sessionId\":\"s1\"}}";
	struct trio a = given_trio_without_session(NULL);
	struct asked q;

	editor_opens(&a, "/tmp", UPDATE);
	hears(&a.editor, UPDATE);
	is_refused(&a, "s1"); /* whose editor does not know it yet */
	party_say(&a.agent, OPENED);
	hears(&a.editor, OPENED);
	party_say(&a.agent, permission("0", "{\"toolCallId\":\"c7\"}"));
	q = front_hears(&a);
	has(q.params, "params.input.tool_input.command", "make all");
	has(q.params, "params.input.cwd", "/tmp");
	front_decides(&q, "allow", "");
	hears(&a.agent, chosen("0", "yes"));
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(an_opening_that_the_agent_refuses_is_told_as_it_is)
{
	static const char NO[] = "{\"id\":7,\"error\":{\"code\":-32000,\"message\":\"log in\"}}";
	struct trio a = given_trio_without_session(NULL);

	editor_opens(&a, "/tmp", NO);
	hears(&a.editor, NO);
	editor_opens(&a, "/tmp", "{\"id\":7,\"method\":\"_x\"}"); /* a request of its own */
	hears(&a.editor, "{\"id\":7,\"method\":\"_x\"}");
	opened(&a, "/tmp", "s1");
	trio_ends(&a, 0);
}
END_TEST

START_TEST(a_cancelled_turn_gives_up_no_question_of_another_session)
{
	static const char CANCEL[] =
	    "{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"s2\"}}";
	struct trio a = given_trio(NULL);
	const char *line = write_of(&a, "2", "x", "x");
	struct asked write;

	opened(&a, "/tmp", "s2");
	party_say(&a.agent, line);
	write = front_hears(&a);
	front_asks(&write, true);
	party_say(&a.editor, CANCEL);
	hears(&a.agent, CANCEL);
	hears_nothing_but_marks(&a);
	front_decides(&write, "allow", "");
	hears(&a.editor, line);
	asked_clear(&write);
	trio_ends(&a, 0);
}
END_TEST

static const char CANCEL[] =
    "{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{\"sessionId\":\"s1\"}}";
static const char CANCELLED[] =
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"outcome\":{\"outcome\":\"cancelled\"}}}";

static void turn_is_cancelled(struct trio *a)
{
	party_say(&a->editor, CANCEL);
	hears(&a->agent, CANCEL);
}

START_TEST(after_its_turn_was_cancelled_an_answer_that_does_not_count_is_told_as_cancelled)
{
	struct trio a = given_trio(NULL);
	struct asked q = given_permission(&a, "1");

	if (_i == 0)
		turn_is_cancelled(&a);
	party_say(&a.editor, chosen("1", "yes"));
	if (_i == 1)
		turn_is_cancelled(&a);
	hears_nothing_but_marks(&a);
	front_takes(&q, "approve", "not_in_this_mode");
	hears(&a.agent, CANCELLED);
	front_takes(&q, "withdraw", "applied");
	hears_nothing_but_marks(&a);
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(after_its_turn_was_cancelled_an_answer_that_is_unclear_is_told_as_cancelled)
{
	struct trio a = given_trio(NULL);
	struct asked q = given_permission(&a, "1");

	if (_i == 0)
		turn_is_cancelled(&a);
	party_say(&a.editor, "{\"id\":1,\"result\":{\"outcome\":{\"outcome\":\"selected\","
	                     "\"optionId\":\"yes\",\"OptionId\":\"no\"}}}");
	if (_i == 1)
		turn_is_cancelled(&a);
	hears(&a.agent, CANCELLED);
	hears_part(&a.editor, "$/cancel_request");
	front_takes(&q, "withdraw", "applied");
	hears_nothing_but_marks(&a);
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(what_would_be_asked_again_is_not_after_its_turn_was_cancelled)
{
	struct trio a = given_trio(NULL);
	struct asked q = given_permission(&a, "1");

	turn_is_cancelled(&a);
	front_says(&q, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"decision\":\"deny\","
	               "\"reason\":\"it has changed\",\"again\":true}}");
	hears(&a.agent, CANCELLED);
	hears_part(&a.editor, "$/cancel_request");
	front_takes(&q, "withdraw", "applied");
	hears_nothing_but_marks(&a);
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("acp_proxy_sessions");
	TCase *c = tcase_create("acp_proxy_sessions");

	tcase_set_timeout(c, 60);
	tcase_add_test(c, a_session_works_where_its_editor_opened_it);
	tcase_add_test(c, an_editor_that_opens_a_session_in_no_absolute_folder_is_told);
	tcase_add_test(c, an_agent_cannot_act_for_a_session_that_no_editor_opened);
	tcase_add_test(c, an_answer_that_hides_the_session_that_it_opens_does_not_reach_the_editor);
	tcase_add_test(c, no_reader_finds_an_answer_to_an_opening_within_a_line);
	tcase_add_test(c, an_agent_cannot_move_a_session_to_another_folder);
	tcase_add_test(c, a_session_that_is_loaded_works_where_it_was_loaded);
	tcase_add_test(c, a_fork_works_in_its_own_folder_and_leaves_its_origin_there);
	tcase_add_test(c, what_is_told_of_a_session_before_its_opening_is_answered_belongs_to_it);
	tcase_add_test(c, an_opening_that_the_agent_refuses_is_told_as_it_is);
	tcase_add_test(c, a_cancelled_turn_gives_up_no_question_of_another_session);
	suite_add_tcase(s, c);
	tcase_add_loop_test(
	    c, after_its_turn_was_cancelled_an_answer_that_does_not_count_is_told_as_cancelled, 0,
	    2);
	tcase_add_loop_test(
	    c, after_its_turn_was_cancelled_an_answer_that_is_unclear_is_told_as_cancelled, 0, 2);
	tcase_add_test(c, what_would_be_asked_again_is_not_after_its_turn_was_cancelled);
	return run_suite(s);
}
