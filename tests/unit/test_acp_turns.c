/* acp: the turns of a session and what is told of them, in both versions. */
#include "acp_case.h"

#include "err.h"
#include "suite.h"

#include <string.h>

/* ---- turns ---- */

#define PROMPT(id, text)                                                                           \
	"{\"jsonrpc\":\"2.0\",\"id\":" id                                                          \
	",\"method\":\"session/prompt\",\"params\":{\"sessionId\":"                                \
	"\"S\",\"prompt\":[{\"type\":\"text\",\"text\":\"" text "\"}]}}\n"
#define SAYS(text)                                                                                 \
	"{\"sessionUpdate\":\"agent_message_chunk\",\"content\":{\"type\":\"text\",\"text\":"      \
	"\"" text "\"}}"

START_TEST(a_prompt_is_a_turn_and_only_one_is_in_flight)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct err e = { 0 };

	acp_case_open_session(&c);
	ck_assert_int_eq(acp_prompt(&c.acp, "Fix it", 0, &e), 0);
	acp_case_sent(&c, PROMPT("3", "Fix it"));
	acp_case_told(&c, "turn started\n");
	ck_assert_int_eq(acp_prompt(&c.acp, "And that", 0, &e), -1);
	ck_assert_int_eq(e.kind, ERR_AGAIN);
	acp_case_updates(&c, SAYS("Do"));
	acp_case_updates(&c, SAYS("ne."));
	acp_case_told(&c, "");
	acp_case_hears(&c, "{\"id\":3,\"result\":{\"stopReason\":\"end_turn\"}}");
	acp_case_told(&c, "text Done.\nturn ended end_turn -\n");
	ck_assert_int_eq(acp_prompt(&c.acp, "And that", 0, &e), 0);
	acp_case_sent(&c, PROMPT("4", "And that"));
}
END_TEST

START_TEST(a_turn_ends_for_each_reason_that_there_is)
{
	static const struct {
		const char *answer, *told;
	} CASES[] = {
		{ "\"result\":{\"stopReason\":\"max_tokens\"}", "max_tokens -" },
		{ "\"result\":{\"stopReason\":\"max_turn_requests\"}", "max_turn_requests -" },
		{ "\"result\":{\"stopReason\":\"refusal\"}", "refusal -" },
		{ "\"result\":{\"stopReason\":\"cancelled\"}", "cancelled -" },
		{ "\"result\":{\"stopReason\":\"tired\"}", "other -" },
		{ "\"result\":{}", "other -" },
		{ "\"error\":{\"code\":-32603,\"message\":\"crashed\"}", "error crashed" },
		{ "\"error\":{\"code\":-32000,\"message\":\"Who are you?\"}",
		  "error the agent needs a login on this machine: Who are you?" },
	};
	OWNED(acp_case) struct acp_case c = { 0 };
	struct err e = { 0 };

	acp_case_open_session(&c);
	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(str) struct str answer = { 0 };
		OWNED(str) struct str expected = { 0 };

		ck_assert_int_eq(acp_prompt(&c.acp, "x", 0, &e), 0);
		str_addf(&answer, "{\"id\":%zu,%s}", i + 3, CASES[i].answer);
		acp_case_hears(&c, answer.bytes);
		str_addf(&expected, "turn started\nturn ended %s\n", CASES[i].told);
		acp_case_told(&c, expected.bytes);
	}
}
END_TEST

