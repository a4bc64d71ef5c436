/* A tool that an agent's own program is about to use: what is allowed, asked and denied. */
#include "tool_use_case.h"

static const char POLICY[] =
    "{\"enabled\":true,\"commands\":[\"make *\"],\"tools\":[\"mcp__github__list\"],"
    "\"file_patterns\":{\"write\":[\"src/**\"]}}";

START_TEST(reading_is_allowed_in_one_commit)
{
	OWNED(char_ptr) char *answer = NULL;

	given_hooks();
	answer = gate_ask("PreToolUse",
	                  tool_of("s1", workspace, "Read", "{\"file_path\":\"/etc/hostname\"}"));
	decides(answer, "allow", NULL);
	expect("SELECT host, event, moment, tool, class, decision, request_seq FROM gate_call",
	       "claude|PreToolUse|pre_tool|Read|read|allow|\n");
	expect("SELECT tool, state FROM tool_call", "intercom/hook|done\n");
	expect("SELECT client_name, last_tool FROM session", "claude|Read\n");
	expect("SELECT transport FROM connection", "hook\n");
}
END_TEST

START_TEST(an_edit_is_asked_with_the_change_that_we_compute_and_told_when_it_is_approved)
{
	OWNED(char_ptr) char *answer = NULL;
	struct gate_client h;

	given_hooks();
	put_file(workspace, "a.txt", "one\ntwo\nthree\n");
	h = gate_begin("PreToolUse", writing("a.txt", "one\\nTWO\\nthree\\n"));
	asked(1);
	expect("SELECT kind, title, file_path, risk_level, replaces_file FROM request",
	       "permission|Write a.txt|a.txt|low|1\n");
	expect("SELECT path, action, length(original_hash), length(result_hash) FROM request_file",
	       "a.txt|modify|64|64\n");
	{
		OWNED(char_ptr) char *effect = rows("SELECT effect FROM request");

		says(effect, "-two\n+TWO\n");
	}
	approve_all();
	answer = gate_end(&h);
	decides(answer, "allow", NULL);
	expect("SELECT g.decision, g.request_seq = r.seq, r.delivered_at IS NOT NULL"
	       "  FROM gate_call AS g, request AS r",
	       "allow|1|1\n");
	expect(
	    "SELECT f.path, f.result_hash = r.result_hash FROM gate_file AS f, request_file AS r",
	    "a.txt|1\n");
	expect("SELECT state FROM tool_call", "done\n");
}
END_TEST

START_TEST(a_rejection_comes_with_its_reason_and_is_repeated)
{
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *again = NULL;
	struct gate_client h;

	given_hooks();
	h = gate_begin("PreToolUse", bash("rm -rf build"));
	asked(1);
	given("INSERT INTO decision (request_id, verdict, reason) SELECT id, 'reject', 'keep it' "
	      "FROM request");
	answer = gate_end(&h);
	decides(answer, "deny", "rejected by the operator: keep it");
	again = gate_ask("PreToolUse", bash("rm -rf build"));
	decides(again, "deny", "keep it");
	expect("SELECT count(*) FROM request", "1\n");
}
END_TEST

START_TEST(an_approval_is_for_one_use)
{
	struct gate_client h;

	given_hooks();
	is_approved(bash("make install"));
	h = gate_begin("PreToolUse", bash("make install"));
	asked(1);
	expect("SELECT count(*) FROM request", "2\n");
	gate_close(&h);
}
END_TEST

/* A relay that came back is told again what it was told. */
START_TEST(an_approval_is_for_one_use_also_for_one_who_says_that_they_came_back)
{
	OWNED(char_ptr) char *key = NULL;
	OWNED(str) struct str greeting = { 0 };
	struct gate_client h;

	given_hooks();
	is_approved(bash("make install"));
	key = rows("SELECT key FROM connection");
	str_addf(&greeting, "{\"agent-intercom\":1,\"resume\":\"%.*s\"}\n", (int)strcspn(key, "\n"),
	         key);
	gate_greet(&h, greeting.bytes);
	gate_send(&h, "claude", "PreToolUse", bash("make install"), GATE_PATIENCE_MS, NULL);
	asked(1);
	expect("SELECT count(*) FROM request", "2\n");
	gate_close(&h);
}
END_TEST

START_TEST(of_two_that_are_the_same_one_uses_the_approval)
{
	struct gate_client a, b;
	OWNED(char_ptr) char *first = NULL;
	OWNED(char_ptr) char *second = NULL;

	given_hooks();
	a = gate_begin("PreToolUse", bash("make install"));
	b = gate_begin("PreToolUse", bash("make install"));
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'waiting'", "2\n");
	expect("SELECT count(*) FROM request", "1\n");
	approve_all();
	first = gate_end(&a);
	second = gate_end(&b);
	ck_assert_str_ne(member(first, "decision"), member(second, "decision"));
	decides(strcmp(member(first, "decision"), "deny") == 0 ? first : second, "deny",
	        "was used by another call that is the same; call it again to have this one asked");
	expect("SELECT count(*) FROM gate_call WHERE decision = 'allow'", "1\n");
}
END_TEST

