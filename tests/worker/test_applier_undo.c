/* applier: given an approved proposal, what is in the file and in the rows afterwards. The kill
 * points are in tests/crash/. Uses the real binary; `race_*` uses its library to get in between. */
#include "applier_case.h"

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
	expect(
	    "SELECT outcome, why LIKE 'this was undone already, at 20%' FROM command WHERE seq = 2",
	    "refused|1\n");
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
		                .action = "modify",
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

/* The owner since may be another one, and nobody recorded whose the content was. */
START_TEST(content_comes_back_without_set_id_bits_and_with_none_that_came_since)
{
	begin();
	file("tool", "old");
	ck_assert_int_eq(chmod(in("tool"), 04755), 0);
	apply("tool", "new");
	ck_assert_uint_eq(mode_of("tool"), 0755);
	ck_assert_int_eq(chmod(in("tool"), 02755), 0);
	call_undo(1);
	expect(UNDO, UNDONE);
	file_is("tool", "old");
	ck_assert_uint_eq(mode_of("tool"), 0755);
}
END_TEST

/* Set-gid without the group's execution is none, until somebody adds that. */
START_TEST(a_mode_that_comes_back_makes_no_set_id_bit_of_another_one)
{
	begin();
	file("tool", "old");
	ck_assert_int_eq(chmod(in("tool"), 02644), 0);
	apply("tool", "new");
	ck_assert_uint_eq(mode_of("tool"), 02644);
	ck_assert_int_eq(chmod(in("tool"), 02755), 0);
	call_undo(1);
	expect(UNDO, UNDONE);
	ck_assert_uint_eq(mode_of("tool"), 0755);
}
END_TEST

START_TEST(a_mode_that_comes_back_alone_brings_no_set_id_bits)
{
	begin();
	file("tool", "old\n");
	ck_assert_int_eq(chmod(in("tool"), 04755), 0);
	apply("tool", "diff --git a/tool b/tool\nold mode 100755\nnew mode 100644\n");
	ck_assert_uint_eq(mode_of("tool"), 0644);
	call_undo(1);
	expect(UNDO, UNDONE);
	ck_assert_uint_eq(mode_of("tool"), 0755);
}
END_TEST

START_TEST(a_renamed_file_comes_back_without_its_set_id_bits)
{
	begin();
	file("tool", "old\n");
	ck_assert_int_eq(chmod(in("tool"), 06755), 0);
	apply("tool", "diff --git a/tool b/moved\nsimilarity index 100%\nrename from tool\nrename "
	              "to moved\n");
	ck_assert_uint_eq(mode_of("moved"), 0755);
	call_undo(1);
	expect(UNDO, UNDONE);
	file_is("tool", "old\n");
	ck_assert_uint_eq(mode_of("tool"), 0755);
}
END_TEST

/* Nobody knows whose it was: another user's would become ours. */
START_TEST(a_deleted_file_comes_back_without_its_set_id_bits)
{
	begin();
	file("tool", "old\n");
	ck_assert_int_eq(chmod(in("tool"), 04755), 0);
	apply("tool", "--- a/tool\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n");
	ck_assert_int_eq(access(in("tool"), F_OK), -1);
	call_undo(1);
	expect(UNDO, UNDONE);
	file_is("tool", "old\n");
	ck_assert_uint_eq(mode_of("tool"), 0755);
}
END_TEST

