/* applier: given an approved proposal, what is in the file and in the rows afterwards. The kill
 * points are in tests/crash/. Uses the real binary; `race_*` uses its library to get in between. */
#include "applier_case.h"

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
	OWNED(str) struct str sql = { 0 };

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
	OWNED(str) struct str sql = { 0 };

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
	OWNED(char_ptr) char *waits = NULL;

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
	waits = rows("SELECT 1 FROM apply WHERE state = 'queued' AND attempts = 2");
	if (*waits) /* else the machine is so slow that it was tried again at once */
		run_worker("applier");
	is_refused("permission", "cannot open a.txt: Permission denied; an applier died over this "
	                         "write, and how far it got is unknown");
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
	is_refused("patch_conflict", "patch conflict: a.txt: someone else has changed the file");
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

START_TEST(a_journal_of_staged_files_puts_nothing_of_others_in_place)
{
	begin();
	file("a.txt", "old\n");
	file("b.txt", "precious");
	approve("a.txt", "new\n");
	call_check_diff(false);
	file("a.txt", "new\n");
	left_in_hand(APPLY_ATTEMPTS_MAX - 1);
	journaled(sha256_of("old\n", 4).text, "new\n", "b.txt");
	given("UPDATE file_change SET state = 'staged'");
	run_worker("applier");
	is_refused("corrupt", "the journal's name of a hidden file is not ours");
	file_is("a.txt", "new\n");
	file_is("b.txt", "precious");
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
	expect("SELECT why LIKE 'crashed worker%', attempts FROM apply", "1|4\n");
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

START_TEST(a_write_whose_tidying_was_killed_is_tidied_by_the_next)
{
	given_crash("old\n", true);
	left_in_hand(APPLY_ATTEMPTS_MAX + 3);
	run_worker("applier");
	expect(OUTCOME, "dead|crashed|approved|answered|1\n");
	expect(CHANGES, "a.txt|modify|4|undone\n");
	file_is("a.txt", "old\n");
	ck_assert_int_eq(entries(), 1);
}
END_TEST

START_TEST(a_write_that_nobody_could_tidy_says_so)
{
	given_crash("old\n", true);
	left_in_hand(APPLY_ATTEMPTS_MAX + APPLY_TIDIES_MAX);
	run_worker("applier");
	expect("SELECT state, why LIKE '%how far it got is unknown: look at its files%' FROM apply",
	       "dead|1\n");
}
END_TEST

/* ---- hidden files that somebody removes, as `git clean` does ---- */

static const char TWO_FILES[] = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n"
                                "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-old\n+new\n";

static void given_two(void)
{
	begin();
	file("a.txt", "old\n");
	file("b.txt", "old\n");
}

/* An applier dies before this call. */
static void given_killed(const char *body, const char *call, int number)
{
	int status;
	pid_t killed;

	approve("a.txt", body);
	call_check_diff(false);
	killed = start_killed_at("applier", call, number);
	ck_assert_int_eq(waitpid(killed, &status, 0), killed);
}

/* It dies when its first name is in place; a.txt had this mode. */
static void given_half(const char *body, mode_t mode)
{
	given_two();
	ck_assert_int_eq(chmod(in("a.txt"), mode), 0);
	given_killed(body, "renameat2", 2);
	file_is("b.txt", "old\n");
	ck_assert_int_ge(hidden_entries(), 1);
}

static void remove_hidden(const char *content)
{
	OWNED(str) struct str command = { 0 };

	str_addf(&command, "grep -l '%s' %s/.intercom-* | xargs rm", content, ws);
	ck_assert_int_eq(system(command.bytes), 0);
}

/* So it dies, and then its hidden files with that are gone. */
static void given_cleaned(const char *body, const char *content)
{
	given_half(body, 0640);
	file_is("a.txt", "new\n");
	remove_hidden(content);
}

START_TEST(a_write_whose_hidden_files_are_removed_half_way_is_done_anew)
{
	given_cleaned(TWO_FILES, "");
	run_worker("applier");
	expect(OUTCOME, APPLIED);
	file_is("a.txt", "new\n");
	file_is("b.txt", "new\n");
	ck_assert_uint_eq(mode_of("a.txt"), 0640);
	ck_assert_int_eq(entries(), 2);
}
END_TEST

START_TEST(a_write_whose_hidden_files_are_removed_is_taken_back_from_a_file_of_somebody_else)
{
	given_cleaned(TWO_FILES, "old");
	file("b.txt", "mine\n");
	run_worker("applier");
	is_refused("patch_conflict", "patch conflict: b.txt");
	file_is("a.txt", "old\n");
	file_is("b.txt", "mine\n");
	ck_assert_uint_eq(mode_of("a.txt"), 0640);
	ck_assert_int_eq(entries(), 2);
}
END_TEST

START_TEST(a_mode_whose_hidden_file_is_removed_is_taken_back_without_set_id_bits)
{
	given_half(
	    "diff --git a/a.txt b/a.txt\nold mode 100640\nnew mode 100755\n"
	    "diff --git a/b.txt b/b.txt\n--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-old\n+new\n",
	    04640);
	ck_assert_uint_eq(mode_of("a.txt") & 0777, 0750);
	remove_hidden("old");
	file("b.txt", "mine\n");
	run_worker("applier");
	is_refused("patch_conflict", "patch conflict: b.txt");
	file_is("a.txt", "old\n");
	file_is("b.txt", "mine\n");
	ck_assert_uint_eq(mode_of("a.txt"), 0640);
	ck_assert_int_eq(entries(), 2);
}
END_TEST

START_TEST(what_somebody_else_made_of_a_mode_whose_hidden_file_is_removed_stays)
{
	given_half(
	    "diff --git a/a.txt b/a.txt\nold mode 100640\nnew mode 100755\n"
	    "diff --git a/b.txt b/b.txt\n--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-old\n+new\n",
	    0640);
	remove_hidden("old");
	file("a.txt", "mine\n");
	run_worker("applier");
	is_refused("patch_conflict", "patch conflict: a.txt");
	file_is("a.txt", "mine\n");
	file_is("b.txt", "old\n");
	ck_assert_int_eq(entries(), 2);
}
END_TEST

START_TEST(of_a_half_write_without_hidden_files_and_images_is_told_what_stays_written)
{
	given_cleaned(TWO_FILES, "");
	given("UPDATE file_change SET before_seq = NULL");
	run_worker("applier");
	is_refused("patch_conflict", "patch conflict: a.txt has been written and stays so: hidden "
	                             "files of this write were removed");
	file_is("a.txt", "new\n");
	file_is("b.txt", "old\n");
}
END_TEST

START_TEST(a_removal_that_is_left_of_a_write_without_its_hidden_files_is_done)
{
	given_cleaned("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n"
	              "--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n",
	              "");
	run_worker("applier");
	expect(OUTCOME, APPLIED);
	file_is("a.txt", "new\n");
	ck_assert_int_eq(entries(), 1);
}
END_TEST

START_TEST(of_a_half_write_that_stays_in_one_file_the_others_are_taken_back)
{
	begin();
	file("a.txt", "old a\n");
	file("b.txt", "old b\n");
	file("c.txt", "old c\n");
	given_killed("--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old a\n+new\n"
	             "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-old b\n+new\n"
	             "--- a/c.txt\n+++ b/c.txt\n@@ -1 +1 @@\n-old c\n+new\n",
	             "renameat2", 3);
	file_is("b.txt", "new\n");
	remove_hidden("old a");
	file("c.txt", "mine\n");
	given("UPDATE file_change SET before_seq = NULL");
	run_worker("applier");
	is_refused("patch_conflict", "patch conflict: a.txt has been written and stays so");
	file_is("a.txt", "new\n");
	file_is("b.txt", "old b\n");
	file_is("c.txt", "mine\n");
	ck_assert_int_eq(entries(), 3);
}
END_TEST

START_TEST(a_removal_whose_hidden_file_is_removed_is_taken_back_with_its_mode)
{
	given_two();
	ck_assert_int_eq(chmod(in("a.txt"), 0666), 0);
	given_killed("--- a/a.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n"
	             "--- a/b.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n",
	             "renameat2", 2);
	file_is("a.txt", "(none)");
	remove_hidden("old");
	file("b.txt", "mine\n");
	run_worker("applier");
	is_refused("patch_conflict", "patch conflict: b.txt");
	file_is("a.txt", "old\n");
	ck_assert_uint_eq(mode_of("a.txt"), 0666);
	ck_assert_int_eq(entries(), 2);
}
END_TEST

START_TEST(a_half_write_of_which_old_files_alone_are_removed_is_completed)
{
	given_cleaned(TWO_FILES, "old");
	given("UPDATE file_change SET before_seq = NULL");
	run_worker("applier");
	expect(OUTCOME, APPLIED);
	file_is("b.txt", "new\n");
	ck_assert_int_eq(entries(), 2);
}
END_TEST

START_TEST(a_half_write_is_refused_if_somebody_else_has_changed_what_was_in_place)
{
	given_half(TWO_FILES, 0640);
	file("a.txt", "mine\n");
	run_worker("applier");
	is_refused("patch_conflict", "patch conflict: a.txt: someone else has changed the file");
	file_is("a.txt", "mine\n");
	file_is("b.txt", "old\n");
	ck_assert_int_eq(entries(), 2);
}
END_TEST

START_TEST(a_mode_that_only_others_see_and_whose_hidden_file_is_removed_is_set)
{
	given_two();
	ck_assert_int_eq(chmod(in("a.txt"), 0744), 0);
	given_killed("diff --git a/a.txt b/a.txt\nold mode 100644\nnew mode 100755\n", "renameat2",
	             1);
	remove_hidden("");
	run_worker("applier");
	expect(OUTCOME, APPLIED);
	ck_assert_uint_eq(mode_of("a.txt"), 0755);
}
END_TEST

START_TEST(what_was_in_place_as_a_whole_stays_though_a_file_of_it_changes_before_it_is_told)
{
	given_two();
	given_killed(TWO_FILES, "unlinkat", 3);
	remove_hidden("");
	file("b.txt", "mine\n");
	run_worker("applier");
	expect(OUTCOME, APPLIED);
	file_is("a.txt", "new\n");
	file_is("b.txt", "mine\n");
	ck_assert_int_eq(entries(), 2);
}
END_TEST

/* ---- a disk that does not say that something stays ---- */

static bool is_open(void)
{
	OWNED(char_ptr) char *open = rows("SELECT 1 FROM apply WHERE state = 'queued'");

	return *open;
}

/* Writes two files; each flush of their directory fails. */
static void write_unflushed(const char *error)
{
	char how[40];

	begin();
	file("a.txt", "old\n");
	file("b.txt", "old\n");
	approve("a.txt", "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n"
	                 "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-old\n+new\n");
	call_check_diff(false);
	(void)snprintf(how, sizeof(how), "error=%s:when=1+", error);
	for (int i = 0; i < APPLY_ATTEMPTS_MAX && is_open(); i++)
		(void)try_traced_on(ws, "applier", "fsync", how, "/dev/null");
	file_is("a.txt", "new\n");
	file_is("b.txt", "new\n");
}

START_TEST(each_new_file_is_flushed_also_one_that_its_owner_may_not_read)
{
	begin();
	file("a.txt", "old\n");
	file("b.txt", "old\n");
	ck_assert_int_eq(chmod(in("b.txt"), 0222), 0);
	approve("a.txt", "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+new\n"
	                 "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1 @@\n-old\n+new\n");
	call_check_diff(false);
	ck_assert_int_eq(count_flushes("*/.intercom-*.tmp>*"), 2);
	expect(OUTCOME, APPLIED);
	ck_assert_uint_eq(mode_of("b.txt"), 0222);
}
END_TEST

START_TEST(a_write_that_may_not_outlive_a_power_cut_is_not_told_as_applied)
{
	write_unflushed("EIO");
	expect(OUTCOME, "dead|io_error|approved|answered|1\n");
	expect(
	    "SELECT attempts, why LIKE '%each file is as was approved, but the disk does not say "
	    "that it stays so%' FROM apply",
	    "3|1\n");
	ck_assert_int_eq(entries(), 4); /* what was there before is kept */
}
END_TEST

START_TEST(a_file_system_that_flushes_no_directories_has_nothing_to_wait_for)
{
	write_unflushed("EINVAL");
	expect(OUTCOME, APPLIED);
	expect("SELECT attempts FROM apply", "1\n");
	ck_assert_int_eq(entries(), 2);
}
END_TEST

/* ---- two appliers ---- */

START_TEST(while_one_applier_is_in_a_workspace_another_one_stays_out)
{
	OWNED(apply_report) struct apply_report r = { 0 };
	struct stopped first;
	int64_t due_ms;

	begin();
	file("a.txt", "old");
	approve("a.txt", "new");
	call_check_diff(false);
	first = start_stopped_at("applier", "renameat2", 1, NULL); /* in place, not settled */
	file_is("a.txt", "new");
	ck_assert_int_eq(
	    try_beside(open(test_run(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), &r, &due_ms), 0);
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
	char lock[WORKSPACE_BYTES + 60];
	struct stopped first;

	begin();
	approve("a.txt", "new");
	call_check_diff(false);
	(void)snprintf(lock, sizeof(lock), "%s/ws-%.32s.lock", test_run(),
	               sha256_of(ws, strlen(ws)).text);
	first = start_stopped_at("applier", "flock", 1, lock);
	expect("SELECT state, claim FROM apply", "queued|0\n");
	left_in_hand(3);
	go_on(first);
	expect("SELECT state, claim, worker_id FROM apply", "claimed|7|dead\n");
	ck_assert_int_eq(entries(), 0);
}
END_TEST

/* A worker moves to the new one between two looks; here it had already begun to look. */
START_TEST(a_job_waits_when_the_run_directory_vanishes_before_its_lock)
{
	OWNED(apply_report) struct apply_report r = { 0 };
	char gone[WORKSPACE_BYTES + 40];
	int64_t due_ms;
	int run_fd;

	begin();
	approve("a.txt", "new");
	call_check_diff(false);
	(void)snprintf(gone, sizeof(gone), "%s/gone", scratch());
	ck_assert_int_eq(mkdir(gone, 0700), 0);
	run_fd = open(gone, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_eq(rmdir(gone), 0);
	ck_assert_int_eq(try_beside(run_fd, &r, &due_ms), 0);
	ck_assert_int_lt(due_ms, INT64_MAX);
	expect("SELECT state, claim FROM apply", "queued|0\n");
	run_worker("applier");
	file_is("a.txt", "new");
}
END_TEST

static const char JOURNALED[] = "INSERT ON file_change";

static const char STAGED[] = "UPDATE OF state ON file_change WHEN NEW.state = 'staged'";

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

START_TEST(a_locked_workspace_waits_and_others_do_not)
{
	char lock[WORKSPACE_BYTES + 60];
	pid_t pid;
	int fd;

	begin();
	(void)snprintf(lock, sizeof(lock), "%s/ws-%.32s.lock", test_run(),
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

/* Where a hand makes the calls (tests/CMakeLists.txt), it alone dies, and its applier goes on. */
static void add_cleaned(TCase *c)
{
	if (getenv("INTERCOM_FILES"))
		return;
	tcase_add_test(c, a_write_whose_hidden_files_are_removed_half_way_is_done_anew);
	tcase_add_test(
	    c, a_write_whose_hidden_files_are_removed_is_taken_back_from_a_file_of_somebody_else);
	tcase_add_test(c, a_mode_whose_hidden_file_is_removed_is_taken_back_without_set_id_bits);
	tcase_add_test(c, what_somebody_else_made_of_a_mode_whose_hidden_file_is_removed_stays);
	tcase_add_test(c,
	               of_a_half_write_without_hidden_files_and_images_is_told_what_stays_written);
	tcase_add_test(c, a_removal_that_is_left_of_a_write_without_its_hidden_files_is_done);
	tcase_add_test(c, of_a_half_write_that_stays_in_one_file_the_others_are_taken_back);
	tcase_add_test(c, a_removal_whose_hidden_file_is_removed_is_taken_back_with_its_mode);
	tcase_add_test(c, a_half_write_of_which_old_files_alone_are_removed_is_completed);
	tcase_add_test(c, a_half_write_is_refused_if_somebody_else_has_changed_what_was_in_place);
	tcase_add_test(c, a_mode_that_only_others_see_and_whose_hidden_file_is_removed_is_set);
	tcase_add_test(
	    c, what_was_in_place_as_a_whole_stays_though_a_file_of_it_changes_before_it_is_told);
}

int main(void)
{
	Suite *s = suite_create("applier_recovery");
	TCase *c = tcase_create("applier");

	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 60);
	tcase_add_test(c, a_job_of_a_dead_worker_is_taken_over);
	tcase_add_test(c, what_was_only_staged_is_done_anew);
	tcase_add_test(c, a_redo_that_is_refused_takes_away_the_directories_made_before_the_crash);
	tcase_add_test(c, a_staged_write_whose_new_directories_are_gone_is_done_again);
	tcase_add_test(c, a_crash_over_files_that_cannot_be_looked_at_is_told_at_last);
	tcase_add_test(c, what_was_renamed_is_settled);
	tcase_add_test(c, what_somebody_else_wrote_meanwhile_stays);
	tcase_add_test(c, a_journal_never_removes_what_is_not_ours);
	tcase_add_test(c, a_journal_of_staged_files_puts_nothing_of_others_in_place);
	tcase_add_test(c, a_write_that_killed_three_is_dead);
	tcase_add_test(c, the_third_death_after_the_rename_is_no_loss);
	tcase_add_test(c, a_dead_write_leaves_no_temporary_file);
	tcase_add_test(c, a_write_whose_tidying_was_killed_is_tidied_by_the_next);
	tcase_add_test(c, a_write_that_nobody_could_tidy_says_so);
	add_cleaned(c);
	tcase_add_test(c, each_new_file_is_flushed_also_one_that_its_owner_may_not_read);
	tcase_add_test(c, a_write_that_may_not_outlive_a_power_cut_is_not_told_as_applied);
	tcase_add_test(c, a_file_system_that_flushes_no_directories_has_nothing_to_wait_for);
	tcase_add_test(c, while_one_applier_is_in_a_workspace_another_one_stays_out);
	tcase_add_test(c, a_job_that_somebody_claimed_since_it_was_seen_is_left_alone);
	tcase_add_test(c, who_lost_its_claim_journals_nothing_and_stages_nothing);
	tcase_add_test(c, who_lost_its_claim_puts_nothing_in_place);
	tcase_add_test(c, who_lost_its_claim_settles_nothing_and_the_next_one_does);
	tcase_add_test(c, who_lost_its_claim_refuses_nothing);
	tcase_add_test(c, who_lost_its_claim_puts_nothing_back_into_the_queue);
	tcase_add_test(c, who_lost_its_claim_buries_nothing);
	tcase_add_test(c, a_job_waits_when_the_run_directory_vanishes_before_its_lock);
	tcase_add_test(c, a_locked_workspace_waits_and_others_do_not);
	tcase_add_test(c, a_bell_wakes_it_and_an_idle_look_writes_nothing);
	suite_add_tcase(s, c);
	return run_suite(s);
}
