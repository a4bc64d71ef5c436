/* mcp-front over HTTP: what clients send, right and wrong, and what of it stays in the rows. */
#include "front_case.h"

#include <limits.h>
#include <unistd.h>

START_TEST(no_path_leads_out_of_the_workspace)
{
	static const char *const PATHS[] = {
		"../x",
		"a/../../x",
		"/etc/passwd",
		".git/config",
		"sub/.GIT/hooks/x",
		".intercom/settings.json",
		".Intercom/x",
		"dir/.intercom-0123456789abcdef.tmp",
		"link/new.txt",
		"link/sub/new.txt",
		"dir/../link/new.txt",
		"abs/new.txt",
		"file-link",
		"a\nb",
		"a\x7f"
		"b",
		"x/",
		"..",
		".",
		"sub/..",
		"togit/config",
	};
	char command[2500], path[700];
	struct agent a;
	OWNED(str) struct str body = { 0 };

	given_front();
	a = newcomer();
	(void)snprintf(
	    command, sizeof(command),
	    "cd %s && mkdir ../outside .git .intercom dir && echo s > ../outside/secret &&"
	    " ln -s ../outside link && ln -s %.500s-nowhere abs &&"
	    " ln -s ../outside/secret file-link && ln -s .git togit",
	    workspace, test_run());
	ck_assert_int_eq(shell(NULL, "%s", command), 0);
	for (size_t i = 0; i < COUNT(PATHS); i++)
		refused(&a, PATHS[i], "x\n", "path_violation", "path violation");
	(void)snprintf(path, sizeof(path), "%.500s/../outside/new.txt", workspace);
	refused(&a, path, "x\n", "path_violation", "path violation");
	exchange(&a,
	         "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
	         "\"check_clearance\",\"arguments\":{\"title\":\"t\",\"diff\":\"d\","
	         "\"file_path\":\"a\\u0000/../../x\"}}}",
	         &body);
	has(body.bytes, "result.isError", "true");
	expect("SELECT count(*) FROM request", "0\n");
	expect("SELECT count(*) > 20, min(is_error) FROM tool_call", "1|1\n");
}
END_TEST

START_TEST(a_path_may_be_said_absolutely_or_with_dots)
{
	struct agent a;
	struct wire w;
	char path[700];
	OWNED(char_ptr) char *arguments = NULL;

	given_front();
	a = newcomer();
	(void)snprintf(path, sizeof(path), "%.500s/./sub/../f", workspace);
	arguments = proposal(path, "hello\n");
	agent_begin(&a, &w, "check_clearance", arguments, NULL);
	expect_soon("SELECT file_path, original_hash FROM request", "f|new_file\n");
	wire_close(&w);
}
END_TEST

START_TEST(a_diff_is_about_the_file_it_is_asked_for_and_fits_it)
{
	struct agent a;

	given_front();
	a = newcomer();
	put_file(workspace, "f", "one\ntwo\nthree\n");
	refused(&a, "f", "--- a/g\n+++ b/g\n@@ -1 +1 @@\n-one\n+ONE\n", "invalid_diff",
	        "is about g");
	refused(
	    &a, "f",
	    "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n+ONE\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-a\n+b\n",
	    "patch_conflict", "g: the file does not exist");
	refused(&a, "f", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-uno\n+ONE\n", "patch_conflict",
	        "read the file again");
	refused(&a, "f", "--- a/f\n+++ b/f\n@@ nonsense @@\n", "invalid_diff", "");
	refused(&a, "f", "@@ -1 +1 @@\n-one\n+ONE\n", "invalid_diff",
	        "a hunk without \"--- path\" and \"+++ path\" before it");
	refused(&a, "new", "--- a/new\n+++ b/new\n@@ -1 +1 @@\n-one\n+ONE\n", "patch_conflict", "");
	refused(&a, "f", "--- a/f\n+++ b/../../f\n@@ -1 +1 @@\n-one\n+ONE\n", "invalid_diff", "");
	expect("SELECT count(*) FROM request", "0\n");
}
END_TEST

#define ONE_HUNK "@@ -1 +1 @@\n-one\n+ONE\n"
#define HEADS "--- a/docs/f\n+++ b/docs/f\n"
#define TEXT "a\n\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\n"

