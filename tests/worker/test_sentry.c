/* sentry: gates that do not hold are rows, once, until they hold again. */
#include "harness.h"
#include "process.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char home[400], ws[400];

static const char OPEN_LAPSES[] =
    "SELECT kind, host, subject, session_seq FROM gate_lapse WHERE ended_at IS NULL ORDER BY seq";

static void make(const char *folder, const char *name, const char *text)
{
	char path[600];
	FILE *f;

	ck_assert_int_eq(shell(NULL, "cd '%s' && mkdir -p \"$(dirname %s)\"", folder, name), 0);
	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "we");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

static void takes(const char *folder, const char *name)
{
	ck_assert_int_eq(shell(NULL, "rm -r '%s/%s'", folder, name), 0);
}

static void given_session(int seq)
{
	char sql[1600];
	struct instant now = clock_now();

	(void)snprintf(
	    sql, sizeof(sql),
	    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	    " created_at, updated_at) VALUES (%d, 's%d', 'h', 'local:ann', '%s', 'active', "
	    "'remote',"
	    " '%s', '%s');"
	    "INSERT INTO connection (seq, key, machine, transport, protocol_version, client_name,"
	    " client_version, host_process, session_seq, identity, created_at) VALUES (%d, 'k%d', "
	    "'h',"
	    " 'stdio', '2025-06-18', 'claude-code', '2.1.330', '%d.1.b', %d, '{}', '%s')",
	    seq, seq, ws, now.text, now.text, seq, seq, seq, seq, now.text);
	given(sql);
}

static void given_calls(int session)
{
	char sql[900];

	(void)snprintf(
	    sql, sizeof(sql),
	    "INSERT INTO tool_call (connection_seq, session_seq, rpc_id, era, tool, arguments, "
	    "digest,"
	    " state, created_at, finished_at) SELECT %d, %d, value, 'legacy', 'ping', '{}',"
	    " printf('%%064d', 1), 'done', '%s', '%s' FROM json_each('[1, 2]')",
	    session, session, clock_now().text, clock_now().text);
	given(sql);
}

/* Claude Code's file, with hooks that start a program of the home. */
static void given_hooks(const char *program)
{
	OWNED(str) struct str text = { 0 };
	const char *quote = strchr(program, ' ') ? "'" : "";

	str_addf(&text, "{\"command\": \"%s%s/%s%s claude PreToolUse\"}", quote, home, program,
	         quote);
	make(home, ".claude/settings.json", str_text(&text));
}

/* A home in which Claude Code has our hooks, of a version that a canary has tried. */
static void setup(void)
{
	char *folder;

	fresh_store();
	folder = xstrdup(scratch());
	(void)snprintf(home, sizeof(home), "%s/home", folder);
	(void)snprintf(ws, sizeof(ws), "%s/ws", folder);
	ck_assert_int_eq(shell(NULL, "mkdir '%s' '%s'", home, ws), 0);
	free(folder);
	(void)setenv("HOME", home, 1);
	(void)unsetenv("CLAUDE_CONFIG_DIR");
	make(home, "hook", "#!/bin/true\n");
	ck_assert_int_eq(shell(NULL, "chmod 755 '%s/hook'", home), 0);
	given_hooks("hook");
	given(
	    "INSERT INTO gate_canary VALUES ('claude', '2.1.330 (Claude Code)', 'closed', '', '0',"
	    " '2026-01-01T00:00:00.000Z')");
}

START_TEST(a_workspace_that_switches_hooks_off_is_told_once_until_it_does_not)
{
	char expected[1000];

	given_session(1);
	run_worker("sentry");
	expect(OPEN_LAPSES, "");
	make(ws, ".claude/settings.json", "{\"disableAllHooks\": true}");
	run_worker("sentry");
	run_worker("sentry");
	(void)snprintf(expected, sizeof(expected),
	               "switched_off|claude|%s/.claude/settings.json|1\n", ws);
	expect(OPEN_LAPSES, expected);
	expect("SELECT kind, session_seq FROM event WHERE kind LIKE 'gate.%'",
	       "gate.switched_off|1\n");

	make(ws, ".claude/settings.json", "{}");
	run_worker("sentry");
	expect(OPEN_LAPSES, "");
	expect("SELECT kind FROM event WHERE kind LIKE 'gate.%' ORDER BY seq",
	       "gate.switched_off\ngate.mended\n");
}
END_TEST

