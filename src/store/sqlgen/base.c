/* schema/steps/: the schema of the last release, and the steps that lead from it to the current
 * nouns. */
#include "sqlgen.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char BASE[] = "schema/steps/base.sql";
static const char FROZEN[] = "\n-- frozen: ";
static const char REWRITE[] = "`cmake --build --preset dev --target schema`";

/* ---- texts of sqlite_schema ---- */

/* Removes remarks, the blanks before them, and the lines that contain nothing else. */
static char *without_remarks(const char *sql)
{
	OWNED(str) struct str out = { 0 };
	bool quoted = false;

	for (const char *c = sql; *c; c++) {
		quoted ^= *c == '\'';
		if (!quoted && c[0] == '-' && c[1] == '-')
			c += strcspn(c, "\n");
		if (*c != '\n' && *c != '\0') {
			str_add_char(&out, *c);
			continue;
		}
		while (out.length && out.bytes[out.length - 1] == ' ')
			out.bytes[--out.length] = '\0';
		if (*c == '\0')
			break;
		if (out.length && out.bytes[out.length - 1] != '\n')
			str_add_char(&out, '\n');
	}
	return str_take(&out);
}

/* One spelling for equivalent texts: ALTER TABLE leaves different blanks and quotes. */
static char *spelled(const char *sql)
{
	char *plain = without_remarks(sql);
	OWNED(str) struct str out = { 0 };

	for (const char *c = plain; *c; c++) {
		char last = out.length ? out.bytes[out.length - 1] : '(';

		if (*c == '"')
			continue;
		if (!isspace((unsigned char)*c)) {
			str_add_char(&out, *c);
			continue;
		}
		c += strspn(c, " \n\t") - 1;
		if (!strchr("(,", last) && !strchr("),(", c[1]))
			str_add_char(&out, ' ');
	}
	free(plain);
	return str_take(&out);
}

/* ---- writing the base ---- */

/* The columns of a row to write, optionally wrapped in a function: those whose default is
 * the current time are not. */
static void columns_of(const struct table *t, const char *function, const char *between,
                       struct str *out)
{
	for (int i = 0; i < t->columns; i++) {
		const char *standard = t->column[i].standard;

		if (standard && strstr(standard, "'now'"))
			continue;
		str_add(out, out->length ? between : "");
		str_addf(out, *function ? "%s(%s)" : "%s%s", function, t->column[i].name);
	}
}

static void rows_of(sqlite3 *db, const struct table *t, struct str *out)
{
	OWNED(str) struct str names = { 0 }, quoted = { 0 };
	sqlite3_stmt *s = NULL;
	char *sql;

	columns_of(t, "", ", ", &names);
	columns_of(t, "quote", " || ', ' || ", &quoted);
	sql = sqlite3_mprintf("SELECT %s FROM %s ORDER BY 1", quoted.bytes, t->name);
	if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
		complain("sqlgen: %s: %s", sql, sqlite3_errmsg(db));
	while (s && sqlite3_step(s) == SQLITE_ROW)
		str_addf(out, "INSERT INTO %s (%s) VALUES (%s);\n", t->name, names.bytes,
		         (const char *)sqlite3_column_text(s, 0));
	(void)sqlite3_finalize(s);
	sqlite3_free(sql);
}

static void base_text(const struct schema *schema, struct str *out)
{
	sqlite3_stmt *s;

	str_addf(out,
	         "-- Made by sqlgen from schema/. The schema that steps begin from, PRAGMA "
	         "user_version %d.\n"
	         "-- Until release 0.2.0 it is rewritten whenever schema/ changes; from then on "
	         "it is "
	         "frozen.%sno\n",
	         BASE_VERSION, FROZEN);
	(void)sqlite3_prepare_v2(schema->db,
	                         "SELECT sql FROM sqlite_schema WHERE type IN ('table', 'index') "
	                         "AND sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid",
	                         -1, &s, NULL);
	while (sqlite3_step(s) == SQLITE_ROW) {
		char *sql = without_remarks((const char *)sqlite3_column_text(s, 0));

		str_addf(out, "%s;\n", sql);
		free(sql);
	}
	(void)sqlite3_finalize(s);
	for (int i = 0; i < schema->tables; i++)
		rows_of(schema->db, &schema->table[i], out);
}

