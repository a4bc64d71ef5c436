/* agent-intercom-schema(5), from schema/<noun>.sql and the views of schema/rules/. */
#include "docgen.h"

#include <ctype.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 1000 };

/* Remarks for sqlgen, not for readers. */
static bool is_order(const char *remark)
{
	static const char *const ORDERS[] = { "rings:",   "moves:", "fixed", "closed",   "upserts:",
		                              "repeats:", "free",   "small", "refuses:", "type:" };

	for (size_t i = 0; i < COUNT(ORDERS); i++)
		if (strncmp(remark, ORDERS[i], strlen(ORDERS[i])) == 0)
			return true;
	return false;
}

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

struct reading {
	struct str *out;
	struct str remarks; /* above what comes next */
	struct str about; /* the column that was begun: its remark */
	char column[100], type[20];
	bool in_table;
};

static void end_column(struct reading *r)
{
	if (*r->column)
		man_term(r->out, r->column, r->type, r->about.length ? str_text(&r->about) : "\\&");
	*r->column = '\0';
	str_reset(&r->about);
}

static void add_remark(struct str *out, const char *remark)
{
	str_addf(out, "%s%s", out->length ? " " : "", remark);
}

/* "  name TYPE ... -- remark", a line that continues the remark, or a constraint of the table. */
static void take_table_line(struct reading *r, const char *line)
{
	const char *text = skip_blanks(line), *remark = strstr(line, "-- ");
	char type[20] = "";
	int length = (int)strcspn(text, " ");

	if (*line == ')') {
		end_column(r);
		r->in_table = false;
		return;
	}
	if (islower((unsigned char)*text) && text - line == 2 &&
	    sscanf(text + length, " %19[A-Z]", type) == 1) {
		end_column(r);
		(void)snprintf(r->column, sizeof(r->column), "%.*s", length, text);
		(void)snprintf(r->type, sizeof(r->type), "%s", type);
	} else if (text - line == 2) {
		end_column(r);
	}
	if (remark && *r->column)
		add_remark(&r->about, remark + 3);
}

static void begin(struct reading *r, const char *kind, const char *name)
{
	struct str title = { 0 };

	str_addf(&title, "%s%.*s", kind, (int)strcspn(name, " (\n"), name);
	man_subsection(r->out, str_text(&title));
	if (r->remarks.length)
		man_paragraph(r->out, str_text(&r->remarks));
	str_reset(&r->remarks);
	str_clear(&title);
}

static void take_line(struct reading *r, const char *line)
{
	static const char TABLE[] = "CREATE TABLE ", VIEW[] = "CREATE VIEW ";

	if (r->in_table) {
		take_table_line(r, line);
	} else if (strncmp(line, "-- ", 3) == 0) {
		if (!is_order(line + 3))
			add_remark(&r->remarks, line + 3);
	} else if (strncmp(line, TABLE, strlen(TABLE)) == 0) {
		begin(r, "table ", line + strlen(TABLE));
		r->in_table = !strchr(line, ')');
	} else if (strncmp(line, VIEW, strlen(VIEW)) == 0) {
		begin(r, "view ", line + strlen(VIEW));
	} else {
		str_reset(&r->remarks);
	}
}

static void read_file(struct reading *r, const char *path)
{
	FILE *file = fopen(path, "re");
	char line[LINE_BYTES];

	if (!file) {
		perror(path);
		exit(EXIT_FAILURE);
	}
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		take_line(r, line);
	}
	(void)fclose(file);
}

static void read_all(struct reading *r, const char *source, const char *pattern)
{
	struct str path = { 0 };
	glob_t found = { 0 };

	str_addf(&path, "%s/%s", source, pattern);
	if (glob(str_text(&path), 0, NULL, &found) != 0) {
		(void)fprintf(stderr, "docgen: nothing matches %s\n", str_text(&path));
		exit(EXIT_FAILURE);
	}
	for (size_t i = 0; i < found.gl_pathc; i++)
		read_file(r, found.gl_pathv[i]);
	globfree(&found);
	str_clear(&path);
}

void page_schema(struct str *out, const char *source)
{
	struct reading r = { .out = out };

	man_begin(out, "agent-intercom-schema", 5, "the tables of agent-intercom's database");
	man_section(out, "DESCRIPTION");
	man_paragraph(out, "`agent-intercom where database` prints where the database is. It may "
	                   "be read, and decided "
	                   "in, with the sqlite3 shell, also while the system runs: its rules hold "
	                   "for every writer. "
	                   "To approve a question by its id:");
	man_lines(out, "SELECT id, kind, title, file_path FROM inbox;\n"
	               "INSERT INTO decision (request_id, verdict) VALUES ('0190…', 'approve');\n");
	man_paragraph(
	    out,
	    "The word before a column's remark says what may become of it: fixed: it never "
	    "changes; "
	    "once: it is fixed once it is not NULL; grows: it never decreases; forgets: it changes "
	    "to "
	    "NULL only; later: it is NULL at birth; free: it may change. The whole schema is in "
	    "share/agent-intercom/schema.sql.");
	man_section(out, "TABLES");
	read_all(&r, source, "schema/*.sql");
	man_section(out, "VIEWS");
	read_all(&r, source, "schema/rules/*.sql");
	man_section(out, "SEE ALSO");
	str_add(out,
	        ".BR agent\\-intercom (1),\n.BR agent\\-intercom\\-ctl (1),\n.BR sqlite3 (1)\n");
	str_clear(&r.remarks);
	str_clear(&r.about);
}
