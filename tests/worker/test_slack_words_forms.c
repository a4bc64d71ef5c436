/* What operators write in Slack to agents that offer answers of their own, or ask for values. */
#include "agent.h"
#include "slack_peer.h"
#include "slack_words_case.h"

START_TEST(a_question_with_several_yeses_takes_a_number_and_one_with_a_yes_either)
{
	static const char *const CASES[][2] = {
		{ "allow_once", "takes `choose <number>`, `reject [why]`. To" },
		{ "reject_always", "takes `approve`, `choose <number>`, `reject [why]`. To" },
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(str) struct str sql = { 0 };

		slack();
		a_change(CHANGE);
		str_addf(
		    &sql,
		    "INSERT INTO agent_run (seq, session_seq, generation, machine, agent,"
		    " protocol, state, created_at) VALUES (1, 1, 1, 'h', 'claude', 'acp',"
		    " 'wanted', '2026-01-01T09:00:00.000Z');"
		    "INSERT INTO agent_question (request_seq, run_seq, rpc_id, digest, options)"
		    " SELECT seq, 1, '1', printf('%%064d', 1),"
		    " '[{\"id\":\"a\",\"name\":\"Once\",\"kind\":\"allow_once\"},"
		    "{\"id\":\"b\",\"name\":\"Other\",\"kind\":\"%s\"},"
		    "{\"id\":\"n\",\"name\":\"No\",\"kind\":\"reject_once\"}]' FROM request",
		    CASES[i][0]);
		given(sql.bytes);
		in_thread("2");
		replies(CASES[i][1]);
		in_thread("reject 2");
		replies(
		    "give 4 characters at least. To choose an answer by its number: `choose 2`");
		expect("SELECT state FROM request", "pending\n");
		slack_stop();
	}
}
END_TEST

START_TEST(a_choice_after_the_answer_is_told_how_it_stands_and_is_no_prompt)
{
	static const char *const LATE[] = { "choose 1", "choose 1.", "choose Once",
		                            "<@U0BOT> choose 1", "`choose 1`" };

	slack();
	a_change(CHANGE);
	given("INSERT INTO decision (request_id, verdict) VALUES ('" CHANGE "', 'approve')");
	for (size_t i = 0; i < COUNT(LATE); i++) {
		OWNED(str) struct str count = { 0 };

		in_thread(LATE[i]);
		replies("nothing waits for `choose`: 01911111-0000: Change a.c (a.c) was approved");
		replies("To tell the agent something: `steer <text>`");
		str_addf(&count, "%zu\n", i + 1);
		expect("SELECT count(*) FROM slack_message WHERE kind = 'reply'", count.bytes);
	}
	in_thread("choose 01911111-0000 1");
	replies("01911111-0000: Change a.c (a.c) was approved by ");
	expect("SELECT count(*) FROM steering", "0\n");
	slack_stop();
}
END_TEST

/* A question whose answer fills in these fields. */
static void a_form(const char *fields)
{
	OWNED(str) struct str sql = { 0 };

	a_prompt();
	str_addf(&sql,
	         "INSERT INTO agent_run (seq, session_seq, generation, machine, agent, protocol,"
	         " state, created_at) VALUES (1, 1, 1, 'h', 'claude', 'acp', 'wanted',"
	         " '2026-01-01T09:00:00.000Z');"
	         "INSERT INTO agent_question (request_seq, run_seq, rpc_id, digest, form)"
	         " SELECT seq, 1, '1', printf('%%064d', 1), '%s' FROM request",
	         fields);
	given(sql.bytes);
}

START_TEST(a_form_is_not_sent_with_its_defaults_alone)
{
	slack();
	a_form("[{\"name\":\"c\",\"title\":\"C\",\"kind\":\"text\",\"required\":false,"
	       "\"choices\":[],\"limits\":{\"default\":\"wipe\"}}]");
	in_thread("refine");
	replies("nothing was sent: give one value at least (`refine <value>`); the question lists");
	expect("SELECT state FROM request", "pending\n");
	in_thread("refine keep");
	expect("SELECT state FROM request", "answered\n");
	slack_stop();
}
END_TEST

START_TEST(a_fields_title_in_a_reply_is_one_line_of_code)
{
	slack();
	a_form("[{\"name\":\"n\",\"title\":\"n\\n*Approved*\",\"kind\":\"number\","
	       "\"required\":true},{\"name\":\"m\",\"title\":\"m\",\"kind\":\"text\"}]");
	in_thread("refine m: ok");
	replies("'`n\\x0a*Approved*`' is missing");
	in_thread("refine _ok_");
	replies("names no field; begin each with its name, as in `n: ...`: n, m");
	slack_stop();
}
END_TEST

