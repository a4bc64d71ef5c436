/* Paths that a host reads otherwise than their text says: white space, "~", URIs, "%73", "@". */
#include "tool_use_case.h"

struct use {
	const char *host, *event, *tool, *arguments; /* %s in them: the workspace */
};

static char home[700];

/* A workspace with secrets, and a home with some in a project. */
static void given_places(void)
{
	(void)snprintf(home, sizeof(home), "%s-home", workspace);
	(void)mkdir(home, 0755);
	(void)mkdir(below(home, "proj"), 0755);
	(void)mkdir(below(home, "proj/secrets"), 0755);
	put_file(home, "proj/secrets/key", "secret\n");
	(void)mkdir(below(workspace, "secrets"), 0755);
	(void)mkdir(below(workspace, "docs"), 0755);
	put_file(workspace, "secrets/a.txt", "secret\n");
	put_file(workspace, "docs/a.txt", "text\n");
}

static void given_secrets(void)
{
	given_hooks_with("policy.always_ask", "[\"secrets\"]");
	given_places();
}

static void given_writes_allowed(void)
{
	given_hooks();
	given_places();
	given_policy("{\"enabled\":true,\"risk_level_threshold\":\"high\","
	             "\"file_patterns\":{\"write\":[\"**\"],\"read\":[\"**\"]},"
	             "\"auto_approve_commands\":[\"make\"]}");
}

static struct gate_client begin_in(const struct use *u, const char *where)
{
	OWNED(str) struct str env = { 0 };
	struct gate_client h;

	if (where)
		str_addf(&env, "{\"HOME\":\"%s\"}", where);
	gate_connect(&h);
	gate_send(&h, u->host, u->event, calling(u->tool, u->arguments), GATE_PATIENCE_MS,
	          where ? env.bytes : NULL);
	return h;
}

/* Each is asked about, with this in the description. */
static void are_asked_in(const struct use *uses, size_t count, const char *where, const char *why)
{
	for (size_t i = 0; i < count; i++) {
		struct gate_client h = begin_in(&uses[i], where);
		OWNED(char_ptr) char *said = NULL;
		OWNED(char_ptr) char *answer = NULL;

		asked(1);
		said = rows("SELECT description FROM request ORDER BY seq DESC LIMIT 1");
		says(said, why);
		decide_all("reject");
		answer = gate_end(&h);
		decides(answer, "deny", "rejected");
	}
}

static void are_asked(const struct use *uses, size_t count, const char *why)
{
	are_asked_in(uses, count, home, why);
}

static void are_allowed(const struct use *uses, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct gate_client h = begin_in(&uses[i], home);
		OWNED(char_ptr) char *answer = gate_end(&h);

		decides(answer, "allow", NULL);
	}
	expect("SELECT count(*) FROM request WHERE state = 'pending'", "0\n");
}

START_TEST(claude_code_reads_a_path_without_the_white_space_around_it)
{
	static const struct use ASKED[] = {
		{ "claude", "PreToolUse", "Grep", "{\"pattern\":\"x\",\"path\":\"secrets \"}" },
		{ "claude", "PreToolUse", "Grep", "{\"pattern\":\"x\",\"path\":\" \"}" },
		{ "claude", "PreToolUse", "Grep",
		  "{\"pattern\":\"x\",\"path\":\"\\t%s/secrets\"}" },
		{ "claude", "PreToolUse", "LS", "{\"path\":\"secrets\\u00a0\"}" },
		{ "claude", "PreToolUse", "LS", "{\"path\":\"\\ufeff \\ufeffsecrets\"}" },
		{ "claude", "PreToolUse", "LSP", "{\"filePath\":\" secrets/a.txt\\u3000\"}" },
		{ "claude", "PreToolUse", "Glob", "{\"pattern\":\"**\",\"path\":\" secrets\"}" },
		{ "claude", "PreToolUse", "Glob", "{\"pattern\":\" %s/secrets/*\"}" },
		{ "claude", "PreToolUse", "Read",
		  "{\"file_path\":\"docs/a.txt\",\"also\":\"secrets/a.txt\\n\"}" },
	};
	static const struct use ALLOWED[] = {
		{ "claude", "PreToolUse", "Grep", "{\"pattern\":\"x\",\"path\":\" docs \"}" },
		{ "claude", "PreToolUse", "Glob", "{\"pattern\":\"*\",\"path\":\"docs\\n\"}" },
	};

	given_secrets();
	are_asked(ASKED, COUNT(ASKED), "policy.always_ask names");
	are_allowed(ALLOWED, COUNT(ALLOWED));
}
END_TEST

