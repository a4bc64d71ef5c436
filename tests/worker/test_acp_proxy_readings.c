/* What two readers of a message may understand differently, and what `agent-intercom acp` makes of
 * it. */
#include "acp_proxy_case.h"

#include <stdlib.h>
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
		{ "\"command\":\"ls\\ttmp\",\"args\":null", "'ls\ttmp'", "ls\\ttmp" },
		{ "\"command\":\"ls\\n\\nRisk: low\"", "'ls\n\nRisk: low'",
		  "ls\\x0a\\x0aRisk: low" },
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
		says(member(q.params, "params.input.tool_input.notes"), reading.bytes);
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

/* ---- names ---- */

#define WRITES "fs/write_text_file"
#define FILE_PARAMS "\"sessionId\":\"s1\",\"path\":\"/x\",\"content\":\"nice\""
#define ASKS "session/request_permission"
#define OPTIONS                                                                                    \
	"\"options\":[{\"optionId\":\"yes\",\"kind\":\"allow_once\"},{\"optionId\":\"no\","        \
	"\"kind\":"                                                                                \
	"\"reject_once\"}]"

/* A request with these params, and this beside them. */
static void requests(struct trio *a, const char *method, const char *params, const char *beside)
{
	OWNED(str) struct str line = { 0 };

	str_addf(&line, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":{%s}%s}",
	         method, params, beside);
	party_say(&a->agent, line.bytes);
}

START_TEST(a_name_that_some_reader_takes_for_another_is_refused)
{
	static const char *const CASES[][3] = {
		{ WRITES, FILE_PARAMS ",\"Path\":\"/etc/passwd\"", "" },
		{ WRITES, FILE_PARAMS ",\"CONTENT\":\"evil\"", "" },
		{ WRITES, FILE_PARAMS ",\"SessionId\":\"s9\"", "" },
		{ WRITES,
		  FILE_PARAMS ",\"\xc5\xbf"
		              "essionId\":\"s9\"",
		  "" },
		{ WRITES, FILE_PARAMS ",\"_Meta\":{}", "" },
		{ WRITES, FILE_PARAMS, ",\"path\":\"/etc/passwd\"" },
		{ WRITES, FILE_PARAMS, ",\"Content\":\"evil\"" },
		{ "terminal/create", "\"sessionId\":\"s1\",\"command\":\"ls\",\"Args\":[\"-R\"]",
		  "" },
		{ ASKS,
		  "\"sessionId\":\"s1\",\"toolCall\":{\"toolCallId\":\"a\",\"kind\":\"execute\","
		  "\"rawInput\":{\"command\":\"ls\"},\"RawInput\":{\"command\":\"rm\"}}," OPTIONS,
		  "" },
		{ ASKS,
		  "\"sessionId\":\"s1\",\"toolCall\":{\"toolCallId\":\"b\",\"\xe2\x84\xaa"
		  "ind\":\"execute\"}," OPTIONS,
		  "" },
		{ ASKS,
		  "\"sessionId\":\"s1\",\"toolCall\":{\"toolCallId\":\"c\",\"content\":[{\"type\":"
		  "\"diff\",\"path\":\"/x\",\"Path\":\"/y\",\"newText\":\"\"}]}," OPTIONS,
		  "" },
		{ ASKS,
		  "\"sessionId\":\"s1\",\"toolCall\":{\"toolCallId\":\"d\"},\"options\":[{"
		  "\"optionId\":"
		  "\"no\",\"OptionId\":\"yes\",\"kind\":\"allow_once\"}]",
		  "" },
	};
	struct trio a = given_trio(NULL);

	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(char_ptr) char *got = NULL;

		requests(&a, CASES[i][0], CASES[i][1], CASES[i][2]);
		got = party_hear(&a.agent);
		ck_assert_msg(got && strstr(got, "\"error\"") && strstr(got, "some take"),
		              "%s%s: %s", CASES[i][1], CASES[i][2], got);
		hears_nothing_but_marks(&a);
	}
	trio_ends(&a, 0);
}
END_TEST

