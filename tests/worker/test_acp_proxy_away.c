/* `agent-intercom acp` while no front is there: what the agent was told is known once one is back.
 */
#include "acp_proxy_case.h"
#include "hung.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AWAY_MS = 15000 };

static void front_is_away(const struct site *s)
{
	ck_assert_int_eq(kill(s->pid, SIGSTOP), 0); /* it would start another front */
	ck_assert_int_eq(kill(worker_pid("mcp-front"), SIGKILL), 0);
}

static void front_is_back(const struct site *s)
{
	ck_assert_int_eq(kill(s->pid, SIGCONT), 0);
}

/* The editor's user answers, and 15 seconds later the agent is told that. */
static void editor_answers_alone(struct trio *a, const char *option)
{
	party_say(&a->editor, chosen("0", option));
	hears_nothing_but_marks(a);
	advance(AWAY_MS);
	hears(&a->agent, chosen("0", option));
}

static void decides(const char *how)
{
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *id = rows("SELECT id FROM request ORDER BY seq LIMIT 1");

	ck_assert_msg(ctl(&said, "%s %.36s 2>&1", how, id) == 0, "%s", str_text(&said));
}

/* The same command again is a question of its own. */
static void is_asked_anew(struct trio *a)
{
	const char *line = permission("1", COMMAND);

	party_say(&a->agent, line);
	hears(&a->editor, line);
	waits(1);
}

START_TEST(what_the_editor_alone_has_answered_is_decided_once_a_front_is_back)
{
	static const char *const OPTIONS[] = { "always", "no" };
	static const char *const DECIDED[] = { "approved|approve|editor|always, in the editor\n",
		                               "rejected|reject|editor|in the editor\n" };
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);

	given_command_that_waits(&a);
	front_is_away(&s);
	editor_answers_alone(&a, OPTIONS[_i]);
	front_is_back(&s);
	expect_soon("SELECT r.state, d.verdict, d.source, d.reason FROM request AS r"
	            " JOIN decision AS d ON d.seq = r.decision_seq"
	            " WHERE r.delivered_at IS NOT NULL",
	            DECIDED[_i]);
	is_asked_anew(&a);
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(a_no_that_came_before_the_editors_yes_says_that_its_agent_was_told_yes)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *id = NULL;

	given_command_that_waits(&a);
	front_is_away(&s);
	decides("reject --reason=never");
	editor_answers_alone(&a, "yes");
	front_is_back(&s);
	expect_soon("SELECT kind, actor FROM event WHERE kind LIKE 'gate.%'",
	            "gate.overruled|acp\n");
	expect("SELECT state FROM request", "rejected\n");
	ck_assert_int_eq(ctl(&said, "log --text"), 0);
	says(str_text(&said), "gate.overruled");
	str_reset(&said);
	id = rows("SELECT id FROM request");
	ck_assert_int_eq(ctl(&said, "show %.36s --text", id), 0);
	says(str_text(&said), "allowed   its editor's user allowed it");
	party_say(&a.agent, permission("1", COMMAND)); /* the no stands */
	hears(&a.agent, chosen("1", "no"));
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(a_yes_that_came_before_the_editors_no_is_used_up_and_says_so)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);

	given_command_that_waits(&a);
	front_is_away(&s);
	decides("approve");
	editor_answers_alone(&a, "no");
	front_is_back(&s);
	expect_soon("SELECT kind, actor FROM event WHERE kind LIKE 'gate.%'",
	            "gate.withheld|acp\n");
	expect("SELECT reason FROM gate_call WHERE withheld_at IS NOT NULL",
	       "its editor's user refused it while agent-intercom could not be reached\n");
	is_asked_anew(&a);
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

/* The front reads of both at once, and may still tell the yes: either way, it is used up. */
START_TEST(a_yes_that_came_just_before_the_editor_cancels_is_used_up)
{
	static const char CANCELLED[] =
	    "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"outcome\":{\"outcome\":\"cancelled\"}}}";
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);
	const pid_t front = worker_pid("mcp-front");

	given_command_that_waits(&a);
	ck_assert_int_eq(kill(front, SIGSTOP), 0);
	approve_all();
	party_say(&a.editor, CANCELLED);
	hears(&a.agent, CANCELLED);
	ck_assert_int_eq(kill(front, SIGCONT), 0);
	expect_soon("SELECT count(*) FROM request WHERE delivered_at IS NOT NULL", "1\n");
	is_asked_anew(&a);
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

/* An edit of a file that takes its time; the process that reads it stands still from here on. */
static pid_t given_edit_that_is_read(struct trio *a, const char *id)
{
	OWNED(str) struct str text = { 0 }, call = { 0 };
	pid_t job;

	for (int i = 0; text.length < 16 << 20; i++)
		str_addf(&text, "this is line %d of a file that takes its time\n", i);
	put_file(a->folder, "big.txt", text.bytes);
	str_addf(&call,
	         "{\"toolCallId\":\"c1\",\"kind\":\"edit\",\"title\":\"Edit\",\"content\":[{"
	         "\"type\":\"diff\",\"path\":\"%s/big.txt\",\"oldText\":\"line 7 of\","
	         "\"newText\":\"changed\"}]}",
	         a->folder);
	party_say(&a->agent, permission(id, call.bytes));
	job = hand_job_of(worker_pid("mcp-front"));
	ck_assert_int_eq(kill(job, SIGSTOP), 0);
	return job;
}

