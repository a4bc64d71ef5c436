/* diff: reading, applying and computing unified diffs; git, diff and patch are asked as well. */
#include "diff_almost.h"
#include "diff_case.h"

static void expect_applied(const char *old, const char *text, const char *want)
{
	struct err e = { 0 };
	OWNED(char_ptr) char *have = applied(old, text, &e);

	ck_assert_msg(have != NULL, "%s", e.text);
	ck_assert_str_eq(have, want);
}

static void expect_refused(const char *old, const char *text, const char *why)
{
	struct err e = { 0 };
	OWNED(char_ptr) char *have = applied(old, text, &e);

	ck_assert_msg(have == NULL, "applied: %s", have);
	ck_assert_int_eq(e.kind, ERR_INPUT);
	ck_assert_str_eq(e.text, why);
}

/* ---- reading ---- */

START_TEST(three_beginnings_look_like_a_diff)
{
	static const char *const DIFFS[] = {
		"--- a\n+++ b",
		"--- a\r\n+++ b\r\n",
		"diff --git a/x b/x\nnew mode 100755",
		"diff --git a/x b/x\n\n--- a/x\n+++ b/x\n",
		"diff --git a/x b/x\nindex 1..2\nBinary files a/x and b/x differ\n",
		"diff --git a/x b/x\n@@ -1 +1 @@\n",
		"diff -ru a b\nOnly in a: y\ndiff -ru a/x b/x\n--- a/x\n+++ b/x\n",
		"@@ -1 +1 @@\n",
	};
	static const char *const OTHERS[] = {
		"",
		"\n--- a\n+++ b\n",
		"Index: x",
		"*** x",
		"---",
		"--- a",
		"--- a\n-b",
		"--- a\n\n+++ b\n",
		"diff a\n-b\n",
		"diff --git a/x b/x",
	};

	for (size_t i = 0; i < COUNT(DIFFS); i++)
		ck_assert_msg(diff_looks_like(DIFFS[i], strlen(DIFFS[i])), "%s", DIFFS[i]);
	for (size_t i = 0; i < COUNT(OTHERS); i++)
		ck_assert_msg(!diff_looks_like(OTHERS[i], strlen(OTHERS[i])), "%s", OTHERS[i]);
	ck_assert(!diff_looks_like("--- a\n+++ b", 3));
	ck_assert(!diff_looks_like(NULL, 0));
}
END_TEST

#define HUNK "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"