/* Codex's files are TOML. */
START_TEST(a_workspace_that_switches_the_hooks_of_codex_off_is_told)
{
	OWNED(str) struct str hooks = { 0 };
	char expected[1000];

	given_session(1);
	str_addf(&hooks, "{\"command\": \"%s/hook codex PreToolUse\"}", home);
	make(home, ".codex/hooks.json", str_text(&hooks));
	make(ws, ".codex/config.toml", "[features]\nhooks = false\n");
	run_worker("sentry");
	(void)snprintf(expected, sizeof(expected), "switched_off|codex|%s/.codex/config.toml|1\n",
	               ws);
	expect(OPEN_LAPSES, expected);
}
END_TEST

START_TEST(a_user_who_switches_hooks_off_is_told_until_they_are_on_or_uninstalled)
{
	OWNED(str) struct str hooks = { 0 };
	char expected[1000];

	str_addf(&hooks, "{\"command\": \"%s/hook codex PreToolUse\"}", home);
	make(home, ".codex/hooks.json", str_text(&hooks));
	make(home, ".codex/config.toml", "[features]\nhooks = false\n");
	(void)snprintf(expected, sizeof(expected), "switched_off|codex|%s/.codex/config.toml|\n",
	               home);
	run_worker("sentry");
	run_worker("sentry");
	expect(OPEN_LAPSES, expected);
	make(home, ".codex/config.toml", "[features]\nhooks = true\n");
	run_worker("sentry");
	expect(OPEN_LAPSES, "");

	make(home, ".codex/config.toml", "[features]\nhooks = false\n");
	run_worker("sentry");
	expect(OPEN_LAPSES, expected);
	takes(home, ".codex/hooks.json");
	given("DELETE FROM gate_install WHERE host = 'codex'");
	run_worker("sentry");
	expect(OPEN_LAPSES, "");
}
END_TEST

START_TEST(hooks_of_all_users_are_kept_from_running_only_by_what_is_loaded_into_them)
{
	OWNED(str) struct str hooks = { 0 };
	char expected[1000];

	SKIP_UNLESS(may_mount(), "root and mount namespaces");
	given_session(1);
	str_addf(&hooks, "{\"command\": \"%s/hook claude PreToolUse\"}", home);
	make(home, "etc/claude-code/managed-settings.d/agent-intercom.json", str_text(&hooks));
	ck_assert_int_eq(shell(NULL, "mount --bind '%s/etc' /etc", home), 0);
	make(ws, ".claude/settings.json", "{\"disableAllHooks\": true}");
	run_worker("sentry");
	expect(OPEN_LAPSES, "");
	make(ws, ".claude/settings.json", "{\"env\": {\"LD_PRELOAD\": \"x.so\"}}");
	run_worker("sentry");
	(void)snprintf(expected, sizeof(expected),
	               "switched_off|claude|%s/.claude/settings.json|1\n", ws);
	expect(OPEN_LAPSES, expected);
}
END_TEST

START_TEST(hooks_of_all_users_of_qwen_are_kept_from_running_by_a_variable_too)
{
	OWNED(str) struct str hooks = { 0 };
	char expected[1000];

	SKIP_UNLESS(may_mount(), "root and mount namespaces");
	given_session(1);
	str_addf(&hooks, "{\"command\": \"%s/hook qwen PreToolUse\"}", home);
	make(home, "etc/qwen-code/settings.json", str_text(&hooks));
	ck_assert_int_eq(shell(NULL, "mount --bind '%s/etc' /etc", home), 0);
	make(ws, ".qwen/settings.json", "{\"disableAllHooks\": true}");
	run_worker("sentry");
	expect(OPEN_LAPSES, "");
	make(ws, ".env", "QWEN_CODE_SAFE_MODE=1\n");
	run_worker("sentry");
	(void)snprintf(expected, sizeof(expected), "switched_off|qwen|%s/.env|1\n", ws);
	expect(OPEN_LAPSES, expected);
	takes(ws, ".env");
	run_worker("sentry");
	expect(OPEN_LAPSES, "");
}
END_TEST

