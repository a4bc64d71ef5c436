/* What triggers write, as SQLite's authorizer sees it while statements that fire them are
 * prepared. */
#include "sqlgen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_EDGES = 500 };

struct edge {
	char trigger[NAME_BYTES]; /* fired by a write to from */
	char from[NAME_BYTES];
	char what[16];
	char to[NAME_BYTES];
};

struct graph {
	struct edge edge[MAX_EDGES];
	int edges;
};

static int watch(void *arg, int action, const char *table, const char *b, const char *c,
                 const char *trigger)
{
	struct graph *g = arg;
	const char *what = action == SQLITE_INSERT   ? "INSERT"
	                   : action == SQLITE_UPDATE ? "UPDATE"
	                   : action == SQLITE_DELETE ? "DELETE"
	                                             : NULL;

	(void)b;
	(void)c;
	if (!what || !trigger)
		return SQLITE_OK;
	for (int i = 0; i < g->edges; i++)
		if (strcmp(g->edge[i].trigger, trigger) == 0 && strcmp(g->edge[i].to, table) == 0 &&
		    strcmp(g->edge[i].what, what) == 0)
			return SQLITE_OK;
	if (g->edges == MAX_EDGES)
		die("too many triggers");
	struct edge *e = &g->edge[g->edges++];
	(void)snprintf(e->trigger, NAME_BYTES, "%s", trigger);
	(void)snprintf(e->what, sizeof(e->what), "%s", what);
	(void)snprintf(e->to, NAME_BYTES, "%s", table);
	return SQLITE_OK;
}

/* ---- scans ---- */

static char *replaced(char *text, const char *from, const char *to)
{
	OWNED(str) struct str out = { 0 };
	const char *rest = text, *at;

	while ((at = strstr(rest, from)) != NULL) {
		str_add_bytes(&out, rest, (size_t)(at - rest));
		str_add(&out, to);
		rest = at + strlen(from);
	}
	str_add(&out, rest);
	free(text);
	return str_take(&out);
}

/* Checks that no statement in a trigger's body scans, with NEW.x and OLD.x as parameters. */
static void check_body(const struct schema *schema, const char *name, const char *sql)
{
	const char *begin = strstr(sql, "BEGIN\n");
	char where[200];
	char *body;
	const char *rest;

	if (!begin)
		return;
	body = xstrdup(begin + 6);
	*strrchr(body, 'E') = '\0'; /* the closing END */
	body = replaced(body, "RAISE(ABORT,", "max(1,");
	body = replaced(body, "RAISE(IGNORE)", "1");
	body = replaced(body, "NEW.", ":new_");
	body = replaced(body, "OLD.", ":old_");
	(void)snprintf(where, sizeof(where), "schema/rules: trigger %s", name);
	for (rest = body; rest && *rest;) {
		sqlite3_stmt *s = NULL;
		const char *at = rest;
		sqlite3 *db = schema_prepare(schema, at, &s, &rest);

		if (sqlite3_errcode(db) != SQLITE_OK) {
			complain("%s: %s", where, sqlite3_errmsg(db));
			break;
		}
		if (s) {
			char *one = sqlite3_mprintf("%.*s", (int)(rest - at), at);

			check_scans(schema, where, one);
			sqlite3_free(one);
		}
		(void)sqlite3_finalize(s);
	}
	free(body);
}

static void check_bodies(const struct schema *schema)
{
	sqlite3_stmt *s;

	(void)sqlite3_prepare_v2(
	    schema->db, "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name",
	    -1, &s, NULL);
	while (sqlite3_step(s) == SQLITE_ROW)
		check_body(schema, (const char *)sqlite3_column_text(s, 0),
		           (const char *)sqlite3_column_text(s, 1));
	(void)sqlite3_finalize(s);
}

/* ---- the graph ---- */

/* A statement that would fire every trigger of a table: an insert, a delete, or (2) an update of
 * every column, so that UPDATE OF triggers are included. */
static void probe_text(const struct table *t, int kind, struct str *out)
{
	str_reset(out);
	if (kind == 0)
		str_addf(out, "INSERT INTO %s DEFAULT VALUES", t->name);
	else if (kind == 1)
		str_addf(out, "DELETE FROM %s", t->name);
	else
		str_addf(out, "UPDATE %s SET ", t->name);
	for (int i = 0; kind == 2 && i < t->columns; i++)
		str_addf(out, "%s%s = %s", i ? ", " : "", t->column[i].name, t->column[i].name);
}

static void trace(const struct schema *s, struct graph *g)
{
	OWNED(str) struct str sql = { 0 };

	(void)sqlite3_set_authorizer(s->db, watch, g);
	for (int i = 0; i < s->tables; i++) {
		for (int k = 0; k < 3; k++) {
			sqlite3_stmt *probe = NULL;

			probe_text(&s->table[i], k, &sql);
			if (sqlite3_prepare_v2(s->db, sql.bytes, -1, &probe, NULL) != SQLITE_OK)
				complain("sqlgen: %s: %s", sql.bytes, sqlite3_errmsg(s->db));
			(void)sqlite3_finalize(probe);
		}
	}
	(void)sqlite3_set_authorizer(s->db, NULL, NULL);
	for (int i = 0; i < g->edges; i++) {
		char *from = query_text(
		    s->db, "SELECT tbl_name FROM sqlite_schema WHERE type = 'trigger' AND name = ?",
		    g->edge[i].trigger);

		(void)snprintf(g->edge[i].from, NAME_BYTES, "%s", from ? from : "");
		free(from);
	}
}

/* A trigger may write to its own table (decision fills in its outcome), but no chain of triggers
 * across several tables may return to its start. */
static bool reaches(const struct graph *g, const char *from, const char *to, bool *seen)
{
	for (int i = 0; i < g->edges; i++) {
		const struct edge *e = &g->edge[i];

		if (seen[i] || strcmp(e->from, from) != 0 || strcmp(e->to, from) == 0)
			continue;
		seen[i] = true;
		if (strcmp(e->to, to) == 0 || reaches(g, e->to, to, seen))
			return true;
	}
	return false;
}

static int by_names(const void *a, const void *b)
{
	const struct edge *one = a, *other = b;
	int order = strcmp(one->from, other->from);

	order = order ? order : strcmp(one->trigger, other->trigger);
	order = order ? order : strcmp(one->to, other->to);
	return order ? order : strcmp(one->what, other->what);
}

void triggers_check(const struct schema *s, struct str *out)
{
	struct graph *g = xcalloc(1, sizeof(*g));

	check_bodies(s);
	trace(s, g);
	for (int i = 0; i < s->tables; i++) {
		bool seen[MAX_EDGES] = { false };

		if (reaches(g, s->table[i].name, s->table[i].name, seen))
			complain("schema/rules: the triggers of %s lead back to %s",
			         s->table[i].name, s->table[i].name);
	}
	qsort(g->edge, (size_t)g->edges, sizeof(g->edge[0]), by_names);
	for (int i = 0; i < g->edges; i++)
		str_addf(out, "%-14s %-24s %s %s\n", g->edge[i].from, g->edge[i].trigger,
		         g->edge[i].what, g->edge[i].to);
	free(g);
}
