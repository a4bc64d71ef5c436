#include "deadline.h"

#include "decision.h"
#include "id.h"

#include <stdio.h>
#include <string.h>

enum { UNREADABLE_MS = 1000 };

static int next(struct store *st, enum sql which, int64_t *ret_ms, struct err *e)
{
	stmt *s = store_stmt(st, which);
	int got = stmt_row(s, e);

	*ret_ms = INT64_MAX;
	if (got > 0 && !col_is_null(s, 0))
		*ret_ms = clock_parse(col_text(s, 0));
	if (*ret_ms < 0) /* typed by hand and no instant: look again, but do not spin */
		*ret_ms = clock_now_ms() + UNREADABLE_MS;
	stmt_reset(s);
	return got < 0 ? -1 : 0;
}

int deadline_next(struct store *st, int64_t *ret_question_ms, int64_t *ret_call_ms, struct err *e)
{
	return next(st, SQL_REQUEST_NEXT_DEADLINE, ret_question_ms, e) ||
	               next(st, SQL_TOOL_CALL_NEXT_DUE, ret_call_ms, e)
	           ? -1
	           : 0;
}

int deadline_next_notice(struct store *st, int64_t *ret_ms, struct err *e)
{
	return next(st, SQL_AUTO_NOTICE_NEXT_DUE, ret_ms, e);
}

static int list_due(struct store *st, const struct instant *at, char ids[][ID_BYTES], struct err *e)
{
	stmt *s = store_stmt(st, SQL_REQUEST_DUE);
	int got, n = 0;

	bind_text(s, ":now", at->text);
	while (n < DEADLINE_BATCH && (got = stmt_row(s, e)) > 0)
		(void)snprintf(ids[n++], ID_BYTES, "%s", col_text(s, REQUEST_DUE_ID));
	stmt_reset(s);
	return n < DEADLINE_BATCH && got < 0 ? -1 : n;
}

/* 1 it expired; 0 the rules refused it, and nothing of it stays; -1 error. */
static int expire_one(struct store *st, const char *id, struct err_refused *refused, struct err *e)
{
	OWNED(decision_result) struct decision_result r = DECISION_RESULT_INIT;
	const struct decision timeout = { .request_id = id,
		                          .verdict = "timeout",
		                          .operator_id = "system:clock",
		                          .source = "timeout" };

	if (store_part(st, e))
		return -1;
	if (decision_insert(st, &timeout, &r, e) == 0 && r.outcome &&
	    strcmp(r.outcome, "applied") != 0)
		(void)err_set(e, ERR_REFUSED, "decision: %s: question %s: %s", r.outcome, id,
		              r.why ? r.why : "");
	if (e->kind == ERR_NONE)
		return store_keep(st, e) ? -1 : 1;
	store_undo(st);
	return err_take_refused(e, refused) ? 0 : -1;
}

int deadline_expire(struct store *st, int64_t at_ms, struct err_refused *refused, struct err *e)
{
	struct instant at = clock_instant(at_ms);
	char ids[DEADLINE_BATCH][ID_BYTES];
	int n, did = 0, expired = 0;

	if (store_begin(st, e))
		return -1;
	n = list_due(st, &at, ids, e);
	for (int i = 0; i < n && did >= 0; i++) {
		did = expire_one(st, ids[i], refused, e);
		expired += did > 0;
	}
	if (n < 0 || did < 0 || expired == 0) {
		store_rollback(st);
		return n < 0 || did < 0 ? -1 : 0;
	}
	return store_commit(st, e) ? -1 : expired;
}

/* Two statements that move what is due: all of it at once, or one row of a list. */
struct mover {
	enum sql all, list, one;
};

static int move_all(struct store *st, const struct mover *m, const struct instant *at,
                    struct err *e)
{
	stmt *s;
	int n;

	if (store_begin(st, e))
		return -1;
	s = store_stmt(st, m->all);
	bind_text(s, ":now", at->text);
	n = stmt_run(s, e);
	if (n < 0) {
		store_rollback(st);
		return -1;
	}
	return store_commit(st, e) ? -1 : n;
}

static int list_rows(struct store *st, const struct mover *m, const struct instant *at,
                     int64_t seqs[DEADLINE_BATCH], struct err *e)
{
	stmt *s = store_stmt(st, m->list);
	int got = 0, n = 0;

	bind_text(s, ":now", at->text);
	while (n < DEADLINE_BATCH && (got = stmt_row(s, e)) > 0)
		seqs[n++] = col_int(s, 0);
	stmt_reset(s);
	return got < 0 ? -1 : n;
}

static int move_row(struct store *st, const struct mover *m, const struct instant *at, int64_t seq,
                    struct err_refused *refused, struct err *e)
{
	stmt *s;
	int n;

	if (store_part(st, e))
		return -1;
	s = store_stmt(st, m->one);
	bind_text(s, ":now", at->text);
	bind_int(s, ":seq", seq);
	n = stmt_run(s, e);
	if (n >= 0)
		return store_keep(st, e) ? -1 : n;
	store_undo(st);
	return err_take_refused(e, refused) ? 0 : -1;
}

static int move_each(struct store *st, const struct mover *m, const struct instant *at,
                     struct err_refused *refused, struct err *e)
{
	int64_t seqs[DEADLINE_BATCH];
	int n, did = 0, moved = 0;

	if (store_begin(st, e))
		return -1;
	n = list_rows(st, m, at, seqs, e);
	for (int i = 0; i < n && did >= 0; i++) {
		did = move_row(st, m, at, seqs[i], refused, e);
		moved += did > 0 ? did : 0;
	}
	if (n < 0 || did < 0 || moved == 0) {
		store_rollback(st);
		return n < 0 || did < 0 ? -1 : 0;
	}
	return store_commit(st, e) ? -1 : moved;
}

/* Moves what is due in a transaction of its own; where the rules refuse a row, row by row. Rows
 * changed, -1 error. */
static int move_due(struct store *st, const struct mover *m, int64_t at_ms,
                    struct err_refused *refused, struct err *e)
{
	struct instant at = clock_instant(at_ms);
	int n = move_all(st, m, &at, e);

	if (n >= 0 || e->kind != ERR_REFUSED)
		return n;
	*e = (struct err)ERR_INIT;
	return move_each(st, m, &at, refused, e);
}

int deadline_end_waits(struct store *st, int64_t at_ms, struct err_refused *refused, struct err *e)
{
	static const struct mover CALLS = { SQL_TOOL_CALL_DUE, SQL_TOOL_CALL_DUE_LIST,
		                            SQL_TOOL_CALL_DUE_ONE };

	return move_due(st, &CALLS, at_ms, refused, e);
}

int deadline_tell(struct store *st, int64_t at_ms, struct err_refused *refused, struct err *e)
{
	static const struct mover NOTICES = { SQL_AUTO_NOTICE_DUE, SQL_AUTO_NOTICE_DUE_LIST,
		                              SQL_AUTO_NOTICE_DUE_ONE };

	return move_due(st, &NOTICES, at_ms, refused, e);
}
