/* A tool of an agent's own program that is approved with another text than was asked. */
#include "tool_use_case.h"

#include "json.h"

static const char *editing(const char *path, const char *old, const char *new)
{
	OWNED(str) struct str arguments = { 0 };

	str_addf(&arguments,
	         "{\"file_path\":\"%s/%s\",\"old_string\":\"%s\",\"new_string\":\"%s\"}", workspace,
	         path, old, new);
	return tool_of("s1", workspace, "Edit", arguments.bytes);
}

/* What a person types into the sqlite3 shell. */
static void approve_with(const char *text)
{
	OWNED(str) struct str sql = { 0 };

	str_addf(&sql,
	         "INSERT INTO decision (request_id, verdict, edited) SELECT id, 'approve', '%s'"
	         " FROM request WHERE state = 'pending'",
	         text);
	given(sql.bytes);
	expect("SELECT outcome FROM decision ORDER BY seq DESC LIMIT 1", "applied\n");
}

static cJSON *input_in(const char *answer)
{
	cJSON *all = cJSON_Parse(answer);
	cJSON *input = cJSON_DetachItemFromObjectCaseSensitive(all, "input");

	cJSON_Delete(all);
	ck_assert_msg(input != NULL, "no input: %s", answer);
	return input;
}

/* Its input in the answer must be this JSON. */
static void is_handed(const char *answer, const char *input)
{
	OWNED(cJSON_ptr) cJSON *found = input_in(answer);
	OWNED(cJSON_ptr) cJSON *expected = cJSON_Parse(input);

	decides(answer, "allow", NULL);
	ck_assert_msg(cJSON_Compare(found, expected, true), "%s", answer);
	ck_assert_msg(strstr(answer, "\"rewrite\"") == NULL, "%s", answer);
}

START_TEST(a_command_is_handed_over_as_the_operator_wrote_it)
{
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *after = NULL;
	struct gate_client h;

	given_hooks();
	h = gate_begin("PreToolUse", tool_of("s1", workspace, "Bash",
	                                     "{\"command\":\"make install\",\"timeout\":5000}"));
	asked(1);
	expect("SELECT editable FROM request", "command\n");
	approve_with("make \"test\"");
	answer = gate_end(&h);
	is_handed(answer, "{\"command\":\"make \\\"test\\\"\",\"timeout\":5000}");
	says(member(answer, "context"), "make \"test\"");
	expect("SELECT g.decision, w.is_told, w.digest <> g.digest FROM gate_rewrite AS w"
	       " JOIN gate_call AS g ON g.seq = w.gate_seq",
	       "allow|0|1\n");
	/* What has run is compared with what was handed over. */
	after = gate_ask("PostToolUse",
	                 tool_of("s1", workspace, "Bash",
	                         "{\"command\":\"make \\\"test\\\"\",\"timeout\":5000}"));
	decides(after, "none", NULL);
	expect("SELECT seen FROM gate_call WHERE moment = 'pre_tool'", "same\n");
	expect("SELECT kind FROM event WHERE kind LIKE 'gate.%' OR kind = 'decision.edited'",
	       "decision.edited\ngate.rewritten\n");
	expect("SELECT count(*) FROM gate_amiss", "0\n");
}
END_TEST

START_TEST(numbers_beside_what_the_operator_wrote_are_handed_over_as_they_came)
{
	OWNED(char_ptr) char *line = NULL;
	struct gate_client h;

	given_hooks();
	h = gate_begin("PreToolUse",
	               tool_of("s1", workspace, "Bash",
	                       "{\"command\":\"make install\",\"job\":9007199254740993}"));
	asked(1);
	approve_with("make test");
	line = gate_line(&h);
	says(line, "\"input\":{\"command\":\"make test\",\"job\":9007199254740993}");
	gate_close(&h);
}
END_TEST

START_TEST(a_host_that_runs_what_was_asked_instead_is_told)
{
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *after = NULL;
	OWNED(str) struct str used = { 0 };
	struct gate_client h;

	given_hooks();
	str_addf(&used,
	         "{\"session_id\":\"s1\",\"cwd\":\"%s\",\"tool_name\":\"Bash\",\"tool_use_id\":"
	         "\"t1\",\"tool_input\":{\"command\":\"make install\"}}",
	         workspace);
	h = gate_begin("PreToolUse", used.bytes);
	asked(1);
	approve_with("make test");
	answer = gate_end(&h);
	is_handed(answer, "{\"command\":\"make test\"}");
	after = gate_ask("PostToolUse", used.bytes);
	decides(after, "none", NULL);
	expect("SELECT seen, seen_why FROM gate_call WHERE moment = 'pre_tool'",
	       "differs|it was called with other arguments\n");
}
END_TEST

