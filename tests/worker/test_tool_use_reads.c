/* Tools of an agent's own program that read: what of it is asked about. */
#include "tool_use_case.h"

struct use {
	const char *host, *event, *tool, *arguments; /* %s in them: the workspace */
};

/* A workspace with a folder of secrets, and one without. */
static void given_secrets(void)
{
	given_hooks_with("policy.always_ask", "[\"secrets\",\"*.pem\"]");
	(void)mkdir(below(workspace, "secrets"), 0755);
	(void)mkdir(below(workspace, "src"), 0755);
	(void)mkdir(below(workspace, "src/deep"), 0755);
	(void)mkdir(below(workspace, "docs"), 0755);
	put_file(workspace, "secrets/a.txt", "secret\n");
	put_file(workspace, "src/deep/key.PEM", "secret\n");
	put_file(workspace, "docs/a.txt", "text\n");
}

static struct gate_client begin(const struct use *u)
{
	return begin_of(u->host, u->event, calling(u->tool, u->arguments));
}

/* Each is asked about, with this in the description. */
static void are_asked(const struct use *uses, size_t count, const char *why)
{
	for (size_t i = 0; i < count; i++) {
		struct gate_client h = begin(&uses[i]);
		OWNED(char_ptr) char *said = NULL;
		OWNED(char_ptr) char *answer = NULL;

		asked(1);
		said =
		    rows("SELECT description, risk_level FROM request ORDER BY seq DESC LIMIT 1");
		says(said, why);
		says(said, "|high");
		decide_all("reject");
		answer = gate_end(&h);
		decides(answer, "deny", "rejected");
	}
}

static void are_allowed(const struct use *uses, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct gate_client h = begin(&uses[i]);
		OWNED(char_ptr) char *answer = gate_end(&h);

		decides(answer, "allow", NULL);
	}
	expect("SELECT count(*) FROM request WHERE state = 'pending'", "0\n");
}

START_TEST(whatever_argument_names_a_file_that_is_always_asked_it_is_not_read_unasked)
{
	static const struct use USES[] = {
		{ "claude", "PreToolUse", "LSP", "{\"filePath\":\"secrets/a.txt\"}" },
		{ "claude", "PreToolUse", "Grep", "{\"pattern\":\"x\",\"path\":\"secrets\"}" },
		{ "claude", "PreToolUse", "Glob",
		  "{\"pattern\":\"../secrets/*.txt\",\"path\":\"%s/docs\"}" },
		{ "gemini", "BeforeTool", "read_file", "{\"absolute_path\":\"%s/secrets/a.txt\"}" },
		{ "gemini", "BeforeTool", "read_many_files", "{\"paths\":[\"docs\",\"secrets\"]}" },
		{ "gemini", "BeforeTool", "grep_search",
		  "{\"pattern\":\"x\",\"dir_path\":\"docs\",\"include_pattern\":\"../secrets/"
		  "**\"}" },
		{ "qwen", "PreToolUse", "read_file",
		  "{\"absolute_path\":\"docs/a.txt\",\"file_path\":\"secrets/a.txt\"}" },
		{ "copilot", "preToolUse", "grep",
		  "{\"pattern\":\"x\",\"paths\":[\"docs\",\"secrets\"]}" },
		{ "copilot", "preToolUse", "glob", "{\"pattern\":\"*\",\"paths\":\"secrets\"}" },
		{ "vscode", "PreToolUse", "grep_search",
		  "{\"query\":\"x\",\"includePattern\":\"secrets/**\"}" },
		{ "vscode", "PreToolUse", "file_search", "{\"query\":\"%s/secrets/*\"}" },
		{ "vscode", "PreToolUse", "get_errors", "{\"filePaths\":[\"src/deep/key.PEM\"]}" },
		{ "cursor", "preToolUse", "Grep", "{\"pattern\":\"x\",\"path\":\"secrets\"}" },
		{ "opencode", "tool.execute.before", "grep",
		  "{\"pattern\":\"x\",\"path\":\"%s/secrets\"}" },
		{ "codex", "PreToolUse", "view_image", "{\"path\":\"src/deep/key.PEM\"}" },
	};

	given_secrets();
	are_asked(USES, COUNT(USES), "policy.always_ask names");
}
END_TEST

