/* calls.txt: which system calls fenced processes may make. */
#include "calls.h"
#include "suite.h"

#include <sys/syscall.h>

static const char *const PROCESSES[] = { "applier",      "archivist", "mcp-front", "reader",
	                                 "retention",    "sentry",    "watchdog",  "slack-listener",
	                                 "slack-poster", CALLS_LOOKER };

START_TEST(each_process_may_read_and_end)
{
	ck_assert(calls_allowed(PROCESSES[_i], SYS_read));
	ck_assert(calls_allowed(PROCESSES[_i], SYS_exit_group));
	ck_assert(calls_allowed(PROCESSES[_i], SYS_rt_sigreturn));
}
END_TEST

START_TEST(no_process_may_make_calls_that_get_around_a_fence)
{
	static const char *const NEVER[] = {
		"ptrace",
		"process_vm_readv",
		"process_vm_writev",
		"pidfd_getfd",
		"mount",
		"umount2",
		"move_mount",
		"open_tree",
		"pivot_root",
		"chroot",
		"unshare",
		"setns",
		"bpf",
		"perf_event_open",
		"userfaultfd",
		"io_uring_setup",
		"io_uring_enter",
		"keyctl",
		"add_key",
		"mknodat",
		"init_module",
		"finit_module",
		"kexec_load",
		"open_by_handle_at",
		"execveat",
		"setuid",
		"setgid",
		"personality",
	};

	for (size_t i = 0; i < COUNT(NEVER); i++)
		ck_assert_msg(calls_number(NEVER[i]) >= 0 &&
		                  !calls_allowed(PROCESSES[_i], calls_number(NEVER[i])),
		              "%s may %s", PROCESSES[_i], NEVER[i]);
}
END_TEST

START_TEST(only_mcp_front_executes_and_listens_and_only_three_reach_the_network)
{
	const char *p = PROCESSES[_i];
	bool is_front = strcmp(p, "mcp-front") == 0;

	ck_assert(calls_allowed(p, SYS_execve) == is_front);
	ck_assert(calls_allowed(p, SYS_listen) == is_front);
	ck_assert(calls_allowed(p, SYS_socket) == (is_front || strncmp(p, "slack-", 6) == 0));
}
END_TEST

START_TEST(a_call_has_a_name_and_a_number)
{
	ck_assert_str_eq(calls_name(SYS_openat), "openat");
	ck_assert_int_eq(calls_number("openat"), SYS_openat);
	ck_assert_ptr_null(calls_name(9999));
	ck_assert_int_eq(calls_number("nosuch"), -1);
	ck_assert(!calls_allowed("reader", 9999));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("calls");
	TCase *c = tcase_create("calls");

	suite_add_tcase(s, c);
	tcase_add_loop_test(c, each_process_may_read_and_end, 0, COUNT(PROCESSES));
	tcase_add_loop_test(c, no_process_may_make_calls_that_get_around_a_fence, 0,
	                    COUNT(PROCESSES));
	tcase_add_loop_test(c, only_mcp_front_executes_and_listens_and_only_three_reach_the_network,
	                    0, COUNT(PROCESSES));
	tcase_add_test(c, a_call_has_a_name_and_a_number);
	return run_suite(s);
}
