/* JSON as it is read, shown and bound. */
#include "harness.h"
#include "json.h"

#include <stdlib.h>
#include <string.h>

/* What a text becomes when it is read and printed, "": it is not JSON. */
static void becomes(const char *text, const char *expected)
{
	OWNED(cJSON_ptr) cJSON *value = json_read(text, strlen(text), NULL);
	OWNED(cJSON_ptr) cJSON *copy = cJSON_Duplicate(value, true);
	OWNED(str) struct str canonical = { 0 };
	char *printed = cJSON_PrintUnformatted(copy);

	if (value)
		json_canonical(&canonical, value);
	ck_assert_msg(strcmp(str_text(&canonical), expected) == 0, "%s: %s", text,
	              str_text(&canonical));
	ck_assert_msg(!value || strcmp(printed, expected) == 0, "%s: %s", text, printed);
	cJSON_free(printed);
}

START_TEST(a_number_that_a_double_does_not_hold_keeps_its_text)
{
	static const char *const TEXTS[] = {
		"[9007199254740993]",
		"[-9007199254740993]",
		"[18446744073709551615]",
		"[1e400,2E+400,1e-400]",
		"[0.1000000000000000055]",
		"[-0]",
		"{\"a\":[{\"id\":9007199254740993},1],\"b\":\"9007199254740993\",\"c\":1e400}",
		"{\"1e400\":\"\\\\\\\"1e400\",\"b\":1e400}",
		"[99999999999999999999999999999999999999999999999999]",
	};

	for (size_t i = 0; i < COUNT(TEXTS); i++)
		becomes(TEXTS[i], TEXTS[i]);
}
END_TEST

/* cJSON of Debian 12 reads numbers of any length. Where a release reads no more than 63 characters,
 * such a text is no JSON: it is not cut either. */
START_TEST(a_long_number_is_not_cut)
{
	enum { ZEROS = 62, MANY = 100000 };
	OWNED(str) struct str text = { 0 };
	static const char *const ENDS[] = { "]", "e6]", "e9]" };
	cJSON *value;

	for (size_t i = 0; i < COUNT(ENDS); i++) {
		str_reset(&text);
		str_addf(&text, "[1.%0*d%s", (int)ZEROS, 0, ENDS[i]);
		value = json_read(text.bytes, text.length, NULL);
		cJSON_Delete(value);
		becomes(text.bytes, value ? text.bytes : "");
	}
	str_reset(&text);
	str_addf(&text, "[1%0*d]", (int)MANY, 0);
	value = json_read(text.bytes, text.length, NULL);
	cJSON_Delete(value);
	becomes(text.bytes, value ? text.bytes : "");
}
END_TEST

START_TEST(a_number_that_a_double_holds_has_one_spelling)
{
	becomes("[1, 1.0, 1e0, 10e-1, 0.1e1]", "[1,1,1,1,1]");
	becomes("[0.1,1.50,-2.5e3,1e20]", "[0.1,1.5,-2500,1e+20]");
	becomes("[9007199254740992]", "[9007199254740992]");
}
END_TEST

START_TEST(what_is_no_json_is_not_read)
{
	static const char *const TEXTS[] = { "",    "[1",  "[1]x", "[1e]", "[0009007199254740993]",
		                             "[-]", "{}{}" };

	for (size_t i = 0; i < COUNT(TEXTS); i++)
		becomes(TEXTS[i], "");
}
END_TEST

START_TEST(a_kept_number_is_a_number)
{
	static const char TEXT[] = "[9007199254740993,\"1\",2]";
	OWNED(cJSON_ptr) cJSON *all = json_read(TEXT, strlen(TEXT), NULL);
	double number = 0;

	ck_assert(json_number(cJSON_GetArrayItem(all, 0), &number));
	ck_assert(number == 9007199254740992.0);
	ck_assert(!json_number(cJSON_GetArrayItem(all, 1), &number));
	ck_assert(json_number(cJSON_GetArrayItem(all, 2), &number) && number == 2);
	ck_assert(!json_number(NULL, &number));
}
END_TEST

START_TEST(what_follows_a_value_is_left_to_the_caller)
{
	static const char TEXT[] = "{\"a\":1e400} 1e500";
	const char *end = NULL;
	OWNED(cJSON_ptr) cJSON *value = json_read(TEXT, strlen(TEXT), &end);

	ck_assert_ptr_nonnull(value);
	ck_assert_str_eq(end, " 1e500");
}
END_TEST

/* What json_read_strictly makes of a text: what is wrong, or "". */
static void is_strictly(const char *text, size_t length, const char *why)
{
	struct err e = { 0 };
	OWNED(cJSON_ptr) cJSON *value = json_read_strictly(text, length, "it", &e);

	ck_assert_msg(strcmp(e.text, why) == 0, "%s: %s", text, e.text);
	ck_assert_int_eq(value == NULL, *why != '\0');
	ck_assert_int_eq(e.kind, *why ? ERR_INPUT : ERR_NONE);
}

