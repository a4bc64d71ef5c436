/* applier: its fence holds the workspaces that are known when it starts; what comes later is done
 * by a successor. The workspaces here are not in the folder of the database, which the fence holds
 * anyway. */
#include "applier_case.h"

#include "fence.h"
#include "hung.h"
#include "process.h"
#include "roots.h"

#define NEEDS_FENCE SKIP_UNLESS(fence_abi() >= 2, "Landlock's ABI 2")

static const char STATES[] = "SELECT state, attempts FROM apply ORDER BY seq";
/* Of all appliers that were started. */
static const char LIVES[] = "SELECT state FROM worker WHERE name = 'applier' ORDER BY seq";

static int sessions; /* beside the first */

/* One more session, whose workspace is this folder. */
static void given_session_in(const char *folder)
{
	char sql[2 * WORKSPACE_BYTES];

	(void)snprintf(ws, sizeof(ws), "%s", folder);
	session = 2 + sessions++;
	(void)snprintf(
	    sql, sizeof(sql),
	    "INSERT INTO session (seq, id, machine, owner_user_id, workspace_root, status, mode,"
	    " created_at, updated_at) VALUES (%d, 's%d', 'h', 'local:tester', '%s', 'active',"
	    " 'local', '%s', '%s')",
	    session, session, ws, clock_now().text, clock_now().text);
	given(sql);
}

static void write_ordered(const char *name)
{
	approve(name, "x");
	call_check_diff(false);
}

START_TEST(a_workspace_that_was_not_known_is_written_by_a_successor)
{
	pid_t pid;

	NEEDS_FENCE;
	begin();
	given_session_in(short_scratch());
	pid = start_worker("applier");
	write_ordered("a.txt");
	expect_soon(STATES, "applied|1\n");
	expect(LIVES, "ready\n");
	given_session_in(short_scratch());
	write_ordered("b.txt");
	expect_soon(STATES, "applied|1\napplied|1\n");
	file_is("b.txt", "x");
	write_ordered("c.txt");
	expect_soon(STATES, "applied|1\napplied|1\napplied|1\n");
	expect(LIVES, "stopped\nready\n");
	stop_worker(pid);
}
END_TEST

START_TEST(without_a_fence_no_successor_is_needed)
{
	pid_t pid;

	NEEDS_FENCE;
	(void)setenv("INTERCOM_FENCE", "off", 1);
	begin();
	pid = start_worker("applier");
	given_session_in(short_scratch());
	write_ordered("a.txt");
	expect_soon(STATES, "applied|1\n");
	expect(LIVES, "ready\n");
	stop_worker(pid);
}
END_TEST

START_TEST(a_workspace_that_was_replaced_is_written_by_one_successor)
{
	pid_t pid;

	NEEDS_FENCE;
	begin();
	given_session_in(short_scratch());
	pid = start_worker("applier");
	ck_assert_int_eq(shell(NULL, "mv %s %s.old && mkdir %s", ws, ws, ws), 0);
	write_ordered("a.txt");
	expect_soon(STATES, "applied|2\n");
	file_is("a.txt", "x");
	write_ordered("b.txt");
	expect_soon(STATES, "applied|2\napplied|1\n");
	expect(LIVES, "stopped\nready\n");
	expect("SELECT count(*) FROM fence_refusal", "0\n");
	ck_assert_int_eq(shell(NULL, "rmdir %s.old", ws), 0);
	stop_worker(pid);
}
END_TEST

START_TEST(a_workspace_that_became_a_symlink_is_refused_without_a_successor)
{
	pid_t pid;

	NEEDS_FENCE;
	begin();
	given_session_in(short_scratch());
	approve("a.txt", "x");
	pid = start_worker("applier");
	ck_assert_int_eq(shell(NULL, "rmdir %s && mkdir %s.new && ln -s %s.new %s", ws, ws, ws, ws),
	                 0);
	call_check_diff(false);
	expect_soon(STATES, "refused|1\n");
	expect("SELECT why LIKE 'the workspace % leads to another folder by now%' FROM apply",
	       "1\n");
	expect(LIVES, "ready\n");
	ck_assert_int_eq(shell(NULL, "rm -r %s %s.new", ws, ws), 0);
	stop_worker(pid);
}
END_TEST

