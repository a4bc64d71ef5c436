/* Which checkpoint, and what of it, an operator of agent-intercom-ctl means, and what it is
 * compared with. */
#include "harness.h"
#include "process.h"
#include "site.h"
#include "str.h"
#include "workspace.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char other[600]; /* another workspace, of session o-1 */

static void says(int status, const char *arguments, const char *part)
{
	OWNED(str) struct str out = { 0 };
	int got = ctl(&out, "--text %s", arguments);

	ck_assert_msg(strstr(str_text(&out), part) != NULL, "%s: \"%s\" is missing in:\n%s",
	              arguments, part, str_text(&out));
	ck_assert_msg(got == status, "%s: status %d:\n%s", arguments, got, str_text(&out));
}

static void order_checkpoint(const char *of, const char *label)
{
	OWNED(str) struct str sql = { 0 };

	str_addf(&sql,
	         "INSERT INTO command (verb, session_id, argument) VALUES ('session-checkpoint',"
	         " '%s', '%s')",
	         of, label);
	given(sql.bytes);
}

/* The same label in two workspaces, each with a file that has changed since. */
static void given_two(void)
{
	OWNED(str) struct str sql = { 0 };
	OWNED(str) struct str link = { 0 };

	begin();
	str_addf(&link, "%s-run", test_db());
	ck_assert_int_eq(symlink(test_run(), link.bytes), 0);
	(void)snprintf(other, sizeof(other), "%.500s/other", scratch());
	ck_assert_int_eq(mkdir(other, 0755), 0);
	ck_assert_int_eq(shell(NULL, "printf 'one\n' >'%s/their.txt'", other), 0);
	file("ours.txt", "one\n");
	str_addf(&sql,
	         "INSERT INTO setting (name, value, source, updated_at) VALUES ('system.machine',"
	         " 'h', 'system', '2026-01-01T00:00:00.000Z') ON CONFLICT DO UPDATE SET value ="
	         " 'h';"
	         "INSERT INTO session (id, machine, owner_user_id, workspace_root, status, mode,"
	         " created_at, updated_at) SELECT 'abcd-other', machine, owner_user_id, '%s',"
	         " 'active', mode, created_at, updated_at FROM session WHERE id = 's';"
	         "INSERT INTO session (id, machine, owner_user_id, workspace_root, status, mode,"
	         " created_at, updated_at) SELECT 'abcd-ours', machine, owner_user_id,"
	         " workspace_root, 'active', mode, created_at, updated_at FROM session"
	         " WHERE id = 's'",
	         other);
	given(sql.bytes);
	order_checkpoint("abcd-ours", "same");
	order_checkpoint("abcd-other", "same");
	order_checkpoint("abcd-other", "theirs");
	(void)start_worker("archivist");
	(void)start_worker("applier");
	expect_soon("SELECT count(*) FROM checkpoint WHERE state = 'done'", "3\n");
	ck_assert_int_eq(shell(NULL, "printf 'two\n' >'%s/their.txt'", other), 0);
	file("ours.txt", "two\n");
}

static void their_file_is(const char *expected)
{
	OWNED(str) struct str out = { 0 };

	ck_assert_int_eq(shell(&out, "cat '%s/their.txt'", other), 0);
	ck_assert_str_eq(str_text(&out), expected);
}

START_TEST(a_session_or_a_folder_chooses_between_equal_labels)
{
	OWNED(str) struct str line = { 0 };

	given_two();
	says(1, "checkpoint restore same --yes", "several checkpoints are called 'same'");
	says(0, "checkpoint restore same --session abcd-other --yes", "restored; ");
	their_file_is("one\n");
	file_is("ours.txt", "two\n");

	str_addf(&line, "checkpoint restore same --workspace '%s' --yes", in(""));
	says(0, line.bytes, "restored; ");
	file_is("ours.txt", "one\n");
}
END_TEST

