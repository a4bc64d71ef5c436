/* What a repository or an agent may try in order to have things allowed that nobody was asked: a
 * policy file that somebody else wrote, files that decide what is run, and commands that are named
 * as something else. */
#include "agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct site site;
static struct agent agent;
static char folder[200], file[220];

static const char ALL[] = "{\"enabled\":true,\"file_patterns\":{\"write\":[\"**\"]}}";

static void given_policy(const char *text)
{
	(void)snprintf(folder, sizeof(folder), "%s/.intercom", site.workspace);
	(void)snprintf(file, sizeof(file), "%s/settings.json", folder);
	(void)mkdir(folder, 0755);
	put_file(folder, "settings.json", text);
}

static void given_all(const char *more, const char *policy)
{
	fresh_store();
	site = site_make(more);
	site_start(&site);
	given_policy(policy);
	agent = agent_hello(site.port, "?wait=1", "2025-11-25");
}

static void clearance_is(const char *path, const char *status)
{
	OWNED(char_ptr) char *arguments = proposal(path, "hello\n");
	OWNED(char_ptr) char *answer = agent_call(&agent, "check_clearance", arguments);

	has(answer, "status", status);
}

/* The file is refused for this, and is in force again once that is mended. */
static void is_refused(const char *name, const char *why)
{
	OWNED(str) struct str broken = { 0 };

	str_addf(&broken, "broken|%s\n", why);
	clearance_is(name, "pending");
	expect("SELECT state, why FROM policy ORDER BY seq DESC LIMIT 1", str_text(&broken));
}

static void is_taken(const char *name)
{
	clearance_is(name, "approved");
}

/* ---- the policy's file ---- */

