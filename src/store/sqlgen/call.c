/* Statements as functions: sql/<noun>.h and their definitions. */
#include "sqlgen.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { POSITIONAL = 4 }; /* parameters; more are passed in a struct */

static void upper(struct str *out, const char *text)
{
	for (; *text; text++)
		str_add_char(out, isalnum((unsigned char)*text) ? (char)toupper(*text) : '_');
}

/* ---- sets ---- */

static void declare_set(struct str *out, const struct set *set)
{
	str_addf(out, "enum %s {\n\t", set->name);
	upper(out, set->name);
	str_add(out, "_NONE,\n");
	for (int i = 0; i < set->words; i++) {
		str_add_char(out, '\t');
		upper(out, set->name);
		str_add_char(out, '_');
		upper(out, set->word[i]);
		str_add(out, ",\n");
	}
	str_addf(out,
	         "};\nextern const char *const %s_words[];\n"
	         "static inline const char *%s_name(enum %s word)\n{\n\treturn "
	         "%s_words[word];\n}\n"
	         "static inline enum %s %s_of(const char *text)\n{\n\treturn (enum "
	         "%s)row_word(%s_words, text);\n}\n\n",
	         set->name, set->name, set->name, set->name, set->name, set->name, set->name,
	         set->name);
}

static void define_set(struct str *out, const struct set *set)
{
	str_addf(out, "const char *const %s_words[] = { NULL", set->name);
	for (int i = 0; i < set->words; i++)
		str_addf(out, ", \"%s\"", set->word[i]);
	str_add(out, ", NULL };\n");
}

static void declare_sets(const char *folder, const struct schema *s)
{
	OWNED(str) struct str out = { 0 };

	str_add(&out,
	        "/* Made by sqlgen from schema/: what a column holds one of. NONE: it is NULL, "
	        "or none of them. */\n#ifndef SQL_SETS_H\n#define SQL_SETS_H\n\n"
	        "#include \"row.h\"\n\n");
	for (int i = 0; i < s->sets; i++)
		if (s->set[i].used)
			declare_set(&out, &s->set[i]);
	str_add(&out, "#endif\n");
	source_write(folder, "sql/sets.h", str_text(&out));
}

/* ---- types ---- */

/* The type, and a blank or a star. */
static void add_type(struct str *out, const struct value *v, bool is_parameter)
{
	static const char *const NAMES[] = {
		[TYPE_UNKNOWN] = "void ",     [TYPE_INTEGER] = "int64_t ",
		[TYPE_SEQ] = "int64_t ",      [TYPE_BOOL] = "bool ",
		[TYPE_TEXT] = "const char *", [TYPE_BYTES] = "struct sql_bytes ",
		[TYPE_SET] = "enum "
	};

	if (is_parameter && v->type == TYPE_INTEGER && v->may_be_null)
		str_add(out, "const int64_t *");
	else if (v->type == TYPE_SET)
		str_addf(out, "enum %s ", v->set);
	else
		str_add(out, NAMES[v->type]);
}

static bool gives_row(const struct statement *st)
{
	return st->answer == ANSWER_ONE || st->answer == ANSWER_MANY;
}

/* The first statement whose rows have this type. */
static const struct statement *first_of(const struct statements *list, const char *row)
{
	const struct statement *st = list->one;

	while (!gives_row(st) || strcmp(st->row, row) != 0)
		st++;
	return st;
}

static bool same_type(const struct value *a, const struct value *b)
{
	bool integers = (a->type == TYPE_INTEGER || a->type == TYPE_SEQ) &&
	                (b->type == TYPE_INTEGER || b->type == TYPE_SEQ);

	return (integers || a->type == b->type) && strcmp(a->set, b->set) == 0 &&
	       a->may_be_null == b->may_be_null;
}

/* ---- rows ---- */

static bool has_member(const struct value *members, int count, const struct statement *st,
                       const struct value *v)
{
	for (int i = 0; i < count; i++) {
		if (strcmp(members[i].name, v->name) != 0)
			continue;
		if (!same_type(&members[i], v))
			complain("sql/%s.sql: %s: %s is of another type in other rows named %s",
			         st->noun, st->name, v->name, st->row);
		return true;
	}
	return false;
}

/* All columns of all statements whose rows have this type. */
static void declare_row(struct str *out, const struct statements *list, const char *row)
{
	struct value *members = xcalloc(MAX_COLUMNS, sizeof(*members));
	int count = 0;

	str_addf(out, "struct %s_row {\n\tstruct row row;\n", row);
	for (int i = 0; i < list->count; i++) {
		const struct statement *st = &list->one[i];

		for (int k = 0; gives_row(st) && strcmp(st->row, row) == 0 && k < st->columns; k++)
			if (!has_member(members, count, st, &st->column[k]) && count < MAX_COLUMNS)
				members[count++] = st->column[k];
	}
	for (int i = 0; i < count; i++) {
		str_add_char(out, '\t');
		add_type(out, &members[i], false);
		str_addf(out, "%s;\n", members[i].name);
		if (members[i].may_be_null)
			str_addf(out, "\tbool has_%s;\n", members[i].name);
	}
	str_addf(out,
	         "};\nstatic inline void %s_row_clear(struct %s_row *row)\n{\n"
	         "\trow_clear(&row->row);\n}\n",
	         row, row);
	free(members);
}

