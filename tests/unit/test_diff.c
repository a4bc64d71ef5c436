/* diff: reading, applying and computing unified diffs; git, diff and patch are asked as well. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "diff.h"
#include "suite.h"

enum { ROUNDS = 3000, PEER_ROUNDS = 60, BIG_BYTES = 4 << 20, FAST_SECONDS = 5 };

static size_t fuzz; /* of `applied` */

/* Applies the only file of a diff to old; "" and the reason in e when it does not go. */
static char *applied(const char *old, const char *text, struct err *e)
{
	OWNED(diff) struct diff d = DIFF_INIT;
	OWNED(str) struct str result = STR_INIT;

	if (diff_parse(text, strlen(text), &d, e) == 0 &&
	    diff_apply_file(&d.files[0], old, old ? strlen(old) : 0, fuzz, &result, NULL, e) == 0)
		return str_take(&result);
	return NULL;
}

static void expect_applied(const char *old, const char *text, const char *want)
{
	struct err e = ERR_INIT;
	OWNED(char_ptr) char *have = applied(old, text, &e);

	ck_assert_msg(have != NULL, "%s", e.text);
	ck_assert_str_eq(have, want);
}

static void expect_refused(const char *old, const char *text, const char *why)
{
	struct err e = ERR_INIT;
	OWNED(char_ptr) char *have = applied(old, text, &e);

	ck_assert_msg(have == NULL, "applied: %s", have);
	ck_assert_int_eq(e.kind, ERR_INPUT);
	ck_assert_str_eq(e.text, why);
}

static void read_diff(const char *text, struct diff *d)
{
	struct err e = ERR_INIT;

	ck_assert_msg(diff_parse(text, strlen(text), d, &e) == 0, "%s", e.text);
}

#define HEAD "--- a/f.c\n+++ b/f.c\n"

/* ---- reading ---- */

START_TEST(only_two_beginnings_look_like_a_diff)
{
	ck_assert(diff_looks_like("--- a", 5));
	ck_assert(diff_looks_like("diff --git a/x b/x", 18));
	ck_assert(!diff_looks_like("\n--- a", 6));
	ck_assert(!diff_looks_like("Index: x", 8));
	ck_assert(!diff_looks_like("*** x", 5));
	ck_assert(!diff_looks_like("---", 3));
	ck_assert(!diff_looks_like("--- a", 3));
	ck_assert(!diff_looks_like(NULL, 0));
}
END_TEST

START_TEST(a_plain_diff_gives_names_and_hunks)
{
	OWNED(diff) struct diff d = DIFF_INIT;

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
	OWNED(diff) struct diff d = DIFF_INIT;

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
	OWNED(diff) struct diff d = DIFF_INIT;

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
	OWNED(diff) struct diff d = DIFF_INIT;

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
	               "invalid diff: line 3: the file has no hunks (a line that begins "
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
	    "invalid diff: line 7: the file names of the header disagree");
	expect_refused("a\n", "diff --git a/x b/y\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
	               "invalid diff: line 7: two file names in a git header that says no rename");
}
END_TEST

START_TEST(a_git_header_of_a_move_has_both_of_its_names)
{
	expect_refused("a\n",
	               "diff --git a/x b/y\nrename from x\nrename to y\n--- a/x\n+++ /dev/null\n"
	               "@@ -1 +0,0 @@\n-b\n",
	               "invalid diff: line 8: the git header contradicts itself");
	expect_refused("a\n",
	               "diff --git a/x b/y\ncopy from x\ncopy to y\n--- /dev/null\n+++ b/y\n"
	               "@@ -0,0 +1 @@\n+b\n",
	               "invalid diff: line 8: the git header contradicts itself");
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
	OWNED(str) struct str old = STR_INIT;
	OWNED(str) struct str want = STR_INIT;

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
	OWNED(diff) struct diff d = DIFF_INIT;
	OWNED(str) struct str result = STR_INIT;
	OWNED(diff_conflict) struct diff_conflict c = DIFF_CONFLICT_INIT;
	struct err e = ERR_INIT;

	read_diff(text, &d);
	str_add(&result, "untouched");
	ck_assert_int_eq(diff_apply_file(&d.files[0], "a\nb\nbar\n", 8, 0, &result, &c, &e), -1);
	ck_assert_str_eq(e.text, "patch conflict: f.c: hunk 2 of 2 does not match at line 3: "
	                         "expected \"foo\", found \"bar\"");
	ck_assert_uint_eq(c.hunk, 2);
	ck_assert_uint_eq(c.hunk_count, 2);
	ck_assert_uint_eq(c.line, 3);
	ck_assert_str_eq(str_text(&c.expected), "foo");
	ck_assert_str_eq(str_text(&c.found), "bar");
	ck_assert(!c.at_end);
	ck_assert_str_eq(str_text(&result), "untouched");
}
END_TEST