START_TEST(what_the_protocol_does_not_define_is_shown_and_fits_no_rule)
{
	static const char *const CASES[][5] = {
		{ WRITES, FILE_PARAMS ",\"mode\":\"0777\"", "", "fs/write",
		  "Also given: {\"mode\":\"0777\"}" },
		{ WRITES, FILE_PARAMS, ",\"mode\":[7]", "fs/write", "Also given: {\"mode\":[7]}" },
		{ "terminal/create", "\"sessionId\":\"s1\",\"command\":\"ls\",\"type\":\"x\"", "",
		  "terminal", "Also given: {\"type\":\"x\"}" },
		{ ASKS,
		  "\"sessionId\":\"s1\",\"toolCall\":{\"toolCallId\":\"a\",\"kind\":\"execute\","
		  "\"as\":"
		  "\"root\",\"rawInput\":{\"command\":\"ls\"}}," OPTIONS,
		  "", "permission", "Also given: {\"as\":\"root\"}" },
		{ "terminal/create", "\"sessionId\":\"s1\",\"command\":\"ls\",\"env\":\"A=b\"", "",
		  "terminal",
		  "Also given: {\"env\":\"A=b\"}\n\nNo rule allows this unasked; not understood: "
		  "“env”" },
	};
	struct trio a = given_trio(NULL);

	for (size_t i = 0; i < COUNT(CASES); i++) {
		bool is_permission = strcmp(CASES[i][0], ASKS) == 0;
		struct asked q;

		requests(&a, CASES[i][0], CASES[i][1], CASES[i][2]);
		q = front_hears(&a);
		has(q.params, "params.input.tool_name", CASES[i][3]);
		has(q.params, "params.input.risk", i < 2 ? "critical" : "high"); /* /x is outside */
		says(member(q.params, "params.input.tool_input.notes"), CASES[i][4]);
		has(q.params, "params.input.tool_input.content", i < 2 ? "nice" : "ls");
		if (i < 2)
			has(q.params, "params.input.tool_input.paths.0", "/x");
		front_decides(&q, "deny", "not this");
		if (is_permission)
			hears(&a.agent, chosen("1", "no"));
		else
			hears_part(&a.agent, "not this");
		asked_clear(&q);
	}
	trio_ends(&a, 0);
}
END_TEST

START_TEST(what_the_protocol_defines_and_what_is_the_agents_own_is_not_doubted)
{
	static const char *const CASES[][3] = {
		{ WRITES, FILE_PARAMS ",\"_meta\":{\"Path\":1,\"path\":2}", WRITES },
		{ "terminal/create",
		  "\"sessionId\":\"s1\",\"command\":\"ls\",\"args\":null,\"env\":[],\"cwd\":null,"
		  "\"outputByteLimit\":1000,\"_meta\":{}",
		  "terminal/create" },
		{ ASKS,
		  "\"sessionId\":\"s1\",\"toolCall\":{\"toolCallId\":\"a\",\"title\":\"T\","
		  "\"name\":"
		  "\"n\",\"kind\":\"execute\",\"status\":\"pending\",\"locations\":[{\"path\":\"/"
		  "x\","
		  "\"line\":1}],\"content\":[{\"type\":\"content\",\"content\":{\"type\":\"text\","
		  "\"text\":\"t\",\"annotations\":{\"priority\":1}}}],\"rawInput\":{\"command\":"
		  "\"ls\"},"
		  "\"rawOutput\":{\"A\":1,\"a\":2},\"_meta\":{\"Kind\":1}}," OPTIONS,
		  "execute" },
		{ ASKS,
		  "\"sessionId\":\"s1\",\"title\":\"T\",\"description\":\"D\",\"subject\":{"
		  "\"type\":"
		  "\"command\",\"command\":\"ls\",\"cwd\":\"/x\",\"toolCallId\":\"z\"}," OPTIONS,
		  "execute" },
		{ ASKS,
		  "\"sessionId\":\"s1\",\"title\":\"T\",\"toolCall\":null,\"subject\":{\"type\":"
		  "\"tool_call\",\"toolCall\":{\"toolCallId\":\"y\",\"kind\":\"execute\","
		  "\"rawInput\":{\"command\":\"ls\"}},\"_meta\":{}}," OPTIONS,
		  "execute" },
		{ ASKS,
		  "\"sessionId\":\"s1\",\"subject\":{},\"toolCall\":{\"toolCallId\":\"x\","
		  "\"kind\":\"execute\",\"rawInput\":{\"command\":\"ls\"}}," OPTIONS,
		  "execute" },
		{ ASKS,
		  "\"sessionId\":\"s1\",\"toolCall\":{\"toolCallId\":\"b\",\"kind\":\"execute\","
		  "\"rawInput\":{\"command\":\"ls\",\"Command\":\"rm\"}}," OPTIONS,
		  "permission" }, /* asked: the agent's tools are its own */
	};
	struct trio a = given_trio(NULL);

	for (size_t i = 0; i < COUNT(CASES); i++) {
		struct asked q;

		requests(&a, CASES[i][0], CASES[i][1], "");
		q = front_hears(&a);
		has(q.params, "params.input.tool_name", CASES[i][2]);
		front_decides(&q, "deny", "no");
		free(party_hear(&a.agent));
		asked_clear(&q);
	}
	trio_ends(&a, 0);
}
END_TEST

