/* retention: what is old goes, whole and only that; the log stays short. */
#include "proof.h"
#include "purge.h"
#include "request.h"
#include "retention_case.h"
#include "sql/content.h"

/* ---- upkeep ---- */

START_TEST(the_database_is_looked_through_weekly_and_optimized_daily)
{
	static const char RUNS[] = "SELECT kind, count(*) FROM upkeep GROUP BY kind";
	pid_t worker;

	begin();
	given_whole_session(1, ago(DAY));
	worker = start_worker("retention");

	advance(HOUR + SECOND);
	expect_soon(RUNS, "check|1\noptimize|1\n");
	expect("SELECT outcome, why FROM upkeep WHERE kind = 'check'", "ok|\n");
	expect("SELECT actor FROM event WHERE kind = 'database.ok'", "retention\n");
	expect("SELECT state, detail FROM health WHERE what = 'database'", "ok|looked through\n");

	advance(DAY);
	expect_soon(RUNS, "check|1\noptimize|2\n");
	advance(6 * DAY);
	expect_soon(RUNS, "check|2\noptimize|3\n");
	stop_worker(
	    worker); /* it may still be looking what is due: then that comes before the purge */
	advance(40 * DAY); /* the newest of each stay */
	(void)start_worker("retention");
	advance(HOUR + SECOND);
	expect_soon(RUNS, "check|2\noptimize|2\n");
}
END_TEST

/* The first page of a table or an index becomes noise. The commit behind it makes every process
 * forget the pages that it has read. */
static void damage(const char *name)
{
	char command[1200], query[200];
	OWNED(char_ptr) char *page = NULL;
	OWNED(char_ptr) char *version = rows("PRAGMA user_version");

	(void)snprintf(query, sizeof(query),
	               "SELECT rootpage - 1 FROM sqlite_schema WHERE name = '%s'", name);
	page = rows(query);
	given("PRAGMA wal_checkpoint(TRUNCATE)");
	(void)snprintf(command, sizeof(command),
	               "dd if=/dev/urandom of=%s bs=4096 seek=%d count=1 conv=notrunc 2>/dev/null",
	               test_db(), atoi(page));
	ck_assert_int_eq(system(command), 0); /* NOLINT(cert-env33-c) */
	(void)snprintf(query, sizeof(query), "PRAGMA user_version = %d", atoi(version));
	given(query);
}

START_TEST(damage_is_found_and_told)
{
	begin();
	given_whole_session(1, ago(DAY));
	damage("checkpoint_session");
	(void)start_worker("retention");

	advance(HOUR + SECOND);

	expect_soon("SELECT outcome, why LIKE 'checkpoint: %' FROM upkeep WHERE kind = 'check'",
	            "damaged|1\n");
	expect("SELECT state, detail LIKE 'checkpoint: %' FROM health WHERE what = 'database'",
	       "damaged|1\n");
	expect("SELECT count(*) FROM event WHERE kind = 'database.damaged'", "1\n");
	expect("SELECT count(*) FROM upkeep WHERE kind = 'optimize'", "0\n");
}
END_TEST

START_TEST(damage_that_optimize_meets_is_found_and_told_and_retention_goes_on)
{
	begin();
	given_whole_session(1, ago(DAY));
	given("ANALYZE");
	(void)start_worker("retention");
	advance(HOUR + SECOND);
	expect_soon("SELECT kind, outcome FROM upkeep ORDER BY seq", "check|ok\noptimize|ok\n");

	damage("sqlite_stat1");
	advance(DAY);
	expect_soon("SELECT kind, outcome, why LIKE 'optimize: %malformed%' FROM upkeep "
	            "ORDER BY seq LIMIT 1 OFFSET 2",
	            "check|damaged|1\n");
	expect("SELECT count(*) FROM event WHERE kind = 'database.damaged'", "1\n");

	/* nothing is optimized until a check finds no damage; the next check is due in a week */
	advance(2 * DAY);
	advance(5 * DAY);
	expect_soon("SELECT kind, outcome FROM upkeep ORDER BY seq LIMIT -1 OFFSET 3",
	            "check|damaged\n");
}
END_TEST

