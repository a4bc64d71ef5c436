/* agent-intercom-ctl: the real program on a real database, its output and the rows behind it. */
#include "ctl_case.h"
#include "process_name.h"

/* ---- lists ---- */

START_TEST(list_has_the_json_of_the_seeds)
{
	given_sessions();
	ctl("list");
	done("{\"sessions\":[{\"session_id\":\"" SESSION_A
	     "\",\"status\":\"active\",\"mode\":\"local\",\"workspace_root\":\"/ws/a\","
	     "\"last_tool\":null,\"updated_at\":\"" T "\",\"last_activity_at\":null,"
	     "\"owner\":\"local:tester\",\"agent\":\"claude\",\"prompt\":null,\"usage\":null},"
	     "{\"session_id\":\"" SESSION_B
	     "\",\"status\":\"active\",\"mode\":\"local\",\"workspace_root\":\"/ws/b\","
	     "\"last_tool\":\"standby\",\"updated_at\":\"" T "\",\"last_activity_at\":null,"
	     "\"owner\":\"local:tester\",\"agent\":null,\"prompt\":null,\"usage\":null}]}\n");
	ctl("--text list");
	ck_assert_int_eq(status, 0);
	says("ID             STATUS  MODE");
	says("01900000-0000  active  local  online");
	says("claude  local:tester        /ws/a");
}
END_TEST

/* The hooks of a session, whose host is this process, or NULL: not known. */
static void given_hooks_of(int session, const char *process)
{
	char sql[500];

	(void)snprintf(
	    sql, sizeof(sql),
	    "INSERT INTO connection (key, machine, transport, protocol_version, identity,"
	    " process, session_seq, created_at) VALUES ('k%d', 'h', 'hook', '', '{}',"
	    " %s%s%s, %d, '" T "')",
	    session, process ? "'" : "", process ? process : "NULL", process ? "'" : "", session);
	given(sql);
}

START_TEST(list_says_of_a_session_of_hooks_what_is_known)
{
	char here[PROCESS_NAME_BYTES];

	given_sessions();
	ck_assert(process_name_of(getpid(), here));
	given_hooks_of(1, here);
	given_hooks_of(2, NULL);
	ctl("--text list");
	says("01900000-0000  active  local  online");
	says("01900000-1111  active  local  unknown");
	given("UPDATE connection SET process = '1.1.elsewhere' WHERE session_seq = 1");
	ctl("--text list");
	says("01900000-0000  active  local  gone");
	given("INSERT INTO connection (key, machine, transport, protocol_version, identity,"
	      " session_seq, created_at) VALUES ('s', 'h', 'stdio', '', '{}', 1, '" T "')");
	ctl("--text list");
	says("01900000-0000  active  local  online");
}
END_TEST

START_TEST(which_budget_has_paused_a_session_is_listed)
{
	given_sessions();
	given("INSERT INTO command (verb, session_id, argument, operator_id, source)"
	      " VALUES ('pause', '" SESSION_A
	      "', 'The budget is used up', 'system:clock', 'budget')");
	ctl("list");
	says("\"status\":\"paused\",\"paused_why\":\"The budget is used up\",");
	ctl("--text list");
	says("The budget is used up  /ws/a");
	ctl("--text log");
	says("session.paused       01900000-0000  {\"from\":\"active\",\"why\":\"The budget is "
	     "used up\"}\n");
	ctl("--text health");
	says("session 01900000-0000");
	says("The budget is used up\n");
}
END_TEST

START_TEST(empty_lists_say_so)
{
	ctl("list");
	done("{\"sessions\":[]}\n");
	ctl("list --text");
	done("no sessions\n");
	ctl("inbox");
	done("{\"inbox\":[]}\n");
	ctl("inbox --text");
	done("nothing waits for you\n");
}
END_TEST

