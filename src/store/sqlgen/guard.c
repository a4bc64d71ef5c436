/* Generates triggers from remarks: how a row is born, what of it may change, and that nothing
 * replaces it.
 *
 * They hold in a bare sqlite3 shell, whatever its pragmas. OR REPLACE deletes conflicting rows
 * without a delete trigger and puts the default where NULL is refused; OR IGNORE swallows a
 * refusal, and with it the change; UPDATE OF does not see SET rowid. Hence: unique keys are looked
 * up before an insert and before an update of their columns, NULL counts as a change, and the key
 * of a rowid table has its own trigger. A trigger on just the columns that it watches costs nothing
 * when others are written. What decides is in WHEN where it can be: each process that opens the
 * database keeps all triggers in memory, and a condition there takes a third of one in the body. */
#include "sqlgen.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const unsigned KEPT = GUARD_FIXED | GUARD_ONCE | GUARD_GROWS | GUARD_FORGETS | GUARD_UNTIL;

/* ---- pieces ---- */

/* Appends a part, after a separator if it is not the first. */
static void add_part(struct str *out, const char *between, const char *part)
{
	str_add(out, out->length ? between : "");
	str_add(out, part);
}

static void add_quoted(struct str *out, const char *text)
{
	for (; *text; text++) {
		str_add_char(out, *text);
		if (*text == '\'')
			str_add_char(out, '\'');
	}
}

static void refuse(struct str *out, const struct table *t, const char *words, const char *where)
{
	str_addf(out, "  SELECT RAISE(ABORT, '%s: ", t->name);
	add_quoted(out, words);
	str_addf(out, "')%s%s;\n", *where ? "\n   WHERE " : "", where);
}

static void begin(struct str *out, const struct table *t, const char *name, const char *event)
{
	str_addf(out, "CREATE TRIGGER %s_%s BEFORE %s ON %s", t->name, name, event, t->name);
}

static void make(struct schema *s, const struct table *t, struct str *sql)
{
	char *error = NULL;

	str_add(sql, "END");
	if (sqlite3_exec(s->db, sql->bytes, NULL, NULL, &error) != SQLITE_OK)
		complain("%s:%d: the guard of %s: %s\n%s", t->file, t->line, t->name, error,
		         sql->bytes);
	sqlite3_free(error);
	str_clear(sql);
}

/* A trigger that refuses, with these words, when that holds; "": whenever it happens. */
static void make_refusal(struct schema *s, const struct table *t, const char *name,
                         const char *event, const char *when, const char *words)
{
	OWNED(str) struct str sql = { 0 };

	begin(&sql, t, name, event);
	str_addf(&sql, "%s%s BEGIN\n", *when ? "\n  WHEN " : "", when);
	refuse(&sql, t, words, "");
	make(s, t, &sql);
}

/* The condition of a partial index with NEW. before each column. */
static void on_new(const struct table *t, const char *where, struct str *out)
{
	bool quoted = false;

	while (*where) {
		size_t n = quoted ? 0 : strspn(where, "abcdefghijklmnopqrstuvwxyz_");
		char word[NAME_BYTES];

		(void)snprintf(word, sizeof(word), "%.*s", (int)n, where);
		if (n && table_column(t, word))
			str_add(out, "NEW.");
		str_add(out, word);
		where += n;
		if (n)
			continue;
		quoted ^= *where == '\'';
		str_add_char(out, *where == '\n' ? ' ' : *where);
		where++;
	}
}

/* Whether columns say what may change; otherwise nothing in a row may. */
static bool has_guards(const struct table *t)
{
	for (int i = 0; i < t->columns; i++)
		if (t->column[i].guards)
			return true;
	return false;
}

static unsigned guards_of(const struct table *t, const char *column)
{
	const struct column *c = table_column(t, column);

	return !has_guards(t) ? GUARD_FIXED : c ? c->guards : 0;
}

/* ---- unique keys ---- */

/* "EXISTS (...)": another row has this key. */
static void exists(const struct unique *u, const char *more, struct str *out)
{
	OWNED(str) struct str where = { 0 }, new = { 0 };

	for (int i = 0; i < u->columns; i++)
		str_addf(&where, "%s%s = NEW.%s", i ? " AND " : "", u->column[i], u->column[i]);
	if (u->where) {
		on_new(u->table, u->where, &new);
		str_addf(out, "(%s)\n     AND ", new.bytes);
	}
	str_addf(out, "EXISTS (SELECT 1 FROM %s WHERE %s", u->table->name, where.bytes);
	if (u->where) {
		str_add(out, " AND ");
		for (const char *c = u->where; *c; c++)
			str_add_char(out, *c == '\n' ? ' ' : *c);
	}
	str_addf(out, "%s)", more);
}

