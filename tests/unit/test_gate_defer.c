/* What a transcript of Claude Code says of a call: whether its process may end with it. */
#include "gate_defer.h"
#include "suite.h"

#define CALL(id) "{\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"Bash\",\"input\":{}}"
#define LINE(message, version, more, content)                                                      \
	"{\"type\":\"assistant\",\"version\":\"" version "\"" more                                 \
	",\"message\":{\"id\":\"" message "\",\"content\":[" content "]}}\n"

static const char ALONE[] = LINE("m1", "2.1.330", "", CALL("a"))
    LINE("m2", "2.1.330", ",\"isSidechain\":false", "{\"type\":\"text\",\"text\":\"use b\"}")
        LINE("m2", "2.1.330", ",\"isSidechain\":false", CALL("b"));

START_TEST(a_call_that_is_alone_in_its_message_may_end_the_process)
{
	ck_assert_int_eq(gate_defer_find(gate_host_named("claude"), ALONE, "b"), GATE_DEFER_ALONE);
	ck_assert_int_eq(gate_defer_find(gate_host_named("claude"), ALONE, "a"), GATE_DEFER_ALONE);
}
END_TEST

START_TEST(the_text_may_begin_within_a_line)
{
	ck_assert_int_eq(gate_defer_find(gate_host_named("claude"), ALONE + 20, "b"),
	                 GATE_DEFER_ALONE);
	ck_assert_int_eq(gate_defer_find(gate_host_named("claude"), ALONE + 20, "a"),
	                 GATE_DEFER_UNKNOWN);
}
END_TEST

START_TEST(of_several_calls_of_a_message_none_may)
{
	static const char LINES[] =
	    LINE("m1", "2.1.330", "", CALL("a")) LINE("m1", "2.1.330", "", CALL("b"));
	static const char TOGETHER[] = LINE("m1", "2.1.330", "", CALL("a") "," CALL("b"));

	ck_assert_int_eq(gate_defer_find(gate_host_named("claude"), LINES, "a"), GATE_DEFER_WRONG);
	ck_assert_int_eq(gate_defer_find(gate_host_named("claude"), LINES, "b"), GATE_DEFER_WRONG);
	ck_assert_int_eq(gate_defer_find(gate_host_named("claude"), TOGETHER, "b"),
	                 GATE_DEFER_WRONG);
}
END_TEST

START_TEST(a_call_of_a_subagent_may_not)
{
	static const char ASIDE[] = LINE("m1", "2.1.330", ",\"isSidechain\":true", CALL("a"));

	ck_assert_int_eq(gate_defer_find(gate_host_named("claude"), ASIDE, "a"), GATE_DEFER_WRONG);
}
END_TEST

START_TEST(only_versions_that_are_known_may)
{
	static const struct {
		const char *text;
		bool known;
	} CASES[] = {
		{ LINE("m", "2.1.331", "", CALL("a")), true },
		{ LINE("m", "2.1.1000", "", CALL("a")), true },
		{ LINE("m", "2.2.0", "", CALL("a")), false },
		{ LINE("m", "2.2", "", CALL("a")), false },
		{ LINE("m", "2.1.330.1", "", CALL("a")), true },
		{ LINE("m", "3.0.0", "", CALL("a")), false },
		{ LINE("m", "2.1.99", "", CALL("a")), false },
		{ LINE("m", "2.1", "", CALL("a")), false },
		{ LINE("m", "1.9.999", "", CALL("a")), false },
		{ LINE("m", "", "", CALL("a")), false },
		{ LINE("m", "new", "", CALL("a")), false },
		{ "{\"message\":{\"id\":\"m\",\"content\":[" CALL("a") "]}}\n", false },
	};

	for (size_t i = 0; i < COUNT(CASES); i++)
		ck_assert_msg(gate_defer_find(gate_host_named("claude"), CASES[i].text, "a") ==
		                  (CASES[i].known ? GATE_DEFER_ALONE : GATE_DEFER_WRONG),
		              "%s", CASES[i].text);
}
END_TEST

START_TEST(what_does_not_show_the_call_says_nothing)
{
	static const char *const TEXTS[] = {
		"",
		"\n",
		LINE("m", "2.1.330", "", "{\"type\":\"text\",\"text\":\"a\"}"),
		LINE("m", "2.1.330", "", CALL("ab")),
		"{\"version\":\"2.1.330\",\"message\":{\"content\":[" CALL("a") "]}}\n",
		"{\"version\":\"2.1.330\",\"message\":{\"id\":\"m\",\"content\":[" CALL(
		    "a") "]}}", /* without its end */
		"not JSON with a\n",
		"[\"a\"]\n",
		"{\"message\":\"a\"}\n",
		"{\"message\":{\"id\":\"a\",\"content\":\"a\"}}\n",
	};

	for (size_t i = 0; i < COUNT(TEXTS); i++)
		ck_assert_msg(gate_defer_find(gate_host_named("claude"), TEXTS[i], "a") ==
		                  GATE_DEFER_UNKNOWN,
		              "%s", TEXTS[i]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gate_defer");
	TCase *c = tcase_create("gate_defer");

	tcase_add_test(c, a_call_that_is_alone_in_its_message_may_end_the_process);
	tcase_add_test(c, the_text_may_begin_within_a_line);
	tcase_add_test(c, of_several_calls_of_a_message_none_may);
	tcase_add_test(c, a_call_of_a_subagent_may_not);
	tcase_add_test(c, only_versions_that_are_known_may);
	tcase_add_test(c, what_does_not_show_the_call_says_nothing);
	suite_add_tcase(s, c);
	return run_suite(s);
}
