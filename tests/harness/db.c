#include "db.h"

#include "err.h"
#include "process.h"
#include "str.h"
#include "suite.h"

#include <poll.h>
#include <string.h>

enum { LOOK_MS = 3 };

sqlite3_stmt *db_prepare(sqlite3 *db, const char *sql)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(db, sql, -1, &s, NULL);

	ck_assert_msg(rc == SQLITE_OK, "%s\n%s", sql, sqlite3_errmsg(db));
	return s;
}

char *db_rows(sqlite3_stmt *s)
{
	struct str out = { 0 };
	int rc;

	while ((rc = sqlite3_step(s)) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(s); i++) {
			const char *text = (const char *)sqlite3_column_text(s, i);

			str_add(&out, i ? "|" : "");
			str_add(&out, text ? text : "");
		}
		str_add(&out, "\n");
	}
	ck_assert_msg(rc == SQLITE_DONE, "%s\n%s", sqlite3_sql(s),
	              sqlite3_errmsg(sqlite3_db_handle(s)));
	(void)sqlite3_reset(s);
	return str_take(&out);
}

bool db_becomes(sqlite3_stmt *s, const char *text)
{
	OWNED(char_ptr) char *before = NULL;

	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS; agent_ms() < end;
	     (void)poll(NULL, 0, LOOK_MS)) {
		OWNED(char_ptr) char *have = db_rows(s);

		if (strcmp(have, text) == 0)
			return true;
		if (before && strcmp(have, before) != 0)
			end = agent_ms() + AGENT_PATIENCE_MS;
		char_ptr_clear(&before);
		before = have;
		have = NULL;
	}
	return false;
}

/* To open it, with all its rules, and to compile the query takes twenty times as long as to ask:
 * both are done once. */
void db_expect_soon(const char *path, const char *sql, const char *text)
{
	OWNED(char_ptr) char *have = NULL;
	sqlite3 *db = NULL;
	sqlite3_stmt *s;

	ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	(void)sqlite3_busy_timeout(db, AGENT_PATIENCE_MS);
	s = db_prepare(db, sql);
	if (!db_becomes(s, text))
		have = db_rows(s);
	(void)sqlite3_finalize(s);
	(void)sqlite3_close(db);
	ck_assert_msg(!have, "%s\nis:\n%sexpected:\n%s", sql, have, text);
}
