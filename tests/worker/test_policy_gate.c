/* A workspace's policy file at work: what it allows is decided at once, the rest is asked, and an
 * edit counts from the next question on. */
#include "policy_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void is_checked(const char *arguments, const char *approved, const char *rule)
{
	OWNED(char_ptr) char *answer = agent_call(&agent, "auto_check", arguments);

	has(answer, "auto_approved", approved);
	has(answer, "matched_rule", rule);
}

static const char NOTES[] = "{\"enabled\":true,\"file_patterns\":{\"write\":[\"notes/**\"]}}";

/* ---- what it decides ---- */

START_TEST(a_file_that_the_policy_allows_is_approved_by_it_and_written)
{
	OWNED(char_ptr) char *arguments = proposal("docs/a.md", "hello\n");
	OWNED(char_ptr) char *approved = NULL;
	OWNED(char_ptr) char *applied = NULL;
	OWNED(char_ptr) char *written = NULL;
	OWNED(char_ptr) char *request = NULL;

	given_all(DOCS);
	approved = agent_call(&agent, "check_clearance", arguments);
	has(approved, "status", "approved");
	expect("SELECT d.source, d.operator_id, d.outcome, r.decided_by, r.state,"
	       "       r.reason = 'file_pattern:write:docs/** (policy '"
	       "                  || substr((SELECT hash FROM policy), 1, 8) || ')'"
	       "  FROM decision AS d JOIN request AS r ON r.id = d.request_id",
	       "policy|system:policy|applied|system:policy|approved|1\n");
	expect("SELECT count(*) FROM inbox", "0\n");
	request = diff_of(member(approved, "request_id"));
	applied = agent_write(&agent, request);
	has(applied, "status", "applied");
	written = get_file(site.workspace, "docs/a.md");
	ck_assert_str_eq(written, "hello\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(what_the_policy_does_not_allow_is_asked)
{
	OWNED(char_ptr)
	char *critical = strdup("{\"title\":\"t\",\"file_path\":\"docs/b.md\",\"diff\":\"x\\n\","
	                        "\"risk_level\":\"critical\"}");
	OWNED(char_ptr) char *answer = NULL;

	given_all(DOCS);
	clearance_is("src/a.c", "pending");
	answer = agent_call(&agent, "check_clearance", critical);
	has(answer, "status", "pending");
	expect("SELECT count(*) FROM decision", "0\n");
	expect("SELECT count(*) FROM inbox", "2\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* A diff about one file that is allowed and another one that is not. */
START_TEST(each_path_that_a_diff_touches_must_be_allowed)
{
	OWNED(char_ptr)
	char *both = proposal("docs/a", "--- /dev/null\n+++ b/docs/a\n@@ -0,0 +1 @@\n+x\n"
	                                "--- /dev/null\n+++ b/src/b\n@@ -0,0 +1 @@\n+x\n");
	OWNED(char_ptr)
	char *allowed = proposal("docs/a", "--- /dev/null\n+++ b/docs/a\n@@ -0,0 +1 @@\n+x\n"
	                                   "--- /dev/null\n+++ b/docs/b\n@@ -0,0 +1 @@\n+x\n");
	OWNED(char_ptr) char *asked = NULL;
	OWNED(char_ptr) char *approved = NULL;

	given_all(DOCS);
	asked = agent_call(&agent, "check_clearance", both);
	has(asked, "status", "pending");
	approved = agent_call(&agent, "check_clearance", allowed);
	has(approved, "status", "approved");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_write_of_a_file_with_several_names_is_asked)
{
	OWNED(char_ptr) char *from = NULL, *to = NULL;

	given_all(DOCS);
	ck_assert_int_eq(mkdir(below(site.workspace, "docs"), 0755), 0);
	put_file(site.workspace, "other", "old\n");
	from = strdup(below(site.workspace, "other"));
	to = strdup(below(site.workspace, "docs/a"));
	ck_assert_int_eq(link(from, to), 0);
	clearance_is("docs/a", "pending");
	is_checked("{\"tool_name\":\"edit\",\"context\":{\"file_path\":\"docs/a\"}}", "false",
	           "null");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(auto_check_tells_the_rule_that_decides)
{
	given_all("{\"enabled\":true,\"commands\":[\"cargo test *\"],\"tools\":[\"ping\"],"
	          "\"file_patterns\":{\"write\":[\"docs/**\"],\"read\":[\"**\"]}}");
	is_checked("{\"tool_name\":\"cargo test --all\"}", "true", "command:cargo test *");
	is_checked("{\"tool_name\":\"cargo test; rm x\"}", "false", "null");
	is_checked("{\"tool_name\":\"heartbeat\"}", "true", "tool:ping");
	is_checked("{\"tool_name\":\"edit\",\"context\":{\"file_path\":\"docs/a.md\"}}", "true",
	           "file_pattern:write:docs/**");
	is_checked("{\"tool_name\":\"edit\",\"context\":{\"file_path\":\"docs/../src/a.c\"}}",
	           "false", "null");
	is_checked("{\"tool_name\":\"edit\",\"context\":{\"file_path\":\"../x\"}}", "false",
	           "null");
	is_checked("{\"tool_name\":\"read_file\",\"context\":{\"file_path\":\"src/a.c\"}}", "true",
	           "file_pattern:read:**");
	is_checked("{\"tool_name\":\"ping\",\"context\":{\"risk_level\":\"high\"}}", "false",
	           "null");
	/* the agent may take these for other files */
	is_checked("{\"tool_name\":\"edit\",\"context\":{\"file_path\":\"docs/a.md \"}}", "false",
	           "null");
	is_checked("{\"tool_name\":\"read_file\",\"context\":{\"file_path\":\"%2eenv\"}}", "false",
	           "null");
	is_checked("{\"tool_name\":\"read_file\",\"context\":{\"file_path\":\"src/{a,b}\"}}",
	           "false", "null");
	expect("SELECT count(*) FROM tool_call WHERE tool = 'auto_check' AND state = 'done'",
	       "11\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* As its hook is told. */
START_TEST(auto_check_allows_no_skill_because_it_may_run_commands)
{
	given_all("{\"enabled\":true,\"commands\":[\"*\"],\"tools\":[\"Skill\",\"SlashCommand\"],"
	          "\"file_patterns\":{\"write\":[\"**\"],\"read\":[\"**\"]}}");
	is_checked("{\"tool_name\":\"Skill\"}", "false", "null");
	is_checked("{\"tool_name\":\"SlashCommand\",\"context\":{\"file_path\":\"a\"}}", "false",
	           "null");
	is_checked("{\"tool_name\":\"Skill\",\"kind\":\"terminal_command\"}", "true", "command:*");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* An edit of a file is not allowed by this policy, because of this. */
static void edit_is_asked(const char *policy, const char *context, const char *why)
{
	OWNED(str) struct str arguments = { 0 };
	OWNED(char_ptr) char *answer = NULL;

	str_addf(&arguments, "{\"tool_name\":\"edit\",\"context\":{%s}}", context);
	given_policy(policy);
	answer = agent_call(&agent, "auto_check", arguments.bytes);
	has(answer, "auto_approved", "false");
	has(answer, "reason", why);
}

START_TEST(auto_check_tells_why_a_file_is_asked_about)
{
	given_all(NULL);
	edit_is_asked(DOCS, "\"file_path\":\"src/a.c\"", "no rule allows to write src/a.c");
	edit_is_asked(DOCS, "\"file_path\":\"docs/a.md\",\"risk_level\":\"high\"",
	              "the risk is above the policy's risk_level_threshold");
	edit_is_asked("{\"enabled\":false}", "\"file_path\":\"docs/a.md\"",
	              "the policy is not enabled");
	edit_is_asked("{", "\"file_path\":\"docs/a.md\"",
	              "there is no policy, or it cannot be read");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_prompt_that_the_policy_allows_goes_on_unless_the_agent_is_in_trouble)
{
	OWNED(char_ptr) char *goes_on = NULL;
	OWNED(char_ptr) char *trouble = NULL;

	given_all("{\"enabled\":true,\"tools\":[\"forward_prompt\"]}");
	goes_on = agent_call(&agent, "transmit", "{\"prompt_text\":\"go on?\"}");
	has(goes_on, "decision", "continue");
	trouble = agent_call(&agent, "transmit",
	                     "{\"prompt_text\":\"it fails\",\"prompt_type\":\"error_recovery\"}");
	has(trouble, "decision", "pending");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_question_that_waits_is_decided_when_it_comes_again_and_the_policy_allows_it_by_then)
{
	given_all(NULL);
	clearance_is("docs/a.md", "pending");
	given_policy(DOCS);
	clearance_is("docs/a.md", "approved");
	expect("SELECT count(*), min(decided_by) FROM request", "1|system:policy\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(only_commands_of_the_configuration_are_allowed_where_it_says_so)
{
	static const char EVERYTHING[] = "{\"enabled\":true,\"commands\":[\"^.*$\"]}";

	fresh_store();
	site = site_make("[commands]\nstatus = \"git status\"\n"
	                 "[policy]\nrequire_global_allowlist = true\n");
	site_start(&site);
	given_policy(EVERYTHING);
	given_agent("");
	is_checked("{\"tool_name\":\"git status\"}", "true", "command:^.*$");
	is_checked("{\"tool_name\":\"git push\"}", "false", "null");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ---- commands that the operator is asked about ---- */

START_TEST(a_command_that_the_policy_does_not_allow_waits_for_the_operator_who_allows_it)
{
	OWNED(str) struct str shown = { 0 };
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *id = NULL;
	struct wire w;

	given_all("{\"enabled\":true,\"commands\":[\"git status\"]}");
	given_agent("");
	agent_begin(&agent, &w, "auto_check", PUSH, NULL);
	expect_soon("SELECT kind, title, risk_level, file_path IS NULL FROM inbox",
	            "permission|git push --force (+1 line)|high|1\n");
	id = rows("SELECT id FROM inbox");
	ck_assert_int_eq(ctl(&shown, "show %.36s", id), 0);
	says(shown.bytes, "\"kind\":\"permission\"");
	says(shown.bytes, "\"body\":\"git push --force\\nrm x\"");
	says(shown.bytes, "the risk is above the policy's risk_level_threshold");
	approve_all();
	answer = agent_end(&w);
	has(answer, "auto_approved", "true");
	has(answer, "matched_rule", "operator:approved");
	has(answer, "status", "approved");
	expect("SELECT r.state, d.verdict, d.outcome FROM request AS r"
	       "  JOIN decision AS d ON d.request_id = r.id",
	       "approved|approve|applied\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(asking_again_for_a_command_attaches_to_the_question_and_a_yes_is_for_once)
{
	given_all(NULL);
	push_is("false", "pending");
	push_is("false", "pending");
	expect("SELECT count(*) FROM request", "1\n");
	kill_and_await("mcp-front");
	given("UPDATE session SET last_activity_at = '2020-01-01T00:00:00.000Z'");
	agent = agent_hello(front_port(), "?wait=1", "2025-11-25"); /* a successor, even */
	push_is("false", "pending");
	expect("SELECT count(*) FROM request", "1\n");
	approve_all();
	push_is("true", "approved");
	push_is("false", "pending"); /* it has been told: this is another push */
	expect("SELECT count(*), sum(state = 'approved') FROM request", "2|1\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_no_to_a_command_has_its_reason_and_silence_is_a_no)
{
	OWNED(char_ptr) char *rejected = NULL;
	OWNED(char_ptr) char *late = NULL;
	struct wire w;

	given_all(NULL);
	given_agent("");
	agent_begin(&agent, &w, "auto_check", PUSH, NULL);
	expect_soon("SELECT count(*) FROM inbox", "1\n");
	given("INSERT INTO decision (request_id, verdict, reason)"
	      " SELECT id, 'reject', 'not to main' FROM inbox");
	rejected = agent_end(&w);
	has(rejected, "auto_approved", "false");
	has(rejected, "matched_rule", "null");
	has(rejected, "reason", "not to main");
	agent_begin(&agent, &w, "auto_check",
	            "{\"tool_name\":\"make\",\"kind\":\"terminal_command\"}", NULL);
	expect_soon("SELECT title, risk_level FROM inbox", "make|low\n");
	given("UPDATE tool_call SET wait_until = NULL"); /* this one has all the time */
	advance(61000); /* the watchdog's grace */
	advance(3600000);
	late = agent_end(&w);
	has(late, "auto_approved", "false");
	has(late, "status", "timeout");
	expect("SELECT state, decided_by FROM request ORDER BY seq DESC LIMIT 1",
	       "expired|system:clock\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(only_a_command_is_asked_and_no_rule_about_files_or_tools_allows_one)
{
	OWNED(char_ptr) char *pending = NULL;
	OWNED(char_ptr) char *applied = NULL;
	char check[100];

	given_all("{\"enabled\":true,\"commands\":[\"ls\"],\"tools\":[\"ping\"],"
	          "\"file_patterns\":{\"write\":[\"**\"],\"read\":[\"**\"]}}");
	is_checked("{\"tool_name\":\"rm x\"}", "false", "null");
	is_checked("{\"tool_name\":\"rm x\",\"kind\":\"file_operation\"}", "false", "null");
	is_checked("{\"tool_name\":\"ls\",\"kind\":\"terminal_command\"}", "true", "command:ls");
	expect("SELECT count(*) FROM request", "0\n");
	is_checked("{\"tool_name\":\"ping\",\"kind\":\"terminal_command\"}", "false", "null");
	is_checked("{\"tool_name\":\"read_file\",\"kind\":\"terminal_command\","
	           "\"context\":{\"file_path\":\"a\"}}",
	           "false", "null");
	expect("SELECT title FROM inbox", "ping\nread_file\n");
	pending = agent_call(&agent, "auto_check",
	                     "{\"tool_name\":\"ping\",\"kind\":\"terminal_command\"}");
	approve_all();
	(void)snprintf(check, sizeof(check), "{\"request_id\":\"%s\"}",
	               member(pending, "request_id"));
	applied = agent_call(&agent, "check_diff", check); /* there is nothing to be written */
	has(applied, "error_code", "request_not_found");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_stop_of_the_session_is_a_no_to_the_command_it_asks_for)
{
	given_all(NULL);
	push_is("false", "pending");
	given("INSERT INTO command (verb, session_id) SELECT 'stop', id FROM session");
	expect("SELECT state, reason FROM request", "rejected|the session was stopped\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ---- what is told ---- */

#define LOGS ",\"log_auto_approved\":true,\"summary_interval_seconds\":"

START_TEST(what_is_allowed_is_told_together_when_the_interval_is_over)
{
	given_all("{\"enabled\":true,\"commands\":[\"git *\"],\"file_patterns\":{\"write\":"
	          "[\"docs/**\"]}" LOGS "300}");
	is_checked("{\"tool_name\":\"git status\"}", "true", "command:git *");
	is_checked("{\"tool_name\":\"git status\"}", "true", "command:git *");
	is_checked("{\"tool_name\":\"rm x\"}", "false", "null");
	clearance_is("docs/a", "approved");
	expect("SELECT subject, rule, notice_seq, request_seq IS NULL, length(hash)"
	       "  FROM auto_approval ORDER BY seq",
	       "git status|command:git *|1|1|64\ngit status|command:git *|1|1|64\n"
	       "docs/a|file_pattern:write:docs/**|1|0|64\n");
	expect("SELECT count(*) FROM event WHERE kind = 'policy.allowed'", "3\n");
	expect("SELECT told_at IS NULL FROM auto_notice", "1\n");
	advance(299000); /* the look behind it is not due */
	expect("SELECT told_at IS NULL FROM auto_notice", "1\n");
	advance(2000);
	expect_soon("SELECT told_at >= due_at FROM auto_notice", "1\n");
	is_checked("{\"tool_name\":\"git log\"}", "true", "command:git *");
	expect("SELECT count(*), sum(told_at IS NULL) FROM auto_notice", "2|1\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(with_an_interval_of_0_each_is_told_by_itself_and_without_the_switch_none)
{
	OWNED(str) struct str said = { 0 };

	given_all("{\"enabled\":true,\"commands\":[\"git *\"]" LOGS "0}");
	is_checked("{\"tool_name\":\"git status\"}", "true", "command:git *");
	is_checked("{\"tool_name\":\"git log\"}", "true", "command:git *");
	expect("SELECT count(*), count(told_at) FROM auto_notice", "2|2\n");
	ck_assert_int_eq(ctl(&said, "log"), 0);
	says(said.bytes, "policy.allowed");
	says(said.bytes, "command:git *");
	given_policy("{\"enabled\":true,\"commands\":[\"git *\"]}");
	is_checked("{\"tool_name\":\"git status\"}", "true", "command:git *");
	expect("SELECT count(*) FROM auto_approval", "2\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_summary_that_is_due_while_nothing_runs_is_told_after_the_next_start)
{
	given_all("{\"enabled\":true,\"commands\":[\"git *\"]" LOGS "60}");
	is_checked("{\"tool_name\":\"git status\"}", "true", "command:git *");
	site_kill(&site);
	advance(3600000);
	expect("SELECT told_at IS NULL FROM auto_notice", "1\n");
	site_start(&site);
	expect_soon("SELECT told_at IS NULL FROM auto_notice", "0\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ---- what changes ---- */

static void rename_into_place(const char *text)
{
	char from[300], to[300];

	given_policy("{}");
	(void)snprintf(from, sizeof(from), "%s/.intercom/new.json", site.workspace);
	(void)snprintf(to, sizeof(to), "%s/.intercom/settings.json", site.workspace);
	(void)snprintf(from, sizeof(from), "%s/.intercom", site.workspace);
	put_file(from, "new.json", text);
	(void)snprintf(from, sizeof(from), "%s/.intercom/new.json", site.workspace);
	ck_assert_int_eq(rename(from, to), 0);
}

START_TEST(an_edit_counts_from_the_next_question_on)
{
	char path[300], folder[300], other[300];

	given_all(NULL);
	clearance_is("docs/0", "pending"); /* no file, and no directory */
	given_policy(DOCS);
	clearance_is("docs/1", "approved");
	given_policy(NOTES); /* of the same length but one, within the same second */
	clearance_is("docs/2", "pending");
	clearance_is("notes/2", "approved");
	rename_into_place(DOCS);
	clearance_is("docs/3", "approved");
	(void)snprintf(path, sizeof(path), "%s/.intercom/settings.json", site.workspace);
	ck_assert_int_eq(unlink(path), 0);
	clearance_is("docs/4", "pending");

	(void)snprintf(folder, sizeof(folder), "%s/.intercom", site.workspace);
	(void)snprintf(other, sizeof(other), "%s/elsewhere", site.workspace);
	ck_assert_int_eq(rmdir(folder), 0);
	ck_assert_int_eq(mkdir(other, 0755), 0);
	put_file(other, "settings.json", DOCS);
	ck_assert_int_eq(rename(other, folder), 0); /* a folder that is another */
	clearance_is("docs/5", "approved");
	put_file(folder, "settings.json", "{}");
	clearance_is("docs/6", "pending");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(an_edit_counts_after_the_clock_was_set_back)
{
	given_all(NULL);
	given_policy(NOTES);
	clearance_is("docs/1", "pending");
	advance(-3600 * 1000);
	given_policy(DOCS);
	clearance_is("docs/2", "approved");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* The newest version that is found, with no question, is this. */
static void is_noticed(const char *version)
{
	expect_soon("SELECT state, coalesce(why, '') FROM policy ORDER BY seq DESC LIMIT 1",
	            version);
}

/* Puts another file of the folder in the place of its settings.json. */
static int rename_over(const char *folder, const char *name)
{
	char from[340], to[340];

	(void)snprintf(from, sizeof(from), "%s/%s", folder, name);
	(void)snprintf(to, sizeof(to), "%s/settings.json", folder);
	return rename(from, to);
}

START_TEST(each_way_to_change_the_file_is_noticed_though_nobody_asks)
{
	char folder[300], other[300], path[320];

	given_all(NULL);
	(void)snprintf(folder, sizeof(folder), "%s/.intercom", site.workspace);
	(void)snprintf(other, sizeof(other), "%s/elsewhere", site.workspace);
	(void)snprintf(path, sizeof(path), "%s/settings.json", folder);
	is_checked("{\"tool_name\":\"ls\"}", "false", "null"); /* the workspace is in use */
	given_policy(DOCS); /* a directory that comes later */
	is_noticed("loaded|\n");
	rename_into_place("{\"enabled\": 1}"); /* an editor's way */
	is_noticed("broken|enabled: must be true or false\n");
	ck_assert_int_eq(unlink(path), 0);
	is_noticed("gone|\n");
	ck_assert_int_eq(rmdir(folder), 0);
	ck_assert_int_eq(mkdir(other, 0755), 0);
	put_file(other, "settings.json", NOTES);
	ck_assert_int_eq(symlink("elsewhere", folder), 0); /* a link in the directory's place */
	is_noticed("broken|.intercom is a symlink\n");
	ck_assert_int_eq(unlink(folder), 0);
	is_noticed("gone|\n");
	ck_assert_int_eq(rename(other, folder), 0);
	is_noticed("loaded|\n");
	put_file(folder, "settings.json", "[]");
	is_noticed("broken|the file must hold one JSON object\n");
	put_file(folder, "a.json", DOCS);
	ck_assert_int_eq(unlink(path), 0);
	is_noticed("gone|\n");
	ck_assert_int_eq(symlink("a.json", path), 0); /* a link in the file's place */
	is_noticed("broken|it is a symlink\n");
	ck_assert_int_eq(chmod(folder, 0777), 0);
	ck_assert_int_eq(rename_over(folder, "a.json"), 0);
	is_noticed("broken|every user may write .intercom; chmod o-w it\n");
	ck_assert_int_eq(chmod(folder, 0755), 0);
	is_noticed("loaded|\n");
	ck_assert_int_eq(unlink(path), 0);
	is_noticed("gone|\n");
	clearance_is("docs/a", "pending");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_workspace_that_goes_and_comes_back_is_watched_again)
{
	given_all(DOCS);
	clearance_is("docs/a", "approved");
	ck_assert_int_eq(shell(NULL, "rm -r '%s'", site.workspace), 0);
	is_noticed("gone|\n");
	ck_assert_int_eq(mkdir(site.workspace, 0755), 0);
	is_checked("{\"tool_name\":\"ls\"}", "false", "null");
	given_policy("[]");
	is_noticed("broken|the file must hold one JSON object\n");
	given_policy(DOCS);
	is_noticed("loaded|\n");
	clearance_is("docs/b", "approved");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(each_version_of_the_file_is_a_row_and_a_broken_one_allows_nothing)
{
	given_all(DOCS);
	clearance_is("docs/a", "approved");
	expect("SELECT state, why IS NULL, length(hash) FROM policy", "loaded|1|64\n");

	given_policy("{\"enabled\": tru"); /* nobody asks: it is noticed */
	expect_soon("SELECT state, why FROM policy ORDER BY seq DESC LIMIT 1",
	            "broken|the file is not valid JSON\n");
	clearance_is("docs/b", "pending");
	given_policy(DOCS);
	expect_soon("SELECT state FROM policy ORDER BY seq DESC LIMIT 1", "loaded\n");
	expect("SELECT kind FROM event WHERE kind GLOB 'policy.*' ORDER BY seq",
	       "policy.loaded\npolicy.broken\npolicy.loaded\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_file_that_every_user_may_write_allows_nothing)
{
	char path[300];

	given_all(DOCS);
	(void)snprintf(path, sizeof(path), "%s/.intercom/settings.json", site.workspace);
	ck_assert_int_eq(chmod(path, 0666), 0);
	clearance_is("docs/a", "pending");
	ck_assert_int_eq(chmod(path, 0644), 0);
	clearance_is("docs/a", "approved");
	ck_assert_int_eq(unlink(path), 0);
	ck_assert_int_eq(mkfifo(path, 0600), 0); /* nobody waits for a writer */
	clearance_is("docs/b", "pending");
	expect("SELECT DISTINCT state, why FROM policy WHERE state <> 'gone' ORDER BY 1, 2",
	       "broken|every user may write it; chmod o-w it\n"
	       "broken|it is not a regular file\nloaded|\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(an_approved_change_cannot_be_one_of_the_policy)
{
	OWNED(char_ptr) char *arguments = proposal(".intercom/settings.json", "{}\n");
	OWNED(char_ptr) char *answer = NULL;

	given_all("{\"enabled\":true,\"file_patterns\":{\"write\":[\"**\"]},"
	          "\"tools\":[\"check_clearance\"]}");
	answer = agent_call(&agent, "check_clearance", arguments);
	has(answer, "error_code", "path_violation");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ---- agent-intercom policy check ---- */

int main(void)
{
	Suite *s = suite_create("policy gate");
	TCase *c = tcase_create("policy gate");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 90);
	tcase_add_test(c, a_file_that_the_policy_allows_is_approved_by_it_and_written);
	tcase_add_test(c, what_the_policy_does_not_allow_is_asked);
	tcase_add_test(c, each_path_that_a_diff_touches_must_be_allowed);
	tcase_add_test(c, a_write_of_a_file_with_several_names_is_asked);
	tcase_add_test(c, auto_check_tells_the_rule_that_decides);
	tcase_add_test(c, auto_check_allows_no_skill_because_it_may_run_commands);
	tcase_add_test(c, auto_check_tells_why_a_file_is_asked_about);
	tcase_add_test(c, a_prompt_that_the_policy_allows_goes_on_unless_the_agent_is_in_trouble);
	tcase_add_test(
	    c,
	    a_question_that_waits_is_decided_when_it_comes_again_and_the_policy_allows_it_by_then);
	tcase_add_test(c, only_commands_of_the_configuration_are_allowed_where_it_says_so);
	tcase_add_test(
	    c, a_command_that_the_policy_does_not_allow_waits_for_the_operator_who_allows_it);
	tcase_add_test(c,
	               asking_again_for_a_command_attaches_to_the_question_and_a_yes_is_for_once);
	tcase_add_test(c, a_no_to_a_command_has_its_reason_and_silence_is_a_no);
	tcase_add_test(c, only_a_command_is_asked_and_no_rule_about_files_or_tools_allows_one);
	tcase_add_test(c, a_stop_of_the_session_is_a_no_to_the_command_it_asks_for);
	tcase_add_test(c, what_is_allowed_is_told_together_when_the_interval_is_over);
	tcase_add_test(c, with_an_interval_of_0_each_is_told_by_itself_and_without_the_switch_none);
	tcase_add_test(c, a_summary_that_is_due_while_nothing_runs_is_told_after_the_next_start);
	tcase_add_test(c, an_edit_counts_from_the_next_question_on);
	tcase_add_test(c, an_edit_counts_after_the_clock_was_set_back);
	tcase_add_test(c, each_way_to_change_the_file_is_noticed_though_nobody_asks);
	tcase_add_test(c, a_workspace_that_goes_and_comes_back_is_watched_again);
	tcase_add_test(c, each_version_of_the_file_is_a_row_and_a_broken_one_allows_nothing);
	tcase_add_test(c, a_file_that_every_user_may_write_allows_nothing);
	tcase_add_test(c, an_approved_change_cannot_be_one_of_the_policy);
	suite_add_tcase(s, c);
	return run_suite(s);
}
