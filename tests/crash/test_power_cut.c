/* Power cuts. The real programs play stories once while a library records what they do to files
 * (crash/record.c). Then the disk is rebuilt as a power cut at any moment may leave it
 * (crash/disk.h defines that), the programs are started on it, and the result is checked: is each
 * file wholly old or wholly new, and all of them the same in the end; is the journal settled and
 * true; is the database sound; was the change applied at most once; and is everything there that
 * anyone had been told before the cut?
 *
 * INTERCOM_CUTS=n: how many cuts per story; INTERCOM_SEED: the first seed. A failure is printed
 * with the seed of its cut. The last tests leave out flushes, to prove that this test can fail. */
#include "content.h"
#include "harness.h"
#include "paths.h"
#include "restore_plan.h"
#include "setting.h"
#include "story.h"
#include "tree.h"
#include "workspace.h"

#include <dirent.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	CUTS = 25,
	COMMITS = 24, /* of the role "write" */
	COPY_EVERY = 5, /* commits between two checkpoints ... */
	RESTART_EVERY = 11, /* ... two that restart the WAL ... */
	CLOSE_EVERY = 16, /* ... and two that delete it */
	CROWD = 64, /* files */
};

/* ---- the stories ---- */

static const char ROWS[] =
    "SELECT (SELECT count(*) FROM event), (SELECT count(*) FROM decision),"
    " (SELECT count(*) FROM command), (SELECT count(*) FROM ended_call),"
    " (SELECT count(*) FROM apply WHERE state IN ('applied', 'undone')),"
    " (SELECT count(*) FROM request WHERE state = 'consumed'),"
    " (SELECT count(*) FROM request WHERE state IN ('approved', 'consumed')),"
    " (SELECT coalesce(max(claim), 0) FROM apply)";

/* NULL, or a text that says the database is damaged. */
static char *check_database(const char *path)
{
	OWNED(char_ptr) char *found = look(path, "PRAGMA integrity_check");

	return strcmp(found, "ok\n") == 0 ? NULL : wrong("integrity_check: %s", found);
}

static char *check_tree(const char *should, const char *when)
{
	OWNED(char_ptr) char *now = tree();

	return strcmp(now, should) == 0 ? NULL
	                                : wrong("%s, there is\n%sand not\n%s", when, now, should);
}

static char *check_rows(const char *sql, const char *should)
{
	OWNED(char_ptr) char *have = look(test_db(), sql);

	return strcmp(have, should) == 0 ? NULL : wrong("%s is %sand not %s", sql, have, should);
}

/* Checks what the journal says about each file of the last job. */
static char *check_journal(void)
{
	OWNED(char_ptr)
	char *told =
	    look(test_db(), "SELECT path, action, bytes FROM file_change WHERE state = 'done'"
	                    " AND apply_seq = (SELECT max(seq) FROM apply)");

	for (char *at = told; *at; at = strchr(at, '\n') + 1) {
		char path[100], action[20];
		long bytes;
		struct stat st;
		bool is_there;

		ck_assert_int_eq(sscanf(at, "%99[^|]|%19[^|]|%ld", path, action, &bytes), 3);
		is_there = stat(in(path), &st) == 0;
		if (is_there == (strcmp(action, "delete") == 0) ||
		    (is_there && st.st_size != bytes))
			return wrong("the journal is not true: %.*s", (int)strcspn(at, "\n"), at);
	}
	return NULL;
}

static const char END[] =
    "SELECT a.state, a.error_code, r.state, t.state, (SELECT count(*) FROM ended_call),"
    " (SELECT count(*) FROM event WHERE kind = 'request.consumed'),"
    " (SELECT count(*) FROM file_change WHERE state IN ('planned', 'staged')),"
    " (SELECT count(*) FROM apply WHERE state = 'applied')"
    " FROM apply AS a, request AS r, tool_call AS t ORDER BY a.seq DESC LIMIT 1";

