/* The schema: a new database is a copy of the image, an old one is migrated by steps, and the rules
 * (triggers and views) are replaced by this program's. */
#include "paths.h"
#include "sha256.h"
#include "store_core.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHOWN_RULES = 5 /* of those that had been changed */ };

/* ---- rules ---- */

static size_t count_rules(void)
{
	size_t count = 0;

	while (sql_rules[count].name)
		count++;
	return count;
}

static const struct sql_rule *find_rule(const char *name)
{
	for (const struct sql_rule *r = sql_rules; r->name; r++)
		if (strcmp(r->name, name) == 0)
			return r;
	return NULL;
}

static sqlite3_stmt *list_rules(struct store *st, struct err *e)
{
	sqlite3_stmt *s = NULL;

	if (sqlite3_prepare_v2(st->db,
	                       "SELECT name, sql, type FROM sqlite_schema WHERE type IN "
	                       "('trigger', 'view') ORDER BY type, name",
	                       -1, &s, NULL) != SQLITE_OK)
		(void)store_failed(st->db, sqlite3_errcode(st->db), "cannot list the rules", e);
	return s;
}

/* The next row: 1, 0 there is none, -1 error. A list that could not be read to its end is none. */
static int next_row(struct store *st, sqlite3_stmt *s, struct err *e)
{
	int rc = sqlite3_step(s);

	if (rc == SQLITE_ROW || rc == SQLITE_DONE)
		return rc == SQLITE_ROW;
	return store_failed(st->db, rc, "cannot read the schema", e);
}

static void hash_rule(struct sha256_state *h, const char *name, const char *text)
{
	sha256_add(h, name, strlen(name) + 1);
	sha256_add(h, text, strlen(text) + 1);
}

static int by_type_and_name(const void *a, const void *b)
{
	const struct sql_rule *one = a, *other = b;
	int order = strcmp(one->type, other->type);

	return order ? order : strcmp(one->name, other->name);
}

/* Hash of this program's rules. */
static struct sha256 own_hash(void)
{
	struct sha256_state *h = sha256_begin();
	size_t count = count_rules();
	struct sql_rule *sorted = xcalloc(count + 1, sizeof(*sorted));

	for (size_t i = 0; i < count; i++)
		sorted[i] = sql_rules[i];
	qsort(sorted, count, sizeof(*sorted), by_type_and_name);
	for (size_t i = 0; i < count; i++)
		hash_rule(h, sorted[i].name, sorted[i].text);
	free(sorted);
	return sha256_end(h);
}

/* Hash of the rules in the database. */
static int found_hash(struct store *st, struct sha256 *ret_hash, struct err *e)
{
	sqlite3_stmt *s = list_rules(st, e);
	struct sha256_state *h;
	int got;

	if (!s)
		return -1;
	h = sha256_begin();
	while ((got = next_row(st, s, e)) > 0)
		hash_rule(h, (const char *)sqlite3_column_text(s, 0),
		          (const char *)sqlite3_column_text(s, 1));
	(void)sqlite3_finalize(s);
	*ret_hash = sha256_end(h);
	return got;
}

/* Hash of the rules that were last put in force; "": none were, or they have no record. */
static int recorded_hash(struct store *st, struct sha256 *ret_hash, struct err *e)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(st->db, "SELECT hash FROM rule_set ORDER BY seq DESC LIMIT 1",
	                            -1, &s, NULL);
	int got = 0;

	*ret_hash = (struct sha256){ .text = "" };
	if (rc == SQLITE_OK)
		got = next_row(st, s, e);
	else if (rc != SQLITE_ERROR) /* there is such a table */
		got = store_failed(st->db, rc, "cannot read the schema", e);
	if (got > 0)
		(void)snprintf(ret_hash->text, sizeof(ret_hash->text), "%s",
		               sqlite3_column_text(s, 0));
	(void)sqlite3_finalize(s);
	return got < 0 ? -1 : 0;
}

static void tell_rule(struct str *out, int *count, const char *name, const char *what)
{
	if (*count < SHOWN_RULES) {
		str_add(out, *count ? ", " : "");
		str_add_shown(out, name, strlen(name), 80);
		str_addf(out, " (%s)", what);
	} else if (*count == SHOWN_RULES) {
		str_add(out, ", ...");
	}
	(*count)++;
}

