/* What is approved is what is written: hunks that go elsewhere, and force. */
#include "attack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 200 };

static const char HUNK[] = "--- a/auth.c\n+++ b/auth.c\n@@ -1,3 +1,3 @@ test_helper()\n {\n"
                           "-\treturn false;\n+\treturn true;\n }\n";

/* test_helper() with another body, far above is_admin() with the lines of the hunk. */
static char *two_functions(void)
{
	struct str text = { 0 };

	str_add(&text, "int test_helper(void)\n{\n\treturn 0;\n}\n");
	for (int i = 0; i < LINES; i++)
		str_addf(&text, "/* %d */\n", i);
	str_add(&text, "bool is_admin(void)\n{\n\treturn false;\n}\n");
	return str_take(&text);
}

/* ---- where a hunk goes ---- */

START_TEST(a_hunk_that_goes_elsewhere_than_it_says_is_shown_where_it_goes)
{
	OWNED(char_ptr) char *old = two_functions();
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *shown = NULL;
	OWNED(char_ptr) char *sent = NULL;
	OWNED(str) struct str said = { 0 };

	attack_begin(NULL, NULL);
	attack_file("auth.c", old);
	answer = attack_ask("auth.c", HUNK);
	has(answer, "status", "pending");
	shown = attack_shown();
	says(shown, "@@ -204,5 +204,5 @@ [moved from line 2 to 207] bool is_admin(void)");
	ck_assert_ptr_null(strstr(shown, "test_helper"));
	ck_assert_int_eq(ctl(&said, "--text show --sent %s", member(answer, "request_id")), 0);
	says(said.bytes, "@@ -1,3 +1,3 @@ test_helper()");
	attack_end();
}
END_TEST

START_TEST(what_a_hunk_says_of_lines_and_sections_is_not_believed)
{
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *shown = NULL;

	attack_begin(NULL, NULL);
	attack_file("auth.c", "int is_admin(void)\n{\n\treturn false;\n}\n");
	answer = attack_ask("auth.c",
	                    "--- a/auth.c\n+++ b/auth.c\n@@ -2,3 +2,3 @@ a_test(), harmless\n {\n"
	                    "-\treturn false;\n+\treturn true;\n }\n");
	has(answer, "status", "pending");
	shown = attack_shown();
	says(shown, "@@ -1,4 +1,4 @@ int is_admin(void)");
	ck_assert_ptr_null(strstr(shown, "harmless"));
	attack_end();
}
END_TEST

START_TEST(a_hunk_that_fits_twice_equally_near_is_refused)
{
	OWNED(char_ptr) char *answer = NULL;

	attack_begin(NULL, NULL);
	attack_file("auth.c", "a\n{\n\treturn false;\n}\n\n\nb\n{\n\treturn false;\n}\n");
	answer = attack_ask("auth.c", "--- a/auth.c\n+++ b/auth.c\n@@ -5,3 +5,3 @@\n {\n"
	                              "-\treturn false;\n+\treturn true;\n }\n");
	has(answer, "error_code", "patch_conflict");
	says(member(answer, "error_message"), "fits at line 2 and at line 8");
	attack_end();
}
END_TEST

START_TEST(a_rename_or_a_mode_in_a_diff_is_shown_with_its_lines)
{
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *shown = NULL;

	attack_begin(NULL, NULL);
	attack_file("a.sh", "one\n");
	attack_file("key", "secret\n");
	answer = attack_ask("a.sh", "diff --git a/a.sh b/b.sh\nold mode 100644\nnew mode 100755\n"
	                            "rename from a.sh\nrename to b.sh\n"
	                            "diff --git a/key b/key\ndeleted file mode 100644\n--- a/key\n"
	                            "+++ /dev/null\n@@ -1 +0,0 @@\n-secret\n");
	has(answer, "status", "pending");
	shown = attack_shown();
	says(shown, "new mode 100755");
	says(shown, "rename to b.sh");
	says(shown, "-secret");
	attack_end();
}
END_TEST

/* ---- force ---- */

