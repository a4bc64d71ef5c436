/* agent-intercom doctor --gate: the real program, with a script in the place of a host. */
#include "install_case.h"

/* A host that asks its model with both tools offered, and in between does what is said by `first`
 * and `second`: it sets $told, the result of the call. */
#define HOST(first, second)                                                                        \
	"#!/bin/sh\n"                                                                              \
	"[ \"$1\" = --version ] && { echo 'Fake Host'; echo '9.9 (fake)'; exit; }\n"               \
	"pwd >\"$HOME/was-in\"\n"                                                                  \
	"tools='\"tools\":[{\"name\":\"Write\"},{\"name\":\"Bash\"}]'\n"                           \
	"ask() { said=$(curl -s --noproxy '*' -d \"{$tools,\\\"messages\\\":[$1]}\" "              \
	"$ANTHROPIC_BASE_URL/v1/messages) || exit 9; }\n"                                          \
	"result() { echo \"{\\\"content\\\":[{\\\"type\\\":\\\"tool_result\\\",\\\"content\\\":"   \
	"\\\"$1\\\"}]}\"; }\n"                                                                     \
	"ask ''\n"                                                                                 \
	"case $said in *'\"name\":\"Write\"'*canary-write*) ;; *) exit 8 ;; esac\n" first          \
	"one=$(result \"$told\")\n"                                                                \
	"ask \"$one\"\n"                                                                           \
	"case $said in *'\"name\":\"Bash\"'*canary-command*) ;; *) exit 7 ;; esac\n" second        \
	"ask \"$one,$(result \"$told\")\"\n"                                                       \
	"case $said in *end_turn*) ;; *) exit 6 ;; esac\n"

#define DENIED "told=\"denied: $INTERCOM_CANARY\"\n"

static void setup_doctor(void)
{
	static char path[2 * PATH_MAX];

	setup();
	ck_assert(shell("mkdir '%s' '%s' && cp '%s' \"$(dirname '%s')/doctor\" '%s' && cd '%s' && "
	                "touch hook mcp-front && chmod +x hook mcp-front",
	                in("bin"), in("hosts"), binary, binary, in("bin"), in("bin")));
	(void)snprintf(binary, sizeof(binary), "%s", in("bin/agent-intercom"));
	(void)snprintf(path, sizeof(path), "%s:/usr/bin:/bin", in("hosts"));
	(void)setenv("PATH", path, 1);
}

static void given_host(const char *script)
{
	given("hosts/claude", script);
	ck_assert(shell("chmod +x '%s'", in("hosts/claude")));
}

static void doctor_says(const char *arguments, int expected, const char *text)
{
	char command[128];

	(void)snprintf(command, sizeof(command), "doctor --gate %s", arguments);
	run(command);
	says(text);
	ck_assert_msg(status == expected, "exit %d:\n%s%s", status, str_text(&out),
	              str_text(&err_out));
}

/* ---- the canary ---- */

START_TEST(a_host_that_heeds_the_hook_is_closed)
{
	given_host(HOST(DENIED, DENIED));
	does("install claude --gate --yes");
	doctor_says("claude", 0, "ok   gate claude: closed (9.9 (fake)): our hook kept it from");
	doctor_says("", 0, "ok   gate claude: closed");
	says("ok   gate codex: there is none");
	ck_assert(shell("! test -e \"$(cat '%s')\"", in("was-in")));
}
END_TEST

START_TEST(what_tries_it_is_the_next_step_after_install)
{
	does("install claude --gate --yes");
	says("Then run agent-intercom doctor --gate claude, and again after each update of");
	does("install gemini --yes");
	ck_assert_ptr_null(strstr(str_text(&out), "doctor --gate"));
	does("uninstall claude --yes");
	ck_assert_ptr_null(strstr(str_text(&out), "doctor --gate"));
}
END_TEST

START_TEST(a_host_that_writes_or_runs_is_open)
{
	given_host(HOST("touch canary-write; told=done\n", DENIED));
	does("install claude --gate --yes");
	doctor_says("claude", 1, "FAIL gate claude: OPEN (9.9 (fake)): it wrote a file unasked");
	given_host(HOST(DENIED, "touch canary-command; told=done\n"));
	doctor_says("claude", 1, "it ran a command unasked");
	given_host(HOST("touch canary-write\n", "touch canary-command\n"));
	doctor_says("claude", 1, "it wrote a file and ran a command unasked");
}
END_TEST

