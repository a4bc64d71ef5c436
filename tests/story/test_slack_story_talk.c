/* An agent that is started from Slack and talks to its runner: its words, its questions and what
 * the operator says to it are in one thread. */
#include "slack_story_case.h"

/* The agent says this, and Slack shows it, below the head of its session. */
static void it_says(const char *text)
{
	OWNED(str) struct str sql = { 0 };

	str_addf(
	    &sql,
	    "SELECT count(*) FROM slack_message AS m JOIN slack_message AS h ON h.seq = m.root_seq"
	    " JOIN agent_line AS l ON l.seq = json_extract(m.detail, '$.line')"
	    " WHERE m.kind = 'agent' AND l.text LIKE '%s' AND m.ts IS NOT NULL"
	    " AND h.kind = 'session'",
	    text);
	pass_time_until(sql.bytes, "1\n");
}

START_TEST(an_agent_asks_and_is_answered_and_spoken_to_in_its_thread)
{
	OWNED(char_ptr) char *ask = NULL;
	OWNED(char_ptr) char *message = NULL;
	OWNED(char_ptr) char *thread = NULL;

	a_system_with_an_agent("mend <it>",
	                       "\"text:I begin with %p.\", \"ask:a.c\", \"text: So be it.\"");
	it_says("I begin with mend <it>.");
	all_is_said();
	ask = ask_ts();
	message = shown(ask);
	says(message, "Write a.c");
	says(message, "+hi");
	says(message, "File: a.c (high risk)");

	press_and_wait(ask, "approve_accept");
	it_says(
	    "answered: {\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"yes\"}} So be it.");
	pass_time_until("SELECT count(*) FROM slack_message WHERE kind = 'turn' AND ts IS NOT NULL",
	                "1\n");

	thread = ts_of("session");
	(void)slack_acked("{'message':{'text':'the tests','thread_ts':'%s'}}", thread);
	it_says("I begin with the tests.");
	expect("SELECT text, run_seq, delivered_at IS NOT NULL FROM steering", "the tests|1|1\n");
	end_system();
}
END_TEST

/* The one who pressed last was told this. */
static void was_told_privately(const char *text)
{
	OWNED(str) struct str sql = { 0 };

	str_addf(&sql,
	         "SELECT count(*) FROM slack_outbox WHERE kind = 'ephemeral' AND text LIKE '%s'",
	         text);
	expect(sql.bytes, "1\n");
}

START_TEST(an_option_is_pressed_and_a_second_press_says_which_it_was)
{
	OWNED(char_ptr) char *thread = NULL;
	OWNED(char_ptr) char *ask = NULL;
	OWNED(char_ptr) char *after = NULL;

	a_system_with_an_agent(
	    "mend <it>", "'options:[{\"optionId\":\"a\",\"name\":\"Once\",\"kind\":\"allow_once\"},"
	                 "{\"optionId\":\"b\",\"name\":\"In a sandbox\",\"kind\":\"allow_once\"},"
	                 "{\"optionId\":\"n\",\"name\":\"No\",\"kind\":\"reject_once\"}]', "
	                 "'permit:{\"toolCallId\":\"t\",\"kind\":\"execute\",\"title\":\"make\","
	                 "\"rawInput\":{\"command\":\"make\"}}'");
	all_is_said();
	ask = ask_ts();
	after = shown(ask);
	says(after, "\"2. In a sandbox\"");
	thread = ts_of("session");
	(void)slack_acked("{'message':{'text':'approve but quietly','thread_ts':'%s'}}", thread);
	pass_time_until(
	    "SELECT text LIKE '%: the agent offers answers of its own; choose one by its"
	    " number (`choose <number>`)%' FROM slack_message WHERE kind = 'reply'",
	    "1\n");
	edits_wait(30); /* the buttons are still there */
	press_and_wait(ask, "approve_option_2");
	press_and_wait(ask, "approve_option_3");
	was_told_privately("%: already answered with ''In a sandbox'' by %");
	press_and_wait(ask, "approve_reject"); /* which opens a form */
	expect("SELECT count(*) FROM slack_outbox WHERE kind = 'ephemeral'"
	       " AND text LIKE '%already answered with ''In a sandbox'' by %'",
	       "2\n");
	it_says("answered: {\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"b\"}}");
	expect("SELECT state, decision FROM request", "approved|approve\n");
	all_is_said();
	free(after);
	after = shown(ask);
	ck_assert_msg(!strstr(after, "approve_option_"), "%s", after);
	end_system();
}
END_TEST

