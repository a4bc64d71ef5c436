/* session-restore from the order to the files: archivist, applier and agent-intercom-ctl. */
#include "harness.h"
#include "str.h"
#include "tree.h"
#include "workspace.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char STATE[] =
    "SELECT state, error_code FROM workspace_restore ORDER BY seq DESC LIMIT 1";

/* Runs a command of ctl, and returns what it prints, and its status. */
static char *ctl(const char *arguments, int *ret_status)
{
	OWNED(str) struct str line = { 0 };
	struct str out = { 0 };
	char chunk[4096];
	size_t n;
	FILE *p;

	str_addf(&line, "\"$INTERCOM_BUILD/agent-intercom-ctl\" --db '%s' --text %s 2>&1",
	         test_db(), arguments);
	p = popen(line.bytes, "r");
	ck_assert_ptr_nonnull(p);
	while ((n = fread(chunk, 1, sizeof(chunk), p)) > 0)
		str_add_bytes(&out, chunk, n);
	*ret_status = WEXITSTATUS(pclose(p));
	return str_take(&out);
}

static void says(const char *arguments, int status, const char *part)
{
	int got;
	OWNED(char_ptr) char *out = ctl(arguments, &got);

	ck_assert_msg(strstr(out, part) != NULL, "%s: \"%s\" is missing in:\n%s", arguments, part,
	              out);
	ck_assert_msg(got == status, "%s: status %d:\n%s", arguments, got, out);
}

static void contains(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "\"%s\" is missing in:\n%s", part, text);
}

static char id[40]; /* of the checkpoint */

/* With what the supervisor does, so that ctl finds the bells of the workers. */
static void begin_on_machine(void)
{
	OWNED(str) struct str link = { 0 };

	begin();
	str_addf(&link, "%s-run", test_db());
	ck_assert_int_eq(symlink(test_run(), link.bytes), 0);
	given("INSERT INTO setting (name, value, source, updated_at) VALUES ('system.machine', 'h',"
	      " 'system', '2026-01-01T00:00:00.000Z') ON CONFLICT DO UPDATE SET value = 'h'");
}

/* Of the workspace as it is; its id is in id. */
static void take_checkpoint(const char *label)
{
	OWNED(str) struct str order = { 0 };
	OWNED(char_ptr) char *text = NULL;

	str_addf(&order,
	         "INSERT INTO command (verb, session_id, argument) VALUES ('session-checkpoint',"
	         " 's', '%s')",
	         label);
	given(order.bytes);
	(void)start_worker("archivist");
	expect_soon("SELECT state FROM checkpoint", "done\n");
	text = rows("SELECT id FROM checkpoint");
	(void)snprintf(id, sizeof(id), "%.36s", text);
}

/* A workspace with a checkpoint of it, and changes since. */
static void given_changes(void)
{
	begin_on_machine();
	file("kept.txt", "same\n");
	file("changed.txt", "one\n");
	file("gone.txt", "gone\n");
	ck_assert_int_eq(chmod(in("gone.txt"), 04755), 0);
	take_checkpoint("before the storm");
	file("changed.txt", "two\n");
	ck_assert_int_eq(unlink(in("gone.txt")), 0);
	file("new.txt", "new\n");
}

static void order(const char *paths)
{
	OWNED(str) struct str sql = { 0 };

	str_addf(&sql,
	         "INSERT INTO command (verb, argument) VALUES ('session-restore',"
	         " '{\"checkpoint\":\"%s\"%s%s}')",
	         id, paths ? ",\"paths\":" : "", paths ? paths : "");
	given(sql.bytes);
}

static void compare(void)
{
	expect_soon("SELECT count(*) FROM checkpoint WHERE state <> 'done'", "0\n");
	run_worker("applier");
}

static void answer(const char *verdict)
{
	OWNED(str) struct str sql = { 0 };

	str_addf(&sql,
	         "INSERT INTO decision (request_id, verdict) SELECT id, '%s' FROM request"
	         " WHERE kind = 'restore' ORDER BY seq DESC LIMIT 1",
	         verdict);
	given(sql.bytes);
}

