/* applier: given an approved proposal, what is in the file and in the rows afterwards. The kill
 * points are in tests/crash/. Uses the real binary; `race_*` uses its library to get in between. */
#include "apply.h"
#include "file_change.h"
#include "harness.h"
#include "proposal.h"
#include "safe_path.h"
#include "sha256.h"
#include "str.h"
#include "workspace.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MAGIC_LINK "/proc/self/root"

enum { BATCH = 16 };

/* The newest job, its request and its caller. */
static const char OUTCOME[] =
    "SELECT a.state, a.error_code, r.state, t.state, (SELECT count(*) FROM answer"
    " WHERE call_seq = t.seq) FROM apply AS a JOIN request AS r ON r.seq = a.request_seq"
    " JOIN tool_call AS t ON t.apply_seq = a.seq ORDER BY a.seq DESC LIMIT 1";
static const char APPLIED[] = "applied||consumed|answered|1\n";
static const char MESSAGE[] = "SELECT error_message FROM apply ORDER BY seq DESC LIMIT 1";
static const char CHANGES[] = "SELECT path, action, bytes, state FROM file_change ORDER BY seq";

/* ---- files ---- */

static mode_t mode_of(const char *name)
{
	struct stat st;

	ck_assert_int_eq(lstat(in(name), &st), 0);
	return st.st_mode & 07777;
}

static int count_found(const char *what)
{
	char command[WORKSPACE_BYTES + 80];
	FILE *p;
	int n = -1;

	(void)snprintf(command, sizeof(command), "find '%s' -mindepth 1 %s | wc -l", ws, what);
	p = popen(command, "r");
	ck_assert_ptr_nonnull(p);
	ck_assert_int_eq(fscanf(p, "%d", &n), 1);
	(void)pclose(p);
	return n;
}

/* How many files, directories and links there are below the workspace. */
static int entries(void)
{
	return count_found("");
}

static int hidden_entries(void)
{
	return count_found("-name '.intercom-*'");
}

/* ---- rows ---- */

/* All of it at once: asked, approved, called, worked on. */
static void apply(const char *path, const char *body)
{
	approve(path, body);
	call_check_diff(false);
	run_worker("applier");
}

static void is_refused(const char *code, const char *beginning)
{
	char outcome[100];
	OWNED(char_ptr) char *message = rows(MESSAGE);

	(void)snprintf(outcome, sizeof(outcome), "refused|%s|approved|answered|1\n", code);
	ck_assert_msg(strncmp(message, beginning, strlen(beginning)) == 0, "%s", message);
	expect(OUTCOME, outcome);
	expect("SELECT count(*) FROM file_change WHERE state <> 'undone'"
	       " AND apply_seq = (SELECT max(seq) FROM apply)",
	       "0\n");
}

/* ---- what is written ---- */

START_TEST(a_new_file_is_written)
{
	begin();
	(void)umask(0022);
	apply("a.txt", "hello\n");
	file_is("a.txt", "hello\n");
	ck_assert_uint_eq(mode_of("a.txt"), 0644);
	expect(OUTCOME, APPLIED);
	expect(CHANGES, "a.txt|create|6|done\n");
	expect("SELECT kind, actor FROM event WHERE kind LIKE 'apply.%'",
	       "apply.applied|applier\n");
	expect("SELECT claim, attempts, forced FROM apply", "1|1|0\n");
	ck_assert_int_eq(entries(), 1);
}
END_TEST

START_TEST(missing_directories_are_made)
{
	begin();
	apply("src/deep/er/a.txt", "x");
	file_is("src/deep/er/a.txt", "x");
	expect(OUTCOME, APPLIED);
	ck_assert_int_eq(entries(), 4);
}
END_TEST

START_TEST(whole_content_replaces_a_file)
{
	begin();
	file("a.txt", "old\n");
	apply("a.txt", "new\n");
	file_is("a.txt", "new\n");
	expect(CHANGES, "a.txt|modify|4|done\n");
	expect(OUTCOME, APPLIED);
	ck_assert_int_eq(entries(), 1);
}
END_TEST

START_TEST(a_big_content_comes_from_the_content_table)
{
	OWNED(str) struct str big = STR_INIT;

	begin();
	for (int i = 0; i < 50000; i++)
		str_addf(&big, "line %d of it's content\n", i);
	apply("big.txt", big.bytes);
	file_is("big.txt", big.bytes);
	expect(OUTCOME, APPLIED);
}
END_TEST

START_TEST(an_empty_file_can_be_made)
{
	begin();
	apply("empty", "");
	file_is("empty", "");
	expect(CHANGES, "empty|create|0|done\n");
}
END_TEST

START_TEST(a_diff_is_applied)
{
	begin();
	file("a.txt", "one\ntwo\nthree\n");
	apply("a.txt", "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n");
	file_is("a.txt", "one\n2\nthree\n");
	expect(CHANGES, "a.txt|modify|12|done\n");
	expect(OUTCOME, APPLIED);
}
END_TEST

START_TEST(a_diff_makes_and_deletes_files)
{
	begin();
	(void)umask(0022);
	apply("d/a.sh", "diff --git a/d/a.sh b/d/a.sh\nnew file mode 100755\n--- /dev/null\n"
	                "+++ b/d/a.sh\n@@ -0,0 +1 @@\n+true\n");
	file_is("d/a.sh", "true\n");
	ck_assert_uint_eq(mode_of("d/a.sh"), 0755);
	expect(OUTCOME, APPLIED);
	apply("d/a.sh", "--- a/d/a.sh\n+++ /dev/null\n@@ -1 +0,0 @@\n-true\n");
	file_is("d/a.sh", "(none)");
	expect(OUTCOME, APPLIED);
	expect(CHANGES, "d/a.sh|create|5|done\nd/a.sh|delete|0|done\n");
	expect("SELECT hash_after, temp_name FROM file_change WHERE action = 'delete'",
	       "new_file|\n");
}
END_TEST

START_TEST(a_diff_that_changes_nothing_is_fine)
{
	begin();
	file("a.txt", "one\n");
	apply("a.txt", "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+one\n");
	file_is("a.txt", "one\n");
	expect(OUTCOME, APPLIED);
}
END_TEST

