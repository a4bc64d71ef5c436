/* Stands in for what is above the transport: each message is answered at once, or has a run. */
#include "fixture.h"

#include "big.h"
#include "http.h"
#include "log.h"
#include "sql/session.h"
#include "take.h"
#include "turn.h"
#include "unread.h"

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sessions ---- */

/* What production does not keep, since it asks nothing of its clients. */
struct session {
	LIST_ENTRY(session) next;
	char key[PEER_KEY_BYTES];
	cJSON *capabilities;
	bool logs_info;
};

static LIST_HEAD(, session) sessions = LIST_HEAD_INITIALIZER(sessions);

static struct session *session_find(const char *key)
{
	struct session *s;

	LIST_FOREACH (s, &sessions, next)
		if (strcmp(s->key, key) == 0)
			return s;
	return NULL;
}

static void session_add(const char *key, const cJSON *capabilities)
{
	struct session *s = xcalloc(1, sizeof(*s));

	(void)snprintf(s->key, sizeof(s->key), "%s", key);
	s->capabilities = cJSON_Duplicate(capabilities, true);
	s->logs_info = true;
	LIST_INSERT_HEAD(&sessions, s, next);
}

static void session_remove(struct session *s)
{
	if (!s)
		return;
	LIST_REMOVE(s, next);
	cJSON_Delete(s->capabilities);
	free(s);
}

/* ---- a request ---- */

void ask_reply(const struct ask *a, const struct str *result)
{
	OWNED(str) struct str message = { 0 };

	rpc_result(&message, a->id, result->bytes);
	a->sink->by->reply(a->sink, &message, NULL);
}

void ask_answer(const struct ask *a, struct str *result, enum mcp_cache cache)
{
	mcp_end_result(result, a->version, cache);
	ask_reply(a, result);
}

static void refuse(struct sink *sink, const char *id, int status, int code, const char *text,
                   const char *data)
{
	struct mcp_fault fault = { .status = status, .code = code };

	(void)snprintf(fault.text, sizeof(fault.text), "%s", text);
	if (data && strlen(data) < sizeof(fault.data))
		(void)snprintf(fault.data, sizeof(fault.data), "%s", data);
	sink->by->refuse(sink, id, &fault);
}

void ask_refuse(const struct ask *a, int code, const char *text, const char *data)
{
	bool by_status = code == MCP_HEADER_MISMATCH || code == MCP_MISSING_CAPABILITY;

	refuse(a->sink, a->id, by_status ? 400 : 200, code, text, data);
}

void ask_refuse_incapable(const struct ask *a, const char *capability)
{
	char text[100], data[100];

	(void)snprintf(text, sizeof(text), "this needs the client capability %s", capability);
	(void)snprintf(data, sizeof(data), "{\"requiredCapabilities\":{\"%s\":{}}}", capability);
	ask_refuse(a, MCP_MISSING_CAPABILITY, text, data);
}

void ask_refuse_taskless(const struct ask *a)
{
	struct mcp_fault fault;

	(void)mcp_lacks_tasks(&fault);
	a->sink->by->refuse(a->sink, a->id, &fault);
}

static const cJSON *meta_of(const struct ask *a, const char *name)
{
	const cJSON *meta = cJSON_GetObjectItemCaseSensitive(a->params, "_meta");

	return cJSON_GetObjectItemCaseSensitive(meta, name);
}

bool ask_can(const struct ask *a, const char *capability)
{
	const struct session *s = a->modern ? NULL : session_find(a->sink->peer->key);
	const cJSON *all = a->modern ? meta_of(a, "io.modelcontextprotocol/clientCapabilities")
	                   : s       ? s->capabilities
	                             : NULL;

	return cJSON_IsObject(cJSON_GetObjectItemCaseSensitive(all, capability));
}

static bool is_level(const char *level, bool *ret_shows_info)
{
	static const char *const LEVELS[] = { "debug", "info",     "notice", "warning",
		                              "error", "critical", "alert",  "emergency" };

	for (size_t i = 0; level && i < COUNT(LEVELS); i++)
		if (strcmp(LEVELS[i], level) == 0) {
			*ret_shows_info = i <= 1;
			return true;
		}
	return false;
}

bool ask_logs(const struct ask *a)
{
	const struct session *s = session_find(a->sink->peer->key);
	const cJSON *level = meta_of(a, "io.modelcontextprotocol/logLevel");
	bool logs = false;

	if (!a->modern)
		return s && s->logs_info;
	return is_level(cJSON_GetStringValue(level), &logs) && logs;
}

