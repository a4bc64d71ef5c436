#include "resources.h"

#include "await_slack.h"
#include "front.h"
#include "guests_place.h"
#include "json.h"
#include "json_writer.h"
#include "resource.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void refuse_resource(struct sink *sink, const char *id, const char *uri, int code,
                            const char *why)
{
	struct mcp_fault fault = { .status = 200, .code = code };
	OWNED(str) struct str data = { 0 };

	(void)snprintf(fault.text, sizeof(fault.text), "%.280s", why);
	json_object(&data);
	json_member(&data, "uri", uri);
	json_object_end(&data);
	if (data.length < sizeof(fault.data))
		memcpy(fault.data, data.bytes, data.length + 1);
	sink->by->refuse(sink, id, &fault);
}

static int not_found(const char *version)
{
	return version == MCP_MODERN ? RPC_INVALID_PARAMS : RPC_RESOURCE_NOT_FOUND;
}

/* Appends the result, without its end. Returns 1 if there is one, 0 if it was refused. */
static int make_resource(struct front *f, struct sink *sink, const struct rpc_message *m,
                         const char *version, struct str *result)
{
	const char *uri = json_text(m->params, "uri");
	struct err e = { 0 };
	int got;

	if (!uri) {
		sink_refuse(sink, m->id, RPC_INVALID_PARAMS, "params.uri must be a string");
		return 0;
	}
	got = resource_read(&f->worker.store, sink->peer, uri, result, &e);
	if (got > 0)
		return 1;
	refuse_resource(sink, m->id, uri, got < 0 ? RPC_INTERNAL_ERROR : not_found(version),
	                e.text);
	return 0;
}

static bool is_channel(const struct rpc_message *m)
{
	const char *uri = json_text(m->params, "uri");

	return uri && resource_is_channel(uri);
}

static void answer_request(struct front *f, struct sink *sink, struct rpc_message *m,
                           const char *version, enum mcp_method method)
{
	OWNED(str) struct str result = { 0 };

	if (method == MCP_RESOURCES_READ && is_channel(m)) {
		job_queue(f, JOB_READ, sink, m)->version = version;
		return;
	}
	if (method == MCP_RESOURCES_READ && !make_resource(f, sink, m, version, &result))
		return;
	if (method == MCP_RESOURCES_LIST)
		resource_list(&result, &f->worker.store, sink->peer);
	if (method == MCP_RESOURCES_TEMPLATES)
		resource_templates(&result);
	mcp_end_result(&result, version,
	               method == MCP_RESOURCES_TEMPLATES ? MCP_CACHE_PUBLIC : MCP_CACHE_PRIVATE);
	sink_reply(sink, m->id, &result);
}

/* ---- the caller's workspace ---- */

/* A request of a caller whose workspace is not known yet. */
struct unplaced {
	struct hand_task task;
	struct sink *sink;
	struct rpc_message message;
	const char *version;
	enum mcp_method method;
};

static void unplaced_free(struct unplaced *u)
{
	rpc_message_clear(&u->message);
	sink_drop(u->sink);
	free(u);
}

static void on_found(struct front *f, struct hand_task *t, struct hand_found *found)
{
	struct unplaced *u = (struct unplaced *)t;
	struct peer *p = u->sink->peer;
	struct err e = { 0 };

	if (peer_settle(&f->worker.store, &f->settings.workspaces, p, &e) ||
	    (p->unplaced && guests_place(f, p, found, &e)))
		sink_refuse(u->sink, u->message.id, RPC_INVALID_PARAMS, e.text);
	else
		answer_request(f, u->sink, &u->message, u->version, u->method);
	unplaced_free(u);
}

static void on_failed(struct front *f, struct hand_task *t, const struct refusal *why)
{
	struct unplaced *u = (struct unplaced *)t;

	(void)f;
	sink_refuse(u->sink, u->message.id, RPC_INTERNAL_ERROR, why->text);
	unplaced_free(u);
}

static bool is_over(struct front *f, struct hand_task *t)
{
	(void)f;
	return ((struct unplaced *)t)->sink->gone;
}

