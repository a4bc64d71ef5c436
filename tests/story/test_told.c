/* What agents are told beside the answers to their questions: every word once, however a call
 * ends. */
#include "agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char workspace[600];
static int port;

/* ---- given ---- */

static void given_front(void)
{
	fresh_store();
	given_front_settings(workspace);
	(void)start_worker("mcp-front");
	port = front_port();
}

static struct agent newcomer(void)
{
	return agent_hello(port, "", "2025-11-25");
}

static void steer(const char *text)
{
	char sql[300];

	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO steering (session_id, text) SELECT id, '%s' FROM session "
	               "WHERE status <> 'terminated' ORDER BY seq DESC LIMIT 1",
	               text);
	given(sql);
}

static char *call_for_message(struct agent *a, const char *tool, const char *arguments)
{
	struct wire w;

	agent_begin(a, &w, tool, arguments, NULL);
	char *message = agent_message(&w);

	wire_close(&w);
	return message;
}

/* ---- where hosts look: some show the structured result and nothing else ---- */

START_TEST(the_operators_words_are_in_the_structured_result_of_every_tool)
{
	static const struct {
		const char *tool, *arguments;
	} CALLS[] = {
		{ "ping", "{}" },
		{ "auto_check", "{\"tool_name\":\"read_file\"}" },
		{ "broadcast", "{\"message\":\"here\"}" },
		{ "reboot", "{}" },
		{ "switch_freq", "{\"mode\":\"local\"}" },
		{ "check_diff", "{\"request_id\":\"none\"}" },
		{ "check_clearance", "{}" }, /* refused: it lacks everything */
		{ "transmit", "{}" },
		{ "standby", "{\"timeout_seconds\":-1}" },
	};
	struct agent a;

	given_front();
	a = newcomer();
	free(agent_call(&a, "ping", "{}"));
	for (size_t i = 0; i < COUNT(CALLS); i++) {
		OWNED(char_ptr) char *message = NULL;

		steer(CALLS[i].tool);
		message = call_for_message(&a, CALLS[i].tool, CALLS[i].arguments);
		says(member(message, "result.structuredContent.operator_says.0"), "operator says");
		says(member(message, "result.structuredContent.operator_says.0"), CALLS[i].tool);
		has(message, "result.structuredContent.operator_says.1", "");
		has(message, "result.content.1.text",
		    member(message, "result.structuredContent.operator_says.0"));
	}
	expect("SELECT count(*) FROM steering WHERE delivered_at IS NULL", "0\n");
}
END_TEST

START_TEST(the_operators_words_are_in_the_structured_answer_to_a_question)
{
	OWNED(char_ptr) char *message = NULL;
	struct agent a;
	struct wire w;

	given_front();
	a = newcomer();
	agent_begin(&a, &w, "transmit", "{\"prompt_text\":\"go on?\"}", NULL);
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'waiting'", "1\n");
	steer("mind the gap");
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'continue' FROM inbox");
	message = agent_message(&w);
	wire_close(&w);
	has(message, "result.structuredContent.decision", "continue");
	says(member(message, "result.structuredContent.operator_says.0"), "mind the gap");
	says(member(message, "result.content.1.text"), "mind the gap");
}
END_TEST

START_TEST(every_output_schema_names_the_operators_words)
{
	OWNED(str) struct str body = STR_INIT;
	char path[80];
	struct agent a;

	given_front();
	a = newcomer();
	ck_assert_int_eq(agent_exchange(&a, "POST", "",
	                                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}",
	                                &body),
	                 200);
	for (int i = 0; i < 9; i++) {
		(void)snprintf(path, sizeof(path),
		               "result.tools.%d.outputSchema.properties.operator_says.type", i);
		has(body.bytes, path, "array");
	}
}
END_TEST

/* ---- tasks ---- */

START_TEST(a_task_reaches_the_next_agent_whatever_its_first_call_is)
{
	static const char *const FIRST[][2] = {
		{ "ping", "{}" },
		{ "reboot", "{}" },
		{ "broadcast", "{\"message\":\"here\"}" },
	};

	given_front();
	for (size_t i = 0; i < COUNT(FIRST); i++) {
		OWNED(char_ptr) char *first = NULL;
		OWNED(char_ptr) char *second = NULL;
		struct agent a;

		given("INSERT INTO steering (kind, text) VALUES ('task', 'write the docs')");
		a = newcomer();
		first = call_for_message(&a, FIRST[i][0], FIRST[i][1]);
		says(member(first, "result.structuredContent.operator_says.0"), "write the docs");
		says(member(first, "result.content.1.text"), "write the docs");
		second = call_for_message(&a, "ping", "{}");
		has(second, "result.structuredContent.operator_says", "");
		has(second, "result.content.1.text", "");
	}
	expect("SELECT count(*) FROM steering WHERE delivered_at IS NULL", "0\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("told");
	TCase *c = store_case(s, "told", 60);

	tcase_add_test(c, the_operators_words_are_in_the_structured_result_of_every_tool);
	tcase_add_test(c, the_operators_words_are_in_the_structured_answer_to_a_question);
	tcase_add_test(c, every_output_schema_names_the_operators_words);
	tcase_add_test(c, a_task_reaches_the_next_agent_whatever_its_first_call_is);
	return run_suite(s);
}