START_TEST(two_tools_at_once_are_two_questions)
{
	struct gate_client a, b;
	OWNED(char_ptr) char *first = NULL;
	OWNED(char_ptr) char *second = NULL;

	given_hooks();
	a = gate_begin("PreToolUse", bash("make install"));
	b = gate_begin("PreToolUse", writing("b.txt", "hello"));
	asked(2);
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'approve' FROM request"
	      " WHERE file_path IS NOT NULL");
	second = gate_end(&b);
	decides(second, "allow", NULL);
	decide_all("reject");
	first = gate_end(&a);
	decides(first, "deny", "rejected");
	expect("SELECT count(*) FROM session", "1\n");
}
END_TEST

START_TEST(at_the_deadline_it_is_parked_and_the_next_attempt_finds_the_answer)
{
	OWNED(char_ptr) char *parked = NULL;
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *id = NULL;
	struct gate_client h;

	given_hooks();
	gate_connect(&h);
	gate_send(&h, "claude", "PreToolUse", bash("make install"), 2000, NULL);
	parked = gate_end(&h);
	id = rows("SELECT id FROM request");
	*strchr(id, '\n') = '\0';
	decides(parked, "deny", "parked as question");
	says(member(parked, "reason"), id);
	expect("SELECT decision FROM gate_call", "deny\n");
	approve_all();
	answer = gate_ask("PreToolUse", bash("make install"));
	decides(answer, "allow", NULL);
	expect("SELECT count(*) FROM request", "1\n");
}
END_TEST

START_TEST(a_file_that_changed_since_the_approval_is_asked_about_again)
{
	OWNED(char_ptr) char *parked = NULL;
	struct gate_client h;

	given_hooks();
	put_file(workspace, "a.txt", "one\n");
	gate_connect(&h);
	gate_send(&h, "claude", "PreToolUse", writing("a.txt", "two\\n"), 2000, NULL);
	parked = gate_end(&h);
	decides(parked, "deny", "parked");
	approve_all();
	put_file(workspace, "a.txt", "other\n");
	h = gate_begin("PreToolUse", writing("a.txt", "two\\n"));
	asked(1);
	expect("SELECT count(*) FROM request", "2\n");
	gate_close(&h);
}
END_TEST

START_TEST(what_the_policy_allows_is_not_asked)
{
	static const struct {
		const char *tool, *arguments;
	} CASES[] = {
		{ "Bash", "{\"command\":\"make test\",\"description\":\"Run the tests\"}" },
		{ "mcp__github__list", "{}" },
		{ "mcp__intercom__check_clearance", "{\"title\":\"x\"}" },
	};
	OWNED(char_ptr) char *edit = NULL;

	given_hooks();
	given_policy(POLICY);
	(void)mkdir(below(workspace, "src"), 0755);
	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(char_ptr)
		char *answer = gate_ask(
		    "PreToolUse", tool_of("s1", workspace, CASES[i].tool, CASES[i].arguments));

		decides(answer, "allow", NULL);
	}
	edit = gate_ask("PreToolUse", writing("src/new.c", "int x;"));
	decides(edit, "allow", NULL);
	expect("SELECT count(*) FROM request WHERE kind <> 'trust'", "0\n");
	expect("SELECT path, original_hash FROM gate_file", "src/new.c|new_file\n");
}
END_TEST

/* What is asked about each, and not allowed by the policy above. */
START_TEST(what_the_policy_does_not_allow_is_asked)
{
	static const struct {
		const char *tool, *arguments, *title, *risk;
	} CASES[] = {
		{ "Bash", "{\"command\":\"make test; id\"}", "make test; id", "low" },
		{ "Bash", "{\"command\":\"make test\",\"dangerouslyDisableSandbox\":true}",
		  "make test", "high" },
		{ "WebFetch", "{\"url\":\"http://a.example/x\"}", "WebFetch http://a.example/x",
		  "low" },
		{ "mcp__github__delete", "{}", "mcp__github__delete", "low" },
		{ "mcp__evil__check_clearance", "{}", "mcp__evil__check_clearance", "low" },
		{ "mcp__intercom__other", "{}", "mcp__intercom__other", "low" },
		{ "Unheard", "{\"a\":1}", "Unheard", "low" },
		{ "Write", "{\"file_path\":\"/tmp/intercom-elsewhere\",\"content\":\"x\"}",
		  "Write /tmp/intercom-elsewhere", "critical" },
	};

	given_hooks();
	given_policy(POLICY);
	for (size_t i = 0; i < COUNT(CASES); i++) {
		struct gate_client h = gate_begin(
		    "PreToolUse", tool_of("s1", workspace, CASES[i].tool, CASES[i].arguments));
		OWNED(char_ptr) char *answer = NULL;
		OWNED(char_ptr) char *said = NULL;
		OWNED(str) struct str expected = { 0 };

		asked(1);
		said = rows("SELECT title, risk_level FROM request ORDER BY seq DESC LIMIT 1");
		str_addf(&expected, "%s|%s\n", CASES[i].title, CASES[i].risk);
		ck_assert_str_eq(said, expected.bytes);
		decide_all("reject");
		answer = gate_end(&h);
		decides(answer, "deny", "rejected");
	}
}
END_TEST

