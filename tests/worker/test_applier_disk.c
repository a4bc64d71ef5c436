/* applier: a workspace whose disk does not answer. */
#include "applier_case.h"

#include "agent.h"
#include "clock.h"
#include "deaf.h"
#include "disk.h"
#include "files.h"
#include "hung.h"
#include "owner_line.h"
#include "process.h"

#include <linux/fuse.h>
#include <poll.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/un.h>

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
	expect_soon("SELECT state, attempts > 1 FROM apply ORDER BY seq", "applied|1\napplied|0\n");
	file_is("../ws/a.txt", "x");
	stop_worker(pid);
}
END_TEST

/* ---- the hand of another user ---- */

static void say(int conn, enum owner_what what, int pidfd)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct owner_said said = { .what = what, .number = getpid() };
	struct iovec part = { .iov_base = &said, .iov_len = sizeof(said) };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };

	if (pidfd >= 0) {
		struct cmsghdr *c;

		m.msg_control = control;
		m.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&m);
		*c = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
			               .cmsg_type = SCM_RIGHTS,
			               .cmsg_len = CMSG_LEN(sizeof(int)) };
		memcpy(CMSG_DATA(c), &pidfd, sizeof(pidfd));
	}
	if (sendmsg(conn, &m, MSG_NOSIGNAL) < 0)
		_exit(1);
}

/* Is as-owner, and the filer that it starts: one that never answers. What it has for an answer has
 * gone by as soon as it is asked anything. */
__attribute__((noreturn)) static void be_silent_filer(int listener)
{
	char wish[OWNER_BYTES], call[65536],
	    control[CMSG_SPACE(OWNER_FDS * sizeof(int))] __attribute__((aligned(8)));
	struct iovec part = { .iov_base = wish, .iov_len = sizeof(wish) };
	struct msghdr m = { .msg_iov = &part,
		            .msg_iovlen = 1,
		            .msg_control = control,
		            .msg_controllen = sizeof(control) };
	int conn = accept(listener, NULL, NULL), line = -1;
	const struct cmsghdr *c;

	if (recvmsg(conn, &m, 0) <= 0 || !(c = CMSG_FIRSTHDR(&m)))
		_exit(1);
	memcpy(&line, CMSG_DATA(c), sizeof(line));
	say(conn, OWNER_STARTED, pidfd_open(getpid(), 0));
	say(conn, OWNER_READY, -1);
	if (recv(line, call, sizeof(call), 0) <= 0)
		_exit(1);
	advance(DISK_PATIENCE_MS);
	while (recv(line, call, sizeof(call), 0) > 0)
		continue;
	_exit(0);
}

