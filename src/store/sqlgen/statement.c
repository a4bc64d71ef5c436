/* sql/noun.sql: "-- name: noun_verb", remark lines, the statement. With "-- for: a b" among the
 * remarks, a statement for each of these tables, which takes the place of $. */
#include "sqlgen.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char FOR[] = "-- for: ";

/* ---- scans ---- */

/* The table that a name in a query plan means. The plan prints aliases; "table AS alias" in the
 * statement resolves them. Any other name is a subquery or one of SQLite's own, which is judged
 * where its table is named. */
static bool plan_name_is_small(const struct schema *schema, const char *name, const char *sql)
{
	const struct table *t = schema_table(schema, name);
	char pattern[NAME_BYTES + 8];
	size_t n = (size_t)snprintf(pattern, sizeof(pattern), " AS %s", name);

	if (t)
		return t->small;
	for (const char *p = sql; (p = strstr(p, pattern)) != NULL; p += n) {
		const char *start = p;
		char table[NAME_BYTES] = "";

		if (source_is_word(p[n]))
			continue;
		while (start > sql && source_is_word(start[-1]))
			start--;
		(void)snprintf(table, sizeof(table), "%.*s", (int)(p - start), start);
		t = schema_table(schema, table);
		if (t && !t->small)
			return false;
	}
	return true;
}

static bool index_is_partial(sqlite3 *db, const char *index)
{
	char *sql = query_text(
	    db, "SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = ?", index);
	bool partial = sql && strstr(sql, " WHERE ");

	free(sql);
	return partial;
}

void check_scans(const struct schema *schema, const char *where, const char *sql)
{
	char *explain = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", sql);
	sqlite3_stmt *s;
	sqlite3 *db = schema_prepare(schema, explain, &s, NULL);

	if (!s)
		complain("%s: %s", where, sqlite3_errmsg(db));
	while (s && sqlite3_step(s) == SQLITE_ROW) {
		const char *detail = (const char *)sqlite3_column_text(s, 3);
		char name[NAME_BYTES] = "", index[NAME_BYTES] = "";
		const char *using_index = strstr(detail, "USING ");

		if (sscanf(detail, "SCAN %79s", name) != 1 || plan_name_is_small(schema, name, sql))
			continue;
		if (strstr(detail, " VIRTUAL TABLE ")) /* json_each: the caller's data */
			continue;
		if (using_index && strstr(using_index, "INDEX ") &&
		    sscanf(strstr(using_index, "INDEX ") + 6, "%79s", index) == 1 &&
		    index_is_partial(schema->db, index))
			continue;
		complain("%s: scans the growing table behind '%s' (%s); add an index, or say why "
		         "with '-- scan ok: ...'",
		         where, name, detail);
	}
	(void)sqlite3_finalize(s);
	sqlite3_free(explain);
}

/* ---- reading ---- */

/* After the comment lines at the start of a block. */
static const char *skip_remarks(const char *line, const char *end)
{
	while (line < end && (*line == '-' || *line == '\n')) {
		line += strcspn(line, "\n");
		line += *line == '\n';
	}
	return line;
}

static enum answer answer_of(const char *word)
{
	static const struct {
		const char *word;
		enum answer answer;
	} WORDS[] = { { "one", ANSWER_ONE },       { "many", ANSWER_MANY }, { "any", ANSWER_ANY },
		      { "number", ANSWER_NUMBER }, { "exec", ANSWER_EXEC }, { "rows", ANSWER_ROWS },
		      { "insert", ANSWER_INSERT } };

	for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
		if (strcmp(word, WORDS[i].word) == 0)
			return WORDS[i].answer;
	return ANSWER_NONE;
}

/* Whether the word fits what SQLite says about the statement. */
static void check_answer(const struct statement *st, const char *where)
{
	bool gives_rows = st->answer == ANSWER_ONE || st->answer == ANSWER_MANY ||
	                  st->answer == ANSWER_ANY || st->answer == ANSWER_NUMBER;

	if (st->answer == ANSWER_NONE)
		complain("%s: say what comes of it behind its name: :one, :many, :any, :number, "
		         ":exec, :rows or :insert",
		         where);
	else if (gives_rows != (st->columns > 0))
		complain("%s: it %s columns", where, st->columns ? "has" : "has no");
	else if (st->answer == ANSWER_NUMBER && st->columns != 1)
		complain("%s: a number is one column", where);
}

/* Its remarks: "-- row: x", "-- type: x y", "-- scan ok: why", "-- for: x y"; everything else is
 * prose. */
