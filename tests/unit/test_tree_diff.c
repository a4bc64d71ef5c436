/* What changed between two manifests, for people. */
#include "harness.h"
#include "suite.h"
#include "tree_diff.h"
#include "walk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char ws[1000];
static struct err e;

static void sh(const char *line)
{
	char command[4000];

	(void)snprintf(command, sizeof(command), "umask 022; cd '%s' && { %s\n}", ws, line);
	MUST(system(command) == 0, "%s", line); /* NOLINT(cert-env33-c) */
}

static struct sha256 take(struct objects *o)
{
	const struct walk_options options = { .most_files = 1000, .most_bytes = 1 << 30 };
	struct walk_result r;

	MUST(walk_workspace(ws, o, &options, &r, &e) == 0, "%s", e.text);
	return r.manifest;
}

static void compare(const struct objects *o, struct sha256 before, struct sha256 after, size_t most,
                    const char *expected)
{
	OWNED(manifest) struct manifest a = { 0 };
	OWNED(manifest) struct manifest b = { 0 };
	OWNED(str) struct str out = { 0 };

	ck_assert_int_eq(manifest_open(o, before.text, &a, &e), 0);
	ck_assert_int_eq(manifest_open(o, after.text, &b, &e), 0);
	MUST(tree_diff(&a, &b, most, &out, &e) == 0, "%s", e.text);
	ck_assert_str_eq(str_text(&out), expected);
}

static void fresh(struct objects *o)
{
	OWNED(char_ptr) char *real = realpath(scratch(), NULL);
	char folder[1100];

	(void)snprintf(ws, sizeof(ws), "%.900s/ws", real);
	(void)snprintf(folder, sizeof(folder), "%.900s/o", real);
	ck_assert_int_eq(mkdir(ws, 0755), 0);
	MUST(objects_open(folder, true, o, &e) == 0, "%s", e.text);
}

START_TEST(text_is_a_diff_and_all_else_a_line)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	struct sha256 before, after;

	fresh(&o);
	sh("printf 'a\\nb\\n' >text; printf 'a\\0b' >binary; ln -s text link; : >mode; : >gone;"
	   "mkdir dir");
	before = take(&o);
	sh("printf 'a\\nc\\n' >text; printf 'a\\0bc' >binary; ln -sfn mode link; chmod 755 mode;"
	   "rm gone; rmdir dir; echo new >new");
	after = take(&o);
	compare(&o, before, after, 10000,
	        "binary (binary or long): a file of 3 bytes, mode 644 -> a file of 4 bytes, mode "
	        "644\n"
	        "dir: a folder, mode 755 -> nothing\n"
	        "diff --git a/gone b/gone\ndeleted file mode 100644\n"
	        "link: a link to text -> a link to mode\n"
	        "mode: a file of 0 bytes, mode 644 -> a file of 0 bytes, mode 755\n"
	        "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+new\n"
	        "--- a/text\n+++ b/text\n@@ -1,2 +1,2 @@ a\n a\n-b\n+c\n");
	compare(&o, before, before, 10000, "");
	compare(&o, before, after, 10,
	        "binary (binary or long): a file of 3 bytes, mode 644 -> a file of 4 bytes, mode "
	        "644\n... and more\n");
}
END_TEST

START_TEST(a_mode_is_told_where_it_changes_and_of_a_new_file_that_can_be_run)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	struct sha256 before, after;

	fresh(&o);
	sh("echo 1 >a; echo 1 >b; chmod 4755 b; echo 1 >gone; chmod 755 gone");
	before = take(&o);
	sh("echo 2 >a; chmod 755 a; echo 2 >b; chmod 755 b; rm gone; echo x >n; chmod 4777 n;"
	   "echo x >plain; chmod 600 plain");
	after = take(&o);
	compare(&o, before, after, 10000,
	        "a: a file of 2 bytes, mode 644 -> a file of 2 bytes, mode 755\n"
	        "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n"
	        "b: a file of 2 bytes, mode 4755 -> a file of 2 bytes, mode 755\n"
	        "--- a/b\n+++ b/b\n@@ -1 +1 @@\n-1\n+2\n"
	        "--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n"
	        "n: nothing -> a file of 2 bytes, mode 4777\n"
	        "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n"
	        "--- /dev/null\n+++ b/plain\n@@ -0,0 +1 @@\n+x\n");
}
END_TEST

/* git would read these names so. */
START_TEST(what_is_not_utf8_is_escaped_in_names_and_not_shown_in_files)
{
	OWNED(objects) struct objects o = OBJECTS_INIT;
	struct sha256 before, after;

	fresh(&o);
	sh("printf 'caf\\351\\n' >latin; printf 'a\\n' >text; ln -s \"$(printf 'x\\377')\" link");
	before = take(&o);
	sh("printf 'th\\351\\n' >latin; printf 'b\\n' >text; ln -sfn \"$(printf 'y\\377')\" link;"
	   "echo new >\"$(printf 'bad\\377name')\"; mkdir \"$(printf 'dir\\377')\"");
	after = take(&o);
	compare(&o, before, after, 10000,
	        "--- /dev/null\n+++ \"b/bad\\377name\"\n@@ -0,0 +1 @@\n+new\n"
	        "dir\\xff: nothing -> a folder, mode 755\n"
	        "latin (no text in UTF-8): a file of 5 bytes, mode 644 -> a file of 4 bytes, mode "
	        "644\n"
	        "link: a link to x\\xff -> a link to y\\xff\n"
	        "--- a/text\n+++ b/text\n@@ -1 +1 @@\n-a\n+b\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tree_diff");
	TCase *t = tcase_create("tree_diff");

	tcase_add_test(t, text_is_a_diff_and_all_else_a_line);
	tcase_add_test(t, a_mode_is_told_where_it_changes_and_of_a_new_file_that_can_be_run);
	tcase_add_test(t, what_is_not_utf8_is_escaped_in_names_and_not_shown_in_files);
	suite_add_tcase(s, t);
	return run_suite(s);
}
