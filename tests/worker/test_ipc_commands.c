/* The IPC socket of mcp-front: each command becomes its row. */
#include "ipc_case.h"

#include <stdlib.h>
#include <string.h>

START_TEST(each_answer_is_a_decision_from_the_socket)
{
	given_front();
	given_clearance();
	is_done(order("approve", value(NEWEST), ""), "approved");
	given_clearance();
	is_done(order("approve", value(NEWEST), ",\"note\":\"rename it next\""), "approved");
	expect("SELECT text, source FROM steering", "rename it next|socket\n");
	given_clearance();
	is_done(order("reject", value(NEWEST), ",\"reason\":\"no tests\""), "rejected");
	given_clearance();
	is_done(order("reject", value(NEWEST), ""), "rejected");
	given_prompt();
	is_done(order("continue", value(NEWEST), ""), "answered");
	given_prompt();
	is_refused(order("refine", value(NEWEST), ""), "refine needs an instruction");
	is_done(order("refine", value(NEWEST), ",\"instruction\":\"use tabs\""), "answered");
	given_prompt();
	is_done(order("stop", value(NEWEST), ""), "answered");
	given_standby();
	has(order("resume", value("SELECT id FROM session"), ",\"instruction\":\"next\""),
	    "data.status", "resumed");
	given_standby();
	has(says_back("{\"command\":\"resume\"}"), "data.session_id",
	    value("SELECT id FROM session"));
	is_refused(says_back("{\"command\":\"resume\"}"), "nothing waits for `resume`");
	expect("SELECT verdict, outcome, source, operator_id, coalesce(reason, instruction, '')"
	       "  FROM decision ORDER BY seq",
	       "approve|applied|socket|local:tester|\n"
	       "approve|applied|socket|local:tester|rename it next\n"
	       "reject|applied|socket|local:tester|no tests\n"
	       "reject|applied|socket|local:tester|rejected via ipc\n"
	       "continue|applied|socket|local:tester|\n"
	       "refine|malformed|socket|local:tester|\n"
	       "refine|applied|socket|local:tester|use tabs\n"
	       "stop|applied|socket|local:tester|\n"
	       "resume|applied|socket|local:tester|next\n"
	       "resume|applied|socket|local:tester|\n");
	stop_worker(front);
}
END_TEST

/* A look into a folder, with further members. */
static const char *look(const char *command, const char *folder, const char *more)
{
	OWNED(str) struct str line = { 0 };

	str_addf(&line, "{\"command\":\"%s\",\"workspace\":\"%s\"%s}", command, folder, more);
	return says_back(line.bytes);
}

START_TEST(a_look_is_answered_when_reader_has_settled_it)
{
	const char *reply, *folder;

	given_front();
	given("INSERT INTO setting (name, value, source, updated_at) VALUES ('system.machine', 'h',"
	      " 'system', '2026-01-01T08:00:00.000Z') ON CONFLICT (name) DO NOTHING");
	folder = scratch();
	put_file(folder, "a.txt", "one\ntwo\n");
	(void)start_worker("reader");
	reply = look("show-file", folder, ",\"path\":\"a.txt\",\"lines\":\"2:2\"");
	has(reply, "ok", "true");
	has(reply, "data.text", "two\n");
	has(reply, "data.lines", "2");
	reply = look("list-files", folder, ",\"depth\":1");
	has(reply, "data.directories", "0");
	says(member(reply, "data.text"), "── a.txt\n");
	is_refused(look("list-files", folder, ",\"depth\":11"), "from 1 to 10");
	is_refused(look("show-file", folder, ",\"path\":\"../x\""),
	           "permission denied: \"../x\" leads outside the workspace");
	is_refused(look("show-file", folder, ""), "path is missing");
	expect("SELECT DISTINCT source FROM command", "socket\n");
	stop_worker(front);
}
END_TEST

