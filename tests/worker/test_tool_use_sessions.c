/* One run of an agent's own program is one session, and outlives everything of ours. */
#include "tool_use_case.h"

#include <sys/wait.h>

static const char READ[] = "{\"file_path\":\"/etc/hostname\"}";

/* An MCP client of the same program on the agents' socket. */
static void hello_as(struct gate_client *c, const char *name, const char *version)
{
	OWNED(str) struct str hello = { 0 };
	OWNED(char_ptr) char *answer = NULL;

	str_addf(&hello,
	         "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
	         "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"
	         "\"clientInfo\":{\"name\":\"%s\",\"version\":\"%s\"}}}\n",
	         name, version);
	ck_assert_int_eq(send(c->fd, hello.bytes, hello.length, MSG_NOSIGNAL), (int)hello.length);
	answer = gate_reply(c);
}

static void greet_mcp_as(struct gate_client *c, const char *name, const char *version)
{
	gate_connect(c);
	hello_as(c, name, version);
}

static void greet_mcp(struct gate_client *c)
{
	greet_mcp_as(c, "tester", "1");
}

static void ping(struct gate_client *c)
{
	static const char PING[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
	                           "\"params\":{\"name\":\"ping\",\"arguments\":{}}}\n";
	OWNED(char_ptr) char *answer = NULL;

	ck_assert_int_gt(send(c->fd, PING, sizeof(PING) - 1, MSG_NOSIGNAL), 0);
	answer = gate_reply(c);
}

static void read_file(const char *session)
{
	OWNED(char_ptr)
	char *answer = gate_ask("PreToolUse", tool_of(session, workspace, "Read", READ));

	decides(answer, "allow", NULL);
}

START_TEST(hooks_of_one_host_session_are_one_session)
{
	given_hooks();
	read_file("s1");
	read_file("s1");
	read_file("s2");
	expect("SELECT session_seq, count(*) FROM gate_call GROUP BY 1", "1|2\n2|1\n");
	expect("SELECT count(*) FROM session WHERE status = 'active'", "2\n");
}
END_TEST

START_TEST(hook_and_mcp_of_one_program_are_one_session_when_the_hook_comes_first)
{
	struct gate_client mcp;

	given_hooks();
	read_file("s1");
	greet_mcp(&mcp);
	ping(&mcp);
	expect("SELECT count(*) FROM session", "1\n");
	expect("SELECT transport FROM connection WHERE session_seq = 1 ORDER BY seq",
	       "hook\nstdio\n");
	gate_close(&mcp);
}
END_TEST

START_TEST(hook_and_mcp_of_one_program_are_one_session_when_mcp_comes_first)
{
	struct gate_client mcp;

	given_hooks();
	greet_mcp(&mcp);
	ping(&mcp);
	read_file("s1");
	expect("SELECT count(*) FROM session", "1\n");
	read_file("s2"); /* another session of the same program, as after /clear without an end */
	expect("SELECT count(*) FROM session", "2\n");
	gate_close(&mcp);
}
END_TEST

static void reads_as(const char *host, const char *event, const char *env)
{
	OWNED(char_ptr) char *answer = NULL;
	struct gate_client h;

	gate_connect(&h);
	gate_send(&h, host, event, tool_of(host, workspace, "read_file", READ), 5000, env);
	answer = gate_end(&h);
	decides(answer, "allow", NULL);
}

START_TEST(a_call_of_a_hook_has_the_version_that_its_host_says)
{
	given_hooks();
	reads_as("qwen", "PreToolUse", "{\"QWEN_CODE_STARTUP_VERSION\":\"0.24.4\"}");
	reads_as("qwen", "PreToolUse", NULL);
	expect("SELECT host, version FROM gate_call ORDER BY seq", "qwen|0.24.4\nqwen|\n");
}
END_TEST

START_TEST(a_call_of_a_hook_has_the_version_of_its_hosts_mcp_client)
{
	struct gate_client mcp;

	given_hooks();
	reads_as("gemini", "BeforeTool", NULL);
	greet_mcp_as(&mcp, "gemini-cli-mcp-client-intercom", "0.61.0");
	reads_as("gemini", "BeforeTool", NULL);
	expect("SELECT host, version FROM gate_call ORDER BY seq", "gemini|\ngemini|0.61.0\n");
	gate_close(&mcp);
}
END_TEST

START_TEST(the_version_of_another_programs_client_is_not_that_of_a_host)
{
	struct gate_client mcp;

	given_hooks();
	reads_as("qwen", "PreToolUse", NULL);
	greet_mcp_as(&mcp, "qwen-cli-mcp-client-intercom", "0.0.1"); /* its client's own */
	ping(&mcp);
	reads_as("qwen", "PreToolUse", NULL);
	expect("SELECT count(*) FROM session", "1\n");
	expect("SELECT count(version) FROM gate_call", "0\n");
	gate_close(&mcp);
}
END_TEST

START_TEST(a_session_that_the_environment_names_is_that_one)
{
	OWNED(char_ptr) char *answer = NULL;
	struct gate_client h;
	char sql[1000], env[200];

	given_hooks();
	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO session (id, machine, owner_user_id, workspace_root, status, "
	               "mode, created_at, updated_at) VALUES ('mine', 'h', 'local:tester', '%s', "
	               "'active', 'local', '%s', '%s')",
	               workspace, clock_now().text, clock_now().text);
	given(sql);
	(void)snprintf(env, sizeof(env), "{\"INTERCOM_SESSION_ID\":\"mine\"}");
	gate_connect(&h);
	gate_send(&h, "claude", "PreToolUse", tool_of("s1", workspace, "Read", READ), 5000, env);
	answer = gate_end(&h);
	decides(answer, "allow", NULL);
	expect("SELECT s.id FROM gate_call AS g JOIN session AS s ON s.seq = g.session_seq",
	       "mine\n");
}
END_TEST

START_TEST(a_session_ends_with_its_host_and_begins_again)
{
	OWNED(char_ptr) char *start = NULL;
	OWNED(char_ptr) char *end = NULL;

	given_hooks();
	start = gate_ask("SessionStart", "{\"session_id\":\"s1\",\"source\":\"startup\"}");
	decides(start, "none", NULL);
	expect("SELECT status FROM session", "active\n");
	end = gate_ask("SessionEnd", "{\"session_id\":\"s1\",\"reason\":\"exit\"}");
	decides(end, "none", NULL);
	expect("SELECT status, terminated_at IS NOT NULL FROM session", "terminated|1\n");
	expect("SELECT state FROM connection", "closed\n");
	read_file("s1");
	expect("SELECT status FROM session ORDER BY seq", "terminated\nactive\n");
}
END_TEST

START_TEST(a_session_with_an_open_question_does_not_end)
{
	OWNED(char_ptr) char *end = NULL;
	struct gate_client h;

	given_hooks();
	h = gate_begin("PreToolUse", bash("make install"));
	asked(1);
	gate_close(&h);
	end = gate_ask("SessionEnd", "{\"session_id\":\"s1\",\"reason\":\"exit\"}");
	decides(end, "none", NULL);
	expect("SELECT status, connectivity_status FROM session", "active|offline\n");
}
END_TEST

START_TEST(a_stop_of_the_operator_holds_until_the_agent_is_started_again)
{
	OWNED(char_ptr) char *stopped = NULL;
	OWNED(char_ptr) char *start = NULL;

	given_hooks();
	read_file("s1");
	given("INSERT INTO command (verb, session_id) SELECT 'stop', id FROM session");
	stopped = gate_ask("PreToolUse", bash("ls"));
	says(member(stopped, "message"), "terminated");
	start = gate_ask("SessionStart", "{\"session_id\":\"s1\",\"source\":\"resume\"}");
	decides(start, "none", NULL);
	read_file("s1");
}
END_TEST

START_TEST(while_a_session_is_paused_its_tools_wait)
{
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *note = NULL;
	OWNED(char_ptr) char *late = NULL;
	struct gate_client h;

	given_hooks();
	read_file("s1");
	given("INSERT INTO command (verb, session_id) SELECT 'pause', id FROM session");
	gate_connect(&h);
	gate_send(&h, "claude", "PreToolUse", tool_of("s1", workspace, "Read", READ), 2000, NULL);
	late = gate_end(&h);
	decides(late, "deny", "paused");
	h = gate_begin("PreToolUse", tool_of("s1", workspace, "Read", READ));
	note = gate_ask("Notification", "{\"session_id\":\"s1\",\"message\":\"waiting\"}");
	decides(note, "none", NULL);
	given("INSERT INTO command (verb, session_id) SELECT 'resume', id FROM session");
	answer = gate_end(&h);
	decides(answer, "allow", NULL);
}
END_TEST

START_TEST(words_of_the_operator_come_with_the_next_tool)
{
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *again = NULL;

	given_hooks();
	read_file("s1");
	given("INSERT INTO steering (session_id, text) SELECT id, 'leave the tests alone' "
	      "FROM session");
	answer = gate_ask("PreToolUse", tool_of("s1", workspace, "Read", READ));
	says(member(answer, "context"), "leave the tests alone");
	expect("SELECT delivered_at IS NOT NULL FROM steering", "1\n");
	again = gate_ask("PreToolUse", tool_of("s1", workspace, "Read", READ));
	ck_assert_str_eq(member(again, "context"), "");
}
END_TEST

static char *gemini(const char *tool, const char *arguments)
{
	struct gate_client h;

	gate_connect(&h);
	gate_send(&h, "gemini", "BeforeTool", tool_of("g1", workspace, tool, arguments), 5000,
	          NULL);
	return gate_end(&h);
}

START_TEST(to_a_host_that_shows_only_reasons_they_come_with_the_next_denial)
{
	OWNED(char_ptr) char *first = NULL;
	OWNED(char_ptr) char *allowed = NULL;
	OWNED(char_ptr) char *denied = NULL;

	given_hooks();
	first = gemini("read_file", "{\"file_path\":\"a\"}");
	decides(first, "allow", NULL);
	given("INSERT INTO steering (session_id, text) SELECT id, 'leave the tests alone' "
	      "FROM session");
	allowed = gemini("read_file", "{\"file_path\":\"a\"}");
	ck_assert_str_eq(member(allowed, "context"), "");
	expect("SELECT delivered_at IS NULL FROM steering", "1\n");
	denied = gemini("write_file", "{\"file_path\":\".git/config\",\"content\":\"x\"}");
	decides(denied, "deny", "protected");
	says(member(denied, "reason"), "leave the tests alone");
}
END_TEST

START_TEST(a_front_that_is_killed_while_a_hook_waits_loses_nothing)
{
	OWNED(char_ptr) char *nothing = NULL;
	OWNED(char_ptr) char *answer = NULL;
	struct gate_client h;

	given_hooks();
	h = gate_begin("PreToolUse", bash("make install"));
	asked(1);
	restart_front();
	nothing = gate_line(&h);
	ck_assert_ptr_null(nothing);
	gate_close(&h);
	h = gate_begin("PreToolUse", bash("make install"));
	asked(2); /* calls, of one question */
	expect("SELECT count(*) FROM request", "1\n");
	approve_all();
	answer = gate_end(&h);
	decides(answer, "allow", NULL);
	expect("SELECT count(*) FROM session", "1\n");
	expect("SELECT count(*) FROM gate_call WHERE decision = 'allow'", "1\n");
}
END_TEST

START_TEST(an_answer_given_while_no_front_runs_is_found_once)
{
	OWNED(char_ptr) char *answer = NULL;
	struct gate_client h;

	given_hooks();
	h = gate_begin("PreToolUse", bash("make install"));
	asked(1);
	kill_worker(front);
	gate_close(&h);
	approve_all();
	front = start_worker("mcp-front");
	answer = gate_ask("PreToolUse", bash("make install"));
	decides(answer, "allow", NULL);
	h = gate_begin("PreToolUse", bash("make install"));
	expect_soon("SELECT count(*) FROM request", "2\n");
	gate_close(&h);
}
END_TEST

START_TEST(a_hundred_hooks_at_once_are_answered)
{
	enum { MANY = 100 };
	struct gate_client all[MANY];

	given_hooks();
	for (int i = 0; i < MANY; i++) {
		char command[40];

		(void)snprintf(command, sizeof(command), "echo %d", i);
		all[i] = gate_begin("PreToolUse",
		                    i % 2 ? bash(command) : tool_of("s1", workspace, "Read", READ));
	}
	asked(MANY / 2);
	approve_all();
	for (int i = 0; i < MANY; i++) {
		OWNED(char_ptr) char *answer = gate_end(&all[i]);

		decides(answer, "allow", NULL);
	}
	expect("SELECT count(*), sum(decision = 'allow') FROM gate_call", "100|100\n");
	expect("SELECT count(*) FROM session", "1\n");
}
END_TEST

START_TEST(a_hook_that_is_killed_while_it_waits_leaves_the_question)
{
	OWNED(char_ptr) char *answer = NULL;
	struct gate_client h;

	given_hooks();
	h = gate_begin("PreToolUse", bash("make install"));
	asked(1);
	gate_close(&h);
	expect_soon("SELECT decision FROM gate_call", "deny\n");
	expect("SELECT state FROM tool_call", "cancelled\n");
	expect("SELECT state FROM request", "pending\n");
	approve_all();
	answer = gate_ask("PreToolUse", bash("make install"));
	decides(answer, "allow", NULL);
}
END_TEST

/* What a session of a host asked, which nobody waits for. */
static void parks(const char *session)
{
	struct gate_client h = gate_begin(
	    "PreToolUse", tool_of(session, workspace, "Bash", "{\"command\":\"make install\"}"));

	asked(1);
	gate_close(&h);
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'waiting'", "0\n");
}

/* It has to be asked about, though another session has asked the same. */
static void asks_anew(const char *session, const char *questions)
{
	struct gate_client h = gate_begin(
	    "PreToolUse", tool_of(session, workspace, "Bash", "{\"command\":\"make install\"}"));

	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'waiting'", "1\n");
	expect("SELECT count(*) FROM request", questions);
	gate_close(&h);
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'waiting'", "0\n");
}

static void finds_its_answer(const char *session)
{
	OWNED(char_ptr)
	char *answer = gate_ask(
	    "PreToolUse", tool_of(session, workspace, "Bash", "{\"command\":\"make install\"}"));

	decides(answer, "allow", NULL);
}

/* Runs a part of a test as the hook of another host process, which then ends. */
static void in_another_host(void (*part)(const char *session), const char *session)
{
	pid_t host = fork();
	int status = 0;

	ck_assert_int_ge(host, 0);
	if (host == 0) {
		pid_t hook = fork();

		if (hook == 0) {
			part(session);
			_exit(0);
		}
		_exit(hook < 0 || waitpid(hook, &status, 0) != hook || status != 0);
	}
	ck_assert(waitpid(host, &status, 0) == host && status == 0);
}

START_TEST(an_answer_is_for_the_session_that_asked_while_that_may_be_alive)
{
	given_hooks();
	parks("s1");
	asks_anew("s2", "2\n");
	approve_all();
	asks_anew("s3", "3\n");
	advance(600000);
	asks_anew("s3", "3\n");
	asks_anew("s4", "4\n");
	finds_its_answer("s1");
	finds_its_answer("s2");
}
END_TEST

START_TEST(a_session_whose_host_says_that_it_has_ended_leaves_its_answer)
{
	OWNED(char_ptr) char *end = NULL;

	given_hooks();
	parks("s1");
	end = gate_ask("SessionEnd", "{\"session_id\":\"s1\",\"reason\":\"clear\"}");
	approve_all();
	finds_its_answer("s2");
	expect("SELECT count(*) FROM request", "1\n");
}
END_TEST

START_TEST(a_session_whose_host_was_killed_leaves_its_answer)
{
	given_hooks();
	in_another_host(parks, "s1");
	approve_all();
	finds_its_answer("s2");
	expect("SELECT count(*) FROM request", "1\n");
}
END_TEST

static void parks_beside_another(const char *session)
{
	parks(session);
	asks_anew("s2", "2\n");
}

START_TEST(of_two_sessions_that_ask_the_same_each_has_its_own_question)
{
	given_hooks();
	in_another_host(parks_beside_another, "s1");
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'approve' FROM request"
	      " WHERE seq = 2");
	finds_its_answer("s2");
	asks_anew("s2", "3\n");
	asks_anew("s2", "3\n");
	approve_all();
	finds_its_answer("s2");
}
END_TEST

