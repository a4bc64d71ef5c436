/* `agent-intercom acp` with a whole system: what a person is asked, and whose answer counts. */
#include "acp_proxy_case.h"

#include "agent.h"
#include "site.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char COMMAND[] =
    "{\"toolCallId\":\"c1\",\"kind\":\"execute\",\"title\":\"Run\",\"rawInput\":{\"command\":"
    "\"npm test\"}}";

static struct trio given_trio_on(const struct site *s)
{
	return trio_start(s->workspace, s->database, NULL);
}

static void waits(int count)
{
	char text[20];

	(void)snprintf(text, sizeof(text), "%d\n", count);
	expect_soon("SELECT count(*) FROM request AS r JOIN tool_call AS t ON t.request_seq = r.seq"
	            " WHERE r.state = 'pending' AND t.state = 'waiting'",
	            text);
}

START_TEST(an_operator_answers_and_the_editor_is_told)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);
	const char *line = permission("0", COMMAND);

	party_say(&a.agent, line);
	hears(&a.editor, line);
	waits(1);
	expect("SELECT kind, title, body FROM request", "permission|npm test|npm test\n");
	approve_all();
	hears(&a.agent, chosen("0", "yes"));
	hears_part(&a.editor, "$/cancel_request");
	expect_soon("SELECT host, event, decision FROM gate_call",
	            "acp|session/request_permission|allow\n");
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(the_editor_answers_and_the_question_is_decided)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);
	const char *line = permission("0", COMMAND);

	party_say(&a.agent, line);
	hears(&a.editor, line);
	party_say(&a.editor, chosen("0", "no"));
	hears(&a.agent, chosen("0", "no"));
	expect("SELECT source, verdict, outcome FROM decision", "editor|reject|applied\n");
	expect("SELECT r.state FROM request AS r", "rejected\n");
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(in_remote_mode_the_editor_is_not_asked)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);
	const char *line = permission("0", COMMAND);

	party_say(&a.agent, line);
	hears(&a.editor, line);
	given("UPDATE session SET mode = mode"); /* the session is there */
	given_mode("remote");
	party_say(&a.editor, chosen("0", "yes"));
	expect_soon("SELECT source, outcome FROM decision", "editor|not_in_this_mode\n");
	waits(1);
	party_say(&a.agent, permission("1", "{\"toolCallId\":\"c2\",\"kind\":\"execute\","
	                                    "\"rawInput\":{\"command\":\"make\"}}"));
	waits(2);
	hears_nothing_but_marks(&a);
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(a_write_is_shown_as_its_effect_and_the_editor_writes_it)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);
	const char *line = write_of(&a, "8", "a.txt", "one\\nthree\\n");

	put_file(s.workspace, "a.txt", "one\ntwo\n");
	party_say(&a.agent, line);
	waits(1);
	expect("SELECT kind, file_path, instr(effect, '-two') > 0, instr(effect, '+three') > 0"
	       " FROM request",
	       "permission|a.txt|1|1\n");
	hears_nothing_but_marks(&a);
	approve_all();
	hears(&a.editor, line);
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(a_front_that_is_killed_while_a_question_waits_asks_nobody_twice)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);
	const char *line = permission("0", COMMAND);

	party_say(&a.agent, line);
	hears(&a.editor, line);
	waits(1);
	kill_and_await("mcp-front");
	waits(1);
	expect("SELECT count(*) FROM request", "1\n");
	party_say(&a.editor, chosen("0", "always"));
	hears(&a.agent, chosen("0", "always"));
	expect("SELECT source, outcome FROM decision", "editor|applied\n");
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(a_question_that_nobody_needs_is_gone)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);

	party_say(&a.agent, write_of(&a, "1", "x", "x"));
	party_say(&a.agent, permission("2", COMMAND));
	waits(2);
	free(party_hear(&a.editor));
	party_close(&a.editor);
	expect_soon("SELECT count(*) FROM request WHERE state = 'expired'", "2\n");
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(what_the_policy_allows_is_answered_at_once)
{
	struct site s = given_site();
	struct trio a;

	ck_assert_int_eq(shell(NULL, "mkdir -p '%s/.intercom'", s.workspace), 0);
	put_file(s.workspace, ".intercom/settings.json",
	         "{\"enabled\":true,\"commands\":[\"npm test\"]}");
	site_start(&s);
	a = given_trio_on(&s);
	party_say(&a.agent, permission("0", COMMAND));
	hears(&a.agent, chosen("0", "yes"));
	hears_nothing_but_marks(&a);
	expect("SELECT count(*) FROM request", "0\n");
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("acp_proxy_system");
	TCase *c = store_case(s, "acp_proxy_system", 90);

	tcase_add_test(c, an_operator_answers_and_the_editor_is_told);
	tcase_add_test(c, the_editor_answers_and_the_question_is_decided);
	tcase_add_test(c, in_remote_mode_the_editor_is_not_asked);
	tcase_add_test(c, a_write_is_shown_as_its_effect_and_the_editor_writes_it);
	tcase_add_test(c, a_front_that_is_killed_while_a_question_waits_asks_nobody_twice);
	tcase_add_test(c, a_question_that_nobody_needs_is_gone);
	tcase_add_test(c, what_the_policy_allows_is_answered_at_once);
	return run_suite(s);
}