static const char *const *find_index(const char *name)
{
	for (const char *const *own = sql_indexes; own[0]; own += 2)
		if (strcmp(own[0], name) == 0)
			return own;
	return NULL;
}

static void add_drop(struct str *sql, const char *type, const char *name)
{
	char *drop = sqlite3_mprintf("DROP %s \"%w\";", type, name);

	str_add(sql, drop);
	sqlite3_free(drop);
}

/* Adds the indexes that differ from this program's to found and count, and to mend what makes them
 * this program's again. A foreign one that is unique refuses rows. */
static int index_differences(struct store *st, bool foreign, struct str *found, int *count,
                             struct str *mend, struct err *e)
{
	OWNED(str) struct str kept = { 0 }; /* " NAME " of each that need not be made */
	OWNED(str) struct str told = { 0 };
	sqlite3_stmt *s = NULL;
	int got;

	if (sqlite3_prepare_v2(st->db,
	                       "SELECT name, sql, sql LIKE 'CREATE UNIQUE%' FROM sqlite_schema "
	                       "WHERE type = 'index' AND name NOT GLOB 'sqlite_*' ORDER BY name",
	                       -1, &s, NULL) != SQLITE_OK)
		return store_failed(st->db, sqlite3_errcode(st->db), "cannot list the indexes", e);
	while ((got = next_row(st, s, e)) > 0) {
		const char *name = (const char *)sqlite3_column_text(s, 0);
		const char *const *own = find_index(name);
		bool same = own && strcmp(own[1], (const char *)sqlite3_column_text(s, 1)) == 0;

		if (own)
			str_addf(same ? &kept : &told, " %s ", name);
		if (same)
			continue;
		if (own || foreign || sqlite3_column_int(s, 2))
			tell_rule(found, count, name, own ? "changed" : "foreign");
		add_drop(mend, "INDEX", name);
	}
	(void)sqlite3_finalize(s);
	for (const char *const *own = sql_indexes; got == 0 && own[0]; own += 2) {
		OWNED(str) struct str name = { 0 };

		str_addf(&name, " %s ", own[0]);
		if (strstr(str_text(&kept), name.bytes))
			continue;
		if (!strstr(str_text(&told), name.bytes))
			tell_rule(found, count, own[0], "missing");
		str_addf(mend, "%s;", own[1]);
	}
	return got;
}

/* How many rules and indexes differ from this program's, and which, in found; one more than these
 * counts if foreign, or if it has a say in what is written. -1: error. */
static int differences(struct store *st, bool foreign, struct str *found, struct err *e)
{
	OWNED(str) struct str mend = { 0 };
	sqlite3_stmt *s = list_rules(st, e);
	bool *seen;
	int count = 0, got;

	if (!s)
		return -1;
	seen = xcalloc(count_rules() + 1, sizeof(*seen));
	while ((got = next_row(st, s, e)) > 0) {
		const char *name = (const char *)sqlite3_column_text(s, 0);
		const struct sql_rule *r = find_rule(name);
		bool acts = strcmp((const char *)sqlite3_column_text(s, 2), "trigger") == 0;

		if (!r && (foreign || acts))
			tell_rule(found, &count, name, "foreign");
		else if (r && strcmp(r->text, (const char *)sqlite3_column_text(s, 1)) != 0)
			tell_rule(found, &count, name, "changed");
		if (r)
			seen[r - sql_rules] = true;
	}
	(void)sqlite3_finalize(s);
	for (const struct sql_rule *r = sql_rules; r->name; r++)
		if (!seen[r - sql_rules])
			tell_rule(found, &count, r->name, "missing");
	free(seen);
	return got < 0 || index_differences(st, foreign, found, &count, &mend, e) ? -1 : count;
}

int store_check_rules(struct store *st, struct str *found, struct err *e)
{
	int count = differences(st, true, found, e);

	return count < 0 ? -1 : count == 0;
}

static int drop_rules(struct store *st, struct err *e)
{
	OWNED(str) struct str sql = { 0 };
	sqlite3_stmt *s = list_rules(st, e);
	int got;

	if (!s)
		return -1;
	/* Triggers come first: dropping a view also drops its triggers. */
	while ((got = next_row(st, s, e)) > 0)
		add_drop(&sql, (const char *)sqlite3_column_text(s, 2),
		         (const char *)sqlite3_column_text(s, 0));
	(void)sqlite3_finalize(s);
	if (got < 0)
		return -1;
	return sql.length ? store_execute(st, sql.bytes, e) : 0;
}

