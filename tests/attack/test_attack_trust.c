/* A repository that brings its own policy, and an agent that widens one: outside of the workspaces
 * that the configuration names, a policy counts as far as a person has trusted it. */
#include "agent.h"
#include "err.h"
#include "json.h"
#include "slack_peer.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct site site;
static struct relay agent;
static char clone[160];

static const char *const SOON[] = { "--wait", "1", NULL };
static const char DOCS[] = "{\"enabled\":true,\"file_patterns\":{\"write\":[\"docs/**\"]}}";
static const char ALL[] = "{\"enabled\":true,\"commands\":[\"git push *\"],"
                          "\"file_patterns\":{\"write\":[\"docs/**\",\"**\"]}}";
static const char REPORTS[] = "{\"enabled\":true,\"log_auto_approved\":true,"
                              "\"file_patterns\":{\"write\":[\"docs/**\"]}}";
static const char DENIES[] = "{\"enabled\":true,\"file_patterns\":{\"write\":[\"docs/a*\"]}}";

static void given_policy_in(const char *folder, const char *text)
{
	char path[200];

	(void)snprintf(path, sizeof(path), "%.160s/.intercom", folder);
	(void)mkdir(path, 0755);
	put_file(path, "settings.json", text);
}

/* A repository that was cloned somewhere, with its policy; an agent works in it. */
static void given_clone(const char *more, const char *policy)
{
	fresh_store();
	site = site_make(more);
	(void)snprintf(clone, sizeof(clone), "%s/clone", site.home);
	ck_assert_int_eq(mkdir(clone, 0755), 0);
	given_policy_in(clone, policy);
	site_start(&site);
	relay_start(&agent, clone, NULL, SOON);
	relay_hello(&agent);
}

static void end(void)
{
	ck_assert_int_eq(relay_stop(&agent), 0);
	relay_clear(&agent);
	ck_assert_int_eq(site_stop(&site), 0);
}

static void clearance_is(const char *path, const char *status)
{
	OWNED(char_ptr) char *arguments = proposal(path, "hello\n");
	OWNED(char_ptr) char *answer = relay_call(&agent, "check_clearance", arguments);

	has(answer, "status", status);
}

static void decide_trust(const char *verdict)
{
	OWNED(str) struct str sql = { 0 };

	str_addf(&sql,
	         "INSERT INTO decision (request_id, verdict) SELECT id, '%s' FROM inbox"
	         " WHERE kind = 'trust'",
	         verdict);
	given(sql.bytes);
}

static int trust(struct str *said, const char *arguments)
{
	return shell(said, "%s/agent-intercom policy trust --config '%s' 2>&1 %s",
	             getenv("INTERCOM_BUILD"), site.config, arguments);
}

START_TEST(the_policy_of_a_cloned_repository_allows_nothing_until_a_person_trusts_it)
{
	OWNED(str) struct str shown = { 0 };
	OWNED(str) struct str expected = { 0 };
	OWNED(char_ptr) char *id = NULL;

	given_clone("", DOCS);
	str_addf(&expected, "%s|64|1|1\n", clone);
	clearance_is("docs/1", "pending");
	expect("SELECT kind, state, file_path IS NULL FROM request ORDER BY seq",
	       "clearance|pending|0\ntrust|pending|1\n");
	id = rows("SELECT id FROM inbox WHERE kind = 'trust'");
	ck_assert_int_eq(ctl(&shown, "show %.36s", id), 0);
	says(shown.bytes, clone);
	says(shown.bytes, "would allow from now on, unasked");
	says(shown.bytes, "write: docs/**");
	says(shown.bytes, "Nobody has answered a question from there yet.");
	clearance_is("docs/2", "pending"); /* and is not asked about again */
	expect("SELECT count(*) FROM request WHERE kind = 'trust'", "1\n");
	decide_trust("approve");
	expect("SELECT workspace_root, length(hash), operator_id = (SELECT id FROM operator WHERE "
	       "is_default = 1), request_seq IS NOT NULL FROM policy_trust",
	       expected.bytes);
	clearance_is("docs/3", "approved");
	clearance_is("src/3", "pending");
	end();
}
END_TEST

