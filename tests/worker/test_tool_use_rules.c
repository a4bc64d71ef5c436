/* A policy that allows tools by name: what they may still not do unasked. */
#include "tool_use_case.h"

struct use {
	const char *host, *tool, *arguments; /* arguments: JSON; %s in it: the workspace */
};

static void given_tools(const char *list)
{
	OWNED(str) struct str policy = { 0 };

	given_hooks_with("policy.always_ask", "[\"secrets\"]");
	(void)mkdir(below(workspace, "docs"), 0755);
	(void)mkdir(below(workspace, "secrets"), 0755);
	put_file(workspace, "secrets/a.txt", "secret\n");
	str_addf(&policy,
	         "{\"enabled\":true,\"risk_level_threshold\":\"high\",\"tools\":[%s],"
	         "\"chat.tools.terminal.autoApprove\":{\"rm *\":false}}",
	         list);
	given_policy(policy.bytes);
}

static const char *event_of(const struct use *u)
{
	if (strcmp(u->host, "acp") == 0)
		return strcmp(u->tool, "execute") == 0 ? "session/request_permission" : u->tool;
	if (strcmp(u->host, "copilot") == 0)
		return "preToolUse";
	return strcmp(u->host, "gemini") == 0 ? "BeforeTool" : "PreToolUse";
}

static struct gate_client begin(const struct use *u)
{
	return begin_of(u->host, event_of(u), calling(u->tool, u->arguments));
}

static void are_asked(const struct use *uses, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct gate_client h = begin(&uses[i]);
		OWNED(char_ptr) char *answer = NULL;

		asked(1);
		if (strcmp(uses[i].host, "acp") == 0)
			free(gate_line(&h)); /* that a person is asked */
		decide_all("reject");
		answer = gate_end(&h);
		decides(answer, "deny", "rejected");
	}
}

static void are(const struct use *uses, size_t count, const char *decision)
{
	for (size_t i = 0; i < count; i++) {
		struct gate_client h = begin(&uses[i]);
		OWNED(char_ptr) char *answer = gate_end(&h);

		decides(answer, decision, NULL);
	}
	expect("SELECT count(*) FROM request WHERE state = 'pending'", "0\n");
}

START_TEST(a_notebook_of_qwen_code_is_judged_as_a_file_that_is_written)
{
	static const struct use DENIED[] = {
		{ "qwen", "notebook_edit",
		  "{\"notebook_path\":\".git/n.ipynb\",\"new_source\":\"x\"}" },
		{ "qwen", "notebook_edit",
		  "{\"notebook_path\":\"%s/.intercom/n.ipynb\",\"new_source\":\"x\"}" },
	};
	static const struct use ASKED[] = {
		{ "qwen", "notebook_edit",
		  "{\"notebook_path\":\"/outside/n.ipynb\",\"new_source\":\"x\"}" },
		{ "qwen", "notebook_edit",
		  "{\"notebook_path\":\"%s/secrets/n.ipynb\",\"new_source\":\"x\"}" },
		{ "qwen", "notebook_edit",
		  "{\"notebook_path\":\"docs/n.ipynb\",\"new_source\":\"x\"}" },
	};

	given_tools("\"notebook_edit\"");
	(void)mkdir(below(workspace, ".git"), 0755);
	are(DENIED, COUNT(DENIED), "deny");
	are_asked(ASKED, COUNT(ASKED));
}
END_TEST

START_TEST(what_qwen_code_monitors_is_judged_as_a_command)
{
	static const struct use ASKED[] = {
		{ "qwen", "monitor", "{\"command\":\"rm -rf x\",\"max_events\":5}" },
		{ "qwen", "monitor", "{\"command\":\"tail -f log\"}" },
		{ "qwen", "monitor", "{\"command\":\"tail -f log\",\"directory\":\"/tmp\"}" },
	};

	given_tools("\"monitor\"");
	are_asked(ASKED, COUNT(ASKED));
	expect("SELECT body FROM request ORDER BY seq", "rm -rf x\ntail -f log\ntail -f log\n");
}
END_TEST

START_TEST(an_image_that_qwen_code_shows_is_judged_as_a_file_that_is_read)
{
	static const struct use ASKED[] = {
		{ "qwen", "zoom_image", "{\"file_path\":\"secrets/a.png\"}" },
		{ "qwen", "display_image", "{\"file_path\":\"%s/secrets/a.png\"}" },
		{ "qwen", "record_artifact",
		  "{\"title\":\"x\",\"workspacePath\":\"secrets/a.txt\"}" },
		{ "qwen", "lsp", "{\"operation\":\"hover\",\"filePath\":\"secrets/a.txt\"}" },
	};
	static const struct use ALLOWED[] = {
		{ "qwen", "zoom_image", "{\"file_path\":\"docs/a.png\"}" },
		{ "qwen", "display_image", "{\"file_path\":\"docs/a.png\"}" },
		{ "qwen", "record_artifact", "{\"title\":\"x\",\"workspacePath\":\"docs/a\"}" },
		{ "qwen", "lsp", "{\"operation\":\"hover\",\"filePath\":\"docs/a.c\"}" },
	};

	given_tools("");
	are_asked(ASKED, COUNT(ASKED));
	are(ALLOWED, COUNT(ALLOWED), "allow");
}
END_TEST

