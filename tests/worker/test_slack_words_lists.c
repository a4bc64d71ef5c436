/* `sessions` and `inbox` in Slack, for a reader who has no terminal: what runs and whose agent
 * listens is named, the rest is counted, and all of it fits a message. */
#include "agent.h"
#include "slack_peer.h"
#include "slack_words_case.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sessions from first to last, most recently active in the order of their numbers. */
static void sessions(int first, int last, const char *status, const char *origin)
{
	OWNED(str) struct str sql = { 0 };

	str_addf(&sql,
	         "WITH RECURSIVE n (n) AS (SELECT %d UNION ALL SELECT n + 1 FROM n WHERE n < %d)"
	         "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status,"
	         " mode, client_name, origin, channel_id, created_at, updated_at,"
	         " last_activity_at)"
	         " SELECT n, printf('0190%%04d-0000-7000-8000-000000000000', n), 'h',"
	         " 'local:tester', '/ws/web', 'active', 'remote', 'claude', '%s', 'C01AGENTS', '" T
	         "', '" T "', printf('2026-01-02T10:00:%%02d.000Z', n %% 60) FROM n;"
	         "UPDATE session SET status = '%s' WHERE seq BETWEEN %d AND %d",
	         first, last, origin, status, first, last);
	given(sql.bytes);
}

/* Prompts of session 1 from first to last; those above `from` have a caller that waits. */
static void prompts(int first, int last, int from)
{
	OWNED(str) struct str sql = { 0 };

	str_addf(&sql,
	         "WITH RECURSIVE n (n) AS (SELECT %d UNION ALL SELECT n + 1 FROM n WHERE n < %d)"
	         "INSERT INTO request (id, session_seq, kind, state, digest, title, body,"
	         " prompt_type, created_at, updated_at)"
	         " SELECT printf('0192%%04d-0000-7000-8000-000000000000', n), 1, 'prompt',"
	         " 'pending', printf('%%064d', n + 99), 'Go on?', 'Go on?', 'continuation', '" T
	         "', '" T "' FROM n;"
	         "INSERT INTO connection (key, machine, transport, protocol_version, session_seq,"
	         " identity, created_at) VALUES ('k', 'h', 'http', '2026-07-28', 1, '{}', '" T "');"
	         "INSERT INTO tool_call (connection_seq, session_seq, rpc_id, era, tool, digest,"
	         " state, request_seq, listener, created_at)"
	         " SELECT 1, 1, seq, 'modern', 'transmit', 'd', 'waiting', seq, 'front', '" T
	         "' FROM request WHERE seq > %d",
	         first, last, from);
	given(sql.bytes);
}

static void lacks(const char *have, const char *part)
{
	ck_assert_msg(!strstr(have, part), "%s has %s", have, part);
}

START_TEST(sessions_that_their_agents_left_hide_none_that_runs)
{
	const char *list;

	slack();
	given("UPDATE session SET last_activity_at = NULL");
	sessions(10, 70, "interrupted", "direct");
	list = command("sessions");
	says(list,
	     "🟢 01900000-0000  active, hybrid  claude  /ws/web  started <!date^1767258000^");
	lacks(list, "01900010");
	says(list, "\n... and 61 that their agents left; `agent-intercom-ctl list` shows them\n");
	given("UPDATE session SET status = 'terminated', terminated_at = '" T "' WHERE seq <> 10");
	says(command("sessions"), "no agent is at work\n... and 1 that its agent left; ");
	slack_stop();
}
END_TEST

START_TEST(an_interrupted_session_is_named_if_it_asks_something_or_can_be_resumed)
{
	const char *list, *asks, *started;

	slack();
	sessions(10, 39, "interrupted", "direct");
	sessions(40, 40, "interrupted", "started");
	sessions(41, 41, "paused", "direct");
	a_change(CHANGE);
	given("UPDATE session SET status = 'interrupted' WHERE seq = 1");
	list = command("sessions");
	asks = strstr(list, "🔴 01900000-0000  interrupted, hybrid");
	started = strstr(list, "🔴 01900040-0000  interrupted, remote");
	ck_assert_msg(asks && started && asks < started, "%s", list);
	ck_assert_ptr_eq(strstr(list, "⏸️ 01900041-0000  paused"), list);
	says(list, "  last activity at <!date^1767348041^");
	says(list, "\n... and 30 that their agents left; ");
	slack_stop();
}
END_TEST

START_TEST(more_sessions_than_fit_are_counted_within_what_a_reply_may_have)
{
	const char *list;

	slack();
	given("UPDATE session SET prompt = printf('%80d', 1), label = printf('%40d', 1)");
	sessions(10, 39, "active", "direct");
	sessions(50, 52, "interrupted", "direct");
	list = command("sessions");
	ck_assert_uint_le(slack_units(list), 4000);
	says(list, "\n... and ");
	says(list, " more, and 3 that their agents left; `agent-intercom-ctl list` shows them\n");
	slack_stop();
}
END_TEST

