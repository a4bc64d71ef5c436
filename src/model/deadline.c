#include "deadline.h"

#include "decision.h"
#include "id.h"
#include "sql/auto_approval.h"
#include "sql/request.h"
#include "sql/tool_call.h"

#include <stdio.h>

enum { UNREADABLE_MS = 1000 };

static int next(struct store *st, int (*read)(struct store *, struct instant_row *, struct err *),
                int64_t *ret_ms, struct err *e)
{
	OWNED(instant_row) struct instant_row first = { 0 };
	int got = read(st, &first, e);

	*ret_ms = first.at ? clock_parse(first.at) : INT64_MAX;
	if (*ret_ms < 0) /* typed by hand and not an instant: look again, but do not spin */
		*ret_ms = clock_now_ms() + UNREADABLE_MS;
	return got < 0 ? -1 : 0;
}

int deadline_next(struct store *st, int64_t *ret_question_ms, int64_t *ret_call_ms, struct err *e)
{
	return err_if(next(st, sql_request_next_deadline, ret_question_ms, e) ||
	              next(st, sql_tool_call_next_due, ret_call_ms, e));
}

int deadline_next_notice(struct store *st, int64_t *ret_ms, struct err *e)
{
	return next(st, sql_auto_notice_next_due, ret_ms, e);
}

/* The next page of due rows, after `skip` refused ones. */
static int list_due(struct store *st, const struct instant *at, int64_t skip, char ids[][ID_BYTES],
                    struct err *e)
{
	OWNED(request_due_row) struct request_due_row row = { 0 };
	int got = 0, n = 0;

	sql_request_due(st, at->text, skip, &row);
	while (n < DEADLINE_BATCH && (got = row_next(&row.row, e)) > 0)
		(void)snprintf(ids[n++], ID_BYTES, "%s", row.id);
	return got < 0 ? -1 : n;
}

/* 1 it expired; 0 the rules refused it, with no effect; -1 error. */
static int expire_one(struct store *st, const char *id, struct err_refused *refused, struct err *e)
{
	OWNED(decision_result) struct decision_result r = { 0 };
	const struct decision timeout = { .request_id = id,
		                          .verdict = "timeout",
		                          .operator_id = "system:clock",
		                          .source = "timeout" };

	if (store_part(st, e))
		return -1;
	if (decision_insert(st, &timeout, &r, e) == 0 && r.is.outcome != DECISION_OUTCOME_APPLIED)
		(void)err_set(e, ERR_REFUSED, "decision: %s: question %s: %s",
		              decision_outcome_name(r.is.outcome), id, r.is.why ? r.is.why : "");
	if (e->kind == ERR_NONE)
		return store_keep(st, e) ? -1 : 1;
	store_undo(st);
	return err_take_refused(e, refused) ? 0 : -1;
}

int deadline_expire(struct store *st, int64_t at_ms, struct err_refused *refused, struct err *e)
{
	struct instant at = clock_instant(at_ms);
	char ids[DEADLINE_BATCH][ID_BYTES];
	int n, did = 0, expired = 0, before = refused->count;

	if (store_begin(st, e))
		return -1;
	do {
		n = list_due(st, &at, refused->count - before, ids, e);
		for (int i = 0; i < n && did >= 0; i++) {
			did = expire_one(st, ids[i], refused, e);
			expired += did > 0;
		}
	} while (n == DEADLINE_BATCH && did >= 0 && expired == 0);
	if (n < 0 || did < 0 || expired == 0) {
		store_rollback(st);
		return n < 0 || did < 0 ? -1 : 0;
	}
	return store_commit(st, e) ? -1 : expired;
}

/* Statements that move what is due: all of it at once, or row by row from a list. */
struct mover {
	int (*all)(struct store *st, const char *at, struct err *e);
	void (*list)(struct store *st, const char *at, int64_t skip, struct due_row *row);
	int (*one)(struct store *st, const char *at, int64_t seq, struct err *e);
};

static int move_all(struct store *st, const struct mover *m, const struct instant *at,
                    struct err *e)
{
	int n;

	if (store_begin(st, e))
		return -1;
	n = m->all(st, at->text, e);
	return store_end(st, n < 0, e) ? -1 : n;
}

static int list_rows(struct store *st, const struct mover *m, const struct instant *at,
                     int64_t skip, int64_t seqs[DEADLINE_BATCH], struct err *e)
{
	OWNED(due_row) struct due_row row = { 0 };
	int got = 0, n = 0;

	m->list(st, at->text, skip, &row);
	while (n < DEADLINE_BATCH && (got = row_next(&row.row, e)) > 0)
		seqs[n++] = row.seq;
	return got < 0 ? -1 : n;
}

static int move_row(struct store *st, const struct mover *m, const struct instant *at, int64_t seq,
                    struct err_refused *refused, struct err *e)
{
	int n;

	if (store_part(st, e))
		return -1;
	n = m->one(st, at->text, seq, e);
	if (n >= 0)
		return store_keep(st, e) ? -1 : n;
	store_undo(st);
	return err_take_refused(e, refused) ? 0 : -1;
}

static int move_each(struct store *st, const struct mover *m, const struct instant *at,
                     struct err_refused *refused, struct err *e)
{
	int64_t seqs[DEADLINE_BATCH];
	int n, did = 0, moved = 0, before = refused->count;

	if (store_begin(st, e))
		return -1;
	do {
		n = list_rows(st, m, at, refused->count - before, seqs, e);
		for (int i = 0; i < n && did >= 0; i++) {
			did = move_row(st, m, at, seqs[i], refused, e);
			moved += did > 0 ? did : 0;
		}
	} while (n == DEADLINE_BATCH && did >= 0 && moved == 0);
	if (n < 0 || did < 0 || moved == 0) {
		store_rollback(st);
		return n < 0 || did < 0 ? -1 : 0;
	}
	return store_commit(st, e) ? -1 : moved;
}

/* Moves what is due in a transaction of its own; row by row, if the rules refuse a row. Returns the
 * number of changed rows, -1 on error. */
static int move_due(struct store *st, const struct mover *m, int64_t at_ms,
                    struct err_refused *refused, struct err *e)
{
	struct instant at = clock_instant(at_ms);
	int n = move_all(st, m, &at, e);

	if (n >= 0 || e->kind != ERR_REFUSED)
		return n;
	*e = (struct err){ 0 };
	return move_each(st, m, &at, refused, e);
}

int deadline_end_waits(struct store *st, int64_t at_ms, struct err_refused *refused, struct err *e)
{
	static const struct mover CALLS = { sql_tool_call_due, sql_tool_call_due_list,
		                            sql_tool_call_due_one };

	return move_due(st, &CALLS, at_ms, refused, e);
}

int deadline_tell(struct store *st, int64_t at_ms, struct err_refused *refused, struct err *e)
{
	static const struct mover NOTICES = { sql_auto_notice_due, sql_auto_notice_due_list,
		                              sql_auto_notice_due_one };

	return move_due(st, &NOTICES, at_ms, refused, e);
}