START_TEST(the_inbox_tells_who_listens)
{
	given_questions();
	given(
	    "INSERT INTO worker (id, name, machine, pid, version, state, started_at, heartbeat_at)"
	    " VALUES ('w', 'mcp-front', 'h', 1, 'x', 'starting', '" T "', '" T "');"
	    "UPDATE worker SET state = 'ready';"
	    "INSERT INTO connection (key, machine, transport, protocol_version, identity, "
	    "created_at)"
	    " VALUES ('k', 'h', 'http', '2025-06-18', '{}', '" T "');"
	    "INSERT INTO tool_call (connection_seq, session_seq, rpc_id, era, tool, digest, state,"
	    " request_seq, listener, created_at) VALUES (1, 1, '1', 'modern', 'check_clearance',"
	    " 'd', 'waiting', 1, 'w', '" T "')");
	ctl("inbox --text");
	ck_assert_int_eq(status, 0);
	says("ID             KIND       AGE");
	says("high  yes        a.c: Add a line\n");
	says("low   no         b.c: A new file\n");
	ctl("inbox --json");
	says("{\"inbox\":[{\"id\":\"" CHANGE "\",\"kind\":\"clearance\",\"state\":\"pending\"");
	says("\"listening\":true,\"changes\":[],\"command\":null,\"is_whole\":true},{\"id\":"
	     "\"" CHANGE_2 "\"");
	ctl("show " CHANGE " --text");
	says("listening yes\n");
	ctl("approve " CHANGE " --text");
	done("Approved 01911111-0000: Add a line (a.c)\n");
	expect("SELECT state FROM tool_call", "answered\n");
}
END_TEST

static void given_driven_run(void)
{
	given(
	    "INSERT INTO agent_run (seq, session_seq, generation, machine, agent, protocol, state,"
	    " created_at) VALUES (1, 1, 1, 'h', 'claude', 'acp', 'wanted', '" T "');"
	    "UPDATE agent_run SET state = 'starting', pid = 7, process_start = 7;"
	    "UPDATE agent_run SET state = 'running', started_at = '" T "';");
}

START_TEST(an_agent_that_asked_on_its_stdout_listens)
{
	given_questions();
	given_driven_run();
	given("INSERT INTO agent_question (request_seq, run_seq, rpc_id, digest)"
	      " VALUES (1, 1, '0', printf('%064d', 1))");
	ctl("inbox");
	says("\"listening\":true,\"changes\":[],\"command\":null,\"is_whole\":true},{\"id\":"
	     "\"" CHANGE_2 "\"");
	ctl("show " CHANGE " --text");
	says("listening yes\n");
	ctl("approve " CHANGE " --text");
	done("Approved 01911111-0000: Add a line (a.c)\n");
}
END_TEST

START_TEST(who_pauses_an_agent_at_work_is_told_what_goes_on)
{
	static const char *const TURNS[] = {
		"INSERT INTO agent_turn (run_seq, number, began_at) VALUES (1, 1, '" T "')",
		"UPDATE agent_turn SET stop = 'end_turn', ended_at = '" T "'",
	};

	given_questions();
	given_driven_run();
	for (size_t i = 0; i < COUNT(TURNS); i++) {
		given(TURNS[i]);
		ctl("session pause " SESSION_A " --text");
		done(i == 0 ? "Session 01900000-0000 (claude in a) is paused. Its agent is at "
		              "work, and goes "
		              "on until its turn ends or it asks something.\n"
		            : "Session 01900000-0000 (claude in a) is paused.\n");
		ctl("session resume " SESSION_A);
	}
}
END_TEST

START_TEST(who_nudges_an_agent_at_work_is_told_that_its_turn_is_cancelled)
{
	given_sessions();
	given_driven_run();
	given("INSERT INTO agent_turn (run_seq, number, began_at) VALUES (1, 1, '" T "')");
	ctl("nudge " SESSION_A " --text -- wake up");
	says("is told when its turn has ended: that is cancelled, unless it waits for your answer: "
	     "“wake "
	     "up”");
}
END_TEST

/* ---- answers ---- */

START_TEST(approve_answers_what_was_shown)
{
	given_questions();
	ctl("approve " CHANGE);
	done("{\"request_id\":\"" CHANGE "\",\"status\":\"approved\"}\n");
	expect("SELECT request_id, verdict, digest, operator_id, source, outcome FROM decision",
	       CHANGE "|approve|0000000000000000000000000000000000000000000000000000000000000001|"
	              "local:tester|ctl|applied\n");
	expect("SELECT state, decided_by FROM request WHERE seq = 1", "approved|local:tester\n");
	ctl("approve " CHANGE_2 " --text");
	done("Approved 01922222-0000: A new file (b.c)\n"
	     "The agent is not waiting at the moment; it gets this when it is back.\n");
}
END_TEST