START_TEST(programs_take_compare_and_restore_checkpoints)
{
	static const char *const NO_PATHS[][2] = {
		{ "[]", "at least one; without it all is put back" },
		{ "[\"\"]", "\"\" is empty" },
		{ "\"my notes.txt\"", "paths must be a list of texts" },
		{ "[\"my notes.txt\",7]", "paths must be a list of texts" },
		{ "{}", "paths must be a list of texts" },
		{ "null", "paths must be a list of texts" },
	};
	OWNED(str) struct str line = { 0 };
	const char *reply, *folder;

	given_front();
	given("INSERT INTO setting (name, value, source, updated_at) VALUES ('system.machine', 'h',"
	      " 'system', '2026-01-01T08:00:00.000Z') ON CONFLICT (name) DO NOTHING");
	folder = scratch();
	put_file(folder, "my notes.txt", "one\n");
	(void)start_worker("archivist");
	(void)start_worker("reader");
	(void)start_worker("applier");
	is_done(look("session-checkpoint", folder, ",\"label\":\"first\""), "ordered");
	expect_soon("SELECT state FROM checkpoint", "done\n");
	has(look("session-checkpoints", folder, ""), "data.checkpoints.0.label", "first");
	has(says_back("{\"command\":\"session-checkpoints\"}"), "data.checkpoints.0.kind",
	    "ordered");
	put_file(folder, "my notes.txt", "two\n");
	put_file(folder, "more.txt", "more\n");
	reply = says_back("{\"command\":\"diff\",\"checkpoint\":\"first\"}");
	has(reply, "data.modified", "1");
	has(reply, "data.added", "1");
	says(member(reply, "data.text"), "-one\n+two\n");
	is_refused(says_back("{\"command\":\"diff\",\"checkpoint\":\"second\"}"),
	           "none is called that");
	is_refused(says_back("{\"command\":\"session-restore\"}"), "which checkpoint?");
	for (size_t i = 0; i < COUNT(NO_PATHS); i++) {
		str_reset(&line);
		str_addf(&line, "{\"command\":\"session-restore\",\"id\":\"first\",\"paths\":%s}",
		         NO_PATHS[i][0]);
		is_refused(says_back(line.bytes), NO_PATHS[i][1]);
	}
	expect("SELECT count(*) FROM workspace_restore", "0\n");
	is_refused(
	    says_back("{\"command\":\"session-restore\",\"id\":\"first\",\"workspace\":\"/x\"}"),
	    ", not of /x");
	str_reset(&line);
	is_done(says_back("{\"command\":\"session-restore\",\"id\":\"first\","
	                  "\"paths\":[\"my notes.txt\"]}"),
	        "ordered");
	expect_soon("SELECT state, added FROM workspace_restore", "asked|0\n");
	is_done(order("approve", value("SELECT id FROM request WHERE kind = 'restore'"), ""),
	        "approved");
	expect_soon("SELECT state FROM workspace_restore", "done\n");
	str_addf(&line, "[ \"$(cat '%s/my notes.txt')\" = one ]", folder);
	ck_assert_int_eq(system(line.bytes), 0);
	stop_worker(front);
}
END_TEST

START_TEST(what_should_be_a_text_and_is_none_is_not_taken_for_missing)
{
	static const char *const OTHERS[] = { "session", "edited", "agent", "workspace" };

	given_front();
	given_clearance();
	is_refused(order("reject", value(NEWEST), ",\"reason\":5"), "reason must be a string");
	is_refused(order("approve", value(NEWEST), ",\"digest\":12345678"),
	           "digest must be a string");
	is_refused(says_back("{\"command\":\"approve\",\"id\":7}"), "id must be a string");
	for (size_t i = 0; i < COUNT(OTHERS); i++) {
		OWNED(str) struct str more = { 0 }, why = { 0 };

		str_addf(&more, ",\"%s\":7", OTHERS[i]);
		str_addf(&why, "%s must be a string", OTHERS[i]);
		is_refused(order("approve", value(NEWEST), more.bytes), why.bytes);
	}
	expect("SELECT count(*) FROM decision", "0\n");
	is_done(order("reject", value(NEWEST), ",\"reason\":null"), "rejected");
	stop_worker(front);
}
END_TEST

START_TEST(each_order_is_a_command_and_each_word_to_an_agent_a_steering)
{
	const char *session;

	given_front();
	session = value("SELECT id FROM session");
	is_done(order("steer", session, ",\"instruction\":\"leave the tests\""), "accepted");
	is_done(says_back("{\"command\":\"task\",\"instruction\":\"then the docs\"}"), "accepted");
	is_refused(order("steer", "nobody", ",\"instruction\":\"x\""), "there is no such session");
	is_refused(order("steer", session, ""), "instruction is missing");
	is_done(order("session-pause", session, ""), "done");
	expect("SELECT status FROM session", "paused\n");
	is_done(order("session-resume", session, ""), "done");
	expect("SELECT status FROM session", "active\n");
	has(order("mode", session, ",\"mode\":\"local\""), "data.current_mode", "local");
	is_refused(order("mode", session, ",\"mode\":\"odd\""), "");
	is_refused(says_back("{\"command\":\"mode\"}"), "mode is missing");
	is_refused(order("undo", "0190", ""), "");
	is_done(order("session-stop", session, ""), "done");
	expect("SELECT status FROM session", "terminated\n");
	expect("SELECT kind, outcome, source, text FROM steering ORDER BY seq",
	       "steer|accepted|socket|leave the tests\ntask|accepted|socket|then the docs\n"
	       "steer|not_found|socket|x\n");
	expect("SELECT verb, outcome, source FROM command ORDER BY seq",
	       "pause|done|socket\nresume|done|socket\nmode|done|socket\nmode|malformed|socket\n"
	       "undo|not_found|socket\nstop|done|socket\n");
	stop_worker(front);
}
END_TEST