START_TEST(narrowing_a_policy_acts_at_once_and_widening_it_waits_for_a_yes)
{
	OWNED(char_ptr) char *body = NULL;

	given_clone("", DOCS);
	clearance_is("docs/a1", "pending");
	decide_trust("approve");
	clearance_is("docs/b1", "approved");
	given_policy_in(clone, DENIES);
	clearance_is("docs/b2", "pending");
	clearance_is("docs/a2", "approved");
	expect("SELECT count(*) FROM inbox WHERE kind = 'trust'", "0\n");
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'reject' FROM inbox");
	given_policy_in(clone, ALL);
	clearance_is("docs/b3", "approved"); /* both versions allow it */
	expect("SELECT count(*) FROM inbox WHERE kind = 'trust'", "0\n");
	clearance_is("src/c", "pending");
	body = rows("SELECT body FROM request WHERE kind = 'trust' AND state = 'pending'");
	says(body, "write: **\ncommand: git push *\n");
	ck_assert_ptr_null(strstr(body, "docs/**"));
	says(body, "Of the last 2 questions answered there it would have allowed 0");
	decide_trust("approve");
	clearance_is("src/d", "approved");
	end();
}
END_TEST

START_TEST(a_policy_that_reports_what_it_allows_later_or_no_longer_waits_for_a_yes)
{
	static const char *const HIDES[][2] = {
		{ "{\"enabled\":true,\"log_auto_approved\":true,\"summary_interval_seconds\":86400,"
		  "\"file_patterns\":{\"write\":[\"docs/**\"]}}",
		  "with a report in Slack every 86400 seconds only" },
		{ DOCS, "without a report in Slack" },
	};
	OWNED(str) struct str shown = { 0 };
	char *id;

	given_clone("", REPORTS);
	clearance_is("docs/1", "pending");
	decide_trust("approve");
	clearance_is("docs/2", "approved");
	for (size_t i = 0; i < COUNT(HIDES); i++) {
		char path[16];

		given_policy_in(clone, HIDES[i][0]);
		(void)snprintf(path, sizeof(path), "docs/%c", (char)('a' + i));
		clearance_is(path, "pending");
		id = rows("SELECT id FROM inbox WHERE kind = 'trust'");
		str_reset(&shown);
		ck_assert_int_eq(ctl(&shown, "show %.36s", id), 0);
		says(shown.bytes, "unasked (1 line):");
		says(shown.bytes, HIDES[i][1]);
		free(id);
		decide_trust("approve");
		(void)snprintf(path, sizeof(path), "docs/%c", (char)('k' + i));
		clearance_is(path, "approved");
	}
	end();
}
END_TEST

START_TEST(a_version_that_was_rejected_is_not_asked_about_again_and_allows_nothing)
{
	given_clone("", DOCS);
	clearance_is("docs/1", "pending");
	decide_trust("reject");
	clearance_is("docs/2", "pending");
	kill_and_await("mcp-front");
	clearance_is("docs/3", "pending");
	expect("SELECT count(*) FROM request WHERE kind = 'trust'", "1\n");
	given_policy_in(clone, ALL);
	clearance_is("docs/4", "pending");
	expect("SELECT state FROM request WHERE kind = 'trust' ORDER BY seq",
	       "rejected\npending\n");
	end();
}
END_TEST

/* The end of a session answers what it asked, but that is no answer to this. */
START_TEST(the_stop_of_a_session_is_no_answer_to_whether_its_policy_is_trusted)
{
	given_clone("", DOCS);
	clearance_is("docs/1", "pending");
	given("INSERT INTO command (verb, session_id) SELECT 'stop', id FROM session");
	expect("SELECT count(*) FROM inbox", "0\n");
	ck_assert_int_eq(relay_stop(&agent), 0);
	relay_clear(&agent);
	relay_start(&agent, clone, NULL, (const char *const[]){ "--wait", "1", NULL });
	relay_hello(&agent);
	clearance_is("docs/2", "pending");
	expect("SELECT state FROM request WHERE kind = 'trust' ORDER BY seq",
	       "rejected\npending\n");
	end();
}
END_TEST

