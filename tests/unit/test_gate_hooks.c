/* Which programs the hooks in hosts' files start. */
#include "gate_hooks.h"
#include "suite.h"

static void starts(const char *host, const char *text, const char *programs)
{
	OWNED(texts) struct texts found = { 0 };
	OWNED(str) struct str all = { 0 };

	gate_hooks_programs(host, text, &found);
	for (size_t i = 0; i < found.count; i++)
		str_addf(&all, "%s%s", i ? " + " : "", found.items[i]);
	ck_assert_msg(strcmp(str_text(&all), programs) == 0, "%s: %s", text, str_text(&all));
}

START_TEST(the_program_of_a_command_line_is_found_quoted_or_not)
{
	starts("claude", "{\"command\": \"/opt/hook claude PreToolUse --deadline 9\"}",
	       "/opt/hook");
	starts("claude", "{\"command\": \"'/opt/x y/hook' claude Stop\"}", "/opt/x y/hook");
	starts("codex", "command = \"/opt/hook codex Stop\"\ncommand = '/opt/hook codex Stop'\n",
	       "/opt/hook");
	starts("qwen", "[\"/a/hook qwen Stop\",\"/b/hook qwen Stop\",\"/a/hook qwen X\"]",
	       "/a/hook + /b/hook");
	starts("opencode", "// agent-intercom 1\nconst HOOK = \"/opt/x y/hook\";\n",
	       "/opt/x y/hook");
}
END_TEST

START_TEST(programs_of_others_and_paths_that_are_not_plain_are_left_out)
{
	starts("claude", "{\"command\": \"/opt/hook codex PreToolUse\"}", "");
	starts("claude", "{\"command\": \"./hook claude PreToolUse\"}", "");
	starts("claude", "{\"command\": \"'/opt/it'\\\\''s/hook' claude PreToolUse\"}", "");
	starts("opencode", "const HOOK = \"/opt/hook\";\n", "");
	starts("opencode", "// agent-intercom 1\nconst HOOK = \"/opt/hook", "");
	starts("claude", "", "");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gate_hooks");
	TCase *c = tcase_create("gate_hooks");

	tcase_add_test(c, the_program_of_a_command_line_is_found_quoted_or_not);
	tcase_add_test(c, programs_of_others_and_paths_that_are_not_plain_are_left_out);
	suite_add_tcase(s, c);
	return run_suite(s);
}
