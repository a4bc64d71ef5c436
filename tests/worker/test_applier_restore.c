/* applier: a workspace goes back to what a checkpoint holds, all of it or nothing. What was
 * approved is what is done. */
#include "applier_case.h"

#include "fault.h"
#include "restore_plan.h"
#include "tree.h"
#include "walk.h"
#include "worker.h"
#include "workspace.h"

#include <sysexits.h>

enum {
	HISTORIES = 20,
	HISTORIES_MAX = 100000,
	CHECKPOINTS = 4,
	KILLS_MIN = 10,
	KILLS_MAX = 300,
	FILES_MAX = 10000,
	FAULTS = 40, /* a sample */
	LIVES = APPLY_ATTEMPTS_MAX + 1, /* of appliers with the same fault */
	CANNOT_LOAD = 127, /* a program without its libraries */
};

static struct sha256 target; /* the manifest of the checkpoint */
static struct str before, after; /* the listings of the workspace, and of the checkpoint */

static const char OUTCOME_OF_RESTORE[] =
    "SELECT w.state, w.error_code, a.state, r.state FROM workspace_restore AS w"
    " JOIN request AS r ON r.seq = w.request_seq LEFT JOIN apply AS a ON a.request_seq = r.seq"
    " ORDER BY w.request_seq DESC LIMIT 1";

static const char DONE[] = "done||applied|consumed\n";

static void list(struct str *out)
{
	str_clear(out);
	tree_list(ws, out);
}

/* What a checkpoint of the workspace holds: the same as the harness finds there. */
static struct sha256 held(void)
{
	const struct walk_options options = { .most_files = FILES_MAX, .most_bytes = 1 << 30 };
	struct sha256 found = tree_store(test_db(), ws);
	OWNED(objects) struct objects o = OBJECTS_INIT;
	OWNED(str) struct str path = { 0 };
	struct walk_result r;
	struct err e = { 0 };

	objects_path(test_db(), &path);
	MUST(objects_open(str_text(&path), true, &o, &e) == 0 &&
	         walk_workspace(ws, &o, &options, &r, &e) == 0,
	     "%s", e.text);
	ck_assert_str_eq(r.manifest.text, found.text);
	return r.manifest;
}

/* The workspace as it is becomes the checkpoint. */
static void checkpoint_it(void)
{
	target = held();
	list(&after);
}

/* Asks whether to go from what the workspace is to the checkpoint; paths: a JSON list or NULL. */
static void ask_restore(const char *paths)
{
	struct sha256 now = held();
	const struct restore_order order = { .from_hash = now.text,
		                             .to_hash = target.text,
		                             .paths = paths };
	OWNED(str) struct str sql = { 0 };

	list(&before);
	asked++;
	str_addf(&sql,
	         "INSERT INTO request (id, session_seq, kind, state, digest, title, created_at,"
	         " updated_at) VALUES ('restore-%d', %d, 'restore', 'pending', '%s',"
	         " 'restore', '%s', '%s');"
	         "INSERT INTO workspace_restore (session_seq, checkpoint_id, paths, to_hash, state,"
	         " created_at, updated_at) VALUES (%d, 'cp-1', %s%s%s, '%s', 'wanted', '%s', '%s');"
	         "UPDATE workspace_restore SET state = 'asked', from_hash = '%s',"
	         " modified = 1, deleted = 2, added = 3, named = 'a, b',"
	         " request_seq = (SELECT seq FROM request WHERE id = 'restore-%d')"
	         " WHERE state = 'wanted'",
	         asked, session, restore_digest(&order).text, clock_now().text, clock_now().text,
	         session, paths ? "'" : "", paths ? paths : "NULL", paths ? "'" : "", target.text,
	         clock_now().text, clock_now().text, now.text, asked);
	given(sql.bytes);
}

static void answer(const char *verdict)
{
	char sql[200];

	(void)snprintf(sql, sizeof(sql),
	               "INSERT INTO decision (request_id, verdict) VALUES ('restore-%d', '%s')",
	               asked, verdict);
	given(sql);
}

static void restore(void)
{
	ask_restore(NULL);
	answer("approve");
	run_worker("applier");
}

