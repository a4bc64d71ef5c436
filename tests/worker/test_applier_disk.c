/* applier: a workspace whose disk does not answer. */
#include "applier_case.h"

#include "hung.h"
#include "process.h"

enum { SECOND = 1000 };

static const char STATES[] = "SELECT state, attempts FROM apply ORDER BY seq";

/* A write that was approved and ordered in a workspace whose disk hangs from here on, and one in
 * another. False: nothing can be mounted. */
static bool given_two_writes(void)
{
	char folder[WORKSPACE_BYTES];

	if (!may_mount() || access("/dev/fuse", R_OK | W_OK) != 0)
		return false;
	begin();
	(void)snprintf(folder, sizeof(folder), "%s", ws);
	approve("a.txt", "x");
	call_check_diff(false);
	given_other_workspace();
	approve("b.txt", "y");
	call_check_diff(false);
	ck_assert(hung_mount(folder));
	return true;
}

START_TEST(a_disk_that_hangs_holds_up_no_other_workspace_and_is_told_once)
{
	pid_t pid;

	SKIP_UNLESS(given_two_writes(), "/dev/fuse and the right to mount");
	pid = start_worker("applier");
	expect_soon(STATES, "queued|1\napplied|1\n");
	file_is("b.txt", "y");
	advance(10 * SECOND);
	expect_soon(STATES, "queued|2\napplied|1\n"); /* nobody waits for the disk again */
	advance(10 * SECOND);
	expect_soon(STATES, "refused|3\napplied|1\n");
	expect("SELECT a.error_code, r.state, t.state FROM apply AS a"
	       " JOIN request AS r ON r.seq = a.request_seq"
	       " JOIN tool_call AS t ON t.apply_seq = a.seq WHERE a.state = 'refused'",
	       "workspace_unreadable|approved|answered\n");
	stop_worker(pid);
	hung_unmount();
}
END_TEST

/* Whoever it left behind at the disk has ended. */
static void nobody_hangs(pid_t applier)
{
	ck_assert_int_eq(shell(NULL,
	                       "for i in $(seq 3000); do hangs=; "
	                       "for child in $(cat /proc/%d/task/%d/children); do "
	                       "grep -q '^State:.Z' /proc/$child/status || hangs=1; done; "
	                       "[ $hangs ] || exit 0; sleep 0.01; done; exit 1",
	                       (int)applier, (int)applier),
	                 0);
}

START_TEST(a_disk_that_answers_again_is_written)
{
	pid_t pid;

	SKIP_UNLESS(given_two_writes(), "/dev/fuse and the right to mount");
	pid = start_worker("applier");
	expect_soon(STATES, "queued|1\napplied|1\n");
	hung_unmount();
	nobody_hangs(pid);
	advance(10 * SECOND);
	expect_soon(STATES, "applied|2\napplied|1\n");
	file_is("../ws/a.txt", "x");
	stop_worker(pid);
}
END_TEST

/* What killed it may do so again. */
START_TEST(what_a_dead_applier_left_in_hand_is_done_after_the_jobs_of_other_workspaces)
{
	begin();
	approve("a.txt", "x");
	call_check_diff(false);
	given_other_workspace();
	approve("b.txt", "y");
	call_check_diff(false);
	given("UPDATE apply SET state = 'claimed', claim = 1, attempts = 1, worker_id = 'gone'"
	      " WHERE seq = 1");
	run_worker("applier");
	expect("SELECT json_extract(detail, '$.file') FROM event WHERE kind = 'apply.applied'"
	       " ORDER BY seq",
	       "b.txt\na.txt\n");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("applier_disk");
	TCase *c = store_case(s, "disk", 60);

	tcase_add_test(c, a_disk_that_hangs_holds_up_no_other_workspace_and_is_told_once);
	tcase_add_test(c, a_disk_that_answers_again_is_written);
	tcase_add_test(c,
	               what_a_dead_applier_left_in_hand_is_done_after_the_jobs_of_other_workspaces);
	return run_suite(s);
}