START_TEST(a_workspace_that_gemini_does_not_trust_is_told_until_it_is_trusted_or_left)
{
	OWNED(str) struct str hooks = { 0 }, rules = { 0 };
	char expected[1000];

	given_session(1);
	str_addf(&hooks, "{\"command\": \"%s/hook gemini BeforeTool\"}", home);
	make(home, ".gemini/settings.json", str_text(&hooks));
	str_addf(&rules, "{\"%s\": \"DO_NOT_TRUST\"}", ws);
	make(home, ".gemini/trustedFolders.json", str_text(&rules));
	(void)snprintf(expected, sizeof(expected), "switched_off|gemini|%s|1\n", ws);
	run_worker("sentry");
	expect(OPEN_LAPSES, expected);
	make(home, ".gemini/trustedFolders.json", "{}");
	run_worker("sentry");
	expect(OPEN_LAPSES, "");
	make(home, ".gemini/trustedFolders.json", str_text(&rules));
	run_worker("sentry");
	expect(OPEN_LAPSES, expected);
	given("UPDATE session SET status = 'terminated', terminated_at = updated_at");
	run_worker("sentry");
	expect(OPEN_LAPSES, "");
}
END_TEST

START_TEST(variables_of_a_user_are_told_until_they_are_gone)
{
	OWNED(str) struct str hooks = { 0 };
	char expected[1000];

	str_addf(&hooks, "{\"command\": \"%s/hook qwen PreToolUse\"}", home);
	make(home, ".qwen/settings.json", str_text(&hooks));
	make(home, ".qwen/.env", "QWEN_CODE_SIMPLE=1\n");
	(void)snprintf(expected, sizeof(expected), "switched_off|qwen|%s/.qwen/.env|\n", home);
	run_worker("sentry");
	expect(OPEN_LAPSES, expected);
	make(home, ".qwen/.env", "");
	run_worker("sentry");
	expect(OPEN_LAPSES, "");
}
END_TEST

START_TEST(hosts_without_our_hooks_and_folders_without_sessions_are_nobodys_business)
{
	make(ws, ".claude/settings.json", "{\"disableAllHooks\": true}");
	make(ws, ".codex/config.toml", "[features]\nhooks = false\n");
	run_worker("sentry");
	expect(OPEN_LAPSES, "");
	takes(ws, ".claude");
	given_session(1);
	run_worker("sentry");
	expect(OPEN_LAPSES, "");
}
END_TEST

START_TEST(a_file_that_is_left_behind_is_known_until_it_is_gone)
{
	given_session(1);
	make(ws, ".claude/settings.json", "{\"disableAllHooks\": true}");
	run_worker("sentry");
	given("UPDATE session SET status = 'terminated', terminated_at = updated_at");
	run_worker("sentry");
	expect("SELECT count(*) FROM gate_lapse WHERE ended_at IS NULL", "1\n");
	takes(ws, ".claude");
	run_worker("sentry");
	expect(OPEN_LAPSES, "");
}
END_TEST

START_TEST(hooks_that_are_gone_are_missed_until_they_are_back)
{
	char expected[1000];

	run_worker("sentry");
	expect("SELECT host, path LIKE '%/home/.claude/settings.json' FROM gate_install",
	       "claude|1\n");
	make(home, ".claude/settings.json", "{}");
	run_worker("sentry");
	(void)snprintf(expected, sizeof(expected), "removed|claude|%s/.claude/settings.json|\n",
	               home);
	expect(OPEN_LAPSES, expected);
	ck_assert_int_eq(shell(NULL, "cd '%s' && mkdir 'x y' && mv hook 'x y'", home), 0);
	given_hooks("x y/hook");
	run_worker("sentry");
	expect(OPEN_LAPSES, "");
}
END_TEST

static void is_broken(void)
{
	char expected[1000];

	(void)snprintf(expected, sizeof(expected), "broken|claude|%s/hook|\n", home);
	run_worker("sentry");
	run_worker("sentry");
	expect(OPEN_LAPSES, expected);
}

START_TEST(a_hook_program_that_is_gone_or_not_executable_is_told_until_it_can_be_run)
{
	given("INSERT OR REPLACE INTO setting (name, value, source, updated_at) VALUES"
	      " ('slack.configured', 'true', 'file', '2026-01-01T08:00:00.000Z'),"
	      " ('slack.channel_id', 'C01', 'file', '2026-01-01T08:00:00.000Z')");
	run_worker("sentry");
	expect(OPEN_LAPSES, "");
	ck_assert_int_eq(shell(NULL, "cd '%s' && mv hook away", home), 0);
	is_broken();
	expect("SELECT detail LIKE '%/hook, which cannot be run (No such file or directory)%' FROM "
	       "gate_lapse",
	       "1\n");
	expect("SELECT kind FROM event WHERE kind LIKE 'gate.%'", "gate.broken\n");
	expect("SELECT what, state FROM health WHERE what LIKE 'gate%'", "gate claude|broken\n");
	expect("SELECT kind, text LIKE 'claude: the hooks in %' FROM slack_message", "server|1\n");
	ck_assert_int_eq(shell(NULL, "cd '%s' && mv away hook", home), 0);
	run_worker("sentry");
	expect(OPEN_LAPSES, "");
	ck_assert_int_eq(shell(NULL, "chmod 644 '%s/hook'", home), 0);
	is_broken();
	ck_assert_int_eq(shell(NULL, "cd '%s' && rm hook && mkdir hook", home), 0);
	run_worker("sentry");
	is_broken(); /* still the same */
}
END_TEST