static int make_rules(struct store *st, struct err *e)
{
	for (const struct sql_rule *r = sql_rules; r->name; r++)
		if (store_execute(st, r->text, e))
			return err_prefix(e, "%s", r->name);
	return 0;
}

/* Records the rules in force from now on and the differences found; a rule adds them to the
 * timeline. */
static int record_rules(struct store *st, const char *hash, const char *found, struct err *e)
{
	struct instant now = clock_now();
	char *sql = sqlite3_mprintf("INSERT INTO rule_set (hash, found, created_at) "
	                            "VALUES (%Q, %Q, %Q)",
	                            hash, found, now.text);
	int done = store_execute(st, sql, e);

	sqlite3_free(sql);
	return done;
}

/* Whether nothing has ever happened here: the image was copied, and that is all. -1: error. */
static int is_untouched(struct store *st, const struct sha256 *recorded, struct err *e)
{
	sqlite3_stmt *s = NULL;
	int got = 1;

	if (!recorded->text[0] &&
	    sqlite3_prepare_v2(st->db, "SELECT 1 FROM event LIMIT 1", -1, &s, NULL) == SQLITE_OK)
		got = next_row(st, s, e);
	(void)sqlite3_finalize(s);
	return got < 0 ? -1 : got == 0;
}

enum rules {
	RULES_UNKNOWN = -1, /* an error */
	RULES_IN_FORCE, /* this program's, as recorded */
	RULES_UNRECORDED, /* this program's, in a database that was just made */
	RULES_OTHER, /* to be replaced */
};

/* Before any change. Rules other than those last put in force were changed by somebody else:
 * st->rules_found names them. All others are this program's, or an older version's. */
static enum rules look_at_rules(struct store *st, const char *own, struct err *e)
{
	OWNED(str) struct str found = { 0 };
	struct sha256 recorded, actual;
	int untouched = 0;

	if (recorded_hash(st, &recorded, e) || found_hash(st, &actual, e))
		return RULES_UNKNOWN;
	if (strcmp(actual.text, recorded.text) == 0)
		return strcmp(actual.text, own) == 0 ? RULES_IN_FORCE : RULES_OTHER;
	if (strcmp(actual.text, own) == 0)
		untouched = is_untouched(st, &recorded, e);
	if (untouched)
		return untouched < 0 ? RULES_UNKNOWN : RULES_UNRECORDED;
	if (strcmp(recorded.text, own) != 0)
		str_add(&found, recorded.text[0] ? "rules of the program before this one"
		                                 : "the record of the rules");
	else if (differences(st, true, &found, e) < 0)
		return RULES_UNKNOWN;
	(void)snprintf(st->rules_found, sizeof(st->rules_found), "%s", str_text(&found));
	return RULES_OTHER;
}

const char *store_rules_found(const struct store *st)
{
	return st->rules_found;
}

/* ---- tables ---- */

static int run_texts(struct store *st, const char *const *texts, const char *what, struct err *e)
{
	for (int i = 0; texts[i]; i++)
		if (store_execute(st, texts[i], e))
			return err_prefix(e, "%s %d", what, i + 1);
	return 0;
}

static int set_numbers(struct store *st, struct err *e)
{
	char sql[120];

	(void)snprintf(sql, sizeof(sql), "PRAGMA application_id = %d; PRAGMA user_version = %d",
	               SQL_APPLICATION_ID, SQL_SCHEMA_VERSION);
	return store_execute(st, sql, e);
}

static const char COLUMNS[] =
    "SELECT name, (SELECT group_concat(name, ' ') FROM pragma_table_info(t.name)) FROM "
    "sqlite_schema"
    " AS t WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND ?1 IN ('', name)";

/* Before release 0.2.0 no step migrates the schema of one build to that of another, although both
 * have the same number. */
static int check_table(struct store *st, const char *path, const char *table, const char *columns,
                       struct err *e)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(st->db, COLUMNS, -1, &s, NULL);
	bool same;
	int got;

	if (rc != SQLITE_OK)
		return store_failed(st->db, rc, "cannot look at the tables", e);
	(void)sqlite3_bind_text(s, 1, table, -1, SQLITE_STATIC);
	got = next_row(st, s, e);
	same = got > 0 && strcmp((const char *)sqlite3_column_text(s, 1), columns) == 0;
	(void)sqlite3_finalize(s);
	if (got < 0 || same)
		return got < 0 ? -1 : 0;
	return err_set(
	    e, ERR_INPUT,
	    "%s: was made by another build of agent-intercom: its table %s is not that "
	    "of this one, and no step leads there; continue with the build that made it, or "
	    "move the database away and start over",
	    path, table);
}

