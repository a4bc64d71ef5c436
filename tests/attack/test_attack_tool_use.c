/* What a malicious agent tries with the arguments of its own program's tools: names that lead
 * elsewhere, folders to run in, and commands that look like allowed ones. */
#include "agent.h"
#include "gate_client.h"
#include "json.h"
#include "json_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char workspace[600];

static void given_attack(void)
{
	fresh_store();
	given_front_settings(workspace);
	(void)start_worker("mcp-front");
	(void)mkdir(below(workspace, ".intercom"), 0755);
	(void)mkdir(below(workspace, "docs"), 0755);
	(void)mkdir(below(workspace, "src"), 0755);
	(void)mkdir(below(workspace, ".git"), 0755);
	put_file(workspace, "src/auth.c", "secret\n");
	put_file(workspace, "outside", "");
	put_file(workspace, ".intercom/settings.json",
	         "{\"enabled\":true,\"commands\":[\"make *\",\"cat docs/*\"],"
	         "\"file_patterns\":{\"write\":[\"docs/**\"]}}");
}

/* What is decided about a call at once; "open": a person is asked. */
static const char *verdict_of(const char *host, const char *tool, const char *arguments,
                              const char *cwd)
{
	static char text[40];
	static int count;
	OWNED(char_ptr) char *answer = NULL;
	struct gate_client h;
	char expected[20];

	gate_connect(&h);
	gate_send(&h, host, "PreToolUse", tool_of("s1", cwd, tool, arguments), 600000, NULL);
	(void)snprintf(expected, sizeof(expected), "%d\n", ++count);
	expect_soon("SELECT count(*) FROM gate_call", expected);
	answer = rows("SELECT decision FROM gate_call ORDER BY seq DESC LIMIT 1");
	(void)snprintf(text, sizeof(text), "%.*s", (int)strcspn(answer, "\n"), answer);
	gate_close(&h);
	return text;
}

static const char *verdict(const char *tool, const char *arguments, const char *cwd)
{
	return verdict_of("claude", tool, arguments, cwd);
}

static const char *writing(const char *path)
{
	OWNED(str) struct str arguments = { 0 };

	str_addf(&arguments, "{\"file_path\":\"%s%s%s\",\"content\":\"x\"}",
	         path[0] == '/' ? "" : workspace, path[0] == '/' ? "" : "/", path);
	return verdict("Write", arguments.bytes, workspace);
}

static const char *running(const char *command)
{
	OWNED(str) struct str arguments = { 0 };

	str_add(&arguments, "{\"command\":");
	json_quote(&arguments, command);
	str_add(&arguments, "}");
	return verdict("Bash", arguments.bytes, workspace);
}

START_TEST(a_name_counts_by_the_file_that_it_leads_to)
{
	given_attack();
	ck_assert_int_eq(symlink("../src/auth.c", below(workspace, "docs/notes.md")), 0);
	ck_assert_int_eq(symlink("../src", below(workspace, "docs/deep")), 0);
	ck_assert_int_eq(symlink("/etc", below(workspace, "docs/etc")), 0);
	ck_assert_int_eq(symlink("../.git", below(workspace, "docs/repo")), 0);
	ck_assert_str_eq(writing("docs/fine.md"), "allow");
	ck_assert_str_eq(writing("docs/notes.md"), "open");
	expect("SELECT path, target FROM request_file", "docs/notes.md|src/auth.c\n");
	ck_assert_str_eq(writing("docs/deep/auth.c"), "open");
	ck_assert_str_eq(writing("docs/etc/passwd"), "open");
	expect("SELECT risk_level FROM request ORDER BY seq DESC LIMIT 1", "critical\n");
	ck_assert_str_eq(writing("docs/repo/config"), "deny");
	ck_assert_str_eq(writing("docs/../src/auth.c"), "open");
	ck_assert_str_eq(writing("docs/../../elsewhere"), "open");
	expect("SELECT risk_level FROM request ORDER BY seq DESC LIMIT 1", "critical\n");
	ck_assert_str_eq(writing("docs/deep/../.git/config"), "deny");
}
END_TEST

