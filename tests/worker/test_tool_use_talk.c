/* More than yes and no: what an agent asks its user, its plans, the ends of its turns. */
#include "tool_use_case.h"

static const char QUESTIONS[] =
    "{\"questions\":[{\"question\":\"Which database?\",\"header\":\"Storage\",\"options\":["
    "{\"label\":\"SQLite\",\"description\":\"a file\"},{\"label\":\"PostgreSQL\"}]}]}";
/* As Claude Code 2.1.330 sends it. */
static const char PLAN[] = "{\"plan\":\"# Plan\\n1. Write it\\n2. Test it\","
                           "\"planFilePath\":\"/home/a/.claude/plans/it.md\"}";

static void decide(const char *verdict, const char *column, const char *text)
{
	char sql[400];

	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO decision (request_id, verdict, %s) SELECT id, '%s', '%s' "
	               "FROM request WHERE state = 'pending'",
	               column, verdict, text);
	given(sql);
}

static struct gate_client tool(const char *name, const char *arguments)
{
	struct gate_client h = gate_begin("PreToolUse", tool_of("s1", workspace, name, arguments));

	asked(1);
	return h;
}

START_TEST(a_question_of_the_agent_is_a_prompt_and_its_answer_the_reason)
{
	OWNED(char_ptr) char *answer = NULL;
	struct gate_client h;

	given_hooks();
	h = tool("AskUserQuestion", QUESTIONS);
	expect(
	    "SELECT kind, prompt_type, title, body FROM request",
	    "prompt|clarification|Which database? (+2 lines)|Which database?\n1. SQLite: a file\n"
	    "2. PostgreSQL\n");
	decide("refine", "instruction", "PostgreSQL, please");
	answer = gate_end(&h);
	decides(answer, "deny", "PostgreSQL, please");
	expect("SELECT decision FROM gate_call", "deny\n");
}
END_TEST

START_TEST(a_plan_is_shown_and_approved_with_its_input)
{
	OWNED(char_ptr) char *answer = NULL;
	struct gate_client h;

	given_hooks();
	h = tool("ExitPlanMode", PLAN);
	expect("SELECT kind, title, body FROM request",
	       "prompt|Plan to be approved|# Plan\n1. Write it\n2. Test it\n");
	decide("continue", "reason", "");
	answer = gate_end(&h);
	decides(answer, "allow", NULL);
	says(member(answer, "input.plan"), "2. Test it");
}
END_TEST

START_TEST(a_plan_that_is_refined_or_stopped_is_denied)
{
	OWNED(char_ptr) char *refined = NULL;
	OWNED(char_ptr) char *stopped = NULL;
	struct gate_client h;

	given_hooks();
	h = tool("ExitPlanMode", PLAN);
	decide("refine", "instruction", "test first");
	refined = gate_end(&h);
	decides(refined, "deny", "test first");
	ck_assert_str_eq(member(refined, "input"), "");
	h = tool("ExitPlanMode", PLAN);
	decide("stop", "reason", "not now");
	stopped = gate_end(&h);
	decides(stopped, "deny", "rejects this plan: not now");
}
END_TEST

/* The clock of silence, as the watchdog finds it. */
static const char CLOCK[] = "SELECT idle_since IS NOT NULL FROM session";

START_TEST(the_end_of_a_turn_is_nobodys_silence)
{
	OWNED(char_ptr) char *read = NULL;
	OWNED(char_ptr) char *stop = NULL;
	OWNED(char_ptr) char *prompt = NULL;

	given_hooks();
	read = gate_ask("PreToolUse",
	                tool_of("s1", workspace, "Read", "{\"file_path\":\"/etc/hostname\"}"));
	expect(CLOCK, "1\n");
	stop = gate_ask("Stop", "{\"session_id\":\"s1\",\"stop_hook_active\":false}");
	decides(stop, "none", NULL);
	ck_assert_str_eq(member(stop, "continue"), "");
	expect(CLOCK, "0\n");
	prompt = gate_ask("UserPromptSubmit", "{\"session_id\":\"s1\",\"prompt\":\"go on\"}");
	decides(prompt, "none", NULL);
	expect(CLOCK, "1\n");
}
END_TEST