/* Starts the applier on what the cut left. */
static char *go_on_from(const struct story *s, bool is_settled)
{
	char *why = each_is_whole(s);
	int status;

	if (!why && is_settled)
		why = check_tree(s->new_tree, "settled");
	if (why)
		return why;
	status = try_worker("applier");
	return status == 0 ? NULL : wrong("the next applier ends with status %d", status);
}

/* state: of the job that it must finish. */
static char *finish(const struct story *s, const char *state, const char *end)
{
	OWNED(char_ptr)
	char *now = look(test_db(), "SELECT state FROM apply ORDER BY seq DESC LIMIT 1");
	char *why = go_on_from(s, strncmp(now, state, strlen(state)) == 0);

	if (!why)
		why = check_rows(END, end);
	if (!why)
		why = check_tree(s->new_tree, "at the end");
	if (!why)
		why = check_journal();
	return why ? why : check_database(test_db());
}

static char *judge_apply(const struct story *s, const char *have)
{
	(void)have;
	return finish(s, "applied", "applied||consumed|answered|1|1|0|1\n");
}

static void tell_apply(struct story *s)
{
	given_many();
	approve("a.txt", MANY);
	call_check_diff(false);
	begin_place();
	*s = (struct story){
		.name = "apply", .judge = judge_apply, .numbers = ROWS, .db = test_db()
	};
	begin_recording(s);
	run_worker("applier");
	note_said();
	end_recording(s);
}

/* Many files, in a directory of their own. */
static void make_crowd(const char *text)
{
	(void)mkdir(in("crowd"), 0755);
	for (int i = 0; i <= CROWD; i++) {
		char path[40];

		(void)snprintf(path, sizeof(path), "crowd/%d.txt", i);
		file(path, text);
	}
}

static void tell_crowd(struct story *s)
{
	OWNED(str) struct str diff = { 0 };

	given_many();
	make_crowd("1\n");
	str_add(&diff, MANY);
	for (int i = 0; i <= CROWD; i++) {
		char path[40];

		(void)snprintf(path, sizeof(path), "crowd/%d.txt", i);
		str_addf(&diff, "diff --git a/%s b/%s\n--- a/%s\n+++ b/%s\n@@ -1 +1 @@\n-1\n+2\n",
		         path, path, path, path);
	}
	approve("a.txt", diff.bytes);
	call_check_diff(false);
	begin_place();
	*s = (struct story){
		.name = "crowd", .judge = judge_apply, .numbers = ROWS, .db = test_db()
	};
	begin_recording(s);
	run_worker("applier");
	note_said();
	end_recording(s);
}

/* Once the job is settled as refused, everything is as before; until then the next applier may
 * write it after all. */
static char *judge_roll_back(const struct story *s, const char *have)
{
	OWNED(char_ptr) char *refused = look(test_db(), "SELECT state = 'refused' FROM apply");
	char *why;
	int status;

	(void)have;
	if (strcmp(refused, "1\n") != 0)
		return finish(s, "applied", "applied||consumed|answered|1|1|0|1\n");
	why = check_tree(s->old_tree, "refused");
	status = why ? 0 : try_worker("applier");
	if (status != 0)
		return wrong("the next applier ends with status %d", status);
	if (!why)
		why = check_rows(END, "refused|permission|approved|answered|1|0|0|0\n");
	if (!why)
		why = check_tree(s->old_tree, "at the end");
	return why ? why : check_database(test_db());
}

/* The last file cannot be deleted after all others are in place. */
static void tell_roll_back(struct story *s)
{
	OWNED(char_ptr) char *applied = NULL;

	given_many();
	approve("a.txt", MANY);
	call_check_diff(false);
	run_worker("applier");
	applied = tree();
	given_many();
	approve("a.txt", MANY);
	call_check_diff(false);
	begin_place();
	*s = (struct story){
		.name = "roll-back", .judge = judge_roll_back, .numbers = ROWS, .db = test_db()
	};
	begin_recording(s);
	(void)setenv(RECORD_REFUSE, "7", 1);
	run_worker("applier");
	(void)unsetenv(RECORD_REFUSE);
	note_said();
	end_recording(s);
	ck_assert_str_eq(s->new_tree, s->old_tree);
	free(s->new_tree);
	s->new_tree = xstrdup(applied);
}

