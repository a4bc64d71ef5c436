/* retention: what is old goes, whole and only that; the log stays short. */
#include "retention_case.h"

static void succeeds(int status)
{
	ck_assert_msg(status == 0, "exit %d: %s", status, str_text(&said));
}

static void given_events(int count, const char *kind, struct instant at)
{
	char sql[400];

	(void)snprintf(sql, sizeof(sql),
	               "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
	               "%d) INSERT INTO event (at, kind) SELECT '%s', '%s' FROM n",
	               count, at.text, kind);
	given(sql);
}

static void seal(void)
{
	succeeds(intercom("audit export >/dev/null"));
}

/* The setting, and the folder. */
static const char *given_export_dir(void)
{
	static char dir[300];
	char sql[500];

	(void)snprintf(dir, sizeof(dir), "%s", below(test_run(), "archive"));
	(void)mkdir(dir, 0700);
	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO setting (name, value, source, updated_at) VALUES "
	               "('retention_export_dir', '%s', 'file', '%s')",
	               dir, clock_now().text);
	given(sql);
	return dir;
}

START_TEST(of_the_timeline_what_is_old_and_sealed_is_cut_off_and_the_rest_verifies)
{
	begin();
	given_events(1200, "old", ago(400 * DAY));
	given_events(3, "new", ago(360 * DAY));
	given_events(2, "old", ago(400 * DAY)); /* behind what stays */
	(void)start_worker("retention");
	advance(HOUR + SECOND);
	expect_soon("SELECT count(*) > 0 FROM upkeep WHERE kind = 'check'", "1\n");
	expect("SELECT kind, count(*) FROM event WHERE kind IN ('old', 'new') GROUP BY kind",
	       "new|3\nold|1202\n"); /* nothing of it is sealed */
	seal();

	advance(HOUR + SECOND);

	expect_soon("SELECT kind, count(*) FROM event WHERE kind IN ('old', 'new') GROUP BY kind",
	            "new|3\nold|2\n");
	expect("SELECT min(seq) FROM event; ", "1201\n");
	expect("SELECT min(seq) FROM seal", "1200\n");
	expect("SELECT upto, file FROM audit_cut", "1200|\n");
	expect("SELECT json_extract(detail, '$.upto') FROM event WHERE kind = 'timeline.cut'",
	       "1200\n");
	succeeds(intercom("audit verify"));
	says(str_text(&said), "1201 to");
	seal();
	succeeds(intercom("audit verify"));

	advance(10 * DAY);
	expect_soon("SELECT kind FROM event WHERE kind IN ('old', 'new')", "");
	seal();
	succeeds(intercom("audit verify"));
	expect("SELECT count(*) FROM audit_cut", "1\n");

	given("DROP TRIGGER event_is_fixed; UPDATE event SET detail = NULL WHERE kind = "
	      "'timeline.cut'");
	ck_assert_int_eq(intercom("audit verify"), 1);
}
END_TEST

START_TEST(what_is_dated_ahead_goes_with_what_came_after_it)
{
	struct instant ahead = ago(-20000 * DAY);

	begin();
	given_events(2, "ahead", ahead);
	given_events(2, "old", ago(400 * DAY));
	given_events(3, "ahead", ahead);
	given_events(1, "old", ago(390 * DAY));
	given_events(1, "ahead", ahead); /* as young as the next */
	given_events(2, "new", ago(360 * DAY));
	seal();

	free(run_once("--once", 0));

	expect("SELECT kind, count(*) FROM event GROUP BY kind ORDER BY kind",
	       "ahead|1\nnew|2\ntimeline.cut|1\n");
	seal();
	succeeds(intercom("audit verify"));
}
END_TEST

START_TEST(a_cut_that_was_killed_before_its_last_event_is_finished)
{
	begin();
	given_events(3, "old", ago(400 * DAY));
	given_events(3, "new", ago(360 * DAY));
	seal();
	given("INSERT INTO audit_cut (upto, hash, at)"
	      " SELECT s.seq, s.hash, strftime('%Y-%m-%dT%H:%M:%fZ', 'now') FROM seal AS s"
	      " WHERE s.seq = (SELECT max(seq) FROM event WHERE kind = 'old');"
	      "DELETE FROM event WHERE seq < (SELECT upto FROM audit_cut);"
	      "DELETE FROM seal WHERE seq < (SELECT upto FROM audit_cut) - 1");

	free(run_once("--once", 0));

	expect("SELECT kind, count(*) FROM event GROUP BY kind ORDER BY kind",
	       "new|3\ntimeline.cut|1\n");
	succeeds(intercom("audit verify"));
}
END_TEST