START_TEST(line_ends_survive)
{
	begin();
	file("crlf.txt", "one\r\ntwo\r\n");
	apply("crlf.txt", "--- a/crlf.txt\n+++ b/crlf.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
	file_is("crlf.txt", "one\r\n2\r\n");
	file("open.txt", "one\ntwo");
	apply("open.txt", "--- a/open.txt\n+++ b/open.txt\n@@ -1,2 +1,2 @@\n-one\n+1\n two\n"
	                  "\\ No newline at end of file\n");
	file_is("open.txt", "1\ntwo");
	expect(OUTCOME, APPLIED);
}
END_TEST

START_TEST(modes_survive)
{
	begin();
	(void)umask(0077);
	file("run.sh", "a");
	file("secret", "a");
	file("locked", "a");
	ck_assert_int_eq(chmod(in("run.sh"), 0755), 0);
	ck_assert_int_eq(chmod(in("secret"), 0600), 0);
	ck_assert_int_eq(chmod(in("locked"), 0444), 0);
	apply("run.sh", "b");
	apply("secret", "b");
	apply("locked", "b");
	ck_assert_uint_eq(mode_of("run.sh"), 0755);
	ck_assert_uint_eq(mode_of("secret"), 0600);
	ck_assert_uint_eq(mode_of("locked"), 0444);
	apply("secret", "diff --git a/secret b/secret\nold mode 100600\nnew mode 100755\n");
	ck_assert_uint_eq(mode_of("secret"), 0700);
	file_is("secret", "b");
	expect(OUTCOME, APPLIED);
}
END_TEST

START_TEST(the_owner_survives)
{
	struct stat st;

	SKIP_UNLESS(geteuid() == 0, "root, who can give a file away");
	begin();
	file("a.txt", "old");
	ck_assert_int_eq(chown(in("a.txt"), NOBODY_ID, NOBODY_ID), 0);
	apply("a.txt", "new");
	file_is("a.txt", "new");
	ck_assert_int_eq(stat(in("a.txt"), &st), 0);
	ck_assert_uint_eq(st.st_uid, NOBODY_ID);
	ck_assert_uint_eq(st.st_gid, NOBODY_ID);
}
END_TEST

/* Whether a file gets an attribute: not on every file system. */
static bool gets_attribute(const char *name)
{
	return setxattr(in(name), "user.origin", "there", 5, 0) == 0;
}

START_TEST(attributes_survive)
{
	char value[8] = "";

	begin();
	file("a.txt", "old");
	SKIP_UNLESS(gets_attribute("a.txt"), "extended attributes in $TMPDIR");
	apply("a.txt", "new");
	file_is("a.txt", "new");
	ck_assert_int_eq(getxattr(in("a.txt"), "user.origin", value, sizeof(value)), 5);
}
END_TEST

START_TEST(other_names_of_a_file_keep_the_old_content)
{
	begin();
	file("a.txt", "old");
	ck_assert_int_eq(link(in("a.txt"), in("same.txt")), 0);
	apply("a.txt", "new");
	file_is("a.txt", "new");
	file_is("same.txt", "old");
	expect(OUTCOME, APPLIED);
}
END_TEST

START_TEST(holes_are_filled_and_read_as_before)
{
	enum { HOLE = 1 << 20 };
	OWNED(str) struct str diff = STR_INIT;
	struct stat st;
	FILE *f;

	begin();
	f = fopen(in("a.txt"), "we");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fseek(f, HOLE, SEEK_SET), 0);
	(void)fputs("\none\n", f);
	ck_assert_int_eq(fclose(f), 0);
	apply("a.txt", "--- a/a.txt\n+++ b/a.txt\n@@ -2 +2 @@\n-one\n+two\n");
	expect(OUTCOME, APPLIED);
	ck_assert_int_eq(stat(in("a.txt"), &st), 0);
	ck_assert_int_eq(st.st_size, HOLE + 5);
	ck_assert_int_ge(st.st_blocks * 512, HOLE);
	f = fopen(in("a.txt"), "re");
	ck_assert_ptr_nonnull(f);
	for (int i = 0; i < HOLE; i++)
		ck_assert_int_eq(fgetc(f), 0);
	(void)fclose(f);
}
END_TEST

START_TEST(attributes_stay_behind_where_the_setting_says_so)
{
	begin();
	file("a.txt", "old");
	SKIP_UNLESS(gets_attribute("a.txt"), "extended attributes in $TMPDIR");
	given("INSERT INTO setting VALUES ('apply.keep_attributes', 'false', 'file',"
	      " '2026-01-01T00:00:00.000Z')");
	apply("a.txt", "new");
	file_is("a.txt", "new");
	ck_assert_int_eq(getxattr(in("a.txt"), "user.origin", NULL, 0), -1);
	ck_assert_int_eq(errno, ENODATA);
}
END_TEST

START_TEST(context_that_differs_is_a_conflict_but_with_fuzz)
{
	static const char diff[] = "--- a/a.txt\n+++ b/a.txt\n@@ -1,5 +1,5 @@\n"
	                           " one\n two\n-three\n+3\n four\n five\n";

	begin();
	file("a.txt", "one\ntwo\nthree\nfour\nfive\n");
	approve("a.txt", diff);
	file("a.txt", "ONE\ntwo\nthree\nfour\nfive\n");
	call_check_diff(true);
	run_worker("applier");
	is_refused("patch_conflict", "patch conflict: a.txt: hunk 1 of 1 does not match at line 1");
	file_is("a.txt", "ONE\ntwo\nthree\nfour\nfive\n");
	given("INSERT INTO setting VALUES ('apply.fuzz_lines', '1', 'file',"
	      " '2026-01-01T00:00:00.000Z')");
	apply("a.txt", diff);
	file_is("a.txt", "ONE\ntwo\n3\nfour\nfive\n");
	expect(OUTCOME, APPLIED);
}
END_TEST

/* ---- how much it takes ---- */

enum { BIG_BYTES = 99 << 20, BIG_HUNKS = 10000, BIG_LINE = 50, WHERE_IT_IS = 3, MOVED = 5 };

#ifdef __SANITIZE_ADDRESS__
enum { CHECKING = 4 }; /* times the memory that it takes otherwise */
#else
enum { CHECKING = 1 };
#endif

/* A diff of BIG_HUNKS hunks, for a file that is written; moved: not where the diff says. */
static void given_big(struct str *diff, bool moved)
{
	FILE *f = fopen(in("big.txt"), "we");
	int lines = BIG_BYTES / BIG_LINE, step = lines / BIG_HUNKS;

	ck_assert_ptr_nonnull(f);
	if (moved)
		(void)fprintf(f, "%*s\n", BIG_LINE - 1, "before all others");
	for (int i = 1; i <= lines; i++)
		(void)fprintf(f, "%-*d\n", BIG_LINE - 1, i);
	ck_assert_int_eq(fclose(f), 0);
	str_add(diff, "--- a/big.txt\n+++ b/big.txt\n");
	for (int i = 0; i < BIG_HUNKS; i++) {
		int at = i * step + 1;

		str_addf(diff, "@@ -%d,3 +%d,3 @@\n %-*d\n-%-*d\n+changed\n %-*d\n", at, at,
		         BIG_LINE - 1, at, BIG_LINE - 1, at + 1, BIG_LINE - 1, at + 2);
	}
}

/* The most memory that a process needs that plans this and makes it ready to be written. */
static long peak_kib(const struct str *diff)
{
	const struct proposal p = { .workspace_root = ws,
		                    .file_path = "big.txt",
		                    .body = diff->bytes,
		                    .body_length = diff->length };
	struct rusage used;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		OWNED(plan) struct plan plan = PLAN_INIT;
		OWNED(file_change) struct file_change f = FILE_CHANGE_INIT;
		struct refusal why = { .code = NULL };
		int root = -1;

		if (workspace_open(ws, &root, NULL) || plan_look(root, &p, &plan, &why) ||
		    plan_work(&p, &plan, &why))
			_exit(1);
		file_change_take(root, &plan.files[0], NULL, &f);
		_exit(file_change_open(root, &f, &why) || file_change_stage(root, &f, &why));
	}
	ck_assert_int_eq(wait4(pid, &status, 0, &used), pid);
	ck_assert_int_eq(status, 0);
	return used.ru_maxrss;
}

START_TEST(a_big_file_and_ten_thousand_hunks_take_no_more_memory_than_is_said)
{
	for (int moved = 0; moved <= 1; moved++) {
		OWNED(str) struct str diff = STR_INIT;
		long times = moved ? MOVED : WHERE_IT_IS, peak;

		begin();
		given_big(&diff, moved);
		peak = peak_kib(&diff);
		(void)printf("99 MiB, %d hunks%s: %ld MiB\n", BIG_HUNKS, moved ? ", moved" : "",
		             peak / 1024);
		ck_assert_int_gt(peak, BIG_BYTES / 1024);
		ck_assert_int_lt(peak, times * CHECKING * (BIG_BYTES / 1024));
	}
}
END_TEST

START_TEST(a_link_inside_the_workspace_is_followed)
{
	begin();
	ck_assert_int_eq(mkdir(in("real"), 0755), 0);
	file("real/a.txt", "old");
	ck_assert_int_eq(symlink("real", in("dir")), 0);
	ck_assert_int_eq(symlink("real/a.txt", in("link.txt")), 0);
	apply("link.txt", "1");
	file_is("real/a.txt", "1");
	apply("dir/a.txt", "2");
	file_is("real/a.txt", "2");
	expect(CHANGES, "real/a.txt|modify|1|done\nreal/a.txt|modify|1|done\n");
	ck_assert_int_eq(entries(), 4);
}
END_TEST

START_TEST(jobs_are_done_in_order)
{
	begin();
	approve("a.txt", "1");
	call_check_diff(false);
	approve("b.txt", "2");
	call_check_diff(false);
	run_worker("applier");
	file_is("a.txt", "1");
	file_is("b.txt", "2");
	expect("SELECT a.seq, f.seq, a.state FROM apply AS a JOIN file_change AS f"
	       " ON f.apply_seq = a.seq ORDER BY a.seq",
	       "1|1|applied\n2|2|applied\n");
}
END_TEST