static void must_be(const struct str *wanted, const char *when)
{
	OWNED(str) struct str found = { 0 };

	tree_list(ws, &found);
	ck_assert_msg(strcmp(str_text(&found), str_text(wanted)) == 0, "%s:\n%s\ninstead of\n%s",
	              when, str_text(&found), str_text(wanted));
	ck_assert_int_eq(hidden_entries(), 0);
}

/* One of each: changed, also below a directory that stays, gone, new, a file that became a
 * directory and back, links, permissions. */
static void given_checkpoint(void)
{
	begin();
	file("changed.txt", "old\n");
	file("gone.txt", "gone\n");
	file("was-file", "file\n");
	ck_assert_int_eq(mkdir(in("was-dir"), 0750), 0);
	file("was-dir/inner", "inner\n");
	ck_assert_int_eq(symlink("changed.txt", in("link")), 0);
	ck_assert_int_eq(mkdir(in("empty"), 0700), 0);
	file("run", "x\n");
	ck_assert_int_eq(chmod(in("run"), 0755), 0);
	ck_assert_int_eq(mkdir(in("kept"), 0755), 0);
	file("kept/inner", "old\n");
	checkpoint_it();

	file("changed.txt", "new\n");
	file("kept/inner", "new\n");
	ck_assert_int_eq(unlink(in("gone.txt")), 0);
	ck_assert_int_eq(unlink(in("was-file")), 0);
	ck_assert_int_eq(mkdir(in("was-file"), 0755), 0);
	file("was-file/below", "below\n");
	ck_assert_int_eq(unlink(in("was-dir/inner")), 0);
	ck_assert_int_eq(rmdir(in("was-dir")), 0);
	file("was-dir", "a file now\n");
	swapped_to("link", "run");
	ck_assert_int_eq(rmdir(in("empty")), 0);
	ck_assert_int_eq(chmod(in("run"), 0644), 0);
	file("new.txt", "new\n");
	ck_assert_int_eq(mkdir(in("added"), 0755), 0);
	file("added/deep", "deep\n");
}

START_TEST(everything_comes_back_as_it_was)
{
	given_checkpoint();
	restore();
	must_be(&after, "restored");
	expect(OUTCOME_OF_RESTORE, DONE);
	expect("SELECT kind FROM event WHERE kind LIKE 'restore.%'", "restore.applied\n");
}
END_TEST

START_TEST(the_agent_is_told_what_was_put_back)
{
	given_checkpoint();
	restore();
	expect(
	    "SELECT kind, text, source, outcome FROM steering",
	    "steer|the operator has put the workspace back to a checkpoint (cp-1). Of its paths, "
	    "1 had been modified since then, 2 deleted (now back), 3 added (now gone): a, b; "
	    "read files again before you rely on them|applier|accepted\n");
}
END_TEST

START_TEST(a_cancelled_restore_writes_nothing)
{
	given_checkpoint();
	ask_restore(NULL);
	answer("reject");
	run_worker("applier");
	must_be(&before, "cancelled");
	expect(OUTCOME_OF_RESTORE, "cancelled|||rejected\n");
}
END_TEST

START_TEST(an_unanswered_restore_writes_nothing)
{
	given_checkpoint();
	ask_restore(NULL);
	run_worker("applier");
	must_be(&before, "asked");
	expect(OUTCOME_OF_RESTORE, "asked|||pending\n");
}
END_TEST

START_TEST(a_workspace_that_has_changed_since_is_asked_about_again)
{
	given_checkpoint();
	ask_restore(NULL);
	file("new.txt", "newer\n");
	list(&before);
	answer("approve");
	run_worker("applier");
	must_be(&before, "changed since");
	expect(OUTCOME_OF_RESTORE, "refused|workspace_changed|refused|approved\n");
	expect("SELECT why FROM apply", "new.txt has changed since it was compared\n");
	expect("SELECT state, previous_seq, checkpoint_id, request_seq FROM workspace_restore"
	       " ORDER BY seq DESC LIMIT 1",
	       "wanted|1|cp-1|\n");
}
END_TEST

START_TEST(an_order_that_was_changed_after_it_was_shown_is_refused)
{
	given_checkpoint();
	ask_restore(NULL);
	given("DROP TRIGGER workspace_restore_is_fixed; UPDATE workspace_restore SET paths ="
	      " '[\"run\"]'");
	answer("approve");
	run_worker("applier");
	must_be(&before, "another order");
	expect(OUTCOME_OF_RESTORE, "refused|digest_mismatch|refused|approved\n");
}
END_TEST

