/* The timeline under seal: sealed as it grows, exported, and every change of it found, by us and by
 * a verifier that has nothing of ours (tests/audit/verify.py). */
#include "agent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

static const int64_t SECOND = 1000;
static struct str said;

static int audit(const char *arguments)
{
	return shell(&said, "%s/agent-intercom --db %s audit %s 2>&1 </dev/null",
	             getenv("INTERCOM_BUILD"), test_db(), arguments);
}

static void succeeds(int status)
{
	ck_assert_msg(status == 0, "exit %d: %s", status, str_text(&said));
}

static void fails(int status, int wanted, const char *part)
{
	ck_assert_msg(status == wanted, "exit %d: %s", status, str_text(&said));
	says(str_text(&said), part);
}

static int verify_independently(const char *arguments)
{
	return shell(&said, "python3 %s/tests/audit/verify.py %s 2>&1", getenv("INTERCOM_SOURCE"),
	             arguments);
}

/* A file beside the database. */
static const char *there(const char *name)
{
	return below(test_run(), name);
}

static void given_events(int count)
{
	char sql[400];

	(void)snprintf(sql, sizeof(sql),
	               "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < "
	               "%d) INSERT INTO event (at, kind, session_seq, actor, detail) SELECT "
	               "'2026-01-01T09:00:00.000Z', 'note.' || i, i, 'local:ann', "
	               "json_object('i', i) FROM n",
	               count);
	given(sql);
}

/* Nine events and no more: 1 to 9. */
static void given_sealed_nine(void)
{
	fresh_store();
	given_events(9);
	succeeds(audit("export >/dev/null"));
	expect("SELECT count(*), max(seq) FROM seal", "9|9\n");
}

static void is_whole(const char *count)
{
	char words[80];

	succeeds(audit("verify"));
	(void)snprintf(words, sizeof(words), "%s events match their seals", count);
	says(str_text(&said), words);
}

/* ---- sealing ---- */

START_TEST(the_watchdog_seals_what_everybody_writes)
{
	fresh_store();
	given_events(3);
	(void)start_worker("watchdog");
	expect_soon("SELECT count(*) FROM event WHERE seq NOT IN (SELECT seq FROM seal)", "0\n");

	given_events(1000); /* several batches */
	advance(2 * SECOND);
	expect_soon("SELECT count(*) FROM event WHERE seq NOT IN (SELECT seq FROM seal)", "0\n");

	given("INSERT INTO event (at, kind) VALUES ('2026-01-01T09:00:00.000Z', 'last')");
	advance(2 * SECOND);
	expect_soon("SELECT max(seq) = (SELECT max(seq) FROM event) FROM seal", "1\n");
	succeeds(audit("verify"));
}
END_TEST

START_TEST(a_sealer_that_is_killed_leaves_a_chain_that_goes_on)
{
	fresh_store();
	given_events(20000);
	for (int i = 1; i <= 5; i++) {
		char sealed[60];
		pid_t watchdog = start_worker("watchdog");

		(void)snprintf(sealed, sizeof(sealed), "SELECT count(*) > %d FROM seal", i * 1500);
		expect_soon(sealed, "1\n");
		kill_worker(watchdog);
		succeeds(audit("verify"));
	}
	(void)start_worker("watchdog");
	expect_soon("SELECT count(*) FROM event WHERE seq NOT IN (SELECT seq FROM seal)", "0\n");
	succeeds(audit("verify"));
}
END_TEST

START_TEST(two_sealers_at_once_seal_each_event_once)
{
	fresh_store();
	given_events(20000);
	(void)start_worker("watchdog");
	succeeds(shell(&said,
	               "for i in 1 2 3; do %s/agent-intercom --db %s audit export %s-$i & "
	               "pids=\"$pids $!\"; done; for p in $pids; do wait $p || exit; done",
	               getenv("INTERCOM_BUILD"), test_db(), there("export")));
	expect("SELECT count(*) >= 20000 FROM seal", "1\n");
	expect("SELECT count(*) FROM event WHERE seq <= 20000 AND seq NOT IN (SELECT seq FROM "
	       "seal)",
	       "0\n");
	for (int i = 1; i <= 3; i++) {
		char name[20];

		(void)snprintf(name, sizeof(name), "export-%d", i);
		succeeds(verify_independently(there(name)));
	}
	succeeds(audit("verify"));
}
END_TEST