START_TEST(what_has_changed_is_shown_and_asked)
{
	given_changes();
	order(NULL);
	expect("SELECT outcome, json_extract(reply, '$.label') FROM command WHERE verb ="
	       " 'session-restore'",
	       "done|before the storm\n");
	compare();
	expect(STATE, "asked|\n");
	expect("SELECT modified, deleted, added, named FROM workspace_restore",
	       "1|1|1|changed.txt, gone.txt, new.txt\n");
	expect(
	    "SELECT r.kind, r.state, title, replace(description, substr(before_id, 1, 13), 'ID'), "
	    "body"
	    " FROM request AS r, workspace_restore AS w",
	    "restore|pending|Restore checkpoint before the storm|The following files have changed "
	    "since checkpoint before the storm: changed.txt, gone.txt, new.txt. Proceeding will "
	    "override local state. What is there now is kept as checkpoint ID.|Modified (1):\n  "
	    "changed.txt\nDeleted (1), will be back:\n  "
	    "gone.txt (permissions 0755) (without its set-id bits)\nAdded (1), will be removed:\n  "
	    "new.txt\n\n--- "
	    "a/changed.txt\n+++ "
	    "b/changed.txt\n@@ -1 +1 @@\n-two\n+one\n--- /dev/null\n+++ b/gone.txt\n@@ -0,0 +1 "
	    "@@\n+gone\n--- a/new.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-new\n\n");
	file_is("changed.txt", "two\n");
}
END_TEST

START_TEST(a_yes_puts_it_back_and_the_checkpoint_before_undoes_that)
{
	OWNED(char_ptr) char *before = NULL;

	given_changes();
	ask("changed.txt", "three\n");
	order(NULL);
	compare();
	answer("approve");
	run_worker("applier");
	expect(STATE, "done|\n");
	file_is("changed.txt", "one\n");
	file_is("gone.txt", "gone\n");
	file_is("new.txt", "(none)");
	expect("SELECT state FROM request WHERE kind = 'clearance'", "pending\n");

	before = rows("SELECT before_id FROM workspace_restore");
	(void)snprintf(id, sizeof(id), "%.36s", before);
	order(NULL);
	compare();
	answer("approve");
	run_worker("applier");
	expect(STATE, "done|\n");
	file_is("changed.txt", "two\n");
	file_is("gone.txt", "(none)");
	file_is("new.txt", "new\n");
}
END_TEST

START_TEST(nothing_is_asked_where_nothing_differs)
{
	given_changes();
	file("changed.txt", "one\n");
	file("gone.txt", "gone\n");
	ck_assert_int_eq(chmod(in("gone.txt"), 0755), 0);
	ck_assert_int_eq(unlink(in("new.txt")), 0);
	order(NULL);
	compare();
	expect("SELECT state, why FROM workspace_restore",
	       "same|the workspace is as the checkpoint has it\n");
	expect("SELECT count(*) FROM request", "0\n");
}
END_TEST

START_TEST(a_changed_workspace_is_compared_and_asked_again)
{
	given_changes();
	order(NULL);
	compare();
	file("changed.txt", "three\n");
	answer("approve");
	run_worker("applier");
	file_is("changed.txt", "three\n");
	compare();
	expect("SELECT state, error_code, previous_seq FROM workspace_restore ORDER BY seq",
	       "refused|workspace_changed|\nasked||1\n");
	expect(
	    "SELECT count(*) FROM request WHERE body LIKE '%-three%' AND description LIKE '%(Asked"
	    " again: the workspace has changed since the last answer: changed.txt has changed"
	    " since it was compared.)'",
	    "1\n");
	{
		OWNED(char_ptr)
		char *first = rows("SELECT 'approve ' || id FROM request"
		                   " WHERE kind = 'restore' ORDER BY seq LIMIT 1");

		first[strcspn(first, "\n")] = '\0';
		says(first, 1, "; the workspace had changed by then, so it is asked again: ");
		memcpy(first, "show   ", strlen("approve"));
		says(first, 0,
		     "\nnot done  changed.txt has changed since it was compared; it is asked "
		     "again: 0");
	}
	answer("approve");
	run_worker("applier");
	expect(STATE, "done|\n");
	file_is("changed.txt", "one\n");
}
END_TEST

