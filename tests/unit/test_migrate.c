/* migrate: the rules of a database become those of the program, whoever has changed them. */
#include "harness.h"
#include "sha256.h"
#include "sql/store.h"
#include "str.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void open_here(struct store *st)
{
	struct err e = { 0 };

	ck_assert_msg(!store_open(st, test_db(), test_run(), &e), "%s", e.text);
}

static const char ALL_RULES[] =
    "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('trigger', 'view') ORDER BY 1, 2";

START_TEST(rules_that_somebody_changed_are_made_again_and_told)
{
	OWNED(store) struct store st = STORE_INIT;
	OWNED(str) struct str found = { 0 };
	struct err e = { 0 };
	OWNED(char_ptr) char *before = NULL, *after = NULL;

	fresh_store();
	before = rows(ALL_RULES);
	given("DROP TRIGGER decision_takes_effect; DROP VIEW inbox; CREATE VIEW inbox AS SELECT 1;"
	      "CREATE TRIGGER old_rule AFTER DELETE ON time_gap BEGIN SELECT 1; END");
	open_here(&st);
	ck_assert_int_eq(store_check_rules(&st, &found, &e), 0);
	ck_assert_str_eq(found.bytes, "old_rule (foreign), inbox (changed), "
	                              "decision_takes_effect (missing)");
	store_clear(&st);
	ck_assert_msg(!store_migrate(&st, test_db(), NULL, &e), "%s", e.text);
	after = rows(ALL_RULES);
	ck_assert_str_eq(before, after);
	ck_assert_str_eq(store_rules_found(&st), found.bytes);
	expect("SELECT kind, actor, detail ->> 'found' FROM event",
	       "rules.restored|agent-intercom|old_rule (foreign), inbox (changed), "
	       "decision_takes_effect (missing)\n");
	expect("SELECT count(DISTINCT hash), count(found) FROM rule_set", "1|1\n");
	str_reset(&found);
	ck_assert_int_eq(store_check_rules(&st, &found, &e), 1);
}
END_TEST

START_TEST(indexes_that_differ_are_told_and_made_again_at_a_start)
{
	static const char ALL[] =
	    "SELECT name, sql FROM sqlite_schema WHERE type = 'index' ORDER BY name";
	OWNED(store) struct store st = STORE_INIT;
	OWNED(str) struct str found = { 0 };
	OWNED(char_ptr) char *before = NULL, *after = NULL;
	struct err e = { 0 };

	fresh_store();
	before = rows(ALL);
	given("DROP INDEX agent_default; DROP INDEX decision_first;"
	      "CREATE INDEX decision_first ON request(title);"
	      "CREATE INDEX own ON request(title)");
	open_here(&st);
	ck_assert_int_eq(store_check_rules(&st, &found, &e), 0);
	ck_assert_str_eq(found.bytes, "decision_first (changed), own (foreign), "
	                              "agent_default (missing)");
	store_clear(&st);
	ck_assert_int_eq(store_open_own(&st, test_db(), NULL, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "decision_first (changed), agent_default (missing)"));
	e = (struct err){ 0 };
	ck_assert_msg(!store_migrate(&st, test_db(), NULL, &e), "%s", e.text);
	after = rows(ALL);
	ck_assert_str_eq(before, after);
	expect("SELECT detail ->> 'found' FROM event WHERE kind = 'rules.restored'",
	       "decision_first (changed), own (foreign), agent_default (missing)\n");
	ck_assert_int_eq(store_check_rules(&st, &found, &e), 1);
}
END_TEST

START_TEST(a_start_is_refused_if_rows_are_there_that_a_missing_index_refuses)
{
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };

	fresh_store();
	given("DROP TRIGGER operator_is_born; DROP INDEX operator_default;"
	      "INSERT INTO operator (id, kind, user_id, is_default) VALUES ('local:other', "
	      "'local', 'other', 1)");
	ck_assert_int_eq(store_migrate(&st, test_db(), NULL, &e), -1);
	ck_assert_int_eq(e.kind, ERR_INPUT);
	ck_assert_ptr_nonnull(strstr(e.text, "operator_default (missing)"));
}
END_TEST

/* One that ignores a row would swallow an answer without a word. */
START_TEST(what_has_a_say_in_writes_and_is_not_ours_is_refused_until_a_start_removes_it)
{
	static const char *const FOREIGN[] = {
		"CREATE TRIGGER mine BEFORE INSERT ON decision BEGIN SELECT RAISE(IGNORE); END",
		"CREATE UNIQUE INDEX mine ON decision(verdict)",
	};
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };

	fresh_store();
	given("CREATE VIEW harmless AS SELECT 1; CREATE INDEX own ON request(title)");
	ck_assert_msg(!store_open_own(&st, test_db(), NULL, &e), "%s", e.text);
	store_clear(&st);
	given(FOREIGN[_i]);
	ck_assert_int_eq(store_open_own(&st, test_db(), NULL, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "mine (foreign)"));
	e = (struct err){ 0 };
	ck_assert_msg(!store_migrate(&st, test_db(), NULL, &e), "%s", e.text);
	expect("SELECT count(*) FROM sqlite_schema WHERE name = 'mine'", "0\n");
	ck_assert_ptr_nonnull(strstr(store_rules_found(&st), "mine (foreign)"));
}
END_TEST

