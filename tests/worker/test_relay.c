/* `agent-intercom mcp`: what an agent on stdin and stdout sees, whatever happens behind it. */
#include "agent.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

static const char ONE_LIVES[] =
    "SELECT count(*) FROM worker WHERE name = 'watchdog' AND state = 'ready'";
static const char NONE_LIVES[] = "SELECT count(*) FROM worker WHERE state IN ('starting', 'ready')";

static struct site site;

/* ---- the system ---- */

/* The supervisor that holds the instance lock: a relay may have started it. */
static pid_t supervisor(void)
{
	OWNED(char_ptr) char *text = NULL;
	char path[600];

	(void)snprintf(path, sizeof(path), "%s-instance", test_db());
	text = get_file("/", path + 1);
	return text ? atoi(text) : 0;
}

static void stop_system(void)
{
	pid_t pid = supervisor();

	if (pid > 1)
		(void)kill(pid, SIGTERM);
	expect_soon(NONE_LIVES, "0\n");
}

/* ---- starting and ending ---- */

START_TEST(a_relay_starts_the_system_with_home_path_and_user_alone)
{
	struct relay r;
	OWNED(char_ptr) char *result = NULL;
	int64_t start;

	site = given_site();
	relay_start(&r, site.workspace, site_environment(&site), NULL);
	relay_hello(&r);
	result = relay_call(&r, "ping", "{}");
	has(result, "acknowledged", "true");
	expect("SELECT count(*) FROM session", "1\n");
	{
		OWNED(char_ptr) char *root = rows("SELECT workspace_root FROM session");

		says(root, site.workspace);
	}
	start = agent_ms();
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_lt(agent_ms() - start, 1000);
	expect_soon("SELECT state FROM connection", "closed\n");
	expect_soon(ONE_LIVES, "1\n"); /* the system outlives the agent */
	stop_system();
}
END_TEST

START_TEST(a_system_that_a_relay_starts_has_no_sign_of_its_agents_session)
{
	OWNED(str) struct str said = { 0 };
	char session[] = "INTERCOM_SESSION_ID=x", agent[] = "INTERCOM_AGENT=blue";
	char *environment[6] = { session, agent };
	struct relay r;

	site = given_site();
	memcpy(environment + 2, site_environment(&site), 3 * sizeof(*environment));
	relay_start(&r, site.workspace, environment, NULL);
	relay_hello(&r);
	(void)shell(&said, "tr '\\0' '\\n' </proc/%d/environ | grep ^INTERCOM_", (int)supervisor());
	ck_assert_str_eq(str_text(&said), "INTERCOM_AGENT=blue\n");
	ck_assert_int_eq(relay_stop(&r), 0);
	stop_system();
}
END_TEST

START_TEST(two_relays_at_once_start_one_system)
{
	struct relay a, b;
	OWNED(char_ptr) char *one = NULL;
	OWNED(char_ptr) char *two = NULL;

	site = given_site();
	relay_start(&a, site.workspace, NULL, NULL);
	relay_start(&b, site.workspace, NULL, NULL);
	relay_hello(&a);
	relay_hello(&b);
	one = relay_call(&a, "ping", "{}");
	two = relay_call(&b, "ping", "{}");
	ck_assert_str_ne(member(one, "session_id"), member(two, "session_id"));
	expect_soon("SELECT count(*) FROM worker WHERE state = 'ready'", SITE_WORKERS "\n");
	expect("SELECT count(*) FROM worker", SITE_WORKERS "\n");
	ck_assert_int_eq(relay_stop(&a), 0);
	ck_assert_int_eq(relay_stop(&b), 0);
	stop_system();
}
END_TEST