START_TEST(a_search_above_what_is_always_asked_is_asked)
{
	static const struct use USES[] = {
		{ "claude", "PreToolUse", "Grep", "{\"pattern\":\"x\"}" },
		{ "claude", "PreToolUse", "Glob", "{\"pattern\":\"**/*.c\"}" },
		{ "claude", "PreToolUse", "LS", "{\"path\":\"%s\"}" },
		{ "claude", "PreToolUse", "Grep", "{\"pattern\":\"x\",\"path\":\"%s/src\"}" },
		{ "gemini", "BeforeTool", "grep_search", "{\"pattern\":\"x\"}" },
		{ "gemini", "BeforeTool", "list_directory", "{\"dir_path\":\"src\"}" },
		{ "qwen", "PreToolUse", "glob", "{\"pattern\":\"*\"}" },
		{ "copilot", "preToolUse", "rg", "{\"pattern\":\"x\"}" },
		{ "copilot", "preToolUse", "view", "{\"path\":\"src\"}" },
		{ "vscode", "PreToolUse", "semantic_search", "{\"query\":\"x\"}" },
		{ "opencode", "tool.execute.before", "list", "{}" },
		{ "cursor", "preToolUse", "Glob", "{\"glob_pattern\":\"*\"}" },
	};

	given_secrets();
	are_asked(USES, COUNT(USES), "it reaches what policy.always_ask names: /");
}
END_TEST

START_TEST(a_pattern_that_leads_up_behind_its_wildcard_is_asked)
{
	static const struct use USES[] = {
		{ "gemini", "BeforeTool", "read_many_files",
		  "{\"include\":[\"docs/{../secrets,.}/*\"]}" },
		{ "gemini", "BeforeTool", "read_many_files",
		  "{\"include\":[\"docs/*/../../secrets/*\"]}" },
		{ "gemini", "BeforeTool", "glob",
		  "{\"pattern\":\"{../secrets,.}/*\",\"dir_path\":\"docs\"}" },
		{ "claude", "PreToolUse", "Glob",
		  "{\"pattern\":\"{.,x}./secrets/*\",\"path\":\"docs\"}" },
		{ "claude", "PreToolUse", "Glob",
		  "{\"pattern\":\"[.][.]/secrets/*\",\"path\":\"docs\"}" },
		{ "claude", "PreToolUse", "Glob",
		  "{\"pattern\":\"\\\\.\\\\./secrets/*\",\"path\":\"docs\"}" },
		{ "claude", "PreToolUse", "Glob",
		  "{\"pattern\":\"{%s/secrets,x}/*\",\"path\":\"docs\"}" },
	};

	given_secrets();
	are_asked(USES, COUNT(USES), "it reaches what policy.always_ask names: /");
}
END_TEST

/* docs/NAME becomes another name of a file. */
static void join(const char *name, const char *file)
{
	OWNED(str) struct str from = { 0 }, to = { 0 };

	str_addf(&from, "%s/%s", workspace, file);
	str_addf(&to, "%s/docs/%s", workspace, name);
	ck_assert_int_eq(link(from.bytes, to.bytes), 0);
}

START_TEST(a_glob_is_of_the_folder_that_its_pattern_begins_with)
{
	static const struct use ALLOWED[] = {
		{ "claude", "PreToolUse", "Glob", "{\"pattern\":\"docs/*\"}" },
		{ "claude", "PreToolUse", "Glob", "{\"pattern\":\"docs/a.txt\"}" },
		{ "gemini", "BeforeTool", "glob", "{\"pattern\":\"docs/**/*.txt\"}" },
		{ "cursor", "preToolUse", "Glob", "{\"glob_pattern\":\"./docs/*\"}" },
		{ "opencode", "tool.execute.before", "glob", "{\"pattern\":\"%s/docs/*\"}" },
	};
	/* Names at any depth, what is left out, and filters of what a search reads. */
	static const struct use ASKED[] = {
		{ "claude", "PreToolUse", "Glob", "{\"pattern\":\"src/*\"}" },
		{ "claude", "PreToolUse", "Glob", "{\"pattern\":\"a.txt\"}" },
		{ "claude", "PreToolUse", "Glob", "{\"pattern\":\"docs/\"}" },
		{ "claude", "PreToolUse", "Glob", "{\"pattern\":\"!docs/*\"}" },
		{ "claude", "PreToolUse", "Glob", "{\"pattern\":\"{docs,secrets}/*\"}" },
		{ "claude", "PreToolUse", "Glob", "{\"pattern\":[\"docs/*\",\"*\"]}" },
		{ "claude", "PreToolUse", "Grep",
		  "{\"pattern\":\"x\",\"glob\":\"docs/* secrets/*\"}" },
	};

	given_secrets();
	are_allowed(ALLOWED, COUNT(ALLOWED));
	are_asked(ASKED, COUNT(ASKED), "it reaches what policy.always_ask names: /");
}
END_TEST