START_TEST(content_that_is_gone_is_named_and_nothing_is_written)
{
	char command[2 * WORKSPACE_BYTES];

	given_checkpoint();
	ask_restore(NULL);
	(void)snprintf(command, sizeof(command), "rm -r '%s-objects'/%.2s", test_db(),
	               sha256_of("gone\n", 5).text);
	ck_assert_int_eq(system(command), 0);
	answer("approve");
	run_worker("applier");
	must_be(&before, "without content");
	expect(OUTCOME_OF_RESTORE, "refused|content_missing|refused|approved\n");
}
END_TEST

START_TEST(what_no_checkpoint_holds_is_not_removed)
{
	given_checkpoint();
	ask_restore(NULL);
	file("was-file/build.o", "left out\n");
	list(&before);
	answer("approve");
	run_worker("applier");
	must_be(&before, "in the way");
	expect(OUTCOME_OF_RESTORE, "refused|in_the_way|refused|approved\n");
}
END_TEST

START_TEST(only_the_chosen_paths_come_back)
{
	given_checkpoint();
	ask_restore("[\"changed.txt\",\"was-dir/inner\"]");
	answer("approve");
	run_worker("applier");
	expect(OUTCOME_OF_RESTORE, DONE);
	file_is("changed.txt", "old\n");
	file_is("was-dir/inner", "inner\n");
	file_is("new.txt", "new\n");
	file_is("gone.txt", "(none)");
	ck_assert_int_eq(hidden_entries(), 0);
}
END_TEST

START_TEST(a_second_restore_takes_the_first_one_back)
{
	struct str had = { 0 };

	given_checkpoint();
	list(&had);
	restore();
	must_be(&after, "restored");
	str_clear(&after);
	str_add(&after, str_text(&had));
	target.text[0] = '\0';
	{
		OWNED(char_ptr) char *from = rows("SELECT from_hash FROM workspace_restore");

		(void)snprintf(target.text, sizeof(target.text), "%.64s", from);
	}
	restore();
	must_be(&after, "taken back");
	str_clear(&had);
}
END_TEST

static void given_approved_restore(void)
{
	given_checkpoint();
	ask_restore(NULL);
	answer("approve");
}

/* Has it not to itself, and the one who has it does it. */
static void the_other_one_restores(void)
{
	given("DROP TRIGGER other");
	run_worker("applier");
	expect(OUTCOME_OF_RESTORE, DONE);
	must_be(&after, "by the next one");
}

START_TEST(who_lost_its_claim_plans_no_restore)
{
	given_approved_restore();
	given_other_claim(CLAIMED);
	is_lost(2);
	must_be(&before, "lost before it was planned");
	expect(OUTCOME_OF_RESTORE, "approved||claimed|approved\n");
	the_other_one_restores();
}
END_TEST

START_TEST(who_lost_its_claim_puts_nothing_of_a_restore_in_place)
{
	given_approved_restore();
	given_other_claim("UPDATE OF state ON workspace_restore WHEN NEW.state = 'planned'");
	is_lost(2);
	expect(OUTCOME_OF_RESTORE, "planned||claimed|approved\n");
	file_is("changed.txt", "new\n");
	file_is("gone.txt", "(none)");
	the_other_one_restores();
}
END_TEST

START_TEST(who_lost_its_claim_settles_no_restore)
{
	given_approved_restore();
	given_other_claim("UPDATE OF state ON workspace_restore WHEN NEW.state = 'staged'");
	is_lost(2);
	expect(OUTCOME_OF_RESTORE, "staged||claimed|approved\n");
	the_other_one_restores();
}
END_TEST

/* As nobody, who cannot give a file back to root or its group: what only that had goes, too. */
START_TEST(a_file_that_changes_its_owner_comes_back_without_its_set_id_bits)
{
	struct stat st;

	SKIP_UNLESS(geteuid() == 0, "root, who can become another user");
	begin();
	file("tool", "same\n");
	ck_assert_int_eq(chmod(in("tool"), 04775), 0);
	checkpoint_it();
	ck_assert_int_eq(chmod(in("tool"), 04744), 0);
	ask_restore(NULL);
	answer("approve");
	ck_assert_int_eq(chmod(ws, 0777), 0);
	bring_worker_along();
	leave_the_workspace_to_root();
	run_worker("applier");
	expect(OUTCOME_OF_RESTORE, DONE);
	ck_assert_int_eq(stat(in("tool"), &st), 0);
	ck_assert_uint_eq(st.st_uid, NOBODY_ID);
	ck_assert_uint_eq(mode_of("tool"), 0755);
}
END_TEST

