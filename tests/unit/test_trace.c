/* trace: which traceparent of a _meta counts, and what is kept of it. */
#include "trace.h"

#include "harness.h"
#include "json.h"

#include <stdio.h>
#include <string.h>

#define TRACE "0af7651916cd43dd8448eb211c80319c"
#define PARENT "b7ad6b7169203331"
#define ZEROS "00000000000000000000000000000000"

/* kept: NULL, nothing. */
static void is_kept_as(const char *meta, const char *kept)
{
	OWNED(cJSON_ptr) cJSON *value = cJSON_Parse(meta);
	OWNED(char_ptr) char *parent = trace_parent(value);

	ck_assert_msg(value != NULL, "no JSON: %s", meta);
	if (!kept)
		ck_assert_msg(parent == NULL, "%s is kept as %s", meta, parent);
	else
		ck_assert_msg(parent && strcmp(parent, kept) == 0, "%s is kept as %s", meta,
		              parent ? parent : "nothing");
}

static void text_is_kept_as(const char *text, const char *kept)
{
	char meta[200];

	(void)snprintf(meta, sizeof(meta), "{\"progressToken\":1,\"traceparent\":\"%s\"}", text);
	is_kept_as(meta, kept);
}

START_TEST(a_traceparent_of_version_00_is_kept_as_it_is)
{
	static const char *const VALID[] = {
		"00-" TRACE "-" PARENT "-00",
		"00-" TRACE "-" PARENT "-01",
		"00-" TRACE "-" PARENT "-ff",
		"00-00000000000000000000000000000001-1000000000000000-01",
	};

	for (size_t i = 0; i < COUNT(VALID); i++)
		text_is_kept_as(VALID[i], VALID[i]);
}
END_TEST

START_TEST(of_a_later_version_is_kept_what_version_00_defines)
{
	text_is_kept_as("01-" TRACE "-" PARENT "-01", "00-" TRACE "-" PARENT "-01");
	text_is_kept_as("cc-" TRACE "-" PARENT "-fb-more-of-it", "00-" TRACE "-" PARENT "-01");
	text_is_kept_as("fe-" TRACE "-" PARENT "-02", "00-" TRACE "-" PARENT "-00");
	text_is_kept_as("10-" TRACE "-" PARENT "-01-", "00-" TRACE "-" PARENT "-01");
}
END_TEST

START_TEST(a_malformed_traceparent_is_none)
{
	static const char *const INVALID[] = {
		"",
		"00",
		"00-" TRACE "-" PARENT,
		"00-" TRACE "-" PARENT "-",
		"00-" TRACE "-" PARENT "-0",
		"00-" TRACE "-" PARENT "-011",
		"00-" TRACE "-" PARENT "-01-",
		"00-" TRACE "-" PARENT "-01-more",
		" 00-" TRACE "-" PARENT "-01",
		"00-" TRACE "-" PARENT "-01 ",
		"00-" ZEROS "-" PARENT "-01",
		"00-" TRACE "-0000000000000000-01",
		"00-0AF7651916CD43DD8448EB211C80319C-" PARENT "-01",
		"00-" TRACE "-B7AD6B7169203331-01",
		"00-" TRACE "-" PARENT "-0A",
		"00-" TRACE "-" PARENT "-0g",
		"00-0af7651916cd43dd8448eb211c80319-" PARENT "-001",
		"00-0af7651916cd43dd8448eb211c80319g-" PARENT "-01",
		"00-" TRACE "-b7ad6b716920333-001",
		"00_" TRACE "-" PARENT "-01",
		"00-" TRACE "_" PARENT "-01",
		"00-" TRACE "-" PARENT "_01",
		"00-" TRACE "-b7ad6b7-69203331-01",
		"ff-" TRACE "-" PARENT "-01",
		"ff-" TRACE "-" PARENT "-01-more",
		"0g-" TRACE "-" PARENT "-01",
		"0A-" TRACE "-" PARENT "-01",
		"01-" TRACE "-" PARENT "-0",
		"01-" TRACE "-" PARENT "-011",
		"01-" TRACE "-" PARENT "-01.more",
		"01-" ZEROS "-" PARENT "-01",
	};

	for (size_t i = 0; i < COUNT(INVALID); i++)
		text_is_kept_as(INVALID[i], NULL);
}
END_TEST

START_TEST(a_meta_may_be_anything)
{
	static const char *const METAS[] = {
		"{}",
		"null",
		"7",
		"[]",
		"\"00-" TRACE "-" PARENT "-01\"",
		"[\"00-" TRACE "-" PARENT "-01\"]",
		"{\"traceparent\":null}",
		"{\"traceparent\":7}",
		"{\"traceparent\":[\"00-" TRACE "-" PARENT "-01\"]}",
		"{\"Traceparent\":\"00-" TRACE "-" PARENT "-01\"}",
		"{\"com.example/traceparent\":\"00-" TRACE "-" PARENT "-01\"}",
	};

	for (size_t i = 0; i < COUNT(METAS); i++)
		is_kept_as(METAS[i], NULL);
	ck_assert_ptr_null(trace_parent(NULL));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("trace");
	TCase *c = tcase_create("trace");

	tcase_add_test(c, a_traceparent_of_version_00_is_kept_as_it_is);
	tcase_add_test(c, of_a_later_version_is_kept_what_version_00_defines);
	tcase_add_test(c, a_malformed_traceparent_is_none);
	tcase_add_test(c, a_meta_may_be_anything);
	suite_add_tcase(s, c);
	return run_suite(s);
}
