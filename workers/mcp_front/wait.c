/* Callers whose answer comes later. A commit that ends the wait of a call appends its seq to
 * answer; here the cursor over that table, the tree of held calls, and the signs of life. */
#include "front.h"

#include "log.h"
#include "task.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>

static int by_seq(const void *a, const void *b)
{
	const struct held_call *x = a, *y = b;

	return (x->seq > y->seq) - (x->seq < y->seq);
}

static struct held_call *find(struct front *f, int64_t call_seq)
{
	struct held_call key = { .seq = call_seq };
	struct held_call **node = tfind(&key, &f->held, by_seq);

	return node ? *node : NULL;
}

bool front_is_held(struct front *f, int64_t call_seq)
{
	return find(f, call_seq) != NULL;
}

/* ---- signs of life ---- */

static void set_clock(struct front *f)
{
	const struct waiter *first = TAILQ_FIRST(&f->line);
	int64_t ms = first ? first->next_ms - clock_monotonic_ms() : 0;
	struct timeval t;

	if (!first || evtimer_pending(f->clock, NULL))
		return;
	if (ms < 1)
		ms = 1;
	t = (struct timeval){ .tv_sec = ms / 1000, .tv_usec = (ms % 1000) * 1000 };
	(void)evtimer_add(f->clock, &t);
}

/* Whole seconds since the call began, and always more than before: also after a resume, and when
 * the clock is set back (MCP, "Progress": the value must increase). */
static int64_t next_progress(struct held_call *held, int64_t waited_ms)
{
	held->progress = waited_ms / 1000 > held->progress ? waited_ms / 1000 : held->progress + 1;
	return held->progress;
}

/* A subscription needs none: the subscriptions/listen that it belongs to has them. */
static void sign_of_life(const struct waiter *w)
{
	OWNED(str) struct str message = STR_INIT;
	int64_t waited_ms = clock_now_ms() - w->held->started_ms;
	char event_id[60], text[80];

	if (w->subscription)
		return;
	(void)snprintf(event_id, sizeof(event_id), "%lld.%lld", (long long)w->held->seq,
	               (long long)waited_ms);
	(void)snprintf(text, sizeof(text), "waiting for the operator, %lld s",
	               (long long)(waited_ms / 1000));
	if (w->progress_token)
		mcp_progress(&message, w->progress_token, next_progress(w->held, waited_ms), text);
	w->sink->by->notify(w->sink, &message, w->modern ? NULL : event_id);
}

void front_progress(evutil_socket_t fd, short what, void *arg)
{
	struct front *f = arg;
	int64_t now = clock_monotonic_ms();
	struct waiter *w;

	(void)fd;
	(void)what;
	while ((w = TAILQ_FIRST(&f->line)) != NULL && w->next_ms <= now) {
		TAILQ_REMOVE(&f->line, w, in_line);
		w->next_ms = now + f->progress_ms;
		TAILQ_INSERT_TAIL(&f->line, w, in_line);
		sign_of_life(w); /* may cut a slow reader, and w with it */
	}
	set_clock(f);
}

/* ---- holding ---- */

static struct waiter *hold(struct front *f, struct sink *sink, int64_t call_seq, int64_t started_ms,
                           const char *rpc_id)
{
	struct held_call *held = find(f, call_seq);
	struct waiter *w = xcalloc(1, sizeof(*w));

	if (!held) {
		held = xcalloc(1, sizeof(*held));
		held->seq = call_seq;
		held->started_ms = started_ms;
		(void)tsearch(held, &f->held, by_seq);
	}
	w->held = held;
	w->sink = sink;
	sink_hold(sink);
	w->rpc_id = xstrdup(rpc_id);
	sink->held++;
	w->next_ms = clock_monotonic_ms() + f->progress_ms;
	LIST_INSERT_HEAD(&sink->waiters, w, of_sink);
	LIST_INSERT_HEAD(&held->waiters, w, of_call);
	TAILQ_INSERT_TAIL(&f->line, w, in_line);
	set_clock(f);
	return w;
}

void front_hold(struct front *f, struct sink *sink, int64_t call_seq, int64_t started_ms,
                const char *rpc_id, const char *progress_token, bool modern)
{
	struct waiter *w = hold(f, sink, call_seq, started_ms, rpc_id);

	w->progress_token = progress_token ? xstrdup(progress_token) : NULL;
	w->modern = modern;
	f->listens += call_seq < 0 && modern;
}

void front_subscribe(struct front *f, struct sink *sink, int64_t call_seq, const char *listen_id)
{
	struct waiter *w = hold(f, sink, call_seq, clock_now_ms(), listen_id);

	w->modern = true;
	w->subscription = true;
}

bool front_forget(struct front *f, struct waiter *w)
{
	struct held_call *held = w->held;
	struct sink *sink = w->sink;
	bool last;

	sink->held--;
	f->listens -= held->seq < 0 && w->modern;
	LIST_REMOVE(w, of_sink);
	LIST_REMOVE(w, of_call);
	TAILQ_REMOVE(&f->line, w, in_line);
	free(w->rpc_id);
	free(w->progress_token);
	free(w);
	last = LIST_EMPTY(&held->waiters);
	if (last) {
		(void)tdelete(held, &f->held, by_seq);
		free(held);
	}
	sink_drop(sink);
	return last;
}

void front_release(struct front *f, int64_t call_seq)
{
	struct held_call *held;

	while ((held = find(f, call_seq)) != NULL)
		(void)front_forget(f, LIST_FIRST(&held->waiters));
}