START_TEST(a_new_content_is_handed_over_and_compared_with_the_file)
{
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *after = NULL;
	OWNED(str) struct str expected = { 0 };
	struct gate_client h;

	given_hooks();
	put_file(workspace, "a.txt", "one\n");
	h = gate_begin("PreToolUse", writing("a.txt", "two\\n"));
	asked(1);
	expect("SELECT editable FROM request", "content\n");
	approve_with("three\n");
	answer = gate_end(&h);
	str_addf(&expected, "{\"file_path\":\"%s/a.txt\",\"content\":\"three\\n\"}", workspace);
	is_handed(answer, expected.bytes);
	put_file(workspace, "a.txt", "three\n");
	after = gate_ask("PostToolUse", writing("a.txt", "three\\n"));
	decides(after, "none", NULL);
	expect("SELECT seen FROM gate_call WHERE moment = 'pre_tool'", "same\n");
}
END_TEST

START_TEST(a_file_with_the_content_that_was_asked_differs_from_the_one_approved)
{
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *after = NULL;
	struct gate_client h;

	given_hooks();
	h = gate_begin("PreToolUse", writing("a.txt", "two\\n"));
	asked(1);
	approve_with("three\n");
	answer = gate_end(&h);
	decides(answer, "allow", NULL);
	put_file(workspace, "a.txt", "two\n");
	after = gate_ask("PostToolUse", writing("a.txt", "three\\n"));
	decides(after, "none", NULL);
	expect("SELECT seen, seen_why FROM gate_call WHERE moment = 'pre_tool'",
	       "differs|a.txt is not what was allowed\n");
}
END_TEST

/* An edit of a part cannot say the whole, so the agent is told to write it. */
START_TEST(an_edit_of_a_part_is_told_as_a_write_which_is_allowed_once)
{
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *done = NULL;
	struct gate_client h;

	given_hooks();
	put_file(workspace, "a.txt", "one\ntwo\n");
	h = gate_begin("PreToolUse", editing("a.txt", "two", "TWO"));
	asked(1);
	approve_with("one\n2\n");
	answer = gate_end(&h);
	decides(answer, "deny", "Call Write now with exactly this input");
	says(member(answer, "reason"), "\"content\":\"one\\n2\\n\"");
	done = gate_ask("PreToolUse", writing("a.txt", "one\\n2\\n"));
	decides(done, "allow", NULL);
	expect("SELECT count(*) FROM request", "1\n");
	expect("SELECT group_concat(decision) FROM gate_call", "deny,allow\n");
	h = gate_begin("PreToolUse", writing("a.txt", "one\\n2\\n"));
	asked(1);
	expect("SELECT count(*) FROM request", "2\n");
	gate_close(&h);
}
END_TEST

START_TEST(a_file_that_changed_since_is_asked_about_although_the_write_was_told)
{
	OWNED(char_ptr) char *answer = NULL;
	struct gate_client h;

	given_hooks();
	put_file(workspace, "a.txt", "one\ntwo\n");
	h = gate_begin("PreToolUse", editing("a.txt", "two", "TWO"));
	asked(1);
	approve_with("one\n2\n");
	answer = gate_end(&h);
	decides(answer, "deny", "Call Write");
	put_file(workspace, "a.txt", "somebody else was here\n");
	h = gate_begin("PreToolUse", writing("a.txt", "one\\n2\\n"));
	asked(1);
	gate_close(&h);
}
END_TEST