START_TEST(an_approval_that_was_used_hides_no_question_that_was_left_open)
{
	given_hooks();
	in_another_host(parks_beside_another, "s1");
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'approve' FROM request"
	      " WHERE seq = 2");
	in_another_host(finds_its_answer, "s2");
	asks_anew("s3", "2\n");
}
END_TEST

/* Its hook has gone, and nobody answers in time. */
static void given_time_out(const char *session)
{
	parks(session);
	advance(3600000);
	expect_soon("SELECT state, delivered_at IS NULL FROM request", "expired|1\n");
}

START_TEST(a_time_out_that_nobody_heard_is_told_to_who_asks_the_same_soon)
{
	OWNED(char_ptr) char *answer = NULL;

	given_hooks();
	given_time_out("s1");
	answer = gate_ask("PreToolUse",
	                  tool_of("s1", workspace, "Bash", "{\"command\":\"make install\"}"));
	decides(answer, "deny", "nobody has answered");
	asks_anew("s1", "2\n");
}
END_TEST

START_TEST(a_time_out_that_nobody_heard_is_no_answer_later)
{
	given_hooks();
	given_time_out("s1");
	advance(600000);
	asks_anew("s1", "2\n");
}
END_TEST

START_TEST(a_session_that_was_resumed_in_another_process_keeps_its_answer)
{
	given_hooks();
	in_another_host(parks, "s1");
	read_file("s1");
	approve_all();
	asks_anew("s2", "2\n");
	finds_its_answer("s1");
}
END_TEST

