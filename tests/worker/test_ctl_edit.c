/* agent-intercom-ctl about an agent's own tool: approve --edit and --with, another text than was
 * asked; and reject. */
#include "ctl_case.h"

#include "sha256.h"

#define COMMAND "01955555-0000-7000-8000-000000000005"

#define CONTENT "01966666-0000-7000-8000-000000000006"

#define PLAIN "01977777-0000-7000-8000-000000000007"

static void given_permission_of(int session, const char *id, int seq, const char *columns,
                                const char *values)
{
	OWNED(str) struct str sql = { 0 };

	str_addf(
	    &sql,
	    "INSERT INTO request (seq, id, session_seq, kind, state, digest, title, risk_level,"
	    " created_at, updated_at, %s) VALUES (%d, '%s', %d, 'permission', 'pending',"
	    " printf('%%064d', %d), 'x', 'low', '" T "', '" T "', %s)",
	    columns, seq, id, session, seq, values);
	given(sql.bytes);
}

static void given_permission(const char *id, int seq, const char *columns, const char *values)
{
	given_permission_of(1, id, seq, columns, values);
}

static void given_command(void)
{
	given_sessions();
	given_permission(COMMAND, 5, "body, editable", "'make install', 'command'");
}

/* A script in the place of an editor; $1 is the file. */
static void given_editor(const char *script)
{
	OWNED(str) struct str line = { 0 };

	str_addf(&line, "printf '%%s\\n' '#!/bin/sh' '%s' > $HOME/editor; chmod 755 $HOME/editor",
	         script);
	shell(line.bytes);
	(void)setenv("EDITOR", "$HOME/editor", 1);
	(void)unsetenv("VISUAL");
	(void)setenv("TMPDIR", home, 1);
}

static void leaves_nothing(void)
{
	shell("ls -d $HOME/agent-intercom-* 2>/dev/null | wc -l");
	ck_assert_str_eq(str_text(&out), "0\n");
}

START_TEST(what_the_editor_saves_is_approved)
{
	given_command();
	given_editor(
	    "stat -c %a \"$1\" > $HOME/mode; sed -i s/install/test/ \"$1\"; touch \"$1~\"");
	ctl("approve " COMMAND " --edit --text");
	ck_assert_int_eq(status, 0);
	says("-make install\n");
	says("+make test\n");
	says("Approved with a change: ");
	expect("SELECT state FROM request", "approved\n");
	expect("SELECT outcome, text FROM decision_edit", "applied|make test\n");
	expect("SELECT digest = (SELECT digest FROM request) FROM decision", "1\n");
	shell("cat $HOME/mode");
	ck_assert_str_eq(str_text(&out), "600\n");
	leaves_nothing();
	ctl("show " COMMAND " --text");
	says("make install\n");
	says("approved with a change; what was approved instead:\n  | make test\n");
	ctl("show " COMMAND " --json");
	says("\"edited\":\"make test\"");
}
END_TEST

START_TEST(what_is_unchanged_is_a_plain_approval)
{
	given_command();
	given_editor("echo >> \"$1\""); /* as editors do */
	ctl("approve " COMMAND " --edit --text");
	done(
	    "Approved 01955555-0000: make install\nThe agent is not waiting at the moment; it gets "
	    "this when it is back.\n");
	expect("SELECT verdict, edited IS NULL, edited_seq IS NULL FROM decision", "approve|1|1\n");
	leaves_nothing();
}
END_TEST

START_TEST(an_empty_file_or_a_failing_editor_approves_nothing)
{
	given_command();
	given_editor(": > \"$1\"");
	ctl("approve " COMMAND " --edit --text");
	ck_assert_int_ne(status, 0);
	ck_assert_ptr_nonnull(strstr(str_text(&err_out), "the text is empty"));
	given_editor("echo other > \"$1\"; exit 3");
	ctl("approve " COMMAND " --edit --text");
	ck_assert_int_ne(status, 0);
	ck_assert_ptr_nonnull(strstr(str_text(&err_out), "ended with status 3"));
	(void)setenv("EDITOR", "no-such-editor", 1);
	ctl("approve " COMMAND " --edit --text");
	ck_assert_int_ne(status, 0);
	expect("SELECT count(*) FROM decision", "0\n");
	expect("SELECT state FROM request", "pending\n");
	leaves_nothing();
}
END_TEST

START_TEST(a_script_says_it_with_a_file_or_on_stdin)
{
	given_command();
	given_permission(PLAIN, 7, "body, editable", "'rm -r build', 'command'");
	shell("echo 'make test' > $HOME/new");
	shell("ctl $DB approve " COMMAND " --with $HOME/new");
	ck_assert_int_eq(status, 0);
	shell("printf 'rm -r build/\\033[2J' | ctl $DB approve " PLAIN " --with - --text");
	ck_assert_int_eq(status, 0);
	says("+rm -r build/<U+001B>[2J");
	expect("SELECT text = 'make test' OR text = 'rm -r build/' || char(27) || '[2J'"
	       " FROM decision_edit",
	       "1\n1\n");
}
END_TEST