static const struct use AT_HOME[] = {
	{ "claude", "PreToolUse", "Grep", "{\"pattern\":\"x\",\"path\":\"~/proj\"}" },
	{ "claude", "PreToolUse", "Grep", "{\"pattern\":\"x\",\"path\":\"~\"}" },
	{ "claude", "PreToolUse", "LS", "{\"path\":\" ~/proj/ \"}" },
	{ "claude", "PreToolUse", "LSP", "{\"filePath\":\"~/proj/secrets/key\"}" },
	{ "claude", "PreToolUse", "Glob", "{\"pattern\":\"**\",\"path\":\"~/proj\"}" },
	{ "claude", "PreToolUse", "Glob", "{\"pattern\":\"~/proj/**\"}" },
};

START_TEST(claude_code_reads_a_path_with_a_tilde_in_the_home)
{
	static const struct use ALLOWED[] = {
		{ "claude", "PreToolUse", "Grep", "{\"pattern\":\"x\",\"path\":\"~/none\"}" },
		{ "claude", "PreToolUse", "Grep", "{\"pattern\":\"x\",\"path\":\"~docs\"}" },
	};

	given_secrets();
	are_asked(AT_HOME, COUNT(AT_HOME), "policy.always_ask names");
	are_allowed(ALLOWED, COUNT(ALLOWED));
}
END_TEST

START_TEST(where_the_home_is_not_known_a_path_with_a_tilde_is_asked)
{
	given_secrets();
	are_asked_in(AT_HOME, COUNT(AT_HOME), NULL, "the home is not known");
}
END_TEST

START_TEST(a_path_that_another_host_may_read_otherwise_is_asked)
{
	static const struct use BLANKS[] = {
		{ "gemini", "BeforeTool", "grep_search",
		  "{\"pattern\":\"x\",\"dir_path\":\"secrets \"}" },
		{ "qwen", "PreToolUse", "glob", "{\"pattern\":\"*\",\"path\":\"\\u2003secrets\"}" },
		{ "copilot", "preToolUse", "view", "{\"path\":\" secrets/a.txt\"}" },
		{ "opencode", "tool.execute.before", "read", "{\"filePath\":\"docs/a.txt\\n\"}" },
	};
	static const struct use TILDES[] = {
		{ "gemini", "BeforeTool", "list_directory", "{\"dir_path\":\"~/proj\"}" },
		{ "codex", "PreToolUse", "view_image", "{\"path\":\"~\"}" },
		{ "opencode", "tool.execute.before", "glob", "{\"pattern\":\"~/proj/*\"}" },
		{ "cursor", "preToolUse", "Read", "{\"file_path\":\"~user/x\"}" },
	};
	static const struct use URIS[] = {
		{ "gemini", "BeforeTool", "read_file", "{\"file_path\":\"file:///x/secrets\"}" },
		{ "claude", "PreToolUse", "LSP", "{\"filePath\":\"file:secrets/a.txt\"}" },
		{ "vscode", "PreToolUse", "list_dir", "{\"path\":\"file:///x/proj\"}" },
		{ "vscode", "PreToolUse", "read_file", "{\"filePath\":\"vscode-remote://h/x\"}" },
		{ "vscode", "PreToolUse", "read_file", "{\"filePath\":\"FILE:%73ecrets/a.txt\"}" },
	};
	static const struct use COLONS[] = {
		{ "vscode", "PreToolUse", "read_file", "{\"filePath\":\"vscode-remote:/x\"}" },
		{ "vscode", "PreToolUse", "read_file", "{\"filePath\":\"secrets/a:b\"}" },
	};
	static const struct use CODES[] = {
		{ "gemini", "BeforeTool", "read_file", "{\"file_path\":\"docs/%61.txt\"}" },
		{ "gemini", "BeforeTool", "glob", "{\"pattern\":\"docs/%2a\"}" },
		{ "claude", "PreToolUse", "Read", "{\"file_path\":\"docs/%2E%2E/x\"}" },
		{ "opencode", "tool.execute.before", "read", "{\"filePath\":\"%2f\"}" },
		{ "vscode", "PreToolUse", "read_file", "{\"filePath\":\"s%65crets/a:b\"}" },
	};
	static const struct use SIGNS[] = {
		{ "gemini", "BeforeTool", "read_file", "{\"file_path\":\"@docs/a.txt\"}" },
		{ "qwen", "PreToolUse", "list_directory", "{\"path\":\"@docs\"}" },
	};
	static const struct use TWO[] = {
		{ "copilot", "preToolUse", "grep",
		  "{\"pattern\":\"x\",\"paths\":\"docs secrets\"}" },
		{ "copilot", "preToolUse", "rg",
		  "{\"pattern\":\"x\",\"paths\":\"docs\\nsecrets\"}" },
	};
	static const struct use ALLOWED[] = {
		{ "gemini", "BeforeTool", "read_file", "{\"file_path\":\"docs/100%.txt\"}" },
		{ "claude", "PreToolUse", "Read", "{\"file_path\":\"@docs/a\"}" },
		{ "copilot", "preToolUse", "view", "{\"path\":\"docs/a b.txt\"}" },
		{ "gemini", "BeforeTool", "read_file", "{\"file_path\":\"docs/a: b.txt\"}" },
		{ "opencode", "tool.execute.before", "read", "{\"filePath\":\"docs/c:d\"}" },
		{ "vscode", "PreToolUse", "read_file", "{\"filePath\":\"%s/docs/a:b\"}" },
	};

	given_secrets();
	are_asked(BLANKS, COUNT(BLANKS), "white space around it");
	are_asked(TILDES, COUNT(TILDES), "which its host may take for a home");
	are_asked(URIS, COUNT(URIS), "it names a file as a URI");
	are_asked(COLONS, COUNT(COLONS), "its host may take for a URI");
	are_asked(CODES, COUNT(CODES), "which its host may decode");
	are_asked(SIGNS, COUNT(SIGNS), "which its host may leave out");
	are_asked(TWO, COUNT(TWO), "its host may take for several");
	are_allowed(ALLOWED, COUNT(ALLOWED));
}
END_TEST

