/* slack-poster, killed at its system calls: everything is said exactly once. The test run takes a
 * sample of those that send and receive; INTERCOM_KILLS=all takes each. */
#include "agent.h"
#include "rpc.h"
#include "slack_peer.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECOND = 1000, STAGES = 4 };

/* What is said next: 0 the session, 1 the diff's file, 2 the question, 3 its edit. */
static int stage;

static void desk(void)
{
	fresh_store();
	slack_start();
	(void)setenv("SLACK_BOT_TOKEN", SLACK_FAKE_BOT_TOKEN, 1);
	given(
	    "UPDATE setting SET value = 'true' WHERE name = 'slack.configured';"
	    "INSERT INTO setting (name, value, source, updated_at) VALUES"
	    " ('slack.channel_id', 'C01AGENTS', 'file', '2026-01-01T00:00:00.000Z');"
	    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	    " created_at, updated_at) VALUES (1, 's', 'h', 'local:tester', '/w', 'active', "
	    "'hybrid',"
	    " '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z');"
	    "INSERT INTO request (seq, id, session_seq, kind, state, digest, title, body, "
	    "file_path,"
	    " risk_level, original_hash, created_at, updated_at) VALUES (1, 'ask', 1, 'clearance',"
	    " 'pending', printf('%064d', 1), 'Fix it',"
	    " replace(hex(zeroblob(30)), '00', 'x' || char(10)), 'a.c', 'low', 'new_file',"
	    " '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z')");
}

/* Waits until nothing is queued, moving the clock meanwhile. */
static void let_it_speak(void)
{
	int64_t give_up = agent_ms() + 3 * AGENT_PATIENCE_MS;
	OWNED(char_ptr) char *left = NULL;

	do {
		char_ptr_clear(&left);
		ck_assert_msg(agent_ms() < give_up, "still queued: %s",
		              rows("SELECT seq, kind, state, why FROM slack_outbox"));
		advance(SECOND);
		(void)usleep(2000); /* let the worker run */
		left = rows("SELECT count(*) FROM slack_outbox"
		            " WHERE state IN ('queued', 'sending', 'doubtful')");
	} while (strcmp(left, "0\n") != 0);
}

/* Runs the poster, killed at its nth system call of that name; returns whether it got that far. */
static bool killed_at(const char *call, int n)
{
	int status;
	pid_t pid;

	(void)setenv("INTERCOM_DRAIN", "1", 1);
	pid = start_killed_at("slack-poster", call, n);
	(void)unsetenv("INTERCOM_DRAIN");
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

static int times(const char *text, const char *part)
{
	int count = 0;

	for (const char *p = text; (p = strstr(p, part)) != NULL; p++)
		count++;
	return count;
}

static void expect_each_thing_once(const char *call, int n)
{
	const char *all = slack_ask("messages?channel=C01AGENTS");
	const char *files = slack_ask("files");

	ck_assert_msg(times(all, stage == 3 ? "*Approved* by" : "\"approve_accept\"") ==
	                      (stage == 3 ? 2 : 1) &&
	                  times(all, "Session started") == 2 &&
	                  times(files, "\"completed\":true") == 1,
	              "stage %d, killed at %s %d:\n%s\n%s", stage, call, n, all, files);
	expect("SELECT count(*) FROM slack_outbox WHERE state = 'dead'", "0\n");
	expect("SELECT count(*) FROM slack_message WHERE state <> 'sent'", "0\n");
}

/* Each run says one thing: the channel rests for a second after each. */
static void go_to_stage(void)
{
	for (int i = 0; i < stage; i++) {
		run_worker("slack-poster");
		advance(2 * SECOND);
	}
	if (stage == 3)
		given("INSERT INTO decision (request_id, verdict) VALUES ('ask', 'approve')");
}

/* Killed at the nth call, twice, then left to finish. Returns whether it got that far. */
static bool survives_once(const char *call, int n)
{
	pid_t poster;
	bool killed;

	desk();
	go_to_stage();
	killed = killed_at(call, n);
	advance(2 * SECOND);
	if (killed) /* kill its successor, too */
		(void)killed_at(call, n);
	advance(2 * SECOND);
	poster = start_worker("slack-poster");
	let_it_speak();
	expect_each_thing_once(call, n);
	stop_worker(poster);
	slack_stop();
	close_store();
	return killed;
}

/* In each stage. */
static void survives(const char *call, int sample)
{
	for (stage = 0; stage < STAGES; stage++)
		kill_at_each(call, sample, survives_once);
}

START_TEST(a_poster_killed_at_any_sync_to_disk_loses_and_repeats_nothing)
{
	survives("fdatasync", 1);
}
END_TEST

START_TEST(a_poster_killed_at_what_it_sends_loses_and_repeats_nothing)
{
	survives("sendto", 3);
}
END_TEST

START_TEST(a_poster_killed_at_what_it_receives_loses_and_repeats_nothing)
{
	survives("recvfrom", 3);
}
END_TEST

START_TEST(a_poster_killed_at_its_writes_loses_and_repeats_nothing)
{
	survives("pwrite64", 19);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("slack_crash");
	TCase *c = tcase_create("slack_crash");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 0); /* hundreds of lives; ctest limits the total */
	tcase_add_test(c, a_poster_killed_at_any_sync_to_disk_loses_and_repeats_nothing);
	tcase_add_test(c, a_poster_killed_at_what_it_sends_loses_and_repeats_nothing);
	tcase_add_test(c, a_poster_killed_at_what_it_receives_loses_and_repeats_nothing);
	tcase_add_test(c, a_poster_killed_at_its_writes_loses_and_repeats_nothing);
	suite_add_tcase(s, c);
	return run_suite(s);
}