#define FIELD(name, title, more)                                                                   \
	"{\"name\":\"" name "\",\"title\":\"" title "\",\"required\":true," more "}"
#define TEXT_FIELD(name, title) FIELD(name, title, "\"kind\":\"text\",\"choices\":[]")
#define NUMBER_FIELD                                                                               \
	"[" FIELD("p", "Port",                                                                     \
	          "\"kind\":\"number\",\"choices\":[],\"limits\":{\"integer\":true}") "]"
#define BRANCH_FIELD "[" TEXT_FIELD("b", "Branch") "]"
#define YES_NO                                                                                     \
	"\"kind\":\"boolean\",\"choices\":[{\"id\":\"true\",\"name\":\"Yes\"},{\"id\":\"false\","  \
	"\"name\":"                                                                                \
	"\"No\"}]"

START_TEST(a_single_value_may_stand_behind_its_fields_name)
{
	static const struct {
		const char *form, *said, *content;
	} CASES[] = {
		{ BRANCH_FIELD, "refine Branch: main", "{\"b\":\"main\"}\n" },
		{ BRANCH_FIELD, "refine branch = main", "{\"b\":\"main\"}\n" },
		{ BRANCH_FIELD, "refine Topic: main", "{\"b\":\"Topic: main\"}\n" },
		{ BRANCH_FIELD, "refine C: drive", "{\"b\":\"C: drive\"}\n" },
		{ NUMBER_FIELD, "refine Port: 8080", "{\"p\":8080}\n" },
		{ "[" FIELD("w", "Wipe all", YES_NO) "]", "refine wipe all: no",
		  "{\"w\":false}\n" },
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		slack();
		a_form(CASES[i].form);
		in_thread(CASES[i].said);
		expect("SELECT choice FROM decision", CASES[i].content);
		slack_stop();
	}
}
END_TEST

START_TEST(the_reply_to_a_form_says_what_was_filled_in)
{
	slack();
	a_form("[" TEXT_FIELD("b", "Branch") "," TEXT_FIELD("n", "*Note*") "]");
	in_thread("refine Branch: main; *Note*: _soon_");
	replies("Refined 01922222-0000: Go on?\nBranch: main\n`*Note*`: `_soon_`");
	slack_stop();
}
END_TEST

/* Ids of questions begin alike; a number that begins none of them is no mistyped id. */
START_TEST(a_number_of_several_digits_is_a_value)
{
	static const char *const REFUSED[] = { "refine 01911112", "refine 01911111-0001",
		                               "refine 20240131", "refine 3c78f5bd" };

	slack();
	a_form(NUMBER_FIELD);
	for (size_t i = 0; i < COUNT(REFUSED); i++) {
		in_thread(REFUSED[i]);
		replies("not found: no question has an id that begins with '");
		replies("\nIf that is your answer: `refine <id> ");
	}
	in_thread("refine 8080");
	expect("SELECT choice FROM decision WHERE outcome = 'applied'", "{\"p\":8080}\n");
	slack_stop();
}
END_TEST

START_TEST(a_number_that_begins_an_id_is_that)
{
	slack();
	a_form(NUMBER_FIELD);
	in_thread("refine 0192");
	replies("nothing was sent: give one value at least");
	expect("SELECT state FROM request", "pending\n");
	slack_stop();
}
END_TEST

START_TEST(what_is_no_answer_to_a_form_is_told_what_its_fields_take)
{
	static const char *const CASES[][2] = {
		{ NUMBER_FIELD, "takes `refine <value>`, `stop [why]`. To" },
		{ "[" FIELD("w", "Wipe", YES_NO) "]",
		  "takes `choose <number>`, `refine <value>`, `stop [why]`. To" },
		{ "[" TEXT_FIELD("a", "A") "," TEXT_FIELD("b", "B") "]",
		  "takes `refine <name>: <value>`, `stop [why]`. To" },
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		slack();
		a_form(CASES[i][0]);
		in_thread("sure");
		replies(CASES[i][1]);
		slack_stop();
	}
}
END_TEST

START_TEST(choose_where_the_answers_are_only_words_says_how_to_give_one)
{
	slack();
	a_prompt();
	in_thread("choose 2");
	replies("01922222-0000: Go on? takes an answer in words: `refine <text>`");
	expect("SELECT state FROM request", "pending\n");
	slack_stop();
}
END_TEST