START_TEST(an_approval_may_have_a_note)
{
	given_questions();
	ctl("approve " CHANGE " --note 'rename it next' --text");
	done("Approved 01911111-0000: Add a line (a.c), and told the agent\n"
	     "The agent is not waiting at the moment; it gets this when it is back.\n");
	expect("SELECT state, instruction FROM request WHERE seq = 1", "approved|rename it next\n");
	expect("SELECT kind, text, outcome, source FROM steering",
	       "steer|rename it next|accepted|ctl\n");
}
END_TEST

START_TEST(reject_has_a_reason)
{
	given_questions();
	ctl("reject " CHANGE);
	done("{\"request_id\":\"" CHANGE "\",\"status\":\"rejected\"}\n");
	ctl("reject " CHANGE_2 " --reason 'too long'");
	done("{\"request_id\":\"" CHANGE_2 "\",\"status\":\"rejected\"}\n");
	expect("SELECT reason FROM request WHERE kind = 'clearance' ORDER BY seq",
	       "rejected via local CLI\ntoo long\n");
}
END_TEST

START_TEST(who_rejects_without_a_reason_says_none)
{
	given_questions();
	ctl("reject " CHANGE " --reason ''");
	done("{\"request_id\":\"" CHANGE "\",\"status\":\"rejected\"}\n");
	expect("SELECT reason IS NULL FROM request WHERE state = 'rejected'", "1\n");
}
END_TEST

START_TEST(a_second_answer_fails_and_says_who_was_first)
{
	given_questions();
	ctl("approve " CHANGE);
	ctl("reject " CHANGE);
	failed(1, "already approved by local:tester at 20");
	ck_assert_str_eq(str_text(&out), "");
	ctl("--json approve " CHANGE);
	failed(1, "already approved by local:tester at 20");
	says("{\"ok\":false,\"error\":\"already approved by local:tester at 20");
	ctl("stop " PROMPT);
	ctl("continue " PROMPT);
	failed(1, "already answered with 'stop' by local:tester at 20");
	expect("SELECT outcome FROM decision ORDER BY seq",
	       "applied\nduplicate\nduplicate\napplied\nduplicate\n");
}
END_TEST

START_TEST(prompts_take_continue_refine_and_stop)
{
	given_questions();
	ctl("refine " PROMPT " use tabs,  please");
	done("{\"request_id\":\"" PROMPT "\",\"status\":\"answered\",\"decision\":\"refine\"}\n");
	expect("SELECT state, decision, instruction FROM request WHERE kind = 'prompt'",
	       "answered|refine|use tabs, please\n");
	ctl("stop " STANDBY_A);
	done("{\"request_id\":\"" STANDBY_A "\",\"status\":\"answered\",\"decision\":\"stop\"}\n");
}
END_TEST

START_TEST(continue_lets_it_go_on)
{
	given_questions();
	ctl("continue 0193 --text");
	ck_assert_int_eq(status, 0);
	says("Continued 01933333-0000: Go on?\n");
	expect("SELECT state, decision FROM request WHERE kind = 'prompt'", "answered|continue\n");
}
END_TEST

START_TEST(refine_needs_a_text)
{
	given_questions();
	ctl("refine " PROMPT);
	failed(64, "'refine' needs ID TEXT...");
	ctl("refine " PROMPT " '  '");
	failed(1, "Error: refine needs an instruction");
	expect("SELECT state FROM request WHERE kind = 'prompt'", "pending\n");
}
END_TEST

START_TEST(a_verb_of_another_kind_is_refused)
{
	given_questions();
	ctl("approve " PROMPT);
	failed(1, "wrong verb: a prompt takes: ");
	ctl("continue " CHANGE);
	failed(1, "wrong verb: a clearance takes: approve, reject");
	ctl("resume " CHANGE);
	failed(1, "wrong verb: a clearance takes: approve, reject");
}
END_TEST

START_TEST(a_stranger_may_not_decide)
{
	given_questions();
	given("UPDATE operator SET active = 0 WHERE id = 'local:tester'");
	ctl("approve " CHANGE);
	failed(1, "unauthorized: this operator is not active: operator.active is 0");
	ctl("mode local");
	failed(1, "unauthorized: this operator is not active: operator.active is 0");
	expect("SELECT state FROM request WHERE seq = 1", "pending\n");
	expect("SELECT outcome FROM decision", "unauthorized\n");
}
END_TEST

