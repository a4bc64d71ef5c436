/* agent-intercom-ctl: the real program on a real database, its output and the rows behind it. */
#include "err.h"
#include "paths.h"
#include "store.h"
#include "str.h"
#include "suite.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Ids of the rows that given_questions makes. */
#define SESSION_A "01900000-0000-7000-8000-00000000000a"
#define SESSION_B "01900000-1111-7000-8000-00000000000b"
#define CHANGE "01911111-0000-7000-8000-000000000001"
#define CHANGE_2 "01922222-0000-7000-8000-000000000002"
#define PROMPT "01933333-0000-7000-8000-000000000003"
#define STANDBY_A "01944444-0000-7000-8000-000000000004"
#define STANDBY_B "01944444-1111-7000-8000-000000000005"
#define T "2026-02-08T09:30:00.123Z"

static char folder[] = "/tmp/test_ctl.XXXXXX";
static char home[64];
static char database[96];
static char binary[512];
static struct str out, err_out; /* of the last run */
static int status;

/* ---- given, when, then ---- */

static sqlite3 *db_open(void)
{
	sqlite3 *db = NULL;

	ck_assert_int_eq(sqlite3_open(database, &db), SQLITE_OK);
	(void)sqlite3_busy_timeout(db, 5000);
	return db;
}

static void given(const char *sql)
{
	sqlite3 *db = db_open();
	char *message = NULL;

	(void)sqlite3_exec(db, sql, NULL, NULL, &message);
	ck_assert_msg(!message, "%s: %s", sql, message);
	(void)sqlite3_close(db);
}

/* The rows of sql, columns by '|', a line each. */
static void expect(const char *sql, const char *rows)
{
	sqlite3 *db = db_open();
	sqlite3_stmt *s = NULL;
	OWNED(str) struct str got = STR_INIT;

	ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK, "%s: %s", sql,
	              sqlite3_errmsg(db));
	while (sqlite3_step(s) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(s); i++) {
			const char *text = (const char *)sqlite3_column_text(s, i);

			str_addf(&got, "%s%s", i ? "|" : "", text ? text : "");
		}
		str_add_char(&got, '\n');
	}
	(void)sqlite3_finalize(s);
	(void)sqlite3_close(db);
	ck_assert_str_eq(str_text(&got), rows);
}

static void read_file(const char *name, struct str *into)
{
	char path[128], bytes[4096];
	size_t n;
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", home, name);
	f = fopen(path, "re");
	ck_assert_ptr_nonnull(f);
	str_reset(into);
	while ((n = fread(bytes, 1, sizeof(bytes), f)) > 0)
		str_add_bytes(into, bytes, n);
	(void)fclose(f);
}

/* Runs a shell command; "ctl" in it is the program, $DB is --db with the database, and "await FILE
 * TEXT" waits until the text is in that file of $HOME. */
static void shell(const char *command)
{
	OWNED(str) struct str line = STR_INIT;

	str_addf(&line,
	         "ctl() { '%s' \"$@\"; }; DB='--db %s';"
	         " await() { until grep -qs \"$2\" \"$HOME/$1\"; do sleep 0.02; done; };"
	         " { %s\n} >%s/out 2>%s/err",
	         binary, database, command, home, home);
	status = WEXITSTATUS(system(line.bytes)); /* NOLINT(cert-env33-c) */
	read_file("out", &out);
	read_file("err", &err_out);
}

/* Runs the program with these arguments, given as a shell would take them. */
static void ctl(const char *arguments)
{
	OWNED(str) struct str line = STR_INIT;

	str_addf(&line, "ctl $DB %s </dev/null", arguments);
	shell(line.bytes);
}

static void says(const char *text)
{
	ck_assert_msg(strstr(str_text(&out), text), "'%s' is not in:\n%s%s", text, str_text(&out),
	              str_text(&err_out));
}

static void says_not(const char *text)
{
	ck_assert_msg(!strstr(str_text(&out), text), "'%s' is in:\n%s", text, str_text(&out));
}

static void done(const char *output)
{
	ck_assert_msg(status == 0, "exit %d: %s", status, str_text(&err_out));
	ck_assert_str_eq(str_text(&out), output);
	ck_assert_str_eq(str_text(&err_out), "");
}

static void failed(int expected, const char *message)
{
	ck_assert_int_eq(status, expected);
	ck_assert_msg(strncmp(str_text(&err_out), "Error: ", 7) == 0 &&
	                  strstr(str_text(&err_out), message),
	              "'%s' is not in: %s", message, str_text(&err_out));
}