bool front_has_room(const struct sink *s, int more, struct err *e)
{
	if (s->held + more <= FRONT_MAX_HELD)
		return true;
	(void)err_set(e, ERR_AGAIN,
	              "%d calls of this connection wait for an answer, no more may; open another "
	              "connection, or wait",
	              s->held + more - 1);
	return false;
}

/* ---- subscriptions ---- */

/* t: the result of a task that is completed, else NULL. */
static void tell_subscription(struct front *f, struct sink *sink, const char *listen_id,
                              int64_t call_seq, const struct telling *t)
{
	OWNED(task) struct task task = TASK_INIT;
	OWNED(str) struct str outcome = STR_INIT;
	OWNED(str) struct str message = STR_INIT;
	struct mcp_task shown;
	struct err e = ERR_INIT;

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

void front_let_go(struct front *f, int64_t call_seq)
{
	struct held_call *held;

	while ((held = find(f, call_seq)) != NULL) {
		struct waiter *w = LIST_FIRST(&held->waiters);
		OWNED(char_ptr) char *listen_id = w->subscription ? xstrdup(w->rpc_id) : NULL;
		bool elicits = w->elicits;
		struct sink *sink = w->sink;

		sink_hold(sink);
		(void)front_forget(f, w);
		if (elicits)
			elicitation_withdraw(sink, call_seq);
		if (listen_id)
			tell_subscription(f, sink, listen_id, call_seq, NULL);
		else if (--sink->expected <= 0)
			sink->by->finish(sink, 202);
		sink_drop(sink);
	}
}

/* ---- answers ---- */

void front_elicited(struct front *f, int64_t call_seq)
{
	struct held_call *held = find(f, call_seq);
	struct waiter *w;

	if (held)
		LIST_FOREACH (w, &held->waiters, of_call)
			w->elicits = false;
}

static void reply_to(struct sink *sink, const char *rpc_id, bool modern, int64_t seq,
                     const struct telling *t)
{
	OWNED(str) struct str body = STR_INIT;
	OWNED(str) struct str message = STR_INIT;
	char event_id[40];

	mcp_tool_result_with(&body, modern ? MCP_MODERN : peer_version(sink->peer), t->result.bytes,
	                     str_text(&t->steering.text), t->is_error);
	rpc_result(&message, rpc_id, body.bytes);
	(void)snprintf(event_id, sizeof(event_id), "%lld.end", (long long)seq);
	sink->by->reply(sink, &message, modern ? NULL : event_id);
}

/* Gives the result to everyone who waits for this call. */
static void hand_over(struct front *f, struct held_call *held, const struct telling *t)
{
	int64_t seq = held->seq;

	while ((held = find(f, seq)) != NULL) {
		struct waiter *w = LIST_FIRST(&held->waiters);
		OWNED(char_ptr) char *rpc_id = xstrdup(w->rpc_id);
		bool modern = w->modern, subscription = w->subscription;
		bool elicits = w->elicits;
		struct sink *sink = w->sink;

		sink_hold(sink);
		(void)front_forget(f, w);
		if (elicits)
			elicitation_withdraw(sink, seq);
		if (subscription)
			tell_subscription(f, sink, rpc_id, seq, t);
		else
			reply_to(sink, rpc_id, modern, seq, t);
		sink_drop(sink);
	}
}

static void write_one(struct front *f, const struct told *t)
{
	struct err e = ERR_INIT;

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

void front_write_told(struct front *f)
{
	const struct told *t;

	STAILQ_FOREACH (t, &f->told, next)
		write_one(f, t);
}

void front_forget_told(struct front *f)
{
	while (!STAILQ_EMPTY(&f->told))
		drop_first_told(f);
}

enum { PAGE = 500 };

/* One page of answers: their calls' seqs, and in *ret_last where the cursor stands behind them; the
 * number of them, -1 on error. */
static int read_page(struct front *f, int64_t *calls, int64_t *ret_last, struct err *e)
{
	stmt *s = store_stmt(&f->worker.store, SQL_ANSWER_SINCE);
	int count = 0, got = 0;

	*ret_last = f->answer_seq;
	bind_int(s, ":after", f->answer_seq);
	while (count < PAGE && (got = stmt_row(s, e)) > 0) {
		*ret_last = col_int(s, ANSWER_SINCE_SEQ);
		calls[count++] = col_int(s, ANSWER_SINCE_CALL_SEQ);
	}
	stmt_reset(s);
	return got < 0 ? -1 : count;
}

/* What of the operator's words has left for a session already, and is not written down yet. */
static int64_t said_to(const struct front *f, int64_t session_seq)
{
	const struct told *t;
	int64_t last = 0;

	STAILQ_FOREACH (t, &f->told, next)
		if (t->telling.session_seq == session_seq &&
		    steering_last(&t->telling.steering) > last)
			last = steering_last(&t->telling.steering);
	return last;
}

int front_answer_call(struct front *f, int64_t call_seq)
{
	struct held_call *held = find(f, call_seq);
	struct err e = ERR_INIT;
	struct told *t;

	if (!held)
		return 0; /* held by nobody here: told when its caller comes back */
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
	front_turn_soon(f);
	return 0;
}

/* What is handed over here rests on rows that are on disk: a commit is visible only after its
 * flush (synchronous=FULL). The cursor moves when a whole page has been told; after an error the
 * next look, a few seconds later, begins where this one began. */
void front_answer(struct front *f)
{
	struct err e = ERR_INIT;
	int64_t calls[PAGE], last;
	int count = PAGE;

	while (count == PAGE) {
		count = read_page(f, calls, &last, &e);
		if (count < 0) {
			log_warn("%s", e.text);
			return;
		}
		for (int i = 0; i < count; i++)
			if (front_answer_call(f, calls[i]))
				return;
		f->answer_seq = last;
	}
}