void calls_check(const struct statements *list)
{
	for (int i = 0; i < list->count; i++) {
		OWNED(str) struct str row = { 0 };

		if (gives_row(&list->one[i]) && first_of(list, list->one[i].row) == &list->one[i])
			declare_row(&row, list, list->one[i].row);
	}
}

static void define_shape(struct str *out, const struct statement *st)
{
	static const char *const NAMES[] = {
		[TYPE_UNKNOWN] = "",        [TYPE_INTEGER] = "ROW_INTEGER",
		[TYPE_SEQ] = "ROW_INTEGER", [TYPE_BOOL] = "ROW_BOOL",
		[TYPE_TEXT] = "ROW_TEXT",   [TYPE_BYTES] = "ROW_BYTES",
		[TYPE_SET] = "ROW_WORD"
	};

	str_addf(out, "static const struct row_column %s_columns[] = {\n", st->name);
	for (int i = 0; i < st->columns; i++) {
		const struct value *v = &st->column[i];

		str_addf(out, "\t{ %s, offsetof(struct %s_row, %s), ", NAMES[v->type], st->row,
		         v->name);
		if (v->may_be_null)
			str_addf(out, "offsetof(struct %s_row, has_%s)", st->row, v->name);
		else
			str_add_char(out, '0');
		str_addf(out, ", %s%s },\n", v->type == TYPE_SET ? v->set : "",
		         v->type == TYPE_SET ? "_words" : "NULL");
	}
	str_addf(out,
	         "};\nstatic const struct row_shape %s_shape = { %s_columns, %d, sizeof(struct "
	         "%s_row) };\n",
	         st->name, st->name, st->columns, st->row);
}

/* ---- functions ---- */

static void declare_args(struct str *out, const struct statement *st)
{
	if (st->parameters <= POSITIONAL)
		return;
	str_addf(out, "struct %s_args {\n", st->name);
	for (int i = 0; i < st->parameters; i++) {
		str_add_char(out, '\t');
		add_type(out, &st->parameter[i], true);
		str_addf(out, "%s;\n", st->parameter[i].name);
	}
	str_add(out, "};\n");
}

static void add_head(struct str *out, const struct statement *st)
{
	static const char *const RESULTS[] = {
		[ANSWER_NONE] = "void", [ANSWER_ONE] = "int",        [ANSWER_MANY] = "void",
		[ANSWER_ANY] = "int",   [ANSWER_NUMBER] = "int64_t", [ANSWER_EXEC] = "int",
		[ANSWER_ROWS] = "int",  [ANSWER_INSERT] = "int64_t"
	};

	str_addf(out, "%s sql_%s(struct store *st", RESULTS[st->answer], st->name);
	if (st->parameters > POSITIONAL)
		str_addf(out, ", const struct %s_args *args", st->name);
	for (int i = 0; st->parameters <= POSITIONAL && i < st->parameters; i++) {
		str_add(out, ", ");
		add_type(out, &st->parameter[i], true);
		str_add(out, st->parameter[i].name);
	}
	if (gives_row(st))
		str_addf(out, ", struct %s_row *row", st->row);
	str_add(out, st->answer == ANSWER_MANY ? ")" : ", struct err *e)");
}

static void declare_function(struct str *out, const struct statements *list,
                             const struct statement *st)
{
	static const char *const TELLS[] = { [ANSWER_NONE] = "",
		                             [ANSWER_ONE] = "1 there is a row, 0 none, -1 error.",
		                             [ANSWER_MANY] = "Rows by row_next(&row->row, e).",
		                             [ANSWER_ANY] = "1 there is a row, 0 none, -1 error.",
		                             [ANSWER_NUMBER] =
		                                 "The number, 0: no row or NULL, -1 error.",
		                             [ANSWER_EXEC] = "0 or -1.",
		                             [ANSWER_ROWS] = "How many rows it changed, -1 error.",
		                             [ANSWER_INSERT] =
		                                 "The seq of the new row, -1 error." };

	if (gives_row(st) && first_of(list, st->row) == st)
		declare_row(out, list, st->row);
	declare_args(out, st);
	str_addf(out, "/* %s%s%s */\n", st->remark, *st->remark ? "\n * " : "", TELLS[st->answer]);
	add_head(out, st);
	str_add(out, ";\n\n");
}

