/* Lists of what a checkpoint holds. */
#include "harness.h"
#include "keep.h"
#include "manifest.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 20000 };

static struct err e;

static void open_objects(struct objects *o)
{
	char folder[4096];

	(void)snprintf(folder, sizeof(folder), "%s/db-objects", scratch());
	MUST(objects_open(folder, true, o, &e) == 0, "%s", e.text);
}

static struct entry a_file(const char *path, const char *content)
{
	return (struct entry){ .kind = ENTRY_FILE,
		               .mode = 0644,
		               .size = strlen(content),
		               .hash = sha256_of(content, strlen(content)),
		               .path = path,
		               .text = "" };
}

static struct sha256 store(struct objects *o, const struct entry *entries, size_t count)
{
	OWNED(manifest_writer) struct manifest_writer w = { .objects = o };
	struct sha256 hash;

	for (size_t i = 0; i < count; i++)
		MUST(manifest_add(&w, &entries[i], &e) == 0, "%s", e.text);
	MUST(manifest_finish(&w, &hash, &e) == 0, "%s", e.text);
	return hash;
}

/* Files numbered 0 to MANY - 1 in folders of 100; one of them may differ, be missing, or more. */
static struct sha256 store_many(struct objects *o, int changed, int missing, int extra)
{
	OWNED(manifest_writer) struct manifest_writer w = { .objects = o };
	struct sha256 hash;

	for (int i = 0; i < MANY; i++) {
		char path[64];
		struct entry entry;

		(void)snprintf(path, sizeof(path), "d%04d/f%02d", i / 100, i % 100);
		entry = a_file(path, i == changed ? "changed" : path);
		if (i != missing)
			MUST(manifest_add(&w, &entry, &e) == 0, "%s", e.text);
		(void)strcat(path, "-more"); /* NOLINT */
		if (i == extra)
			MUST(manifest_add(&w, &entry, &e) == 0, "%s", e.text);
	}
	MUST(manifest_finish(&w, &hash, &e) == 0, "%s", e.text);
	return hash;
}

/* "M path", "D path", "A path", "m path" for each change. */
static int note(const struct manifest_change *change, void *arg)
{
	str_addf(arg, "%c %s\n", "MDAm"[change->kind],
	         change -> before ? change -> before -> path : change -> after -> path);
	return 0;
}

static void compare(const struct objects *o, const struct sha256 *a, const struct sha256 *b,
                    const char *expected)
{
	OWNED(manifest) struct manifest of_a = { 0 };
	OWNED(manifest) struct manifest of_b = { 0 };
	OWNED(str) struct str found = { 0 };

	MUST(manifest_open(o, a->text, &of_a, &e) == 0, "%s", e.text);
	MUST(manifest_open(o, b->text, &of_b, &e) == 0, "%s", e.text);
	ck_assert_int_eq(manifest_compare(&of_a, &of_b, note, &found, &e), 0);
	ck_assert_str_eq(str_text(&found), expected);
}

START_TEST(all_kinds_of_entries_come_back_as_they_were)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	OWNED(manifest) struct manifest m = { 0 };
	struct entry entry, given[] = {
		{ .kind = ENTRY_DIR, .mode = 01777, .path = "a", .text = "" },
		a_file("a/\xff\n strange", "x"),
		{ .kind = ENTRY_LINK, .path = "a-b", .text = "../to nowhere" },
		{ .kind = ENTRY_LEFT_OUT, .path = "fifo", .text = "is a FIFO" },
	};
	struct sha256 hash;

	given[1].mode = 04755;
	open_objects(&o);
	hash = store(&o, given, COUNT(given));
	ck_assert_int_eq(manifest_open(&o, hash.text, &m, &e), 0);
	ck_assert_uint_eq(m.sum.files, 1);
	ck_assert_uint_eq(m.sum.links, 1);
	ck_assert_uint_eq(m.sum.dirs, 1);
	ck_assert_uint_eq(m.sum.left_out, 1);
	ck_assert_uint_eq(m.sum.bytes, 1);
	for (size_t i = 0; i < COUNT(given); i++) {
		ck_assert_int_eq(manifest_next(&m, &entry, &e), 1);
		ck_assert_int_eq(entry.kind, given[i].kind);
		ck_assert_uint_eq(entry.mode, given[i].mode);
		ck_assert_uint_eq(entry.size, given[i].size);
		ck_assert_str_eq(entry.hash.text, given[i].hash.text);
		ck_assert_str_eq(entry.path, given[i].path);
		ck_assert_str_eq(entry.text, given[i].text);
	}
	ck_assert_int_eq(manifest_next(&m, &entry, &e), 0);
}
END_TEST