START_TEST(a_file_that_is_missing_binary_or_too_big_approves_nothing)
{
	given_command();
	ctl("approve " COMMAND " --with /nowhere/at/all");
	ck_assert_int_ne(status, 0);
	shell("printf 'a\\000b' | ctl $DB approve " COMMAND " --with -");
	ck_assert_int_ne(status, 0);
	shell("printf 'a\\377b' | ctl $DB approve " COMMAND " --with -");
	ck_assert_int_ne(status, 0);
	shell("head -c 1048577 /dev/zero | tr '\\0' x | ctl $DB approve " COMMAND " --with -");
	ck_assert_int_ne(status, 0);
	ck_assert_ptr_nonnull(strstr(str_text(&err_out), "more than 1048576 bytes"));
	expect("SELECT count(*) FROM decision", "0\n");
}
END_TEST

START_TEST(what_takes_no_other_text_is_not_opened)
{
	given_sessions();
	given_permission(PLAIN, 7, "body", "'{}'");
	given_editor("touch $HOME/opened");
	ctl("approve " PLAIN " --edit");
	ck_assert_int_ne(status, 0);
	ck_assert_ptr_nonnull(strstr(str_text(&err_out), "cannot be approved with another text"));
	shell("test ! -e $HOME/opened");
	ck_assert_int_eq(status, 0);
	expect("SELECT count(*) FROM decision", "0\n");
}
END_TEST

START_TEST(what_is_decided_is_not_opened)
{
	given_command();
	given("INSERT INTO decision (request_id, verdict) VALUES ('" COMMAND "', 'reject')");
	given_editor("touch $HOME/opened");
	ctl("approve " COMMAND " --edit");
	ck_assert_int_ne(status, 0);
	shell("test ! -e $HOME/opened");
	ck_assert_int_eq(status, 0);
}
END_TEST

/* An edit of a.c in a folder: "one" becomes "two". */
static void given_content(void)
{
	OWNED(str) struct str values = { 0 };
	OWNED(str) struct str sql = { 0 };

	given_sessions();
	str_addf(&sql,
	         "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status,"
	         " mode, created_at, updated_at) VALUES (9, 's9', 'h', 'local:tester', '%s',"
	         " 'active', 'local', '" T "', '" T "')",
	         home);
	given(sql.bytes);
	shell("printf 'zero\\none\\n' > $HOME/a.c");
	given_permission_of(9, CONTENT, 6, "body, editable, file_path, effect",
	                    "'{}', 'content', 'a.c',"
	                    "'--- a/a.c' || char(10) || '+++ b/a.c' || char(10) ||"
	                    "'@@ -1,2 +1,2 @@' || char(10) || ' zero' || char(10) || '-one' ||"
	                    "char(10) || '+two' || char(10)");
	str_reset(&sql);
	str_addf(&sql,
	         "INSERT INTO request_file (request_seq, path,"
	         " target, action, original_hash, result_hash) VALUES (6, 'a.c', 'a.c', 'modify',"
	         " '%s', '%s')",
	         sha256_of("zero\none\n", 9).text, sha256_of("zero\ntwo\n", 9).text);
	given(sql.bytes);
}

START_TEST(the_new_content_of_a_file_is_opened_and_approved)
{
	given_content();
	given_editor("cp \"$1\" $HOME/seen; echo \"$1\" > $HOME/name; echo three >> \"$1\"");
	ctl("approve " CONTENT " --edit --text");
	ck_assert_int_eq(status, 0);
	says("+three\n");
	shell("cat $HOME/seen");
	ck_assert_str_eq(str_text(&out), "zero\ntwo\n");
	shell("grep -c 'content[.]c$' $HOME/name");
	ck_assert_str_eq(str_text(&out), "1\n");
	expect("SELECT text = 'zero' || char(10) || 'two' || char(10) || 'three' || char(10)"
	       " FROM decision_edit",
	       "1\n");
	shell("cat $HOME/a.c");
	ck_assert_str_eq(str_text(&out), "zero\none\n");
}
END_TEST

START_TEST(a_file_that_has_changed_is_not_opened)
{
	given_content();
	given_editor("touch $HOME/opened");
	shell("printf 'other\\n' > $HOME/a.c");
	ctl("approve " CONTENT " --edit");
	ck_assert_int_ne(status, 0);
	ck_assert_ptr_nonnull(strstr(str_text(&err_out), "the file has changed"));
	shell("test ! -e $HOME/opened");
	ck_assert_int_eq(status, 0);
	expect("SELECT count(*) FROM decision", "0\n");
}
END_TEST

/* Its hook is told "rejected"; a reason would be told to the next agent, as the operator's words.
 */
START_TEST(a_rejection_without_words_has_no_reason)
{
	given_command();
	ctl("reject " COMMAND);
	ck_assert_int_eq(status, 0);
	expect("SELECT state, reason IS NULL FROM request", "rejected|1\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ctl_edit");
	TCase *c = tcase_create("ctl_edit");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, what_the_editor_saves_is_approved);
	tcase_add_test(c, what_is_unchanged_is_a_plain_approval);
	tcase_add_test(c, an_empty_file_or_a_failing_editor_approves_nothing);
	tcase_add_test(c, a_script_says_it_with_a_file_or_on_stdin);
	tcase_add_test(c, a_file_that_is_missing_binary_or_too_big_approves_nothing);
	tcase_add_test(c, what_takes_no_other_text_is_not_opened);
	tcase_add_test(c, what_is_decided_is_not_opened);
	tcase_add_test(c, the_new_content_of_a_file_is_opened_and_approved);
	tcase_add_test(c, a_file_that_has_changed_is_not_opened);
	tcase_add_test(c, a_rejection_without_words_has_no_reason);
	suite_add_tcase(s, c);
	return run_suite(s);
}