START_TEST(words_of_the_operator_keep_an_agent_from_ending)
{
	OWNED(char_ptr) char *first = NULL;
	OWNED(char_ptr) char *stop = NULL;
	OWNED(char_ptr) char *again = NULL;

	given_hooks();
	first = gate_ask("UserPromptSubmit", "{\"session_id\":\"s1\",\"prompt\":\"go\"}");
	given("INSERT INTO steering (session_id, text) SELECT id, 'also the docs' FROM session");
	stop = gate_ask("Stop", "{\"session_id\":\"s1\"}");
	says(member(stop, "continue"), "also the docs");
	expect(CLOCK, "1\n");
	again = gate_ask("Stop", "{\"session_id\":\"s1\",\"stop_hook_active\":true}");
	ck_assert_str_eq(member(again, "continue"), "");
}
END_TEST

static char *approved_with_a_note(const char *host, const char *event)
{
	struct gate_client h;

	given_hooks();
	h = begin_of(host, event, tool_of("s1", workspace, "shell", "{\"command\":\"make\"}"));
	asked(1);
	given("INSERT INTO steering (session_id, text) SELECT id, 'then rest' FROM session");
	decide("approve", "instruction", "then rest");
	return gate_end(&h);
}

static void says_once(const char *context, const char *words)
{
	const char *first = strstr(context, words);

	ck_assert_msg(first && !strstr(first + 1, words), "%s", context);
}

/* As an operator's command does, which says it as steering, too. */
START_TEST(the_note_of_an_approval_is_told_once)
{
	static const char *const CASES[][2] = { { "claude", "PreToolUse" },
		                                { "codex", "PreToolUse" },
		                                { "copilot", "preToolUse" } };

	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(char_ptr)
		char *answer = approved_with_a_note(CASES[i][0], CASES[i][1]);

		decides(answer, "allow", NULL);
		says_once(member(answer, "context"), "then rest");
		expect("SELECT count(delivered_at) FROM steering", "1\n");
	}
}
END_TEST

/* Seen: additionalContext, of Gemini CLI 0.61.0 and Qwen Code 0.24.4. */
START_TEST(a_host_that_shows_words_only_after_a_tool_is_told_then)
{
	static const char *const CASES[][3] = { { "gemini", "BeforeTool", "AfterTool" },
		                                { "qwen", "PreToolUse", "PostToolUse" } };

	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(char_ptr)
		char *answer = approved_with_a_note(CASES[i][0], CASES[i][1]);
		OWNED(char_ptr) char *after = NULL;

		decides(answer, "allow", NULL);
		ck_assert_str_eq(member(answer, "context"), "");
		expect("SELECT count(delivered_at) FROM steering", "0\n");
		after = ask_of(CASES[i][0], CASES[i][2],
		               tool_of("s1", workspace, "shell", "{\"command\":\"make\"}"));
		says_once(member(after, "context"), "then rest");
		expect("SELECT count(delivered_at) FROM steering", "1\n");
	}
}
END_TEST

/* A use of a tool of Codex with this id; it may be a whole patch. */
static const char *use_by_codex(struct str *out, const char *id, const char *tool,
                                const char *command)
{
	str_reset(out);
	str_addf(out,
	         "{\"session_id\":\"s1\",\"cwd\":\"%s\",\"tool_use_id\":\"%s\","
	         "\"tool_name\":\"%s\",\"tool_input\":{\"command\":\"%s\"}}",
	         workspace, id, tool, command);
	return out->bytes;
}

static const char OWN_PATCH[] =
    "*** Begin Patch\\n*** Add File: .git/config\\n+x\\n*** End Patch\\n";

static char *denied_by_codex(const char *id, const char *said)
{
	OWNED(str) struct str use = { 0 };
	struct gate_client h =
	    begin_of("codex", "PreToolUse", use_by_codex(&use, id, "Bash", "make"));

	asked(1);
	given("INSERT INTO steering (session_id, text) SELECT id, 'be quick' FROM session");
	decide("reject", "reason", said);
	return gate_end(&h);
}