/* An undo may be lost if nobody was told of it. */
static char *judge_undo(const struct story *s, const char *have)
{
	OWNED(char_ptr) char *ordered = look(test_db(), "SELECT count(*) FROM command");

	(void)have;
	if (strcmp(ordered, "0\n") != 0)
		return finish(s, "undone", "undone||consumed|answered|1|1|0|1\n");
	return check_tree(s->old_tree, "without an order");
}

static void tell_undo(struct story *s)
{
	given_many();
	approve("a.txt", MANY);
	call_check_diff(false);
	run_worker("applier");
	begin_place();
	*s =
	    (struct story){ .name = "undo", .judge = judge_undo, .numbers = ROWS, .db = test_db() };
	begin_recording(s);
	run_ctl("undo", true);
	end_recording(s);
}

static const char RESTORED[] =
    "SELECT w.state, a.state, r.state, w.error_code, w.why FROM workspace_restore AS w"
    " JOIN request AS r ON r.seq = w.request_seq JOIN apply AS a ON a.request_seq = r.seq";

static char *judge_restore(const struct story *s, const char *have)
{
	OWNED(char_ptr) char *now = look(test_db(), RESTORED);
	char *why = go_on_from(s, strncmp(now, "done", 4) == 0);

	(void)have;
	if (!why)
		why = check_rows(RESTORED, "done|applied|consumed||\n");
	if (!why)
		why = check_tree(s->new_tree, "at the end");
	return why ? why : check_database(test_db());
}

/* The operator has approved to put the workspace back to what it was: files are changed, gone and
 * new, one in a directory of its own, whose mode changes, too. */
static void tell_restore(struct story *s)
{
	struct sha256 wanted, found;
	OWNED(str) struct str sql = { 0 };

	given_many();
	make_crowd("1\n");
	wanted = tree_store(test_db(), ws);
	make_crowd("2\n");
	file("a.txt", "changed\n");
	file("added.txt", "added\n");
	ck_assert_int_eq(unlink(in("crowd/7.txt")), 0);
	ck_assert_int_eq(chmod(in("crowd"), 0700), 0);
	ck_assert_int_eq(unlink(in("gone.txt")), 0);
	found = tree_store(test_db(), ws);
	str_addf(
	    &sql,
	    "INSERT INTO request (id, session_seq, kind, state, digest, title, created_at,"
	    " updated_at) VALUES ('restore-1', 1, 'restore', 'pending', '%s', 'restore', '%s', "
	    "'%s');"
	    "INSERT INTO workspace_restore (session_seq, checkpoint_id, to_hash, state, created_at,"
	    " updated_at) VALUES (1, 'cp-1', '%s', 'wanted', '%s', '%s');"
	    "UPDATE workspace_restore SET state = 'asked', from_hash = '%s', modified = 1, deleted "
	    "= 2,"
	    " added = 3, named = 'a, b', request_seq = (SELECT max(seq) FROM request);"
	    "INSERT INTO decision (request_id, verdict) VALUES ('restore-1', 'approve')",
	    restore_digest(
	        &(struct restore_order){ .from_hash = found.text, .to_hash = wanted.text })
	        .text,
	    clock_now().text, clock_now().text, wanted.text, clock_now().text, clock_now().text,
	    found.text);
	given(sql.bytes);
	begin_place();
	*s = (struct story){
		.name = "restore", .judge = judge_restore, .numbers = ROWS, .db = test_db()
	};
	begin_recording(s);
	run_worker("applier");
	note_said();
	end_recording(s);
}

