/* message: what a message is, is told by what it contains. */
#include "message.h"

#include "suite.h"

#include <string.h>

static const char *const KINDS[] = { "request", "notification", "result", "error", "batch" };

/* "kind id method code text", or "no: why, id method". */
static void read_is(const char *json, const char *expected)
{
	OWNED(str) struct str said = { 0 };
	OWNED(acp_message) struct acp_message m = { 0 };
	struct err e = { 0 };

	if (acp_message_read(json, strlen(json), &m, &e))
		str_addf(&said, "no: %s, %s %s", e.text, m.id ? m.id : "-",
		         m.method ? m.method : "-");
	else
		str_addf(&said, "%s %s %s", KINDS[m.kind], m.id ? m.id : "-",
		         m.method ? m.method : "-");
	if (m.kind == ACP_MESSAGE_ERROR)
		str_addf(&said, " %d %s", m.code, m.text);
	ck_assert_msg(strcmp(str_text(&said), expected) == 0, "%s: %s, not %s", json,
	              str_text(&said), expected);
}

START_TEST(a_message_is_told_by_what_it_contains_in_any_order)
{
	read_is("{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{},\"id\":0}", "request 0 m");
	read_is("{\"id\":\"r1-7\",\"params\":{\"id\":3},\"method\":\"m\"}", "request \"r1-7\" m");
	read_is("{\"method\":\"m\"}", "notification - m");
	read_is("{\"method\":\"m\",\"id\":null}", "notification - m");
	read_is("{\"result\":null,\"id\":7}", "result 7 -");
	read_is("{\"id\":-12345678901234567890,\"result\":{}}", "result -12345678901234567890 -");
	read_is("{\"error\":{\"code\":-32000,\"message\":\"log in\"},\"id\":\"1\"}",
	        "error \"1\" - -32000 log in");
	read_is("{\"error\":{\"code\":-32700},\"id\":null}", "error - - -32700 ");
	read_is("{\"error\":\"bad\",\"result\":1,\"id\":1}", "error 1 - -32603 ");
	read_is("[]", "batch - -");
}
END_TEST

START_TEST(what_is_no_message_says_why_and_keeps_what_an_answer_needs)
{
	read_is("Loading...", "no: not valid JSON, - -");
	read_is("{\"id\":4,\"method\":\"m\",}", "no: not valid JSON, 4 m");
	read_is("{\"id\":4,\"method\":\"m\"} x", "no: not valid JSON, 4 m");
	read_is("{\"id\":4,\"method\":\"m\",\"params\":[1]}", "no: params is no object, 4 m");
	read_is("{\"id\":4,\"method\":\"m\",\"params\":{\"x\":\"\xFF\"}}",
	        "no: not valid UTF-8, 4 m");
	read_is("{\"id\":1.5,\"method\":\"m\"}", "no: id is no short string and no integer, - m");
	read_is("{\"id\":[1],\"method\":\"m\"}", "no: id is no short string and no integer, - m");
	read_is("{\"id\":1,\"method\":5}", "no: method is no short string, 1 -");
	read_is("{\"id\":abc,\"method\":\"m\"}", "no: not valid JSON, - m");
	read_is("{\"id\":01,\"method\":\"m\"}", "no: not valid JSON, - m");
	read_is("{\"id\":\"a\tb\",\"method\":\"m\",}", "no: not valid JSON, - m");
	read_is("{\"id\":1}", "no: neither method nor result, 1 -");
	read_is("{\"id\":1,\"method\":\"m\",\"id\":2}",
	        "no: readers may understand it differently: a name in it is there twice, - m");
	read_is("{\"method\":\"m\",\"id\":1,\"method\":\"n\"}",
	        "no: readers may understand it differently: a name in it is there twice, - m");
	read_is("{\"id\":1,\"method\":\"m\",\"Result\":1}",
	        "no: readers may understand it differently: a name in it is in another case, - m");
	read_is("{\"error\":{},\"id\":1,\"method\":\"m\"}",
	        "no: readers may understand it differently: it is a request and an answer, - m");
	read_is("7", "no: not a JSON object, - -");
}
END_TEST

START_TEST(messages_are_written_with_the_id_as_it_came)
{
	OWNED(str) struct str out = { 0 };

	acp_message_add_request(&out, "1", "a/b", "{\"x\":1}");
	str_add_char(&out, '\n');
	acp_message_add_notification(&out, "n", "{}");
	str_add_char(&out, '\n');
	acp_message_add_result(&out, "1e2", "{\"ok\":true}");
	str_add_char(&out, '\n');
	acp_message_add_error(&out, "\"x\"", ACP_METHOD_NOT_FOUND, "method \"y\" not found");

	ck_assert_str_eq(out.bytes,
	                 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a/b\",\"params\":{\"x\":1}}\n"
	                 "{\"jsonrpc\":\"2.0\",\"method\":\"n\",\"params\":{}}\n"
	                 "{\"jsonrpc\":\"2.0\",\"id\":1e2,\"result\":{\"ok\":true}}\n"
	                 "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":{\"code\":-32601,"
	                 "\"message\":\"method \\\"y\\\" not found\"}}");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("acp_message");
	TCase *c = tcase_create("acp_message");

	tcase_add_test(c, a_message_is_told_by_what_it_contains_in_any_order);
	tcase_add_test(c, what_is_no_message_says_why_and_keeps_what_an_answer_needs);
	tcase_add_test(c, messages_are_written_with_the_id_as_it_came);
	suite_add_tcase(s, c);
	return run_suite(s);
}
