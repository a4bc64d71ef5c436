/* Whole stories of what operators say in Slack: it is asked back with buttons, told to the agent as
 * it was said, and undone. The whole system runs, with a real agent over MCP. */
#include "agent.h"
#include "harness.h"
#include "slack_peer.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct site site;

/* ---- given ---- */

static struct agent an_agent(void)
{
	fresh_store();
	slack_start();
	slack_credentials();
	site = site_make("[slack]\nchannel_id = \"C01AGENTS\"\n");
	site_start(&site);
	(void)slack_wait_for("hello");
	return agent_hello(front_port(), "", "2025-11-25");
}

static void end(void)
{
	ck_assert_int_eq(site_stop(&site), 0);
	slack_stop();
}

/* The first row of a query that has one soon; caller frees. */
static char *soon(const char *count, const char *sql)
{
	char *value;

	expect_soon(count, "1\n");
	value = rows(sql);
	value[strcspn(value, "\n")] = '\0';
	return value;
}

/* Slack's name of the last message of a kind, of which there is one. */
static char *ts_of(const char *kind)
{
	OWNED(str) struct str count = { 0 };
	OWNED(str) struct str sql = { 0 };

	str_addf(&count, "SELECT count(*) FROM slack_message WHERE kind = '%s' AND ts IS NOT NULL",
	         kind);
	str_addf(&sql, "SELECT ts FROM slack_message WHERE kind = '%s'", kind);
	return soon(count.bytes, sql.bytes);
}

/* What the agents' channel shows, as JSON. */
static char *shown(void)
{
	return xstrdup(slack_ask("messages?channel=C01AGENTS"));
}

static void shows_soon(const char *part)
{
	for (int64_t until = agent_ms() + AGENT_PATIENCE_MS; agent_ms() < until;
	     (void)poll(NULL, 0, 20)) {
		OWNED(char_ptr) char *all = shown();

		if (strstr(all, part))
			return;
	}
	OWNED(char_ptr) char *all = shown();
	says(all, part);
}

static void press(const char *ts, const char *action)
{
	(void)slack_acked("{'click':{'channel':'C01AGENTS','ts':'%s','action_id':'%s'}}", ts,
	                  action);
}

/* A new system, and an agent that asks whether it may make a file; the thread of its session, which
 * the caller frees. */
static char *a_question_in_its_thread(struct wire *w)
{
	OWNED(char_ptr) char *arguments = proposal("hello.txt", "hello\n");
	struct agent a = an_agent();

	agent_begin(&a, w, "check_clearance", arguments, NULL);
	free(ts_of("ask"));
	return ts_of("session");
}

/* ---- stories ---- */

START_TEST(words_with_an_approval_reach_the_agent_as_a_note_and_as_what_the_operator_says)
{
	struct wire w;
	OWNED(char_ptr) char *thread = a_question_in_its_thread(&w);
	OWNED(char_ptr) char *asked = NULL;
	OWNED(char_ptr) char *message = NULL;

	(void)slack_acked("{'message':{'text':'approve but rename <it> next','thread_ts':'%s'}}",
	                  thread);
	asked = ts_of("reply");
	expect("SELECT state FROM request", "pending\n");
	shows_soon("as it is, and the agent be told “but rename &lt;it&gt; next”?");
	press(asked, "tell_approve");
	message = agent_message(&w);
	wire_close(&w);
	has(message, "result.structuredContent.status", "approved");
	has(message, "result.structuredContent.note", "but rename <it> next");
	says(member(message, "result.content.1.text"), "The operator says (");
	says(member(message, "result.content.1.text"), "but rename <it> next");
	shows_soon("✅ *Approved* by <@U01OP>");
	shows_soon("and told the agent\\nby <@U01OP>");
	OWNED(char_ptr) char *all = shown();
	ck_assert_ptr_null(strstr(all, "tell_approve"));
	end();
}
END_TEST

START_TEST(what_another_operator_was_asked_back_has_no_buttons_once_the_question_is_answered)
{
	struct wire w;
	OWNED(char_ptr) char *thread = a_question_in_its_thread(&w);
	OWNED(char_ptr) char *asked = NULL;

	(void)slack_acked("{'message':{'text':'approve but add a test','user':'U02OP',"
	                  "'thread_ts':'%s'}}",
	                  thread);
	free(ts_of("reply"));
	(void)slack_acked("{'message':{'text':'approve but use tabs','thread_ts':'%s'}}", thread);
	asked =
	    soon("SELECT count(*) = 2 FROM slack_message WHERE kind = 'reply' AND ts IS NOT NULL",
	         "SELECT ts FROM slack_message WHERE kind = 'reply' ORDER BY seq DESC");
	press(asked, "tell_reject");
	free(agent_end(&w));
	shows_soon("Rejected");
	shows_soon(
	    "the agent be told “but add a test”?\\nIts question is settled. The agent was not "
	    "told these words");
	expect_soon("SELECT min(generation = sent_generation) FROM slack_message", "1\n");
	OWNED(char_ptr) char *all = shown();
	ck_assert_ptr_null(strstr(all, "tell_approve"));
	end();
}
END_TEST

