/* applier: given an approved proposal, what is in the file and in the rows afterwards. The kill
 * points are in tests/crash/. Uses the real binary; `race_*` uses its library to get in between. */
#include "applier_case.h"

#define MAGIC_LINK "/proc/self/root"

/* ---- what is refused ---- */

START_TEST(a_changed_file_is_a_conflict)
{
	begin();
	file("a.txt", "old\n");
	approve("a.txt", "new\n");
	file("a.txt", "mine\n");
	call_check_diff(false);
	run_worker("applier");
	is_refused("patch_conflict",
	           "patch conflict: a.txt: the file has changed since the proposal");
	file_is("a.txt", "mine\n");
	ck_assert_int_eq(entries(), 1);
	file("a.txt", "old\n"); /* the request stays approved: as it was, it can be written */
	call_check_diff(false);
	run_worker("applier");
	expect(OUTCOME, APPLIED);
}
END_TEST

/* Among them may be a line of one that is always asked about. */
START_TEST(a_conflict_tells_nothing_of_what_is_in_the_file)
{
	begin();
	file("a.txt", "one\nTOKEN=abc\n");
	approve("a.txt", "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-TOKEN=abc\n+x\n");
	file("a.txt", "one\nTOKEN=rotated\n");
	call_check_diff(false);
	run_worker("applier");
	expect("SELECT why FROM apply",
	       "patch conflict: a.txt: the file has changed since the proposal; read it again and "
	       "ask again\n");
	call_check_diff(true);
	run_worker("applier");
	expect("SELECT why FROM apply WHERE seq = 2",
	       "patch conflict: a.txt: the diff does not fit the file, or fits in more than one "
	       "place\n");
}
END_TEST

/* The change was approved, then this is in the file. */
static void conflict_offers(const char *change, const char *now, const char *end)
{
	OWNED(str) struct str why = { 0 };

	file("a.txt", "one\ntwo\nthree\n");
	approve("a.txt", change);
	file("a.txt", now);
	call_check_diff(false);
	run_worker("applier");
	str_addf(&why,
	         "patch conflict: a.txt: the file has changed since the proposal; read it again "
	         "and ask again%s\n",
	         end);
	expect("SELECT why FROM apply ORDER BY seq DESC LIMIT 1", why.bytes);
}

START_TEST(a_conflict_offers_force_where_it_would_write)
{
	static const char DIFF[] = "--- a/a.txt\n+++ b/a.txt\n@@ -3 +3 @@\n-three\n+four\n";

	begin();
	conflict_offers("new\n", "mine\n", ", or use force");
	conflict_offers(DIFF, "zero\none\ntwo\nthree\n", ", or use force");
	call_check_diff(true);
	run_worker("applier");
	file_is("a.txt", "zero\none\ntwo\nfour\n");
	conflict_offers(DIFF, "one\ntwo\n3\n", "");
	given("INSERT INTO setting (name, value, source, updated_at)"
	      " VALUES ('apply.force', 'never', 'file', '2026-02-08T09:30:00.123Z')");
	conflict_offers("new\n", "mine\n", "");
}
END_TEST

START_TEST(a_file_that_appeared_or_vanished_is_a_conflict)
{
	begin();
	approve("a.txt", "new\n");
	file("a.txt", "mine\n");
	call_check_diff(false);
	run_worker("applier");
	is_refused("patch_conflict", "patch conflict: a.txt: the file has changed");
	file_is("a.txt", "mine\n");
	approve("a.txt", "new\n");
	ck_assert_int_eq(unlink(in("a.txt")), 0);
	call_check_diff(false);
	run_worker("applier");
	is_refused("patch_conflict", "patch conflict: a.txt: the file has changed");
	file_is("a.txt", "(none)");
}
END_TEST

START_TEST(force_overwrites_a_changed_file)
{
	begin();
	file("a.txt", "old\n");
	approve("a.txt", "new\n");
	file("a.txt", "mine\n");
	call_check_diff(true);
	run_worker("applier");
	file_is("a.txt", "new\n");
	expect(OUTCOME, APPLIED);
	expect("SELECT forced FROM apply", "1\n");
	approve("a.txt", "newer\n");
	call_check_diff(true); /* force that was not needed */
	run_worker("applier");
	expect("SELECT forced FROM apply", "1\n0\n");
}
END_TEST