START_TEST(jobs_of_other_machines_are_left_alone)
{
	begin();
	approve("a.txt", "1");
	given("INSERT INTO apply (request_seq, host, state, created_at, updated_at) VALUES (1, "
	      "'other',"
	      " 'queued', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')");
	run_worker("applier");
	expect("SELECT state, claim FROM apply", "queued|0\n");
}
END_TEST

/* ---- many files at once ---- */

static void many_are_old(void)
{
	file_is("a.txt", "one\ntwo\nthree\n");
	file_is("gone.txt", "bye\n");
	file_is("old.sh", "true\n1\n");
	ck_assert_uint_eq(mode_of("old.sh"), 0750);
	ck_assert_uint_eq(mode_of("run"), 0640);
	ck_assert_int_eq(entries(), 4);
}

static void many_are_new(void)
{
	file_is("a.txt", "one\n2\nthree\n");
	file_is("new/dir/b.txt", "hello\n");
	file_is("gone.txt", "(none)");
	file_is("old.sh", "(none)");
	file_is("moved/new.sh", "true\n2\n");
	ck_assert_uint_eq(mode_of("moved/new.sh"), 0750);
	file_is("copy.txt", "one\ntwo\nthree\n");
	file_is("run", "x\n");
	ck_assert_uint_eq(mode_of("run"), 0750);
	ck_assert_int_eq(entries(), 8);
}

START_TEST(a_diff_of_many_files_is_written_whole)
{
	given_many();
	apply("a.txt", MANY);
	expect(OUTCOME, APPLIED);
	many_are_new();
	expect("SELECT path, action, other_path, bytes, state FROM file_change ORDER BY seq",
	       "a.txt|modify||12|done\nnew/dir/b.txt|create||6|done\n"
	       "gone.txt|delete||0|done\nold.sh|delete|moved/new.sh|0|done\n"
	       "moved/new.sh|create|old.sh|7|done\ncopy.txt|create|a.txt|14|done\n"
	       "run|modify||2|done\n");
	expect("SELECT json_extract(detail, '$.files') FROM event WHERE kind = 'apply.applied'",
	       "7\n");
}
END_TEST

START_TEST(one_file_that_has_changed_holds_back_all)
{
	static const char *const NAMES[] = { "a.txt", "gone.txt", "old.sh", "run" };

	given_many();
	for (size_t i = 0; i < COUNT(NAMES); i++) {
		OWNED(char_ptr) char *old = content(NAMES[i]);

		approve("a.txt", MANY);
		file(NAMES[i], "mine\n");
		call_check_diff(false);
		run_worker("applier");
		is_refused("patch_conflict", "patch conflict: ");
		file_is(NAMES[i], "mine\n");
		file(NAMES[i], old);
		many_are_old();
	}
	approve("a.txt", MANY);
	file("copy.txt", "mine\n");
	call_check_diff(false);
	run_worker("applier");
	is_refused("patch_conflict", "patch conflict: copy.txt: the file has changed");
}
END_TEST

START_TEST(names_may_be_swapped_and_taken_anew)
{
	begin();
	file("a", "1\n");
	file("b", "2\n");
	file("c", "3\n");
	apply("a", "diff --git a/a b/b\nrename from a\nrename to b\n"
	           "diff --git a/b b/a\nrename from b\nrename to a\n"
	           "diff --git a/c b/d/c\nrename from c\nrename to d/c\n"
	           "diff --git a/c b/c\nnew file mode 100644\n--- /dev/null\n+++ b/c\n"
	           "@@ -0,0 +1 @@\n+4\n");
	expect(OUTCOME, APPLIED);
	file_is("a", "2\n");
	file_is("b", "1\n");
	file_is("c", "4\n");
	file_is("d/c", "3\n");
	ck_assert_int_eq(entries(), 5);
}
END_TEST

START_TEST(what_was_not_shown_is_not_written)
{
	given_many();
	approve("a.txt", MANY);
	given("DROP TRIGGER request_file_is_fixed; DELETE FROM request_file WHERE path = 'run'");
	call_check_diff(true);
	run_worker("applier");
	is_refused("digest_mismatch", "the stored proposal is not the one that was shown");
	approve("a.txt", MANY);
	given("UPDATE request_file SET mode = 33188 WHERE path = 'run'");
	call_check_diff(true);
	run_worker("applier");
	is_refused("digest_mismatch", "the stored proposal is not the one that was shown");
	approve("a.txt", MANY);
	given("DROP TRIGGER request_is_fixed; UPDATE request SET title = 'another'");
	call_check_diff(true);
	run_worker("applier");
	is_refused("digest_mismatch", "the stored proposal is not the one that was shown");
	many_are_old();
}
END_TEST

/* The front of another build has shown less than this one finds in the diff. */
START_TEST(paths_that_the_diff_touches_beside_those_shown_are_refused)
{
	struct touched one = { .path = (char *)"a.txt",
		               .target = (char *)"a.txt",
		               .action = touched_action("modify") };
	static const char OLD[] = "one\ntwo\nthree\n";

	given_many();
	(void)snprintf(one.hash, sizeof(one.hash), "%s", sha256_of(OLD, strlen(OLD)).text);
	insert_request("a.txt", MANY, &one, 1, 0);
	say_yes();
	call_check_diff(true);
	run_worker("applier");
	is_refused("digest_mismatch", "what the proposal does to new/dir/b.txt is not what was");
	many_are_old();
}
END_TEST

START_TEST(force_writes_lines_that_were_shown_wherever_they_are_now)
{
	static const char BOTH[] =
	    "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
	    "--- a/old.sh\n+++ b/old.sh\n@@ -1,2 +1,2 @@\n true\n-1\n+2\n";

	given_many();
	approve("a.txt", BOTH);
	file("a.txt", "zero\none\ntwo\nthree\n");
	call_check_diff(false);
	run_worker("applier");
	is_refused("patch_conflict", "patch conflict: a.txt: the file has changed");
	call_check_diff(true);
	run_worker("applier");
	expect("SELECT state, forced FROM apply ORDER BY seq DESC LIMIT 1", "applied|1\n");
	expect("SELECT json_extract(detail, '$.forced') FROM event WHERE kind = 'apply.applied'",
	       "1\n");
	file_is("a.txt", "zero\none\n2\nthree\n");
	file_is("old.sh", "true\n2\n");
}
END_TEST

START_TEST(force_copies_and_renames_nothing_that_has_changed)
{
	static const char *const NAMES[] = { "a.txt", "old.sh", "gone.txt" };

	given_many();
	for (size_t i = 0; i < COUNT(NAMES); i++) {
		OWNED(char_ptr) char *old = content(NAMES[i]);
		OWNED(str) struct str more = STR_INIT;

		approve("a.txt", MANY);
		str_addf(&more, "%smore\n", old);
		file(NAMES[i], more.bytes);
		call_check_diff(true);
		run_worker("applier");
		is_refused("patch_conflict", "patch conflict: ");
		file(NAMES[i], old);
		many_are_old();
	}
}
END_TEST

/* ---- taking back ---- */

/* The operator wants what was written for a request taken back. */
static void call_undo(int request)
{
	char sql[200];

	(void)snprintf(
	    sql, sizeof(sql),
	    "INSERT INTO command (verb, argument, operator_id, source, created_at) VALUES"
	    " ('undo', 'request-%d', 'local:tester', 'ctl', '%s')",
	    request, clock_now().text);
	given(sql);
	run_worker("applier");
}

static const char UNDO[] =
    "SELECT a.state, a.error_code, c.outcome, r.state FROM apply AS a JOIN request AS r"
    " ON r.seq = a.request_seq JOIN command AS c ON c.seq = a.command_seq"
    " WHERE a.kind = 'undo' ORDER BY a.seq DESC LIMIT 1";
static const char UNDONE[] = "undone||done|consumed\n";

static void undo_is_refused(const char *code, const char *beginning)
{
	OWNED(char_ptr) char *why = rows("SELECT why FROM command ORDER BY seq DESC LIMIT 1");
	char outcome[100];

	(void)snprintf(outcome, sizeof(outcome), "refused|%s|refused|consumed\n", code);
	expect(UNDO, outcome);
	ck_assert_msg(strncmp(why, beginning, strlen(beginning)) == 0, "%s", why);
}