/* A reader of version 1 looks at the one, of version 2 at the other, and of a later one at what
 * this one does not know. */
START_TEST(a_permission_for_two_things_or_of_an_unknown_type_is_shown_whole_and_fits_no_rule)
{
#define READ "\"toolCall\":{\"toolCallId\":\"r\",\"kind\":\"read\",\"rawInput\":{\"path\":\"a\"}}"
#define STATUS "\"subject\":{\"type\":\"command\",\"command\":[\"git\",\"status\"]}"
	static const char *const CASES[][4] = {
		{ "\"toolCall\":{\"toolCallId\":\"w\",\"kind\":\"edit\",\"rawInput\":{"
		  "\"file_path\":\"src/a.c\",\"content\":\"evil\"}}," STATUS,
		  STATUS, "evil" },
		{ "\"toolCall\":{\"toolCallId\":\"d\",\"kind\":\"edit\",\"content\":[{\"type\":"
		  "\"diff\",\"path\":\"/x\",\"newText\":\"evil\"}]}," STATUS,
		  STATUS, "evil", "critical" },
		{ "\"toolCall\":{\"toolCallId\":\"f\",\"kind\":\"fetch\",\"title\":\"evil\"}"
		  "," STATUS,
		  STATUS, "evil" },
		{ "\"toolCall\":{\"toolCallId\":\"e\",\"kind\":\"execute\",\"rawInput\":{"
		  "\"command\":\"evil\"}}," STATUS,
		  STATUS, "evil" },
		{ READ ",\"subject\":{\"type\":\"tool_call\",\"toolCall\":{\"toolCallId\":\"q\","
		       "\"kind\":\"execute\",\"rawInput\":{\"command\":\"evil\"}}}",
		  "\"command\":\"evil\"", "\"paths\":[\"a\"]" },
		{ READ ",\"subject\":\"evil\"", "{\"subject\":\"evil\"}", "" },
		{ "\"subject\":{\"type\":\"shell\",\"command\":[\"evil\"],\"cwd\":\"/etc\"}",
		  "\"command\":[\"evil\"],\"cwd\":\"/etc\"", "" },
		{ "\"subject\":{\"type\":\"Command\",\"command\":[\"evil\"]}", "[\"evil\"]", "" },
		{ "\"subject\":{\"type\":\"shell\",\"toolCall\":{\"toolCallId\":\"s\",\"kind\":"
		  "\"read\"},\"command\":\"evil\"}",
		  "\"command\":\"evil\"", "" },
		{ "\"subject\":{\"type\":\"tool_call\",\"toolCall\":{\"toolCallId\":\"t\",\"kind\":"
		  "\"fetch\"},\"command\":\"evil\"}",
		  "\"command\":\"evil\"", "" },
		{ "\"subject\":{\"type\":\"command\",\"command\":\"ls\",\"toolCall\":{"
		  "\"toolCallId\":\"u\",\"rawInput\":{\"command\":\"evil\"}}}",
		  "\"command\":\"evil\"", "" },
		{ "\"toolCall\":{\"kind\":\"execute\",\"rawInput\":{\"command\":\"evil\"}}",
		  "\"command\":\"evil\"", "" },
	};
#undef STATUS
#undef READ
	struct trio a = given_trio(NULL);

	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(str) struct str params = { 0 };
		const char *notes;
		struct asked q;

		str_addf(&params, "\"sessionId\":\"s1\",\"title\":\"T\",%s," OPTIONS, CASES[i][0]);
		requests(&a, ASKS, params.bytes, "");
		q = front_hears(&a);
		has(q.params, "params.input.tool_name", "permission");
		has(q.params, "params.input.risk", CASES[i][3] ? CASES[i][3] : "high");
		notes = member(q.params, "params.input.tool_input.notes");
		says(notes, "Also given: ");
		says(notes, CASES[i][1]);
		says(q.params, CASES[i][2]);
		front_decides(&q, "deny", "no");
		hears(&a.agent, chosen("1", "no"));
		asked_clear(&q);
	}
	trio_ends(&a, 0);
}
END_TEST

