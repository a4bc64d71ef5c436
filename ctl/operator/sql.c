/* sql: one query on the rows. */
#include "ctl.h"

#include <stdio.h>

struct output {
	struct ctl *c;
	struct table table;
	cJSON *rows;
};

static void add_object(int columns, const char *const *names, const char *const *values, void *arg)
{
	struct output *o = arg;
	cJSON *row = cJSON_CreateObject();

	for (int i = 0; i < columns; i++)
		json_add_text(row, names[i], values[i]);
	(void)cJSON_AddItemToArray(o->rows, row);
}

/* In a pipe: values unchanged, as sqlite3 -tabs prints them. */
static void print_tabs(int columns, const char *const *names, const char *const *values, void *arg)
{
	(void)names;
	(void)arg;
	for (int i = 0; i < columns; i++) {
		if (i > 0)
			(void)putchar('\t');
		(void)fputs(values[i] ? values[i] : "", stdout);
	}
	(void)putchar('\n');
}

static void add_cells(int columns, const char *const *names, const char *const *values, void *arg)
{
	struct output *o = arg;

	if (o->table.columns != (size_t)columns) { /* the first row, or that of another statement */
		if (o->table.columns)
			table_print(o->c, &o->table);
		table_clear(&o->table);
		table_begin(&o->table, names, (size_t)columns);
	}
	for (int i = 0; i < columns; i++)
		table_add(&o->table, values[i]);
}

static int run_sql(struct ctl *c, struct err *e)
{
	struct output o = { .c = c };
	int status;

	if (c->json_asked) {
		o.rows = cJSON_CreateArray();
		status = store_query(&c->store, c->argv[0], add_object, &o, e);
		if (status == 0)
			json_print(c, o.rows);
		else
			cJSON_Delete(o.rows);
		return status;
	}
	if (!c->terminal && !c->text_asked)
		return store_query(&c->store, c->argv[0], print_tabs, &o, e);
	status = store_query(&c->store, c->argv[0], add_cells, &o, e);
	if (status == 0 && o.table.columns)
		table_print(c, &o.table);
	table_clear(&o.table);
	return status;
}

const struct command_spec cmd_sql = { "sql",
	                              HELP("\"SELECT ...\"",
	                                   "look at the rows yourself (reading only)",
	                                   "On a terminal, aligned columns under their names. In a "
	                                   "pipe, values as they are, separated\n"
	                                   "by tabs, without names. With --json, an array of "
	                                   "objects whose values are texts or null.\n"),
	                              ARGUMENTS(1, 1, 0), .run = run_sql };