START_TEST(a_second_argument_that_names_a_file_is_shown_to_a_person)
{
	static const char *const MORE[] = {
		"\"path\":\"src/secret.c\"",
		"\"filePath\":\"src/secret.c\"",
		"\"target_file\":[\"src/secret.c\"]",
		"\"options\":{\"Path\":\"src/secret.c\"}",
		"\"edits\":[{\"file_path\":\"src/secret.c\"}]",
	};

	given_attack();
	for (size_t i = 0; i < COUNT(MORE); i++) {
		OWNED(str) struct str arguments = { 0 };

		str_addf(&arguments, "{\"file_path\":\"docs/a.md\",\"content\":\"x\",%s}", MORE[i]);
		ck_assert_str_eq(verdict("Write", arguments.bytes, workspace), "open");
		expect(
		    "SELECT risk_level, instr(body, 'docs/a.md') > 0, instr(body, 'src/secret.c')"
		    " > 0 FROM request ORDER BY seq DESC LIMIT 1",
		    "high|1|1\n");
	}
	ck_assert_str_eq(verdict("Write",
	                         "{\"file_path\":\"docs/b.md\",\"content\":\"x\","
	                         "\"path\":\"docs/b.md\"}",
	                         workspace),
	                 "allow");
	ck_assert_str_eq(verdict("Write",
	                         "{\"file_path\":\"docs/b.md\",\"content\":\"x\","
	                         "\"path\":\".git/config\"}",
	                         workspace),
	                 "deny");
}
END_TEST

START_TEST(our_own_files_are_closed_to_every_tool)
{
	OWNED(str) struct str path = { 0 };

	given_attack();
	ck_assert_str_eq(writing(".intercom/settings.json"), "deny");
	ck_assert_str_eq(writing(".INTERCOM/settings.json"), "deny");
	str_addf(&path, "%s/mcp.sock", test_run());
	ck_assert_str_eq(writing(path.bytes), "deny");
	ck_assert_str_eq(writing(test_db()), "deny");
}
END_TEST

START_TEST(what_decides_about_agents_is_never_written_unasked)
{
	static const char *const PATHS[] = { "docs/CLAUDE.md",
		                             "docs/.mcp.json",
		                             "docs/.claude/settings.json",
		                             "docs/agents.md",
		                             ".claude/settings.local.json",
		                             ".codex/config.toml",
		                             ".gemini/settings.json",
		                             ".qwen/settings.json",
		                             ".github/copilot/settings.json",
		                             ".env" };

	given_attack();
	for (size_t i = 0; i < COUNT(PATHS); i++) {
		ck_assert_str_eq(writing(PATHS[i]), "open");
		expect("SELECT risk_level FROM request ORDER BY seq DESC LIMIT 1", "high\n");
	}
}
END_TEST

START_TEST(a_command_that_only_looks_allowed_is_asked_about)
{
	static const char *const COMMANDS[] = {
		"make test; id",    "make $(id)",       "make `id`",          "make test && id",
		"make test | sh",   "make test\nid",    "make test > /etc/x", "make \"$HOME\"",
		"PATH=. make test", "cat docs/a;id",    "make test || id",    "make test & id",
		"make test #\nid",  "make 'te'\\''st'",
	};

	given_attack();
	ck_assert_str_eq(running("make test"), "allow");
	ck_assert_str_eq(running("cat docs/a"), "allow");
	for (size_t i = 0; i < COUNT(COMMANDS); i++)
		ck_assert_msg(strcmp(running(COMMANDS[i]), "open") == 0, "%s", COMMANDS[i]);
}
END_TEST

START_TEST(an_allowed_command_in_another_folder_is_asked_about)
{
	OWNED(str) struct str link = { 0 };

	given_attack();
	ck_assert_int_eq(symlink("/tmp", below(workspace, "docs/tmp")), 0);
	str_addf(&link, "%s/docs/tmp", workspace);
	ck_assert_str_eq(running("make test"), "allow");
	ck_assert_str_eq(verdict("Bash", "{\"command\":\"make test\"}", "/tmp"), "open");
	ck_assert_str_eq(verdict("Bash", "{\"command\":\"make test\"}", link.bytes), "open");
	ck_assert_str_eq(verdict("Bash", "{\"command\":\"make test\",\"cwd\":\"/tmp\"}", workspace),
	                 "open");
	ck_assert_str_eq(
	    verdict("Bash", "{\"command\":\"make test\",\"workdir\":\"..\"}", workspace), "open");
}
END_TEST

