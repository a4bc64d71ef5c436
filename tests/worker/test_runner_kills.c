/* The kill matrix of runner and supervisor: killed at each system call of a kind while an agent is
 * talked to, or while runners are started and stopped. No prompt is sent twice, no answer is lost
 * or given twice, no process is left. The test run takes a sample; the whole, half an hour, is
 * INTERCOM_KILLS=all ctest --preset dev -R test_runner_kills. The agent is
 * tests/fakes/fake_agent.c. */
#include "runner_case.h"

#include "agent.h"
#include "err.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { LOOK_MS = 10, RUNS_MAX = 5 };

/* ---- a runner that talks ---- */

static bool forgets;

/* It asks in each turn, and ends when it is told to leave. */
static void given_story(void)
{
	OWNED(str) struct str args = { 0 };
	OWNED(str) struct str sql = { 0 };
	struct instant now = clock_now();

	str_addf(&args, "\"v1\",\"--log\",\"heard\",\"leave:bye\",\"ask:a.c\"%s",
	         forgets ? "" : ",\"resumable\"");
	make_site_of("fake", "acp", "tests/fake-agent", args.bytes);
	str_addf(
	    &sql,
	    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status,"
	    " mode, origin, protocol_mode, created_at, updated_at)"
	    " VALUES (1, '%s', 'h', 'local:tester', '%s', 'created', 'local', 'started', 'acp',"
	    " '%s', '%s');"
	    "INSERT INTO agent_run (seq, session_seq, generation, machine, agent, protocol,"
	    " state, created_at, prompt)"
	    " VALUES (1, 1, 1, 'h', 'fake', 'acp', 'wanted', '%s', 'mend it');"
	    "INSERT INTO steering (session_id, text)"
	    " SELECT id, column1 FROM session, (VALUES ('go on'), ('bye'))",
	    session_of(1), site.workspace, now.text, now.text, now.text);
	given(sql.bytes);
}

/* The operator says no to what is asked first, and yes to everything else. */
static void answer(void)
{
	given("INSERT INTO decision (request_id, verdict, reason)"
	      " SELECT id, CASE seq WHEN 1 THEN 'reject' ELSE 'approve' END,"
	      " CASE seq WHEN 1 THEN 'not so' END"
	      " FROM request WHERE state IN ('pending', 'interrupted')");
}

static void give_up(const char *call, int n, const char *newest)
{
	OWNED(char_ptr) char *heard = get_file(site.workspace, "heard");
	OWNED(char_ptr)
	char *told = rows("SELECT seq, kind, run_seq, sent_at, ended_at, told_in FROM agent_input");
	OWNED(char_ptr)
	char *asked = rows("SELECT q.seq, q.run_seq, q.answered_at, q.withdrawn_at, q.told_seq,"
	                   " r.seq, r.state FROM agent_question AS q"
	                   " JOIN request AS r ON r.seq = q.request_seq");

	ck_abort_msg("%s %d: the session does not end: %s\ninput:\n%s\nquestions:\n%s\n%s", call, n,
	             newest, told, asked, heard ? heard : "");
}

/* As the operator sees it: what is lost is resumed, until the session is over. */
static void play_to_the_end(const char *call, int n)
{
	for (int64_t end = agent_ms() + 3 * AGENT_PATIENCE_MS;;) {
		OWNED(char_ptr)
		char *newest =
		    rows("SELECT r.seq || coalesce(r.outcome, '') || s.status FROM agent_run AS r"
		         " JOIN session AS s ON s.seq = r.session_seq ORDER BY r.seq DESC LIMIT 1");

		if (strstr(newest, "terminated"))
			return;
		if (agent_ms() >= end)
			give_up(call, n, newest);
		ck_assert_int_lt(atoi(newest), RUNS_MAX);
		answer();
		if (strstr(newest, "interruptedinterrupted"))
			resume(atoi(newest));
		(void)poll(NULL, 0, LOOK_MS);
	}
}

static int times(const char *heard, const char *text)
{
	int count = 0;

	for (const char *at = heard; at && (at = strstr(at, text)) != NULL; at++)
		count++;
	return count;
}

