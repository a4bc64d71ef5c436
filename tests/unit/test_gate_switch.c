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
	tcase_add_test(c, odd_files_hold_nobody_up);
	tcase_add_test(c, each_host_has_settings_of_its_user);
	tcase_add_test(c, a_user_may_load_code_and_switch_other_hooks_off);
	tcase_add_test(c, our_hooks_are_known_by_their_command);
	suite_add_tcase(s, c);
	return run_suite(s);
}