START_TEST(the_inbox_names_first_those_whose_agent_listens_and_counts_the_rest)
{
	const char *list, *listens, *none;

	slack();
	a_question(CHANGE, "clearance", "Change a.c", ", file_path, risk_level, original_hash",
	           ", 'a.c', 'high', 'new_file'");
	prompts(1, 27, 25);
	list = command("inbox");
	none = strstr(list, "01911111-0000  clearance, high risk: Change a.c  of claude in web "
	                    "(not listening)\n");
	listens = strstr(list, "01920027-0000  prompt: Go on?  of claude in web\n");
	ck_assert_msg(none && listens && listens < none, "%s", list);
	says(list, "\n... and 8 more; `agent-intercom-ctl inbox` lists all");
	slack_stop();
}
END_TEST

START_TEST(of_several_agents_in_one_folder_none_is_meant_in_silence)
{
	static const char *const ORDERS[][2] = {
		{ "run test", "name the one to run it in, `run test &lt;id&gt;`:" },
		{ "test", "name the one to run it in, `run test &lt;id&gt;`:" },
		{ "diff", "several sessions are live here; name one, `diff &lt;id&gt;`:" },
		{ "session-checkpoint", "name one, `session-checkpoint &lt;id&gt;`:" },
		{ "session-restore start", "name one, `session-restore &lt;id&gt;`:" },
	};

	slack();
	a_session(2, "01900000-1111-7000-8000-000000000002", "/ws/web");
	given(
	    "INSERT INTO setting (name, value, source, updated_at)"
	    " VALUES ('commands', '{\"test\":\"make test\"}', 'file', '" T "'),"
	    " ('system.machine', 'h', 'system', '" T "') ON CONFLICT DO UPDATE SET value = 'h';"
	    "INSERT INTO checkpoint (id, session_id, session_state, workspace_root, kind, machine,"
	    " state, created_at, updated_at) VALUES ('c1', '" SESSION "', '{}', '/ws/web',"
	    " 'start', 'h', 'queued', '" T "', '" T "');"
	    "UPDATE checkpoint SET state = 'claimed', claim = 1, worker_id = 'w';"
	    "UPDATE checkpoint SET state = 'done', manifest = printf('%064d', 1), files = 1");
	for (size_t i = 0; i < COUNT(ORDERS); i++) {
		const char *said = command(ORDERS[i][0]);

		says(said, ORDERS[i][1]);
		says(said,
		     "01900000-1111-7000, claude in web\n  01900000-0000-7000, claude in web");
	}
	expect("SELECT count(*) FROM command", "0\n");

	given("UPDATE session SET connectivity_status = 'offline' WHERE seq = 2");
	says(command("test"),
	     "\nIts output comes in the thread of session 01900000-0000 (claude in "
	     "web).");
	says(command("diff"),
	     "Comparing /ws/web with what it was when session 01900000-0000 began: "
	     "the answer comes in the thread of session 01900000-0000.");
	says(command("session-checkpoint"), "of session 01900000-0000 (claude in web).");
	says(command("session-restore start"), " of session 01900000-0000; what would change");

	given("UPDATE session SET connectivity_status = 'offline'");
	says(command("diff"), "several sessions are live here");
	says(command("session-checkpoint"), "of session 01900000-1111 (claude in web).");
	slack_stop();
}
END_TEST

START_TEST(runs_that_are_not_listed_are_counted)
{
	const char *said;

	slack();
	given("WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 25)"
	      " INSERT INTO alias_run (alias, command, workspace_root, lane, machine, operator_id,"
	      " created_at) SELECT 'test', 'make test', '/ws/web', '/ws/web', 'h', 'local:tester',"
	      " '" T "' FROM n");
	said = command("runs");
	says(said, "25: test in web, queued since ");
	says(said, "\n... and 5 more: `runs &lt;number&gt;` shows one");
	slack_stop();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_words_lists");
	TCase *c = store_case(s, "slack_words_lists", 60);

	tcase_add_test(c, sessions_that_their_agents_left_hide_none_that_runs);
	tcase_add_test(c, an_interrupted_session_is_named_if_it_asks_something_or_can_be_resumed);
	tcase_add_test(c, more_sessions_than_fit_are_counted_within_what_a_reply_may_have);
	tcase_add_test(c, of_several_agents_in_one_folder_none_is_meant_in_silence);
	tcase_add_test(c, runs_that_are_not_listed_are_counted);
	tcase_add_test(c, the_inbox_names_first_those_whose_agent_listens_and_counts_the_rest);
	return run_suite(s);
}