const char *ask_argument(const struct ask *a, const char *name)
{
	return json_text(cJSON_GetObjectItemCaseSensitive(a->params, "arguments"), name);
}

/* ---- methods of the session ---- */

/* Runs one statement, or peer_insert, in a transaction of its own. */
static int write_peer(struct front *f, struct peer *p, bool closes, struct err *e)
{
	struct store *st = &f->worker.store;
	int failed;

	if (store_begin(st, e))
		return -1;
	failed = closes ? sql_connection_close(st, p->seq, e)
	                : peer_insert(st, &f->settings.workspaces, p, e);
	if (failed) {
		store_rollback(st);
		return -1;
	}
	return store_commit(st, e);
}

static void initialize(const struct ask *a)
{
	struct peer *p = a->sink->peer;
	struct err e = { 0 };
	OWNED(str) struct str result = { 0 };

	p->version = xstrdup(mcp_negotiate(json_text(a->params, "protocolVersion")));
	if (write_peer(a->front, p, false, &e)) {
		ask_refuse(a, RPC_INTERNAL_ERROR, e.text, NULL);
		return;
	}
	session_add(p->key, cJSON_GetObjectItemCaseSensitive(a->params, "capabilities"));
	str_addf(&result, "{\"protocolVersion\":\"%s\",", p->version);
	str_add(&result, "\"capabilities\":{\"tools\":{},\"prompts\":{},\"logging\":{},"
	                 "\"completions\":{},\"resources\":{\"subscribe\":true}},"
	                 "\"serverInfo\":{\"name\":\"conformance-fixture\",\"version\":\"1\"}");
	ask_answer(a, &result, MCP_NOT_CACHEABLE);
}

static void discover(const struct ask *a)
{
	OWNED(str) struct str result = { 0 };

	str_addf(&result, "{\"supportedVersions\":[\"%s\"],\"capabilities\":{", MCP_MODERN);
	str_addf(&result, "\"extensions\":{\"%s\":{}},", MCP_TASKS);
	str_add(&result, "\"tools\":{\"listChanged\":true},\"completions\":{},"
	                 "\"prompts\":{\"listChanged\":true},\"logging\":{},\"resources\":{}}");
	ask_answer(a, &result, MCP_CACHE_PUBLIC);
}

static void answer_empty(const struct ask *a)
{
	OWNED(str) struct str result = { 0 };

	str_add_char(&result, '{');
	ask_answer(a, &result, MCP_NOT_CACHEABLE);
}

static void set_level(const struct ask *a)
{
	struct session *s = session_find(a->sink->peer->key);
	bool logs;

	if (!is_level(json_text(a->params, "level"), &logs)) {
		ask_refuse(a, RPC_INVALID_PARAMS, "there is no such log level", NULL);
		return;
	}
	if (s)
		s->logs_info = logs;
	answer_empty(a);
}

static const struct {
	const char *name;
	int eras;
	void (*take)(const struct ask *a);
} METHODS[] = {
	{ "initialize", ERA_LEGACY, initialize },
	{ "ping", ERA_LEGACY, answer_empty },
	{ "logging/setLevel", ERA_LEGACY, set_level },
	{ "resources/subscribe", ERA_LEGACY, answer_empty },
	{ "resources/unsubscribe", ERA_LEGACY, answer_empty },
	{ "server/discover", ERA_MODERN, discover },
	{ "subscriptions/listen", ERA_MODERN, subscriptions_listen },
	{ "tasks/get", ERA_MODERN, tasks_get },
	{ "tasks/update", ERA_MODERN, tasks_update },
	{ "tasks/cancel", ERA_MODERN, tasks_cancel },
	{ "tools/list", ERA_BOTH, tools_list },
	{ "tools/call", ERA_BOTH, tools_call },
	{ "prompts/list", ERA_BOTH, prompts_list },
	{ "prompts/get", ERA_BOTH, prompts_get },
	{ "resources/list", ERA_BOTH, resources_list },
	{ "resources/templates/list", ERA_BOTH, resources_templates_list },
	{ "resources/read", ERA_BOTH, resources_read },
	{ "completion/complete", ERA_BOTH, completion_complete },
};

static void refuse_unknown(const struct ask *a, const char *method)
{
	struct mcp_fault fault;

	(void)mcp_lacks_method(method, &fault);
	if (!a->modern)
		fault.status = 200;
	a->sink->by->refuse(a->sink, a->id, &fault);
}