START_TEST(an_argument_that_no_host_has_may_name_what_is_read)
{
	static const struct use ASKED[] = {
		{ "claude", "PreToolUse", "Read",
		  "{\"file_path\":\"docs/a.txt\",\"paths2\":\"secrets/a.txt\"}" },
		{ "claude", "PreToolUse", "Read",
		  "{\"file_path\":\"docs/a.txt\",\"path\":\"secrets/a.txt\"}" },
		{ "claude", "PreToolUse", "Read",
		  "{\"file_path\":\"docs/a.txt\",\"absolute_path\":\"%s/docs/link/a.txt\"}" },
		{ "claude", "PreToolUse", "Grep",
		  "{\"pattern\":\"x\",\"path\":\"src/deep/none\","
		  "\"also\":[{\"path\":\"docs/same.txt\"}]}" },
		{ "claude", "PreToolUse", "TodoWrite", "{\"todos\":[],\"file\":\"x.pem\"}" },
		{ "gemini", "BeforeTool", "read_file",
		  "{\"file_path\":\"docs/a.txt\",\"target_directory\":\"src\"}" },
	};
	static const struct use ALLOWED[] = {
		{ "claude", "PreToolUse", "Read",
		  "{\"file_path\":\"docs/a.txt\",\"paths2\":\"docs/b.txt\",\"limit\":7}" },
		{ "claude", "PreToolUse", "Grep",
		  "{\"pattern\":\"secrets/a.txt\",\"path\":\"docs/a.txt\","
		  "\"output_mode\":\"content\"}" },
		{ "claude", "PreToolUse", "TodoWrite",
		  "{\"todos\":[{\"content\":\"/secrets/a.txt\"}]}" },
	};

	given_secrets();
	ck_assert_int_eq(symlink("../secrets", below(workspace, "docs/link")), 0);
	are_allowed(ALLOWED, COUNT(ALLOWED));
	join("same.txt", "secrets/a.txt");
	are_asked(ASKED, COUNT(ASKED), "policy.always_ask names");
}
END_TEST

START_TEST(a_pattern_where_a_path_is_expected_may_name_what_is_read)
{
	static const struct use ASKED[] = {
		{ "gemini", "BeforeTool", "read_many_files", "{\"paths\":[\"*.txt\"]}" },
		{ "gemini", "BeforeTool", "read_many_files",
		  "{\"include\":[\"docs/**\"],\"paths\":[\"sec*/a.txt\"]}" },
		{ "gemini", "BeforeTool", "read_many_files",
		  "{\"include\":[\"docs/**\"],\"more\":{\"globs\":\"docs/../{x,secrets}/"
		  "a.txt\"}}" },
		{ "copilot", "preToolUse", "view",
		  "{\"path\":\"%s/docs\",\"paths\":[\"secret?/a.txt\"]}" },
		{ "claude", "PreToolUse", "Read",
		  "{\"file_path\":\"docs/*.txt\",\"paths\":\"%s/s*/a.txt\"}" },
	};
	static const struct use ALLOWED[] = {
		{ "gemini", "BeforeTool", "read_many_files",
		  "{\"include\":[\"docs/**\"],\"paths\":[\"docs/*.txt\"]}" },
		{ "claude", "PreToolUse", "Read", "{\"file_path\":\"docs/[id].txt\"}" },
		{ "claude", "PreToolUse", "Read", "{\"file_path\":\"Notes (old).txt\"}" },
	};

	given_secrets();
	are_allowed(ALLOWED, COUNT(ALLOWED));
	are_asked(ASKED, COUNT(ASKED), "it reaches what policy.always_ask names: /");
}
END_TEST