/* What is meant as a diff but is none is not written over the file. */
START_TEST(what_is_plainly_meant_as_a_diff_of_the_file_does_not_become_the_file)
{
	static const char *const BODIES[] = {
		"```diff\n" HEADS ONE_HUNK "```\n",
		"Here it is:\n\n" HEADS ONE_HUNK,
		"Here it is:\n" ONE_HUNK,
		"\xEF\xBB\xBF" HEADS ONE_HUNK,
		"    --- a/docs/f\n    +++ b/docs/f\n    @@ -1 +1 @@\n    -one\n    +ONE\n",
		"\ndiff --git a/docs/f b/docs/f\nold mode 100644\nnew mode 100755\n",
		"*** docs/f\t2026-01-02\n--- docs/f\n***************\n*** 1 ****\n! one\n",
		"*** Begin Patch\n*** Add File: x\n+x\n*** Update File: docs/f\n@@\n-one\n+1\n",
		"Here:\n--- f 2026-01-02\n+++ f 2026-01-02\n" ONE_HUNK,
		"Here:\n--- \"a/docs/f\"\n+++ \"b/docs/f\"\n" ONE_HUNK,
		"Here:\ndiff --git a/f b/f\nnew mode 100755\n",
	};
	struct agent a;

	given_front();
	a = newcomer();
	ck_assert_int_eq(mkdir(below(workspace, "docs"), 0755), 0);
	put_file(workspace, "docs/f", "one\n");
	for (size_t i = 0; i < COUNT(BODIES); i++)
		refused(&a, "docs/f", BODIES[i], "invalid_diff",
		        "or the whole new content of the file");
	refused(&a, "docs/f", BODIES[0], "invalid_diff",
	        "the content is not a diff, but a diff of this file begins in its line 2: send it "
	        "alone");
	expect("SELECT count(*) FROM request", "0\n");
}
END_TEST

START_TEST(a_text_that_holds_diffs_is_one)
{
	static const struct {
		const char *path, *body;
	} CASES[] = {
		{ "a.md", "Use it so:\n```diff\n" HEADS ONE_HUNK "```\n" },
		{ "b.md", "Use it so:\n```diff\n" ONE_HUNK "```\n" },
		{ "fix.patch", "From 12ab Mon Sep 17 00:00:00 2001\n\n" HEADS ONE_HUNK },
		{ "test.sh", "cat >p <<EOF\n" HEADS ONE_HUNK "EOF\n" },
		{ "docs/f", TEXT HEADS ONE_HUNK },
		{ "f.md", "*** Begin Patch\n*** Update File: x\n@@\n-one\n+1\n" },
	};
	OWNED(str) struct str sql = { 0 };
	struct agent a;

	given_front();
	a = newcomer();
	for (size_t i = 0; i < COUNT(CASES); i++) {
		OWNED(char_ptr) char *one = proposal(CASES[i].path, CASES[i].body);
		struct wire w;

		agent_begin(&a, &w, "check_clearance", one, NULL);
		str_reset(&sql);
		str_addf(&sql, "SELECT count(*) FROM request WHERE file_path = '%s'",
		         CASES[i].path);
		expect_soon(sql.bytes, "1\n");
		wire_close(&w);
	}
}
END_TEST

START_TEST(every_path_of_a_diff_is_stored_with_what_becomes_of_it)
{
	static const char DIFF[] =
	    "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n+ONE\n"
	    "diff --git a/g b/sub/h\nold mode 100644\nnew mode 100755\nrename from g\n"
	    "rename to sub/h\n"
	    "diff --git a/f b/i\ncopy from f\ncopy to i\n"
	    "diff --git a/k b/l\ncopy from k\ncopy to l\n";
	OWNED(char_ptr) char *arguments = proposal("f", DIFF);
	OWNED(char_ptr) char *digest = NULL;
	struct agent a;
	struct wire w;

	given_front();
	a = newcomer();
	put_file(workspace, "f", "one\n");
	put_file(workspace, "g", "two\n");
	put_file(workspace, "k", "k\n");
	agent_begin(&a, &w, "check_clearance", arguments, NULL);
	expect_soon("SELECT path, action, other_path, mode, length(original_hash)"
	            " FROM request_file ORDER BY seq",
	            "f|modify||0|64\ng|delete|sub/h|0|64\nsub/h|create|g|33261|8\n"
	            "i|create|f|0|8\nk|read||0|64\nl|create|k|0|8\n");
	expect("SELECT r.original_hash = f.original_hash FROM request AS r JOIN request_file AS f"
	       " ON f.request_seq = r.seq AND f.path = r.file_path",
	       "1\n");
	wire_close(&w);
	digest = rows("SELECT digest FROM request");

	/* Any of the files as it was asked about makes the question. */
	put_file(workspace, "k", "changed\n");
	agent_begin(&a, &w, "check_clearance", arguments, NULL);
	expect_soon("SELECT count(DISTINCT digest), count(*) FROM request", "2|2\n");
	wire_close(&w);
	put_file(workspace, "k", "k\n");
	agent_begin(&a, &w, "check_clearance", arguments, NULL);
	expect_soon("SELECT count(*) FROM tool_call", "3\n");
	expect("SELECT count(DISTINCT digest) FROM request", "2\n");
	wire_close(&w);
}
END_TEST