START_TEST(where_the_configuration_names_the_folder_the_file_counts_at_once)
{
	struct agent a;
	OWNED(char_ptr) char *arguments = proposal("docs/1", "x\n");
	OWNED(char_ptr) char *answer = NULL;

	given_clone("", DOCS);
	given_policy_in(site.workspace, DOCS);
	a = agent_hello(site.port, "?wait=1", "2025-11-25");
	answer = agent_call(&a, "check_clearance", arguments);
	has(answer, "status", "approved");
	expect("SELECT count(*) FROM request WHERE kind = 'trust'", "0\n");
	end();
}
END_TEST

START_TEST(a_folder_in_which_the_system_was_started_is_none_that_the_configuration_names)
{
	OWNED(str) struct str expected = { 0 };

	fresh_store();
	site = site_make("");
	(void)snprintf(clone, sizeof(clone), "%s/clone", site.home);
	ck_assert_int_eq(mkdir(clone, 0755), 0);
	given_policy_in(clone, DOCS);
	ck_assert_int_eq(shell(NULL, "sed -i /default_workspace_root/d '%s'", site.config), 0);
	ck_assert_int_eq(chdir(clone), 0);
	site_start(&site);
	str_addf(&expected, "%s|default\n", clone);
	expect("SELECT value, source FROM setting WHERE name = 'default_workspace_root'",
	       expected.bytes);
	relay_start(&agent, clone, NULL, SOON);
	relay_hello(&agent);
	clearance_is("docs/1", "pending");
	expect("SELECT kind FROM request ORDER BY seq", "clearance\ntrust\n");
	end();
}
END_TEST

START_TEST(policy_trust_says_where_policies_are_trusted)
{
	struct agent a;
	OWNED(char_ptr) char *arguments = proposal("docs/1", "x\n");
	OWNED(char_ptr) char *asked = NULL;

	given_clone("[policy]\ntrust = \"off\"\n", DOCS);
	clearance_is("docs/1", "approved");
	end();
	close_store();
	given_clone("[policy]\ntrust = \"ask\"\n", DOCS);
	given_policy_in(site.workspace, DOCS);
	a = agent_hello(site.port, "?wait=1", "2025-11-25");
	asked = agent_call(&a, "check_clearance", arguments);
	has(asked, "status", "pending");
	expect("SELECT count(*) FROM request WHERE kind = 'trust'", "1\n");
	end();
}
END_TEST

START_TEST(a_policy_is_trusted_on_the_command_line_with_what_it_would_have_done)
{
	OWNED(str) struct str said = { 0 };
	OWNED(str) struct str where = { 0 };

	given_clone("", DOCS);
	clearance_is("docs/good", "pending");
	clearance_is("src/good", "pending");
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'approve' FROM inbox"
	      " WHERE kind = 'clearance'");
	clearance_is("docs/bad", "pending");
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'reject' FROM inbox"
	      " WHERE kind = 'clearance'");
	str_addf(&where, "'%s' </dev/null", clone);
	ck_assert_int_eq(trust(&said, where.bytes), 1);
	says(said.bytes, "write: docs/**");
	says(said.bytes, "Of the last 3 questions answered there it would have allowed 2: 1 that "
	                 "were approved, 1 that were rejected.");
	says(said.bytes, "Nothing is changed.");
	expect("SELECT count(*) FROM policy_trust", "0\n");
	str_addf(&where, " --yes");
	ck_assert_int_eq(trust(&said, where.bytes), 0);
	says(said.bytes, "trusted\n");
	expect("SELECT r.state, d.source, (SELECT count(*) FROM policy_trust) FROM request AS r"
	       " JOIN decision AS d ON d.request_id = r.id WHERE r.kind = 'trust'",
	       "approved|ctl|1\n");
	clearance_is("docs/1", "approved");
	ck_assert_int_eq(trust(&said, where.bytes), 0);
	says(said.bytes, "is trusted as it is");
	given_policy_in(clone, ALL); /* nobody has been asked about this one */
	ck_assert_int_eq(trust(&said, where.bytes), 0);
	expect("SELECT count(*), sum(request_seq IS NULL) FROM policy_trust", "2|1\n");
	clearance_is("src/1", "approved");
	given("UPDATE setting SET value = 'remote' WHERE name = 'mode'");
	given_policy_in(clone, "{\"enabled\":true,\"tools\":[\"ping\"]}");
	ck_assert_int_ne(trust(&said, where.bytes), 0);
	says(said.bytes, "in remote mode it is answered in Slack");
	end();
}
END_TEST

