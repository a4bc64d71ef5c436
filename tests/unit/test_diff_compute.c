/* diff: reading, applying and computing unified diffs; git, diff and patch are asked as well. */
#include "diff_case.h"

#ifdef __SANITIZE_ADDRESS__
enum { FAST_SECONDS = 30 }; /* sanitizers take several times as long */
#else
enum { FAST_SECONDS = 5 };
#endif
enum { ROUNDS = 3000, PEER_ROUNDS = 60, BIG_BYTES = 4 << 20 };

/* ---- computing ---- */

static void expect_computed(const char *old, const char *new_text, const char *want)
{
	OWNED(str) struct str text = { 0 };

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
	OWNED(diff) struct diff d = { 0 };
	OWNED(str) struct str result = { 0 };
	struct diff_place places[4];
	const struct diff_how how = { .unique = unique, .places = places };
	struct diff_heading h = { .old_path = "f.c", .new_path = "f.c", .places = places };
	struct err e = { 0 };

	read_diff(text, &d);
	h.place_count = d.files[0].hunk_count;
	if (diff_apply(&d.files[0], old, strlen(old), &how, &result, &e))
		return -1;
	diff_compute_file(&h, old, strlen(old), str_text(&result), result.length, out);
	return 0;
}

static void expect_effect(const char *old, const char *text, const char *want)
{
	OWNED(str) struct str out = { 0 };

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
	OWNED(str) struct str out = { 0 };

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
	OWNED(str) struct str out = { 0 };
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
		OWNED(diff) struct diff d = { 0 };
		OWNED(diff) struct diff empty = { 0 };
		OWNED(str) struct str text = { 0 };

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
	OWNED(diff) struct diff d = { 0 };
	OWNED(str) struct str patch = { 0 };
	OWNED(str) struct str result = { 0 };
	struct err e = { 0 };

	diff_compute("f.c", str_text(old), old->length, str_text(text), text->length, &patch);
	if (patch.length == 0) {
		ck_assert_str_eq(str_text(old), str_text(text));
		return;
	}
	ck_assert_msg(diff_parse(patch.bytes, patch.length, &d, &e) == 0, "%s", e.text);
	ck_assert_msg(!diff_apply(&d.files[0], str_text(old), old->length, NULL, &result, &e), "%s",
	              e.text);
	ck_assert_uint_eq(result.length, text->length);
	ck_assert_str_eq(str_text(&result), str_text(text));
}

START_TEST(a_computed_diff_applied_gives_the_new_text)
{
	srand(1);
	for (int i = 0; i < ROUNDS; i++) {
		OWNED(str) struct str old = { 0 };
		OWNED(str) struct str text = { 0 };

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
	OWNED(str) struct str old = { 0 };
	OWNED(str) struct str text = { 0 };
	OWNED(str) struct str other = { 0 };
	OWNED(str) struct str coins = { 0 };
	OWNED(str) struct str more_coins = { 0 };

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
	OWNED(str) struct str old = { 0 };
	OWNED(str) struct str text = { 0 };

	while (old.length < BIG_BYTES)
		str_add(&old, "\n");
	random_edit(&old, &text);
	expect_fast(&old, &text);
}
END_TEST

START_TEST(a_hunk_that_fits_nowhere_is_given_up_fast)
{
	OWNED(str) struct str old = { 0 };
	OWNED(str) struct str text = { 0 };
	struct err e = { 0 };
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
	OWNED(str) struct str command = { 0 };

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
		OWNED(str) struct str old = { 0 };
		OWNED(str) struct str text = { 0 };
		OWNED(str) struct str patch = { 0 };

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
		OWNED(diff) struct diff d = { 0 };
		OWNED(str) struct str old = { 0 };
		OWNED(str) struct str text = { 0 };
		OWNED(str) struct str patch = { 0 };
		OWNED(str) struct str result = { 0 };
		struct err e = { 0 };

		make_pair(&old, &text);
		if (system(makers[(size_t)i % COUNT(makers)]) == 0) /* no difference */
			continue;
		if (i % 5 > 2) /* two names and no rename: made one */
			ck_assert_int_eq(system("sed -i 's/b.new$/b\\/old/' diff"), 0);
		read_file("diff", &patch);
		ck_assert_msg(diff_parse(patch.bytes, patch.length, &d, &e) == 0, "%s\n%s", e.text,
		              patch.bytes);
		ck_assert_msg(
		    diff_apply(&d.files[0], str_text(&old), old.length, NULL, &result, &e) == 0,
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
	OWNED(diff) struct diff d = { 0 };
	OWNED(str) struct str patch = { 0 };
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

int main(void)
{
	Suite *s = suite_create("diff_compute");
	TCase *computing = tcase_create("computing");
	TCase *peers = tcase_create("peers");

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
	suite_add_tcase(s, computing);
	tcase_set_timeout(peers, 60);
	tcase_add_test(peers, git_and_patch_apply_what_we_compute);
	tcase_add_test(peers, we_apply_what_git_and_diff_compute);
	tcase_add_test(peers, a_git_commit_of_everything_is_read);
	suite_add_tcase(s, peers);
	return run_suite(s);
}
