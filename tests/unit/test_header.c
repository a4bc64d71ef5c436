/* header: what request headers and a URL say. Hosts and origins stand in test_attack_origins.c, as
 * the front serves them. */
#include "header.h"

#include "harness.h"
#include "rpc.h"

#include <string.h>

START_TEST(only_loopback_names_are_this_machine)
{
	ck_assert(header_host_is_loopback("localhost"));
	ck_assert(header_host_is_loopback("[::1]:65535"));
	ck_assert(header_host_is_loopback("127.0.0.1.:80"));
	ck_assert(!header_host_is_loopback(""));
	ck_assert(!header_host_is_loopback("["));
	ck_assert(!header_host_is_loopback("[::1"));
	ck_assert(!header_host_is_loopback("[::1]x"));
	ck_assert(!header_host_is_loopback("localhost:"));
	ck_assert(!header_host_is_loopback("localhost:123456"));
	ck_assert(!header_host_is_loopback("localhost.."));
	ck_assert(header_origin_is_loopback("HTTPS://LocalHost:1"));
	ck_assert(!header_origin_is_loopback("http://"));
	ck_assert(!header_origin_is_loopback("http:/localhost"));
	ck_assert(!header_origin_is_loopback("localhost"));
}
END_TEST

START_TEST(json_may_have_parameters)
{
	ck_assert(header_is_json("application/json"));
	ck_assert(header_is_json("Application/JSON;charset=utf-8"));
	ck_assert(header_is_json("application/json ; charset=utf-8"));
	ck_assert(!header_is_json("application/jsonl"));
	ck_assert(!header_is_json("text/json"));
	ck_assert(!header_is_json(""));
}
END_TEST

START_TEST(an_event_id_begins_with_the_seq_of_its_call)
{
	ck_assert_int_eq(header_event_call("12.end"), 12);
	ck_assert_int_eq(header_event_call("9223372036854775807.0"), INT64_MAX);
	ck_assert_int_eq(header_event_call("9223372036854775808.0"), 0);
	ck_assert_int_eq(header_event_call("12"), 0);
	ck_assert_int_eq(header_event_call("12x.0"), 0);
	ck_assert_int_eq(header_event_call("-12.0"), 0);
	ck_assert_int_eq(header_event_call(" 12.0"), 0);
	ck_assert_int_eq(header_event_call("+12.0"), 0);
	ck_assert_int_eq(header_event_call("0x1.0"), 0);
	ck_assert_int_eq(header_event_call(""), 0);
}
END_TEST

static void says(const char *uri, const char *expected)
{
	OWNED(cJSON_ptr) cJSON *query = header_query(uri);
	OWNED(str) struct str text = { 0 };

	json_canonical(&text, query);
	ck_assert_msg(strcmp(text.bytes, expected) == 0, "%s is %s", uri, text.bytes);
}

START_TEST(a_query_is_names_and_texts_the_first_of_each)
{
	says("/mcp", "{}");
	says("/mcp?", "{}");
	says("/mcp?a=b&c=", "{\"a\":\"b\",\"c\":\"\"}");
	says("/mcp?a=1&a=2", "{\"a\":\"1\"}");
	says("/mcp?a=%3d+%26&%61=x", "{\"%61\":\"x\",\"a\":\"= &\"}"); /* names are not decoded */
	says("/mcp?a=%E2%82%AC", "{\"a\":\"\xE2\x82\xAC\"}");
}
END_TEST

START_TEST(a_query_that_is_malformed_or_too_long_says_nothing)
{
	OWNED(str) struct str many = { 0 };

	says("/mcp?a", "null");
	says("/mcp?a=%ff", "null");
	says("/mcp?a=%c0%80", "null");
	says("/mcp?\xff=1", "null");
	str_add(&many, "/mcp?p=1");
	for (int i = 0; i < HEADER_MAX_PARAMETERS; i++)
		str_addf(&many, "&p%d=1", i);
	says(many.bytes, "null");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("header");
	TCase *c = tcase_create("header");

	tcase_add_test(c, only_loopback_names_are_this_machine);
	tcase_add_test(c, json_may_have_parameters);
	tcase_add_test(c, an_event_id_begins_with_the_seq_of_its_call);
	tcase_add_test(c, a_query_is_names_and_texts_the_first_of_each);
	tcase_add_test(c, a_query_that_is_malformed_or_too_long_says_nothing);
	suite_add_tcase(s, c);
	return run_suite(s);
}
