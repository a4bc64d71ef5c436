/* sql/noun.sql: "-- name: noun_verb", remark lines, the statement. */
#include "sqlgen.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- scans ---- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* The table behind a name in a query plan, which prints aliases: "alias" -> "table" by looking for
 * "table AS alias" in the statement. What is neither is a subquery, or SQLite's own: judged where
 * the table is named. */
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

		if (is_word(p[n]))
			continue;
		while (start > sql && is_word(start[-1]))
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

	if (sqlite3_prepare_v2(schema->db, explain, -1, &s, NULL) != SQLITE_OK)
		complain("%s: %s", where, sqlite3_errmsg(schema->db));
	while (s && sqlite3_step(s) == SQLITE_ROW) {
		const char *detail = (const char *)sqlite3_column_text(s, 3);
		char name[NAME_BYTES] = "", index[NAME_BYTES] = "";
		const char *using_index = strstr(detail, "USING ");

		if (sscanf(detail, "SCAN %79s", name) != 1 || plan_name_is_small(schema, name, sql))
			continue;
		if (strstr(detail, " VIRTUAL TABLE ")) /* json_each: what the caller hands in */
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

/* ---- types ---- */

/* What the name says: the parts that all names of the schema end with. */
static const char *type_by_name(const char *name)
{
	static const struct {
		const char *end, *type;
	} ENDS[] = { { "_seq", "INTEGER" },   { "_ms", "INTEGER" }, { "_count", "INTEGER" },
		     { "_at", "TEXT" },       { "_until", "TEXT" }, { "_hash", "TEXT" },
		     { "now", "TEXT" },       { "seq", "INTEGER" }, { "limit", "INTEGER" },
		     { "session", "INTEGER" } };
	size_t length = strlen(name);

	for (size_t i = 0; i < sizeof(ENDS) / sizeof(ENDS[0]); i++) {
		size_t n = strlen(ENDS[i].end);

		if (length >= n && strcmp(name + length - n, ENDS[i].end) == 0 &&
		    (ENDS[i].end[0] == '_' || length == n))
			return ENDS[i].type;
	}
	return "";
}

/* Whether text names the table, as a word of its own. */
static bool mentions(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = text; (at = strstr(at, word)) != NULL; at += n)
		if ((at == text || !is_word(at[-1])) && !is_word(at[n]))
			return true;
	return false;
}

/* The type of the column of that name in the tables that the statement names, where they agree;
 * else what the name says; else "". */
static const char *type_of(const struct schema *s, const char *sql, const char *name)
{
	const char *type = NULL;

	for (int i = 0; i < s->tables; i++) {
		const struct column *c = table_column(&s->table[i], name);

		if (!c || !mentions(sql, s->table[i].name))
			continue;
		if (type && strcmp(type, c->type) != 0)
			return type_by_name(name);
		type = c->type;
	}
	return type ? type : type_by_name(name);
}

static void read_values(const struct schema *schema, struct statement *st, sqlite3_stmt *s)
{
	st->columns = sqlite3_column_count(s);
	if (st->columns > MAX_COLUMNS || sqlite3_bind_parameter_count(s) > MAX_COLUMNS)
		die("too many columns or parameters");
	for (int i = 0; i < st->columns; i++) {
		const char *type = sqlite3_column_decltype(s, i);
		struct value *v = &st->column[i];

		(void)snprintf(v->name, NAME_BYTES, "%s", sqlite3_column_name(s, i));
		(void)snprintf(v->type, NAME_BYTES, "%s",
		               type ? type : type_of(schema, st->text, v->name));
	}
	st->parameters = sqlite3_bind_parameter_count(s);
	for (int i = 0; i < st->parameters; i++) {
		const char *name = sqlite3_bind_parameter_name(s, i + 1);
		struct value *v = &st->parameter[i];

		(void)snprintf(v->name, NAME_BYTES, "%s", name ? name + 1 : "");
		(void)snprintf(v->type, NAME_BYTES, "%s", type_of(schema, st->text, v->name));
	}
}

/* ---- reading ---- */

/* Takes over text, which begins in that line of a file. */
static void take_statement(struct statements *list, const struct schema *schema, const char *file,
                           int line, const char *name, char *text, bool scan_ok)
{
	struct statement *st = &list->one[list->count];
	sqlite3_stmt *s = NULL;
	const char *tail = NULL;
	char where[300];

	(void)snprintf(where, sizeof(where), "%s:%d: %s", file, line, name);
	if (list->count == MAX_STATEMENTS)
		die("too many statements");
	(void)snprintf(st->name, sizeof(st->name), "%s", name);
	for (int i = 0; i < list->count; i++)
		if (strcmp(list->one[i].name, name) == 0)
			complain("%s: is named twice", where);
	if (sqlite3_prepare_v2(schema->db, text, -1, &s, &tail) != SQLITE_OK || !s) {
		int at = sqlite3_error_offset(schema->db);

		complain("%s:%d: %s: %s", file, line + (at > 0 ? line_of(text, text + at) - 1 : 0),
		         name,
		         sqlite3_errcode(schema->db) ? sqlite3_errmsg(schema->db)
		                                     : "there is no statement");
		free(text);
		return;
	}
	while (tail && isspace((unsigned char)*tail))
		tail++;
	if (tail && *tail)
		complain("%s: more than one statement", where);
	st->text = text;
	st->reads_only = sqlite3_stmt_readonly(s) != 0;
	read_values(schema, st, s);
	(void)sqlite3_finalize(s);
	list->count++;
	if (!scan_ok)
		check_scans(schema, where, text);
}

/* One block, from its "-- name: " to end: remarks, then the statement. */
static void read_block(struct statements *list, const struct schema *schema,
                       const struct source *file, const char *at, const char *end)
{
	char name[NAME_BYTES] = "";
	const char *body = strchr(at, '\n'), *scan_ok = strstr(at, "-- scan ok:");
	struct str sql = STR_INIT;

	(void)sscanf(at + 9, "%79[a-z0-9_]", name); /* NOLINT(cert-err34-c) */
	while (body && (body[1] == '-' || body[1] == '\n'))
		body = strchr(body + 1, '\n');
	if (!body || body >= end) {
		complain("%s:%d: %s: there is no statement", file->path, line_of(file->text, at),
		         name);
		return;
	}
	while (end > body && (isspace((unsigned char)end[-1]) || end[-1] == ';'))
		end--;
	str_add_bytes(&sql, body + 1, (size_t)(end - body - 1));
	take_statement(list, schema, file->path, line_of(file->text, body + 1), name,
	               str_take(&sql), scan_ok && scan_ok < end);
}

void statements_load(struct statements *list, const struct schema *s, const struct sources *sql)
{
	for (int i = 0; i < sql->count; i++) {
		const char *at = strstr(sql->file[i].text, "-- name: ");

		while (at) {
			const char *next = strstr(at + 1, "-- name: ");

			read_block(list, s, &sql->file[i], at, next ? next : at + strlen(at));
			at = next;
		}
	}
}

void statements_clear(struct statements *list)
{
	for (int i = 0; i < list->count; i++)
		free(list->one[i].text);
	list->count = 0;
}