/* ---- folders ---- */

static char elsewhere[700];

static void given_elsewhere(void)
{
	(void)snprintf(elsewhere, sizeof(elsewhere), "%s-elsewhere", workspace);
	(void)mkdir(elsewhere, 0755);
}

static void given_docs_may_be_written(void)
{
	given_hooks();
	given_elsewhere();
	given_policy("{\"enabled\":true,\"file_patterns\":{\"write\":[\"docs/**\"]}}");
	(void)mkdir(below(workspace, "docs"), 0755);
}

/* A session of that name writes docs/x of the workspace, from a folder. */
static struct gate_client writes_docs(const char *session, const char *folder, const char *env)
{
	OWNED(str) struct str arguments = { 0 };
	struct gate_client h;

	str_addf(&arguments, "{\"file_path\":\"%s/docs/x\",\"content\":\"x\"}", workspace);
	gate_connect(&h);
	gate_send(&h, "claude", "PreToolUse", tool_of(session, folder, "Write", arguments.bytes),
	          GATE_PATIENCE_MS, env);
	return h;
}

static void may_write_docs(const char *session, const char *folder, const char *env)
{
	struct gate_client h = writes_docs(session, folder, env);
	OWNED(char_ptr) char *answer = gate_end(&h);

	decides(answer, "allow", NULL);
}

