/* row: what the functions of sql/ give, on a fresh database. */
#include "harness.h"
#include "sql/content.h"
#include "sql/request.h"
#include "sql/session.h"
#include "sql/setting.h"

#include <string.h>

static struct store store = STORE_INIT;
static struct err e = { 0 };

static void open_store(void)
{
	fresh_store();
	given(
	    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode, "
	    "created_at, updated_at) VALUES (1, 's1', 'h', 'local:ann', '/w', 'active', 'hybrid', "
	    "'2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'), (2, 's2', 'h', 'local:ann', "
	    "'/w', 'created', 'remote', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')");
	ck_assert_msg(!store_open(&store, test_db(), NULL, &e), "%s", e.text);
}

START_TEST(a_row_keeps_its_texts_when_its_statement_is_used_again)
{
	OWNED(session_row) struct session_row one = { 0 }, two = { 0 };

	open_store();
	ck_assert_int_eq(sql_session_by_id(&store, "s1", &one, &e), 1);
	ck_assert_int_eq(sql_session_by_id(&store, "s2", &two, &e), 1);
	ck_assert_str_eq(one.id, "s1");
	ck_assert_int_eq(one.seq, 1);
	ck_assert_str_eq(two.id, "s2");
	store_clear(&store);
	ck_assert_str_eq(one.workspace_root, "/w");
}
END_TEST

START_TEST(words_become_enums_and_null_becomes_none)
{
	OWNED(session_row) struct session_row row = { 0 };

	open_store();
	ck_assert_int_eq(sql_session_by_id(&store, "s2", &row, &e), 1);
	ck_assert_int_eq(row.status, SESSION_STATUS_CREATED);
	ck_assert_int_eq(row.mode, SESSION_MODE_REMOTE);
	ck_assert_ptr_null(row.channel_id);
	ck_assert(!row.has_wait_limit_ms);
	ck_assert_str_eq(session_status_name(SESSION_STATUS_INTERRUPTED), "interrupted");
	ck_assert_ptr_null(session_status_name(SESSION_STATUS_NONE));
	ck_assert_int_eq(session_mode_of("hybrid"), SESSION_MODE_HYBRID);
	ck_assert_int_eq(session_mode_of("wild"), SESSION_MODE_NONE);
	ck_assert_int_eq(session_mode_of(NULL), SESSION_MODE_NONE);
	store_clear(&store);
}
END_TEST

START_TEST(a_row_that_is_not_there_leaves_an_empty_one)
{
	OWNED(session_row) struct session_row row = { 0 };

	open_store();
	ck_assert_int_eq(sql_session_by_id(&store, "s1", &row, &e), 1);
	ck_assert_int_eq(sql_session_by_id(&store, "s9", &row, &e), 0);
	ck_assert_int_eq(row.seq, 0);
	ck_assert_ptr_null(row.id);
	store_clear(&store);
}
END_TEST

START_TEST(rows_come_one_after_the_other_and_end_once)
{
	OWNED(session_list_row) struct session_list_row row = { 0 };

	open_store();
	sql_session_list(&store, &row);
	ck_assert_int_eq(row_next(&row.row, &e), 1);
	ck_assert_str_eq(row.id, "s1");
	ck_assert_int_eq(row_next(&row.row, &e), 1);
	ck_assert_str_eq(row.id, "s2");
	ck_assert_int_eq(row_next(&row.row, &e), 0);
	ck_assert_ptr_null(row.id);
	ck_assert_int_eq(row_next(&row.row, &e), 0);
	store_clear(&store);
}
END_TEST

/* Leaves in the middle: an open statement would keep this connection's view of the database. */
static void read_first(void)
{
	OWNED(session_list_row) struct session_list_row row = { 0 };

	sql_session_list(&store, &row);
	ck_assert_int_eq(row_next(&row.row, &e), 1);
}

START_TEST(rows_that_nobody_reads_to_the_end_are_given_up_with_their_scope)
{
	OWNED(session_row) struct session_row row = { 0 };

	open_store();
	read_first();
	given("UPDATE session SET last_tool = 'ping' WHERE seq = 1");
	ck_assert_int_eq(sql_session_by_id(&store, "s1", &row, &e), 1);
	ck_assert_str_eq(row.last_tool, "ping");
	ck_assert_msg(!store_begin(&store, &e), "%s", e.text);
	ck_assert_int_eq(sql_session_set_progress(&store, "{}", 1, &e), 0);
	ck_assert_msg(!store_commit(&store, &e), "%s", e.text);
	store_clear(&store);
}
END_TEST

START_TEST(a_parameter_of_rows_may_go_before_they_are_read)
{
	OWNED(prefixed_row) struct prefixed_row row = { 0 };

	open_store();
	given("INSERT INTO request (id, session_seq, kind, state, digest, title, created_at, "
	      "updated_at) VALUES ('0190', 1, 'standby', 'pending', printf('%064d', 1), 'wait', "
	      "'2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')");
	{
		char start[] = "0190", end[] = "0191";

		sql_request_by_prefix(&store, start, end, &row);
		memset(start, 'x', 4);
		memset(end, 'x', 4);
	}
	ck_assert_int_eq(row_next(&row.row, &e), 1);
	ck_assert_str_eq(row.id, "0190");
	row_clear(&row.row);
	store_clear(&store);
}
END_TEST

START_TEST(bytes_come_back_as_they_were_put)
{
	OWNED(content_get_row) struct content_get_row row = { 0 };
	const struct sql_bytes bytes = { "a\0b", 3 };
	const char hash[] = "0123456789012345678901234567890123456789012345678901234567890123";

	open_store();
	ck_assert_msg(!store_begin(&store, &e), "%s", e.text);
	ck_assert_int_eq(sql_content_put(&store, hash, 3, bytes, &e), 0);
	ck_assert_int_eq(sql_content_seq(&store, hash, &e), 1);
	ck_assert_int_eq(sql_content_seq(&store, "no", &e), 0);
	ck_assert_msg(!store_commit(&store, &e), "%s", e.text);
	sql_content_get(&store, 1, &row);
	ck_assert_int_eq(row_next(&row.row, &e), 1);
	ck_assert_int_eq((int)row.bytes.length, 3);
	ck_assert_mem_eq(row.bytes.bytes, "a\0b", 3);
	row_clear(&row.row);
	store_clear(&store);
}
END_TEST

START_TEST(a_refused_row_is_told_as_refused)
{
	open_store();
	ck_assert_msg(!store_begin(&store, &e), "%s", e.text);
	ck_assert_int_eq(sql_session_set_progress(&store, "no JSON", 1, &e), -1);
	ck_assert_int_eq(e.kind, ERR_REFUSED);
	store_rollback(&store);
	e = (struct err){ 0 };
	store_clear(&store);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("row");
	TCase *c = tcase_create("row");

	tcase_add_test(c, a_row_keeps_its_texts_when_its_statement_is_used_again);
	tcase_add_test(c, words_become_enums_and_null_becomes_none);
	tcase_add_test(c, a_row_that_is_not_there_leaves_an_empty_one);
	tcase_add_test(c, rows_come_one_after_the_other_and_end_once);
	tcase_add_test(c, rows_that_nobody_reads_to_the_end_are_given_up_with_their_scope);
	tcase_add_test(c, a_parameter_of_rows_may_go_before_they_are_read);
	tcase_add_test(c, bytes_come_back_as_they_were_put);
	tcase_add_test(c, a_refused_row_is_told_as_refused);
	suite_add_tcase(s, c);
	return run_suite(s);
}