START_TEST(the_timeline_is_exported_before_it_is_cut)
{
	const char *dir;

	begin();
	dir = given_export_dir();
	given_events(700, "first", ago(400 * DAY));
	given_events(5, "second", ago(360 * DAY));
	seal();
	free(run_once("--once", 0));
	expect("SELECT count(*) FROM event WHERE kind = 'first'", "0\n");
	seal();
	advance(10 * DAY);
	free(run_once("--once", 0));
	expect("SELECT count(*) FROM event WHERE kind = 'second'", "0\n");

	ck_assert_int_eq(shell(&said, "stat -c '%%a' %s/audit-*.jsonl; ls -A %s | wc -l", dir, dir),
	                 0);
	ck_assert_str_eq(str_text(&said), "600\n600\n2\n");
	succeeds(shell(&said,
	               "set -e; for f in %s/audit-*.jsonl; do python3 %s/tests/audit/verify.py $f; "
	               "%s/agent-intercom audit verify $f; done; cd %s; grep -h -o '\"last\".*' "
	               "$(ls | head -1) | grep -o '[0-9a-f]\\{64\\}' >../last; grep -h -o "
	               "'\"prev\":\"[^\"]*' $(ls | tail -1) | head -1 | grep -f ../last; grep -c "
	               "first *",
	               dir, getenv("INTERCOM_SOURCE"), getenv("INTERCOM_BUILD"), dir));
	says(str_text(&said), ":700\n");
	expect("SELECT file LIKE '%/archive/audit-%' FROM audit_cut", "1\n");
	succeeds(intercom("audit verify"));
}
END_TEST

/* A write 31 days ago that replaced a file whose bytes were "image n". */
static void given_image(int n)
{
	OWNED(str) struct str text = { 0 };
	struct sha256 hash;
	char sql[600];

	str_addf(&text, "image %d", n);
	hash = sha256_of(text.bytes, text.length);
	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO content (seq, hash, size, bytes) VALUES (%d, '%s', %zu, "
	               "CAST('%s' AS BLOB));"
	               "UPDATE file_change SET before_seq = %d WHERE seq = %d",
	               100 + n, hash.text, text.length, text.bytes, 100 + n, n);
	given(sql);
}

/* And events that are older than all that. */
static void given_images(int count, int events)
{
	OWNED(char_ptr) char *rule = NULL;

	begin();
	given_events(events, "old", ago(400 * DAY));
	rule = rows("SELECT sql FROM sqlite_schema WHERE name = 'file_change_is_kept'");
	given("DROP TRIGGER file_change_is_kept");
	for (int n = 1; n <= count; n++) {
		given_whole_session(n, ago(31 * DAY));
		given_image(n);
	}
	given(rule);
}

START_TEST(what_undo_needs_is_exported_before_it_is_forgotten)
{
	const char *dir;

	given_images(45, 1);
	dir = given_export_dir();
	terminate(45, ago(30 * DAY + HOUR));
	free(run_once("--once", 0));

	expect("SELECT count(*) FROM file_change WHERE before_seq IS NOT NULL", "0\n");
	expect("SELECT count(*) FROM session", "44\n");
	succeeds(shell(
	    &said,
	    "cd %s && set -e; cat undo-*.jsonl | wc -l; grep -h -o '\"hash\":\"[^\"]*' "
	    "undo-*.jsonl | cut -d'\"' -f4 | sed 's/.*/& *undo-&/' | sha256sum -c "
	    "--quiet; cat undo-*.jsonl | grep -c '\"request_id\":\"q45\"'; stat -c %%a * | "
	    "sort -u; cat undo-???????????????????????????????????????????????????????????????? "
	    "| grep -c -o 'image [0-9]*' || :",
	    dir));
	says(str_text(&said), "45\n1\n600\n");
}
END_TEST

/* An image's name in the folder can be guessed by whoever can read the file. */
START_TEST(what_somebody_else_has_put_in_the_place_of_an_export_is_no_export)
{
	OWNED(char_ptr) char *hash = NULL;
	OWNED(char_ptr) char *told = NULL;
	const char *dir;

	given_images(1, 1);
	dir = given_export_dir();
	terminate(1, ago(30 * DAY + HOUR));
	hash = rows("SELECT hash FROM content WHERE seq IN (SELECT before_seq FROM file_change)");
	hash[strcspn(hash, "\n")] = '\0';
	succeeds(shell(&said,
	               "head -c $(sqlite3 %s \"SELECT size FROM content WHERE hash = '%s'\") "
	               "/dev/zero >%s/undo-%s",
	               test_db(), hash, dir, hash));

	told = run_once("--once", 78);
	says(told, "is not what belongs there under that name; remove it");
	expect("SELECT count(*) FROM file_change WHERE before_seq IS NOT NULL", "1\n");
	succeeds(shell(&said, "rm %s/undo-%s", dir, hash));
	free(run_once("--once", 0));
	expect("SELECT count(*) FROM file_change WHERE before_seq IS NOT NULL", "0\n");
}
END_TEST