/* Of docs/p or docs/\303\244. */
START_TEST(what_names_the_file_and_is_almost_a_diff_is_no_new_content_of_it)
{
	static const char *const ALMOST[] = {
		"```\n--- \"a/docs/p\"\n+++ \"b/docs/p\"\n" HUNK,
		"```\ndiff --git \"a/docs/p\" \"b/docs/p\"\n",
		"x\n--- docs/p 2020-01-01 00:00:00\n+++ docs/p 2020-01-01 00:00:00\n" HUNK,
		"x\n--- docs/p.orig 2020-01-01 00:00:00\n+++ docs/p 2020-01-01 00:00:00\n" HUNK,
		"x\n--- docs/p.orig\t2020-01-01\n+++ docs/p\t2020-01-01\n" HUNK,
		"> --- a/docs/p\n> +++ b/docs/p\n> @@ -1,3 +1,3 @@\n>  a\n> -b\n",
		">> --- a/docs/p\n>> +++ b/docs/p\n>> @@ -1,3 +1,3 @@\n>>  a\n>> -b\n",
		"\xE2\x80\x8B--- a/docs/p\n+++ b/docs/p\n" HUNK,
		"\xC2\xA0--- a/docs/p\n+++ b/docs/p\n" HUNK,
		"x\n\xEF\xBB\xBF \xE2\x81\xA0--- a/docs/p\n+++ b/docs/p\n" HUNK,
		"+++ b/docs/p\n" HUNK,
		"--- a/docs/p\n" HUNK,
		"--- a/docs/p\n\n+++ b/docs/p\n" HUNK,
		"diff --git a/docs/p b/docs/p\n-b\n+B\n",
		"x\n--- a/docs/p\n" HUNK,
		"*** Update File: docs/p\n@@\n-b\n+B\n",
		"```\n*** Begin Patch\n*** Update File: \"docs/p\"\n@@\n-b\n+B\n",
		"x\n--- \"a/docs/\\303\\244\"\n+++ \"b/docs/\\303\\244\"\n" HUNK,
		"x\n--- \"a/docs/\\303\\244\"\t2020\n+++ \"b/docs/\\303\\244\"\t2020\n" HUNK,
	};
	static const char *const TEXTS[] = {
		"x\n--- a/docs/q\n+++ b/docs/q\n" HUNK,
		"> --- a/docs/q\n> +++ b/docs/q\n> @@ -1,3 +1,3 @@\n",
		"--\n+++ b/docs/p\nplus\n",
		"*** Update File: docs/q\n@@\n-b\n+B\n",
		">\n> \n\xE2\x80\x8B",
		"--- Module for maps.\n-- @module maps\nlocal M = {}\n",
	};
	struct refusal why = { 0 };

	for (size_t i = 0; i < COUNT(ALMOST); i++) {
		const char *path = strstr(ALMOST[i], "303") ? "docs/\303\244" : "docs/p";

		ck_assert_msg(diff_almost_refuse(ALMOST[i], strlen(ALMOST[i]), path, &why) != 0,
		              "taken: %s", ALMOST[i]);
		ck_assert_str_eq(why.code, "invalid_diff");
		ck_assert_ptr_nonnull(strstr(why.text, DIFF_AS_CONTENT));
	}
	for (size_t i = 0; i < COUNT(TEXTS); i++)
		ck_assert_msg(diff_almost_refuse(TEXTS[i], strlen(TEXTS[i]), "docs/p", &why) == 0,
		              "refused: %s", TEXTS[i]);
}
END_TEST

START_TEST(a_plain_diff_gives_names_and_hunks)
{
	OWNED(diff) struct diff d = { 0 };

	read_diff("--- src/my file.c\t2026-01-02 10:00:00 +0000\n+++ src/my file.c\t2026-01-02\n"
	          "@@ -10,2 +10,3 @@ int main(void)\n a\n+b\n c\n@@ -20 +21,0 @@\n-x\n",
	          &d);
	ck_assert_uint_eq(d.file_count, 1);
	ck_assert_str_eq(d.files[0].old_path, "src/my file.c");
	ck_assert_str_eq(d.files[0].new_path, "src/my file.c");
	ck_assert(!d.files[0].is_create && !d.files[0].is_delete && !d.files[0].is_rename);
	ck_assert_uint_eq(d.files[0].hunk_count, 2);
	ck_assert_uint_eq(d.files[0].hunks[0].old_start, 10);
	ck_assert_uint_eq(d.files[0].hunks[0].new_count, 3);
	ck_assert_uint_eq(d.files[0].hunks[0].line_count, 3);
	ck_assert_int_eq(d.files[0].hunks[0].lines[1].kind, '+');
	ck_assert_uint_eq(d.files[0].hunks[1].old_count, 1);
	ck_assert_uint_eq(d.files[0].hunks[1].at, 7);
}
END_TEST