static void take_request(struct front *f, struct sink *sink, const struct rpc_message *m)
{
	bool modern = mcp_is_modern(m->params);
	struct ask a = {
		.front = f, .sink = sink, .id = m->id, .params = m->params, .modern = modern
	};

	a.version = modern ? MCP_MODERN : peer_version(sink->peer);
	for (size_t i = 0; i < COUNT(METHODS); i++)
		if (strcmp(METHODS[i].name, m->method) == 0 &&
		    (METHODS[i].eras & (modern ? ERA_MODERN : ERA_LEGACY))) {
			METHODS[i].take(&a);
			return;
		}
	refuse_unknown(&a, m->method);
}

/* ---- what http.c calls ---- */

void take_message(struct front *f, struct sink *sink, struct rpc_message *m)
{
	if (m->kind == RPC_REQUEST)
		take_request(f, sink, m);
	else if (m->kind == RPC_RESPONSE)
		runs_hear(sink, m);
	rpc_message_clear(m);
}

/* For signs of life on /sse, which the suite does not open: it gives none. */
void hold_caller(struct front *f, struct sink *sink, int64_t call_seq, int64_t started_ms,
                 const char *rpc_id, const char *progress_token, bool modern)
{
	(void)f;
	(void)sink;
	(void)call_seq;
	(void)started_ms;
	(void)rpc_id;
	(void)progress_token;
	(void)modern;
}

void hold_gone(struct sink *s)
{
	if (s->gone)
		return;
	s->gone = true;
	s->http = NULL;
	runs_forget(s);
	listeners_forget(s);
	sink_drop(s);
}

static void end_session(struct front *f, struct sink *sink)
{
	struct err e = { 0 };

	if (write_peer(f, sink->peer, true, &e)) {
		sink_refuse(sink, NULL, RPC_INTERNAL_ERROR, e.text);
		return;
	}
	session_remove(session_find(sink->peer->key));
	sink->by->finish(sink, 204);
}

/* Only resuming and ending come this way. */
static void run_turn(evutil_socket_t fd, short what, void *arg)
{
	struct front *f = arg;
	struct job *job;

	(void)fd;
	(void)what;
	while ((job = STAILQ_FIRST(&f->jobs)) != NULL) {
		STAILQ_REMOVE_HEAD(&f->jobs, next);
		if (job->kind == JOB_RESUME)
			runs_resume(job->sink, job->call_seq);
		else
			end_session(f, job->sink);
		job_free(job);
	}
}

/* ---- the program ---- */

static void on_signal(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)event_base_loopexit(arg, NULL);
}

static int serve(struct front *f, struct err *e)
{
	struct event *signals[] = { evsignal_new(f->base, SIGTERM, on_signal, f->base),
		                    evsignal_new(f->base, SIGINT, on_signal, f->base) };
	int failed = http_start(f, e);

	for (size_t i = 0; i < COUNT(signals); i++)
		(void)event_add(signals[i], NULL);
	if (!failed) {
		(void)printf("ready http://127.0.0.1:%lld/mcp\n", (long long)f->http_port);
		(void)fflush(stdout);
		(void)event_base_dispatch(f->base);
	}
	http_stop(f);
	run_turn(-1, 0, f);
	tasks_clear();
	runs_clear();
	for (size_t i = 0; i < COUNT(signals); i++)
		event_free(signals[i]);
	return failed;
}

int main(int argc, char **argv)
{
	struct err e = { 0 };
	struct front f = { .hang_up_fd = -1,
		           .activation = ACTIVATION_INIT,
		           .failure = &e,
		           .max_fd = 1000,
		           .request_seconds = FRONT_REQUEST_SECONDS };

	if (argc != 3) {
		(void)fprintf(stderr, "usage: %s DATABASE PORT\n", argv[0]);
		return 64;
	}
	log_open("fixture", 0, LOG_LEVEL_WARN);
	f.worker.store = (struct store)STORE_INIT;
	f.http_port = strtoll(argv[2], NULL, 10);
	(void)snprintf(f.settings.workspaces.machine, sizeof(f.settings.workspaces.machine),
	               "fixture");
	STAILQ_INIT(&f.jobs);
	f.base = event_base_new();
	unread_start(&f);
	big_start(&f, unread_take);
	f.turn = event_new(f.base, -1, 0, run_turn, &f);
	if (store_migrate(&f.worker.store, argv[1], NULL, &e) || serve(&f, &e))
		(void)fprintf(stderr, "%s: %s\n", argv[0], e.text);
	big_stop(&f);
	unread_stop(&f);
	event_free(f.turn);
	event_base_free(f.base);
	store_clear(&f.worker.store);
	while (!LIST_EMPTY(&sessions))
		session_remove(LIST_FIRST(&sessions));
	libevent_global_shutdown();
	return err_exit(&e);
}