START_TEST(events_that_the_watchdog_cannot_seal_fail_the_audit_of_a_system_that_runs_or_ran)
{
	static const char FOUND[] = "events were not sealed within a minute";
	pid_t watchdog;

	fresh_store();
	watchdog = start_worker("watchdog");
	given_events(9); /* and that it is ready */
	advance(2 * SECOND);
	expect_soon("SELECT count(*) FROM seal", "10\n");
	given("UPDATE sqlite_sequence SET seq = 4611686018427387904 WHERE name = 'event'");
	given_events(2); /* each of which is old */
	is_whole("10"); /* it has just begun */
	advance(100 * SECOND);
	expect_soon("SELECT heartbeat_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '60 seconds') "
	            "FROM worker WHERE name = 'watchdog'",
	            "1\n");
	fails(audit("verify"), 1, FOUND);
	fails(shell(&said, "HOME=%s %s/agent-intercom --db %s doctor 2>&1", short_scratch(),
	            getenv("INTERCOM_BUILD"), test_db()),
	      1, "FAIL seals: ");
	stop_worker(watchdog);
	fails(audit("verify"), 1, FOUND);

	(void)start_worker("watchdog");
	is_whole("10"); /* the next one may seal them */
}
END_TEST

/* ---- export ---- */

START_TEST(an_export_is_one_private_file_that_both_verifiers_find_whole)
{
	char arguments[500];
	struct stat about;

	given_sealed_nine();
	given("INSERT INTO event (at, kind, actor, detail) VALUES ('2026-01-02T09:00:00.000Z', "
	      "'odd', 'a\"b\\c' || char(10, 9, 8, 31, 127, 8232, 128512), '{\"a\": \"\\u0000é\"}'),"
	      " ('2026-01-02T09:00:00.000Z', 'bytes', CAST(x'61ff62' AS TEXT), NULL),"
	      " ('2026-01-02T09:00:00.000Z', 'nul', 'a' || char(0) || 'b', '[]')");
	(void)snprintf(arguments, sizeof(arguments), "export %s", there("f"));
	succeeds(audit(arguments));
	says(str_text(&said), "12 events, head 12:");

	ck_assert_int_eq(stat(there("f"), &about), 0);
	ck_assert_uint_eq(about.st_mode, S_IFREG | 0600);
	succeeds(verify_independently(there("f")));
	says(str_text(&said), "12 events match their seals; head 12:");
	(void)snprintf(arguments, sizeof(arguments), "verify %s", there("f"));
	succeeds(audit(arguments));
	says(str_text(&said), "12 events match their seals, 1 to 12; head 12:");
	is_whole("12");

	(void)snprintf(arguments, sizeof(arguments), "export %s", there("f"));
	fails(audit(arguments), EX_CONFIG, "already exists");
	(void)snprintf(arguments, sizeof(arguments), "export %s/no/f", there("x"));
	fails(audit(arguments), EX_CONFIG, "No such file");
	fails(audit("frobnicate"), EX_USAGE, "write audit export or audit verify");
}
END_TEST

START_TEST(an_export_can_begin_later_and_still_verifies)
{
	char arguments[500];

	given_sealed_nine();
	given("INSERT INTO event (at, kind) VALUES ('2026-01-02T09:00:00.000Z', 'a'),"
	      " ('2026-01-03T09:00:00.000Z', 'b')");
	(void)snprintf(arguments, sizeof(arguments), "export --since 2026-01-02 %s", there("f"));
	succeeds(audit(arguments));
	says(str_text(&said), ": 2 events");
	succeeds(verify_independently(there("f")));
	(void)snprintf(arguments, sizeof(arguments), "verify %s", there("f"));
	succeeds(audit(arguments));
	says(str_text(&said), "2 events match their seals, 10 to 11;");

	(void)snprintf(arguments, sizeof(arguments), "export --since 2026-01-03T09:00:00.001Z %s",
	               there("g"));
	succeeds(audit(arguments));
	says(str_text(&said), ": 0 events");
	succeeds(verify_independently(there("g")));
	fails(audit("export --since yesterday"), EX_USAGE, "--since yesterday");
}
END_TEST

START_TEST(what_is_no_export_is_not_verified)
{
	char arguments[500];

	given_sealed_nine();
	(void)snprintf(arguments, sizeof(arguments), "verify %s", test_db());
	fails(audit(arguments), EX_CONFIG, "is not an export");
	(void)snprintf(arguments, sizeof(arguments), "verify %s", there("none"));
	fails(audit(arguments), EX_CONFIG, "cannot open");
	ck_assert_int_eq(shell(NULL, ": >%s", there("none")), 0);
	fails(audit(arguments), EX_CONFIG, "is not an export");
	ck_assert_int_eq(shell(NULL, "rm %s && mkfifo %s", there("none"), there("none")), 0);
	fails(audit(arguments), EX_CONFIG, "none is a FIFO");
}
END_TEST

/* ---- tampering ---- */

