/* Columns with one word from a fixed set: the list of a CHECK (x IN ('a', 'b')), the states of a
 * table that moves, and the rows of a closed table that a remark names ("see request_kind"). */
#include "sqlgen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct set *schema_set(const struct schema *s, const char *name)
{
	for (int i = 0; i < s->sets; i++)
		if (strcmp(s->set[i].name, name) == 0)
			return &s->set[i];
	return NULL;
}

static void add_word(struct set *set, const char *word, size_t length)
{
	if (set->words == MAX_WORDS || length >= NAME_BYTES)
		die("too many words in a set");
	(void)snprintf(set->word[set->words++], NAME_BYTES, "%.*s", (int)length, word);
}

static struct set *begin_set(struct schema *s, const char *table, const char *column)
{
	struct set *set = &s->set[s->sets];
	size_t length = strlen(table), end = strlen(column);

	if (s->sets == MAX_SETS)
		die("too many sets");
	*set = (struct set){ .words = 0 };
	/* request_verdict.verdict is a request_verdict */
	if (length > end && table[length - end - 1] == '_' &&
	    strcmp(table + length - end, column) == 0)
		(void)snprintf(set->name, sizeof(set->name), "%s", table);
	else
		(void)snprintf(set->name, sizeof(set->name), "%.39s_%.39s", table, column);
	return set;
}

static void end_set(struct schema *s, struct column *c, const struct set *set)
{
	(void)snprintf(c->set, sizeof(c->set), "%s", set->name);
	if (!schema_set(s, set->name))
		s->sets++;
}

/* ---- CHECK (column IN ('a', 'b')) ---- */

/* After blanks and comments. */
static const char *skip_blanks(const char *c)
{
	for (;;) {
		c += strspn(c, " \t\n");
		if (c[0] != '-' || c[1] != '-')
			return c;
		c += strcspn(c, "\n");
	}
}

static bool is_bool(const struct column *c, const char *sql)
{
	char check[NAME_BYTES + 24];

	(void)snprintf(check, sizeof(check), "CHECK (%s IN (0, 1))", c->name);
	return strstr(sql, check) != NULL;
}

static void read_check(struct schema *s, const struct table *t, struct column *c, const char *sql)
{
	char check[NAME_BYTES + 20];
	struct set *set = begin_set(s, t->name, c->name);
	const char *at;

	(void)snprintf(check, sizeof(check), "CHECK (%s IN", c->name);
	at = strstr(sql, check);
	if (!at)
		return;
	at = skip_blanks(at + strlen(check));
	if (*at != '(')
		return;
	for (at = skip_blanks(at + 1); *at == '\''; at = skip_blanks(at)) {
		size_t length = strcspn(++at, "'");

		add_word(set, at, length);
		at = skip_blanks(at + length + 1);
		at += *at == ',';
	}
	if (set->words && *at == ')' && *skip_blanks(at + 1) == ')')
		end_set(s, c, set);
}

/* ---- rows that come with the program ---- */

/* The words in a column of a closed table, without the '' of a birth. */
static void read_rows(struct schema *s, struct column *c, struct set *set, const char *table,
                      const char *column)
{
	char *sql = sqlite3_mprintf("SELECT DISTINCT \"%w\" FROM \"%w\" WHERE \"%w\" <> '' "
	                            "ORDER BY 1",
	                            column, table, column);
	sqlite3_stmt *rows = NULL;

	(void)sqlite3_prepare_v2(s->db, sql, -1, &rows, NULL);
	while (sqlite3_step(rows) == SQLITE_ROW)
		add_word(set, (const char *)sqlite3_column_text(rows, 0),
		         (size_t)sqlite3_column_bytes(rows, 0));
	(void)sqlite3_finalize(rows);
	sqlite3_free(sql);
	if (set->words)
		end_set(s, c, set);
}

/* "column ... see table" on the column's line: the name of a closed table that has the column. */
static const struct table *named_table(const struct schema *s, const char *sql,
                                       const struct column *c)
{
	char name[NAME_BYTES] = "", line[400];
	size_t length = strlen(c->name);

	while ((sql = strstr(sql, "\n  ")) != NULL) {
		const char *see;

		sql += 3;
		if (strncmp(sql, c->name, length) != 0 || sql[length] != ' ')
			continue;
		(void)snprintf(line, sizeof(line), "%.*s", (int)strcspn(sql, "\n"), sql);
		see = strstr(line, ": see ");
		if (see)
			(void)sscanf(see + 6, "%79[a-z_]", name); /* NOLINT(cert-err34-c) */
		break;
	}
	const struct table *t = schema_table(s, name);
	return t && t->closed && table_column(t, c->name) ? t : NULL;
}

void sets_find(struct schema *s)
{
	for (int i = 0; i < s->tables; i++) {
		struct table *t = &s->table[i];
		char move[NAME_BYTES + 8];
		char *sql =
		    query_text(s->db, "SELECT sql FROM sqlite_schema WHERE name = ?", t->name);

		(void)snprintf(move, sizeof(move), "%.70s_move", t->name);
		for (int k = 0; k < t->columns; k++) {
			struct column *c = &t->column[k];
			const struct table *other;

			c->is_bool = is_bool(c, sql);
			if (strcmp(c->type, "TEXT") != 0)
				continue;
			other = named_table(s, sql, c);
			if (strcmp(t->moves, c->name) == 0)
				read_rows(s, c, begin_set(s, t->name, c->name), move, "dst");
			else if (other)
				read_rows(s, c, begin_set(s, other->name, c->name), other->name,
				          c->name);
			else if (t->closed && c->is_key && strlen(t->name) > strlen(c->name) &&
			         strcmp(t->name + strlen(t->name) - strlen(c->name), c->name) == 0)
				read_rows(s, c, begin_set(s, t->name, c->name), t->name, c->name);
			else
				read_check(s, t, c, sql);
		}
		free(sql);
	}
}