START_TEST(by_the_policy_such_a_path_is_asked_too)
{
	static const struct use USES[] = {
		{ "gemini", "BeforeTool", "read_file", "{\"file_path\":\"~/proj/x\"}" },
		{ "vscode", "PreToolUse", "read_file", "{\"filePath\":\"file:///x\"}" },
	};
	static const struct use OUTSIDE[] = {
		{ "claude", "PreToolUse", "Grep", "{\"pattern\":\"x\",\"path\":\"~/proj\"}" },
	};

	given_hooks_with("gate.reads", "policy");
	given_places();
	given_policy("{\"enabled\":true,\"risk_level_threshold\":\"high\","
	             "\"file_patterns\":{\"read\":[\"**\"]}}");
	are_asked(USES, COUNT(USES), "it names a file ");
	are_asked(OUTSIDE, COUNT(OUTSIDE), "it is not in the workspace");
}
END_TEST

START_TEST(no_policy_allows_to_write_what_a_host_may_read_otherwise)
{
	static const struct use USES[] = {
		{ "vscode", "PreToolUse", "create_file",
		  "{\"filePath\":\"file:///outside/x\",\"content\":\"x\"}" },
		{ "vscode", "PreToolUse", "create_file",
		  "{\"filePath\":\"file://%s/%2egit/config\",\"content\":\"x\"}" },
		{ "vscode", "PreToolUse", "create_file",
		  "{\"filePath\":\"vscode-remote:/x\",\"content\":\"x\"}" },
		{ "vscode", "PreToolUse", "apply_patch",
		  "{\"input\":\"*** Begin Patch\\n*** Add File: file:///outside/x\\n+x\\n"
		  "*** End Patch\"}" },
		{ "vscode", "PreToolUse", "multi_replace_string_in_file",
		  "{\"replacements\":[{\"filePath\":\"file:///outside/x\",\"oldString\":\"a\","
		  "\"newString\":\"b\"}]}" },
		{ "gemini", "BeforeTool", "write_file",
		  "{\"file_path\":\"~/x\",\"content\":\"x\"}" },
		{ "claude", "PreToolUse", "Write",
		  "{\"file_path\":\"docs/b \",\"content\":\"x\"}" },
		{ "codex", "PreToolUse", "apply_patch",
		  "{\"command\":\"*** Begin Patch\\n*** Add File: ~/x\\n+x\\n*** End Patch\"}" },
		{ "gemini", "BeforeTool", "write_file",
		  "{\"file_path\":\"docs/%2e%2e/docs/a.txt\",\"content\":\"x\"}" },
		{ "gemini", "BeforeTool", "write_file",
		  "{\"file_path\":\"@docs/a.txt\",\"content\":\"x\"}" },
	};

	given_writes_allowed();
	are_asked(USES, COUNT(USES), "it names a file ");
}
END_TEST

