/* An answer that a relay has not passed on when it ends is not told: whoever asks next is. */
#include "agent.h"
#include "doorbell.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char QUESTION[] = "{\"prompt_text\":\"go on?\"}";
static const char ANSWER[] = "INSERT INTO decision (request_id, verdict, instruction)"
                             " SELECT id, 'refine', 'use tabs' FROM request";
static const char WAITING[] = "SELECT count(*) FROM tool_call WHERE state = 'waiting'";
static const char TOLD[] = "SELECT told_answer FROM tool_call ORDER BY seq LIMIT 1";
static const char DELIVERED[] = "SELECT delivered_at IS NOT NULL FROM request";

static struct site site;

static const char SAID[] = "SELECT count(delivered_at) FROM steering";

/* Asks, and waits until the operator could answer. */
static struct relay given_asker(void)
{
	struct relay r;

	site = given_running_site();
	r = given_relay(&site);
	relay_begin(&r, "transmit", QUESTION);
	expect_soon(WAITING, "1\n");
	return r;
}

/* The next agent that asks the same has the answer, and the operator is not asked again. */
static void is_told_to_the_next(const char *words)
{
	struct relay next = given_relay(&site);
	OWNED(char_ptr) char *answer = NULL;

	relay_begin(&next, "transmit", QUESTION);
	answer = relay_line(&next);
	ck_assert_ptr_nonnull(answer);
	says(answer, "use tabs");
	if (words)
		says(answer, words);
	expect("SELECT count(*) FROM request", "1\n");
	ck_assert_int_eq(relay_stop(&next), 0);
	relay_clear(&next);
	ck_assert_int_eq(site_stop(&site), 0);
}

START_TEST(what_a_killed_relay_has_not_read_is_told_to_the_next)
{
	struct relay r = given_asker();

	given("INSERT INTO steering (session_id, text) SELECT id, 'be quick'"
	      " FROM session");
	halt_worker(r.pid);
	given(ANSWER);
	expect_soon(TOLD, "1\n");
	expect("SELECT count(*) FROM steering WHERE delivered_at IS NOT NULL", "1\n");
	expect(DELIVERED, "1\n");
	relay_kill(&r);
	relay_clear(&r);
	expect_soon(TOLD, "0\n");
	expect(DELIVERED, "0\n");
	expect("SELECT count(*) FROM steering WHERE delivered_at IS NOT NULL", "0\n");
	is_told_to_the_next("be quick");
}
END_TEST

/* The answer and other words are in the pipe of a relay that does not read when the system stops.
 */
static struct relay given_unread_at_the_stop(void)
{
	struct relay r = given_asker();

	given("INSERT INTO steering (session_id, text) SELECT id, 'be quick' FROM session");
	halt_worker(r.pid);
	given(ANSWER);
	expect_soon(TOLD, "1\n");
	expect(SAID, "1\n");
	ck_assert_int_eq(site_stop(&site), 0);
	expect(TOLD, "0\n");
	expect(DELIVERED, "0\n");
	expect(SAID, "0\n");
	return r;
}

START_TEST(what_a_relay_that_dies_has_not_read_when_the_system_stops_is_told_to_the_next)
{
	struct relay r = given_unread_at_the_stop();

	relay_kill(&r);
	relay_clear(&r);
	site_start(&site);
	is_told_to_the_next("be quick");
}
END_TEST

START_TEST(what_a_relay_reads_after_the_system_has_stopped_is_told_once)
{
	struct relay r = given_unread_at_the_stop();
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *ping = NULL;

	(void)kill(r.pid, SIGCONT);
	answer = relay_line(&r);
	ck_assert_ptr_nonnull(answer);
	says(answer, "use tabs");
	says(answer, "be quick");
	site_start(&site);
	expect_soon(TOLD, "1\n");
	expect(DELIVERED, "1\n");
	expect(SAID, "1\n");
	ping = relay_call(&r, "ping", "{}");
	has(ping, "operator_says", "");
	relay_begin(&r, "transmit", QUESTION);
	expect_soon("SELECT count(*) FROM request", "2\n");
	ck_assert_int_eq(relay_stop(&r), 0);
	relay_clear(&r);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(what_an_agent_that_has_closed_its_input_is_not_given_is_told_to_the_next)
{
	struct relay r = given_asker();

	(void)close(r.out);
	given(ANSWER);
	expect_soon("SELECT state FROM connection", "closed\n");
	expect(TOLD, "0\n");
	relay_kill(&r);
	is_told_to_the_next(NULL);
}
END_TEST

START_TEST(what_was_read_stays_told_whatever_comes_after_it_unread)
{
	struct relay r = given_asker();
	OWNED(char_ptr) char *answer = NULL;

	given(ANSWER);
	answer = relay_end(&r);
	has(answer, "decision", "refine");
	(void)close(r.out);
	relay_send(&r, "{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"tools/list\"}");
	expect_soon("SELECT state FROM connection", "closed\n");
	expect(TOLD, "1\n");
	expect(DELIVERED, "1\n");
	relay_kill(&r);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* Rings a worker of the site. */
static void ring(const char *name)
{
	OWNED(str) struct str said = { 0 };
	int run;

	ck_assert_int_eq(shell(&said, "$INTERCOM_BUILD/agent-intercom where run_directory"), 0);
	said.bytes[strcspn(said.bytes, "\n")] = '\0';
	run = open(said.bytes, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_ge(run, 0);
	doorbell_ring(run, name);
	(void)close(run);
}

/* The front stood still while the operator answered and, after its bell had been rung, the agent
 * ended: it looks at the answer before it is told of the end. */
START_TEST(an_answer_is_not_given_to_a_relay_that_has_hung_up_and_waits_for_the_next)
{
	OWNED(char_ptr) char *answer = NULL;
	struct relay first, second;
	pid_t front;

	site = given_running_site();
	first = given_relay(&site);
	relay_begin(&first, "transmit", QUESTION);
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'waiting'", "1\n");
	front = worker_pid("mcp-front");
	halt_worker(front);
	given("INSERT INTO decision (request_id, verdict) SELECT id, 'continue' FROM request");
	ring("mcp-front");
	relay_kill(&first);
	relay_clear(&first);
	(void)kill(front, SIGCONT);
	expect_soon("SELECT listener IS NULL FROM tool_call", "1\n");
	expect("SELECT told_answer FROM tool_call", "0\n");
	expect("SELECT delivered_at IS NULL FROM request", "1\n");
	second = given_relay(&site);
	answer = relay_call(&second, "transmit", QUESTION);
	has(answer, "decision", "continue");
	expect("SELECT count(*) FROM request", "1\n");
	ck_assert_int_eq(relay_stop(&second), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("relay_unread");
	TCase *c = tcase_create("relay_unread");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, what_a_killed_relay_has_not_read_is_told_to_the_next);
	tcase_add_test(
	    c, what_a_relay_that_dies_has_not_read_when_the_system_stops_is_told_to_the_next);
	tcase_add_test(c, what_a_relay_reads_after_the_system_has_stopped_is_told_once);
	tcase_add_test(c, what_an_agent_that_has_closed_its_input_is_not_given_is_told_to_the_next);
	tcase_add_test(c, what_was_read_stays_told_whatever_comes_after_it_unread);
	tcase_add_test(c,
	               an_answer_is_not_given_to_a_relay_that_has_hung_up_and_waits_for_the_next);
	suite_add_tcase(s, c);
	return run_suite(s);
}