static bool is_born_without(const struct unique *u)
{
	for (int i = 0; i < u->columns; i++)
		if (guards_of(u->table, u->column[i]) & GUARD_LATER)
			return true;
	return false;
}

/* Where inserting the same row again is allowed: the condition for one that differs. */
static void add_other(const struct table *t, struct str *out)
{
	OWNED(str) struct str parts = { 0 };

	for (int i = 0; i < t->columns; i++) {
		char part[3 * NAME_BYTES];

		if (!(guards_of(t, t->column[i].name) & KEPT))
			continue;
		(void)snprintf(part, sizeof(part), "%s IS NOT NEW.%s", t->column[i].name,
		               t->column[i].name);
		add_part(&parts, " OR ", part);
	}
	str_addf(out, " AND (%s)", parts.bytes);
}

/* SQLite gives no number after its highest, and counts on after any other. */
static const long long SEQ_MAX = 1LL << 62;

/* Keys without words of their own share one refusal: "a row with this seq or id is there
 * already". */
static void refuse_existing(const struct schema *s, const struct table *t, struct str *out)
{
	OWNED(str) struct str where = { 0 }, names = { 0 }, more = { 0 }, words = { 0 };
	bool is_numbered = false;

	if (t->upserts[0])
		add_other(t, &more);
	for (int i = 0; i < s->uniques; i++) {
		const struct unique *u = &s->unique[i];
		OWNED(str) struct str one = { 0 }, name = { 0 };

		if (u->table != t || u->refuses[0] || is_born_without(u) ||
		    (t->repeats[0] && strcmp(u->column[0], t->repeats) == 0))
			continue;
		exists(u, str_text(&more), &one);
		add_part(&where, "\n      OR ", one.bytes);
		is_numbered |= strcmp(u->column[0], "seq") == 0 && u->columns == 1;
		for (int k = 0; k < u->columns; k++)
			add_part(&name, " and ", u->column[k]);
		add_part(&names, " or ", name.bytes);
	}
	if (t->upserts[0])
		str_addf(&words, "exists: this %s is that of another %s", str_text(&names),
		         t->name);
	else
		str_addf(&words, "exists: a row with this %s is there already%s", str_text(&names),
		         is_numbered ? ", or the seq is so high that none is left" : "");
	if (is_numbered)
		str_addf(&where, "\n      OR NEW.seq > %lld", SEQ_MAX);
	if (where.length)
		refuse(out, t, words.bytes, where.bytes);
}

static void refuse_second(const struct schema *s, const struct table *t, struct str *out)
{
	for (int i = 0; i < s->uniques; i++) {
		const struct unique *u = &s->unique[i];
		OWNED(str) struct str where = { 0 };

		if (u->table != t || !u->refuses[0] || is_born_without(u))
			continue;
		exists(u, "", &where);
		if (t->upserts[0])
			for (int k = 0; k < t->columns; k++)
				if (t->column[k].is_key) {
					where.bytes[--where.length] = '\0';
					str_addf(&where, " AND %s <> NEW.%s)", t->column[k].name,
					         t->column[k].name);
				}
		refuse(out, t, u->refuses, where.bytes);
	}
}

/* ---- birth ---- */

static char *ask_moves(const struct schema *s, const struct table *t, const char *format)
{
	char *sql = sqlite3_mprintf(format, t->name);
	char *text = query_text(s->db, sql, NULL);

	sqlite3_free(sql);
	return text;
}

static bool is_true(char *text)
{
	bool yes = text && strcmp(text, "1") == 0;

	free(text);
	return yes;
}

static bool moves_by_kind(const struct schema *s, const struct table *t)
{
	return is_true(ask_moves(s, t, "SELECT count(*) > 2 FROM pragma_table_info('%s_move')"));
}

/* "NEW.state NOT IN ('queued')", and 'queued' in words. Where each kind has its own moves, they are
 * looked up. */
static void unborn_state(const struct schema *s, const struct table *t, struct str *where,
                         struct str *words)
{
	char *states = ask_moves(s, t,
	                         "SELECT group_concat(quote(dst), ', ') FROM (SELECT DISTINCT dst "
	                         "FROM %s_move WHERE src = '' ORDER BY 1)");
	char *names = ask_moves(s, t,
	                        "SELECT group_concat(dst, ' or ') FROM (SELECT DISTINCT dst FROM "
	                        "%s_move WHERE src = '' ORDER BY 1)");

	if (!states)
		complain("%s:%d: %s_move says nothing of a birth: ('', state)", t->file, t->line,
		         t->name);
	if (moves_by_kind(s, t))
		str_addf(where,
		         "NOT EXISTS (SELECT 1 FROM %s_move WHERE kind = NEW.kind AND src = '' AND "
		         "dst = NEW.%s)",
		         t->name, t->moves);
	else
		str_addf(where, "NEW.%s NOT IN (%s)", t->moves, states ? states : "''");
	str_addf(words, "move: it is born %s", names ? names : "");
	free(states);
	free(names);
}

