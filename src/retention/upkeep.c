#include "upkeep.h"

#include <stdio.h>

static const int64_t DAY_MS = 24 * 3600 * (int64_t)1000;

/* Whether the last one of a kind was more than span_ms ago (or in the future: the clock was wrong
 * then, or is now). 1, 0, -1. */
static int is_due(struct store *st, const char *kind, int64_t span_ms, struct err *e)
{
	stmt *s = store_stmt(st, SQL_UPKEEP_LAST);
	int64_t age = -1;
	int got;

	bind_text(s, ":kind", kind);
	got = stmt_row(s, e);
	if (got > 0)
		age = clock_now_ms() - clock_parse(col_text(s, UPKEEP_LAST_AT));
	stmt_reset(s);
	return got < 0 ? -1 : age < 0 || age >= span_ms;
}

static int insert(struct store *st, const char *kind, const char *why, const struct instant *began,
                  struct err *e)
{
	stmt *s = store_stmt(st, SQL_UPKEEP_INSERT);

	bind_text(s, ":kind", kind);
	bind_text(s, ":outcome", why ? "damaged" : "ok");
	bind_text(s, ":why", why);
	bind_text(s, ":started_at", began->text);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

static int optimize(struct store *st, struct err *e)
{
	struct instant began = clock_now();

	if (store_begin(st, e))
		return -1;
	if (store_optimize(st, e) || insert(st, "optimize", NULL, &began, e)) {
		store_rollback(st);
		return -1;
	}
	return store_commit(st, e) ? -1 : 1;
}

static int end_check(struct upkeep *u, struct store *st, const char **ret_damaged, struct err *e)
{
	u->checking = false;
	if (u->found.length)
		*ret_damaged = u->found.bytes;
	if (store_begin(st, e))
		return -1;
	if (insert(st, "check", *ret_damaged, &u->began, e)) {
		store_rollback(st);
		return -1;
	}
	return store_commit(st, e) ? -1 : 1;
}

static int next_table(struct upkeep *u, struct store *st, struct err *e)
{
	stmt *s = store_stmt(st, SQL_UPKEEP_TABLE);
	char name[UPKEEP_TABLE_BYTES] = "";
	int got;

	bind_text(s, ":after", u->table);
	got = stmt_row(s, e);
	if (got > 0)
		(void)snprintf(name, sizeof(name), "%s", col_text(s, UPKEEP_TABLE_NAME));
	stmt_reset(s);
	(void)snprintf(u->table, sizeof(u->table), "%s", name); /* it was bound */
	return got;
}

static int check_some(struct upkeep *u, struct store *st, const char **ret_damaged, struct err *e)
{
	int got = next_table(u, st, e);

	if (got < 0)
		return -1;
	if (got == 0)
		return end_check(u, st, ret_damaged, e);
	return store_check_table(st, u->table, &u->found, e) < 0 ? -1 : 1;
}

int upkeep_some(struct upkeep *u, struct store *st, const char **ret_damaged, struct err *e)
{
	int due;

	*ret_damaged = NULL;
	if (u->checking)
		return check_some(u, st, ret_damaged, e);
	due = is_due(st, "optimize", DAY_MS, e);
	if (due != 0)
		return due < 0 ? -1 : optimize(st, e);
	due = is_due(st, "check", 7 * DAY_MS, e);
	if (due <= 0)
		return due;
	str_reset(&u->found);
	u->table[0] = '\0';
	u->began = clock_now();
	u->checking = true;
	return 1;
}
