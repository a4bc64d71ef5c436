/* One loop turn: everything that came in is written in one transaction, each call a part that can
 * fail alone; the replies follow when it is on disk. */
#include "front.h"

#include "elicit.h"
#include "log.h"
#include "tools/broadcast.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job *front_queue(struct front *f, enum job_kind kind, struct sink *sink,
                        struct rpc_message *message)
{
	struct job *job = xcalloc(1, sizeof(*job));

	job->kind = kind;
	job->sink = sink;
	sink_hold(sink);
	if (message) {
		job->message = *message;
		*message = (struct rpc_message)RPC_MESSAGE_INIT;
	}
	STAILQ_INSERT_TAIL(&f->jobs, job, next);
	front_turn_soon(f);
	return job;
}

/* Not at once, but after one more look at the transports (a timer of 0 is due in the next pass of
 * the loop, behind what that pass finds ready): answers in hand leave before the flush, and what
 * came in meanwhile is in the same commit. A priority would let a flood of requests keep it
 * waiting. */
void front_turn_soon(struct front *f)
{
	static const struct timeval NEXT_PASS = { 0 };

	if (!evtimer_pending(f->turn, NULL))
		(void)event_add(f->turn, &NEXT_PASS);
}

void front_job_free(struct job *job)
{
	sink_drop(job->sink);
	rpc_message_clear(&job->message);
	call_clear(&job->call);
	str_clear(&job->result);
	str_clear(&job->said);
	free(job);
}

static void refuse(struct job *job, int code, const char *text)
{
	job->refused = true;
	job->fault = (struct mcp_fault){ .status = 200, .code = code };
	(void)snprintf(job->fault.text, sizeof(job->fault.text), "%.299s", text);
}

void front_gone(struct sink *s)
{
	struct front *f = s->front;
	struct waiter *w;

	if (s->gone)
		return;
	s->gone = true;
	s->http = NULL;
	s->pipe = NULL;
	while ((w = LIST_FIRST(&s->waiters)) != NULL) {
		enum job_kind kind = w->modern ? JOB_DROP : JOB_HANG_UP;
		int64_t call_seq = w->subscription ? 0 : w->held->seq;

		if (front_forget(f, w) && call_seq > 0)
			front_queue(f, kind, s, NULL)->call_seq = call_seq;
	}
	if (s->peer->transport == PEER_STDIO || s->ends_session)
		(void)front_queue(f, JOB_END, s, NULL);
	sink_drop(s);
}

/* ---- messages ---- */

static void reply_now(struct sink *sink, const char *id, const char *version,
                      void (*make)(struct str *, const char *))
{
	OWNED(str) struct str result = STR_INIT;
	OWNED(str) struct str message = STR_INIT;

	make(&result, version);
	rpc_result(&message, id, result.bytes);
	sink->by->reply(sink, &message, NULL);
}

/* What the client says of itself holds from here on: its next message may be in the same turn. */
static void introduce(struct peer *p, const cJSON *params)
{
	const cJSON *client = cJSON_GetObjectItemCaseSensitive(params, "clientInfo");
	const char *name = json_text(client, "name");
	const char *version = json_text(client, "version");

	free(p->version);
	free(p->client_name);
	free(p->client_version);
	p->version = xstrdup(mcp_negotiate(json_text(params, "protocolVersion")));
	p->client_name = name ? xstrdup(name) : NULL;
	p->client_version = version ? xstrdup(version) : NULL;
	p->elicits = elicit_is_offered(cJSON_GetObjectItemCaseSensitive(params, "capabilities"));
}

/* Lists have one page: a cursor is none of ours, but an empty one can mean the beginning. */
static bool has_cursor(struct sink *sink, const struct rpc_message *m)
{
	const cJSON *cursor = cJSON_GetObjectItemCaseSensitive(m->params, "cursor");

	if (!cursor || (cJSON_IsString(cursor) && cursor->valuestring[0] == '\0'))
		return false;
	sink_refuse(sink, m->id, RPC_INVALID_PARAMS, "there is no page with this cursor");
	return true;
}

static void set_level(struct sink *sink, const struct rpc_message *m, const char *version)
{
	int level = mcp_log_level(json_text(m->params, "level"));

	if (level < 0) {
		sink_refuse(sink, m->id, RPC_INVALID_PARAMS,
		            "params.level must be debug, info, notice, warning, error, critical, "
		            "alert or emergency");
		return;
	}
	sink->peer->log_level = level;
	reply_now(sink, m->id, version, mcp_empty_result);
}