/* A checkpoint does not say whose a file was: another user's would become ours. */
START_TEST(set_id_bits_stay_with_their_content_and_do_not_come_back_with_another)
{
	begin();
	file("same", "same\n");
	file("changed", "old\n");
	file("gone", "old\n");
	file("dropped", "same\n");
	ck_assert_int_eq(chmod(in("same"), 06755), 0);
	ck_assert_int_eq(chmod(in("changed"), 06755), 0);
	ck_assert_int_eq(chmod(in("gone"), 06755), 0);
	ck_assert_int_eq(chmod(in("dropped"), 06755), 0);
	checkpoint_it();
	ck_assert_int_eq(chmod(in("same"), 06711), 0);
	file("changed", "new\n");
	ck_assert_int_eq(chmod(in("changed"), 06755), 0);
	ck_assert_int_eq(unlink(in("gone")), 0);
	ck_assert_int_eq(chmod(in("dropped"), 0700), 0);
	restore();
	expect(OUTCOME_OF_RESTORE, DONE);
	ck_assert_uint_eq(mode_of("same"), 06755);
	file_is("changed", "old\n");
	ck_assert_uint_eq(mode_of("changed"), 0755);
	file_is("gone", "old\n");
	ck_assert_uint_eq(mode_of("gone"), 0755);
	ck_assert_uint_eq(mode_of("dropped"), 0755);
}
END_TEST

static void git(const char *command, struct str *out)
{
	char line[2 * WORKSPACE_BYTES], text[4096];
	size_t n;
	FILE *p;

	(void)snprintf(line, sizeof(line),
	               "cd '%s' && git -c user.name=t -c user.email=t@t %s 2>&1", ws, command);
	p = popen(line, "r");
	ck_assert_ptr_nonnull(p);
	while ((n = fread(text, 1, sizeof(text), p)) > 0)
		str_add_bytes(out, text, n);
	ck_assert_msg(pclose(p) == 0, "git %s: %s", command, str_text(out));
}

START_TEST(git_finds_its_head_and_index_untouched)
{
	OWNED(str) struct str log = { 0 };
	OWNED(str) struct str then = { 0 };
	OWNED(str) struct str now = { 0 };

	begin();
	file("a", "1\n");
	file("b", "1\n");
	git("init -q && git add -A && git -c user.name=t -c user.email=t@t commit -qm one", &log);
	file("a", "2\n");
	file("staged", "staged\n");
	git("add staged", &log);
	file("untracked", "u\n");
	git("status --porcelain && git rev-parse HEAD && git ls-files -s && git fsck", &then);
	checkpoint_it();
	file("a", "3\n");
	ck_assert_int_eq(unlink(in("b")), 0);
	ck_assert_int_eq(unlink(in("staged")), 0);
	ck_assert_int_eq(unlink(in("untracked")), 0);
	restore();
	must_be(&after, "restored");
	git("status --porcelain && git rev-parse HEAD && git ls-files -s && git fsck", &now);
	ck_assert_str_eq(str_text(&now), str_text(&then));
}
END_TEST

/* ---- kills ---- */

static const char GIT_STANDS[] = "rev-parse HEAD && git ls-files -s && git fsck";

/* git knows the files as they are before the restore. */
static void given_repository(struct str *stands)
{
	OWNED(str) struct str log = { 0 };

	git("init -q && git add -A && git -c user.name=t -c user.email=t@t commit -qm one", &log);
	git(GIT_STANDS, stands);
}

/* Its HEAD, its index and its objects are untouched, and it sees what was put back. */
static void git_agrees(const struct str *stands)
{
	OWNED(str) struct str now = { 0 };
	OWNED(str) struct str changes = { 0 };

	git(GIT_STANDS, &now);
	ck_assert_str_eq(str_text(&now), str_text(stands));
	git("status --porcelain", &changes);
	ck_assert_str_eq(str_text(&changes),
	                 " D added/deep\n M changed.txt\n M kept/inner\n M link\n D new.txt\n"
	                 " M run\n D was-dir\n D was-file/below\n?? gone.txt\n?? was-file\n");
}