START_TEST(a_checkpoint_of_another_session_or_folder_is_refused_with_both)
{
	OWNED(str) struct str line = { 0 };
	OWNED(str) struct str why = { 0 };
	OWNED(char_ptr) char *id = NULL;

	given_two();
	id = rows("SELECT id FROM checkpoint WHERE label = 'theirs'");
	id[strcspn(id, "\n")] = '\0';
	str_addf(&why, "checkpoint %.13s is of session abcd-other, not of abcd-ours", id);
	says(1, "checkpoint restore theirs --session abcd-ours --yes", why.bytes);
	str_addf(&line, "checkpoint restore %s --session abcd-ours --yes", id);
	says(1, line.bytes, why.bytes);
	says(1, "diff theirs --session abcd-ours", why.bytes);
	says(1, "checkpoint diff theirs same --session abcd-ours", why.bytes);

	str_reset(&line);
	str_reset(&why);
	str_addf(&line, "checkpoint restore theirs --workspace '%s' --yes", in(""));

	str_addf(&why, "checkpoint %.13s is of %s, not of ", id, other);
	says(1, line.bytes, why.bytes);
	str_reset(&line);
	str_addf(&line, "checkpoint restore theirs --session abcd-other --workspace '%s' --yes",
	         other);
	says(64, line.bytes, "--session and --workspace exclude each other");
	says(1, "checkpoint restore theirs --session ffff --yes",
	     "no session has an id that begins with 'ffff'");
	their_file_is("two\n");
	file_is("ours.txt", "two\n");
}
END_TEST

START_TEST(an_empty_file_name_is_refused_and_nothing_is_put_back)
{
	given_two();
	says(1, "checkpoint restore theirs --yes --file ''", "\"\" is empty");
	says(1, "checkpoint restore theirs --yes --file their.txt --file ''", "\"\" is empty");
	says(1, "checkpoint restore theirs --yes --file \"$(printf 'a\\377')\"",
	     "\"a\\xff\" is not valid UTF-8");
	expect("SELECT count(*) FROM workspace_restore", "0\n");
	their_file_is("two\n");
}
END_TEST

START_TEST(a_name_with_a_line_break_can_be_chosen)
{
	given_two();
	file("a", "one\n");
	file("b", "one\n");
	file("a\nb", "one\n");
	order_checkpoint("abcd-ours", "broken");
	expect_soon("SELECT state FROM checkpoint WHERE label = 'broken'", "done\n");
	file("a", "two\n");
	file("b", "two\n");
	file("a\nb", "two\n");
	says(0, "checkpoint restore broken --yes --file \"$(printf 'a\\nb')\"", "restored; ");
	file_is("a\nb", "one\n");
	file_is("a", "two\n");
	file_is("b", "two\n");
}
END_TEST

/* Ids begin with their time: those of a minute begin alike. */
START_TEST(a_label_wins_over_ids_and_a_session_among_them_is_named)
{
	OWNED(char_ptr) char *start = NULL;
	OWNED(str) struct str line = { 0 };
	OWNED(str) struct str sql = { 0 };

	given_two();
	start = rows("SELECT substr(min(id), 1, 4) FROM checkpoint");
	start[4] = '\0';
	str_addf(&sql,
	         "INSERT INTO session (id, machine, owner_user_id, workspace_root, status, mode,"
	         " created_at, updated_at) SELECT '%s0000-1111-7000-8000-000000000001', machine,"
	         " owner_user_id, workspace_root, 'active', mode, created_at, updated_at FROM"
	         " session WHERE id = 's'",
	         start);
	given(sql.bytes);
	str_addf(&line, "checkpoint show %s", start);
	says(1, line.bytes, "several checkpoints have an id that begins with '");
	str_reset(&sql);
	str_addf(&sql, "\n  as session %s0000-1111 began: start --session %s0000-1111\n", start,
	         start);
	says(1, line.bytes, sql.bytes);
	order_checkpoint("abcd-ours", start);
	expect_soon("SELECT count(*) FROM checkpoint WHERE state = 'done'", "4\n");
	says(0, line.bytes, "ours.txt");
}
END_TEST