/* A relay asks the next front by itself. */
static bool is_told(const struct hand_task *t)
{
	return ((const struct unplaced *)t)->sink->http;
}

static void on_dropped(struct front *f, struct hand_task *t)
{
	(void)f;
	unplaced_free((struct unplaced *)t);
}

static void place_first(struct front *f, struct sink *sink, struct rpc_message *m,
                        const char *version, enum mcp_method method)
{
	static const struct hand_asker PLACE = { .done = on_found,
		                                 .failed = on_failed,
		                                 .is_over = is_over,
		                                 .is_told = is_told,
		                                 .dropped = on_dropped };
	struct unplaced *u = xcalloc(1, sizeof(*u));

	*u = (struct unplaced){ .sink = sink, .version = version, .method = method };
	u->task.by = &PLACE;
	u->task.bytes = m->length;
	(void)snprintf(u->task.asker, sizeof(u->task.asker), "%s", sink->peer->key);
	if (!hands_have_room(f, &u->task)) {
		sink_refuse(sink, m->id, RPC_INTERNAL_ERROR,
		            "too many requests wait for their workspace to be found; ask again");
		free(u);
		return;
	}
	u->message = *m;
	*m = (struct rpc_message){ 0 };
	sink_hold(sink);
	peer_ask_place(&f->settings.workspaces, sink->peer, &u->task.ask);
	hands_ask(f, &u->task);
}

void resources_take(struct front *f, struct sink *sink, struct rpc_message *m, const char *version,
                    enum mcp_method method)
{
	struct err e = { 0 };

	if (peer_settle(&f->worker.store, &f->settings.workspaces, sink->peer, &e))
		sink_refuse(sink, m->id, RPC_INVALID_PARAMS, e.text);
	else if (sink->peer->unplaced)
		place_first(f, sink, m, version, method);
	else
		answer_request(f, sink, m, version, method);
}

/* ---- a channel ---- */

static const char *uri_of(const struct job *job)
{
	return json_text(job->message.params, "uri");
}

int resources_run(struct front *f, struct job *job, struct err *e)
{
	struct err why = { 0 };
	int got;

	if (!hold_has_room(job->sink, job->sink->asking + 1, e))
		return -1;
	got = resource_ask(&f->worker.store, job->sink->peer, uri_of(job), &job->as.read.seq, &why);
	if (got < 0) {
		*e = why;
		return -1;
	}
	if (got > 0)
		job->sink->asking++;
	else
		(void)snprintf(job->as.read.why, sizeof(job->as.read.why), "%.299s", why.text);
	return 0;
}

static void give(struct job *job, const char *json)
{
	OWNED(str) struct str result = { 0 };

	resource_content(&result, uri_of(job), json);
	mcp_end_result(&result, job->version, MCP_CACHE_PRIVATE);
	sink_reply(job->sink, job->message.id, &result);
}

static bool answer(struct front *f, struct job *job, bool late)
{
	static const char UNREAD[] = "slack: nobody has read the channel in 10 s; "
	                             "agent-intercom-ctl health tells why";
	OWNED(str) struct str json = { 0 };
	struct err e = { 0 };
	int got = resource_answer(&f->worker.store, job->as.read.seq, &json, &e);

	if (got == 0 && !late)
		return false;
	if (job->held_as)
		hold_release(f, job->held_as);
	if (got > 0)
		give(job, str_text(&json));
	else
		refuse_resource(job->sink, job->message.id, uri_of(job), RPC_INTERNAL_ERROR,
		                got < 0 ? e.text : UNREAD);
	return true;
}

bool resources_reply(struct front *f, struct job *job)
{
	static const struct awaited CHANNEL = { .answer = answer, .ms = RESOURCE_CHANNEL_MS };

	if (job->as.read.seq) {
		await_slack(f, job, &CHANNEL, false);
		return false;
	}
	refuse_resource(job->sink, job->message.id, uri_of(job), not_found(job->version),
	                job->as.read.why);
	return true;
}