/* Seen: Codex 0.171.0, where its model writes scripts that use tools: they can catch the error. */
START_TEST(words_do_not_go_with_a_denial_that_a_script_of_codex_may_swallow)
{
	OWNED(str) struct str use = { 0 };
	OWNED(char_ptr) char *denied = NULL;
	OWNED(char_ptr) char *again = NULL;
	OWNED(char_ptr) char *after = NULL;

	given_hooks();
	denied = denied_by_codex("exec-1", "not that");
	decides(denied, "deny", "not that");
	ck_assert(!strstr(member(denied, "reason"), "be quick"));
	again =
	    ask_of("codex", "PreToolUse", use_by_codex(&use, "exec-2", "apply_patch", OWN_PATCH));
	decides(again, "deny", "protected");
	ck_assert(!strstr(member(again, "reason"), "be quick"));
	expect("SELECT count(delivered_at) FROM steering", "0\n");
	after = ask_of("codex", "PostToolUse", use_by_codex(&use, "exec-3", "Bash", "ls"));
	says_once(member(after, "context"), "be quick");
}
END_TEST

START_TEST(words_go_with_another_denial_of_codex)
{
	OWNED(char_ptr) char *denied = NULL;

	given_hooks();
	denied = denied_by_codex("call_1", "not that");
	decides(denied, "deny", "not that");
	says_once(member(denied, "reason"), "be quick");
	expect("SELECT count(delivered_at) FROM steering", "1\n");
}
END_TEST

static const char MAKE[] = "{\"command\":\"make\"}";

/* As Claude Code says of a subagent's tool. */
static const char *by_subagent(const char *tool, const char *arguments)
{
	static char text[2000];

	(void)snprintf(text, sizeof(text), "{\"agent_id\":\"a1\",%s",
	               tool_of("s1", workspace, tool, arguments) + 1);
	return text;
}

START_TEST(words_wait_for_the_agent_that_a_subagent_works_for)
{
	OWNED(char_ptr) char *allowed = NULL;
	OWNED(char_ptr) char *read = NULL;
	OWNED(char_ptr) char *own = NULL;
	struct gate_client h;

	given_hooks();
	h = begin_of("claude", "PreToolUse", by_subagent("Bash", MAKE));
	asked(1);
	given("INSERT INTO steering (session_id, text) SELECT id, 'be quick' FROM session");
	decide("approve", "instruction", "but carefully");
	allowed = gate_end(&h);
	decides(allowed, "allow", NULL);
	ck_assert_str_eq(member(allowed, "context"), "but carefully");
	read = ask_of("claude", "PreToolUse", by_subagent("Read", "{\"file_path\":\"a.c\"}"));
	decides(read, "allow", NULL);
	ck_assert_str_eq(member(read, "context"), "");
	expect("SELECT count(delivered_at) FROM steering WHERE text = 'be quick'", "0\n");
	own = ask_of("claude", "PostToolUse", tool_of("s1", workspace, "Bash", MAKE));
	says_once(member(own, "context"), "be quick");
}
END_TEST

START_TEST(more_words_than_a_host_shows_its_model_go_with_several_results)
{
	OWNED(char_ptr) char *first = NULL;
	OWNED(char_ptr) char *second = NULL;

	given_hooks();
	free(ask_of("claude", "PostToolUse", tool_of("s1", workspace, "Bash", MAKE)));
	given("INSERT INTO steering (session_id, text) SELECT session.id, value || "
	      "printf('%.2500c', 'x')"
	      " FROM session, json_each('[\"one\",\"two\",\"three\",\"four\"]')");
	first = ask_of("claude", "PostToolUse", tool_of("s1", workspace, "Bash", MAKE));
	second = ask_of("claude", "PostToolUse", tool_of("s1", workspace, "Bash", MAKE));
	says_once(member(first, "context"), "twox");
	ck_assert_ptr_null(strstr(member(first, "context"), "threex"));
	says_once(member(second, "context"), "fourx");
}
END_TEST

/* Words that wait are told with the next result that works, and not with one that failed. */
static void waits_for_success(const char *host, const char *event, const char *failure,
                              const char *failed_use)
{
	OWNED(char_ptr) char *failed = NULL;
	OWNED(char_ptr) char *worked = NULL;

	free(ask_of(host, event, tool_of("s1", workspace, "bash", MAKE)));
	given("INSERT INTO steering (session_id, text) SELECT id, 'be quick' FROM session");
	failed = ask_of(host, failure, failed_use);
	ck_assert_str_eq(member(failed, "context"), "");
	expect("SELECT count(delivered_at) FROM steering", "0\n");
	worked = ask_of(host, event, tool_of("s1", workspace, "bash", MAKE));
	says_once(member(worked, "context"), "be quick");
}