/* Lines of the file: 1 the start, event n on line n + 1, 11 the end. */
static const struct {
	const char *how; /* awk or sed over the export */
	const char *found;
} FILES[] = {
	{ "sed '6s/local:ann/local:eve/'", "line 6: event 5 changed" },
	{ "sed '6s/\"session_seq\":5/\"session_seq\":null/'", "line 6: event 5 changed" },
	{ "sed '6s/\"hash\":\"./\"hash\":\"x/'", "line 6: event 5 changed" },
	{ "sed '6s/\"prev\":\"./\"prev\":\"x/'", "line 6: event 5 changed" },
	{ "sed '6s/{/{\"note\":1,/'", "line 6: changed" },
	{ "sed '6s/{/{\"actor\":\"local:eve\",/'", "line 6: changed" },
	{ "sed '6s/.*/hello/'", "line 6: changed" },
	{ "sed '6s/.*//'", "line 6: changed" },
	{ "sed 6d", "line 6: event 6 missing" },
	{ "sed 4,8d", "line 4: event 8 missing" },
	{ "sed 2d", "line 2: event 2 missing" },
	{ "sed '6{h;d};7G'", "line 6: event 6 reordered" },
	{ "sed '3{h;d};9G'", "line 3: event 3 reordered" },
	{ "sed 6p", "line 6: event 5 inserted" },
	{ "sed '6{p;s/note.5/note.x/}'", "line 7: event 5 inserted" },
	{ "sed '6{h;s/note.5/note.x/;p;x}'", "line 6: event 5 inserted" },
	{ "sed 10d", "event 9 missing" },
	{ "sed '$d'", "event 10 missing" },
	{ "sed '$p'", "changed" },
	{ "sed '$s/\"count\":9/\"count\":8/'", "event 10 missing" },
	{ "sed '1s/\"prev\":\"0/\"prev\":\"1/'", "line 2: event 1 missing" },
	{ "head -c 700", "changed" },
};

START_TEST(whatever_is_done_to_an_export_is_found_by_both_verifiers)
{
	char arguments[500];

	given_sealed_nine();
	(void)snprintf(arguments, sizeof(arguments), "export %s", there("f"));
	succeeds(audit(arguments));
	(void)snprintf(arguments, sizeof(arguments), "verify %s", there("g"));
	for (size_t i = 0; i < COUNT(FILES); i++) {
		ck_assert_int_eq(shell(NULL, "%s %s >%s; cmp -s %s %s", FILES[i].how, there("f"),
		                       there("g"), there("f"), there("g")),
		                 1);
		ck_assert_msg(audit(arguments) == 1 && strstr(str_text(&said), FILES[i].found),
		              "%s: %s", FILES[i].how, str_text(&said));
		ck_assert_msg(verify_independently(there("g")) == 1, "%s: %s", FILES[i].how,
		              str_text(&said));
	}
}
END_TEST

/* As the database's owner would do it, who can drop what hinders him. */
static const struct {
	const char *how;
	const char *found;
} ROWS[] = {
	{ "UPDATE event SET actor = 'local:eve' WHERE seq = 5", "event 5 changed" },
	{ "UPDATE event SET detail = NULL WHERE seq = 9", "event 9 changed" },
	{ "UPDATE seal SET hash = printf('%064d', 5) WHERE seq = 5", "event 5 changed" },
	{ "DELETE FROM event WHERE seq = 5", "event 5 missing" },
	{ "DELETE FROM event WHERE seq = 5; DELETE FROM seal WHERE seq = 5", "event 6 missing" },
	{ "DELETE FROM event WHERE seq < 5", "event 2 missing" },
	{ "DELETE FROM event WHERE seq < 5; DELETE FROM seal WHERE seq < 4", "event 4 missing" },
	{ "DELETE FROM event WHERE seq = 9; DELETE FROM seal WHERE seq = 9", "event 9 missing" },
	{ "DELETE FROM event; DELETE FROM seal", "event 1 missing" },
	{ "DELETE FROM seal WHERE seq = 5", "event 5 inserted" },
	{ "UPDATE event SET seq = 99 WHERE seq = 5; UPDATE event SET seq = 5 WHERE seq = 6;"
	  "UPDATE event SET seq = 6 WHERE seq = 99",
	  "event 5 reordered" },
	{ "UPDATE event SET seq = seq + 100 WHERE seq > 5; UPDATE event SET seq = seq - 99"
	  " WHERE seq > 100; INSERT INTO event (seq, at, kind) VALUES"
	  " (6, '2026-01-01T09:00:00.000Z', 'x')",
	  "event 6 reordered" },
};

