/* The program hook: what it asks the front, and how it passes on the answer. */
#include "hook_case.h"

#include "err.h"
#include "gate_wire.h"
#include "json.h"

#include <stdlib.h>
#include <string.h>

static struct front front;

static void setup(void)
{
	given_run_directory();
	front = given_front();
}

START_TEST(the_front_gets_the_hosts_words_and_how_long_the_hook_waits)
{
	OWNED(cJSON_ptr) cJSON *question = NULL;
	OWNED(cJSON_ptr) cJSON *input = cJSON_Parse(WRITE);
	const cJSON *params;
	struct hook h;
	double left;

	(void)setenv("CLAUDE_CODE_SESSION_ID", "s1", 1);
	(void)setenv("AI_AGENT", "claude-code_2-1-330_harness", 1);
	(void)setenv("ANTHROPIC_API_KEY", "secret", 1);
	h = given_hook("claude PreToolUse --deadline 30", WRITE);
	question = cJSON_Parse(front_hears(&front));
	ck_assert_str_eq(json_text(question, "method"), "intercom/hook");
	params = cJSON_GetObjectItem(question, "params");
	ck_assert_str_eq(json_text(params, "host"), "claude");
	ck_assert_str_eq(json_text(params, "event"), "PreToolUse");
	ck_assert_ptr_nonnull(json_text(params, "helper"));
	left = cJSON_GetObjectItem(params, "deadline_ms")->valuedouble;
	ck_assert_msg(left > 20000 && left <= 30000, "%f", left);
	ck_assert(cJSON_Compare(cJSON_GetObjectItem(params, "input"), input, true));
	params = cJSON_GetObjectItem(params, "env");
	ck_assert_str_eq(json_text(params, "CLAUDE_CODE_SESSION_ID"), "s1");
	ck_assert_str_eq(json_text(params, "AI_AGENT"), "claude-code_2-1-330_harness");
	ck_assert_ptr_null(json_text(params, "ANTHROPIC_API_KEY"));
	front_answers(&front, "{\"decision\":\"allow\"}");
	is_said(&h, "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\","
	            "\"permissionDecision\":\"allow\"}}");
}
END_TEST

START_TEST(a_hook_cannot_gain_privileges)
{
	struct hook h = given_hook("claude PreToolUse", WRITE);
	OWNED(char_ptr) char *bound = NULL;

	(void)front_hears(&front);
	bound = process_status(h.pid, "NoNewPrivs");
	ck_assert_str_eq(bound, "1");
	front_answers(&front, "{\"decision\":\"deny\",\"reason\":\"no\"}");
	is_denied(&h, "no");
}
END_TEST

START_TEST(a_deny_is_one_line_of_json_a_reason_and_status_2)
{
	struct hook h = given_hook("claude PreToolUse", WRITE);

	(void)front_hears(&front);
	front_answers(&front, "{\"decision\":\"deny\",\"reason\":\"not on a Friday\"}");
	is_denied(&h, "not on a Friday");
}
END_TEST

START_TEST(an_input_is_passed_on_with_its_numbers_as_they_are_written)
{
	struct hook h = given_hook("claude PreToolUse", WRITE);

	(void)front_hears(&front);
	front_answers(&front, "{\"decision\":\"allow\",\"input\":{\"id\":9007199254740993}}");
	is_said(&h, "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\","
	            "\"permissionDecision\":\"allow\",\"updatedInput\":{\"id\":"
	            "9007199254740993}}}");
}
END_TEST

START_TEST(each_decision_is_passed_on)
{
	static const struct {
		const char *arguments, *input, *result, *said;
	} CASES[] = {
		{ "claude PreToolUse",
		  "{\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"a\"}}",
		  "{\"decision\":\"allow\",\"input\":{\"command\":\"b\"}}",
		  "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\","
		  "\"permissionDecision\":\"allow\",\"updatedInput\":{\"command\":\"b\"}}}" },
		{ "claude PreToolUse", "{\"tool_name\":\"Bash\"}", "{\"decision\":\"none\"}", "" },
		{ "codex PreToolUse", "{\"tool_name\":\"Bash\"}", "{\"decision\":\"allow\"}", "" },
		{ "claude Stop", "{}", "{\"decision\":\"none\",\"continue\":\"now the tests\"}",
		  "{\"decision\":\"block\",\"reason\":\"now the tests\"}" },
		{ "claude SessionStart", "{}", "{\"decision\":\"none\",\"context\":\"welcome\"}",
		  "{\"hookSpecificOutput\":{\"hookEventName\":\"SessionStart\","
		  "\"additionalContext\":\"welcome\"}}" },
		{ "claude PermissionRequest", "{\"tool_name\":\"Bash\"}",
		  "{\"decision\":\"allow\"}",
		  "{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\","
		  "\"decision\":{\"behavior\":\"allow\"}}}" },
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		struct hook h = given_hook(CASES[i].arguments, CASES[i].input);

		(void)front_hears(&front);
		front_answers(&front, CASES[i].result);
		is_said(&h, CASES[i].said);
		front_hangs_up(&front);
	}
}
END_TEST