static bool killed_once(const char *call, int n)
{
	OWNED(str) struct str stands = { 0 };
	int status;
	pid_t pid;

	given_checkpoint();
	given_repository(&stands);
	ask_restore(NULL);
	answer("approve");
	ck_assert_int_eq(setenv("INTERCOM_DRAIN", "1", 1), 0); /* it ends if it is not killed */
	pid = start_killed_at("applier", call, n);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	run_worker("applier");
	expect(OUTCOME_OF_RESTORE, DONE);
	must_be(&after, "after a kill");
	git_agrees(&stands);
	return WIFSIGNALED(status);
}

/* At every second one of the calls that change something, or, where a hand makes most of them
 * (tests/CMakeLists.txt), at each. With INTERCOM_KILLS=all also at those that change nothing. */
START_TEST(an_applier_killed_on_the_way_leaves_the_rest_to_the_next)
{
	static const char CHANGING[] =
	    "renameat2,mkdirat,unlinkat,fsync,symlinkat,fchmod,fdatasync";
	int step = kill_step(getenv("INTERCOM_FILES") ? 1 : 2), killed = 0;
	const char *at = kill_step(0) ? FAULT_CALLS : CHANGING;

	for (size_t length; (length = strcspn(at, ",")) > 0; at += length, at += *at == ',') {
		char call[30];

		(void)snprintf(call, sizeof(call), "%.*s", (int)length, at);
		for (int n = 1; killed_once(call, n); n += step, killed++)
			ck_assert_int_lt(n, KILLS_MAX);
	}
	ck_assert_int_gt(killed, KILLS_MIN);
}
END_TEST

/* A folder stands where a file was, and a file is about to be put where a folder was. */
static void given_killed_half_way(void)
{
	int status, n = 0;

	do {
		given_checkpoint();
		ask_restore(NULL);
		answer("approve");
		MUST(waitpid(start_killed_at("applier", "renameat2", ++n), &status, 0) > 0 &&
		         WIFSIGNALED(status),
		     "not killed at call %d", n);
	} while (access(in("was-dir/inner"), F_OK) || access(in("was-file"), F_OK) == 0);
}

START_TEST(who_wrote_where_kinds_were_exchanged_learns_what_is_gone_and_where_it_is)
{
	given_killed_half_way();
	file("was-dir/inner", "mine\n");
	file("was-file", "mine\n");
	run_worker("applier");
	expect(OUTCOME_OF_RESTORE, "refused|workspace_changed|refused|approved\n");
	expect("SELECT why = 'was-file was changed by someone else while the checkpoint was put"
	       " back; left as others have made it: was-dir (with 1 below it), was-file; what was"
	       " there before is no longer in the folder, but in checkpoint ' || substr(before_id,"
	       " 1, 13) || ' (`session-restore ' || substr(before_id, 1, 13) || '` with these"
	       " paths brings it back): was-dir, was-file (with 1 below it)' FROM"
	       " workspace_restore WHERE request_seq IS NOT NULL",
	       "1\n");
	file_is("was-dir/inner", "mine\n");
	file_is("was-file", "mine\n");
	file_is("changed.txt", "new\n");
	ck_assert_uint_eq(mode_of("was-dir"), 0750);
}
END_TEST

START_TEST(each_file_that_comes_back_is_flushed_also_one_that_its_owner_may_not_read)
{
	begin();
	file("a.txt", "old\n");
	file("b.txt", "old\n");
	ck_assert_int_eq(chmod(in("b.txt"), 0222), 0);
	checkpoint_it();
	file("a.txt", "new\n");
	file("b.txt", "new\n");
	ask_restore(NULL);
	answer("approve");
	ck_assert_int_eq(count_flushes("*/.intercom-*.tmp/new/*>*"), 2);
	expect(OUTCOME_OF_RESTORE, DONE);
	must_be(&after, "afterwards");
}
END_TEST

/* Else, after a power cut, what was removed would count as put in place. */
START_TEST(the_list_is_gone_for_good_before_anything_that_it_lists)
{
	given_checkpoint();
	ask_restore(NULL);
	answer("approve");
	/* Once when all is staged, once when the list was removed. */
	ck_assert_int_eq(count_flushes("*(*/.intercom-????????????????.tmp>)*"), 2);
	expect(OUTCOME_OF_RESTORE, DONE);
	must_be(&after, "afterwards");
}
END_TEST

