/* Content by its hash, in a folder. */
#include "harness.h"
#include "object.h"
#include "suite.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONG_BYTES = 3 << 20, MOST = 1 << 30 };

static char folder[4096], file[4096];
static struct err e;

static struct objects open_folder(void)
{
	struct objects o = OBJECTS_INIT;

	MUST(objects_open(folder, true, &o, &e) == 0, "%s", e.text);
	return o;
}

static void fresh_folder(void)
{
	const char *dir = scratch();

	(void)snprintf(folder, sizeof(folder), "%s/db-objects", dir);
	(void)snprintf(file, sizeof(file), "%s/file", dir);
}

static void write_file(const void *bytes, size_t length)
{
	FILE *f = fopen(file, "w");

	ck_assert(f && fwrite(bytes, 1, length, f) == length && fclose(f) == 0);
}

static char *long_text(void)
{
	char *text = malloc(LONG_BYTES);

	ck_assert(text != NULL);
	for (size_t i = 0; i < LONG_BYTES; i++)
		text[i] = (char)('a' + i % 23);
	return text;
}

static enum object_put put_file(struct objects *o, uint64_t most, struct sha256 *hash,
                                uint64_t *size)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	enum object_put did = object_put(o, fd, most, hash, size, &e);

	(void)close(fd);
	return did;
}

static void where_is(const char *hash, char path[4200])
{
	(void)snprintf(path, 4200, "%s/%.2s/%s", folder, hash, hash + 2);
}

/* How many files there are below new/. */
static int count_new(void)
{
	char command[4300];
	int count = -1;
	FILE *p;

	(void)snprintf(command, sizeof(command), "ls -A '%s/new' | wc -l", folder);
	p = popen(command, "r"); /* NOLINT(cert-env33-c) */
	ck_assert(p && fscanf(p, "%d", &count) == 1);
	(void)pclose(p);
	return count;
}

static int count_object(const char *hash, uint64_t size, void *arg)
{
	(void)hash;
	*(uint64_t *)arg += size;
	return 0;
}

START_TEST(what_was_put_has_its_name_after_the_flush_and_not_before)
{
	OWNED(objects) struct objects o = (fresh_folder(), open_folder());
	OWNED(str) struct str out = { 0 };
	struct sha256 hash;

	ck_assert_int_eq(object_put_bytes(&o, "hello", 5, &hash, &e), 0);
	ck_assert_str_eq(hash.text, sha256_of("hello", 5).text);
	ck_assert(!object_exists(&o, hash.text));
	ck_assert_int_eq(objects_flush(&o, &e), 0);
	ck_assert(object_exists(&o, hash.text));
	ck_assert_int_eq(object_read(&o, hash.text, 5, &out, &e), 0);
	ck_assert_str_eq(str_text(&out), "hello");
	ck_assert_int_eq(count_new(), 0);
}
END_TEST

START_TEST(the_same_content_is_stored_once)
{
	OWNED(objects) struct objects o = (fresh_folder(), open_folder());
	char *text = long_text();
	struct sha256 one, two;
	uint64_t size, bytes = 0;

	write_file(text, LONG_BYTES);
	ck_assert_int_eq(put_file(&o, MOST, &one, &size), OBJECT_STORED);
	ck_assert_uint_eq(size, LONG_BYTES);
	ck_assert_int_eq(objects_flush(&o, &e), 0);
	ck_assert_uint_eq(o.added, LONG_BYTES);
	ck_assert_int_eq(put_file(&o, MOST, &two, &size), OBJECT_STORED);
	ck_assert_int_eq(objects_flush(&o, &e), 0);

	ck_assert_str_eq(one.text, two.text);
	ck_assert_str_eq(one.text, sha256_of(text, LONG_BYTES).text);
	ck_assert_uint_eq(o.added, LONG_BYTES);
	ck_assert_int_eq(objects_each(&o, count_object, &bytes, &e), 0);
	ck_assert_uint_eq(bytes, LONG_BYTES);
	free(text);
}
END_TEST