/* It asks about f over w, and hangs up when the operator could answer. */
static void asks_and_leaves(struct agent *a, const char *arguments, const char *open)
{
	struct wire w;

	agent_begin(a, &w, "check_clearance", arguments, NULL);
	expect_soon(open, "1\n");
	wire_close(&w);
	expect_soon("SELECT count(*) FROM tool_call WHERE listener IS NOT NULL", "0\n");
}

START_TEST(asking_again_about_a_file_that_has_changed_closes_the_question_about_the_old_one)
{
	OWNED(char_ptr) char *arguments = proposal("f", "two\n");
	OWNED(char_ptr) char *other = proposal("g", "two\n");
	struct agent a;

	given_front();
	a = newcomer();
	put_file(workspace, "f", "one\n");
	asks_and_leaves(&a, other, "SELECT count(*) FROM inbox WHERE file_path = 'g'");
	asks_and_leaves(&a, arguments, "SELECT count(*) FROM inbox WHERE file_path = 'f'");
	put_file(workspace, "f", "ONE\n");
	asks_and_leaves(&a, arguments, "SELECT count(*) FROM request WHERE seq = 3");
	expect("SELECT file_path, state, decided_by, reason, delivered_at IS NOT NULL FROM request",
	       "g|pending|||0\n"
	       "f|expired|system:clock|a file of it has changed, and its agent has asked again|1\n"
	       "f|pending|||0\n");
	given("INSERT INTO decision (request_id, verdict, reason)"
	      " SELECT id, 'reject', 'no' FROM request WHERE seq = 2");
	expect("SELECT outcome, why FROM decision ORDER BY seq DESC LIMIT 1",
	       "too_late|no answer is needed any longer: a file of it has changed, and its agent "
	       "has asked again\n");
	/* as it was: a person is asked again */
	put_file(workspace, "f", "one\n");
	asks_and_leaves(&a, arguments, "SELECT count(*) FROM request WHERE seq = 4");
	expect("SELECT count(*) FROM inbox WHERE file_path = 'f'", "1\n");
}
END_TEST