START_TEST(force_moves_no_approved_hunk_into_another_function)
{
	OWNED(char_ptr) char *id = NULL;

	attack_begin(NULL, NULL);
	attack_file("auth.c", "int test_helper(void)\n{\n\treturn false;\n}\n");
	id = attack_approved("auth.c", HUNK);
	attack_file("auth.c", "int test_helper(void)\n{\n\treturn 0;\n}\n"
	                      "bool is_admin(void)\n{\n\treturn false;\n}\n");
	attack_refused(id, false, "patch_conflict", "has changed since the proposal");
	attack_refused(id, true, "patch_conflict", "not what was approved");
	attack_file("auth.c", "int test_helper(void)\n{\n\treturn false;\n}\n"
	                      "bool is_admin(void)\n{\n\treturn false;\n}\n");
	attack_refused(id, true, "patch_conflict", "fits in more than one place");
	attack_end();
}
END_TEST

START_TEST(force_does_what_was_approved_where_a_person_changed_other_lines)
{
	OWNED(char_ptr) char *written = NULL;
	OWNED(char_ptr) char *id = NULL;

	attack_begin(NULL, NULL);
	attack_file("auth.c", "int test_helper(void)\n{\n\treturn false;\n}\n");
	id = attack_approved("auth.c", HUNK);
	attack_file("auth.c", "/* mine */\nint test_helper(void)\n{\n\treturn false;\n}\n");
	written = attack_write(id, true);
	has(written, "status", "applied");
	says(member(written, "warning"), "force");
	attack_reads("auth.c", "/* mine */\nint test_helper(void)\n{\n\treturn true;\n}\n");
	expect("SELECT forced FROM apply", "1\n");
	expect("SELECT json_extract(detail, '$.forced') FROM event WHERE kind = 'apply.applied'",
	       "1\n");
	attack_end();
}
END_TEST

START_TEST(the_log_says_which_writes_were_forced)
{
	OWNED(char_ptr) char *id = NULL;
	OWNED(char_ptr) char *forced = NULL;
	OWNED(char_ptr) char *plain = NULL;
	OWNED(str) struct str said = { 0 };
	char line[64];

	attack_begin(NULL, NULL);
	attack_file("a.txt", "one\n");
	id = attack_approved("a.txt", "two\n");
	attack_file("a.txt", "a person's work\n");
	forced = attack_write(id, true);
	has(forced, "status", "applied");
	char_ptr_clear(&id);
	id = attack_approved("b.txt", "new\n");
	plain = attack_write(id, true); /* nothing had changed */
	has(plain, "status", "applied");
	ck_assert_int_eq(ctl(&said, "log --text"), 0);
	says(str_text(&said),
	     " a change (a.txt), by force over a file that had changed, applier\n");
	says(str_text(&said), " a change (b.txt), applier\n");
	(void)snprintf(line, sizeof(line), "apply.applied        %.13s", id);
	says(str_text(&said), line);
	attack_end();
}
END_TEST

START_TEST(force_deletes_no_lines_that_nobody_saw)
{
	OWNED(char_ptr) char *id = NULL;

	attack_begin(NULL, NULL);
	attack_file("a.txt", "one\n");
	id = attack_approved("a.txt", "diff --git a/a.txt b/a.txt\ndeleted file mode 100644\n"
	                              "--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n");
	attack_file("a.txt", "one\ntwo\n");
	attack_refused(id, true, "patch_conflict", "patch conflict: a.txt");
	attack_reads("a.txt", "one\ntwo\n");
	attack_end();
}
END_TEST

START_TEST(whole_content_is_forced_and_what_it_overwrote_comes_back)
{
	OWNED(char_ptr) char *written = NULL;
	OWNED(char_ptr) char *id = NULL;
	OWNED(str) struct str said = { 0 };

	attack_begin(NULL, "undo_limit_bytes = 1\n");
	attack_file("a.txt", "one\n");
	id = attack_approved("a.txt", "two\n");
	attack_file("a.txt", "a person's work\n");
	written = attack_write(id, true);
	has(written, "status", "applied");
	attack_reads("a.txt", "two\n");
	ck_assert_int_eq(ctl(&said, "undo %s", id), 0);
	attack_reads("a.txt", "a person's work\n");
	attack_end();
}
END_TEST

