/* `agent-intercom acp` and a front that is there, but asks nobody: nothing is approved by that. */
#include "acp_proxy_case.h"

#include <string.h>
#include <unistd.h>

/* What a front says that is there, and has asked nobody. */
static const char *const FAILURES[] = {
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,\"message\":\"too late\"}}",
	"{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"too deep\"}}",
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"decision\":\"none\"}}",
	"{\"jsonrpc\"",
};

START_TEST(what_the_front_answers_with_an_error_is_denied_though_the_editor_says_yes)
{
	struct trio a = given_trio(NULL);

	for (size_t i = 0; i < COUNT(FAILURES); i++) {
		const char *line = permission("1", COMMAND);
		struct asked q, other;

		party_say(&a.agent, line);
		q = front_hears(&a);
		front_asks(&q, true);
		hears(&a.editor, line);
		party_say(&a.editor, chosen("1", "yes"));
		front_takes(&q, "approve", "not_found");
		front_says(&q, FAILURES[i]);
		hears(&a.agent, chosen("1", "no"));
		party_say(&a.agent, terminal("2", "\"command\":\"npm\",\"args\":[\"test\"]"));
		other = front_hears(&a);
		front_says(&other, FAILURES[i]);
		hears_part(&a.agent, "agent-intercom could not ask: ");
		hears_nothing_but_marks(&a);
		asked_clear(&q);
		asked_clear(&other);
	}
	trio_ends(&a, 0);
}
END_TEST

START_TEST(what_the_front_answers_with_an_error_is_not_left_to_the_editor)
{
	struct trio a = given_trio(NULL);

	for (size_t i = 0; i < COUNT(FAILURES); i++) {
		struct asked q;

		party_say(&a.agent, permission("1", COMMAND));
		q = front_hears(&a);
		front_says(&q, FAILURES[i]);
		hears(&a.agent, chosen("1", "no"));
		hears_nothing_but_marks(&a);
		asked_clear(&q);
	}
	trio_ends(&a, 0);
}
END_TEST

/* It may be slow, and in remote mode the editor's answer does not count. */
START_TEST(while_a_front_is_there_the_editors_answer_waits_for_it)
{
	struct trio a = given_trio(NULL);
	const char *line = permission("1", COMMAND);
	struct asked q;

	party_say(&a.agent, line);
	q = front_hears(&a);
	front_asks(&q, true);
	hears(&a.editor, line);
	party_say(&a.editor, chosen("1", "yes"));
	front_leaves(&a); /* for others */
	party_say(&a.agent, write_of(&a, "2", "x", "x"));
	hears_part(&a.agent, "agent-intercom cannot be reached");
	front_takes(&q, "approve", "not_in_this_mode");
	front_decides(&q, "deny", "no");
	hears(&a.agent, chosen("1", "no"));
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

/* For as long as another question takes to be left to the editor. Of a session that is paused, the
 * front says nothing. */
START_TEST(while_a_front_is_there_the_editor_shows_only_what_it_says)
{
	struct trio a = given_trio(NULL);
	const char *line = permission("2", COMMAND);
	struct asked q;

	party_say(&a.agent, permission("1", COMMAND));
	q = front_hears(&a);
	front_leaves(&a); /* for others */
	party_say(&a.agent, line);
	hears(&a.editor, line);
	hears_nothing_but_marks(&a);
	front_asks(&q, false);
	front_decides(&q, "allow", "");
	hears(&a.agent, chosen("1", "yes"));
	hears_nothing_but_marks(&a);
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

/* The editor's log of the agent has this. */
static void logs(const struct trio *a, const char *part)
{
	OWNED(str) struct str text = { 0 };
	char piece[4096];

	while (!text.length || !strstr(text.bytes, part)) {
		ssize_t n = read(a->err, piece, sizeof(piece));

		ck_assert_int_gt(n, 0);
		str_add_bytes(&text, piece, (size_t)n);
	}
}

/* The front ends whenever it reads the question. */
static void front_fails(struct trio *a)
{
	enum { TIMES = 10 };

	for (int i = 0; i < TIMES; i++) {
		struct asked q = front_hears(a);

		asked_clear(&q);
	}
}

START_TEST(what_no_front_survives_is_not_asked_for_ever)
{
	static const char *const OPTIONS[] = { NULL, "--when-down=deny" };

	for (size_t i = 0; i < COUNT(OPTIONS); i++) {
		struct trio a = given_trio(OPTIONS[i]);
		struct asked q;

		party_say(&a.agent, write_of(&a, "8", "a.txt", "mine"));
		front_fails(&a);
		hears_part(&a.agent, "agent-intercom fails whenever it is asked this");
		party_say(&a.agent, permission("1", COMMAND));
		front_fails(&a);
		if (!OPTIONS[i]) { /* the editor is asked alone */
			hears(&a.editor, permission("1", COMMAND));
			party_say(&a.editor, chosen("1", "yes"));
		}
		hears(&a.agent, chosen("1", OPTIONS[i] ? "no" : "yes"));
		party_say(&a.agent, permission("2", COMMAND)); /* others are asked as ever */
		q = front_hears(&a);
		front_decides(&q, "allow", "");
		hears(&a.agent, chosen("2", "yes"));
		asked_clear(&q);
		trio_ends(&a, 0);
	}
}
END_TEST

START_TEST(a_front_that_had_a_person_asked_may_be_lost_as_often_as_it_likes)
{
	enum { TIMES = 12 };
	struct trio a = given_trio(NULL);
	struct asked q;

	party_say(&a.agent, permission("1", COMMAND));
	for (int i = 0; i < TIMES; i++) {
		q = front_hears(&a);
		front_asks(&q, true);
		if (i == 0)
			hears(&a.editor, permission("1", COMMAND));
		hears_nothing_but_marks(&a);
		asked_clear(&q);
	}
	q = front_hears(&a);
	front_decides(&q, "allow", "");
	hears(&a.agent, chosen("1", "yes"));
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(why_a_permission_is_denied_is_in_the_editors_log)
{
	struct trio a = given_trio(NULL);
	struct asked q;

	party_say(&a.agent, permission("1", COMMAND));
	q = front_hears(&a);
	front_decides(&q, "deny", "nobody would see it whole");
	hears(&a.agent, chosen("1", "no"));
	logs(&a, "denied: nobody would see it whole");
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("acp_proxy_errors");
	TCase *c = tcase_create("acp_proxy_errors");

	tcase_set_timeout(c, 60);
	tcase_add_test(c,
	               what_the_front_answers_with_an_error_is_denied_though_the_editor_says_yes);
	tcase_add_test(c, what_the_front_answers_with_an_error_is_not_left_to_the_editor);
	tcase_add_test(c, while_a_front_is_there_the_editors_answer_waits_for_it);
	tcase_add_test(c, while_a_front_is_there_the_editor_shows_only_what_it_says);
	tcase_add_test(c, what_no_front_survives_is_not_asked_for_ever);
	tcase_add_test(c, a_front_that_had_a_person_asked_may_be_lost_as_often_as_it_likes);
	tcase_add_test(c, why_a_permission_is_denied_is_in_the_editors_log);
	suite_add_tcase(s, c);
	return run_suite(s);
}