static void is_asked_elsewhere(const char *session)
{
	struct gate_client h = writes_docs(session, elsewhere, NULL);

	asked(1);
	expect("SELECT s.workspace_root LIKE '%-elsewhere', r.risk_level FROM request AS r"
	       " JOIN session AS s ON s.seq = r.session_seq",
	       "1|critical\n");
	gate_close(&h);
}

START_TEST(a_policy_is_for_no_host_elsewhere_that_names_the_same_session)
{
	given_docs_may_be_written();
	may_write_docs("s1", workspace, NULL);
	in_another_host(is_asked_elsewhere, "s1");
	may_write_docs("s1", workspace, NULL);
	expect("SELECT session_seq, count(*) FROM gate_call GROUP BY 1", "1|2\n2|1\n");
}
END_TEST

START_TEST(a_host_whose_project_is_elsewhere_has_a_session_of_its_own)
{
	OWNED(str) struct str there = { 0 };
	OWNED(str) struct str here = { 0 };
	struct gate_client h;

	given_docs_may_be_written();
	str_addf(&here, "{\"CLAUDE_PROJECT_DIR\":\"%s\"}", workspace);
	str_addf(&there, "{\"CLAUDE_PROJECT_DIR\":\"%s\"}", elsewhere);
	may_write_docs("s1", workspace, here.bytes);
	may_write_docs("s1", elsewhere, here.bytes); /* it has changed its folder */
	h = writes_docs("s1", workspace, there.bytes);
	asked(1);
	gate_close(&h);
	expect("SELECT session_seq, count(*) FROM gate_call GROUP BY 1", "1|2\n2|1\n");
}
END_TEST