static void judge(const char *call, int n)
{
	static const struct {
		const char *prompt, *words;
	} SAID[] = { { "\"text\":\"mend it\"", "mend it" },
		     { "\"text\":\"go on\"", "go on" },
		     { "\"text\":\"bye\"", "bye" },
		     { "\"text\":\"The operator rejected", "not so" } };
	OWNED(char_ptr) char *heard = get_file(site.workspace, "heard");
	OWNED(char_ptr)
	char *answered = rows("SELECT count(*) FROM agent_question WHERE answered_at IS NOT NULL");
	OWNED(char_ptr)
	char *doubtful = rows("SELECT count(*) FROM agent_question"
	                      " WHERE answered_at IS NOT NULL AND told_seq IS NOT NULL");
	int given_answers = times(heard, "\"optionId\"");

	for (size_t i = 0; i < COUNT(SAID); i++) {
		ck_assert_msg(times(heard, SAID[i].prompt) <= 1, "%s %d: sent twice: %s\n%s", call,
		              n, SAID[i].prompt, heard);
		ck_assert_msg(times(heard, SAID[i].words) >= 1, "%s %d: never told: %s\n%s", call,
		              n, SAID[i].words, heard);
	}
	ck_assert_msg(given_answers <= atoi(answered) &&
	                  given_answers >= atoi(answered) - atoi(doubtful),
	              "%s %d: %d answers, of %s that are in rows, %s in doubt:\n%s", call, n,
	              given_answers, answered, doubtful, heard);
	expect("SELECT count(*) FROM agent_question AS q JOIN request AS r ON r.seq = q.request_seq"
	       " WHERE q.answered_at IS NULL AND q.withdrawn_at IS NULL AND q.told_seq IS NULL"
	       " AND r.state <> 'expired'",
	       "0\n");
	expect("SELECT count(*) FROM request WHERE state IN ('pending', 'interrupted')", "0\n");
	expect("SELECT count(*) FROM steering WHERE delivered_at IS NULL", "0\n");
}

static bool survives_talk(const char *call, int n)
{
	int status;

	given_story();
	pid_t tracer = start_killed_at("runner-1", call, n);
	while (waitpid(tracer, &status, WNOHANG) == 0) {
		answer();
		(void)poll(NULL, 0, LOOK_MS);
	}
	bool killed = WIFSIGNALED(status) || WEXITSTATUS(status) != 0;

	site_start(&site);
	play_to_the_end(call, n);
	processes_become(1, 0);
	judge(call, n);
	ck_assert_int_eq(site_stop(&site), 0);
	return killed;
}

START_TEST(a_runner_that_is_killed_before_any_flush_tells_all_and_nothing_twice)
{
	kill_at_each("fdatasync", 11, survives_talk);
}
END_TEST

START_TEST(a_runner_that_is_killed_before_any_byte_to_its_agent_tells_all_and_nothing_twice)
{
	kill_at_each("write", 9, survives_talk);
}
END_TEST

START_TEST(an_agent_that_remembers_nothing_is_told_all_and_nothing_twice)
{
	forgets = true;
	kill_at_each("fdatasync", 13, survives_talk);
}
END_TEST

/* ---- a supervisor that starts, adopts and stops ---- */

static int lines_of(const char *name)
{
	OWNED(char_ptr) char *text = get_file(site.workspace, name);

	return times(text, "\n");
}

/* Does as an operator would until the run is over and the supervisor has ended. */
static bool is_killed(pid_t tracer, int run)
{
	bool stopped = false, left = false;
	int status;

	for (int64_t end = agent_ms() + 2 * AGENT_PATIENCE_MS;
	     waitpid(tracer, &status, WNOHANG) == 0; (void)poll(NULL, 0, LOOK_MS)) {
		const char *state = of_run(run, "state");

		ck_assert_msg(agent_ms() < end, "the supervisor does not end, the run is %s",
		              state);
		if (!stopped && strcmp(state, "running") == 0 && lines_of("started") == 1) {
			want_stop(run, "enough");
			stopped = true;
		}
		if (!left && strcmp(state, "ended") == 0) {
			pid_t supervisor = site_traced(tracer);

			left = supervisor > 1 && kill(supervisor, SIGTERM) == 0;
		}
	}
	return WIFSIGNALED(status) || WEXITSTATUS(status) != 0;
}

static bool survives_supervisor(const char *call, int n)
{
	bool killed;

	make_site();
	int run = given_run("sh -c 'trap \"\" TERM HUP INT; while :; do sleep 0.2; done' \"$here\""
	                    " >/dev/null 2>&1 &\n"
	                    "echo started >> \"$here/started\"; while :; do sleep 0.1; done");
	killed = is_killed(site_start_killed_at(&site, call, n), run);
	site_start(&site);
	expect_soon("SELECT state IN ('running', 'ended') FROM agent_run", "1\n");
	if (strcmp(of_run(run, "state"), "running") == 0)
		want_stop(run, "enough");
	expect_soon("SELECT state, outcome IN ('stopped', 'interrupted') FROM agent_run",
	            "ended|1\n");
	processes_become(run, 0);
	ck_assert_msg(lines_of("started") <= 1, "%s %d: started twice", call, n);
	ck_assert_int_eq(site_stop(&site), 0);
	expect("SELECT count(*) FROM worker WHERE state IN ('starting', 'ready')", "0\n");
	return killed;
}

