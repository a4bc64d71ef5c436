/* acp-stream: the seven tests of its contract, its errors, and what an agent is told in it. */
#include "acp_case.h"

#include "err.h"
#include "suite.h"

#include <string.h>

#define CLEARANCE                                                                                  \
	"{\"method\":\"clearance/request\",\"id\":\"req-001\",\"params\":{\"title\":\"Create new " \
	"module\",\"description\":\"Adding src/driver/mod.rs\",\"diff\":\"--- /dev/null\\n+++ "    \
	"b/src/driver/mod.rs\\n@@ -0,0 +1 @@\\n+x\\n\",\"file_path\":\"src/driver/mod.rs\","       \
	"\"risk_level\":\"low\"}}"
#define ASKED "asked \"req-001\" permission low src/driver/mod.rs: Create new module\n"
#define STATUS "{\"method\":\"status/update\",\"params\":{\"message\":\"Running tests\"}}"

static void open_stream(struct acp_case *c)
{
	struct acp_how how = acp_case_how(ACP_STREAM);

	acp_case_open(c, &how);
	acp_case_told(c, "opened \n");
	acp_case_sent(c, "");
}

START_TEST(a_message_becomes_an_event)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	const struct acp_inquiry *ask;

	open_stream(&c);
	acp_case_hears(&c, CLEARANCE);

	acp_case_told(&c, ASKED);
	ask = acp_find(&c.acp, "\"req-001\"");
	ck_assert_ptr_nonnull(ask);
	ck_assert_str_eq(ask->description.bytes, "Adding src/driver/mod.rs");
	ck_assert_str_eq(ask->diff.bytes,
	                 "--- /dev/null\n+++ b/src/driver/mod.rs\n@@ -0,0 +1 @@\n+x\n");
}
END_TEST

START_TEST(two_messages_of_one_read_are_two_events)
{
	OWNED(acp_case) struct acp_case c = { 0 };

	open_stream(&c);
	acp_case_hears(&c, STATUS "\n" CLEARANCE);

	acp_case_told(&c, "status info Running tests\n" ASKED);
}
END_TEST

START_TEST(a_message_split_between_reads_is_one_event)
{
	OWNED(acp_case) struct acp_case c = { 0 };

	open_stream(&c);
	for (const char *at = CLEARANCE "\n"; *at; at++) {
		acp_case_told(&c, "");
		acp_feed(&c.acp, at, 1, 0);
	}

	acp_case_told(&c, ASKED);
}
END_TEST

START_TEST(a_malformed_line_is_logged_and_skipped)
{
	OWNED(acp_case) struct acp_case c = { 0 };

	open_stream(&c);
	acp_case_hears(&c, "Loading \x1b[1m...");
	acp_case_hears(&c, "{\"params\":{}}");
	acp_case_hears(&c, STATUS);

	acp_case_told(&c, "note warn not valid JSON: Loading \\x1b[1m...\n"
	                  "note warn neither method nor result: {\"params\":{}}\n"
	                  "status info Running tests\n");
}
END_TEST

START_TEST(an_unknown_method_is_logged_and_skipped)
{
	OWNED(acp_case) struct acp_case c = { 0 };

	open_stream(&c);
	acp_case_hears(&c, "{\"method\":\"file/read\",\"id\":\"1\",\"params\":{}}\n" STATUS);

	acp_case_told(&c, "note debug unknown method file/read\nstatus info Running tests\n");
	acp_case_sent(&c, "");
}
END_TEST

START_TEST(the_end_of_the_stream_is_told_once)
{
	OWNED(acp_case) struct acp_case c = { 0 };

	open_stream(&c);
	acp_case_hears(&c, CLEARANCE);
	acp_case_skip(&c);
	acp_end(&c.acp, 0);
	acp_end(&c.acp, 0);

	acp_case_told(&c, "withdrawn \"req-001\" the agent is gone\nclosed stream closed\n");
	acp_case_sent(&c, "");
}
END_TEST

START_TEST(an_answer_has_the_id_of_the_question)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct err e = { 0 };

	open_stream(&c);
	acp_case_hears(&c, CLEARANCE);
	ck_assert_int_eq(
	    acp_answer(&c.acp, "\"req-001\"", &(struct acp_answer){ .verdict = ACP_YES }, &e), 1);
	acp_case_sent(&c, "{\"method\":\"clearance/response\",\"id\":\"req-001\",\"params\":"
	                  "{\"status\":\"approved\",\"reason\":null}}\n");
	/* and there is only one */
	ck_assert_int_eq(
	    acp_answer(&c.acp, "\"req-001\"", &(struct acp_answer){ .verdict = ACP_NO }, &e), 0);
	acp_case_sent(&c, "");
}
END_TEST