int store_check_tables(struct store *st, const char *path, struct err *e)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *s = NULL;
	int failed = store_image_open(&db, e);

	if (failed || sqlite3_prepare_v2(db, COLUMNS, -1, &s, NULL) != SQLITE_OK ||
	    sqlite3_bind_text(s, 1, "", -1, SQLITE_STATIC) != SQLITE_OK) {
		if (!failed)
			failed = store_failed(db, sqlite3_errcode(db), "cannot list the tables", e);
	}
	while (!failed && sqlite3_step(s) == SQLITE_ROW)
		failed = check_table(st, path, (const char *)sqlite3_column_text(s, 0),
		                     (const char *)sqlite3_column_text(s, 1), e);
	(void)sqlite3_finalize(s);
	(void)sqlite3_close(db);
	return failed;
}

/* Whether the tables are, word for word, this program's: 1 yes, 0 no, -1 error. */
static int has_own_tables(struct store *st, struct err *e)
{
	const char *const *own = sql_tables;
	sqlite3_stmt *s = NULL;
	int got, same = 1;

	if (sqlite3_prepare_v2(st->db,
	                       "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name "
	                       "NOT GLOB 'sqlite_*' ORDER BY name",
	                       -1, &s, NULL) != SQLITE_OK)
		return store_failed(st->db, sqlite3_errcode(st->db), "cannot list the tables", e);
	while (same && (got = next_row(st, s, e)) > 0) {
		const char *name = (const char *)sqlite3_column_text(s, 0);
		const char *text = (const char *)sqlite3_column_text(s, 1);

		same = own[0] && strcmp(own[0], name) == 0 && text && strcmp(own[1], text) == 0;
		own += same ? 2 : 0;
	}
	(void)sqlite3_finalize(s);
	return same && got < 0 ? -1 : same && !own[0];
}

/* Their texts may differ where a step has led to them; to compare columns takes longer. */
static int check_tables_quickly(struct store *st, const char *path, struct err *e)
{
	int own = has_own_tables(st, e);

	return own ? (own < 0 ? -1 : 0) : store_check_tables(st, path, e);
}

/* What is there, not what is recorded, decides whether our statements fit. A rule more is nothing
 * to them. */
static int check_schema(struct store *st, const char *path, struct err *e)
{
	OWNED(str) struct str found = { 0 };
	int count = check_tables_quickly(st, path, e) ? -1 : differences(st, false, &found, e);

	return count <= 0
	           ? count
	           : err_set(e, ERR_AGAIN,
	                     "the rules of %s are not those of this program: %s; restart the "
	                     "system, which restores them, and run agent-intercom audit "
	                     "verify",
	                     path, str_text(&found));
}

static int check_build(struct store *st, const char *path, struct err *e)
{
	struct sha256 own = own_hash(), recorded;

	if (recorded_hash(st, &recorded, e))
		return -1;
	if (strcmp(recorded.text, own.text) == 0)
		return check_schema(st, path, e);
	return store_check_tables(st, path, e)
	           ? -1
	           : err_set(e, ERR_AGAIN,
	                     "%s was last used by another build of agent-intercom; start "
	                     "agent-intercom, or restart the one that runs: that brings it "
	                     "up to date",
	                     path);
}

int store_open_own(struct store *st, const char *path, const char *run_dir, struct err *e)
{
	if (paths_check_right(path, e) || store_open(st, path, run_dir, e))
		return -1;
	if (check_build(st, path, e) == 0)
		return 0;
	store_clear(st);
	return -1;
}

/* Steps run without rules: they may do what the rules forbid. */
static int step_up(struct store *st, const char *path, int64_t have, struct err *e)
{
	return err_if(drop_rules(st, e) ||
	              run_texts(st, sql_steps + (have - SQL_BASE_VERSION), "step", e) ||
	              store_check_tables(st, path, e) || make_rules(st, e) || set_numbers(st, e));
}

