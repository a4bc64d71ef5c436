/* gate_switch: which files of a workspace keep hooks from running. */
#include "gate_hooks.h"
#include "gate_switch.h"
#include "harness.h"
#include "process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char ws[300];
static struct str found; /* "host file what", a line each */
static struct str proofs;

static void each(void *arg, const struct gate_switch_found *f)
{
	(void)arg;
	str_addf(&found, "%s %s %s\n", f->host, f->file, str_text(&f->what));
	str_add(&proofs, str_text(&f->proof));
}

static void setup(void)
{
	(void)snprintf(ws, sizeof(ws), "%s", scratch());
}

static void teardown(void)
{
	str_clear(&found);
	str_clear(&proofs);
}

static void make(const char *file, const char *text)
{
	char command[600];

	ck_assert_int_eq(shell(NULL, "cd '%s' && mkdir -p \"$(dirname %s)\"", ws, file), 0);
	(void)snprintf(command, sizeof(command), "%s/%s", ws, file);
	FILE *f = fopen(command, "we");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

/* What is found for a host if a file has this text. */
static void finds(const char *host, const char *file, const char *text, const char *expected)
{
	make(file, text);
	str_reset(&found);
	str_reset(&proofs);
	gate_switch_look(host, ws, each, NULL);
	ck_assert_str_eq(str_text(&found), expected);
}

START_TEST(each_host_has_its_own_files)
{
	finds("claude", ".claude/settings.json", "{\"disableAllHooks\": true}",
	      "claude .claude/settings.json disableAllHooks is set\n");
	finds("copilot", ".claude/settings.local.json", "{\"disableAllHooks\": 1}",
	      "copilot .claude/settings.json disableAllHooks is set\n"
	      "copilot .claude/settings.local.json disableAllHooks is set\n");
	finds("codex", ".codex/config.toml", "[features]\nhooks = false\n",
	      "codex .codex/config.toml features.hooks is false\n");
	ck_assert_str_eq(str_text(&proofs), "[features]\nhooks = false\n");
	finds("gemini", ".gemini/settings.json",
	      "{\"hooksConfig\": {\"enabled\": false, \"disabled\": [\"x\"]}}",
	      "gemini .gemini/settings.json hooksConfig.enabled is false\n"
	      "gemini .gemini/settings.json hooksConfig.disabled is not empty\n");
	finds("qwen", ".qwen/settings.json", "{\"disableAllHooks\": \"true\"}",
	      "qwen .qwen/settings.json disableAllHooks is set\n");
	finds("opencode", "opencode.json", "{\"plugin\": []}", "");
}
END_TEST

START_TEST(what_leaves_hooks_on_is_no_finding)
{
	finds("claude", ".claude/settings.json", "{\"disableAllHooks\": false}", "");
	finds("claude", ".claude/settings.json", "{\"disableAllHooks\": null}", "");
	finds("claude", ".claude/settings.json", "{\"env\": {\"PATH\": \"/bin\"}, \"hooks\": {}}",
	      "");
	finds("codex", ".codex/config.toml", "[features]\nhooks = true\n", "");
	finds("gemini", ".gemini/settings.json", "{\"hooksConfig\": {\"disabled\": []}}", "");
	finds("gemini", ".env", "PATH=/bin\n# LD_PRELOAD=x\n", "");
}
END_TEST

START_TEST(comments_do_not_hide_it)
{
	finds("claude", ".claude/settings.json", "{ // as agreed\n\"disableAllHooks\": true,\n}",
	      "claude .claude/settings.json disableAllHooks is set\n");
}
END_TEST

/* The proof is what a canary is started with: nothing that the workspace would have run. */
START_TEST(a_proof_has_the_switch_and_nothing_else)
{
	finds(
	    "claude", ".claude/settings.json",
	    "{\"disableAllHooks\": true, \"apiKeyHelper\": \"touch ran\", \"env\": {\"X\": \"1\"}}",
	    "claude .claude/settings.json disableAllHooks is set\n");
	ck_assert_str_eq(str_text(&proofs), "{\"disableAllHooks\":true}\n");
}
END_TEST

START_TEST(variables_that_load_code_into_our_hook_are_found_and_never_tried)
{
	finds("claude", ".claude/settings.json", "{\"env\": {\"LD_PRELOAD\": \"./x.so\"}}",
	      "claude .claude/settings.json env has LD_PRELOAD\n");
	ck_assert_str_eq(str_text(&proofs), "");
	finds("gemini", ".gemini/.env", "A=b\n export LD_AUDIT = x.so\n",
	      "gemini .gemini/.env LD_AUDIT\n");
	ck_assert_str_eq(str_text(&proofs), "");
}
END_TEST

START_TEST(variables_that_switch_the_hooks_of_qwen_off_are_found_and_tried)
{
	finds("qwen", ".qwen/settings.json",
	      "{\"env\": {\"A\": \"1\", \"QWEN_CODE_SAFE_MODE\": \"1\"}}",
	      "qwen .qwen/settings.json env has QWEN_CODE_SAFE_MODE=1\n");
	ck_assert_str_eq(str_text(&proofs), "{\"env\":{\"QWEN_CODE_SAFE_MODE\":\"1\"}}\n");
	finds("qwen", ".qwen/settings.json", "{\"env\": {\"LD_PRELOAD\": \"x.so\"}}", "");
	finds("qwen", ".qwen/.env", "QWEN_CODE_SAFE_MODE=0\nQWEN_CODE_SIMPLE=2\n", "");
	finds("qwen", ".qwen/.env", "QWEN_CODE_SAFE_MODE=\n# QWEN_CODE_SIMPLE=1\n", "");
	finds("qwen", ".qwen/.env", "export QWEN_CODE_SIMPLE: 'Yes' # so\n",
	      "qwen .qwen/.env QWEN_CODE_SIMPLE=Yes\n");
	ck_assert_str_eq(str_text(&proofs), "QWEN_CODE_SIMPLE=Yes\n");
	finds("qwen", ".qwen/.env", "A=b\nQWEN_CODE_SAFE_MODE = true # so\n",
	      "qwen .qwen/.env QWEN_CODE_SAFE_MODE=true\n");
}
END_TEST

START_TEST(a_project_takes_the_trust_from_a_folder_of_gemini)
{
	finds("gemini", ".gemini/.env", "GEMINI_CLI_TRUST_WORKSPACE=true\n", "");
	finds("gemini", ".gemini/.env", "GEMINI_CLI_TRUST_WORKSPACE=\"false\"\n",
	      "gemini .gemini/.env GEMINI_CLI_TRUST_WORKSPACE=false\n");
	finds("gemini", ".gemini/.env", "GEMINI_RESTRICTED_MODE=true\n",
	      "gemini .gemini/.env GEMINI_RESTRICTED_MODE=true\n");
	ck_assert_str_eq(str_text(&proofs), "");
}
END_TEST

/* A project may begin above the folder in which an agent works. */
START_TEST(a_file_of_variables_counts_in_the_folders_above_too)
{
	OWNED(char_ptr) char *above = xstrdup(ws);

	(void)setenv("HOME", "/nowhere", 1);
	make("a/b/x", "");
	make(".env", "QWEN_CODE_SAFE_MODE=1\n");
	ck_assert_int_lt(snprintf(ws, sizeof(ws), "%s/a/b", above), (int)sizeof(ws));
	gate_switch_look("qwen", ws, each, NULL);
	ck_assert_str_eq(str_text(&found), "qwen ../../.env QWEN_CODE_SAFE_MODE=1\n");
	str_reset(&found);
	(void)setenv("HOME", above, 1); /* the user's own are no project's */
	gate_switch_look("qwen", ws, each, NULL);
	ck_assert_str_eq(str_text(&found), "");
	gate_switch_look_own("qwen", each, NULL);
	ck_assert_ptr_nonnull(strstr(str_text(&found), "/.env QWEN_CODE_SAFE_MODE=1\n"));
}
END_TEST

/* What gemini finds in the workspace if its user trusts folders so; @ stands for the workspace. */
static void trusts(const char *rules, const char *expected)
{
	OWNED(str) struct str text = { 0 };

	for (const char *at = rules; *at; at++)
		if (*at == '@')
			str_add(&text, ws);
		else
			str_add_char(&text, *at);
	finds("gemini", ".gemini/trustedFolders.json", str_text(&text), expected);
}

START_TEST(a_folder_that_gemini_does_not_trust_has_no_hooks)
{
	static const char NO[] =
	    "gemini  Gemini CLI does not trust this folder (/permissions in gemini)\n";

	(void)setenv("HOME", ws, 1);
	trusts("{}", "");
	trusts("{\"@\": \"TRUST_FOLDER\", \"@/x\": \"DO_NOT_TRUST\"}", "");
	trusts("{\"@x\": \"DO_NOT_TRUST\"}", "");
	trusts("{ // mine\n\"@\": \"DO_NOT_TRUST\"}", NO);
	trusts("{\"/\": \"DO_NOT_TRUST\"}", NO);
	trusts("{\"/\": \"DO_NOT_TRUST\", \"@\": \"TRUST_FOLDER\"}", "");
	trusts("{\"/\": \"DO_NOT_TRUST\", \"@/x\": \"TRUST_PARENT\"}", "");
	trusts("{\"@\": \"DO_NOT_TRUST\"}", NO);
	finds("gemini", ".gemini/settings.json",
	      "{\"security\": {\"folderTrust\": {\"enabled\": false}}}", "");
}
END_TEST

START_TEST(odd_files_hold_nobody_up)
{
	ck_assert_int_eq(
	    shell(
	        NULL,
	        "cd '%s' && mkdir -p .claude .codex/config.toml && mkfifo .claude/settings.json && "
	        "ln -s /dev/zero .claude/settings.local.json && ln -s nowhere .env && "
	        "head -c 2000000 /dev/zero > big && mkdir .qwen && ln -s ../big "
	        ".qwen/settings.json",
	        ws),
	    0);
	gate_switch_look("claude", ws, each, NULL);
	gate_switch_look("codex", ws, each, NULL);
	gate_switch_look("gemini", ws, each, NULL);
	ck_assert_str_eq(str_text(&found), "");
	gate_switch_look("qwen", ws, each, NULL);
	ck_assert_str_eq(str_text(&found),
	                 "qwen .qwen/settings.json is too large to be looked at\n");
}
END_TEST

/* What is found in the user's own settings of a host if they are this text. */
static void finds_own(const char *host, const char *file, const char *text, const char *expected)
{
	OWNED(str) struct str whole = { 0 };

	make(file, text);
	str_reset(&found);
	gate_switch_look_own(host, each, NULL);
	if (*expected)
		str_addf(&whole, "%s %s/%s %s\n", host, ws, file, expected);
	ck_assert_str_eq(str_text(&found), str_text(&whole));
}

START_TEST(each_host_has_settings_of_its_user)
{
	(void)setenv("HOME", ws, 1);
	(void)unsetenv("CLAUDE_CONFIG_DIR");
	(void)unsetenv("CODEX_HOME");
	(void)unsetenv("COPILOT_HOME");
	finds_own("claude", ".claude/settings.json", "{\"disableAllHooks\": true}",
	          "disableAllHooks is set");
	finds_own("codex", ".codex/config.toml", "[features]\nhooks = false\n",
	          "features.hooks is false");
	finds_own("gemini", ".gemini/settings.json", "{\"hooksConfig\": {\"enabled\": false}}",
	          "hooksConfig.enabled is false");
	finds_own("copilot", ".copilot/settings.json", "{ // mine\n\"disableAllHooks\": true}",
	          "disableAllHooks is set");
	finds_own("qwen", ".qwen/settings.json", "{\"disableAllHooks\": true}",
	          "disableAllHooks is set");
	finds_own("cursor", ".cursor/settings.json", "{\"disableAllHooks\": true}", "");
	(void)setenv("CODEX_HOME", "/nowhere", 1);
	finds_own("codex", ".codex/config.toml", "[features]\nhooks = false\n", "");
}
END_TEST

START_TEST(a_user_may_load_code_and_switch_other_hooks_off)
{
	(void)setenv("HOME", ws, 1);
	(void)unsetenv("CLAUDE_CONFIG_DIR");
	finds_own("claude", ".claude/settings.json", "{\"env\": {\"LD_PRELOAD\": \"x.so\"}}", "");
	finds_own("gemini", ".gemini/settings.json",
	          "{\"hooksConfig\": {\"disabled\": [\"lint\"]}}", "");
	finds_own("gemini", ".gemini/settings.json", "/*\nLD_PRELOAD=x.so\n*/ {}", "");
	finds_own("gemini", ".gemini/settings.json", "{\"disableAllHooks\": true}", "");
	finds_own("gemini", ".gemini/settings.json",
	          "{\"hooksConfig\": {\"disabled\": [\"lint\", \"/x/hook gemini BeforeTool\"]}}",
	          "hooksConfig.disabled is not empty");
}
END_TEST

START_TEST(claude_takes_variables_without_hooks_from_its_user_alone)
{
	static const char SET[] = "{\"env\": {\"CLAUDE_CODE_SIMPLE\": \"true\"}}";

	finds("claude", ".claude/settings.json", SET, "");
	(void)setenv("HOME", ws, 1);
	(void)unsetenv("CLAUDE_CONFIG_DIR");
	finds_own("claude", ".claude/settings.json", SET, "env has CLAUDE_CODE_SIMPLE=true");
	finds_own("claude", ".claude/settings.json", "{\"env\": {\"CLAUDE_CODE_SAFE_MODE\": 1}}",
	          "env has CLAUDE_CODE_SAFE_MODE=1");
	finds_own("claude", ".claude/settings.json", "{\"env\": {\"CLAUDE_CODE_SAFE_MODE\": \"\"}}",
	          "");
	finds_own("qwen", ".qwen/.env", "QWEN_CODE_SAFE_MODE=1\n", "QWEN_CODE_SAFE_MODE=1");
}
END_TEST

START_TEST(the_environment_may_switch_hooks_off)
{
	(void)setenv("CLAUDE_CODE_SAFE_MODE", "1", 1);
	(void)setenv("QWEN_CODE_SIMPLE", "0", 1);
	(void)setenv("LD_LIBRARY_PATH", "/lib", 1);
	gate_switch_look_environment("claude", each, NULL);
	ck_assert_str_eq(str_text(&found), "claude the environment CLAUDE_CODE_SAFE_MODE=1\n");
	gate_switch_look_environment("qwen", each, NULL);
	gate_switch_look_environment("gemini", each, NULL);
	ck_assert_str_eq(str_text(&found), "claude the environment CLAUDE_CODE_SAFE_MODE=1\n");
}
END_TEST

START_TEST(our_hooks_are_known_by_their_command)
{
	ck_assert(gate_hooks_are_ours("claude", "{\"command\": \"/x/hook claude PreToolUse\"}"));
	ck_assert(gate_hooks_are_ours("claude", "'/x y/hook' claude PreToolUse"));
	ck_assert(!gate_hooks_are_ours("claude", "/x/hook codex PreToolUse"));
	ck_assert(!gate_hooks_are_ours("claude", ""));
	ck_assert(gate_hooks_are_ours("opencode", "// agent-intercom wrote this file"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gate_switch");
	TCase *c = tcase_create("gate_switch");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, each_host_has_its_own_files);
	tcase_add_test(c, what_leaves_hooks_on_is_no_finding);
	tcase_add_test(c, comments_do_not_hide_it);
	tcase_add_test(c, a_proof_has_the_switch_and_nothing_else);
	tcase_add_test(c, variables_that_load_code_into_our_hook_are_found_and_never_tried);
	tcase_add_test(c, variables_that_switch_the_hooks_of_qwen_off_are_found_and_tried);
	tcase_add_test(c, a_project_takes_the_trust_from_a_folder_of_gemini);
	tcase_add_test(c, a_file_of_variables_counts_in_the_folders_above_too);
	tcase_add_test(c, a_folder_that_gemini_does_not_trust_has_no_hooks);
	tcase_add_test(c, odd_files_hold_nobody_up);
	tcase_add_test(c, each_host_has_settings_of_its_user);
	tcase_add_test(c, a_user_may_load_code_and_switch_other_hooks_off);
	tcase_add_test(c, claude_takes_variables_without_hooks_from_its_user_alone);
	tcase_add_test(c, the_environment_may_switch_hooks_off);
	tcase_add_test(c, our_hooks_are_known_by_their_command);
	suite_add_tcase(s, c);
	return run_suite(s);
}