/* As `git clean -fd` does, after everything was killed. */
START_TEST(who_removes_the_hidden_folder_of_a_restore_learns_where_what_was_there_is)
{
	OWNED(str) struct str line = { 0 };
	int status;

	given_changes();
	order(NULL);
	compare();
	answer("approve");
	ck_assert_int_gt(waitpid(start_killed_at("applier", "renameat2", 3), &status, 0), 0);
	file_is("changed.txt", "one\n");
	str_addf(&line, "rm -r '%s'/.intercom-*.tmp", in(""));
	ck_assert_int_eq(system(line.bytes), 0);
	run_worker("applier");
	expect("SELECT error_code, why = 'changed.txt has changed since it was compared; an attempt"
	       " before this one was cut off, and some paths may be as in the checkpoint: what was"
	       " there before it is in checkpoint ' || substr(before_id, 1, 13)"
	       " || ' (`session-restore ' || substr(before_id, 1, 13) || '` brings it back)'"
	       " FROM workspace_restore ORDER BY seq LIMIT 1",
	       "workspace_changed|1\n");
}
END_TEST

START_TEST(a_name_with_a_line_break_is_quoted_as_in_other_diffs)
{
	given_changes();
	file("two\nlines", "x\n");
	order(NULL);
	compare();
	expect("SELECT instr(body, char(10) || '--- \"a/two\\012lines\"' || char(10)) > 0 FROM"
	       " request",
	       "1\n");
}
END_TEST

START_TEST(one_file_that_is_not_utf8_keeps_none_of_the_others_from_being_shown)
{
	OWNED(str) struct str line = { 0 };
	OWNED(char_ptr) char *second = NULL;

	given_changes();
	file("latin.txt", "caf\xE9\n");
	file("bad\xFF.txt", "x\n");
	ck_assert_int_eq(symlink("to\xFF", in("link")), 0);
	(void)start_worker("reader");
	str_addf(&line, "diff %s", id);
	says(line.bytes, 0, "-one\n+two\n");
	says(line.bytes, 0, "+++ \"b/bad\\377.txt\"\n@@ -0,0 +1 @@\n+x\n");
	says(line.bytes, 0, "latin.txt (no text in UTF-8): nothing -> a file of 5 bytes");
	says(line.bytes, 0, "link: nothing -> a link to to\\xff\n");

	given("INSERT INTO command (verb, session_id, argument) VALUES ('session-checkpoint', 's',"
	      " 'second')");
	expect_soon("SELECT state FROM checkpoint WHERE label = 'second'", "done\n");
	str_reset(&line);
	str_addf(&line, "checkpoint diff %s second", id);
	says(line.bytes, 0, "+++ \"b/bad\\377.txt\"\n");

	order(NULL);
	compare();
	expect(STATE, "asked|\n");
	second = rows("SELECT body FROM request");
	contains(second, "  bad\\xff.txt\n");
	contains(second, "--- \"a/bad\\377.txt\"\n+++ /dev/null\n");
	contains(second, "latin.txt: no diff, it is large or no text\n");
	answer("approve");
	run_worker("applier");
	expect(STATE, "done|\n");
	file_is("bad\xFF.txt", "(none)");
}
END_TEST

static int mode_of(const char *name)
{
	struct stat st;

	ck_assert_int_eq(lstat(in(name), &st), 0);
	return (int)(st.st_mode & 07777);
}

/* The group's bits of a mode are the mask of the list, which a checkpoint does not hold. */
START_TEST(what_comes_back_without_its_access_list_is_open_to_nobody_else)
{
	begin_on_machine();
	ck_assert_int_eq(mkdir(in("dir"), 0700), 0);
	file("gone.txt", "gone\n");
	file("changed.txt", "one\n");
	file("dir/a.txt", "a\n");
	SKIP_UNLESS(gets_access_list("gone.txt"), "access lists in $TMPDIR");
	ck_assert(gets_access_list("changed.txt") && gets_access_list("dir"));
	ck_assert(gives_access_list("."));
	take_checkpoint("all");
	ck_assert_int_eq(unlink(in("gone.txt")), 0);
	file("changed.txt", "two\n");
	ck_assert_int_eq(unlink(in("dir/a.txt")), 0);
	ck_assert_int_eq(rmdir(in("dir")), 0);
	order(NULL);
	compare();
	answer("approve");
	run_worker("applier");
	expect(STATE, "done|\n");
	file_is("changed.txt", "one\n");
	ck_assert(has_access_list("changed.txt"));
	ck_assert_int_eq(mode_of("changed.txt"), 0660);
	ck_assert_int_eq(mode_of("gone.txt"), 0600);
	ck_assert_int_eq(mode_of("dir"), 0700);
	ck_assert(!has_access_list("gone.txt") && !has_access_list("dir"));
}
END_TEST