static void refuse_unborn(const struct schema *s, const struct table *t, struct str *out)
{
	OWNED(str) struct str where = { 0 }, words = { 0 }, names = { 0 };

	if (t->moves[0])
		unborn_state(s, t, &where, &words);
	for (int i = 0; i < t->columns; i++) {
		const struct column *c = &t->column[i];
		OWNED(str) struct str part = { 0 };

		if (!(c->guards & GUARD_LATER))
			continue;
		str_addf(&part, "NEW.%s IS NOT %s", c->name, c->standard ? c->standard : "NULL");
		add_part(&where, " OR ", part.bytes);
		add_part(&names, ", ", c->name);
	}
	if (names.length)
		str_addf(&words, "%s%s", t->moves[0] ? ", without " : "born: it has no ",
		         names.bytes);
	if (where.length)
		refuse(out, t, str_text(&words), where.bytes);
}

static void make_birth(struct schema *s, const struct table *t)
{
	OWNED(str) struct str sql = { 0 };
	size_t empty;

	begin(&sql, t, "is_born", "INSERT");
	str_add(&sql, " BEGIN\n");
	empty = sql.length;
	if (t->repeats[0])
		str_addf(
		    &sql,
		    "  SELECT RAISE(IGNORE) WHERE EXISTS (SELECT 1 FROM %s WHERE %s = NEW.%s);\n",
		    t->name, t->repeats, t->repeats);
	refuse_existing(s, t, &sql);
	refuse_unborn(s, t, &sql);
	refuse_second(s, t, &sql);
	if (sql.length > empty)
		make(s, t, &sql);
}

/* ---- what may change ---- */

static void add_change(const struct column *c, struct str *where)
{
	OWNED(str) struct str part = { 0 };

	if (c->guards & GUARD_ONCE)
		str_addf(&part, "(OLD.%s IS NOT NULL AND OLD.%s IS NOT NEW.%s)", c->name, c->name,
		         c->name);
	else if (c->guards & GUARD_GROWS)
		str_addf(&part, "NEW.%s IS NULL OR NEW.%s < OLD.%s", c->name, c->name, c->name);
	else if (c->guards & GUARD_FORGETS)
		str_addf(&part, "(NEW.%s IS NOT NULL AND OLD.%s IS NOT NEW.%s)", c->name, c->name,
		         c->name);
	if (part.length)
		add_part(where, "\n    OR ", part.bytes);
}

/* Groups the columns that wait for the same other column, so that its condition is evaluated
 * once. */
static void add_until(const struct table *t, struct str *where)
{
	for (int i = 0; i < t->columns; i++) {
		OWNED(str) struct str until = { 0 }, part = { 0 };

		for (int k = 0; k < t->columns; k++) {
			const struct column *c = &t->column[k];

			if (!(c->guards & GUARD_UNTIL) || strcmp(c->until, t->column[i].name) != 0)
				continue;
			str_reset(&part);
			str_addf(&part, "OLD.%s IS NOT NEW.%s", c->name, c->name);
			add_part(&until, " OR ", part.bytes);
		}
		str_reset(&part);
		str_addf(&part, "(OLD.%s IS NOT NULL AND (%s))", t->column[i].name,
		         str_text(&until));
		if (until.length)
			add_part(where, "\n    OR ", part.bytes);
	}
}

/* "UPDATE OF" the columns with one of these guards, in a table of which no column has one "UPDATE";
 * false: there are none. */
static bool add_update(const struct table *t, unsigned guards, struct str *out)
{
	OWNED(str) struct str columns = { 0 };
	bool found;

	for (int i = 0; i < t->columns; i++)
		if (t->column[i].guards & guards)
			add_part(&columns, ", ", t->column[i].name);
	found = columns.length || !has_guards(t);
	str_addf(out, "UPDATE%s%s", columns.length ? " OF " : "", str_text(&columns));
	return found;
}

/* What never changes is not written at all, not even with the value that it has; what may change
 * under a condition has a trigger of its own. SET rowid bypasses UPDATE OF. */
static void make_kept(struct schema *s, const struct table *t)
{
	OWNED(str) struct str fixed = { 0 }, kept = { 0 }, where = { 0 };
	OWNED(str) struct str key = { 0 }, words = { 0 };

	str_addf(&words, "fixed: %s", t->fixed);
	if (add_update(t, GUARD_FIXED, &fixed))
		make_refusal(s, t, "is_fixed", fixed.bytes, "", words.bytes);
	if (has_guards(t) && add_update(t, KEPT & ~(unsigned)GUARD_FIXED, &kept)) {
		for (int i = 0; i < t->columns; i++)
			add_change(&t->column[i], &where);
		add_until(t, &where);
		make_refusal(s, t, "is_kept", kept.bytes, str_text(&where), words.bytes);
	}
	if (has_guards(t) && t->key[0]) {
		str_addf(&key, "OLD.%s IS NOT NEW.%s", t->key, t->key);
		make_refusal(s, t, "keeps_its_key", "UPDATE", str_text(&key), words.bytes);
	}
}