START_TEST(the_inbox_says_what_an_approval_lets_happen_and_a_long_command_needs_its_digest)
{
	OWNED(str) struct str line = { 0 };
	OWNED(char_ptr) char *digest = NULL;
	const char *list;

	given_front();
	given_clearance();
	given("INSERT INTO request_file (request_seq, path, target, action, mode, original_hash)"
	      " SELECT seq, 'run.sh', 'run.sh', 'create', 33261, 'new_file' FROM request");
	given_question("permission", ", body",
	               ", (WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE"
	               " i < 60) SELECT group_concat('echo ' || i, char(10)) FROM n)");
	list = says_back("{\"command\":\"inbox\"}");
	has(list, "data.questions.0.changes.0", "create run.sh (mode 755)");
	says(member(list, "data.questions.1.command"), "echo 40\n... ");
	has(list, "data.questions.1.is_whole", "false");
	str_addf(&line, "{\"command\":\"approve\",\"id\":\"%s\"}",
	         member(list, "data.questions.1.request_id"));
	is_refused(says_back(line.bytes), "the inbox does not show all of these");
	expect("SELECT count(*) FROM decision", "0\n");
	digest = rows("SELECT digest FROM request WHERE kind = 'permission'");
	str_reset(&line);
	str_addf(&line, "{\"command\":\"approve\",\"id\":\"%s\",\"digest\":\"%.64s\"}",
	         member(list, "data.questions.1.request_id"), digest);
	has(says_back(line.bytes), "ok", "true");
}
END_TEST

START_TEST(sessions_and_questions_are_listed)
{
	const char *list;

	given_front();
	has(says_back("{\"command\":\"inbox\"}"), "data.questions", "[]");
	given_clearance();
	list = says_back("{\"command\":\"inbox\"}");
	has(list, "data.questions.0.request_id", value(NEWEST));
	has(list, "data.questions.0.kind", "clearance");
	has(list, "data.questions.0.file_path", "a.txt");
	has(list, "data.questions.0.state", "pending");
	list = says_back("{\"command\":\"list\",\"unknown\":[1,{}]}");
	has(list, "data.sessions.0.session_id", value("SELECT id FROM session"));
	has(list, "data.sessions.0.status", "active");
	has(list, "data.sessions.0.last_tool", "ping");
	has(list, "data.sessions.0.paused_why", "");
	given("INSERT INTO pause (session_seq, why, paused_at) VALUES (1, 'it costs too much',"
	      " '2026-01-01T09:00:00.000Z')");
	has(says_back("{\"command\":\"list\"}"), "data.sessions.0.paused_why", "it costs too much");
	given("WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)"
	      "INSERT INTO session (id, machine, owner_user_id, workspace_root, status, mode,"
	      "                     created_at, updated_at)"
	      " SELECT 's' || i, 'h', 'local:tester', '/w', 'active', 'local',"
	      "        '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z' FROM n");
	list = says_back("{\"command\":\"list\"}");
	has(list, "data.more", "true");
	has(list, "data.sessions.999.session_id", "s1098");
	has(list, "data.sessions.1000", "");
	stop_worker(front);
}
END_TEST