START_TEST(a_repository_that_was_made_since_keeps_its_git_and_the_question_says_so)
{
	OWNED(char_ptr) char *body = NULL;

	given_changes();
	ck_assert_int_eq(mkdir(in("d"), 0755) | mkdir(in("d/.git"), 0755), 0);
	file("d/f", "y\n");
	file("d/.git/config", "z\n");
	order(NULL);
	compare();
	body = rows("SELECT body FROM request");
	contains(body, "\n  d/ (unless something else is in it, such as a .git)\n  d/f\n");
	answer("approve");
	run_worker("applier");
	expect(STATE, "done|\n");
	file_is("d/f", "(none)");
	file_is("d/.git/config", "z\n");
}
END_TEST

START_TEST(an_append_only_workspace_is_not_restored_and_no_hidden_folder_is_left)
{
	OWNED(str) struct str line = { 0 };

	given_changes();
	SKIP_UNLESS(set_append_only("", true), "root and append-only folders in $TMPDIR");
	order(NULL);
	compare();
	answer("approve");
	run_worker("applier");
	ck_assert(set_append_only("", false));
	expect("SELECT state, error_code, why FROM workspace_restore",
	       "refused|permission|the workspace's folder is append-only (chattr +a): nothing in "
	       "it can be replaced, renamed or removed\n");
	str_addf(&line, "ls -d '%s'/.intercom-*.tmp 2>/dev/null", in(""));
	ck_assert_int_ne(system(line.bytes), 0);
}
END_TEST

/* An approved change of risk critical, whose write has been ordered. */
static void given_critical(void)
{
	begin_on_machine();
	given("INSERT INTO setting (name, value, source, updated_at) VALUES ('checkpoint.auto',"
	      " 'true', 'file', '2026-01-01T00:00:00.000Z')");
	file("a.txt", "old\n");
	risk = "critical";
	approve("a.txt", "new\n");
	risk = "low";
	call_check_diff(false);
	expect("SELECT c.kind, c.state, c.apply_seq = a.seq FROM checkpoint AS c, apply AS a",
	       "apply|queued|1\n");
	run_worker("applier");
	expect("SELECT state FROM apply", "queued\n");
	file_is("a.txt", "old\n");
}

START_TEST(a_critical_change_waits_until_what_it_replaces_is_kept)
{
	OWNED(char_ptr) char *text = NULL;

	given_critical();
	(void)start_worker("archivist");
	expect_soon("SELECT state FROM checkpoint", "done\n");
	run_worker("applier");
	expect("SELECT state FROM apply", "applied\n");
	file_is("a.txt", "new\n");

	text = rows("SELECT id FROM checkpoint");
	(void)snprintf(id, sizeof(id), "%.36s", text);
	order(NULL);
	compare();
	answer("approve");
	run_worker("applier");
	expect(STATE, "done|\n");
	file_is("a.txt", "old\n");
}
END_TEST

START_TEST(a_critical_change_waits_half_a_minute_for_a_checkpoint_that_does_not_come)
{
	given_critical();
	advance(31 * 1000);
	run_worker("applier");
	expect("SELECT state FROM apply", "applied\n");
	file_is("a.txt", "new\n");
	/* It would hold what the change has made of the workspace. */
	(void)start_worker("archivist");
	given("INSERT INTO command (verb, session_id) VALUES ('session-checkpoint', 's')");
	expect_soon("SELECT kind, state, why FROM checkpoint ORDER BY seq",
	            "apply|refused|the write did not wait for it\nordered|done|\n");
}
END_TEST

