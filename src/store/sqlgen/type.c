/* The C types of the parameters and columns of a statement: from a remark, from the column that
 * they come from or are compared with, or from their name. */
#include "sqlgen.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The next occurrence of the word in text; NULL: none. */
static const char *find_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = text; (at = strstr(at, word)) != NULL; at += n)
		if ((at == text || !source_is_word(at[-1])) && !source_is_word(at[n]))
			return at;
	return NULL;
}

/* ---- from a column ---- */

static void set_text(struct value *v, const char *set)
{
	v->type = *set ? TYPE_SET : TYPE_TEXT;
	(void)snprintf(v->set, sizeof(v->set), "%s", set);
}

static bool is_seq(const char *name)
{
	return strcmp(name, "seq") == 0 || source_ends_with(name, "_seq");
}

static void set_column(struct value *v, const struct column *c)
{
	bool nullable = !c->not_null && !c->is_key;

	v->may_be_null = false;
	if (strcmp(c->type, "BLOB") == 0)
		v->type = TYPE_BYTES;
	else if (strcmp(c->type, "INTEGER") != 0)
		set_text(v, c->set);
	else if (c->is_bool)
		v->type = TYPE_BOOL;
	else if (is_seq(c->name))
		v->type = nullable ? TYPE_SEQ : TYPE_INTEGER;
	else {
		v->type = TYPE_INTEGER;
		v->may_be_null = nullable;
	}
}

/* Whether the alias stands for the table in the statement: "table AS alias". */
static bool is_alias(const char *sql, const char *alias, const char *table)
{
	char text[2 * NAME_BYTES + 8];

	(void)snprintf(text, sizeof(text), "%s AS %s", table, alias);
	return find_word(sql, text) != NULL;
}

/* The column "c" or "alias.c" of a table that the statement names, if all candidates agree. */
static const struct column *resolve(const struct schema *s, const char *sql, const char *name)
{
	const char *dot = strchr(name, '.');
	const struct column *found = NULL;
	char owner[NAME_BYTES] = "";

	if (dot)
		(void)snprintf(owner, sizeof(owner), "%.*s", (int)(dot - name), name);
	for (int i = 0; i < s->tables; i++) {
		const struct table *t = &s->table[i];
		const struct column *c = table_column(t, dot ? dot + 1 : name);

		if (!c || !find_word(sql, t->name) ||
		    (dot && strcmp(owner, t->name) != 0 && !is_alias(sql, owner, t->name)))
			continue;
		if (found && (strcmp(found->type, c->type) != 0 ||
		              strcmp(found->set, c->set) != 0 || found->is_bool != c->is_bool))
			return NULL;
		found = c;
	}
	return found;
}

/* ---- from a name ---- */

/* The prefixes and suffixes of the schema's names. */
static enum type type_by_name(const char *name)
{
	static const struct {
		const char *end;
		enum type type;
	} ENDS[] = {
		{ "_seq", TYPE_INTEGER },  { "_ms", TYPE_INTEGER },    { "_count", TYPE_INTEGER },
		{ "_at", TYPE_TEXT },      { "_until", TYPE_TEXT },    { "_hash", TYPE_TEXT },
		{ "_id", TYPE_TEXT },      { "seq", TYPE_INTEGER },    { "limit", TYPE_INTEGER },
		{ "at", TYPE_TEXT },       { "since", TYPE_TEXT },     { "count", TYPE_INTEGER },
		{ "after", TYPE_INTEGER }, { "cutoff", TYPE_TEXT },    { "text", TYPE_TEXT },
		{ "channel", TYPE_TEXT },  { "workspace", TYPE_TEXT }, { "why", TYPE_TEXT },
		{ "title", TYPE_TEXT },    { "detail", TYPE_TEXT }
	};

	if (strncmp(name, "is_", 3) == 0 || strncmp(name, "has_", 4) == 0)
		return TYPE_BOOL;
	for (size_t i = 0; i < sizeof(ENDS) / sizeof(ENDS[0]); i++)
		if (ENDS[i].end[0] == '_' ? source_ends_with(name, ENDS[i].end)
		                          : strcmp(name, ENDS[i].end) == 0)
			return ENDS[i].type;
	return TYPE_UNKNOWN;
}

/* ---- from a remark ---- */

static bool said(struct value *v, const struct schema *s, const char *types, const char *colon,
                 const char *where)
{
	static const struct {
		const char *word;
		enum type type;
	} WORDS[] = { { "integer", TYPE_INTEGER }, { "integer?", TYPE_INTEGER },
		      { "seq", TYPE_SEQ },         { "bool", TYPE_BOOL },
		      { "text", TYPE_TEXT },       { "bytes", TYPE_BYTES } };
	char line[2 * NAME_BYTES], word[NAME_BYTES] = "";
	const char *at = types;

	(void)snprintf(line, sizeof(line), "%s%s ", colon, v->name);
	while (at && strncmp(at, line, strlen(line)) != 0)
		at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL;
	if (!at)
		return false;
	(void)sscanf(at + strlen(line), "%79[a-z_?]", word); /* NOLINT(cert-err34-c) */
	for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
		if (strcmp(word, WORDS[i].word) == 0) {
			v->type = WORDS[i].type;
			v->may_be_null = source_ends_with(word, "?");
			return true;
		}
	if (!schema_set(s, word))
		complain("%s: %s%s: there is no type %s", where, colon, v->name, word);
	set_text(v, word);
	return true;
}

