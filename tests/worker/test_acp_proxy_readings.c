/* What two readers of a message may understand differently, and what `agent-intercom acp` makes of
 * it. */
#include "acp_proxy_case.h"

#include <stdio.h>
#include <string.h>

/* terminal/create of the session s1 with these params beside. */
static void asks_for(struct trio *a, const char *id, const char *params)
{
	OWNED(str) struct str line = { 0 };

	str_addf(&line,
	         "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"terminal/create\",\"params\":{"
	         "\"sessionId\":\"s1\",%s}}",
	         id, params);
	party_say(&a->agent, line.bytes);
}

static void rejects(struct trio *a, struct asked *q)
{
	front_decides(q, "deny", "not this");
	hears_part(&a->agent, "not this");
	asked_clear(q);
}

/* Some editors start a program of that name, others have a shell read it. */
START_TEST(a_command_that_a_shell_may_read_is_shown_as_both_and_fits_no_rule)
{
	static const char *const CASES[][3] = {
		{ "\"command\":\"ls docs/evil\"", "'ls docs/evil'", "ls docs/evil" },
		{ "\"command\":\"ls docs/evil\",\"args\":[]", "'ls docs/evil'", "ls docs/evil" },
		{ "\"command\":\"make it/so\",\"args\":[\"-n\",\"x y\"]", "'make it/so' -n 'x y'",
		  "make it/so -n 'x y'" },
		{ "\"command\":\"ls\\ttmp\",\"args\":null", "'ls\ttmp'", "ls\ttmp" },
		{ "\"command\":\"ls;id\"", "'ls;id'", "ls;id" },
		{ "\"command\":\"~/ls\"", "'~/ls'", "~/ls" },
		{ "\"command\":\"A=b\",\"args\":[\"ls\"]", "A=b ls", "A=b ls" },
		{ "\"command\":\"bash \",\"args\":[\"-c\",\"ls\"]", "'bash ' -c ls",
		  "bash  -c ls" },
	};
	struct trio a = given_trio(NULL);

	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(str) struct str reading = { 0 };
		struct asked q;

		asks_for(&a, "1", CASES[i][0]);
		q = front_hears(&a);
		has(q.params, "params.input.tool_name", "terminal");
		has(q.params, "params.input.risk", "high");
		has(q.params, "params.input.tool_input.content", CASES[i][1]);
		str_addf(&reading, "Or, where the editor has a shell read it: %s", CASES[i][2]);
		has(q.params, "params.input.tool_input.description", reading.bytes);
		rejects(&a, &q);
	}
	asks_for(&a, "2", "\"command\":\"./ls\",\"args\":[\"a b\"]");
	struct asked q = front_hears(&a);

	has(q.params, "params.input.tool_name", "terminal/create");
	has(q.params, "params.input.tool_input.command", "./ls 'a b'");
	rejects(&a, &q);
	trio_ends(&a, 0);
}
END_TEST

/* The permission was for a shell's line. */
START_TEST(a_command_that_a_shell_may_read_was_not_approved_as_a_permission)
{
	struct trio a = given_trio(NULL);
	struct asked q;

	party_say(&a.agent, permission("1", "{\"toolCallId\":\"c1\",\"kind\":\"execute\","
	                                    "\"rawInput\":{\"command\":\"npm test\"}}"));
	q = front_hears(&a);
	front_decides(&q, "allow", "");
	hears(&a.agent, chosen("1", "yes"));
	asked_clear(&q);
	asks_for(&a, "2", "\"command\":\"npm test\"");
	q = front_hears(&a);
	rejects(&a, &q);
	hears_nothing_but_marks(&a);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(a_program_of_a_permission_that_has_arguments_is_quoted_as_they_are)
{
	struct trio a = given_trio(NULL);
	struct asked q;

	party_say(&a.agent, permission("1", "{\"toolCallId\":\"c1\",\"kind\":\"execute\","
	                                    "\"rawInput\":{\"command\":\"ls docs/evil\","
	                                    "\"args\":[\"-l\"]}}"));
	q = front_hears(&a);
	has(q.params, "params.input.tool_name", "permission");
	has(q.params, "params.input.tool_input.content", "'ls docs/evil' -l");
	front_decides(&q, "deny", "no");
	hears(&a.agent, chosen("1", "no"));
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("acp_proxy_readings");
	TCase *c = tcase_create("acp_proxy_readings");

	tcase_set_timeout(c, 60);
	tcase_add_test(c, a_command_that_a_shell_may_read_is_shown_as_both_and_fits_no_rule);
	tcase_add_test(c, a_command_that_a_shell_may_read_was_not_approved_as_a_permission);
	tcase_add_test(c, a_program_of_a_permission_that_has_arguments_is_quoted_as_they_are);
	suite_add_tcase(s, c);
	return run_suite(s);
}