/* The workspace is another user's, for whom as-owner starts that. Returns its pid. */
static pid_t given_silent_filer(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	OWNED(str) struct str sql = { 0 };
	int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	pid_t pid;

	(void)snprintf(a.sun_path, sizeof(a.sun_path), "%.95s/../owner", ws);
	ck_assert_int_eq(bind(listener, (const struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(listen(listener, 1), 0);
	str_addf(&sql,
	         "INSERT INTO setting VALUES ('shared.owner_socket', '%s', 'file',"
	         " '2026-01-01T09:00:00.000Z');"
	         "INSERT INTO workspace_owner (machine, workspace_root, uid, name, found_at,"
	         " accepted_at) SELECT machine, workspace_root, %u, 'carl',"
	         " '2026-01-01T09:00:00.000Z', '2026-01-01T09:00:00.000Z' FROM session",
	         a.sun_path, (unsigned)geteuid() + 1);
	given(sql.bytes);
	pid = fork();
	if (pid == 0)
		be_silent_filer(listener);
	(void)close(listener);
	return pid;
}

START_TEST(a_filer_that_answers_nothing_has_the_time_of_a_disk_and_no_longer)
{
	int64_t before;
	pid_t filer, pid;

	begin();
	approve("a.txt", "x");
	call_check_diff(false);
	filer = given_silent_filer();
	before = clock_monotonic_ms();
	pid = start_worker("applier");
	expect_soon(STATES, "queued|1\n");
	ck_assert_int_lt(clock_monotonic_ms() - before, FILES_PATIENCE_MS);
	stop_worker(pid);
	ck_assert_int_eq(end_of(filer), 0);
}
END_TEST

/* ---- a disk that answers all but one kind of request, behind a hand ---- */

/* Two writes that were approved and ordered, the first on such a disk. */
static bool given_deaf_workspace(void)
{
	if (!may_mount() || access("/dev/fuse", R_OK | W_OK) != 0)
		return false;
	begin();
	ck_assert(deaf_mount(ws, geteuid(), true));
	file("a.txt", "old");
	approve("a.txt", "x");
	call_check_diff(false);
	given_other_workspace();
	approve("b.txt", "y");
	call_check_diff(false);
	ck_assert_int_eq(setenv("INTERCOM_FILES", "hand", 1), 0);
	return true;
}

static void one_waits(void)
{
	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS; deaf_waiting() == 0;
	     (void)poll(NULL, 0, 10))
		ck_assert_msg(agent_ms() < end, "nobody asks the disk");
}

static void is_done_once_the_disk_answers(uint32_t opcode)
{
	pid_t pid;

	SKIP_UNLESS(given_deaf_workspace(), "/dev/fuse and the right to mount");
	deaf_to(opcode);
	pid = start_worker("applier");
	one_waits();
	advance(FILES_PATIENCE_MS);
	expect_soon(STATES, "claimed|1\napplied|1\n");
	file_is("b.txt", "y");
	approve("c.txt", "z"); /* nobody waits for the disk again */
	call_check_diff(false);
	expect_soon(STATES, "claimed|1\napplied|1\napplied|1\n");
	deaf_to(0);
	advance(SECOND);
	expect_soon(STATES, "applied|2\napplied|1\napplied|1\n");
	expect("SELECT count(*), min(state) FROM file_change WHERE path = 'a.txt'"
	       " AND state <> 'undone'",
	       "1|done\n");
	memcpy(strrchr(ws, '/') + 1, "ws", sizeof("ws"));
	file_is("a.txt", "x");
	ck_assert_int_eq(entries(), 1);
	stop_worker(pid);
	deaf_unmount();
}

START_TEST(a_write_that_a_disk_does_not_answer_holds_up_nobody_else_and_is_done_when_it_does)
{
	is_done_once_the_disk_answers(FUSE_WRITE);
}
END_TEST

START_TEST(a_read_that_a_disk_does_not_answer_holds_up_nobody_else)
{
	is_done_once_the_disk_answers(FUSE_READ);
}
END_TEST

START_TEST(a_flush_that_a_disk_does_not_answer_holds_up_nobody_else)
{
	is_done_once_the_disk_answers(FUSE_FSYNC);
}
END_TEST

START_TEST(a_close_that_a_disk_does_not_answer_holds_up_nobody_else)
{
	is_done_once_the_disk_answers(FUSE_FLUSH);
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
	tcase_add_test(c, a_filer_that_answers_nothing_has_the_time_of_a_disk_and_no_longer);
	tcase_add_test(
	    c, a_write_that_a_disk_does_not_answer_holds_up_nobody_else_and_is_done_when_it_does);
	tcase_add_test(c, a_read_that_a_disk_does_not_answer_holds_up_nobody_else);
	tcase_add_test(c, a_flush_that_a_disk_does_not_answer_holds_up_nobody_else);
	tcase_add_test(c, a_close_that_a_disk_does_not_answer_holds_up_nobody_else);
	tcase_add_test(c,
	               what_a_dead_applier_left_in_hand_is_done_after_the_jobs_of_other_workspaces);
	return run_suite(s);
}