/* The front reads of both at once. */
START_TEST(what_is_cancelled_before_it_was_asked_about_is_not_asked_about)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);
	const pid_t front = worker_pid("mcp-front");
	pid_t job = given_edit_that_is_read(&a, "7");

	ck_assert_int_eq(kill(front, SIGSTOP), 0);
	party_say(&a.agent, "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{"
	                    "\"requestId\":7}}");
	hears_part(&a.agent, "-32800");
	hears_nothing_but_marks(&a); /* it has told the front, too */
	ck_assert_int_eq(kill(job, SIGCONT), 0);
	while (kill(job, 0) == 0)
		(void)poll(NULL, 0, 1);
	ck_assert_int_eq(kill(front, SIGCONT), 0);
	given_command_that_waits(&a);
	expect("SELECT count(*) FROM request", "1\n");
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(a_yes_that_is_the_same_as_the_editors_is_used_up)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);

	given_command_that_waits(&a);
	front_is_away(&s);
	decides("approve");
	editor_answers_alone(&a, "yes");
	front_is_back(&s);
	expect_soon("SELECT decision FROM gate_call WHERE decision <> 'open'", "allow\n");
	expect("SELECT count(*) FROM event WHERE kind LIKE 'gate.%'", "0\n");
	is_asked_anew(&a);
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(a_write_that_is_refused_as_nobody_can_be_asked_is_withdrawn_once_a_front_is_back)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);

	party_say(&a.agent, write_of(&a, "1", "x", "x"));
	waits(1);
	front_is_away(&s);
	hears_nothing_but_marks(&a);
	advance(AWAY_MS);
	hears_part(&a.agent, "cannot be reached");
	front_is_back(&s);
	expect_soon("SELECT state, reason FROM request",
	            "expired|it was refused while agent-intercom could not be reached\n");
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

START_TEST(what_was_answered_or_cancelled_while_the_system_was_stopped_is_open_no_longer)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);

	given_command_that_waits(&a);
	party_say(&a.agent, write_of(&a, "7", "x", "x"));
	waits(2);
	ck_assert_int_eq(site_stop(&s), 0);
	party_say(&a.agent, "{\"jsonrpc\":\"2.0\",\"method\":\"$/cancel_request\",\"params\":{"
	                    "\"requestId\":7}}");
	hears_part(&a.agent, "-32800");
	editor_answers_alone(&a, "no");
	expect("SELECT count(*) FROM request WHERE decision IS NULL", "2\n");
	site_start(&s);
	expect_soon("SELECT state, reason FROM request ORDER BY seq",
	            "expired|its editor's user refused it while agent-intercom could not be "
	            "reached\n"
	            "expired|its editor or its agent has gone, or cancelled it\n");
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

/* Of which it is told, since then, the file is what its yes has made of it. */
START_TEST(what_has_become_of_the_file_since_is_no_other_question)
{
	struct site s = given_running_site();
	struct trio a = given_trio_on(&s);
	OWNED(str) struct str call = { 0 };
	const char *line;

	put_file(s.workspace, "a.txt", "one\n");
	str_addf(&call,
	         "{\"toolCallId\":\"c1\",\"kind\":\"edit\",\"title\":\"Edit\",\"content\":[{"
	         "\"type\":\"diff\",\"path\":\"%s/a.txt\",\"oldText\":\"one\","
	         "\"newText\":\"three\"}]}",
	         s.workspace);
	line = permission("0", call.bytes);
	party_say(&a.agent, line);
	hears(&a.editor, line);
	waits(1);
	front_is_away(&s);
	editor_answers_alone(&a, "yes");
	put_file(s.workspace, "a.txt", "three\n");
	front_is_back(&s);
	expect_soon("SELECT state FROM request WHERE delivered_at IS NOT NULL", "approved\n");
	expect("SELECT count(*) FROM request", "1\n");
	trio_ends(&a, 0);
	ck_assert_int_eq(site_stop(&s), 0);
}
END_TEST

/* It has not been asked about there, and is not to be. */
START_TEST(what_was_answered_alone_before_any_front_was_there_is_told_to_none)
{
	struct trio a;
	struct asked q;

	fresh_store(); /* for the clock */
	a = given_trio(NULL);
	front_leaves(&a);
	party_say(&a.agent, permission("0", COMMAND));
	hears(&a.editor, permission("0", COMMAND));
	editor_answers_alone(&a, "yes");
	front_returns(&a);
	party_say(&a.agent, terminal("1", "\"command\":\"id\""));
	q = front_hears(&a);
	has(q.params, "params.event", "terminal/create");
	asked_clear(&q);
	trio_ends(&a, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("acp_proxy_away");
	TCase *c = store_case(s, "acp_proxy_away", 90);

	tcase_add_test(c, a_no_that_came_before_the_editors_yes_says_that_its_agent_was_told_yes);
	tcase_add_loop_test(c, what_the_editor_alone_has_answered_is_decided_once_a_front_is_back,
	                    0, 2);
	tcase_add_test(c, a_yes_that_came_before_the_editors_no_is_used_up_and_says_so);
	tcase_add_test(c, a_yes_that_came_just_before_the_editor_cancels_is_used_up);
	tcase_add_test(c, what_is_cancelled_before_it_was_asked_about_is_not_asked_about);
	tcase_add_test(c, a_yes_that_is_the_same_as_the_editors_is_used_up);
	tcase_add_test(
	    c, a_write_that_is_refused_as_nobody_can_be_asked_is_withdrawn_once_a_front_is_back);
	tcase_add_test(
	    c, what_was_answered_or_cancelled_while_the_system_was_stopped_is_open_no_longer);
	tcase_add_test(c, what_has_become_of_the_file_since_is_no_other_question);
	tcase_add_test(c, what_was_answered_alone_before_any_front_was_there_is_told_to_none);
	return run_suite(s);
}