/* A yes to an older version would take back a newer one. */
START_TEST(a_question_about_a_version_that_is_no_more_is_settled)
{
	OWNED(str) struct str said = { 0 };
	OWNED(str) struct str where = { 0 };

	given_clone("", DOCS);
	clearance_is("docs/1", "pending");
	given_policy_in(clone, ALL);
	clearance_is("docs/2", "pending");
	expect("SELECT state, decided_by FROM request WHERE kind = 'trust' ORDER BY seq",
	       "rejected|system:policy\npending|\n");
	given_policy_in(clone, DOCS); /* nobody has said no to it */
	clearance_is("docs/3", "pending");
	expect("SELECT state FROM request WHERE kind = 'trust' ORDER BY seq",
	       "rejected\nrejected\npending\n");
	given_policy_in(clone, ALL);
	str_addf(&where, "'%s' --yes", clone);
	ck_assert_int_eq(trust(&said, where.bytes), 0);
	expect("SELECT count(*) FROM request WHERE kind = 'trust' AND state = 'pending'", "0\n");
	clearance_is("src/1", "approved");
	end();
}
END_TEST

START_TEST(what_becomes_of_one_folders_policy_is_no_answer_about_another)
{
	OWNED(char_ptr) char *arguments = proposal("docs/1", "hello\n");
	OWNED(char_ptr) char *answer = NULL;
	struct relay other;
	char second[160];

	given_clone("", DOCS);
	clearance_is("docs/1", "pending");
	(void)snprintf(second, sizeof(second), "%s/second", site.home);
	ck_assert_int_eq(mkdir(second, 0755), 0);
	given_policy_in(second, ALL);
	relay_start(&other, second, NULL, SOON);
	relay_hello(&other);
	answer = relay_call(&other, "check_clearance", arguments);
	has(answer, "status", "pending");
	expect(
	    "SELECT s.workspace_root GLOB '*/second', r.state FROM request AS r JOIN session AS s"
	    " ON s.seq = r.session_seq WHERE r.kind = 'trust' ORDER BY r.seq",
	    "0|pending\n1|pending\n");
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'approve' FROM request"
	      " WHERE kind = 'trust' ORDER BY seq DESC LIMIT 1");
	clearance_is("docs/2", "pending");
	expect("SELECT state FROM request WHERE kind = 'trust' ORDER BY seq",
	       "pending\napproved\n");
	ck_assert_int_eq(relay_stop(&other), 0);
	relay_clear(&other);
	end();
}
END_TEST

/* Only Slack may answer then, and nobody is told that it is trusted. */
START_TEST(in_remote_mode_the_command_line_answers_no_question_and_says_so)
{
	OWNED(str) struct str said = { 0 };
	OWNED(str) struct str where = { 0 };

	given_clone("", DOCS);
	clearance_is("docs/1", "pending");
	given_mode("remote");
	str_addf(&where, "'%s' --yes", clone);
	ck_assert_int_ne(trust(&said, where.bytes), 0);
	says(said.bytes, "not in this mode");
	ck_assert_ptr_null(strstr(said.bytes, "\ntrusted"));
	expect("SELECT state, (SELECT count(*) FROM policy_trust) FROM request"
	       " WHERE kind = 'trust'",
	       "pending|0\n");
	end();
}
END_TEST

