/* Tables, columns and unique keys as SQLite sees them, and the remarks next to them. */
#include "sqlgen.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- remarks above a table ---- */

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : line + strlen(line);
}

/* Copies "-- word: text" or "-- word" to text ("" where there is none). */
static bool remark(const char *line, const char *word, char *text, size_t size)
{
	size_t n = strlen(word);

	if (!begins(line, "-- ") || strncmp(line + 3, word, n) != 0)
		return false;
	line += 3 + n;
	if (*line == '\n') {
		text[0] = '\0';
		return true;
	}
	if (line[0] != ':' || line[1] != ' ')
		return false;
	(void)snprintf(text, size, "%.*s", (int)strcspn(line + 2, "\n"), line + 2);
	return true;
}

static void read_table_remark(struct table *t, const char *line)
{
	char text[TEXT_BYTES];

	t->small |= remark(line, "small", text, sizeof(text));
	t->closed |= remark(line, "closed", text, sizeof(text));
	(void)remark(line, "rings", t->rings, sizeof(t->rings));
	(void)remark(line, "moves", t->moves, sizeof(t->moves));
	(void)remark(line, "repeats", t->repeats, sizeof(t->repeats));
	(void)remark(line, "fixed", t->fixed, sizeof(t->fixed));
	(void)remark(line, "upserts", t->upserts, sizeof(t->upserts));
	(void)remark(line, "free", t->free, sizeof(t->free));
}

/* The first line of the comment that stands directly above line. */
static const char *comment_above(const char *text, const char *line)
{
	while (line > text) {
		const char *before = line - 1;

		while (before > text && before[-1] != '\n')
			before--;
		if (!begins(before, "--"))
			break;
		line = before;
	}
	return line;
}

/* ---- remarks on a column ---- */

static bool read_guard(struct column *c, const char *word)
{
	static const struct {
		const char *word;
		enum guard guard;
	} WORDS[] = { { "fixed", GUARD_FIXED }, { "once", GUARD_ONCE },
		      { "grows", GUARD_GROWS }, { "forgets", GUARD_FORGETS },
		      { "later", GUARD_LATER }, { "free", GUARD_FREE } };

	if (begins(word, "until ")) {
		c->guards |= GUARD_UNTIL;
		(void)snprintf(c->until, sizeof(c->until), "%s", word + 6);
		return true;
	}
	for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
		if (strcmp(word, WORDS[i].word) == 0) {
			c->guards |= WORDS[i].guard;
			return true;
		}
	return false;
}

/* "later, once: what it is": the words before the colon, if all of them are guards. */
static void read_column_comment(struct column *c, const char *comment)
{
	char words[TEXT_BYTES], *rest = words, *word;
	struct column read = *c;

	(void)snprintf(words, sizeof(words), "%.*s", (int)strcspn(comment, ":\n"), comment);
	while ((word = strsep(&rest, ",")) != NULL) {
		while (*word == ' ')
			word++;
		if (!read_guard(&read, word))
			return; /* prose */
	}
	*c = read;
}

static struct column *find_column(struct table *t, const char *name, size_t length)
{
	for (int i = 0; i < t->columns; i++)
		if (strlen(t->column[i].name) == length &&
		    strncmp(t->column[i].name, name, length) == 0)
			return &t->column[i];
	return NULL;
}

/* Scans the text of a CREATE TABLE, from its first line on: a line that begins on the outermost
 * level begins a column (or a table constraint); the first comment beside it is its remark. */
static void read_column_remarks(struct table *t, const char *line)
{
	struct column *column = NULL;
	int depth = 0;

	do {
		const char *word = line + strspn(line, " ");
		bool quoted = false;

		if (depth == 1 && isalpha((unsigned char)*word))
			column = find_column(t, word, strspn(word, "abcdefghijklmnopqrstuvwxyz_"));
		for (const char *c = line; *c && *c != '\n'; c++) {
			quoted ^= *c == '\'';
			if (quoted)
				continue;
			if (begins(c, "-- ")) {
				if (column && c != word)
					read_column_comment(column, c + 3);
				if (column && c != word)
					column = NULL;
				break;
			}
			depth += (*c == '(') - (*c == ')');
		}
		line = next_line(line);
	} while (depth > 0 && *line);
}

/* ---- from SQLite ---- */