static void take_request(struct front *f, struct sink *sink, struct rpc_message *m)
{
	OWNED(str) struct str text = STR_INIT;
	bool modern = mcp_is_modern(m->params);
	const char *version = modern ? MCP_MODERN : peer_version(sink->peer);

	switch (mcp_method_of(m->method, modern)) {
	case MCP_INITIALIZE:
		introduce(sink->peer, m->params);
		(void)front_queue(f, JOB_INITIALIZE, sink, m);
		return;
	case MCP_TOOLS_CALL:
		if (!modern && sink->peer->transport == PEER_STDIO && !sink->peer->version) {
			sink_refuse(sink, m->id, RPC_INVALID_PARAMS,
			            "send initialize first, or set "
			            "_meta io.modelcontextprotocol/protocolVersion to 2026-07-28");
			return;
		}
		front_queue(f, JOB_CALL, sink, m)->version = version;
		return;
	case MCP_PING:
		reply_now(sink, m->id, version, mcp_empty_result);
		return;
	case MCP_SET_LEVEL:
		set_level(sink, m, version);
		return;
	case MCP_TOOLS_LIST:
		if (!has_cursor(sink, m))
			reply_now(sink, m->id, version, mcp_tools_list);
		return;
	case MCP_DISCOVER:
		reply_now(sink, m->id, version, mcp_discover_result);
		return;
	case MCP_LISTEN:
		task_listen(f, sink, m);
		return;
	case MCP_TASKS_GET:
	case MCP_TASKS_UPDATE:
	case MCP_TASKS_CANCEL:
		(void)front_queue(f, JOB_TASK, sink, m);
		return;
	case MCP_RESOURCES_LIST:
	case MCP_RESOURCES_TEMPLATES:
	case MCP_RESOURCES_READ:
		if (!has_cursor(sink, m))
			resource_take(f, sink, m, version, mcp_method_of(m->method, modern));
		return;
	case MCP_NOTIFICATION_CANCELLED:
	case MCP_NOTIFICATION_OTHER:
	case MCP_UNKNOWN:
		break;
	}
	str_addf(&text, "method not found: %.100s", m->method);
	sink_refuse(sink, m->id, RPC_METHOD_NOT_FOUND, text.bytes);
}

void front_take(struct front *f, struct sink *sink, struct rpc_message *m)
{
	if (m->kind == RPC_REQUEST)
		take_request(f, sink, m);
	else if (m->kind == RPC_NOTIFICATION && strcmp(m->method, "notifications/cancelled") == 0)
		(void)front_queue(f, JOB_CANCEL, sink, m);
	else if (elicitation_answers(m))
		(void)front_queue(f, JOB_ELICITED, sink, m);
	/* Other notifications, and responses to requests that we never sent, need nothing. */
	rpc_message_clear(m);
}

/* ---- before the transaction ---- */

static void prepare_call(struct front *f, struct job *job)
{
	struct peer *p = job->sink->peer;
	const cJSON *responses =
	    cJSON_GetObjectItemCaseSensitive(job->message.params, "inputResponses");
	struct err e = ERR_INIT;

	if (responses && !cJSON_IsObject(responses)) {
		refuse(job, RPC_INVALID_PARAMS, "params.inputResponses must be an object");
		return;
	}
	if (call_open(&job->call, job->message.params, job->message.id, job->message.has_nul, &e)) {
		refuse(job, RPC_INVALID_PARAMS, e.text);
		return;
	}
	if (peer_settle(&f->worker.store, &f->settings.places, p, &e)) {
		refuse(job, e.kind == ERR_INPUT ? RPC_INVALID_PARAMS : RPC_INTERNAL_ERROR, e.text);
		return;
	}
	job->call.modern = job->version == MCP_MODERN;
	job->call.as_task = job->call.modern && p->identity.tasks &&
	                    mcp_client_extends(job->message.params, MCP_TASKS);
	job->call.elicits = job->call.modern && f->settings.elicitation &&
	                    elicit_is_offered(mcp_client_capabilities(job->message.params));
	job->call.responses = responses;
	call_prepare(&job->call, p,
	             call_asks_policy(&job->call) ? policies_of(f, p->workspace_root) : NULL,
	             &f->settings);
}