/* Makes the indexes this program's: how many were not. tells: then somebody else had changed them.
 */
static int mend_indexes(struct store *st, const char *path, bool tells, struct err *e)
{
	OWNED(str) struct str found = { 0 }, mend = { 0 };
	int count = 0;

	if (index_differences(st, true, &found, &count, &mend, e))
		return -1;
	if (count && store_execute(st, mend.bytes, e)) {
		if (e->kind == ERR_REFUSED)
			e->kind = ERR_INPUT;
		return err_prefix(e,
		                  "%s: has other indexes than this program (%s), and cannot get "
		                  "its own: restore a backup, or remove the rows that they refuse",
		                  path, str_text(&found));
	}
	if (tells)
		(void)snprintf(st->rules_found, sizeof(st->rules_found), "%s", str_text(&found));
	return count;
}

static int renew(struct store *st, const char *path, int64_t have, struct err *e)
{
	struct sha256 own = own_hash();
	enum rules rules = look_at_rules(st, own.text, e);
	bool same = have == SQL_SCHEMA_VERSION && rules != RULES_OTHER;
	int mended;

	if (rules == RULES_UNKNOWN)
		return -1;
	if (have == SQL_SCHEMA_VERSION && check_tables_quickly(st, path, e))
		return -1;
	if (!same && step_up(st, path, have, e))
		return -1;
	mended = mend_indexes(st, path, same && rules == RULES_IN_FORCE, e);
	if (mended <= 0 && (mended < 0 || (same && rules == RULES_IN_FORCE)))
		return mended;
	return record_rules(st, own.text, st->rules_found[0] ? st->rules_found : NULL, e);
}

static int back_up_before(struct store *st, const char *path, struct err *e)
{
	OWNED(str) struct str name = { 0 };

	str_addf(&name, "%s.before-%d", path, store_schema_version());
	if (unlink(name.bytes) != 0 && errno != ENOENT)
		return err_errno(e, ERR_INPUT, "%s: is in the way, and cannot be removed",
		                 name.bytes);
	char *sql = sqlite3_mprintf("VACUUM INTO %Q", name.bytes);
	int rc = sqlite3_exec(st->db, sql, NULL, NULL, NULL);
	sqlite3_free(sql);
	if (rc != SQLITE_OK)
		return store_failed(st->db, rc, "cannot copy the database before its migration", e);
	(void)chmod(name.bytes, 0600);
	return 0;
}

static int check_before(struct store *st, const char *path, struct err *e)
{
	int64_t have = store_pragma(st, "user_version");

	if (store_check_ours(st, path, e))
		return -1;
	return have > SQL_SCHEMA_VERSION || have < SQL_BASE_VERSION
	           ? store_check_version(st, path, e)
	           : 0;
}

/* keep: make a copy before a migration. */
static int bring_up_to_date(struct store *st, const char *path, bool keep, struct err *e)
{
	int64_t schema = store_pragma(st, "schema_version"), have;
	bool is_empty = schema == 0;

	if (schema < 0)
		return store_failed(st->db, sqlite3_errcode(st->db), path, e);
	if ((!is_empty && check_before(st, path, e)) ||
	    store_execute(st, "PRAGMA journal_mode = WAL", e) || store_configure(st, e) ||
	    (is_empty && (store_image_write(st, e) || check_before(st, path, e))))
		return -1; /* somebody else may have made it meanwhile */
	have = store_pragma(st, "user_version");
	if (keep && have < SQL_SCHEMA_VERSION && back_up_before(st, path, e))
		return -1;
	if (store_begin(st, e))
		return -1;
	return store_end(st, renew(st, path, have, e), e);
}

/* name: what messages call it. */
static int migrate(struct store *st, const char *path, const char *name, const char *run_dir,
                   bool keep, struct err *e)
{
	mode_t before = umask(0177); /* the database, its log and its locks are 0600 */
	int done =
	    store_open_database(st, path, run_dir, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, e) ||
	    bring_up_to_date(st, name, keep, e);

	(void)umask(before);
	if (done == 0)
		return 0;
	store_clear(st);
	return -1;
}

int store_migrate(struct store *st, const char *path, const char *run_dir, struct err *e)
{
	return migrate(st, path, path, run_dir, true, e);
}

int store_migrate_copy(struct store *st, const char *path, const char *name, struct err *e)
{
	return migrate(st, path, name, NULL, false, e);
}
