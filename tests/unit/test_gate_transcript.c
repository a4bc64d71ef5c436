/* Which tools a line of a host's transcript says have run. The lines are recorded, and cut. */
#include "err.h"
#include "gate_transcript.h"
#include "suite.h"

#include <string.h>

static void add(void *arg, const struct gate_ran *ran)
{
	struct str *all = arg;

	str_addf(all, "%s%s%s %s", all->length ? ", " : "", ran->is_input ? "input " : "", ran->use,
	         ran->at);
}

static void says(const char *host, const char *line, const char *expected)
{
	OWNED(str) struct str all = { 0 };

	gate_transcript_read(host, line, strlen(line), add, &all);
	ck_assert_msg(strcmp(str_text(&all), expected) == 0, "%s: %s", line, str_text(&all));
}

#define AT "2026-11-26T11:21:55.241Z"

#define CLAUDE(error, beside)                                                                      \
	"{\"isSidechain\":false,\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":["    \
	"{\"tool_use_id\":\"toolu_1\",\"type\":\"tool_result\",\"content\":\"x\"" error "}]},"     \
	"\"timestamp\":\"" AT "\",\"toolUseResult\":" beside "}"

START_TEST(claude_code_says_which_commands_and_edits_did_not_fail)
{
	says("claude", CLAUDE(",\"is_error\":false", "{\"stdout\":\"\",\"stderr\":\"\"}"),
	     "toolu_1 " AT);
	says("claude", CLAUDE("", "{\"type\":\"create\",\"filePath\":\"/w/a\"}"), "toolu_1 " AT);
	says("claude", CLAUDE(",\"is_error\":true", "{\"stdout\":\"\"}"), "");
	says("claude", CLAUDE(",\"is_error\":true", "\"Error: no\""), "");
	says("claude", CLAUDE("", "{\"type\":\"text\",\"file\":{\"filePath\":\"/w/a\"}}"), "");
}
END_TEST

#define CODEX(item)                                                                                \
	"{\"timestamp\":\"" AT "\",\"type\":\"event_msg\",\"payload\":{"                           \
	"\"type\":\"item_completed\",\"item\":" item "}}"
#define COMMAND(source, status)                                                                    \
	CODEX("{\"type\":\"CommandExecution\",\"id\":\"call_1\",\"source\":\"" source              \
	      "\",\"status\":\"" status "\"}")

START_TEST(codex_says_which_commands_and_edits_were_completed)
{
	says("codex", COMMAND("unified_exec_startup", "completed"), "call_1 " AT);
	says("codex", COMMAND("agent", "completed"), "call_1 " AT);
	says("codex", CODEX("{\"type\":\"FileChange\",\"id\":\"call_2\",\"status\":\"completed\"}"),
	     "call_2 " AT);
	says("codex", COMMAND("agent", "declined"), "");
	says("codex", COMMAND("user_shell", "completed"), ""); /* its user has typed it */
	says("codex", CODEX("{\"type\":\"AgentMessage\",\"id\":\"m\",\"status\":\"completed\"}"),
	     "");
}
END_TEST

#define INPUT(arguments)                                                                           \
	"{\"timestamp\":\"" AT "\",\"type\":\"response_item\",\"payload\":{"                       \
	"\"type\":\"function_call\",\"name\":\"write_stdin\",\"arguments\":\"" arguments           \
	"\",\"call_id\":\"call_3\"}}"
#define TYPED(chars) INPUT("{\\\"session_id\\\":7,\\\"chars\\\":\\\"" chars "\\\"}")

START_TEST(codex_says_what_its_agent_typed_into_a_program)
{
	says("codex", TYPED("!cat s >out\\\\n"), "input call_3 " AT);
	says("codex", TYPED("q"), "input call_3 " AT);
	says("codex", TYPED(""), ""); /* it waits */
	says("codex", TYPED("\\\\u0003"), ""); /* it ends the program */
	says("codex", TYPED(" \\\\r\\\\n"), "");
	says("codex", INPUT("{\\\"session_id\\\":7}"), "");
	says("codex", INPUT("no JSON"), "");
}
END_TEST

#define QWEN(name, status)                                                                         \
	"{\"timestamp\":\"" AT "\",\"type\":\"tool_result\",\"message\":{\"parts\":["              \
	"{\"functionResponse\":{\"id\":\"call_1\",\"name\":\"" name "\"}}]},"                      \
	"\"toolCallResult\":{\"callId\":\"call_1\",\"status\":\"" status "\"}}"

START_TEST(qwen_code_says_which_commands_and_edits_succeeded)
{
	says("qwen", QWEN("run_shell_command", "success"), "call_1 " AT);
	says("qwen", QWEN("write_file", "success"), "call_1 " AT);
	says("qwen", QWEN("write_file", "error"), "");
	says("qwen", QWEN("read_file", "success"), "");
}
END_TEST

START_TEST(a_line_that_is_cut_or_has_no_time_says_nothing)
{
	says("claude", "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\"",
	     "");
	says("claude",
	     "{\"message\":{\"content\":[{\"tool_use_id\":\"t\",\"type\":\"tool_result\"}]},"
	     "\"toolUseResult\":{\"stdout\":\"\"}}",
	     "");
	says("codex", "[\"item_completed\"]", "");
	says("gemini", CLAUDE("", "{\"stdout\":\"\"}"), "");
	ck_assert(gate_transcript_known("qwen") && !gate_transcript_known("gemini"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gate_transcript");
	TCase *c = tcase_create("gate_transcript");

	tcase_add_test(c, claude_code_says_which_commands_and_edits_did_not_fail);
	tcase_add_test(c, codex_says_which_commands_and_edits_were_completed);
	tcase_add_test(c, codex_says_what_its_agent_typed_into_a_program);
	tcase_add_test(c, qwen_code_says_which_commands_and_edits_succeeded);
	tcase_add_test(c, a_line_that_is_cut_or_has_no_time_says_nothing);
	suite_add_tcase(s, c);
	return run_suite(s);
}
