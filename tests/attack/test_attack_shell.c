/* The sqlite3 shell of the operator's own user: it cannot be walled off, but what it forges is
 * noticed. */
#include "attack.h"
#include "slack_peer.h"

#include <stdlib.h>
#include <string.h>

static const int64_t DAY = 24LL * 60 * 60 * 1000;

/* As a stranger would: the plain shell, which rings no bell. */
static void sqlite(const char *sql)
{
	OWNED(str) struct str said = { 0 };

	ck_assert_msg(
	    shell(&said, "sqlite3 -bail -cmd '.timeout 10000' %s \"%s\" 2>&1", test_db(), sql) == 0,
	    "%s", str_text(&said));
}

static int intercom(struct str *said, const char *arguments)
{
	str_reset(said);
	return shell(said, "%s/agent-intercom --config %s --db %s %s 2>&1 </dev/null",
	             getenv("INTERCOM_BUILD"), site.config, test_db(), arguments);
}

/* An envelope and an answer in one transaction, as slack-listener would. proof: SQL. */
static void forge(const char *proof)
{
	OWNED(str) struct str sql = { 0 };

	str_addf(
	    &sql,
	    "BEGIN IMMEDIATE; INSERT INTO slack_envelope (type, kind, team_id, user_id)"
	    " SELECT 'interactive', 'block_actions', team_id, user_id FROM operator"
	    " WHERE kind = 'slack' LIMIT 1;"
	    "INSERT INTO decision (request_id, verdict, source, operator_id, proof)"
	    " SELECT r.id, 'approve', 'slack', e.operator_id, %s FROM request AS r,"
	    " slack_envelope AS e WHERE r.state <> 'approved' ORDER BY e.seq DESC LIMIT 1; COMMIT",
	    proof);
	sqlite(sql.bytes);
	expect("SELECT state FROM request", "approved\n");
}

static char *press_accept(void)
{
	char *ts;

	expect_soon("SELECT count(*) FROM slack_message WHERE kind = 'ask' AND ts IS NOT NULL",
	            "1\n");
	ts = rows("SELECT ts FROM slack_message WHERE kind = 'ask'");
	ts[strcspn(ts, "\n")] = '\0';
	(void)slack_deliver(
	    "{'click':{'channel':'C01AGENTS','ts':'%s','action_id':'approve_accept'}}", ts);
	expect_soon("SELECT state FROM request", "approved\n");
	return ts;
}

static void is_noticed(void)
{
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *id = rows("SELECT substr(id, 1, 13) FROM request");

	id[strcspn(id, "\n")] = '\0';
	expect_soon("SELECT kind, actor FROM event WHERE kind = 'security.forged'",
	            "security.forged|slack-listener\n");
	ck_assert_int_eq(intercom(&said, "doctor"), 1);
	says(str_text(&said), "FAIL answers");
	says(str_text(&said), id);
	ck_assert_int_eq(intercom(&said, "audit verify"), 1);
	says(str_text(&said), "did not come from Slack");
	says(str_text(&said), id);
	expect_soon("SELECT count(*) FROM slack_message WHERE kind = 'server' AND ts IS NOT NULL"
	            " AND text LIKE '%did not come from Slack%'",
	            "1\n");
}

START_TEST(
    an_answer_that_only_says_that_it_is_from_slack_is_told_there_and_found_by_doctor_and_audit)
{
	OWNED(char_ptr) char *answer = NULL;

	attack_begin_with_slack();
	answer = attack_ask("a.txt", "one\n");
	has(answer, "status", "pending");
	forge("NULL");
	is_noticed();
	attack_end();
}
END_TEST