/* To Copilot, CR alone ends a line: what follows is the name of another file. */
START_TEST(no_policy_allows_a_patch_whose_lines_may_end_in_two_ways)
{
	static const struct use USES[] = {
		{ "copilot", "preToolUse", "apply_patch",
		  "\"*** Begin Patch\\n*** Add File: docs/n\\n+x\\r*** Add File: evil\\n+x\\n"
		  "*** End Patch\"" },
		{ "copilot", "preToolUse", "apply_patch",
		  "{\"input\":\"*** Begin Patch\\n*** Add File: docs/m\\n+x\\r*** Add File: evil\\n"
		  "+x\\n*** End Patch\"}" },
	};

	/* U+2028, U+2029 and U+0085 */
	static const struct use SEPARATORS[] = {
		{ "copilot", "preToolUse", "apply_patch",
		  "\"*** Begin Patch\\n*** Add File: docs/n\\u2028*** Add File: evil\\n+x\\n"
		  "*** End Patch\"" },
		{ "opencode", "tool.execute.before", "apply_patch",
		  "{\"patchText\":\"*** Begin Patch\\n*** Add File: docs/n\\u2029*** Add File: "
		  "evil\\n"
		  "+x\\n*** End Patch\"}" },
		{ "copilot", "preToolUse", "apply_patch",
		  "\"*** Begin Patch\\n*** Add File: docs/n\\u0085*** Add File: evil\\n+x\\n"
		  "*** End Patch\"" },
	};

	given_writes_allowed();
	are_asked(USES, COUNT(USES), "has CR in it");
	are_asked(SEPARATORS, COUNT(SEPARATORS), "has a line separator in it");
}
END_TEST

START_TEST(a_command_in_a_folder_that_a_host_may_read_otherwise_is_asked)
{
	static const struct use USES[] = {
		{ "gemini", "BeforeTool", "run_shell_command",
		  "{\"command\":\"make\",\"dir_path\":\"~\"}" },
		{ "codex", "PreToolUse", "Bash", "{\"command\":\"make\",\"workdir\":\"docs \"}" },
	};

	given_writes_allowed();
	(void)mkdir(below(workspace, "~"), 0755);
	(void)mkdir(below(workspace, "docs "), 0755);
	are_asked(USES, COUNT(USES), "where it runs is not certain");
}
END_TEST

START_TEST(what_gemini_decodes_into_a_protected_file_is_refused)
{
	static const struct use USES[] = {
		{ "gemini", "BeforeTool", "write_file",
		  "{\"file_path\":\"docs/%2e%2e/%2eintercom/x\",\"content\":\"x\"}" },
		{ "gemini", "BeforeTool", "write_file",
		  "{\"file_path\":\"%252eintercom/x\",\"content\":\"x\"}" },
		{ "gemini", "BeforeTool", "write_file",
		  "{\"file_path\":\"@/.intercom/x\",\"content\":\"x\"}" },
		{ "qwen", "PreToolUse", "write_file",
		  "{\"file_path\":\"@%2Eintercom/x\",\"content\":\"x\"}" },
	};

	given_writes_allowed();
	for (size_t i = 0; i < COUNT(USES); i++) {
		struct gate_client h = begin_in(&USES[i], home);
		OWNED(char_ptr) char *answer = gate_end(&h);

		decides(answer, "deny", ".intercom");
	}
	expect("SELECT count(*) FROM request", "0\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tool_use_paths");
	TCase *c = store_case(s, "tool_use_paths", 60);

	tcase_add_test(c, claude_code_reads_a_path_without_the_white_space_around_it);
	tcase_add_test(c, claude_code_reads_a_path_with_a_tilde_in_the_home);
	tcase_add_test(c, where_the_home_is_not_known_a_path_with_a_tilde_is_asked);
	tcase_add_test(c, a_path_that_another_host_may_read_otherwise_is_asked);
	tcase_add_test(c, by_the_policy_such_a_path_is_asked_too);
	tcase_add_test(c, no_policy_allows_to_write_what_a_host_may_read_otherwise);
	tcase_add_test(c, what_gemini_decodes_into_a_protected_file_is_refused);
	tcase_add_test(c, no_policy_allows_a_patch_whose_lines_may_end_in_two_ways);
	tcase_add_test(c, a_command_in_a_folder_that_a_host_may_read_otherwise_is_asked);
	return run_suite(s);
}