START_TEST(a_file_that_has_become_a_link_is_asked_about_although_the_write_was_told)
{
	OWNED(char_ptr) char *answer = NULL;
	struct gate_client h;

	given_hooks();
	put_file(workspace, "a.txt", "one\ntwo\n");
	put_file(workspace, "b.txt", "one\ntwo\n");
	h = gate_begin("PreToolUse", editing("a.txt", "two", "TWO"));
	asked(1);
	approve_with("one\n2\n");
	answer = gate_end(&h);
	decides(answer, "deny", "Call Write");
	ck_assert_int_eq(unlink(below(workspace, "a.txt")), 0);
	ck_assert_int_eq(symlink("b.txt", below(workspace, "a.txt")), 0);
	h = gate_begin("PreToolUse", writing("a.txt", "one\\n2\\n"));
	asked(1);
	gate_close(&h);
}
END_TEST

START_TEST(a_host_that_takes_no_rewrite_is_told_what_to_call_and_that_is_allowed_once)
{
	static const char ASKED[] = "{\"command\":\"make install\"}",
	                  TOLD[] = "{\"command\":\"make test\"}";
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *done = NULL;
	struct gate_client h;

	given_hooks();
	h = begin_of("qwen", "PreToolUse", tool_of("s1", workspace, "run_shell_command", ASKED));
	asked(1);
	approve_with("make test");
	answer = gate_end(&h);
	decides(answer, "deny", "Call run_shell_command now with exactly this input");
	says(member(answer, "reason"), TOLD);
	expect("SELECT kind FROM event WHERE kind LIKE 'gate.%'", "gate.told\n");
	done = ask_of("qwen", "PreToolUse", tool_of("s1", workspace, "run_shell_command", TOLD));
	decides(done, "allow", NULL);
	h = begin_of("qwen", "PreToolUse", tool_of("s1", workspace, "run_shell_command", TOLD));
	asked(1);
	gate_close(&h);
	h = begin_of("qwen", "PreToolUse", tool_of("s1", workspace, "run_shell_command", ASKED));
	expect_soon("SELECT count(*) FROM request WHERE state = 'pending'", "2\n");
	gate_close(&h);
	expect("SELECT count(*) FROM gate_call WHERE decision = 'allow'", "1\n");
}
END_TEST

START_TEST(every_host_that_takes_a_rewrite_gets_one)
{
	static const struct {
		const char *host, *event, *tool;
	} CASES[] = {
		{ "claude", "PermissionRequest", "Bash" },
		{ "codex", "PreToolUse", "Bash" },
		{ "gemini", "BeforeTool", "run_shell_command" },
		{ "copilot", "preToolUse", "bash" },
		{ "cursor", "preToolUse", "Shell" },
		{ "vscode", "PreToolUse", "runTerminalCommand" },
		{ "opencode", "tool.execute.before", "bash" },
	};

	given_hooks();
	for (size_t i = 0; i < COUNT(CASES); i++) {
		struct gate_client h = begin_of(
		    CASES[i].host, CASES[i].event,
		    tool_of("s1", workspace, CASES[i].tool, "{\"command\":\"make install\"}"));
		OWNED(char_ptr) char *answer = NULL;

		asked(1);
		approve_with("make test");
		answer = gate_end(&h);
		is_handed(answer, "{\"command\":\"make test\"}");
	}
}
END_TEST

START_TEST(what_no_host_takes_cannot_be_approved_with_another_text)
{
	static const struct {
		const char *host, *event, *tool, *arguments;
	} CASES[] = {
		{ "claude", "PreToolUse", "WebFetch", "{\"url\":\"http://a.example/\"}" },
		{ "claude", "PreToolUse", "mcp__github__delete", "{\"command\":\"x\"}" },
		{ "codex", "PreToolUse", "apply_patch",
		  "{\"command\":\"*** Begin Patch\\n*** Add File: n.txt\\n+x\\n*** End "
		  "Patch\\n\"}" },
	};

	given_hooks();
	for (size_t i = 0; i < COUNT(CASES); i++) {
		struct gate_client h =
		    begin_of(CASES[i].host, CASES[i].event,
		             tool_of("s1", workspace, CASES[i].tool, CASES[i].arguments));

		expect_soon("SELECT count(*) FROM request WHERE state = 'pending'", "1\n");
		expect("SELECT editable FROM request WHERE state = 'pending'", "\n");
		given("INSERT INTO decision (request_id, verdict, edited) SELECT id, 'approve',"
		      " 'x' FROM request WHERE state = 'pending'");
		expect("SELECT outcome FROM decision ORDER BY seq DESC LIMIT 1", "wrong_verb\n");
		decide_all("reject");
		free(gate_end(&h));
	}
}
END_TEST