START_TEST(another_name_of_a_file_that_is_always_asked_is_asked)
{
	static const struct use ASKED = { "claude", "PreToolUse", "Read",
		                          "{\"file_path\":\"docs/same.txt\"}" };
	static const struct use ALLOWED = { "claude", "PreToolUse", "Read",
		                            "{\"file_path\":\"docs/two.txt\"}" };

	given_secrets();
	join("same.txt", "secrets/a.txt");
	join("two.txt", "docs/a.txt");
	are_asked(&ASKED, 1, "/secrets/a.txt");
	are_allowed(&ALLOWED, 1);
}
END_TEST

START_TEST(in_a_workspace_whose_own_folder_is_always_asked_nothing_is_read_unasked)
{
	static const struct use USES[] = {
		{ "claude", "PreToolUse", "Read", "{\"file_path\":\"docs/a.txt\"}" },
		{ "claude", "PreToolUse", "Read", "{\"file_path\":\"%s/docs/a.txt\"}" },
		{ "claude", "PreToolUse", "Grep", "{\"pattern\":\"x\",\"path\":\"docs\"}" },
		{ "claude", "PreToolUse", "Grep", "{\"pattern\":\"x\"}" },
		{ "claude", "PreToolUse", "Glob", "{\"pattern\":\"*\"}" },
	};

	given_hooks_with("policy.always_ask", "[\"intercom-test-*\"]");
	(void)mkdir(below(workspace, "docs"), 0755);
	put_file(workspace, "docs/a.txt", "text\n");
	are_asked(USES, COUNT(USES), "policy.always_ask names");
}
END_TEST

START_TEST(a_search_of_a_folder_with_another_name_of_what_is_always_asked_is_asked)
{
	static const struct use ASKED[] = {
		{ "claude", "PreToolUse", "Grep", "{\"pattern\":\"x\",\"path\":\"docs\"}" },
		{ "claude", "PreToolUse", "LS", "{\"path\":\"%s/docs\"}" },
		{ "gemini", "BeforeTool", "read_many_files", "{\"include\":[\"docs/**\"]}" },
	};

	given_secrets();
	join("two.txt", "docs/a.txt");
	are_allowed(ASKED, COUNT(ASKED));
	join("same.txt", "secrets/a.txt");
	are_asked(ASKED, COUNT(ASKED), "/secrets/a.txt");
}
END_TEST

START_TEST(a_path_of_many_folders_that_are_not_there_is_followed)
{
	OWNED(str) struct str arguments = { 0 };
	struct use use = { "claude", "PreToolUse", "Read", NULL };

	given_secrets();
	str_add(&arguments, "{\"file_path\":\"/none");
	for (int i = 0; i < 2000; i++)
		str_add(&arguments, "/x");
	str_add(&arguments, "\"}");
	use.arguments = arguments.bytes;
	are_allowed(&use, 1);
}
END_TEST

START_TEST(by_the_policy_a_file_with_several_names_is_asked)
{
	static const struct use USE = { "claude", "PreToolUse", "Read",
		                        "{\"file_path\":\"docs/two.txt\"}" };

	given_hooks_with("gate.reads", "policy");
	given_policy("{\"enabled\":true,\"risk_level_threshold\":\"high\","
	             "\"file_patterns\":{\"read\":[\"docs/**\"]}}");
	(void)mkdir(below(workspace, "docs"), 0755);
	put_file(workspace, "a.txt", "text\n");
	put_file(workspace, "docs/two.txt", "text\n");
	are_allowed(&USE, 1);
	(void)unlink(below(workspace, "docs/two.txt"));
	join("two.txt", "a.txt");
	are_asked(&USE, 1, "has 2 names (hard links)");
}
END_TEST

START_TEST(what_reaches_nothing_of_it_is_read_unasked)
{
	static const struct use USES[] = {
		{ "claude", "PreToolUse", "Grep", "{\"pattern\":\"secrets\",\"path\":\"docs\"}" },
		{ "claude", "PreToolUse", "Read", "{\"file_path\":\"docs/a.txt\"}" },
		{ "claude", "PreToolUse", "TodoWrite", "{\"todos\":[]}" },
		{ "claude", "PreToolUse", "WaitForMcpServers", "{}" },
		{ "gemini", "BeforeTool", "glob", "{\"pattern\":\"*.pem\",\"dir_path\":\"docs\"}" },
		{ "gemini", "BeforeTool", "glob",
		  "{\"pattern\":\"**/*.{test,spec}.{js,ts}\",\"dir_path\":\"docs\"}" },
		{ "copilot", "preToolUse", "grep", "{\"pattern\":\"x\",\"paths\":[\"docs\"]}" },
	};

	given_secrets();
	are_allowed(USES, COUNT(USES));
	expect("SELECT count(*) FROM request", "0\n");
}
END_TEST

