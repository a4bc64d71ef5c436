/* sql.h, sql.c, image.c and calls.c for the programs; schema.sql for tests and for people. */
#include "sqlgen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { APPLICATION_ID = 0x49434F4D }; /* "ICOM" */

static const char MADE[] = "/* Made by sqlgen from sql/ and schema/. */\n";

static void quote(struct str *out, const char *text)
{
	str_add_char(out, '"');
	for (; *text; text++) {
		if (*text == '\n')
			str_add(out, "\\n\"\n\t\"");
		else if (strchr("\"\\?", *text))
			str_addf(out, "\\%c", *text);
		else
			str_add_char(out, *text);
	}
	str_add_char(out, '"');
}

static void emit_bells(struct str *out, const struct schema *s)
{
	struct bells *bells = xcalloc(1, sizeof(*bells));

	bells_list(s, bells);
	str_add(out, "const struct sql_bell sql_bells[] = {\n");
	for (int i = 0; i < bells->count; i++)
		str_addf(out, "\t{ \"%s\", \"%s\" },\n", bells->bell[i].table,
		         bells->bell[i].worker);
	str_add(out, "\t{ NULL, NULL }\n};\n");
	free(bells);
}

/* ---- sql.h ---- */

static void emit_header(const char *folder, const struct statements *list, int steps)
{
	OWNED(str) struct str out = { 0 };

	str_add(&out, MADE);
	str_addf(&out,
	         "#ifndef SQL_H\n#define SQL_H\n\n#include <stddef.h>\n\nenum { SQL_COUNT = %d "
	         "};\n",
	         list->count);
	str_addf(
	    &out,
	    "\n/* PRAGMA user_version: of the schema that steps begin from, and of this one. */\n"
	    "enum { SQL_BASE_VERSION = %d, SQL_SCHEMA_VERSION = %d };\n"
	    "/* PRAGMA application_id */\nenum { SQL_APPLICATION_ID = %d };\n\n",
	    BASE_VERSION, BASE_VERSION + steps, APPLICATION_ID);
	str_add(&out,
	        "struct sql_statement {\n\tconst char *name;\n\tconst char *text;\n\tint "
	        "reads_only;\n};\n"
	        "struct sql_bell {\n\tconst char *table;\n\tconst char *worker;\n};\n"
	        "struct sql_rule {\n\tconst char *type; /* view, trigger */\n\tconst char "
	        "*name;\n\tconst char *text; /* as sqlite_schema holds it */\n};\n"
	        "extern const struct sql_statement sql_statements[SQL_COUNT];\n"
	        "/* In the order in which they are rung; ends with a NULL table. */\n"
	        "extern const struct sql_bell sql_bells[];\n"
	        "extern const char *const sql_steps[]; /* ends with NULL */\n"
	        "/* In the order in which they are made; ends with a NULL name. */\n"
	        "extern const struct sql_rule sql_rules[];\n"
	        "/* A new database, as a file, page by page: two bytes that say how many bytes "
	        "it\n * begins with, two that say how many it ends with (big-endian), and "
	        "these; the bytes\n * between them are 0. */\n"
	        "extern const unsigned char sql_image[];\n"
	        "extern const int sql_image_pages, sql_image_page_bytes;\n\n#endif\n");
	source_write(folder, "sql.h", str_text(&out));
}

/* ---- sql.c ---- */

static void emit_texts(struct str *out, const char *name, const struct sources *s)
{
	str_addf(out, "const char *const %s[] = {\n", name);
	for (int i = 0; i < s->count; i++) {
		str_add_char(out, '\t');
		quote(out, s->file[i].text);
		str_add(out, ",\n");
	}
	str_add(out, "\tNULL\n};\n");
}

/* Views first: a trigger may be on one. Everything else stays in the order in which it was made. */
static sqlite3_stmt *rules(const struct schema *schema)
{
	sqlite3_stmt *s = NULL;

	(void)sqlite3_prepare_v2(schema->db,
	                         "SELECT type, name, sql FROM sqlite_schema WHERE type IN "
	                         "('view', 'trigger') ORDER BY type DESC, rowid",
	                         -1, &s, NULL);
	return s;
}

static void emit_rules(struct str *out, const struct schema *schema)
{
	sqlite3_stmt *s = rules(schema);

	str_add(out, "const struct sql_rule sql_rules[] = {\n");
	while (sqlite3_step(s) == SQLITE_ROW) {
		str_addf(out, "\t{ \"%s\", \"%s\",\n\t", sqlite3_column_text(s, 0),
		         sqlite3_column_text(s, 1));
		quote(out, (const char *)sqlite3_column_text(s, 2));
		str_add(out, " },\n");
	}
	(void)sqlite3_finalize(s);
	str_add(out, "\t{ NULL, NULL, NULL }\n};\n");
}

static void emit_source(const char *folder, const struct schema *s, const struct statements *list,
                        const struct sources *steps)
{
	OWNED(str) struct str out = { 0 };

	str_add(&out, MADE);
	str_add(&out,
	        "#include \"sql.h\"\n\nconst struct sql_statement sql_statements[SQL_COUNT] = {\n");
	for (int i = 0; i < list->count; i++) {
		str_addf(&out, "\t{ \"%s\",\n\t", list->one[i].name);
		quote(&out, list->one[i].text);
		str_addf(&out, ", %d },\n", list->one[i].reads_only);
	}
	str_add(&out, "};\n");
	emit_bells(&out, s);
	emit_texts(&out, "sql_steps", steps);
	emit_rules(&out, s);
	source_write(folder, "sql.c", str_text(&out));
}

