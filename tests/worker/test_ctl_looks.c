/* agent-intercom-ctl: the real program on a real database, its output and the rows behind it. */
#include "ctl_case.h"

#include "instance.h"

#include <stdlib.h>
#include <sys/mount.h>
#include <unistd.h>

static void says_not(const char *text)
{
	ck_assert_msg(!strstr(str_text(&out), text), "'%s' is in:\n%s", text, str_text(&out));
}

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
	says("\n  : why\n\n  | --- a/a.c\n  | +++ b/a.c\n  | @@ -1 +1,2 @@\n  |  one\n  | +two\n");
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
	given("INSERT INTO session (id, machine, owner_user_id, workspace_root, status, mode,"
	      " client_name, label, created_at, updated_at) VALUES ('" SESSION_A "', 'h',"
	      " 'local:tester', '/ws/' || char(27) || 'c', 'active', 'local', char(27) || '[31m',"
	      " char(0x9b) || '31m' || char(0x202e), '" T "', '" T "');"
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
	says("<U+001B>]0;own<U+0007><U+000A>risk      low  [clearance, pending]\n");
	says("file      a<U+0008>.c\n");
	says("  : a<U+009B>2J<U+202E>b<U+000D>c\n");
	says("  | +<U+001B>[2J<FF>\n");
	says("\nworkspace /ws/<U+001B>c\n");
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

START_TEST(a_description_cannot_pass_for_the_diff)
{
	given_sessions();
	given("INSERT INTO request (id, session_seq, kind, state, digest, title, description, body,"
	      " file_path, risk_level, original_hash, created_at, updated_at) VALUES ('" CHANGE
	      "', 1, 'clearance', 'pending', printf('%064d', 1), 'x', '--- a/a.c' || char(10) ||"
	      " '+++ b/a.c' || char(10) || '+harmless', '+evil', 'a.c', 'low', 'h', '" T "', '" T
	      "')");
	ctl("show " CHANGE " --text");
	says("\n  : --- a/a.c\n  : +++ b/a.c\n  : +harmless\n\n  | +evil\n");
}
END_TEST

START_TEST(json_keeps_what_agents_wrote)
{
	given_hostile();
	shell("ctl $DB show " CHANGE " | sed 's/.*\"description\":\\(\"[^\"]*\"\\).*/\\1/'");
	ck_assert_str_eq(str_text(&out), "\"a\\u009b2J\\u202eb\\u000dc\"\n");
}
END_TEST

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

/* ---- log, health, sql ---- */

/* What is recorded says that it is ours. */
START_TEST(a_database_whose_schema_was_changed_is_neither_read_nor_written)
{
	static const char *const COMMANDS[] = { "inbox", "task hi", "approve " CHANGE, "health" };
	static const struct {
		const char *by, *said;
	} CHANGES[] = {
		{ "DROP TRIGGER decision_takes_effect; DROP VIEW request_listener",
		  "request_listener (missing), decision_takes_effect (missing)" },
		{ "ALTER TABLE pause RENAME COLUMN why TO whyy", "its table pause is not that" },
		{ "PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = replace(sql, 'why', "
		  "'whyy') WHERE name = 'pause'",
		  "its table pause is not that" },
	};

	given_questions();
	given(CHANGES[_i].by);
	for (size_t i = 0; i < COUNT(COMMANDS); i++) {
		ctl(COMMANDS[i]);
		failed(1, CHANGES[_i].said);
	}
	expect("SELECT count(*) FROM command", "0\n");
	expect("SELECT count(*) FROM decision", "0\n");
}
END_TEST

/* As before a start of programs that have just been installed: no statement is sure to fit. */
START_TEST(a_database_of_another_build_is_neither_read_nor_written)
{
	static const char *const COMMANDS[] = { "inbox", "task hi", "approve " CHANGE, "health" };

	given_questions();
	given("INSERT INTO rule_set (hash, created_at) VALUES (hex(zeroblob(32)), '" T "')");
	for (size_t i = 0; i < COUNT(COMMANDS); i++) {
		ctl(COMMANDS[i]);
		failed(1, "was last used by another build of agent-intercom; start agent-intercom");
	}
	given("ALTER TABLE session ADD COLUMN of_another_build INTEGER");
	for (size_t i = 0; i < COUNT(COMMANDS); i++) {
		ctl(COMMANDS[i]);
		failed(1, "was made by another build of agent-intercom");
	}
	expect("SELECT count(*) FROM command", "0\n");
	expect("SELECT count(*) FROM decision", "0\n");
}
END_TEST

START_TEST(log_shows_the_last_events)
{
	given_questions();
	ctl("approve " CHANGE);
	ctl("log -n 2 --text");
	ck_assert_int_eq(status, 0);
	says("request.asked        01944444-0000 Ready\n");
	says("request.approved     01911111-0000 Add a line (a.c), local:tester\n");
	says_not("Go on?");
	ctl("log -n 1");
	says("\"kind\":\"request.approved\",\"actor\":\"local:tester\"");
	says("\"detail\":{\"from\":\"pending\",\"decision\":\"approve\"");
	given("INSERT INTO decision (request_id, verdict) VALUES ('" CHANGE "', 'aprove')");
	ctl("log -n 1 --text");
	says("decision.wrong_verb  01911111-0000 Add a line (a.c), local:tester: ");
	says("approve, reject");
	given("UPDATE session SET status = 'paused' WHERE id = '" SESSION_A "'");
	ctl("log -n 1 --text");
	says("session.paused       01900000-0000 ");
	ctl("log -n x");
	failed(64, "-n needs a number, not 'x'");
}
END_TEST

START_TEST(a_question_and_what_became_of_it_name_the_trace_of_its_newest_call)
{
	static const char OLD[] = "00-0000000000000000000000000000000a-000000000000000a-01";
	static const char NEW[] = "00-0000000000000000000000000000000b-000000000000000b-01";
	char sql[900], in_json[100];

	given_questions();
	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO connection (key, machine, transport, protocol_version,"
	               " session_seq, identity, created_at)"
	               " VALUES ('k', 'h', 'http', '2026-07-28', 1, '{}', '" T "');"
	               "INSERT INTO tool_call (connection_seq, session_seq, rpc_id, traceparent,"
	               " era, tool, digest, state, request_seq, created_at) VALUES"
	               " (1, 1, '1', '%s', 'modern', 'check_clearance', 'd', 'waiting', 1, '" T
	               "'), (1, 1, '2', '%s', 'modern', 'check_clearance', 'd', 'waiting', 1, '" T
	               "')",
	               OLD, NEW);
	given(sql);
	(void)snprintf(in_json, sizeof(in_json), "\"traceparent\":\"%s\"", NEW);
	ctl("show --json " CHANGE);
	says(in_json);
	ctl("show --json " PROMPT);
	says("\"traceparent\":null");
	shell("echo q | ctl $DB watch --json");
	says(in_json);
	ctl("approve " CHANGE);
	ctl("log --json -n 1");
	says("\"kind\":\"request.approved\"");
	says(in_json);
}
END_TEST

START_TEST(log_follows)
{
	given_questions();
	shell("\"$INTERCOM_BUILD\"/agent-intercom-ctl $DB log --follow -n 1 --text >$HOME/log &"
	      " await log asked; ctl $DB approve " CHANGE " >/dev/null; await log approved;"
	      " kill $!; cat $HOME/log");
	says("request.asked        01944444-0000 Ready\n");
	says("request.approved     01911111-0000 Add a line (a.c), local:tester\n");
	says_not("Go on?");
	shell(
	    "timeout 20 \"$INTERCOM_BUILD\"/agent-intercom-ctl $DB log -f -n 3 --text | head -n 1");
	says("request.asked        "); /* and ends, because nobody reads any more */
	ck_assert_int_eq(status, 0);
}
END_TEST

static void given_starting(void)
{
	given(
	    "INSERT INTO worker (id, name, machine, pid, version, state, started_at, heartbeat_at)"
	    " SELECT value, value, 'h', 7, 'x', 'starting', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'),"
	    " strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"
	    " FROM json_each('[\"mcp-front\",\"applier\",\"reader\",\"watchdog\",\"retention\",'"
	    "  || '\"archivist\",\"commander\",\"sentry\"]')");
}

static void given_workers(void)
{
	given_starting();
	given("UPDATE worker SET state = 'ready'");
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

START_TEST(health_is_not_ok_while_events_stay_unsealed)
{
	given_questions();
	given_workers();
	given(
	    "UPDATE worker SET heartbeat_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '80 seconds');"
	    "INSERT INTO event (at, kind) VALUES ('2026-01-01T09:00:00.000Z', 'old')");
	ctl("health");
	ck_assert_int_eq(status, 1);
	says("{\"what\":\"seals\",\"state\":\"late\"");
	ctl("health --text");
	says("were not sealed within a minute");
	given(
	    "INSERT INTO seal (seq, hash) SELECT seq, printf('%064d', 1) FROM event ORDER BY seq");
	ctl("health");
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(without_a_session_one_is_told_what_to_name_at_the_terminal)
{
	ctl("checkpoint create");
	failed(1, "no session is live; name a folder: --workspace DIR\n");
	ctl("diff");
	failed(1, "no session is live: name a checkpoint, its label, its session (--session ID) or "
	          "its folder (--workspace DIR); `checkpoint list` lists them\n");
}
END_TEST

START_TEST(health_misses_who_does_not_serve)
{
	struct err e = { 0 };
	int system, held = -1;

	given_questions();
	ctl("health");
	ck_assert_int_eq(status, 1);
	says("{\"ok\":false,\"missing\":[\"mcp-front\",\"applier\",\"reader\",\"watchdog\","
	     "\"retention\",\"archivist\",\"commander\",\"sentry\"]");
	given_workers();
	ctl("health --text");
	ck_assert_int_eq(status, 0);
	says("worker mcp-front  ready");
	says("questions         4 waiting");
	given(
	    "UPDATE worker SET heartbeat_at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-100 seconds')"
	    " WHERE name = 'applier'");
	ctl("health --text");
	ck_assert_int_eq(status, 1);
	says("missing: applier does not serve\n");
	given("UPDATE worker SET state = 'died' WHERE name = 'archivist'");
	given(
	    "INSERT INTO worker (id, name, machine, pid, version, state, started_at, heartbeat_at)"
	    " VALUES ('old', 'desk', 'h', 8, 'x', 'starting', '" T "', '" T "')");
	ctl("health --text");
	says("missing: archivist does not serve\nstart the system with: agent-intercom --");
	ck_assert_msg(!instance_take(database, false, &system, &e) &&
	                  !instance_hold(database, &held, &e),
	              "%s", e.text);
	ctl("health --text");
	ck_assert_int_eq(status, 1);
	says("missing: archivist does not serve\n"
	     "the system runs and restarts what has ended; its log says why\n");
	(void)close(held);
	(void)close(system);
}
END_TEST

START_TEST(a_worker_that_a_young_system_starts_is_not_missing)
{
	given_questions();
	given_starting();
	given("UPDATE worker SET state = 'ready' WHERE name <> 'applier'");
	ctl("health --text");
	ck_assert_int_eq(status, 0);
	says("starting: applier\n");
	given(
	    "INSERT INTO worker (id, name, machine, pid, version, state, started_at, heartbeat_at)"
	    " VALUES ('old', 'sentry', 'h', 8, 'x', 'starting', '" T "', '" T "')");
	ctl("health --text");
	ck_assert_int_eq(status, 1);
	says("missing: applier does not serve\n");
}
END_TEST

START_TEST(health_says_when_there_is_no_room_for_checkpoints_and_is_ok)
{
	given_questions();
	given_workers();
	given("INSERT INTO setting VALUES ('checkpoint.reserve_bytes', '1125899906842624', 'file', "
	      "'" T "')");
	ctl("health --text");
	ck_assert_int_eq(status, 0);
	says("checkpoints are refused below 1073741824 MiB");
}
END_TEST

START_TEST(health_says_when_there_are_no_files_left_for_checkpoints)
{
	OWNED(str) struct str line = { 0 };
	char disk[] = "/tmp/files-XXXXXX";

	SKIP_UNLESS(may_mount() && mkdtemp(disk) &&
	                mount("tmpfs", disk, "tmpfs", 0, "nr_inodes=400") == 0,
	            "root and mount namespaces");
	given_questions();
	given_workers();
	str_addf(
	    &line,
	    "sqlite3 '%s' '.backup %s/db'; for i in $(seq 400); do touch %s/$i || break; done; "
	    "rm %s/[1-9]; ctl --db %s/db health --text",
	    database, disk, disk, disk, disk);
	shell(line.bytes);
	says("fewer than 25 files more can be made: checkpoints are refused");
	ck_assert_int_eq(umount2(disk, MNT_DETACH), 0);
	ck_assert_int_eq(rmdir(disk), 0);
}
END_TEST

START_TEST(health_is_not_ok_while_http_is_off)
{
	given_questions();
	given_workers();
	given("UPDATE worker SET fence = 'landlock 7, seccomp',"
	      " detail = 'HTTP is off: cannot listen on 127.0.0.1:3000'"
	      " WHERE name = 'mcp-front'");
	ctl("health");
	ck_assert_int_eq(status, 1);
	says("{\"ok\":false,\"missing\":[],");
	ctl("health --text");
	ck_assert_int_eq(status, 1);
	says("HTTP is off: cannot listen on 127.0.0.1:3000");
}
END_TEST

START_TEST(health_is_ok_while_slack_is_connected_and_only_then)
{
	given_questions();
	given_workers();
	given("INSERT INTO worker (id, name, machine, pid, version, state, detail, started_at, "
	      "heartbeat_at)"
	      " SELECT 'l', 'slack-listener', 'h', 8, 'x', 'starting', 'connected', started_at,"
	      " heartbeat_at FROM worker LIMIT 1;"
	      "UPDATE worker SET state = 'ready', fence = 'landlock 7, seccomp' WHERE id = 'l'");
	ctl("health");
	ck_assert_int_eq(status, 0);
	given("UPDATE worker SET detail = 'not connected: no route' WHERE id = 'l'");
	ctl("health");
	ck_assert_int_eq(status, 1);
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
	failed(64, "'approve' needs ID [--edit|--with FILE|--option OPTION] [--note TEXT] "
	           "[--digest HEX]\nusage: "
	           "agent-intercom-ctl "
	           "[OPTIONS] approve ID");
	ctl("approve a b");
	failed(64, "too many arguments for 'approve': 'b'");
	ctl("approve x --reason y");
	failed(64, "'approve' does not take --reason");
	ctl("--frob list");
	failed(64, "unknown option '--frob'");
	ctl("approve x --frob");
	failed(64, "unknown option '--frob'; 'approve' takes --note, --option, --digest, --edit, "
	           "--with, and those of every command");
	ctl("session start fix it -x");
	failed(64, "unknown option '-x'; 'session' takes --agent, --workspace, --park, and those "
	           "of every command. A text with it follows --");
	ctl("refine 0193 '--force use tabs'");
	failed(64, "unknown option '--force use tabs'; 'refine' takes those of every command. A "
	           "text with it follows --");
	ctl("refine 0193 -n");
	failed(64, "'refine' does not take -n. A text with it follows --");
	ctl("log -n");
	failed(64, "'-n' needs a value");
	ctl("log -n 1 -n 2");
	failed(64, "'-n' is given twice");
	ctl("file -rf");
	failed(64, "unknown option '-r'");
	ctl("--frob=x list");
	failed(64, "unknown option '--frob=x'");
	ctl("show-file");
	failed(64, "'file' needs PATH");
	ctl("list-files a b");
	failed(64, "too many arguments for 'files': 'b'");
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

START_TEST(what_a_command_does_is_below_arguments_that_fill_its_line)
{
	shell("ctl help | grep -A1 -e '^  reject ' -e '^  undo '");
	says("  reject     ID [--option OPTION] [--reason TEXT]\n"
	     "                                            reject a proposed change\n");
	says("  undo       ID                             revert what was written for a request\n");
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
	failed(1, "/no/such.db; the first agent that connects starts the system");
	shell("ctl list");
	failed(1, "there is no database at ");
	shell("ctl watch </dev/null");
	failed(1, "there is no database at ");
	shell("echo text >$HOME/text; ctl --db $HOME/text list");
	ck_assert_int_eq(status, 1);
}
END_TEST

START_TEST(watch_waits_for_the_first_start)
{
	shell("mv $HOME/state $HOME/not-yet;"
	      " { await err 'q and Enter quit'; mv $HOME/not-yet $HOME/state; await out 'nothing "
	      "waits'; } |"
	      " ctl $DB watch");
	ck_assert_int_eq(status, 0);
	ck_assert_ptr_nonnull(strstr(str_text(&err_out), "the first agent that connects starts"));
	says("nothing waits for you; q and Enter quit\n");
	shell("{ await err 'q and Enter quit'; } | ctl --db $HOME/no/such.db watch");
	ck_assert_int_eq(status, 0);
	says_not("Error");
}
END_TEST

START_TEST(a_first_start_is_waited_for_though_the_file_is_there)
{
	shell(
	    "cd $HOME/state && sqlite3 intercom.db 'PRAGMA wal_checkpoint(TRUNCATE)' >/dev/null &&"
	    " mkdir full && mv intercom.db* full/ && : >intercom.db && chmod 600 intercom.db;"
	    " ctl $DB list --text");
	failed(1, "is empty: agent-intercom fills it when it starts");
	shell("cd $HOME/state && : >>intercom.db-instance;"
	      " flock intercom.db-instance sh -c"
	      " 'echo $$ >intercom.db-instance; sleep 0.5; mv full/intercom.db .' &"
	      " until [ -s intercom.db-instance ]; do sleep 0.02; done; ctl $DB list --text; wait");
	done("no sessions\n");
}
END_TEST

START_TEST(a_system_is_found_by_its_name_or_its_configuration)
{
	struct err e = { 0 };
	OWNED(paths) struct paths p = { 0 };

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
	failed(1, "the output could not be written");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ctl_looks");
	TCase *shows = tcase_create("show");
	TCase *looks = tcase_create("looks");
	TCase *usage = tcase_create("usage");

	tcase_add_checked_fixture(shows, setup, teardown);
	tcase_set_timeout(shows, 60);
	tcase_add_test(shows, show_tells_everything);
	tcase_add_test(shows, a_whole_file_is_shown_as_what_it_changes);
	tcase_add_test(shows, a_diff_names_each_path_it_touches);
	tcase_add_test(shows, escape_sequences_of_agents_are_made_visible);
	tcase_add_test(shows, a_description_cannot_pass_for_the_diff);
	tcase_add_test(shows, json_keeps_what_agents_wrote);
	tcase_add_test(shows, on_a_terminal_a_diff_has_colours);
	tcase_add_test(shows, on_a_terminal_long_titles_end_at_its_edge);
	suite_add_tcase(s, shows);
	tcase_add_checked_fixture(looks, setup, teardown);
	tcase_set_timeout(looks, 60);
	tcase_add_test(looks, a_database_of_another_build_is_neither_read_nor_written);
	tcase_add_loop_test(looks, a_database_whose_schema_was_changed_is_neither_read_nor_written,
	                    0, 3);
	tcase_add_test(looks, log_shows_the_last_events);
	tcase_add_test(looks, a_question_and_what_became_of_it_name_the_trace_of_its_newest_call);
	tcase_add_test(looks, log_follows);
	tcase_add_test(looks, health_tells_that_the_database_is_damaged);
	tcase_add_test(looks, health_is_not_ok_while_events_stay_unsealed);
	tcase_add_test(looks, without_a_session_one_is_told_what_to_name_at_the_terminal);
	tcase_add_test(looks, health_misses_who_does_not_serve);
	tcase_add_test(looks, a_worker_that_a_young_system_starts_is_not_missing);
	tcase_add_test(looks, health_says_when_there_is_no_room_for_checkpoints_and_is_ok);
	tcase_add_test(looks, health_says_when_there_are_no_files_left_for_checkpoints);
	tcase_add_test(looks, health_is_not_ok_while_http_is_off);
	tcase_add_test(looks, health_is_ok_while_slack_is_connected_and_only_then);
	tcase_add_test(looks, sql_reads_and_does_not_write);
	suite_add_tcase(s, looks);
	tcase_add_checked_fixture(usage, setup, teardown);
	tcase_set_timeout(usage, 60);
	tcase_add_test(usage, wrong_usage_exits_64_with_a_hint);
	tcase_add_test(usage, help_and_version_need_no_system);
	tcase_add_test(usage, what_a_command_does_is_below_arguments_that_fill_its_line);
	tcase_add_test(usage, commands_may_be_shortened);
	tcase_add_test(usage, without_a_database_it_says_how_to_start);
	tcase_add_test(usage, watch_waits_for_the_first_start);
	tcase_add_test(usage, a_first_start_is_waited_for_though_the_file_is_there);
	tcase_add_test(usage, a_system_is_found_by_its_name_or_its_configuration);
	tcase_add_test(usage, an_answer_that_cannot_be_printed_is_an_error);
	suite_add_tcase(s, usage);
	return run_suite(s);
}
