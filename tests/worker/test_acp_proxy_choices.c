/* `agent-intercom acp`: permissions to which there is not one yes. */
#include "acp_proxy_case.h"

#include "site.h"

#include <string.h>

static const char LINE[] =
    "{\"id\":1,\"method\":\"session/request_permission\",\"params\":{\"sessionId\":\"s1\","
    "\"toolCall\":{\"toolCallId\":\"c\",\"kind\":\"execute\",\"rawInput\":{\"command\":\"make\"}},"
    "\"options\":[{\"optionId\":\"a\",\"name\":\"Plan A\",\"kind\":\"allow_once\"},"
    "{\"optionId\":\"b\",\"name\":\"Plan B\",\"kind\":\"allow_once\"},"
    "{\"optionId\":\"c\",\"name\":\"Always\",\"kind\":\"allow_always\"},"
    "{\"optionId\":\"n\",\"name\":\"Neither\",\"kind\":\"reject_once\"}]}}";

static struct asked given_choice(struct trio *a)
{
	struct asked q;

	party_say(&a->agent, LINE);
	q = front_hears(a);
	front_asks(&q, true);
	hears(&a->editor, LINE);
	return q;
}

static void front_chooses(struct asked *q, const char *decision, const char *choice)
{
	OWNED(str) struct str line = { 0 };

	str_addf(&line,
	         "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"decision\":\"%s\",\"choice\":%s}}",
	         decision, choice);
	front_says(q, line.bytes);
}

START_TEST(the_answer_that_was_chosen_reaches_the_agent)
{
	static const struct {
		const char *decision, *choice, *heard;
	} CASES[] = {
		{ "allow", "\"b\"", "b" },     { "deny", "\"n\"", "n" },
		{ "deny", "null", "n" },       { "deny", "\"a\"", "n" },
		{ "none", "\"a\"", "n" },      { "allow", "null", "n" }, /* which one? */
		{ "allow", "\"other\"", "n" },
	};
	struct trio a = given_trio(NULL);

	for (size_t i = 0; i < COUNT(CASES); i++) {
		struct asked q = given_choice(&a);

		has(q.params, "params.input.tool_input.options.1.name", "Plan B");
		front_chooses(&q, CASES[i].decision, CASES[i].choice);
		hears(&a.agent, chosen("1", CASES[i].heard));
		hears_part(&a.editor, "$/cancel_request");
		party_say(&a.editor, chosen("1", "a")); /* too late */
		asked_clear(&q);
	}
	trio_ends(&a, 0);
}
END_TEST