START_TEST(an_id_that_waits_for_its_answer_is_not_taken_twice)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct err e = { 0 };

	open_stream(&c);
	acp_case_hears(&c, CLEARANCE "\n" CLEARANCE);
	acp_case_told(&c, ASKED "note warn question \"req-001\": this id waits for its answer "
	                        "already\n");
	ck_assert_int_eq(
	    acp_answer(&c.acp, "\"req-001\"", &(struct acp_answer){ .verdict = ACP_YES }, &e), 1);
	ck_assert_ptr_null(c.acp.asks);
}
END_TEST

START_TEST(a_missing_field_is_named_and_the_message_skipped)
{
	static const struct {
		const char *line, *told;
	} CASES[] = {
		{ "{\"method\":\"clearance/request\",\"params\":{}}", "clearance/request: id" },
		{ "{\"method\":\"clearance/request\",\"id\":\"1\"}", "clearance/request: title" },
		{ "{\"method\":\"clearance/request\",\"id\":\"1\",\"params\":{\"title\":\"t\","
		  "\"description\":\"d\",\"file_path\":7,\"risk_level\":\"low\"}}",
		  "clearance/request: file_path" },
		{ "{\"method\":\"status/update\"}", "status/update: message" },
		{ "{\"method\":\"prompt/forward\",\"id\":\"1\",\"params\":{\"text\":\"t\"}}",
		  "prompt/forward: type" },
	};
	OWNED(acp_case) struct acp_case c = { 0 };

	open_stream(&c);
	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(str) struct str expected = { 0 };

		str_addf(&expected, "note warn %s is missing\n", CASES[i].told);
		acp_case_hears(&c, CASES[i].line);
		acp_case_told(&c, expected.bytes);
	}
}
END_TEST

START_TEST(a_risk_that_is_unknown_or_a_file_outside_is_critical)
{
	OWNED(acp_case) struct acp_case c = { 0 };

	open_stream(&c);
	acp_case_hears(&c,
	               "{\"method\":\"clearance/request\",\"id\":\"1\",\"params\":{\"title\":\"t\","
	               "\"description\":\"d\",\"file_path\":\"a\",\"risk_level\":\"none\"}}");
	acp_case_hears(&c, "{\"method\":\"clearance/request\",\"id\":2,\"params\":{\"title\":\"t\","
	                   "\"description\":\"d\",\"file_path\":\"../a\",\"risk_level\":\"low\"}}");

	acp_case_told(&c, "asked \"1\" permission critical a: t\n"
	                  "asked 2 permission critical ../a: t\n");
}
END_TEST

START_TEST(a_prompt_is_a_question_of_its_type)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct err e = { 0 };

	open_stream(&c);
	acp_case_hears(
	    &c, "{\"method\":\"prompt/forward\",\"id\":\"p\",\"params\":{\"text\":\"Go on?\","
	        "\"type\":\"resource_warning\"}}");
	acp_case_told(&c, "asked \"p\" prompt low -: -\n");
	ck_assert_str_eq(acp_find(&c.acp, "\"p\"")->prompt_type, "resource_warning");
	ck_assert_str_eq(acp_find(&c.acp, "\"p\"")->description.bytes, "Go on?");

	ck_assert_int_eq(
	    acp_answer(&c.acp, "\"p\"",
	               &(struct acp_answer){ .decision = "refine", .reason = "smaller steps" }, &e),
	    1);
	acp_case_sent(&c, "{\"method\":\"prompt/response\",\"id\":\"p\",\"params\":"
	                  "{\"decision\":\"refine\",\"instruction\":\"smaller steps\"}}\n");
}
END_TEST

START_TEST(a_heartbeat_may_carry_progress)
{
	OWNED(acp_case) struct acp_case c = { 0 };

	open_stream(&c);
	acp_case_hears(&c, "{\"method\":\"heartbeat\",\"params\":{}}");
	acp_case_hears(&c, "{\"method\":\"heartbeat\"}");
	acp_case_told(&c, "");
	acp_case_hears(&c,
	               "{\"method\":\"heartbeat\",\"params\":{\"progress\":[{\"label\":\"Tests\","
	               "\"status\":\"in_progress\",\"x\":1}]}}");
	acp_case_told(&c, "plan [{\"label\":\"Tests\",\"status\":\"in_progress\"}]\n");
	acp_case_hears(&c,
	               "{\"method\":\"heartbeat\",\"params\":{\"progress\":[{\"label\":\"x\"}]}}");
	acp_case_told(&c, "note warn heartbeat: progress is malformed, ignored\n");
}
END_TEST