START_TEST(more_bytes_than_allowed_are_not_stored)
{
	static const size_t LENGTHS[] = { 10, LONG_BYTES };
	OWNED(objects) struct objects o = (fresh_folder(), open_folder());
	char *text = long_text();

	for (size_t i = 0; i < COUNT(LENGTHS); i++) {
		struct sha256 hash;
		uint64_t size, bytes = 0;

		write_file(text, LENGTHS[i]);
		ck_assert_int_eq(put_file(&o, LENGTHS[i] - 1, &hash, &size), OBJECT_TOO_LONG);
		ck_assert_int_eq(objects_flush(&o, &e), 0);
		ck_assert_int_eq(objects_each(&o, count_object, &bytes, &e), 0);
		ck_assert_uint_eq(bytes, 0);
		ck_assert_int_eq(count_new(), 0);
	}
	free(text);
}
END_TEST

START_TEST(what_cannot_be_read_is_not_stored)
{
	OWNED(objects) struct objects o = (fresh_folder(), open_folder());
	int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct sha256 hash;
	uint64_t size;

	errno = 0;
	ck_assert_int_eq(object_put(&o, fd, MOST, &hash, &size, &e), OBJECT_UNREADABLE);
	ck_assert_int_eq(errno, EISDIR);
	(void)close(fd);
}
END_TEST

START_TEST(an_object_whose_bytes_were_changed_is_never_read)
{
	OWNED(objects) struct objects o = (fresh_folder(), open_folder());
	OWNED(str) struct str out = { 0 };
	char path[4200];
	struct sha256 hash;
	int fd;

	ck_assert_int_eq(object_put_bytes(&o, "hello", 5, &hash, &e), 0);
	ck_assert_int_eq(objects_flush(&o, &e), 0);
	ck_assert_int_eq(object_check(&o, hash.text, &e), 1);
	where_is(hash.text, path);
	ck_assert_int_eq(chmod(path, 0600), 0);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	ck_assert_int_eq(write(fd, "J", 1), 1);
	(void)close(fd);

	str_add(&out, "before ");
	ck_assert_int_eq(object_read(&o, hash.text, 100, &out, &e), -1);
	ck_assert_str_eq(str_text(&out), "before ");
	ck_assert_int_eq(e.kind, ERR_INPUT);
	ck_assert_ptr_nonnull(strstr(e.text, "is damaged"));
	ck_assert_int_eq(object_check(&o, hash.text, &e), 0);
	ck_assert_int_eq(object_delete(&o, hash.text, &e), 0);
	ck_assert_int_eq(object_delete(&o, hash.text, &e), 0);
	ck_assert_int_eq(object_check(&o, hash.text, &e), 0);
	ck_assert_ptr_nonnull(strstr(e.text, "is missing"));
}
END_TEST

START_TEST(what_was_not_flushed_is_gone_and_leaves_nothing)
{
	OWNED(objects) struct objects o = (fresh_folder(), open_folder());
	OWNED(objects) struct objects next = open_folder();
	struct sha256 hash;

	ck_assert_int_eq(object_put_bytes(&o, "hello", 5, &hash, &e), 0);
	ck_assert_int_eq(count_new(), 1);
	objects_clear(&o);
	ck_assert_int_eq(count_new(), 0);
	ck_assert(!object_exists(&next, hash.text));
}
END_TEST

START_TEST(what_one_user_may_hold_is_counted_in_blocks_of_the_disk)
{
	OWNED(objects) struct objects o = (fresh_folder(), open_folder());
	struct sha256 hash;

	o.most_held = 4 * object_room(1);
	o.held = object_room(1);
	for (char c = 'a'; c < 'd'; c++)
		ck_assert_int_eq(object_put_bytes(&o, &c, 1, &hash, &e), 0);
	ck_assert_int_eq(object_put_bytes(&o, "four", 4, &hash, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.text, "shared.checkpoint_bytes"));
	ck_assert_int_eq(objects_flush(&o, &e), 0);
	ck_assert_int_eq(object_put_bytes(&o, "a", 1, &hash, &e), 0); /* it is there */
	ck_assert_uint_eq(object_room_of(&o, hash.text), object_room(1));
	ck_assert_uint_eq(object_room(0), object_room(4095));
	ck_assert_uint_gt(object_room(4096), object_room(4095));
}
END_TEST