START_TEST(a_workspace_that_no_fence_comes_to_hold_is_given_up)
{
	struct root item = { .path = ws };
	const struct roots roots = { .items = &item, .count = 1, .is_fenced = true };
	OWNED(store) struct store st = STORE_INIT;
	struct err e = { 0 };
	int64_t due_ms;

	begin();
	write_ordered("a.txt");
	ck_assert_msg(!store_open(&st, test_db(), test_run(), &e), "%s", e.text);
	for (int i = 1; i <= APPLY_ATTEMPTS_MAX + 1; i++) {
		OWNED(apply_report) struct apply_report r = { 0 };
		OWNED(applier)
		struct applier a = { .store = &st,
			             .machine = "h",
			             .worker_id = "a",
			             .database = test_db(),
			             .workspaces = &roots };

		a.run_fd = open(test_run(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		ck_assert_int_eq(apply_next(&a, &r, &due_ms, &e), 1);
		ck_assert_str_eq(r.state, i <= APPLY_ATTEMPTS_MAX ? "queued" : "refused");
		ck_assert(a.is_fenced_off);
		(void)close(a.run_fd);
	}
	is_refused("workspace_unreadable", "the workspace ");
}
END_TEST

/* A folder on a disk that hangs; false: nothing can be mounted. */
static bool given_hung_folder(char folder[WORKSPACE_BYTES])
{
	if (!may_mount() || access("/dev/fuse", R_OK | W_OK) != 0)
		return false;
	(void)snprintf(folder, WORKSPACE_BYTES, "%s", short_scratch());
	ck_assert_int_eq(mkdir(below(folder, "ws"), 0755), 0);
	return true;
}

START_TEST(workspaces_whose_disk_hangs_at_the_start_keep_no_other_from_being_written)
{
	char folder[WORKSPACE_BYTES], hung[WORKSPACE_BYTES + 20];
	pid_t pid;

	NEEDS_FENCE;
	SKIP_UNLESS(given_hung_folder(folder), "/dev/fuse and the right to mount");
	begin();
	(void)snprintf(hung, sizeof(hung), "%s/ws", folder);
	given_session_in(hung);
	write_ordered("hung.txt");
	for (int i = 0; i < 40; i++) {
		(void)snprintf(hung, sizeof(hung), "%s/%d", folder, i);
		given_session_in(hung);
	}
	given_session_in(short_scratch());
	write_ordered("a.txt");
	ck_assert(hung_mount(folder));
	pid = start_worker("applier");
	expect_soon(STATES, "queued|0\napplied|1\n");
	file_is("a.txt", "x");
	given_session_in(short_scratch());
	write_ordered("b.txt");
	expect_soon(STATES, "queued|0\napplied|1\napplied|1\n");
	expect(LIVES, "stopped\nready\n");

	hung_unmount();
	advance(20000);
	expect_soon(STATES, "applied|2\napplied|1\napplied|1\n");
	(void)snprintf(ws, sizeof(ws), "%.600s/ws", folder);
	file_is("hung.txt", "x");
	stop_worker(pid);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("applier_fence");
	TCase *c;

	(void)setenv("INTERCOM_FENCE", "require", 1);
	c = store_case(s, "fence", 60);
	tcase_add_test(c, a_workspace_that_was_not_known_is_written_by_a_successor);
	tcase_add_test(c, without_a_fence_no_successor_is_needed);
	tcase_add_test(c, a_workspace_that_was_replaced_is_written_by_one_successor);
	tcase_add_test(c, a_workspace_that_became_a_symlink_is_refused_without_a_successor);
	tcase_add_test(c, a_workspace_that_no_fence_comes_to_hold_is_given_up);
	tcase_add_test(c,
	               workspaces_whose_disk_hangs_at_the_start_keep_no_other_from_being_written);
	return run_suite(s);
}