START_TEST(a_proof_that_was_made_up_or_copied_is_none)
{
	OWNED(char_ptr) char *first = NULL;
	OWNED(char_ptr) char *second = NULL;
	OWNED(char_ptr) char *ts = NULL;

	attack_begin_with_slack();
	first = attack_ask("a.txt", "one\n");
	ts = press_accept();
	expect("SELECT proof IS NOT NULL FROM decision", "1\n");
	second = attack_ask("b.txt", "two\n");
	has(second, "status", "pending");
	sqlite("BEGIN IMMEDIATE; INSERT INTO slack_envelope (type, kind, team_id, user_id)"
	       " SELECT 'interactive', 'block_actions', team_id, user_id FROM operator"
	       " WHERE kind = 'slack' LIMIT 1;"
	       "INSERT INTO decision (request_id, verdict, source, operator_id, proof)"
	       " SELECT r.id, 'approve', 'slack', d.operator_id, d.proof FROM request AS r, "
	       "decision AS"
	       " d WHERE r.state = 'pending'; COMMIT");
	expect("SELECT state FROM request", "approved\napproved\n");
	expect_soon("SELECT r.file_path FROM event AS e JOIN request AS r ON r.seq = e.request_seq"
	            " WHERE e.kind = 'security.forged'",
	            "b.txt\n");
	attack_end();
}
END_TEST

START_TEST(what_was_forged_while_nothing_ran_is_found_at_the_next_start)
{
	OWNED(char_ptr) char *answer = NULL;
	OWNED(str) struct str said = { 0 };

	attack_begin_with_slack();
	answer = attack_ask("a.txt", "one\n");
	has(answer, "status", "pending");
	ck_assert_int_eq(site_stop(&site), 0);
	forge("NULL");
	ck_assert_int_eq(intercom(&said, "audit verify"), 1);
	says(str_text(&said), "did not come from Slack");
	site_start(&site);
	is_noticed();
	attack_end();
}
END_TEST

/* Consistently, by whoever takes the rules away. */
START_TEST(a_question_that_was_swapped_after_its_answer_is_found_by_doctor_and_audit)
{
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *id = NULL;

	attack_begin_with_slack();
	answer = attack_ask("a.txt", "one\n");
	ts = press_accept();
	id = rows("SELECT substr(id, 1, 13) FROM request");
	id[strcspn(id, "\n")] = '\0';
	ck_assert_int_eq(site_stop(&site), 0);
	ck_assert_msg(intercom(&said, "audit verify") == 0, "%s", str_text(&said));
	sqlite("DROP TRIGGER request_is_fixed; UPDATE request SET digest = printf('%064d', 7)");
	ck_assert_int_eq(intercom(&said, "audit verify"), 1);
	says(str_text(&said), "1 questions were changed after they were asked");
	says(str_text(&said), id);
	says(str_text(&said), "events match their seals");
	ck_assert_int_eq(intercom(&said, "doctor"), 1);
	says(str_text(&said), "FAIL questions");
	says(str_text(&said), id);
	site_start(&site);
	attack_end();
}
END_TEST

/* What tells of questions that are not there: they were deleted. */
START_TEST(of_many_changed_questions_the_first_hundred_are_named)
{
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *answer = NULL;

	attack_begin_with_slack();
	answer = attack_ask("a.txt", "one\n");
	ck_assert_int_eq(site_stop(&site), 0);
	sqlite("WITH RECURSIVE n(i) AS (SELECT 1001 UNION ALL SELECT i + 1 FROM n WHERE i < 1150)"
	       " INSERT INTO event (at, kind, session_seq, request_seq)"
	       " SELECT '2026-01-01T09:00:00.000Z', 'request.asked', 1, i FROM n");
	ck_assert_int_eq(intercom(&said, "audit verify"), 1);
	says(str_text(&said), "150 questions were changed after they were asked");
	says(str_text(&said), "(1100) (it is gone) and 50 more\n");
	site_start(&site);
	attack_end();
}
END_TEST