static char *judge_decision(const struct story *s, const char *have)
{
	char *why = check_tree(s->old_tree, "nobody has asked for a write");

	(void)have;
	if (!why)
		why = check_rows("SELECT count(*) FROM decision AS d JOIN request AS r"
		                 " WHERE (r.state = 'approved') <> (d.outcome = 'applied')",
		                 "0\n");
	return why ? why : check_database(test_db());
}

static void tell_decision(struct story *s)
{
	given_many();
	ask("a.txt", MANY);
	begin_place();
	*s = (struct story){
		.name = "decision", .judge = judge_decision, .numbers = ROWS, .db = test_db()
	};
	begin_recording(s);
	run_ctl("approve", false);
	end_recording(s);
}

/* ---- the store alone ---- */

/* Each commit has a row and a content, so that one without the other is noticed. */
static int write_one(struct store *st, long number)
{
	char bytes[6000], text[24];
	struct err e = { 0 };

	(void)snprintf(text, sizeof(text), "%ld", number);
	memset(bytes, 'a' + (int)(number % 26), sizeof(bytes));
	memcpy(bytes, text, strlen(text));
	if (store_begin(st, &e) || content_put(st, bytes, sizeof(bytes), &e) < 0 ||
	    setting_put(st, "count", text, "system", &e) || store_commit(st, &e)) {
		(void)fprintf(stderr, "%s\n", e.text);
		return -1;
	}
	return 0;
}

/* Role: creates the database at path, with its directories, and commits; reports after each
 * commit. */
static int write_rows(const char *path)
{
	OWNED(paths) struct paths p = { 0 };
	struct store st = STORE_INIT;
	struct err e = { 0 };
	int tell[2], failed = pipe(tell) || paths_open(path, true, &p, &e) ||
	                      store_migrate(&st, path, NULL, &e);

	for (long i = 1; i <= COMMITS && !failed; i++) {
		failed = write_one(&st, i) || write(tell[1], "", 1) != 1 ||
		         (i % COPY_EVERY == 0 && store_checkpoint(&st, false, 0, &e) < 0) ||
		         (i % RESTART_EVERY == 0 && store_checkpoint(&st, true, 100, &e) < 0);
		if (i % CLOSE_EVERY == 0 && !failed) {
			store_clear(&st);
			failed = store_open(&st, path, NULL, &e);
		}
	}
	store_clear(&st);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* Role: whatever a cut has left, the next start makes a working database of it and writes. */
static int write_once_more(const char *path)
{
	OWNED(paths) struct paths p = { 0 };
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };

	if (paths_open(path, true, &p, &e) == 0 && store_migrate(&st, path, NULL, &e) == 0 &&
	    write_one(&st, COMMITS + 1) == 0)
		return EXIT_SUCCESS;
	(void)fprintf(stderr, "%s\n", e.text);
	return EXIT_FAILURE;
}

static const char COUNTED[] = "SELECT (SELECT count(*) FROM content),"
                              " coalesce((SELECT CAST(value AS INTEGER) FROM setting"
                              " WHERE name = 'count'), 0)";

static char *judge_store(const struct story *s, const char *have)
{
	OWNED(char_ptr) char *after = NULL;
	long rows = 0, number = 0, rows_after = 0, number_after = 0;
	int told = sscanf(have, "%ld|%ld", &rows, &number), status;

	if (told == 2 && rows != number)
		return wrong("half a commit: %s", have);
	status = run_role("write-once-more", s->db);
	if (status != 0)
		return wrong("the next start ends with status %d", status);
	after = look(s->db, COUNTED);
	if (sscanf(after, "%ld|%ld", &rows_after, &number_after) != 2 || rows_after != rows + 1)
		return wrong("after one more commit than %s there is %s", have, after);
	return check_database(s->db);
}

