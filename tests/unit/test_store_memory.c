/* store: the memory of databases, which SQLite has from us. */
#include "harness.h"
#include "store.h"

#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MIB = 1 << 20, AGAIN = 5 };

static long private_bytes(void)
{
	long all = 0, resident = 0, shared = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fscanf(f, "%ld %ld %ld", &all, &resident, &shared), 3); /* NOLINT */
	(void)fclose(f);
	return (resident - shared) * sysconf(_SC_PAGESIZE);
}

static void add_values(int columns, const char *const *names, const char *const *values, void *arg)
{
	(void)names;
	for (int i = 0; i < columns; i++) {
		str_add(arg, values[i]);
		str_add_char(arg, i + 1 < columns ? '|' : '\n');
	}
}

static char path[PATH_MAX]; /* of a database that nobody has open */

static void given_database(void)
{
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };

	(void)snprintf(path, sizeof(path), "%s/intercom.db", scratch());
	ck_assert_msg(!store_migrate(&st, path, NULL, &e), "%s", e.text);
}

static void open_and_read(struct store *st)
{
	OWNED(str) struct str got = { 0 };
	struct err e = { 0 };

	ck_assert_msg(!store_open(st, path, NULL, &e), "%s", e.text);
	ck_assert_msg(!store_query(st, "SELECT count(*) FROM request", add_values, &got, &e), "%s",
	              e.text);
	ck_assert_str_eq(got.bytes, "0\n");
}

static void give_back(struct store *st)
{
	store_clear(st);
	store_give_back_memory();
	(void)malloc_trim(0);
}

START_TEST(what_an_open_database_took_goes_back_when_it_is_closed)
{
	OWNED(store) struct store st = STORE_INIT;
	long before, open = 0, after = 0;

	given_database();
	give_back(&st);
	before = private_bytes();
	for (int i = 0; i < AGAIN; i++) {
		open_and_read(&st);
		open = private_bytes();
		give_back(&st);
		after = private_bytes();
	}
#ifndef __SANITIZE_ADDRESS__ /* which keeps what was freed */
	ck_assert_msg(open > before + 2 * MIB, "%ld, open %ld", before, open);
	ck_assert_msg(after < before + MIB / 2, "%ld, then %ld", before, after);
#endif
}
END_TEST

START_TEST(texts_of_all_sizes_keep_what_is_in_them)
{
	static const char SQL[] =
	    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000),"
	    " t (i, s) AS (SELECT i, substr(replace(hex(zeroblob(i)), '00', 'xyz'), 1, i) FROM n),"
	    " u (i, s) AS (SELECT i, s || i || '/' || upper(s) FROM t ORDER BY i * 7919 % 3001) "
	    "SELECT count(*), sum(length(s) = 2 * i + length(i) + 1),"
	    " sum(substr(s, i + 1, length(i)) = CAST(i AS TEXT)), sum(lower(substr(s, -i)) = "
	    "substr(s, 1, i)) "
	    "FROM u";
	OWNED(store) struct store st = STORE_INIT;
	OWNED(str) struct str got = { 0 };
	struct err e = { 0 };

	given_database();
	open_and_read(&st);
	for (int i = 0; i < AGAIN; i++)
		ck_assert_msg(!store_query(&st, SQL, add_values, &got, &e), "%s", e.text);
	for (const char *line = got.bytes; *line; line = strchr(line, '\n') + 1)
		ck_assert_msg(strncmp(line, "3000|3000|3000|3000\n", 20) == 0, "%s", line);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("store_memory");
	TCase *c = tcase_create("store_memory");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, what_an_open_database_took_goes_back_when_it_is_closed);
	tcase_add_test(c, texts_of_all_sizes_keep_what_is_in_them);
	suite_add_tcase(s, c);
	return run_suite(s);
}
