/* `agent-intercom policy check`: what it says of a file, a call and a hook, and how it prints that.
 */
#include "policy_case.h"

#include <stdio.h>
#include <stdlib.h>

/* What it prints (errors too) goes to said; its exit status. */
static int check(struct str *said, const char *arguments)
{
	return shell(said, "cd '%s' && %s/agent-intercom policy check --config '%s' %s 2>&1",
	             site.workspace, getenv("INTERCOM_BUILD"), site.config, arguments);
}

START_TEST(policy_check_says_what_is_wrong_with_a_file_and_what_it_would_do)
{
	OWNED(str) struct str said = { 0 };

	site = given_site();
	ck_assert_int_eq(check(&said, ""), 78);
	says(said.bytes, "there is no ");
	given_policy("{\"enabled\":true,\"comands\":[],\"tools\":[\"ping\"],"
	             "\"file_patterns\":{\"write\":[\"docs/**\"]}}");
	ck_assert_int_eq(check(&said, ""), 0);
	says(said.bytes, "comands is not a known key");
	says(said.bytes, "no history");
	ck_assert_int_eq(check(&said, "--explain heartbeat"), 0);
	says(said.bytes, "allowed: allowed by tool:ping");
	ck_assert_int_eq(check(&said, "../$(basename \"$PWD\")"), 0); /* its folder is as good */
	ck_assert_int_eq(check(&said, "--explain heartbeat --risk high"), 1);
	says(said.bytes, "asked: the risk is above");
	ck_assert_int_eq(check(&said, "--explain edit --path docs/a --path src/b"), 1);
	says(said.bytes, "no rule allows to write src/b");
	ck_assert_int_eq(check(&said, "--explain edit --path docs/a"), 0);
	ck_assert_int_eq(check(&said, "--explain edit --path docs/../src/b"), 1);
	says(said.bytes, "no rule allows to write src/b");
	ck_assert_int_eq(shell(NULL, "mkdir '%s/docs' && ln -s /tmp '%s/docs/link'", site.workspace,
	                       site.workspace),
	                 0);
	ck_assert_int_eq(check(&said, "--explain edit --path docs/link/a"), 1);
	ck_assert_int_eq(check(&said, "--explain edit --path ../docs/a"), 1);
	says(said.bytes, "asked: ");
	given_policy("{\"enabled\":true,\"tools\":[\"ask_approval\"]}");
	ck_assert_int_eq(check(&said, ""), 0);
	says(said.bytes, "warning: tools: ask_approval allows every change to every file");
	given_policy("{\"enabled\":1}");
	ck_assert_int_eq(check(&said, ""), 78);
	says(said.bytes, "enabled: must be true or false");
	put_file(site.workspace, "other.json", "{\"commands\":[\"^(\"]}");
	ck_assert_int_eq(check(&said, "other.json"), 78);
	says(said.bytes, "no regular expression");
	ck_assert_int_eq(check(&said, "a b"), 64);
	ck_assert_int_eq(check(&said, "--help"), 0);
	says(said.bytes, "usage: ");
}
END_TEST

/* --explain with the JSON of a hook: a file tool, or a command in the workspace. */
static int explain_hook(struct str *said, const char *tool, const char *key, const char *value)
{
	OWNED(str) struct str options = { 0 };

	str_addf(&options,
	         "--explain '{\"session_id\":\"s\",\"cwd\":\"%s\",\"tool_name\":\"%s\","
	         "\"tool_input\":{\"%s\":\"%s\"}}'",
	         site.workspace, tool, key, value);
	return check(said, options.bytes);
}

START_TEST(policy_check_explains_what_a_hook_would_be_told)
{
	OWNED(str) struct str said = { 0 };

	given_all("{\"enabled\":true,\"commands\":[\"make\"],"
	          "\"file_patterns\":{\"write\":[\"docs/**\"]}}");
	ck_assert_int_eq(explain_hook(&said, "Bash", "command", "make"), 0);
	says(said.bytes, "allowed: allowed by command:make");
	ck_assert_int_eq(explain_hook(&said, "Bash", "command", "make;id"), 1);
	says(said.bytes, "asked: ");
	ck_assert_int_eq(explain_hook(&said, "Read", "file_path", "/etc/hostname"), 0);
	says(said.bytes, "it only reads");
	ck_assert_int_eq(explain_hook(&said, "Write", "file_path", "docs/new"), 0);
	ck_assert_int_eq(explain_hook(&said, "Write", "file_path", "src/new"), 1);
	says(said.bytes, "no rule allows to write src/new");
	ck_assert_int_eq(explain_hook(&said, "Write", "file_path", "/etc/passwd"), 1);
	says(said.bytes, "path violation");
	ck_assert_int_eq(explain_hook(&said, "mcp__intercom__ping", "a", "b"), 0);
	says(said.bytes, "a tool of ours");
	ck_assert_int_eq(check(&said, "--host nobody --explain {}"), 78);
	says(said.bytes, "there is no host 'nobody'");
}
END_TEST