/* How many steps of a statement's plan read a whole table or index. */
static int count_scans(int statement, char **ret_plan)
{
	OWNED(str) struct str sql = { 0 };
	int scans = 0;

	*ret_plan = NULL;
	if (strncmp(sql_statements[statement].text, "PRAGMA", 6) == 0)
		return 0;
	str_addf(&sql, "EXPLAIN QUERY PLAN %s", sql_statements[statement].text);
	*ret_plan = rows(sql.bytes);
	for (const char *at = *ret_plan; (at = strstr(at, "|SCAN ")) != NULL; at++)
		scans++;
	return scans;
}

static int all_scans(int counts[SQL_COUNT])
{
	int all = 0;

	for (int i = 0; i < SQL_COUNT; i++) {
		OWNED(char_ptr) char *plan = NULL;

		counts[i] = count_scans(i, &plan);
		all += counts[i];
	}
	return all;
}

static void no_statement_scans_more(const int before[SQL_COUNT])
{
	for (int i = 0; i < SQL_COUNT; i++) {
		OWNED(char_ptr) char *plan = NULL;
		int scans = count_scans(i, &plan);

		ck_assert_msg(scans <= before[i], "%s\nscans:\n%s", sql_statements[i].text, plan);
	}
}

/* As the worker does it; a new connection takes the statistics over. */
static void optimize(void)
{
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };

	ck_assert_msg(!store_open(&st, test_db(), NULL, &e), "%s", e.text);
	ck_assert_msg(!store_begin(&st, &e) && !store_optimize(&st, &e) && !store_commit(&st, &e),
	              "%s", e.text);
	open_database_again();
}

START_TEST(statistics_make_no_statement_scan)
{
	static int before[SQL_COUNT], after[SQL_COUNT];
	int all;

	begin();
	all = all_scans(before);
	ck_assert_int_gt(all, 0);
	given_whole_session(1, ago(DAY)); /* as small as it ever is */
	given("ANALYZE");
	ck_assert_int_gt(all_scans(after), all); /* that is why */
	optimize();
	no_statement_scans_more(before);

	for (int n = 2; n <= 60; n++)
		given_whole_session(n, ago(DAY));
	given_for("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 12000)"
	          " INSERT INTO tool_call (connection_seq, session_seq, rpc_id, era, tool, digest,"
	          " state, created_at, finished_at) SELECT 1 + i %% 60, 1 + i %% 60, i, 'modern',"
	          " 'broadcast', '', 'done', '%1$s', '%1$s' FROM n",
	          ago(DAY), 0);
	given("ANALYZE");
	optimize();
	expect("SELECT DISTINCT tbl FROM sqlite_stat1 ORDER BY 1", "event\ntool_call\n");
	no_statement_scans_more(before);
}
END_TEST

START_TEST(many_rows_go_in_batches)
{
	begin();
	given_whole_session(1, ago(60 * DAY));
	given_for(
	    "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
	    " INSERT INTO tool_call (connection_seq, session_seq, rpc_id, era, tool, arguments,"
	    " digest, state, created_at, finished_at) SELECT 1, 1, i, 'modern', 'ping', '{}', '',"
	    " 'done', '%1$s', '%1$s' FROM n",
	    ago(60 * DAY), 0);
	given_for("WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)"
	          " INSERT INTO request (id, session_seq, kind, state, digest, title, previous_seq,"
	          " prompt_type, created_at, updated_at) SELECT 'q' || i, 1, 'prompt', 'pending',"
	          " printf('%%064d', i), 't', i - 1, 'continuation', '%1$s', '%1$s' FROM n",
	          ago(60 * DAY), 0);
	terminate(1, ago(40 * DAY));
	(void)start_worker("retention");

	advance(HOUR + SECOND);

	expect_soon(COUNTS, "0|0|0|0|0|0|0|0|0|0\n");
}
END_TEST