START_TEST(what_readers_may_understand_differently_is_not_read_strictly)
{
	static const struct {
		const char *text, *why;
	} CASES[] = {
		{ "{}", "" },
		{ " [{\"a\":{\"a\":1},\"b\":1},{\"a\":1}]\r\n\t ", "" },
		{ "\"\\\\u0000\"", "" }, /* a backslash and "u0000" */
		{ "\"\\u00001\"", "it has a NUL character in it" },
		{ "{\"a\\\\\\u0000\":1}", "it has a NUL character in it" },
		{ "\"\\", "it is not valid JSON" },
		{ "", "it is not valid JSON" },
		{ "{", "it is not valid JSON" },
		{ "{\n\"a\":tru\n}", "it is not valid JSON (line 2)" },
		{ "[tru]\n", "it is not valid JSON" },
		{ "{\"id\":01}", "it is not valid JSON" },
		{ "[007]", "it is not valid JSON" },
		{ "[-01]", "it is not valid JSON" },
		{ "[1.]", "it is not valid JSON" },
		{ "\"\xff\"", "it is not valid UTF-8" },
		{ "{} {}", "something follows the JSON of it" },
		{ "{}\n{}", "something follows the JSON of it (line 2)" },
		{ "{\"a\":1,\"\\u0061\":1}", "it names 'a' twice" },
		{ "[1,[{\"b\":{\"x\":1,\"y\":1,\"x\":1}}]]", "it names 'x' twice" },
		{ "{\"1\":1,\"2\":1,\"3\":1,\"4\":1,\"5\":1,\"6\":1,\"7\":1,\"8\":1,\"9\":1,"
		  "\"3\":1}",
		  "it names '3' twice" },
		{ "{\"1\":1,\"2\":1,\"3\":1,\"4\":1,\"5\":1,\"6\":1,\"7\":1,\"8\":1,\"9\":1,"
		  "\"1\":1}",
		  "it names '1' twice" },
		{ "{\"1\":1,\"2\":1,\"3\":1,\"4\":1,\"5\":1,\"6\":1,\"7\":1,\"8\":1,\"9\":1,"
		  "\"9\":1}",
		  "it names '9' twice" },
	};

	for (size_t i = 0; i < COUNT(CASES); i++)
		is_strictly(CASES[i].text, strlen(CASES[i].text), CASES[i].why);
	is_strictly("{}\0", 3, "it has a NUL character in it");
}
END_TEST

static void id_is(const char *token, const char *expected)
{
	OWNED(str) struct str out = { 0 };

	OWNED(cJSON_ptr) cJSON *value = json_read(token, strlen(token), NULL);
	OWNED(str) struct str of_value = { 0 };

	json_add_id_token(&out, token);
	ck_assert_str_eq(out.bytes, expected);
	json_add_id(&of_value, value);
	ck_assert_str_eq(of_value.bytes, expected);
}

START_TEST(an_id_has_one_spelling)
{
	id_is("7", "7");
	id_is("0", "0");
	id_is("123456789012345", "123456789012345");
	id_is("1e2", "100");
	id_is("100.0", "100");
	id_is("-0", "0");
	id_is("1763774000123", "1763774000123");
	id_is("9007199254740991", "9007199254740991");
	id_is("1e15", "1000000000000000");
	id_is("9007199254740993", "9007199254740993");
	id_is("9007199254740993.0", "9007199254740993");
	id_is("-90071992547409930e-1", "-9007199254740993");
	id_is("9.2e400", "92e399");
	id_is("1.5", "15e-1");
	id_is("0.0", "0");
	id_is("0e5", "0");
	id_is("\"a\\u0062\"", "\"ab\"");
	id_is("\"\\/\"", "\"/\"");
	id_is("\"7\"", "\"7\"");
	id_is("\"\"", "\"\"");
}
END_TEST

static void take_item(void *arg, const char *bytes, size_t length)
{
	struct str *out = arg;

	str_add_bytes(out, bytes, length);
	str_add_char(out, '|');
}

START_TEST(the_items_of_a_list_keep_their_bytes)
{
	static const struct {
		const char *json, *items;
	} CASES[] = {
		{ "[]", "" },
		{ " [ ]", " |" },
		{ "[{\"id\":1e2,\"a\":[1,2]},{\"b\":\"],\\\"\"}]",
		  "{\"id\":1e2,\"a\":[1,2]}|{\"b\":\"],\\\"\"}|" },
		{ "[[1,2],3]", "[1,2]|3|" },
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(str) struct str items = { 0 };

		json_split(CASES[i].json, strlen(CASES[i].json), take_item, &items);
		ck_assert_str_eq(str_text(&items), CASES[i].items);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("json");
	TCase *c = tcase_create("json");

	suite_add_tcase(s, c);
	tcase_add_test(c, a_number_that_a_double_does_not_hold_keeps_its_text);
	tcase_add_test(c, a_long_number_is_not_cut);
	tcase_add_test(c, a_number_that_a_double_holds_has_one_spelling);
	tcase_add_test(c, what_is_no_json_is_not_read);
	tcase_add_test(c, a_kept_number_is_a_number);
	tcase_add_test(c, what_follows_a_value_is_left_to_the_caller);
	tcase_add_test(c, the_items_of_a_list_keep_their_bytes);
	tcase_add_test(c, an_id_has_one_spelling);
	tcase_add_test(c, what_readers_may_understand_differently_is_not_read_strictly);
	return run_suite(s);
}