START_TEST(a_choice_of_a_form_is_pressed_and_a_second_press_says_which_it_was)
{
	OWNED(char_ptr) char *ask = NULL;

	a_system_with_an_agent("mend <it>", "\"form\"");
	all_is_said();
	ask = ask_ts();
	edits_wait(30);
	press_and_wait(ask, "approve_option_2");
	press_and_wait(ask, "approve_option_1");
	was_told_privately("%: already answered with ''Red'' by %");
	it_says("answered: {\"action\":\"accept\",\"content\":{\"colour\":\"r\"}}");
	end_system();
}
END_TEST

#define FIELDS                                                                                     \
	"'form:{\"type\":\"object\",\"properties\":{"                                              \
	"\"name\":{\"type\":\"string\",\"title\":\"Branch\",\"maxLength\":10,"                     \
	"\"description\":\"where it goes\",\"default\":\"main\"},"                                 \
	"\"count\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":9},"                            \
	"\"mail\":{\"type\":\"string\",\"format\":\"email\"},"                                     \
	"\"day\":{\"type\":\"string\",\"format\":\"date\"},"                                       \
	"\"push\":{\"type\":\"boolean\",\"default\":false},"                                       \
	"\"kind\":{\"type\":\"string\",\"enum\":[\"fix\",\"new\"],\"default\":\"new\"},"           \
	"\"parts\":{\"type\":\"array\",\"maxItems\":1,\"items\":{\"enum\":[\"a\",\"b\"]}}},"       \
	"\"required\":[\"name\",\"count\"]}'"

/* Opens the form of the question that waits, and returns the message. */
static char *open_form(void)
{
	char *ask = ask_ts();

	press_and_wait(ask, "prompt_refine");
	pass_time_until(
	    "SELECT count(*) FROM slack_outbox WHERE view = 'refine' AND state = 'sent'", "1\n");
	return ask;
}

START_TEST(a_form_that_slack_cannot_show_is_filled_in_in_words_from_nothing)
{
	OWNED(char_ptr) char *ask = NULL;
	OWNED(char_ptr) char *views = NULL;

	a_system_with_an_agent(
	    "mend <it>", "'form:{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"string\"},"
	                 "\"b\":{\"type\":\"array\",\"items\":{}}}}'");
	all_is_said();
	ask = open_form();
	views = xstrdup(slack_ask("views"));
	says(views, ": a line `name: value` for each field");
	ck_assert(!strstr(views, "initial_value"));
	end_system();
}
END_TEST