START_TEST(an_empty_workspace_has_an_empty_manifest)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	OWNED(manifest) struct manifest m = { 0 };
	struct entry entry;
	struct sha256 hash;

	open_objects(&o);
	hash = store(&o, NULL, 0);
	ck_assert_int_eq(manifest_open(&o, hash.text, &m, &e), 0);
	ck_assert_int_eq(manifest_next(&m, &entry, &e), 0);
	ck_assert_int_eq(manifest_find(&m, "a", &entry, &e), 0);
	compare(&o, &hash, &hash, "");
}
END_TEST

START_TEST(what_is_below_a_directory_follows_it_directly)
{
	ck_assert_int_lt(manifest_order("a", "a/b"), 0);
	ck_assert_int_lt(manifest_order("a/b", "a-b"), 0);
	ck_assert_int_lt(manifest_order("a/z", "a\x01"), 0);
	ck_assert_int_gt(manifest_order("b", "a/b"), 0);
	ck_assert_int_lt(manifest_order("a", "\xff"), 0);
	ck_assert_int_eq(manifest_order("a/b", "a/b"), 0);
}
END_TEST

START_TEST(entries_out_of_order_or_out_of_the_workspace_are_refused)
{
	static const char *const BAD[] = { "", "/a", "a/", "a//b", "..", "a/../b", ".", "b", "a" };
	OWNED(objects) struct objects o = OBJECTS_INIT;

	open_objects(&o);
	for (size_t i = 0; i < COUNT(BAD); i++) {
		OWNED(manifest_writer) struct manifest_writer w = { .objects = &o };
		struct entry first = a_file("b", ""), second = a_file(BAD[i], "");

		ck_assert_int_eq(manifest_add(&w, &first, &e), 0);
		ck_assert_int_eq(manifest_add(&w, &second, &e), -1);
		ck_assert_int_eq(e.kind, ERR_BUG);
	}
}
END_TEST

START_TEST(each_path_of_many_is_found_and_others_are_not)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	OWNED(manifest) struct manifest m = { 0 };
	struct sha256 hash;
	struct entry entry;

	open_objects(&o);
	hash = store_many(&o, -1, -1, -1);
	ck_assert_int_eq(manifest_open(&o, hash.text, &m, &e), 0);
	for (int i = 0; i < MANY; i += 7) {
		char path[64];

		(void)snprintf(path, sizeof(path), "d%04d/f%02d", i / 100, i % 100);
		MUST(manifest_find(&m, path, &entry, &e) == 1, "%s: %s", path, e.text);
		MUST(strcmp(entry.hash.text, sha256_of(path, strlen(path)).text) == 0, "%s", path);
	}
	ck_assert_int_eq(manifest_find(&m, "a", &entry, &e), 0);
	ck_assert_int_eq(manifest_find(&m, "d0000", &entry, &e), 0);
	ck_assert_int_eq(manifest_find(&m, "z", &entry, &e), 0);
}
END_TEST

START_TEST(a_change_of_one_file_adds_little_and_is_the_only_difference)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	struct sha256 before, changed, missing, extra;
	uint64_t whole;

	open_objects(&o);
	before = store_many(&o, -1, -1, -1);
	whole = o.added;
	changed = store_many(&o, 7777, -1, -1);
	missing = store_many(&o, -1, 7777, -1);
	extra = store_many(&o, -1, -1, 7777);

	ck_assert_uint_gt(whole, (uint64_t)MANY * 80);
	ck_assert_uint_lt(o.added - whole, whole / 5);
	compare(&o, &before, &changed, "M d0077/f77\n");
	compare(&o, &before, &missing, "D d0077/f77\n");
	compare(&o, &before, &extra, "A d0077/f77-more\n");
	compare(&o, &extra, &changed, "M d0077/f77\nD d0077/f77-more\n");
	compare(&o, &before, &before, "");
}
END_TEST