static void read_remarks(struct statement *st, const char *line, const char *end, struct str *types,
                         bool *ret_scan_ok)
{
	OWNED(str) struct str prose = { 0 };

	memcpy(st->row, st->name, sizeof(st->row));
	while (line < end) {
		size_t length = strcspn(line, "\n");

		if (strncmp(line, "-- row: ", 8) == 0)
			(void)snprintf(st->row, sizeof(st->row), "%.*s", (int)length - 8, line + 8);
		else if (strncmp(line, "-- type: ", 9) == 0)
			str_addf(types, "%.*s\n", (int)length - 9, line + 9);
		else if (strncmp(line, "-- scan ok:", 11) == 0)
			*ret_scan_ok = true;
		else if (length > 3 && strncmp(line, FOR, strlen(FOR)) != 0)
			str_addf(&prose, "%s%.*s", prose.length ? "\n * " : "", (int)length - 3,
			         line + 3);
		line += length + (line[length] == '\n');
	}
	st->remark = str_take(&prose);
}

/* Prepares st, which begins at that line of a file. */
static bool prepare(struct statement *st, struct schema *schema, const char *file, int line,
                    const char *types, const char *where)
{
	sqlite3_stmt *s = NULL;
	const char *tail = NULL;
	sqlite3 *db = schema_prepare(schema, st->text, &s, &tail);

	if (!s) {
		int at = sqlite3_error_offset(db);

		complain("%s:%d: %s: %s", file,
		         line + (at > 0 ? line_of(st->text, st->text + at) - 1 : 0), st->name,
		         sqlite3_errcode(db) ? sqlite3_errmsg(db) : "there is no statement");
		return false;
	}
	while (tail && isspace((unsigned char)*tail))
		tail++;
	if (tail && *tail)
		complain("%s: more than one statement", where);
	st->reads_only = sqlite3_stmt_readonly(s) != 0;
	types_find(schema, st, s, types, where);
	(void)sqlite3_finalize(s);
	return true;
}

/* Appends the text up to end, with table in place of $, if there is one. */
static void add_for(struct str *out, const char *text, const char *end, const char *table)
{
	for (; text < end; text++)
		if (table && *text == '$')
			str_add(out, table);
		else
			str_add_char(out, *text);
}

/* One block, from its "-- name: " to end: remarks, then the statement; for that table, if any. */
static void read_block(struct statements *list, struct schema *schema, const struct source *file,
                       const char *at, const char *end, const char *table)
{
	struct statement *st = &list->one[list->count];
	const char *remarks = at + strcspn(at, "\n"), *body;
	char word[NAME_BYTES] = "", where[400];
	OWNED(str) struct str head = { 0 }, sql = { 0 }, types = { 0 };
	bool scan_ok = false;
	int line;

	if (list->count == MAX_STATEMENTS)
		die("too many statements");
	remarks += *remarks == '\n';
	body = skip_remarks(remarks, end);
	line = line_of(file->text, body);
	*st = (struct statement){ .columns = 0 };
	add_for(&head, at + 9, remarks, table);
	(void)sscanf(head.bytes, "%79[a-z0-9_] :%79[a-z]", /* NOLINT(cert-err34-c) */
	             st->name, word);
	(void)sscanf(strrchr(file->path, '/') + 1, "%79[a-z0-9_]", /* NOLINT(cert-err34-c) */
	             st->noun);
	(void)snprintf(where, sizeof(where), "%s:%d: %s", file->path, line, st->name);
	for (int i = 0; i < list->count; i++)
		if (strcmp(list->one[i].name, st->name) == 0)
			complain("%s: is named twice", where);
	if (body >= end) {
		complain("%s: there is no statement", where);
		return;
	}
	while (end > body && (isspace((unsigned char)end[-1]) || end[-1] == ';'))
		end--;
	add_for(&sql, body, end, table);
	st->text = str_take(&sql);
	st->answer = answer_of(word);
	read_remarks(st, remarks, body, &types, &scan_ok);
	list->count++;
	if (prepare(st, schema, file->path, line, str_text(&types), where)) {
		check_answer(st, where);
		if (!scan_ok)
			check_scans(schema, where, st->text);
	}
}

/* A block, as often as it says. */
static void read_blocks(struct statements *list, struct schema *schema, const struct source *file,
                        const char *at, const char *end)
{
	char table[NAME_BYTES] = "";
	const char *line = at;
	int length;

	while ((line = strstr(line, FOR)) != NULL && line < end)
		for (line += strlen(FOR); sscanf(line, " %79[a-z_]%n", table, &length) == 1;
		     line += length)
			read_block(list, schema, file, at, end, table);
	if (!*table)
		read_block(list, schema, file, at, end, NULL);
}

void statements_load(struct statements *list, struct schema *s, const struct sources *sql)
{
	for (int i = 0; i < sql->count; i++) {
		const char *at = strstr(sql->file[i].text, "-- name: ");

		while (at) {
			const char *next = strstr(at + 1, "-- name: ");

			read_blocks(list, s, &sql->file[i], at, next ? next : at + strlen(at));
			at = next;
		}
	}
}

void statements_clear(struct statements *list)
{
	for (int i = 0; i < list->count; i++) {
		free(list->one[i].text);
		free(list->one[i].remark);
	}
	list->count = 0;
}