/* It is being taken when the write begins: what it found may be of before or of after. */
START_TEST(a_checkpoint_in_which_a_critical_change_began_does_not_count)
{
	given_critical();
	advance(31 * 1000);
	given("UPDATE checkpoint SET state = 'claimed', claim = 1, attempts = 1, worker_id = 'w'");
	run_worker("applier");
	expect("SELECT state FROM apply", "applied\n");
	given("UPDATE checkpoint SET state = 'done', manifest = printf('%064d', 1), files = 1"
	      " WHERE state = 'claimed' AND worker_id = 'w'");
	expect("SELECT state, why FROM checkpoint", "refused|the write did not wait for it\n");
}
END_TEST

/* Answered in the same way as all others. */
static void is_put_back(void)
{
	order(NULL);
	expect("SELECT outcome, why FROM command WHERE verb = 'session-restore'", "done|\n");
	compare();
	expect(STATE, "asked|\n");
	answer("approve");
	run_worker("applier");
	expect(STATE, "done|\n");
	file_is("changed.txt", "one\n");
	file_is("gone.txt", "gone\n");
	file_is("new.txt", "(none)");
}

START_TEST(a_checkpoint_outlives_its_session)
{
	OWNED(str) struct str line = { 0 };
	pid_t applier;

	given_changes();
	given("INSERT INTO command (verb, session_id) VALUES ('stop', 's')");
	expect("SELECT status FROM session WHERE id = 's'", "terminated\n");
	applier = start_worker("applier");
	str_addf(&line, "checkpoint restore %s --yes", id);
	says(line.bytes, 0, "restored; to take it back: checkpoint restore ");
	stop_worker(applier);
	file_is("changed.txt", "one\n");
	file_is("gone.txt", "gone\n");
	file_is("new.txt", "(none)");
	expect("SELECT s.id FROM workspace_restore AS w JOIN session AS s ON s.seq ="
	       " w.session_seq",
	       "s\n");
}
END_TEST

START_TEST(what_an_ended_session_kept_is_asked_about_in_the_one_that_works_there_now)
{
	given_changes();
	given("INSERT INTO command (verb, session_id) VALUES ('stop', 's');"
	      "INSERT INTO session (id, machine, owner_user_id, workspace_root, status, mode,"
	      " created_at, updated_at) SELECT 'next', machine, owner_user_id, workspace_root,"
	      " 'active', mode, created_at, updated_at FROM session WHERE id = 's'");
	is_put_back();
	expect("SELECT s.id FROM workspace_restore AS w JOIN session AS s ON s.seq ="
	       " w.session_seq",
	       "next\n");
	expect("SELECT session_id FROM steering WHERE outcome = 'accepted'", "next\n");
}
END_TEST

START_TEST(a_checkpoint_of_a_folder_is_put_back_by_ctl)
{
	OWNED(str) struct str line = { 0 };
	OWNED(char_ptr) char *text = NULL;
	pid_t applier;

	given_changes();
	given("INSERT INTO command (verb, session_id) VALUES ('stop', 's')");
	str_addf(&line, "checkpoint create --workspace '%s'", in(""));
	says(line.bytes, 0, "files");
	text = rows("SELECT id FROM checkpoint WHERE session_id IS NULL");
	(void)snprintf(id, sizeof(id), "%.36s", text);
	file("changed.txt", "three\n");
	file("new.txt", "newer\n");
	applier = start_worker("applier");

	str_reset(&line);
	str_addf(&line, "checkpoint restore %s", id);
	says(line.bytes, 1, "to proceed: approve ");
	expect("SELECT origin, status, s.workspace_root = c.workspace_root FROM session AS s,"
	       " checkpoint AS c WHERE s.origin = 'folder' AND c.session_id IS NULL",
	       "folder|terminated|1\n");
	answer("reject");
	expect(STATE, "cancelled|\n");
	str_add(&line, " --yes --file new.txt");
	says(line.bytes, 0, "restored; to take it back: checkpoint restore ");
	file_is("new.txt", "new\n");
	file_is("changed.txt", "three\n");
	stop_worker(applier);
}
END_TEST