/* By somebody who takes the rules away, and leaves digests and events as they are. */
static const struct {
	const char *how;
	const char *found;
} FORGERIES[] = {
	{ "UPDATE request SET title = 'harmless' WHERE seq = 1", "what was shown" },
	{ "UPDATE request SET body = 'forged', effect = 'forged' WHERE seq = 1", "what was shown" },
	{ "UPDATE request SET risk_level = 'critical' WHERE seq = 1", "what was shown" },
	{ "UPDATE request_file SET path = 'other.txt' WHERE request_seq = 1", "what was shown" },
	{ "UPDATE request SET decision = 'reject' WHERE seq = 1;"
	  "UPDATE decision SET verdict = 'reject'",
	  "its answer" },
	{ "UPDATE request SET decided_by = 'local:boss' WHERE seq = 1;"
	  "UPDATE decision SET operator_id = 'local:boss'",
	  "its answer" },
	{ "UPDATE decision SET verdict = 'reject'", "its decision" },
	{ "DELETE FROM decision", "its decision" },
	{ "UPDATE request SET state = 'approved', decision = 'approve', decision_seq = 999,"
	  " deadline_at = NULL, remaining_ms = NULL WHERE seq = 2",
	  "its state" },
	{ "INSERT INTO event (at, kind, session_seq, request_seq, actor, detail)"
	  " SELECT created_at, 'request.approved', session_seq, seq, 'local:boss', '{}'"
	  " FROM request WHERE seq = 2",
	  "its state" },
	{ "DELETE FROM decision; DELETE FROM request_file; DELETE FROM tool_call;"
	  " DELETE FROM request WHERE seq = 1",
	  "it is gone" },
};

/* Of a copy without rules, changed so: whether COMMAND says the words, and its exit status is 1. */
static void is_found_in_a_copy(const char *how, const char *command, const char *words)
{
	OWNED(str) struct str told = { 0 };
	int status = shell(&told,
	                   "rm -f %1$s-copy*; sqlite3 %1$s 'VACUUM INTO \"%1$s-copy\"';"
	                   "sqlite3 %1$s \"SELECT 'DROP TRIGGER ' || name || ';' FROM"
	                   " sqlite_master WHERE type = 'trigger'\" | sqlite3 %1$s-copy;"
	                   "sqlite3 -bail %1$s-copy \"%2$s\" || exit 9;"
	                   "%3$s/agent-intercom --config %4$s --db %1$s-copy %5$s 2>&1 </dev/null",
	                   test_db(), how, getenv("INTERCOM_BUILD"), site.config, command);

	ck_assert_msg(status == 1 && strstr(str_text(&told), words), "%s: %d, %s", how, status,
	              str_text(&told));
}

START_TEST(a_forged_question_or_answer_is_found_by_audit_and_doctor)
{
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *first = NULL;
	OWNED(char_ptr) char *second = NULL;

	attack_begin(NULL, NULL);
	first = attack_approved("a.txt", "one\n");
	second = attack_ask("b.txt", "two\n");
	has(second, "status", "pending");
	ck_assert_int_eq(site_stop(&site), 0);
	ck_assert_msg(intercom(&said, "audit verify") == 0, "%s", str_text(&said));
	for (size_t i = 0; i < COUNT(FORGERIES); i++)
		is_found_in_a_copy(FORGERIES[i].how, "audit verify", FORGERIES[i].found);
	is_found_in_a_copy(FORGERIES[0].how, "doctor", "FAIL questions");
	site_start(&site);
	attack_end();
}
END_TEST

START_TEST(true_answers_are_found_whole_and_so_are_those_that_a_stop_gives)
{
	OWNED(str) struct str said = { 0 };
	OWNED(char_ptr) char *first = NULL;
	OWNED(char_ptr) char *second = NULL;
	OWNED(char_ptr) char *ts = NULL;
	OWNED(char_ptr) char *id = NULL;

	attack_begin_with_slack();
	first = attack_ask("a.txt", "one\n");
	ts = press_accept();
	second = attack_ask("b.txt", "two\n");
	has(second, "status", "pending");
	id = rows("SELECT id FROM session");
	id[strcspn(id, "\n")] = '\0';
	(void)slack_acked("{'slash':{'text':'session-stop %s'}}", id);
	expect_soon("SELECT state FROM request ORDER BY seq", "approved\nrejected\n");
	expect("SELECT source FROM decision WHERE outcome = 'applied'", "slack\nslack\n");
	ck_assert_int_eq(site_stop(&site), 0);
	site_start(&site); /* all of them are looked at again */
	(void)slack_wait_for("hello");
	ck_assert_msg(intercom(&said, "audit verify") == 0, "%s", str_text(&said));
	(void)intercom(&said, "doctor");
	says(str_text(&said), "ok   answers");
	expect("SELECT count(*) FROM event WHERE kind = 'security.forged'", "0\n");
	attack_end();
}
END_TEST