/* ---- parameters ---- */

/* The end of the text before at, without blanks. */
static const char *before(const char *sql, const char *at)
{
	while (at > sql && isspace((unsigned char)at[-1]))
		at--;
	return at;
}

/* Copies the "column" or "alias.column" that ends there into name. */
static void name_before(const char *sql, const char *end, char name[2 * NAME_BYTES])
{
	const char *start = end;

	while (start > sql && (source_is_word(start[-1]) || start[-1] == '.'))
		start--;
	(void)snprintf(name, 2 * NAME_BYTES, "%.*s", (int)(end - start), start);
}

/* The column that the parameter there is compared with or assigned to: "c = :p", "c IS :p", "c IN
 * (:o, :p)". */
static const struct column *compared(const struct schema *s, const char *sql, const char *at)
{
	char name[2 * NAME_BYTES];
	const char *end = before(sql, at);

	if (end > sql && strchr("(,", end[-1])) {
		while (end > sql && (source_is_word(end[-1]) || strchr(":, \n", end[-1])))
			end--;
		if (end < sql + 5 || strncmp(end - 4, "IN (", 4) != 0)
			return NULL;
		end -= 4;
	} else if (end > sql && strchr("=<>", end[-1])) {
		while (strchr("=<>", end[-1]))
			end--;
	} else if (end > sql + 7 && strncmp(end - 7, " IS NOT", 7) == 0) {
		end -= 7;
	} else if (end > sql + 3 && strncmp(end - 3, " IS", 3) == 0) {
		end -= 3;
	} else {
		return NULL;
	}
	name_before(sql, before(sql, end), name);
	return *name ? resolve(s, sql, name) : NULL;
}

/* After the next comma, or at the bracket that ends the list. */
static const char *next_item(const char *c)
{
	int depth = 0;

	for (; *c && !(depth == 0 && (*c == ',' || *c == ')')); c++)
		depth += (*c == '(') - (*c == ')');
	return *c == ',' ? c + 1 : c;
}

/* The column of an INSERT that gets the parameter. */
static const struct column *inserted(const struct schema *s, const char *sql, const char *at)
{
	char table[NAME_BYTES] = "";
	const char *columns = strchr(sql, '('), *values;
	const struct table *t;

	if (sscanf(sql, "INSERT INTO %79[a-z_] (", table) != 1)
		if (sscanf(sql, "INSERT OR %*[A-Z] INTO %79[a-z_] (", table) != 1)
			return NULL;
	t = schema_table(s, table);
	values = columns ? strchr(columns, ')') : NULL;
	if (!t || !values)
		return NULL;
	values += 1 + strspn(values + 1, " \n");
	values += strncmp(values, "VALUES", 6) == 0 ? strcspn(values, "(") + 1 : 6;
	for (columns++; *values; values = next_item(values), columns = next_item(columns)) {
		char name[NAME_BYTES] = "";

		values += strspn(values, " \n");
		if (values == at) {
			(void)sscanf(columns, " %79[a-z_]", name); /* NOLINT(cert-err34-c) */
			return table_column(t, name);
		}
		if (values > at || *columns == ')')
			break;
	}
	return NULL;
}

static void find_parameter(struct value *v, const struct schema *s, const char *sql)
{
	char mark[NAME_BYTES + 12];
	const char *first, *at;
	const struct column *c = NULL;
	size_t length;

	(void)snprintf(mark, sizeof(mark), ":%s", v->name);
	length = strlen(mark);
	first = strstr(sql, mark);
	for (at = first; at && !c; at = strstr(at + 1, mark))
		if (!source_is_word(at[length])) {
			c = inserted(s, sql, at);
			c = c ? c : compared(s, sql, at);
		}
	c = c ? c : resolve(s, sql, v->name);
	for (at = first; at && !c; at = strstr(at + 1, mark)) {
		const char *end = before(sql, at);

		if (source_is_word(at[length]))
			continue;
		if (end > sql + 10 && strncmp(end - 10, "json_each(", 10) == 0)
			v->type = TYPE_TEXT;
		if (end > sql + 5 && strncmp(end - 5, "LIMIT", 5) == 0)
			v->type = TYPE_INTEGER;
	}
	if (c)
		set_column(v, c);
	else if (v->type == TYPE_UNKNOWN)
		v->type = type_by_name(v->name);
	(void)snprintf(mark, sizeof(mark), ":%s IS NULL", v->name);
	if (v->type == TYPE_INTEGER && strstr(sql, mark)) {
		v->may_be_null = !c || !is_seq(c->name);
		v->type = v->may_be_null ? TYPE_INTEGER : TYPE_SEQ;
	}
}

