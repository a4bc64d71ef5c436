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

/* 1 it expired, 0 the rules refused it, -1 error. */
static int expire_one(struct store *st, const char *id, struct err *e)
{
	OWNED(decision_result) struct decision_result r = DECISION_RESULT_INIT;
	const struct decision timeout = { .request_id = id,
		                          .verdict = "timeout",
		                          .operator_id = "system:clock",
		                          .source = "timeout" };

	if (decision_insert(st, &timeout, &r, e))
		return -1;
	return r.outcome && strcmp(r.outcome, "applied") == 0;
}

int deadline_expire(struct store *st, int64_t at_ms, int *ret_refused, struct err *e)
{
	struct instant at = clock_instant(at_ms);
	char ids[DEADLINE_BATCH][ID_BYTES];
	int n, expired = 0;

	if (store_begin(st, e))
		return -1;
	n = list_due(st, &at, ids, e);
	for (int i = 0; i < n; i++) {
		int did = expire_one(st, ids[i], e);

		if (did < 0) {
			n = -1;
			break;
		}
		expired += did;
	}
	if (n < 0 || expired == 0) { /* refusals alone are not worth rows that repeat */
		store_rollback(st);
		*ret_refused = n;
		return n < 0 ? -1 : 0;
	}
	*ret_refused = n - expired;
	return store_commit(st, e) ? -1 : expired;
}

/* Moves what is due in a transaction of its own. Rows changed, -1 error. */
static int move_due(struct store *st, enum sql which, int64_t at_ms, struct err *e)
{
	struct instant at = clock_instant(at_ms);
	stmt *s;
	int n;

	if (store_begin(st, e))
		return -1;
	s = store_stmt(st, which);
	bind_text(s, ":now", at.text);
	n = stmt_run(s, e);
	if (n < 0) {
		store_rollback(st);
		return -1;
	}
	return store_commit(st, e) ? -1 : n;
}

int deadline_end_waits(struct store *st, int64_t at_ms, struct err *e)
{
	return move_due(st, SQL_TOOL_CALL_DUE, at_ms, e);
}

int deadline_tell(struct store *st, int64_t at_ms, struct err *e)
{
	return move_due(st, SQL_AUTO_NOTICE_DUE, at_ms, e);
}