START_TEST(leftovers_of_a_kill_are_swept)
{
	OWNED(objects) struct objects o = (fresh_folder(), open_folder());
	char path[4200];

	(void)snprintf(path, sizeof(path), "%s/new/left-0", folder);
	ck_assert_int_eq(close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0400)), 0);
	ck_assert_int_eq(count_new(), 1);
	ck_assert_int_eq(objects_sweep(&o, &e), 0);
	ck_assert_int_eq(count_new(), 0);
}
END_TEST

START_TEST(thousands_of_objects_are_flushed_in_batches_and_all_are_there)
{
	enum { MANY = 9000 };
	OWNED(objects) struct objects o = (fresh_folder(), open_folder());

	for (int i = 0; i < MANY; i++) {
		struct sha256 hash;

		ck_assert_int_eq(object_put_bytes(&o, &i, sizeof(i), &hash, &e), 0);
	}
	ck_assert_uint_lt(o.count, MANY / 2);
	ck_assert_int_eq(objects_flush(&o, &e), 0);
	for (int i = 0; i < MANY; i++)
		MUST(object_check(&o, sha256_of(&i, sizeof(i)).text, &e) == 1, "%s", e.text);
}
END_TEST

START_TEST(a_name_that_is_no_hash_leads_nowhere)
{
	static const char *const NAMES[] = { "", "..", "../../../../etc/passwd", "ab" };
	OWNED(objects) struct objects o = (fresh_folder(), open_folder());

	for (size_t i = 0; i < COUNT(NAMES); i++) {
		ck_assert(!object_exists(&o, NAMES[i]));
		ck_assert_int_eq(object_check(&o, NAMES[i], &e), -1);
	}
}
END_TEST

START_TEST(a_folder_whose_maker_was_killed_holds_nothing)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	uint64_t bytes = 0;

	fresh_folder();
	ck_assert_int_eq(mkdir(folder, 0700), 0);
	ck_assert_int_eq(objects_open(folder, false, &o, &e), 0);
	ck_assert_int_eq(objects_each(&o, count_object, &bytes, &e), 0);
	ck_assert_uint_eq(bytes, 0);
}
END_TEST

START_TEST(a_reader_makes_no_folder)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;

	fresh_folder();
	ck_assert_int_eq(objects_open(folder, false, &o, &e), -1);
	ck_assert_int_eq(e.kind, ERR_INPUT);
	ck_assert_int_ne(access(folder, F_OK), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("object");
	TCase *t = tcase_create("object");

	tcase_add_test(t, what_was_put_has_its_name_after_the_flush_and_not_before);
	tcase_add_test(t, the_same_content_is_stored_once);
	tcase_add_test(t, more_bytes_than_allowed_are_not_stored);
	tcase_add_test(t, what_cannot_be_read_is_not_stored);
	tcase_add_test(t, an_object_whose_bytes_were_changed_is_never_read);
	tcase_add_test(t, what_was_not_flushed_is_gone_and_leaves_nothing);
	tcase_add_test(t, what_one_user_may_hold_is_counted_in_blocks_of_the_disk);
	tcase_add_test(t, leftovers_of_a_kill_are_swept);
	tcase_add_test(t, thousands_of_objects_are_flushed_in_batches_and_all_are_there);
	tcase_add_test(t, a_name_that_is_no_hash_leads_nowhere);
	tcase_add_test(t, a_folder_whose_maker_was_killed_holds_nothing);
	tcase_add_test(t, a_reader_makes_no_folder);
	suite_add_tcase(s, t);
	return run_suite(s);
}