START_TEST(what_could_not_be_compared_is_named_and_nothing_more_is_claimed)
{
	OWNED(str) struct str line = { 0 };
	pid_t applier;

	given_changes();
	ck_assert_int_eq(unlink(in("kept.txt")), 0);
	ck_assert_int_eq(mkfifo(in("kept.txt"), 0600), 0);
	applier = start_worker("applier");
	str_addf(&line, "checkpoint restore %s", id);
	says(line.bytes, 1, "Not compared (1), left as now:\n  |   kept.txt: now it is a FIFO\n");
	answer("approve");
	expect_soon(STATE, "done|\n");
	expect("SELECT left_out, left_named FROM workspace_restore",
	       "1|kept.txt (now it is a FIFO)\n");
	expect("SELECT count(*) FROM request WHERE description LIKE"
	       " '%1 could not be compared and stays as it is: kept.txt (now it is a FIFO).'",
	       "1\n");
	file_is("changed.txt", "one\n");

	str_add(&line, " --yes");
	says(line.bytes, 0,
	     "nothing to restore: the workspace is as the checkpoint has it, as far"
	     " as it could be compared\nnot compared, and left as it is (1): "
	     "kept.txt (now it is a FIFO)\n");
	str_add(&line, " --file changed.txt");
	says(line.bytes, 0, "nothing to restore: nothing differs at the chosen paths\n");
	stop_worker(applier);
}
END_TEST

START_TEST(a_path_that_is_nowhere_is_named_and_nothing_is_put_back)
{
	OWNED(str) struct str line = { 0 };
	pid_t applier;

	given_changes();
	applier = start_worker("applier");
	str_addf(&line, "checkpoint restore %s --yes --file changed.txt --file no/such", id);
	says(line.bytes, 1,
	     "not restored: no/such is neither in the checkpoint nor in the workspace,"
	     " unless it is ignored");
	stop_worker(applier);
	expect("SELECT state, error_code FROM workspace_restore", "refused|no_such_path\n");
	file_is("changed.txt", "two\n");
}
END_TEST

START_TEST(a_new_folder_with_nothing_but_ignored_files_is_left_alone)
{
	given_changes();
	file(".gitignore", "*.o\n");
	ck_assert_int_eq(mkdir(in("build"), 0755), 0);
	file("build/a.o", "object\n");
	order(NULL);
	compare();
	expect("SELECT modified, deleted, added, named, left_named FROM workspace_restore",
	       "1|1|2|.gitignore, changed.txt, gone.txt, new.txt"
	       "|build (now it is hidden by a new or changed .gitignore)\n");
	answer("approve");
	run_worker("applier");
	expect(STATE, "done|\n");
	file_is("build/a.o", "object\n");
}
END_TEST

START_TEST(what_three_appliers_died_comparing_is_refused)
{
	OWNED(str) struct str objects = { 0 };

	given_changes();
	order(NULL);
	expect_soon("SELECT count(*) FROM checkpoint WHERE state <> 'done'", "0\n");
	str_addf(&objects, "%s-objects", test_db());
	for (int i = 0; i < 3; i++) {
		struct stopped applier = start_stopped_at("applier", "openat", 1, objects.bytes);

		ck_assert_int_eq(kill(applier.pid, SIGKILL), 0);
		ck_assert_int_eq(waitpid(applier.tracer, NULL, 0), applier.tracer);
		expect("SELECT state FROM workspace_restore", "wanted\n");
	}
	run_worker("applier");
	expect(STATE, "refused|not_compared\n");
}
END_TEST

/* What is ignored now, and what was ignored then. */
START_TEST(a_gitignore_that_changes_hides_nothing_and_removes_nothing)
{
	OWNED(char_ptr) char *second = NULL;

	given_changes();
	file(".gitignore", "notes/\n");
	ck_assert_int_eq(mkdir(in("notes"), 0755), 0);
	file("notes/a.txt", "mine\n");
	given("INSERT INTO command (verb, session_id, argument) VALUES ('session-checkpoint', 's',"
	      " 'second')");
	expect_soon("SELECT count(*) FROM checkpoint WHERE state = 'done'", "2\n");
	second = rows("SELECT id FROM checkpoint WHERE label = 'second'");
	(void)snprintf(id, sizeof(id), "%.36s", second);
	file(".gitignore", "changed.txt\n");
	file("changed.txt", "three\n");
	order(NULL);
	compare();
	expect("SELECT modified, deleted, added, named, left_named FROM workspace_restore",
	       "2|0|0|.gitignore, changed.txt|notes (was ignored when the checkpoint was taken)\n");
	expect("SELECT count(*) FROM request WHERE body LIKE '%A .gitignore differs:%'", "1\n");
	answer("approve");
	run_worker("applier");
	expect(STATE, "done|\n");
	file_is("changed.txt", "two\n");
	file_is("notes/a.txt", "mine\n");
	file_is(".gitignore", "notes/\n");
}
END_TEST

