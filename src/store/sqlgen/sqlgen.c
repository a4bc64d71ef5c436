/* sqlgen: the build-time program behind every statement we run.
 *
 * It loads schema/ into an empty database, prepares each named statement of sql/ against it, and
 * writes sql.h and sql.c: the statements, their columns, the migrations, the rules, and which
 * worker's bell each table rings. The build stops, with file and line, on a statement that does
 * not prepare, on one that scans a growing table, on a trigger that does, on a cycle of triggers,
 * and when the trigger graph in schema/README.md is not the true one.
 *
 * usage: sqlgen SOURCE_DIR OUTPUT_DIR    (SQLGEN_WRITE_GRAPH=1: write the graph instead) */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_STATEMENTS = 400, MAX_FILES = 200, MAX_TABLES = 100, MAX_EDGES = 500, NAME_BYTES = 80 };

struct statement {
	char name[NAME_BYTES];
	char *text;
	int columns;
	char column[64][NAME_BYTES];
	bool reads_only;
};

struct table {
	char name[NAME_BYTES];
	char rings[NAME_BYTES];
	bool small;
};

struct edge {
	char trigger[NAME_BYTES]; /* fired by a write to from */
	char from[NAME_BYTES];
	char what[16];
	char to[NAME_BYTES];
};

static struct statement statements[MAX_STATEMENTS];
static int statement_count;
static struct table tables[MAX_TABLES];
static int table_count;
static struct edge edges[MAX_EDGES];
static int edge_count;
static char *files[MAX_FILES]; /* paths relative to the source, sorted */
static int file_count;
static int failures;
static sqlite3 *db;
static const char *source;

static void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vfprintf(stderr, format, args);
	va_end(args);
	(void)fputc('\n', stderr);
	failures++;
}

static void die(const char *what)
{
	(void)fprintf(stderr, "sqlgen: %s: %s\n", what, strerror(errno));
	exit(1);
}