/* In a table that names a move from a state to itself, every write of the state is a move. */
static void make_moves(struct schema *s, const struct table *t)
{
	OWNED(str) struct str event = { 0 }, where = { 0 }, words = { 0 };
	bool to_itself =
	    is_true(ask_moves(s, t, "SELECT EXISTS (SELECT 1 FROM %s_move WHERE src = dst)"));

	str_addf(&event, "UPDATE OF %s", t->moves);
	if (!to_itself)
		str_addf(&where, "OLD.%s IS NOT NEW.%s AND ", t->moves, t->moves);
	str_addf(&where, "NOT EXISTS (SELECT 1 FROM %s_move WHERE %ssrc = OLD.%s AND dst = NEW.%s)",
	         t->name, moves_by_kind(s, t) ? "kind = OLD.kind AND " : "", t->moves, t->moves);
	str_addf(&words, "move: see %s_move for the legal moves of %s", t->name, t->moves);
	make_refusal(s, t, "moves", event.bytes, str_text(&where), words.bytes);
}

/* The columns of a key and of its condition that may change; if none can, no update can
 * conflict. */
static void changeable(const struct unique *u, struct str *out)
{
	for (int i = 0; i < u->table->columns; i++) {
		const char *name = u->table->column[i].name;
		bool in_key = false;
		OWNED(str) struct str new = { 0 }, part = { 0 };

		for (int k = 0; k < u->columns; k++)
			in_key |= strcmp(u->column[k], name) == 0;
		on_new(u->table, u->where ? u->where : "", &new);
		str_addf(&part, "NEW.%s", name);
		for (const char *at = str_text(&new); (at = strstr(at, part.bytes)); at++)
			in_key |=
			    !isalpha((unsigned char)at[part.length]) && at[part.length] != '_';
		if (in_key && !(guards_of(u->table, name) & GUARD_FIXED))
			add_part(out, ", ", name);
	}
}

/* UPDATE OR REPLACE deletes the row that has the key. */
static void make_unique(struct schema *s, const struct unique *u, int number)
{
	const struct table *t = u->table;
	OWNED(str) struct str columns = { 0 }, event = { 0 }, where = { 0 }, more = { 0 };
	OWNED(str) struct str words = { 0 };
	char name[NAME_BYTES];

	changeable(u, &columns);
	if (columns.length) {
		(void)snprintf(name, sizeof(name), "is_the_only_%d", number);
		str_addf(&event, "UPDATE OF %s", columns.bytes);
		if (t->key[0])
			str_addf(&more, " AND %s <> OLD.%s", t->key, t->key);
		else
			for (int i = 0; i < t->columns; i++)
				if (t->column[i].is_key)
					str_addf(&more, " AND %s IS NOT OLD.%s", t->column[i].name,
					         t->column[i].name);
		exists(u, str_text(&more), &where);
		if (u->refuses[0])
			str_add(&words, u->refuses);
		else
			str_addf(&words, "exists: a row with this %s is there already",
			         u->column[0]);
		make_refusal(s, t, name, event.bytes, str_text(&where), words.bytes);
	}
}

/* ---- closed ---- */

static void make_closed(struct schema *s, const struct table *t)
{
	static const char *const EVENTS[][2] = { { "is_born", "INSERT" },
		                                 { "is_fixed", "UPDATE" },
		                                 { "stays", "DELETE" } };

	for (size_t i = 0; i < sizeof(EVENTS) / sizeof(EVENTS[0]); i++)
		make_refusal(s, t, EVENTS[i][0], EVENTS[i][1], "",
		             "closed: its rows come with the program");
}

static bool is_guarded(const struct table *t)
{
	return !t->closed && t->fixed[0];
}

void guards_before(struct schema *s)
{
	for (int i = 0; i < s->tables; i++) {
		const struct table *t = &s->table[i];

		if (!is_guarded(t))
			continue;
		make_kept(s, t);
		for (int k = 0, number = 1; k < s->uniques; k++)
			if (s->unique[k].table == t)
				make_unique(s, &s->unique[k], number++);
	}
}

void guards_after(struct schema *s)
{
	for (int i = 0; i < s->tables; i++) {
		const struct table *t = &s->table[i];

		if (t->closed)
			make_closed(s, t);
		if (!is_guarded(t))
			continue;
		make_birth(s, t);
		if (t->moves[0])
			make_moves(s, t);
	}
}