START_TEST(what_something_else_denied_proves_nothing)
{
	given_host(HOST("told='not permitted here'\n", DENIED));
	does("install claude --gate --yes");
	doctor_says("claude", 0,
	            "warn gate claude: not tried (9.9 (fake)): not our hook, but something else "
	            "kept it from `Write`: not permitted here");
}
END_TEST

START_TEST(a_host_that_cannot_be_tried_is_not_called_closed)
{
	does("install claude --gate --yes");
	given_host("#!/bin/sh\necho 'log in first' >&2\nexit 1\n");
	doctor_says("claude", 0,
	            "it never asked the model that it was given; its last words: log in "
	            "first");
	does("install vscode --gate --yes");
	doctor_says("vscode", 0, "warn gate vscode: not tried: it takes no model of ours");
	says("If a file exists before that, the gate is OPEN.");
	ck_assert(shell("rm '%s'", in("hosts/claude")));
	doctor_says("claude", 0, "claude is not installed");
}
END_TEST

/* A host that obeys its project's file, as Claude Code does. */
#define OBEYS                                                                                      \
	"if grep -qs disableAllHooks .claude/settings.json; then touch canary-write; told=done; "  \
	"else "

START_TEST(a_workspace_that_opens_it_is_found_and_tried)
{
	given_host(HOST(OBEYS DENIED "fi\n", DENIED));
	does("install claude --gate --yes");
	given("ws/.claude/settings.json", "{\"disableAllHooks\": true, \"apiKeyHelper\": \"x\"}");
	doctor_says("claude", 1, "ok   gate claude: closed");
	doctor_says("claude", 1,
	            "ws: .claude/settings.json: disableAllHooks is set, so our hooks do not");
	says("FAIL gate claude: OPEN in ");
	given_host(HOST(DENIED, DENIED));
	doctor_says("claude", 0, "disableAllHooks is set, but its hooks run all the same");
	given("ws/.claude/settings.json", "{\"env\": {\"LD_PRELOAD\": \"x\"}}");
	doctor_says("claude", 1, "ws: .claude/settings.json: env has LD_PRELOAD, so");
}
END_TEST

START_TEST(a_user_who_switches_hooks_off_is_told_by_install_and_both_doctors)
{
	static const char OFF[] = "/.claude/settings.json: disableAllHooks is set, so ";

	given_host(HOST("touch canary-write; told=done\n", DENIED));
	given(".claude/settings.json", "{\"disableAllHooks\": true}");
	for (int i = 0; i < 2; i++) {
		run("install claude --gate --yes");
		ck_assert_int_eq(status, 1);
		says(OFF);
		says("these hooks do not run: take that out\n");
	}
	doctor_says("claude", 1, OFF);
	run("doctor");
	says(OFF);
	given_host(HOST(DENIED, DENIED));
	doctor_says("claude", 0, "disableAllHooks is set, but its hooks run all the same");
	does("install claude --yes");
	does("uninstall claude --yes");
}
END_TEST

/* A host that has no hooks if the environment says so, as Claude Code does. */
#define SAFE(otherwise)                                                                            \
	"if [ \"$CLAUDE_CODE_SAFE_MODE\" = 1 ]; then touch canary-write; told=done; "              \
	"else " otherwise "fi\n"

START_TEST(variables_without_hooks_are_told_and_tried)
{
	given_host(HOST(SAFE(DENIED), DENIED));
	does("install claude --gate --yes");
	(void)setenv("CLAUDE_CODE_SAFE_MODE", "1", 1);
	run("install claude --gate --yes");
	ck_assert_int_eq(status, 1);
	says(
	    "the environment: CLAUDE_CODE_SAFE_MODE=1, so these hooks do not run: take that out\n");
	doctor_says("claude", 1, "FAIL gate claude: OPEN (9.9 (fake)): it wrote a file unasked");
	says("FAIL gate claude: the environment: CLAUDE_CODE_SAFE_MODE=1, so our hooks do not run");
	given_host(HOST(DENIED, DENIED));
	doctor_says("claude", 0, "CLAUDE_CODE_SAFE_MODE=1, but its hooks run all the same");
	(void)unsetenv("CLAUDE_CODE_SAFE_MODE");
	does("uninstall claude --yes");

	given(".claude/settings.json", "{\"env\": {\"CLAUDE_CODE_SIMPLE\": \"1\"}}");
	run("install claude --gate --yes");
	ck_assert_int_eq(status, 1);
	says("/.claude/settings.json: env has CLAUDE_CODE_SIMPLE=1, so these hooks do not run");
	run("doctor");
	says("/.claude/settings.json: env has CLAUDE_CODE_SIMPLE=1, so our hooks do not run");
	given("ws/.claude/settings.json", "{\"env\": {\"CLAUDE_CODE_SAFE_MODE\": \"1\"}}");
	doctor_says("claude", 0, "");
	ck_assert_ptr_null(strstr(str_text(&out), "OPEN in "));
}
END_TEST