static void setup(void)
{
	struct err e = ERR_INIT;
	struct store st = STORE_INIT;
	struct paths p = PATHS_INIT;
	const char *build = getenv("INTERCOM_BUILD");

	memcpy(folder + sizeof(folder) - 7, "XXXXXX", 6);
	ck_assert_ptr_nonnull(mkdtemp(folder));
	(void)snprintf(home, sizeof(home), "%s", folder);
	(void)snprintf(database, sizeof(database), "%s/state/intercom.db", home);
	(void)snprintf(binary, sizeof(binary), "%s/agent-intercom-ctl",
	               build ? build : "build/dev");
	(void)setenv("HOME", home, 1);
	(void)setenv("XDG_RUNTIME_DIR", home, 1);
	(void)unsetenv("XDG_CONFIG_HOME");
	(void)unsetenv("XDG_STATE_HOME");
	(void)unsetenv("INTERCOM_CONFIG");
	(void)unsetenv("NO_COLOR");
	(void)setenv("TERM", "xterm", 1);
	ck_assert_msg(paths_open(database, true, &p, &e) == 0, "%s", e.text);
	ck_assert_msg(store_migrate(&st, database, NULL, &e) == 0, "%s", e.text);
	store_clear(&st);
	paths_clear(&p);
	given("INSERT INTO operator (id, kind, user_id, is_default)"
	      " VALUES ('local:tester', 'local', 'tester', 1);"
	      "INSERT INTO setting VALUES ('mode', 'local', 'default', '" T "');");
}

static void teardown(void)
{
	char command[96];

	(void)snprintf(command, sizeof(command), "rm -rf '%s'", home);
	ck_assert_int_eq(system(command), 0); /* NOLINT(cert-env33-c) */
	str_clear(&out);
	str_clear(&err_out);
}

static void given_sessions(void)
{
	given("INSERT INTO session (id, host, owner_user_id, workspace_root, status, mode,"
	      " client_name, last_tool, created_at, updated_at) VALUES"
	      " ('" SESSION_A "', 'h', 'local:tester', '/ws/a', 'active', 'local', 'claude', NULL,"
	      "  '" T "', '" T "'),"
	      " ('" SESSION_B "', 'h', 'local:tester', '/ws/b', 'active', 'local', NULL, 'standby',"
	      "  '" T "', '" T "')");
}

static void given_changes(void)
{
	given("INSERT INTO request (id, session_seq, kind, state, digest, title, description, body,"
	      " file_path, risk_level, original_hash, created_at, updated_at) VALUES"
	      " ('" CHANGE "', 1, 'clearance', 'pending', printf('%064d', 1), 'Add a line', 'why',"
	      "  '--- a/a.c' || char(10) || '+++ b/a.c' || char(10) || '@@ -1 +1,2 @@' || char(10)"
	      "  || ' one' || char(10) || '+two' || char(10), 'a.c', 'high', 'new_file', '" T
	      "', '" T "'),"
	      " ('" CHANGE_2 "', 1, 'clearance', 'pending', printf('%064d', 2), 'A new file', NULL,"
	      "  'int x;' || char(10), 'b.c', 'low', 'new_file', '" T "', '" T "')");
}

static void given_prompt(void)
{
	given("INSERT INTO request (id, session_seq, kind, state, digest, title, body, prompt_type,"
	      " created_at, updated_at) VALUES ('" PROMPT
	      "', 1, 'prompt', 'pending', printf('%064d', 3), 'Go on?', 'Go on?', 'continuation',"
	      " '" T "', '" T "')");
}

static void given_standby(const char *id, int session)
{
	char sql[400];

	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO request (id, session_seq, kind, state, digest, title, body,"
	               " created_at, updated_at) VALUES ('%s', %d, 'standby', 'pending',"
	               " printf('%%064d', 4), 'Ready', 'Ready', '" T "', '" T "')",
	               id, session);
	given(sql);
}

static void given_questions(void)
{
	given_sessions();
	given_changes();
	given_prompt();
	given_standby(STANDBY_A, 1);
}

/* ---- lists ---- */

START_TEST(list_has_the_json_of_the_seeds)
{
	given_sessions();
	ctl("list");
	done("{\"sessions\":[{\"session_id\":\"" SESSION_A
	     "\",\"status\":\"active\",\"mode\":\"local\",\"workspace_root\":\"/ws/a\","
	     "\"last_tool\":null,\"updated_at\":\"" T "\"},{\"session_id\":\"" SESSION_B
	     "\",\"status\":\"active\",\"mode\":\"local\",\"workspace_root\":\"/ws/b\","
	     "\"last_tool\":\"standby\",\"updated_at\":\"" T "\"}]}\n");
	ctl("--text list");
	ck_assert_int_eq(status, 0);
	says("ID          STATUS  MODE");
	says("01900000-0  active  local  online");
	says("claude  /ws/a\n");
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
	    "INSERT INTO worker (id, name, host, pid, version, state, started_at, heartbeat_at)"
	    " VALUES ('w', 'mcp-front', 'h', 1, 'x', 'starting', '" T "', '" T "');"
	    "UPDATE worker SET state = 'ready';"
	    "INSERT INTO connection (key, host, transport, protocol_version, identity, created_at)"
	    " VALUES ('k', 'h', 'http', '2025-06-18', '{}', '" T "');"
	    "INSERT INTO tool_call (connection_seq, session_seq, rpc_id, era, tool, digest, state,"
	    " request_seq, listener, created_at) VALUES (1, 1, '1', 'modern', 'check_clearance',"
	    " 'd', 'waiting', 1, 'w', '" T "')");
	ctl("inbox --text");
	ck_assert_int_eq(status, 0);
	says("ID        KIND       AGE");
	says("high  yes        a.c: Add a line\n");
	says("low   no         b.c: A new file\n");
	ctl("inbox --json");
	says("{\"inbox\":[{\"id\":\"" CHANGE "\",\"kind\":\"clearance\",\"state\":\"pending\"");
	says("\"listening\":true},{\"id\":\"" CHANGE_2 "\"");
	ctl("show " CHANGE " --text");
	says("listening yes\n");
	ctl("approve " CHANGE " --text");
	done("Approved 01911111-0000: Add a line (a.c)\n");
	expect("SELECT state FROM tool_call", "answered\n");
}
END_TEST