START_TEST(a_host_that_changes_its_folder_stays_in_its_session)
{
	given_docs_may_be_written();
	may_write_docs("s1", workspace, NULL);
	may_write_docs("s1", elsewhere, NULL);
	expect("SELECT session_seq, count(*) FROM gate_call GROUP BY 1", "1|2\n");
}
END_TEST

START_TEST(a_hook_does_not_join_a_client_of_its_program_in_another_folder)
{
	OWNED(str) struct str greeting = { 0 };
	struct gate_client mcp;

	given_docs_may_be_written();
	str_addf(&greeting, "{\"agent-intercom\":1,\"workspace\":\"%s\"}\n", elsewhere);
	gate_greet(&mcp, greeting.bytes);
	hello_as(&mcp, "tester", "1");
	ping(&mcp);
	may_write_docs("s1", workspace, NULL);
	expect("SELECT workspace_root LIKE '%-elsewhere' FROM session ORDER BY seq", "1\n0\n");
	gate_close(&mcp);
}
END_TEST

START_TEST(a_client_that_names_a_workspace_does_not_join_a_hook_of_its_program_elsewhere)
{
	OWNED(str) struct str greeting = { 0 };
	struct gate_client mcp;

	given_docs_may_be_written();
	may_write_docs("s1", workspace, NULL);
	str_addf(&greeting,
	         "INSERT OR REPLACE INTO setting (name, value, source, updated_at)"
	         " VALUES ('workspace', '[{\"id\":\"two\",\"path\":\"%s\"}]', 'file',"
	         " '2026-01-01T08:00:00.000Z')",
	         elsewhere);
	given(greeting.bytes);
	restart_front();
	str_reset(&greeting);
	str_addf(&greeting,
	         "{\"agent-intercom\":1,\"workspace\":\"%s\",\"workspace_id\":\"two\"}\n",
	         workspace);
	gate_greet(&mcp, greeting.bytes);
	hello_as(&mcp, "tester", "1");
	ping(&mcp);
	expect("SELECT workspace_root LIKE '%-elsewhere' FROM session ORDER BY seq", "0\n1\n");
	gate_close(&mcp);
}
END_TEST