/* ---- comparing ---- */

/* Which tables and indexes of one are missing from the other, or differ there. */
static void compare(sqlite3 *one, sqlite3 *other, const char *in_one, bool texts)
{
	sqlite3_stmt *s;

	(void)sqlite3_prepare_v2(one,
	                         "SELECT type, name, sql FROM sqlite_schema WHERE type IN "
	                         "('table', 'index') AND sql IS NOT NULL AND name NOT LIKE "
	                         "'sqlite_%'",
	                         -1, &s, NULL);
	while (sqlite3_step(s) == SQLITE_ROW) {
		const char *type = (const char *)sqlite3_column_text(s, 0);
		const char *name = (const char *)sqlite3_column_text(s, 1);
		char *there =
		    query_text(other, "SELECT sql FROM sqlite_schema WHERE name = ?", name);
		char *a = spelled((const char *)sqlite3_column_text(s, 2));
		char *b = there ? spelled(there) : NULL;

		if (!b)
			complain("schema/steps: %s %s is only in %s", type, name, in_one);
		else if (texts && strcmp(a, b) != 0)
			complain("schema/steps: %s %s differs:\n  new:     %s\n  stepped: %s", type,
			         name, a, b);
		free(there);
		free(a);
		free(b);
	}
	(void)sqlite3_finalize(s);
}

/* Compares the rows that come with the program. */
static void compare_rows(const struct schema *schema, sqlite3 *stepped)
{
	for (int i = 0; i < schema->tables; i++) {
		OWNED(str) struct str a = { 0 }, b = { 0 };

		if (!schema->table[i].closed)
			continue;
		rows_of(schema->db, &schema->table[i], &a);
		rows_of(stepped, &schema->table[i], &b);
		if (strcmp(str_text(&a), str_text(&b)) != 0)
			complain("schema/steps: the rows of %s differ: a step must insert or "
			         "delete what is new in %s",
			         schema->table[i].name, schema->table[i].file);
	}
}

static void check_numbers(const struct sources *steps)
{
	for (int i = 0; i < steps->count; i++) {
		const char *name = strrchr(steps->file[i].path, '/') + 1;

		if (strtol(name, NULL, 10) != BASE_VERSION + 1 + i)
			complain("%s: the next step is number %d", steps->file[i].path,
			         BASE_VERSION + 1 + i);
	}
}

static void check_steps(const struct schema *schema, char *base, const struct sources *steps)
{
	struct source first = { .path = xstrdup(BASE), .text = base };
	int before = failures;
	sqlite3 *db;

	if (sqlite3_open(":memory:", &db) != SQLITE_OK)
		die("sqlite");
	source_run(db, &first);
	for (int i = 0; i < steps->count; i++)
		source_run(db, &steps->file[i]);
	if (failures == before) {
		compare(schema->db, db, "a new database", true);
		compare(db, schema->db, "one that was stepped up", false);
	}
	if (failures == before)
		compare_rows(schema, db);
	(void)sqlite3_close(db);
	free(first.path);
}

void base_check(const struct schema *schema, const struct sources *steps, bool write)
{
	char *base = source_text(BASE);
	const char *mark = base ? strstr(base, FROZEN) : NULL;
	bool frozen = mark && strncmp(mark + strlen(FROZEN), "no", 2) != 0;
	OWNED(str) struct str want = { 0 };

	base_text(schema, &want);
	check_numbers(steps);
	if (frozen) {
		int before = failures;

		check_steps(schema, base, steps);
		if (failures > before)
			complain("write a step, %d_what.sql, that brings a database of release "
			         "0.2.0 to what schema/ makes; new columns stand last in their "
			         "table",
			         BASE_VERSION + 1 + steps->count);
	} else if (steps->count) {
		complain("%s: release 0.2.0 is not made yet: change the noun, and run %s",
		         steps->file[0].path, REWRITE);
	} else if (write) {
		source_write(source_dir, BASE, want.bytes);
	} else if (!base || strcmp(base, want.bytes) != 0) {
		complain("%s is not the schema as it is; until release 0.2.0, %s rewrites it", BASE,
		         REWRITE);
	}
	free(base);
}