/* As the versions of tests/hosts offer them to their models. */
START_TEST(what_an_agent_only_asks_its_own_host_about_is_not_asked)
{
	static const struct use USES[] = {
		{ "gemini", "BeforeTool", "update_topic",
		  "{\"title\":\"Secrets\",\"summary\":\"of secrets/a.txt\","
		  "\"strategic_intent\":\"go on\",\"wait_for_previous\":true}" },
		{ "gemini", "BeforeTool", "list_background_processes", "{}" },
		{ "gemini", "BeforeTool", "read_background_output", "{\"pid\":7,\"lines\":9}" },
		{ "gemini", "BeforeTool", "list_mcp_resources", "{\"serverName\":\"intercom\"}" },
		{ "copilot", "preToolUse", "list_agents", "{\"scope\":\"all\"}" },
		{ "copilot", "preToolUse", "read_agent", "{\"agent_id\":\"a1\",\"wait\":true}" },
		{ "copilot", "preToolUse", "skill", "{\"skill\":\"release\"}" },
		{ "codex", "PreToolUse", "get_goal", "{}" },
		{ "codex", "PreToolUse", "list_mcp_resources", "{\"server\":\"intercom\"}" },
		{ "codex", "PreToolUse", "list_mcp_resource_templates", "{}" },
		{ "qwen", "PreToolUse", "tool_search", "{\"query\":\"images\",\"max_results\":3}" },
		{ "qwen", "PreToolUse", "skill", "{\"skill\":\"release\",\"args\":\"fast\"}" },
		{ "qwen", "PreToolUse", "list_agents", "{}" },
		{ "claude", "PreToolUse", "CronList", "{}" },
		{ "claude", "PreToolUse", "ListAgents", "{\"cursor\":\"2\"}" },
		{ "claude", "PreToolUse", "ReportFindings",
		  "{\"level\":\"high\",\"findings\":[{\"file\":\"secrets/a.txt\",\"line\":1,"
		  "\"summary\":\"it is read\"}]}" },
		{ "codex", "PreToolUse", "create_goal", "{\"objective\":\"secrets/a.txt\"}" },
		{ "codex", "PreToolUse", "update_goal", "{\"status\":\"complete\"}" },
		{ "copilot", "preToolUse", "fetch_copilot_cli_documentation", "{}" },
		{ "copilot", "preToolUse", "task_complete", "{\"summary\":\"secrets/a.txt\"}" },
		{ "qwen", "PreToolUse", "update_goal", "{\"status\":\"complete\"}" },
		{ "qwen", "PreToolUse", "cron_list", "{}" },
	};

	given_secrets();
	are_allowed(USES, COUNT(USES));
	expect("SELECT count(*) FROM request", "0\n");
}
END_TEST

START_TEST(our_own_resources_are_read_unasked)
{
	static const struct use USES[] = {
		{ "claude", "PreToolUse", "ReadMcpResourceTool",
		  "{\"server\":\"intercom\",\"uri\":\"intercom://inbox\"}" },
		{ "codex", "PreToolUse", "read_mcp_resource",
		  "{\"server\":\"intercom\",\"uri\":\"intercom://session/1/timeline\"}" },
		{ "gemini", "BeforeTool", "read_mcp_resource",
		  "{\"uri\":\"intercom:intercom://inbox\"}" },
	};

	given_hooks();
	are_allowed(USES, COUNT(USES));
	expect("SELECT count(*) FROM request", "0\n");
}
END_TEST