START_TEST(modes_kinds_and_targets_are_differences)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	struct entry before[] = { a_file("a", "x"),
		                  a_file("b", "x"),
		                  { .kind = ENTRY_LINK, .path = "c", .text = "a" },
		                  { .kind = ENTRY_DIR, .mode = 0755, .path = "d", .text = "" } };
	struct entry after[] = { a_file("a", "x"),
		                 { .kind = ENTRY_LINK, .path = "b", .text = "a" },
		                 { .kind = ENTRY_LINK, .path = "c", .text = "b" },
		                 { .kind = ENTRY_DIR, .mode = 0700, .path = "d", .text = "" },
		                 a_file("d/e", "") };
	struct sha256 a, b;

	after[0].mode = 0755;
	open_objects(&o);
	a = store(&o, before, COUNT(before));
	b = store(&o, after, COUNT(after));
	compare(&o, &a, &b, "m a\nM b\nM c\nm d\nA d/e\n");
}
END_TEST

START_TEST(nothing_is_said_of_what_one_of_the_two_left_out)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	struct entry with[] = { a_file("a", "x"),
		                { .kind = ENTRY_DIR, .mode = 0755, .path = "mnt", .text = "" },
		                a_file("mnt/a", "x"),
		                a_file("mnt-b", "x"),
		                a_file("z", "x") };
	struct entry without[] = { { .kind = ENTRY_LEFT_OUT, .path = "a", .text = "unreadable" },
		                   { .kind = ENTRY_LEFT_OUT, .path = "mnt", .text = "a mount" } };
	struct sha256 a, b;

	open_objects(&o);
	a = store(&o, with, COUNT(with));
	b = store(&o, without, COUNT(without));
	compare(&o, &a, &b, "D mnt-b\nD z\n");
	compare(&o, &b, &a, "A mnt-b\nA z\n");
}
END_TEST

/* What store and the walk of a comparison agree on, for random pairs: the plain way as oracle. */
START_TEST(random_pairs_differ_by_what_a_plain_comparison_finds)
{
	enum { PAIRS = 40, PATHS = 3000 };
	OWNED(objects) struct objects o = OBJECTS_INIT;

	open_objects(&o);
	srandom(7);
	for (int pair = 0; pair < PAIRS; pair++) {
		OWNED(manifest_writer) struct manifest_writer a = { .objects = &o };
		OWNED(manifest_writer) struct manifest_writer b = { .objects = &o };
		OWNED(str) struct str expected = { 0 };
		struct sha256 of_a, of_b;

		for (int i = 0; i < PATHS; i++) {
			char path[64];
			long dice = random() % 50;
			struct entry entry, other;

			(void)snprintf(path, sizeof(path), "%02d/%d", i / 100, 1000 + i % 100);
			entry = a_file(path, "same");
			other = a_file(path, dice == 3 ? "other" : "same");
			if (dice != 1)
				MUST(manifest_add(&a, &entry, &e) == 0, "%s", e.text);
			if (dice != 2)
				MUST(manifest_add(&b, &other, &e) == 0, "%s", e.text);
			if (dice >= 1 && dice <= 3)
				str_addf(&expected, "%c %s\n", " ADM"[dice], path);
		}
		ck_assert_int_eq(manifest_finish(&a, &of_a, &e), 0);
		ck_assert_int_eq(manifest_finish(&b, &of_b, &e), 0);
		compare(&o, &of_a, &of_b, str_text(&expected));
	}
}
END_TEST

static int check_object(const char *hash, void *arg)
{
	return object_check(arg, hash, &e) == 1 ? 0 : 5;
}

START_TEST(a_look_through_all_objects_reads_the_manifests_once)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	OWNED(keep_look) struct keep_look l = { .done = false };
	char manifests[2 * SHA256_BYTES], damaged[SHA256_BYTES];
	struct sha256 first, second, hash;
	struct entry entries[] = { a_file("a", "one"), a_file("b", "two") };
	uint64_t read = 0;

	open_objects(&o);
	ck_assert_int_eq(object_put_bytes(&o, "one", 3, &first, &e), 0);
	ck_assert_int_eq(object_put_bytes(&o, "two", 3, &second, &e), 0);
	hash = store(&o, entries, 2);
	(void)snprintf(manifests, sizeof(manifests), "%s\n", hash.text);
	for (int slices = 0; !l.done; slices++) {
		ck_assert_int_eq(keep_look(&o, manifests, 0, &l, damaged, &e), 0);
		ck_assert_int_lt(slices, 10);
		read += l.read;
		l.read = 0;
		manifests[0] = '\0'; /* it does not need them again */
	}
	ck_assert_uint_eq(read, 4); /* the two, the part and the root */
	ck_assert_uint_eq(l.bad.length, 0);
}
END_TEST

