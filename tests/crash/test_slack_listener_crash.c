/* slack-listener, killed at each of its steps: what the operator did takes effect once. Slack
 * delivers again what was not acknowledged. */
#include "agent.h"
#include "harness.h"
#include "slack_peer.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void a_question_that_is_answered_in_slack(void)
{
	fresh_store();
	slack_start();
	slack_set("{'redeliver':'same'}");
	(void)setenv("SLACK_APP_TOKEN", SLACK_FAKE_APP_TOKEN, 1);
	given(
	    "INSERT INTO operator (id, kind, team_id, user_id, created_at) VALUES"
	    " ('slack:T01TEAM:U01OP', 'slack', 'T01TEAM', 'U01OP', '2026-01-01T08:00:00.000Z');"
	    "UPDATE setting SET value = 'true' WHERE name = 'slack.configured';"
	    "INSERT INTO setting (name, value, source, updated_at)"
	    " VALUES ('slack.channel_id', 'C01AGENTS', 'file', '2026-01-01T08:00:00.000Z');"
	    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	    " created_at, updated_at) VALUES (1, 's', 'h', 'local:tester', '/w', 'active', "
	    "'hybrid',"
	    " '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z');"
	    "INSERT INTO request (seq, id, session_seq, kind, state, digest, title, body, "
	    "file_path,"
	    " risk_level, original_hash, created_at, updated_at) VALUES (1, 'ask', 1, 'clearance',"
	    " 'pending', printf('%064d', 1), 'Fix it', '-a', 'a.c', 'low', 'new_file',"
	    " '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z')");
	slack_shows_questions();
	(void)slack_deliver("{'slash':{'text':'approve'}}"); /* waits for a connection */
}

/* Waits until it is killed or has acknowledged; returns whether it was killed. */
static bool is_killed(pid_t pid)
{
	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS; agent_ms() < end;) {
		int status;

		if (waitpid(pid, &status, WNOHANG) == pid)
			return true;
		if (strstr(slack_ask("calls?name=ack&wait_ms=10"), "\"name\":\"ack\"")) {
			(void)kill(-pid, SIGKILL);
			(void)waitpid(pid, &status, 0);
			return false;
		}
	}
	ck_abort_msg("it neither ends nor acknowledges");
	return false;
}

/* Returns whether it got as far as the nth call. */
static bool survives_once(const char *call, int n)
{
	bool killed;

	a_question_that_is_answered_in_slack();
	killed = is_killed(start_killed_at("slack-listener", call, n));
	if (killed) {
		pid_t listener = start_worker("slack-listener");

		(void)slack_wait_for("ack");
		stop_worker(listener);
	}
	expect("SELECT count(*) FROM slack_envelope WHERE outcome = 'accepted'", "1\n");
	expect("SELECT outcome FROM decision", "applied\n");
	expect("SELECT state, decided_by FROM request", "approved|slack:T01TEAM:U01OP\n");
	slack_stop();
	close_store();
	return killed;
}

START_TEST(a_listener_killed_at_any_sync_to_disk_loses_and_repeats_nothing)
{
	kill_at_each("fdatasync", 1, survives_once);
}
END_TEST

START_TEST(a_listener_killed_at_any_byte_that_it_sends_loses_and_repeats_nothing)
{
	kill_at_each("sendto", 1, survives_once);
}
END_TEST

START_TEST(a_listener_killed_at_any_answer_that_it_reads_loses_and_repeats_nothing)
{
	kill_at_each("recvfrom", 1, survives_once);
}
END_TEST

START_TEST(a_listener_killed_at_its_writes_loses_and_repeats_nothing)
{
	kill_at_each("pwrite64", 7, survives_once);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_listener_crash");
	TCase *c = tcase_create("slack_listener_crash");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 0); /* hundreds of lives; ctest limits the total */
	tcase_add_test(c, a_listener_killed_at_any_sync_to_disk_loses_and_repeats_nothing);
	tcase_add_test(c, a_listener_killed_at_any_byte_that_it_sends_loses_and_repeats_nothing);
	tcase_add_test(c, a_listener_killed_at_any_answer_that_it_reads_loses_and_repeats_nothing);
	tcase_add_test(c, a_listener_killed_at_its_writes_loses_and_repeats_nothing);
	suite_add_tcase(s, c);
	return run_suite(s);
}