START_TEST(an_answer_shows_on_its_card_what_another_operator_wrote_and_the_agent_is_told)
{
	struct wire w;
	OWNED(char_ptr) char *thread = a_question_in_its_thread(&w);

	(void)slack_acked("{'message':{'text':'approve but add a <test>','user':'U02OP',"
	                  "'thread_ts':'%s'}}",
	                  thread);
	free(ts_of("reply"));
	(void)slack_acked("{'message':{'text':'approve','thread_ts':'%s'}}", thread);
	free(agent_end(&w));
	shows_soon("The agent is also told what <@U02OP> wrote: “but add a &lt;test&gt;”\\nby");
	shows_soon("\"Also told, as <@U02OP> wrote: “but add a &lt;test&gt;”\"");
	end();
}
END_TEST

START_TEST(words_about_a_question_whose_session_was_ended_are_not_for_its_agent)
{
	struct wire w;
	OWNED(char_ptr) char *thread = a_question_in_its_thread(&w);

	(void)slack_acked("{'message':{'text':'approve but add a test','thread_ts':'%s'}}", thread);
	free(ts_of("reply"));
	(void)slack_acked("{'message':{'text':'session-clear','thread_ts':'%s'}}", thread);
	free(agent_end(&w));
	shows_soon("The agent was not told these words, and its session has ended: `task "
	           "&lt;text&gt;` tells the next agent that starts here");
	end();
}
END_TEST

START_TEST(what_was_written_is_undone_by_its_button_and_told_as_undone)
{
	OWNED(char_ptr) char *arguments = proposal("hello.txt", "hello\n");
	OWNED(char_ptr) char *asked = NULL;
	OWNED(char_ptr) char *written = NULL;
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *applied = NULL;
	OWNED(char_ptr) char *check = NULL;
	OWNED(char_ptr) char *file = NULL;
	struct agent a = an_agent();
	struct wire w;

	agent_begin(&a, &w, "check_clearance", arguments, NULL);
	asked = ts_of("ask");
	press(asked, "approve_accept");
	answer = agent_end(&w);
	check = diff_of(member(answer, "request_id"));
	applied = agent_write(&a, check);
	has(applied, "status", "applied");
	written = ts_of("write");
	press(written, "write_undo");
	expect_soon("SELECT outcome, source FROM command WHERE verb = 'undo'", "done|slack\n");
	file = get_file(site.workspace, "hello.txt");
	ck_assert_ptr_null(file);
	shows_soon("↩️ Undone by <@U01OP>: what was there before is back: hello.txt");
	shows_soon("(undone since)");
	OWNED(char_ptr) char *all = shown();
	ck_assert_ptr_null(strstr(all, "Not written"));
	ck_assert_ptr_null(strstr(all, "write_undo"));
	end();
}
END_TEST

START_TEST(undo_in_the_thread_is_refused_with_its_reason_where_the_file_was_changed_since)
{
	OWNED(char_ptr) char *arguments = proposal("hello.txt", "hello\n");
	OWNED(char_ptr) char *asked = NULL;
	OWNED(char_ptr) char *thread = NULL;
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *check = NULL;
	OWNED(char_ptr) char *file = NULL;
	struct agent a = an_agent();
	struct wire w;

	agent_begin(&a, &w, "check_clearance", arguments, NULL);
	asked = ts_of("ask");
	thread = ts_of("session");
	press(asked, "approve_accept");
	answer = agent_end(&w);
	check = diff_of(member(answer, "request_id"));
	free(agent_call(&a, "check_diff", check));
	put_file(site.workspace, "hello.txt", "changed since\n");
	(void)slack_acked("{'message':{'text':'Reject.','thread_ts':'%s'}}", thread);
	shows_soon("puts back what was there");
	(void)slack_acked("{'message':{'text':'undo','thread_ts':'%s'}}", thread);
	expect_soon("SELECT outcome FROM command WHERE verb = 'undo'", "refused\n");
	shows_soon("⚠️ Not undone, as ordered by <@U01OP>: hello.txt: ");
	file = get_file(site.workspace, "hello.txt");
	ck_assert_pstr_eq(file, "changed since\n");
	end();
}
END_TEST