START_TEST(what_the_editor_chooses_counts_unless_it_was_the_second)
{
	struct trio a = given_trio(NULL);
	struct asked q = given_choice(&a);

	party_say(&a.editor, chosen("1", "b"));
	front_takes(&q, "approve", "applied");
	front_chooses(&q, "allow", "null");
	hears(&a.agent, chosen("1", "b"));
	asked_clear(&q);
	q = given_choice(&a);
	party_say(&a.editor, chosen("1", "b"));
	front_takes(&q, "approve", "duplicate");
	front_chooses(&q, "allow", "\"a\"");
	hears(&a.agent, chosen("1", "a"));
	asked_clear(&q);
	q = given_choice(&a);
	party_say(&a.editor, chosen("1", "c"));
	front_takes(&q, "approve", "duplicate");
	front_chooses(&q, "deny", "null");
	hears(&a.agent, chosen("1", "n"));
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

/* It is not known what such an answer allows: so not what the editor is asked for next. */
START_TEST(an_answer_of_another_kind_is_passed_on_as_the_editor_gives_it)
{
	static const char OTHER[] =
	    "{\"id\":1,\"method\":\"session/request_permission\",\"params\":{\"sessionId\":"
	    "\"s1\",\"toolCall\":{\"toolCallId\":\"c\",\"kind\":\"execute\",\"rawInput\":{"
	    "\"command\":\"make\"}},\"options\":["
	    "{\"optionId\":\"y\",\"name\":\"Yes\",\"kind\":\"allow_once\"},"
	    "{\"optionId\":\"q\",\"name\":\"Quietly\",\"kind\":\"quiet\"},"
	    "{\"optionId\":\"n\",\"name\":\"No\",\"kind\":\"reject_once\"}]}}";
	struct trio a = given_trio(NULL);
	struct asked q, next;

	party_say(&a.agent, OTHER);
	q = front_hears(&a);
	front_asks(&q, true);
	hears(&a.editor, OTHER);
	party_say(&a.editor, chosen("1", "q"));
	front_takes(&q, "approve", "applied");
	front_chooses(&q, "allow", "null");
	hears(&a.agent, chosen("1", "q"));
	party_say(&a.agent, terminal("2", "\"command\":\"make\""));
	next = front_hears(&a);
	asked_clear(&q);
	asked_clear(&next);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(who_is_not_offered_the_only_yes_is_told_that_it_exists)
{
	static const char ALWAYS[] =
	    "{\"id\":1,\"method\":\"session/request_permission\",\"params\":{\"sessionId\":"
	    "\"s1\",\"toolCall\":{\"toolCallId\":\"c\",\"kind\":\"execute\",\"rawInput\":{"
	    "\"command\":\"make\"}},\"options\":["
	    "{\"optionId\":\"a\",\"name\":\"For good\",\"kind\":\"allow_always\"},"
	    "{\"optionId\":\"n\",\"name\":\"No\",\"kind\":\"reject_once\"}]}}";
	struct trio a = given_trio(NULL);
	struct asked q;

	party_say(&a.agent, ALWAYS);
	q = front_hears(&a);
	says(q.params,
	     "1. No\\nIts only yes allows it always, and is not offered here: For good\"");
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

static struct trio given_trio_that_asks(const struct site *s)
{
	struct trio a = trio_start(s->workspace, s->database, NULL);

	opened(&a, a.folder, "s1");
	party_say(&a.agent, LINE);
	hears(&a.editor, LINE);
	expect_soon("SELECT count(*) FROM gate_call WHERE decision = 'open'", "1\n");
	return a;
}

START_TEST(an_operator_chooses_by_number)
{
	struct site s = given_site();
	struct trio a;
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *id = NULL;

	ck_assert_int_eq(shell(NULL, "mkdir -p '%s/.intercom'", s.workspace), 0);
	put_file(s.workspace, ".intercom/settings.json", /* none of its rules says which */
	         "{\"enabled\":true,\"commands\":[\"make\"],\"tools\":[\"permission\"]}");
	site_start(&s);
	a = given_trio_that_asks(&s);
	id = rows("SELECT id FROM request");
	ck_assert_int_ne(ctl(&said, "approve %.36s 2>&1", id), 0);
	says(str_text(&said), "choose one by its number");
	str_reset(&said);
	ck_assert_int_eq(ctl(&said, "choose %.36s 2 2>&1", id), 0);
	hears(&a.agent, chosen("1", "b"));
	hears_part(&a.editor, "$/cancel_request");
	expect("SELECT verdict, choice, outcome FROM decision WHERE outcome = 'applied'",
	       "approve|b|applied\n");
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(an_edit_to_which_there_are_several_yeses_is_shown_as_its_effect)
{
	struct site s = given_site();
	OWNED(str) struct str line = { 0 }, said = { 0 };
	OWNED(char_ptr) char *id = NULL;
	struct trio a;

	ck_assert_int_eq(shell(NULL, "mkdir -p '%s/.intercom'", s.workspace), 0);
	put_file(s.workspace, ".intercom/settings.json",
	         "{\"enabled\":true,\"file_patterns\":{\"write\":[\"**\"]},\"tools\":[\"*\"]}");
	put_file(s.workspace, "a.txt", "one\ntwo\n");
	site_start(&s);
	a = trio_start(s.workspace, s.database, NULL);
	opened(&a, a.folder, "s1");
	str_addf(&line,
	         "{\"id\":1,\"method\":\"session/request_permission\",\"params\":{\"sessionId\":"
	         "\"s1\",\"toolCall\":{\"toolCallId\":\"c\",\"kind\":\"edit\",\"title\":\"Edit\","
	         "\"content\":[{\"type\":\"diff\",\"path\":\"%s/a.txt\",\"oldText\":\"two\","
	         "\"newText\":\"three\"}]},"
	         "\"options\":[{\"optionId\":\"a\",\"name\":\"Plan A\",\"kind\":\"allow_once\"},"
	         "{\"optionId\":\"b\",\"name\":\"Plan B\",\"kind\":\"allow_once\"},"
	         "{\"optionId\":\"n\",\"name\":\"Neither\",\"kind\":\"reject_once\"}]}}",
	         s.workspace);
	party_say(&a.agent, line.bytes);
	hears(&a.editor, line.bytes);
	expect_soon("SELECT file_path, risk_level, instr(effect, '-two') > 0,"
	            " instr(effect, '+three') > 0, instr(effect, 'Plan') FROM request",
	            "a.txt|low|1|1|0\n");
	id = rows("SELECT id FROM request");
	ck_assert_int_eq(ctl(&said, "choose %.36s 2 2>&1", id), 0);
	hears(&a.agent, chosen("1", "b"));
	expect("SELECT choice FROM decision", "b\n");
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

/* A permission with these options, of a system in which a policy allows `make`. */
static struct trio given_asked(struct site *s, const char *title, const char *description,
                               const char *options)
{
	OWNED(str) struct str line = { 0 };
	struct trio a;

	*s = given_site();
	ck_assert_int_eq(shell(NULL, "mkdir -p '%s/.intercom'", s->workspace), 0);
	put_file(s->workspace, ".intercom/settings.json",
	         "{\"enabled\":true,\"commands\":[\"make\"]}");
	site_start(s);
	a = trio_start(s->workspace, s->database, NULL);
	opened(&a, a.folder, "s1");
	str_addf(
	    &line,
	    "{\"id\":1,\"method\":\"session/request_permission\",\"params\":{\"sessionId\":"
	    "\"s1\",\"title\":\"%s\",\"description\":\"%s\",\"toolCall\":{\"toolCallId\":\"c\","
	    "\"kind\":\"execute\",\"rawInput\":{\"command\":\"make clean\"}},\"options\":[%s]}}",
	    title, description, options);
	party_say(&a.agent, line.bytes);
	hears(&a.editor, line.bytes);
	expect_soon("SELECT count(*) FROM gate_call WHERE decision = 'open'", "1\n");
	return a;
}

START_TEST(what_accept_answers_is_told_where_its_name_is_not_plain)
{
	struct site s;
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *id = NULL;
	struct trio a = given_asked(
	    &s, "Run", "",
	    "{\"optionId\":\"x\",\"name\":\"Reject this and stop\",\"kind\":\"allow_once\"},"
	    "{\"optionId\":\"z\",\"name\":\"Allow\",\"kind\":\"reject_once\"}");

	expect(
	    "SELECT q.options ->> '$[0].name', q.options ->> '$[1].name' FROM request_offer AS q",
	    "Reject this and stop|Allow\n");
	id = rows("SELECT id FROM request");
	ck_assert_int_eq(ctl(&said, "show %.36s 2>&1", id), 0);
	says(str_text(&said), "1. Reject this and stop\\n2. Allow");
	ck_assert_int_eq(ctl(&said, "approve %.36s 2>&1", id), 0);
	hears(&a.agent, chosen("1", "x"));
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(a_policy_answers_with_the_only_yes_whatever_its_name)
{
	struct site s;
	struct trio a =
	    given_asked(&s, "Run", "",
	                "{\"optionId\":\"x\",\"name\":\"Once\",\"kind\":\"allow_once\"},"
	                "{\"optionId\":\"z\",\"name\":\"Not now\",\"kind\":\"reject_once\"}");

	approve_all();
	hears(&a.agent, chosen("1", "x"));
	hears_part(&a.editor, "$/cancel_request");
	party_say(
	    &a.agent,
	    "{\"id\":2,\"method\":\"session/request_permission\",\"params\":{\"sessionId\":"
	    "\"s1\",\"toolCall\":{\"toolCallId\":\"d\",\"kind\":\"execute\",\"rawInput\":{"
	    "\"command\":\"make\"}},\"options\":[{\"optionId\":\"x\",\"name\":\"Once\",\"kind\":"
	    "\"allow_once\"},{\"optionId\":\"z\",\"name\":\"Not now\",\"kind\":"
	    "\"reject_once\"}]}}");
	hears(&a.agent, chosen("2", "x"));
	expect("SELECT count(*) FROM request", "1\n");
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(a_permission_with_many_answers_is_a_card_that_lists_all_of_them)
{
	enum { MANY = 100 };
	OWNED(str) struct str options = { 0 }, said = { 0 };
	OWNED(char_ptr) char *id = NULL, *digest = NULL;
	struct site s;
	struct trio a;

	for (int i = 1; i <= MANY; i++)
		str_addf(&options,
		         "%s{\"optionId\":\"o%d\",\"name\":\"Opt %d\",\"kind\":\"allow_once\"}",
		         i > 1 ? "," : "", i, i);
	a = given_asked(&s, "Clean\\nAnswers: 1", "Not much.\\n\\nAnswers:\\n1. No", options.bytes);
	expect(
	    "SELECT title, body, instr(description, 'Clean'), instr(description, 'Not much.') > 0,"
	    " substr(description, -notes_length, 27),"
	    " description LIKE '%\n99. Opt 99\n100. Opt 100' FROM request",
	    "permission Clean (+1 line)|make clean|1|1|Risk: high\n\nAnswers:\n1. Opt|1\n");
	id = rows("SELECT id FROM request");
	ck_assert_int_ne(ctl(&said, "choose %.36s 100 2>&1", id), 0);
	says(str_text(&said), "the inbox does not show all");
	digest = rows("SELECT digest FROM request");
	str_reset(&said);
	ck_assert_int_eq(ctl(&said, "--text choose %.36s 100 --digest %.64s 2>&1", id, digest), 0);
	says(str_text(&said), "permission Clean (+1 line)");
	ck_assert_ptr_null(strstr(str_text(&said), "{"));
	hears(&a.agent, chosen("1", "o100"));
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(an_editor_chooses_also_what_no_operator_is_offered)
{
	struct site s = given_running_site();
	struct trio a = given_trio_that_asks(&s);

	party_say(&a.editor, chosen("1", "c"));
	hears(&a.agent, chosen("1", "c"));
	expect("SELECT verdict, outcome, source, reason FROM decision",
	       "approve|applied|editor|always, in the editor: Always\n");
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(in_remote_mode_no_editor_chooses)
{
	struct site s = given_running_site();
	struct trio a = given_trio_that_asks(&s);

	given_mode("remote");
	party_say(&a.editor, chosen("1", "b"));
	expect_soon("SELECT source, outcome FROM decision", "editor|not_in_this_mode\n");
	hears_nothing_but_marks(&a);
	expect("SELECT state FROM request", "pending\n");
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("acp_proxy_choices");
	TCase *c = store_case(s, "acp_proxy_choices", 90);

	tcase_add_test(c, the_answer_that_was_chosen_reaches_the_agent);
	tcase_add_test(c, what_the_editor_chooses_counts_unless_it_was_the_second);
	tcase_add_test(c, an_answer_of_another_kind_is_passed_on_as_the_editor_gives_it);
	tcase_add_test(c, who_is_not_offered_the_only_yes_is_told_that_it_exists);
	tcase_add_test(c, an_operator_chooses_by_number);
	tcase_add_test(c, an_edit_to_which_there_are_several_yeses_is_shown_as_its_effect);
	tcase_add_test(c, what_accept_answers_is_told_where_its_name_is_not_plain);
	tcase_add_test(c, a_policy_answers_with_the_only_yes_whatever_its_name);
	tcase_add_test(c, a_permission_with_many_answers_is_a_card_that_lists_all_of_them);
	tcase_add_test(c, an_editor_chooses_also_what_no_operator_is_offered);
	tcase_add_test(c, in_remote_mode_no_editor_chooses);
	return run_suite(s);
}