static void read_columns(sqlite3 *db, struct table *t)
{
	sqlite3_stmt *s;

	(void)sqlite3_prepare_v2(
	    db, "SELECT name, type, \"notnull\", dflt_value, pk FROM pragma_table_info(?)", -1, &s,
	    NULL);
	(void)sqlite3_bind_text(s, 1, t->name, -1, SQLITE_STATIC);
	while (sqlite3_step(s) == SQLITE_ROW && t->columns < MAX_COLUMNS) {
		struct column *c = &t->column[t->columns++];
		const char *standard = (const char *)sqlite3_column_text(s, 3);

		(void)snprintf(c->name, sizeof(c->name), "%s", sqlite3_column_text(s, 0));
		(void)snprintf(c->type, sizeof(c->type), "%s", sqlite3_column_text(s, 1));
		c->not_null = sqlite3_column_int(s, 2) != 0;
		c->standard = standard ? xstrdup(standard) : NULL;
		c->is_key = sqlite3_column_int(s, 4) != 0;
		if (c->is_key && strcmp(c->type, "INTEGER") == 0)
			(void)snprintf(t->key, sizeof(t->key), "%s", sqlite3_column_text(s, 0));
	}
	(void)sqlite3_finalize(s);
}

static void read_key_columns(sqlite3 *db, struct unique *u)
{
	sqlite3_stmt *s;

	(void)sqlite3_prepare_v2(db, "SELECT name FROM pragma_index_info(?)", -1, &s, NULL);
	(void)sqlite3_bind_text(s, 1, u->name, -1, SQLITE_STATIC);
	while (sqlite3_step(s) == SQLITE_ROW && u->columns < 8)
		(void)snprintf(u->column[u->columns++], NAME_BYTES, "%s",
		               sqlite3_column_text(s, 0));
	(void)sqlite3_finalize(s);
}

/* A remark "-- refuses: rule: words" above the CREATE UNIQUE INDEX of that name. */
static void read_refusal(const struct schema *s, struct unique *u)
{
	char create[NAME_BYTES + 40];

	(void)snprintf(create, sizeof(create), "CREATE UNIQUE INDEX %s ON", u->name);
	for (int i = 0; i < s->nouns.count; i++) {
		const char *text = s->nouns.file[i].text, *at = strstr(text, create);

		for (const char *line = at ? comment_above(text, at) : NULL; line && line < at;
		     line = next_line(line))
			(void)remark(line, "refuses", u->refuses, sizeof(u->refuses));
	}
}

/* Copies a name to a separate buffer; if both are in one object, gcc warns that snprintf
 * overlaps. */
static void copy_name(char out[NAME_BYTES], const char *name)
{
	size_t length = strnlen(name, NAME_BYTES - 1);

	memmove(out, name, length);
	out[length] = '\0';
}

static struct unique *add_unique(struct schema *s, const struct table *t, const char *name)
{
	struct unique *u = &s->unique[s->uniques];

	if (++s->uniques == MAX_INDEXES)
		die("too many unique keys");
	u->table = t;
	copy_name(u->name, name);
	return u;
}

static void read_uniques(struct schema *s, const struct table *t)
{
	sqlite3_stmt *list;

	if (t->key[0]) {
		struct unique *u = add_unique(s, t, t->key);

		copy_name(u->column[0], t->key);
		u->columns = 1;
	}
	(void)sqlite3_prepare_v2(s->db,
	                         "SELECT name FROM pragma_index_list(?) WHERE \"unique\" = 1 ORDER "
	                         "BY origin = 'c', name",
	                         -1, &list, NULL);
	(void)sqlite3_bind_text(list, 1, t->name, -1, SQLITE_STATIC);
	while (sqlite3_step(list) == SQLITE_ROW) {
		struct unique *u = add_unique(s, t, (const char *)sqlite3_column_text(list, 0));
		char *sql =
		    query_text(s->db, "SELECT sql FROM sqlite_schema WHERE name = ?", u->name);
		const char *where = sql ? strstr(sql, "WHERE ") : NULL;

		read_key_columns(s->db, u);
		u->where = where ? xstrdup(where + 6) : NULL;
		if (sql)
			read_refusal(s, u);
		free(sql);
	}
	(void)sqlite3_finalize(list);
}

/* ---- checks of a table ---- */

static void check_column(const struct table *t, const struct column *c)
{
	const struct column *until = table_column(t, c->until);

	if (!c->guards)
		complain("%s:%d: %s.%s says nothing: write fixed, once, grows, forgets, until "
		         "COLUMN, later or free beside it",
		         t->file, t->line, t->name, c->name);
	if ((c->guards & GUARD_UNTIL) && !until)
		complain("%s:%d: %s.%s: there is no column %s", t->file, t->line, t->name, c->name,
		         c->until);
}