START_TEST(policy_check_tries_a_file_on_what_people_decided)
{
	OWNED(str) struct str said = { 0 };

	given_all(NULL);
	clearance_is("docs/good", "pending");
	clearance_is("src/good", "pending");
	approve_all();
	clearance_is("docs/bad", "pending");
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'reject' FROM inbox");
	put_file(site.workspace, "new.json", DOCS);
	ck_assert_int_eq(check(&said, "new.json"), 1);
	says(said.bytes, "(docs/bad), which file_pattern:write:docs/** would allow");
	says(said.bytes, "of 2 questions that you approved here it would have allowed 1, "
	                 "of 1 that you rejected 1");
	put_file(site.workspace, "new.json",
	         "{\"enabled\":true,\"file_patterns\":{\"write\":[\"**/good\"]}}");
	ck_assert_int_eq(check(&said, "new.json"), 0);
	says(said.bytes, "allowed 2, of 1 that you rejected 0");
	push_is("false", "pending");
	approve_all();
	put_file(site.workspace, "new.json",
	         "{\"enabled\":true,\"risk_level_threshold\":\"high\","
	         "\"commands\":[\"/git push[^&]*/\"]}");
	ck_assert_int_eq(check(&said, "new.json"), 0);
	says(said.bytes, "of 3 questions that you approved here it would have allowed 1, "
	                 "of 1 that you rejected 0");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* Nothing in it acts on a terminal, or hides. */
static void is_visible(const struct str *said)
{
	for (size_t i = 0; i < said->length; i++) {
		unsigned char c = (unsigned char)said->bytes[i];

		ck_assert_msg((c >= ' ' && c < 0x7F) || c == '\n', "byte %02x at %zu of:\n%s", c, i,
		              said->bytes);
	}
}

/* A repository wrote the file, an agent the command. */
START_TEST(policy_check_shows_foreign_texts_without_what_acts_on_a_terminal)
{
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *answer = NULL;

	given_all(NULL);
	given_policy("{\"enabled\":true,\"un\\u001b[2Jk\\n\\u202e\":1}");
	ck_assert_int_eq(check(&said, ""), 0);
	is_visible(&said);
	says(said.bytes, "warning: un\\u{1B}[2Jk\\u{A}\\u{202E} is not a known key");
	put_file(site.workspace, "new.json", "{\"commands\":[\"^(\\u009b2J\"]}");
	ck_assert_int_eq(check(&said, "new.json"), 78);
	is_visible(&said);
	put_file(site.workspace, "new.json", "{\"\\u001b[2J\":1,\"\\u001b[2J\":2}");
	ck_assert_int_eq(check(&said, "new.json"), 78);
	is_visible(&said);
	says(said.bytes, "names '\\u{1B}[2J' twice");
	ck_assert_int_eq(check(&said, "--explain \"$(printf 'rm \\033[2J\\342\\200\\256')\""), 1);
	is_visible(&said);
	answer = agent_call(&agent, "auto_check",
	                    "{\"tool_name\":\"ev \\u001b[31mRED\\u009b2J\\u202e\","
	                    "\"kind\":\"terminal_command\"}");
	has(answer, "status", "pending");
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'reject' FROM inbox");
	put_file(site.workspace, "new.json", "{\"enabled\":true,\"commands\":[\"^ev[^x]*\"]}");
	ck_assert_int_eq(check(&said, "new.json"), 1);
	is_visible(&said);
	says(said.bytes, "\\u{1B}[31mRED\\u{9B}2J\\u{202E}");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("policy check");
	TCase *c = tcase_create("policy check");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 90);
	tcase_add_test(c, policy_check_says_what_is_wrong_with_a_file_and_what_it_would_do);
	tcase_add_test(c, policy_check_explains_what_a_hook_would_be_told);
	tcase_add_test(c, policy_check_tries_a_file_on_what_people_decided);
	tcase_add_test(c, policy_check_shows_foreign_texts_without_what_acts_on_a_terminal);
	suite_add_tcase(s, c);
	return run_suite(s);
}
