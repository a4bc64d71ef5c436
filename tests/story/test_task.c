/* Calls as tasks (MCP extension io.modelcontextprotocol/tasks), over HTTP and stdio, with a whole
 * system. */
#include "agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECOND = 1000, HOUR = 3600 * SECOND };

static const char KNOWS_TASKS[] =
    MODERN_CLIENT("\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}");
static const char KNOWS_NOTHING[] = MODERN_CLIENT("");

static struct site site;

static char *request(const char *query, const char *method, const char *name, const char *members,
                     const char *client, int *status)
{
	return modern_request(site.port, query, method, name, members, client, status);
}

static char *task_request(const char *method, const char *id)
{
	char members[200];

	(void)snprintf(members, sizeof(members), "\"taskId\":\"%s\"%s", id,
	               strcmp(method, "tasks/update") == 0 ? ",\"inputResponses\":{}" : "");
	return request("", method, id, members, KNOWS_TASKS, NULL);
}

static char *call(const char *query, const char *tool, const char *arguments, const char *client)
{
	return modern_call(site.port, query, tool, arguments, "", client);
}

/* Asks for a clearance as a task; its id, valid until the next call. */
static const char *begin_task(const char *path)
{
	static char id[64];
	OWNED(char_ptr) char *arguments = proposal(path, "hello\n");
	OWNED(char_ptr)
	char *made = call("?tasks=1", "check_clearance", arguments, KNOWS_TASKS);

	has(made, "result.resultType", "task");
	has(made, "result.status", "working");
	(void)snprintf(id, sizeof(id), "%.63s", member(made, "result.taskId"));
	ck_assert_int_eq((int)strlen(id), 32);
	return id;
}

/* Whoever looks until the task has ended, as a client that polls. */
static char *await_end(const char *id)
{
	int64_t deadline = agent_ms() + AGENT_PATIENCE_MS;
	char *task = task_request("tasks/get", id);

	while (strcmp(member(task, "result.status"), "working") == 0) {
		ck_assert_msg(agent_ms() < deadline, "it does not end: %s", task);
		free(task);
		task = task_request("tasks/get", id);
	}
	return task;
}

static void is_approved(const char *task)
{
	has(task, "result.resultType", "complete");
	has(task, "result.status", "completed");
	has(task, "result.result.resultType", "complete"); /* or npm's ext-tasks calls it failed */
	has(task, "result.result.isError", "false");
	has(task, "result.result.structuredContent.status", "approved");
	has(task, "result.error", "");
}

/* ---- the life of a task ---- */

