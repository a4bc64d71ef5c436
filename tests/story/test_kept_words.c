/* What the operator says to an agent that is there reaches that one alone: also while nobody is
 * connected, because our own end had died. */
#include "agent.h"
#include "relay.h"

#include <signal.h>
#include <stdlib.h>

static struct site site;

/* ---- given ---- */

/* Words to the session that came first. */
static void steer(const char *text)
{
	OWNED(str) struct str sql = { 0 };

	str_addf(&sql,
	         "INSERT INTO steering (session_id, text) SELECT id, '%s' FROM session "
	         "WHERE seq = 1",
	         text);
	given(sql.bytes);
}

static void ping(struct relay *r)
{
	free(relay_call(r, "ping", "{}"));
}

/* Two agents, of which the first has words to come; the other came after its last call. */
static void given_two(struct relay *first, struct relay *other)
{
	site = given_running_site();
	*first = given_relay(&site);
	ping(first);
	*other = given_relay(&site);
	ping(other);
	steer("use tabs");
}

/* The whole message: words of the operator are beside the tool's own text. */
static char *call_for_message(struct relay *r, const char *tool, const char *arguments)
{
	relay_begin(r, tool, arguments);
	return relay_line(r);
}

/* ---- then ---- */

static void is_told(struct relay *r, const char *words)
{
	OWNED(char_ptr) char *told = call_for_message(r, "ping", "{}");

	says(member(told, "result.structuredContent.operator_says.0"), words);
	has(told, "result.structuredContent.operator_says.1", "");
}

static void is_told_nothing(struct relay *r)
{
	OWNED(char_ptr) char *told = call_for_message(r, "ping", "{}");

	has(told, "result.structuredContent.acknowledged", "true");
	has(told, "result.structuredContent.operator_says", "");
}

static void may_not_recover_the_first(struct relay *r)
{
	OWNED(char_ptr) char *id = rows("SELECT id FROM session WHERE seq = 1");
	OWNED(str) struct str named = { 0 };

	str_addf(&named, "{\"session_id\":\"%.36s\"}", id);
	OWNED(char_ptr) char *told = call_for_message(r, "reboot", named.bytes);

	has(told, "result.structuredContent.error_code", "session_connected");
	has(told, "result.structuredContent.operator_says", "");
}

static void finds_nothing_to_recover(struct relay *r)
{
	OWNED(char_ptr) char *told = call_for_message(r, "reboot", "{}");

	has(told, "result.structuredContent.status", "clean");
	has(told, "result.structuredContent.operator_says", "");
}

/* The first one's relay, which is stopped, comes back after all that the other one tries. */
static void keeps_its_words(struct relay *first, struct relay *other)
{
	is_told_nothing(other);
	may_not_recover_the_first(other);
	finds_nothing_to_recover(other);
	(void)kill(first->pid, SIGCONT);
	is_told(first, "use tabs");
	ck_assert_int_eq(relay_stop(first), 0);
	ck_assert_int_eq(relay_stop(other), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}

/* ---- our end dies ---- */

/* Its relay is not back yet: the machine is busy. */
START_TEST(words_to_an_agent_whose_front_died_are_for_no_other)
{
	struct relay first, other;

	given_two(&first, &other);
	(void)kill(first.pid, SIGSTOP);
	kill_and_await("mcp-front");
	keeps_its_words(&first, &other);
}
END_TEST

START_TEST(words_to_an_agent_are_for_no_other_after_a_stop_and_a_start)
{
	struct relay first, other;

	given_two(&first, &other);
	(void)kill(first.pid, SIGSTOP);
	ck_assert_int_eq(site_stop(&site), 0);
	site_start(&site);
	keeps_its_words(&first, &other);
}
END_TEST

/* Its end is not even noticed by the program that had started it. */
START_TEST(words_to_an_agent_that_ended_without_a_front_reach_the_next_at_once)
{
	struct relay first, other;

	given_two(&first, &other);
	(void)kill(worker_pid("mcp-front"), SIGSTOP);
	(void)kill(first.pid, SIGKILL);
	kill_and_await("mcp-front");
	is_told(&other, "use tabs");
	relay_kill(&first);
	ck_assert_int_eq(relay_stop(&other), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ---- a session that is named ---- */

START_TEST(a_session_of_another_workspace_does_not_exist)
{
	OWNED(char_ptr) char *told = NULL;
	OWNED(char_ptr) char *id = NULL;
	struct relay first, other;

	site = given_running_site();
	first = given_relay(&site);
	ping(&first);
	steer("use tabs");
	id = rows("SELECT id FROM session");
	id[36] = '\0';
	ck_assert_int_eq(setenv("INTERCOM_SESSION_ID", id, 1), 0);
	relay_start(&other, "/usr", NULL, NULL);
	ck_assert_int_eq(unsetenv("INTERCOM_SESSION_ID"), 0);
	relay_hello(&other);
	told = call_for_message(&other, "ping", "{}");
	says(member(told, "error.message"), "there is no session");
	is_told(&first, "use tabs");
	ck_assert_int_eq(relay_stop(&first), 0);
	ck_assert_int_eq(relay_stop(&other), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kept words");
	TCase *c = store_case(s, "kept words", 120);

	tcase_add_test(c, words_to_an_agent_whose_front_died_are_for_no_other);
	tcase_add_test(c, words_to_an_agent_are_for_no_other_after_a_stop_and_a_start);
	tcase_add_test(c, words_to_an_agent_that_ended_without_a_front_reach_the_next_at_once);
	tcase_add_test(c, a_session_of_another_workspace_does_not_exist);
	return run_suite(s);
}