START_TEST(a_session_interrupted_for_long_is_terminated_and_goes_later)
{
	begin();
	given_whole_session(1, ago(60 * DAY));
	given_whole_session(2, ago(60 * DAY));
	given_for("UPDATE session SET status = 'interrupted', updated_at = '%1$s' WHERE seq = 1",
	          ago(31 * DAY), 0);
	given_for("UPDATE session SET status = 'interrupted', updated_at = '%1$s' WHERE seq = 2",
	          ago(20 * DAY), 0);
	(void)start_worker("retention");

	advance(HOUR + SECOND);
	expect_soon("SELECT seq, status, terminated_at IS NOT NULL FROM session",
	            "1|terminated|1\n2|interrupted|0\n");

	advance(31 * DAY);
	expect_soon("SELECT seq, status FROM session", "2|terminated\n");
}
END_TEST

/* A session whose agent was heard last at an instant, over HTTP: it may have gone, and says so to
 * nobody. */
static void given_silent_session(int n, struct instant heard)
{
	given_for(
	    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	    " created_at, updated_at, last_activity_at) VALUES (%2$d, 's%2$d', 'h',"
	    " 'local:ann', '/w', 'active', 'local', '%1$s', '%1$s', '%1$s');"
	    "INSERT INTO connection (seq, key, machine, transport, protocol_version, session_seq,"
	    " identity, created_at) VALUES (%2$d, 'k%2$d', 'h', 'http', '2025-06-18', %2$d,"
	    " '{}', '%1$s')",
	    heard, n);
}

START_TEST(a_session_silent_for_long_is_terminated_unless_its_process_runs_or_a_call_waits)
{
	begin();
	given_silent_session(1, ago(31 * DAY));
	given_silent_session(2, ago(31 * DAY));
	given_silent_session(3, ago(20 * DAY));
	given_silent_session(4, ago(31 * DAY));
	given("INSERT INTO connection (seq, key, machine, transport, protocol_version, session_seq,"
	      " identity, created_at) SELECT 5, 'k5', 'h', 'stdio', '2025-06-18', 2, '{}',"
	      " created_at FROM session WHERE seq = 2");
	given("INSERT INTO request (seq, id, session_seq, kind, state, digest, title, created_at,"
	      " updated_at) SELECT 4, 'q4', 4, 'standby', 'pending', printf('%064d', 4), 't',"
	      " created_at, created_at FROM session WHERE seq = 4;"
	      "INSERT INTO tool_call (seq, connection_seq, session_seq, rpc_id, era, tool, digest,"
	      " state, request_seq, created_at) SELECT 4, 4, 4, '1', 'legacy', 'standby', '',"
	      " 'waiting', 4, created_at FROM session WHERE seq = 4");
	(void)start_worker("retention");

	advance(HOUR + SECOND);
	expect_soon("SELECT seq, status FROM session",
	            "1|terminated\n2|active\n3|active\n4|active\n");

	advance(31 * DAY);
	expect_soon("SELECT seq, status FROM session", "2|active\n3|terminated\n4|active\n");
}
END_TEST

/* A question about two files, and its answer. */
static void ask_and_answer(struct store *st, int n, struct err *e)
{
	char a[] = "a", b[] = "b";
	struct touched files[] = {
		{ .path = a, .target = a, .action = "create", .hash = "new_file" },
		{ .path = b, .target = b, .action = "create", .hash = "new_file" },
	};
	const struct asker who = { .session_seq = 1, .machine = "h", .workspace_root = "/w" };
	char title[20], answer[200];
	struct shown shown = { .title = title,
		               .risk_level = "low",
		               .file_path = "a",
		               .body = "x",
		               .body_length = 1,
		               .files = files,
		               .file_count = COUNT(files) };
	struct question q = { .kind = REQUEST_KIND_CLEARANCE,
		              .title = title,
		              .body = "x",
		              .body_length = 1,
		              .file_path = "a",
		              .risk_level = "low",
		              .original_hash = "new_file",
		              .files = files,
		              .file_count = COUNT(files) };
	struct sha256 digest;
	int64_t seq;

	(void)snprintf(title, sizeof(title), "change %d", n);
	digest = proposal_digest(&shown);
	q.digest = digest.text;
	ck_assert_int_eq(store_begin(st, e), 0);
	seq = request_ask_new(st, &who, &q, e);
	ck_assert_msg(!store_end(st, seq < 0, e), "%s", e->text);
	(void)snprintf(answer, sizeof(answer),
	               "INSERT INTO decision (request_id, verdict, operator_id, source) SELECT id,"
	               " 'approve', 'local:ann', 'ctl' FROM request WHERE seq = %lld",
	               (long long)seq);
	given(answer);
}