START_TEST(orders_that_make_no_sense_are_refused_with_their_reason)
{
	given_changes();
	given("INSERT INTO command (verb, argument) VALUES ('session-restore', 'nothing');"
	      "INSERT INTO command (verb, argument) VALUES ('session-restore', NULL);");
	order("[1]");
	order(NULL);
	order(NULL);
	expect("SELECT outcome, why FROM command WHERE verb = 'session-restore' ORDER BY seq",
	       "not_found|there is no such checkpoint\nnot_found|there is no such checkpoint\n"
	       "malformed|paths must be a list of texts\ndone|\nrefused|a checkpoint is being put "
	       "back already\n");
}
END_TEST

START_TEST(ctl_shows_asks_and_restores)
{
	OWNED(str) struct str line = { 0 };
	pid_t applier;

	given_changes();
	applier = start_worker("applier");
	str_addf(&line, "checkpoint restore %s", id);
	says(line.bytes, 1, "to proceed: approve ");
	expect(STATE, "asked|\n");
	{
		int status;
		OWNED(char_ptr) char *ask = rows("SELECT 'show ' || id FROM request");
		OWNED(char_ptr) char *shown = NULL;

		ask[strcspn(ask, "\n")] = '\0';
		shown = ctl(ask, &status);
		contains(shown, "\ndigest ");
		ck_assert_ptr_null(strstr(shown, "listening")); /* no agent waits for it */
	}
	answer("reject");
	expect(STATE, "cancelled|\n");
	file_is("changed.txt", "two\n");

	str_reset(&line);
	str_addf(&line, "checkpoint restore %s --yes --file changed.txt", id);
	says(line.bytes, 0, "restored; to take it back: checkpoint restore ");
	file_is("changed.txt", "one\n");
	file_is("new.txt", "new\n");

	says(line.bytes, 0, "nothing to restore: nothing differs at the chosen paths");
	says("checkpoint show before the storm", 0, "changed.txt");
	says("checkpoint show nosuch", 1, "and none is called that; `checkpoint list` lists them");
	says("checkpoint restore before the storm --file changed.txt", 0,
	     "nothing to restore: nothing differs at the chosen paths");
	says("checkpoint restore", 1, "checkpoint restore needs an id or a label");
	says("checkpoint restore 00000000", 1,
	     "no checkpoint has an id that begins with '00000000'");
	str_reset(&line);
	str_addf(&line, "checkpoint restore %s --yes --file ../secret", id);
	says(line.bytes, 1, "path violation");
	stop_worker(applier);
}
END_TEST

START_TEST(who_asks_what_a_session_changed_is_told_why_its_begin_is_not_held)
{
	given_changes();
	given("INSERT INTO session (id, machine, owner_user_id, workspace_root, status, mode,"
	      " created_at, updated_at) SELECT 't', machine, owner_user_id, '/nosuch', status,"
	      " mode, created_at, updated_at FROM session WHERE id = 's'");
	given("INSERT INTO setting (name, value, source, updated_at) VALUES"
	      " ('checkpoint.auto', 'true', 'ctl', '2026-01-01T08:00:00.000Z')");
	given("INSERT INTO checkpoint_wanted (kind, session_id) SELECT 'start', 't'");
	expect_soon("SELECT state FROM checkpoint WHERE session_id = 't'", "refused\n");
	says("diff --session t", 1,
	     "the checkpoint of how session t began could not be taken, or is lost: ");
}
END_TEST