START_TEST(a_policy_file_that_somebody_else_can_write_is_refused_by_name)
{
	given_all("", ALL);
	is_taken("a/0");
	ck_assert_int_eq(chmod(file, 0646), 0);
	is_refused("a/2", "every user may write it; chmod o-w it");
	ck_assert_int_eq(chmod(file, 0644), 0);
	is_taken("a/3");
	ck_assert_int_eq(chmod(folder, 0777), 0);
	is_refused("a/4", "every user may write .intercom; chmod o-w it");
	ck_assert_int_eq(chmod(folder, 0755), 0);
	ck_assert_int_eq(chmod(site.workspace, 0777), 0);
	is_refused("a/6", "every user may write the workspace's folder; chmod o-w it");
	ck_assert_int_eq(chmod(site.workspace, 01777), 0);
	is_taken("a/7");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* The group root has no other member than root: that it may write is as if it could not, and umask
 * 0002 is the default where every user has such a group. */
START_TEST(a_policy_file_that_a_group_of_others_can_write_is_refused_by_name)
{
	enum { USERS = 100 };

	SKIP_UNLESS(geteuid() == 0, "root, who can give a file to any group");
	given_all("", ALL);
	ck_assert_int_eq(chown(file, 0, USERS), 0);
	is_taken("a/0");
	ck_assert_int_eq(chmod(file, 0664), 0);
	is_refused("a/1", "its group may write it; chmod g-w it");
	ck_assert_int_eq(chown(file, 0, 0), 0);
	ck_assert_int_eq(chmod(folder, 0775), 0);
	is_taken("a/2");
	ck_assert_int_eq(chown(folder, 0, USERS), 0);
	is_refused("a/3", "its group may write .intercom; chmod g-w it");
	ck_assert_int_eq(chown(folder, 0, 0), 0);
	is_taken("a/4");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_policy_file_of_another_owner_is_refused_by_name)
{
	SKIP_UNLESS(geteuid() == 0, "root, who can give a file away");
	given_all("", ALL);
	is_taken("a/0");
	ck_assert_int_eq(chown(file, 12345, 0), 0);
	is_refused("a/1", "it belongs to another user (uid 12345)");
	ck_assert_int_eq(chown(file, 0, 0), 0);
	ck_assert_int_eq(chown(folder, 12345, 0), 0);
	is_refused("a/2", ".intercom belongs to another user (uid 12345)");
	ck_assert_int_eq(chown(folder, 0, 0), 0);
	is_taken("a/3");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* What a link leads to can be written like any other file, or is not even in the workspace. */
START_TEST(a_policy_file_that_is_a_link_is_refused_by_name)
{
	char docs[200], aside[220];

	given_all("", ALL);
	(void)snprintf(docs, sizeof(docs), "%s/docs", site.workspace);
	(void)snprintf(aside, sizeof(aside), "%s/.aside", site.workspace);
	ck_assert_int_eq(mkdir(docs, 0755), 0);
	put_file(docs, "settings.json", ALL);
	put_file(site.home, "settings.json", ALL);
	ck_assert_int_eq(unlink(file), 0);
	ck_assert_int_eq(symlink("../docs/settings.json", file), 0);
	is_refused("a/1", "it is a symlink");
	ck_assert_int_eq(unlink(file), 0);
	ck_assert_int_eq(symlink("../../settings.json", file), 0);
	is_refused("a/2", "it is a symlink");
	ck_assert_int_eq(rename(folder, aside), 0);
	ck_assert_int_eq(symlink("docs", folder), 0);
	is_refused("a/3", ".intercom is a symlink");
	ck_assert_int_eq(unlink(folder), 0);
	ck_assert_int_eq(symlink(site.home, folder), 0);
	is_refused("a/4", ".intercom is a symlink");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ---- what its rules never cover ---- */

START_TEST(what_decides_what_is_run_or_told_is_asked_whatever_the_policy_says)
{
	static const char *const ASKED[] = {
		".github/workflows/ci.yml",
		"sub/.claude/settings.json",
		".mcp.json",
		"docs/AGENTS.md",
		".husky/pre-commit",
		".envrc",
		".env",
		".claude/settings.local.json",
		".codex/config.toml",
		".gemini/settings.json",
		".github/copilot/settings.json",
		".qwen/settings.json",
		"deploy/prod.tf",
		"a/secrets/key",
	};

	given_all("[policy]\nalways_ask = [\"*.tf\", \"secrets\"]\n",
	          "{\"enabled\":true,\"tools\":[\"check_clearance\"],"
	          "\"file_patterns\":{\"write\":[\"**\"]}}");
	for (size_t i = 0; i < COUNT(ASKED); i++)
		clearance_is(ASKED[i], "pending");
	clearance_is("deploy/prod.c", "approved");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_rule_for_commands_approves_no_change_of_a_file)
{
	given_all("", "{\"enabled\":true,\"risk_level_threshold\":\"high\","
	              "\"commands\":[\"*\",\"c*\",\"check_clearance\",\"^.*$\"]}");
	clearance_is("docs/a", "pending");
	clearance_is(".mcp.json", "pending");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ---- commands under another name ---- */

START_TEST(a_command_line_that_is_called_a_file_operation_is_not_approved_by_a_rule_for_files)
{
	OWNED(char_ptr) char *none = NULL;
	OWNED(char_ptr) char *file_operation = NULL;
	OWNED(char_ptr) char *tool = NULL;

	given_all("", ALL);
	none = agent_call(&agent, "auto_check",
	                  "{\"tool_name\":\"rm -rf ~\",\"context\":{\"file_path\":\"a\"}}");
	has(none, "auto_approved", "false");
	says(member(none, "reason"), "with kind terminal_command the operator is asked");
	file_operation = agent_call(&agent, "auto_check",
	                            "{\"tool_name\":\"/bin/sh\",\"kind\":\"file_operation\","
	                            "\"context\":{\"file_path\":\"a\"}}");
	has(file_operation, "auto_approved", "false");
	tool = agent_call(&agent, "auto_check",
	                  "{\"tool_name\":\"edit\",\"context\":{\"file_path\":\"a\"}}");
	has(tool, "auto_approved", "true");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("attack policy");
	TCase *c = store_case(s, "attack policy", 90);

	tcase_add_test(c, a_policy_file_that_somebody_else_can_write_is_refused_by_name);
	tcase_add_test(c, a_policy_file_that_a_group_of_others_can_write_is_refused_by_name);
	tcase_add_test(c, a_policy_file_of_another_owner_is_refused_by_name);
	tcase_add_test(c, a_policy_file_that_is_a_link_is_refused_by_name);
	tcase_add_test(c, what_decides_what_is_run_or_told_is_asked_whatever_the_policy_says);
	tcase_add_test(c, a_rule_for_commands_approves_no_change_of_a_file);
	tcase_add_test(
	    c, a_command_line_that_is_called_a_file_operation_is_not_approved_by_a_rule_for_files);
	return run_suite(s);
}
