/* What mcp-front makes of its answers for a hook, line by line. */
#include "err.h"
#include "gate_wire.h"
#include "suite.h"

#include <string.h>

static void is_worded(const char *host, const char *event, const char *message, const char *words)
{
	OWNED(str) struct str got = { 0 };

	gate_wire_add_message(&got, gate_host_named(host), event, message, strlen(message));
	ck_assert_msg(strcmp(str_text(&got), words) == 0, "of %s\n%s\nnot\n%s", message,
	              str_text(&got), words);
}

START_TEST(an_answer_is_the_hosts_words_and_a_status)
{
	is_worded("cursor", "preToolUse", "{\"id\":1,\"result\":{\"decision\":\"allow\"}}",
	          ">{\"permission\":\"allow\"}\n=0\n");
	is_worded("cursor", "preToolUse",
	          "{\"id\":1,\"result\":{\"decision\":\"deny\",\"reason\":\"a\\nb\"}}",
	          ">{\"permission\":\"deny\",\"user_message\":\"a\\nb\",\"agent_message\":"
	          "\"a\\nb\"}\n!a\n!b\n=2\n");
	is_worded("claude", "PreToolUse", "{\"id\":1,\"result\":{\"decision\":\"none\"}}", "=0\n");
	is_worded("claude", "PreToolUse",
	          "{\"id\":1,\"result\":{\"decision\":\"allow\",\"input\":{\"id\":"
	          "9007199254740993}}}",
	          ">{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\","
	          "\"permissionDecision\":\"allow\",\"updatedInput\":{\"id\":"
	          "9007199254740993}}}\n=0\n");
}
END_TEST

START_TEST(a_wait_is_told_to_a_host_that_shows_it)
{
	static const char WAITS[] = "{\"method\":\"notifications/progress\",\"params\":{"
	                            "\"message\":\"waiting\"}}";

	is_worded("copilot", "preToolUse", WAITS,
	          "+{\"type\":\"progress\",\"message\":\"waiting\",\"temporary\":true}\n");
	is_worded("claude", "PreToolUse", WAITS, "");
	is_worded("copilot", "preToolUse", "{\"method\":\"notifications/message\"}", "");
}
END_TEST

START_TEST(a_process_that_may_end_is_told_what_to_say_if_it_cannot)
{
	is_worded("claude", "PreToolUse",
	          "{\"id\":1,\"result\":{\"decision\":\"defer\",\"reason\":\"it waits\"}}",
	          "?\n>{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\","
	          "\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"it waits\"}}\n"
	          "!it waits\n=2\n");
}
END_TEST

START_TEST(an_answer_that_makes_no_sense_is_a_deny_before_a_tool_and_silence_after_it)
{
	static const struct {
		const char *message, *why;
	} BAD[] = {
		{ "{\"id\":1}", "has no result" },
		{ "garbage", "has no result" },
		{ "{\"id\":1,\"result\":7}", "has no result" },
		{ "{\"id\":1,\"result\":{}}", "no decision" },
		{ "{\"id\":1,\"result\":{\"decision\":\"perhaps\"}}", "no decision" },
		{ "{\"id\":1,\"result\":{\"decision\":1}}", "no decision" },
		{ "{\"id\":1,\"result\":{\"decision\":\"allow\",\"input\":\"x\"}}", "no object" },
		{ "{\"id\":1,\"error\":{\"code\":-32601,\"message\":\"no such method\"}}",
		  "no such method" },
		{ "{\"id\":1,\"error\":{}}", "without a reason" },
		{ "{\"id\":1,\"error\":{},\"result\":{\"decision\":\"allow\"}}",
		  "without a reason" },
	};

	for (size_t i = 0; i < COUNT(BAD); i++) {
		OWNED(str) struct str got = { 0 };

		gate_wire_add_message(&got, gate_host_named("claude"), "PreToolUse", BAD[i].message,
		                      strlen(BAD[i].message));
		ck_assert_msg(strstr(str_text(&got), BAD[i].why) != NULL, "%s", str_text(&got));
		ck_assert_ptr_nonnull(strstr(str_text(&got), ":\"deny\""));
		ck_assert_ptr_nonnull(strstr(str_text(&got), "\n=2\n"));
		is_worded("claude", "Stop", BAD[i].message, "=0\n");
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gate_wire");
	TCase *c = tcase_create("gate_wire");

	tcase_add_test(c, an_answer_is_the_hosts_words_and_a_status);
	tcase_add_test(c, a_wait_is_told_to_a_host_that_shows_it);
	tcase_add_test(c, a_process_that_may_end_is_told_what_to_say_if_it_cannot);
	tcase_add_test(c,
	               an_answer_that_makes_no_sense_is_a_deny_before_a_tool_and_silence_after_it);
	suite_add_tcase(s, c);
	return run_suite(s);
}