/* Both names are of one file: what the rules compare is the name. */
START_TEST(force_is_not_over_what_was_asked_about_since_under_another_name)
{
	int first;

	begin();
	file("a.txt", "old\n");
	approve("a.txt", "new\n");
	first = asked;
	ck_assert_int_eq(link(in("a.txt"), in("b.txt")), 0);
	file("a.txt", "mine\n");
	ask("b.txt", "other\n");
	asked = first;
	call_check_diff(true);
	run_worker("applier");
	is_refused("patch_conflict", "patch conflict: a.txt: the file has changed since the "
	                             "proposal, and was asked about since");
	file_is("a.txt", "mine\n");
	file("a.txt", "yours\n");
	call_check_diff(true);
	run_worker("applier");
	expect(OUTCOME, APPLIED);
}
END_TEST

/* Both were asked before either was answered. */
START_TEST(force_is_not_over_what_a_later_question_is_about)
{
	int first;

	begin();
	file("a.txt", "old\n");
	ask("a.txt", "new\n");
	first = asked;
	file("a.txt", "mine\n");
	approve("a.txt", "other\n");
	call_check_diff(false);
	run_worker("applier");
	file_is("a.txt", "other\n");
	asked = first;
	say_yes();
	call_check_diff(true);
	run_worker("applier");
	expect(MESSAGE, "patch conflict: a.txt: the file has changed since the proposal, and was "
	                "asked about since; read it again and ask again\n");
	file_is("a.txt", "other\n");
}
END_TEST

