/* From the operator's words to the agent's process and back: session start, clear, resume, restart,
 * and the limit, with real runners. */
#include "runner_case.h"

#include "agent.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* An agent that says that it is there and goes on until it is told to end. */
#define WAITS                                                                                      \
	"'cd $INTERCOM_WORKSPACE_ROOT; echo $INTERCOM_SESSION_ID >> started; "                     \
	"while [ ! -e go ]; do sleep 0.1; done'"

static void is_ordered(const char *words)
{
	OWNED(str) struct str said = { 0 };

	ck_assert_msg(ctl(&said, "session %s 2>&1", words) == 0, "%s: %s", words, str_text(&said));
}

/* An id in a query's only row; valid until the tenth call after this one. */
static const char *id_of(const char *sql)
{
	static char *texts[10];
	static size_t next;
	char **text = &texts[next++ % COUNT(texts)];

	free(*text);
	*text = rows(sql);
	(*text)[strcspn(*text, "\n")] = '\0';
	return *text;
}

static int live_processes(void)
{
	OWNED(str) struct str said = { 0 };

	(void)shell(&said,
	            "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c -x "
	            "'INTERCOM_WORKSPACE_ROOT=%s'",
	            site.workspace);
	return atoi(str_text(&said));
}

START_TEST(an_agent_is_started_by_an_order_and_cleared_by_another)
{
	char words[200];

	setup();
	is_ordered("start --agent shell " WAITS);
	run_becomes(1, "running||||active");
	OWNED(char_ptr) char *started = file_with_lines("started", 1);
	expect("SELECT id FROM session", started);
	(void)snprintf(words, sizeof(words), "clear %s", id_of("SELECT id FROM session"));
	is_ordered(words);
	run_becomes(1, "ended|stopped||15|terminated");
	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS; live_processes() > 0;)
		ck_assert(agent_ms() < end);
}
END_TEST

START_TEST(a_session_whose_runner_died_is_resumed_with_a_new_run)
{
	char words[200];

	setup();
	is_ordered("start --agent shell " WAITS);
	run_becomes(1, "running||||active");
	(void)kill(runner_of(1), SIGKILL);
	run_becomes(1, "ended|interrupted|||interrupted");
	(void)snprintf(words, sizeof(words), "resume %s", id_of("SELECT id FROM session"));
	is_ordered(words);
	expect_soon("SELECT generation, state FROM agent_run ORDER BY seq", "1|ended\n2|running\n");
	expect("SELECT count(*), status FROM session", "1|active\n");
	ck_assert_int_eq(site_stop(&site), 0);
	expect("SELECT generation, outcome FROM agent_run ORDER BY seq",
	       "1|interrupted\n2|interrupted\n");
	ck_assert_int_eq(live_processes(), 0);
}
END_TEST

START_TEST(a_session_that_is_restarted_has_one_agent)
{
	char words[200];

	setup();
	is_ordered("start --agent shell " WAITS);
	run_becomes(1, "running||||active");
	free(file_with_lines("started", 1));
	(void)snprintf(words, sizeof(words), "restart %s", id_of("SELECT id FROM session"));
	is_ordered(words);
	expect_soon("SELECT r.state, s.status FROM agent_run AS r JOIN session AS s"
	            " ON s.seq = r.session_seq ORDER BY r.seq",
	            "ended|terminated\nrunning|active\n");
	free(file_with_lines("started", 2));
	put_file(site.workspace, "go", "");
	run_becomes(2, "ended|exited|0||terminated");
}
END_TEST

/* Whoever has waited for a minute while others wrote is told that nothing was done, and orders
 * again. 0: an agent starts; 1: it was refused. */
static int order_one(void)
{
	OWNED(str) struct str said = { 0 };
	int status;

	do {
		str_reset(&said);
		status = ctl(&said, "session start --agent shell " WAITS);
	} while (status != 0 && strstr(str_text(&said), "holds the write lock"));
	if (status != 0 && !strstr(str_text(&said), "max_concurrent_sessions"))
		(void)fprintf(stderr, "an order failed: %s", str_text(&said));
	return status == 0 ? 0 : 1;
}

