#include "tell.h"

#include "elicitation.h"
#include "front.h"
#include "hooks.h"
#include "log.h"
#include "sql/tool_call.h"
#include "task.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- subscriptions ---- */

/* t: the result if the task completed, else NULL. */
static void tell_subscription(struct front *f, struct sink *sink, const char *listen_id,
                              int64_t call_seq, const struct telling *t)
{
	OWNED(task) struct task task = { 0 };
	OWNED(str) struct str outcome = { 0 };
	OWNED(str) struct str message = { 0 };
	struct mcp_task shown;
	struct err e = { 0 };

	if (task_read(&f->worker.store, call_seq, &task, &e) <= 0) {
		log_warn("call %lld: %s", (long long)call_seq, e.text);
		return;
	}
	if (t)
		task_outcome(&outcome, t);
	shown = task_message(&task, t ? outcome.bytes : NULL);
	mcp_task_notification(&message, &shown, listen_id);
	sink->by->notify(sink, &message, NULL);
}

void tell_cancelled(struct front *f, int64_t call_seq)
{
	struct waiter *w;

	while ((w = hold_take(f, call_seq)) != NULL) {
		if (w->elicits)
			elicitation_withdraw(w, call_seq);
		if (w->subscription)
			tell_subscription(f, w->sink, w->rpc_id, call_seq, NULL);
		else
			sink_owes_less(w->sink);
		hold_free(w);
	}
}

/* ---- answers ---- */

static void reply_to(const struct waiter *w, int64_t seq, const struct telling *t)
{
	OWNED(str) struct str body = { 0 };
	OWNED(str) struct str message = { 0 };
	char event_id[40];

	mcp_tool_result(&body, w->modern ? MCP_MODERN : peer_version(w->sink->peer),
	                t->result.bytes, telling_said(&t->steering), t->is_error, t->traceparent);
	rpc_result(&message, w->rpc_id, body.bytes);
	(void)snprintf(event_id, sizeof(event_id), "%lld.end", (long long)seq);
	w->sink->by->reply(w->sink, &message, w->modern ? NULL : event_id);
}

/* Sends the result to everyone who waits for this call. With a single waiter the transport may find
 * out that it did not arrive. */
static void hand_over(struct front *f, struct held_call *held, const struct telling *t)
{
	int64_t seq = held->seq;
	bool alone = !LIST_NEXT(LIST_FIRST(&held->waiters), of_call);
	struct waiter *w;

	while ((w = hold_take(f, seq)) != NULL) {
		if (w->elicits)
			elicitation_withdraw(w, seq);
		if (w->subscription) {
			tell_subscription(f, w->sink, w->rpc_id, seq, t);
		} else {
			sink_tells(w->sink, alone ? seq : 0);
			reply_to(w, seq, t);
		}
		hold_free(w);
	}
}

static void write_one(struct front *f, const struct told *t)
{
	struct err e = { 0 };

	if (store_part(&f->worker.store, &e) == 0) {
		if (call_finish(&f->worker.store, t->call_seq, &t->telling, &e) == 0 &&
		    store_keep(&f->worker.store, &e) == 0)
			return;
		store_undo(&f->worker.store);
	}
	log_warn("call %lld: %s", (long long)t->call_seq, e.text);
}

static void drop_first_told(struct front *f)
{
	struct told *t = STAILQ_FIRST(&f->told);

	STAILQ_REMOVE_HEAD(&f->told, next);
	telling_clear(&t->telling);
	free(t);
}

void tell_write(struct front *f)
{
	const struct told *t;

	STAILQ_FOREACH (t, &f->told, next)
		write_one(f, t);
}

void tell_written(struct front *f)
{
	STAILQ_INIT(&f->told_words);
	while (!STAILQ_EMPTY(&f->told))
		drop_first_told(f);
}

enum { PAGE = 500 };

/* Reads one page of ended calls: their seqs, and in *ret_last the cursor behind them. Returns their
 * number, -1 on error. */
static int read_page(struct front *f, int64_t *calls, int64_t *ret_last, struct err *e)
{
	OWNED(answer_since_row) struct answer_since_row row = { 0 };
	int count = 0, got = 0;

	*ret_last = f->answer_seq;
	sql_answer_since(&f->worker.store, f->answer_seq, &row);
	while (count < PAGE && (got = row_next(&row.row, e)) > 0) {
		*ret_last = row.seq;
		calls[count++] = row.call_seq;
	}
	return got < 0 ? -1 : count;
}

/* The seq of the last steering already sent to a session but not yet recorded. */
static int64_t said_to(const struct front *f, int64_t session_seq)
{
	const struct told *t;
	int64_t last = 0;

	STAILQ_FOREACH (t, &f->told_words, with_words)
		if (t->telling.session_seq == session_seq &&
		    steering_last(&t->telling.steering) > last)
			last = steering_last(&t->telling.steering);
	return last;
}

/* Whether everyone who waited for a call is gone. */
static bool is_deserted(const struct held_call *held)
{
	const struct waiter *w;

	LIST_FOREACH (w, &held->waiters, of_call)
		if (!sink_has_hung_up(w->sink))
			return false;
	return true;
}

int tell_call(struct front *f, int64_t call_seq)
{
	struct held_call *held = hold_find(f, call_seq);
	struct err e = { 0 };
	struct told *t;

	if (!held || is_deserted(held))
		return 0; /* not held here: told when its caller comes back */
	if (hooks_holds(held)) {
		hooks_tell(f, held);
		return 0;
	}
	t = xcalloc(1, sizeof(*t));
	t->call_seq = call_seq;
	if (call_result(&f->worker.store, call_seq, &t->telling, &e) ||
	    call_steer(&f->worker.store, &t->telling, said_to(f, t->telling.session_seq), &e)) {
		log_warn("call %lld: %s", (long long)call_seq, e.text);
		telling_clear(&t->telling);
		free(t);
		return e.kind == ERR_AGAIN ? -1 : 0;
	}
	hand_over(f, held, &t->telling);
	STAILQ_INSERT_TAIL(&f->told, t, next);
	if (t->telling.steering.count)
		STAILQ_INSERT_TAIL(&f->told_words, t, with_words);
	job_turn_soon(f);
	return 0;
}

/* Everything sent here rests on rows that are on disk: a commit is visible only after its fsync
 * (synchronous=FULL). The cursor moves after a whole page was sent; after an error the next look, a
 * few seconds later, starts from the same place. After each page the transports get a pass: answers
 * must leave before the callers' patience ends. */
bool tell_answers(struct front *f)
{
	struct err e = { 0 };
	int64_t calls[PAGE], last;
	int count = read_page(f, calls, &last, &e);

	if (count < 0)
		log_warn("%s", e.text);
	for (int i = 0; i < count; i++)
		if (tell_call(f, calls[i]))
			return false;
	if (count > 0)
		f->answer_seq = last;
	return count == PAGE;
}

static int64_t next_over_http(const struct front *f)
{
	const struct waiter *w;

	TAILQ_FOREACH (w, &f->line, in_line)
		if (w->held->seq > 0 && !w->subscription && w->sink->http)
			return w->held->seq;
	return 0;
}

int tell_pending(struct front *f)
{
	int64_t seq;
	int count = 0;

	while ((seq = next_over_http(f)) > 0 && tell_call(f, seq) == 0) {
		hold_release(f, seq); /* if it could not be told */
		count++;
	}
	return count;
}