/* Cursor's own words for a command: what it says of every event is no argument of it. */
static const char *cursor_runs(const char *command, int generation)
{
	static char input[2000];

	(void)snprintf(input, sizeof(input),
	               "{\"conversation_id\":\"u1\",\"generation_id\":\"%d\",\"model\":\"m\","
	               "\"hook_event_name\":\"beforeShellExecution\",\"cursor_version\":\"3.9.16\","
	               "\"workspace_roots\":[\"%s\"],\"user_email\":null,\"transcript_path\":null,"
	               "\"command\":\"%s\",\"cwd\":\"%s\",\"sandbox\":true}",
	               generation, workspace, command, workspace);
	return input;
}

START_TEST(a_command_of_cursor_is_judged_as_any_other)
{
	OWNED(char_ptr) char *allowed = NULL;
	OWNED(char_ptr) char *approved = NULL;
	struct gate_client h;

	given_hooks();
	given_policy(POLICY);
	allowed = ask_of("cursor", "beforeShellExecution", cursor_runs("make test", 1));
	decides(allowed, "allow", NULL);
	expect("SELECT count(*) FROM request WHERE kind <> 'trust'", "0\n");
	h = begin_of("cursor", "beforeShellExecution", cursor_runs("id", 2));
	approve_parked(&h);
	expect("SELECT title, risk_level, editable FROM request WHERE kind = 'permission'",
	       "id|low|\n");
	approved = ask_of("cursor", "beforeShellExecution", cursor_runs("id", 3));
	decides(approved, "allow", NULL);
}
END_TEST

/* Cursor's own words for a tool of an MCP server, which it names by its address or its command. */
static const char *cursor_calls(const char *server)
{
	static char input[2000];

	(void)snprintf(input, sizeof(input),
	               "{\"conversation_id\":\"u1\",\"hook_event_name\":\"beforeMCPExecution\","
	               "\"workspace_roots\":[\"%s\"],\"tool_name\":\"query\","
	               "\"tool_input\":\"{\\\"sql\\\":\\\"select 1\\\"}\"%s}",
	               workspace, server);
	return input;
}

static struct gate_client begin_call(const char *server)
{
	return begin_of("cursor", "beforeMCPExecution", cursor_calls(server));
}

START_TEST(a_tool_of_cursor_is_shown_and_approved_with_its_server)
{
	static const char GOOD[] = ",\"url\":\"https://good.example/mcp\"";
	static const char *const OTHERS[] = { ",\"url\":\"https://evil.example/mcp\"",
		                              ",\"command\":\"https://good.example/mcp\"",
		                              ",\"command\":\"npx evil\"", "" };
	OWNED(char_ptr) char *approved = NULL;
	struct gate_client h;

	given_hooks();
	h = begin_call(GOOD);
	approve_parked(&h);
	expect("SELECT title FROM request", "query https://good.example/mcp\n");
	expect("SELECT body LIKE '%https://good.example/mcp%select 1%' FROM request", "1\n");
	for (size_t i = 0; i < COUNT(OTHERS); i++) {
		OWNED(char_ptr) char *answer = NULL;

		h = begin_call(OTHERS[i]);
		asked(1);
		decide_all("reject");
		answer = gate_end(&h);
		decides(answer, "deny", "rejected");
	}
	approved = ask_of("cursor", "beforeMCPExecution", cursor_calls(GOOD));
	decides(approved, "allow", NULL);
}
END_TEST

START_TEST(no_rule_for_a_name_allows_a_tool_whose_server_has_none)
{
	OWNED(char_ptr) char *answer = NULL;
	struct gate_client h;

	given_hooks();
	given_policy("{\"enabled\":true,\"tools\":[\"query\"]}");
	h = begin_call(",\"command\":\"npx evil\"");
	asked(1);
	expect("SELECT title, description FROM request WHERE kind = 'permission'",
	       "query npx evil|the host does not say which server the tool belongs to, so a rule "
	       "for its name would allow it on all of them\n");
	decide_all("reject");
	answer = gate_end(&h);
	decides(answer, "deny", "rejected");
}
END_TEST