START_TEST(a_write_of_many_files_is_taken_back_whole)
{
	given_many();
	apply("a.txt", MANY);
	many_are_new();
	call_undo(1);
	expect(UNDO, UNDONE);
	many_are_old();
	expect("SELECT reply FROM command",
	       "{\"status\":\"undone\",\"request_id\":\"request-1\",\"files\":[\"a.txt\","
	       "\"new/dir/b.txt\",\"gone.txt\",\"old.sh\",\"moved/new.sh\",\"copy.txt\","
	       "\"run\"]}\n");
	expect("SELECT kind, actor FROM event WHERE kind LIKE 'undo.%'",
	       "undo.ordered|local:tester\nundo.done|local:tester\n");
	call_undo(1);
	expect("SELECT outcome, why FROM command WHERE seq = 2",
	       "refused|this was undone already\n");
	apply("a.txt", MANY); /* asked anew it can be written again */
	expect(OUTCOME, APPLIED);
	many_are_new();
}
END_TEST

START_TEST(the_bytes_before_come_back_to_the_byte)
{
	static const char OLD[] = "no newline\r\n\0and a NUL\xff";
	char have[100] = "";
	struct touched one;
	FILE *f;

	begin();
	write_bytes("a.bin", OLD, sizeof(OLD) - 1);
	write_bytes("empty", "", 0);
	ck_assert_int_eq(chmod(in("a.bin"), 0604), 0);
	approve("empty", "full");
	call_check_diff(false);
	run_worker("applier");
	one = (struct touched){ .path = (char *)"a.bin",
		                .target = (char *)"a.bin",
		                .action = touched_action("modify"),
		                .hash = NO_FILE };
	(void)snprintf(one.result_hash, sizeof(one.result_hash), "%s", sha256_of("new", 3).text);
	insert_request("a.bin", "new", &one, 1, 0);
	say_yes();
	call_check_diff(true);
	run_worker("applier");
	file_is("a.bin", "new");
	file_is("empty", "full");
	call_undo(2);
	call_undo(1);
	expect(UNDO, UNDONE);
	file_is("empty", "");
	ck_assert_uint_eq(mode_of("a.bin"), 0604);
	f = fopen(in("a.bin"), "rb");
	ck_assert_uint_eq(fread(have, 1, sizeof(have), f), sizeof(OLD) - 1);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_int_eq(memcmp(have, OLD, sizeof(OLD) - 1), 0);
}
END_TEST

START_TEST(what_has_changed_since_the_write_is_not_taken_back)
{
	static const char *const NAMES[] = { "a.txt", "new/dir/b.txt", "moved/new.sh", "run" };

	given_many();
	apply("a.txt", MANY);
	for (size_t i = 0; i < COUNT(NAMES); i++) {
		OWNED(char_ptr) char *written = content(NAMES[i]);

		file(NAMES[i], "mine\n");
		call_undo(1);
		undo_is_refused("patch_conflict", "patch conflict: ");
		file_is(NAMES[i], "mine\n");
		file(NAMES[i], written);
		many_are_new();
	}
	file("gone.txt", "mine\n");
	call_undo(1);
	undo_is_refused("patch_conflict", "patch conflict: gone.txt: the file has changed since");
	ck_assert_int_eq(unlink(in("gone.txt")), 0);
	call_undo(1);
	expect(UNDO, UNDONE);
	many_are_old();
}
END_TEST

START_TEST(directories_that_a_write_made_stay_where_something_else_is_in_them)
{
	begin();
	apply("new/dir/a.txt", "x");
	file("new/mine", "y");
	call_undo(1);
	expect(UNDO, UNDONE);
	file_is("new/mine", "y");
	ck_assert_int_eq(entries(), 2);
}
END_TEST

START_TEST(what_is_too_large_to_be_kept_cannot_be_taken_back)
{
	begin();
	given("INSERT INTO setting VALUES ('undo_limit_bytes', '4', 'file',"
	      " '2026-01-01T00:00:00.000Z')");
	file("a.txt", "12345");
	apply("a.txt", "x");
	expect("SELECT count(*) FROM content", "0\n");
	call_undo(1);
	undo_is_refused("no_before_image", "what was in a.txt before is not kept any more");
	file("a.txt", "1234");
	apply("a.txt", "x");
	call_undo(2);
	expect(UNDO, UNDONE);
	file_is("a.txt", "1234");
	apply("new.txt", "a file that is new needs nothing to be kept");
	call_undo(3);
	expect(UNDO, UNDONE);
	file_is("new.txt", "(none)");
}
END_TEST

START_TEST(a_crashed_undo_is_finished_by_the_next_applier)
{
	given_many();
	apply("a.txt", MANY);
	given("INSERT INTO command (verb, argument, operator_id, source) VALUES"
	      " ('undo', 'request-1', 'local:tester', 'ctl');"
	      "UPDATE apply SET state = 'claimed', claim = 7, attempts = 1, worker_id = 'dead'"
	      " WHERE kind = 'undo'");
	run_worker("applier");
	expect(UNDO, UNDONE);
	many_are_old();
}
END_TEST

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

START_TEST(what_begins_like_a_diff_must_be_one)
{
	begin();
	apply("a.txt", "--- \nthe front matter\n---\n");
	is_refused("invalid_diff", "");
	apply("b.txt", "diff is a program\n");
	is_refused("invalid_diff", "");
	apply("c.txt", "---\ntitle: three dashes and no blank are content\n---\n");
	expect(OUTCOME, APPLIED);
	ck_assert_int_eq(entries(), 1);
}
END_TEST

START_TEST(a_diff_about_other_files_is_invalid)
{
	begin();
	file("a.txt", "one\n");
	apply("a.txt", "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-one\n+1\n");
	is_refused("invalid_diff", "the diff is about b.txt, file_path is a.txt");
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
	OWNED(str) struct str big = STR_INIT;

	begin();
	for (int i = 0; i < 3000; i++)
		str_add_char(&big, 'x');
	approve("a.txt", big.bytes);
	given("DROP TRIGGER content_is_fixed; UPDATE content SET bytes = x'41'");
	call_check_diff(false);
	run_worker("applier");
	is_refused("corrupt", "the stored proposal does not have its hash");
	given("PRAGMA foreign_keys = OFF; DELETE FROM content");
	call_check_diff(false);
	run_worker("applier");
	is_refused("corrupt", "the proposal cannot be read");
	ck_assert_int_eq(entries(), 0);
}
END_TEST

/* ---- paths at apply time ---- */

static void swapped_to(const char *name, const char *target)
{
	(void)remove(in(name));
	ck_assert_int_eq(symlink(target, in(name)), 0);
}

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
	    "INSERT INTO session (seq, id, host, owner_user_id, workspace_root, status, mode,"
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

/* From here on this process and its workers are nobody, who owns the store but not the workspace.
 */
static void leave_the_workspace_to_root(void)
{
	char command[2 * WORKSPACE_BYTES + 60];

	(void)snprintf(command, sizeof(command),
	               "cd '%s/..' && find . -path ./ws -prune -o -exec chown %d:%d {} +", ws,
	               NOBODY_ID, NOBODY_ID);
	ck_assert_int_eq(system(command), 0);
	ck_assert(become_nobody());
}

/* The build may be where only root looks, as below /root. */
static void bring_worker_along(void)
{
	char command[3 * WORKSPACE_BYTES], bin[WORKSPACE_BYTES];

	(void)snprintf(bin, sizeof(bin), "%s-bin", test_run());
	(void)snprintf(command, sizeof(command),
	               "mkdir '%s' && cp \"$INTERCOM_BUILD/applier\" '%s'", bin, bin);
	ck_assert_int_eq(system(command), 0);
	ck_assert_int_eq(setenv("INTERCOM_BUILD", bin, 1), 0);
}

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

