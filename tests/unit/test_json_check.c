/* Bytes that are one JSON value, and such that are not. */
#include "harness.h"
#include "json_check.h"

#include <string.h>

static bool is_whole(const char *text)
{
	return json_check_is_whole(text, strlen(text));
}

START_TEST(a_value_with_blanks_around_it_is_whole)
{
	static const char *const TEXTS[] = {
		"{}",
		" [] \r\n",
		"\t{ \"a\" : [ 1 , -2.5e+10 , 0 , 0.5 , 1E9 , true , false , null , \"\" ] , "
		"\"b\":{} }",
		"[[],{},[{}]]",
		"\"\\u00e9\\\\\\\"\\/\\b\\f\\n\\r\\t\x7f\xc3\xa9\"",
		"0",
		"-0",
		"10",
		"1.50\n",
		"1e05",
		"null ",
	};

	for (size_t i = 0; i < COUNT(TEXTS); i++)
		ck_assert_msg(is_whole(TEXTS[i]), "%s", TEXTS[i]);
}
END_TEST

START_TEST(what_is_less_or_more_than_a_value_is_not_whole)
{
	static const char *const TEXTS[] = {
		"",          " ",
		"{",         "{\"a\"",
		"{\"a\":",   "{\"a\":1",
		"{\"a\":1,", "{\"a\":1,}",
		"[1,]",      "[,1]",
		"[1 2]",     "[1",
		"[}",        "{]",
		"[1}",       "{1:2}",
		"{a:1}",     "{\"a\" 1}",
		"{'a':1}",   "'a'",
		"\"a",       "\"\\",
		"\"\\x\"",   "\"\\u00g0\"",
		"\"\\u00\"", "\"a\tb\"",
		"{}{}",      "{} 1",
		"1,2",       "]",
		"}",         ",",
		":",         "\"method\":\"x\"}",
		"01",        "-01",
		"00",        "-",
		"+1",        ".5",
		"1.",        "1.e5",
		"1e",        "1e+",
		"0x1",       "NaN",
		"tru",       "truer",
		"nul l",     "// x",
		"{} // x",   "\xef\xbb\xbf{}",
		"\v1",
	};

	for (size_t i = 0; i < COUNT(TEXTS); i++)
		ck_assert_msg(!is_whole(TEXTS[i]), "%s", TEXTS[i]);
}
END_TEST

START_TEST(a_nul_byte_is_in_no_value)
{
	static const char *const TEXTS[] = { "\"\\", "\"", "[", "1", "t" };

	for (size_t i = 0; i < COUNT(TEXTS); i++)
		ck_assert(!json_check_is_whole(TEXTS[i], strlen(TEXTS[i]) + 1));
	ck_assert(!json_check_is_whole("\"\0\"", 3));
	ck_assert(!json_check_is_blank(" ", 2));
}
END_TEST

START_TEST(a_value_may_be_nested_so_deep_and_no_deeper)
{
	for (int more = 0; more < 2; more++) {
		OWNED(str) struct str text = { 0 };

		for (int i = 0; i < JSON_CHECK_DEPTH / 2; i++)
			str_add(&text, "{\"a\":[");
		str_add(&text, more ? "[]" : "");
		for (int i = 0; i < JSON_CHECK_DEPTH / 2; i++)
			str_add(&text, "]}");
		ck_assert_int_eq(is_whole(str_text(&text)), !more);
	}
}
END_TEST

START_TEST(blanks_alone_are_blank)
{
	ck_assert(json_check_is_blank("", 0));
	ck_assert(json_check_is_blank(" \t\r\n", 4));
	ck_assert(!json_check_is_blank(" \t\r\nx", 5));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("json_check");
	TCase *c = tcase_create("json_check");

	suite_add_tcase(s, c);
	tcase_add_test(c, a_value_with_blanks_around_it_is_whole);
	tcase_add_test(c, what_is_less_or_more_than_a_value_is_not_whole);
	tcase_add_test(c, a_nul_byte_is_in_no_value);
	tcase_add_test(c, a_value_may_be_nested_so_deep_and_no_deeper);
	tcase_add_test(c, blanks_alone_are_blank);
	return run_suite(s);
}