START_TEST(asking_again_what_no_longer_fits_the_file_closes_the_question_too)
{
	OWNED(char_ptr)
	char *arguments = proposal("f", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n+two\n");
	OWNED(char_ptr) char *answer = NULL;
	struct agent a;

	given_front();
	a = newcomer();
	put_file(workspace, "f", "one\n");
	asks_and_leaves(&a, arguments, "SELECT count(*) FROM inbox");
	put_file(workspace, "f", "ONE\n");
	answer = agent_call(&a, "check_clearance", arguments);
	has(answer, "error_code", "patch_conflict");
	expect("SELECT state, reason FROM request",
	       "expired|a file of it has changed, and its agent has asked again\n");
}
END_TEST

START_TEST(an_unused_yes_to_a_question_about_an_old_file_ends_when_it_is_asked_again)
{
	OWNED(char_ptr) char *arguments = proposal("f", "two\n");
	OWNED(char_ptr) char *id = NULL;
	OWNED(char_ptr) char *applied = NULL;
	OWNED(str) struct str forced = { 0 };
	struct agent a;

	given_front();
	a = newcomer();
	put_file(workspace, "f", "one\n");
	asks_and_leaves(&a, arguments, "SELECT count(*) FROM inbox");
	approve_all();
	put_file(workspace, "f", "ONE\n");
	asks_and_leaves(&a, arguments, "SELECT count(*) FROM request WHERE seq = 2");
	expect("SELECT state, decided_by <> 'system:clock' FROM request", "expired|1\npending|\n");
	id = rows("SELECT id FROM request WHERE seq = 1");
	str_addf(&forced, "{\"request_id\":\"%.36s\",\"force\":true}", id);
	applied = agent_call(&a, "check_diff", forced.bytes);
	has(applied, "error_code", "not_approved");
	says(member(applied, "error_message"),
	     "a file of it has changed, and was asked about since; ask for clearance again");
	/* as it was: a person is asked again */
	put_file(workspace, "f", "one\n");
	asks_and_leaves(&a, arguments, "SELECT count(*) FROM request WHERE seq = 3");
	expect("SELECT count(*) FROM inbox", "1\n");
}
END_TEST

/* As the file was when the operator said no: that question is found again, although it is older. */
START_TEST(a_file_that_is_again_as_it_was_ends_the_yes_to_what_it_was_in_between)
{
	OWNED(char_ptr) char *arguments = proposal("f", "two\n");
	OWNED(char_ptr) char *again = NULL;
	OWNED(char_ptr) char *request = NULL;
	OWNED(char_ptr) char *applied = NULL;
	OWNED(str) struct str forced = { 0 };
	struct agent a;

	given_front();
	a = newcomer();
	put_file(workspace, "f", "ONE\n");
	asks_and_leaves(&a, arguments, "SELECT count(*) FROM inbox");
	given("INSERT INTO decision (request_id, verdict, reason)"
	      " SELECT id, 'reject', 'not over this' FROM inbox");
	put_file(workspace, "f", "one\n");
	asks_and_leaves(&a, arguments, "SELECT count(*) FROM inbox");
	approve_all();
	put_file(workspace, "f", "ONE\n");
	again = agent_call(&a, "check_clearance", arguments);
	has(again, "status", "rejected");
	has(again, "reason", "not over this");
	expect("SELECT state FROM request", "rejected\nexpired\n");
	request = rows("SELECT id FROM request WHERE seq = 2");
	str_addf(&forced, "{\"request_id\":\"%.36s\",\"force\":true}", request);
	applied = agent_call(&a, "check_diff", forced.bytes);
	has(applied, "error_code", "not_approved");
}
END_TEST

START_TEST(a_question_about_an_old_file_that_somebody_waits_for_stays_open)
{
	OWNED(char_ptr) char *arguments = proposal("f", "two\n");
	struct agent a;
	struct wire first, second;

	given_front();
	a = newcomer();
	put_file(workspace, "f", "one\n");
	agent_begin(&a, &first, "check_clearance", arguments, NULL);
	expect_soon("SELECT count(*) FROM tool_call WHERE listener IS NOT NULL", "1\n");
	put_file(workspace, "f", "ONE\n");
	agent_begin(&a, &second, "check_clearance", arguments, NULL);
	expect_soon("SELECT count(*) FROM inbox", "2\n");
	wire_close(&first);
	wire_close(&second);
}
END_TEST

START_TEST(a_no_to_a_question_about_an_old_file_goes_with_the_answer_to_the_new_one)
{
	OWNED(char_ptr) char *arguments = proposal("f", "two\n");
	OWNED(char_ptr) char *message = NULL;
	struct agent a;
	struct wire w;

	given_front();
	a = newcomer();
	put_file(workspace, "f", "one\n");
	asks_and_leaves(&a, arguments, "SELECT count(*) FROM inbox");
	given("INSERT INTO decision (request_id, verdict, reason)"
	      " SELECT id, 'reject', 'use g' FROM inbox");
	put_file(workspace, "f", "ONE\n");
	agent_begin(&a, &w, "check_clearance", arguments, NULL);
	expect_soon("SELECT count(*) FROM inbox", "1\n");
	approve_all();
	message = agent_message(&w);
	wire_close(&w);
	has(message, "result.structuredContent.status", "approved");
	says(member(message, "result.structuredContent.operator_says.0"), "rejected: use g");
	has(message, "result.structuredContent.operator_says.1", "");
}
END_TEST

START_TEST(a_new_file_that_a_diff_names_on_both_sides_is_shown_as_new_and_as_no_copy)
{
	OWNED(char_ptr)
	char *arguments = proposal("new", "--- a/new\n+++ b/new\n@@ -0,0 +1 @@\n+x\n");
	struct agent a;
	struct wire w;

	given_front();
	a = newcomer();
	agent_begin(&a, &w, "check_clearance", arguments, NULL);
	expect_soon("SELECT effect FROM request",
	            "--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n\n");
	wire_close(&w);
}
END_TEST

/* Another name of a file of the workspace. */
static void join(const char *name, const char *file)
{
	char from[PATH_MAX];

	(void)snprintf(from, sizeof(from), "%s", below(workspace, file));
	ck_assert_int_eq(link(from, below(workspace, name)), 0);
}

START_TEST(of_a_file_with_several_names_the_question_says_what_becomes_of_the_others)
{
	OWNED(char_ptr) char *one = proposal("f", "two\n"), *many = NULL;
	struct agent a;
	struct wire w;

	given_front();
	a = newcomer();
	put_file(workspace, "f", "one\n");
	put_file(workspace, "g", "one\n");
	join("f2", "f");
	join("f3", "f");
	join("g2", "g");
	agent_begin(&a, &w, "check_clearance", one, NULL);
	expect_soon("SELECT description FROM request",
	            "f has 3 names (hard links): those not listed here keep the old content\n");
	wire_close(&w);
	free(one);
	one = proposal("new", "two\n");
	agent_begin(&a, &w, "check_clearance", one, NULL);
	expect_soon("SELECT description IS NULL FROM request WHERE file_path = 'new'", "1\n");
	wire_close(&w);
	many = proposal("g", "--- a/g\n+++ b/g\n@@ -1 +1 @@\n-one\n+two\n"
	                     "--- a/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n"
	                     "diff --git a/g2 b/h\ncopy from g2\ncopy to h\n");
	agent_begin(&a, &w, "check_clearance", many, NULL);
	expect_soon("SELECT description FROM request WHERE file_path = 'g'",
	            "g has 2 names (hard links): those not listed here keep the old content\n"
	            "f has 3 names (hard links): those not listed here keep the old content\n");
	wire_close(&w);
}
END_TEST

/* A file that policy.always_ask names, and another name of it where the policy allows writing. */
static void given_secret_with_two_names(const char *asked)
{
	OWNED(str) struct str sql = { 0 };

	fresh_store();
	given_front_settings(workspace);
	str_addf(&sql,
	         "INSERT OR REPLACE INTO setting (name, value, source, updated_at) VALUES "
	         "('policy.always_ask', '[\"%s\"]', 'file', '2026-02-08T09:30:00.000Z')",
	         asked);
	given(sql.bytes);
	ck_assert_int_eq(shell(NULL, "mkdir %s/docs %s/.intercom", workspace, workspace), 0);
	put_file(
	    workspace, ".intercom/settings.json",
	    "{\"enabled\":true,\"file_patterns\":{\"write\":[\"docs/**\"],\"read\":[\"**\"]}}");
	put_file(workspace, "secret.txt", "one\nTOKEN\n");
	put_file(workspace, "docs/plain", "one\nTOKEN\n");
	join("docs/same", "secret.txt");
	join("docs/plain2", "docs/plain");
	start_front();
}

START_TEST(no_conflict_tells_what_is_in_a_file_that_is_always_asked)
{
	static const char *const FILES[] = { "secret.txt", "docs/same" };
	struct agent a;

	given_secret_with_two_names("secret.txt");
	a = newcomer();
	for (size_t i = 0; i < COUNT(FILES); i++) {
		OWNED(str) struct str diff = { 0 };
		OWNED(str) struct str text = { 0 };

		str_addf(&diff, "--- a/%1$s\n+++ b/%1$s\n@@ -2 +2 @@\n-zzzz\n+y\n", FILES[i]);
		str_addf(&text,
		         "%s: the diff does not fit the file, or fits in more than one place; read "
		         "the file again",
		         FILES[i]);
		refused(&a, FILES[i], diff.bytes, "patch_conflict", text.bytes);
		str_reset(&diff);
		str_addf(&diff,
		         "--- a/%1$s\n+++ b/%1$s\n@@ -2 +2 @@\n-TOKEN\n\\ No newline at end of "
		         "file\n+y\n",
		         FILES[i]);
		refused(&a, FILES[i], diff.bytes, "patch_conflict", text.bytes);
	}
	/* nor by which of two files does not match that the other does */
	refused(&a, "secret.txt",
	        "--- a/secret.txt\n+++ b/secret.txt\n@@ -2 +2 @@\n-TOKEN\n+y\n"
	        "--- a/docs/plain\n+++ b/docs/plain\n@@ -2 +2 @@\n-zzzz\n+y\n",
	        "patch_conflict", "docs/plain: hunk 1 of 1");
	refused(&a, "secret.txt",
	        "--- a/secret.txt\n+++ b/secret.txt\n@@ -2 +2 @@\n-guess\n+y\n"
	        "--- a/docs/plain\n+++ b/docs/plain\n@@ -2 +2 @@\n-zzzz\n+y\n",
	        "patch_conflict", "docs/plain: hunk 1 of 1");
	refused(&a, "secret.txt", "--- a/secret.txt\n+++ /dev/null\n@@ -2 +0,0 @@\n-TOKEN\n",
	        "patch_conflict",
	        "secret.txt: the diff does not fit the file, or fits in more than one place");
	refused(&a, "docs/plain", "--- a/docs/plain\n+++ b/docs/plain\n@@ -2 +2 @@\n-zzzz\n+y\n",
	        "patch_conflict", "at line 2: expected \"zzzz\", found \"TOKEN\"");
	expect("SELECT count(*) FROM tool_call WHERE is_error = 1 AND request_seq IS NULL", "8\n");
}
END_TEST

START_TEST(no_conflict_tells_of_a_workspace_whose_own_folder_is_always_asked)
{
	struct agent a;

	fresh_store();
	given_front_settings(workspace);
	given("INSERT OR REPLACE INTO setting (name, value, source, updated_at) VALUES "
	      "('policy.always_ask', '[\"intercom-test-*\"]', 'file', '2026-02-08T09:30:00.000Z')");
	put_file(workspace, "k", "one\nTOKEN\n");
	start_front();
	a = newcomer();
	refused(&a, "k", "--- a/k\n+++ b/k\n@@ -2 +2 @@\n-zzzz\n+y\n", "patch_conflict",
	        "k: the diff does not fit the file, or fits in more than one place");
}
END_TEST

START_TEST(by_the_policy_another_name_of_what_is_always_asked_is_asked)
{
	static const struct {
		const char *file, *diff;
	} ASKED[] = {
		{ "docs/a", "diff --git a/docs/same b/docs/a\ncopy from docs/same\n"
		            "copy to docs/a\n" },
		{ "docs/b", "diff --git a/docs/same b/docs/b\nrename from docs/same\n"
		            "rename to docs/b\n" },
		{ "docs/same", "--- a/docs/same\n+++ b/docs/same\n@@ -0,0 +1 @@\n+x\n" },
	};
	OWNED(char_ptr)
	char *plain = proposal("docs/d", "diff --git a/docs/plain b/docs/d\n"
	                                 "copy from docs/plain\ncopy to docs/d\n");
	OWNED(char_ptr) char *answer = NULL;
	struct agent a;

	given_secret_with_two_names("secret.txt");
	a = newcomer();
	for (size_t i = 0; i < COUNT(ASKED); i++) {
		OWNED(char_ptr) char *arguments = proposal(ASKED[i].file, ASKED[i].diff);
		OWNED(str) struct str waits = { 0 };

		str_addf(&waits, "SELECT count(*) FROM inbox WHERE file_path = '%s'",
		         ASKED[i].file);
		asks_and_leaves(&a, arguments, waits.bytes);
	}
	answer = agent_call(&a, "check_clearance", plain);
	has(answer, "status", "approved");
}
END_TEST

START_TEST(auto_check_allows_neither_to_read_nor_to_write_what_is_always_asked)
{
	static const struct {
		const char *file, *reads, *writes;
	} FILES[] = { { "secret.txt", "false", "false" },
		      { "docs/same", "false", "false" },
		      { "docs/plain", "true", "false" }, /* it has two names */
		      { "docs/new", "true", "true" },
		      { ".mcp.json", "true", "false" } };
	struct agent a;

	given_secret_with_two_names("secret.txt");
	a = newcomer();
	for (size_t i = 0; i < COUNT(FILES); i++) {
		OWNED(str) struct str reads = { 0 }, writes = { 0 };
		OWNED(char_ptr) char *to_read = NULL, *to_write = NULL;

		str_addf(&reads, "{\"tool_name\":\"read_file\",\"context\":{\"file_path\":\"%s\"}}",
		         FILES[i].file);
		str_addf(&writes, "{\"tool_name\":\"edit\",\"context\":{\"file_path\":\"%s\"}}",
		         FILES[i].file);
		to_read = agent_call(&a, "auto_check", reads.bytes);
		has(to_read, "auto_approved", FILES[i].reads);
		to_write = agent_call(&a, "auto_check", writes.bytes);
		has(to_write, "auto_approved", FILES[i].writes);
	}
}
END_TEST

/* Though the policy allows both names. */
START_TEST(who_deletes_or_renames_by_a_links_name_is_asked_and_told_that_it_will_lead_nowhere)
{
	OWNED(char_ptr) char *gone = NULL, *moved = NULL;
	struct agent a;
	struct wire w;

	given_secret_with_two_names("secret.txt");
	a = newcomer();
	put_file(workspace, "docs/solo", "one\n");
	ck_assert_int_eq(symlink("solo", below(workspace, "docs/link")), 0);
	gone = proposal("docs/link", "--- a/docs/link\n+++ /dev/null\n@@ -1 +0,0 @@\n-one\n");
	agent_begin(&a, &w, "check_clearance", gone, NULL);
	expect_soon("SELECT state, description FROM request",
	            "pending|docs/link is a symlink and stays; it will lead nowhere, as docs/solo "
	            "is what goes\n");
	wire_close(&w);
	moved = proposal("docs/new", "diff --git a/docs/link b/docs/new\nrename from docs/link\n"
	                             "rename to docs/new\n");
	agent_begin(&a, &w, "check_clearance", moved, NULL);
	expect_soon("SELECT count(*) FROM request WHERE description LIKE 'docs/link is a symlink%'",
	            "2\n");
	wire_close(&w);
	expect("SELECT count(*) FROM request", "2\n");
	ck_assert_int_eq(symlink(".", below(workspace, "docs/here")), 0);
	free(gone);
	gone = proposal("docs/here/solo", "--- a/docs/here/solo\n+++ /dev/null\n@@ -1 +0,0 @@\n"
	                                  "-one\n");
	agent_begin(&a, &w, "check_clearance", gone, NULL); /* no link is left by this one */
	expect_soon("SELECT state, description IS NULL FROM request WHERE file_path LIKE '%here%'",
	            "approved|1\n");
	wire_close(&w);
}
END_TEST

START_TEST(in_a_workspace_whose_own_folder_is_always_asked_every_change_is)
{
	OWNED(char_ptr)
	char *arguments = proposal("docs/plain", "--- a/docs/plain\n+++ b/docs/plain\n"
	                                         "@@ -1,2 +1 @@\n one\n-TOKEN\n");
	struct agent a;

	given_secret_with_two_names("intercom-test-*");
	ck_assert_int_eq(unlink(below(workspace, "docs/plain2")), 0);
	a = newcomer();
	asks_and_leaves(&a, arguments, "SELECT count(*) FROM inbox WHERE file_path = 'docs/plain'");
}
END_TEST

START_TEST(each_path_of_a_diff_is_judged_by_itself)
{
	static const char F[] = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n+ONE\n";
	static const struct {
		const char *part, *code, *text;
	} PARTS[] = {
		{ "--- /dev/null\n+++ b/.git/hooks/x\n@@ -0,0 +1 @@\n+x\n", "path_violation",
		  "is inside .git" },
		{ "--- /dev/null\n+++ b/../x\n@@ -0,0 +1 @@\n+x\n", "path_violation", "outside" },
		{ "diff --git a/f b/.intercom/p\ncopy from f\ncopy to .intercom/p\n",
		  "path_violation", "is inside .intercom" },
		{ "diff --git a/link/secret b/s\ncopy from link/secret\ncopy to s\n",
		  "path_violation", "outside the workspace" },
		{ "--- /dev/null\n+++ \"b/x\\ny\"\n@@ -0,0 +1 @@\n+x\n", "path_violation",
		  "\"x\\x0ay\" has a control byte" },
		{ "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-one\n+1\n", "invalid_diff",
		  "two parts of the diff write f" },
		{ "diff --git a/g b/m\nrename from g\nrename to m\n"
		  "diff --git a/g b/g\ndeleted file mode 100644\n"
		  "--- a/g\n+++ /dev/null\n@@ -1 +0,0 @@\n-g\n",
		  "invalid_diff", "two parts of the diff delete or rename g" },
		{ "--- a/g\n+++ /dev/null\n@@ -1 +0,0 @@\n-g\n"
		  "diff --git a/g b/m\nrename from g\nrename to m\n",
		  "invalid_diff", "two parts of the diff delete or rename g" },
		{ "diff --git a/g b/m\nrename from g\nrename to m\n"
		  "diff --git a/g b/n\nrename from g\nrename to n\n",
		  "invalid_diff", "two parts of the diff delete or rename g" },
		{ "--- a/alias\n+++ b/alias\n@@ -1 +1 @@\n-one\n+1\n", "invalid_diff",
		  "f and alias are the same file" },
		{ "--- /dev/null\n+++ b/f/g\n@@ -0,0 +1 @@\n+x\n", "patch_conflict",
		  "Not a directory" },
		{ "--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n--- /dev/null\n+++ b/n/g\n"
		  "@@ -0,0 +1 @@\n+x\n",
		  "invalid_diff", "the diff has n as a file and, in n/g, as a directory" },
		{ "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 "
		  "@@\n"
		  "+f\n",
		  "invalid_diff", "a symlink" },
		{ "diff --git a/none b/m\nrename from none\nrename to m\n", "patch_conflict",
		  "none: the file does not exist" },
		{ "diff --git a/g b/h\nrename from g\nrename to h\n", "patch_conflict",
		  "makes it of g, but it exists" },
		{ "--- a/pipe\n+++ b/pipe\n@@ -1 +1 @@\n-one\n+1\n", "patch_conflict",
		  "is a FIFO" },
		{ "diff --git a/b b/b\nBinary files a/b and b/b differ\n", "invalid_diff",
		  "binary patches are not supported" },
	};
	struct agent a;

	given_front();
	a = newcomer();
	put_file(workspace, "f", "one\n");
	put_file(workspace, "g", "g\n");
	put_file(workspace, "h", "h\n");
	ck_assert_int_eq(shell(NULL,
	                       "cd %s && ln -s f alias && mkfifo pipe && mkdir ../out && echo s >"
	                       " ../out/secret && ln -s ../out link",
	                       workspace),
	                 0);
	for (size_t i = 0; i < COUNT(PARTS); i++) {
		OWNED(str) struct str diff = { 0 };

		str_addf(&diff, "%s%s", F, PARTS[i].part);
		refused(&a, "f", diff.bytes, PARTS[i].code, PARTS[i].text);
	}
	expect("SELECT count(*) FROM request", "0\n");
}
END_TEST

START_TEST(the_database_and_its_run_directory_are_not_asked_about)
{
	static const char *const NAMES[] = { "", "-wal", "-shm", "-journal", ".before-3" };
	char path[900];
	struct agent a;

	given_front_at(false);
	a = newcomer();
	for (size_t i = 0; i < COUNT(NAMES); i++) {
		(void)snprintf(path, sizeof(path), "%.700s%s", test_db(), NAMES[i]);
		refused(&a, path, "x", "path_violation", "belongs to agent-intercom's database");
	}
	(void)snprintf(path, sizeof(path), "%.700s/applier.bell", test_run());
	refused(&a, path, "x", "path_violation", "is one of agent-intercom's own files");
	expect("PRAGMA integrity_check", "ok\n");
}
END_TEST

START_TEST(full_content_over_a_file_is_shown_as_what_it_changes)
{
	struct agent a;
	struct wire w;
	OWNED(char_ptr) char *arguments = proposal("f", "one\nTWO\nthree\n");

	given_front();
	a = newcomer();
	put_file(workspace, "f", "one\ntwo\nthree\n");
	agent_begin(&a, &w, "check_clearance", arguments, NULL);
	expect_soon(
	    "SELECT replaces_file, body = 'one' || char(10) || 'TWO' || char(10) || 'three' ||"
	    " char(10), effect LIKE '%-two%+TWO%', effect LIKE '%-one%' FROM request",
	    "1|1|1|0\n");
	wire_close(&w);
}
END_TEST

START_TEST(a_big_text_is_kept_once)
{
	struct agent a;
	struct wire w;
	OWNED(str) struct str text = { 0 };
	OWNED(char_ptr) char *arguments = NULL;

	given_front();
	a = newcomer();
	while (text.length < 3 * MIB)
		str_addf(&text, "line %zu of a long file\n", text.length);
	arguments = proposal("big", text.bytes);
	for (int i = 0; i < 2; i++) {
		agent_begin(&a, &w, "check_clearance", arguments, NULL);
		expect_soon(i ? "SELECT count(*) FROM tool_call"
		              : "SELECT count(*) - 1 FROM tool_call",
		            i ? "2\n" : "0\n");
		wire_close(&w);
	}
	expect("SELECT count(*), count(body_seq), count(body) FROM request", "1|1|0\n");
	/* the text, the arguments, and what it changes: each once, though it was asked twice */
	expect("SELECT count(*) <= 3 FROM content WHERE size > 3000000", "1\n");
	expect("SELECT count(*) FROM content JOIN request ON content.seq = body_seq"
	       " WHERE size > 3000000",
	       "1\n");
	/* before the call was recorded, which begins with the question and ends with the arguments
	 */
	expect("SELECT DISTINCT arguments_seq < body_seq FROM tool_call, request", "1\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("front_proposals");
	TCase *c = tcase_create("front");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 40);
	tcase_add_test(c, no_path_leads_out_of_the_workspace);
	tcase_add_test(c, a_path_may_be_said_absolutely_or_with_dots);
	tcase_add_test(c, a_diff_is_about_the_file_it_is_asked_for_and_fits_it);
	tcase_add_test(c, what_is_plainly_meant_as_a_diff_of_the_file_does_not_become_the_file);
	tcase_add_test(c, a_text_that_holds_diffs_is_one);
	tcase_add_test(c, every_path_of_a_diff_is_stored_with_what_becomes_of_it);
	tcase_add_test(
	    c, asking_again_about_a_file_that_has_changed_closes_the_question_about_the_old_one);
	tcase_add_test(c, a_question_about_an_old_file_that_somebody_waits_for_stays_open);
	tcase_add_test(c, asking_again_what_no_longer_fits_the_file_closes_the_question_too);
	tcase_add_test(c,
	               an_unused_yes_to_a_question_about_an_old_file_ends_when_it_is_asked_again);
	tcase_add_test(c, a_file_that_is_again_as_it_was_ends_the_yes_to_what_it_was_in_between);
	tcase_add_test(c, a_no_to_a_question_about_an_old_file_goes_with_the_answer_to_the_new_one);
	tcase_add_test(c,
	               a_new_file_that_a_diff_names_on_both_sides_is_shown_as_new_and_as_no_copy);
	tcase_add_test(c,
	               of_a_file_with_several_names_the_question_says_what_becomes_of_the_others);
	tcase_add_test(c, no_conflict_tells_what_is_in_a_file_that_is_always_asked);
	tcase_add_test(c, no_conflict_tells_of_a_workspace_whose_own_folder_is_always_asked);
	tcase_add_test(c, by_the_policy_another_name_of_what_is_always_asked_is_asked);
	tcase_add_test(c, auto_check_allows_neither_to_read_nor_to_write_what_is_always_asked);
	tcase_add_test(
	    c, who_deletes_or_renames_by_a_links_name_is_asked_and_told_that_it_will_lead_nowhere);
	tcase_add_test(c, in_a_workspace_whose_own_folder_is_always_asked_every_change_is);
	tcase_add_test(c, each_path_of_a_diff_is_judged_by_itself);
	tcase_add_test(c, the_database_and_its_run_directory_are_not_asked_about);
	tcase_add_test(c, full_content_over_a_file_is_shown_as_what_it_changes);
	tcase_add_test(c, a_big_text_is_kept_once);
	suite_add_tcase(s, c);
	return run_suite(s);
}
