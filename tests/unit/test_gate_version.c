/* Which version of itself a host names to its hooks. */
#include "err.h"
#include "gate_version.h"
#include "suite.h"

#include <stdlib.h>

static void names(const char *host, const char *input, const char *env, const char *version)
{
	OWNED(cJSON_ptr) cJSON *said = cJSON_Parse(input);
	OWNED(cJSON_ptr) cJSON *variables = cJSON_Parse(env);
	OWNED(str) struct str got = { 0 };

	ck_assert(said && variables);
	gate_version_add(gate_host_named(host), said, variables, &got);
	ck_assert_msg(strcmp(str_text(&got), version) == 0, "%s %s %s: %s", host, input, env,
	              str_text(&got));
}

START_TEST(a_version_is_where_the_host_puts_it)
{
	names("claude", "{}", "{\"AI_AGENT\":\"claude-code_2-1-330_harness\"}", "2.1.330");
	names("copilot", "{}", "{\"COPILOT_CLI_BINARY_VERSION\":\"1.0.102\"}", "1.0.102");
	names("qwen", "{}", "{\"QWEN_CODE_STARTUP_VERSION\":\"0.24.4\"}", "0.24.4");
	names("cursor", "{\"cursor_version\":\"3.9.16\"}", "{\"CURSOR_VERSION\":\"3.9.15\"}",
	      "3.9.16");
	names("cursor", "{}", "{\"CURSOR_VERSION\":\"3.9.15\"}", "3.9.15");
	names("copilot", "{}", "{\"COPILOT_CLI_BINARY_VERSION\":\"1.0.103-beta.1\"}",
	      "1.0.103-beta.1");
}
END_TEST

/* One agent may run below another. */
START_TEST(what_another_program_says_of_itself_is_not_its_version)
{
	names("claude", "{}", "{\"AI_AGENT\":\"another_9-9-9_agent\"}", "");
	names("qwen", "{}", "{\"AI_AGENT\":\"claude-code_2-1-330_harness\"}", "");
	names("vscode", "{\"cursor_version\":\"3.9.16\"}", "{}", "");
}
END_TEST

START_TEST(what_is_not_worded_as_a_version_is_none)
{
	names("qwen", "{}", "{\"QWEN_CODE_STARTUP_VERSION\":\"\"}", "");
	names("qwen", "{}", "{\"QWEN_CODE_STARTUP_VERSION\":\"unknown\"}", "");
	names("qwen", "{}", "{\"QWEN_CODE_STARTUP_VERSION\":4}", "");
	names("cursor", "{\"cursor_version\":[\"3\"]}", "{}", "");
	names("qwen", "{}",
	      "{\"QWEN_CODE_STARTUP_VERSION\":\"1111111111111111111111111111111111111111111\"}",
	      "");
	names("qwen", "{}", "{\"QWEN_CODE_STARTUP_VERSION\":\"1.2*\"}", "1.2");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gate_version");
	TCase *c = tcase_create("gate_version");

	tcase_add_test(c, a_version_is_where_the_host_puts_it);
	tcase_add_test(c, what_another_program_says_of_itself_is_not_its_version);
	tcase_add_test(c, what_is_not_worded_as_a_version_is_none);
	suite_add_tcase(s, c);
	return run_suite(s);
}