START_TEST(a_git_diff_of_many_files_says_what_happens_to_each)
{
	OWNED(diff) struct diff d = { 0 };

	read_diff("From 1234 Mon Sep 17 00:00:00 2001\nSubject: all kinds\n---\n f | 2 +-\n\n"
	          "diff --git a/new.sh b/new.sh\nnew file mode 100755\nindex 0000000..e69de29\n"
	          "--- /dev/null\n+++ b/new.sh\n@@ -0,0 +1 @@\n+hi\n"
	          "diff --git a/gone b/gone\ndeleted file mode 100644\nindex e69de29..0000000\n"
	          "diff --git a/old name b/new name\nsimilarity index 100%\nrename from old name\n"
	          "rename to new name\n"
	          "diff --git a/mode b/mode\nold mode 100644\nnew mode 100755\n"
	          "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
	          "-- \n2.39.2\n\n",
	          &d);
	ck_assert_uint_eq(d.file_count, 5);
	ck_assert(d.files[0].is_create && !d.files[0].old_path);
	ck_assert_uint_eq(d.files[0].new_mode, 0100755);
	ck_assert(d.files[1].is_delete && !d.files[1].new_path);
	ck_assert_str_eq(d.files[1].old_path, "gone");
	ck_assert(d.files[2].is_rename);
	ck_assert_str_eq(d.files[2].old_path, "old name");
	ck_assert_str_eq(d.files[2].new_path, "new name");
	ck_assert_uint_eq(d.files[3].old_mode, 0100644);
	ck_assert_uint_eq(d.files[3].new_mode, 0100755);
	ck_assert_str_eq(d.files[3].new_path, "mode");
	ck_assert_uint_eq(d.files[4].hunk_count, 1);
}
END_TEST

START_TEST(quoted_names_are_decoded)
{
	OWNED(diff) struct diff d = { 0 };

	read_diff(
	    "diff --git \"a/\\303\\244\\t\\\"x\" \"b/\\303\\244\\t\\\"x\"\n"
	    "--- \"a/\\303\\244\\t\\\"x\"\n+++ \"b/\\303\\244\\t\\\"x\"\n@@ -1 +1 @@\n-a\n+b\n",
	    &d);
	ck_assert_str_eq(d.files[0].old_path, "\303\244\t\"x");
	ck_assert_str_eq(d.files[0].new_path, "\303\244\t\"x");
}
END_TEST

static void expect_names(const char *text, const char *old, const char *new_name)
{
	OWNED(diff) struct diff d = { 0 };

	read_diff(text, &d);
	ck_assert_str_eq(d.files[0].old_path ? d.files[0].old_path : "(null)", old);
	ck_assert_str_eq(d.files[0].new_path ? d.files[0].new_path : "(null)", new_name);
}