START_TEST(in_version_2_a_turn_is_over_when_the_agent_is_idle)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct acp_how how = acp_case_how(ACP_STANDARD);
	struct err e = { 0 };

	how.version = ACP_VERSION_2;
	acp_case_open(&c, &how);
	acp_case_hears(&c, "{\"id\":1,\"result\":{\"protocolVersion\":2}}");
	acp_case_hears(&c, "{\"id\":2,\"result\":{\"sessionId\":\"S\"}}");
	acp_case_updates(&c, "{\"sessionUpdate\":\"state_update\",\"state\":\"idle\"}");
	acp_case_told(&c, "opened S\n");
	ck_assert_int_eq(acp_prompt(&c.acp, "x", 0, &e), 0);
	acp_case_updates(&c, "{\"sessionUpdate\":\"state_update\",\"state\":\"idle\"}");
	acp_case_updates(&c, "{\"sessionUpdate\":\"state_update\",\"state\":\"running\"}");
	acp_case_hears(&c, "{\"id\":3,\"result\":{\"messageId\":\"m\"}}");
	acp_case_updates(&c, "{\"sessionUpdate\":\"state_update\",\"state\":\"requires_action\"}");
	acp_case_told(&c, "turn started\n");
	acp_case_updates(&c,
	                 "{\"sessionUpdate\":\"state_update\",\"state\":\"idle\",\"stopReason\":"
	                 "\"end_turn\"}");
	acp_case_updates(&c, "{\"sessionUpdate\":\"state_update\",\"state\":\"idle\"}");
	acp_case_told(&c, "turn ended end_turn -\n");
	/* it may begin by itself */
	acp_case_updates(&c, "{\"sessionUpdate\":\"state_update\",\"state\":\"running\"}");
	acp_case_updates(&c, "{\"sessionUpdate\":\"state_update\",\"state\":\"idle\"}");
	acp_case_told(&c, "turn started\nturn ended other -\n");
}
END_TEST

START_TEST(a_turn_that_does_not_end_when_cancelled_is_told)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct err e = { 0 };

	acp_case_open_session(&c);
	ck_assert_int_eq(acp_prompt(&c.acp, "x", 0, &e), 0);
	acp_case_skip(&c);
	acp_cancel(&c.acp, "stopped", 500);
	acp_case_sent(
	    &c, "{\"jsonrpc\":\"2.0\",\"method\":\"session/cancel\",\"params\":{\"sessionId\":"
	        "\"S\"}}\n");
	ck_assert_int_eq(acp_due_ms(&c.acp), 10500);
	acp_tick(&c.acp, 10500);
	acp_case_told(&c, "hung the agent does not end its turn\n");
	acp_case_hears(&c, "{\"id\":3,\"result\":{\"stopReason\":\"end_turn\"}}");
	acp_case_told(&c, "turn ended end_turn -\n");
}
END_TEST

START_TEST(a_stream_that_ends_in_a_turn_ends_the_turn)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct err e = { 0 };

	acp_case_open_session(&c);
	ck_assert_int_eq(acp_prompt(&c.acp, "x", 0, &e), 0);
	acp_case_updates(&c, SAYS("half a sen"));
	acp_end(&c.acp, 0);
	acp_case_told(&c, "turn started\ntext half a sen\nturn ended error stream closed\n"
	                  "closed stream closed\n");
	ck_assert_int_eq(acp_prompt(&c.acp, "x", 0, &e), -1);
	ck_assert_str_eq(e.text, "acp: write failed: stream closed");
}
END_TEST

/* ---- what is told of a turn ---- */

START_TEST(words_are_told_when_something_else_begins)
{
	OWNED(acp_case) struct acp_case c = { 0 };

	acp_case_open_session(&c);
	acp_case_updates(&c, SAYS("I look."));
	acp_case_updates(&c, SAYS(""));
	acp_case_updates(
	    &c, "{\"sessionUpdate\":\"agent_thought_chunk\",\"content\":{\"type\":\"text\","
	        "\"text\":\"hm\"}}");
	acp_case_updates(&c,
	                 "{\"sessionUpdate\":\"tool_call\",\"toolCallId\":\"t\",\"title\":\"ls\","
	                 "\"kind\":\"execute\"}");
	acp_case_updates(&c, "{\"sessionUpdate\":\"agent_message_chunk\",\"messageId\":\"m1\","
	                     "\"content\":{\"type\":\"text\",\"text\":\"One.\"}}");
	acp_case_updates(&c, "{\"sessionUpdate\":\"agent_message_chunk\",\"messageId\":\"m2\","
	                     "\"content\":{\"type\":\"text\",\"text\":\"Two.\"}}");
	acp_case_told(&c, "text I look.\ntool t execute pending: ls (first)\ntext One.\n");
	ck_assert_int_eq(acp_due_ms(&c.acp), 3000);
	acp_tick(&c.acp, 2999);
	acp_case_told(&c, "");
	acp_tick(&c.acp, 3000);
	acp_case_told(&c, "text Two.\n");
	ck_assert(acp_due_ms(&c.acp) == INT64_MAX);
}
END_TEST