START_TEST(a_file_of_variables_opens_qwen_for_its_project_or_its_user)
{
	does("install qwen --gate --yes");
	given("ws/.env", "QWEN_CODE_SAFE_MODE=1\n");
	doctor_says("qwen", 1, "FAIL gate qwen: OPEN in ");
	says("ws: .env: QWEN_CODE_SAFE_MODE=1, so our hooks do not run there");
	ck_assert(shell("rm '%s'", in("ws/.env")));
	given(".env", "QWEN_CODE_SAFE_MODE=1\n");
	doctor_says("qwen", 1, "/.env: QWEN_CODE_SAFE_MODE=1, so our hooks do not run; take that");
	ck_assert_ptr_null(strstr(str_text(&out), "OPEN in "));
}
END_TEST

START_TEST(a_folder_that_gemini_does_not_trust_is_open)
{
	OWNED(str) struct str rules = { 0 };

	does("install gemini --gate --yes");
	doctor_says("gemini", 0, "ok   gate gemini: hooks are in ");
	str_addf(&rules, "{\"%s\": \"DO_NOT_TRUST\"}", in("ws"));
	given(".gemini/trustedFolders.json", str_text(&rules));
	doctor_says("gemini", 1,
	            "/ws: Gemini CLI does not trust this folder (/permissions in "
	            "gemini), so our hooks do not run there");
}
END_TEST

/* ---- the files ---- */

START_TEST(hooks_that_would_let_a_tool_run_are_found)
{
	static const char FILE_NAME[] = ".claude/settings.json";

	given_host(HOST(DENIED, DENIED));
	does("install claude --gate --yes");
	ck_assert(shell("sed -i 's/\"timeout\": 3700/\"timeout\": 3600/' '%s'", in(FILE_NAME)));
	doctor_says("claude", 1,
	            "PreToolUse is given up before it answers (timeout 3600, deadline "
	            "3600 s)");
	ck_assert(shell("sed -i 's/\"timeout\": 3600/\"x\": 1/' '%s'", in(FILE_NAME)));
	doctor_says("claude", 1, "PreToolUse has no timeout; install the gate again");
	does("install claude --gate --yes");
	ck_assert(shell("sed -i 's/\"PreToolUse\"/\"PreToolUsed\"/' '%s'", in(FILE_NAME)));
	doctor_says("claude", 1, "PreToolUse is gone; install the gate again");
	does("install claude --gate --yes");
	ck_assert(shell("rm '%s'", in("bin/hook")));
	doctor_says("claude", 1, "/bin/hook: No such file or directory; install the gate again");
}
END_TEST

START_TEST(the_plain_doctor_finds_hooks_whose_program_is_gone)
{
	given(".claude/settings.json", "not JSON");
	run("doctor");
	ck_assert_ptr_null(strstr(str_text(&out), " gate "));
	given(".claude/settings.json", "{\"disableAllHooks\": true}");
	run("doctor");
	ck_assert_ptr_null(strstr(str_text(&out), " gate "));
	given(".claude/settings.json", "{}");
	does("install claude --gate --yes");
	run("doctor");
	says("ok   gate claude: hooks are in ");
	ck_assert(shell("mv '%s' '%s'", in("bin/hook"), in("bin/hook2")));
	does("install claude --yes");
	run("doctor");
	says("FAIL gate claude: ");
	says("/.claude/settings.json: its hooks start ");
	says("/bin/hook: No such file or directory; install the gate again: agent-intercom install "
	     "claude --gate\n");
	ck_assert_int_eq(status, 1);
	ck_assert_ptr_null(strstr(strstr(str_text(&out), "FAIL gate ") + 1, "FAIL gate "));
	ck_assert(shell("mv '%s' '%s' && chmod 644 '%s'", in("bin/hook2"), in("bin/hook"),
	                in("bin/hook")));
	run("doctor");
	says("/bin/hook: Permission denied; install the gate again: ");
	(void)unsetenv("HOME");
	(void)setenv("XDG_CONFIG_HOME", in("config"), 1);
	(void)setenv("XDG_STATE_HOME", in("state"), 1);
	run("doctor");
	says("ok   workspace: ");
	ck_assert_ptr_null(strstr(str_text(&out), " gate "));
}
END_TEST