START_TEST(in_remote_mode_answers_and_orders_belong_to_slack)
{
	static const char *const REFUSED[] = {
		"approve " CHANGE,
		"session pause " SESSION_A,
		"session resume " SESSION_A,
		"session clear " SESSION_A,
		"session restart " SESSION_A,
		"nudge " SESSION_A,
		"steer " SESSION_A " use tabs",
		"stall off " SESSION_A,
	};

	given_questions();
	given_remote_mode();
	for (size_t i = 0; i < COUNT(REFUSED); i++) {
		ctl(REFUSED[i]);
		failed(1, "the session is in remote mode");
	}
	ctl("task do it");
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(an_expired_question_is_too_late)
{
	given_questions();
	given("UPDATE request SET deadline_at = '" T "' WHERE seq = 1;"
	      "INSERT INTO decision (request_id, verdict, source, operator_id) VALUES"
	      " ('" CHANGE "', 'timeout', 'timeout', 'system:clock')");
	ctl("approve " CHANGE);
	failed(1, "too late: it expired at 20");
}
END_TEST

START_TEST(an_interrupted_question_can_be_answered_while_the_system_is_stopped)
{
	given_questions();
	given("UPDATE request SET state = 'interrupted' WHERE seq = 1");
	shell("rm -rf $XDG_RUNTIME_DIR/agent-intercom; ctl $DB approve " CHANGE);
	done("{\"request_id\":\"" CHANGE "\",\"status\":\"approved\"}\n");
	expect("SELECT state FROM request WHERE seq = 1", "approved\n");
}
END_TEST

/* ---- resume ---- */

START_TEST(resume_wakes_the_only_agent_that_waits)
{
	given_questions();
	ctl("resume");
	done("{\"session_id\":\"" SESSION_A "\",\"status\":\"resumed\"}\n");
	expect("SELECT state, decision, instruction IS NULL FROM request WHERE kind = 'standby'",
	       "answered|resume|1\n");
	ctl("resume");
	failed(1, "nothing waits for `resume`");
}
END_TEST

START_TEST(a_first_word_that_is_no_id_belongs_to_the_instruction)
{
	given_questions();
	ctl("--text resume face the 'tests now'");
	ck_assert_int_eq(status, 0);
	says("Resumed 01944444-0000: Ready\n");
	expect("SELECT instruction FROM request WHERE kind = 'standby'", "face the tests now\n");
}
END_TEST

START_TEST(an_option_among_the_words_of_a_text_is_refused)
{
	static const char *const WORDS[] = {
		"refine 01933333 add a --json flag",    "steer 0190 use --text mode",
		"steer 0190 run it with --json",        "task print --version please",
		"session start run it with --json now", "resume use --text mode",
		"steer 0190 say --help first",          "nudge 0190 be --json again",
	};

	given_questions();
	for (size_t i = 0; i < COUNT(WORDS); i++) {
		ctl(WORDS[i]);
		failed(64, "an option, or does it belong to the text? A text with it follows --");
	}
	expect("SELECT count(*) FROM decision", "0\n");
	expect("SELECT count(*) FROM steering", "0\n");
	expect("SELECT count(*) FROM command", "0\n");
}
END_TEST

START_TEST(dashes_in_a_text_belong_to_it)
{
	given_questions();
	ctl("--text resume 01944444 make -- -j4 --json");
	ck_assert_int_eq(status, 0);
	expect("SELECT instruction FROM request WHERE kind = 'standby'", "make -- -j4 --json\n");
	ctl("--text refine 01933333 use tabs --");
	expect("SELECT instruction FROM request WHERE id GLOB '01933333*'", "use tabs --\n");
}
END_TEST

START_TEST(what_follows_dashes_is_a_text)
{
	given_questions();
	ctl("--text resume -- --json is new");
	ck_assert_int_eq(status, 0);
	expect("SELECT instruction FROM request WHERE kind = 'standby'", "--json is new\n");
}
END_TEST

START_TEST(an_empty_id_is_none)
{
	static const char *const WORDS[] = {
		"undo ''",  "session clear ''",        "steer '' stop it",
		"nudge ''", "mode local --session ''", "resume '' go on"
	};

	given_questions();
	for (size_t i = 0; i < COUNT(WORDS); i++) {
		ctl(WORDS[i]);
		failed(64, "empty");
	}
	expect("SELECT count(*) FROM command", "0\n");
	expect("SELECT count(*) FROM steering", "0\n");
}
END_TEST

START_TEST(an_option_before_a_text_is_one)
{
	given_questions();
	ctl("session restart 0190 --agent nobody go on");
	ck_assert_int_ne(status, 64);
	ctl("--text steer 0190 --json 'go on'");
	failed(64, "exclude each other");
}
END_TEST

START_TEST(an_option_stands_at_the_start_or_at_the_end_and_may_have_the_dash_of_a_phone)
{
	static const char *const NOBODY[] = {
		"session start --agent nobody fix it",
		"session start fix it --agent nobody",
		"session start —agent nobody fix it",
		"session start fix it –agent=nobody",
	};

	given_questions();
	for (size_t i = 0; i < COUNT(NOBODY); i++) {
		ctl(NOBODY[i]);
		failed(1, "there is no agent 'nobody'");
	}
	ctl("session start fix --agent nobody it --park 5");
	failed(64, "is '--agent' an option, or does it belong to the text?");
	ctl("task do it —agent x");
	failed(64, "'task' does not take --agent. A text with it follows --");
	ctl("task do it —agnet x");
	failed(64, "unknown option '--agnet'");
	expect("SELECT count(*) FROM steering", "0\n");
	ctl("task -- —x is new");
	ctl("task '—x is' new");
	expect("SELECT text FROM steering", "—x is new\n—x is new\n");
}
END_TEST

START_TEST(an_option_is_given_once)
{
	given_questions();
	ctl("approve 01911111 --note a --note b");
	failed(64, "'--note' is given twice");
	ctl("approve 01911111 --note=a --note=b");
	failed(64, "'--note=b' is given twice");
}
END_TEST

START_TEST(resume_with_words_resumes_the_paused_session_if_nothing_waits_for_them)
{
	given_sessions();
	ctl("session-pause " SESSION_A);
	ck_assert_int_eq(status, 0);
	ctl("--text resume use tabs");
	ck_assert_int_eq(status, 0);
	says("is active again.\nNoted: the agent is told with its next step: “use tabs”\n");
	expect("SELECT text, outcome FROM steering", "use tabs|accepted\n");
}
END_TEST

/* ---- undo ---- */

START_TEST(undo_says_at_once_what_cannot_be_undone)
{
	given_questions();
	ctl("undo 0191");
	failed(1, "nothing was written for this request");
	ctl("undo 0199");
	failed(1, "not found: no question has an id that begins with '0199'");
	expect("SELECT verb, outcome FROM command", "undo|refused\nundo|not_found\n");
}
END_TEST

#define MAY_COME " and is not written yet; the agent may write it at any moment\n"

START_TEST(who_takes_back_what_is_not_written_yet_is_told_that_it_may_be_written)
{
	given_questions();
	given("INSERT INTO decision (request_id, verdict, created_at) VALUES"
	      " ('" CHANGE "', 'approve', '" T "')");
	ctl("undo " CHANGE);
	failed(1, "nothing was written for this request: 01911111-0000: Add a line (a.c) was "
	          "approved by local:tester at " T MAY_COME);
	ctl("reject " CHANGE " --reason 'changed my mind'");
	failed(1, "already approved by local:tester at " T MAY_COME);
	expect("SELECT state FROM request WHERE id = '" CHANGE "'", "approved\n");
}
END_TEST

/* ---- mode ---- */

START_TEST(an_order_waits_for_a_busy_database_and_says_so)
{
	sqlite3 *holder = NULL;

	given_sessions();
	ck_assert_int_eq(sqlite3_open(database, &holder), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(holder, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
	shell("(ctl $DB steer " SESSION_A " use tabs >$HOME/said 2>$HOME/note; echo $? >>"
	      "$HOME/said) & await note 'note: the database is busy; waiting'");
	ck_assert_int_eq(sqlite3_exec(holder, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	(void)sqlite3_close(holder);
	shell("await said '^0$'");
	expect("SELECT text FROM steering", "use tabs\n");
}
END_TEST

START_TEST(mode_switches_and_tells)
{
	given_sessions();
	ctl("mode");
	done("{\"current_mode\":\"local\"}\n");
	ctl("mode hybrid");
	failed(1, "hybrid mode needs Slack, which is not configured");
	ctl("mode sideways");
	failed(1, "mode must be remote, local or hybrid");
	given("INSERT INTO setting VALUES ('slack.configured', 'true', 'system', '" T "')");
	ctl("mode hybrid");
	done("{\"previous_mode\":\"local\",\"current_mode\":\"hybrid\"}\n");
	ctl("mode --text");
	done("hybrid\n");
	ctl("mode remote --session 01900000-1111 --text");
	done("Session 01900000-1111 (agent in b) is in remote mode (before: hybrid).\n");
	ctl("mode --session " SESSION_B);
	done("{\"current_mode\":\"remote\"}\n");
	ctl("mode local --session 01977777");
	failed(1, "not found: no session has an id that begins with '01977777'");
	expect("SELECT mode FROM session ORDER BY seq", "hybrid\nremote\n");
	expect("SELECT source, outcome FROM command ORDER BY seq",
	       "ctl|refused\nctl|malformed\nctl|done\nctl|done\nctl|not_found\n");
}
END_TEST

static void given_profile(void)
{
	given("INSERT INTO setting (name, value, source, updated_at) VALUES"
	      " ('system.machine', 'h', 'system', '" T "'),"
	      " ('default_workspace_root', '/ws/a', 'file', '" T "'),"
	      " ('max_concurrent_sessions', '1', 'default', '" T "');"
	      "INSERT INTO agent (name, command, args, protocol, env_pass, env_set, acp_version,"
	      "  startup_timeout_ms, max_line_length, framing, is_default, is_builtin, updated_at)"
	      " VALUES ('claude', 'claude', '[]', 'mcp', '[]', '{}', 'auto', 1, 1, 'ndjson', 1, 1,"
	      "  '" T "')");
}

START_TEST(an_agent_is_started_restarted_and_ended)
{
	given_profile();
	ctl("--text session start --agent claude fix the tests");
	ck_assert_int_eq(status, 0);
	says("Starting session ");
	says(": claude in a.\n");
	expect("SELECT prompt, status, origin, mode FROM session",
	       "fix the tests|created|started|local\n");
	ctl("session start again");
	failed(1, "the limit is exceeded: 1 sessions that agent-intercom started run "
	          "(setting max_concurrent_sessions is 1)");
	shell("ctl $DB --text session restart $(sqlite3 $HOME/state/intercom.db"
	      " 'SELECT id FROM session') use pytest");
	ck_assert_int_eq(status, 0);
	says(" is restarted as ");
	expect("SELECT prompt, status FROM session",
	       "fix the tests|terminated\nuse pytest|created\n");
	shell("ctl $DB --text session clear $(sqlite3 $HOME/state/intercom.db"
	      " 'SELECT id FROM session WHERE seq = 2')");
	ck_assert_int_eq(status, 0);
	expect("SELECT state, outcome FROM agent_run", "ended|stopped\nended|stopped\n");
}
END_TEST

/* SESSION_A and SESSION_B were started, and have ended. */
static void given_ended(void)
{
	given_profile();
	given("UPDATE setting SET value = '2' WHERE name = 'max_concurrent_sessions'");
	given_sessions();
	given(
	    "INSERT INTO session (id, machine, owner_user_id, workspace_root, status, mode, origin,"
	    " prompt, created_at, updated_at) VALUES"
	    " ('01a2062c-eb00-7000-8000-00000000000a', 'h', 'local:tester', '/ws/a', 'created',"
	    "  'local', 'started', 'mend it', '" T "', '" T "'),"
	    " ('01a2062c-eb00-7000-8000-00000000000b', 'h', 'local:tester', '/ws/a', 'created',"
	    "  'local', 'started', 'test it', '" T "', '" T "'),"
	    " ('01a2062c-ec00-7000-8000-00000000000c', 'h', 'local:tester', '/ws/a', 'created',"
	    "  'local', 'started', 'document it', '" T "', '" T "');"
	    "UPDATE session SET status = 'terminated', updated_at = '" T "' WHERE seq > 3");
}

START_TEST(a_session_that_has_ended_is_restarted_by_its_short_id)
{
	given_ended();
	ctl("--text session restart 01A2062C-ec write more");
	ck_assert_msg(status == 0, "%s", str_text(&err_out));
	says("Session 01a2062c-ec00 (agent in a) is restarted as ");
	expect("SELECT prompt, restart_of FROM session WHERE seq = 6",
	       "write more|01a2062c-ec00-7000-8000-00000000000c\n");
}
END_TEST

START_TEST(a_short_id_of_several_sessions_restarts_none)
{
	given_ended();
	ctl("session restart 01a2062c-eb");
	failed(1, "several sessions have an id that begins with this; name one, "
	          "`session-restart <id>`:\n"
	          "  01a2062c-eb00-7000, agent in a, ended\n"
	          "  01a2062c-eb00-7000, agent in a\n");
	expect("SELECT count(*) FROM session", "5\n");
}
END_TEST

START_TEST(other_orders_to_a_session_that_has_ended_say_so)
{
	given_ended();
	ctl("session pause 01a2062c-ec");
	failed(1, "session 01a2062c-ec00 (agent in a) has ended; `session-restart "
	          "01a2062c-ec00-7000-8000-00000000000c` begins it afresh");
	expect("SELECT verb, outcome FROM command", "pause|not_found\n");
}
END_TEST

START_TEST(who_ends_a_session_is_told_which_words_its_agent_never_was)
{
	given_profile();
	given_sessions();
	given_changes();
	ctl("reject " CHANGE " --reason 'too long'");
	ctl("steer " SESSION_A " use tabs");
	ctl("steer " SESSION_A " and hurry");
	ctl("--text session clear " SESSION_A);
	done("Session 01900000-0000 (claude in a) is stopped.\n"
	     "It ended before its agent was told: “too long”, “use tabs”, “and hurry”\n");
	ctl("--text session clear " SESSION_B);
	done("Session 01900000-1111 (agent in b) is stopped.\n");
}
END_TEST

START_TEST(who_restarts_a_session_is_told_which_words_its_agent_never_was)
{
	given_profile();
	ctl("session start fix it");
	shell("ctl $DB steer $(sqlite3 $HOME/state/intercom.db 'SELECT id FROM session') use tabs;"
	      " ctl $DB --text session restart $(sqlite3 $HOME/state/intercom.db"
	      " 'SELECT id FROM session')");
	ck_assert_msg(status == 0, "%s", str_text(&err_out));
	says("\nIt ended before its agent was told: “use tabs”\n");
	expect("SELECT session_seq, delivered_at FROM steering", "1|\n");
}
END_TEST

START_TEST(a_session_that_lost_its_agent_is_resumed_or_cleaned_up)
{
	given_profile();
	ctl("session start fix it");
	ck_assert_int_eq(status, 0);
	given("UPDATE agent_run SET state = 'ended', outcome = 'interrupted', ended_at = '" T "'");
	shell("ctl $DB --text session-resume $(sqlite3 $HOME/state/intercom.db"
	      " 'SELECT id FROM session')");
	ck_assert_int_eq(status, 0);
	says(" is being started again.\n");
	expect("SELECT generation, state FROM agent_run", "1|ended\n2|wanted\n");
	given("UPDATE agent_run SET state = 'ended', outcome = 'failed', ended_at = '" T
	      "' WHERE generation = 2");
	given("INSERT INTO steering (session_id, text) SELECT id, 'use tabs' FROM session");
	ctl("--text session cleanup");
	done("1 interrupted session ended.\nIt ended before its agent was told: “use tabs”\n");
	expect("SELECT status FROM session", "terminated\n");
	ctl("--text session cleanup");
	done("No session that was started here is interrupted.\n");
}
END_TEST

START_TEST(who_watches_sees_agents_start_and_end)
{
	given_profile();
	ctl("session start fix it");
	shell(
	    "mkfifo $HOME/answers; exec 5<>$HOME/answers;"
	    " (exec 5>&-; ctl $DB watch <$HOME/answers >$HOME/seen) & watching=$!;"
	    " await seen 'nothing waits';"
	    " sqlite3 $HOME/state/intercom.db \"UPDATE agent_run SET state = 'starting', pid = 50;"
	    " UPDATE agent_run SET state = 'running', started_at = '" T "'\";"
	    " await seen 'claude runs: fix it';"
	    " sqlite3 $HOME/state/intercom.db \"UPDATE agent_run SET state = 'ended',"
	    " outcome = 'exited', exit_code = 7, stderr_tail = 'no network', ended_at = '" T "'\";"
	    " await seen 'claude ended with exit code 7; agent-intercom-ctl session restart';"
	    " await seen 'no network'; exec 5>&-; wait $watching");
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(session_says_what_it_needs)
{
	ctl("session start");
	failed(64, "session start needs a prompt");
	ctl("session clear 0190 now");
	failed(64, "too many arguments for 'session clear': 'now'");
	ctl("session pause --agent claude 0190");
	failed(64, "session pause does not take --agent, --workspace or --park");
	ctl("session begin");
	failed(64, "session takes start, pause, resume, clear, restart or cleanup, not 'begin'");
	ctl("list --agent claude");
	failed(64, "'list' does not take --agent");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ctl_answers");
	TCase *lists = tcase_create("lists");
	TCase *answers = tcase_create("answers");

	tcase_add_checked_fixture(lists, setup, teardown);
	tcase_set_timeout(lists, 60);
	tcase_add_test(lists, list_has_the_json_of_the_seeds);
	tcase_add_test(lists, list_says_of_a_session_of_hooks_what_is_known);
	tcase_add_test(lists, which_budget_has_paused_a_session_is_listed);
	tcase_add_test(lists, empty_lists_say_so);
	tcase_add_test(lists, the_inbox_tells_who_listens);
	tcase_add_test(lists, an_agent_that_asked_on_its_stdout_listens);
	tcase_add_test(lists, who_nudges_an_agent_at_work_is_told_that_its_turn_is_cancelled);
	tcase_add_test(lists, who_pauses_an_agent_at_work_is_told_what_goes_on);
	suite_add_tcase(s, lists);
	tcase_add_checked_fixture(answers, setup, teardown);
	tcase_set_timeout(answers, 60);
	tcase_add_test(answers, an_agent_is_started_restarted_and_ended);
	tcase_add_test(answers, a_session_that_has_ended_is_restarted_by_its_short_id);
	tcase_add_test(answers, a_short_id_of_several_sessions_restarts_none);
	tcase_add_test(answers, other_orders_to_a_session_that_has_ended_say_so);
	tcase_add_test(answers, who_ends_a_session_is_told_which_words_its_agent_never_was);
	tcase_add_test(answers, who_restarts_a_session_is_told_which_words_its_agent_never_was);
	tcase_add_test(answers, a_session_that_lost_its_agent_is_resumed_or_cleaned_up);
	tcase_add_test(answers, who_watches_sees_agents_start_and_end);
	tcase_add_test(answers, session_says_what_it_needs);
	tcase_add_test(answers, approve_answers_what_was_shown);
	tcase_add_test(answers, an_approval_may_have_a_note);
	tcase_add_test(answers, reject_has_a_reason);
	tcase_add_test(answers, who_rejects_without_a_reason_says_none);
	tcase_add_test(answers, a_second_answer_fails_and_says_who_was_first);
	tcase_add_test(answers, prompts_take_continue_refine_and_stop);
	tcase_add_test(answers, continue_lets_it_go_on);
	tcase_add_test(answers, refine_needs_a_text);
	tcase_add_test(answers, a_verb_of_another_kind_is_refused);
	tcase_add_test(answers, a_stranger_may_not_decide);
	tcase_add_test(answers, in_remote_mode_answers_and_orders_belong_to_slack);
	tcase_add_test(answers, an_expired_question_is_too_late);
	tcase_add_test(answers,
	               an_interrupted_question_can_be_answered_while_the_system_is_stopped);
	tcase_add_test(answers, resume_wakes_the_only_agent_that_waits);
	tcase_add_test(answers, a_first_word_that_is_no_id_belongs_to_the_instruction);
	tcase_add_test(answers, an_option_among_the_words_of_a_text_is_refused);
	tcase_add_test(answers, dashes_in_a_text_belong_to_it);
	tcase_add_test(answers, what_follows_dashes_is_a_text);
	tcase_add_test(answers, an_empty_id_is_none);
	tcase_add_test(answers, an_option_before_a_text_is_one);
	tcase_add_test(
	    answers, an_option_stands_at_the_start_or_at_the_end_and_may_have_the_dash_of_a_phone);
	tcase_add_test(answers, an_option_is_given_once);
	tcase_add_test(answers,
	               resume_with_words_resumes_the_paused_session_if_nothing_waits_for_them);
	tcase_add_test(answers, undo_says_at_once_what_cannot_be_undone);
	tcase_add_test(answers,
	               who_takes_back_what_is_not_written_yet_is_told_that_it_may_be_written);
	tcase_add_test(answers, an_order_waits_for_a_busy_database_and_says_so);
	tcase_add_test(answers, mode_switches_and_tells);
	suite_add_tcase(s, answers);
	return run_suite(s);
}