START_TEST(operators_words_and_nudges_have_methods_of_their_own)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct err e = { 0 };

	open_stream(&c);
	ck_assert_int_eq(acp_prompt(&c.acp, "do \"it\"\n", 0, &e), 0);
	ck_assert_int_eq(acp_nudge(&c.acp, "go on", 0, &e), 0);

	acp_case_sent(&c,
	              "{\"method\":\"prompt/send\",\"params\":{\"text\":\"do \\\"it\\\"\\n\"}}\n"
	              "{\"method\":\"nudge\",\"params\":{\"message\":\"go on\"}}\n");
}
END_TEST

START_TEST(an_interrupt_answers_what_waits)
{
	OWNED(acp_case) struct acp_case c = { 0 };

	open_stream(&c);
	acp_case_hears(&c, CLEARANCE);
	acp_case_skip(&c);
	acp_cancel(&c.acp, "stopped by the operator", 0);

	acp_case_told(&c, "withdrawn \"req-001\" stopped by the operator\n");
	acp_case_sent(&c,
	              "{\"method\":\"session/interrupt\",\"params\":{\"reason\":\"stopped by the "
	              "operator\"}}\n"
	              "{\"method\":\"clearance/response\",\"id\":\"req-001\",\"params\":"
	              "{\"status\":\"rejected\",\"reason\":\"stopped by the operator\"}}\n");
}
END_TEST

START_TEST(nothing_is_written_to_a_stream_that_is_closed)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct err e = { 0 };

	open_stream(&c);
	acp_end(&c.acp, 0);

	ck_assert_int_eq(acp_prompt(&c.acp, "x", 0, &e), -1);
	ck_assert_str_eq(e.text, "acp: write failed: stream closed");
	acp_case_sent(&c, "");
}
END_TEST

START_TEST(with_lsp_framing_each_message_has_its_length)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct acp_how how = acp_case_how(ACP_STREAM);
	struct err e = { 0 };

	how.framing = ACP_LSP;
	acp_case_open(&c, &how);
	acp_case_skip(&c);
	acp_case_hears(&c, "Content-Length: 24\r\n\r\n{\"method\":\n\"status/x\"}\n ");
	acp_case_told(&c, "note debug unknown method status/x\n");
	ck_assert_int_eq(acp_nudge(&c.acp, "go", 0, &e), 0);
	acp_case_sent(&c, "Content-Length: 44\r\n\r\n{\"method\":\"nudge\",\"params\":{\"message\":"
	                  "\"go\"}}");
}
END_TEST

START_TEST(a_question_beyond_the_limit_is_refused_and_named)
{
	OWNED(acp_case) struct acp_case c = { 0 };
	struct acp_how how = acp_case_how(ACP_STREAM);

	how.most = 100;
	acp_case_open(&c, &how);
	acp_case_skip(&c);
	acp_case_hears(&c, CLEARANCE "\n" STATUS);

	acp_case_told(&c,
	              "note warn a message of more than 100 bytes was dropped: clearance/request "
	              "\"req-001\"\nstatus info Running tests\n");
	acp_case_sent(&c, "{\"method\":\"clearance/response\",\"id\":\"req-001\",\"params\":"
	                  "{\"status\":\"rejected\",\"reason\":\"message too large\"}}\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("acp_stream");
	TCase *c = tcase_create("acp_stream");

	tcase_add_test(c, a_message_becomes_an_event);
	tcase_add_test(c, two_messages_of_one_read_are_two_events);
	tcase_add_test(c, a_message_split_between_reads_is_one_event);
	tcase_add_test(c, a_malformed_line_is_logged_and_skipped);
	tcase_add_test(c, an_unknown_method_is_logged_and_skipped);
	tcase_add_test(c, the_end_of_the_stream_is_told_once);
	tcase_add_test(c, an_answer_has_the_id_of_the_question);
	tcase_add_test(c, an_id_that_waits_for_its_answer_is_not_taken_twice);
	tcase_add_test(c, a_missing_field_is_named_and_the_message_skipped);
	tcase_add_test(c, a_risk_that_is_unknown_or_a_file_outside_is_critical);
	tcase_add_test(c, a_prompt_is_a_question_of_its_type);
	tcase_add_test(c, a_heartbeat_may_carry_progress);
	tcase_add_test(c, operators_words_and_nudges_have_methods_of_their_own);
	tcase_add_test(c, an_interrupt_answers_what_waits);
	tcase_add_test(c, nothing_is_written_to_a_stream_that_is_closed);
	tcase_add_test(c, with_lsp_framing_each_message_has_its_length);
	tcase_add_test(c, a_question_beyond_the_limit_is_refused_and_named);
	suite_add_tcase(s, c);
	return run_suite(s);
}
