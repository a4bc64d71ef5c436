/* usage: sqlgen [--write | --workers] SOURCE_DIR OUTPUT_DIR
 *
 * Checks schema/ and sql/ and writes sql.h, sql.c, image.c, sql/<noun>.h and schema.sql into
 * OUTPUT_DIR. The build stops, with file and line, on a statement that does not prepare, a
 * statement or a trigger that scans a growing table, a cycle of triggers, a table that does not say
 * what may change, a schema that the steps do not produce, and a stale page. --write writes the
 * pages and, while it is not frozen, the base of the steps. */
#include "sqlgen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of schema/steps/: without the base, whose name has no number. */
static void read_steps(struct sources *steps)
{
	struct sources *all = xcalloc(1, sizeof(*all));

	sources_read(all, "schema/steps");
	for (int i = 0; i < all->count; i++) {
		const char *name = strrchr(all->file[i].path, '/') + 1;

		if (strtol(name, NULL, 10) > 0)
			steps->file[steps->count++] = all->file[i];
		else {
			free(all->file[i].path);
			free(all->file[i].text);
		}
	}
	free(all);
}

/* Prints the triggers that a table's remarks become, for readers. */
static void print_guard(const struct schema *s, const char *table, bool write)
{
	OWNED(str) struct str text = { 0 };
	sqlite3_stmt *list = NULL;

	str_add(&text, "```sql\n");
	(void)sqlite3_prepare_v2(s->db,
	                         "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND "
	                         "tbl_name = ? ORDER BY rowid DESC",
	                         -1, &list, NULL);
	(void)sqlite3_bind_text(list, 1, table, -1, SQLITE_STATIC);
	while (sqlite3_step(list) == SQLITE_ROW)
		str_addf(&text, "%s;\n", (const char *)sqlite3_column_text(list, 0));
	(void)sqlite3_finalize(list);
	str_add(&text, "```\n");
	page_put("schema/README.md", "guard", text.bytes, write);
}

static void print_pages(const struct schema *s, const struct str *graph, bool write)
{
	OWNED(str) struct str text = { 0 };

	print_guard(s, "pause", write);
	str_addf(&text, "```\n%s```\n", str_text(graph));
	page_put("schema/README.md", "trigger graph", text.bytes, write);
}

static void print_workers(const struct schema *s, const struct statements *list, bool write)
{
	OWNED(str) struct str text = { 0 };

	uses_print(s, list, &text);
	page_put("workers/README.md", "table of workers", text.bytes, write);
}

int main(int argc, char **argv)
{
	bool write = argc > 1 && strcmp(argv[1], "--write") == 0;
	bool workers = argc > 1 && strcmp(argv[1], "--workers") == 0;
	struct schema *s = xcalloc(1, sizeof(*s));
	struct statements *list = xcalloc(1, sizeof(*list));
	struct sources *sql = xcalloc(1, sizeof(*sql)), *steps = xcalloc(1, sizeof(*steps));
	OWNED(str) struct str graph = { 0 };

	if (argc != 3 + (write || workers)) {
		(void)fputs("usage: sqlgen [--write | --workers] SOURCE_DIR OUTPUT_DIR\n", stderr);
		return 64;
	}
	source_dir = argv[argc - 2];
	schema_load(s);
	read_steps(steps);
	sources_read(sql, "sql");
	if (failures == 0)
		statements_load(list, s, sql);
	if (failures == 0 && !workers)
		triggers_check(s, &graph);
	if (failures == 0 && !workers) {
		print_pages(s, &graph, write);
		base_check(s, steps, write);
	}
	if (failures == 0 && !workers)
		calls_check(list);
	if (failures == 0 && (write || workers))
		print_workers(s, list, write);
	if (failures == 0 && !workers)
		emit(argv[argc - 1], s, list, steps);
	statements_clear(list);
	sources_clear(sql);
	sources_clear(steps);
	schema_clear(s);
	free(list);
	free(sql);
	free(steps);
	free(s);
	return failures ? 1 : 0;
}