/* Gemini CLI takes a URI without the server's name for that of any server. */
START_TEST(a_resource_of_another_server_is_asked_about)
{
	static const struct use USES[] = {
		{ "claude", "PreToolUse", "ReadMcpResourceTool",
		  "{\"server\":\"intercom2\",\"uri\":\"intercom://inbox\"}" },
		{ "claude", "PreToolUse", "ReadMcpResourceTool",
		  "{\"server\":\"intercom\",\"uri\":\"file:///etc/passwd\"}" },
		{ "codex", "PreToolUse", "read_mcp_resource", "{\"uri\":\"intercom://inbox\"}" },
		{ "codex", "PreToolUse", "read_mcp_resource",
		  "{\"uri\":\"intercom:intercom://inbox\"}" },
		{ "gemini", "BeforeTool", "read_mcp_resource",
		  "{\"server\":\"intercom\",\"uri\":\"intercom://inbox\"}" },
		{ "gemini", "BeforeTool", "read_mcp_resource",
		  "{\"uri\":\"evil:intercom://inbox\"}" },
		{ "cursor", "beforeMCPExecution", "Read",
		  "{\"server\":\"intercom\",\"uri\":\"intercom://inbox\"}" },
	};

	given_hooks();
	for (size_t i = 0; i < COUNT(USES); i++) {
		struct gate_client h = begin(&USES[i]);
		OWNED(char_ptr) char *answer = NULL;

		asked(1);
		decide_all("reject");
		answer = gate_end(&h);
		decides(answer, "deny", "rejected");
	}
}
END_TEST

START_TEST(by_the_policy_a_search_is_of_the_folder_in_which_it_begins)
{
	static const struct use SEARCHES[] = {
		{ "claude", "PreToolUse", "Grep", "{\"pattern\":\"x\"}" },
		{ "gemini", "BeforeTool", "glob", "{\"pattern\":\"*.c\"}" },
		{ "claude", "PreToolUse", "Glob", "{\"pattern\":\"*\",\"path\":\"%s\"}" },
	};
	static const struct use OUTSIDE[] = {
		{ "claude", "PreToolUse", "Glob", "{\"pattern\":\"/etc/*\"}" },
		{ "vscode", "PreToolUse", "grep_search",
		  "{\"query\":\"x\",\"includePattern\":\"../*\"}" },
	};

	given_hooks_with("gate.reads", "policy");
	given_policy("{\"enabled\":true,\"risk_level_threshold\":\"high\","
	             "\"file_patterns\":{\"read\":[\"**\"]}}");
	are_allowed(SEARCHES, COUNT(SEARCHES));
	are_asked(OUTSIDE, COUNT(OUTSIDE), "it is not in the workspace");
	given_policy("{\"enabled\":true,\"risk_level_threshold\":\"high\","
	             "\"file_patterns\":{\"read\":[\"docs/**\"]}}");
	{
		struct gate_client h = begin(&SEARCHES[0]);

		asked(1);
		gate_close(&h);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tool_use_reads");
	TCase *c = store_case(s, "tool_use_reads", 60);

	tcase_add_test(c,
	               whatever_argument_names_a_file_that_is_always_asked_it_is_not_read_unasked);
	tcase_add_test(c, a_search_above_what_is_always_asked_is_asked);
	tcase_add_test(c, a_pattern_that_leads_up_behind_its_wildcard_is_asked);
	tcase_add_test(c, a_glob_is_of_the_folder_that_its_pattern_begins_with);
	tcase_add_test(c, an_argument_that_no_host_has_may_name_what_is_read);
	tcase_add_test(c, a_pattern_where_a_path_is_expected_may_name_what_is_read);
	tcase_add_test(c, another_name_of_a_file_that_is_always_asked_is_asked);
	tcase_add_test(c, in_a_workspace_whose_own_folder_is_always_asked_nothing_is_read_unasked);
	tcase_add_test(c, a_search_of_a_folder_with_another_name_of_what_is_always_asked_is_asked);
	tcase_add_test(c, a_path_of_many_folders_that_are_not_there_is_followed);
	tcase_add_test(c, by_the_policy_a_file_with_several_names_is_asked);
	tcase_add_test(c, what_reaches_nothing_of_it_is_read_unasked);
	tcase_add_test(c, what_an_agent_only_asks_its_own_host_about_is_not_asked);
	tcase_add_test(c, our_own_resources_are_read_unasked);
	tcase_add_test(c, a_resource_of_another_server_is_asked_about);
	tcase_add_test(c, by_the_policy_a_search_is_of_the_folder_in_which_it_begins);
	return run_suite(s);
}