static void tell_store(struct story *s)
{
	begin();
	begin_place();
	(void)snprintf(made, sizeof(made), "%s/made/here/new.db", place);
	*s =
	    (struct story){ .name = "store", .judge = judge_store, .numbers = COUNTED, .db = made };
	begin_recording(s);
	ck_assert_int_eq(run_role("write-rows", s->db), 0);
	note_said();
	end_recording(s);
}

/* ---- the order of flushes ---- */

static bool moves_names(const struct record *r, uint64_t dir)
{
	return (r->op == RECORD_RENAME || r->op == RECORD_EXCHANGE) &&
	       (r->node == dir || r->other == dir);
}

/* Whether names in dir were moved and not flushed before the record at `end`. */
static bool is_unsafe(const struct story *s, size_t end, uint64_t dir)
{
	bool unsafe = false;

	for (size_t at = 0; at < end; at += size_of(record_at(s, at))) {
		const struct record *r = record_at(s, at);

		if (moves_names(r, dir))
			unsafe = true;
		else if (r->op == RECORD_SYNC && (r->node == dir || r->node == 0))
			unsafe = false;
	}
	return unsafe;
}

/* How many hidden names are removed; fails the test if one is removed while a cut could still move
 * it to the only copy of a file. */
static int hidden_names_that_go(const struct story *s)
{
	static const char HIDDEN[] = ".intercom-";
	int count = 0;

	for (size_t at = 0; at < s->log.length; at += size_of(record_at(s, at))) {
		const struct record *r = record_at(s, at);
		const char *name = (const char *)(r + 1);

		if (r->op != RECORD_UNLINK || strncmp(name, HIDDEN, strlen(HIDDEN)) != 0)
			continue;
		count++;
		ck_assert_msg(!is_unsafe(s, at, r->node), "%s: %.*s goes before it is safe to",
		              s->name, (int)r->name_length, name);
	}
	return count;
}

/* ---- what must be noticed ---- */

static void is_survived(void (*tell)(struct story *))
{
	OWNED(story) struct story s = { 0 };

	tell(&s);
	ck_assert_int_eq(cut_everywhere(&s, NULL), 0);
	(void)unsetenv("LD_PRELOAD");
}

/* Leaving out these flushes must be noticed. */
static void is_noticed(void (*tell)(struct story *), bool (*loses)(const struct disk_node *))
{
	OWNED(story) struct story s = { 0 };

	tell(&s);
	ck_assert_int_gt(cut_everywhere(&s, loses), 0);
	(void)unsetenv("LD_PRELOAD");
}

START_TEST(a_power_cut_during_a_write_of_many_files_is_survived)
{
	is_survived(tell_apply);
}
END_TEST

START_TEST(a_power_cut_during_a_write_of_a_crowd_is_survived)
{
	is_survived(tell_crowd);
}
END_TEST

START_TEST(a_power_cut_while_a_workspace_is_put_back_is_survived)
{
	is_survived(tell_restore);
}
END_TEST

START_TEST(a_power_cut_while_a_write_is_taken_back_is_survived)
{
	is_survived(tell_roll_back);
}
END_TEST

START_TEST(a_hidden_name_goes_when_the_names_beside_it_are_safe)
{
	static void (*const TELL[])(struct story *) = { tell_apply, tell_crowd, tell_roll_back,
		                                        tell_undo };

	for (size_t i = 0; i < COUNT(TELL); i++) {
		OWNED(story) struct story s = { 0 };

		TELL[i](&s);
		(void)unsetenv("LD_PRELOAD");
		ck_assert_int_gt(hidden_names_that_go(&s), 3);
	}
}
END_TEST

START_TEST(a_power_cut_during_an_undo_is_survived)
{
	is_survived(tell_undo);
}
END_TEST

START_TEST(a_decision_that_was_told_survives_a_power_cut)
{
	is_survived(tell_decision);
}
END_TEST

START_TEST(a_commit_that_was_told_survives_a_power_cut_with_all_before_it)
{
	is_survived(tell_store);
}
END_TEST

