/* An agent that is started from Slack and talks to its runner: its words, its questions and what
 * the operator says to it are in one thread. */
#include "slack_story_case.h"

/* The fake agent is the profile `fake`, with these steps: texts of TOML. */
static void a_system_with_an_agent(const char *steps)
{
	OWNED(str) struct str more = { 0 };

	str_addf(&more,
	         "[slack]\nchannel_id = \"C01AGENTS\"\n"
	         "[[agent]]\nname = \"fake\"\nprotocol = \"acp\"\n"
	         "command = \"%s/tests/fake-agent\"\nargs = [\"v1\", \"--log\", \"heard\", %s]\n",
	         getenv("INTERCOM_BUILD"), steps);
	slack_with(more.bytes);
	site_start(&site);
	(void)slack_wait_for("hello");
	says(member(slack_acked("{'slash':{'text':'session-start --agent fake mend <it>'}}"),
	            "payload.text"),
	     "Starting session ");
}

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

	a_system_with_an_agent("\"text:I begin with %p.\", \"ask:a.c\", \"text: So be it.\"");
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

	thread = rows("SELECT ts FROM slack_message WHERE kind = 'session'");
	thread[strcspn(thread, "\n")] = '\0';
	(void)slack_acked("{'message':{'text':'the tests','thread_ts':'%s'}}", thread);
	it_says("I begin with the tests.");
	expect("SELECT text, run_seq, delivered_at IS NOT NULL FROM steering", "the tests|1|1\n");
	end_system();
}
END_TEST

START_TEST(words_that_come_in_five_hundred_pieces_are_one_message)
{
	a_system_with_an_agent("\"chunks:500\"");
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

	a_system_with_an_agent("\"text:<!channel> <@U01OP> slack:T01TEAM:U01OP *bold*\"");
	it_says("<!channel> <@U01OP>%");
	ts = rows("SELECT ts FROM slack_message WHERE kind = 'agent' ORDER BY seq LIMIT 1");
	ts[strcspn(ts, "\n")] = '\0';
	message = shown(ts);
	says(message, "&lt;!channel&gt; &lt;@U01OP&gt; slack:T01TEAM:U01OP");
	ck_assert_ptr_null(strstr(message, "<@U01OP>"));
	end_system();
}
END_TEST

START_TEST(the_stop_button_cancels_the_turn_and_ends_the_agent)
{
	OWNED(char_ptr) char *head = NULL;
	OWNED(char_ptr) char *heard = NULL;

	a_system_with_an_agent("\"ask:a.c\"");
	all_is_said();
	head = rows("SELECT ts FROM slack_message WHERE kind = 'session'");
	head[strcspn(head, "\n")] = '\0';
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
	tcase_add_test(c, words_that_come_in_five_hundred_pieces_are_one_message);
	tcase_add_test(c, what_an_agent_says_calls_nobody);
	tcase_add_test(c, the_stop_button_cancels_the_turn_and_ends_the_agent);
	return run_suite(s);
}