static char *read_file(const char *relative)
{
	char path[4096];
	FILE *f;
	char *text;
	long size;

	(void)snprintf(path, sizeof(path), "%s/%s", source, relative);
	f = fopen(path, "re");
	if (!f)
		die(path);
	(void)fseek(f, 0, SEEK_END);
	size = ftell(f);
	rewind(f);
	text = size < 0 ? NULL : malloc((size_t)size + 1);
	if (!text || fread(text, 1, (size_t)size, f) != (size_t)size)
		die(path);
	text[size] = '\0';
	(void)fclose(f);
	return text;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int list(const char *folder)
{
	char path[4096];
	struct dirent *entry;
	DIR *d;
	int first = file_count;

	(void)snprintf(path, sizeof(path), "%s/%s", source, folder);
	d = opendir(path);
	if (!d)
		die(path);
	while ((entry = readdir(d)) != NULL) {
		size_t n = strlen(entry->d_name);

		if (n < 5 || strcmp(entry->d_name + n - 4, ".sql") != 0)
			continue;
		if (file_count == MAX_FILES ||
		    asprintf(&files[file_count], "%s/%s", folder, entry->d_name) < 0)
			die("too many files");
		file_count++;
	}
	(void)closedir(d);
	qsort(files + first, (size_t)(file_count - first), sizeof(files[0]), by_name);
	return first;
}

static int line_of(const char *text, const char *at)
{
	int line = 1;

	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

/* Executes a schema file statement by statement, so that a mistake is told with its line. */
static void load(const char *file, char *text)
{
	const char *rest = text;

	while (*rest) {
		sqlite3_stmt *s = NULL;
		const char *at = rest;
		int rc = sqlite3_prepare_v2(db, rest, -1, &s, &rest);

		if (rc == SQLITE_OK && s)
			rc = sqlite3_step(s);
		if (rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ROW) {
			while (isspace((unsigned char)*at))
				at++;
			fail("%s:%d: %s", file, line_of(text, at), sqlite3_errmsg(db));
			(void)sqlite3_finalize(s);
			return;
		}
		(void)sqlite3_finalize(s);
	}
}

/* The remarks "-- small" and "-- rings: worker" stand directly above a CREATE TABLE. */
static void read_remarks(const char *text)
{
	bool small = false;
	char rings[NAME_BYTES] = "";

	for (const char *line = text; line && *line;
	     line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		if (strncmp(line, "-- small\n", 9) == 0)
			small = true;
		else if (strncmp(line, "-- rings: ", 10) == 0)
			(void)sscanf(line + 10, "%79s", rings); /* NOLINT(cert-err34-c) */
		if (strncmp(line, "CREATE TABLE ", 13) == 0 && table_count < MAX_TABLES) {
			struct table *t = &tables[table_count++];

			(void)sscanf(line + 13, "%79[a-z_]", t->name); /* NOLINT(cert-err34-c) */
			t->small = small;
			memcpy(t->rings, rings, sizeof(rings));
			small = false;
			rings[0] = '\0';
		}
	}
}

static bool is_small(const char *table)
{
	for (int i = 0; i < table_count; i++)
		if (strcmp(tables[i].name, table) == 0)
			return tables[i].small;
	return true; /* an alias, a subquery, sqlite's own: judged where the table is named */
}

/* The table behind a name in a query plan, which prints aliases: "alias" -> "table" by looking for
 * "table AS alias" in the statement. */
static bool plan_name_is_small(const char *name, const char *sql)
{
	char pattern[NAME_BYTES + 8];
	size_t n = (size_t)snprintf(pattern, sizeof(pattern), " AS %s", name);

	for (int i = 0; i < table_count; i++)
		if (strcmp(tables[i].name, name) == 0)
			return tables[i].small;
	for (const char *p = sql; (p = strstr(p, pattern)) != NULL; p += n) {
		const char *start = p;
		char table[NAME_BYTES] = "";

		if (isalnum((unsigned char)p[n]) || p[n] == '_')
			continue;
		while (start > sql && (isalnum((unsigned char)start[-1]) || start[-1] == '_'))
			start--;
		(void)snprintf(table, sizeof(table), "%.*s", (int)(p - start), start);
		if (!is_small(table))
			return false;
	}
	return true;
}

static bool index_is_partial(const char *index)
{
	sqlite3_stmt *s;
	bool partial = false;

	(void)sqlite3_prepare_v2(
	    db, "SELECT sql FROM sqlite_schema WHERE type = 'index' AND name = ?", -1, &s, NULL);
	(void)sqlite3_bind_text(s, 1, index, -1, SQLITE_STATIC);
	if (sqlite3_step(s) == SQLITE_ROW && sqlite3_column_text(s, 0))
		partial = strstr((const char *)sqlite3_column_text(s, 0), " WHERE ") != NULL;
	(void)sqlite3_finalize(s);
	return partial;
}

/* Complains about each step of the plan that reads the whole of a growing table. */
static void check_scans(const char *where, const char *sql)
{
	char *explain = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", sql);
	sqlite3_stmt *s;

	if (sqlite3_prepare_v2(db, explain, -1, &s, NULL) != SQLITE_OK) {
		fail("%s: %s", where, sqlite3_errmsg(db));
		sqlite3_free(explain);
		return;
	}
	while (sqlite3_step(s) == SQLITE_ROW) {
		const char *detail = (const char *)sqlite3_column_text(s, 3);
		char name[NAME_BYTES] = "", index[NAME_BYTES] = "";
		const char *using_index = strstr(detail, "USING ");

		if (sscanf(detail, "SCAN %79s", name) != 1 || plan_name_is_small(name, sql))
			continue;
		if (strstr(detail, " VIRTUAL TABLE ")) /* json_each: what the caller hands in */
			continue;
		if (using_index && strstr(using_index, "INDEX ") &&
		    sscanf(strstr(using_index, "INDEX ") + 6, "%79s", index) == 1 &&
		    index_is_partial(index))
			continue;
		fail("%s: scans the growing table behind '%s' (%s); add an index, or say why with "
		     "'-- scan ok: ...'",
		     where, name, detail);
	}
	(void)sqlite3_finalize(s);
	sqlite3_free(explain);
}

/* Takes over text. */
static void take_statement(const char *file, int line, const char *name, char *text, bool scan_ok)
{
	struct statement *st;
	sqlite3_stmt *s = NULL;
	const char *tail = NULL;
	char where[300];

	(void)snprintf(where, sizeof(where), "%s:%d: %s", file, line, name);
	if (statement_count == MAX_STATEMENTS) {
		fail("%s: too many statements", where);
		free(text);
		return;
	}
	st = &statements[statement_count];
	(void)snprintf(st->name, sizeof(st->name), "%s", name);
	for (int i = 0; i < statement_count; i++)
		if (strcmp(statements[i].name, name) == 0)
			fail("%s: is named twice", where);
	if (sqlite3_prepare_v2(db, text, -1, &s, &tail) != SQLITE_OK || !s) {
		int at = sqlite3_error_offset(db);

		fail("%s:%d: %s: %s", file, line + (at > 0 ? line_of(text, text + at) - 1 : 0),
		     name, s || sqlite3_errcode(db) ? sqlite3_errmsg(db) : "there is no statement");
		free(text);
		return;
	}
	while (tail && isspace((unsigned char)*tail))
		tail++;
	if (tail && *tail)
		fail("%s: more than one statement", where);
	st->text = text;
	st->reads_only = sqlite3_stmt_readonly(s) != 0;
	st->columns = sqlite3_column_count(s);
	for (int i = 0; i < st->columns && i < 64; i++)
		(void)snprintf(st->column[i], NAME_BYTES, "%s", sqlite3_column_name(s, i));
	(void)sqlite3_finalize(s);
	if (!scan_ok)
		check_scans(where, text);
	statement_count++;
}

/* sql/noun.sql: "-- name: noun_verb", remark lines, the statement. */
static void read_statements(const char *file)
{
	char *text = read_file(file);
	char *at = strstr(text, "-- name: ");

	while (at) {
		char name[NAME_BYTES] = "";
		char *next = strstr(at + 1, "-- name: ");
		char *body = strchr(at, '\n');
		bool scan_ok;

		(void)sscanf(at + 9, "%79[a-z0-9_]", name); /* NOLINT(cert-err34-c) */
		if (next)
			next[-1] = '\0';
		scan_ok = strstr(at, "-- scan ok:") != NULL;
		while (body && (body[1] == '-' || body[1] == '\n'))
			body = strchr(body + 1, '\n');
		if (!body) {
			fail("%s:%d: %s: there is no statement", file, line_of(text, at), name);
		} else {
			char *sql = strdup(body + 1);
			size_t n = strlen(sql);

			while (n > 0 && (isspace((unsigned char)sql[n - 1]) || sql[n - 1] == ';'))
				sql[--n] = '\0';
			if (next)
				next[-1] = '\n';
			take_statement(file, line_of(text, body + 1), name, sql, scan_ok);
		}
		at = next;
	}
	free(text);
}

/* ---- triggers ---- */

static int watch(void *unused, int action, const char *a, const char *b, const char *c,
                 const char *trigger)
{
	(void)unused;
	(void)b;
	(void)c;
	const char *what = action == SQLITE_INSERT   ? "INSERT"
	                   : action == SQLITE_UPDATE ? "UPDATE"
	                   : action == SQLITE_DELETE ? "DELETE"
	                                             : NULL;

	if (!what || !trigger || edge_count == MAX_EDGES)
		return SQLITE_OK;
	for (int i = 0; i < edge_count; i++)
		if (strcmp(edges[i].trigger, trigger) == 0 && strcmp(edges[i].to, a) == 0 &&
		    strcmp(edges[i].what, what) == 0)
			return SQLITE_OK;
	struct edge *e = &edges[edge_count++];
	(void)snprintf(e->trigger, NAME_BYTES, "%s", trigger);
	(void)snprintf(e->what, sizeof(e->what), "%s", what);
	(void)snprintf(e->to, NAME_BYTES, "%s", a);
	return SQLITE_OK;
}

static void replace(char **text, const char *from, const char *to)
{
	char *at;

	while ((at = strstr(*text, from)) != NULL) {
		char *changed = NULL;

		if (asprintf(&changed, "%.*s%s%s", (int)(at - *text), *text, to,
		             at + strlen(from)) < 0)
			die("memory");
		free(*text);
		*text = changed;
	}
}

/* Each statement in a trigger's body, with NEW.x and OLD.x as parameters, must not scan either. */
static void check_trigger(const char *name, const char *sql)
{
	const char *begin = strstr(sql, "BEGIN\n");
	char where[200];
	char *body;
	const char *rest;

	if (!begin)
		return;
	body = strdup(begin + 6);
	*strrchr(body, 'E') = '\0'; /* the closing END */
	replace(&body, "RAISE(ABORT,", "max(1,");
	replace(&body, "NEW.", ":new_");
	replace(&body, "OLD.", ":old_");
	(void)snprintf(where, sizeof(where), "schema/rules: trigger %s", name);
	for (rest = body; rest && *rest;) {
		sqlite3_stmt *s = NULL;
		const char *at = rest;

		if (sqlite3_prepare_v2(db, at, -1, &s, &rest) != SQLITE_OK) {
			fail("%s: %s", where, sqlite3_errmsg(db));
			break;
		}
		if (s) {
			char *one = sqlite3_mprintf("%.*s", (int)(rest - at), at);

			check_scans(where, one);
			sqlite3_free(one);
		}
		(void)sqlite3_finalize(s);
	}
	free(body);
}

/* A statement that would fire every trigger of a table: an insert, a delete, or (2) an update of
 * every column, so that UPDATE OF triggers take part. Freed with sqlite3_free. */
static char *probe_text(const char *table, int kind)
{
	sqlite3_stmt *columns = NULL;
	char *ask, *text = NULL;

	if (kind == 0)
		return sqlite3_mprintf("INSERT INTO %s DEFAULT VALUES", table);
	if (kind == 1)
		return sqlite3_mprintf("DELETE FROM %s", table);
	ask = sqlite3_mprintf(
	    "SELECT group_concat(name || ' = ' || name, ', ') FROM pragma_table_info(%Q)", table);
	(void)sqlite3_prepare_v2(db, ask, -1, &columns, NULL);
	if (sqlite3_step(columns) == SQLITE_ROW)
		text = sqlite3_mprintf("UPDATE %s SET %s", table, sqlite3_column_text(columns, 0));
	(void)sqlite3_finalize(columns);
	sqlite3_free(ask);
	return text;
}

static void trace_triggers(void)
{
	sqlite3_stmt *s;

	(void)sqlite3_prepare_v2(
	    db,
	    "SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name",
	    -1, &s, NULL);
	while (sqlite3_step(s) == SQLITE_ROW)
		check_trigger((const char *)sqlite3_column_text(s, 0),
		              (const char *)sqlite3_column_text(s, 2));
	(void)sqlite3_finalize(s);

	(void)sqlite3_set_authorizer(db, watch, NULL);
	for (int i = 0; i < table_count; i++) {
		for (int k = 0; k < 3; k++) {
			char *sql = probe_text(tables[i].name, k);
			sqlite3_stmt *probe = NULL;

			if (sqlite3_prepare_v2(db, sql, -1, &probe, NULL) != SQLITE_OK)
				fail("sqlgen: %s: %s", sql, sqlite3_errmsg(db));
			(void)sqlite3_finalize(probe);
			sqlite3_free(sql);
		}
	}
	(void)sqlite3_set_authorizer(db, NULL, NULL);
	for (int i = 0; i < edge_count; i++) {
		(void)sqlite3_prepare_v2(
		    db, "SELECT tbl_name FROM sqlite_schema WHERE type = 'trigger' AND name = ?",
		    -1, &s, NULL);
		(void)sqlite3_bind_text(s, 1, edges[i].trigger, -1, SQLITE_STATIC);
		if (sqlite3_step(s) == SQLITE_ROW)
			(void)snprintf(edges[i].from, NAME_BYTES, "%s", sqlite3_column_text(s, 0));
		(void)sqlite3_finalize(s);
	}
}

/* A trigger may write to its own table (decision fills in its outcome), but no chain of triggers
 * over several tables may come back to where it began. */
static bool reaches(const char *from, const char *to, int depth)
{
	if (depth > table_count)
		return true;
	for (int i = 0; i < edge_count; i++) {
		if (strcmp(edges[i].from, from) != 0 || strcmp(edges[i].to, from) == 0)
			continue;
		if (strcmp(edges[i].to, to) == 0 || reaches(edges[i].to, to, depth + 1))
			return true;
	}
	return false;
}

static void check_graph(void)
{
	static const char BEGIN[] = "<!-- trigger graph: written by sqlgen -->\n";
	static const char END[] = "<!-- end of trigger graph -->";
	char *readme = read_file("schema/README.md");
	char *begin = strstr(readme, BEGIN), *end = strstr(readme, END);
	char *graph = strdup("```\n");

	for (int i = 0; i < table_count; i++)
		if (reaches(tables[i].name, tables[i].name, 0))
			fail("schema/rules: the triggers of %s lead back to %s", tables[i].name,
			     tables[i].name);
	for (int i = 0; i < edge_count; i++) {
		char *longer = NULL;

		if (asprintf(&longer, "%s%-14s %-22s %s %s\n", graph, edges[i].from,
		             edges[i].trigger, edges[i].what, edges[i].to) < 0)
			die("memory");
		free(graph);
		graph = longer;
	}
	char *whole = NULL;
	if (asprintf(&whole, "%s```\n", graph) < 0)
		die("memory");
	free(graph);
	if (!begin || !end) {
		fail("schema/README.md: the place for the trigger graph is missing (%s)", END);
	} else if (getenv("SQLGEN_WRITE_GRAPH")) {
		char path[4096];
		FILE *f;

		(void)snprintf(path, sizeof(path), "%s/schema/README.md", source);
		f = fopen(path, "we");
		if (!f)
			die(path);
		(void)fprintf(f, "%.*s%s%s", (int)(begin + sizeof(BEGIN) - 1 - readme), readme,
		              whole, end);
		(void)fclose(f);
	} else if (strncmp(begin + sizeof(BEGIN) - 1, whole, strlen(whole)) != 0 ||
	           begin + sizeof(BEGIN) - 1 + strlen(whole) != end) {
		fail("schema/README.md: the trigger graph is out of date; run SQLGEN_WRITE_GRAPH=1 "
		     "sqlgen SOURCE OUTPUT");
	}
	free(whole);
	free(readme);
}

/* ---- output ---- */

static void upper(FILE *f, const char *text)
{
	for (; *text; text++)
		(void)fputc(isalnum((unsigned char)*text) ? toupper((unsigned char)*text) : '_', f);
}

static void quote(FILE *f, const char *text)
{
	(void)fputc('"', f);
	for (; *text; text++) {
		if (*text == '\n')
			(void)fputs("\\n\"\n\t\"", f);
		else if (*text == '"' || *text == '\\')
			(void)fprintf(f, "\\%c", *text);
		else if (*text == '?')
			(void)fputs("\\?", f);
		else
			(void)fputc(*text, f);
	}
	(void)fputc('"', f);
}

static FILE *output(const char *folder, const char *name)
{
	char path[4096];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "we");
	if (!f)
		die(path);
	(void)fputs("/* Made by sqlgen from sql/ and schema/. */\n", f);
	return f;
}

static void write_header(const char *folder)
{
	FILE *f = output(folder, "sql.h");

	(void)fputs("#ifndef SQL_H\n#define SQL_H\n\n#include <stddef.h>\n\nenum sql {\n", f);
	for (int i = 0; i < statement_count; i++) {
		(void)fputs("\tSQL_", f);
		upper(f, statements[i].name);
		(void)fputs(",\n", f);
	}
	(void)fputs("\tSQL_COUNT\n};\n\n", f);
	for (int i = 0; i < statement_count; i++) {
		if (statements[i].columns == 0)
			continue;
		(void)fputs("enum {", f);
		for (int k = 0; k < statements[i].columns && k < 64; k++) {
			(void)fputs(k ? ", " : " ", f);
			upper(f, statements[i].name);
			(void)fputc('_', f);
			upper(f, statements[i].column[k]);
		}
		(void)fputs(" };\n", f);
	}
	(void)fputs("\nstruct sql_statement {\n\tconst char *name;\n\tconst char *text;\n\tint "
	            "reads_only;\n};\n"
	            "struct sql_bell {\n\tconst char *table;\n\tconst char *worker;\n};\n"
	            "extern const struct sql_statement sql_statements[SQL_COUNT];\n"
	            "extern const struct sql_bell sql_bells[]; /* ends with a NULL table */\n"
	            "extern const char *const sql_migrations[]; /* ends with NULL */\n"
	            "extern const char *const sql_rules[]; /* ends with NULL */\n\n#endif\n",
	            f);
	(void)fclose(f);
}

static void write_texts(FILE *f, const char *name, int first, int last)
{
	(void)fprintf(f, "const char *const %s[] = {\n", name);
	for (int i = first; i < last; i++) {
		char *text = read_file(files[i]);

		(void)fputc('\t', f);
		quote(f, text);
		(void)fputs(",\n", f);
		free(text);
	}
	(void)fputs("\tNULL\n};\n", f);
}

static void write_source(const char *folder, int rules, int sqls)
{
	FILE *f = output(folder, "sql.c");

	(void)fputs(
	    "#include \"sql.h\"\n\nconst struct sql_statement sql_statements[SQL_COUNT] = {\n", f);
	for (int i = 0; i < statement_count; i++) {
		(void)fprintf(f, "\t{ \"%s\",\n\t", statements[i].name);
		quote(f, statements[i].text);
		(void)fprintf(f, ", %d },\n", statements[i].reads_only);
	}
	(void)fputs("};\nconst struct sql_bell sql_bells[] = {\n", f);
	for (int i = 0; i < table_count; i++)
		if (tables[i].rings[0])
			(void)fprintf(f, "\t{ \"%s\", \"%s\" },\n", tables[i].name,
			              tables[i].rings);
	(void)fputs("\t{ NULL, NULL }\n};\n", f);
	write_texts(f, "sql_migrations", 0, rules);
	write_texts(f, "sql_rules", rules, sqls);
	(void)fclose(f);
}

int main(int argc, char **argv)
{
	int rules, sqls;

	if (argc != 3) {
		(void)fputs("usage: sqlgen SOURCE_DIR OUTPUT_DIR\n", stderr);
		return 64;
	}
	source = argv[1];
	if (sqlite3_open(":memory:", &db) != SQLITE_OK)
		die("sqlite");
	(void)list("schema");
	rules = list("schema/rules");
	sqls = list("sql");
	for (int i = 0; i < sqls; i++) {
		char *text = read_file(files[i]);

		load(files[i], text);
		if (i < rules)
			read_remarks(text);
		free(text);
	}
	for (int i = sqls; i < file_count && failures == 0; i++)
		read_statements(files[i]);
	if (failures == 0) {
		trace_triggers();
		check_graph();
	}
	if (failures == 0) {
		write_header(argv[2]);
		write_source(argv[2], rules, sqls);
	}
	for (int i = 0; i < statement_count; i++)
		free(statements[i].text);
	for (int i = 0; i < file_count; i++)
		free(files[i]);
	(void)sqlite3_close(db);
	return failures ? 1 : 0;
}