static bool is_log(const struct disk_node *n)
{
	size_t length = strlen(n->first_name);

	return length > 4 && strcmp(n->first_name + length - 4, "-wal") == 0;
}

static bool is_database(const struct disk_node *n)
{
	size_t length = strlen(n->first_name);

	return length > 3 && strcmp(n->first_name + length - 3, ".db") == 0;
}

static bool is_staged(const struct disk_node *n)
{
	return strncmp(n->first_name, ".intercom-", 10) == 0;
}

/* By a restore: new/<n>. */
static bool is_staged_anew(const struct disk_node *n)
{
	return !n->is_dir && strspn(n->first_name, "0123456789") == strlen(n->first_name);
}

static bool is_directory(const struct disk_node *n)
{
	return n->is_dir;
}

START_TEST(without_a_flush_of_the_log_a_commit_is_lost_and_that_is_noticed)
{
	is_noticed(tell_store, is_log);
	is_noticed(tell_decision, is_log);
	is_noticed(tell_apply, is_log);
}
END_TEST

START_TEST(without_a_flush_of_the_database_a_checkpoint_loses_and_that_is_noticed)
{
	is_noticed(tell_store, is_database);
}
END_TEST

START_TEST(without_a_flush_of_what_is_staged_files_are_torn_and_that_is_noticed)
{
	is_noticed(tell_apply, is_staged);
	is_noticed(tell_crowd, is_staged);
	is_noticed(tell_restore, is_staged_anew);
}
END_TEST

START_TEST(without_a_flush_of_directories_names_are_lost_and_that_is_noticed)
{
	is_noticed(tell_apply, is_directory);
	is_noticed(tell_crowd, is_directory);
	is_noticed(tell_restore, is_directory);
	is_noticed(tell_undo, is_directory);
	is_noticed(tell_roll_back, is_directory);
	is_noticed(tell_store, is_directory);
}
END_TEST

int main(int argc, char **argv)
{
	const char *given_cuts = getenv("INTERCOM_CUTS"), *given_seed = getenv("INTERCOM_SEED");
	Suite *s = suite_create("power_cut");
	TCase *c = tcase_create("power_cut");

	if (argc == 2 && strcmp(argv[0], "write-rows") == 0)
		return write_rows(argv[1]);
	if (argc == 2 && strcmp(argv[0], "write-once-more") == 0)
		return write_once_more(argv[1]);
	self = argv[0];
	cuts = given_cuts ? (int)strtol(given_cuts, NULL, 10) : CUTS;
	seed = given_seed ? strtoull(given_seed, NULL, 10) : 1;
	tcase_add_checked_fixture(c, NULL, close_store);
	tcase_set_timeout(c, 0);
	tcase_add_test(c, a_power_cut_during_a_write_of_many_files_is_survived);
	tcase_add_test(c, a_power_cut_during_a_write_of_a_crowd_is_survived);
	tcase_add_test(c, a_power_cut_while_a_workspace_is_put_back_is_survived);
	tcase_add_test(c, a_power_cut_while_a_write_is_taken_back_is_survived);
	tcase_add_test(c, a_hidden_name_goes_when_the_names_beside_it_are_safe);
	tcase_add_test(c, a_power_cut_during_an_undo_is_survived);
	tcase_add_test(c, a_decision_that_was_told_survives_a_power_cut);
	tcase_add_test(c, a_commit_that_was_told_survives_a_power_cut_with_all_before_it);
	tcase_add_test(c, without_a_flush_of_the_log_a_commit_is_lost_and_that_is_noticed);
	tcase_add_test(c, without_a_flush_of_the_database_a_checkpoint_loses_and_that_is_noticed);
	tcase_add_test(c, without_a_flush_of_what_is_staged_files_are_torn_and_that_is_noticed);
	tcase_add_test(c, without_a_flush_of_directories_names_are_lost_and_that_is_noticed);
	suite_add_tcase(s, c);
	return run_suite(s);
}