START_TEST(long_words_are_told_in_parts_that_end_at_a_line_or_a_character)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	OWNED(str) struct str lines = { 0 };
	OWNED(str) struct str update = { 0 };
	char *at;

	acp_case_open_session(&c);
	for (int i = 0; i < 100; i++)
		str_add(&lines, "0123456789012345678901234567890123456\\n");
	for (int i = 0; i < 2000; i++)
		str_add(&lines, "\xC3\xA4");
	str_addf(&update, SAYS("%s"), lines.bytes);
	acp_case_updates(&c, update.bytes);
	acp_tick(&c.acp, 3000);

	ck_assert(utf8_valid(c.events.bytes, c.events.length));
	at = strstr(c.events.bytes, "\ntext ");
	ck_assert_ptr_nonnull(at);
	ck_assert_int_eq(at - c.events.bytes, (long)strlen("text ") + 78 * 38);
	at = strstr(at + 1, "\ntext ");
	ck_assert_ptr_nonnull(at);
}
END_TEST

START_TEST(a_tool_call_is_told_whole_however_little_of_it_comes)
{
	OWNED(acp_case) struct acp_case c = { 0 };

	acp_case_open_session(&c);
	/* Gemini begins with the update */
	acp_case_updates(&c,
	                 "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"t\",\"title\":"
	                 "\"Edit a\",\"kind\":\"edit\",\"status\":\"in_progress\"}");
	acp_case_updates(
	    &c, "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"t\",\"title\":null,"
	        "\"status\":\"completed\"}");
	acp_case_updates(&c,
	                 "{\"sessionUpdate\":\"tool_call_update\",\"toolCallId\":\"t\",\"status\":"
	                 "\"failed\"}");
	acp_case_told(&c, "tool t edit in_progress: Edit a (first)\ntool t edit completed: Edit a\n"
	                  "tool t other failed: - (first)\n");
}
END_TEST

START_TEST(plans_usage_modes_titles_and_notices_are_told)
{
	OWNED(acp_case) struct acp_case c = { 0 };

	acp_case_open_session(&c);
	acp_case_updates(&c,
	                 "{\"sessionUpdate\":\"plan\",\"entries\":[{\"content\":\"a\",\"status\":"
	                 "\"completed\",\"priority\":\"high\"},{\"content\":\"b\",\"status\":"
	                 "\"in_progress\"},{\"content\":\"c\",\"status\":\"pending\"},{\"x\":1}]}");
	acp_case_updates(&c,
	                 "{\"sessionUpdate\":\"usage_update\",\"used\":90,\"size\":100,\"cost\":"
	                 "{\"amount\":1.5,\"currency\":\"USD\"}}");
	acp_case_updates(&c, "{\"sessionUpdate\":\"session_info_update\",\"title\":\"Tests\"}");
	acp_case_updates(
	    &c, "{\"sessionUpdate\":\"notice\",\"severity\":\"warning\",\"title\":\"Slow\","
	        "\"description\":\"rate limit\"}");
	acp_case_updates(
	    &c, "{\"sessionUpdate\":\"available_commands_update\",\"availableCommands\":[]}");
	acp_case_updates(&c, "{\"sessionUpdate\":\"from_the_future\"}");
	acp_case_updates(&c, "7");
	acp_case_told(&c, "plan [{\"label\":\"a\",\"status\":\"done\"},{\"label\":\"b\",\"status\":"
	                  "\"in_progress\"},{\"label\":\"c\",\"status\":\"pending\"}]\n"
	                  "usage 90 of 100 {\"amount\":1.5,\"currency\":\"USD\"}\n"
	                  "title Tests\nstatus warn Slow: rate limit\n");
	acp_case_sent(&c, "");
}
END_TEST

