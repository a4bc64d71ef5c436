/* What is approved is what is written: names that stand for other files. */
#include "attack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char DOCS[] = "{\"enabled\":true,\"file_patterns\":{\"write\":[\"docs/**\"]}}";
static const char ALL[] =
    "{\"enabled\":true,\"file_patterns\":{\"write\":[\"docs/**\",\"src/**\"]}}";
static const char EDIT[] = "--- a/docs/notes.md\n+++ b/docs/notes.md\n@@ -1 +1 @@\n-int ok;\n"
                           "+int evil;\n";

/* ---- the policy ---- */

START_TEST(a_link_to_a_file_that_the_policy_does_not_allow_is_asked)
{
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *shown = NULL;

	attack_begin(DOCS, NULL);
	attack_file("src/auth.c", "int ok;\n");
	attack_link("../src/auth.c", "docs/notes.md");
	answer = attack_ask("docs/notes.md", EDIT);
	has(answer, "status", "pending");
	expect("SELECT path, target FROM request_file", "docs/notes.md|src/auth.c\n");
	shown = attack_shown();
	says(shown, "docs/notes.md → src/auth.c");
	attack_reads("src/auth.c", "int ok;\n");
	attack_end();
}
END_TEST

START_TEST(a_folder_that_is_a_link_hides_nothing_from_the_policy)
{
	OWNED(char_ptr) char *change = NULL;
	OWNED(char_ptr) char *creation = NULL;

	attack_begin(DOCS, NULL);
	attack_file("src/auth.c", "int ok;\n");
	attack_link("../src", "docs/api");
	change = attack_ask("docs/api/auth.c", "int evil;\n");
	has(change, "status", "pending");
	creation = attack_ask("docs/api/deep/new.c", "int evil;\n");
	has(creation, "status", "pending");
	expect("SELECT path, target FROM request_file ORDER BY seq",
	       "docs/api/auth.c|src/auth.c\ndocs/api/deep/new.c|src/deep/new.c\n");
	attack_end();
}
END_TEST

START_TEST(a_link_is_written_unasked_where_the_policy_allows_both_names)
{
	OWNED(char_ptr) char *answer = NULL;
	OWNED(char_ptr) char *written = NULL;

	attack_begin(ALL, NULL);
	attack_file("src/auth.c", "int ok;\n");
	attack_link("../src/auth.c", "docs/notes.md");
	answer = attack_ask("docs/notes.md", EDIT);
	has(answer, "status", "approved");
	written = attack_write(member(answer, "request_id"), false);
	has(written, "status", "applied");
	attack_reads("src/auth.c", "int evil;\n");
	attack_end();
}
END_TEST

START_TEST(auto_check_judges_the_file_that_a_name_stands_for)
{
	OWNED(char_ptr) char *answer = NULL;

	attack_begin(DOCS, NULL);
	attack_file("src/auth.c", "int ok;\n");
	attack_link("../src/auth.c", "docs/notes.md");
	answer =
	    agent_call(&agent, "auto_check",
	               "{\"tool_name\":\"edit\",\"context\":{\"file_path\":\"docs/notes.md\"}}");
	has(answer, "auto_approved", "false");
	attack_end();
}
END_TEST

/* ---- after the approval ---- */

START_TEST(a_link_put_in_a_files_place_after_the_approval_is_not_followed)
{
	OWNED(char_ptr) char *id = NULL;

	attack_begin(NULL, NULL);
	attack_file("docs/notes.md", "int ok;\n");
	attack_file("src/auth.c", "int ok;\n"); /* the same bytes: its hash is as approved */
	id = attack_approved("docs/notes.md", EDIT);
	attack_link("../src/auth.c", "docs/notes.md");
	attack_refused(id, false, "patch_conflict", "leads to another file");
	attack_refused(id, true, "patch_conflict", "leads to another file");
	attack_reads("src/auth.c", "int ok;\n");
	attack_end();
}
END_TEST

START_TEST(a_link_put_where_a_new_file_was_approved_is_not_followed)
{
	OWNED(char_ptr) char *dangling = NULL;
	OWNED(char_ptr) char *folder = NULL;

	attack_begin(NULL, NULL);
	attack_file("src/auth.c", "int ok;\n");
	dangling = attack_approved("docs/new.md", "hello\n");
	attack_link("../src/new.c", "docs/new.md");
	attack_refused(dangling, false, "patch_conflict", "leads nowhere");
	attack_refused(dangling, true, "patch_conflict", "leads nowhere");
	folder = attack_approved("notes/new.md", "hello\n");
	attack_link("src", "notes");
	attack_refused(folder, true, "patch_conflict", "leads to another file");
	attack_reads("src/new.c", NULL);
	attack_reads("src/new.md", NULL);
	attack_end();
}
END_TEST