/* An old session with more than goes in a batch; st is open. */
static void given_a_long_session(struct store *st, struct err *e)
{
	begin();
	given_silent_session(1, ago(60 * DAY));
	ck_assert_msg(!store_open(st, test_db(), test_run(), e), "%s", e->text);
	for (int n = 0; n < 250; n++)
		ask_and_answer(st, n, e);
	terminate(1, ago(40 * DAY));
}

static void nothing_seems_forged(struct store *st, struct err *e)
{
	OWNED(str) struct str named = { 0 };

	ck_assert_int_eq(proof_swapped(st, &named, e), 0);
}

START_TEST(between_two_batches_each_question_is_as_it_was_asked_or_gone)
{
	OWNED(store) struct store st = STORE_INIT;
	OWNED(purge) struct purge p = PURGE_INIT;
	struct err e = { 0 };

	given_a_long_session(&st, &e);
	nothing_seems_forged(&st, &e);
	purge_begin(&p, &st);
	while (purge_some(&p, &e) > 0) {
		nothing_seems_forged(&st, &e);
		expect("SELECT count(*) FROM request AS r WHERE 2 <> (SELECT count(*) FROM "
		       "request_file WHERE request_seq = r.seq)",
		       "0\n");
	}
	ck_assert_int_eq(p.sessions, 1);
}
END_TEST

START_TEST(a_purge_that_was_cut_off_goes_on_at_the_next_start)
{
	OWNED(store) struct store st = STORE_INIT;
	OWNED(purge) struct purge p = PURGE_INIT;
	struct err e = { 0 };

	given_a_long_session(&st, &e);
	purge_begin(&p, &st);
	do
		ck_assert_int_eq(purge_some(&p, &e), 1);
	while (p.belongings == 0);
	expect("SELECT count(*) FROM session", "1\n");

	(void)start_worker("retention");

	expect_soon("SELECT count(*) FROM session", "0\n");
}
END_TEST

START_TEST(what_agents_have_read_in_slack_goes_with_the_next_purge)
{
	begin();
	given_for("INSERT INTO slack_read (channel_id, most, asked_at, expires_at)"
	          " VALUES ('C1', 20, '%1$s', '%1$s')",
	          ago(HOUR), 0);
	given_for("INSERT INTO slack_history (read_seq, messages, answered_at)"
	          " VALUES (1, '{}', '%1$s')",
	          ago(HOUR), 0);
	(void)start_worker("retention");

	advance(HOUR + SECOND);

	expect_soon("SELECT count(*) FROM slack_read", "0\n");
	expect("SELECT count(*) FROM slack_history", "0\n");
}
END_TEST

START_TEST(connections_that_never_called_a_tool_go)
{
	begin();
	for (int i = 1; i <= 3; i++)
		given_for(
		    "INSERT INTO connection (seq, key, machine, transport, protocol_version, "
		    "identity,"
		    " created_at) VALUES (%2$d, 'k%2$d', 'h', 'http', '2025-06-18', '{}', '%1$s')",
		    ago(i == 1 ? DAY : 40 * DAY), i);
	given("UPDATE connection SET state = 'closed' WHERE seq < 3");
	(void)start_worker("retention");

	advance(HOUR + SECOND);

	expect_soon("SELECT seq FROM connection", "1\n3\n");
}
END_TEST

/* ---- the log ---- */

static int64_t log_file_bytes(void)
{
	char path[4200];
	struct stat s;

	(void)snprintf(path, sizeof(path), "%.4000s-wal", test_db());
	return stat(path, &s) == 0 ? s.st_size : 0;
}