START_TEST(nothing_is_written_where_no_agent_writes)
{
	static const char *const PATHS[] = { ".git/hooks/pre-commit", ".intercom/settings.json",
		                             "sub/../.git/config",
		                             "docs/.intercom-0123456789abcdef.tmp" };

	given_hooks();
	for (size_t i = 0; i < COUNT(PATHS); i++) {
		OWNED(char_ptr) char *answer = gate_ask("PreToolUse", writing(PATHS[i], "x"));

		decides(answer, "deny", "protected");
	}
	expect("SELECT count(*) FROM request", "0\n");
}
END_TEST

START_TEST(an_input_that_makes_no_sense_is_an_error)
{
	static const char *const INPUTS[] = {
		"{\"session_id\":\"s\"}",
		"{\"session_id\":\"s\",\"tool_name\":\"Bash\",\"tool_input\":7}",
		"[]",
	};

	given_hooks();
	for (size_t i = 0; i < COUNT(INPUTS); i++) {
		OWNED(char_ptr) char *answer = gate_ask("PreToolUse", INPUTS[i]);

		ck_assert_str_ne(member(answer, "message"), "");
	}
	expect("SELECT count(*) FROM gate_call", "0\n");
}
END_TEST

START_TEST(no_client_may_call_it_as_a_tool)
{
	OWNED(char_ptr) char *answer = NULL;
	struct agent a;
	struct wire w = { .fd = -1 };

	given_hooks();
	a = agent_hello(front_port(), "", "2025-11-25");
	agent_begin(&a, &w, "intercom/hook", "{}", NULL);
	answer = agent_message(&w);
	says(answer, "unknown tool");
	wire_close(&w);
}
END_TEST

/* A double holds none of these. */
START_TEST(a_number_is_shown_and_bound_as_it_is_written)
{
	static const struct {
		const char *one, *other;
	} CASES[] = { { "9007199254740993", "9007199254740992" },
		      { "-9223372036854775807", "-9223372036854775808" },
		      { "1e400", "2e400" },
		      { "0.1000000000000000055", "0.1" } };

	given_hooks();
	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(str) struct str one = { 0 }, other = { 0 };
		OWNED(char_ptr) char *body = NULL;
		OWNED(char_ptr) char *answer = NULL;
		struct gate_client h;

		str_addf(&one, "{\"in\":[{\"id\":%s}]}", CASES[i].one);
		str_addf(&other, "{\"in\":[{\"id\":%s}]}", CASES[i].other);
		h = gate_begin("PreToolUse",
		               tool_of("s1", workspace, "mcp__tickets__close", one.bytes));
		asked(1);
		body = rows("SELECT body FROM request WHERE state = 'pending'");
		says(body, CASES[i].one);
		approve_parked(&h);
		h = gate_begin("PreToolUse",
		               tool_of("s1", workspace, "mcp__tickets__close", other.bytes));
		asked(1);
		decide_all("reject");
		free(gate_end(&h));
		answer = gate_ask("PreToolUse",
		                  tool_of("s1", workspace, "mcp__tickets__close", one.bytes));
		decides(answer, "allow", NULL);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tool_use_calls");
	TCase *c = store_case(s, "tool_use_calls", 60);

	tcase_add_test(c, reading_is_allowed_in_one_commit);
	tcase_add_test(
	    c, an_edit_is_asked_with_the_change_that_we_compute_and_told_when_it_is_approved);
	tcase_add_test(c, a_rejection_comes_with_its_reason_and_is_repeated);
	tcase_add_test(c, an_approval_is_for_one_use);
	tcase_add_test(c, an_approval_is_for_one_use_also_for_one_who_says_that_they_came_back);
	tcase_add_test(c, of_two_that_are_the_same_one_uses_the_approval);
	tcase_add_test(c, two_tools_at_once_are_two_questions);
	tcase_add_test(c, at_the_deadline_it_is_parked_and_the_next_attempt_finds_the_answer);
	tcase_add_test(c, a_file_that_changed_since_the_approval_is_asked_about_again);
	tcase_add_test(c, what_the_policy_allows_is_not_asked);
	tcase_add_test(c, what_the_policy_does_not_allow_is_asked);
	tcase_add_test(c, a_command_of_cursor_is_judged_as_any_other);
	tcase_add_test(c, a_tool_of_cursor_is_shown_and_approved_with_its_server);
	tcase_add_test(c, no_rule_for_a_name_allows_a_tool_whose_server_has_none);
	tcase_add_test(c, nothing_is_written_where_no_agent_writes);
	tcase_add_test(c, an_input_that_makes_no_sense_is_an_error);
	tcase_add_test(c, no_client_may_call_it_as_a_tool);
	tcase_add_test(c, a_number_is_shown_and_bound_as_it_is_written);
	return run_suite(s);
}
