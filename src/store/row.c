#include "row.h"

#include "store_core.h"
#include "str.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

unsigned row_word(const char *const *words, const char *text)
{
	for (unsigned i = 1; text && words[i]; i++)
		if (strcmp(words[i], text) == 0)
			return i;
	return 0;
}

/* ---- reading ---- */

static void read_column(stmt *s, int i, const struct row_column *c, char *row)
{
	void *to = row + c->at;

	if (c->has_at)
		*(bool *)(void *)(row + c->has_at) = sqlite3_column_type(s, i) != SQLITE_NULL;
	switch (c->type) {
	case ROW_INTEGER:
		*(int64_t *)to = sqlite3_column_int64(s, i);
		break;
	case ROW_BOOL:
		*(bool *)to = sqlite3_column_int(s, i) != 0;
		break;
	case ROW_TEXT:
		*(const char **)to = (const char *)sqlite3_column_text(s, i);
		break;
	case ROW_BYTES:
		((struct sql_bytes *)to)->bytes = sqlite3_column_blob(s, i);
		((struct sql_bytes *)to)->length = (size_t)sqlite3_column_bytes(s, i);
		break;
	case ROW_WORD:
		*(unsigned *)to = row_word(c->words, (const char *)sqlite3_column_text(s, i));
		break;
	}
}

static void read_columns(stmt *s, struct row *row)
{
	for (int i = 0; i < row->shape->columns; i++)
		read_column(s, i, &row->shape->column[i], (char *)row);
}

/* Copies what the row points to in the statement into one block of its own. */
static void own(stmt *s, struct row *row)
{
	size_t size = 0, length;
	char *to;

	for (int i = 0; i < row->shape->columns; i++)
		if (row->shape->column[i].type == ROW_TEXT ||
		    row->shape->column[i].type == ROW_BYTES)
			size += (size_t)sqlite3_column_bytes(s, i) + 1;
	if (size == 0)
		return;
	row->owned = to = xmalloc(size);
	for (int i = 0; i < row->shape->columns; i++) {
		const struct row_column *c = &row->shape->column[i];
		/* For bytes, too, the pointer is the first member. */
		const void **at = (const void **)(void *)((char *)row + c->at);

		if ((c->type != ROW_TEXT && c->type != ROW_BYTES) || !*at)
			continue;
		length = (size_t)sqlite3_column_bytes(s, i);
		memcpy(to, *at, length);
		to[length] = '\0';
		*at = to;
		to += length + 1;
	}
}

void row_clear(struct row *row)
{
	if (row->from)
		(void)sqlite3_reset(row->from);
	free(row->owned);
	if (row->shape)
		memset(row, 0, row->shape->size);
}

int row_one(stmt *s, const struct row_shape *shape, struct row *row, struct err *e)
{
	int got = store_step(s, e);

	row_clear(row);
	row->shape = shape;
	if (got > 0) {
		read_columns(s, row);
		own(s, row);
	}
	(void)sqlite3_reset(s);
	return got;
}

void row_many(stmt *s, const struct row_shape *shape, struct row *row)
{
	row_clear(row);
	row->from = s;
	row->shape = shape;
}

int row_next(struct row *row, struct err *e)
{
	int got;

	if (!row->from)
		return 0;
	got = store_step(row->from, e);
	if (got > 0) {
		read_columns(row->from, row);
		return 1;
	}
	row_clear(row);
	return got;
}

int row_any(stmt *s, struct err *e)
{
	int got = store_step(s, e);

	(void)sqlite3_reset(s);
	return got;
}

int64_t row_number(stmt *s, struct err *e)
{
	int got = store_step(s, e);
	int64_t number = got > 0 ? sqlite3_column_int64(s, 0) : 0;

	(void)sqlite3_reset(s);
	return got < 0 ? -1 : number;
}

int row_count(stmt *s, struct err *e)
{
	int got;

	while ((got = store_step(s, e)) > 0)
		continue;
	(void)sqlite3_reset(s);
	return got < 0 ? -1 : sqlite3_changes(sqlite3_db_handle(s));
}

int row_exec(stmt *s, struct err *e)
{
	return row_count(s, e) < 0 ? -1 : 0;
}

int64_t row_insert(stmt *s, struct err *e)
{
	return row_count(s, e) < 0 ? -1 : sqlite3_last_insert_rowid(sqlite3_db_handle(s));
}

/* ---- binding ---- */

void row_bind_text(stmt *s, int at, const char *text, bool copy)
{
	(void)sqlite3_bind_text(s, at, text, -1, copy ? SQLITE_TRANSIENT : SQLITE_STATIC);
}

void row_bind_bytes(stmt *s, int at, struct sql_bytes b, bool copy)
{
	(void)sqlite3_bind_blob64(s, at, b.length ? b.bytes : "", b.length,
	                          copy ? SQLITE_TRANSIENT : SQLITE_STATIC);
}

void row_bind_integer(stmt *s, int at, int64_t value)
{
	(void)sqlite3_bind_int64(s, at, value);
}

void row_bind_nullable(stmt *s, int at, const int64_t *value)
{
	if (value)
		(void)sqlite3_bind_int64(s, at, *value);
}

void row_bind_seq(stmt *s, int at, int64_t seq)
{
	if (seq)
		(void)sqlite3_bind_int64(s, at, seq);
}

void row_bind_word(stmt *s, int at, const char *const *words, unsigned word)
{
	(void)sqlite3_bind_text(s, at, words[word], -1, SQLITE_STATIC);
}
