/* The answers that an agent offers of its own, and forms: the runner tells it what was chosen. The
 * agent is tests/fakes/fake_agent.c. */
#include "runner_case.h"

#include "agent.h"
#include "err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUN(id, command)                                                                           \
	"permit:{\"toolCallId\":\"" id "\",\"kind\":\"execute\",\"title\":\"git status\","         \
	"\"rawInput\":{\"command\":" command "}}"

/* ---- options ---- */

#define OPTION(id, name, kind)                                                                     \
	"{\"optionId\":\"" id "\",\"name\":\"" name "\",\"kind\":\"" kind "\"}"
#define MANY                                                                                                       \
	"options:[" OPTION("always", "Always", "allow_always") "," OPTION("a", "Once", "allow_once") "," OPTION(   \
	    "b", "In a sandbox",                                                                                   \
	    "allow_once") "," OPTION("", "Nameless",                                                               \
	                             "allow_once") "," OPTION("b", "Again",                                        \
	                                                      "allow_once") "," OPTION("n", "No",                  \
	                                                                               "reject_"                   \
	                                                                               "once") "," OPTION("never", \
	                                                                                                  "Never", \
	                                                                                                  "reject_always") "]"

START_TEST(the_answer_is_the_option_that_was_chosen)
{
	static const struct {
		const char *verdict, *choice, *told;
	} CASES[] = {
		{ "approve", "'b'", "\"optionId\":\"b\"" },
		{ "approve", "'a'", "\"optionId\":\"a\"" },
		{ "reject", "'never'", "\"optionId\":\"never\"" },
		{ "reject", "NULL", "\"optionId\":\"n\"" },
	};

	setup();
	(void)given_talk("v1", STEPS(MANY, RUN("o1", "\"make\""), RUN("o2", "\"make\""),
	                             RUN("o3", "\"make\""), RUN("o4", "\"make\"")));
	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(str) struct str sql = { 0 };

		str_addf(&sql, "SELECT state FROM request WHERE seq = %zu", i + 1);
		expect_soon(sql.bytes, "pending\n");
		str_reset(&sql);
		str_addf(&sql,
		         "INSERT INTO decision (request_id, verdict, choice)"
		         " SELECT id, '%s', %s FROM request WHERE state = 'pending'",
		         CASES[i].verdict, CASES[i].choice);
		given(sql.bytes);
		was_told(CASES[i].told, 1);
	}
	was_told("always", 0);
	expect("SELECT options FROM agent_question WHERE seq = 1",
	       "[{\"id\":\"a\",\"name\":\"Once\",\"kind\":\"allow_once\"},"
	       "{\"id\":\"b\",\"name\":\"In a sandbox\",\"kind\":\"allow_once\"},"
	       "{\"id\":\"n\",\"name\":\"No\",\"kind\":\"reject_once\"},"
	       "{\"id\":\"never\",\"name\":\"Never\",\"kind\":\"reject_always\"}]\n");
	expect("SELECT description FROM request WHERE seq = 1",
	       "Risk: high\n\nAnswers:\n1. Once\n2. In a sandbox\n3. No\n4. Never\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_long_option_is_described_to_its_end)
{
#define TEN(text) text text text text text text text text text text
	setup();
	(void)given_talk(
	    "v1", STEPS("options:[" OPTION("a", TEN(TEN("look, ")) "then push",
	                                   "allow_once") "," OPTION("b", "Once", "allow_once") "]",
	                RUN("o1", "\"make\"")));
	expect_soon("SELECT state FROM request", "pending\n");
	expect("SELECT description LIKE '%look, then push' || char(10) || '2. Once' FROM request",
	       "1\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(an_approval_that_names_none_of_several_options_is_refused)
{
	setup();
	(void)given_talk("v1", STEPS(MANY, RUN("o1", "\"make\"")));
	expect_soon("SELECT state FROM request", "pending\n");
	decide("approve", "NULL, NULL");
	expect("SELECT outcome, why FROM decision",
	       "wrong_verb|the agent offers several answers, choose one of: Once, In a sandbox\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(options_that_cannot_be_told_apart_are_no_question)
{
	setup();
	(void)given_talk("v1", STEPS("options:[]", RUN("o1", "\"make\""),
	                             "options:[{\"name\":\"Yes\",\"kind\":\"allow_once\"}]",
	                             RUN("o2", "\"make\"")));
	was_told("\"code\":-32602,\"message\":\"no options to choose from\"", 2);
	expect("SELECT count(*) FROM request", "0\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ---- forms ---- */

START_TEST(a_form_is_a_prompt_and_what_is_filled_in_is_told)
{
	static const struct {
		const char *verdict, *more, *told;
	} CASES[] = {
		{ "refine", "'Blue', '{\"colour\":\"b\"}'",
		  "{\"action\":\"accept\",\"content\":{\"colour\":\"b\"}}" },
		{ "stop", "NULL, NULL", "{\"action\":\"decline\"}" },
		{ "timeout", NULL, "{\"action\":\"cancel\"}" },
	};

	setup();
	(void)given_talk("v1", STEPS("form", "form", "form"));
	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(str) struct str sql = { 0 };

		str_addf(&sql, "SELECT kind, prompt_type, state FROM request WHERE seq = %zu",
		         i + 1);
		expect_soon(sql.bytes, "prompt|clarification|pending\n");
		str_reset(&sql);
		if (CASES[i].more)
			str_addf(&sql,
			         "INSERT INTO decision (request_id, verdict, instruction, choice)"
			         " SELECT id, '%s', %s FROM request WHERE state = 'pending'",
			         CASES[i].verdict, CASES[i].more);
		else
			str_add(&sql, "UPDATE request SET deadline_at ="
			              " strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"
			              " WHERE state = 'pending'");
		given(sql.bytes);
		if (!CASES[i].more)
			advance(61000); /* after a start nothing expires for a minute */
		was_told(CASES[i].told, 1);
	}
	expect("SELECT form FROM agent_question WHERE seq = 1",
	       "[{\"name\":\"colour\",\"title\":\"colour\",\"kind\":\"one\",\"required\":true,"
	       "\"choices\":[{\"id\":\"b\",\"name\":\"Blue\"},{\"id\":\"r\",\"name\":"
	       "\"Red\"}]}]\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* Says this at the terminal, of the request that waits; the exit status. */
static int types(struct str *said, int request, const char *verb, const char *words)
{
	const int64_t end = agent_ms() + AGENT_PATIENCE_MS;
	OWNED(str) struct str sql = { 0 };
	OWNED(char_ptr) char *id = xstrdup("");

	str_addf(&sql, "SELECT id FROM request WHERE state = 'pending' AND seq = %d", request);
	while (!*id && agent_ms() < end) {
		free(id);
		id = rows(sql.bytes);
	}
	str_reset(said);
	return ctl(said, "%s %.*s %s", verb, (int)strcspn(id, "\n"), id, words);
}

START_TEST(what_is_typed_chooses_an_option_or_fills_in_a_form)
{
	OWNED(str) struct str said = { 0 };

	setup();
	(void)given_talk("v1",
	                 STEPS(MANY, RUN("y1", "\"make\""), RUN("y2", "\"make\""), "form", "form"));
	ck_assert_int_ne(types(&said, 1, "choose", "7"), 0);
	ck_assert_int_eq(types(&said, 1, "choose", "2"), 0);
	was_told("\"optionId\":\"b\"", 1);
	ck_assert_int_ne(types(&said, 2, "approve", ""), 0);
	ck_assert_int_ne(types(&said, 2, "approve", "--option No"), 0);
	ck_assert_int_eq(types(&said, 2, "approve", "--option once"), 0);
	was_told("\"optionId\":\"a\"", 1);
	ck_assert_int_ne(types(&said, 3, "choose", "Green"), 0);
	ck_assert_int_ne(types(&said, 3, "continue", ""), 0);
	ck_assert_int_eq(types(&said, 3, "choose", "2"), 0);
	was_told("\"content\":{\"colour\":\"r\"}", 1);
	ck_assert_int_eq(types(&said, 4, "refine", "blue"), 0);
	was_told("\"content\":{\"colour\":\"b\"}", 1);
	expect("SELECT count(*) FROM decision WHERE outcome = 'applied'", "4\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* One that is none of the choices is no default. */
START_TEST(what_a_form_takes_where_nothing_is_said_is_shown_before)
{
	static const char FORM[] =
	    "form:{\"type\":\"object\",\"properties\":{\"branch\":{\"type\":\"string\"},"
	    "\"host\":{\"type\":\"string\",\"default\":\"prod\\nDefault: test\"},"
	    "\"count\":{\"type\":\"integer\",\"default\":3},"
	    "\"wipe\":{\"type\":\"boolean\",\"default\":true},"
	    "\"one\":{\"enum\":[\"a\",\"b\"],\"default\":\"c\"},"
	    "\"where\":{\"oneOf\":[{\"const\":\"x\",\"title\":\"Here\"},{\"const\":\"y\","
	    "\"title\":\"There\"}],\"default\":\"y\"},"
	    "\"some\":{\"type\":\"array\",\"items\":{\"enum\":[\"k\",\"l\",\"m\"]},"
	    "\"default\":[\"l\",\"z\",\"m\"]}},\"required\":[\"branch\"]}";
	OWNED(str) struct str said = { 0 };

	setup();
	(void)given_talk("v1", STEPS(FORM, "form:{\"type\":\"object\",\"properties\":{\"host\":"
	                                   "{\"type\":\"string\",\"default\":\"here\"}}}"));
	ck_assert_int_eq(types(&said, 1, "refine", "'branch: b'"), 0);
	expect(
	    "SELECT body GLOB '*“branch” (required)' || char(10, 10) || '“host”' || char(10)"
	    "       || 'Default: prod\\x0aDefault: test' || char(10, 10) || '“count”' || char(10)"
	    "       || 'Default: 3' || char(10, 10) || '“wipe”' || char(10) || 'Default: Yes*'"
	    "       || '“one”' || char(10) || '1. a*“where”' || char(10) || 'Default: There' || "
	    "char(10)"
	    "       || '1. Here*“some”' || char(10) || 'Default: l, m' || char(10) || '1. k*'"
	    " FROM request WHERE seq = 1",
	    "1\n");
	was_told("{\"branch\":\"b\",\"host\":\"prod\\nDefault: test\",\"count\":3,\"wipe\":true,"
	         "\"where\":\"y\",\"some\":[\"l\",\"m\"]}",
	         1);
	expect_soon("SELECT body LIKE '%' || char(10, 10) || 'Default: here' FROM request"
	            " WHERE seq = 2",
	            "1\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(who_does_not_name_an_option_or_refuses_with_a_yes_is_told_what_to_choose)
{
	OWNED(str) struct str said = { 0 };

	setup();
	(void)given_talk("v1", STEPS(MANY, RUN("o1", "\"make\"")));
	ck_assert_int_ne(types(&said, 1, "--text approve", ""), 0);
	says(said.bytes, "choose one by its number (`choose <number>`)");
	says(said.bytes, "\n  1. Once\n  2. In a sandbox\n  3. No\n  4. Never");
	ck_assert_int_ne(types(&said, 1, "--text reject", "--option 1"), 0);
	says(said.bytes, "nothing was done: 1. Once does not reject; to choose it: `choose ");
	says(said.bytes, " 1.`");
	ck_assert_int_ne(types(&said, 1, "approve", "--option 3"), 0);
	says(said.bytes, "nothing was done: 3. No is a rejection; to choose it: `choose ");
	ck_assert_int_eq(types(&said, 1, "reject", "--option 4"), 0);
	was_told("\"optionId\":\"never\"", 1);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_number_is_that_of_the_list_whatever_the_agent_has_called_its_answers)
{
	static const char OPTIONS[] = "options:[" OPTION("3", "Yes", "allow_once") "," OPTION(
	    "No", "In a sandbox", "allow_once") "," OPTION("1", "No", "reject_once") "]";
	static const char NUMBERS[] = "options:[" OPTION("x", "2", "allow_once") "," OPTION(
	    "y", "4", "allow_once") "," OPTION("n", "No", "reject_once") "]";
	OWNED(str) struct str said = { 0 };

	setup();
	(void)given_talk("v1", STEPS(OPTIONS, RUN("y1", "\"make\""), RUN("y2", "\"make\""), NUMBERS,
	                             RUN("y3", "\"make\""), RUN("y4", "\"make\"")));
	ck_assert_int_eq(types(&said, 1, "choose", "3"), 0);
	says(said.bytes, "\"chosen\":\"No\"");
	was_told("\"optionId\":\"1\"", 1);
	ck_assert_int_eq(types(&said, 2, "choose", "No"), 0); /* also the id of another */
	was_told("\"optionId\":\"1\"", 2);
	ck_assert_int_ne(types(&said, 3, "choose", "2"), 0); /* a number, and the name of another */
	says(said.bytes, "`choose 1.`");
	ck_assert_int_eq(types(&said, 3, "choose", "2."), 0);
	was_told("\"optionId\":\"y\"", 1);
	ck_assert_int_eq(types(&said, 4, "choose", "4"), 0);
	was_told("\"optionId\":\"y\"", 2);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(an_id_that_nobody_is_shown_is_never_what_a_person_means)
{
	static const char OPTIONS[] =
	    "options:[" OPTION("5", "Delete everything", "allow_once") "," OPTION(
	        "reject", "Wipe the disk", "allow_once") "," OPTION("x", "Keep", "reject_once") "]";
	static const char FORM[] =
	    "form:{\"type\":\"object\",\"properties\":{\"no\":{\"type\":\"string\","
	    "\"title\":\"Colour\",\"oneOf\":[{\"const\":\"no\",\"title\":\"Red\"},"
	    "{\"const\":\"b\",\"title\":\"Blue\"}]},\"m\":{\"type\":\"boolean\","
	    "\"title\":\"no\"}}}";
	static const char *const UNCLEAR[] = { "5", "reject", "no", "x" };
	OWNED(str) struct str said = { 0 };

	setup();
	(void)given_talk("v1", STEPS(OPTIONS, RUN("y1", "\"make\""), FORM));
	for (size_t i = 0; i < COUNT(UNCLEAR); i++) {
		ck_assert_int_ne(types(&said, 1, "choose", UNCLEAR[i]), 0);
		says(said.bytes, "1. Delete everything");
	}
	ck_assert_int_eq(types(&said, 1, "--text choose", "keep"), 0);
	says(said.bytes, "Chosen: 3. Keep, for ");
	was_told("\"optionId\":\"x\"", 1);
	ck_assert_int_ne(types(&said, 2, "refine", "'Colour: no'"), 0);
	says(said.bytes, "must be one of: 1. Red, 2. Blue");
	ck_assert_int_eq(types(&said, 2, "refine", "'Colour: 2; no: yes'"), 0);
	was_told("\"content\":{\"no\":\"b\",\"m\":true}", 1);
	expect("SELECT count(*) FROM decision", "2\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_yes_that_is_called_as_we_say_no_is_chosen_by_its_number_alone)
{
	static const char OPTIONS[] =
	    "options:[" OPTION("a", "Reject, and say why", "allow_once") "," OPTION(
	        "b", "STOP", "allow_once") "," OPTION("c", "Cancel",
	                                              "other") "," OPTION("n", "No",
	                                                                  "reject_"
	                                                                  "once") "]";
	static const char *const UNCLEAR[] = { "'Reject, and say why'", "reject, AND say why",
		                               "stop", "cancel" };
	OWNED(str) struct str said = { 0 };

	setup();
	(void)given_talk("v1", STEPS(OPTIONS, RUN("y1", "\"make\""), RUN("y2", "\"make\"")));
	for (size_t i = 0; i < COUNT(UNCLEAR); i++) {
		ck_assert_int_ne(types(&said, 1, "choose", UNCLEAR[i]), 0);
		says(said.bytes, "the agent calls an answer that does not reject '");
		says(said.bytes, "1. Reject, and say why");
	}
	ck_assert_int_eq(types(&said, 1, "choose", "No"), 0);
	was_told("\"optionId\":\"n\"", 1);
	ck_assert_int_eq(types(&said, 2, "choose", "1"), 0);
	was_told("\"optionId\":\"a\"", 1);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_reject_without_words_tells_the_agent_no_and_nothing_else)
{
	OWNED(str) struct str said = { 0 };

	setup();
	(void)given_talk("v1", STEPS("ask:a.c", "ask:b.c"));
	ck_assert_int_eq(types(&said, 1, "reject", ""), 0);
	ck_assert_int_eq(types(&said, 2, "reject", "--reason 'not this'"), 0);
	was_told("and said: not this", 1);
	expect("SELECT seq, reason FROM request WHERE seq < 3", "1|\n2|not this\n");
	expect("SELECT count(*) FROM agent_input WHERE kind = 'words'", "1\n");
	was_told("and said:", 1);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(an_option_of_no_kind_is_a_choice_and_neither_a_yes_nor_a_no)
{
	OWNED(str) struct str said = { 0 };

	setup();
	(void)given_talk("v1", STEPS("options:[{\"optionId\":\"y\",\"name\":\"Yes\"},"
	                             "{\"optionId\":\"n\",\"name\":\"No\"}]",
	                             RUN("k1", "\"make\"")));
	ck_assert_int_eq(types(&said, 1, "choose", "2"), 0);
	ck_assert_msg(strstr(str_text(&said), "\"chosen\":\"No\"") != NULL, "%s", said.bytes);
	was_told("\"optionId\":\"n\"", 1);
	OWNED(char_ptr) char *id = rows("SELECT id FROM request");
	id[strcspn(id, "\n")] = '\0';
	str_reset(&said);
	ck_assert_int_eq(ctl(&said, "show %s", id), 0);
	ck_assert_msg(strstr(str_text(&said), "\"chosen\":\"No\"") != NULL, "%s", said.bytes);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(of_what_may_only_be_allowed_for_ever_a_person_is_told_what_can_be_done)
{
	static const char *const TRIES[] = { "", "--option 1" };
	OWNED(str) struct str said = { 0 };

	setup();
	(void)given_talk("v1", STEPS("options:[" OPTION("always", "Always", "allow_always") "]",
	                             RUN("w1", "\"make\"")));
	for (size_t i = 0; i < COUNT(TRIES); i++) {
		ck_assert_int_ne(types(&said, 1, "approve", TRIES[i]), 0);
		ck_assert_msg(strstr(str_text(&said), "no answer that allows this once: ") &&
		                  strstr(said.bytes, "allow it where the agent is set up") &&
		                  !strstr(said.bytes, "`approve`"),
		              "%s", said.bytes);
	}
	ck_assert_int_eq(types(&said, 1, "reject", ""), 0);
	was_told("\"outcome\":\"cancelled\"", 1);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ---- its end ---- */

START_TEST(what_an_agent_withdraws_is_over_at_once_and_says_so)
{
	setup();
	(void)given_talk("v1", STEPS("withdraw"));
	expect_soon("SELECT state FROM request", "pending\n");
	put_file(site.workspace, "go", "");
	expect_soon("SELECT r.state, r.decided_by, q.why FROM request AS r"
	            " JOIN agent_question AS q ON q.request_seq = r.seq",
	            "expired|system:clock|the agent withdrew the question\n");
	was_told("\"outcome\":\"cancelled\"", 1);
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'approve' FROM request");
	expect("SELECT outcome, why FROM decision WHERE source = 'sql'",
	       "too_late|no answer is needed any longer: the agent withdrew the question\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("runner_choices");
	TCase *c = store_case(s, "choices", 60);

	tcase_add_test(c, the_answer_is_the_option_that_was_chosen);
	tcase_add_test(c, a_long_option_is_described_to_its_end);
	tcase_add_test(c, an_approval_that_names_none_of_several_options_is_refused);
	tcase_add_test(c, who_does_not_name_an_option_or_refuses_with_a_yes_is_told_what_to_choose);
	tcase_add_test(c, options_that_cannot_be_told_apart_are_no_question);
	tcase_add_test(c, a_form_is_a_prompt_and_what_is_filled_in_is_told);
	tcase_add_test(c, what_is_typed_chooses_an_option_or_fills_in_a_form);
	tcase_add_test(c, what_a_form_takes_where_nothing_is_said_is_shown_before);
	tcase_add_test(c, a_number_is_that_of_the_list_whatever_the_agent_has_called_its_answers);
	tcase_add_test(c, a_yes_that_is_called_as_we_say_no_is_chosen_by_its_number_alone);
	tcase_add_test(c, an_id_that_nobody_is_shown_is_never_what_a_person_means);
	tcase_add_test(c, a_reject_without_words_tells_the_agent_no_and_nothing_else);
	tcase_add_test(c, an_option_of_no_kind_is_a_choice_and_neither_a_yes_nor_a_no);
	tcase_add_test(c, of_what_may_only_be_allowed_for_ever_a_person_is_told_what_can_be_done);
	tcase_add_test(c, what_an_agent_withdraws_is_over_at_once_and_says_so);
	return run_suite(s);
}