START_TEST(a_form_of_several_fields_has_an_input_for_each)
{
	OWNED(char_ptr) char *ask = NULL;
	OWNED(char_ptr) char *views = NULL;

	a_system_with_an_agent("mend <it>", FIELDS);
	all_is_said();
	ask = open_form();
	views = xstrdup(slack_ask("views"));
	says(views, "\"label\":{\"type\":\"plain_text\",\"text\":\"Branch\"");
	says(views, "\"text\":\"where it goes\"");
	says(views, "\"initial_value\":\"main\"");
	says(views, "\"max_length\":10");
	says(views, "\"type\":\"number_input\",\"is_decimal_allowed\":false,"
	            "\"min_value\":\"1\",\"max_value\":\"9\"");
	says(views, "\"type\":\"email_text_input\"");
	says(views, "\"type\":\"datepicker\"");
	says(views, "\"initial_option\":{\"text\":{\"type\":\"plain_text\",\"text\":\"No\"");
	says(views, "\"initial_option\":{\"text\":{\"type\":\"plain_text\",\"text\":\"new\"");
	says(views, "\"type\":\"multi_static_select\"");

	says(slack_acked("{'submit':{'values':{'field_0':{'value':'much-too-long-a-name'},"
	                 "'field_1':{'value':'2.5'},'field_2':{'value':'nobody'},"
	                 "'field_6':{'value':{'options':['1','2']}}}}}"),
	     "\"response_action\":\"errors\",\"errors\":{"
	     "\"field_0\":\"must be at most 10 characters long\","
	     "\"field_1\":\"must be a whole number 1 to 9\","
	     "\"field_2\":\"must be an e-mail address\","
	     "\"field_6\":\"must be at most 1 of the choices\"}");
	says(slack_acked("{'submit':{'values':{'field_0':{'value':'x'}}}}"),
	     "\"errors\":{\"field_1\":\"is missing\"}");
	expect("SELECT count(*) FROM decision", "0\n");

	(void)slack_acked("{'submit':{'values':{'field_0':{'value':'dev'},"
	                  "'field_1':{'value':'3'},'field_3':{'value':{'date':'2026-02-28'}},"
	                  "'field_4':{'value':{'option':'1'}},"
	                  "'field_5':{'value':{'option':'1'}},"
	                  "'field_6':{'value':{'options':['2']}}}}}");
	it_says("answered: {\"action\":\"accept\",\"content\":{\"name\":\"dev\",\"count\":3,"
	        "\"day\":\"2026-02-28\",\"push\":true,\"kind\":\"fix\",\"parts\":[\"b\"]}}");
	expect("SELECT instruction FROM decision",
	       "Branch: dev\ncount: 3\nday: 2026-02-28\npush: Yes\nkind: fix\nparts: b\n");
	end_system();
}
END_TEST

START_TEST(a_form_is_filled_in_in_words_too_with_its_defaults)
{
	static const char *const NO_DATES[] = { "2026- 2- 8",  "+202-02-08", "2026-2-08",
		                                "2026-02-08x", "2026-00-01", "2025-02-29" };
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *id = NULL;

	a_system_with_an_agent("mend <it>", FIELDS);
	given_mode("hybrid");
	pass_time_until("SELECT state FROM request", "pending\n");
	id = rows("SELECT id FROM request");
	id[strcspn(id, "\n")] = '\0';
	ck_assert_int_ne(ctl(&said, "refine %s 'count: ten; day: 2026-02-30; kind: old'", id), 0);
	says(said.bytes, "'count' must be a whole number 1 to 9, not 'ten'\n"
	                 "'day' must be a date like 2026-02-08, not '2026-02-30'\n"
	                 "'kind' must be one of: 1. fix, 2. new, not 'old'");
	for (size_t i = 0; i < COUNT(NO_DATES); i++) {
		ck_assert_int_ne(ctl(&said, "refine %s 'count: 4; day: %s'", id, NO_DATES[i]), 0);
		says(said.bytes, "'day' must be a date like 2026-02-08, not '");
	}
	ck_assert_int_eq(ctl(&said, "refine %s 'count: 4; mail = a@b.c; push: yes'", id), 0);
	it_says("answered: {\"action\":\"accept\",\"content\":{\"name\":\"main\",\"count\":4,"
	        "\"mail\":\"a@b.c\",\"push\":true,\"kind\":\"new\"}}");
	end_system();
}
END_TEST