static void define_bind(struct str *out, const struct statement *st, const struct value *v)
{
	const char *from = st->parameters > POSITIONAL ? "args->" : "";
	const char *copy = st->answer == ANSWER_MANY ? "true" : "false";

	switch (v->type) {
	case TYPE_UNKNOWN:
		break;
	case TYPE_INTEGER:
		str_addf(out, "\trow_bind_%s(s, %d, %s%s);\n",
		         v->may_be_null ? "nullable" : "integer", v->at, from, v->name);
		break;
	case TYPE_SEQ:
		str_addf(out, "\trow_bind_seq(s, %d, %s%s);\n", v->at, from, v->name);
		break;
	case TYPE_BOOL:
		str_addf(out, "\trow_bind_integer(s, %d, %s%s);\n", v->at, from, v->name);
		break;
	case TYPE_TEXT:
		str_addf(out, "\trow_bind_text(s, %d, %s%s, %s);\n", v->at, from, v->name, copy);
		break;
	case TYPE_BYTES:
		str_addf(out, "\trow_bind_bytes(s, %d, %s%s, %s);\n", v->at, from, v->name, copy);
		break;
	case TYPE_SET:
		str_addf(out, "\trow_bind_word(s, %d, %s_words, %s%s);\n", v->at, v->set, from,
		         v->name);
		break;
	}
}

static void define_function(struct str *out, const struct statements *list,
                            const struct statement *st)
{
	static const char *const CALLS[] = { [ANSWER_NONE] = "",
		                             [ANSWER_ONE] =
		                                 "\treturn row_one(s, &%s_shape, &row->row, e);\n",
		                             [ANSWER_MANY] =
		                                 "\trow_many(s, &%s_shape, &row->row);\n",
		                             [ANSWER_ANY] = "\treturn row_any(s, e);\n",
		                             [ANSWER_NUMBER] = "\treturn row_number(s, e);\n",
		                             [ANSWER_EXEC] = "\treturn row_exec(s, e);\n",
		                             [ANSWER_ROWS] = "\treturn row_count(s, e);\n",
		                             [ANSWER_INSERT] = "\treturn row_insert(s, e);\n" };
	const char *call = CALLS[st->answer], *name = strstr(call, "%s");

	if (gives_row(st))
		define_shape(out, st);
	add_head(out, st);
	str_addf(out, "\n{\n\tstmt *s = store_stmt(st, %d);\n", (int)(st - list->one));
	for (int i = 0; i < st->parameters; i++)
		define_bind(out, st, &st->parameter[i]);
	if (name) {
		str_add_bytes(out, call, (size_t)(name - call));
		str_addf(out, "%s%s", st->name, name + 2);
	} else {
		str_add(out, call);
	}
	str_add(out, "}\n");
}

/* ---- files ---- */

/* Whether an earlier statement is in the same file. */
static bool is_next_of_file(const struct statements *list, int i)
{
	return i > 0 && strcmp(list->one[i - 1].noun, list->one[i].noun) == 0;
}

/* Includes the headers that declare the rows of this file's statements. */
static void include_rows(struct str *out, const struct statements *list, const char *noun)
{
	OWNED(str) struct str done = { 0 };

	for (int i = 0; i < list->count; i++) {
		const struct statement *st = &list->one[i], *first;
		OWNED(str) struct str line = { 0 };

		if (strcmp(st->noun, noun) != 0 || !gives_row(st))
			continue;
		first = first_of(list, st->row);
		str_addf(&line, "#include \"sql/%s.h\"\n", first->noun);
		if (strcmp(first->noun, noun) != 0 && !strstr(str_text(&done), line.bytes))
			str_add(&done, line.bytes);
	}
	str_add(out, str_text(&done));
}

static void declare_noun(const char *folder, const struct statements *list, int from)
{
	const char *noun = list->one[from].noun;
	OWNED(str) struct str out = { 0 }, name = { 0 };

	str_addf(&out, "/* Made by sqlgen from sql/%s.sql. */\n#ifndef SQL_", noun);
	upper(&out, noun);
	str_add(&out, "_H\n#define SQL_");
	upper(&out, noun);
	str_add(&out, "_H\n\n#include \"sql/sets.h\"\n");
	include_rows(&out, list, noun);
	str_add_char(&out, '\n');
	for (int i = from; i < list->count && (i == from || is_next_of_file(list, i)); i++)
		if (list->one[i].answer != ANSWER_NONE)
			declare_function(&out, list, &list->one[i]);
	str_add(&out, "#endif\n");
	str_addf(&name, "sql/%s.h", noun);
	source_write(folder, name.bytes, str_text(&out));
}

void calls_declare(const char *folder, const struct schema *s, const struct statements *list)
{
	char path[4096];

	(void)snprintf(path, sizeof(path), "%s/sql", folder);
	(void)mkdir(path, 0777);
	declare_sets(folder, s);
	for (int i = 0; i < list->count; i++)
		if (!is_next_of_file(list, i))
			declare_noun(folder, list, i);
}

void calls_define(struct str *out, const struct schema *s, const struct statements *list)
{
	str_add(out, "#include \"store_core.h\"\n");
	for (int i = 0; i < list->count; i++)
		if (!is_next_of_file(list, i))
			str_addf(out, "#include \"sql/%s.h\"\n", list->one[i].noun);
	for (int i = 0; i < s->sets; i++)
		if (s->set[i].used)
			define_set(out, &s->set[i]);
	for (int i = 0; i < list->count; i++)
		if (list->one[i].answer != ANSWER_NONE)
			define_function(out, list, &list->one[i]);
}