START_TEST(a_list_of_several_workspaces_says_of_which_each_is)
{
	OWNED(str) struct str line = { 0 };
	OWNED(str) struct str said = { 0 };
	OWNED(str) struct str json = { 0 };

	given_two();
	str_addf(&line, " more on disk  in %s\n", other);
	says(0, "checkpoint list", line.bytes);
	str_reset(&line);
	str_addf(&line, " more on disk  in %s\n", ws);
	says(0, "checkpoint list", line.bytes);
	ck_assert_int_eq(ctl(&said, "--text checkpoint list --session abcd-other"), 0);
	ck_assert_ptr_null(strstr(said.bytes, "  in "));
	ck_assert_int_eq(ctl(&said, "--text checkpoint list --workspace '%s'", other), 0);
	ck_assert_ptr_null(strstr(said.bytes, "  in "));
	says(0, "checkpoint list -n 1", "... and 2 more: ");

	ck_assert_int_eq(ctl(&json, "--json checkpoint list -n 1"), 0);
	ck_assert_ptr_nonnull(strstr(json.bytes, "\"theirs\""));
	ck_assert_ptr_null(strstr(json.bytes, "\"same\""));
}
END_TEST

/* Two at once are compared with different checkpoints. */
START_TEST(a_gitignore_that_was_written_since_hides_nothing_from_a_diff)
{
	static const char HIDDEN[] = ": now it is hidden by a new or changed .gitignore\n";
	OWNED(str) struct str shown = { 0 };

	given_two();
	ck_assert_int_eq(shell(NULL, "echo more >'%s/more.txt'", other), 0);
	order_checkpoint("abcd-other", "more");
	expect_soon("SELECT state FROM checkpoint WHERE label = 'more'", "done\n");
	ck_assert_int_eq(
	    shell(NULL, "cd '%s' && echo '*' >.gitignore && echo evil >new.txt", other), 0);
	given("INSERT INTO command (verb, argument) SELECT 'diff', id FROM checkpoint"
	      " WHERE label IN ('theirs', 'more') ORDER BY seq");
	(void)start_worker("reader");
	expect_soon("SELECT json_extract(reply, '$.label', '$.modified', '$.added', '$.deleted',"
	            " '$.not_compared') FROM command WHERE verb = 'diff' ORDER BY seq",
	            "[\"theirs\",1,0,0,3]\n[\"more\",0,0,0,2]\n");
	str_addf(&shown, "-one\n+two\n\nNot compared (3):\n  .gitignore%s  more.txt%s  new.txt%s",
	         HIDDEN, HIDDEN, HIDDEN);
	says(0, "diff theirs", shown.bytes);
	says(0, "diff more", "Nothing has changed, as far as it could be compared.\n");
	says(0, "checkpoint restore more --yes",
	     "not compared, and left as they are (2): .gitignore");
}
END_TEST

START_TEST(a_checkpoint_beside_a_diff_holds_what_it_holds_alone)
{
	pid_t archivist;

	given_two();
	ck_assert_int_eq(shell(NULL, "cd '%s' && echo '*' >.gitignore", other), 0);
	archivist = worker_pid("archivist");
	ck_assert_int_eq(kill(archivist, SIGSTOP), 0);
	given("INSERT INTO command (verb, argument) SELECT 'diff', id FROM checkpoint"
	      " WHERE label = 'theirs'");
	(void)start_worker("reader");
	expect_soon("SELECT count(*) FROM checkpoint WHERE kind = 'diff'", "1\n");
	order_checkpoint("abcd-other", "beside");
	ck_assert_int_eq(kill(archivist, SIGCONT), 0);
	expect_soon("SELECT state FROM checkpoint WHERE label = 'beside'", "done\n");
	expect("SELECT files FROM checkpoint WHERE label = 'beside'", "0\n");
	expect_soon("SELECT state FROM checkpoint WHERE kind = 'diff'", "done\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("checkpoint_choice");
	TCase *c = store_case(s, "choice", 60);

	tcase_add_test(c, a_session_or_a_folder_chooses_between_equal_labels);
	tcase_add_test(c, a_checkpoint_of_another_session_or_folder_is_refused_with_both);
	tcase_add_test(c, an_empty_file_name_is_refused_and_nothing_is_put_back);
	tcase_add_test(c, a_name_with_a_line_break_can_be_chosen);
	tcase_add_test(c, a_label_wins_over_ids_and_a_session_among_them_is_named);
	tcase_add_test(c, a_list_of_several_workspaces_says_of_which_each_is);
	tcase_add_test(c, a_gitignore_that_was_written_since_hides_nothing_from_a_diff);
	tcase_add_test(c, a_checkpoint_beside_a_diff_holds_what_it_holds_alone);
	return run_suite(s);
}