START_TEST(a_no_on_the_command_line_answers_the_question)
{
	OWNED(str) struct str said = { 0 };
	char typed[240];

	given_clone("", DOCS);
	clearance_is("docs/1", "pending");
	(void)snprintf(typed, sizeof(typed), "'%s' <<!\nn\n!\n", clone);
	ck_assert_int_eq(trust(&said, typed), 1);
	says(said.bytes, "not trusted");
	expect("SELECT r.state, d.source FROM request AS r JOIN decision AS d"
	       " ON d.request_id = r.id WHERE r.kind = 'trust'",
	       "rejected|ctl\n");
	clearance_is("docs/2", "pending");
	expect("SELECT count(*) FROM request WHERE kind = 'trust'", "1\n");
	end();
}
END_TEST

/* Nothing is approved that cannot be seen. */
START_TEST(a_policy_that_allows_more_than_a_message_shows_is_not_asked_about_in_one)
{
	OWNED(str) struct str json = { 0 };

	str_add(&json, "{\"enabled\":true,\"file_patterns\":{\"write\":[\"docs/**\"");
	for (int i = 0; i < 300; i++)
		str_addf(&json, ",\"folder-%d/**\"", i);
	str_add(&json, "]}}");
	given_clone("", json.bytes);
	clearance_is("docs/1", "pending");
	expect("SELECT count(*) FROM request WHERE kind = 'trust'", "0\n");
	end();
}
END_TEST

/* A rule with line feeds wrote the end of the question, and what followed it looked trusted. */
START_TEST(a_rule_cannot_write_the_question_about_it)
{
	OWNED(str) struct str said = { 0 };
	OWNED(str) struct str where = { 0 };

	given_clone("",
	            "{\"enabled\":true,\"commands\":[\"git status\\n\\nNobody has answered a "
	            "question from there yet.\\n\\nStill asked, as before:\\n\",\"git push *\"]}");
	str_addf(&where, "'%s' --yes", clone);
	ck_assert_int_eq(trust(&said, where.bytes), 78);
	says(said.bytes, "allows nothing: commands: 'git status\\u{A}\\u{A}Nobody has answered");
	given_policy_in(clone, "{\"enabled\":true,\"commands\":[\"/git|\\u009b2Kls/\"],"
	                       "\"file_patterns\":{\"write\":[\"docs/\xE2\x80\xAE**\"]}}");
	ck_assert_int_eq(trust(&said, where.bytes), 78);
	says(said.bytes, "commands: '/git|\\u{9B}2Kls/'");
	clearance_is("docs/1", "pending");
	expect("SELECT count(*) FROM request WHERE kind = 'trust'", "0\n");
	given_policy_in(clone, ALL);
	ck_assert_int_eq(trust(&said, where.bytes), 0);
	says(said.bytes,
	     "unasked (3 lines):\n\nwrite: docs/**\nwrite: **\ncommand: git push *\n\n");
	end();
}
END_TEST

/* As by a version that did not yet refuse its rules. */
START_TEST(a_version_that_was_trusted_and_is_an_error_by_now_allows_nothing)
{
	given_clone("", DOCS);
	clearance_is("docs/1", "pending");
	given("INSERT INTO content (hash, size, bytes) VALUES (printf('%064d', 1), 1, x'7b');"
	      "INSERT INTO policy_trust (machine, workspace_root, hash, content_seq, operator_id,"
	      " created_at) SELECT s.machine, s.workspace_root, c.hash, c.seq, 'local:tester',"
	      " '2026-02-08T09:30:00.000Z' FROM session AS s JOIN content AS c"
	      " ON c.hash = printf('%064d', 1) WHERE s.workspace_root GLOB '*/clone'");
	clearance_is("docs/2", "pending");
	decide_trust("approve");
	clearance_is("docs/3", "approved");
	end();
}
END_TEST

