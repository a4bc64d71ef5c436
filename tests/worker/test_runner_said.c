/* What an agent says and does is rows, whether or not anybody looks: nothing is lost or doubled,
 * and the operator reads it with watch and transcript. The agent is tests/fakes/fake_agent.c. */
#include "runner_case.h"

#include "err.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNKS = 5000 };

static const char LINES[] = "SELECT t.number, l.kind, l.text, l.detail, l.over_at IS NOT NULL"
                            " FROM agent_line AS l LEFT JOIN agent_turn AS t ON t.seq = l.turn_seq"
                            " ORDER BY l.seq";

START_TEST(what_an_agent_says_and_does_is_rows_without_slack)
{
	for (int version = 1; version <= 2; version++) {
		setup();
		(void)given_talk(
		    version == 1 ? "v1" : "v2",
		    STEPS("text:I begin.", "tool:make test", "plan:mend", "text:Done."));
		expect_soon(LINES,
		            "1|text|I begin.||1\n"
		            "1|tool|make test|{\"kind\":\"execute\",\"status\":\"completed\"}|1\n"
		            "1|plan||[{\"label\":\"look\",\"status\":\"done\"},"
		            "{\"label\":\"mend\",\"status\":\"in_progress\"}]|0\n"
		            "1|text|Done.||1\n"
		            "1|turn||{\"stop\":\"end_turn\"}|1\n");
		expect("SELECT t.number, i.text, t.stop, t.followed_at FROM agent_turn AS t"
		       " JOIN agent_input AS i ON i.seq = t.input_seq",
		       "1|mend it|end_turn|\n");
		expect("SELECT count(*) FROM slack_message", "0\n");
		ck_assert_int_eq(site_stop(&site), 0);
	}
}
END_TEST

#define STEP(n) "tool:" n, "pause:60"

/* How many transactions wrote what it does, as far as we saw them, beyond one at once, one for its
 * question and one in each second. */
static int quick_ones(const char *rate)
{
	OWNED(str) struct str sql = { 0 };
	int64_t begin_ms;
	int seen = 0, have = 0;

	setup();
	str_addf(&sql, "UPDATE setting SET value = '%s' WHERE name = 'acp.max_msg_rate'", rate);
	given(sql.bytes);
	(void)given_talk("v1", STEPS(STEP("1"), STEP("2"), STEP("3"), STEP("4"), STEP("5"),
	                             STEP("6"), STEP("7"), STEP("8"), "ask:a.c"));
	for (begin_ms = agent_ms(); have < 8; (void)poll(NULL, 0, 5)) {
		OWNED(char_ptr)
		char *count = rows("SELECT count(*) FROM agent_line WHERE kind = 'tool'");

		seen += atoi(count) > have;
		have = atoi(count);
	}
	seen -= 2 + (int)((agent_ms() - begin_ms) / 1000);
	expect_soon("SELECT state FROM request", "pending\n");
	expect("SELECT group_concat(text, ' ') FROM agent_line WHERE kind = 'tool'",
	       "1 2 3 4 5 6 7 8\n");
	ck_assert_int_eq(site_stop(&site), 0);
	return seen;
}

/* A busy machine may bring the pieces themselves late, at any pace. */
START_TEST(what_an_agent_says_is_written_at_the_pace_that_is_set)
{
	ck_assert_int_le(quick_ones("1"), 0);
	while (quick_ones("1000") <= 0)
		continue;
}
END_TEST

/* All that it said, joined, is the numbers from 1 to CHUNKS. */
static void counts_without_a_gap(void)
{
	OWNED(char_ptr)
	char *all = rows("SELECT group_concat(text, '') FROM (SELECT text FROM agent_line"
	                 " WHERE kind = 'text' ORDER BY seq)");
	const char *at = all;

	for (int i = 1; i <= CHUNKS; i++) {
		char *end;

		ck_assert_int_eq(strtol(at, &end, 10), i);
		at = end;
	}
	at += strspn(at, " \n");
	ck_assert_str_eq(at, "");
}

START_TEST(nothing_of_five_thousand_pieces_is_lost_or_doubled)
{
	setup();
	(void)given_talk("v1", STEPS("chunks:5000"));
	expect_soon("SELECT stop FROM agent_turn", "end_turn\n");
	counts_without_a_gap();
	expect(
	    "SELECT max(length(text)) <= 3000, count(*) < 20 FROM agent_line WHERE kind = 'text'",
	    "1|1\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(what_was_said_before_a_runner_is_killed_stays_and_its_turn_is_over)
{
	setup();
	int run =
	    given_talk("v1", STEPS("text:I begin.", "tool:make test", "text:I wait.", "ask:a.c"));
	expect_soon("SELECT state FROM request", "pending\n");
	ck_assert_int_eq(kill(runner_of(run), SIGKILL), 0);
	run_becomes(run, "ended|interrupted|||interrupted");
	expect("SELECT kind, text FROM agent_line ORDER BY seq",
	       "text|I begin.\ntool|make test\ntext|I wait.\n");
	expect("SELECT number, stop, ended_at IS NOT NULL, followed_at IS NOT NULL FROM agent_turn",
	       "1||1|1\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_turn_that_follows_another_one_names_the_words_that_began_it)
{
	setup();
	(void)given_talk("v1", STEPS("text:%p"));
	expect_soon("SELECT stop FROM agent_turn", "end_turn\n");
	given("INSERT INTO steering (session_id, text) SELECT id, 'the docs' FROM session");
	expect_soon("SELECT t.number, t.stop, t.followed_by, i.steering_seq FROM agent_turn AS t"
	            " JOIN agent_input AS i ON i.seq = t.input_seq ORDER BY t.number",
	            "1|end_turn|1|\n2|end_turn||1\n");
	expect("SELECT text FROM agent_line WHERE kind = 'text' ORDER BY seq",
	       "mend it\nthe docs\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_turn_that_ends_with_an_error_says_why)
{
	setup();
	(void)given_talk("v1", STEPS("fail:no tokens left"));
	expect_soon("SELECT kind, text, detail FROM agent_line",
	            "turn|no tokens left|{\"stop\":\"error\"}\n");
	expect("SELECT stop, why FROM agent_turn", "error|no tokens left\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(an_agent_of_acp_stream_has_a_turn_for_each_prompt)
{
	setup();
	(void)given_talk("stream", STEPS("text:Hello."));
	expect_soon("SELECT number, ended_at IS NULL FROM agent_turn", "1|1\n");
	given("INSERT INTO steering (session_id, text) SELECT id, 'more' FROM session");
	expect_soon("SELECT number, ended_at IS NULL, stop FROM agent_turn ORDER BY number",
	            "1|0|\n2|1|\n");
	expect_soon("SELECT kind, text FROM agent_line WHERE text LIKE 'told:%more%'",
	            "status|told: prompt/send {\"text\":\"more\"}\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("runner_said");
	TCase *c = store_case(s, "said", 60);

	tcase_add_test(c, what_an_agent_says_and_does_is_rows_without_slack);
	tcase_add_test(c, what_an_agent_says_is_written_at_the_pace_that_is_set);
	tcase_add_test(c, nothing_of_five_thousand_pieces_is_lost_or_doubled);
	tcase_add_test(c, what_was_said_before_a_runner_is_killed_stays_and_its_turn_is_over);
	tcase_add_test(c, a_turn_that_follows_another_one_names_the_words_that_began_it);
	tcase_add_test(c, a_turn_that_ends_with_an_error_says_why);
	tcase_add_test(c, an_agent_of_acp_stream_has_a_turn_for_each_prompt);
	return run_suite(s);
}
