/* applier: given an approved proposal, what is in the file and in the rows afterwards. The kill
 * points are in tests/crash/. Uses the real binary; `race_*` uses its library to get in between. */
#include "applier_case.h"

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
	OWNED(str) struct str big = { 0 };

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

START_TEST(attributes_survive_however_long_their_names_are)
{
	enum { ATTRIBUTES = 40 }; /* 8 KiB of names, where the file system has room for them */
	char name[250], value[8] = "";
	int count = 0;

	begin();
	file("a.txt", "old");
	SKIP_UNLESS(gets_attribute("a.txt"), "extended attributes in $TMPDIR");
	for (; count < ATTRIBUTES; count++) {
		(void)snprintf(name, sizeof(name), "user.%0200d", count);
		if (setxattr(in("a.txt"), name, "many", 4, 0) != 0)
			break;
	}
	MUST(count > 10, "room for %d attributes", count);
	apply("a.txt", "new");
	file_is("a.txt", "new");
	for (int i = 0; i < count; i++) {
		(void)snprintf(name, sizeof(name), "user.%0200d", i);
		ck_assert_int_eq(getxattr(in("a.txt"), name, value, sizeof(value)), 4);
	}
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
	OWNED(str) struct str diff = { 0 };
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
		MUST(fgetc(f) == 0, "byte %d is not 0", i);
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

START_TEST(what_gets_no_access_list_gets_no_more_than_the_list_left_to_everybody)
{
	begin();
	file("a.txt", "old");
	SKIP_UNLESS(gets_access_list("a.txt"), "access lists in $TMPDIR");
	apply("b.txt", "diff --git a/a.txt b/b.txt\ncopy from a.txt\ncopy to b.txt\n");
	file_is("b.txt", "old");
	ck_assert_uint_eq(mode_of("b.txt"), 0600);
	given("INSERT INTO setting VALUES ('apply.keep_attributes', 'false', 'file',"
	      " '2026-01-01T00:00:00.000Z')");
	apply("a.txt", "new");
	file_is("a.txt", "new");
	ck_assert(!has_access_list("a.txt"));
	ck_assert_uint_eq(mode_of("a.txt"), 0600);
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
	is_refused("patch_conflict", "patch conflict: a.txt: the diff does not fit the file, or "
	                             "fits in more than one place");
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
		OWNED(plan) struct plan plan = { 0 };
		OWNED(file_change) struct file_change f = FILE_CHANGE_INIT;
		struct refusal why = { .code = NULL };
		int root = -1;

		if (safe_path_open(ws, &root, NULL) || proposal_look(root, &p, &plan, &why) ||
		    proposal_work(&p, &plan, &why))
			_exit(1);
		file_change_take(root, &plan.files[0], NULL, &f);
		_exit(file_change_open(root, &f, &why) || file_change_stage(root, &f, 1, &why));
	}
	ck_assert_int_eq(wait4(pid, &status, 0, &used), pid);
	ck_assert_int_eq(status, 0);
	return used.ru_maxrss;
}

START_TEST(a_big_file_and_ten_thousand_hunks_take_no_more_memory_than_is_said)
{
	for (int moved = 0; moved <= 1; moved++) {
		OWNED(str) struct str diff = { 0 };
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
	given("INSERT INTO apply (request_seq, machine, state, created_at, updated_at) VALUES (1, "
	      "'other',"
	      " 'queued', '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')");
	run_worker("applier");
	expect("SELECT state, claim FROM apply", "queued|0\n");
}
END_TEST

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
		               .action = "modify" };
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

START_TEST(each_part_of_what_was_shown_is_bound_by_its_digest)
{
	static const char *const PARTS[] = {
		"request SET title = 'another'",
		"request SET description = 'another'",
		"request SET risk_level = 'high'",
		"request SET file_path = 'run'",
		"request SET body = body || char(10)",
		"request SET effect = 'another'",
		"request SET replaces_file = 1 - replaces_file",
		"request_file SET path = 'another' WHERE path = 'run'",
		"request_file SET target = 'a.txt' WHERE path = 'run'",
		"request_file SET action = 'read' WHERE path = 'run'",
		"request_file SET other_path = 'run' WHERE path = 'copy.txt'",
		"request_file SET mode = 33188 WHERE path = 'run'",
		"request_file SET original_hash = 'new_file' WHERE path = 'run'",
		"request_file SET result_hash = 'new_file' WHERE path = 'run'",
	};

	given_many();
	given("DROP TRIGGER request_file_is_fixed; DROP TRIGGER request_is_fixed");
	for (size_t i = 0; i < COUNT(PARTS); i++) {
		OWNED(str) struct str sql = { 0 };

		approve("a.txt", MANY);
		str_addf(&sql, "UPDATE %s", PARTS[i]);
		given(sql.bytes);
		call_check_diff(true);
		run_worker("applier");
		is_refused("digest_mismatch", "the stored proposal is not the one that was shown");
		many_are_old();
	}
}
END_TEST