static void check_table(const struct schema *s, const struct table *t)
{
	char move[NAME_BYTES + 8];
	bool any = false;

	(void)snprintf(move, sizeof(move), "%.70s_move", t->name);
	for (int i = 0; i < t->columns; i++)
		any |= t->column[i].guards != 0;
	if (!t->fixed[0] && !t->closed && !t->free[0])
		complain("%s:%d: %s says nothing of what may change: write '-- fixed: words', "
		         "'-- closed' or '-- free: why' above it",
		         t->file, t->line, t->name);
	for (int i = 0; any && i < t->columns; i++)
		check_column(t, &t->column[i]);
	if (any && !t->fixed[0])
		complain("%s:%d: %s: write '-- fixed: words' above it, with which a change is "
		         "refused",
		         t->file, t->line, t->name);
	if (t->moves[0] && !schema_table(s, move))
		complain("%s:%d: %s: there is no table %s", t->file, t->line, t->name, move);
	if (t->moves[0] && !table_column(t, t->moves))
		complain("%s:%d: %s: there is no column %s", t->file, t->line, t->name, t->moves);
}

/* ---- all of it ---- */

static void read_table(struct schema *s, const struct source *file, const char *create)
{
	struct table *t = &s->table[s->tables];
	const char *above = comment_above(file->text, create);

	if (++s->tables == MAX_TABLES)
		die("too many tables");
	t->file = file->path;
	t->line = line_of(file->text, create);
	(void)sscanf(create + 13, "%79[a-z_]", t->name); /* NOLINT(cert-err34-c) */
	for (; above < create; above = next_line(above))
		read_table_remark(t, above);
	read_columns(s->db, t);
	read_column_remarks(t, create);
	read_uniques(s, t);
}

static void open_bare(struct schema *s)
{
	sqlite3_int64 size = 0;
	unsigned char *copy = sqlite3_serialize(s->db, "main", &size, 0);

	if (!copy || sqlite3_open(":memory:", &s->bare) != SQLITE_OK ||
	    sqlite3_deserialize(s->bare, "main", copy, size, size,
	                        SQLITE_DESERIALIZE_FREEONCLOSE) != SQLITE_OK ||
	    sqlite3_db_config(s->bare, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL) != SQLITE_OK)
		die("sqlite");
}

void schema_load(struct schema *s)
{
	if (sqlite3_open(":memory:", &s->db) != SQLITE_OK)
		die("sqlite");
	sources_read(&s->nouns, "schema");
	sources_read(&s->rules, "schema/rules");
	for (int i = 0; i < s->nouns.count; i++)
		source_run(s->db, &s->nouns.file[i]);
	for (int i = 0; i < s->nouns.count; i++)
		for (const char *line = s->nouns.file[i].text; *line; line = next_line(line))
			if (begins(line, "CREATE TABLE "))
				read_table(s, &s->nouns.file[i], line);
	for (int i = 0; i < s->tables; i++)
		check_table(s, &s->table[i]);
	sets_find(s);
	if (failures == 0)
		guards_before(s);
	for (int i = 0; i < s->rules.count; i++)
		source_run(s->db, &s->rules.file[i]);
	if (failures == 0)
		guards_after(s);
	open_bare(s);
}

sqlite3 *schema_prepare(const struct schema *s, const char *sql, sqlite3_stmt **ret,
                        const char **tail)
{
	*ret = NULL;
	if (sqlite3_prepare_v2(s->bare, sql, -1, ret, tail) == SQLITE_OK)
		return s->bare;
	/* A view is written to by its trigger, and by nothing else. */
	(void)sqlite3_prepare_v2(s->db, sql, -1, ret, tail);
	return s->db;
}

void schema_clear(struct schema *s)
{
	for (int i = 0; i < s->tables; i++)
		for (int k = 0; k < s->table[i].columns; k++)
			free(s->table[i].column[k].standard);
	for (int i = 0; i < s->uniques; i++)
		free(s->unique[i].where);
	sources_clear(&s->nouns);
	sources_clear(&s->rules);
	(void)sqlite3_close(s->bare);
	(void)sqlite3_close(s->db);
}

const struct table *schema_table(const struct schema *s, const char *name)
{
	for (int i = 0; i < s->tables; i++)
		if (strcmp(s->table[i].name, name) == 0)
			return &s->table[i];
	return NULL;
}

const struct column *table_column(const struct table *t, const char *name)
{
	for (int i = 0; i < t->columns; i++)
		if (strcmp(t->column[i].name, name) == 0)
			return &t->column[i];
	return NULL;
}
