/* hand_reach: what a tool that reads a whole folder would see of what is always asked. */
#include "hand_reach.h"

#include "err.h"
#include "json.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/reach-test-XXXXXX";

static void put(const char *name)
{
	FILE *f = fopen(below(folder, name), "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fclose(f), 0);
}

/* Seven files and folders. */
static void given_folder(void)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/reach-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	for (int i = 0; i < 3; i++) {
		static const char *const FOLDERS[] = { "a", "a/deploy", "a/deploy/Keys" };

		ck_assert_int_eq(mkdir(below(folder, FOLDERS[i]), 0755), 0);
	}
	put("a/x.c");
	put("a/deploy/Keys/one");
	put("a/deploy/y.c");
	ck_assert_int_eq(symlink("/", below(folder, "a/link")), 0);
}

static void remove_folder(void)
{
	ck_assert(remove_tree(folder));
}

START_TEST(what_is_covered_is_found_at_any_depth_and_no_link_is_followed)
{
	static const struct {
		const char *entries, *found; /* below the folder; NULL: nothing is */
	} CASES[] = {
		{ "[\"deploy/keys\"]", "/a/deploy/Keys" },
		{ "[\"ONE\"]", "/a/deploy/Keys/one" },
		{ "[\"z\",\"y.*\"]", "/a/deploy/y.c" },
		{ "[\"deploy\"]", "/a/deploy" },
		{ "[\"keys/deploy\"]", NULL },
		{ "[\"etc\"]", NULL },
		{ "[\"reach-test-*\"]", NULL },
		{ "[\"\",7]", NULL },
		{ "[\"b/a/deploy/Keys\"]", NULL },
	};

	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(cJSON_ptr) cJSON *entries = cJSON_Parse(CASES[i].entries);
		OWNED(str) struct str found = { 0 };
		int got = hand_reach(folder, folder, HAND_REACH_MOST, entries, &found);

		ck_assert_msg(got == (CASES[i].found != NULL), "%s: %d %s", CASES[i].entries, got,
		              str_text(&found));
		if (CASES[i].found)
			ck_assert_str_eq(found.bytes + strlen(folder), CASES[i].found);
	}
}
END_TEST

static int reached(const char *path, int most, struct str *found)
{
	OWNED(cJSON_ptr) cJSON *entries = cJSON_Parse("[\"deploy\",\"*.h\"]");
	OWNED(str) struct str whole = { 0 };

	str_addf(&whole, "%s/%s", folder, path);
	str_reset(found);
	return hand_reach(whole.bytes, folder, most, entries, found);
}

static void join(const char *file, const char *name)
{
	OWNED(str) struct str from = { 0 };

	str_addf(&from, "%s/%s", folder, file);
	ck_assert_int_eq(link(from.bytes, below(folder, name)), 0);
}

START_TEST(other_names_of_what_is_read_are_found_in_the_workspace)
{
	OWNED(str) struct str found = { 0 };

	ck_assert_int_eq(mkdir(below(folder, "b"), 0755), 0);
	put("b/alone.c");
	join("b/alone.c", "b/again.c");
	ck_assert_int_eq(reached("b", HAND_REACH_MOST, &found), 0);
	ck_assert_int_eq(reached("b/alone.c", HAND_REACH_MOST, &found), 0);
	join("a/deploy/Keys/one", "b/two");
	ck_assert_int_eq(reached("b", HAND_REACH_MOST, &found), 1);
	ck_assert_str_eq(found.bytes + strlen(folder), "/a/deploy/Keys/one");
	ck_assert_int_eq(reached("b/two", HAND_REACH_MOST, &found), 1);
	ck_assert_str_eq(found.bytes + strlen(folder), "/a/deploy/Keys/one");
	ck_assert_int_eq(reached("b/alone.c", HAND_REACH_MOST, &found), 0);
	/* Three lie beneath b, and more in the workspace. */
	ck_assert_int_eq(reached("b", 2, &found), -1);
	ck_assert_int_eq(reached("b/alone.c", 3, &found), -1);
}
END_TEST

START_TEST(more_than_is_looked_through_is_not_taken_for_nothing)
{
	OWNED(cJSON_ptr) cJSON *entries = cJSON_Parse("[\"*.pem\"]");
	OWNED(str) struct str found = { 0 };

	ck_assert_int_eq(hand_reach(folder, folder, 7, entries, &found), 0);
	ck_assert_int_eq(hand_reach(folder, folder, 6, entries, &found), -1);
	ck_assert_int_eq(hand_reach(below(folder, "a/x.c"), folder, 6, entries, &found), 0);
	ck_assert_int_eq(hand_reach(below(folder, "missing"), folder, 6, entries, &found), 0);
	ck_assert_uint_eq(found.length, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("hand_reach");
	TCase *c = tcase_create("hand_reach");

	tcase_add_checked_fixture(c, given_folder, remove_folder);
	tcase_add_test(c, what_is_covered_is_found_at_any_depth_and_no_link_is_followed);
	tcase_add_test(c, other_names_of_what_is_read_are_found_in_the_workspace);
	tcase_add_test(c, more_than_is_looked_through_is_not_taken_for_nothing);
	suite_add_tcase(s, c);
	return run_suite(s);
}