START_TEST(a_supervisor_that_is_killed_before_any_flush_starts_nothing_twice_and_leaves_nothing)
{
	kill_at_each("fdatasync", 1, survives_supervisor);
}
END_TEST

START_TEST(a_supervisor_that_is_killed_as_it_starts_any_process_starts_nothing_twice)
{
	kill_at_each("clone3", 3, survives_supervisor);
}
END_TEST

/* ---- a supervisor that adopts ---- */

static const char STAYS[] = "echo started >> \"$here/started\"\n"
                            "while [ ! -e \"$here/go\" ]; do sleep 0.1; done";

static void kill_all_but_runners(void)
{
	(void)kill(site.pid, SIGKILL);
	ck_assert_int_eq(end_of(site.pid), 128 + SIGKILL);
	site.pid = 0;
	expect_soon("SELECT count(*) FROM worker WHERE state = 'ready' AND name NOT LIKE 'runner%'",
	            "0\n");
}

/* The next one adopts, settles and starts until it has done all, and is killed on the way, or
 * then. */
static bool is_killed_on_the_way(pid_t tracer)
{
	bool done = false;
	int status;

	for (int64_t end = agent_ms() + 2 * AGENT_PATIENCE_MS;
	     waitpid(tracer, &status, WNOHANG) == 0; (void)poll(NULL, 0, LOOK_MS)) {
		pid_t supervisor = site_traced(tracer);

		ck_assert_msg(agent_ms() < end, "the supervisor does not adopt: %s %s %s",
		              of_run(1, "state"), of_run(2, "state"), of_run(3, "state"));
		if (!done && strcmp(of_run(3, "state"), "running") == 0 &&
		    strcmp(of_run(2, "state"), "ended") == 0 && supervisor > 1)
			done = kill(supervisor, SIGKILL) == 0;
	}
	return !done;
}

/* Of three runs one goes on, one has lost its runner, and one is wanted. */
static bool survives_adoption(const char *call, int n)
{
	setup();
	int stays = given_run(STAYS), lost = given_run(STAYS);
	run_becomes(stays, "running||||active");
	run_becomes(lost, "running||||active");
	free(file_with_lines("started", 2));
	OWNED(char_ptr) char *pid = xstrdup(of_run(stays, "pid"));
	pid_t runner = runner_of(stays), gone = runner_of(lost);
	kill_all_but_runners();
	(void)kill(gone, SIGKILL);
	int wanted = given_run(STAYS);

	bool killed = is_killed_on_the_way(site_start_killed_at(&site, call, n));
	site_start(&site);
	run_becomes(lost, "ended|interrupted|||interrupted");
	run_becomes(wanted, "running||||active");
	run_becomes(stays, "running||||active");
	ck_assert_msg(strcmp(of_run(stays, "pid"), pid) == 0 && runner_of(stays) == runner,
	              "%s %d: the agent that goes on is another one", call, n);
	free(file_with_lines("started", 3));
	processes_become(lost, 0);
	put_file(site.workspace, "go", "");
	run_becomes(stays, "ended|exited|0||terminated");
	run_becomes(wanted, "ended|exited|0||terminated");
	ck_assert_msg(lines_of("started") == 3, "%s %d: started twice", call, n);
	ck_assert_int_eq(site_stop(&site), 0);
	expect("SELECT count(*) FROM worker WHERE state IN ('starting', 'ready')", "0\n");
	return killed;
}

START_TEST(a_supervisor_that_is_killed_before_any_flush_while_it_adopts_loses_no_agent)
{
	kill_at_each("fdatasync", 1, survives_adoption);
}
END_TEST

START_TEST(a_supervisor_that_is_killed_at_any_lock_while_it_adopts_loses_no_agent)
{
	kill_at_each("flock", 6, survives_adoption);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("runner_kills");
	TCase *c = store_case(s, "talk", 3600);

	tcase_add_test(c, a_runner_that_is_killed_before_any_flush_tells_all_and_nothing_twice);
	tcase_add_test(
	    c, a_runner_that_is_killed_before_any_byte_to_its_agent_tells_all_and_nothing_twice);
	tcase_add_test(c, an_agent_that_remembers_nothing_is_told_all_and_nothing_twice);
	c = store_case(s, "supervisor", 3600);
	tcase_add_test(
	    c,
	    a_supervisor_that_is_killed_before_any_flush_starts_nothing_twice_and_leaves_nothing);
	tcase_add_test(c,
	               a_supervisor_that_is_killed_as_it_starts_any_process_starts_nothing_twice);
	c = store_case(s, "adoption", 3600);
	tcase_add_test(c,
	               a_supervisor_that_is_killed_before_any_flush_while_it_adopts_loses_no_agent);
	tcase_add_test(c, a_supervisor_that_is_killed_at_any_lock_while_it_adopts_loses_no_agent);
	return run_suite(s);
}