START_TEST(a_rule_for_a_tool_that_is_not_known_allows_no_command_and_no_file_that_is_always_asked)
{
	static const struct use ASKED[] = {
		{ "claude", "Strange", "{\"command\":\"ls\"}" },
		{ "claude", "Strange", "{\"file_path\":\"secrets/a.txt\"}" },
		{ "claude", "Strange", "{\"file_path\":\"%s/.git/config\"}" },
		{ "claude", "Strange", "{\"scriptPath\":\".intercom/x\"}" },
		{ "claude", "Strange", "{\"folder\":\"/outside\"}" },
		{ "claude", "Strange", "{\"all\":[{\"paths\":[\"docs/a\",\"../x\"]}]}" },
		{ "claude", "Strange", "{\"outDir\":\"~/x\"}" },
		{ "gemini", "strange", "{\"path\":\"docs/%2e%2e/x\"}" },
		{ "gemini", "strange", "{\"path\":\".\"}" },
		{ "qwen", "strange", "{\"target\":\"AGENTS.md\"}" },
		{ "claude", "Other", "{\"file_path\":\"docs/a.txt\"}" },
	};
	static const struct use ALLOWED[] = {
		{ "claude", "Strange", "{}" },
		{ "claude", "Strange", "{\"file_path\":\"%s/docs/a.txt\",\"n\":1}" },
		{ "qwen", "strange", "{\"text\":\"/outside\",\"path\":\"docs\"}" },
	};

	given_tools("\"Strange\",\"strange\"");
	are_asked(ASKED, COUNT(ASKED));
	are(ALLOWED, COUNT(ALLOWED), "allow");
}
END_TEST

/* Who writes to one of its names writes to the other. */
START_TEST(a_rule_for_a_tool_that_is_not_known_allows_no_file_with_several_names)
{
	static const struct use USE = { "claude", "Strange", "{\"file_path\":\"docs/two.txt\"}" };

	given_tools("\"Strange\"");
	put_file(workspace, "docs/two.txt", "text\n");
	are(&USE, 1, "allow");
	ck_assert_int_eq(link(below(workspace, "docs/two.txt"), below(workspace, "one.txt")), 0);
	are_asked(&USE, 1);
}
END_TEST

START_TEST(a_relative_path_that_gemini_would_search_for_is_refused)
{
	static const struct use DENIED[] = {
		{ "gemini", "replace",
		  "{\"file_path\":\"ci9.yml\",\"old_string\":\"a\",\"new_string\":\"b\"}" },
		{ "gemini", "replace",
		  "{\"file_path\":\"@ci9.yml\",\"old_string\":\"a\",\"new_string\":\"b\"}" },
		{ "gemini", "replace",
		  "{\"file_path\":\"ci9.yml\",\"old_string\":\"\",\"new_string\":\"b\"}" },
	};
	static const struct use ASKED[] = {
		{ "gemini", "replace",
		  "{\"file_path\":\"docs/a.txt\",\"old_string\":\"a\",\"new_string\":\"b\"}" },
		{ "gemini", "replace",
		  "{\"file_path\":\"%s/c.yml\",\"old_string\":\"a\",\"new_string\":\"b\"}" },
		{ "gemini", "write_file", "{\"file_path\":\"ci9.yml\",\"content\":\"b\"}" },
		{ "qwen", "edit",
		  "{\"file_path\":\"ci9.yml\",\"old_string\":\"a\",\"new_string\":\"b\"}" },
	};

	given_tools("");
	put_file(workspace, "docs/a.txt", "a\n");
	are(DENIED, COUNT(DENIED), "deny");
	are_asked(ASKED, COUNT(ASKED));
}
END_TEST