START_TEST(what_was_uninstalled_is_not_missed)
{
	run_worker("sentry");
	takes(home, ".claude");
	run_worker("sentry");
	expect("SELECT kind FROM gate_lapse WHERE ended_at IS NULL", "removed\n");
	given("DELETE FROM gate_install");
	run_worker("sentry");
	expect(OPEN_LAPSES, "");
}
END_TEST

START_TEST(an_agent_whose_hooks_never_call_is_told_once_for_its_session)
{
	given_session(1);
	run_worker("sentry");
	given_calls(1);
	run_worker("sentry");
	run_worker("sentry");
	expect(OPEN_LAPSES, "silent|claude|s1|1\n");
	given("INSERT INTO connection (seq, key, machine, transport, protocol_version, client_name,"
	      " session_seq, identity, created_at) VALUES (9, 'hook', 'h', 'hook', '2025-06-18',"
	      " 'claude', 1, '{}', '2026-01-01T00:00:00.000Z')");
	run_worker("sentry");
	expect(OPEN_LAPSES, "");
	given("UPDATE connection SET session_seq = NULL WHERE seq = 9");
	run_worker("sentry");
	expect("SELECT count(*) FROM gate_lapse", "1\n");
}
END_TEST

START_TEST(a_version_that_no_canary_has_tried_is_told_until_one_has)
{
	given("DELETE FROM gate_canary");
	given_session(1);
	run_worker("sentry");
	expect(OPEN_LAPSES, "untried|claude|2.1.330|1\n");
	given("UPDATE session SET status = 'terminated', terminated_at = updated_at");
	given_session(2);
	run_worker("sentry");
	expect("SELECT count(*) FROM gate_lapse", "1\n");
	given("INSERT INTO gate_canary VALUES ('claude', '2.1.330 (Claude Code)', 'open', '', '0',"
	      " '2026-01-01T00:00:00.000Z')");
	run_worker("sentry");
	expect(OPEN_LAPSES, "");
	expect("SELECT what, state FROM health WHERE what LIKE 'gate%'", "gate claude|open\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sentry");
	TCase *c = store_case(s, "sentry", 60);

	tcase_add_checked_fixture(c, setup, NULL);
	tcase_add_test(c, a_workspace_that_switches_hooks_off_is_told_once_until_it_does_not);
	tcase_add_test(c, a_workspace_that_switches_the_hooks_of_codex_off_is_told);
	tcase_add_test(c, a_user_who_switches_hooks_off_is_told_until_they_are_on_or_uninstalled);
	tcase_add_test(c,
	               hooks_of_all_users_are_kept_from_running_only_by_what_is_loaded_into_them);
	tcase_add_test(c, hooks_of_all_users_of_qwen_are_kept_from_running_by_a_variable_too);
	tcase_add_test(c,
	               a_workspace_that_gemini_does_not_trust_is_told_until_it_is_trusted_or_left);
	tcase_add_test(c, variables_of_a_user_are_told_until_they_are_gone);
	tcase_add_test(c,
	               hosts_without_our_hooks_and_folders_without_sessions_are_nobodys_business);
	tcase_add_test(c, a_file_that_is_left_behind_is_known_until_it_is_gone);
	tcase_add_test(c, hooks_that_are_gone_are_missed_until_they_are_back);
	tcase_add_test(c,
	               a_hook_program_that_is_gone_or_not_executable_is_told_until_it_can_be_run);
	tcase_add_test(c, what_was_uninstalled_is_not_missed);
	tcase_add_test(c, an_agent_whose_hooks_never_call_is_told_once_for_its_session);
	tcase_add_test(c, a_version_that_no_canary_has_tried_is_told_until_one_has);
	suite_add_tcase(s, c);
	return run_suite(s);
}