START_TEST(a_tool_that_failed_tells_copilot_nothing)
{
	given_hooks();
	waits_for_success("copilot", "postToolUse", "postToolUseFailure",
	                  tool_of("s1", workspace, "bash", MAKE));
}
END_TEST

/* Seen: Qwen Code 0.24.4 shows its model words with a failure, but not where it works for an
 * editor. */
START_TEST(a_tool_that_failed_tells_qwen_nothing)
{
	given_hooks();
	waits_for_success("qwen", "PostToolUse", "PostToolUseFailure",
	                  tool_of("s1", workspace, "bash", MAKE));
}
END_TEST

/* A tool of Gemini CLI with the result of a read, from response on. */
static const char *read_by_gemini(struct str *out, const char *response)
{
	str_addf(out,
	         "{\"session_id\":\"s1\",\"cwd\":\"%s\",\"tool_name\":\"read_file\","
	         "\"tool_input\":{\"file_path\":\"%s/a.txt\"},\"tool_response\":%s}",
	         workspace, workspace, response);
	return out->bytes;
}

/* Of such a result it tells its model the error alone. */
START_TEST(a_tool_that_ended_in_an_error_tells_gemini_nothing)
{
	OWNED(str) struct str use = { 0 };

	given_hooks();
	waits_for_success("gemini", "AfterTool", "AfterTool",
	                  read_by_gemini(&use, "{\"llmContent\":\"File not found.\","
	                                       "\"error\":{\"message\":\"File not found\","
	                                       "\"type\":\"file_not_found\"}}"));
}
END_TEST

START_TEST(a_result_of_gemini_without_an_error_tells)
{
	OWNED(char_ptr) char *told = NULL;
	OWNED(str) struct str use = { 0 };

	given_hooks();
	free(ask_of("gemini", "AfterTool", tool_of("s1", workspace, "bash", MAKE)));
	given("INSERT INTO steering (session_id, text) SELECT id, 'be quick' FROM session");
	told = ask_of("gemini", "AfterTool",
	              read_by_gemini(&use, "{\"llmContent\":\"an error\",\"error\":null}"));
	says_once(member(told, "context"), "be quick");
}
END_TEST

START_TEST(with_the_setting_an_agent_asks_for_the_next_instruction)
{
	OWNED(char_ptr) char *stop = NULL;
	struct gate_client h;

	given_hooks_with("gate.standby_at_end", "true");
	h = gate_begin("Stop", "{\"session_id\":\"s1\",\"last_assistant_message\":\"All done.\"}");
	asked(1);
	expect("SELECT kind, body FROM request", "standby|All done.\n");
	decide("resume", "instruction", "now the docs");
	stop = gate_end(&h);
	ck_assert_str_eq(member(stop, "continue"), "now the docs");
	expect(CLOCK, "1\n");
}
END_TEST

START_TEST(if_nobody_says_what_comes_next_the_turn_ends)
{
	OWNED(char_ptr) char *stop = NULL;
	struct gate_client h;

	given_hooks_with("gate.standby_at_end", "true");
	gate_connect(&h);
	gate_send(&h, "claude", "Stop", "{\"session_id\":\"s1\"}", 2000, NULL);
	stop = gate_end(&h);
	decides(stop, "none", NULL);
	ck_assert_str_eq(member(stop, "continue"), "");
	expect_soon(CLOCK, "0\n");
}
END_TEST

/* A silence that begins with this event. */
static void silent_after(const char *event, const char *input, const char *cause)
{
	OWNED(char_ptr) char *prompt = NULL;
	OWNED(char_ptr) char *said = NULL;
	OWNED(char_ptr) char *found = NULL;

	given_hooks();
	prompt = gate_ask("UserPromptSubmit", "{\"session_id\":\"s1\",\"prompt\":\"go\"}");
	said = gate_ask(event, input);
	advance(600000);
	expect_soon("SELECT count(*) FROM stall", "1\n");
	found = rows("SELECT cause FROM stall");
	says(found, cause);
}

