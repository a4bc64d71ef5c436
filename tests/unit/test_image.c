/* image: a new database is what the schema's SQL makes, whenever its making was cut off. */
#include "harness.h"
#include "store_core.h"
#include "textfile.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SCHEMA_MOST = 4 << 20 };

static struct err e;

static int64_t number(struct store *st, const char *sql)
{
	sqlite3_stmt *s = NULL;
	int64_t value;

	ck_assert_msg(sqlite3_prepare_v2(st->db, sql, -1, &s, NULL) == SQLITE_OK, "%s",
	              sqlite3_errmsg(st->db));
	ck_assert_int_eq(sqlite3_step(s), SQLITE_ROW);
	value = sqlite3_column_int64(s, 0);
	(void)sqlite3_finalize(s);
	return value;
}

/* Attaches a database that the sqlite3 shell's SQL makes, as "made". */
static void attach_made(struct store *st)
{
	OWNED(str) struct str path = { 0 }, text = { 0 }, attach = { 0 };
	sqlite3 *db = NULL;

	str_addf(&path, "%s/generated/schema.sql", getenv("INTERCOM_BUILD"));
	ck_assert_int_eq(textfile_look(str_text(&path), SCHEMA_MOST, &text), 1);
	str_reset(&path);
	str_addf(&path, "%s/made.db", scratch());
	ck_assert_int_eq(sqlite3_open(str_text(&path), &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, "PRAGMA synchronous = OFF; BEGIN", NULL, NULL, NULL), 0);
	ck_assert_msg(!sqlite3_exec(db, text.bytes, NULL, NULL, NULL), "%s", sqlite3_errmsg(db));
	ck_assert_int_eq(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), 0);
	(void)sqlite3_close(db);
	str_addf(&attach, "ATTACH '%s' AS made", str_text(&path));
	ck_assert_msg(!store_execute(st, attach.bytes, &e), "%s", e.text);
}

/* A database of which nothing was made but its pages. */
static void write_pages(struct store *st, const char *path)
{
	ck_assert_msg(
	    !store_open_database(st, path, NULL, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &e),
	    "%s", e.text);
	ck_assert_msg(!store_execute(st, "PRAGMA journal_mode = WAL", &e), "%s", e.text);
	ck_assert_msg(!store_image_write(st, &e), "%s", e.text);
}

START_TEST(a_new_database_is_what_the_sql_of_the_schema_makes)
{
	OWNED(store) struct store st = STORE_INIT;
	OWNED(str) struct str path = { 0 };

	str_addf(&path, "%s/image.db", scratch());
	write_pages(&st, str_text(&path));
	attach_made(&st);

	ck_assert_int_eq(number(&st, "PRAGMA main.application_id"), SQL_APPLICATION_ID);
	ck_assert_int_eq(number(&st, "PRAGMA made.application_id"), SQL_APPLICATION_ID);
	ck_assert_int_eq(number(&st, "PRAGMA main.user_version"), SQL_SCHEMA_VERSION);
	ck_assert_int_eq(number(&st, "PRAGMA made.user_version"), SQL_SCHEMA_VERSION);
	ck_assert_int_eq(number(&st, "PRAGMA main.page_count"),
	                 number(&st, "PRAGMA made.page_count"));
	ck_assert_int_gt(number(&st, "SELECT count(*) FROM main.sqlite_schema"), 500);
	ck_assert_int_eq(number(&st, "SELECT count(*) FROM (SELECT rowid, * FROM main.sqlite_schema"
	                             " EXCEPT SELECT rowid, * FROM made.sqlite_schema)"),
	                 0);
	ck_assert_int_eq(number(&st, "SELECT count(*) FROM (SELECT rowid, * FROM made.sqlite_schema"
	                             " EXCEPT SELECT rowid, * FROM main.sqlite_schema)"),
	                 0);
}
END_TEST

START_TEST(a_new_database_is_whole_and_has_the_rows_that_come_with_it)
{
	fresh_store();
	expect("PRAGMA integrity_check", "ok\n");
	expect("PRAGMA foreign_key_check", "");
	expect("SELECT count(*) > 0 FROM source", "1\n");
	expect("SELECT count(*), count(found) FROM rule_set", "1|0\n");
	expect("SELECT count(*) FROM event", "0\n");
}
END_TEST

START_TEST(a_database_whose_making_was_cut_off_before_its_first_row_is_new)
{
	OWNED(store) struct store st = STORE_INIT;
	OWNED(str) struct str path = { 0 };

	str_addf(&path, "%s/cut.db", scratch());
	write_pages(&st, str_text(&path));
	store_clear(&st);

	ck_assert_msg(!store_migrate(&st, str_text(&path), NULL, &e), "%s", e.text);
	ck_assert_str_eq(store_rules_found(&st), "");
	ck_assert_int_eq(store_pragma(&st, "user_version"), store_schema_version());
	ck_assert_int_eq(number(&st, "SELECT count(*) FROM rule_set WHERE found IS NULL"), 1);
	ck_assert_int_eq(number(&st, "SELECT count(*) FROM event"), 0);
}
END_TEST

START_TEST(a_missing_record_of_the_rules_is_told_once_something_has_happened)
{
	OWNED(store) struct store st = STORE_INIT;
	OWNED(str) struct str path = { 0 };

	str_addf(&path, "%s/happened.db", scratch());
	write_pages(&st, str_text(&path));
	ck_assert_msg(!store_execute(&st,
	                             "INSERT INTO event (at, kind, actor) VALUES "
	                             "('2026-01-01T00:00:00.000Z', 'test.happened', 'test')",
	                             &e),
	              "%s", e.text);
	store_clear(&st);

	ck_assert_msg(!store_migrate(&st, str_text(&path), NULL, &e), "%s", e.text);
	ck_assert_str_eq(store_rules_found(&st), "the record of the rules");
}
END_TEST

START_TEST(a_database_that_somebody_made_meanwhile_stays_as_it_is)
{
	OWNED(store) struct store st = STORE_INIT;

	fresh_store();
	ck_assert_msg(!store_open(&st, test_db(), NULL, &e), "%s", e.text);
	ck_assert_msg(!store_image_write(&st, &e), "%s", e.text);
	expect("SELECT id FROM operator WHERE is_default = 1", "local:tester\n");
	expect("SELECT count(*) FROM rule_set", "1\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("image");
	TCase *c = tcase_create("image");

	tcase_add_test(c, a_new_database_is_what_the_sql_of_the_schema_makes);
	tcase_add_test(c, a_new_database_is_whole_and_has_the_rows_that_come_with_it);
	tcase_add_test(c, a_database_whose_making_was_cut_off_before_its_first_row_is_new);
	tcase_add_test(c, a_missing_record_of_the_rules_is_told_once_something_has_happened);
	tcase_add_test(c, a_database_that_somebody_made_meanwhile_stays_as_it_is);
	suite_add_tcase(s, c);
	return run_suite(s);
}
