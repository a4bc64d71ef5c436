/* inquiry_form: a form of an agent becomes fields that a person fills in. */
#include "acp_case.h"

#include "err.h"
#include "suite.h"

static int answer(struct acp_case *c, const char *id, struct acp_answer said)
{
	struct err e = { 0 };

	return acp_answer(&c->acp, id, &said, &e);
}

START_TEST(a_form_is_its_fields_and_is_accepted_declined_or_cancelled)
{
	static const char FORM[] =
	    "\"method\":\"elicitation/create\",\"params\":{\"mode\":\"form\",\"sessionId\":\"S\","
	    "\"message\":\"Which colour?\",\"requestedSchema\":{\"type\":\"object\","
	    "\"properties\":{\"q\":{\"type\":\"string\",\"title\":\"Colour\",\"oneOf\":["
	    "{\"const\":\"b\",\"title\":\"Blue\"},{\"const\":\"r\",\"title\":\"Red\"}]},\"n\":{"
	    "\"type\":\"integer\"},\"m\":{\"type\":\"array\",\"items\":{\"enum\":[\"x\",\"y\"]}},"
	    "\"k\":{\"type\":\"boolean\",\"title\":\"k”\\nDefault: No\",\"description\":"
	    "\"Risk: low\"}},\"required\":[\"q\"]}}}";
	OWNED(acp_case) struct acp_case c = { 0 };
	const struct acp_inquiry *ask;

	acp_case_open_session(&c);
	for (int id = 0; id < 3; id++) {
		OWNED(str) struct str line = { 0 };

		str_addf(&line, "{\"id\":%d,%s", id, FORM);
		acp_case_hears(&c, line.bytes);
	}
	acp_case_told(&c, "asked 0 form low -: -\nasked 1 form low -: -\nasked 2 form low -: -\n");
	ask = acp_find(&c.acp, "0");
	ck_assert_str_eq(ask->description.bytes, "Which colour?");
	ck_assert_str_eq(ask->notes.bytes,
	                 "“Colour” (required)\n1. Blue\n2. Red\n\n“n”\n\n“m”\n1. x\n2. y\n\n"
	                 "“k\"\\x0aDefault: No”: “Risk: low”\n1. Yes\n2. No");
	ck_assert_uint_eq(ask->field_count, 4);
	ck_assert_int_eq(ask->fields[0].kind, ACP_FIELD_ONE);
	ck_assert(ask->fields[0].is_required && !ask->fields[1].is_required);
	ck_assert_str_eq(ask->fields[0].choices[1].id, "r");
	ck_assert_int_eq(ask->fields[1].kind, ACP_FIELD_NUMBER);
	ck_assert_int_eq(ask->fields[2].kind, ACP_FIELD_MANY);
	ck_assert_int_eq(ask->fields[3].kind, ACP_FIELD_BOOL);

	ck_assert_int_eq(answer(&c, "0", (struct acp_answer){ .verdict = ACP_YES }), -1);
	ck_assert_int_eq(
	    answer(&c, "0", (struct acp_answer){ .verdict = ACP_YES, .content = "{\"q\":\"b\"}" }),
	    1);
	ck_assert_int_eq(answer(&c, "1", (struct acp_answer){ .verdict = ACP_NO }), 1);
	ck_assert_int_eq(answer(&c, "2", (struct acp_answer){ .verdict = ACP_NONE }), 1);
	acp_case_sent(&c,
	              "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"action\":\"accept\",\"content\":"
	              "{\"q\":\"b\"}}}\n"
	              "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"action\":\"decline\"}}\n"
	              "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"action\":\"cancel\"}}\n");
}
END_TEST

START_TEST(fields_with_the_same_title_are_told_apart_by_their_names)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	const struct acp_inquiry *ask;

	acp_case_open_session(&c);
	acp_case_hears(
	    &c, "{\"id\":0,\"method\":\"elicitation/create\",\"params\":{\"mode\":\"form\","
	        "\"sessionId\":\"S\",\"message\":\"m\",\"requestedSchema\":{\"properties\":{"
	        "\"from\":{\"title\":\"Host\"},\"host\":{},\"port\":{\"title\":\"Port\"}}}}}");
	ask = acp_find(&c.acp, "0");
	ck_assert_str_eq(ask->fields[0].title, "Host (from)");
	ck_assert_str_eq(ask->fields[1].title, "host (host)");
	ck_assert_str_eq(ask->fields[2].title, "Port");
	ck_assert_str_eq(ask->notes.bytes, "“Host (from)”\n\n“host (host)”\n\n“Port”");
}
END_TEST

START_TEST(a_form_of_a_mode_that_was_not_offered_is_refused)
{
	OWNED(acp_case) struct acp_case c = { 0 };

	acp_case_open_session(&c);
	acp_case_hears(&c,
	               "{\"id\":0,\"method\":\"elicitation/create\",\"params\":{\"mode\":\"url\","
	               "\"message\":\"m\",\"url\":\"http://x\"}}");
	acp_case_sent(&c, "{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{\"code\":-32602,\"message\":"
	                  "\"mode url was not offered\"}}\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("acp_form");
	TCase *c = tcase_create("acp_form");

	tcase_add_test(c, a_form_is_its_fields_and_is_accepted_declined_or_cancelled);
	tcase_add_test(c, fields_with_the_same_title_are_told_apart_by_their_names);
	tcase_add_test(c, a_form_of_a_mode_that_was_not_offered_is_refused);
	suite_add_tcase(s, c);
	return run_suite(s);
}