START_TEST(whatever_is_done_to_the_rows_is_found)
{
	for (size_t i = 0; i < COUNT(ROWS); i++) {
		given_sealed_nine();
		given("DROP TRIGGER event_is_fixed; DROP TRIGGER event_stays; DROP TRIGGER "
		      "event_is_born; DROP TRIGGER event_comes_last; DROP TRIGGER seal_is_born; "
		      "DROP TRIGGER seal_comes_next; DROP TRIGGER seal_is_fixed; DROP "
		      "TRIGGER seal_stays");
		given(ROWS[i].how);
		ck_assert_msg(audit("verify") == 1 && strstr(str_text(&said), ROWS[i].found),
		              "%s: %s", ROWS[i].how, str_text(&said));
	}
}
END_TEST

START_TEST(a_number_without_an_event_is_found_unless_a_restore_skipped_it)
{
	fresh_store();
	given_events(9);
	given("DROP TRIGGER event_stays; DELETE FROM event WHERE seq = 5"); /* not sealed yet */
	succeeds(audit("export >/dev/null"));
	fails(audit("verify"), 1, "event 6 missing");

	fresh_store();
	given_events(3);
	given("UPDATE sqlite_sequence SET seq = seq + 1000000 WHERE name = 'event';"
	      "INSERT INTO event (at, kind) VALUES"
	      " ('2026-01-01T09:00:00.000Z', 'database.restored')");
	given_events(2);
	succeeds(audit("export >/dev/null"));
	is_whole("6");
}
END_TEST

START_TEST(rows_that_were_tampered_with_are_not_exported)
{
	given_sealed_nine();
	given("DROP TRIGGER event_is_fixed; UPDATE event SET actor = 'local:eve' WHERE seq = 5");
	fails(audit("export"), EX_CONFIG, "event 5 does not match its seal");
	given_sealed_nine();
	given("DROP TRIGGER event_stays; DELETE FROM event WHERE seq = 5");
	fails(audit("export"), EX_CONFIG, "event 5 is missing");
}
END_TEST

/* Who may write the database can seal it all anew: only a seal that was kept elsewhere shows it. */
START_TEST(a_timeline_that_was_sealed_anew_does_not_fit_the_head_that_was_kept)
{
	char head[100], arguments[600];

	given_sealed_nine();
	succeeds(audit("verify"));
	(void)snprintf(head, sizeof(head), "%.66s", strstr(str_text(&said), "head ") + 5);
	(void)snprintf(arguments, sizeof(arguments), "verify --head %s", head);
	given_events(2);
	succeeds(audit(arguments));

	given("DROP TRIGGER event_is_fixed; DROP TRIGGER seal_stays; DELETE FROM seal;"
	      "UPDATE event SET actor = 'local:eve' WHERE seq = 5");
	(void)snprintf(arguments, sizeof(arguments), "export %s", there("f"));
	succeeds(audit(arguments));
	is_whole("11");
	(void)snprintf(arguments, sizeof(arguments), "verify --head %s", head);
	fails(audit(arguments), 1, "event 9 changed: its seal is not the one that you keep");
	(void)snprintf(arguments, sizeof(arguments), "verify --head %s %s", head, there("f"));
	fails(audit(arguments), 1, "event 9 changed: its seal is not the one that you keep");
	(void)snprintf(arguments, sizeof(arguments), "%s %s", there("f"), head);
	fails(verify_independently(arguments), 1, "the seal that you keep is not there");
	fails(audit("verify --head 9"), EX_USAGE, "--head 9");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("audit");
	TCase *c = tcase_create("audit");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 100);
	tcase_add_test(c, the_watchdog_seals_what_everybody_writes);
	tcase_add_test(c, a_sealer_that_is_killed_leaves_a_chain_that_goes_on);
	tcase_add_test(c, two_sealers_at_once_seal_each_event_once);
	tcase_add_test(
	    c, events_that_the_watchdog_cannot_seal_fail_the_audit_of_a_system_that_runs_or_ran);
	tcase_add_test(c, an_export_is_one_private_file_that_both_verifiers_find_whole);
	tcase_add_test(c, an_export_can_begin_later_and_still_verifies);
	tcase_add_test(c, what_is_no_export_is_not_verified);
	tcase_add_test(c, whatever_is_done_to_an_export_is_found_by_both_verifiers);
	tcase_add_test(c, whatever_is_done_to_the_rows_is_found);
	tcase_add_test(c, a_number_without_an_event_is_found_unless_a_restore_skipped_it);
	tcase_add_test(c, rows_that_were_tampered_with_are_not_exported);
	tcase_add_test(c, a_timeline_that_was_sealed_anew_does_not_fit_the_head_that_was_kept);
	suite_add_tcase(s, c);
	return run_suite(s);
}