static void find_parameters(const struct schema *s, struct statement *st, sqlite3_stmt *stmt,
                            const char *types, const char *where)
{
	int count = sqlite3_bind_parameter_count(stmt);

	if (count > MAX_COLUMNS)
		die("too many parameters");
	for (int i = 1; i <= count; i++) {
		const char *name = sqlite3_bind_parameter_name(stmt, i);
		struct value *v = &st->parameter[st->parameters];

		if (!name || *name != ':') {
			complain("%s: a parameter without a name", where);
			continue;
		}
		if (strcmp(name, ":now") == 0)
			continue;
		st->parameters++;
		(void)snprintf(v->name, NAME_BYTES, "%s", name + 1);
		v->at = i;
		if (!said(v, s, types, ":", where))
			find_parameter(v, s, st->text);
	}
}

/* ---- columns ---- */

/* Where the bracket that closes there was opened. */
static const char *opened(const char *sql, const char *close)
{
	int depth = 0;

	for (; close > sql; close--) {
		depth += (*close == ')') - (*close == '(');
		if (depth == 0)
			break;
	}
	return close;
}

static bool ends_there(const char *sql, const char *end, const char *word)
{
	size_t n = strlen(word);

	return end >= sql + n && strncmp(end - n, word, n) == 0;
}

/* "count(...) AS name", "EXISTS (...) AS name", "(SELECT count(...) ...) AS name". */
static enum type type_of_call(const char *sql, const char *name)
{
	char as[NAME_BYTES + 8];
	const char *at, *open;

	(void)snprintf(as, sizeof(as), "AS %s", name);
	at = find_word(sql, as);
	at = at ? before(sql, at) : NULL;
	if (!at || at == sql || at[-1] != ')')
		return TYPE_UNKNOWN;
	open = opened(sql, at - 1);
	at = before(sql, open);
	if (ends_there(sql, at, "EXISTS"))
		return TYPE_BOOL;
	if (ends_there(sql, at, "count") || ends_there(sql, at, "sum") ||
	    strncmp(open, "(SELECT count(", 14) == 0)
		return TYPE_INTEGER;
	return TYPE_UNKNOWN;
}

static void find_column(struct value *v, const struct schema *s, const struct statement *st,
                        sqlite3_stmt *stmt, int i)
{
	const char *table = sqlite3_column_table_name(stmt, i);
	const char *origin = sqlite3_column_origin_name(stmt, i);
	const struct table *t = table ? schema_table(s, table) : NULL;
	const struct column *c = t && origin ? table_column(t, origin) : NULL;
	bool is_plain = c != NULL;

	if (!c)
		v->type = type_of_call(st->text, v->name);
	if (v->type != TYPE_UNKNOWN)
		return;
	c = c ? c : resolve(s, st->text, v->name);
	if (!c) {
		v->type = type_by_name(v->name);
		return;
	}
	set_column(v, c);
	v->may_be_null &= is_plain || !st->reads_only;
}

static void find_columns(const struct schema *s, struct statement *st, sqlite3_stmt *stmt,
                         const char *types, const char *where)
{
	st->columns = sqlite3_column_count(stmt);
	if (st->columns > MAX_COLUMNS)
		die("too many columns");
	for (int i = 0; i < st->columns; i++) {
		struct value *v = &st->column[i];

		(void)snprintf(v->name, NAME_BYTES, "%s", sqlite3_column_name(stmt, i));
		if (!said(v, s, types, "", where))
			find_column(v, s, st, stmt, i);
	}
}

static void finish(struct schema *s, const struct statement *st, const struct value *v,
                   const char *colon, const char *where)
{
	if (v->type == TYPE_UNKNOWN && st->answer != ANSWER_ANY)
		complain("%s: nothing tells the type of %s%s: write '-- type: %s%s TYPE' above it",
		         where, colon, v->name, colon, v->name);
	for (int i = 0; i < s->sets; i++)
		if (v->type == TYPE_SET && strcmp(s->set[i].name, v->set) == 0)
			s->set[i].used = true;
}

void types_find(struct schema *schema, struct statement *st, sqlite3_stmt *s, const char *types,
                const char *where)
{
	find_parameters(schema, st, s, types, where);
	find_columns(schema, st, s, types, where);
	for (int i = 0; i < st->parameters; i++)
		finish(schema, st, &st->parameter[i], ":", where);
	for (int i = 0; i < st->columns; i++)
		if (st->answer == ANSWER_ONE || st->answer == ANSWER_MANY)
			finish(schema, st, &st->column[i], "", where);
}
