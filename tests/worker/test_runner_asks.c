/* What an agent asks its runner: whom it is answered by, and with which of its options. The agent
 * is tests/fakes/fake_agent.c. */
#include "runner_case.h"

#include "err.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *path_in(const char *folder, const char *name)
{
	OWNED(str) struct str path = { 0 };

	str_addf(&path, "%s/%s", folder, name);
	return str_take(&path);
}

static void given_policy(const char *text)
{
	OWNED(char_ptr) char *folder = path_in(site.workspace, ".intercom");

	(void)mkdir(folder, 0755);
	put_file(folder, "settings.json", text);
}

#define EDIT(id, path, more)                                                                       \
	"permit:{\"toolCallId\":\"" id "\",\"kind\":\"edit\",\"title\":\"Edit\",\"content\":["     \
	"{\"type\":\"diff\",\"path\":\"%w/" path "\",\"oldText\":null,\"newText\":\"hi\\n\"}" more \
	"]}"
#define RUN(id, command)                                                                           \
	"permit:{\"toolCallId\":\"" id "\",\"kind\":\"execute\",\"title\":\"git status\","         \
	"\"rawInput\":{\"command\":" command "}}"

/* ---- the policy ---- */

START_TEST(what_the_policy_allows_is_answered_once_without_a_person)
{
	make_site();
	given_policy("{\"enabled\":true,\"risk_level_threshold\":\"high\",\"commands\":[\"git "
	             "status\"],\"file_patterns\":{\"write\":[\"docs/**\"]},"
	             "\"log_auto_approved\":true}");
	site_start(&site);
	(void)given_talk("v1", STEPS("options:[{\"optionId\":\"always\",\"name\":\"Always\","
	                             "\"kind\":\"allow_always\"},{\"optionId\":\"once\",\"name\":"
	                             "\"Once\",\"kind\":\"allow_once\"}]",
	                             EDIT("1", "docs/a.md", ""), RUN("8", "\"git status\""),
	                             RUN("9", "[\"bash\",\"-lc\",\"git status\"]")));
	was_told("\"optionId\":\"once\"", 3);
	was_told("always", 0);
	expect_soon("SELECT r.state, r.decided_by, d.source, r.kind,"
	            " r.reason LIKE a.rule || ' (policy ________)', a.rule, a.subject,"
	            " r.delivered_at IS NOT NULL"
	            " FROM request AS r JOIN decision AS d ON d.request_id = r.id"
	            " JOIN auto_approval AS a ON a.request_seq = r.seq ORDER BY r.seq",
	            "approved|system:policy|policy|permission|1|file_pattern:write:docs/**|"
	            "docs/a.md|1\n"
	            "approved|system:policy|policy|permission|1|command:git status|git status|1\n"
	            "approved|system:policy|policy|permission|1|command:git status|git status|1\n");
	expect("SELECT state FROM policy", "loaded\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* What is asked, of a policy that allows all commands of git and all files of docs. */
START_TEST(what_the_policy_does_not_allow_whole_is_asked)
{
	static const char *const CASES[] = {
		EDIT("2", "src/a.c", ""),
		EDIT("3", "docs/link.md", ""), /* the file that it stands for is elsewhere */
		EDIT("4", "docs/../../a.md", ""),
		EDIT("5", "docs/.git/config", ""),
		EDIT("6", "docs/a.md",
		     ",{\"type\":\"diff\",\"path\":\"%w/src/"
		     "a.c\",\"oldText\":null,\"newText\":\"\"}"),
		"permit:{\"toolCallId\":\"14\",\"kind\":\"edit\",\"rawInput\":{\"file_path\":"
		"\"%w/docs/a.md\",\"path\":\"/etc/passwd\"}}",
		"permit:{\"toolCallId\":\"15\",\"kind\":\"edit\",\"locations\":[{\"path\":\"%w/"
		"docs/"
		"a\"}],\"rawInput\":{\"patch\":\"--- a/src/a.c\\n+++ b/src/a.c\\n@@ -1 +1 "
		"@@\\n-a\\n"
		"+b\\n\"}}",
		"permit:{\"toolCallId\":\"16\",\"kind\":\"edit\",\"locations\":[{\"path\":\"%w/"
		"docs/"
		"a\"}],\"rawInput\":{\"command\":\"git status\"}}",
		"permit:{\"toolCallId\":\"17\",\"kind\":\"sorcery\",\"locations\":[{\"path\":"
		"\"%w/docs/a.md\"}]}",
		"permit:{\"toolCallId\":\"18\",\"title\":\"git status\"}",
		"permit:{\"toolCallId\":\"19\",\"kind\":\"edit\",\"title\":\"docs/a.md\"}",
		RUN("10", "\"git status; rm -r x\""),
		RUN("11", "[\"rm\",\"-r\",\"x\"]"),
		RUN("12", "[\"git\",\"status; rm\"]"),
		RUN("13", "[\"bash\",\"-lc\",\"rm -r x\"]"),
		"permit:{\"toolCallId\":\"20\",\"kind\":\"execute\",\"rawInput\":{\"command\":"
		"\"git status\",\"cwd\":\"/tmp\"}}",
	};
	const char *steps[COUNT(CASES) + 1] = { NULL };
	OWNED(char_ptr) char *docs = NULL;

	make_site();
	given_policy("{\"enabled\":true,\"risk_level_threshold\":\"high\",\"commands\":[\"git *\"],"
	             "\"file_patterns\":{\"write\":[\"docs/**\"]}}");
	docs = path_in(site.workspace, "docs");
	ck_assert_int_eq(mkdir(docs, 0755), 0);
	put_file(site.workspace, "a.c", "int a;\n");
	OWNED(char_ptr) char *link = path_in(docs, "link.md");
	ck_assert_int_eq(symlink("../a.c", link), 0);
	site_start(&site);
	memcpy(steps, CASES, sizeof(CASES));
	(void)given_talk("v1", steps);
	for (size_t i = 0; i < COUNT(CASES); i++) {
		char sql[60];

		(void)snprintf(sql, sizeof(sql), "SELECT state FROM request WHERE seq = %zu",
		               i + 1);
		expect_soon(sql, "pending\n");
		decide("reject", "NULL, NULL");
	}
	was_told("\"optionId\":\"no\"", (int)COUNT(CASES));
	was_told("\"optionId\":\"yes\"", 0);
	expect("SELECT count(*) FROM decision WHERE source = 'policy'", "0\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(without_a_threshold_a_person_is_asked_about_edits)
{
	make_site();
	given_policy("{\"enabled\":true,\"file_patterns\":{\"write\":[\"docs/**\"],\"read\":"
	             "[\"docs/**\"]}}");
	site_start(&site);
	(void)given_talk("v1", STEPS("permit:{\"toolCallId\":\"r\",\"kind\":\"read\",\"locations\":"
	                             "[{\"path\":\"%w/docs/a.md\"}]}",
	                             EDIT("7", "docs/a.md", "")));
	was_told("\"optionId\":\"yes\"", 1);
	expect_soon("SELECT state, risk_level FROM request ORDER BY seq",
	            "approved|low\npending|high\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_clearance_of_acp_stream_is_judged_by_the_risk_that_it_names)
{
	make_site();
	given_policy("{\"enabled\":true,\"file_patterns\":{\"write\":[\"docs/**\"]}}");
	site_start(&site);
	(void)given_talk("stream", STEPS("ask:docs/a.md", "ask:a.c"));
	was_told("\"status\":\"approved\",\"reason\":null", 1);
	expect_soon("SELECT state, file_path FROM request ORDER BY seq",
	            "approved|docs/a.md\npending|a.c\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ---- options ---- */

#define OPTION(id, name, kind)                                                                     \
	"{\"optionId\":\"" id "\",\"name\":\"" name "\",\"kind\":\"" kind "\"}"
#define MANY                                                                                                       \
	"options:[" OPTION("always", "Always", "allow_always") "," OPTION("a", "Once", "allow_once") "," OPTION(   \
	    "b", "In a sandbox",                                                                                   \
	    "allow_once") "," OPTION("", "Nameless",                                                               \
	                             "allow_once") "," OPTION("b", "Again",                                        \
	                                                      "allow_once") "," OPTION("n", "No",                  \
	                                                                               "reject_"                   \
	                                                                               "once") "," OPTION("never", \
	                                                                                                  "Never", \
	                                                                                                  "reject_always") "]"

START_TEST(the_answer_is_the_option_that_was_chosen)
{
	static const struct {
		const char *verdict, *choice, *told;
	} CASES[] = {
		{ "approve", "'b'", "\"optionId\":\"b\"" },
		{ "approve", "'a'", "\"optionId\":\"a\"" },
		{ "reject", "'never'", "\"optionId\":\"never\"" },
		{ "reject", "NULL", "\"optionId\":\"n\"" },
	};

	setup();
	(void)given_talk("v1", STEPS(MANY, RUN("o1", "\"make\""), RUN("o2", "\"make\""),
	                             RUN("o3", "\"make\""), RUN("o4", "\"make\"")));
	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(str) struct str sql = { 0 };

		str_addf(&sql, "SELECT state FROM request WHERE seq = %zu", i + 1);
		expect_soon(sql.bytes, "pending\n");
		str_reset(&sql);
		str_addf(&sql,
		         "INSERT INTO decision (request_id, verdict, choice)"
		         " SELECT id, '%s', %s FROM request WHERE state = 'pending'",
		         CASES[i].verdict, CASES[i].choice);
		given(sql.bytes);
		was_told(CASES[i].told, 1);
	}
	was_told("always", 0);
	expect("SELECT options FROM agent_question WHERE seq = 1",
	       "[{\"id\":\"a\",\"name\":\"Once\",\"kind\":\"allow_once\"},"
	       "{\"id\":\"b\",\"name\":\"In a sandbox\",\"kind\":\"allow_once\"},"
	       "{\"id\":\"n\",\"name\":\"No\",\"kind\":\"reject_once\"},"
	       "{\"id\":\"never\",\"name\":\"Never\",\"kind\":\"reject_always\"}]\n");
	expect("SELECT description FROM request WHERE seq = 1",
	       "Risk: high\n\n\nAnswers:\n1. Once\n2. In a sandbox\n3. No\n4. Never\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(an_approval_that_names_none_of_several_options_is_refused)
{
	setup();
	(void)given_talk("v1", STEPS(MANY, RUN("o1", "\"make\"")));
	expect_soon("SELECT state FROM request", "pending\n");
	decide("approve", "NULL, NULL");
	expect("SELECT outcome, why FROM decision",
	       "wrong_verb|the agent offers several answers, choose one of: Once, In a sandbox\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(options_that_cannot_be_told_apart_are_no_question)
{
	setup();
	(void)given_talk("v1", STEPS("options:[]", RUN("o1", "\"make\""),
	                             "options:[{\"name\":\"Yes\",\"kind\":\"allow_once\"}]",
	                             RUN("o2", "\"make\"")));
	was_told("\"code\":-32602,\"message\":\"no options to choose from\"", 2);
	expect("SELECT count(*) FROM request", "0\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ---- its end ---- */

START_TEST(what_an_agent_withdraws_is_over_at_once_and_says_so)
{
	setup();
	(void)given_talk("v1", STEPS("withdraw"));
	expect_soon("SELECT state FROM request", "pending\n");
	put_file(site.workspace, "go", "");
	expect_soon("SELECT r.state, r.decided_by, q.why FROM request AS r"
	            " JOIN agent_question AS q ON q.request_seq = r.seq",
	            "expired|system:clock|the agent withdrew the question\n");
	was_told("\"outcome\":\"cancelled\"", 1);
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'approve' FROM request");
	expect("SELECT outcome, why FROM decision WHERE source = 'sql'",
	       "too_late|no answer is needed any longer: the agent withdrew the question\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("runner_asks");
	TCase *c = store_case(s, "asks", 60);

	tcase_add_test(c, what_the_policy_allows_is_answered_once_without_a_person);
	tcase_add_test(c, what_the_policy_does_not_allow_whole_is_asked);
	tcase_add_test(c, without_a_threshold_a_person_is_asked_about_edits);
	tcase_add_test(c, a_clearance_of_acp_stream_is_judged_by_the_risk_that_it_names);
	tcase_add_test(c, the_answer_is_the_option_that_was_chosen);
	tcase_add_test(c, an_approval_that_names_none_of_several_options_is_refused);
	tcase_add_test(c, options_that_cannot_be_told_apart_are_no_question);
	tcase_add_test(c, what_an_agent_withdraws_is_over_at_once_and_says_so);
	return run_suite(s);
}