START_TEST(of_the_words_that_fill_in_a_form_none_is_left_out)
{
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *id = NULL;

	a_system_with_an_agent("mend <it>", "'form:{\"type\":\"object\",\"properties\":{"
	                                    "\"title\":{\"type\":\"string\"},"
	                                    "\"notes\":{\"type\":\"string\"}}}'");
	given_mode("hybrid");
	pass_time_until("SELECT state FROM request", "pending\n");
	id = rows("SELECT id FROM request");
	id[strcspn(id, "\n")] = '\0';
	ck_assert_int_ne(ctl(&said, "refine %s 'hello; notes: b'", id), 0);
	says(said.bytes, "'hello' names no field; begin each with its name, as in `title: ...`: "
	                 "title, notes");
	ck_assert_int_ne(ctl(&said, "refine %s 'notes: a; title: b; notes: c'", id), 0);
	says(said.bytes, "'notes' is given twice");
	ck_assert_int_eq(ctl(&said,
	                     "refine %s 'title: A; still the title\nnotes: use tabs; never "
	                     "spaces\nsecond: with colon\n\nextra: third'",
	                     id),
	                 0);
	it_says("answered: {\"action\":\"accept\",\"content\":{\"title\":\"A; still the title\","
	        "\"notes\":\"use tabs; never spaces\\nsecond: with colon\\n\\nextra: third\"}}");
	end_system();
}
END_TEST

START_TEST(words_that_come_in_five_hundred_pieces_are_one_message)
{
	a_system_with_an_agent("mend <it>", "\"chunks:500\"");
	it_says("1 2 3 4 % 499 500 ");
	expect("SELECT length(text) FROM agent_line WHERE kind = 'text' ORDER BY seq LIMIT 1",
	       "1892\n");
	end_system();
}
END_TEST

START_TEST(what_an_agent_says_calls_nobody)
{
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *message = NULL;

	a_system_with_an_agent("mend <it>",
	                       "\"text:<!channel> <@U01OP> slack:T01TEAM:U01OP *bold*\"");
	it_says("<!channel> <@U01OP>%");
	ts = rows("SELECT ts FROM slack_message WHERE kind = 'agent' ORDER BY seq LIMIT 1");
	ts[strcspn(ts, "\n")] = '\0';
	message = shown(ts);
	says(message, "💬 &lt;!channel&gt; &lt;@U01OP&gt; slack:T01TEAM:U01OP ∗bold∗");
	says(message, "{\"type\":\"rich_text_quote\",\"elements\":[{\"type\":\"text\",\"text\":"
	              "\"<!channel> <@U01OP> slack:T01TEAM:U01OP *bold*\"}]}");
	end_system();
}
END_TEST

START_TEST(the_stop_button_cancels_the_turn_and_ends_the_agent)
{
	OWNED(char_ptr) char *head = NULL;
	OWNED(char_ptr) char *heard = NULL;

	a_system_with_an_agent("mend <it>", "\"ask:a.c\"");
	all_is_said();
	head = ts_of("session");
	pass_time_until("SELECT state FROM request", "pending\n");
	press_and_wait(head, "session_clear");
	pass_time_until("SELECT state, outcome FROM agent_run", "ended|stopped\n");
	heard = get_file(site.workspace, "heard");
	says(heard, "\"method\":\"session/cancel\"");
	says(heard, "{\"outcome\":{\"outcome\":\"cancelled\"}}");
	end_system();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_story_talk");
	TCase *c = store_case(s, "talk", 60);

	tcase_add_test(c, an_agent_asks_and_is_answered_and_spoken_to_in_its_thread);
	tcase_add_test(c, an_option_is_pressed_and_a_second_press_says_which_it_was);
	tcase_add_test(c, a_choice_of_a_form_is_pressed_and_a_second_press_says_which_it_was);
	tcase_add_test(c, a_form_that_slack_cannot_show_is_filled_in_in_words_from_nothing);
	tcase_add_test(c, a_form_of_several_fields_has_an_input_for_each);
	tcase_add_test(c, a_form_is_filled_in_in_words_too_with_its_defaults);
	tcase_add_test(c, of_the_words_that_fill_in_a_form_none_is_left_out);
	tcase_add_test(c, words_that_come_in_five_hundred_pieces_are_one_message);
	tcase_add_test(c, what_an_agent_says_calls_nobody);
	tcase_add_test(c, the_stop_button_cancels_the_turn_and_ends_the_agent);
	return run_suite(s);
}