START_TEST(prefixes_are_taken_off_only_when_they_are_prefixes)
{
	expect_names("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "x", "x");
	expect_names("--- a/x\n+++ a/x\n@@ -1 +1 @@\n-a\n+b\n", "a/x", "a/x");
	expect_names("--- a/x\n+++ x\n@@ -1 +1 @@\n-a\n+b\n", "x", "x");
	expect_names("--- x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n", "x", "x");
	expect_names("--- x.orig\n+++ x\n@@ -1 +1 @@\n-a\n+b\n", "x.orig", "x");
	expect_names("--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n", "(null)", "x");
	expect_names("--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n", "x", "(null)");
	expect_names("--- a/x\r\n+++ b/x\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n", "x", "x");
}
END_TEST

START_TEST(a_mode_that_git_never_writes_is_refused)
{
	static const char *const MODES[] = { "104755", "102755", "101777", "100777",
		                             "100600", "755",    "40000",  "060600" };

	for (size_t i = 0; i < COUNT(MODES); i++) {
		OWNED(str) struct str text = { 0 };
		OWNED(str) struct str why = { 0 };

		str_addf(&text, "diff --git a/x b/x\nold mode 100644\nnew mode %s\n", MODES[i]);
		str_add(&why, "invalid diff: line 3: a file mode that git never writes: it is "
		              "100644 or 100755");
		expect_refused("", text.bytes, why.bytes);
	}
	expect_refused("", "diff --git a/x b/x\nold mode 104755\nnew mode 100644\n",
	               "invalid diff: line 2: a file mode that git never writes: it is 100644 or "
	               "100755");
	expect_refused("", "diff --git a/x b/x\nnew file mode \n",
	               "invalid diff: line 2: malformed file mode");
}
END_TEST

START_TEST(a_diff_that_cannot_be_taken_says_why)
{
	expect_refused("", "hello\n",
	               "invalid diff: no \"--- path\" line with a \"+++ path\" line behind it");
	expect_refused("", "diff --git a/x b/x\nindex 1..2\nGIT binary patch\nliteral 3\n",
	               "invalid diff: line 3: binary patches are not supported");
	expect_refused("", "diff --git a/x b/x\nBinary files a/x and b/x differ\n",
	               "invalid diff: line 2: binary patches are not supported");
	expect_refused("", "diff --cc x\n",
	               "invalid diff: line 1: combined diffs (of a merge) are not supported");
	expect_refused("", HEAD "@@ ... @@\n-a\n+b\n",
	               "invalid diff: line 3: malformed hunk header, wanted \"@@ -start,count "
	               "+start,count @@\"");
	expect_refused("", HEAD "@@ -1,99999999999999999999 +1 @@\n-a\n+b\n",
	               "invalid diff: line 3: malformed hunk header, wanted \"@@ -start,count "
	               "+start,count @@\"");
	expect_refused(
	    "", "@@ -1 +1 @@\n-a\n+b\n",
	    "invalid diff: line 1: a hunk without \"--- path\" and \"+++ path\" before it");
	expect_refused("", HEAD,
	               "invalid diff: line 1: the file has no hunks (a line that begins "
	               "with \"@@ -\")");
	expect_refused("", HEAD "-a\n+b\n",
	               "invalid diff: line 3: expected \"@@ -start,count +start,count @@\"");
	expect_refused("", "--- \"a/x\\000y\"\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
	               "invalid diff: line 1: NUL byte in a file name");
	expect_refused("", "--- \"a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
	               "invalid diff: line 1: malformed quoted file name");
	expect_refused("", "--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n",
	               "invalid diff: line 2: both files are /dev/null");
	expect_refused("",
	               HEAD "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n@@ -3,2 +3 @@\n"
	                    " a\n\\ No newline at end of file\n-b\n",
	               "invalid diff: line 7: the hunk has lines behind one without newline");
}
END_TEST

START_TEST(a_git_header_that_names_another_file_is_refused)
{
	expect_refused(
	    "a\n", "diff --git a/README b/README\n--- a/evil\n+++ b/evil\n@@ -1 +1 @@\n-a\n+b\n",
	    "invalid diff: line 1: the file names of the header disagree");
	expect_refused("a\n", "diff --git a/x b/y\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
	               "invalid diff: line 1: two file names in a git header that says no rename");
}
END_TEST

START_TEST(a_git_header_of_a_move_has_both_of_its_names)
{
	expect_refused("a\n",
	               "diff --git a/x b/y\nrename from x\nrename to y\n--- a/x\n+++ /dev/null\n"
	               "@@ -1 +0,0 @@\n-b\n",
	               "invalid diff: line 1: the git header contradicts itself");
	expect_refused("a\n",
	               "diff --git a/x b/y\ncopy from x\ncopy to y\n--- /dev/null\n+++ b/y\n"
	               "@@ -0,0 +1 @@\n+b\n",
	               "invalid diff: line 1: the git header contradicts itself");
}
END_TEST

START_TEST(wrong_counts_name_the_hunk_and_what_it_really_has)
{
	expect_refused("a\nb\n", HEAD "@@ -1,3 +1,3 @@\n a\n-b\n+c\n",
	               "invalid diff: hunk 1 (line 3): header says 3 old and 3 new lines, the hunk "
	               "has 2 and 2 (it ends before line 7)");
	expect_refused(
	    "a\nb\n", HEAD "@@ -1 +1 @@\n-a\n+b\n@@ -4,1 +4,1 @@\n a\n-b\n+c\n",
	    "invalid diff: line 8: neither a hunk nor a file begins here, but hunk 2 (line "
	    "6) ended as its header says (1 old and 1 new lines)");
	expect_refused("a\nb\n", HEAD "@@ -1,2 +1,2 @@\n a\n+c\n+d\n-b\n",
	               "invalid diff: hunk 1 (line 3): header says 2 old and 2 new lines, the hunk "
	               "has 2 and 3 (it ends before line 8)");
	expect_refused("a\nb\n", HEAD "@@ -1,2 +1,2 @@\n a\nb\n+c\n",
	               "invalid diff: hunk 1 (line 3): header says 2 old and 2 new lines, the hunk "
	               "has 1 and 1 (it ends before line 5)");
}
END_TEST

/* ---- applying ---- */

START_TEST(a_hunk_at_its_line_is_applied)
{
	expect_applied("a\nb\nc\n", HEAD "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n");
	expect_applied("a\nb\nc\n", HEAD "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c", "a\nB\nc\n");
}
END_TEST

START_TEST(empty_context_lines_may_lack_their_space)
{
	expect_applied("a\n\nc\n", HEAD "@@ -1,3 +1,3 @@\n-a\n+A\n\n c\n", "A\n\nc\n");
	expect_applied("a\n\nc\n\n", HEAD "@@ -1,4 +1,4 @@\n a\n\n-c\n+C\n\n", "a\n\nC\n\n");
}
END_TEST

START_TEST(a_hunk_that_moved_down_is_found)
{
	expect_applied("1\n2\n3\n4\n5\na\nb\nc\n", HEAD "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n",
	               "1\n2\n3\n4\n5\na\nB\nc\n");
}
END_TEST

START_TEST(a_hunk_that_moved_up_is_found)
{
	expect_applied("a\nb\nc\nd\n", HEAD "@@ -100,3 +100,3 @@\n a\n-b\n+B\n c\n",
	               "a\nB\nc\nd\n");
}
END_TEST

START_TEST(the_nearest_place_wins_and_two_equally_near_ones_are_a_conflict)
{
	expect_applied("x\n1\n2\nx\n3\nx\n", HEAD "@@ -3 +3 @@\n-x\n+y\n", "x\n1\n2\ny\n3\nx\n");
	expect_refused("x\n1\nx\n", HEAD "@@ -2 +2 @@\n-x\n+y\n",
	               "patch conflict: f.c: hunk 1 of 1 fits at line 1 and at line 3: give it its "
	               "line number, or more lines around it");
	expect_applied("x\n1\n2\n3\n4\nx\n", HEAD "@@ -2 +2 @@\n-x\n+y\n", "y\n1\n2\n3\n4\nx\n");
}
END_TEST

START_TEST(a_hunk_far_away_is_found)
{
	OWNED(str) struct str old = { 0 };
	OWNED(str) struct str want = { 0 };

	for (int i = 0; i < 20000; i++)
		str_add(&old, "same\n");
	str_add_bytes(&want, old.bytes, old.length);
	str_add(&old, "x\ny\n");
	str_add(&want, "X\ny\n");
	expect_applied(str_text(&old), HEAD "@@ -7,3 +7,3 @@\n same\n-x\n+X\n y\n",
	               str_text(&want));
}
END_TEST

START_TEST(later_hunks_move_with_the_first_and_never_before_its_end)
{
	expect_applied("0\n0\na\n-\nb\n-\nb\n", HEAD "@@ -1 +1 @@\n-a\n+A\n@@ -5 +5 @@\n-b\n+B\n",
	               "0\n0\nA\n-\nb\n-\nB\n");
	expect_applied("b\na\nb\n", HEAD "@@ -2 +2 @@\n-a\n+A\n@@ -1 +1 @@\n-b\n+B\n", "b\nA\nB\n");
	expect_refused("b\na\n", HEAD "@@ -2 +2 @@\n-a\n+A\n@@ -1 +1 @@\n-b\n+B\n",
	               "patch conflict: f.c: hunk 2 of 2 does not match at line 3: expected \"b\", "
	               "found the end of the file");
}
END_TEST

START_TEST(context_may_differ_by_as_many_lines_as_there_is_fuzz)
{
	static const char diff[] = HEAD "@@ -1,7 +1,7 @@\n a\n b\n c\n-d\n+D\n e\n f\n g\n";

	expect_refused("A\nb\nc\nd\ne\nf\ng\n", diff,
	               "patch conflict: f.c: hunk 1 of 1 does not match at line 1: expected "
	               "\"a\", found \"A\"");
	fuzz = 1;
	expect_applied("A\nb\nc\nd\ne\nf\nG\n", diff, "A\nb\nc\nD\ne\nf\nG\n");
	expect_refused("a\nB\nc\nd\ne\nf\ng\n", diff,
	               "patch conflict: f.c: hunk 1 of 1 does not match at line 2: expected "
	               "\"b\", found \"B\"");
	fuzz = 2;
	expect_applied("a\nB\nc\nd\ne\nF\ng\n", diff, "a\nB\nc\nD\ne\nF\ng\n");
	expect_refused("a\nb\nC\nd\ne\nf\ng\n", diff,
	               "patch conflict: f.c: hunk 1 of 1 does not match at line 3: expected "
	               "\"c\", found \"C\"");
	fuzz = 0;
}
END_TEST

START_TEST(a_place_that_fits_whole_goes_before_a_nearer_one_that_does_not)
{
	fuzz = 2;
	expect_applied("A\nb\nc\n-\na\nb\nc\n", HEAD "@@ -1,3 +1,3 @@\n a\n b\n-c\n+C\n",
	               "A\nb\nc\n-\na\nb\nC\n");
	fuzz = 0;
}
END_TEST

START_TEST(the_end_with_less_context_keeps_it_longer_under_fuzz)
{
	fuzz = 1; /* two lines before and one behind: only the first may differ */
	expect_applied("A\nb\nc\nd\n", HEAD "@@ -1,4 +1,4 @@\n a\n b\n-c\n+C\n d\n",
	               "A\nb\nC\nd\n");
	expect_refused("a\nb\nc\nD\n", HEAD "@@ -1,4 +1,4 @@\n a\n b\n-c\n+C\n d\n",
	               "patch conflict: f.c: hunk 1 of 1 does not match at line 4: expected "
	               "\"d\", found \"D\"");
	fuzz = 0;
}
END_TEST

START_TEST(fuzz_leaves_a_line_to_find_a_hunk_by)
{
	fuzz = 2;
	expect_refused("x\ny\n", HEAD "@@ -1,2 +1,3 @@\n a\n+b\n c\n",
	               "patch conflict: f.c: hunk 1 of 1 does not match at line 1: expected "
	               "\"a\", found \"x\"");
	fuzz = 0;
}
END_TEST

START_TEST(a_conflict_names_file_hunk_line_and_both_texts)
{
	static const char text[] = HEAD "@@ -1 +1 @@\n-a\n+A\n@@ -2,2 +2,2 @@\n b\n-foo\n+x\n";
	OWNED(diff) struct diff d = { 0 };
	OWNED(str) struct str result = { 0 };
	struct err e = { 0 };

	read_diff(text, &d);
	str_add(&result, "untouched");
	ck_assert_int_eq(diff_apply(&d.files[0], "a\nb\nbar\n", 8, NULL, &result, &e), -1);
	ck_assert_str_eq(e.text, "patch conflict: f.c: hunk 2 of 2 does not match at line 3: "
	                         "expected \"foo\", found \"bar\"");
	ck_assert_str_eq(str_text(&result), "untouched");
}
END_TEST

START_TEST(a_text_in_an_error_is_short_and_printable)
{
	OWNED(str) struct str text = { 0 };
	struct err e = { 0 };

	str_add(&text, HEAD "@@ -1 +1 @@\n-");
	for (int i = 0; i < 5000; i++)
		str_add(&text, i % 2 ? "\001" : "\303\244");
	str_add(&text, "\n+b\n");
	ck_assert_ptr_null(applied("\xFF\n", str_text(&text), &e));
	ck_assert(strlen(e.text) < 500);
	ck_assert(utf8_valid(e.text, strlen(e.text)));
	ck_assert_ptr_nonnull(strstr(e.text, "\303\244\\x01\303\244"));
	ck_assert_ptr_nonnull(strstr(e.text, "found \"\\xff\""));
}
END_TEST

START_TEST(insertions_without_context_go_to_their_line_only)
{
	expect_applied("a\nb\n", HEAD "@@ -1,0 +2 @@\n+x\n", "a\nx\nb\n");
	expect_applied("a\nb\n", HEAD "@@ -0,0 +1 @@\n+x\n", "x\na\nb\n");
	expect_applied("a\nb\n", HEAD "@@ -2,0 +3 @@\n+x\n", "a\nb\nx\n");
	expect_refused(
	    "a\nb\n", HEAD "@@ -9,0 +10 @@\n+x\n",
	    "patch conflict: f.c: hunk 1 of 1 does not match at line 3: the file has 2 lines "
	    "and the hunk no context");
}
END_TEST

START_TEST(a_missing_final_newline_is_taken_exactly)
{
	static const char no[] = "\\ No newline at end of file\n";
	OWNED(str) struct str text = { 0 };

	expect_refused(
	    "a\nb", HEAD "@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
	    "patch conflict: f.c: hunk 1 of 1 does not match at line 2: expected \"b\", found "
	    "\"b\" without a newline at the end of the file (the diff needs the line \"\\ No "
	    "newline at end of file\" behind it)");
	str_addf(&text, HEAD "@@ -1,2 +1,2 @@\n a\n-b\n%s+c\n", no);
	expect_applied("a\nb", str_text(&text), "a\nc\n");
	expect_refused(
	    "a\nb\n", str_text(&text),
	    "patch conflict: f.c: hunk 1 of 1 does not match at line 2: expected \"b\" as "
	    "last line without a newline, found \"b\"");
	str_reset(&text);
	str_addf(&text, HEAD "@@ -1,2 +1,2 @@\n a\n-b\n+c\n%s", no);
	expect_applied("a\nb\n", str_text(&text), "a\nc");
	expect_refused("a\nb\nz\n", str_text(&text),
	               "patch conflict: f.c: the diff puts text behind a line without a newline");
	str_reset(&text);
	str_addf(&text, HEAD "@@ -1,2 +1,2 @@\n-a\n+A\n b\n%s", no);
	expect_applied("a\nb", str_text(&text), "A\nb");
	expect_refused("a\nb", HEAD "@@ -2,0 +3 @@\n+x\n",
	               "patch conflict: f.c: the diff puts text behind a line without a newline");
}
END_TEST

START_TEST(an_lf_diff_keeps_the_crlf_of_its_file)
{
	expect_applied("a\r\nb\r\nc\r\n", HEAD "@@ -1,3 +1,4 @@\n a\n-b\n+B\n+BB\n c\n",
	               "a\r\nB\r\nBB\r\nc\r\n");
	expect_applied("a\r\nb\r\n", HEAD "@@ -1,0 +2 @@\n+x\n", "a\r\nx\r\nb\r\n");
	expect_applied("a\r\nb",
	               HEAD "@@ -1,2 +1,3 @@\n a\n-b\n\\ No newline at end of file\n+B\n+C\n"
	                    "\\ No newline at end of file\n",
	               "a\r\nB\r\nC");
}
END_TEST

START_TEST(a_crlf_diff_keeps_the_lf_of_its_file)
{
	expect_applied("a\nb\nc\n",
	               "--- a/f.c\r\n+++ b/f.c\r\n@@ -1,3 +1,3 @@\r\n a\r\n-b\r\n+B\r\n c\r\n",
	               "a\nB\nc\n");
	expect_applied("a\r\nb\r\n", HEAD "@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+B\r\n", "a\r\nB\r\n");
}
END_TEST

START_TEST(a_file_of_mixed_endings_keeps_each)
{
	expect_applied("a\nb\r\nc\n", HEAD "@@ -1,3 +1,4 @@\n a\n b\n+x\n c\n", "a\nb\r\nx\r\nc\n");
	expect_applied("a\r\nb\nc\nd\n", HEAD "@@ -2,3 +2,3 @@\n b\n-c\n+C\n d\n",
	               "a\r\nb\nC\nd\n");
}
END_TEST

START_TEST(a_diff_may_change_the_line_endings_themselves)
{
	expect_applied("a\r\nb\n", HEAD "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\n", "a\nb\n");
	expect_refused(
	    "a\nb\n", HEAD "@@ -1,2 +1,2 @@\n-a\r\n+a\n b\n",
	    "patch conflict: f.c: hunk 1 of 1 does not match at line 1: expected \"a\\r\", "
	    "found \"a\"");
}
END_TEST

START_TEST(files_are_created_and_deleted)
{
	expect_applied(NULL, "--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n", "a\nb\n");
	expect_applied(NULL, "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\r\n", "a\r\n");
	expect_applied("", "--- a/x\n+++ b/x\n@@ -1,0 +1 @@\n+a\n", "a\n");
	expect_applied("a\n", "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "");
	expect_refused("z\n", "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n",
	               "patch conflict: x: the diff creates the file, but it exists");
	expect_refused(NULL, "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
	               "patch conflict: x: the file does not exist");
	expect_refused("a\nb\n", "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
	               "patch conflict: x: the diff deletes the file, but lines would remain");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("diff_parse");
	TCase *reading = tcase_create("reading");
	TCase *applying = tcase_create("applying");

	tcase_add_test(reading, three_beginnings_look_like_a_diff);
	tcase_add_test(reading, what_names_the_file_and_is_almost_a_diff_is_no_new_content_of_it);
	tcase_add_test(reading, a_plain_diff_gives_names_and_hunks);
	tcase_add_test(reading, a_git_diff_of_many_files_says_what_happens_to_each);
	tcase_add_test(reading, quoted_names_are_decoded);
	tcase_add_test(reading, prefixes_are_taken_off_only_when_they_are_prefixes);
	tcase_add_test(reading, a_mode_that_git_never_writes_is_refused);
	tcase_add_test(reading, a_diff_that_cannot_be_taken_says_why);
	tcase_add_test(reading, a_git_header_that_names_another_file_is_refused);
	tcase_add_test(reading, a_git_header_of_a_move_has_both_of_its_names);
	tcase_add_test(reading, wrong_counts_name_the_hunk_and_what_it_really_has);
	suite_add_tcase(s, reading);
	tcase_add_test(applying, a_hunk_at_its_line_is_applied);
	tcase_add_test(applying, empty_context_lines_may_lack_their_space);
	tcase_add_test(applying, a_hunk_that_moved_down_is_found);
	tcase_add_test(applying, a_hunk_that_moved_up_is_found);
	tcase_add_test(applying, the_nearest_place_wins_and_two_equally_near_ones_are_a_conflict);
	tcase_add_test(applying, a_hunk_far_away_is_found);
	tcase_add_test(applying, later_hunks_move_with_the_first_and_never_before_its_end);
	tcase_add_test(applying, context_may_differ_by_as_many_lines_as_there_is_fuzz);
	tcase_add_test(applying, a_place_that_fits_whole_goes_before_a_nearer_one_that_does_not);
	tcase_add_test(applying, the_end_with_less_context_keeps_it_longer_under_fuzz);
	tcase_add_test(applying, fuzz_leaves_a_line_to_find_a_hunk_by);
	tcase_add_test(applying, a_conflict_names_file_hunk_line_and_both_texts);
	tcase_add_test(applying, a_text_in_an_error_is_short_and_printable);
	tcase_add_test(applying, insertions_without_context_go_to_their_line_only);
	tcase_add_test(applying, a_missing_final_newline_is_taken_exactly);
	tcase_add_test(applying, an_lf_diff_keeps_the_crlf_of_its_file);
	tcase_add_test(applying, a_crlf_diff_keeps_the_lf_of_its_file);
	tcase_add_test(applying, a_file_of_mixed_endings_keeps_each);
	tcase_add_test(applying, a_diff_may_change_the_line_endings_themselves);
	tcase_add_test(applying, files_are_created_and_deleted);
	suite_add_tcase(s, applying);
	return run_suite(s);
}