START_TEST(short_ids_are_as_long_as_they_must_be)
{
	given_sessions();
	given_standby(STANDBY_A, 1);
	given_standby(STANDBY_B, 2);
	given_changes();
	ctl("inbox --text");
	says("\n01944444-0  ");
	says("\n01944444-1  ");
	says("\n01911111  ");
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
	     "Nobody listens at the moment; the agent gets it when it is back.\n");
}
END_TEST

START_TEST(an_approval_may_have_a_note)
{
	given_questions();
	ctl("approve " CHANGE " --note 'rename it next' --text");
	done("Approved 01911111-0000: Add a line (a.c), and told the agent\n"
	     "Nobody listens at the moment; the agent gets it when it is back.\n");
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

START_TEST(ids_may_be_shortened_to_what_is_unambiguous)
{
	given_questions();
	given_standby(STANDBY_B, 2);
	ctl("approve 01911111");
	done("{\"request_id\":\"" CHANGE "\",\"status\":\"approved\"}\n");
	ctl("stop 01944444");
	failed(1, "several questions have an id that begins so; name one, `stop <id>`:\n"
	          "  01944444-0000-7000: Ready, claude in a\n"
	          "  01944444-1111-7000: Ready, agent in b\n");
	ctl("stop 01944444-1");
	done("{\"request_id\":\"" STANDBY_B "\",\"status\":\"answered\",\"decision\":\"stop\"}\n");
	ctl("approve 019");
	failed(1, "'019' is too short for an id");
	ctl("approve 0199");
	failed(1, "not found: no question has an id that begins with '0199'");
	ctl("approve ''");
	failed(1, "'' is too short for an id");
}
END_TEST

START_TEST(a_stranger_may_not_decide)
{
	given_questions();
	given("UPDATE operator SET active = 0 WHERE id = 'local:tester'");
	ctl("approve " CHANGE);
	failed(1, "unauthorized: this operator may not decide from this source");
	ctl("mode local");
	failed(1, "unauthorized: this operator may not give orders from this source");
	expect("SELECT state FROM request WHERE seq = 1", "pending\n");
	expect("SELECT outcome FROM decision", "unauthorized\n");
}
END_TEST

START_TEST(in_remote_mode_the_answer_belongs_to_slack)
{
	given_questions();
	given("DROP TRIGGER session_mode_is_ordered; UPDATE session SET mode = 'remote'");
	ctl("approve " CHANGE);
	failed(1, "not in this mode: the session is in remote mode");
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
	ctl("resume face the --text 'tests now'");
	ck_assert_int_eq(status, 0);
	says("Resumed 01944444-0000: Ready\n");
	expect("SELECT instruction FROM request WHERE kind = 'standby'", "face the tests now\n");
}
END_TEST

START_TEST(resume_takes_a_request_or_a_session)
{
	given_sessions();
	given_standby(STANDBY_A, 1);
	given_standby(STANDBY_B, 2);
	ctl("resume");
	failed(1, "several questions wait for this; name one, `resume <id>`:\n"
	          "  01944444-0000-7000: Ready, claude in a\n"
	          "  01944444-1111-7000: Ready, agent in b\n");
	ctl("resume 01944444 go");
	failed(1, "several questions have an id that begins so");
	ctl("resume " SESSION_B " go");
	done("{\"session_id\":\"" SESSION_B "\",\"status\":\"resumed\"}\n");
	ctl("resume 01900000-1111 go");
	failed(1, "the session is active");
	ctl("resume " STANDBY_B " go");
	failed(1, "already answered with 'resume' by local:tester");
	ctl("resume 01944444-0 write tests");
	done("{\"session_id\":\"" SESSION_A "\",\"status\":\"resumed\"}\n");
	expect("SELECT instruction FROM request ORDER BY seq", "write tests\ngo\n");
}
END_TEST

START_TEST(an_id_that_fits_nothing_is_not_taken_for_an_instruction)
{
	given_questions();
	ctl("resume 01977777-0000-7000-8000-000000000004 write tests");
	failed(1, "not found: no question has an id that begins with '01977777-");
	expect("SELECT state FROM request WHERE kind = 'standby'", "pending\n");
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

/* ---- mode ---- */

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
	ctl("mode remote --session 01900000-1 --text");
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

/* ---- show, and what agents write ---- */

START_TEST(show_tells_everything)
{
	given_questions();
	ctl("reject 01911111 --reason 'no tests'");
	ctl("show 01911111 --text");
	ck_assert_int_eq(status, 0);
	says("Add a line  [clearance, rejected]\nid        " CHANGE "\nfile      a.c\n");
	says("risk      high\nsession   " SESSION_A "\nclient    claude\nworkspace /ws/a\n");
	says("digest    0000000000000000000000000000000000000000000000000000000000000001\n");
	says("decision  reject\nby        local:tester\n");
	says("reason    no tests\n");
	says("\n  | why\n\n  | --- a/a.c\n  | +++ b/a.c\n  | @@ -1 +1,2 @@\n  |  one\n  | +two\n");
	ctl("show 01922222");
	says("{\"id\":\"" CHANGE_2 "\",\"kind\":\"clearance\",\"state\":\"pending\"");
	says("\"decision\":null");
	says("\"also_touches\":[],\"body\":\"int x;\\n\",\"effect\":null}\n");
}
END_TEST

START_TEST(a_whole_file_is_shown_as_what_it_changes)
{
	given_questions();
	ctl("reject " CHANGE);
	given(
	    "INSERT INTO content (hash, size, bytes) VALUES (printf('%064d', 9), 40,"
	    " CAST('--- a/a.c' || char(10) || '+++ b/a.c' || char(10) || '@@ -1 +1 @@' || char(10)"
	    " || '-one' || char(10) || '+big' AS BLOB));"
	    "INSERT INTO request (id, session_seq, kind, state, digest, title, body, effect_seq,"
	    " replaces_file, file_path, risk_level, original_hash, previous_seq, created_at,"
	    " updated_at) VALUES ('01955555-0000-7000-8000-000000000006', 1, 'clearance',"
	    " 'pending', printf('%064d', 1), 'Again', 'THE WHOLE FILE', 1, 1, 'a.c', 'critical',"
	    " 'h', 1, '" T "', '" T "')");
	ctl("show 01955555 --text");
	ck_assert_int_eq(status, 0);
	says("\nrejected before at 20");
	says("\nreplaces the whole file\n");
	says("  | -one\n  | +big\n");
	says_not("THE WHOLE FILE");
}
END_TEST

START_TEST(a_diff_names_each_path_it_touches)
{
	given_sessions();
	given("INSERT INTO request (id, session_seq, kind, state, digest, title, body, file_path,"
	      " risk_level, original_hash, created_at, updated_at) VALUES ('" CHANGE
	      "', 1, 'clearance', 'pending', printf('%064d', 1), 'x',"
	      " '--- a/a.c' || char(10) || '+++ b/a.c' || char(10) || '@@ -1 +1 @@' || char(10)"
	      " || '-1' || char(10) || '+2' || char(10) || '--- a/secret' || char(10) ||"
	      " '+++ b/secret' || char(10) || '@@ -1 +1 @@' || char(10) || '-1' || char(10) || '+2'"
	      " || char(10), 'a.c', 'low', 'h', '" T "', '" T "')");
	ctl("show " CHANGE " --text");
	says("file      a.c\nalso      secret\n");
	ctl("show " CHANGE);
	says("\"also_touches\":[\"secret\"]");
}
END_TEST

/* Everything of an agent's that could act on a terminal. */
static void given_hostile(void)
{
	given("INSERT INTO session (id, host, owner_user_id, workspace_root, status, mode,"
	      " client_name, created_at, updated_at) VALUES ('" SESSION_A "', 'h', 'local:tester',"
	      " '/ws/' || char(27) || 'c', 'active', 'local', char(27) || '[31m', '" T "', '" T
	      "');"
	      "INSERT INTO request (id, session_seq, kind, state, digest, title, description, body,"
	      " file_path, risk_level, original_hash, created_at, updated_at) VALUES ('" CHANGE
	      "', 1, 'clearance', 'pending', printf('%064d', 1), char(27) || ']0;own' || char(7) ||"
	      " char(10) || 'risk      low', 'a' || char(0x9b) || '2J' || char(0x202e) || 'b' ||"
	      " char(13) || 'c', CAST(x'2b' || char(27) || '[2J' || x'ff' || char(10) AS TEXT),"
	      " 'a' || char(8) || '.c', 'high', 'new_file', '" T "', '" T "')");
}

static void nothing_acts(void)
{
	for (size_t i = 0; i < out.length; i++) {
		unsigned char c = (unsigned char)out.bytes[i];

		ck_assert_msg((c >= 0x20 && c != 0x7F && c != 0xFF) || c == '\n',
		              "byte %02x at %zu of:\n%s", c, i, out.bytes);
	}
	says_not("\xC2\x9B");
	says_not("\xE2\x80\xAE");
}

START_TEST(escape_sequences_of_agents_are_made_visible)
{
	given_hostile();
	ctl("show " CHANGE " --text");
	nothing_acts();
	says("^[]0;own^G^Jrisk      low  [clearance, pending]\n");
	says("file      a^H.c\n");
	says("  | a<U+009B>2J<U+202E>b^Mc\n");
	says("  | +^[[2J<FF>\n");
	says("\nworkspace /ws/^[c\n");
	for (int i = 0; i < 2; i++) {
		static const char *const FORMS[] = { "--text", "--json" };
		static const char *const COMMANDS[] = { "inbox",         "list",  "log",
			                                "show " CHANGE,  "watch", "health",
			                                "reject " CHANGE };

		for (size_t k = 0; k < COUNT(COMMANDS) - (i == 0); k++) {
			char line[120];

			(void)snprintf(line, sizeof(line), "%s %s", COMMANDS[k], FORMS[i]);
			ctl(line);
			ck_assert_msg(out.length > 0, "%s", line);
			nothing_acts();
		}
	}
	ctl("sql --text 'SELECT title, description FROM request'");
	nothing_acts();
}
END_TEST

START_TEST(json_keeps_what_agents_wrote)
{
	given_hostile();
	shell("ctl $DB show " CHANGE " | sed 's/.*\"description\":\\(\"[^\"]*\"\\).*/\\1/'");
	ck_assert_str_eq(str_text(&out), "\"a\\u009b2J\\u202eb\\u000dc\"\n");
}
END_TEST

/* ---- on a terminal ---- */

/* Reads from a terminal until text came, and if asked is set, a prompt behind it; false after 10 s
 * or at its end. */
static bool read_until(int fd, const char *text, bool asked)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char bytes[4096];

	str_reset(&out);
	while (poll(&p, 1, 10000) > 0) {
		ssize_t n = read(fd, bytes, sizeof(bytes));

		if (n <= 0)
			break;
		str_add_bytes(&out, bytes, (size_t)n);
		const char *found = strstr(str_text(&out), text);
		if (found && (!asked || strstr(found, " > ")))
			return true;
	}
	return false;
}

static bool until(int fd, const char *text)
{
	return read_until(fd, text, false);
}

static bool until_asked(int fd, const char *text)
{
	return read_until(fd, text, true);
}

static pid_t on_terminal(int *ret_fd, const char *command, const char *argument)
{
	struct winsize size = { .ws_row = 24, .ws_col = 60 };
	pid_t pid = forkpty(ret_fd, NULL, NULL, &size);

	if (pid == 0) {
		(void)execl(binary, "agent-intercom-ctl", "--db", database, command, argument,
		            (char *)NULL);
		_exit(127);
	}
	ck_assert_int_gt(pid, 0);
	return pid;
}

static void ends(pid_t pid, const int *fd)
{
	int how;

	(void)until(*fd, "\xFF");
	ck_assert_int_eq(waitpid(pid, &how, 0), pid);
	status = WEXITSTATUS(how);
	(void)close(*fd);
}

START_TEST(on_a_terminal_a_diff_has_colours)
{
	int fd;

	given_questions();
	ends(on_terminal(&fd, "show", CHANGE), &fd);
	ck_assert_int_eq(status, 0);
	says("\033[32m+two\033[0m");
	says("\033[36m@@ -1 +1,2 @@\033[0m");
	(void)setenv("NO_COLOR", "1", 1);
	ends(on_terminal(&fd, "show", CHANGE), &fd);
	says("  | +two\r\n");
	says_not("\033");
}
END_TEST

START_TEST(on_a_terminal_long_titles_end_at_its_edge)
{
	int fd;

	given_sessions();
	given("INSERT INTO request (id, session_seq, kind, state, digest, title, created_at,"
	      " updated_at, prompt_type) VALUES ('" PROMPT "', 1, 'prompt', 'pending',"
	      " printf('%064d', 1), printf('%.200c', 'x'), '" T "', '" T "', 'continuation')");
	ends(on_terminal(&fd, "inbox", NULL), &fd);
	says("xx…\r\n");
	says_not("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
}
END_TEST

START_TEST(what_is_typed_for_one_question_does_not_answer_the_next)
{
	int fd;
	pid_t pid;

	given_questions();
	pid = on_terminal(&fd, "watch", NULL);
	ck_assert(until_asked(fd, "Add a line"));
	ck_assert_int_eq(write(fd, "y", 1), 1); /* not yet sent */
	shell("ctl $DB reject " CHANGE);
	ck_assert(until_asked(fd, "no longer waits: rejected by local:tester"));
	ck_assert_int_eq(write(fd, "\n", 1), 1);
	ck_assert(until_asked(fd, "an answer, please"));
	ck_assert_int_eq(write(fd, "y\n", 2), 2);
	ck_assert(until_asked(fd, "approve: done"));
	ck_assert_int_eq(write(fd, "q\n", 2), 2);
	ends(pid, &fd);
	ck_assert_int_eq(status, 0);
	expect("SELECT state FROM request WHERE kind = 'clearance' ORDER BY seq",
	       "rejected\napproved\n");
}
END_TEST

/* ---- watch ---- */

START_TEST(watch_takes_answers_from_a_pipe)
{
	given_questions();
	shell("printf 'r too long\\nyes\\nrefine use tabs\\nr\\n' | ctl $DB watch");
	ck_assert_msg(status == 0, "%s%s", str_text(&out), str_text(&err_out));
	says("  | +two\n");
	says("reject: done\n");
	says("Go on?  [prompt, pending]\n");
	expect("SELECT kind, state, decision, coalesce(reason, instruction) FROM request"
	       " ORDER BY seq",
	       "clearance|rejected|reject|too long\nclearance|approved|approve|\n"
	       "prompt|answered|refine|use tabs\nstandby|answered|resume|\n");
	expect("SELECT DISTINCT source, length(digest) FROM decision", "ctl|64\n");
}
END_TEST

START_TEST(watch_speaks_json)
{
	given_questions();
	shell("printf 'rno\\nn\\nc\\ns\\n' | ctl $DB watch --json");
	ck_assert_int_eq(status, 0);
	says("{\"question\":{\"id\":\"" CHANGE "\"");
	says("}}\n{\"answer\":{\"request_id\":\"" CHANGE
	     "\",\"decision\":\"reject\",\"applied\":true}}\n{\"question\":{\"id\":\"" CHANGE_2
	     "\"");
	expect("SELECT decision, reason FROM request ORDER BY seq",
	       "reject|no\nreject|rejected via local CLI\ncontinue|\nstop|\n");
}
END_TEST

START_TEST(watch_does_not_guess)
{
	given_questions();
	shell("printf 'yep\\nc\\n\\ny now\\nq\\ny\\n' | ctl $DB watch");
	ck_assert_int_eq(status, 1);
	says("that is no answer to this question\n");
	says("an answer, please\n");
	expect("SELECT count(*) FROM decision", "0\n");
	shell("printf 'l\\nl\\nr\\ns\\n' | ctl $DB watch");
	ck_assert_int_eq(status, 1);
	says("refine needs a text: r TEXT\n");
	expect("SELECT request_id, verdict FROM decision", PROMPT "|stop\n");
}
END_TEST

START_TEST(watch_tells_what_the_rules_refuse)
{
	given_questions();
	given("DROP TRIGGER session_mode_is_ordered; UPDATE session SET mode = 'remote'");
	shell("echo y | ctl $DB watch");
	ck_assert_int_eq(status, 1);
	says("not taken: not in this mode: the session is in remote mode\n");
}
END_TEST

START_TEST(a_line_in_a_pipe_waits_for_its_question)
{
	given_sessions();
	shell("echo y | ctl $DB watch >$HOME/watched & await watched 'nothing waits'\n"
	      "sqlite3 " /* hands in the shell ring no bell */
	      "$HOME/state/intercom.db \"INSERT INTO request (id, session_seq, kind, state, digest,"
	      " title, body, file_path, risk_level, original_hash, created_at, updated_at) VALUES"
	      " ('" CHANGE "', 1, 'clearance', 'pending', printf('%064d', 1), 'x', 'y', 'f', 'low',"
	      " 'h', '" T "', '" T "')\"; wait; cat $HOME/watched");
	says("nothing waits for you; q ends\n");
	says("approve: done\n");
	expect("SELECT state FROM request", "approved\n");
}
END_TEST

START_TEST(watch_wakes_by_its_bell)
{
	given_questions();
	/* Each second it would look anyway. Of two times the quicker counts: the machine may be
	 * busy. */
	shell("gone() { ctl $DB reject $1 >&2; from=$(date +%s%3N); await watched \"gone.*$1\";"
	      " echo $(($(date +%s%3N) - from)) >>$HOME/took; }\n"
	      "(await watched question.*" CHANGE "; gone " CHANGE "; gone " CHANGE_2 ") |"
	      " ctl $DB watch --json >$HOME/watched 2>/dev/null && sort -n $HOME/took");
	ck_assert_int_eq(status, 0);
	ck_assert_msg(strtol(str_text(&out), NULL, 10) < 500, "%s ms", str_text(&out));
}
END_TEST

START_TEST(watch_tells_once_of_an_agent_that_is_silent)
{
	static const char SILENT[] =
	    "INSERT INTO stall (id, session_seq, last_tool, last_activity_at, idle_seconds,"
	    " waits_since, created_at, updated_at) SELECT 'a' || seq, seq, 'ping', '" T "', 300,"
	    " '" T "', '" T "', '" T "' FROM session WHERE seq = 1";
	const char *told;

	given_questions();
	given(SILENT);
	shell("printf 'l\\nl\\nq\\n' | ctl $DB watch");
	ck_assert_int_eq(status, 0);
	says(", since it called ping; agent-intercom-ctl nudge ");
	told = strstr(str_text(&out), "silent: ");
	ck_assert_ptr_nonnull(told);
	ck_assert_ptr_null(strstr(told + 1, "silent: "));
	shell("echo q | ctl $DB watch --json");
	says("{\"silent\":{\"session_id\":");
}
END_TEST

/* ---- log, health, sql ---- */

START_TEST(log_shows_the_last_events)
{
	given_questions();
	ctl("approve " CHANGE);
	ctl("log -n 2 --text");
	ck_assert_int_eq(status, 0);
	says("request.asked        Ready\n");
	says("request.approved     Add a line (a.c), local:tester\n");
	says_not("Go on?");
	ctl("log -n 1");
	says("\"kind\":\"request.approved\",\"actor\":\"local:tester\"");
	says("\"detail\":{\"from\":\"pending\",\"decision\":\"approve\"");
	ctl("log -n x");
	failed(64, "-n needs a number, not 'x'");
}
END_TEST

START_TEST(log_follows)
{
	given_questions();
	shell("\"$INTERCOM_BUILD\"/agent-intercom-ctl $DB log --follow -n 1 --text >$HOME/log &"
	      " await log asked; ctl $DB approve " CHANGE " >/dev/null; await log approved;"
	      " kill $!; cat $HOME/log");
	says("request.asked        Ready\n");
	says("request.approved     Add a line (a.c), local:tester\n");
	says_not("Go on?");
	shell(
	    "timeout 20 \"$INTERCOM_BUILD\"/agent-intercom-ctl $DB log -f -n 3 --text | head -n 1");
	says("request.asked        "); /* and ends, because nobody reads any more */
	ck_assert_int_eq(status, 0);
}
END_TEST

static void given_workers(void)
{
	given(
	    "INSERT INTO worker (id, name, host, pid, version, state, started_at, heartbeat_at)"
	    " SELECT value, value, 'h', 7, 'x', 'starting', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'),"
	    " strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"
	    " FROM json_each('[\"mcp-front\",\"applier\",\"watchdog\",\"retention\"]');"
	    "UPDATE worker SET state = 'ready'");
}

START_TEST(health_tells_that_the_database_is_damaged)
{
	given_questions();
	given_workers();
	given("INSERT INTO upkeep (kind, outcome, why, started_at, ended_at) VALUES"
	      " ('check', 'damaged', 'event: a page is wrong', '" T "', '" T "')");
	ctl("health --text");
	ck_assert_int_eq(status, 1);
	says("event: a page is wrong");
	says("the database is damaged: stop the system, then agent-intercom restore FILE");
	given("INSERT INTO upkeep (kind, outcome, started_at, ended_at) VALUES"
	      " ('check', 'ok', '" T "', '" T "')");
	ctl("health");
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(health_misses_who_does_not_serve)
{
	given_questions();
	ctl("health");
	ck_assert_int_eq(status, 1);
	says("{\"ok\":false,\"missing\":[\"mcp-front\",\"applier\",\"watchdog\",\"retention\"]");
	given_workers();
	ctl("health --text");
	ck_assert_int_eq(status, 0);
	says("worker mcp-front  ready");
	says("questions         4 waiting");
	given("UPDATE worker SET heartbeat_at = '" T "' WHERE name = 'applier'");
	ctl("health --text");
	ck_assert_int_eq(status, 1);
	says("missing: applier does not serve\n");
}
END_TEST

START_TEST(sql_reads_and_does_not_write)
{
	given_questions();
	ctl("sql 'SELECT seq, reason, title FROM request WHERE seq < 3 ORDER BY 1'");
	done("1\t\tAdd a line\n2\t\tA new file\n");
	ctl("sql --json 'SELECT seq, reason FROM request WHERE seq = 1'");
	done("[{\"seq\":\"1\",\"reason\":null}]\n");
	ctl("sql --text 'SELECT seq, title FROM request WHERE seq = 1'");
	done("seq  title\n1    Add a line\n");
	ctl("sql 'DELETE FROM request'");
	failed(1, "only statements that read");
	ctl("sql 'SELECT * FROM nowhere'");
	failed(1, "no such table: nowhere");
	ctl("sql SELECT 1");
	failed(64, "too many arguments for 'sql'");
	expect("SELECT count(*) FROM request", "4\n");
}
END_TEST

/* ---- usage ---- */

START_TEST(wrong_usage_exits_64_with_a_hint)
{
	ctl("");
	failed(64, "a command is needed\nsee `agent-intercom-ctl help`");
	ctl("aprove x");
	failed(64, "unknown command 'aprove'; did you mean 'approve'?");
	ctl("frobnicate");
	failed(64, "unknown command 'frobnicate'\n");
	ctl("re x");
	failed(64, "'re' may be 'reject' or 'refine'");
	ctl("approve");
	failed(64,
	       "'approve' needs ID [--note TEXT]\nusage: agent-intercom-ctl [OPTIONS] approve ID");
	ctl("approve a b");
	failed(64, "too many arguments for 'approve': 'b'");
	ctl("approve x --reason y");
	failed(64, "'approve' does not take --reason");
	ctl("--frob list");
	failed(64, "unknown option '--frob'");
	ctl("list --db");
	failed(64, "'--db' needs a value");
	ctl("--json --text list");
	failed(64, "--json and --text exclude each other");
	ctl("--json frobnicate");
	failed(64, "unknown command");
	says("{\"ok\":false,\"error\":\"unknown command 'frobnicate'\"}\n");
}
END_TEST

START_TEST(help_and_version_need_no_system)
{
	shell("ctl --help");
	ck_assert_int_eq(status, 0);
	says("usage: agent-intercom-ctl [OPTIONS] COMMAND");
	says("  watch ");
	shell("ctl help wat; ctl watch --help");
	ck_assert_int_eq(status, 0);
	says("usage: agent-intercom-ctl [OPTIONS] watch");
	shell("ctl --version");
	ck_assert_int_eq(status, 0);
	says("agent-intercom-ctl ");
}
END_TEST

START_TEST(commands_may_be_shortened)
{
	ctl("li --text");
	done("no sessions\n");
}
END_TEST

/* ---- which system ---- */

START_TEST(without_a_database_it_says_how_to_start)
{
	shell("ctl --db $HOME/no/such.db list");
	failed(1, "/no/such.db; start the system with `agent-intercom`");
	shell("ctl list");
	failed(1, "there is no database at ");
	shell("echo text >$HOME/text; ctl --db $HOME/text list");
	ck_assert_int_eq(status, 1);
}
END_TEST

START_TEST(a_system_is_found_by_its_name_or_its_configuration)
{
	struct err e = ERR_INIT;
	OWNED(paths) struct paths p = PATHS_INIT;

	shell("ctl --ipc-name mine list");
	ck_assert_int_eq(status, 1);
	ck_assert_msg(paths_open(database, true, &p, &e) == 0, "%s", e.text);
	ck_assert_msg(paths_publish(&p, "mine", "", &e) == 0, "%s", e.text);
	shell("ctl --ipc-name mine list; ctl list --ipc-name=mine");
	done("{\"sessions\":[]}\n{\"sessions\":[]}\n");
	shell("printf 'host_cli = \"true\"\\n[database]\\npath = \"state/intercom.db\"\\n' "
	      ">$HOME/config.toml\n"
	      "ctl --config $HOME/config.toml list");
	done("{\"sessions\":[]}\n");
	ck_assert_msg(paths_publish(&p, "agent-intercom", "", &e) == 0, "%s", e.text);
	shell("ctl list");
	done("{\"sessions\":[]}\n");
}
END_TEST

START_TEST(an_answer_that_cannot_be_printed_is_an_error)
{
	given_questions();
	shell("ctl $DB list >/dev/full");
	failed(1, "cannot write the output");
}
END_TEST

static void add(Suite *s, const char *name, const TTest *const *tests, size_t count)
{
	TCase *c = tcase_create(name);

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 60);
	for (size_t i = 0; i < count; i++)
		tcase_add_test(c, tests[i]);
	suite_add_tcase(s, c);
}

int main(void)
{
	const TTest *const lists[] = { list_has_the_json_of_the_seeds, empty_lists_say_so,
		                       the_inbox_tells_who_listens,
		                       short_ids_are_as_long_as_they_must_be };
	const TTest *const answers[] = {
		approve_answers_what_was_shown,
		an_approval_may_have_a_note,
		reject_has_a_reason,
		a_second_answer_fails_and_says_who_was_first,
		prompts_take_continue_refine_and_stop,
		continue_lets_it_go_on,
		refine_needs_a_text,
		a_verb_of_another_kind_is_refused,
		ids_may_be_shortened_to_what_is_unambiguous,
		a_stranger_may_not_decide,
		in_remote_mode_the_answer_belongs_to_slack,
		an_expired_question_is_too_late,
		an_interrupted_question_can_be_answered_while_the_system_is_stopped,
		resume_wakes_the_only_agent_that_waits,
		a_first_word_that_is_no_id_belongs_to_the_instruction,
		resume_takes_a_request_or_a_session,
		an_id_that_fits_nothing_is_not_taken_for_an_instruction,
		undo_says_at_once_what_cannot_be_undone,
		mode_switches_and_tells,
	};
	const TTest *const shows[] = {
		show_tells_everything,
		a_whole_file_is_shown_as_what_it_changes,
		a_diff_names_each_path_it_touches,
		escape_sequences_of_agents_are_made_visible,
		json_keeps_what_agents_wrote,
		on_a_terminal_a_diff_has_colours,
		on_a_terminal_long_titles_end_at_its_edge,
	};
	const TTest *const watches[] = {
		watch_takes_answers_from_a_pipe,
		watch_speaks_json,
		watch_does_not_guess,
		watch_tells_what_the_rules_refuse,
		a_line_in_a_pipe_waits_for_its_question,
		watch_wakes_by_its_bell,
		watch_tells_once_of_an_agent_that_is_silent,
		what_is_typed_for_one_question_does_not_answer_the_next,
	};
	const TTest *const looks[] = { log_shows_the_last_events, log_follows,
		                       health_misses_who_does_not_serve,
		                       health_tells_that_the_database_is_damaged,
		                       sql_reads_and_does_not_write };
	const TTest *const usage[] = {
		wrong_usage_exits_64_with_a_hint,
		help_and_version_need_no_system,
		commands_may_be_shortened,
		without_a_database_it_says_how_to_start,
		a_system_is_found_by_its_name_or_its_configuration,
		an_answer_that_cannot_be_printed_is_an_error,
	};
	Suite *s = suite_create("ctl");

	add(s, "lists", lists, COUNT(lists));
	add(s, "answers", answers, COUNT(answers));
	add(s, "show", shows, COUNT(shows));
	add(s, "watch", watches, COUNT(watches));
	add(s, "looks", looks, COUNT(looks));
	add(s, "usage", usage, COUNT(usage));
	return run_suite(s);
}