/* ---- calls that fail ---- */

static void given_approved(void)
{
	given_checkpoint();
	ask_restore(NULL);
	answer("approve");
	ck_assert_int_eq(setenv("INTERCOM_DRAIN", "1", 1), 0);
}

static const char *strace_log(void)
{
	return below(test_run(), "../strace");
}

static int ended(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status), "killed by signal %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

/* What can fail in a restore, on paths that begin so: a sample, or all (0). */
static struct faults faults_on(const char *path, size_t sample)
{
	struct faults f = { .list = NULL };

	given_approved();
	ck_assert_int_eq(ended(start_traced("applier", FAULT_CALLS, NULL, strace_log())), 0);
	expect(OUTCOME_OF_RESTORE, DONE);
	faults_read(&f, strace_log(), path, sample);
	return f;
}

/* What is settled is true: all of it or nothing, and nothing is left behind. Whether it is. */
static bool is_settled(const struct fault *f)
{
	OWNED(char_ptr) char *state = rows("SELECT state FROM workspace_restore ORDER BY seq");
	char when[120];

	(void)snprintf(when, sizeof(when), "%s, %.20s", fault_name(f), state);
	if (strcmp(state, "done\n") == 0)
		must_be(&after, when);
	else if (strcmp(state, "refused\n") == 0)
		must_be(&before, when);
	else if (strstr("approved\nplanned\nstaged\nplaced\n", state))
		return false;
	else
		ck_abort_msg("%s", when);
	return true;
}

/* A fault that stays: who ordered it knows that it is neither done nor taken back. */
static void is_told(const struct fault *f)
{
	OWNED(char_ptr)
	char *told = rows("SELECT count(*) FROM event WHERE kind = 'restore.unfinished'");

	ck_assert_msg(strcmp(told, "1\n") == 0, "%s: told %s", fault_name(f), told);
}

static void fails_at(const struct fault *f)
{
	bool outside = false, loads = true;

	given_approved();
	for (int i = 0; i < (f->stays ? LIVES : 1); i++) {
		int status = ended(fault_start(f, "applier", strace_log()));

		loads = status != CANNOT_LOAD;
		if (!loads)
			break; /* the call was one of the loader's, too */
		outside |= fault_hit_outside(strace_log(), ws);
		/* Where its fence may be what keeps it out, it lets a successor try. */
		ck_assert_msg(status == 0 || status == WORKER_RENEWS || outside, "%s: status %d",
		              fault_name(f), status);
		ck_assert_msg(status != EX_CONFIG || strcmp(f->call, "pread64") != 0 ||
		                  strcmp(f->error, "EIO") != 0,
		              "%s is told as damage", fault_name(f));
		if (is_settled(f))
			return;
	}
	if (f->stays && !outside && loads)
		is_told(f);
	run_worker("applier");
	ck_assert_msg(is_settled(f), "%s: not settled", fault_name(f));
}

static void fails_everywhere(const char *path)
{
	struct faults f = faults_on(path, FAULTS);

	for (size_t i = 0; i < f.count; i++)
		fails_at(&f.list[i]);
	faults_clear(&f);
}

/* Nobody has changed anything, so it is not asked again: is_settled. */
START_TEST(what_cannot_be_looked_at_for_once_has_not_changed)
{
	static const char *const NAMES[] = { "\"was-file\"", "\"kept\"" };

	for (size_t k = 0; k < COUNT(NAMES); k++) {
		struct faults f = faults_on(NAMES[k], 0);

		for (size_t i = 0; i < f.count; i++)
			if (strcmp(f.list[i].call, "newfstatat") == 0 && !f.list[i].stays)
				fails_at(&f.list[i]);
		faults_clear(&f);
	}
}
END_TEST

START_TEST(whichever_call_on_the_workspace_fails_all_of_it_is_put_back_or_nothing)
{
	fails_everywhere("/ws");
}
END_TEST

/* Its objects, too. */
START_TEST(whichever_call_on_the_database_fails_all_of_it_is_put_back_or_nothing)
{
	fails_everywhere("/intercom.db");
}
END_TEST

