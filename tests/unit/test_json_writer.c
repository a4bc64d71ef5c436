/* JSON written part by part. */
#include "err.h"
#include "json_writer.h"
#include "suite.h"

START_TEST(commas_stand_between_members_and_items_only)
{
	OWNED(str) struct str out = { 0 };

	json_object(&out);
	json_member_array(&out, "none");
	json_array_end(&out);
	json_member_array(&out, "items");
	json_item(&out, "a");
	json_item(&out, "b");
	json_array(&out);
	json_array_end(&out);
	json_object(&out);
	json_member_object(&out, "empty");
	json_object_end(&out);
	json_member_int(&out, "n", -1);
	json_object_end(&out);
	json_array_end(&out);
	json_member_bool(&out, "yes", true);
	json_member_bool(&out, "no", false);
	json_member_null(&out, "nothing");
	json_member_raw(&out, "raw", "[1]");
	json_member(&out, "text", "end");
	json_object_end(&out);

	ck_assert_str_eq(out.bytes,
	                 "{\"none\":[],\"items\":[\"a\",\"b\",[],{\"empty\":{},\"n\":-1}],"
	                 "\"yes\":true,\"no\":false,\"nothing\":null,\"raw\":[1],"
	                 "\"text\":\"end\"}");
}
END_TEST

START_TEST(a_text_that_ends_like_an_opening_bracket_is_followed_by_a_comma)
{
	static const char *const TEXTS[] = { "{", "[", ":", ",", " ", "\n", "" };
	OWNED(str) struct str out = { 0 };

	json_object(&out);
	for (size_t i = 0; i < COUNT(TEXTS); i++)
		json_member(&out, TEXTS[i], TEXTS[i]);
	json_object_end(&out);

	ck_assert_str_eq(out.bytes, "{\"{\":\"{\",\"[\":\"[\",\":\":\":\",\",\":\",\",\" \":\" \","
	                            "\"\\n\":\"\\n\",\"\":\"\"}");
}
END_TEST

START_TEST(a_member_without_text_is_left_out)
{
	OWNED(str) struct str out = { 0 };

	json_object(&out);
	json_member(&out, "a", NULL);
	json_member(&out, "b", "\"");
	json_object_end(&out);

	ck_assert_str_eq(out.bytes, "{\"b\":\"\\\"\"}");
}
END_TEST

START_TEST(an_object_goes_on_where_another_ended)
{
	OWNED(str) struct str out = { 0 };

	json_array(&out);
	json_object_from(&out, "{}");
	json_member_int(&out, "a", 1);
	json_object_end(&out);
	json_object_from(&out, "{\"a\":\"}\"}");
	json_member_int(&out, "b", 2);
	json_object_end(&out);
	json_array_end(&out);

	ck_assert_str_eq(out.bytes, "[{\"a\":1},{\"a\":\"}\",\"b\":2}]");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("json_writer");
	TCase *c = tcase_create("json_writer");

	tcase_add_test(c, commas_stand_between_members_and_items_only);
	tcase_add_test(c, a_text_that_ends_like_an_opening_bracket_is_followed_by_a_comma);
	tcase_add_test(c, a_member_without_text_is_left_out);
	tcase_add_test(c, an_object_goes_on_where_another_ended);
	suite_add_tcase(s, c);
	return run_suite(s);
}