START_TEST(an_alert_says_why_an_agent_is_silent)
{
	silent_after("StopFailure", "{\"session_id\":\"s1\",\"error\":\"rate_limit\"}",
	             "its turn has failed: rate_limit");
	silent_after("Notification",
	             "{\"session_id\":\"s1\",\"notification_type\":\"permission_prompt\","
	             "\"message\":\"Claude needs your permission to use Bash\"}",
	             "it waits in its own program: Claude needs your permission to use Bash");
	silent_after("Notification",
	             "{\"session_id\":\"s1\",\"notification_type\":\"idle_prompt\","
	             "\"message\":\"Claude is waiting for your input\"}",
	             "it waits for its next prompt");
}
END_TEST

START_TEST(with_the_setting_reading_needs_a_policy_or_a_person)
{
	OWNED(char_ptr) char *allowed = NULL;
	struct gate_client h;
	char arguments[700];

	given_hooks_with("gate.reads", "policy");
	given_policy("{\"enabled\":true,\"file_patterns\":{\"read\":[\"docs/**\"]}}");
	(void)snprintf(arguments, sizeof(arguments), "{\"file_path\":\"%s/docs/a\"}", workspace);
	allowed = gate_ask("PreToolUse", tool_of("s1", workspace, "Read", arguments));
	decides(allowed, "allow", NULL);
	(void)snprintf(arguments, sizeof(arguments), "{\"file_path\":\"%s/src/a\"}", workspace);
	h = tool("Read", arguments);
	gate_close(&h);
}
END_TEST

START_TEST(what_the_configuration_always_asks_about_is_not_read_unasked)
{
	struct gate_client h;
	char arguments[700];

	given_hooks_with("policy.always_ask", "[\"*.pem\"]");
	put_file(workspace, "key.pem", "secret\n");
	ck_assert_int_eq(symlink("key.pem", below(workspace, "notes.txt")), 0);
	(void)snprintf(arguments, sizeof(arguments), "{\"file_path\":\"%s/notes.txt\"}", workspace);
	h = tool("Read", arguments);
	expect("SELECT risk_level FROM request", "high\n");
	gate_close(&h);
}
END_TEST

START_TEST(a_shorter_wait_may_be_configured)
{
	OWNED(char_ptr) char *parked = NULL;
	struct gate_client h;

	given_hooks_with("gate.wait_seconds", "1");
	h = gate_begin("PreToolUse", bash("make install"));
	parked = gate_end(&h);
	decides(parked, "deny", "parked as question");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tool_use_talk");
	TCase *c = store_case(s, "tool_use_talk", 60);

	tcase_add_test(c, a_question_of_the_agent_is_a_prompt_and_its_answer_the_reason);
	tcase_add_test(c, a_plan_is_shown_and_approved_with_its_input);
	tcase_add_test(c, a_plan_that_is_refined_or_stopped_is_denied);
	tcase_add_test(c, the_end_of_a_turn_is_nobodys_silence);
	tcase_add_test(c, words_of_the_operator_keep_an_agent_from_ending);
	tcase_add_test(c, the_note_of_an_approval_is_told_once);
	tcase_add_test(c, a_host_that_shows_words_only_after_a_tool_is_told_then);
	tcase_add_test(c, words_do_not_go_with_a_denial_that_a_script_of_codex_may_swallow);
	tcase_add_test(c, words_go_with_another_denial_of_codex);
	tcase_add_test(c, words_wait_for_the_agent_that_a_subagent_works_for);
	tcase_add_test(c, more_words_than_a_host_shows_its_model_go_with_several_results);
	tcase_add_test(c, a_tool_that_failed_tells_copilot_nothing);
	tcase_add_test(c, a_tool_that_failed_tells_qwen_nothing);
	tcase_add_test(c, a_tool_that_ended_in_an_error_tells_gemini_nothing);
	tcase_add_test(c, a_result_of_gemini_without_an_error_tells);
	tcase_add_test(c, with_the_setting_an_agent_asks_for_the_next_instruction);
	tcase_add_test(c, if_nobody_says_what_comes_next_the_turn_ends);
	tcase_add_test(c, an_alert_says_why_an_agent_is_silent);
	tcase_add_test(c, with_the_setting_reading_needs_a_policy_or_a_person);
	tcase_add_test(c, what_the_configuration_always_asks_about_is_not_read_unasked);
	tcase_add_test(c, a_shorter_wait_may_be_configured);
	return run_suite(s);
}