START_TEST(a_write_that_takes_only_a_part_is_continued)
{
	begin();
	file("long.txt", "");
	for (int i = 0; i < 20; i++) {
		OWNED(char_ptr) char *had = content("long.txt");
		OWNED(str) struct str more = { 0 };

		str_addf(&more, "%s%0999d\n", had, i);
		file("long.txt", more.bytes);
	}
	checkpoint_it();
	file("long.txt", "short\n");
	ask_restore(NULL);
	answer("approve");
	writes_are_short(true);
	run_worker("applier");
	writes_are_short(false);
	expect(OUTCOME_OF_RESTORE, DONE);
	must_be(&after, "short writes");
}
END_TEST

/* ---- histories ---- */

static int histories(void)
{
	const char *text = getenv("INTERCOM_HISTORIES");
	long n = text ? strtol(text, NULL, 10) : HISTORIES;

	return n > 0 && n < HISTORIES_MAX ? (int)n : HISTORIES;
}

START_TEST(random_histories_come_back_as_a_plain_copy_says)
{
	for (int i = 0; i < histories(); i++) {
		struct sha256 taken[CHECKPOINTS];
		struct str copies[CHECKPOINTS] = { { 0 } };
		unsigned seed = (unsigned)i;

		begin();
		for (int k = 0; k < CHECKPOINTS; k++) {
			tree_edit(ws, &seed, 20);
			checkpoint_it();
			taken[k] = target;
			str_add(&copies[k], str_text(&after));
		}
		for (int k = 0; k < CHECKPOINTS; k++) {
			int to = (i + k * 3) % CHECKPOINTS;

			if (k % 2)
				tree_edit(ws, &seed, 10);
			target = taken[to];
			restore();
			must_be(&copies[to], "history");
		}
		for (int k = 0; k < CHECKPOINTS; k++)
			str_clear(&copies[k]);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("applier_restore");
	TCase *c = store_case(s, "restore", 60);

	tcase_add_test(c, everything_comes_back_as_it_was);
	tcase_add_test(c, the_agent_is_told_what_was_put_back);
	tcase_add_test(c, a_cancelled_restore_writes_nothing);
	tcase_add_test(c, an_unanswered_restore_writes_nothing);
	tcase_add_test(c, a_workspace_that_has_changed_since_is_asked_about_again);
	tcase_add_test(c, an_order_that_was_changed_after_it_was_shown_is_refused);
	tcase_add_test(c, content_that_is_gone_is_named_and_nothing_is_written);
	tcase_add_test(c, what_no_checkpoint_holds_is_not_removed);
	tcase_add_test(c, only_the_chosen_paths_come_back);
	tcase_add_test(c, a_second_restore_takes_the_first_one_back);
	tcase_add_test(c, who_lost_its_claim_plans_no_restore);
	tcase_add_test(c, who_lost_its_claim_puts_nothing_of_a_restore_in_place);
	tcase_add_test(c, who_lost_its_claim_settles_no_restore);
	tcase_add_test(c, a_file_that_changes_its_owner_comes_back_without_its_set_id_bits);
	tcase_add_test(c, set_id_bits_stay_with_their_content_and_do_not_come_back_with_another);
	tcase_add_test(c, git_finds_its_head_and_index_untouched);
	tcase_add_test(c, a_write_that_takes_only_a_part_is_continued);
	tcase_add_test(c, what_cannot_be_looked_at_for_once_has_not_changed);
	c = store_case(s, "kills", 1200);
	tcase_add_test(c, an_applier_killed_on_the_way_leaves_the_rest_to_the_next);
	if (!getenv("INTERCOM_FILES")) /* a hand that dies takes no applier with it */
		tcase_add_test(
		    c, who_wrote_where_kinds_were_exchanged_learns_what_is_gone_and_where_it_is);
	tcase_add_test(c,
	               each_file_that_comes_back_is_flushed_also_one_that_its_owner_may_not_read);
	tcase_add_test(c, the_list_is_gone_for_good_before_anything_that_it_lists);
	c = store_case(s, "workspace_faults", 4 * 3600);
	tcase_add_test(c, whichever_call_on_the_workspace_fails_all_of_it_is_put_back_or_nothing);
	c = store_case(s, "database_faults", 4 * 3600);
	tcase_add_test(c, whichever_call_on_the_database_fails_all_of_it_is_put_back_or_nothing);
	c = store_case(s, "histories", 3600);
	tcase_add_test(c, random_histories_come_back_as_a_plain_copy_says);
	return run_suite(s);
}