/* Approved was the content alone. */
START_TEST(a_write_with_something_unknown_beside_was_not_approved_as_a_permission)
{
	struct trio a = given_trio(NULL);
	OWNED(str) struct str call = { 0 }, params = { 0 };
	struct asked q;

	str_addf(&call,
	         "{\"toolCallId\":\"c\",\"kind\":\"edit\",\"content\":[{\"type\":\"diff\",\"path\":"
	         "\"%s\",\"oldText\":null,\"newText\":\"one\"}]}",
	         path_in(&a, "a.txt"));
	party_say(&a.agent, permission("1", call.bytes));
	q = front_hears(&a);
	front_decides(&q, "allow", "");
	hears(&a.agent, chosen("1", "yes"));
	asked_clear(&q);
	str_addf(&params, "\"sessionId\":\"s1\",\"path\":\"%s\",\"content\":\"one\",\"mode\":7",
	         path_in(&a, "a.txt"));
	requests(&a, WRITES, params.bytes, "");
	q = front_hears(&a);
	has(q.params, "params.input.risk", "high");
	rejects(&a, &q);
	trio_ends(&a, 0);
}
END_TEST

/* ---- answers ---- */

START_TEST(an_answer_that_names_no_request_does_not_reach_the_agent)
{
	static const char *const ANSWERS[] = {
		"{\"jsonrpc\":\"2.0\",\"result\":{\"outcome\":{\"outcome\":\"selected\","
		"\"optionId\":"
		"\"yes\"}}}",
		"{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-1,\"message\":\"x\"}}",
		"{\"result\":null}",
	};
	struct trio a = given_trio(NULL);

	for (size_t i = 0; i < COUNT(ANSWERS); i++) {
		party_say(&a.editor, ANSWERS[i]);
		hears_nothing_but_marks(&a);
	}
	trio_ends(&a, 0);
}
END_TEST