START_TEST(a_host_that_did_not_say_that_it_can_end_is_denied_instead)
{
	struct hook h = given_hook("claude PreToolUse", WRITE);

	ck_assert_ptr_null(strstr(front_hears(&front), "\"process\""));
	front_answers(&front, "{\"decision\":\"defer\",\"reason\":\"it waits\"}");
	is_denied(&h, "it waits");
}
END_TEST

START_TEST(line_breaks_between_parts_of_the_json_do_not_break_the_line)
{
	struct hook h = given_hook("claude PreToolUse",
	                           "\r\n{\n \"tool_name\": \"Bash\",\r\n \"tool_input\": {\n"
	                           "\"command\": \"a\\nb\"}\n}\n\n");
	OWNED(cJSON_ptr) cJSON *question = cJSON_Parse(front_hears(&front));
	const cJSON *input = cJSON_GetObjectItem(cJSON_GetObjectItem(question, "params"), "input");

	ck_assert_ptr_nonnull(question);
	ck_assert_str_eq(json_text(cJSON_GetObjectItem(input, "tool_input"), "command"), "a\nb");
	front_answers(&front, "{\"decision\":\"none\"}");
	is_said(&h, "");
}
END_TEST

START_TEST(progress_is_shown_by_a_host_that_takes_it_and_by_no_other)
{
	static const char WAITS[] =
	    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"message\":"
	    "\"waiting for approval\"}}";
	struct hook h = given_hook("copilot preToolUse", "{\"toolName\":\"bash\",\"toolArgs\":{}}");

	(void)front_hears(&front);
	front_words(&front, WAITS);
	front_words(&front, WAITS);
	front_answers(&front, "{\"decision\":\"allow\"}");
	is_said(&h, "{\"type\":\"progress\",\"message\":\"waiting for approval\","
	            "\"temporary\":true}\n{\"type\":\"progress\",\"message\":\"waiting for "
	            "approval\",\"temporary\":true}\n{\"permissionDecision\":\"allow\"}");
	front_hangs_up(&front);

	h = given_hook("claude PreToolUse", WRITE);
	(void)front_hears(&front);
	front_words(&front, WAITS);
	front_answers(&front, "{\"decision\":\"none\"}");
	is_said(&h, "");
}
END_TEST

START_TEST(an_answer_may_come_in_pieces)
{
	struct hook h = given_hook("claude PreToolUse", WRITE);
	OWNED(str) struct str words = { 0 };
	char byte[2] = "";

	(void)front_hears(&front);
	gate_wire_add_failure(&words, front.host, front.event, "pieces");
	for (const char *at = str_text(&words); *at; at++) {
		byte[0] = *at;
		front_says(&front, byte);
	}
	is_denied(&h, "agent-intercom: pieces");
}
END_TEST

START_TEST(a_reason_of_several_lines_arrives_as_it_is)
{
	struct hook h = given_hook("claude PreToolUse", WRITE);

	(void)front_hears(&front);
	front_answers(&front, "{\"decision\":\"deny\",\"reason\":\"one\\n\\n>two\\n=0\"}");
	ck_assert_int_eq(hook_end(&h), 2);
	ck_assert_str_eq(str_text(&h.why), "one\n\n>two\n=0\n");
	hook_clear(&h);
}
END_TEST

START_TEST(an_input_of_nearly_4_mib_is_asked_about)
{
	enum { BYTES = 3900000 };
	OWNED(str) struct str input = { 0 };
	OWNED(char_ptr) char *content = xcalloc(BYTES + 1, 1);
	struct hook h = hook_start("claude PreToolUse");
	const char *question;

	memset(content, 'a', BYTES);
	str_addf(&input, "{\"tool_name\":\"Write\",\"tool_input\":{\"content\":\"%s\"}}", content);
	hook_feed(&h, str_text(&input));
	hook_feed_end(&h);
	question = front_hears(&front);
	ck_assert_uint_gt(strlen(question), BYTES);
	front_answers(&front, "{\"decision\":\"none\"}");
	is_said(&h, "");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hook_answers");
	TCase *c = tcase_create("hook_answers");

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, the_front_gets_the_hosts_words_and_how_long_the_hook_waits);
	tcase_add_test(c, a_hook_cannot_gain_privileges);
	tcase_add_test(c, a_deny_is_one_line_of_json_a_reason_and_status_2);
	tcase_add_test(c, an_input_is_passed_on_with_its_numbers_as_they_are_written);
	tcase_add_test(c, each_decision_is_passed_on);
	tcase_add_test(c, a_host_that_did_not_say_that_it_can_end_is_denied_instead);
	tcase_add_test(c, line_breaks_between_parts_of_the_json_do_not_break_the_line);
	tcase_add_test(c, progress_is_shown_by_a_host_that_takes_it_and_by_no_other);
	tcase_add_test(c, an_answer_may_come_in_pieces);
	tcase_add_test(c, a_reason_of_several_lines_arrives_as_it_is);
	tcase_add_test(c, an_input_of_nearly_4_mib_is_asked_about);
	suite_add_tcase(s, c);
	return run_suite(s);
}