START_TEST(a_hook_joins_a_client_of_its_program_in_its_folder_by_another_name)
{
	OWNED(str) struct str other = { 0 };
	struct gate_client mcp;

	given_hooks();
	str_addf(&other, "%s-link", workspace);
	(void)unlink(other.bytes);
	ck_assert_int_eq(symlink(workspace, other.bytes), 0);
	greet_mcp(&mcp);
	ping(&mcp);
	decides(gate_ask("PreToolUse", tool_of("s1", other.bytes, "Read", READ)), "allow", NULL);
	expect("SELECT count(*) FROM session", "1\n");
	gate_close(&mcp);
}
END_TEST

/* An MCP client of the same program that has said something about itself. */
static void ping_as(struct gate_client *mcp, const char *folder, const char *more)
{
	OWNED(str) struct str greeting = { 0 };

	str_addf(&greeting, "{\"agent-intercom\":1,\"workspace\":\"%s\"%s}\n", folder, more);
	gate_greet(mcp, greeting.bytes);
	hello_as(mcp, "tester", "1");
	ping(mcp);
}

static void given_folders_with_channels(void)
{
	OWNED(str) struct str sql = { 0 };

	given_docs_may_be_written();
	str_addf(&sql,
	         "INSERT OR REPLACE INTO setting (name, value, source, updated_at) VALUES"
	         " ('workspace', '[{\"id\":\"one\",\"path\":\"%s\",\"channel_id\":\"C0ONE\"},"
	         "{\"id\":\"two\",\"path\":\"%s\",\"channel_id\":\"C0TWO\"}]', 'file',"
	         " '2026-01-01T08:00:00.000Z')",
	         workspace, elsewhere);
	given(sql.bytes);
	restart_front();
}

START_TEST(a_hook_asks_in_the_channel_of_its_folder_whatever_its_program_has_elsewhere)
{
	struct gate_client mcp;

	given_folders_with_channels();
	ping_as(&mcp, elsewhere, "");
	may_write_docs("s1", workspace, NULL);
	expect("SELECT channel_id FROM session ORDER BY seq", "C0TWO\nC0ONE\n");
	gate_close(&mcp);
}
END_TEST