START_TEST(ctl_shows_what_has_changed_by_id_label_and_session)
{
	pid_t reader;
	OWNED(str) struct str line = { 0 };

	given_changes();
	given("INSERT INTO checkpoint_wanted (kind, session_id, label) SELECT 'ordered', 's', "
	      "'other'");
	expect_soon("SELECT count(*) FROM checkpoint WHERE state = 'done'", "2\n");
	reader = start_worker("reader");
	str_addf(&line, "diff %.13s", id);
	says(line.bytes, 0, "-one\n+two\n--- a/gone.txt\n+++ /dev/null\n");
	says("diff BEFORE the storm", 0, "+++ b/new.txt");
	says("diff other", 0, "nothing has changed");
	says("diff", 1, "no checkpoint was taken when session");
	str_reset(&line);
	str_addf(&line, "diff %.4s", id);
	says(line.bytes, 1, "several checkpoints have an id that begins with '");
	says(line.bytes, 1, "':\n  ");
	str_reset(&line);
	str_addf(&line, "diff --workspace '%s'", in(""));
	file("new.txt", "newer\n");
	says(line.bytes, 0, "-new\n+newer\n");
	str_add(&line, " other");
	says(line.bytes, 0, "-new\n+newer\n");
	says("diff --workspace / other", 1, ", not of /");
	says("diff --workspace /", 1, "there is no checkpoint of /; `checkpoint list` lists all");
	says("diff nosuch", 1, "and none is called that; `checkpoint list` lists them");
	given("INSERT INTO checkpoint_wanted (kind, session_id, label) SELECT 'ordered', 's', "
	      "'other'");
	expect_soon("SELECT count(*) FROM checkpoint WHERE state = 'done' AND kind = 'ordered'",
	            "3\n");
	says("diff other", 1, "several checkpoints are called 'other'; take the id:\n  ");
	says("checkpoint list", 0, "other");
	says("checkpoint list -n 1", 0, "... and 2 more: `checkpoint list -n 0` lists all");
	expect("SELECT count(*) FROM event WHERE kind = 'diff.shown'", "5\n");
	stop_worker(reader);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("workspace_restore");
	TCase *c = store_case(s, "restore", 60);

	tcase_add_test(c, what_has_changed_is_shown_and_asked);
	tcase_add_test(c, a_yes_puts_it_back_and_the_checkpoint_before_undoes_that);
	tcase_add_test(c, nothing_is_asked_where_nothing_differs);
	tcase_add_test(c, a_changed_workspace_is_compared_and_asked_again);
	tcase_add_test(c,
	               who_removes_the_hidden_folder_of_a_restore_learns_where_what_was_there_is);
	tcase_add_test(c, a_repository_that_was_made_since_keeps_its_git_and_the_question_says_so);
	tcase_add_test(c, an_append_only_workspace_is_not_restored_and_no_hidden_folder_is_left);
	tcase_add_test(c, a_name_with_a_line_break_is_quoted_as_in_other_diffs);
	tcase_add_test(c, what_comes_back_without_its_access_list_is_open_to_nobody_else);
	tcase_add_test(c, what_could_not_be_compared_is_named_and_nothing_more_is_claimed);
	tcase_add_test(c, a_path_that_is_nowhere_is_named_and_nothing_is_put_back);
	tcase_add_test(c, a_new_folder_with_nothing_but_ignored_files_is_left_alone);
	tcase_add_test(c, what_three_appliers_died_comparing_is_refused);
	tcase_add_test(c, a_gitignore_that_changes_hides_nothing_and_removes_nothing);
	tcase_add_test(c, one_file_that_is_not_utf8_keeps_none_of_the_others_from_being_shown);
	tcase_add_test(c, a_critical_change_waits_until_what_it_replaces_is_kept);
	tcase_add_test(c,
	               a_critical_change_waits_half_a_minute_for_a_checkpoint_that_does_not_come);
	tcase_add_test(c, a_checkpoint_in_which_a_critical_change_began_does_not_count);
	tcase_add_test(c, a_checkpoint_outlives_its_session);
	tcase_add_test(c,
	               what_an_ended_session_kept_is_asked_about_in_the_one_that_works_there_now);
	tcase_add_test(c, a_checkpoint_of_a_folder_is_put_back_by_ctl);
	tcase_add_test(c, orders_that_make_no_sense_are_refused_with_their_reason);
	tcase_add_test(c, ctl_shows_asks_and_restores);
	tcase_add_test(c, who_asks_what_a_session_changed_is_told_why_its_begin_is_not_held);
	tcase_add_test(c, ctl_shows_what_has_changed_by_id_label_and_session);
	return run_suite(s);
}