/* A host runs a command where its own argument says, and ignores what another host calls so. */
START_TEST(only_a_hosts_own_argument_says_where_a_command_runs)
{
	OWNED(str) struct str own = { 0 }, both = { 0 }, other = { 0 }, list = { 0 };
	OWNED(str) struct str root = { 0 };

	given_attack();
	str_addf(&root, "{\"command\":\"make test\",\"workdir\":\"%s\"}", workspace);
	str_addf(&own, "{\"command\":\"make test\",\"workdir\":\"%s/docs\"}", workspace);
	str_addf(&both, "{\"command\":\"make test\",\"workdir\":\"/tmp\",\"cwd\":\"%s/docs\"}",
	         workspace);
	str_addf(&other, "{\"command\":\"make test\",\"dir_path\":\"%s/docs\"}", workspace);
	str_addf(&list, "{\"command\":\"make test\",\"workdir\":[\"%s/docs\"]}", workspace);
	ck_assert_str_eq(verdict_of("codex", "Bash", root.bytes, workspace), "allow");
	ck_assert_str_eq(verdict_of("codex", "Bash", own.bytes, workspace), "open");
	ck_assert_str_eq(verdict_of("codex", "Bash", both.bytes, workspace), "open");
	expect("SELECT count(*) FROM request WHERE description LIKE 'with its argument cwd "
	       "\"%/docs\"; "
	       "runs in /tmp, outside of the workspace'",
	       "1\n");
	ck_assert_str_eq(verdict_of("codex", "Bash", other.bytes, workspace), "open");
	ck_assert_str_eq(verdict_of("codex", "Bash", list.bytes, workspace), "open");
	ck_assert_str_eq(verdict_of("claude", "Bash", own.bytes, workspace), "open");
	/* There the paths of a patch begin as well. */
	str_reset(&own);
	str_addf(&own,
	         "{\"command\":\"apply_patch <<'E'\\n*** Begin Patch\\n*** Add File: n.md\\n+x\\n"
	         "*** End Patch\\nE\",\"workdir\":\"%s/docs\"}",
	         workspace);
	ck_assert_str_eq(verdict_of("codex", "Bash", own.bytes, workspace), "allow");
	expect("SELECT class FROM gate_call ORDER BY seq DESC LIMIT 1", "edit\n");
}
END_TEST

START_TEST(an_argument_that_is_not_known_is_asked_about)
{
	given_attack();
	ck_assert_str_eq(verdict("Bash",
	                         "{\"command\":\"make test\",\"with_escalated_permissions\":true}",
	                         workspace),
	                 "open");
	ck_assert_str_eq(
	    verdict("Bash", "{\"command\":\"make test\",\"env\":{\"A\":\"b\"}}", workspace),
	    "open");
}
END_TEST

START_TEST(servers_that_call_themselves_like_ours_are_asked_about)
{
	static const char *const TOOLS[] = { "mcp__intercom2__ping", "mcp__INTERCOM__ping",
		                             "mcp__intercom__ping__x", "intercom-ping",
		                             "mcp__x__intercom__ping" };

	given_attack();
	for (size_t i = 0; i < COUNT(TOOLS); i++)
		ck_assert_msg(strcmp(verdict(TOOLS[i], "{}", workspace), "open") == 0, "%s",
		              TOOLS[i]);
	ck_assert_str_eq(verdict("mcp__intercom__ping", "{}", workspace), "allow");
	ck_assert_str_eq(
	    verdict("mcp__intercom__ping", "{},\"mcp_server\":{\"name\":\"evil\"}", workspace),
	    "open");
	ck_assert_str_eq(
	    verdict("mcp__evil__ping", "{},\"mcp_server\":{\"name\":\"intercom\"}", workspace),
	    "open");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("attack_tool_use");
	TCase *c = store_case(s, "attack_tool_use", 60);

	tcase_add_test(c, a_name_counts_by_the_file_that_it_leads_to);
	tcase_add_test(c, a_second_argument_that_names_a_file_is_shown_to_a_person);
	tcase_add_test(c, our_own_files_are_closed_to_every_tool);
	tcase_add_test(c, what_decides_about_agents_is_never_written_unasked);
	tcase_add_test(c, a_command_that_only_looks_allowed_is_asked_about);
	tcase_add_test(c, an_allowed_command_in_another_folder_is_asked_about);
	tcase_add_test(c, only_a_hosts_own_argument_says_where_a_command_runs);
	tcase_add_test(c, an_argument_that_is_not_known_is_asked_about);
	tcase_add_test(c, servers_that_call_themselves_like_ours_are_asked_about);
	return run_suite(s);
}