/* There an agent may have written what the program takes its orders from: a repository, say. */
START_TEST(a_rule_for_commands_counts_in_the_root_of_the_workspace_alone)
{
	static const struct use ALLOWED[] = {
		{ "claude", "Bash", "{\"command\":\"git status\"}" },
		{ "gemini", "run_shell_command",
		  "{\"command\":\"git status\",\"dir_path\":\".\"}" },
		{ "codex", "Bash", "{\"command\":\"git status\",\"workdir\":\"%s\"}" },
		{ "qwen", "run_shell_command",
		  "{\"command\":\"git status\",\"directory\":\"%s\"}" },
		{ "acp", "terminal/create", "{\"command\":\"git status\",\"cwd\":\"%s\"}" },
	};
	static const struct use ASKED[] = {
		{ "gemini", "run_shell_command",
		  "{\"command\":\"git status\",\"dir_path\":\"docs\"}" },
		{ "codex", "Bash", "{\"command\":\"git status\",\"workdir\":\"docs\"}" },
		{ "qwen", "run_shell_command",
		  "{\"command\":\"git status\",\"directory\":\"%s/docs\"}" },
		{ "acp", "terminal/create", "{\"command\":\"git status\",\"cwd\":\"%s/docs\"}" },
		{ "acp", "execute", "{\"command\":\"git status\",\"cwd\":\"%s/docs\"}" },
	};
	OWNED(char_ptr) char *answer = NULL;
	struct gate_client h;

	given_tools("");
	given_policy("{\"enabled\":true,\"risk_level_threshold\":\"high\","
	             "\"commands\":[\"git status\"]}");
	are(ALLOWED, COUNT(ALLOWED), "allow");
	are_asked(ASKED, COUNT(ASKED));
	h = begin_of(
	    "claude", "PreToolUse",
	    tool_of("s1", below(workspace, "docs"), "Bash", "{\"command\":\"git status\"}"));
	asked(1);
	decide_all("reject");
	answer = gate_end(&h);
	decides(answer, "deny", "rejected");
	expect("SELECT DISTINCT description LIKE 'runs in %/docs; command:git status counts in the "
	       "root of the workspace alone' FROM request",
	       "1\n");
}
END_TEST

START_TEST(what_changes_nothing_about_a_command_is_no_reason_to_ask)
{
	static const struct use ALLOWED[] = {
		{ "copilot", "bash", "{\"command\":\"git status\",\"mode\":\"sync\"}" },
		{ "copilot", "bash",
		  "{\"command\":\"git status\",\"initial_wait\":30,\"detach\":false}" },
		{ "gemini", "run_shell_command", "{\"command\":\"git status\",\"delay_ms\":10}" },
	};
	static const struct use ASKED[] = {
		{ "copilot", "bash", "{\"command\":\"git status\",\"mode\":\"async\"}" },
		/* what runs in a shell that is there may be called otherwise in it */
		{ "copilot", "bash", "{\"command\":\"git status\",\"shellId\":\"s1\"}" },
		{ "claude", "Bash", "{\"command\":\"git status\",\"mode\":\"sync\"}" },
	};

	given_tools("");
	given_policy("{\"enabled\":true,\"risk_level_threshold\":\"low\","
	             "\"commands\":[\"git status\"]}");
	are(ALLOWED, COUNT(ALLOWED), "allow");
	are_asked(ASKED, COUNT(ASKED));
}
END_TEST

START_TEST(a_skill_is_always_asked_about_because_it_may_run_commands)
{
	static const struct use ASKED[] = {
		{ "claude", "Skill", "{\"skill\":\"sk\"}" },
		{ "claude", "SlashCommand", "{\"command\":\"/sk x\"}" },
	};

	given_tools("\"Skill\",\"SlashCommand\"");
	are_asked(ASKED, COUNT(ASKED));
	expect(
	    "SELECT DISTINCT risk_level, description FROM request",
	    "high|what it loads may run commands at once (its lines with !`...`), and no hook is "
	    "told of these: read it first, in .claude/skills, .claude/commands or a plugin\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tool_use_rules");
	TCase *c = store_case(s, "tool_use_rules", 60);

	tcase_add_test(c, a_notebook_of_qwen_code_is_judged_as_a_file_that_is_written);
	tcase_add_test(c, what_qwen_code_monitors_is_judged_as_a_command);
	tcase_add_test(c, an_image_that_qwen_code_shows_is_judged_as_a_file_that_is_read);
	tcase_add_test(
	    c,
	    a_rule_for_a_tool_that_is_not_known_allows_no_command_and_no_file_that_is_always_asked);
	tcase_add_test(c, a_rule_for_a_tool_that_is_not_known_allows_no_file_with_several_names);
	tcase_add_test(c, a_relative_path_that_gemini_would_search_for_is_refused);
	tcase_add_test(c, what_changes_nothing_about_a_command_is_no_reason_to_ask);
	tcase_add_test(c, a_skill_is_always_asked_about_because_it_may_run_commands);
	tcase_add_test(c, a_rule_for_commands_counts_in_the_root_of_the_workspace_alone);
	return run_suite(s);
}