START_TEST(an_operator_who_forbids_force_is_obeyed)
{
	OWNED(char_ptr) char *id = NULL;

	attack_begin(NULL, "[apply]\nforce = \"never\"\n");
	attack_file("a.txt", "one\n");
	id = attack_approved("a.txt", "two\n");
	attack_file("a.txt", "a person's work\n");
	attack_refused(id, true, "patch_conflict", "apply.force");
	attack_reads("a.txt", "a person's work\n");
	attack_end();
}
END_TEST

/* The operator of a system that asks before anything is forced. */
static char *given_a_changed_file(void)
{
	char *id;

	attack_begin(NULL, "[apply]\nforce = \"ask\"\n");
	attack_file("a.txt", "one\n");
	id = attack_approved("a.txt", "two\n");
	attack_file("a.txt", "a person's work\n");
	return id;
}

static void given_force_is_asked_about(const char *id)
{
	OWNED(char_ptr) char *first = attack_write_once(id, true);
	OWNED(char_ptr) char *waiting = NULL;

	has(first, "status", "pending");
	expect_soon("SELECT count(*) FROM request", "2\n");
	waiting = attack_write_once(id, true);
	has(waiting, "status", "pending");
	says(member(waiting, "message"), "the operator is asked");
}

START_TEST(an_operator_who_is_asked_about_force_sees_what_it_does_now)
{
	OWNED(char_ptr) char *id = given_a_changed_file();
	OWNED(char_ptr) char *shown = NULL;
	OWNED(char_ptr) char *written = NULL;

	given_force_is_asked_about(id);
	shown = attack_shown();
	says(shown, "By force: ");
	says(shown, "-a person's work");
	attack_reads("a.txt", "a person's work\n");
	approve_all();
	written = attack_write(id, true);
	has(written, "status", "applied");
	attack_reads("a.txt", "two\n");
	expect("SELECT state FROM request ORDER BY seq", "consumed\nconsumed\n");
	attack_end();
}
END_TEST

START_TEST(force_that_was_rejected_writes_nothing)
{
	OWNED(char_ptr) char *id = given_a_changed_file();

	given_force_is_asked_about(id);
	decide_all("reject");
	expect_soon("SELECT state FROM apply", "refused\n");
	attack_refused(id, true, "not_approved", "force was rejected");
	attack_reads("a.txt", "a person's work\n");
	attack_end();
}
END_TEST

START_TEST(a_file_that_changes_again_while_force_is_asked_about_is_not_written)
{
	OWNED(char_ptr) char *id = given_a_changed_file();

	given_force_is_asked_about(id);
	attack_file("a.txt", "more of a person's work\n");
	approve_all();
	expect_soon("SELECT state, error_code FROM apply", "refused|patch_conflict\n");
	attack_reads("a.txt", "more of a person's work\n");
	attack_end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("attack_hunks");
	TCase *c = store_case(s, "hunks", 120);

	tcase_add_test(c, a_hunk_that_goes_elsewhere_than_it_says_is_shown_where_it_goes);
	tcase_add_test(c, what_a_hunk_says_of_lines_and_sections_is_not_believed);
	tcase_add_test(c, a_hunk_that_fits_twice_equally_near_is_refused);
	tcase_add_test(c, a_rename_or_a_mode_in_a_diff_is_shown_with_its_lines);
	tcase_add_test(c, force_moves_no_approved_hunk_into_another_function);
	tcase_add_test(c, force_does_what_was_approved_where_a_person_changed_other_lines);
	tcase_add_test(c, the_log_says_which_writes_were_forced);
	tcase_add_test(c, force_deletes_no_lines_that_nobody_saw);
	tcase_add_test(c, whole_content_is_forced_and_what_it_overwrote_comes_back);
	tcase_add_test(c, an_operator_who_forbids_force_is_obeyed);
	tcase_add_test(c, an_operator_who_is_asked_about_force_sees_what_it_does_now);
	tcase_add_test(c, force_that_was_rejected_writes_nothing);
	tcase_add_test(c, a_file_that_changes_again_while_force_is_asked_about_is_not_written);
	return run_suite(s);
}