START_TEST(a_policy_is_trusted_in_slack)
{
	OWNED(cJSON_ptr) cJSON *root = NULL;
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *text = NULL;
	const cJSON *message;

	fresh_store();
	slack_start();
	slack_credentials();
	site = site_make("[slack]\nchannel_id = \"C01AGENTS\"\n");
	(void)snprintf(clone, sizeof(clone), "%s/clone", site.home);
	ck_assert_int_eq(mkdir(clone, 0755), 0);
	given_policy_in(clone, DOCS);
	site_start(&site);
	(void)slack_wait_for("hello");
	relay_start(&agent, clone, NULL, SOON);
	relay_hello(&agent);
	clearance_is("docs/1", "pending");
	for (int64_t until = agent_ms() + AGENT_PATIENCE_MS; agent_ms() < until && !ts;) {
		advance(500); /* what is said keeps a pace */
		(void)poll(NULL, 0, 20);
		ts = rows("SELECT m.ts FROM slack_message AS m JOIN request AS r"
		          " ON r.seq = m.request_seq WHERE r.kind = 'trust' AND m.ts IS NOT NULL");
		if (!*ts)
			char_ptr_clear(&ts);
	}
	ck_assert_ptr_nonnull(ts);
	ts[strcspn(ts, "\n")] = '\0';
	root = cJSON_Parse(slack_ask("messages?channel=C01AGENTS"));
	cJSON_ArrayForEach (message, cJSON_GetObjectItem(root, "messages"))
		if (strcmp(json_text(message, "ts"), ts) == 0)
			text = cJSON_PrintUnformatted(message);
	says(text, "Trust this policy");
	says(text, "write: docs/**");
	(void)slack_deliver("{'click':{'channel':'C01AGENTS','ts':'%s',"
	                    "'action_id':'approve_accept'}}",
	                    ts);
	expect_soon("SELECT count(*) FROM policy_trust WHERE operator_id GLOB 'slack:*'", "1\n");
	clearance_is("docs/2", "approved");
	end();
	slack_stop();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("attack trust");
	TCase *c = store_case(s, "attack trust", 90);

	tcase_add_test(c,
	               the_policy_of_a_cloned_repository_allows_nothing_until_a_person_trusts_it);
	tcase_add_test(c, narrowing_a_policy_acts_at_once_and_widening_it_waits_for_a_yes);
	tcase_add_test(c, a_policy_that_reports_what_it_allows_later_or_no_longer_waits_for_a_yes);
	tcase_add_test(c, a_version_that_was_rejected_is_not_asked_about_again_and_allows_nothing);
	tcase_add_test(c, the_stop_of_a_session_is_no_answer_to_whether_its_policy_is_trusted);
	tcase_add_test(c, where_the_configuration_names_the_folder_the_file_counts_at_once);
	tcase_add_test(
	    c, a_folder_in_which_the_system_was_started_is_none_that_the_configuration_names);
	tcase_add_test(c, policy_trust_says_where_policies_are_trusted);
	tcase_add_test(c, a_policy_is_trusted_on_the_command_line_with_what_it_would_have_done);
	tcase_add_test(c, a_question_about_a_version_that_is_no_more_is_settled);
	tcase_add_test(c, what_becomes_of_one_folders_policy_is_no_answer_about_another);
	tcase_add_test(c, in_remote_mode_the_command_line_answers_no_question_and_says_so);
	tcase_add_test(c, a_no_on_the_command_line_answers_the_question);
	tcase_add_test(c, a_policy_that_allows_more_than_a_message_shows_is_not_asked_about_in_one);
	tcase_add_test(c, a_rule_cannot_write_the_question_about_it);
	tcase_add_test(c, a_version_that_was_trusted_and_is_an_error_by_now_allows_nothing);
	tcase_add_test(c, a_policy_is_trusted_in_slack);
	return run_suite(s);
}