START_TEST(permissions_that_the_write_did_not_change_stay_as_they_are_now)
{
	given_many();
	apply("a.txt", MANY);
	many_are_new();
	ck_assert_int_eq(chmod(in("a.txt"), 0600), 0);
	ck_assert_int_eq(chmod(in("moved/new.sh"), 0700), 0); /* a rename keeps them */
	ck_assert_int_eq(chmod(in("run"), 0700), 0); /* from 0640 to 0750 by the write */
	call_undo(1);
	expect(UNDO, UNDONE);
	file_is("a.txt", "one\ntwo\nthree\n");
	ck_assert_uint_eq(mode_of("a.txt"), 0600);
	file_is("old.sh", "true\n1\n");
	ck_assert_uint_eq(mode_of("old.sh"), 0700);
	ck_assert_uint_eq(mode_of("run"), 0600);
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
	undo_is_refused("no_before_image", "the previous content of a.txt is no longer kept");
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

/* Nobody was shown what a forced write replaces. */
START_TEST(what_force_has_replaced_comes_back_however_large_it_was)
{
	begin();
	given("INSERT INTO setting VALUES ('undo_limit_bytes', '4', 'file',"
	      " '2026-01-01T00:00:00.000Z')");
	file("a.txt", "1234");
	approve("a.txt", "x");
	file("a.txt", "somebody's own words");
	call_check_diff(true);
	run_worker("applier");
	expect("SELECT state, forced FROM apply", "applied|1\n");
	file_is("a.txt", "x");
	call_undo(1);
	expect(UNDO, UNDONE);
	file_is("a.txt", "somebody's own words");
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

/* ---- what `show` says of it ---- */

/* Whether what ctl prints of the newest request has this part. */
static bool shows(const char *part)
{
	char line[2 * WORKSPACE_BYTES], text[8192];
	size_t n;
	FILE *p;

	(void)snprintf(line, sizeof(line),
	               "\"$INTERCOM_BUILD/agent-intercom-ctl\" --db '%s' --text show request-%d",
	               test_db(), asked);
	p = popen(line, "r");
	ck_assert_ptr_nonnull(p);
	n = fread(text, 1, sizeof(text) - 1, p);
	text[n] = '\0';
	ck_assert_int_eq(pclose(p), 0);
	return strstr(text, part) != NULL;
}

START_TEST(show_names_files_that_have_changed_since_they_were_asked_about)
{
	begin();
	file("a.txt", "one\n");
	ask("a.txt", "two\n");
	ck_assert(shows("file      a.txt\n"));
	ck_assert(!shows("changed since"));
	file("a.txt", "mine\n");
	ck_assert(shows("\nchanged since it was asked: a.txt\n"));
	ck_assert_int_eq(unlink(in("a.txt")), 0);
	ck_assert(shows("\nchanged since it was asked: a.txt\n"));
}
END_TEST

START_TEST(show_says_that_a_change_was_written_by_force_and_undone)
{
	begin();
	file("a.txt", "one\n");
	approve("a.txt", "two\n");
	file("a.txt", "mine\n");
	call_check_diff(true);
	run_worker("applier");
	ck_assert(shows("\n          by force, over what had changed since it was asked\n"));
	ck_assert(!shows("undone"));
	call_undo(1);
	expect(UNDO, UNDONE);
	ck_assert(shows("\nundone    20"));
}
END_TEST

/* A list is not kept with the content, and the group's bits of the mode are its mask. */
START_TEST(a_deleted_file_comes_back_with_no_more_than_its_access_list_left_to_everybody)
{
	begin();
	file("a.txt", "old\n");
	SKIP_UNLESS(gets_access_list("a.txt"), "access lists in $TMPDIR");
	ck_assert_uint_eq(mode_of("a.txt"), 0660);
	apply("a.txt", "--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n");
	call_undo(1);
	expect(UNDO, UNDONE);
	file_is("a.txt", "old\n");
	ck_assert_uint_eq(mode_of("a.txt"), 0600);
	ck_assert(gets_masked_list("a.txt"));
	ck_assert_uint_eq(mode_of("a.txt"), 0746);
	apply("a.txt", "--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n");
	call_undo(2);
	expect(UNDO, UNDONE);
	ck_assert_uint_eq(mode_of("a.txt"), 0704); /* 4242 is one of the others now */
}
END_TEST

START_TEST(an_access_list_stays_with_a_file_that_is_written_or_renamed_and_taken_back)
{
	static const char *const BODIES[] = {
		"--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n",
		"diff --git a/a.txt b/b.txt\nrename from a.txt\nrename to b.txt\n",
	};

	begin();
	file("a.txt", "old\n");
	SKIP_UNLESS(gets_access_list("a.txt"), "access lists in $TMPDIR");
	for (size_t i = 0; i < COUNT(BODIES); i++) {
		const char *name = i == 0 ? "a.txt" : "b.txt";

		apply(name, BODIES[i]);
		ck_assert(has_access_list(name));
		ck_assert_uint_eq(mode_of(name), 0660);
		call_undo((int)i + 1);
		expect(UNDO, UNDONE);
		file_is("a.txt", "old\n");
		ck_assert(has_access_list("a.txt"));
		ck_assert_uint_eq(mode_of("a.txt"), 0660);
	}
}
END_TEST

/* The copy has the same source as the renamed file. */
START_TEST(a_file_that_is_renamed_and_copied_becomes_the_renamed_one)
{
	begin();
	file("a.txt", "old\n");
	apply("b.txt", "diff --git a/a.txt b/b.txt\nrename from a.txt\nrename to b.txt\n"
	               "diff --git a/a.txt b/c.txt\ncopy from a.txt\ncopy to c.txt\n");
	expect(OUTCOME, APPLIED);
	expect("SELECT path, action, other_path FROM file_change ORDER BY seq",
	       "a.txt|delete|b.txt\nb.txt|create|a.txt\nc.txt|create|a.txt\n");
	call_undo(1);
	expect(UNDO, UNDONE);
	file_is("a.txt", "old\n");
}
END_TEST

/* What its folder gives a new file would open it to more people than it was, as a copy would be
 * without what its folder shuts out. */
START_TEST(what_had_no_access_list_gets_none_of_its_folder)
{
	static const struct {
		const char *name, *body;
		unsigned group;
	} DIFFS[] = {
		{ "a.txt", "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n", 060 },
		{ "a.txt", "diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n", 060 },
		{ "b.txt", "diff --git a/a.txt b/b.txt\nrename from a.txt\nrename to b.txt\n",
		  060 },
		{ "c.txt", "diff --git a/a.txt b/c.txt\ncopy from a.txt\ncopy to c.txt\n", 0 },
		{ "a.txt", "--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n", 0 },
	};
	struct stat st;

	begin();
	file("a.txt", "old\n");
	ck_assert_int_eq(chmod(in("a.txt"), 0660), 0);
	SKIP_UNLESS(gives_access_list("."), "access lists in $TMPDIR");
	for (size_t i = 0; i < COUNT(DIFFS); i++) {
		const char *name = DIFFS[i].name;

		apply(name, DIFFS[i].body);
		expect(OUTCOME, APPLIED);
		if (stat(in(name), &st) == 0) {
			ck_assert(!has_access_list(name));
			ck_assert_uint_eq(mode_of(name) & 0666, 0600 | DIFFS[i].group);
		}
		call_undo((int)i + 1);
		expect(UNDO, UNDONE);
		file_is("a.txt", "old\n");
		ck_assert(!has_access_list("a.txt"));
		ck_assert_uint_eq(mode_of("a.txt"), 0660);
	}
	apply("new.txt", "new\n");
	ck_assert(has_access_list("new.txt"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("applier_undo");
	TCase *c = tcase_create("applier");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, a_write_of_many_files_is_taken_back_whole);
	tcase_add_test(c, the_bytes_before_come_back_to_the_byte);
	tcase_add_test(c, what_has_changed_since_the_write_is_not_taken_back);
	tcase_add_test(c, content_comes_back_without_set_id_bits_and_with_none_that_came_since);
	tcase_add_test(c, a_mode_that_comes_back_makes_no_set_id_bit_of_another_one);
	tcase_add_test(c, a_mode_that_comes_back_alone_brings_no_set_id_bits);
	tcase_add_test(c, a_renamed_file_comes_back_without_its_set_id_bits);
	tcase_add_test(c, a_deleted_file_comes_back_without_its_set_id_bits);
	tcase_add_test(c, permissions_that_the_write_did_not_change_stay_as_they_are_now);
	tcase_add_test(c, directories_that_a_write_made_stay_where_something_else_is_in_them);
	tcase_add_test(c, what_is_too_large_to_be_kept_cannot_be_taken_back);
	tcase_add_test(c, what_force_has_replaced_comes_back_however_large_it_was);
	tcase_add_test(c, a_crashed_undo_is_finished_by_the_next_applier);
	tcase_add_test(c, show_names_files_that_have_changed_since_they_were_asked_about);
	tcase_add_test(c, show_says_that_a_change_was_written_by_force_and_undone);
	tcase_add_test(
	    c, a_deleted_file_comes_back_with_no_more_than_its_access_list_left_to_everybody);
	tcase_add_test(c,
	               an_access_list_stays_with_a_file_that_is_written_or_renamed_and_taken_back);
	tcase_add_test(c, a_file_that_is_renamed_and_copied_becomes_the_renamed_one);
	tcase_add_test(c, what_had_no_access_list_gets_none_of_its_folder);
	suite_add_tcase(s, c);
	return run_suite(s);
}