/* A damaged one is told with the manifests that need it; one that nobody needs by now is not. */
START_TEST(a_look_tells_of_what_is_needed_only)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	OWNED(keep_look) struct keep_look l = { .done = false };
	char manifests[2 * SHA256_BYTES], damaged[SHA256_BYTES];
	struct sha256 content, hash;
	const char *text = "70"; /* its hash comes last */
	struct entry entry = a_file("a", text);
	int told = 0;

	open_objects(&o);
	ck_assert_int_eq(object_put_bytes(&o, text, strlen(text), &content, &e), 0);
	hash = store(&o, &entry, 1);
	for (int needed = 1; needed >= 0; needed--) {
		(void)snprintf(manifests, sizeof(manifests), "%s\n", hash.text);
		ck_assert_int_eq(keep_look(&o, manifests, 0, &l, damaged, &e), 0);
		ck_assert_int_eq(object_delete(&o, content.text, &e), 0);
		manifests[0] = needed ? manifests[0] : '\0';
		while (!l.done) {
			l.read = 0;
			ck_assert_int_eq(keep_look(&o, manifests, 0, &l, damaged, &e), 0);
			told += l.lost.length > 0;
			ck_assert_int_eq(l.lost.length > 0, l.bad.length > 0);
			keep_look_clear(&l);
		}
		l = (struct keep_look){ .done = false };
		ck_assert_int_eq(object_put_bytes(&o, text, strlen(text), &content, &e), 0);
		ck_assert_int_eq(objects_flush(&o, &e), 0);
	}
	ck_assert_int_eq(told, 1);
}
END_TEST

START_TEST(all_objects_of_a_manifest_are_named_and_a_missing_one_is_noticed)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	OWNED(manifest) struct manifest m = { 0 };
	struct sha256 content, hash;
	struct entry entry = a_file("a", "content");

	open_objects(&o);
	ck_assert_int_eq(object_put_bytes(&o, "content", 7, &content, &e), 0);
	hash = store(&o, &entry, 1);
	ck_assert_int_eq(manifest_objects(&o, hash.text, check_object, &o, &e), 0);
	ck_assert_int_eq(object_delete(&o, content.text, &e), 0);
	ck_assert_int_eq(manifest_objects(&o, hash.text, check_object, &o, &e), 5);
	ck_assert_int_eq(object_delete(&o, hash.text, &e), 0);
	ck_assert_int_eq(manifest_open(&o, hash.text, &m, &e), -1);
}
END_TEST

START_TEST(other_content_is_no_manifest)
{
	static const char *const TEXTS[] = { "hello", "manifest 1 x", "manifest 1 0 0 0 0",
		                             "manifest 2 0 0 0 0 0" };
	OWNED(objects) struct objects o = OBJECTS_INIT;

	open_objects(&o);
	for (size_t i = 0; i < COUNT(TEXTS); i++) {
		OWNED(manifest) struct manifest m = { 0 };
		struct sha256 hash;

		ck_assert_int_eq(object_put_bytes(&o, TEXTS[i], strlen(TEXTS[i]) + 1, &hash, &e),
		                 0);
		ck_assert_int_eq(objects_flush(&o, &e), 0);
		ck_assert_int_eq(manifest_open(&o, hash.text, &m, &e), -1);
		ck_assert_int_eq(e.kind, ERR_INPUT);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("manifest");
	TCase *t = tcase_create("manifest");

	tcase_add_test(t, all_kinds_of_entries_come_back_as_they_were);
	tcase_add_test(t, an_empty_workspace_has_an_empty_manifest);
	tcase_add_test(t, what_is_below_a_directory_follows_it_directly);
	tcase_add_test(t, entries_out_of_order_or_out_of_the_workspace_are_refused);
	tcase_add_test(t, each_path_of_many_is_found_and_others_are_not);
	tcase_add_test(t, a_change_of_one_file_adds_little_and_is_the_only_difference);
	tcase_add_test(t, modes_kinds_and_targets_are_differences);
	tcase_add_test(t, nothing_is_said_of_what_one_of_the_two_left_out);
	tcase_add_test(t, random_pairs_differ_by_what_a_plain_comparison_finds);
	tcase_add_test(t, a_look_through_all_objects_reads_the_manifests_once);
	tcase_add_test(t, a_look_tells_of_what_is_needed_only);
	tcase_add_test(t, all_objects_of_a_manifest_are_named_and_a_missing_one_is_noticed);
	tcase_add_test(t, other_content_is_no_manifest);
	suite_add_tcase(s, t);
	return run_suite(s);
}