START_TEST(a_gate_that_codex_does_not_trust_is_found)
{
	char key[PATH_MAX];

	does("install codex --gate --yes");
	doctor_says("codex", 1, "you have not trusted it, so Codex skips it");
	(void)snprintf(key, sizeof(key),
	               "[hooks.state.\"%.200s/.codex/hooks.json:pre_tool_use:0:0\"]\n"
	               "trusted_hash = \"sha256:0\"\n",
	               folder);
	given(".codex/config.toml", key);
	doctor_says("codex", 0, "ok   gate codex: hooks are in ");
}
END_TEST

START_TEST(a_gate_that_is_not_there_is_missed_by_whoever_asks_for_it)
{
	doctor_says("gemini", 1, "FAIL gate gemini: there is none");
	doctor_says("", 0, "ok   gate gemini: there is none");
	run("doctor --gate emacs");
	ck_assert_int_eq(status, 64);
	run("doctor emacs");
	ck_assert_int_eq(status, 64);
}
END_TEST

START_TEST(the_gate_of_all_users_counts_whatever_a_user_switches_off)
{
	SKIP_UNLESS(may_mount(), "root and mount namespaces");
	ck_assert(shell("mkdir '%s' && chmod 755 '%s' && mount --bind '%s' /etc", in("etc"), folder,
	                in("etc")));
	given_host(HOST(DENIED, DENIED));
	given(".claude/settings.json", "{\"disableAllHooks\": true}");
	run("install claude --gate --yes");
	does("install claude --managed --yes");
	doctor_says("claude", 0, "ok   gate claude: hooks are in /etc/claude-code/managed-");
	ck_assert_ptr_null(strstr(str_text(&out), "disableAllHooks"));
	run("doctor");
	says("ok   gate claude: hooks are in /etc/claude-code/managed-");
	ck_assert_ptr_null(strstr(str_text(&out), "disableAllHooks"));

	ck_assert(shell("rm '%s'", in("bin/hook")));
	run("doctor");
	says("install the gate again: agent-intercom install claude --gate\n");
	says("install the gate again: agent-intercom install claude --managed\n");
}
END_TEST

START_TEST(a_gate_that_other_users_cannot_get_to_is_found_by_root)
{
	SKIP_UNLESS(may_mount(), "root and mount namespaces");
	ck_assert(shell("mkdir '%s' && chmod 755 '%s' && mount --bind '%s' /etc", in("etc"), folder,
	                in("etc")));
	does("install codex --managed --yes");
	doctor_says("codex", 0, "ok   gate codex: hooks are in /etc/codex/requirements.toml");
	ck_assert(shell("chmod 750 /etc/codex"));
	doctor_says("codex", 1,
	            "FAIL gate codex: /etc/codex/requirements.toml: other users cannot "
	            "get to it, so for them there is no gate: chmod o+rX /etc/codex\n");
	does("install codex --managed --yes");
	ck_assert(shell("chmod 700 '%s'", in("bin/hook")));
	doctor_says("codex", 1, "/bin/hook: other users cannot get to it");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("install_canary");
	TCase *c = tcase_create("gate");

	tcase_add_checked_fixture(c, setup_doctor, teardown);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, a_host_that_heeds_the_hook_is_closed);
	tcase_add_test(c, what_tries_it_is_the_next_step_after_install);
	tcase_add_test(c, a_host_that_writes_or_runs_is_open);
	tcase_add_test(c, what_something_else_denied_proves_nothing);
	tcase_add_test(c, a_host_that_cannot_be_tried_is_not_called_closed);
	tcase_add_test(c, a_workspace_that_opens_it_is_found_and_tried);
	tcase_add_test(c, a_user_who_switches_hooks_off_is_told_by_install_and_both_doctors);
	tcase_add_test(c, variables_without_hooks_are_told_and_tried);
	tcase_add_test(c, a_file_of_variables_opens_qwen_for_its_project_or_its_user);
	tcase_add_test(c, a_folder_that_gemini_does_not_trust_is_open);
	tcase_add_test(c, hooks_that_would_let_a_tool_run_are_found);
	tcase_add_test(c, the_plain_doctor_finds_hooks_whose_program_is_gone);
	tcase_add_test(c, a_gate_that_codex_does_not_trust_is_found);
	tcase_add_test(c, a_gate_that_is_not_there_is_missed_by_whoever_asks_for_it);
	tcase_add_test(c, the_gate_of_all_users_counts_whatever_a_user_switches_off);
	tcase_add_test(c, a_gate_that_other_users_cannot_get_to_is_found_by_root);
	suite_add_tcase(s, c);
	return run_suite(s);
}