START_TEST(a_client_names_the_session_of_its_hooks)
{
	struct gate_client first, second;

	given_folders_with_channels();
	may_write_docs("s1", workspace, NULL);
	ping_as(&first, workspace, ",\"agent\":\"a5\",\"channel_id\":\"C0ONE\"");
	may_write_docs("s1", workspace, NULL);
	expect("SELECT label, channel_id FROM session", "a5|C0ONE\n");
	ping_as(&second, workspace, ",\"agent\":\"a6\"");
	expect("SELECT label FROM session ORDER BY seq", "a5\na6\n");
	gate_close(&second);
	gate_close(&first);
}
END_TEST

START_TEST(a_client_that_asks_elsewhere_than_the_hooks_of_its_program_has_its_own_session)
{
	struct gate_client mcp;

	given_folders_with_channels();
	may_write_docs("s1", workspace, NULL);
	ping_as(&mcp, workspace, ",\"channel_id\":\"C0TWO\"");
	expect("SELECT channel_id FROM session ORDER BY seq", "C0ONE\nC0TWO\n");
	gate_close(&mcp);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tool_use_sessions");
	TCase *c = store_case(s, "tool_use_sessions", 60);

	tcase_add_test(c, hooks_of_one_host_session_are_one_session);
	tcase_add_test(c, hook_and_mcp_of_one_program_are_one_session_when_the_hook_comes_first);
	tcase_add_test(c, hook_and_mcp_of_one_program_are_one_session_when_mcp_comes_first);
	tcase_add_test(c, a_call_of_a_hook_has_the_version_that_its_host_says);
	tcase_add_test(c, a_call_of_a_hook_has_the_version_of_its_hosts_mcp_client);
	tcase_add_test(c, the_version_of_another_programs_client_is_not_that_of_a_host);
	tcase_add_test(c, a_session_that_the_environment_names_is_that_one);
	tcase_add_test(c, a_session_ends_with_its_host_and_begins_again);
	tcase_add_test(c, a_session_with_an_open_question_does_not_end);
	tcase_add_test(c, a_stop_of_the_operator_holds_until_the_agent_is_started_again);
	tcase_add_test(c, while_a_session_is_paused_its_tools_wait);
	tcase_add_test(c, words_of_the_operator_come_with_the_next_tool);
	tcase_add_test(c, to_a_host_that_shows_only_reasons_they_come_with_the_next_denial);
	tcase_add_test(c, a_front_that_is_killed_while_a_hook_waits_loses_nothing);
	tcase_add_test(c, an_answer_given_while_no_front_runs_is_found_once);
	tcase_add_test(c, a_hundred_hooks_at_once_are_answered);
	tcase_add_test(c, a_hook_that_is_killed_while_it_waits_leaves_the_question);
	tcase_add_test(c, an_answer_is_for_the_session_that_asked_while_that_may_be_alive);
	tcase_add_test(c, a_session_whose_host_says_that_it_has_ended_leaves_its_answer);
	tcase_add_test(c, a_session_whose_host_was_killed_leaves_its_answer);
	tcase_add_test(c, of_two_sessions_that_ask_the_same_each_has_its_own_question);
	tcase_add_test(c, an_approval_that_was_used_hides_no_question_that_was_left_open);
	tcase_add_test(c, a_time_out_that_nobody_heard_is_told_to_who_asks_the_same_soon);
	tcase_add_test(c, a_time_out_that_nobody_heard_is_no_answer_later);
	tcase_add_test(c, a_session_that_was_resumed_in_another_process_keeps_its_answer);
	tcase_add_test(c, a_policy_is_for_no_host_elsewhere_that_names_the_same_session);
	tcase_add_test(c, a_host_whose_project_is_elsewhere_has_a_session_of_its_own);
	tcase_add_test(c, a_host_that_changes_its_folder_stays_in_its_session);
	tcase_add_test(c, a_hook_does_not_join_a_client_of_its_program_in_another_folder);
	tcase_add_test(
	    c, a_client_that_names_a_workspace_does_not_join_a_hook_of_its_program_elsewhere);
	tcase_add_test(c, a_hook_joins_a_client_of_its_program_in_its_folder_by_another_name);
	tcase_add_test(c,
	               a_hook_asks_in_the_channel_of_its_folder_whatever_its_program_has_elsewhere);
	tcase_add_test(c, a_client_names_the_session_of_its_hooks);
	tcase_add_test(
	    c, a_client_that_asks_elsewhere_than_the_hooks_of_its_program_has_its_own_session);
	return run_suite(s);
}
