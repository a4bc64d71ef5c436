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

int main(void)
{
	Suite *s = suite_create("runner_asks");
	TCase *c = store_case(s, "asks", 60);

	tcase_add_test(c, what_the_policy_allows_is_answered_once_without_a_person);
	tcase_add_test(c, what_the_policy_does_not_allow_whole_is_asked);
	tcase_add_test(c, without_a_threshold_a_person_is_asked_about_edits);
	tcase_add_test(c, a_clearance_of_acp_stream_is_judged_by_the_risk_that_it_names);
	return run_suite(s);
}