START_TEST(of_twenty_orders_at_once_exactly_as_many_start_as_the_limit_allows)
{
	enum { ORDERS = 20 };
	pid_t pids[ORDERS];
	int done = 0;

	setup();
	for (int i = 0; i < ORDERS; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			_exit(order_one());
	}
	for (int i = 0; i < ORDERS; i++)
		done += end_of(pids[i]) == 0;
	ck_assert_int_eq(done, 3);
	expect_soon("SELECT count(*), state FROM agent_run GROUP BY state", "3|running\n");
	expect(
	    "SELECT outcome, count(*) FROM command WHERE verb = 'session-start' GROUP BY outcome",
	    "done|3\nrefused|17\n");
	free(file_with_lines("started", 3));
	put_file(site.workspace, "go", "");
	expect_soon("SELECT count(*), outcome FROM agent_run GROUP BY outcome", "3|exited\n");
	is_ordered("start --agent shell \"exit 0\"");
	run_becomes(4, "ended|exited|0||terminated");
}
END_TEST

START_TEST(a_session_is_resumed_after_the_system_was_stopped)
{
	OWNED(char_ptr) char *log = NULL;
	char words[200];

	setup();
	is_ordered("start --agent shell " WAITS);
	run_becomes(1, "running||||active");
	free(file_with_lines("started", 1));
	ck_assert_int_eq(site_stop(&site), 0);
	expect("SELECT outcome FROM agent_run", "interrupted\n");
	log = get_file(site.home, "log");
	says(log, "stopping: 1 session(s), 0 approval(s)");
	site_start(&site);
	(void)snprintf(words, sizeof(words), "resume %s", id_of("SELECT id FROM session"));
	is_ordered(words);
	run_becomes(2, "running||||active");
	put_file(site.workspace, "go", "");
	run_becomes(2, "ended|exited|0||terminated");
}
END_TEST

START_TEST(an_agent_that_cannot_be_started_ends_its_session_and_leaves_its_place)
{
	setup();
	given("UPDATE agent SET command = '/nowhere/agent' WHERE name = 'shell';"
	      "UPDATE setting SET value = '1' WHERE name = 'max_concurrent_sessions'");
	for (int run = 1; run <= 3; run++) {
		is_ordered("start --agent shell x");
		run_becomes(run, "ended|failed|||terminated");
		ck_assert_ptr_nonnull(strstr(of_run(run, "why"), "/nowhere/agent"));
	}
}
END_TEST

START_TEST(a_session_that_is_cleared_at_once_leaves_no_agent)
{
	char words[200];

	setup();
	for (int run = 1; run <= 5; run++) {
		is_ordered("start --agent shell " WAITS);
		(void)snprintf(words, sizeof(words), "clear %s",
		               id_of("SELECT id FROM session ORDER BY seq DESC LIMIT 1"));
		is_ordered(words);
	}
	expect_soon("SELECT state, outcome, count(*) FROM agent_run GROUP BY 1, 2",
	            "ended|stopped|5\n");
	expect("SELECT DISTINCT status FROM session", "terminated\n");
	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS; live_processes() > 0;)
		ck_assert(agent_ms() < end);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("runner");
	TCase *c = store_case(s, "orders", 90);

	tcase_add_test(c, an_agent_is_started_by_an_order_and_cleared_by_another);
	tcase_add_test(c, a_session_whose_runner_died_is_resumed_with_a_new_run);
	tcase_add_test(c, a_session_that_is_restarted_has_one_agent);
	tcase_add_test(c, a_session_is_resumed_after_the_system_was_stopped);
	tcase_add_test(c, an_agent_that_cannot_be_started_ends_its_session_and_leaves_its_place);
	tcase_add_test(c, a_session_that_is_cleared_at_once_leaves_no_agent);
	tcase_add_test(c, of_twenty_orders_at_once_exactly_as_many_start_as_the_limit_allows);
	return run_suite(s);
}
