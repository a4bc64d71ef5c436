#include "elicitation.h"

#include "elicit.h"
#include "front.h"
#include "json_writer.h"
#include "log.h"
#include "sql/tool_call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FORMS = 5 }; /* of one call: a program may answer them */

static const char ID_HEAD[] = "\"intercom-"; /* followed by the call's seq, and which form it is */

static void write_id(char out[ELICITATION_ID_BYTES], int64_t call_seq, int form)
{
	(void)snprintf(out, ELICITATION_ID_BYTES, "%s%lld.%d\"", ID_HEAD, (long long)call_seq,
	               form);
}

/* The call that a response with this id is about; 0: not a response to one of our requests. */
static int64_t read_id(const char *id)
{
	char *end = NULL;
	int64_t call_seq;

	if (!id || strncmp(id, ID_HEAD, sizeof(ID_HEAD) - 1) != 0)
		return 0;
	call_seq = strtoll(id + sizeof(ID_HEAD) - 1, &end, 10);
	return call_seq > 0 && strcmp(end + strspn(end, ".0123456789"), "\"") == 0 ? call_seq : 0;
}

bool elicitation_answers(const struct rpc_message *m)
{
	return m->kind == RPC_RESPONSE && read_id(m->id) != 0;
}

/* ---- asking ---- */

int elicitation_question(struct front *f, int64_t call_seq, const struct peer *p, struct request *r,
                         struct err *e)
{
	OWNED(tool_call_read_row) struct tool_call_read_row row = { 0 };
	int got = sql_tool_call_read(&f->worker.store, call_seq, &row, e);

	if (got <= 0 || (p && row.connection_seq != p->seq) ||
	    row.state != TOOL_CALL_STATE_WAITING || !row.request_seq)
		return got < 0 ? -1 : 0;
	return request_read(&f->worker.store, row.request_seq, r, e);
}

/* why: as in elicit_params. */
static void show(struct front *f, struct waiter *w, const char *why)
{
	OWNED(request) struct request r = { 0 };
	OWNED(str) struct str message = { 0 };
	struct sink *sink = w->sink;
	const char *version = peer_version(sink->peer);
	int64_t call_seq = w->held->seq;
	struct err e = { 0 };
	char id[ELICITATION_ID_BYTES];
	int got;

	if (!f->settings.elicitation || f->guests.dir_fd >= 0 || !sink->peer->elicits ||
	    strcmp(version, "2025-06-18") < 0)
		return;
	got = elicitation_question(f, call_seq, sink->peer, &r, &e);
	if (got < 0)
		log_warn("call %lld: %s", (long long)call_seq, e.text);
	if (got <= 0 || r.row.session_mode == SESSION_MODE_REMOTE)
		return;
	w->elicits = true;
	write_id(id, call_seq, ++w->forms);
	json_object(&message);
	json_member(&message, "jsonrpc", "2.0");
	json_member_raw(&message, "id", id);
	json_member(&message, "method", "elicitation/create");
	json_member_name(&message, "params");
	elicit_params(&message, &r, strcmp(version, "2025-11-25") >= 0, why);
	json_object_end(&message);
	sink->by->notify(sink, &message, NULL);
}

void elicitation_begin(struct front *f, struct sink *sink, int64_t call_seq)
{
	struct waiter *w;

	LIST_FOREACH (w, &sink->waiters, of_sink)
		if (w->held->seq == call_seq)
			break;
	if (w)
		show(f, w, "");
}

void elicitation_withdraw(const struct waiter *w, int64_t call_seq)
{
	OWNED(str) struct str message = { 0 };
	char id[ELICITATION_ID_BYTES];

	write_id(id, call_seq, w->forms);
	json_object(&message);
	json_member(&message, "jsonrpc", "2.0");
	json_member(&message, "method", "notifications/cancelled");
	json_member_object(&message, "params");
	json_member_raw(&message, "requestId", id);
	json_member(&message, "reason", "the call has ended");
	json_object_end(&message);
	json_object_end(&message);
	w->sink->by->notify(w->sink, &message, NULL);
}

/* ---- the answer ---- */

int elicitation_run(struct front *f, struct job *job, struct err *e)
{
	OWNED(request) struct request r = { 0 };
	const cJSON *response = cJSON_GetObjectItemCaseSensitive(job->message.root, "result");
	bool decided = false;
	int got;

	str_reset(&job->result);
	job->call_seq = read_id(job->message.id);
	got = elicitation_question(f, job->call_seq, job->sink->peer, &r, e);
	if (got <= 0 || !f->settings.elicitation)
		return got < 0 ? -1 : 0;
	return elicit_take(&f->worker.store, &r, response, &decided, &job->result, e);
}

bool elicitation_reply(struct front *f, struct job *job)
{
	struct held_call *held = hold_find(f, job->call_seq);
	struct waiter *w, *shows = NULL;

	if (held)
		LIST_FOREACH (w, &held->waiters, of_call) {
			if (w->elicits)
				shows = w;
			w->elicits = false;
		}
	if (shows && job->result.length && shows->forms < MOST_FORMS)
		show(f, shows, str_text(&job->result));
	return true;
}