/* What counts here is what the agent acts on. */
START_TEST(a_choice_that_readers_may_understand_differently_is_none)
{
	static const char *const CHOICES[] = {
		"{\"outcome\":\"selected\",\"optionId\":\"no\",\"optionId\":\"yes\"}",
		"{\"outcome\":\"selected\",\"optionId\":\"no\",\"OptionId\":\"yes\"}",
		"{\"outcome\":\"cancelled\",\"Outcome\":\"selected\",\"optionId\":\"yes\"}",
		"{\"outcome\":\"selected\",\"option\u0131d\":\"yes\",\"optionId\":\"no\"}",
		"{\"outcome\":\"selected\",\"optionId\":\"no\\u0000\"}",
	};
	static const char CHOICE[] = "{\"outcome\":\"selected\",\"optionId\":\"no\",\"note\":1}";
	static const char *const BESIDE[] = {
		",\"Outcome\":{\"outcome\":\"selected\",\"optionId\":\"yes\"}", ""
	};
	static const char BOTH[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-1,\"message\":\"x\"},"
	    "\"result\":{\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"yes\"}}}";
	struct trio a = given_trio(NULL);
	const char *line =
	    permission("3", "{\"toolCallId\":\"c1\",\"kind\":\"execute\",\"rawInput\":{"
	                    "\"command\":\"ls\"}}");
	OWNED(str) struct str good = { 0 };
	struct asked q;

	party_say(&a.agent, line);
	q = front_hears(&a);
	front_asks(&q, true);
	hears(&a.editor, line);
	for (size_t i = 0; i < COUNT(CHOICES) + 1; i++) {
		bool is_choice = i < COUNT(CHOICES);
		OWNED(str) struct str answer = { 0 };

		str_addf(&answer, "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"outcome\":%s%s}}",
		         is_choice ? CHOICES[i] : CHOICE, BESIDE[is_choice]);
		party_say(&a.editor, answer.bytes);
		hears_nothing_but_marks(&a);
	}
	party_say(&a.editor, BOTH);
	hears_nothing_but_marks(&a);
	str_addf(&good, "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":null,\"result\":{\"outcome\":%s}}",
	         CHOICE);
	party_say(&a.editor, good.bytes);
	front_takes(&q, "reject", "applied");
	front_decides(&q, "deny", "");
	hears(&a.agent, good.bytes);
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(what_was_answered_unclearly_can_still_be_cancelled)
{
	static const char CANCEL[] =
	    "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{\"requestId\":3}}";
	struct trio a = given_trio(NULL);
	const char *line = permission("3", "{\"toolCallId\":\"c1\"}");
	struct asked q;

	party_say(&a.agent, line);
	q = front_hears(&a);
	front_asks(&q, true);
	hears(&a.editor, line);
	party_say(&a.editor,
	          "{\"id\":3,\"result\":{\"outcome\":{\"outcome\":\"cancelled\"},\"OUTCOME\":1}}");
	hears_nothing_but_marks(&a);
	party_say(&a.agent, CANCEL);
	hears(&a.editor, CANCEL);
	hears_part(&a.agent, "-32800");
	front_takes(&q, "withdraw", "applied");
	hears_nothing_but_marks(&a);
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

START_TEST(a_session_whose_name_readers_may_understand_differently_is_not_opened)
{
	struct trio a = given_trio_without_session(NULL);

	editor_opens(&a, a.folder,
	             "{\"id\":7,\"result\":{\"sessionId\":\"s1\",\"SessionID\":\"s2\"}}");
	hears_part(&a.editor, "some take");
	party_say(&a.agent, write_of(&a, "1", "x", "x"));
	hears_part(&a.agent, "opened no such session");
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
	tcase_add_test(c, a_name_that_some_reader_takes_for_another_is_refused);
	tcase_add_test(c, what_the_protocol_does_not_define_is_shown_and_fits_no_rule);
	tcase_add_test(c, what_the_protocol_defines_and_what_is_the_agents_own_is_not_doubted);
	tcase_add_test(
	    c, a_permission_for_two_things_or_of_an_unknown_type_is_shown_whole_and_fits_no_rule);
	tcase_add_test(c, a_write_with_something_unknown_beside_was_not_approved_as_a_permission);
	tcase_add_test(c, an_answer_that_names_no_request_does_not_reach_the_agent);
	tcase_add_test(c, a_choice_that_readers_may_understand_differently_is_none);
	tcase_add_test(c, what_was_answered_unclearly_can_still_be_cancelled);
	tcase_add_test(c, a_session_whose_name_readers_may_understand_differently_is_not_opened);
	suite_add_tcase(s, c);
	return run_suite(s);
}