/* ---- inside the transaction ---- */

/* A relay that came back sends its open requests again: such a call is found, not made anew. */
static int find_again(struct front *f, struct job *job, struct err *e)
{
	struct peer *p = job->sink->peer;
	stmt *s;
	int got;

	if (!p->resumed || !p->seq)
		return 0;
	s = store_stmt(&f->worker.store, SQL_TOOL_CALL_BY_RPC);
	bind_int(s, ":connection", p->seq);
	bind_text(s, ":rpc_id", job->call.rpc_id);
	got = stmt_row(s, e);
	if (got > 0 && strcmp(col_text(s, TOOL_CALL_BY_RPC_TOOL), job->call.tool->name) == 0 &&
	    strcmp(col_text(s, TOOL_CALL_BY_RPC_DIGEST), job->call.digest.text) == 0 &&
	    strcmp(col_text(s, TOOL_CALL_BY_RPC_STATE), "cancelled") != 0) {
		job->call_seq = col_int(s, TOOL_CALL_BY_RPC_SEQ);
		job->waits = strcmp(col_text(s, TOOL_CALL_BY_RPC_STATE), "waiting") == 0;
		job->untold = strcmp(col_text(s, TOOL_CALL_BY_RPC_STATE), "answered") == 0;
	}
	stmt_reset(s);
	return got < 0 ? -1 : job->call_seq != 0;
}

static int attach(struct front *f, struct job *job, struct err *e)
{
	stmt *s = store_stmt(&f->worker.store, SQL_TOOL_CALL_READ);
	int got;

	bind_int(s, ":seq", job->call_seq);
	got = stmt_row(s, e);
	if (got > 0) /* its progress goes on from where it was */
		job->started_ms = clock_parse(col_text(s, TOOL_CALL_READ_CREATED_AT));
	stmt_reset(s);
	return got < 0 ? -1 : call_attach(&f->worker.store, job->call_seq, f->worker.id.text, e);
}

/* The result of a call whose wait is over; if nobody has been told it yet, its caller is now. */
static int tell(struct front *f, struct job *job, struct err *e)
{
	OWNED(telling) struct telling t = TELLING_INIT;

	if (call_result(&f->worker.store, job->call_seq, &t, e) ||
	    (job->untold && call_steer(&f->worker.store, &t, 0, e)))
		return -1;
	str_add(&job->result, str_text(&t.result));
	if (!job->call.tool || !job->call.tool->tells_steering)
		str_add(&job->said, str_text(&t.steering.text));
	job->call.is_error = t.is_error;
	return job->untold ? call_finish(&f->worker.store, job->call_seq, &t, e) : 0;
}

static bool may_wait(struct job *job, struct err *e)
{
	if (!front_has_room(job->sink, job->sink->asking + 1, e))
		return false;
	job->sink->asking++;
	return true;
}

static int run_call(struct front *f, struct job *job, struct err *e)
{
	struct store *st = &f->worker.store;
	struct peer *p = job->sink->peer;
	int64_t seq = p->seq, session = p->session_seq; /* as before this part */
	int again = find_again(f, job, e);

	if (again < 0)
		return -1;
	if (again && job->waits)
		return may_wait(job, e) ? attach(f, job, e) : -1;
	if (again)
		return tell(f, job, e);
	job->parked = p->paused;
	if (job->parked)
		return 0;
	if (peer_join(st, &f->settings.places, p, e) ||
	    call_run(st, &job->call, p, &f->settings, e) ||
	    (job->call.waiting && !job->call.is_task && !may_wait(job, e))) {
		peer_unjoin(p, seq, session);
		return -1;
	}
	job->waits = job->call.waiting;
	job->call_seq = job->call.seq;
	if (job->call.is_task)
		return task_make(f, job, e);
	if (job->call.elicitation.length) {
		mcp_input_required(&job->result, job->call.elicitation.bytes);
		job->whole = true;
	} else if (!job->waits) {
		str_add_bytes(&job->result, job->call.result.bytes, job->call.result.length);
		if (!job->call.tool->tells_steering || job->call.is_error)
			str_add(&job->said, str_text(&job->call.steering.text));
	}
	return 0;
}