START_TEST(words_to_an_agent_that_was_killed_reach_the_next_one_and_the_thread_says_so)
{
	OWNED(char_ptr) char *thread = NULL;
	OWNED(char_ptr) char *first = NULL;
	OWNED(char_ptr) char *then = NULL;
	struct relay killed, next;

	(void)an_agent();
	killed = given_relay(&site);
	free(relay_call(&killed, "ping", "{}"));
	thread = ts_of("session");
	relay_kill(&killed);
	relay_clear(&killed);
	expect_soon("SELECT connectivity_status FROM session", "offline\n");
	(void)slack_acked("{'message':{'text':'use tabs','thread_ts':'%s'}}", thread);
	shows_soon("it is not connected: “use tabs”. If another agent starts in its workspace "
	           "first, that one is told.");
	next = given_relay(&site);
	first = relay_call(&next, "ping", "{}");
	has(first, "pending_steering.0", "use tabs");
	shows_soon("was told: “use tabs”");
	then = relay_call(&next, "ping", "{}");
	has(then, "pending_steering", "");
	ck_assert_int_eq(relay_stop(&next), 0);
	relay_clear(&next);
	end();
}
END_TEST

START_TEST(the_reason_of_a_stop_reaches_the_agent)
{
	OWNED(char_ptr) char *thread = NULL;
	OWNED(char_ptr) char *answer = NULL;
	struct agent a = an_agent();
	struct wire w;

	agent_begin(&a, &w, "transmit", "{\"prompt_text\":\"Go on?\"}", NULL);
	free(ts_of("ask"));
	thread = ts_of("session");
	(void)slack_acked("{'message':{'text':'stop we do it tomorrow','thread_ts':'%s'}}", thread);
	answer = agent_end(&w);
	has(answer, "decision", "stop");
	has(answer, "reason", "we do it tomorrow");
	end();
}
END_TEST

START_TEST(the_timeline_names_who_gave_an_order_for_a_session_that_is_not_there)
{
	struct agent a = an_agent();

	free(agent_call(&a, "ping", "{}"));
	(void)slack_acked("{'slash':{'text':'stop frontend-agent'}}");
	(void)slack_acked("{'slash':{'text':'mode local nosuch'}}");
	expect(
	    "SELECT actor, kind, json_extract(detail, '$.verb'), json_extract(detail, '$.argument')"
	    " FROM event WHERE kind LIKE 'command.%' ORDER BY seq",
	    "slack:T01TEAM:U01OP|command.not_found|stop|\n"
	    "slack:T01TEAM:U01OP|command.not_found|mode|local\n");
	expect("SELECT status, mode FROM session", "active|remote\n");
	end();
}
END_TEST

START_TEST(a_message_to_an_agent_on_standby_is_its_instruction)
{
	OWNED(char_ptr) char *thread = NULL;
	OWNED(char_ptr) char *answer = NULL;
	struct agent a = an_agent();
	struct wire w;

	agent_begin(&a, &w, "standby", "{}", NULL);
	free(ts_of("ask"));
	thread = ts_of("session");
	(void)slack_acked("{'message':{'text':'use tabs & write the docs','thread_ts':'%s'}}",
	                  thread);
	answer = agent_end(&w);
	has(answer, "status", "resumed");
	has(answer, "instruction", "use tabs & write the docs");
	end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_desk");
	TCase *c = store_case(s, "slack_desk", 120);

	tcase_add_test(
	    c, words_with_an_approval_reach_the_agent_as_a_note_and_as_what_the_operator_says);
	tcase_add_test(
	    c, what_another_operator_was_asked_back_has_no_buttons_once_the_question_is_answered);
	tcase_add_test(
	    c, an_answer_shows_on_its_card_what_another_operator_wrote_and_the_agent_is_told);
	tcase_add_test(c, words_about_a_question_whose_session_was_ended_are_not_for_its_agent);
	tcase_add_test(c, what_was_written_is_undone_by_its_button_and_told_as_undone);
	tcase_add_test(
	    c, undo_in_the_thread_is_refused_with_its_reason_where_the_file_was_changed_since);
	tcase_add_test(c,
	               words_to_an_agent_that_was_killed_reach_the_next_one_and_the_thread_says_so);
	tcase_add_test(c, the_reason_of_a_stop_reaches_the_agent);
	tcase_add_test(c, the_timeline_names_who_gave_an_order_for_a_session_that_is_not_there);
	tcase_add_test(c, a_message_to_an_agent_on_standby_is_its_instruction);
	return run_suite(s);
}