START_TEST(in_version_2_several_plans_are_one_and_messages_replace_their_chunks)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct acp_how how = acp_case_how(ACP_STANDARD);

	how.version = ACP_VERSION_2;
	acp_case_open(&c, &how);
	acp_case_hears(&c, "{\"id\":1,\"result\":{\"protocolVersion\":2}}");
	acp_case_hears(&c, "{\"id\":2,\"result\":{\"sessionId\":\"S\"}}");
	acp_case_skip(&c);
	acp_case_updates(
	    &c, "{\"sessionUpdate\":\"plan_update\",\"plan\":{\"type\":\"items\",\"planId\":"
	        "\"1\",\"entries\":[{\"content\":\"a\",\"status\":\"cancelled\"},"
	        "{\"content\":\"b\",\"status\":\"pending\"}]}}");
	acp_case_updates(
	    &c, "{\"sessionUpdate\":\"plan_update\",\"plan\":{\"type\":\"items\",\"planId\":"
	        "\"2\",\"entries\":[{\"content\":\"c\",\"status\":\"completed\"}]}}");
	acp_case_updates(
	    &c, "{\"sessionUpdate\":\"agent_message_chunk\",\"messageId\":\"m\",\"content\":"
	        "{\"type\":\"text\",\"text\":\"Hel\"}}");
	acp_case_updates(&c, "{\"sessionUpdate\":\"agent_message\",\"messageId\":\"m\",\"content\":"
	                     "[{\"type\":\"text\",\"text\":\"Hello.\"}]}");
	acp_tick(&c.acp, 3000);
	acp_case_told(&c,
	              "plan [{\"label\":\"b\",\"status\":\"pending\"}]\n"
	              "plan [{\"label\":\"b\",\"status\":\"pending\"},{\"label\":\"c\",\"status\":"
	              "\"done\"}]\n"
	              "text Hello.\n");
}
END_TEST

START_TEST(updates_of_another_session_are_not_told)
{
	OWNED(acp_case) struct acp_case c = { 0 };

	acp_case_open_session(&c);
	acp_case_hears(&c,
	               "{\"method\":\"session/update\",\"params\":{\"sessionId\":\"T\",\"update\":"
	               "{\"sessionUpdate\":\"session_info_update\",\"title\":\"x\"}}}");
	acp_case_told(&c, "");
}
END_TEST

/* ---- what we cannot do, and what nobody should say ---- */

START_TEST(a_request_that_we_do_not_know_gets_an_error_and_a_notification_nothing)
{
	OWNED(acp_case) struct acp_case c = { 0 };

	acp_case_open_session(&c);
	acp_case_hears(
	    &c, "{\"id\":\"x\",\"method\":\"fs/read_text_file\",\"params\":{\"path\":\"/a\"}}");
	acp_case_hears(&c, "{\"method\":\"_auth/status_update\",\"params\":{}}");
	acp_case_told(&c, "");
	acp_case_sent(&c,
	              "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":{\"code\":-32601,\"message\":"
	              "\"method not found: fs/read_text_file\"}}\n");
}
END_TEST

START_TEST(a_batch_is_its_messages)
{
	OWNED(acp_case) struct acp_case c = { 0 };

	acp_case_open_session(&c);
	acp_case_hears(&c, "[{\"id\":1e0,\"method\":\"x\"},{\"id\":2,\"method\":\"y\"},[]]");
	acp_case_sent(&c, "{\"jsonrpc\":\"2.0\",\"id\":1e0,\"error\":{\"code\":-32601,\"message\":"
	                  "\"method not found: x\"}}\n"
	                  "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32601,\"message\":"
	                  "\"method not found: y\"}}\n");
}
END_TEST

START_TEST(whoever_waits_for_a_message_that_was_too_long_is_told)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	OWNED(str) struct str line = { 0 };
	struct err e = { 0 };

	acp_case_open_session(&c);
	ck_assert_int_eq(acp_prompt(&c.acp, "x", 0, &e), 0);
	acp_case_skip(&c);
	str_add(&line, "{\"id\":0,\"method\":\"session/request_permission\",\"params\":\"");
	for (int i = 0; i < (1 << 20) / 16; i++)
		str_add(&line, "0123456789abcdef");
	str_add(&line, "\"}");
	acp_case_hears(&c, line.bytes);
	acp_case_sent(&c, "{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{\"code\":-32603,\"message\":"
	                  "\"message too large\"}}\n");
	str_reset(&line);
	str_add(&line, "{\"id\":3,\"result\":\"");
	for (int i = 0; i < (1 << 20) / 16; i++)
		str_add(&line, "0123456789abcdef");
	str_add(&line, "\"}");
	acp_case_hears(&c, line.bytes);
	acp_case_told(&c,
	              "note warn a message of more than 1048576 bytes was dropped: "
	              "session/request_permission 0\n"
	              "note warn a message of more than 1048576 bytes was dropped: no method 3\n"
	              "turn ended error message too large\n");
}
END_TEST