/* ---- the timeline ---- */

static void sealed(void)
{
	expect_soon("SELECT count(*) FROM event WHERE seq NOT IN (SELECT seq FROM seal)", "0\n");
}

/* Cuts off what is there but for the last event, as of an instant (SQL). */
static void cut(const char *at)
{
	OWNED(str) struct str sql = { 0 };

	str_addf(&sql,
	         "BEGIN IMMEDIATE; INSERT INTO audit_cut (upto, hash, at)"
	         " SELECT seq, hash, %s FROM seal ORDER BY seq DESC LIMIT 1 OFFSET 1;"
	         "DELETE FROM event WHERE seq <= (SELECT upto FROM audit_cut);"
	         "DELETE FROM seal WHERE seq < (SELECT upto FROM audit_cut); COMMIT",
	         at);
	sqlite(sql.bytes);
}

static void given_a_past(void)
{
	OWNED(char_ptr) char *id = NULL;

	attack_begin(NULL, NULL);
	id = attack_approved("a.txt", "one\n");
	advance(2000);
	sealed();
}

static void verify_fails(const char *why)
{
	OWNED(str) struct str said = { 0 };

	advance(2000);
	sealed();
	ck_assert_msg(intercom(&said, "audit verify") == 1, "%s", str_text(&said));
	says(str_text(&said), why);
}

START_TEST(a_cut_of_what_was_too_young_for_it_fails_the_audit)
{
	given_a_past();
	cut("strftime('%Y-%m-%dT%H:%M:%fZ', 'now')");
	verify_fails("may be cut off after 365 days");
	attack_end();
}
END_TEST

START_TEST(a_cut_that_is_dated_ahead_fails_the_audit)
{
	given_a_past();
	cut("'2099-01-01T00:00:00.000Z'");
	verify_fails("dated ahead");
	attack_end();
}
END_TEST

START_TEST(an_event_that_claims_to_be_old_makes_a_cut_no_older)
{
	given_a_past();
	sqlite("INSERT INTO event (at, kind) VALUES ('2001-01-01T00:00:00.000Z', 'old'),"
	       " ('2001-01-01T00:00:00.000Z', 'last')");
	advance(2000);
	sealed();
	cut("strftime('%Y-%m-%dT%H:%M:%fZ', 'now')");
	verify_fails("may be cut off after 365 days");
	attack_end();
}
END_TEST

START_TEST(each_cut_of_retention_is_told_by_the_audit)
{
	OWNED(str) struct str said = { 0 };

	given_a_past();
	advance(400 * DAY);
	ck_assert_msg(intercom(&said, "retention --once") == 0, "%s", str_text(&said));
	advance(2000);
	sealed();
	ck_assert_msg(intercom(&said, "audit verify") == 0, "%s", str_text(&said));
	says(str_text(&said), "cut off up to event");
	attack_end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("attack shell");
	TCase *c = store_case(s, "attack shell", 120);

	tcase_add_test(
	    c,
	    an_answer_that_only_says_that_it_is_from_slack_is_told_there_and_found_by_doctor_and_audit);
	tcase_add_test(c, a_proof_that_was_made_up_or_copied_is_none);
	tcase_add_test(c, what_was_forged_while_nothing_ran_is_found_at_the_next_start);
	tcase_add_test(c,
	               a_question_that_was_swapped_after_its_answer_is_found_by_doctor_and_audit);
	tcase_add_test(c, of_many_changed_questions_the_first_hundred_are_named);
	tcase_add_test(c, a_forged_question_or_answer_is_found_by_audit_and_doctor);
	tcase_add_test(c, true_answers_are_found_whole_and_so_are_those_that_a_stop_gives);
	tcase_add_test(c, a_cut_of_what_was_too_young_for_it_fails_the_audit);
	tcase_add_test(c, a_cut_that_is_dated_ahead_fails_the_audit);
	tcase_add_test(c, an_event_that_claims_to_be_old_makes_a_cut_no_older);
	tcase_add_test(c, each_cut_of_retention_is_told_by_the_audit);
	return run_suite(s);
}