START_TEST(a_link_whose_target_is_changed_after_the_approval_is_not_followed)
{
	OWNED(char_ptr) char *id = NULL;

	attack_begin(NULL, NULL);
	attack_file("src/a.c", "int ok;\n");
	attack_file("src/b.c", "int ok;\n");
	attack_link("../src/a.c", "docs/notes.md");
	id = attack_approved("docs/notes.md", EDIT);
	attack_link("../src/b.c", "docs/notes.md");
	attack_refused(id, true, "patch_conflict", "leads to another file");
	attack_reads("src/a.c", "int ok;\n");
	attack_reads("src/b.c", "int ok;\n");
	attack_link("../src/a.c", "docs/notes.md");
	OWNED(char_ptr) char *written = attack_write(id, false);
	has(written, "status", "applied");
	attack_reads("src/a.c", "int evil;\n");
	attack_end();
}
END_TEST

START_TEST(a_link_that_leads_nowhere_is_refused_when_it_is_asked_for)
{
	OWNED(char_ptr) char *end = NULL;
	OWNED(char_ptr) char *folder = NULL;

	attack_begin(NULL, NULL);
	attack_link("../src/new.c", "docs/new.md");
	attack_link("nowhere", "notes");
	end = attack_ask("docs/new.md", "hello\n");
	has(end, "error_code", "path_violation");
	says(member(end, "error_message"), "is a symlink to nothing");
	folder = attack_ask("notes/deep/new.md", "hello\n");
	has(folder, "error_code", "path_violation");
	expect("SELECT count(*) FROM request", "0\n");
	attack_end();
}
END_TEST

/* ---- the workspace ---- */

/* The workspace moves away; its name is a link to another folder, which has the same file. */
static void swap_workspace(char other[200])
{
	char moved[200];

	(void)snprintf(other, 200, "%.150s/other", site.home);
	(void)snprintf(moved, sizeof(moved), "%.150s/moved", site.home);
	ck_assert_int_eq(
	    shell(NULL, "mkdir -p '%s' && cp -a '%s/.' '%s'", other, site.workspace, other), 0);
	ck_assert_int_eq(rename(site.workspace, moved), 0);
	ck_assert_int_eq(symlink(other, site.workspace), 0);
}

START_TEST(a_workspace_that_became_a_link_after_the_approval_is_not_followed)
{
	OWNED(char_ptr) char *change = NULL;
	OWNED(char_ptr) char *creation = NULL;
	char other[200];

	attack_begin(NULL, NULL);
	attack_file("main.c", "int ok;\n");
	change = attack_approved("main.c", "int evil;\n");
	creation = attack_approved("authorized_keys", "evil\n");
	swap_workspace(other);
	attack_refused(change, false, "workspace_unreadable", "leads to another folder");
	attack_refused(change, true, "workspace_unreadable", "leads to another folder");
	attack_refused(creation, false, "workspace_unreadable", "leads to another folder");
	attack_reads("main.c", "int ok;\n");
	attack_reads("authorized_keys", NULL);
	attack_end();
}
END_TEST

START_TEST(a_workspace_that_became_a_link_is_not_asked_about)
{
	OWNED(char_ptr) char *answer = NULL;
	char other[200];

	attack_begin(DOCS, NULL);
	free(agent_call(&agent, "ping", "{}"));
	swap_workspace(other);
	answer = attack_ask("docs/a.md", "evil\n"); /* the policy was copied, too */
	has(answer, "error_code", "workspace_unreadable");
	says(member(answer, "error_message"), "leads to another folder");
	expect("SELECT count(*) FROM request", "0\n");
	attack_end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("attack_files");
	TCase *c = store_case(s, "files", 120);

	tcase_add_test(c, a_link_to_a_file_that_the_policy_does_not_allow_is_asked);
	tcase_add_test(c, a_folder_that_is_a_link_hides_nothing_from_the_policy);
	tcase_add_test(c, a_link_is_written_unasked_where_the_policy_allows_both_names);
	tcase_add_test(c, auto_check_judges_the_file_that_a_name_stands_for);
	tcase_add_test(c, a_link_put_in_a_files_place_after_the_approval_is_not_followed);
	tcase_add_test(c, a_link_put_where_a_new_file_was_approved_is_not_followed);
	tcase_add_test(c, a_link_whose_target_is_changed_after_the_approval_is_not_followed);
	tcase_add_test(c, a_link_that_leads_nowhere_is_refused_when_it_is_asked_for);
	tcase_add_test(c, a_workspace_that_became_a_link_after_the_approval_is_not_followed);
	tcase_add_test(c, a_workspace_that_became_a_link_is_not_asked_about);
	return run_suite(s);
}