static void emit_calls(const char *folder, const struct schema *s, const struct statements *list)
{
	OWNED(str) struct str out = { 0 };

	str_add(&out, MADE);
	calls_define(&out, s, list);
	source_write(folder, "calls.c", str_text(&out));
}

/* ---- a new database ---- */

/* As SQL, in the order in which it is made. */
static void write_schema(struct str *out, const struct schema *schema, int steps)
{
	sqlite3_stmt *s = rules(schema);

	str_addf(out,
	         "-- Made by sqlgen from schema/.\nPRAGMA application_id = %d;\nPRAGMA "
	         "user_version = %d;\n",
	         APPLICATION_ID, BASE_VERSION + steps);
	for (int i = 0; i < schema->nouns.count; i++)
		str_add(out, schema->nouns.file[i].text);
	while (sqlite3_step(s) == SQLITE_ROW)
		str_addf(out, "%s;\n", (const char *)sqlite3_column_text(s, 2));
	(void)sqlite3_finalize(s);
}

static void quote_bytes(struct str *out, const unsigned char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if (bytes[i] == '\n')
			str_add(out, "\\n\"\n\t\"");
		else if (bytes[i] < ' ' || bytes[i] > '~' || strchr("\"\\?", bytes[i]))
			str_addf(out, "\\%03o", bytes[i]);
		else
			str_add_char(out, (char)bytes[i]);
	}
}

/* A page of a B-tree begins with where its cells are and ends with the cells. */
static void quote_page(struct str *out, const unsigned char *page, size_t size)
{
	size_t head = 0, longest = 0, zeros = 0;

	for (size_t i = 0; i < size; i++) {
		zeros = page[i] ? 0 : zeros + 1;
		if (zeros > longest) {
			longest = zeros;
			head = i + 1 - zeros;
		}
	}
	const size_t tail = size - head - longest;
	const unsigned char lengths[] = { (unsigned char)(head >> 8), (unsigned char)head,
		                          (unsigned char)(tail >> 8), (unsigned char)tail };
	str_add(out, "\t\"");
	quote_bytes(out, lengths, sizeof(lengths));
	quote_bytes(out, page, head);
	quote_bytes(out, page + size - tail, tail);
	str_add(out, "\"\n");
}

/* Name and text of each table or index, as sqlite_schema holds them. */
static void emit_schema(struct str *out, sqlite3 *db, const char *type, const char *array)
{
	sqlite3_stmt *s = NULL;

	(void)sqlite3_prepare_v2(db,
	                         "SELECT name, sql FROM sqlite_schema WHERE type = ?1 AND "
	                         "name NOT GLOB 'sqlite_*' ORDER BY name",
	                         -1, &s, NULL);
	(void)sqlite3_bind_text(s, 1, type, -1, SQLITE_STATIC);
	str_addf(out, "extern const char *const %s[];\nconst char *const %s[] = {\n", array, array);
	while (sqlite3_step(s) == SQLITE_ROW) {
		str_addf(out, "\t\"%s\",\n\t", sqlite3_column_text(s, 0));
		quote(out, (const char *)sqlite3_column_text(s, 1));
		str_add(out, ",\n");
	}
	(void)sqlite3_finalize(s);
	str_add(out, "\tNULL\n};\n");
}

/* What SQLite makes of the schema, so that no start has to make it again. */
static void emit_image(const char *folder, const struct str *schema)
{
	OWNED(str) struct str out = { 0 };
	sqlite3 *db = NULL;
	sqlite3_int64 size = 0;
	unsigned char *image = NULL;
	char *page_bytes = NULL;

	if (sqlite3_open(":memory:", &db) == SQLITE_OK &&
	    sqlite3_exec(db, schema->bytes, NULL, NULL, NULL) == SQLITE_OK) {
		image = sqlite3_serialize(db, "main", &size, 0);
		page_bytes = query_text(db, "PRAGMA page_size", NULL);
	}
	if (!image || !page_bytes)
		die("the image of a new database");
	const size_t bytes = strtoul(page_bytes, NULL, 10);
	str_add(&out, MADE);
	str_addf(
	    &out,
	    "#include \"sql.h\"\n\nconst int sql_image_pages = %d, sql_image_page_bytes = %s;\n"
	    "const unsigned char sql_image[] =\n",
	    (int)((size_t)size / bytes), page_bytes);
	for (size_t at = 0; at < (size_t)size; at += bytes)
		quote_page(&out, image + at, bytes);
	str_add(&out, ";\n");
	emit_schema(&out, db, "table", "sql_tables");
	emit_schema(&out, db, "index", "sql_indexes");
	source_write(folder, "image.c", str_text(&out));
	free(page_bytes);
	sqlite3_free(image);
	(void)sqlite3_close(db);
}

void emit(const char *folder, const struct schema *s, const struct statements *list,
          const struct sources *steps)
{
	OWNED(str) struct str schema = { 0 };

	emit_header(folder, list, steps->count);
	calls_declare(folder, s, list);
	emit_source(folder, s, list, steps);
	emit_calls(folder, s, list);
	write_schema(&schema, s, steps->count);
	emit_image(folder, &schema);
	source_write(folder, "schema.sql", str_text(&schema));
}