START_TEST(answers_to_nothing_and_broken_requests_disturb_nothing)
{
	OWNED(acp_case) struct acp_case c = { 0 };

	acp_case_open_session(&c);
	acp_case_hears(&c, "{\"id\":99,\"result\":{}}");
	acp_case_hears(&c, "{\"id\":null,\"error\":{\"code\":-32700,\"message\":\"Parse error\"}}");
	acp_case_hears(&c, "{\"id\":5,\"method\":\"x\",}");
	acp_case_told(&c, "note warn an answer to nothing we asked: id 99, a result\n"
	                  "note warn an answer to nothing we asked: id null, Parse error\n"
	                  "note warn not valid JSON: {\"id\":5,\"method\":\"x\",}\n");
	acp_case_sent(&c, "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":-32700,\"message\":"
	                  "\"not valid JSON\"}}\n");
}
END_TEST

START_TEST(a_request_with_two_ids_is_refused_under_neither)
{
	OWNED(acp_case) struct acp_case c = { 0 };

	acp_case_open_session(&c);
	acp_case_hears(&c, "{\"id\":5,\"method\":\"x\",\"id\":6}");
	acp_case_told(
	    &c, "note warn readers may understand it differently: a name in it is there twice: "
	        "{\"id\":5,\"method\":\"x\",\"id\":6}\n");
	acp_case_sent(&c, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,"
	                  "\"message\":\"readers may understand it differently: a name in it is "
	                  "there twice\"}}\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("acp_turns");
	TCase *c = tcase_create("acp_turns");

	tcase_add_test(c, a_prompt_is_a_turn_and_only_one_is_in_flight);
	tcase_add_test(c, a_turn_ends_for_each_reason_that_there_is);
	tcase_add_test(c, in_version_2_a_turn_is_over_when_the_agent_is_idle);
	tcase_add_test(c, a_turn_that_does_not_end_when_cancelled_is_told);
	tcase_add_test(c, a_stream_that_ends_in_a_turn_ends_the_turn);
	tcase_add_test(c, words_are_told_when_something_else_begins);
	tcase_add_test(c, long_words_are_told_in_parts_that_end_at_a_line_or_a_character);
	tcase_add_test(c, a_tool_call_is_told_whole_however_little_of_it_comes);
	tcase_add_test(c, plans_usage_modes_titles_and_notices_are_told);
	tcase_add_test(c, in_version_2_several_plans_are_one_and_messages_replace_their_chunks);
	tcase_add_test(c, updates_of_another_session_are_not_told);
	tcase_add_test(c, a_request_that_we_do_not_know_gets_an_error_and_a_notification_nothing);
	tcase_add_test(c, a_batch_is_its_messages);
	tcase_add_test(c, whoever_waits_for_a_message_that_was_too_long_is_told);
	tcase_add_test(c, answers_to_nothing_and_broken_requests_disturb_nothing);
	tcase_add_test(c, a_request_with_two_ids_is_refused_under_neither);
	suite_add_tcase(s, c);
	return run_suite(s);
}
