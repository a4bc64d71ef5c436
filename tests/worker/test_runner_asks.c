/* What an agent asks its runner: whom it is answered by, and with which of its options. The agent
 * is tests/fakes/fake_agent.c. */
#include "runner_case.h"

#include "agent.h"
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
#define LOOK(kind, path)                                                                           \
	"permit:{\"toolCallId\":\"" kind path "\",\"kind\":\"" kind "\",\"title\":\"" path         \
	"\",\"locations\":[{\"path\":\"%w/" path "\"}],\"rawInput\":{\"path\":\"%w/" path "\"}}"
#define PATCH(id, more)                                                                            \
	"permit:{\"toolCallId\":\"" id "\",\"kind\":\"edit\",\"locations\":[{\"path\":"            \
	"\"%w/docs/a.md\"}]," more "}"
#define RUN(id, command)                                                                           \
	"permit:{\"toolCallId\":\"" id "\",\"kind\":\"execute\",\"title\":\"git status\","         \
	"\"rawInput\":{\"command\":" command "}}"

/* ---- its answers ---- */

START_TEST(a_yes_that_is_called_something_else_is_offered_in_the_agents_words)
{
	OWNED(char_ptr) char *id = NULL;
	OWNED(str) struct str shown = { 0 };

	make_site();
	site_start(&site);
	(void)given_talk("v1",
	                 STEPS("options:[{\"optionId\":\"y\",\"name\":\"Allow once\","
	                       "\"kind\":\"allow_once\"},{\"optionId\":\"n\",\"name\":\"No\","
	                       "\"kind\":\"reject_once\"}]",
	                       RUN("1", "\"ls\""),
	                       "options:[{\"optionId\":\"y\",\"name\":\"Delete everything\","
	                       "\"kind\":\"allow_once\"},{\"optionId\":\"n\",\"name\":\"No\","
	                       "\"kind\":\"reject_once\"}]",
	                       "permit:{\"toolCallId\":\"2\",\"kind\":\"execute\",\"rawInput\":"
	                       "{\"command\":\"ls -l\"},\"content\":[{\"type\":\"content\","
	                       "\"content\":{\"type\":\"text\",\"text\":\"Risk: low\"}}]}"));
	expect_soon("SELECT options FROM agent_question ORDER BY seq", "\n");
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'approve' FROM request");
	expect_soon("SELECT json_extract(options, '$[0].name') FROM agent_question WHERE seq = 2",
	            "Delete everything\n");
	id = rows("SELECT id FROM request WHERE state = 'pending'");
	id[strcspn(id, "\n")] = '\0';
	ck_assert_int_eq(ctl(&shown, "show %s --text", id), 0);
	says(str_text(&shown), "answers   1. Delete everything\n          2. No\n");
	says(
	    str_text(&shown),
	    "\n\n  : Risk: low\n\n  Risk: high\n  \n  Answers:\n  1. Delete everything\n  2. No\n");
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'approve' FROM request"
	      " WHERE state = 'pending'");
	was_told("\"optionId\":\"y\"", 2);
	was_told("\"optionId\":\"n\"", 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ---- the policy ---- */

START_TEST(what_the_policy_allows_is_answered_once_without_a_person)
{
	make_site();
	given_policy("{\"enabled\":true,\"risk_level_threshold\":\"high\",\"commands\":[\"git "
	             "status\"],\"file_patterns\":{\"write\":[\"docs/**\"],\"read\":[\"docs/**\"]},"
	             "\"log_auto_approved\":true}");
	site_start(&site);
	(void)given_talk(
	    "v1",
	    STEPS("options:[{\"optionId\":\"always\",\"name\":\"Always\","
	          "\"kind\":\"allow_always\"},{\"optionId\":\"once\",\"name\":"
	          "\"Once\",\"kind\":\"allow_once\"}]",
	          EDIT("1", "docs/a.md", ""),
	          RUN("8", "\"git status\",\"description\":\"Look\",\"reason\":null,\"env\":null"),
	          RUN("9", "[\"bash\",\"-lc\",\"git status\"],\"cwd\":\"%w\","
	                   "\"reason\":\"Look\",\"parsed_cmd\":[],"
	                   "\"proposed_execpolicy_amendment\":[\"git\"],"
	                   "\"available_decisions\":[\"approved\",{\"a\":1}]"),
	          "permit:{\"toolCallId\":\"w\",\"kind\":\"edit\",\"content\":"
	          "[{\"type\":\"diff\",\"path\":\"%w/docs/b.md\",\"oldText\":"
	          "null,\"newText\":\"hi\"}],\"rawInput\":{\"file_path\":"
	          "\"%w/docs/b.md\",\"content\":\"hi\"}}",
	          "permit:{\"toolCallId\":\"c\",\"kind\":\"read\",\"rawInput\":{\"filepath\":"
	          "\"%w/docs/b.md\",\"view_range\":[1,20]}}"));
	was_told("\"optionId\":\"once\"", 5);
	was_told("always", 0);
	expect_soon("SELECT r.state, r.decided_by, d.source, r.kind,"
	            " r.reason LIKE a.rule || ' (policy ________)', a.rule, a.subject,"
	            " r.delivered_at IS NOT NULL"
	            " FROM request AS r JOIN decision AS d ON d.request_id = r.id"
	            " JOIN auto_approval AS a ON a.request_seq = r.seq ORDER BY r.seq",
	            "approved|system:policy|policy|permission|1|file_pattern:write:docs/**|"
	            "docs/a.md|1\n"
	            "approved|system:policy|policy|permission|1|command:git status|git status|1\n"
	            "approved|system:policy|policy|permission|1|command:git status|git status|1\n"
	            "approved|system:policy|policy|permission|1|file_pattern:write:docs/**|"
	            "docs/b.md|1\n"
	            "approved|system:policy|policy|permission|1|file_pattern:read:docs/**|"
	            "docs/b.md|1\n");
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
		RUN("21", "\"git status\",\"args\":[\"; rm -rf /\"]"),
		RUN("22", "\"git status\",\"script\":\"rm -rf /\""),
		RUN("23", "\"git status\",\"workdir\":\"/tmp\""),
		RUN("26", "\"git status\",\"cwd\":\"%w/docs\""),
		RUN("24", "\"git status\",\"command\":\"rm -rf /\""),
		"permit:{\"toolCallId\":\"25\",\"kind\":\"edit\",\"content\":[{\"type\":\"diff\","
		"\"path\":\"%w/docs/"
		"a.md\",\"newText\":\"hi\"}],\"rawInput\":{\"patch\":\"other\"}}",
		EDIT("27", "docs/a.md",
		     ",{\"type\":\"Diff\",\"path\":\"%w/src/a.c\",\"newText\":\"bad\"}"),
		EDIT("28", "docs/a.md", ",\"%w/src/a.c\""),
		EDIT("29", "docs/a.md", "],\"locations\":[\"%w/src/a.c\""),
		EDIT("30", "docs/a.md", "],\"files\":[\"%w/src/a.c\""),
		RUN("31", "\"git status\"},\"input\":{\"command\":\"rm -rf /\""),
		RUN("32", "\"git status\",\"proposed_execpolicy_amendment\":[{\"a\":\"rm\"}]"),
		"permit:{\"toolCallId\":\"33\",\"kind\":\"edit\",\"content\":[{\"type\":\"diff\","
		"\"path\":\"%w/docs/a.md\",\"newText\":\"hi\"}],\"rawInput\":{\"filepath\":"
		"\"%w/src/a.c\"}}",
		"permit:{\"toolCallId\":\"34\",\"kind\":\"search\",\"rawInput\":{\"path\":"
		"\"%w/docs\",\"pattern\":\"x\",\"a\\nb\":1}}",
	};
	const char *steps[COUNT(CASES) + 1] = { NULL };
	OWNED(char_ptr) char *docs = NULL;

	make_site();
	given_policy("{\"enabled\":true,\"risk_level_threshold\":\"high\",\"commands\":[\"git *\"],"
	             "\"file_patterns\":{\"write\":[\"docs/**\"],\"read\":[\"docs/**\"]}}");
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
	expect("SELECT description GLOB '*' || char(10) || 'No rule allows this unasked;"
	       " not understood: “pattern”, “a\\x0ab”*' FROM request ORDER BY seq DESC LIMIT 1",
	       "1\n");
	was_told("\"optionId\":\"no\"", (int)COUNT(CASES));
	was_told("\"optionId\":\"yes\"", 0);
	expect("SELECT count(*) FROM decision WHERE source = 'policy'", "0\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_link_that_leads_outside_is_critical_and_says_where_it_leads)
{
	make_site();
	OWNED(char_ptr) char *link = path_in(site.workspace, "link");
	ck_assert_int_eq(symlink("/etc", link), 0);
	OWNED(char_ptr) char *dangling = path_in(site.workspace, "dangling");
	ck_assert_int_eq(symlink("/nowhere/at/all", dangling), 0);
	OWNED(char_ptr) char *inner = path_in(site.workspace, "inner");
	ck_assert_int_eq(symlink("a.c", inner), 0);
	put_file(site.workspace, "a.c", "int a;\n");
	site_start(&site);
	(void)given_talk("v1", STEPS(EDIT("l1", "link/passwd", ""), EDIT("l2", "link/new/x", ""),
	                             EDIT("l3", "dangling", ""), EDIT("l4", "inner", "")));
	for (int i = 1; i <= 4; i++) {
		char sql[60];

		(void)snprintf(sql, sizeof(sql), "SELECT state FROM request WHERE seq = %d", i);
		expect_soon(sql, "pending\n");
		decide("reject", "NULL, NULL");
	}
	expect("SELECT risk_level, file_path, substr(description, instr(description, ')') + 3)"
	       " FROM request ORDER BY seq",
	       "critical|link/passwd|link/passwd leads to /etc/passwd\n"
	       "critical|link/new/x|link/new/x leads to /etc/new/x\n"
	       "critical|dangling|dangling leads to /nowhere/at/all\n"
	       "high|inner|\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

#define CODEX "\"*** Begin Patch\\n*** Update File: src/a.c\\n@@\\n-1\\n+2\\n*** End Patch\\n\""
#define UNIFIED "--- a/docs/a.md\\n+++ b/docs/a.md\\n@@ -1 +1 @@\\n-1\\n+2\\n"

START_TEST(a_patch_whose_files_cannot_be_read_is_asked_whatever_places_it_names)
{
	static const char *const CASES[] = {
		PATCH("c1", "\"rawInput\":{\"patch\":" CODEX "}"),
		PATCH("c2", "\"rawInput\":{\"diff\":" CODEX "}"),
		PATCH("c3", "\"rawInput\":{\"patch\":\"s/1/2/ src/a.c\"}"),
		PATCH("c4", "\"rawInput\":{\"patch\":\"  --- a/src/a.c\\n  +++ b/src/a.c\\n\"}"),
		PATCH("c5", "\"rawInput\":{\"patch\":\"*** src/a.c\\n--- src/a.c\\n****\\n\"}"),
		PATCH("c6", "\"rawInput\":{\"patch\":\"Index: src/a.c\\n1c\\n2\\n.\\n\"}"),
		PATCH("c7",
		      "\"content\":[{\"type\":\"diff\",\"changes\":[{\"operation\":\"modify\","
		      "\"path\":\"%w/docs/a.md\"}],\"patch\":{\"format\":\"apply_patch\","
		      "\"text\":" CODEX "}}]"),
		PATCH("c8", "\"rawInput\":{\"patch\":\"" UNIFIED "Index: x\\n*** src/a.c\\n--- "
		            "src/a.c\\n****\\n\"}"),
	};
	const char *steps[COUNT(CASES) + 2] = { PATCH("c0",
		                                      "\"rawInput\":{\"patch\":\"" UNIFIED "\"}") };

	make_site();
	given_policy("{\"enabled\":true,\"risk_level_threshold\":\"high\",\"file_patterns\":"
	             "{\"write\":[\"docs/**\"]}}");
	site_start(&site);
	memcpy(steps + 1, CASES, sizeof(CASES));
	(void)given_talk("v1", steps);
	was_told("\"optionId\":\"yes\"", 1);
	for (size_t i = 0; i < COUNT(CASES); i++) {
		char sql[60];

		(void)snprintf(sql, sizeof(sql), "SELECT state FROM request WHERE seq = %zu",
		               i + 2);
		expect_soon(sql, "pending\n");
		decide("reject", "NULL, NULL");
	}
	was_told("\"optionId\":\"no\"", (int)COUNT(CASES));
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* Where the policy allows all of docs, and reading anything. */
START_TEST(what_is_always_asked_is_neither_read_nor_written_unasked_by_any_of_its_names)
{
	static const char *const CASES[] = {
		LOOK("read", "secret.txt"),  LOOK("read", "private/k"),   LOOK("read", "docs/link"),
		LOOK("read", "docs/same"),   LOOK("search", "private"),   LOOK("search", "docs"),
		EDIT("e1", "docs/same", ""), EDIT("e2", "docs/twin", ""),
	};
	const char *steps[COUNT(CASES) + 4] = { LOOK("read", "docs/a.md"),
		                                LOOK("read", "docs/twin"),
		                                LOOK("search", "docs/sub") };

	fresh_store();
	site = site_make("[policy]\nalways_ask = [\"secret.txt\", \"private\"]\n");
	given_policy("{\"enabled\":true,\"risk_level_threshold\":\"high\",\"file_patterns\":"
	             "{\"write\":[\"docs/**\"],\"read\":[\"**\"]}}");
	ck_assert_int_eq(shell(NULL,
	                       "cd '%s' && mkdir -p private docs/sub && echo k > private/k &&"
	                       " echo s > secret.txt && echo a > docs/a.md && echo t > docs/twin &&"
	                       " ln docs/twin twin && ln secret.txt docs/same &&"
	                       " ln -s ../secret.txt docs/link",
	                       site.workspace),
	                 0);
	site_start(&site);
	memcpy(steps + 3, CASES, sizeof(CASES));
	(void)given_talk("v1", steps);
	was_told("\"optionId\":\"yes\"", 3);
	for (size_t i = 0; i < COUNT(CASES); i++) {
		char sql[60];

		(void)snprintf(sql, sizeof(sql), "SELECT state FROM request WHERE seq = %zu",
		               i + 4);
		expect_soon(sql, "pending\n");
		decide("reject", "NULL, NULL");
	}
	was_told("\"optionId\":\"no\"", (int)COUNT(CASES));
	expect("SELECT title, count(*) FROM request WHERE description LIKE '%(hard links)%'",
	       "Edit|2\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

#define READS(path)                                                                                \
	"permit:{\"toolCallId\":\"r" path "\",\"kind\":\"read\",\"title\":\"Read\",\"rawInput\":{" \
	"\"path\":\"" path "\"}}"

/* Some agents decode a path, expand it, or find files by it, before they use it. */
START_TEST(a_path_that_an_agent_may_read_as_another_is_asked)
{
	static const char *const CASES[][2] = {
		{ LOOK("read", "secret.txt "), "white space" },
		{ READS(" secret.txt"), "white space" },
		{ READS("%73ecret.txt"), "may decode" },
		{ READS("@secret.txt"), "may leave out" },
		{ READS("~/secret.txt"), "for a home" },
		{ READS("file:secret.txt"), "as a URI" },
		{ READS("{secret.txt,docs}"), "a pattern" },
		{ LOOK("search", "s*"), "a pattern" },
		{ LOOK("search", "docs secret.txt"), "for several" },
		{ EDIT("d1", "docs/CLAUDE.md ", ""), "white space" },
		{ EDIT("d2", "docs/CLAUDE%2emd", ""), "may decode" },
	};
	const char *steps[COUNT(CASES) + 3] = { READS("docs/a.md"), EDIT("d3", "docs/[a].md", "") };

	fresh_store();
	site = site_make("[policy]\nalways_ask = [\"secret.txt\"]\n");
	given_policy("{\"enabled\":true,\"risk_level_threshold\":\"high\",\"file_patterns\":"
	             "{\"write\":[\"docs/**\"],\"read\":[\"**\"]}}");
	ck_assert_int_eq(
	    shell(NULL, "cd '%s' && mkdir docs && echo s > secret.txt", site.workspace), 0);
	site_start(&site);
	for (size_t i = 0; i < COUNT(CASES); i++)
		steps[i + 2] = CASES[i][0];
	(void)given_talk("v1", steps);
	was_told("\"optionId\":\"yes\"", 2);
	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(str) struct str sql = { 0 };

		str_addf(&sql,
		         "SELECT state, description LIKE '%%%s%%' FROM request WHERE seq = %zu",
		         CASES[i][1], i + 3);
		expect_soon(sql.bytes, "pending|1\n");
		decide("reject", "NULL, NULL");
	}
	was_told("\"optionId\":\"no\"", (int)COUNT(CASES));
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

START_TEST(a_prompt_of_acp_stream_is_judged_as_transmit_unless_the_agent_is_in_trouble)
{
	make_site();
	given_policy(
	    "{\"enabled\":true,\"tools\":[\"forward_prompt\"],\"log_auto_approved\":true}");
	site_start(&site);
	(void)given_talk("stream", STEPS("proceed", "proceed:error_recovery"));
	was_told("\"decision\":\"continue\"", 1);
	expect_soon("SELECT r.prompt_type, r.state, r.decided_by, a.rule, a.subject"
	            " FROM request AS r LEFT JOIN auto_approval AS a ON a.request_seq = r.seq"
	            " ORDER BY r.seq",
	            "continuation|answered|system:policy|tool:forward_prompt|Go on?\n"
	            "error_recovery|pending|||\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* It is asked about as where an agent started by itself, and so is the policy. */
START_TEST(a_policy_that_nobody_has_trusted_allows_nothing_to_an_agent_that_we_start)
{
	fresh_store();
	site = site_make("[policy]\ntrust = \"ask\"\n");
	given_policy("{\"enabled\":true,\"risk_level_threshold\":\"high\",\"file_patterns\":"
	             "{\"write\":[\"docs/**\"]}}");
	site_start(&site);
	(void)given_talk("v1", STEPS(EDIT("1", "docs/a.md", ""), EDIT("2", "docs/b.md", "")));
	expect_soon("SELECT kind, state FROM request ORDER BY kind",
	            "permission|pending\ntrust|pending\n");
	given("INSERT INTO decision (request_id, verdict)"
	      " SELECT id, 'approve' FROM request WHERE kind = 'trust'");
	decide("reject", "NULL, NULL");
	was_told("\"optionId\":\"no\"", 1);
	was_told("\"optionId\":\"yes\"", 1);
	expect_soon(
	    "SELECT kind, state, decided_by LIKE 'system:%' FROM request ORDER BY kind, seq",
	    "permission|rejected|0\npermission|approved|1\ntrust|approved|0\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ---- our MCP server ---- */

/* The header with the token that the agent was given; the caller frees it. */
static char *given_token(void)
{
	OWNED(char_ptr) char *heard = NULL;
	OWNED(str) struct str header = { 0 };
	const char *at;

	was_told("\"value\":\"Bearer ict_", 1);
	heard = get_file(site.workspace, "heard");
	at = strstr(heard, "Bearer ict_");
	str_addf(&header, "Authorization: %.*s\r\n", (int)strcspn(at, "\""), at);
	return str_take(&header);
}

static const char PING[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
                           "\"params\":{\"name\":\"ping\",\"arguments\":{}}}";

/* A call with this token is answered with that status. */
static void is_answered(const struct agent *a, const char *token, int status)
{
	OWNED(str) struct str body = { 0 };
	int got = agent_exchange(a, "POST", token, PING, &body);

	ck_assert_msg(got == status, "%d, not %d: %s", got, status, str_text(&body));
}

START_TEST(an_agent_calls_our_tools_with_its_token_while_it_runs)
{
	setup();
	int run = given_talk("v1", STEPS("http", "wait"));
	OWNED(char_ptr) char *token = given_token();
	const struct agent a = agent_sessionless(front_port(), "");
	struct agent other = agent_hello(a.port, "", "2025-11-25");
	OWNED(char_ptr) char *answer = agent_call(&other, "ping", "{}");
	OWNED(str) struct str query = { 0 };
	OWNED(char_ptr) char *id = rows("SELECT id FROM session WHERE seq = 2");

	is_answered(&a, token, 200);
	expect("SELECT session_seq, count(*) FROM connection GROUP BY session_seq ORDER BY 1",
	       "1|1\n2|1\n");
	is_answered(&a, "Authorization: Bearer ict_00000000000000000000000000000000\r\n", 401);
	is_answered(&a, "Authorization: Bearer of-somebody-else\r\n", 200);
	is_answered(&other, token, 403);
	str_addf(&query, "?session_id=%.*s", (int)strcspn(id, "\n"), id);
	const struct agent named = agent_sessionless(a.port, query.bytes);
	is_answered(&named, token, 403);
	want_stop(run, "enough");
	run_becomes(run, "ended|stopped|0||terminated");
	is_answered(&a, token, 401);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_token_is_nowhere_but_with_its_agent)
{
	setup();
	int run = given_talk("v1", STEPS("http", "wait"));
	OWNED(char_ptr) char *header = given_token();
	const char *token = strstr(header, "ict_");
	OWNED(str) struct str sql = { 0 };
	OWNED(str) struct str command = { 0 };

	str_addf(&command,
	         "! grep -r -a -q '%.36s' /proc/%s/cmdline /proc/%s/environ /proc/%d/cmdline '%s'",
	         token, of_run(run, "pid"), of_run(run, "pid"), (int)runner_of(run), site.database);
	ck_assert_int_eq(system(command.bytes), 0);
	str_addf(&sql, "SELECT length(token_hash), token_hash LIKE '%%%.32s%%' FROM agent_run",
	         token + strlen("ict_"));
	expect(sql.bytes, "64|0\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(an_agent_without_http_is_given_our_program_for_its_session)
{
	OWNED(str) struct str env = { 0 };

	setup();
	(void)given_talk("v1", STEPS("wait"));
	str_addf(&env, "\"env\":[{\"name\":\"INTERCOM_SESSION_ID\",\"value\":\"%s\"}",
	         session_of(1));
	was_told(env.bytes, 1);
	was_told("/agent-intercom\",\"args\":[\"mcp\",\"--db\"", 1);
	was_told("ict_", 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(our_own_tools_are_allowed_without_a_person)
{
	setup();
	(void)given_talk("v1", STEPS("permit:{\"toolCallId\":\"m1\",\"kind\":\"other\",\"title\":"
	                             "\"mcp__intercom__transmit\"}",
	                             "permit:{\"toolCallId\":\"m2\",\"kind\":\"other\",\"title\":"
	                             "\"ping (intercom MCP Server)\"}",
	                             "permit:{\"toolCallId\":\"m3\",\"kind\":\"execute\",\"title\":"
	                             "\"mcp__intercom__transmit\"}"));
	was_told("\"optionId\":\"yes\"", 2);
	expect_soon("SELECT title, state FROM request", "mcp__intercom__transmit|pending\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

#define OURS(id, more)                                                                             \
	"permit:{\"toolCallId\":\"" id "\",\"kind\":\"other\",\"title\":"                          \
	"\"mcp__intercom__ping\"," more "}"

/* The title is the agent's, or that of a server whose name it is. */
START_TEST(what_does_more_than_the_tool_of_ours_that_it_is_called_is_asked)
{
	static const char *const MORE[] = {
		OURS("o1", "\"rawInput\":{\"command\":\"rm -rf /\"}"),
		OURS("o2", "\"rawInput\":{\"status_message\":\"x\",\"file_path\":\"/etc/passwd\"}"),
		OURS("o3", "\"rawInput\":[\"rm\"]"),
		OURS("o4", "\"rawInput\":\"rm -rf /\""),
		OURS("o5", "\"locations\":[{\"path\":\"/etc/passwd\"}]"),
		OURS("o6",
		     "\"content\":[{\"type\":\"diff\",\"path\":\"a\",\"oldText\":\"\",\"newText\":"
		     "\"b\"}]"),
		OURS("o7", "\"content\":[{\"type\":\"Diff\",\"path\":\"a\"}]"),
		OURS("o8", "\"files\":[\"a\"]"),
	};

	setup();
	(void)given_talk("v1",
	                 STEPS(OURS("o9", "\"rawInput\":{\"status_message\":\"x\"}"), MORE[0],
	                       MORE[1], MORE[2], MORE[3], MORE[4], MORE[5], MORE[6], MORE[7]));
	for (size_t i = 1; i <= COUNT(MORE); i++) {
		OWNED(str) struct str sql = { 0 };

		str_addf(&sql, "SELECT state FROM request WHERE seq = %zu", i);
		expect_soon(sql.bytes, "pending\n");
		decide("reject", "NULL, NULL");
	}
	was_told("\"optionId\":\"yes\"", 1);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("runner_asks");
	TCase *c = store_case(s, "asks", 60);

	tcase_add_test(c, a_yes_that_is_called_something_else_is_offered_in_the_agents_words);
	tcase_add_test(c, what_the_policy_allows_is_answered_once_without_a_person);
	tcase_add_test(c, what_the_policy_does_not_allow_whole_is_asked);
	tcase_add_test(c, a_link_that_leads_outside_is_critical_and_says_where_it_leads);
	tcase_add_test(c, a_patch_whose_files_cannot_be_read_is_asked_whatever_places_it_names);
	tcase_add_test(
	    c, what_is_always_asked_is_neither_read_nor_written_unasked_by_any_of_its_names);
	tcase_add_test(c, a_path_that_an_agent_may_read_as_another_is_asked);
	tcase_add_test(c, without_a_threshold_a_person_is_asked_about_edits);
	tcase_add_test(c, a_clearance_of_acp_stream_is_judged_by_the_risk_that_it_names);
	tcase_add_test(c,
	               a_prompt_of_acp_stream_is_judged_as_transmit_unless_the_agent_is_in_trouble);
	tcase_add_test(c,
	               a_policy_that_nobody_has_trusted_allows_nothing_to_an_agent_that_we_start);
	tcase_add_test(c, an_agent_calls_our_tools_with_its_token_while_it_runs);
	tcase_add_test(c, a_token_is_nowhere_but_with_its_agent);
	tcase_add_test(c, an_agent_without_http_is_given_our_program_for_its_session);
	tcase_add_test(c, our_own_tools_are_allowed_without_a_person);
	tcase_add_test(c, what_does_more_than_the_tool_of_ours_that_it_is_called_is_asked);
	return run_suite(s);
}