START_TEST(force_does_not_make_a_diff_fit)
{
	begin();
	file("a.txt", "one\ntwo\n");
	approve("a.txt", "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
	file("a.txt", "other\n");
	call_check_diff(true);
	run_worker("applier");
	is_refused("patch_conflict", "patch conflict: a.txt");
	file("a.txt", "zero\none\ntwo\n"); /* here it fits, a line further down */
	call_check_diff(true);
	run_worker("applier");
	file_is("a.txt", "zero\none\n2\n");
	expect(OUTCOME, APPLIED);
}
END_TEST

#define WAY_OUT                                                                                    \
	"; if this is the content itself, send it as a diff that adds its lines (--- /dev/null, "  \
	"+++ b/path)"

START_TEST(what_begins_like_a_diff_must_be_one)
{
	begin();
	apply("a.txt", "--- a/a.txt\n+++ b/a.txt\nthe front matter\n");
	is_refused("invalid_diff", "invalid diff: line 3: expected \"@@ -start,count "
	                           "+start,count @@\"" WAY_OUT);
	apply("b.txt", "diff --git a/b.txt b/b.txt\nindex 1..2\nGIT binary patch\n");
	is_refused("invalid_diff",
	           "invalid diff: line 3: binary patches are not supported" WAY_OUT);
	ck_assert_int_eq(entries(), 0);
}
END_TEST

START_TEST(what_only_begins_with_three_dashes_or_the_word_diff_is_content)
{
	static const char *const TEXTS[] = {
		"---\ntitle: three dashes and no blank\n---\n",
		"--- \nthe front matter\n---\n",
		"--- Module for maps.\n-- @module maps\nlocal M = {}\n",
		"--- # Playbook\n- hosts: all\n",
		"--- Title ---",
		"diff is a program\n",
		"diff --git is a command\n",
	};

	begin();
	for (size_t i = 0; i < COUNT(TEXTS); i++) {
		apply("c.txt", TEXTS[i]);
		expect(OUTCOME, APPLIED);
		file_is("c.txt", TEXTS[i]);
	}
}
END_TEST

START_TEST(a_diff_about_other_files_is_invalid)
{
	begin();
	file("a.txt", "one\n");
	apply("a.txt", "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-one\n+1\n");
	is_refused("invalid_diff", "the diff is about b.txt, file_path is a.txt" WAY_OUT);
	apply("c.txt", "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+1\n"
	               "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-one\n+1\n");
	is_refused("invalid_diff", "the diff is about a.txt and others, but not about c.txt");
	apply("c.txt", "diff --git a/a.txt b/b.txt\nrename from a.txt\nrename to b.txt\n");
	is_refused("invalid_diff", "the diff is about a.txt and others, but not about c.txt");
	apply("l",
	      "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n"
	      "+/etc/passwd\n\\ No newline at end of file\n");
	is_refused("invalid_diff", "the diff makes l a symlink");
	file_is("a.txt", "one\n");
	ck_assert_int_eq(entries(), 1);
}
END_TEST

START_TEST(an_applied_request_has_no_second_job)
{
	begin();
	apply("a.txt", "x");
	expect(OUTCOME, APPLIED);
	expect("SELECT count(*) FROM request WHERE state = 'approved'",
	       "0\n"); /* see rules: unapproved */
}
END_TEST

START_TEST(a_proposal_that_lost_its_hash_is_corrupt)
{
	OWNED(str) struct str big = { 0 };

	begin();
	for (int i = 0; i < 3000; i++)
		str_add_char(&big, 'x');
	approve("a.txt", big.bytes);
	given("DROP TRIGGER content_is_fixed; UPDATE content SET bytes = x'41'");
	call_check_diff(false);
	run_worker("applier");
	is_refused("corrupt", "the stored proposal no longer has its hash");
	given("PRAGMA foreign_keys = OFF; DELETE FROM content");
	call_check_diff(false);
	run_worker("applier");
	is_refused("corrupt", "the proposal cannot be read");
	ck_assert_int_eq(entries(), 0);
}
END_TEST

START_TEST(a_directory_swapped_for_a_link_that_leaves_is_refused)
{
	char outside[WORKSPACE_BYTES + 20];

	begin();
	(void)snprintf(outside, sizeof(outside), "%s/../outside", ws);
	ck_assert_int_eq(mkdir(outside, 0755), 0);
	ck_assert_int_eq(mkdir(in("d"), 0755), 0);
	approve("d/a.txt", "x");
	swapped_to("d", "../outside");
	for (int force = 0; force < 2; force++) {
		call_check_diff(force);
		run_worker("applier");
		is_refused("path_violation", "path violation");
	}
	swapped_to("d", outside);
	call_check_diff(true);
	run_worker("applier");
	is_refused("path_violation", "path violation");
	ck_assert_int_eq(rmdir(outside), 0); /* it is empty */
}
END_TEST

START_TEST(a_file_swapped_for_a_link_that_leaves_is_refused)
{
	begin();
	file("../victim", "precious");
	file("a.txt", "old");
	approve("a.txt", "x");
	swapped_to("a.txt", "../victim");
	call_check_diff(true);
	run_worker("applier");
	is_refused("path_violation", "path violation");
	swapped_to("a.txt", "/etc/passwd");
	call_check_diff(true);
	run_worker("applier");
	is_refused("path_violation", "path violation");
	swapped_to("a.txt", MAGIC_LINK "/etc/passwd");
	call_check_diff(true);
	run_worker("applier");
	is_refused("path_violation", "path violation");
	file_is("../victim", "precious");
}
END_TEST

START_TEST(paths_that_nobody_should_have_let_in_are_refused)
{
	static const char *const PATHS[] = { "../x",
		                             "/etc/x",
		                             ".git/config",
		                             "d/../../x",
		                             "",
		                             ".intercom/x",
		                             "sub/.git/hooks/pre-commit" };

	begin();
	for (size_t i = 0; i < COUNT(PATHS); i++) {
		approve(PATHS[i], "x");
		call_check_diff(true);
		run_worker("applier");
		is_refused("path_violation", "path violation");
	}
	ck_assert_int_eq(symlink(".git", in("g")), 0);
	ck_assert_int_eq(mkdir(in(".git"), 0755), 0);
	apply("g/config", "x");
	is_refused("path_violation", "path violation");
	ck_assert_int_eq(entries(), 2);
}
END_TEST

START_TEST(the_database_is_not_written)
{
	char sql[2 * WORKSPACE_BYTES];

	begin();
	*strrchr(ws, '/') = '\0';
	(void)snprintf(
	    sql, sizeof(sql),
	    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	    " created_at, updated_at) VALUES (2, 's2', 'h', 'local:tester', '%s', 'active',"
	    " 'local', '%s', '%s')",
	    ws, clock_now().text, clock_now().text);
	given(sql);
	ck_assert_int_eq(link(in("intercom.db"), in("other-name")), 0);
	static const char *const NAMES[] = { "intercom.db", "intercom.db-wal",
		                             "intercom.db-journal", "other-name" };
	session = 2;
	for (size_t i = 0; i < COUNT(NAMES); i++) {
		approve(NAMES[i], "x");
		call_check_diff(true);
		run_worker("applier");
		is_refused("path_violation", "path violation");
	}
	(void)unlink(in("other-name"));
	expect("PRAGMA integrity_check", "ok\n");
}
END_TEST

START_TEST(what_is_no_file_any_more_is_refused_without_waiting)
{
	begin();
	file("a.txt", "old");
	approve("a.txt", "new");
	ck_assert_int_eq(unlink(in("a.txt")), 0);
	ck_assert_int_eq(mkfifo(in("a.txt"), 0600), 0);
	call_check_diff(true);
	run_worker("applier");
	is_refused("patch_conflict", "patch conflict: a.txt: is a FIFO");
	ck_assert_int_eq(unlink(in("a.txt")), 0);
	ck_assert_int_eq(mkdir(in("a.txt"), 0700), 0);
	call_check_diff(true);
	run_worker("applier");
	is_refused("patch_conflict", "patch conflict: a.txt: is a directory");
	ck_assert_int_eq(rmdir(in("a.txt")), 0);
	file("d", "in the way");
	apply("d/a.txt", "new");
	is_refused("patch_conflict", "patch conflict: cannot open d/a.txt: Not a directory");
}
END_TEST

START_TEST(a_workspace_that_is_gone_is_told)
{
	begin();
	approve("a.txt", "x");
	ck_assert_int_eq(rmdir(ws), 0);
	call_check_diff(false);
	run_worker("applier");
	is_refused("workspace_unreadable", "cannot open the workspace");
}
END_TEST

START_TEST(missing_permission_is_told)
{
	SKIP_UNLESS(geteuid() == 0, "root, who can become another user");
	begin();
	file("a.txt", "old");
	file("hidden", "old");
	ck_assert_int_eq(chmod(in("hidden"), 0600), 0);
	approve("a.txt", "new");
	call_check_diff(false);
	approve("d/new.txt", "new");
	call_check_diff(false);
	approve("hidden", "new");
	call_check_diff(false);
	bring_worker_along();
	leave_the_workspace_to_root();
	run_worker("applier");
	expect("SELECT state, error_code FROM apply ORDER BY seq",
	       "refused|permission\nrefused|permission\nrefused|permission\n");
	file_is("a.txt", "old");
	ck_assert_int_eq(entries(), 2);
	expect(CHANGES, "a.txt|modify|3|undone\nd/new.txt|create|3|undone\n");
}
END_TEST

START_TEST(in_an_append_only_folder_nothing_is_written_and_no_hidden_file_is_left)
{
	begin();
	ck_assert_int_eq(mkdir(in("d"), 0755), 0);
	file("d/a.txt", "old");
	SKIP_UNLESS(set_append_only("d", true), "root and append-only folders in $TMPDIR");
	approve("d/a.txt", "new");
	call_check_diff(false);
	approve("d/new.txt", "new");
	call_check_diff(false);
	run_worker("applier");
	expect("SELECT state, error_code FROM apply ORDER BY seq",
	       "refused|permission\nrefused|permission\n");
	is_refused("permission", "d/new.txt: its folder is append-only (chattr +a)");
	file_is("d/a.txt", "old");
	ck_assert_int_eq(entries(), 2);
	ck_assert(set_append_only("d", false));
}
END_TEST

/* Nobody may write in the workspace, and cannot give a file back to root. */
START_TEST(a_file_that_changes_its_owner_loses_its_set_id_bits)
{
	struct stat st;

	SKIP_UNLESS(geteuid() == 0, "root, who can become another user");
	begin();
	file("tool", "old");
	ck_assert_int_eq(chmod(in("tool"), 06755), 0);
	approve("tool", "new");
	call_check_diff(false);
	bring_worker_along();
	ck_assert_int_eq(chmod(ws, 0777), 0);
	leave_the_workspace_to_root();
	run_worker("applier");
	expect(OUTCOME, APPLIED);
	file_is("tool", "new");
	ck_assert_int_eq(stat(in("tool"), &st), 0);
	ck_assert_uint_eq(st.st_uid, NOBODY_ID);
	ck_assert_uint_eq(mode_of("tool"), 0755);
}
END_TEST

/* Nobody may give a file to their own group, which is not what the folder gives, but to no other.
 */
START_TEST(a_file_that_changes_its_owner_keeps_its_group_or_is_open_to_no_more_of_the_new_one)
{
	enum { FOLDERS = 4242, FILES = 4343 };
	struct stat st;

	SKIP_UNLESS(geteuid() == 0, "root, who can become another user");
	begin();
	file("kept", "old");
	file("lost", "old");
	ck_assert_int_eq(chown(in("kept"), 0, NOBODY_ID), 0);
	ck_assert_int_eq(chown(in("lost"), 0, FILES), 0);
	ck_assert_int_eq(chmod(in("kept"), 0660), 0);
	ck_assert_int_eq(chmod(in("lost"), 0674), 0);
	approve("kept", "new");
	call_check_diff(false);
	approve("lost", "new");
	call_check_diff(false);
	bring_worker_along();
	ck_assert_int_eq(chown(ws, 0, FOLDERS), 0);
	ck_assert_int_eq(chmod(ws, 02777), 0);
	leave_the_workspace_to_root();
	run_worker("applier");
	file_is("kept", "new");
	ck_assert_int_eq(stat(in("kept"), &st), 0);
	ck_assert_uint_eq(st.st_gid, NOBODY_ID);
	ck_assert_uint_eq(mode_of("kept"), 0660);
	file_is("lost", "new");
	ck_assert_int_eq(stat(in("lost"), &st), 0);
	ck_assert_uint_eq(st.st_gid, FOLDERS);
	ck_assert_uint_eq(mode_of("lost"), 0644);
}
END_TEST

/* They were given to the old content, and write(2) would drop them. */
START_TEST(new_content_has_no_set_id_bits)
{
	begin();
	file("tool", "old");
	ck_assert_int_eq(chmod(in("tool"), 06755), 0);
	apply("tool", "new");
	file_is("tool", "new");
	ck_assert_uint_eq(mode_of("tool"), 0755);
	ck_assert_int_eq(chmod(in("tool"), 06755), 0);
	apply("tool",
	      "--- a/tool\n+++ b/tool\n@@ -1 +1 @@\n-new\n\\ No newline at end of file\n+newer\n");
	file_is("tool", "newer\n");
	ck_assert_uint_eq(mode_of("tool"), 0755);
	file("marked", "old"); /* set-gid without execution sets no gid */
	ck_assert_int_eq(chmod(in("marked"), 02644), 0);
	apply("marked", "new");
	ck_assert_uint_eq(mode_of("marked"), 02644);
}
END_TEST

START_TEST(new_content_has_no_file_capabilities)
{
	/* cap_setuid=ep, as setcap(8) writes it */
	static const unsigned char CAPABILITY[20] = { 1, 0, 0, 2, 0x80 };

	begin();
	file("tool", "old");
	SKIP_UNLESS(
	    setxattr(in("tool"), "security.capability", CAPABILITY, sizeof(CAPABILITY), 0) == 0,
	    "the right to give a file capabilities");
	apply("tool", "new");
	file_is("tool", "new");
	ck_assert_int_eq(getxattr(in("tool"), "security.capability", NULL, 0), -1);
	ck_assert_int_eq(errno, ENODATA);
}
END_TEST

START_TEST(a_name_that_is_too_long_leaves_no_directories)
{
	char path[400] = "made/for/";

	begin();
	memset(path + strlen(path), 'n', 255);
	apply(path, "as long as can be");
	expect(OUTCOME, APPLIED);
	path[strlen(path)] = 'n';
	apply(path, "x");
	is_refused("path_violation", "path violation");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("applier_refusals");
	TCase *c = tcase_create("applier");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, a_changed_file_is_a_conflict);
	tcase_add_test(c, a_conflict_tells_nothing_of_what_is_in_the_file);
	tcase_add_test(c, a_conflict_offers_force_where_it_would_write);
	tcase_add_test(c, a_file_that_appeared_or_vanished_is_a_conflict);
	tcase_add_test(c, force_overwrites_a_changed_file);
	tcase_add_test(c, force_is_not_over_what_was_asked_about_since_under_another_name);
	tcase_add_test(c, force_is_not_over_what_a_later_question_is_about);
	tcase_add_test(c, force_does_not_make_a_diff_fit);
	tcase_add_test(c, what_begins_like_a_diff_must_be_one);
	tcase_add_test(c, what_only_begins_with_three_dashes_or_the_word_diff_is_content);
	tcase_add_test(c, a_diff_about_other_files_is_invalid);
	tcase_add_test(c, an_applied_request_has_no_second_job);
	tcase_add_test(c, a_proposal_that_lost_its_hash_is_corrupt);
	tcase_add_test(c, a_directory_swapped_for_a_link_that_leaves_is_refused);
	tcase_add_test(c, a_file_swapped_for_a_link_that_leaves_is_refused);
	tcase_add_test(c, paths_that_nobody_should_have_let_in_are_refused);
	tcase_add_test(c, the_database_is_not_written);
	tcase_add_test(c, what_is_no_file_any_more_is_refused_without_waiting);
	tcase_add_test(c, a_workspace_that_is_gone_is_told);
	tcase_add_test(c, missing_permission_is_told);
	tcase_add_test(c, in_an_append_only_folder_nothing_is_written_and_no_hidden_file_is_left);
	tcase_add_test(c, a_file_that_changes_its_owner_loses_its_set_id_bits);
	tcase_add_test(
	    c, a_file_that_changes_its_owner_keeps_its_group_or_is_open_to_no_more_of_the_new_one);
	tcase_add_test(c, new_content_has_no_set_id_bits);
	tcase_add_test(c, new_content_has_no_file_capabilities);
	tcase_add_test(c, a_name_that_is_too_long_leaves_no_directories);
	suite_add_tcase(s, c);
	return run_suite(s);
}