START_TEST(a_relay_leaves_at_the_end_of_its_input_and_when_asked_to)
{
	struct relay r;
	int status = -1;

	site = given_running_site();
	r = given_relay(&site);
	begin_asking(&r, "f", "hello\n"); /* also while a call waits */
	(void)close(r.in);
	r.in = -1;
	ck_assert(ends_within(r.pid, 1000, &status));
	ck_assert_int_eq(status, 0);
	relay_clear(&r);

	r = given_relay(&site);
	(void)kill(r.pid, SIGTERM);
	ck_assert(ends_within(r.pid, 1000, &status));
	ck_assert_int_eq(status, 0);
	relay_clear(&r);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* printf '...' | agent-intercom mcp: it was a race that was lost more often than not. */
START_TEST(what_needs_no_person_is_answered_after_the_end_of_the_input)
{
	site = given_running_site();
	for (int i = 0; i < 5; i++) {
		OWNED(char_ptr) char *first = NULL;
		OWNED(char_ptr) char *second = NULL;
		struct relay r;
		int status = -1;

		relay_start(&r, site.workspace, site_environment(&site), NULL);
		relay_send(&r, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"
		               "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}");
		(void)close(r.in);
		r.in = -1;
		first = relay_line(&r);
		second = relay_line(&r);
		ck_assert(first && second);
		has(first, "id", "1");
		has(second, "id", "2");
		ck_assert(ends_within(r.pid, 1000, &status));
		ck_assert_int_eq(status, 0);
		relay_clear(&r);
	}
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* Claude Code and Copilot CLI begin with server/discover, and never send initialize. */
START_TEST(a_client_of_2026_07_28_is_known_by_name)
{
	OWNED(char_ptr) char *discovered = NULL;
	OWNED(char_ptr) char *called = NULL;
	struct relay r;

	site = given_running_site();
	relay_start(&r, site.workspace, site_environment(&site), NULL);
	relay_send(&r, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\","
	               "\"params\":{" MODERN_CLIENT("") "}}");
	discovered = relay_line(&r);
	has(discovered, "id", "1");
	relay_send(&r, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\","
	               "\"params\":{\"name\":\"ping\",\"arguments\":{}," MODERN_CLIENT("") "}}");
	called = relay_line(&r);
	has(called, "result.structuredContent.acknowledged", "true");
	expect("SELECT client_name, client_version FROM connection", "tester|1\n");
	expect("SELECT client_name FROM session", "tester\n");
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* The relay read the front's greeting without looking anywhere else. */
START_TEST(a_relay_leaves_also_while_the_front_does_not_answer)
{
	struct relay r;
	pid_t front;
	int status = -1;

	site = given_running_site();
	front = worker_pid("mcp-front");
	(void)kill(front, SIGSTOP);
	relay_start(&r, site.workspace, NULL, NULL);
	relay_send(&r, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"ping\"}");
	ck_assert_msg(!ends_within(r.pid, 300, NULL), "the relay has left");
	(void)close(r.in);
	r.in = -1;
	ck_assert_msg(ends_within(r.pid, 1500, &status), "the relay hangs on a front that hangs");
	relay_clear(&r);
	(void)kill(front, SIGCONT);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ---- lines ---- */

START_TEST(a_line_over_4_mib_is_refused_by_its_id_and_the_next_is_served)
{
	struct relay r;
	OWNED(str) struct str big = { 0 };
	OWNED(char_ptr) char *refusal = NULL;
	OWNED(char_ptr) char *result = NULL;

	site = given_running_site();
	r = given_relay(&site);
	str_add(&big, "{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"params\":{\"x\":\"");
	while (big.length < 9 * MIB)
		str_add(&big, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
	str_add(&big, "\"},\"id\":5}");
	relay_send(&r, big.bytes);
	refusal = relay_line(&r);
	has(refusal, "id", "5");
	has(refusal, "error.code", "-32700");
	says(refusal, "4 MiB");
	result = relay_call(&r, "ping", "{}");
	has(result, "acknowledged", "true");
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_big_line_that_fits_is_served)
{
	struct relay r;
	OWNED(str) struct str text = { 0 };
	OWNED(char_ptr) char *arguments = NULL;

	site = given_running_site();
	r = given_relay(&site);
	while (text.length < 3 * MIB)
		str_addf(&text, "line %zu of a long file\n", text.length);
	arguments = proposal("big", text.bytes);
	relay_begin(&r, "check_clearance", arguments);
	expect_soon("SELECT size > 3000000 FROM request JOIN content ON content.seq = body_seq",
	            "1\n");
	approve_all();
	{
		OWNED(char_ptr) char *result = relay_end(&r);

		has(result, "status", "approved");
	}
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

static void echoes(struct relay *r, const char *id)
{
	OWNED(char_ptr) char *line = NULL;
	char request[200], part[100];

	(void)snprintf(request, sizeof(request),
	               "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}\r", id);
	(void)snprintf(part, sizeof(part), "\"id\":%s,\"result\":{}", id);
	relay_send(r, request);
	line = relay_line(r);
	says(line, part);
	ck_assert_ptr_null(strchr(line, '\r'));
}

START_TEST(lines_may_end_in_cr_and_ids_come_back_byte_for_byte)
{
	struct relay r;
	OWNED(char_ptr) char *line = NULL;

	site = given_running_site();
	r = given_relay(&site);
	echoes(&r, "0");
	echoes(&r, "\"\"");
	echoes(&r, "\"1\"");
	echoes(&r, "1e2");
	echoes(&r, "\"a\\u0062\"");
	relay_send(&r, ""); /* nothing is no message */
	relay_send(&r, "nonsense");
	line = relay_line(&r);
	has(line, "error.code", "-32700");
	relay_send(&r, "{\"jsonrpc\":\"2.0\",\"\\u0069d\":3,\"method\":\"ping\"}");
	free(line);
	line = relay_line(&r);
	has(line, "id", "3");
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(other_messages_are_served_while_a_call_waits)
{
	struct relay r;
	OWNED(char_ptr) char *line = NULL;
	OWNED(char_ptr) char *result = NULL;

	site = given_running_site();
	r = given_relay(&site);
	begin_asking(&r, "f", "hello\n");
	relay_send(&r, "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}");
	line = relay_line(&r);
	has(line, "id", "p");
	relay_send(&r, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/"
	               "cancelled\",\"params\":{\"requestId\":1}}");
	expect_soon("SELECT state FROM tool_call", "cancelled\n");
	approve_all();
	begin_asking(&r, "f", "hello\n"); /* id 2 */
	free(line);
	line = relay_line(&r);
	has(line, "id", "2");
	result = tool_result(line);
	has(result, "status", "approved");
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* A request with an id in one spelling is cancelled in another, which is the same value. */
static void cancels(struct relay *r, const char *id, const char *spelt)
{
	OWNED(char_ptr) char *line = NULL;
	char text[400];

	(void)snprintf(
	    text, sizeof(text),
	    "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"tools/call\",\"params\":{\"name\":"
	    "\"check_clearance\",\"arguments\":{\"title\":\"t\",\"file_path\":\"f\","
	    "\"diff\":\"x\"}}}",
	    id);
	relay_send(r, text);
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'waiting'", "1\n");
	(void)snprintf(text, sizeof(text),
	               "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
	               "\"requestId\":%s}}",
	               spelt);
	relay_send(r, text);
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'waiting'", "0\n");
	/* The relay has forgotten it too: it is not sent to the next front. */
	kill_and_await("mcp-front");
	relay_send(r, "{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}");
	line = relay_line(r);
	has(line, "id", "p");
}

START_TEST(an_id_may_be_spelt_differently_where_it_is_cancelled)
{
	struct relay r;

	site = given_running_site();
	r = given_relay(&site);
	cancels(&r, "1e2", "100");
	cancels(&r, "200", "2.0e2");
	cancels(&r, "\"a\\u0062\"", "\"ab\"");
	cancels(&r, "\"c/d\"", "\"\\u0063\\/d\"");
	expect("SELECT group_concat(state) FROM tool_call",
	       "cancelled,cancelled,cancelled,cancelled\n");
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* An agent must not do this, and gets its answers all the same: nothing is mixed up or lost. */
START_TEST(two_calls_with_one_id_are_both_answered_also_by_the_next_front)
{
	struct relay r;

	site = given_running_site();
	r = given_relay(&site);
	begin_asking(&r, "f", "hello\n");
	r.id--;
	begin_asking(&r, "g", "hello\n");
	kill_and_await("mcp-front");
	expect_soon("SELECT count(DISTINCT request_seq) FROM tool_call JOIN worker ON"
	            " worker.id = listener WHERE worker.state = 'ready'",
	            "2\n");
	approve_all();
	for (int i = 0; i < 2; i++) {
		OWNED(char_ptr) char *line = relay_line(&r);
		OWNED(char_ptr) char *result = tool_result(line);

		has(line, "id", "1");
		has(result, "status", "approved");
	}
	expect("SELECT count(*) FROM request", "2\n");
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* Each for itself, and none that was answered. */
START_TEST(requests_of_a_batch_are_answered_also_by_the_next_front)
{
	struct relay r;
	OWNED(char_ptr) char *ping = NULL, *line = NULL, *result = NULL, *after = NULL;

	site = given_running_site();
	r = given_relay(&site);
	relay_send(
	    &r, "[{\"jsonrpc\":\"2.0\",\"id\":\"c\",\"method\":\"tools/call\",\"params\":{"
	        "\"name\":\"check_clearance\",\"arguments\":{\"title\":\"t\",\"file_path\":\"f\","
	        "\"diff\":\"x\"}}}, {\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"},"
	        "{\"jsonrpc\":\"2.0\",\"id\":\"g\",\"method\":\"tools/call\",\"params\":{"
	        "\"name\":\"check_clearance\",\"arguments\":{\"title\":\"t\",\"file_path\":\"g\","
	        "\"diff\":\"x\"}}}]");
	ping = relay_line(&r);
	has(ping, "id", "p");
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'waiting'", "2\n");
	relay_send(&r, "[{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
	               "\"params\":{\"requestId\":\"g\"}}]");
	expect_soon("SELECT count(*) FROM tool_call WHERE state = 'waiting'", "1\n");
	kill_and_await("mcp-front");
	expect_soon("SELECT count(*) FROM tool_call JOIN worker ON worker.id = listener"
	            " WHERE tool_call.state = 'waiting' AND worker.state = 'ready'",
	            "1\n");
	approve_all();
	line = relay_line(&r);
	has(line, "id", "c");
	result = tool_result(line);
	has(result, "status", "approved");
	relay_send(&r, "{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"ping\"}");
	after = relay_line(&r);
	has(after, "id", "q");
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* The queued call kept the revision that the second initialize freed; the asan preset tells. */
START_TEST(a_call_and_another_initialize_may_come_together)
{
	struct relay r;
	OWNED(char_ptr) char *result = NULL, *answer = NULL;

	site = given_running_site();
	r = given_relay(&site);
	for (int i = 0; i < 20; i++) {
		relay_send(&r,
		           "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
		           "\"name\":\"ping\"}}\n"
		           "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"initialize\",\"params\":{"
		           "\"protocolVersion\":\"2025-11-25\"}}");
		free(result);
		free(answer);
		result = relay_line(&r);
		answer = relay_line(&r);
		if (strcmp(member(result, "id"), "2") == 0) { /* in either order */
			char *first = result;

			result = answer;
			answer = first;
		}
		has(result, "result.structuredContent.acknowledged", "true");
		has(answer, "result.protocolVersion", "2025-11-25");
	}
	expect("SELECT count(*) FROM worker WHERE name = 'mcp-front'", "1\n");
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ---- deaths behind it ---- */

START_TEST(an_answer_given_while_the_front_was_dead_arrives)
{
	struct relay r;
	OWNED(char_ptr) char *line = NULL, *result = NULL;

	site = given_running_site();
	r = given_relay(&site);
	begin_asking(&r, "f", "hello\n");
	(void)kill(site.pid, SIGSTOP); /* so that nobody starts another one yet */
	(void)kill(worker_pid("mcp-front"), SIGKILL);
	approve_all();
	(void)kill(site.pid, SIGCONT);
	line = relay_line(&r);
	has(line, "id", "1");
	result = tool_result(line);
	has(result, "status", "approved");
	expect("SELECT count(*) FROM request", "1\n");
	expect("SELECT count(*) FROM session", "1\n");
	expect("SELECT count(*) FROM tool_call", "1\n");
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(an_answer_given_after_two_fronts_have_died_arrives_too)
{
	struct relay r;
	OWNED(char_ptr) char *result = NULL;

	site = given_running_site();
	r = given_relay(&site);
	begin_asking(&r, "f", "hello\n");
	for (int i = 0; i < 2; i++) {
		kill_and_await("mcp-front");
		expect_soon("SELECT count(*) FROM tool_call JOIN worker ON worker.id = listener"
		            " WHERE worker.state = 'ready'",
		            "1\n");
	}
	expect("SELECT state FROM connection", "open\n");
	ends_approved_once(&r, &site);
}
END_TEST

START_TEST(a_write_that_was_under_way_is_told_as_applied)
{
	struct relay r;
	OWNED(char_ptr) char *asked = NULL;
	OWNED(char_ptr) char *result = NULL;
	OWNED(char_ptr) char *text = NULL;
	OWNED(char_ptr) char *arguments = NULL;
	pid_t applier;

	site = given_running_site();
	r = given_relay(&site);
	begin_asking(&r, "f", "hello\n");
	approve_all();
	asked = relay_end(&r);
	kill_and_await("applier"); /* its fence holds the workspace: it needs no successor */
	applier = worker_pid("applier");
	halt_worker(applier);
	arguments = diff_of(member(asked, "request_id"));
	relay_begin(&r, "check_diff", arguments);
	expect_soon("SELECT count(*) FROM apply", "1\n");
	(void)kill(site.pid, SIGSTOP);
	(void)kill(worker_pid("mcp-front"), SIGKILL);
	(void)kill(applier, SIGCONT);
	expect_soon("SELECT state FROM apply", "applied\n");
	(void)kill(site.pid, SIGCONT);
	result = relay_end(&r);
	has(result, "status", "applied");
	has(result, "files_written.0.path", "f");
	expect("SELECT count(*) FROM apply", "1\n");
	text = get_file(site.workspace, "f");
	ck_assert_str_eq(text, "hello\n");
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_question_outlives_a_stop_and_a_start)
{
	struct relay r;
	OWNED(char_ptr) char *result = NULL;

	site = given_running_site();
	r = given_relay(&site);
	begin_asking(&r, "f", "hello\n");
	ck_assert_int_eq(site_stop(&site), 0);
	expect("SELECT state FROM request", "interrupted\n");
	expect("SELECT status FROM session", "interrupted\n");
	ck_assert_msg(!ends_within(r.pid, 100, NULL), "the relay left with the system");
	site_start(&site);
	expect_soon("SELECT state FROM request", "pending\n");
	approve_all();
	result = relay_end(&r);
	has(result, "status", "approved");
	expect("SELECT count(*) FROM request", "1\n");
	expect("SELECT status FROM session", "active\n");
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(an_agent_that_the_restored_database_does_not_know_goes_on)
{
	static const char COMMAND[] =
	    "$INTERCOM_BUILD/agent-intercom --db %s %s $(dirname %s)/b.db 2>&1";
	struct relay r;
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *result = NULL;

	site = given_running_site();
	ck_assert_int_eq(shell(&said, COMMAND, test_db(), "backup", test_db()), 0);
	r = given_relay(&site);
	begin_asking(&r, "f", "hello\n");
	ck_assert_int_eq(site_stop(&site), 0);
	leave_store();
	ck_assert_msg(shell(&said, COMMAND, test_db(), "restore --yes", test_db()) == 0, "%s",
	              said.bytes);
	open_database_again();
	site_start(&site);
	expect_soon("SELECT count(*) FROM request WHERE state = 'pending'", "1\n");
	approve_all();
	result = relay_end(&r);
	has(result, "status", "approved");
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(what_was_stopped_on_purpose_is_not_started_by_a_relay_that_waits)
{
	struct relay r;

	site = given_running_site();
	r = given_relay(&site);
	begin_asking(&r, "f", "hello\n");
	ck_assert_int_eq(site_stop(&site), 0);
	/* longer than a relay waits for a front that was killed */
	ck_assert(!ends_within(r.pid, 2800, NULL));
	expect(NONE_LIVES, "0\n");
	ck_assert_int_eq(relay_stop(&r), 0);
}
END_TEST

START_TEST(a_new_agent_of_the_workspace_adopts_what_was_asked)
{
	struct relay first, second, stranger;
	OWNED(char_ptr) char *result = NULL;
	OWNED(char_ptr) char *arguments = proposal("f", "hello\n");
	char elsewhere[200];

	site = given_running_site();
	(void)snprintf(elsewhere, sizeof(elsewhere), "%s/elsewhere", site.home);
	ck_assert_int_eq(mkdir(elsewhere, 0755), 0);
	first = given_relay(&site);
	begin_asking(&first, "f", "hello\n");
	relay_kill(&first);
	expect_soon("SELECT state FROM connection", "closed\n");

	relay_start(&stranger, elsewhere, NULL, NULL);
	relay_hello(&stranger);
	relay_begin(&stranger, "check_clearance", arguments);
	expect_soon("SELECT count(*) FROM request", "2\n");

	second = given_relay(&site);
	relay_begin(&second, "check_clearance", arguments);
	expect_soon("SELECT session_seq FROM request ORDER BY seq LIMIT 1", "3\n");
	approve_all();
	result = relay_end(&second);
	has(result, "status", "approved");
	expect("SELECT count(*) FROM request", "2\n");
	ck_assert_int_eq(relay_stop(&second), 0);
	ck_assert_int_eq(relay_stop(&stranger), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_relay_says_what_its_environment_says)
{
	static const char *const WAIT[] = { "--wait", "1", NULL };
	struct relay r;
	OWNED(char_ptr) char *result = NULL;
	OWNED(char_ptr) char *arguments = proposal("f", "hello\n");

	site = given_running_site();
	(void)setenv("INTERCOM_AGENT", "blue", 1);
	(void)setenv("INTERCOM_CHANNEL_ID", "C7", 1);
	relay_start(&r, site.workspace, NULL, WAIT);
	relay_hello(&r);
	result = relay_call(&r, "check_clearance", arguments);
	has(result, "status", "pending");
	expect("SELECT label, channel_id FROM session", "blue|C7\n");
	ck_assert_int_eq(relay_stop(&r), 0);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ---- many requests ---- */

enum { MANY = 1500 };

/* In a process of its own, since an agent reads while it writes. */
static pid_t send_many(struct relay *r)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid > 0)
		return pid;
	for (int i = 1; i <= MANY; i++) {
		char line[100];

		(void)snprintf(line, sizeof(line),
		               "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/list\"}",
		               1000 + i);
		relay_send(r, line);
	}
	_exit(0);
}

START_TEST(whoever_sends_many_requests_at_once_and_reads_has_all_answers_in_order)
{
	struct relay r, other;
	pid_t sender;

	site = given_running_site();
	r = given_relay(&site);
	sender = send_many(&r);
	for (int i = 1; i <= MANY; i++) {
		OWNED(char_ptr) char *line = relay_line(&r);
		char id[20];

		ck_assert_ptr_nonnull(line);
		(void)snprintf(id, sizeof(id), "%d", 1000 + i);
		has(line, "id", id);
	}
	ck_assert_int_eq(waitpid(sender, NULL, 0), sender);
	ck_assert_int_eq(relay_stop(&r), 0);
	relay_clear(&r);

	/* And again, by one that does not read: the others are served, and then so is it. */
	r = given_relay(&site);
	sender = send_many(&r);
	other = given_relay(&site);
	free(relay_call(&other, "ping", "{}"));
	for (int i = 1; i <= MANY; i++)
		free(relay_line(&r));
	ck_assert_int_eq(waitpid(sender, NULL, 0), sender);
	ck_assert_int_eq(relay_stop(&other), 0);
	ck_assert_int_eq(relay_stop(&r), 0);
	relay_clear(&r);
	relay_clear(&other);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("relay");
	TCase *c = tcase_create("relay");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, a_relay_starts_the_system_with_home_path_and_user_alone);
	tcase_add_test(c, a_system_that_a_relay_starts_has_no_sign_of_its_agents_session);
	tcase_add_test(c, two_relays_at_once_start_one_system);
	tcase_add_test(c, a_relay_leaves_at_the_end_of_its_input_and_when_asked_to);
	tcase_add_test(c, what_needs_no_person_is_answered_after_the_end_of_the_input);
	tcase_add_test(c, a_client_of_2026_07_28_is_known_by_name);
	tcase_add_test(c, a_relay_leaves_also_while_the_front_does_not_answer);
	tcase_add_test(c, a_line_over_4_mib_is_refused_by_its_id_and_the_next_is_served);
	tcase_add_test(c, a_big_line_that_fits_is_served);
	tcase_add_test(c, lines_may_end_in_cr_and_ids_come_back_byte_for_byte);
	tcase_add_test(c, other_messages_are_served_while_a_call_waits);
	tcase_add_test(c, an_id_may_be_spelt_differently_where_it_is_cancelled);
	tcase_add_test(c, two_calls_with_one_id_are_both_answered_also_by_the_next_front);
	tcase_add_test(c, requests_of_a_batch_are_answered_also_by_the_next_front);
	tcase_add_test(c, a_call_and_another_initialize_may_come_together);
	tcase_add_test(c, an_answer_given_while_the_front_was_dead_arrives);
	tcase_add_test(c, an_answer_given_after_two_fronts_have_died_arrives_too);
	tcase_add_test(c, a_write_that_was_under_way_is_told_as_applied);
	tcase_add_test(c, a_question_outlives_a_stop_and_a_start);
	tcase_add_test(c, an_agent_that_the_restored_database_does_not_know_goes_on);
	tcase_add_test(c, what_was_stopped_on_purpose_is_not_started_by_a_relay_that_waits);
	tcase_add_test(c, a_new_agent_of_the_workspace_adopts_what_was_asked);
	tcase_add_test(c, a_relay_says_what_its_environment_says);
	suite_add_tcase(s, c);
	tcase_add_test(c, whoever_sends_many_requests_at_once_and_reads_has_all_answers_in_order);
	return run_suite(s);
}