START_TEST(a_call_that_waits_is_a_task_whose_result_is_fetched_once_it_is_there)
{
	OWNED(char_ptr) char *waits = NULL;
	OWNED(char_ptr) char *ended = NULL;
	OWNED(char_ptr) char *again = NULL;
	char id[64];

	site = given_running_site();
	(void)snprintf(id, sizeof(id), "%s", begin_task("a.txt"));
	expect("SELECT state, wait_until IS NULL, listener IS NULL FROM tool_call",
	       "waiting|1|1\n");
	waits = task_request("tasks/get", id);
	has(waits, "result.resultType", "complete");
	has(waits, "result.status", "working");
	has(waits, "result.taskId", id);
	has(waits, "result.ttlMs", "7200000"); /* an hour to answer, and one to fetch it */
	has(waits, "result.pollIntervalMs", "3000");
	has(waits, "result.result", "");

	decide_all("approve");

	ended = await_end(id);
	is_approved(ended);
	expect("SELECT state, told_answer FROM tool_call", "done|1\n");
	again = task_request("tasks/get", id);
	is_approved(again);
	ck_assert_str_eq(ended, again);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_task_is_made_only_if_its_client_knows_tasks_and_they_were_asked_for)
{
	OWNED(char_ptr) char *arguments = proposal("a.txt", "hello\n");
	OWNED(char_ptr) char *unasked = NULL;
	OWNED(char_ptr) char *unknown = NULL;

	site = given_running_site();
	unasked = call("?wait=1", "check_clearance", arguments, KNOWS_TASKS);
	has(unasked, "result.resultType", "complete");
	has(unasked, "result.structuredContent.status", "pending");
	unknown = call("?wait=1&tasks=1", "check_clearance", arguments, KNOWS_NOTHING);
	has(unknown, "result.resultType", "complete");
	has(unknown, "result.structuredContent.status", "pending");
	(void)begin_task("a.txt"); /* the same caller: it says so anew in each request */
	expect("SELECT count(*) FROM request", "1\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(what_is_answered_at_once_is_no_task)
{
	OWNED(char_ptr) char *arguments = proposal("a.txt", "hello\n");
	OWNED(char_ptr) char *ping = NULL;
	OWNED(char_ptr) char *ended = NULL;
	OWNED(char_ptr) char *approved = NULL;
	OWNED(char_ptr) char *written = NULL;
	OWNED(char_ptr) char *diff = NULL;

	site = given_running_site();
	ping = call("?tasks=1", "ping", "{}", KNOWS_TASKS);
	has(ping, "result.resultType", "complete");
	has(ping, "result.structuredContent.acknowledged", "true");
	(void)begin_task("a.txt");
	decide_all("approve");
	approved = call("?tasks=1", "check_clearance", arguments, KNOWS_TASKS);
	has(approved, "result.resultType", "complete");
	has(approved, "result.structuredContent.status", "approved");
	diff = diff_of(member(approved, "result.structuredContent.request_id"));
	written = call("?tasks=1", "check_diff", diff, KNOWS_TASKS); /* it waits for the file */
	has(written, "result.resultType", "complete");
	has(written, "result.structuredContent.status", "applied");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_task_waits_longer_than_a_call_may)
{
	OWNED(char_ptr) char *waits = NULL;
	OWNED(char_ptr) char *ended = NULL;
	char id[64];

	site = given_running_site();
	(void)snprintf(id, sizeof(id), "%s", begin_task("a.txt"));
	advance(1800 * SECOND);
	waits = task_request("tasks/get", id);
	has(waits, "result.status", "working");
	advance(HOUR);
	ended = await_end(id);
	has(ended, "result.status", "completed");
	has(ended, "result.result.structuredContent.status", "timeout");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_task_is_there_after_everything_was_killed)
{
	OWNED(char_ptr) char *waits = NULL;
	OWNED(char_ptr) char *ended = NULL;
	char id[64];

	site = given_running_site();
	(void)snprintf(id, sizeof(id), "%s", begin_task("a.txt"));
	site_kill(&site);
	site_start(&site);
	waits = task_request("tasks/get", id);
	has(waits, "result.status", "working");
	decide_all("reject");
	ended = await_end(id);
	has(ended, "result.result.structuredContent.status", "rejected");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(who_looks_after_a_stop_has_its_question_asked_again)
{
	OWNED(char_ptr) char *waits = NULL;
	char id[64];

	site = given_running_site();
	(void)snprintf(id, sizeof(id), "%s", begin_task("a.txt"));
	ck_assert_int_eq(site_stop(&site), 0);
	expect("SELECT state FROM request", "interrupted\n");
	site_start(&site);
	waits = task_request("tasks/get", id);
	has(waits, "result.status", "working");
	expect(
	    "SELECT r.state, s.status FROM request AS r JOIN session AS s ON s.seq = r.session_seq",
	    "pending|active\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(cancelling_a_task_ends_the_wait_and_keeps_the_question)
{
	OWNED(char_ptr) char *acknowledged = NULL;
	OWNED(char_ptr) char *cancelled = NULL;
	OWNED(char_ptr) char *again = NULL;
	OWNED(char_ptr) char *ended = NULL;
	OWNED(char_ptr) char *late = NULL;
	char id[64], second[64];

	site = given_running_site();
	(void)snprintf(id, sizeof(id), "%s", begin_task("a.txt"));
	acknowledged = task_request("tasks/cancel", id);
	has(acknowledged, "result.resultType", "complete");
	has(acknowledged, "result.status", "");
	cancelled = task_request("tasks/get", id);
	has(cancelled, "result.status", "cancelled");
	has(cancelled, "result.result", "");
	expect("SELECT state FROM request", "pending\n");

	(void)snprintf(second, sizeof(second), "%s", begin_task("a.txt"));
	ck_assert_str_ne(id, second);
	expect("SELECT count(*) FROM request", "1\n");
	decide_all("approve");
	ended = await_end(second);
	is_approved(ended);

	late = task_request("tasks/cancel", second);
	has(late, "result.resultType", "complete");
	again = task_request("tasks/get", second);
	is_approved(again);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(another_agent_leaves_a_task_alone_while_its_client_looks)
{
	OWNED(char_ptr) char *arguments = proposal("a.txt", "hello\n");
	OWNED(char_ptr) char *other = NULL;
	OWNED(char_ptr) char *waits = NULL;
	char id[64];

	site = given_running_site();
	(void)snprintf(id, sizeof(id), "%s", begin_task("a.txt"));
	advance(90 * SECOND);
	waits = task_request("tasks/get", id);
	advance(60 * SECOND);
	other = call("?wait=1&agent=other", "check_clearance", arguments, KNOWS_NOTHING);
	has(other, "result.structuredContent.status", "pending");
	expect("SELECT count(*), count(DISTINCT session_seq) FROM request", "2|2\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(another_agent_takes_over_a_task_whose_client_has_gone_silent)
{
	OWNED(char_ptr) char *arguments = proposal("a.txt", "hello\n");
	OWNED(char_ptr) char *other = NULL;

	site = given_running_site();
	(void)begin_task("a.txt");
	advance(180 * SECOND);
	other = call("?wait=1&agent=other", "check_clearance", arguments, KNOWS_NOTHING);
	has(other, "result.structuredContent.status", "pending");
	expect("SELECT count(*) FROM request", "1\n");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ---- what is refused ---- */

static void is_refused(const char *method, const char *name, const char *members,
                       const char *client, int status, const char *code)
{
	OWNED(char_ptr) char *answer = NULL;
	int got = 0;

	answer = request("", method, name, members, client, &got);
	has(answer, "error.code", code);
	ck_assert_int_eq(got, status);
}

START_TEST(a_request_about_tasks_that_is_wrong_says_what_is)
{
	static const char UNKNOWN[] = "\"taskId\":\"nothing\"";
	static const char *const METHODS[] = { "tasks/get", "tasks/update", "tasks/cancel" };
	OWNED(char_ptr) char *undeclared = NULL;
	char members[100], id[64];

	site = given_running_site();
	for (size_t i = 0; i < COUNT(METHODS); i++) {
		is_refused(METHODS[i], "nothing", UNKNOWN, KNOWS_NOTHING, 400, "-32021");
		is_refused(METHODS[i], NULL, "", KNOWS_TASKS, 200, "-32602");
	}
	is_refused("tasks/get", "nothing", UNKNOWN, KNOWS_TASKS, 200, "-32602");
	is_refused("tasks/cancel", "nothing", UNKNOWN, KNOWS_TASKS, 200, "-32602");
	is_refused("tasks/update", "nothing", "\"taskId\":\"nothing\",\"inputResponses\":{}",
	           KNOWS_TASKS, 200, "-32602");
	is_refused("tasks/list", NULL, "", KNOWS_TASKS, 404, "-32601");
	is_refused("tasks/result", NULL, UNKNOWN, KNOWS_TASKS, 404, "-32601");
	(void)snprintf(id, sizeof(id), "%s", begin_task("a.txt"));
	(void)snprintf(members, sizeof(members), "\"taskId\":\"%s\"", id);
	is_refused("tasks/get", "another", members, KNOWS_TASKS, 400, "-32020");
	is_refused("tasks/update", id, members, KNOWS_TASKS, 200, "-32602");
	undeclared = request("", "tasks/get", id, members, KNOWS_NOTHING, NULL);
	has(undeclared, "error.data.requiredCapabilities.extensions",
	    "{\"io.modelcontextprotocol/tasks\":{}}");
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ---- listening ---- */

/* Opens a subscriptions/listen for these tasks (JSON array); its first message is read. */
static void listen_for(struct wire *w, const char *ids, struct event *e)
{
	struct agent a = agent_sessionless(site.port, "");
	OWNED(str) struct str headers = { 0 };
	OWNED(str) struct str json = { 0 };
	OWNED(str) struct str members = { 0 };

	modern_headers(&headers, "subscriptions/listen", NULL);
	str_addf(&members, "\"notifications\":{\"taskIds\":%s}", ids);
	modern_compose(&json, "subscriptions/listen", members.bytes, KNOWS_TASKS);
	wire_open(w, a.port);
	agent_send(&a, w, "POST", headers.bytes, json.bytes);
	ck_assert_int_eq(wire_head(w), 200);
	ck_assert(wire_event(w, e));
	has(str_text(&e->data), "method", "notifications/subscriptions/acknowledged");
}

static void hears(struct wire *w, struct event *e, const char *id, const char *status)
{
	ck_assert(wire_event(w, e));
	has(str_text(&e->data), "method", "notifications/tasks");
	has(str_text(&e->data), "params.taskId", id);
	has(str_text(&e->data), "params.status", status);
	ck_assert_str_eq(e->id, "");
}

START_TEST(who_listens_is_told_when_a_task_ends)
{
	OWNED(char_ptr) char *cancelled = NULL;
	OWNED(char_ptr) char *fetched = NULL;
	struct event e = { .id = "" };
	char first[64], second[64], ids[200];
	struct wire w, late;

	site = given_running_site();
	(void)snprintf(first, sizeof(first), "%s", begin_task("a.txt"));
	(void)snprintf(second, sizeof(second), "%s", begin_task("b.txt"));
	(void)snprintf(ids, sizeof(ids), "[\"%s\",\"unknown\",\"%s\"]", first, second);
	listen_for(&w, ids, &e);
	has(str_text(&e.data), "params.notifications.taskIds.0", first);
	has(str_text(&e.data), "params.notifications.taskIds.1", second);
	has(str_text(&e.data), "params.notifications.taskIds.2", "");

	cancelled = task_request("tasks/cancel", second);
	hears(&w, &e, second, "cancelled");
	decide_all("approve");
	hears(&w, &e, first, "completed");
	has(str_text(&e.data), "params.result.resultType", "complete");
	has(str_text(&e.data), "params.result.structuredContent.status", "approved");
	fetched = await_end(first);
	is_approved(fetched);

	(void)snprintf(ids, sizeof(ids), "[\"%s\",\"%s\"]", first, second);
	listen_for(&late, ids, &e);
	hears(&late, &e, first, "completed");
	has(str_text(&e.data), "params.result.structuredContent.status", "approved");
	hears(&late, &e, second, "cancelled");
	event_clear(&e);
	wire_close(&w);
	wire_close(&late);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

START_TEST(a_listener_that_goes_leaves_the_task)
{
	OWNED(char_ptr) char *ended = NULL;
	struct event e = { .id = "" };
	char id[64], ids[100];
	struct wire w, other;

	site = given_running_site();
	(void)snprintf(id, sizeof(id), "%s", begin_task("a.txt"));
	(void)snprintf(ids, sizeof(ids), "[\"%s\"]", id);
	listen_for(&w, ids, &e);
	listen_for(&other, ids, &e);
	wire_break(&w);
	decide_all("approve");
	hears(&other, &e, id, "completed");
	ended = task_request("tasks/get", id);
	is_approved(ended);
	event_clear(&e);
	wire_close(&other);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

/* ---- stdio ---- */

/* Sends a request; the relay's next line, caller frees. */
static char *line_for(struct relay *r, const char *method, const char *members)
{
	OWNED(str) struct str json = { 0 };

	modern_compose(&json, method, members, KNOWS_TASKS);
	relay_send(r, json.bytes);
	return relay_line(r);
}

START_TEST(an_agent_on_stdio_has_tasks_when_its_relay_was_told_so)
{
	static const char *const TASKS[] = { "--tasks", NULL };
	OWNED(char_ptr) char *arguments = proposal("a.txt", "hello\n");
	OWNED(str) struct str members = { 0 };
	OWNED(char_ptr) char *made = NULL;
	OWNED(char_ptr) char *listening = NULL;
	OWNED(char_ptr) char *told = NULL;
	OWNED(char_ptr) char *ended = NULL;
	char ids[200];
	struct relay r;

	site = given_running_site();
	relay_start(&r, site.workspace, NULL, TASKS);
	str_addf(&members, "\"name\":\"check_clearance\",\"arguments\":%s", arguments);
	made = line_for(&r, "tools/call", members.bytes);
	has(made, "result.resultType", "task");
	(void)snprintf(ids, sizeof(ids), "\"notifications\":{\"taskIds\":[\"%s\"]}",
	               member(made, "result.taskId"));
	listening = line_for(&r, "subscriptions/listen", ids);
	has(listening, "method", "notifications/subscriptions/acknowledged");
	decide_all("approve");
	told = relay_line(&r);
	has(told, "method", "notifications/tasks");
	has(told, "params.status", "completed");
	(void)snprintf(ids, sizeof(ids), "\"taskId\":\"%s\"", member(made, "result.taskId"));
	ended = line_for(&r, "tasks/get", ids);
	is_approved(ended);
	ck_assert_int_eq(relay_stop(&r), 0);
	relay_clear(&r);
	ck_assert_int_eq(site_stop(&site), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("task");
	TCase *c = tcase_create("task");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 90);
	tcase_add_test(c, a_call_that_waits_is_a_task_whose_result_is_fetched_once_it_is_there);
	tcase_add_test(c, a_task_is_made_only_if_its_client_knows_tasks_and_they_were_asked_for);
	tcase_add_test(c, what_is_answered_at_once_is_no_task);
	tcase_add_test(c, a_task_waits_longer_than_a_call_may);
	tcase_add_test(c, a_task_is_there_after_everything_was_killed);
	tcase_add_test(c, who_looks_after_a_stop_has_its_question_asked_again);
	tcase_add_test(c, cancelling_a_task_ends_the_wait_and_keeps_the_question);
	tcase_add_test(c, another_agent_leaves_a_task_alone_while_its_client_looks);
	tcase_add_test(c, another_agent_takes_over_a_task_whose_client_has_gone_silent);
	tcase_add_test(c, a_request_about_tasks_that_is_wrong_says_what_is);
	tcase_add_test(c, who_listens_is_told_when_a_task_ends);
	tcase_add_test(c, a_listener_that_goes_leaves_the_task);
	tcase_add_test(c, an_agent_on_stdio_has_tasks_when_its_relay_was_told_so);
	suite_add_tcase(s, c);
	return run_suite(s);
}