static int run_initialize(struct front *f, struct job *job, struct err *e)
{
	struct peer *p = job->sink->peer;

	if (!p->seq && peer_insert(&f->worker.store, &f->settings.places, p, e))
		return -1;
	mcp_initialize_result(&job->result, p->version);
	return 0;
}

static int on_seq(struct front *f, enum sql which, int64_t call_seq, struct err *e)
{
	stmt *s = store_stmt(&f->worker.store, which);

	bind_int(s, ":seq", call_seq);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

/* notifications/cancelled: the wait ends and gets no reply, the question stays. */
static int run_cancel(struct front *f, struct job *job, struct err *e)
{
	const cJSON *id = cJSON_GetObjectItemCaseSensitive(job->message.params, "requestId");
	struct peer *p = job->sink->peer;
	OWNED(str) struct str token = STR_INIT;
	int64_t call_seq;
	stmt *s;

	if (!id || !p->seq || p->transport == PEER_STATELESS)
		return 0;
	rpc_id_canonical(&token, id);
	s = store_stmt(&f->worker.store, SQL_TOOL_CALL_BY_RPC);
	bind_int(s, ":connection", p->seq);
	bind_text(s, ":rpc_id", token.bytes);
	call_seq = stmt_number(s, TOOL_CALL_BY_RPC_SEQ, e);
	if (call_seq < 0)
		return -1;
	job->call_seq = call_seq;
	if (!call_seq)
		return 0;
	if (call_given_up(&f->worker.store, call_seq, e))
		return -1;
	s = store_stmt(&f->worker.store, SQL_REQUEST_TAKEN_BACK);
	bind_int(s, ":call", call_seq);
	if (stmt_run(s, e) < 0 || on_seq(f, SQL_TOOL_CALL_UNTELL, call_seq, e))
		return -1;
	return on_seq(f, SQL_TOOL_CALL_CANCEL, call_seq, e);
}

/* GET with Last-Event-ID: a client came back for the answer of a call. */
static int run_resume(struct front *f, struct job *job, struct err *e)
{
	stmt *s = store_stmt(&f->worker.store, SQL_TOOL_CALL_READ);
	struct peer *p = job->sink->peer;
	bool ours = false;
	int got;

	bind_int(s, ":seq", job->call_seq);
	got = stmt_row(s, e);
	if (got > 0 && col_int(s, TOOL_CALL_READ_CONNECTION_SEQ) == p->seq &&
	    strcmp(col_text(s, TOOL_CALL_READ_STATE), "cancelled") != 0) {
		const char *token = col_text(s, TOOL_CALL_READ_PROGRESS_TOKEN);

		ours = true;
		job->version = peer_version(p);
		job->waits = strcmp(col_text(s, TOOL_CALL_READ_STATE), "waiting") == 0;
		job->untold = strcmp(col_text(s, TOOL_CALL_READ_STATE), "answered") == 0;
		job->message.id = xstrdup(col_text(s, TOOL_CALL_READ_RPC_ID));
		job->call.progress_token = token ? xstrdup(token) : NULL;
	}
	stmt_reset(s);
	if (got < 0)
		return -1;
	if (!ours) {
		refuse(job, RPC_INVALID_REQUEST, "there is no stream with this Last-Event-ID");
		return 0;
	}
	return job->waits ? attach(f, job, e) : tell(f, job, e);
}

/* The connection is over: DELETE, or the relay's process is gone. */
static int run_end(struct front *f, struct job *job, struct err *e)
{
	struct peer *p = job->sink->peer;
	stmt *s;

	if (!p->seq)
		return 0;
	if (on_seq(f, SQL_CONNECTION_CLOSE, p->seq, e))
		return -1;
	if (!p->session_seq)
		return 0;
	s = store_stmt(&f->worker.store, SQL_SESSION_OFFLINE);
	bind_int(s, ":seq", p->session_seq);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

static int run(struct front *f, struct job *job, struct err *e)
{
	switch (job->kind) {
	case JOB_CALL:
		return run_call(f, job, e);
	case JOB_INITIALIZE:
		return run_initialize(f, job, e);
	case JOB_CANCEL:
		return run_cancel(f, job, e);
	case JOB_TASK:
		return task_run(f, job, e);
	case JOB_READ:
		return resource_run(f, job, e);
	case JOB_SAID:
		return broadcast_finish(&f->worker.store, job->call_seq, str_text(&job->result), e);
	case JOB_ELICITED:
		return elicitation_run(f, job, e);
	case JOB_RESUME:
		return run_resume(f, job, e);
	case JOB_REOPEN:
		return on_seq(f, SQL_CONNECTION_REOPEN, job->sink->peer->seq, e) ||
		               on_seq(f, SQL_SESSION_CLIENT_IS_BACK, job->sink->peer->session_seq,
		                      e)
		           ? -1
		           : 0;
	case JOB_END:
		return run_end(f, job, e);
	case JOB_HANG_UP:
	case JOB_DROP:
		if (front_is_held(f, job->call_seq))
			return 0;
		if (!f->worker.stopping && job->sink->peer->transport != PEER_STDIO &&
		    call_given_up(&f->worker.store, job->call_seq, e))
			return -1;
		return on_seq(f,
		              job->kind == JOB_DROP ? SQL_TOOL_CALL_CANCEL : SQL_TOOL_CALL_UNLISTEN,
		              job->call_seq, e);
	}
	return 0;
}

/* ---- replies ---- */

void front_finish_call(struct job *job)
{
	OWNED(str) struct str result = STR_INIT;
	OWNED(str) struct str message = STR_INIT;
	char event_id[40];

	mcp_tool_result_with(&result, job->version, str_text(&job->result), str_text(&job->said),
	                     job->call.is_error);
	rpc_result(&message, job->message.id, result.bytes);
	(void)snprintf(event_id, sizeof(event_id), "%lld.end", (long long)job->call_seq);
	job->sink->by->reply(job->sink, &message,
	                     job->version == MCP_MODERN || !job->call_seq ? NULL : event_id);
}

/* ---- calls of paused sessions ----
 *
 * They have no row yet: nothing happened. The caller is held, and told that it waits, until the
 * session is resumed (then the call is run as if it came now) or stopped (then it is refused). */

static void park(struct front *f, struct job *job)
{
	if (!job->park_seq && !job->sink->gone) {
		OWNED(char_ptr)
		char *token = job->call.progress_token ? xstrdup(job->call.progress_token) : NULL;

		job->sink->by->wait(job->sink, NULL);
		job->park_seq = --f->listen_seq;
		job->park_ms = clock_monotonic_ms();
		if (!job->sink->gone)
			front_hold(f, job->sink, job->park_seq, clock_now_ms(), job->message.id,
			           token, job->version == MCP_MODERN);
	}
	STAILQ_INSERT_TAIL(&f->parked, job, next);
}

static bool is_paused(struct front *f, int64_t session_seq)
{
	stmt *s = store_stmt(&f->worker.store, SQL_SESSION_BY_SEQ);
	bool paused;

	bind_int(s, ":seq", session_seq);
	paused = stmt_row(s, NULL) > 0 && strcmp(col_text(s, SESSION_BY_SEQ_STATUS), "paused") == 0;
	stmt_reset(s);
	return paused;
}

static void tell_paused(struct front *f, struct job *job)
{
	front_release(f, job->park_seq);
	call_refuse(&job->call, "session_paused",
	            "the operator has paused this session; call again with the same arguments to "
	            "wait until it is resumed");
	str_add(&job->result, str_text(&job->call.result));
	front_finish_call(job);
}

bool front_job_is_over(struct front *f, struct job *job)
{
	if (job->sink->gone)
		return true;
	if (front_is_held(f, job->park_seq))
		return false;
	if (--job->sink->expected <= 0)
		job->sink->by->finish(job->sink, 202);
	return true;
}

/* True: the job is over. */
static bool look_at_parked(struct front *f, struct job *job)
{
	const struct peer *p = job->sink->peer;

	if (front_job_is_over(f, job))
		return true;
	if (!is_paused(f, p->session_seq)) {
		front_release(f, job->park_seq);
		job->park_seq = 0;
		job->parked = false;
		call_clear(&job->call); /* it is read anew, with the files as they are now */
		STAILQ_INSERT_TAIL(&f->jobs, job, next);
		front_turn_soon(f);
		return false;
	}
	if (clock_monotonic_ms() - job->park_ms < call_patience_ms(p, &f->settings)) {
		STAILQ_INSERT_TAIL(&f->parked, job, next);
		return false;
	}
	tell_paused(f, job);
	return true;
}

void front_look_at_parked(struct front *f)
{
	struct job_queue parked;
	struct job *job;

	STAILQ_INIT(&parked);
	STAILQ_CONCAT(&parked, &f->parked);
	while ((job = STAILQ_FIRST(&parked)) != NULL) {
		STAILQ_REMOVE_HEAD(&parked, next);
		if (look_at_parked(f, job))
			front_job_free(job);
	}
}

static void reply_call(struct front *f, struct job *job)
{
	bool modern = job->version == MCP_MODERN;
	char event_id[40];

	if (!job->waits) {
		if (job->kind == JOB_RESUME && !job->sink->gone)
			job->sink->by->wait(job->sink, NULL);
		front_finish_call(job);
		return;
	}
	(void)snprintf(event_id, sizeof(event_id), "%lld.0", (long long)job->call_seq);
	if (!job->sink->gone)
		job->sink->by->wait(job->sink, modern ? NULL : event_id);
	if (job->sink->gone) {
		front_queue(f, modern ? JOB_DROP : JOB_HANG_UP, job->sink, NULL)->call_seq =
		    job->call_seq;
		return;
	}
	front_hold(f, job->sink, job->call_seq,
	           job->started_ms > 0 ? job->started_ms : clock_now_ms(), job->message.id,
	           job->call.progress_token, modern);
	if (!modern && job->call.waiting) /* not one that came again: it has been shown before */
		elicitation_begin(f, job->sink, job->call_seq, job->version);
}

static void stop_listening(struct front *f, const struct job *job)
{
	const cJSON *id = cJSON_GetObjectItemCaseSensitive(job->message.params, "requestId");
	OWNED(str) struct str token = STR_INIT;

	if (!id)
		return;
	rpc_id_canonical(&token, id);
	task_stop_listening(f, job->sink, token.bytes);
}

static void reply_result(struct job *job)
{
	OWNED(str) struct str message = STR_INIT;

	rpc_result(&message, job->message.id, job->result.bytes);
	job->sink->by->reply(job->sink, &message, NULL);
}

static void reply(struct front *f, struct job *job)
{
	if (job->refused) {
		if (job->kind == JOB_RESUME) /* no reply to a request, but of a stream */
			job->fault.status = job->fault.code == RPC_INVALID_REQUEST ? 404 : 503;
		job->sink->by->refuse(job->sink, job->message.id, &job->fault);
		return;
	}
	switch (job->kind) {
	case JOB_CALL:
	case JOB_RESUME:
		if (job->whole)
			reply_result(job);
		else
			reply_call(f, job);
		break;
	case JOB_INITIALIZE:
		reply_result(job);
		break;
	case JOB_TASK:
		if (mcp_method_of(job->message.method, true) == MCP_TASKS_CANCEL)
			front_let_go(f, job->call_seq);
		reply_result(job);
		break;
	case JOB_CANCEL:
		if (job->call_seq)
			front_let_go(f, job->call_seq);
		else
			stop_listening(f, job);
		break;
	case JOB_ELICITED:
		front_elicited(f, job->call_seq);
		break;
	case JOB_END:
		job->sink->by->finish(job->sink, 204);
		break;
	case JOB_READ: /* resource_reply */
	case JOB_SAID:
	case JOB_REOPEN:
	case JOB_HANG_UP:
	case JOB_DROP:
		break;
	}
}

/* ---- the turn ---- */

/* Whether somebody waits for a reply to a job; the others are notes, and are repeated until they
 * are written. */
static bool has_reply(const struct job *job)
{
	return job->kind == JOB_CALL || job->kind == JOB_INITIALIZE || job->kind == JOB_RESUME ||
	       job->kind == JOB_TASK || job->kind == JOB_READ;
}

static void run_part(struct front *f, struct job *job)
{
	struct err e = ERR_INIT;

	if (job->refused)
		return;
	if (store_part(&f->worker.store, &e)) {
		refuse(job, RPC_INTERNAL_ERROR, e.text);
		return;
	}
	if (run(f, job, &e)) {
		store_undo(&f->worker.store);
		if (has_reply(job))
			refuse(job, e.kind == ERR_INPUT ? RPC_INVALID_PARAMS : RPC_INTERNAL_ERROR,
			       e.text);
		log_warn("refused: %s", e.text);
		return;
	}
	if (store_keep(&f->worker.store, &e))
		refuse(job, RPC_INTERNAL_ERROR, e.text);
}

/* Undoes what the jobs have noted of a transaction that did not come to be. */
static void forget_results(struct job_queue *batch, const struct err *e)
{
	struct job *job;

	STAILQ_FOREACH (job, batch, next) {
		if (!job->refused && has_reply(job))
			refuse(job, RPC_INTERNAL_ERROR, e->text);
		peer_unjoin(job->sink->peer, job->had_seq, job->had_session);
	}
}

/* One transaction for all of them; false if it did not come to be. */
static bool commit_batch(struct front *f, struct job_queue *batch)
{
	struct err e = ERR_INIT;
	struct job *job;

	STAILQ_FOREACH (job, batch, next) {
		job->had_seq = job->sink->peer->seq;
		job->had_session = job->sink->peer->session_seq;
		job->sink->asking = 0;
		if (job->kind == JOB_CALL)
			prepare_call(f, job);
	}
	if (store_begin(&f->worker.store, &e)) {
		forget_results(batch, &e);
		log_warn("%s", e.text);
		return false;
	}
	policies_write(f);
	front_write_told(f); /* first: who calls again has had the answer before */
	STAILQ_FOREACH (job, batch, next)
		run_part(f, job);
	if (store_commit(&f->worker.store, &e)) {
		forget_results(batch, &e);
		log_error("%s", e.text);
		if (store_is_broken(&f->worker.store))
			front_fail(f, &e);
		return false;
	}
	policies_written(f);
	front_forget_told(f);
	return true;
}

static bool is_big(const struct job *job)
{
	const char *diff =
	    json_text(cJSON_GetObjectItemCaseSensitive(job->message.params, "arguments"), "diff");

	return diff && strlen(diff) > FRONT_BIG_CALL;
}

/* The next jobs that are committed together: one that is big is alone. */
static void take_batch(struct front *f, struct job_queue *batch)
{
	struct job *job;
	bool alone = false;

	STAILQ_INIT(batch);
	while (!alone && (job = STAILQ_FIRST(&f->jobs)) != NULL &&
	       (STAILQ_EMPTY(batch) || !is_big(job))) {
		alone = is_big(job);
		STAILQ_REMOVE_HEAD(&f->jobs, next);
		STAILQ_INSERT_TAIL(batch, job, next);
	}
}

/* Replies, and keeps in f->jobs the notes of a transaction that failed. */
static void settle_batch(struct front *f, struct job_queue *batch, bool written)
{
	struct job *job;

	while ((job = STAILQ_FIRST(batch)) != NULL) {
		STAILQ_REMOVE_HEAD(batch, next);
		if (!written && !has_reply(job)) {
			STAILQ_INSERT_TAIL(&f->jobs, job, next);
			continue;
		}
		if (job->parked && !job->refused) {
			park(f, job);
			continue;
		}
		if (job->kind == JOB_READ && !job->refused) {
			resource_reply(f, job);
			continue;
		}
		if (job->call.is_said && !job->refused) {
			front_wait_for_poster(f, job, BROADCAST_MS);
			continue;
		}
		reply(f, job);
		front_job_free(job);
	}
}

void front_turn(evutil_socket_t fd, short what, void *arg)
{
	static const struct timeval LATER = { .tv_sec = FRONT_TRY_AGAIN_SECONDS };
	struct front *f = arg;
	struct job_queue batch;
	bool written = true;

	(void)fd;
	(void)what;
	while (written && (f->has_notes || !STAILQ_EMPTY(&f->jobs) || !STAILQ_EMPTY(&f->told))) {
		take_batch(f, &batch);
		written = commit_batch(f, &batch);
		settle_batch(f, &batch, written);
	}
	if (!written)
		(void)event_add(f->turn, &LATER);
}

void front_clear(struct front *f)
{
	struct job *job;

	STAILQ_CONCAT(&f->jobs, &f->parked);
	STAILQ_CONCAT(&f->jobs, &f->soon);
	while ((job = STAILQ_FIRST(&f->jobs)) != NULL) {
		STAILQ_REMOVE_HEAD(&f->jobs, next);
		front_job_free(job);
	}
	front_forget_told(f);
}