START_TEST(rules_of_another_program_are_replaced_without_a_word)
{
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };
	OWNED(char_ptr) char *before = NULL, *after = NULL, *text = NULL, *sql = NULL;
	struct sha256 hash;

	fresh_store();
	before = rows(ALL_RULES);
	/* An older program had one rule, and wrote that down. */
	text = rows("SELECT group_concat('DROP ' || type || ' ' || name, ';') FROM (SELECT * FROM "
	            "sqlite_schema WHERE type IN ('trigger', 'view') ORDER BY type)");
	given(text);
	given("CREATE VIEW inbox AS SELECT 1");
	hash = sha256_of("inbox\0CREATE VIEW inbox AS SELECT 1",
	                 sizeof("inbox CREATE VIEW inbox AS SELECT 1"));
	ck_assert(asprintf(&sql,
	                   "INSERT INTO rule_set (hash, created_at) VALUES ('%s', "
	                   "'2026-01-01T00:00:00.000Z')",
	                   hash.text) > 0);
	given(sql);
	ck_assert_msg(!store_migrate(&st, test_db(), NULL, &e), "%s", e.text);
	after = rows(ALL_RULES);
	ck_assert_str_eq(before, after);
	ck_assert_str_eq(store_rules_found(&st), "");
	expect("SELECT count(*) FROM event", "0\n");
	expect("SELECT count(*), count(found) FROM rule_set", "3|0\n");
}
END_TEST

START_TEST(a_migration_keeps_the_rows_and_may_run_again)
{
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };

	fresh_store();
	ck_assert_msg(!store_migrate(&st, test_db(), NULL, &e), "%s", e.text);
	expect("SELECT id FROM operator WHERE is_default = 1", "local:tester\n");
	expect("SELECT user_version > 0 FROM pragma_user_version", "1\n");
	expect("PRAGMA journal_mode", "wal\n");
}
END_TEST

START_TEST(a_start_that_cannot_make_the_rules_leaves_all_as_it_was)
{
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };

	fresh_store();
	/* A table that bears the name of a view. */
	given("DROP VIEW inbox; CREATE TABLE inbox (a TEXT) STRICT; DROP TRIGGER "
	      "decision_takes_effect");
	ck_assert_int_eq(store_migrate(&st, test_db(), NULL, &e), -1);
	ck_assert_msg(strstr(e.text, "already"), "%s", e.text);
	expect("SELECT count(*) FROM sqlite_schema WHERE name = 'decision_takes_effect'", "0\n");
	expect("SELECT count(*) > 20 FROM sqlite_schema WHERE type = 'trigger'", "1\n");
	expect("SELECT id FROM operator WHERE is_default = 1", "local:tester\n");
}
END_TEST

static int stop(void *arg)
{
	(void)arg;
	return 1;
}

/* As if the disk failed: the statement ends where it is. */
START_TEST(rules_that_cannot_be_read_to_the_end_are_an_error_and_not_missing)
{
	enum { MOST_STEPS = 100000 };
	OWNED(store) struct store st = STORE_INIT;
	int steps = 1, got = -1;

	fresh_store();
	open_here(&st);
	for (; got < 0 && steps < MOST_STEPS; steps += steps / 8 + 1) {
		OWNED(str) struct str found = { 0 };
		struct err e = { 0 };

		sqlite3_progress_handler(st.db, steps, stop, NULL);
		got = store_check_rules(&st, &found, &e);
		sqlite3_progress_handler(st.db, 0, NULL, NULL);
		ck_assert_msg(got != 0, "after %d steps: %s", steps, str_text(&found));
		ck_assert(got > 0 || e.kind == ERR_AGAIN);
	}
	ck_assert_int_eq(got, 1);
	ck_assert_int_gt(steps, 500);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("migrate");
	TCase *c = store_case(s, "migrate", 60);

	tcase_add_test(c, rules_that_somebody_changed_are_made_again_and_told);
	tcase_add_test(c, rules_that_cannot_be_read_to_the_end_are_an_error_and_not_missing);
	tcase_add_test(c, indexes_that_differ_are_told_and_made_again_at_a_start);
	tcase_add_test(c, a_start_is_refused_if_rows_are_there_that_a_missing_index_refuses);
	tcase_add_loop_test(
	    c, what_has_a_say_in_writes_and_is_not_ours_is_refused_until_a_start_removes_it, 0, 2);
	tcase_add_test(c, rules_of_another_program_are_replaced_without_a_word);
	tcase_add_test(c, a_migration_keeps_the_rows_and_may_run_again);
	tcase_add_test(c, a_start_that_cannot_make_the_rules_leaves_all_as_it_was);
	return run_suite(s);
}
