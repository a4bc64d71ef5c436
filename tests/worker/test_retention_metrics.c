/* Figures for monitoring survive the deletion of rows. */
#include "retention_case.h"

static const char COUNTED[] =
    "SELECT labels, value FROM metric WHERE family = 'intercom_questions_asked'";

START_TEST(a_purge_takes_nothing_from_the_figures)
{
	OWNED(char_ptr) char *told = NULL;
	OWNED(char_ptr) char *before = NULL;

	begin();
	given_whole_session(1, ago(60 * DAY));
	terminate(1, ago(40 * DAY));
	before = rows(COUNTED);
	ck_assert_msg(*before, "nothing is counted");
	told = run_once("--once", 0);
	expect("SELECT count(*) FROM request", "0\n");
	expect(COUNTED, before);
	expect("SELECT count(*) FROM metric_cursor WHERE upto < (SELECT seq FROM metric_head AS h "
	       "WHERE h.noun = metric_cursor.noun) OR until < 9223372036854775807",
	       "0\n");
}
END_TEST

START_TEST(retention_counts_a_backlog_in_stretches_and_nothing_twice)
{
	begin();
	given("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000) "
	      "INSERT INTO event (at, kind) SELECT '2026-01-01T09:00:00.000Z', 'worker.ready' FROM "
	      "n");
	(void)start_worker("retention");
	expect_soon(
	    "SELECT value >= 12000 FROM metric_tally WHERE labels = 'kind=\"worker.ready\"'",
	    "1\n");
	expect(
	    "SELECT m.value = (SELECT count(*) FROM event WHERE kind = 'worker.ready') FROM metric "
	    "AS m WHERE labels = 'kind=\"worker.ready\"'",
	    "1\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("retention_metrics");
	TCase *c = store_case(s, "retention_metrics", 60);

	tcase_add_test(c, a_purge_takes_nothing_from_the_figures);
	tcase_add_test(c, retention_counts_a_backlog_in_stretches_and_nothing_twice);
	return run_suite(s);
}