static void put(struct store *st, int n, size_t size)
{
	static char bytes[200000];
	struct err e = { 0 };
	char hash[65];

	(void)snprintf(hash, sizeof(hash), "%064d", n);
	ck_assert_msg(!store_begin(st, &e), "%s", e.text);
	ck_assert_msg(
	    !sql_content_put(st, hash, (int64_t)size, (struct sql_bytes){ bytes, size }, &e), "%s",
	    e.text);
	ck_assert_msg(!store_commit(st, &e), "%s", e.text);
}

/* 60 MB in 300 commits, by a writer that thinks between them. */
START_TEST(the_log_stays_short_under_a_busy_writer)
{
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };

	begin();
	(void)start_worker("retention");
	ck_assert_msg(!store_open(&st, test_db(), test_run(), &e), "%s", e.text);
	for (int i = 1; i <= 300; i++) {
		put(&st, i, 200000);
		(void)poll(NULL, 0, 3);
	}

	ck_assert_int_lt(log_file_bytes(), 12 << 20);
}
END_TEST

/* Two numbers in the log's header that change when it begins anew (sqlite.org/fileformat2.html). */
static uint64_t log_salts(void)
{
	char path[4200];
	uint64_t salts = 0;
	int fd;

	(void)snprintf(path, sizeof(path), "%.4000s-wal", test_db());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(pread(fd, &salts, sizeof(salts), 16), sizeof(salts));
	(void)close(fd);
	return salts;
}

START_TEST(a_long_reader_holds_the_log_up_only_while_it_reads)
{
	OWNED(store) struct store st = STORE_INIT;
	OWNED(store) struct store reader = STORE_INIT;
	struct err e = { 0 };
	int64_t length;
	OWNED(content_get_row) struct content_get_row row = { 0 };
	uint64_t salts;
	int n = 0;

	begin();
	ck_assert_msg(!store_open(&st, test_db(), test_run(), &e), "%s", e.text);
	ck_assert_msg(!store_open(&reader, test_db(), NULL, &e), "%s", e.text);
	put(&st, n++, 1000);
	sql_content_get(&reader, 1, &row);
	ck_assert_int_eq(row_next(&row.row, &e), 1); /* reads, and goes on reading */
	(void)start_worker("retention");
	for (; n < 60; n++)
		put(&st, n, 200000);
	length = log_file_bytes();
	ck_assert_int_gt(length, 11 << 20);

	salts = log_salts();
	row_clear(&row.row); /* it is through */
	for (int i = 0; log_salts() == salts; i++) {
		ck_assert_msg(i < 1000, "the log never begins anew");
		advance(5000); /* the next look */
		put(&st, n++, 1000);
		(void)poll(NULL, 0, 10);
	}
	for (int i = 0; i < 30; i++)
		put(&st, n++, 100000);

	ck_assert_int_le(log_file_bytes(), length + (1 << 20));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("retention_upkeep");
	TCase *c = tcase_create("retention");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, the_database_is_looked_through_weekly_and_optimized_daily);
	tcase_add_test(c, damage_is_found_and_told);
	tcase_add_test(c, damage_that_optimize_meets_is_found_and_told_and_retention_goes_on);
	tcase_add_test(c, statistics_make_no_statement_scan);
	tcase_add_test(c, many_rows_go_in_batches);
	tcase_add_test(c, a_session_interrupted_for_long_is_terminated_and_goes_later);
	tcase_add_test(
	    c, a_session_silent_for_long_is_terminated_unless_its_process_runs_or_a_call_waits);
	tcase_add_test(c, between_two_batches_each_question_is_as_it_was_asked_or_gone);
	tcase_add_test(c, a_purge_that_was_cut_off_goes_on_at_the_next_start);
	tcase_add_test(c, what_agents_have_read_in_slack_goes_with_the_next_purge);
	tcase_add_test(c, connections_that_never_called_a_tool_go);
	tcase_add_test(c, the_log_stays_short_under_a_busy_writer);
	tcase_add_test(c, a_long_reader_holds_the_log_up_only_while_it_reads);
	suite_add_tcase(s, c);
	return run_suite(s);
}