START_TEST(what_cannot_be_exported_stays_and_that_is_told)
{
	OWNED(char_ptr) char *told = NULL;
	OWNED(char_ptr) char *then = NULL;
	const char *dir;

	given_images(2, 3);
	dir = given_export_dir();
	seal();
	terminate(2, ago(30 * DAY + HOUR));
	ck_assert_int_eq(rmdir(dir), 0);

	told = run_once("--once", 78);
	says(told, "what undo needs is kept, because it cannot be exported");
	says(told, "the timeline is not cut, because it cannot be exported");
	expect("SELECT count(*) FROM session", "2\n");
	expect("SELECT count(*) FROM file_change WHERE before_seq IS NOT NULL", "2\n");
	expect("SELECT count(*) FROM event WHERE kind = 'old'", "3\n");

	ck_assert_int_eq(mkdir(dir, 0700), 0);
	then = run_once("--once", 0);
	says(then, "deleted 1 session(s)");
	expect("SELECT count(*) FROM file_change WHERE before_seq IS NOT NULL", "0\n");
	given("UPDATE setting SET value = '' WHERE name = 'retention_export_dir'");
}
END_TEST

/* All that was there is in the rows or, whole and under its name, in the folder. */
static void nothing_is_lost(const char *dir)
{
	OWNED(char_ptr) char *kept = rows("SELECT count(*) FROM event WHERE kind = 'old'");
	OWNED(char_ptr)
	char *images = rows("SELECT count(*) FROM file_change WHERE before_seq IS NOT NULL");

	if (atoi(kept) < 600)
		succeeds(shell(&said,
		               "cd %s && set -e; python3 %s/tests/audit/verify.py audit-*.jsonl; "
		               "test $(grep -c '\"old\"' audit-*.jsonl) = 600",
		               dir, getenv("INTERCOM_SOURCE")));
	if (atoi(images) < 3)
		succeeds(
		    shell(&said,
		          "cd %s && set -e; test $(cat undo-*.jsonl | wc -l) -ge 3; grep -h -o "
		          "'\"hash\":\"[^\"]*' undo-*.jsonl | cut -d'\"' -f4 | sed 's/.*/& "
		          "*undo-&/' | sha256sum -c --quiet",
		          dir));
}

START_TEST(a_purge_that_is_killed_has_deleted_nothing_that_was_not_exported)
{
	static const struct {
		const char *call;
		int every;
	} STEPS[] = { { "openat", 7 },          { "pwrite64", 41 }, { "write", 5 },
		      { "sync_file_range", 1 }, { "fsync", 2 },     { "fdatasync", 5 },
		      { "renameat2", 1 },       { "unlinkat", 1 } };

	for (size_t i = 0; i < COUNT(STEPS); i++) {
		const char *dir;
		int status = 137;

		given_images(3, 600);
		dir = given_export_dir();
		seal();
		for (int n = 1; status == 137; n += STEPS[i].every) {
			status = shell(&said,
			               "ASAN_OPTIONS=detect_leaks=0 strace -f -qq -o /dev/null -e "
			               "trace=%s -e inject=%s:signal=SIGKILL:when=%d "
			               "%s/agent-intercom --db %s retention --once 2>&1 </dev/null",
			               STEPS[i].call, STEPS[i].call, n, getenv("INTERCOM_BUILD"),
			               test_db());
			nothing_is_lost(dir);
			ck_assert_int_lt(n, 2000);
		}
		succeeds(status);
		expect("SELECT count(*) FROM event WHERE kind = 'old'", "0\n");
		expect("SELECT count(*) FROM file_change WHERE before_seq IS NOT NULL", "0\n");
		(void)intercom("audit verify"); /* the digests of the questions are made up */
		says(str_text(&said), " events match their seals");
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("retention_timeline");
	TCase *c = tcase_create("retention");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, of_the_timeline_what_is_old_and_sealed_is_cut_off_and_the_rest_verifies);
	tcase_add_test(c, what_is_dated_ahead_goes_with_what_came_after_it);
	tcase_add_test(c, a_cut_that_was_killed_before_its_last_event_is_finished);
	tcase_add_test(c, the_timeline_is_exported_before_it_is_cut);
	tcase_add_test(c, what_undo_needs_is_exported_before_it_is_forgotten);
	tcase_add_test(c, what_somebody_else_has_put_in_the_place_of_an_export_is_no_export);
	tcase_add_test(c, what_cannot_be_exported_stays_and_that_is_told);
	tcase_add_test(c, a_purge_that_is_killed_has_deleted_nothing_that_was_not_exported);
	suite_add_tcase(s, c);
	return run_suite(s);
}