START_TEST(a_file_that_keeps_its_owner_keeps_its_set_id_bits)
{
	begin();
	file("tool", "old");
	ck_assert_int_eq(chmod(in("tool"), 06755), 0);
	apply("tool", "new");
	file_is("tool", "new");
	ck_assert_uint_eq(mode_of("tool"), 06755);
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

/* ---- predecessors ---- */

static void left_in_hand(int attempts)
{
	char sql[300];

	(void)snprintf(
	    sql, sizeof(sql),
	    "UPDATE apply SET state = 'claimed', claim = 7, attempts = %d, worker_id = 'dead'",
	    attempts);
	given(sql);
}

static void journaled(const char *hash_before, const char *after, const char *temp)
{
	OWNED(str) struct str sql = STR_INIT;

	str_addf(&sql,
	         "INSERT INTO file_change (apply_seq, path, action, hash_before, hash_after, bytes,"
	         " temp_name, state, created_at, updated_at) VALUES (1, 'a.txt', 'modify', '%s', "
	         "'%s', 4,"
	         " '%s', 'planned', '%s', '%s')",
	         hash_before, sha256_of(after, strlen(after)).text, temp, clock_now().text,
	         clock_now().text);
	given(sql.bytes);
}

static void given_crash(const char *target, bool with_temp)
{
	begin();
	file("a.txt", "old\n");
	approve("a.txt", "new\n");
	call_check_diff(false);
	left_in_hand(1);
	journaled(sha256_of("old\n", 4).text, "new\n", ".intercom-0123456789abcdef.tmp");
	file("a.txt", target);
	if (with_temp)
		file(".intercom-0123456789abcdef.tmp", "ne");
}

START_TEST(a_job_of_a_dead_worker_is_taken_over)
{
	begin();
	approve("a.txt", "x");
	call_check_diff(false);
	left_in_hand(2);
	run_worker("applier");
	file_is("a.txt", "x");
	expect(OUTCOME, APPLIED);
	expect("SELECT claim, attempts, worker_id <> 'dead' FROM apply", "8|3|1\n");
}
END_TEST

START_TEST(what_was_only_staged_is_done_anew)
{
	given_crash("old\n", true);
	run_worker("applier");
	file_is("a.txt", "new\n");
	expect(OUTCOME, APPLIED);
	expect(CHANGES, "a.txt|modify|4|done\n");
	ck_assert_int_eq(entries(), 1);
}
END_TEST

START_TEST(a_redo_that_is_refused_takes_away_the_directories_made_before_the_crash)
{
	begin();
	approve("new/dir/a.txt", "x");
	call_check_diff(false);
	left_in_hand(1);
	given("INSERT INTO file_change (apply_seq, path, action, hash_before, hash_after, bytes,"
	      " temp_name, backup_name, made_from, state, created_at, updated_at) VALUES (1,"
	      " 'new/dir/a.txt', 'create', 'new_file', 'other', 1,"
	      " '.intercom-0123456789abcdef.tmp', '.intercom-0123456789abcdef.old', 3, 'planned',"
	      " '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')");
	ck_assert_int_eq(mkdir(in("new"), 0755), 0);
	ck_assert_int_eq(mkdir(in("new/dir"), 0755), 0);
	file("new/dir/.intercom-0123456789abcdef.tmp", "par");
	run_worker("applier");
	is_refused("patch_conflict", "patch conflict: new/dir/a.txt leads to another file");
	ck_assert_int_eq(entries(), 0);
}
END_TEST

START_TEST(a_staged_write_whose_new_directories_are_gone_is_done_again)
{
	OWNED(str) struct str sql = STR_INIT;

	begin();
	approve("new/dir/a.txt", "x");
	call_check_diff(false);
	left_in_hand(1);
	str_addf(
	    &sql,
	    "INSERT INTO file_change (apply_seq, path, action, hash_before, hash_after, bytes,"
	    " temp_name, backup_name, made_from, state, created_at, updated_at) VALUES (1,"
	    " 'new/dir/a.txt', 'create', 'new_file', '%s', 1,"
	    " '.intercom-0123456789abcdef.tmp', '.intercom-0123456789abcdef.old', 3, 'planned',"
	    " '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z');"
	    "UPDATE file_change SET state = 'staged'",
	    sha256_of("x", 1).text);
	given(sql.bytes);
	run_worker("applier");
	expect(OUTCOME, APPLIED);
	file_is("new/dir/a.txt", "x");
	ck_assert_int_eq(entries(), 3);
}
END_TEST

/* The workspace's directory can be opened and not searched: nothing can be told of its files. */
START_TEST(a_crash_over_files_that_cannot_be_looked_at_is_told_at_last)
{
	SKIP_UNLESS(geteuid() == 0, "root, who can become another user");
	begin();
	file("a.txt", "old\n");
	approve("a.txt", "new\n");
	call_check_diff(false);
	journaled(sha256_of("old\n", 4).text, "new\n", ".intercom-0123456789abcdef.tmp");
	left_in_hand(1);
	ck_assert_int_eq(chmod(ws, 0444), 0);
	bring_worker_along();
	leave_the_workspace_to_root();
	run_worker("applier");
	expect("SELECT state, attempts FROM apply", "queued|2\n");
	run_worker("applier");
	is_refused("permission", "cannot open a.txt: Permission denied; an applier died over this "
	                         "write, and how far it got cannot be told");
	expect("SELECT attempts FROM apply", "3\n");
}
END_TEST

START_TEST(what_was_renamed_is_settled)
{
	given_crash("new\n", false);
	run_worker("applier");
	file_is("a.txt", "new\n");
	expect(OUTCOME, APPLIED);
	expect(CHANGES, "a.txt|modify|4|done\n");
}
END_TEST

START_TEST(what_somebody_else_wrote_meanwhile_stays)
{
	given_crash("mine\n", true);
	run_worker("applier");
	file_is("a.txt", "mine\n");
	is_refused("patch_conflict", "patch conflict: a.txt: somebody else has changed the file");
	ck_assert_int_eq(entries(), 1);
}
END_TEST

START_TEST(a_journal_never_removes_what_is_not_ours)
{
	begin();
	file("a.txt", "old\n");
	file("b.txt", "precious");
	approve("a.txt", "new\n");
	call_check_diff(false);
	left_in_hand(1);
	journaled(sha256_of("old\n", 4).text, "new\n", "b.txt");
	run_worker("applier");
	file_is("b.txt", "precious");
	is_refused("patch_conflict", "cannot make a file beside a.txt: File exists");
}
END_TEST

START_TEST(a_write_that_killed_three_is_dead)
{
	begin();
	approve("a.txt", "x");
	call_check_diff(false);
	left_in_hand(3);
	run_worker("applier");
	expect(OUTCOME, "dead|crashed|approved|answered|1\n");
	expect("SELECT error_message LIKE 'crashed worker%', attempts FROM apply", "1|4\n");
	ck_assert_int_eq(entries(), 0);
}
END_TEST

START_TEST(the_third_death_after_the_rename_is_no_loss)
{
	given_crash("new\n", false);
	left_in_hand(3);
	run_worker("applier");
	expect(OUTCOME, APPLIED);
}
END_TEST

START_TEST(a_dead_write_leaves_no_temporary_file)
{
	given_crash("old\n", true);
	left_in_hand(3);
	run_worker("applier");
	expect(OUTCOME, "dead|crashed|approved|answered|1\n");
	expect(CHANGES, "a.txt|modify|4|undone\n");
	file_is("a.txt", "old\n");
	ck_assert_int_eq(entries(), 1);
}
END_TEST

/* ---- two appliers ---- */

/* What one more applier of this machine makes of the oldest job, in this process. */
static int try_beside(struct apply_report *r, int64_t *ret_due_ms)
{
	OWNED(store) struct store st = STORE_INIT;
	struct err e = ERR_INIT;
	int run_fd = open(test_run(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), did;
	struct applier second = {
		.store = &st, .host = "h", .worker_id = "second", .run_fd = run_fd
	};

	ck_assert_msg(!store_open(&st, test_db(), test_run(), &e), "%s", e.text);
	did = apply_next(&second, r, ret_due_ms, &e);
	ck_assert_msg(did >= 0, "%s", e.text);
	(void)close(run_fd);
	return did;
}

START_TEST(while_one_applier_is_in_a_workspace_another_one_stays_out)
{
	OWNED(apply_report) struct apply_report r = APPLY_REPORT_INIT;
	struct stopped first;
	int64_t due_ms;

	begin();
	file("a.txt", "old");
	approve("a.txt", "new");
	call_check_diff(false);
	first = start_stopped_at("applier", "renameat2", 1, NULL); /* in place, not settled */
	file_is("a.txt", "new");
	ck_assert_int_eq(try_beside(&r, &due_ms), 0);
	ck_assert_int_lt(due_ms, INT64_MAX);
	expect("SELECT state, claim FROM apply", "claimed|1\n");
	go_on(first);
	expect(OUTCOME, APPLIED);
	expect("SELECT claim FROM apply", "1\n");
	ck_assert_int_eq(entries(), 1);
}
END_TEST

START_TEST(a_job_that_somebody_claimed_since_it_was_seen_is_left_alone)
{
	char lock[WORKSPACE_BYTES + 40];
	struct stopped first;

	begin();
	approve("a.txt", "new");
	call_check_diff(false);
	(void)snprintf(lock, sizeof(lock), "%s/ws-%.8s.lock", test_run(),
	               sha256_of(ws, strlen(ws)).text);
	first = start_stopped_at("applier", "flock", 1, lock);
	expect("SELECT state, claim FROM apply", "queued|0\n");
	left_in_hand(3);
	go_on(first);
	expect("SELECT state, claim, worker_id FROM apply", "claimed|7|dead\n");
	ck_assert_int_eq(entries(), 0);
}
END_TEST

/* Where somebody else claims a job that an applier has in hand, as SQL for a trigger. */
static const char CLAIMED[] = "UPDATE OF state ON apply WHEN NEW.state = 'claimed'";
static const char JOURNALED[] = "INSERT ON file_change";
static const char STAGED[] = "UPDATE OF state ON file_change WHEN NEW.state = 'staged'";

static void given_other_claim(const char *when)
{
	char sql[300];

	(void)snprintf(sql, sizeof(sql),
	               "CREATE TRIGGER other AFTER %s BEGIN UPDATE apply SET claim = claim + 1,"
	               " worker_id = 'other'; END",
	               when);
	given(sql);
}

static void is_lost(int claim)
{
	OWNED(apply_report) struct apply_report r = APPLY_REPORT_INIT;
	char claimed[60];
	int64_t due_ms;

	ck_assert_int_eq(try_beside(&r, &due_ms), 1);
	ck_assert_str_eq(r.state, "lost");
	(void)snprintf(claimed, sizeof(claimed), "claimed|%d||other|0\n", claim);
	expect("SELECT state, claim, error_code, worker_id, (SELECT count(*) FROM answer)"
	       " FROM apply ORDER BY seq DESC LIMIT 1",
	       claimed);
}

static void given_write(void)
{
	begin();
	file("a.txt", "old");
	approve("a.txt", "new");
	call_check_diff(false);
}

START_TEST(who_lost_its_claim_journals_nothing_and_stages_nothing)
{
	given_write();
	given_other_claim(CLAIMED);
	is_lost(2);
	expect("SELECT count(*) FROM file_change", "0\n");
	file_is("a.txt", "old");
	ck_assert_int_eq(hidden_entries(), 0);
}
END_TEST

START_TEST(who_lost_its_claim_puts_nothing_in_place)
{
	given_write();
	given_other_claim(JOURNALED);
	is_lost(2);
	expect("SELECT state FROM file_change", "planned\n");
	file_is("a.txt", "old");
}
END_TEST

START_TEST(who_lost_its_claim_settles_nothing_and_the_next_one_does)
{
	given_write();
	given_other_claim(STAGED);
	is_lost(2);
	expect("SELECT state FROM file_change", "staged\n");
	given("DROP TRIGGER other");
	run_worker("applier");
	expect(OUTCOME, APPLIED);
	expect("SELECT claim FROM apply", "3\n");
	file_is("a.txt", "new");
	ck_assert_int_eq(entries(), 1);
}
END_TEST

START_TEST(who_lost_its_claim_refuses_nothing)
{
	given_write();
	file("a.txt", "changed since");
	given_other_claim(CLAIMED);
	is_lost(2);
}
END_TEST

START_TEST(who_lost_its_claim_puts_nothing_back_into_the_queue)
{
	given_write();
	left_in_hand(1); /* so that a workspace that is gone is tried again */
	ck_assert_int_eq(unlink(in("a.txt")), 0);
	ck_assert_int_eq(rmdir(ws), 0);
	given_other_claim(CLAIMED);
	is_lost(9);
}
END_TEST

START_TEST(who_lost_its_claim_buries_nothing)
{
	given_write();
	left_in_hand(3);
	given_other_claim(CLAIMED);
	is_lost(9);
}
END_TEST

/* ---- a running worker ---- */

/* One more session, whose workspace is beside the first; ws and session are its own from here on.
 */
static void given_other_workspace(void)
{
	char sql[2 * WORKSPACE_BYTES];

	(void)snprintf(strrchr(ws, '/'), 20, "/other");
	ck_assert_int_eq(mkdir(ws, 0755), 0);
	session = 2;
	(void)snprintf(
	    sql, sizeof(sql),
	    "INSERT INTO session (seq, id, host, owner_user_id, workspace_root, status, mode,"
	    " created_at, updated_at) VALUES (2, 's2', 'h', 'local:tester', '%s', 'active',"
	    " 'local', '%s', '%s')",
	    ws, clock_now().text, clock_now().text);
	given(sql);
}

START_TEST(a_locked_workspace_waits_and_others_do_not)
{
	char lock[WORKSPACE_BYTES + 40];
	pid_t pid;
	int fd;

	begin();
	(void)snprintf(lock, sizeof(lock), "%s/ws-%.8s.lock", test_run(),
	               sha256_of(ws, strlen(ws)).text);
	fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	ck_assert_int_eq(flock(fd, LOCK_EX), 0);
	pid = start_worker("applier");
	approve("a.txt", "x");
	call_check_diff(false);
	given_other_workspace();
	approve("b.txt", "y");
	call_check_diff(false);
	expect_soon("SELECT state, attempts FROM apply ORDER BY seq", "queued|0\napplied|1\n");
	file_is("b.txt", "y");
	file_is("../ws/a.txt", "(none)");
	(void)close(fd);
	expect_soon("SELECT state, attempts FROM apply ORDER BY seq", "applied|1\napplied|1\n");
	stop_worker(pid);
	file_is("../ws/a.txt", "x");
}
END_TEST

START_TEST(a_bell_wakes_it_and_an_idle_look_writes_nothing)
{
	pid_t pid;

	begin();
	pid = start_worker("applier");
	OWNED(char_ptr) char *before = rows("PRAGMA data_version");
	for (int i = 0; i < 20; i++)
		given("SELECT 1"); /* rings */
	expect_still("PRAGMA data_version", before, 50);
	approve("a.txt", "x");
	call_check_diff(false);
	expect_soon(OUTCOME, APPLIED);
	stop_worker(pid);
	expect("SELECT state FROM worker", "stopped\n");
}
END_TEST

/* ---- in between ---- */

struct race {
	struct file_change f;
	struct refusal why;
	int root;
};

static void plan_race(struct race *r, const char *path, const char *body)
{
	OWNED(plan) struct plan plan = PLAN_INIT;
	const struct proposal p = {
		.workspace_root = ws, .file_path = path, .body = body, .body_length = strlen(body)
	};

	*r = (struct race){ .f = FILE_CHANGE_INIT, .root = -1 };
	ck_assert_int_eq(workspace_open(ws, &r->root, NULL), 0);
	ck_assert_msg(plan_look(r->root, &p, &plan, &r->why) == 0 &&
	                  plan_work(&p, &plan, &r->why) == 0,
	              "%s", r->why.text);
	file_change_take(r->root, &plan.files[0], NULL, &r->f);
}

static int stage_race(struct race *r)
{
	if (file_change_open(r->root, &r->f, &r->why))
		return -1;
	return file_change_stage(r->root, &r->f, &r->why);
}

static void lose_race(struct race *r, const char *code)
{
	ck_assert_int_eq(file_change_place(&r->f, &r->why), -1);
	ck_assert_str_eq(r->why.code, code);
	file_change_undo(r->root, &r->f);
	file_change_clear(&r->f);
	(void)close(r->root);
}

START_TEST(race_the_file_changes_after_the_plan)
{
	struct race r;

	begin();
	file("a.txt", "old");
	plan_race(&r, "a.txt", "new");
	ck_assert_int_eq(stage_race(&r), 0);
	file("a.txt", "mine");
	lose_race(&r, "patch_conflict");
	file_is("a.txt", "mine");
	plan_race(&r, "a.txt",
	          "--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-mine\n"
	          "\\ No newline at end of file\n");
	ck_assert_int_eq(stage_race(&r), 0);
	file("a.txt", "changed again");
	lose_race(&r, "patch_conflict");
	file_is("a.txt", "changed again");
	ck_assert_int_eq(entries(), 1);
}
END_TEST

START_TEST(room_is_looked_for_before_anything_is_staged)
{
	struct file_change changes[2] = { FILE_CHANGE_INIT, FILE_CHANGE_INIT };
	struct refusal why = { .code = NULL };

	begin();
	for (size_t i = 0; i < COUNT(changes); i++) {
		changes[i].dir_fd = open(ws, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		changes[i].bytes.length = 1000; /* there are none */
		str_add(&changes[i].path, "a.txt");
	}
	ck_assert_int_eq(file_change_check_space(changes, 2, &why), 0);
	changes[1].bytes.length = (size_t)1 << 60;
	ck_assert_int_eq(file_change_check_space(changes, 2, &why), -1);
	ck_assert_str_eq(why.code, "no_space");
	for (size_t i = 0; i < COUNT(changes); i++)
		file_change_clear(&changes[i]);
}
END_TEST

/* Each of these writes stands between the last look and the rename. */
START_TEST(race_what_somebody_wrote_in_the_last_moment_is_not_overwritten)
{
	struct race r;

	begin();
	file("a.txt", "old");
	plan_race(&r, "a.txt", "new");
	ck_assert_int_eq(stage_race(&r), 0);
	ck_assert_int_eq(file_change_check(&r.f, &r.why), 0);
	file("other", "mine");
	ck_assert_int_eq(rename(in("other"), in("a.txt")), 0);
	lose_race(&r, "patch_conflict");
	file_is("a.txt", "mine");
	plan_race(&r, "a.txt", "new");
	ck_assert_int_eq(stage_race(&r), 0);
	ck_assert_int_eq(file_change_check(&r.f, &r.why), 0);
	ck_assert_int_eq(unlink(in("a.txt")), 0);
	ck_assert_int_eq(mkdir(in("a.txt"), 0755), 0);
	file("a.txt/precious", "mine");
	lose_race(&r, "patch_conflict");
	file_is("a.txt/precious", "mine");
	ck_assert_int_eq(entries(), 2);
}
END_TEST

START_TEST(race_what_was_placed_is_put_back_unless_somebody_changed_it)
{
	static const char DELETION[] = "--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n"
	                               "\\ No newline at end of file\n";
	static const struct {
		const char *path, *body;
	} WRITES[] = { { "a.txt", "new" }, { "a.txt", DELETION }, { "b.txt", "new" } };

	begin();
	file("a.txt", "old");
	for (size_t i = 0; i < 2 * COUNT(WRITES); i++) {
		const char *path = WRITES[i / 2].path;
		struct race r;

		plan_race(&r, path, WRITES[i / 2].body);
		ck_assert_int_eq(stage_race(&r), 0);
		ck_assert_int_eq(file_change_place(&r.f, &r.why), 0);
		if (i % 2) {
			file(path, "mine");
			ck_assert_int_eq(file_change_put_back(&r.f, &r.why), -1);
			ck_assert_str_eq(r.why.code, "patch_conflict");
			ck_assert_int_eq(file_change_tidy(r.root, &r.f, &r.why), 0);
			file_is(path, "mine");
		} else {
			ck_assert_int_eq(file_change_put_back(&r.f, &r.why), 0);
			file_change_undo(r.root, &r.f);
			file_is(path, i < 4 ? "old" : "(none)");
		}
		ck_assert_int_eq(entries(), i == 5 ? 2 : 1); /* theirs */
		(void)unlink(in("b.txt"));
		file("a.txt", "old");
		file_change_clear(&r.f);
		(void)close(r.root);
	}
}
END_TEST

START_TEST(race_somebody_makes_the_new_file_first)
{
	struct race r;

	begin();
	plan_race(&r, "d/e/a.txt", "new");
	ck_assert_int_eq(stage_race(&r), 0);
	file("d/e/a.txt", "mine");
	lose_race(&r, "patch_conflict");
	file_is("d/e/a.txt", "mine");
	ck_assert_int_eq(entries(), 3);
	plan_race(&r, "d/f/g/a.txt", "new");
	ck_assert_int_eq(stage_race(&r), 0);
	ck_assert_int_eq(symlink("nowhere", in("d/f/g/a.txt")), 0);
	lose_race(&r, "patch_conflict");
	ck_assert_int_eq(unlink(in("d/f/g/a.txt")), 0);
}
END_TEST

START_TEST(race_directories_that_were_made_for_nothing_go)
{
	struct race r;

	begin();
	plan_race(&r, "d/e/a.txt", "new");
	ck_assert_int_eq(stage_race(&r), 0);
	ck_assert_int_eq(entries(), 3);
	file_change_undo(r.root, &r.f);
	ck_assert_int_eq(entries(), 0);
	file_change_clear(&r.f);
	(void)close(r.root);
}
END_TEST

START_TEST(race_the_file_becomes_a_link_or_its_directory_does)
{
	struct race r;

	begin();
	file("../victim", "old");
	ck_assert_int_eq(mkdir(in("d"), 0755), 0);
	ck_assert_int_eq(mkdir(in("../out"), 0755), 0);
	file("d/a.txt", "old");
	plan_race(&r, "d/a.txt", "new");
	ck_assert_int_eq(stage_race(&r), 0);
	swapped_to("d/a.txt", "../../victim");
	lose_race(&r, "patch_conflict");
	file_is("../victim", "old");
	plan_race(&r, "d/b.txt", "new");
	ck_assert_int_eq(rename(in("d"), in("moved")), 0);
	ck_assert_int_eq(symlink("../out", in("d")), 0);
	ck_assert_int_eq(stage_race(&r), -1);
	ck_assert_str_eq(r.why.code, "path_violation");
	file_change_clear(&r.f);
	(void)close(r.root);
	ck_assert_int_eq(rmdir(in("../out")), 0);
}
END_TEST

/* ---- who swaps names while it works ---- */

struct swapper {
	pthread_t thread;
	int root;
	atomic_bool stop;
	unsigned long swaps;
};

/* Directories, files and links that leave the workspace change places as fast as they can. */
static void *swap(void *arg)
{
	static const char *const PAIRS[][2] = { { "d", "leaves" },
		                                { "f.txt", "file-leaves" },
		                                { "e", "absolute" } };
	struct swapper *s = arg;

	while (!atomic_load(&s->stop)) {
		for (size_t i = 0; i < COUNT(PAIRS); i++)
			(void)renameat2(s->root, PAIRS[i][0], s->root, PAIRS[i][1],
			                RENAME_EXCHANGE);
		s->swaps++;
	}
	return NULL;
}

static void given_swapped_names(struct swapper *s)
{
	OWNED(str) struct str outside = STR_INIT;

	begin();
	str_addf(&outside, "%s/../out", ws);
	ck_assert_int_eq(mkdir(in("../out"), 0755), 0);
	file("../out/a.txt", "secret");
	ck_assert_int_eq(mkdir(in("d"), 0755), 0);
	ck_assert_int_eq(mkdir(in("e"), 0755), 0);
	file("f.txt", "x");
	ck_assert_int_eq(symlink("../out", in("leaves")), 0);
	ck_assert_int_eq(symlink("../out/a.txt", in("file-leaves")), 0);
	ck_assert_int_eq(symlink(outside.bytes, in("absolute")), 0);
	*s = (struct swapper){ .root = open(ws, O_RDONLY | O_DIRECTORY | O_CLOEXEC) };
	ck_assert_int_ge(s->root, 0);
}

/* Everything that opens, reads or changes a file of the directory is told. */
static int watch_outside(void)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	ck_assert_int_ge(inotify_add_watch(fd, in("../out"), IN_ALL_EVENTS), 0);
	return fd;
}

static const char SWAPPED[] = "--- /dev/null\n+++ b/d/new.txt\n@@ -0,0 +1 @@\n+new\n"
                              "--- /dev/null\n+++ b/e/sub/new.txt\n@@ -0,0 +1 @@\n+new\n";

START_TEST(nothing_outside_is_opened_or_written_whoever_swaps_names)
{
	static const char *const PATHS[] = { "d/a.txt", "f.txt", "e/sub/a.txt", "d/new.txt" };
	const char *given_seconds = getenv("INTERCOM_RACE_SECONDS");
	int64_t until_ms =
	    clock_monotonic_ms() + 1000 * (given_seconds ? strtol(given_seconds, NULL, 10) : 5);
	char event[4096];
	struct swapper s;
	int outside;

	given_swapped_names(&s);
	outside = watch_outside();
	ck_assert_int_eq(pthread_create(&s.thread, NULL, swap, &s), 0);
	while (clock_monotonic_ms() < until_ms) {
		for (size_t i = 0; i < BATCH * COUNT(PATHS); i++) {
			const char *path = PATHS[i % COUNT(PATHS)];

			approve(path, i % COUNT(PATHS) == 3 ? SWAPPED : "mine");
			call_check_diff(true);
		}
		run_worker("applier");
	}
	atomic_store(&s.stop, true);
	ck_assert_int_eq(pthread_join(s.thread, NULL), 0);
	(void)close(s.root);
	ck_assert_int_lt(read(outside, event, sizeof(event)), 0);
	(void)close(outside);
	file_is("../out/a.txt", "secret");
	ck_assert_uint_gt(s.swaps, 1000);
	expect("SELECT DISTINCT coalesce(error_code, '') FROM apply WHERE state = 'refused'"
	       " AND error_code NOT IN ('path_violation', 'patch_conflict', 'digest_mismatch')",
	       "");
	expect("SELECT count(*) FROM apply WHERE state NOT IN ('applied', 'refused')", "0\n");
	expect("SELECT count(DISTINCT state) FROM apply", "2\n");
	ck_assert_int_eq(hidden_entries(), 0);
	(void)printf("%d writes while names changed places %lu times\n", asked, s.swaps);
}
END_TEST

static void add_writing(TCase *c)
{
	tcase_add_test(c, a_new_file_is_written);
	tcase_add_test(c, missing_directories_are_made);
	tcase_add_test(c, whole_content_replaces_a_file);
	tcase_add_test(c, a_big_content_comes_from_the_content_table);
	tcase_add_test(c, an_empty_file_can_be_made);
	tcase_add_test(c, a_diff_is_applied);
	tcase_add_test(c, a_diff_makes_and_deletes_files);
	tcase_add_test(c, a_diff_that_changes_nothing_is_fine);
	tcase_add_test(c, line_ends_survive);
	tcase_add_test(c, modes_survive);
	tcase_add_test(c, the_owner_survives);
	tcase_add_test(c, attributes_survive);
	tcase_add_test(c, a_file_that_changes_its_owner_loses_its_set_id_bits);
	tcase_add_test(c, a_file_that_keeps_its_owner_keeps_its_set_id_bits);
	tcase_add_test(c, other_names_of_a_file_keep_the_old_content);
	tcase_add_test(c, holes_are_filled_and_read_as_before);
	tcase_add_test(c, attributes_stay_behind_where_the_setting_says_so);
	tcase_add_test(c, context_that_differs_is_a_conflict_but_with_fuzz);
	tcase_add_test(c, a_big_file_and_ten_thousand_hunks_take_no_more_memory_than_is_said);
	tcase_add_test(c, a_link_inside_the_workspace_is_followed);
	tcase_add_test(c, jobs_are_done_in_order);
	tcase_add_test(c, jobs_of_other_machines_are_left_alone);
}

static void add_many(TCase *c)
{
	tcase_add_test(c, a_diff_of_many_files_is_written_whole);
	tcase_add_test(c, one_file_that_has_changed_holds_back_all);
	tcase_add_test(c, names_may_be_swapped_and_taken_anew);
	tcase_add_test(c, what_was_not_shown_is_not_written);
	tcase_add_test(c, paths_that_the_diff_touches_beside_those_shown_are_refused);
	tcase_add_test(c, force_writes_lines_that_were_shown_wherever_they_are_now);
	tcase_add_test(c, force_copies_and_renames_nothing_that_has_changed);
}

static void add_taking_back(TCase *c)
{
	tcase_add_test(c, a_write_of_many_files_is_taken_back_whole);
	tcase_add_test(c, the_bytes_before_come_back_to_the_byte);
	tcase_add_test(c, what_has_changed_since_the_write_is_not_taken_back);
	tcase_add_test(c, directories_that_a_write_made_stay_where_something_else_is_in_them);
	tcase_add_test(c, what_is_too_large_to_be_kept_cannot_be_taken_back);
	tcase_add_test(c, a_crashed_undo_is_finished_by_the_next_applier);
}

static void add_refusing(TCase *c)
{
	tcase_add_test(c, a_changed_file_is_a_conflict);
	tcase_add_test(c, a_file_that_appeared_or_vanished_is_a_conflict);
	tcase_add_test(c, force_overwrites_a_changed_file);
	tcase_add_test(c, force_does_not_make_a_diff_fit);
	tcase_add_test(c, what_begins_like_a_diff_must_be_one);
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
	tcase_add_test(c, a_name_that_is_too_long_leaves_no_directories);
}

static void add_recovering(TCase *c)
{
	tcase_add_test(c, a_job_of_a_dead_worker_is_taken_over);
	tcase_add_test(c, what_was_only_staged_is_done_anew);
	tcase_add_test(c, a_redo_that_is_refused_takes_away_the_directories_made_before_the_crash);
	tcase_add_test(c, a_staged_write_whose_new_directories_are_gone_is_done_again);
	tcase_add_test(c, a_crash_over_files_that_cannot_be_looked_at_is_told_at_last);
	tcase_add_test(c, what_was_renamed_is_settled);
	tcase_add_test(c, room_is_looked_for_before_anything_is_staged);
	tcase_add_test(c, race_what_somebody_wrote_in_the_last_moment_is_not_overwritten);
	tcase_add_test(c, race_what_was_placed_is_put_back_unless_somebody_changed_it);
	tcase_add_test(c, what_somebody_else_wrote_meanwhile_stays);
	tcase_add_test(c, a_journal_never_removes_what_is_not_ours);
	tcase_add_test(c, a_write_that_killed_three_is_dead);
	tcase_add_test(c, the_third_death_after_the_rename_is_no_loss);
	tcase_add_test(c, a_dead_write_leaves_no_temporary_file);
	tcase_add_test(c, a_locked_workspace_waits_and_others_do_not);
	tcase_add_test(c, a_bell_wakes_it_and_an_idle_look_writes_nothing);
	tcase_add_test(c, race_the_file_changes_after_the_plan);
	tcase_add_test(c, race_somebody_makes_the_new_file_first);
	tcase_add_test(c, race_directories_that_were_made_for_nothing_go);
	tcase_add_test(c, race_the_file_becomes_a_link_or_its_directory_does);
}

static void add_two(TCase *c)
{
	tcase_add_test(c, while_one_applier_is_in_a_workspace_another_one_stays_out);
	tcase_add_test(c, a_job_that_somebody_claimed_since_it_was_seen_is_left_alone);
	tcase_add_test(c, who_lost_its_claim_journals_nothing_and_stages_nothing);
	tcase_add_test(c, who_lost_its_claim_puts_nothing_in_place);
	tcase_add_test(c, who_lost_its_claim_settles_nothing_and_the_next_one_does);
	tcase_add_test(c, who_lost_its_claim_refuses_nothing);
	tcase_add_test(c, who_lost_its_claim_puts_nothing_back_into_the_queue);
	tcase_add_test(c, who_lost_its_claim_buries_nothing);
}

int main(void)
{
	Suite *s = suite_create("applier");
	TCase *c = tcase_create("applier"), *race = tcase_create("race");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 60);
	add_writing(c);
	add_many(c);
	add_taking_back(c);
	add_refusing(c);
	add_recovering(c);
	suite_add_tcase(s, c);
	add_two(store_case(s, "two", 60));
	tcase_add_checked_fixture(race, NULL, close_store);
	tcase_set_timeout(race, 0);
	tcase_add_test(race, nothing_outside_is_opened_or_written_whoever_swaps_names);
	suite_add_tcase(s, race);
	return run_suite(s);
}
