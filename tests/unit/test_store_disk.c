/* store: a disk that cannot read, which SQLite calls damage, though no backup helps; or flush. */
#include "content.h"
#include "harness.h"
#include "store.h"
#include "str.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char IO_ERROR[] = "disk I/O error; the disk or its file system fails";

static bool reads_fail;

static ssize_t read_or_fail(int fd, void *bytes, size_t count, off_t at)
{
	if (!reads_fail)
		return pread(fd, bytes, count, at);
	errno = EIO;
	return -1;
}

static bool flushes_fail;

/* Instead of the C library's, for SQLite as well. */
int fdatasync(int fd)
{
	if (!flushes_fail)
		return (int)syscall(SYS_fdatasync, fd);
	errno = EIO;
	return -1;
}

static int open_log_error;

static int open_or_fail(const char *path, int flags, int mode)
{
	size_t length = strlen(path);

	if (length < 4 || strcmp(path + length - 4, "-wal") != 0)
		return open(path, flags, mode);
	errno = open_log_error;
	return -1;
}

/* From here on, or no longer: SQLite cannot read. */
static void disk_fails(bool fails)
{
	static const char *const CALLS[] = { "pread", "pread64" };
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);

	reads_fail = fails;
	for (size_t i = 0; i < COUNT(CALLS); i++)
		(void)vfs->xSetSystemCall(vfs, CALLS[i], (sqlite3_syscall_ptr)read_or_fail);
}

static void open_here(struct store *st)
{
	struct err e = { 0 };

	ck_assert_msg(!store_open(st, test_db(), test_run(), &e), "%s", e.text);
}

static void nothing(int columns, const char *const *names, const char *const *values, void *arg)
{
	(void)columns;
	(void)names;
	(void)values;
	(void)arg;
}

/* Told as what it is, and may pass. */
static void is_of_the_disk(const struct err *e)
{
	ck_assert_msg(strstr(e->text, IO_ERROR) != NULL, "%s", e->text);
	ck_assert_msg(!strstr(e->text, "malformed") && !strstr(e->text, "backup"), "%s", e->text);
	ck_assert_int_eq(e->kind, ERR_AGAIN);
}

START_TEST(a_database_that_the_disk_cannot_read_is_opened_later)
{
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };

	fresh_store();
	disk_fails(true);
	ck_assert_int_eq(store_open(&st, test_db(), test_run(), &e), -1);
	is_of_the_disk(&e);
	disk_fails(false);
	open_here(&st);
}
END_TEST

START_TEST(what_the_disk_cannot_read_is_read_later)
{
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };

	fresh_store();
	open_here(&st);
	disk_fails(true);
	ck_assert_int_eq(store_query(&st, "SELECT * FROM event", nothing, NULL, &e), -1);
	is_of_the_disk(&e);
	disk_fails(false);
	e = (struct err){ 0 };
	ck_assert_msg(!store_query(&st, "SELECT * FROM event", nothing, NULL, &e), "%s", e.text);
}
END_TEST

START_TEST(a_log_that_the_disk_cannot_open_is_opened_later)
{
	static const struct {
		int error;
		const char *told;
	} CASES[] = { { EIO, IO_ERROR },
		      { ENOSPC, "disk is full; free space" },
		      { EDQUOT, "disk is full; free space" } };
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
	struct store first = STORE_INIT;

	fresh_store();
	open_here(&first); /* which tells SQLite once how to open files */
	store_clear(&first);
	(void)vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)open_or_fail);
	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(store) struct store st = STORE_INIT;
		struct err e = { 0 };

		open_log_error = CASES[i].error;
		ck_assert_int_eq(store_open(&st, test_db(), test_run(), &e), -1);
		ck_assert_msg(strstr(e.text, CASES[i].told) != NULL, "%s", e.text);
		ck_assert_int_eq(e.kind, ERR_AGAIN);
	}
	(void)vfs->xSetSystemCall(vfs, "open", NULL);
}
END_TEST

START_TEST(a_check_that_finds_a_page_unreadable_says_that_it_is_the_disk)
{
	OWNED(store) struct store st = STORE_INIT;
	OWNED(str) struct str found = { 0 };
	struct err e = { 0 };

	fresh_store();
	open_here(&st);
	disk_fails(true);
	ck_assert_msg(store_check_table(&st, "event", &found, &e) == 0, "%s", e.text);
	ck_assert_msg(strstr(str_text(&found), IO_ERROR) != NULL, "%s", str_text(&found));
	disk_fails(false);
}
END_TEST

/* What the kernel could not write it may have dropped: a later flush that succeeds proves nothing.
 */
START_TEST(after_a_flush_that_failed_nothing_more_is_written)
{
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };

	fresh_store();
	open_here(&st);
	ck_assert_msg(!store_begin(&st, &e), "%s", e.text);
	ck_assert_msg(content_put(&st, "text", 4, &e) > 0, "%s", e.text);
	flushes_fail = true;
	ck_assert_int_eq(store_commit(&st, &e), -1);
	flushes_fail = false;
	is_of_the_disk(&e);
	ck_assert(store_is_broken(&st));

	ck_assert_int_eq(store_begin(&st, &e), -1);
	ck_assert_msg(strstr(e.text, "this process must end") != NULL, "%s", e.text);
	ck_assert_int_eq(e.kind, ERR_AGAIN);
}
END_TEST

START_TEST(pages_with_other_bytes_are_damage)
{
	OWNED(store) struct store st = STORE_INIT;
	static const char BYTES[4096] = "no page";
	struct err e = { 0 };
	OWNED(str) struct str path = { 0 };
	OWNED(str) struct str copy = { 0 };
	int fd;

	fresh_store();
	str_addf(&path, "%s.copy", test_db());
	str_addf(&copy, "VACUUM INTO '%s'", path.bytes);
	given(copy.bytes);
	fd = open(path.bytes, O_WRONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	for (off_t at = sizeof(BYTES); at < lseek(fd, 0, SEEK_END); at += (off_t)sizeof(BYTES))
		ck_assert_int_eq(pwrite(fd, BYTES, sizeof(BYTES), at), sizeof(BYTES));
	(void)close(fd);
	ck_assert_int_eq(store_open(&st, path.bytes, NULL, &e), -1);
	ck_assert_msg(strstr(e.text, "malformed; restore it from a backup") != NULL, "%s", e.text);
	ck_assert_int_eq(e.kind, ERR_INPUT);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("store_disk");
	TCase *c = store_case(s, "disk", 60);

	tcase_add_test(c, a_database_that_the_disk_cannot_read_is_opened_later);
	tcase_add_test(c, what_the_disk_cannot_read_is_read_later);
	tcase_add_test(c, a_log_that_the_disk_cannot_open_is_opened_later);
	tcase_add_test(c, a_check_that_finds_a_page_unreadable_says_that_it_is_the_disk);
	tcase_add_test(c, after_a_flush_that_failed_nothing_more_is_written);
	tcase_add_test(c, pages_with_other_bytes_are_damage);
	return run_suite(s);
}