START_TEST(the_reply_to_a_yes_names_the_answer_that_the_agent_is_given)
{
	slack();
	a_change(CHANGE);
	given("INSERT INTO agent_run (seq, session_seq, generation, machine, agent, protocol,"
	      " state, created_at) VALUES (1, 1, 1, 'h', 'claude', 'acp', 'wanted', '" T "');"
	      "INSERT INTO agent_question (request_seq, run_seq, rpc_id, digest, options)"
	      " SELECT seq, 1, '1', printf('%064d', 1),"
	      " '[{\"id\":\"y\",\"name\":\"No thanks, _skip_\",\"kind\":\"allow_once\"},"
	      "{\"id\":\"n\",\"name\":\"Yes, delete\",\"kind\":\"reject_once\"}]' FROM request");
	in_thread("yes");
	replies(
	    "Approved 01911111-0000: Change a.c (a.c)\nThe agent is answered: `No thanks, _skip_`");
	slack_stop();
}
END_TEST

/* What they wrote while their form was open, as far as Slack says. */
static void said_with_a_form_open(const char *view, const char *text)
{
	OWNED(str) struct str sql = { 0 };

	slack();
	a_change(CHANGE);
	str_addf(
	    &sql,
	    "INSERT INTO slack_outbox (kind, view, request_seq, trigger_id, user_id, channel_id,"
	    " thread_ts, expires_at, created_at) VALUES ('view_open', '%s', 1, '1.2',"
	    " 'U01OP', 'C01AGENTS', '" THREAD "', '2999-01-01T09:00:00.000Z',"
	    " strftime('%%Y-%%m-%%dT%%H:%%M:%%fZ', 'now'));"
	    "UPDATE slack_outbox SET state = 'dead', why = 'it came too late', settled_at = '" T
	    "' WHERE kind = 'view_open'",
	    view);
	given(sql.bytes);
	in_thread(text);
}

START_TEST(a_mistyped_yes_or_a_command_is_no_reason_to_reject_although_that_form_is_open)
{
	static const char *const TEXTS[][2] = {
		{ "aprove", "" },
		{ "apporve but quietly", "" },
		{ "approve?", "" },
		{ "yse", "" },
		{ "list-fiels src", "\nIf you meant the command: `list-files src`" },
	};

	for (size_t i = 0; i < COUNT(TEXTS); i++) {
		said_with_a_form_open("reject", TEXTS[i][0]);
		replies("A question waits here, and that is no answer to it; nothing was done.");
		replies(TEXTS[i][1]);
		expect("SELECT state FROM request", "pending\n");
		slack_stop();
	}
	said_with_a_form_open("reject", "choose 2");
	expect("SELECT state FROM request", "pending\n");
	slack_stop();
	said_with_a_form_open("reject", "improve the names");
	expect("SELECT state, reason FROM request", "rejected|improve the names\n");
	slack_stop();
}
END_TEST

START_TEST(words_beside_a_form_that_edits_are_answered)
{
	said_with_a_form_open("edit", "use tabs");
	replies("A question waits here, and that is no answer to it; nothing was done.");
	expect("SELECT state FROM request", "pending\n");
	slack_stop();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_words_forms");
	TCase *c = store_case(s, "slack_words_forms", 60);

	tcase_add_test(c, a_question_with_several_yeses_takes_a_number_and_one_with_a_yes_either);
	tcase_add_test(c, a_choice_after_the_answer_is_told_how_it_stands_and_is_no_prompt);
	tcase_add_test(
	    c, a_mistyped_yes_or_a_command_is_no_reason_to_reject_although_that_form_is_open);
	tcase_add_test(c, words_beside_a_form_that_edits_are_answered);
	tcase_add_test(c, a_form_is_not_sent_with_its_defaults_alone);
	tcase_add_test(c, a_fields_title_in_a_reply_is_one_line_of_code);
	tcase_add_test(c, a_single_value_may_stand_behind_its_fields_name);
	tcase_add_test(c, the_reply_to_a_form_says_what_was_filled_in);
	tcase_add_test(c, a_number_of_several_digits_is_a_value);
	tcase_add_test(c, a_number_that_begins_an_id_is_that);
	tcase_add_test(c, what_is_no_answer_to_a_form_is_told_what_its_fields_take);
	tcase_add_test(c, choose_where_the_answers_are_only_words_says_how_to_give_one);
	tcase_add_test(c, the_reply_to_a_yes_names_the_answer_that_the_agent_is_given);
	return run_suite(s);
}