/* The front of another build has shown something else than this one finds. */
static void is_not_what_was_shown(const char *body, const struct touched *shown, size_t count,
                                  const char *named)
{
	char beginning[100];

	(void)snprintf(beginning, sizeof(beginning), "what the proposal does to %s is not what was",
	               named);
	insert_request("a.txt", body, shown, count, 0);
	say_yes();
	call_check_diff(false);
	run_worker("applier");
	is_refused("digest_mismatch", beginning);
	file_is("a.txt", "old\n");
	ck_assert_uint_eq(mode_of("a.txt"), 0644);
	file_is("b.txt", "(none)");
}

static struct touched changed_to(const char *text)
{
	struct touched t = { .path = (char *)"a.txt",
		             .target = (char *)"a.txt",
		             .action = "modify" };

	(void)snprintf(t.hash, sizeof(t.hash), "%s", sha256_of("old\n", 4).text);
	(void)snprintf(t.result_hash, sizeof(t.result_hash), "%s",
	               sha256_of(text, strlen(text)).text);
	return t;
}

static void given_one_to_change(void)
{
	begin();
	file("a.txt", "old\n");
	ck_assert_int_eq(chmod(in("a.txt"), 0644), 0);
}

START_TEST(a_result_other_than_the_one_shown_is_not_written)
{
	const struct touched shown = changed_to("harmless\n");

	given_one_to_change();
	is_not_what_was_shown("new\n", &shown, 1, "a.txt");
	is_not_what_was_shown("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n", &shown, 1,
	                      "a.txt");
}
END_TEST

START_TEST(a_mode_that_was_not_shown_is_not_given)
{
	const struct touched shown = changed_to("new\n");

	given_one_to_change();
	is_not_what_was_shown("diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n"
	                      "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n",
	                      &shown, 1, "a.txt");
}
END_TEST

START_TEST(one_path_more_or_less_than_was_shown_is_refused)
{
	static const char ONE[] = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n";
	static const char BOTH[] = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n"
	                           "--- /dev/null\n+++ b/b.txt\n@@ -0,0 +1 @@\n+new\n";
	struct touched shown[] = { changed_to("new\n"), changed_to("new\n") };

	given_one_to_change();
	is_not_what_was_shown(BOTH, shown, 1, "b.txt");
	shown[1].path = shown[1].target = (char *)"b.txt";
	shown[1].action = "create";
	(void)snprintf(shown[1].hash, sizeof(shown[1].hash), "%s", NO_FILE);
	is_not_what_was_shown(ONE, shown, 2, "b.txt");
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
		OWNED(str) struct str more = { 0 };

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

int main(void)
{
	Suite *s = suite_create("applier_writes");
	TCase *c = tcase_create("applier");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 60);
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
	tcase_add_test(c, attributes_survive_however_long_their_names_are);
	tcase_add_test(c, other_names_of_a_file_keep_the_old_content);
	tcase_add_test(c, holes_are_filled_and_read_as_before);
	tcase_add_test(c, attributes_stay_behind_where_the_setting_says_so);
	tcase_add_test(c, what_gets_no_access_list_gets_no_more_than_the_list_left_to_everybody);
	tcase_add_test(c, context_that_differs_is_a_conflict_but_with_fuzz);
	tcase_add_test(c, a_big_file_and_ten_thousand_hunks_take_no_more_memory_than_is_said);
	tcase_add_test(c, a_link_inside_the_workspace_is_followed);
	tcase_add_test(c, jobs_are_done_in_order);
	tcase_add_test(c, jobs_of_other_machines_are_left_alone);
	tcase_add_test(c, a_diff_of_many_files_is_written_whole);
	tcase_add_test(c, one_file_that_has_changed_holds_back_all);
	tcase_add_test(c, names_may_be_swapped_and_taken_anew);
	tcase_add_test(c, what_was_not_shown_is_not_written);
	tcase_add_test(c, paths_that_the_diff_touches_beside_those_shown_are_refused);
	tcase_add_test(c, each_part_of_what_was_shown_is_bound_by_its_digest);
	tcase_add_test(c, a_result_other_than_the_one_shown_is_not_written);
	tcase_add_test(c, a_mode_that_was_not_shown_is_not_given);
	tcase_add_test(c, one_path_more_or_less_than_was_shown_is_refused);
	tcase_add_test(c, force_writes_lines_that_were_shown_wherever_they_are_now);
	tcase_add_test(c, force_copies_and_renames_nothing_that_has_changed);
	suite_add_tcase(s, c);
	return run_suite(s);
}