START_TEST(a_text_in_an_error_is_short_and_printable)
{
	OWNED(str) struct str text = STR_INIT;
	struct err e = ERR_INIT;

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
	OWNED(str) struct str text = STR_INIT;

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

/* ---- computing ---- */

static void expect_computed(const char *old, const char *new_text, const char *want)
{
	OWNED(str) struct str text = STR_INIT;

	diff_compute("f.c", old, old ? strlen(old) : 0, new_text, new_text ? strlen(new_text) : 0,
	             &text);
	ck_assert_str_eq(str_text(&text), want);
}

START_TEST(equal_texts_have_no_diff)
{
	expect_computed("a\n", "a\n", "");
	expect_computed("", "", "");
	expect_computed(NULL, NULL, "");
}
END_TEST

START_TEST(a_change_shows_with_three_lines_of_context)
{
	expect_computed("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nx\n6\n7\n8\n9\n",
	                HEAD "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n");
}
END_TEST

START_TEST(changes_six_lines_apart_share_a_hunk)
{
	expect_computed("a\n1\n2\n3\n4\n5\n6\nb\n", "A\n1\n2\n3\n4\n5\n6\nB\n",
	                HEAD "@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n");
	expect_computed(
	    "a\n1\n2\n3\n4\n5\n6\n7\nb\n", "A\n1\n2\n3\n4\n5\n6\n7\nB\n",
	    HEAD "@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@ a\n 5\n 6\n 7\n-b\n+B\n");
}
END_TEST

START_TEST(new_and_deleted_files_are_dev_null_on_one_side)
{
	expect_computed(NULL, "a\nb",
	                "--- /dev/null\n+++ b/f.c\n@@ -0,0 +1,2 @@\n+a\n+b\n"
	                "\\ No newline at end of file\n");
	expect_computed("a\n", NULL, "--- a/f.c\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
	expect_computed(NULL, "", "diff --git a/f.c b/f.c\nnew file mode 100644\n");
	expect_computed("", NULL, "diff --git a/f.c b/f.c\ndeleted file mode 100644\n");
	expect_computed("a\n", "", HEAD "@@ -1 +0,0 @@\n-a\n");
}
END_TEST

START_TEST(an_added_function_shows_with_its_own_brace)
{
	expect_computed("f\n{\n1\n}\n\ng\n{\n2\n}\n", "f\n{\n1\n}\n\nh\n{\n3\n}\n\ng\n{\n2\n}\n",
	                HEAD "@@ -3,6 +3,11 @@ f\n 1\n }\n \n+h\n+{\n+3\n+}\n+\n g\n {\n 2\n");
}
END_TEST

START_TEST(the_section_of_a_hunk_is_the_last_line_before_its_change_that_begins_with_a_letter)
{
	expect_computed("int f(void)\n{\n\ta;\n\tb;\n\tc;\n\td;\n\te;\n}\n",
	                "int f(void)\n{\n\ta;\n\tb;\n\tc;\n\td;\n\tX;\n}\n",
	                HEAD
	                "@@ -4,5 +4,5 @@ int f(void)\n \tb;\n \tc;\n \td;\n-\te;\n+\tX;\n }\n");
	expect_computed("f  \n\t1\n}\n", "f  \n\t2\n}\n",
	                HEAD "@@ -1,3 +1,3 @@ f\n f  \n-\t1\n+\t2\n }\n");
	expect_computed("1\n", "2\n", HEAD "@@ -1 +1 @@\n-1\n+2\n");
}
END_TEST

/* ---- what is shown of a diff: where its hunks went ---- */

/* The effect of a diff of one file, as its hunks are placed. -1: it does not fit. */
static int effect(const char *old, const char *text, bool unique, struct str *out)
{
	OWNED(diff) struct diff d = DIFF_INIT;
	OWNED(str) struct str result = STR_INIT;
	struct diff_place places[4];
	const struct diff_how how = { .unique = unique, .places = places };
	struct diff_heading h = { .old_path = "f.c", .new_path = "f.c", .places = places };
	struct err e = ERR_INIT;

	read_diff(text, &d);
	h.place_count = d.files[0].hunk_count;
	if (diff_apply_how(&d.files[0], old, strlen(old), &how, &result, NULL, &e))
		return -1;
	diff_compute_file(&h, old, strlen(old), str_text(&result), result.length, out);
	return 0;
}

static void expect_effect(const char *old, const char *text, const char *want)
{
	OWNED(str) struct str out = STR_INIT;

	ck_assert_int_eq(effect(old, text, false, &out), 0);
	ck_assert_str_eq(str_text(&out), want);
}

START_TEST(a_hunk_that_has_moved_says_from_where_to_where)
{
	expect_effect("0\n0\n0\na\nb\nc\n", HEAD "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n",
	              HEAD "@@ -2,5 +2,5 @@ [moved from line 2 to 5] a\n 0\n 0\n a\n-b\n+B\n c\n");
	expect_effect("a\nb\nc\n", HEAD "@@ -1,3 +1,3 @@ lies()\n a\n-b\n+B\n c\n",
	              HEAD "@@ -1,3 +1,3 @@ a\n a\n-b\n+B\n c\n");
	expect_effect("0\na\n1\n2\n3\n4\n5\n6\n7\nb\n",
	              HEAD "@@ -1 +1 @@\n-a\n+A\n@@ -10 +10 @@\n-b\n+B\n",
	              HEAD "@@ -1,5 +1,5 @@ [moved from line 1 to 2]\n 0\n-a\n+A\n 1\n 2\n 3\n"
	                   "@@ -7,4 +7,4 @@ a\n 5\n 6\n 7\n-b\n+B\n");
	expect_effect("0\na\nb\n", HEAD "@@ -1,0 +2,1 @@\n+x\n",
	              HEAD "@@ -1,3 +1,4 @@\n 0\n+x\n a\n b\n");
}
END_TEST

START_TEST(a_hunk_that_must_be_unique_fits_at_one_line_only)
{
	OWNED(str) struct str out = STR_INIT;

	ck_assert_int_eq(effect("a\nb\n0\nb\n", HEAD "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", true, &out),
	                 0);
	ck_assert_int_eq(effect("a\nb\na\nb\n", HEAD "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", true, &out),
	                 -1);
	ck_assert_int_eq(effect("a\nb\na\nb\n", HEAD "@@ -3,2 +3,2 @@\n a\n-b\n+B\n", true, &out),
	                 -1);
	ck_assert_int_eq(effect("a\nb\n", HEAD "@@ -1,0 +2,1 @@\n+x\n", true, &out), -1);
	ck_assert_int_eq(effect("", HEAD "@@ -0,0 +1,1 @@\n+x\n", true, &out), 0);
}
END_TEST

START_TEST(modes_renames_and_copies_are_in_the_header)
{
	OWNED(str) struct str out = STR_INIT;
	const struct diff_heading run = {
		.old_path = "r", .new_path = "r", .old_mode = 0100644, .new_mode = 0100755
	};
	const struct diff_heading name = { .old_path = "a b", .new_path = "c", .is_rename = true };
	const struct diff_heading copy = { .old_path = "a", .new_path = "c", .is_copy = true };
	const struct diff_heading new = { .new_path = "n", .new_mode = 0100755 };

	diff_compute_file(&run, "x", 1, "x", 1, &out);
	diff_compute_file(&name, "1\n", 2, "2\n", 2, &out);
	diff_compute_file(&copy, "x", 1, "x", 1, &out);
	diff_compute_file(&new, NULL, 0, "x\n", 2, &out);
	ck_assert_str_eq(
	    out.bytes, "diff --git a/r b/r\nold mode 100644\nnew mode 100755\n"
	               "diff --git a/a b b/c\nrename from a b\nrename to c\n--- a/a b\t\n+++ b/c\n"
	               "@@ -1 +1 @@\n-1\n+2\n"
	               "diff --git a/a b/c\ncopy from a\ncopy to c\n"
	               "diff --git a/n b/n\nnew file mode 100755\n--- /dev/null\n+++ b/n\n"
	               "@@ -0,0 +1 @@\n+x\n");
	ck_assert(diff_is_same(out.bytes, out.length, out.bytes, out.length));
}
END_TEST

static bool is_same(const char *a, const char *b)
{
	return diff_is_same(a, strlen(a), b, strlen(b));
}

START_TEST(effects_are_the_same_wherever_their_lines_are)
{
	static const char here[] = HEAD "@@ -2,2 +2,2 @@ f\n x\n-a\n+b\n";

	ck_assert(is_same(here, here));
	ck_assert(is_same(here, HEAD "@@ -9,2 +9,2 @@ [moved from line 2 to 9] f\n y\n-a\n+b\n"));
	ck_assert(!is_same(here, HEAD "@@ -2,2 +2,2 @@ g\n x\n-a\n+b\n"));
	ck_assert(!is_same(here, HEAD "@@ -2,2 +2,2 @@ f\n x\n-a\n+c\n"));
	ck_assert(!is_same(here, HEAD "@@ -2,2 +2,3 @@ f\n x\n-a\n+b\n+c\n"));
	ck_assert(!is_same(here, "--- a/g.c\n+++ b/g.c\n@@ -2,2 +2,2 @@ f\n x\n-a\n+b\n"));
	ck_assert(!is_same(here, HEAD "@@ -2,2 +2,2 @@ f\n x\n-a\n+b\n@@ -9 +9 @@ f\n-q\n+r\n"));
}
END_TEST

START_TEST(odd_names_are_written_so_that_they_are_read_back)
{
	static const char *const names[] = { "a b", "x\ty",     "q\"\\",   "a/b/c",
		                             "b/x", "\303\244", "dev/null" };

	for (size_t i = 0; i < COUNT(names); i++) {
		OWNED(diff) struct diff d = DIFF_INIT;
		OWNED(diff) struct diff empty = DIFF_INIT;
		OWNED(str) struct str text = STR_INIT;

		diff_compute(names[i], "a\n", 2, "b\n", 2, &text);
		read_diff(str_text(&text), &d);
		ck_assert_str_eq(d.files[0].old_path, names[i]);
		ck_assert_str_eq(d.files[0].new_path, names[i]);
		str_reset(&text);
		diff_compute(names[i], NULL, 0, "", 0, &text);
		read_diff(str_text(&text), &empty);
		ck_assert(empty.files[0].is_create);
		ck_assert_str_eq(empty.files[0].new_path, names[i]);
	}
}
END_TEST

/* A text of few different lines, so that much of it is equal by chance. */
static void random_text(struct str *text, unsigned lines)
{
	static const char *const words[] = { "a\n",  "b\n",    "c\n", "\n",      "a\r\n",
		                             "\r\n", "-- x\n", "+\n", "\\ No\n", "@@ -1 +1 @@\n" };

	for (unsigned i = (unsigned)rand() % (lines + 1); i > 0; i--)
		str_add(text, words[(unsigned)rand() % COUNT(words)]);
	if (rand() % 4 == 0)
		str_add(text, rand() % 2 ? "end" : "end\r");
}

/* Some lines of old left out, some put in. */
static void random_edit(const struct str *old, struct str *text)
{
	for (size_t at = 0; at < old->length;) {
		const char *newline = memchr(old->bytes + at, '\n', old->length - at);
		size_t size = newline ? (size_t)(newline - old->bytes) + 1 - at : old->length - at;

		if (rand() % 8 == 0)
			str_add(text, rand() % 2 ? "new\n" : "a\n");
		if (rand() % 8 != 0)
			str_add_bytes(text, old->bytes + at, size);
		at += size;
	}
}

static void expect_round_trip(const struct str *old, const struct str *text)
{
	OWNED(diff) struct diff d = DIFF_INIT;
	OWNED(str) struct str patch = STR_INIT;
	OWNED(str) struct str result = STR_INIT;
	struct err e = ERR_INIT;

	diff_compute("f.c", str_text(old), old->length, str_text(text), text->length, &patch);
	if (patch.length == 0) {
		ck_assert_str_eq(str_text(old), str_text(text));
		return;
	}
	ck_assert_msg(diff_parse(patch.bytes, patch.length, &d, &e) == 0, "%s", e.text);
	ck_assert_msg(
	    !diff_apply_file(&d.files[0], str_text(old), old->length, 0, &result, NULL, &e), "%s",
	    e.text);
	ck_assert_uint_eq(result.length, text->length);
	ck_assert_str_eq(str_text(&result), str_text(text));
}

START_TEST(a_computed_diff_applied_gives_the_new_text)
{
	srand(1);
	for (int i = 0; i < ROUNDS; i++) {
		OWNED(str) struct str old = STR_INIT;
		OWNED(str) struct str text = STR_INIT;

		random_text(&old, i % 60);
		if (i % 3 == 0)
			random_text(&text, i % 60);
		else
			random_edit(&old, &text);
		expect_round_trip(&old, &text);
	}
}
END_TEST

/* ---- size ---- */

static void expect_fast(const struct str *old, const struct str *text)
{
	clock_t start = clock();

	expect_round_trip(old, text);
	ck_assert_msg(clock() - start < FAST_SECONDS * CLOCKS_PER_SEC, "%.1f s",
	              (double)(clock() - start) / CLOCKS_PER_SEC);
}

START_TEST(four_mebibytes_are_compared_fast)
{
	OWNED(str) struct str old = STR_INIT;
	OWNED(str) struct str text = STR_INIT;
	OWNED(str) struct str other = STR_INIT;
	OWNED(str) struct str coins = STR_INIT;
	OWNED(str) struct str more_coins = STR_INIT;

	srand(2);
	for (int i = 0; old.length < BIG_BYTES; i++)
		str_addf(&old, "line number %d\n", i);
	random_edit(&old, &text);
	while (other.length < BIG_BYTES)
		str_addf(&other, "%d\n", rand() % 1000);
	while (coins.length < BIG_BYTES) {
		str_add(&coins, rand() % 2 ? "0\n" : "1\n");
		str_add(&more_coins, rand() % 2 ? "0\n" : "1\n");
	}
	expect_fast(&old, &text);
	expect_fast(&old, &other);
	expect_fast(&coins, &more_coins);
}
END_TEST

START_TEST(lines_that_are_all_the_same_are_compared_fast)
{
	OWNED(str) struct str old = STR_INIT;
	OWNED(str) struct str text = STR_INIT;

	while (old.length < BIG_BYTES)
		str_add(&old, "\n");
	random_edit(&old, &text);
	expect_fast(&old, &text);
}
END_TEST

START_TEST(a_hunk_that_fits_nowhere_is_given_up_fast)
{
	OWNED(str) struct str old = STR_INIT;
	OWNED(str) struct str text = STR_INIT;
	struct err e = ERR_INIT;
	clock_t start = clock();

	while (old.length < BIG_BYTES)
		str_add(&old, "\n");
	str_add(&old, "x\n");
	str_add(&text, HEAD "@@ -1,200001 +1,200000 @@\n");
	for (int i = 0; i < 100000; i++)
		str_add(&text, " \n");
	str_add(&text, "-x\n");
	for (int i = 0; i < 100000; i++)
		str_add(&text, " \n");
	ck_assert_ptr_null(applied(str_text(&old), str_text(&text), &e));
	ck_assert_ptr_nonnull(strstr(e.text, "expected \"x\", found \"\""));
	ck_assert(clock() - start < FAST_SECONDS * CLOCKS_PER_SEC);
}
END_TEST

/* ---- peers ---- */

static void write_file(const char *name, const struct str *content)
{
	FILE *file = fopen(name, "we");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(str_text(content), 1, content->length, file), content->length);
	ck_assert_int_eq(fclose(file), 0);
}

static void read_file(const char *name, struct str *content)
{
	FILE *file = fopen(name, "re");
	int c;

	ck_assert_ptr_nonnull(file);
	while ((c = fgetc(file)) != EOF)
		str_add_char(content, (char)c);
	ck_assert_int_eq(fclose(file), 0);
}

/* An empty directory of ours to work in; system() runs there. */
static void enter_scratch(char *name)
{
	ck_assert_ptr_nonnull(mkdtemp(name));
	ck_assert_int_eq(chdir(name), 0);
}

static void leave_scratch(const char *name)
{
	OWNED(str) struct str command = STR_INIT;

	ck_assert_int_eq(chdir("/"), 0);
	str_addf(&command, "rm -rf %s", name);
	ck_assert_int_eq(system(str_text(&command)), 0);
}

/* Two random texts of which the second is the first edited; both as files too. */
static void make_pair(struct str *old, struct str *text)
{
	random_text(old, 60);
	str_add(old, "\n"); /* not empty: git wants /dev/null then */
	random_edit(old, text);
	str_add(text, "\n");
	write_file("old", old);
	write_file("new", text);
}

START_TEST(git_and_patch_apply_what_we_compute)
{
	char scratch[] = "/tmp/test_diff.XXXXXX";

	enter_scratch(scratch);
	srand(3);
	for (int i = 0; i < PEER_ROUNDS; i++) {
		OWNED(str) struct str old = STR_INIT;
		OWNED(str) struct str text = STR_INIT;
		OWNED(str) struct str patch = STR_INIT;

		make_pair(&old, &text);
		diff_compute("f.c", str_text(&old), old.length, str_text(&text), text.length,
		             &patch);
		if (patch.length == 0)
			continue;
		write_file("diff", &patch);
		ck_assert_int_eq(
		    system("cp old f.c && git apply --whitespace=nowarn diff && cmp f.c new"), 0);
		ck_assert_int_eq(system("cp old f.c && patch --binary -s -p1 <diff && cmp f.c new"),
		                 0);
	}
	leave_scratch(scratch);
}
END_TEST

START_TEST(we_apply_what_git_and_diff_compute)
{
	static const char *const makers[] = {
		"diff -u old new >diff", "diff -U0 old new >diff", "diff -u1 old new >diff",
		"git -c core.autocrlf=false diff --no-index --patience old new >diff",
		"git -c core.autocrlf=false diff --no-index -U10 old new >diff"
	};
	char scratch[] = "/tmp/test_diff.XXXXXX";

	enter_scratch(scratch);
	srand(4);
	for (int i = 0; i < PEER_ROUNDS; i++) {
		OWNED(diff) struct diff d = DIFF_INIT;
		OWNED(str) struct str old = STR_INIT;
		OWNED(str) struct str text = STR_INIT;
		OWNED(str) struct str patch = STR_INIT;
		OWNED(str) struct str result = STR_INIT;
		struct err e = ERR_INIT;

		make_pair(&old, &text);
		if (system(makers[(size_t)i % COUNT(makers)]) == 0) /* no difference */
			continue;
		if (i % 5 > 2) /* two names and no rename: made one */
			ck_assert_int_eq(system("sed -i 's/b.new$/b\\/old/' diff"), 0);
		read_file("diff", &patch);
		ck_assert_msg(diff_parse(patch.bytes, patch.length, &d, &e) == 0, "%s\n%s", e.text,
		              patch.bytes);
		ck_assert_msg(diff_apply_file(&d.files[0], str_text(&old), old.length, 0, &result,
		                              NULL, &e) == 0,
		              "%s\n%s", e.text, patch.bytes);
		ck_assert_str_eq(str_text(&result), str_text(&text));
	}
	leave_scratch(scratch);
}
END_TEST

START_TEST(a_git_commit_of_everything_is_read)
{
	static const char commands[] =
	    "exec 2>/dev/null; export HOME=$PWD GIT_CONFIG_NOSYSTEM=1; git init -q r && cd r && "
	    "git config user.name n && git config user.email e@x && "
	    "seq 50 >moved && echo a >'with space' && : >empty && echo b >gone && echo x >mode && "
	    "printf 'no end' >tail && git add . && git commit -qm one && "
	    "git mv moved 'dir name' && sed -i 's/^25$/x/' 'dir name' && echo c >>'with space' && "
	    "git rm -q empty gone && chmod +x mode && printf 'no end either' >tail && "
	    "echo q >$(printf 'quo\\tted') && : >'new empty' && git add . && git commit -qm two && "
	    "git format-patch -M --no-rename-empty -1 --stdout >../diff";
	char scratch[] = "/tmp/test_diff.XXXXXX";
	OWNED(diff) struct diff d = DIFF_INIT;
	OWNED(str) struct str patch = STR_INIT;
	size_t created = 0, deleted = 0, renamed = 0, modes = 0;

	enter_scratch(scratch);
	ck_assert_int_eq(system(commands), 0);
	read_file("diff", &patch);
	read_diff(patch.bytes, &d);
	for (size_t i = 0; i < d.file_count; i++) {
		created += d.files[i].is_create;
		deleted += d.files[i].is_delete;
		renamed += d.files[i].is_rename;
		modes += d.files[i].old_mode == 0100644 && d.files[i].new_mode == 0100755;
	}
	ck_assert_uint_eq(d.file_count, 8);
	ck_assert_uint_eq(created, 2);
	ck_assert_uint_eq(deleted, 2);
	ck_assert_uint_eq(renamed, 1);
	ck_assert_uint_eq(modes, 1);
	leave_scratch(scratch);
}
END_TEST

static void add_peers(Suite *suite)
{
	TCase *peers = tcase_create("peers");

	tcase_set_timeout(peers, 60);
	tcase_add_test(peers, git_and_patch_apply_what_we_compute);
	tcase_add_test(peers, we_apply_what_git_and_diff_compute);
	tcase_add_test(peers, a_git_commit_of_everything_is_read);
	suite_add_tcase(suite, peers);
}

static void add_reading(Suite *suite)
{
	TCase *reading = tcase_create("reading");

	tcase_add_test(reading, only_two_beginnings_look_like_a_diff);
	tcase_add_test(reading, a_plain_diff_gives_names_and_hunks);
	tcase_add_test(reading, a_git_diff_of_many_files_says_what_happens_to_each);
	tcase_add_test(reading, quoted_names_are_decoded);
	tcase_add_test(reading, prefixes_are_taken_off_only_when_they_are_prefixes);
	tcase_add_test(reading, a_diff_that_cannot_be_taken_says_why);
	tcase_add_test(reading, a_git_header_that_names_another_file_is_refused);
	tcase_add_test(reading, a_git_header_of_a_move_has_both_of_its_names);
	tcase_add_test(reading, wrong_counts_name_the_hunk_and_what_it_really_has);
	suite_add_tcase(suite, reading);
}

static void add_applying(Suite *suite)
{
	TCase *applying = tcase_create("applying");

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
	suite_add_tcase(suite, applying);
}

static void add_computing(Suite *suite)
{
	TCase *computing = tcase_create("computing");

	tcase_set_timeout(computing, 60);
	tcase_add_test(computing, equal_texts_have_no_diff);
	tcase_add_test(computing, a_change_shows_with_three_lines_of_context);
	tcase_add_test(computing, changes_six_lines_apart_share_a_hunk);
	tcase_add_test(computing, new_and_deleted_files_are_dev_null_on_one_side);
	tcase_add_test(computing, an_added_function_shows_with_its_own_brace);
	tcase_add_test(
	    computing,
	    the_section_of_a_hunk_is_the_last_line_before_its_change_that_begins_with_a_letter);
	tcase_add_test(computing, a_hunk_that_has_moved_says_from_where_to_where);
	tcase_add_test(computing, a_hunk_that_must_be_unique_fits_at_one_line_only);
	tcase_add_test(computing, modes_renames_and_copies_are_in_the_header);
	tcase_add_test(computing, effects_are_the_same_wherever_their_lines_are);
	tcase_add_test(computing, odd_names_are_written_so_that_they_are_read_back);
	tcase_add_test(computing, a_computed_diff_applied_gives_the_new_text);
	tcase_add_test(computing, four_mebibytes_are_compared_fast);
	tcase_add_test(computing, lines_that_are_all_the_same_are_compared_fast);
	tcase_add_test(computing, a_hunk_that_fits_nowhere_is_given_up_fast);
	suite_add_tcase(suite, computing);
}

int main(void)
{
	Suite *suite = suite_create("diff");

	add_reading(suite);
	add_applying(suite);
	add_computing(suite);
	add_peers(suite);
	return run_suite(suite);
}
