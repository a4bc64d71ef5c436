/* Calls that take time. A legacy client that is cut off may come back for its call; a modern one
 * that goes has cancelled it. */
#include "fixture.h"
#include "json_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static LIST_HEAD(, run) runs = LIST_HEAD_INITIALIZER(runs);
static int64_t last_seq;

static const char *event_id(struct run *r, char text[40])
{
	if (r->modern)
		return NULL;
	(void)snprintf(text, 40, "%lld.%d", (long long)r->seq, r->events++);
	return text;
}

static void free_run(struct run *r)
{
	LIST_REMOVE(r, next);
	if (r->clock)
		event_free(r->clock);
	free(r->rpc_id);
	free(r->progress_token);
	str_clear(&r->result);
	free(r);
}

/* ---- streams ---- */

struct run *run_start(const struct ask *a)
{
	struct run *r = xcalloc(1, sizeof(*r));
	const cJSON *meta = cJSON_GetObjectItemCaseSensitive(a->params, "_meta");
	const cJSON *token = cJSON_GetObjectItemCaseSensitive(meta, "progressToken");
	char id[40];

	r->seq = ++last_seq;
	r->sink = a->sink;
	sink_hold(r->sink);
	(void)snprintf(r->key, sizeof(r->key), "%s", a->sink->peer->key);
	r->rpc_id = xstrdup(a->id);
	if (token) {
		struct str text = { 0 };

		json_canonical(&text, token);
		r->progress_token = str_take(&text);
	}
	/* a->version of a legacy client belongs to its sink. */
	r->version = a->modern ? MCP_MODERN : mcp_negotiate(a->version);
	r->modern = a->modern;
	r->logs = ask_logs(a);
	LIST_INSERT_HEAD(&runs, r, next);
	a->sink->by->wait(a->sink, event_id(r, id));
	if (!a->sink->gone)
		return r;
	free_run(r);
	return NULL;
}

static void on_clock(evutil_socket_t fd, short what, void *arg)
{
	struct run *r = arg;

	(void)fd;
	(void)what;
	r->step++;
	r->on_clock(r);
}

void run_after(struct run *r, int ms, void (*then)(struct run *r))
{
	const struct timeval t = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

	if (!r->clock)
		r->clock = evtimer_new(r->sink->front->base, on_clock, r);
	r->on_clock = then;
	(void)evtimer_add(r->clock, &t);
}

void run_notify(struct run *r, const struct str *message)
{
	char id[40];

	if (r->sink)
		r->sink->by->notify(r->sink, message, event_id(r, id));
}

void run_request(struct run *r, const char *method, const char *params,
                 void (*on_response)(struct run *r, const cJSON *result))
{
	OWNED(str) struct str message = { 0 };

	r->on_response = on_response;
	str_addf(&message, "{\"jsonrpc\":\"2.0\",\"id\":\"ask-%lld\",\"method\":\"%s\",\"params\":",
	         (long long)r->seq, method);
	str_add(&message, params);
	str_add_char(&message, '}');
	run_notify(r, &message);
}

void run_cut(struct run *r)
{
	if (r->sink)
		r->sink->by->finish(r->sink, 200);
}

/* ---- results ---- */

void text_content(struct str *out, const char *text, bool is_error)
{
	str_add(out, "\"content\":[{\"type\":\"text\",\"text\":");
	json_quote(out, text);
	str_addf(out, "}],\"isError\":%s", is_error ? "true" : "false");
}

static void hand_out(struct run *r)
{
	struct sink *sink = r->sink;
	OWNED(str) struct str message = { 0 };
	char text[40];
	const char *id = event_id(r, text);

	rpc_result(&message, r->rpc_id, r->result.bytes);
	r->sink = NULL;
	free_run(r);
	sink->by->reply(sink, &message, id);
	sink_drop(sink);
}

void run_finish(struct run *r, const char *text, bool is_error)
{
	str_add_char(&r->result, '{');
	text_content(&r->result, text, is_error);
	mcp_end_result(&r->result, r->version, MCP_NOT_CACHEABLE);
	if (r->sink)
		hand_out(r);
	else if (r->modern)
		free_run(r);
}

/* ---- clients ---- */

void runs_forget(const struct sink *s)
{
	struct run *r;

	LIST_FOREACH (r, &runs, next)
		if (r->sink == s) {
			sink_drop(r->sink);
			r->sink = NULL;
		}
}

void runs_resume(struct sink *s, int64_t seq)
{
	struct mcp_fault fault = { .status = 404,
		                   .code = RPC_INVALID_REQUEST,
		                   .text = "there is no stream with this Last-Event-ID" };
	struct run *r;

	LIST_FOREACH (r, &runs, next)
		if (r->seq == seq && !r->sink && strcmp(r->key, s->peer->key) == 0)
			break;
	if (!r) {
		s->by->refuse(s, NULL, &fault);
		return;
	}
	s->by->wait(s, NULL);
	if (s->gone)
		return;
	r->sink = s;
	sink_hold(s);
	if (r->result.length)
		hand_out(r);
}

void runs_hear(const struct sink *s, const struct rpc_message *m)
{
	const cJSON *result = cJSON_GetObjectItemCaseSensitive(m->root, "result");
	struct run *r;
	char id[40];

	LIST_FOREACH (r, &runs, next) {
		(void)snprintf(id, sizeof(id), "\"ask-%lld\"", (long long)r->seq);
		if (r->on_response && m->id && strcmp(m->id, id) == 0 &&
		    strcmp(r->key, s->peer->key) == 0)
			break;
	}
	if (r) {
		void (*on_response)(struct run *, const cJSON *) = r->on_response;

		r->on_response = NULL;
		on_response(r, result);
	}
}

void runs_clear(void)
{
	while (!LIST_EMPTY(&runs))
		free_run(LIST_FIRST(&runs));
}