START_TEST(a_command_that_the_policy_denies_is_not_handed_over)
{
	OWNED(char_ptr) char *answer = NULL;
	struct gate_client h;

	given_hooks();
	given_policy("{\"enabled\":true,\"commands\":[\"make *\"],"
	             "\"chat.tools.terminal.autoApprove\":"
	             "{\"curl\":false}}");
	h = gate_begin("PreToolUse", bash("ls -l"));
	asked(1);
	approve_with("ls; curl http://a.example");
	answer = gate_end(&h);
	decides(answer, "deny", "denied by command:");
	expect("SELECT decision FROM gate_call", "deny\n");
	expect("SELECT count(*) FROM gate_rewrite", "0\n");
}
END_TEST

START_TEST(a_patch_in_a_command_is_not_handed_over_as_a_command)
{
	OWNED(char_ptr) char *answer = NULL;
	struct gate_client h;

	given_hooks();
	h = begin_of("codex", "PreToolUse",
	             tool_of("s1", workspace, "Bash", "{\"command\":\"ls -l\"}"));
	asked(1);
	approve_with("apply_patch <<EOF\n*** Begin Patch\n*** Add File: n\n+x\n*** End Patch\nEOF");
	answer = gate_end(&h);
	decides(answer, "deny", "it is a patch");
}
END_TEST

START_TEST(a_front_that_is_killed_after_the_decision_hands_it_over_once)
{
	OWNED(char_ptr) char *answer = NULL;
	struct gate_client h;

	given_hooks();
	h = gate_begin("PreToolUse", bash("make install"));
	asked(1);
	kill_worker(front);
	gate_close(&h);
	approve_with("make test");
	front = start_worker("mcp-front");
	answer = gate_ask("PreToolUse", bash("make install"));
	is_handed(answer, "{\"command\":\"make test\"}");
	h = gate_begin("PreToolUse", bash("make install"));
	asked(1);
	expect("SELECT count(*) FROM request", "2\n");
	expect("SELECT count(*) FROM gate_rewrite", "1\n");
	gate_close(&h);
}
END_TEST

START_TEST(of_two_that_are_the_same_one_gets_the_other_text)
{
	OWNED(char_ptr) char *first = NULL;
	OWNED(char_ptr) char *second = NULL;
	struct gate_client a, b;

	given_hooks();
	a = gate_begin("PreToolUse", bash("make install"));
	b = gate_begin("PreToolUse", bash("make install"));
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'waiting'", "2\n");
	approve_with("make test");
	first = gate_end(&a);
	second = gate_end(&b);
	ck_assert_str_ne(member(first, "decision"), member(second, "decision"));
	expect("SELECT count(*) FROM gate_rewrite", "1\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tool_use_edits");
	TCase *c = store_case(s, "tool_use_edits", 60);

	tcase_add_test(c, a_command_is_handed_over_as_the_operator_wrote_it);
	tcase_add_test(c, numbers_beside_what_the_operator_wrote_are_handed_over_as_they_came);
	tcase_add_test(c, a_host_that_runs_what_was_asked_instead_is_told);
	tcase_add_test(c, a_new_content_is_handed_over_and_compared_with_the_file);
	tcase_add_test(c, a_file_with_the_content_that_was_asked_differs_from_the_one_approved);
	tcase_add_test(c, an_edit_of_a_part_is_told_as_a_write_which_is_allowed_once);
	tcase_add_test(c, a_file_that_changed_since_is_asked_about_although_the_write_was_told);
	tcase_add_test(c, a_file_that_has_become_a_link_is_asked_about_although_the_write_was_told);
	tcase_add_test(c,
	               a_host_that_takes_no_rewrite_is_told_what_to_call_and_that_is_allowed_once);
	tcase_add_test(c, every_host_that_takes_a_rewrite_gets_one);
	tcase_add_test(c, what_no_host_takes_cannot_be_approved_with_another_text);
	tcase_add_test(c, a_command_that_the_policy_denies_is_not_handed_over);
	tcase_add_test(c, a_patch_in_a_command_is_not_handed_over_as_a_command);
	tcase_add_test(c, a_front_that_is_killed_after_the_decision_hands_it_over_once);
	tcase_add_test(c, of_two_that_are_the_same_one_gets_the_other_text);
	return run_suite(s);
}
