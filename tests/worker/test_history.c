/* Daily operations cost the same with a long history behind them: counted in the steps of SQLite's
 * machine, which do not depend on the machine that this runs on. tests/bench/grow.c has the times,
 * up to ten million calls. */
#include "harness.h"
#include "history.h"

#include <sqlite3.h>
#include <stdio.h>

enum { CALLS = 100000, TURNS = 10 };

struct cost {
	int64_t steps[SQL_COUNT];
	int64_t scans; /* steps of scans, and sorts */
};

static int status_of(sqlite3_stmt *s, int what)
{
	return s ? sqlite3_stmt_status(s, what, 1) : 0;
}

static void count(struct history *h, struct cost *cost)
{
	for (int i = 0; i < SQL_COUNT; i++) {
		cost->steps[i] += status_of(h->store.prepared[i], SQLITE_STMTSTATUS_VM_STEP);
		cost->scans += status_of(h->store.prepared[i], SQLITE_STMTSTATUS_FULLSCAN_STEP) +
		               status_of(h->store.prepared[i], SQLITE_STMTSTATUS_SORT);
	}
}

static struct cost cost_of(const char *path, int calls)
{
	struct cost before = { .scans = 0 }, cost = { .scans = 0 };
	struct history h;

	history_make(path);
	if (calls)
		(void)history_fill(path, 0, calls, 5);
	history_open(&h, path);
	for (int i = 0; i < 5; i++)
		history_turn(&h); /* what is done once */
	count(&h, &before);
	for (int i = 0; i < TURNS; i++)
		history_turn(&h);
	count(&h, &cost);
	history_close(&h);
	return cost;
}

START_TEST(daily_operations_take_the_same_steps_with_a_hundred_thousand_calls_behind_them)
{
	const char *dir = scratch();
	struct cost at_first, later;
	char path[300];
	int counted = 0;

	(void)snprintf(path, sizeof(path), "%s/empty.db", dir);
	at_first = cost_of(path, 0);
	(void)snprintf(path, sizeof(path), "%s/full.db", dir);
	later = cost_of(path, CALLS);

	for (int i = 0; i < SQL_COUNT; i++) {
		counted += at_first.steps[i] > 0;
		ck_assert_msg(later.steps[i] * 2 <= at_first.steps[i] * 3,
		              "%s: %lld steps with an empty history, %lld with a long one",
		              sql_statements[i].name, (long long)at_first.steps[i],
		              (long long)later.steps[i]);
	}
	ck_assert_int_gt(counted, 10);
	ck_assert_int_le(later.scans, at_first.scans);
}
END_TEST

/* ---- one session ---- */

static void run_sql(sqlite3 *db, const char *sql)
{
	char *why = NULL;

	ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &why) == SQLITE_OK, "%s: %s", sql, why);
}

/* Of one more message in its thread. */
static int steps_of_message(sqlite3 *db)
{
	sqlite3_stmt *s;
	int steps;

	ck_assert_int_eq(sqlite3_prepare_v2(db,
	                                    "INSERT INTO slack_notice (kind, session_seq, text) "
	                                    "VALUES ('reply', 1, 'Noted.')",
	                                    -1, &s, NULL),
	                 SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(s), SQLITE_DONE);
	steps = sqlite3_stmt_status(s, SQLITE_STMTSTATUS_VM_STEP, 0);
	(void)sqlite3_finalize(s);
	return steps;
}

START_TEST(a_message_takes_the_same_steps_with_a_thousand_of_its_session_before_it)
{
	enum { MESSAGES = 1000 };
	char path[300];
	int at_first, later;
	sqlite3 *db;

	(void)snprintf(path, sizeof(path), "%s/session.db", scratch());
	history_make(path);
	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	run_sql(db, "UPDATE setting SET value = 'true' WHERE name = 'slack.configured';"
	            "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, "
	            "mode, channel_id, created_at, updated_at) VALUES (1, 's', 'h', 'local:ann', "
	            "'/work', 'active', 'remote', 'C1', '2026-01-01T00:00:00.000Z', "
	            "'2026-01-01T00:00:00.000Z')");
	at_first = steps_of_message(db);
	run_sql(db, "BEGIN");
	for (int i = 0; i < MESSAGES; i++)
		(void)steps_of_message(db);
	run_sql(db, "COMMIT");
	later = steps_of_message(db);
	(void)sqlite3_close(db);
	ck_assert_msg(later * 2 <= at_first * 3, "%d steps at first, %d later", at_first, later);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("history");
	TCase *c = tcase_create("history");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 100);
	tcase_add_test(
	    c, daily_operations_take_the_same_steps_with_a_hundred_thousand_calls_behind_them);
	tcase_add_test(c, a_message_takes_the_same_steps_with_a_thousand_of_its_session_before_it);
	suite_add_tcase(s, c);
	return run_suite(s);
}