START_TEST(an_agent_is_started_and_its_session_restarted_resumed_and_ended)
{
	const char *restarted, *resumed;
	OWNED(char_ptr) char *id = NULL;
	OWNED(str) struct str line = { 0 };

	given_front();
	given("INSERT INTO setting (name, value, source, updated_at) VALUES"
	      " ('system.machine', 'h', 'system', '2026-01-01T09:00:00.000Z'),"
	      " ('workspace', '[{\"id\":\"web\",\"path\":\"/ws/web\"}]', 'file',"
	      "  '2026-01-01T09:00:00.000Z');"
	      "INSERT INTO agent (name, command, args, protocol, env_pass, env_set, acp_version,"
	      "  startup_timeout_ms, max_line_length, framing, is_default, is_builtin, updated_at)"
	      " VALUES ('claude', 'claude', '[]', 'mcp', '[]', '{}', 'auto', 1, 1, 'ndjson', 0, 1,"
	      "  '2026-01-01T09:00:00.000Z')");
	has(says_back("{\"command\":\"session-start\"}"), "error", "ipc: prompt is missing");
	has(says_back("{\"command\":\"session-clear\",\"id\":\"\"}"), "error", "ipc: id is empty");
	has(says_back("{\"command\":\"session-start\",\"prompt\":\"fix it\",\"agent\":\"clod\"}"),
	    "error", "there is no agent 'clod'; there are: claude");
	has(says_back("{\"command\":\"session-start\",\"prompt\":\"--agent x\","
	              "\"agent\":\"claude\",\"workspace\":\"web\"}"),
	    "data.status", "ordered");
	expect("SELECT prompt, workspace_root, owner_user_id FROM session WHERE origin = 'started'",
	       "--agent x|/ws/web|local:tester\n");
	id = rows("SELECT id FROM session WHERE origin = 'started'");
	id[strcspn(id, "\n")] = '\0';
	str_addf(&line, "{\"command\":\"session-restart\",\"id\":\"%s\"}", id);
	has(says_back(str_text(&line)), "data.restart_of", id);
	given("UPDATE agent_run SET state = 'ended', outcome = 'interrupted',"
	      " ended_at = '2026-01-01T09:41:00.000Z' WHERE state = 'wanted'");
	restarted = value("SELECT id FROM session WHERE restart_of IS NOT NULL");
	resumed = order("session-resume", restarted, "");
	has(resumed, "data.status", "ordered");
	has(resumed, "data.current_status", "interrupted");
	has(resumed, "data.agent_state", "starting");
	is_done(order("session-stop", restarted, ""), "done");
	expect("SELECT outcome FROM agent_run", "stopped\ninterrupted\nstopped\n");
	stop_worker(front);
}
END_TEST

START_TEST(an_answer_reaches_the_agent_that_waits)
{
	OWNED(char_ptr) char *asked = proposal("a.txt", "hello\n");
	OWNED(char_ptr) char *answer = NULL;
	struct agent agent;
	struct wire w;

	given_front();
	agent = agent_hello(front_port(), "", "2025-11-25");
	agent_begin(&agent, &w, "check_clearance", asked, NULL);
	expect_soon("SELECT count(*) FROM inbox", "1\n");
	is_done(order("approve", value(NEWEST), ""), "approved");
	answer = agent_end(&w);
	has(answer, "status", "approved");
	stop_worker(front);
}
END_TEST

START_TEST(what_is_said_twice_is_done_once_and_the_second_is_told_how_it_stands)
{
	given_front();
	given_clearance();
	is_done(order("approve", value(NEWEST), ""), "approved");
	is_refused(order("approve", value(NEWEST), ""), "already approved by local:tester");
	is_refused(order("reject", value(NEWEST), ""), "already approved by local:tester");
	expect("SELECT outcome FROM decision ORDER BY seq", "applied\nduplicate\nduplicate\n");
	is_refused(order("approve", "0190-nothing", ""),
	           "no question has an id that begins with '0190-nothing'");
	given_prompt();
	is_refused(order("approve", value(NEWEST), ""), "a prompt takes: continue");
	stop_worker(front);
}
END_TEST

START_TEST(in_remote_mode_only_slack_answers)
{
	given_front();
	given_clearance();
	given_mode("remote");
	is_refused(order("approve", value(NEWEST), ""), "the session is in remote mode");
	expect("SELECT state FROM request", "pending\n");
	stop_worker(front);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ipc");
	TCase *c = tcase_create("ipc");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 90);
	tcase_add_test(c, each_answer_is_a_decision_from_the_socket);
	tcase_add_test(c, what_should_be_a_text_and_is_none_is_not_taken_for_missing);
	tcase_add_test(c, each_order_is_a_command_and_each_word_to_an_agent_a_steering);
	tcase_add_test(c, a_look_is_answered_when_reader_has_settled_it);
	tcase_add_test(c, programs_take_compare_and_restore_checkpoints);
	tcase_add_test(
	    c, the_inbox_says_what_an_approval_lets_happen_and_a_long_command_needs_its_digest);
	tcase_add_test(c, sessions_and_questions_are_listed);
	tcase_add_test(c, an_agent_is_started_and_its_session_restarted_resumed_and_ended);
	tcase_add_test(c, an_answer_reaches_the_agent_that_waits);
	tcase_add_test(c, what_is_said_twice_is_done_once_and_the_second_is_told_how_it_stands);
	tcase_add_test(c, in_remote_mode_only_slack_answers);
	suite_add_tcase(s, c);
	return run_suite(s);
}
