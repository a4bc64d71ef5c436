/* as-owner, which may become any user: the filers of workspaces, which it starts, and what their
 * user can do to them. */
#include "attack_owner.h"
#include "fence.h"
#include "fences.h"
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int lock_fd = STDERR_FILENO; /* what the next filer holds */

static int ask_filer(const char *workspace, struct owner_process *p, int *ours, struct err *e)
{
	int pair[2], fds[2], got;
	struct owner_ask question = { .kind = OWNER_FILER,
		                      .uid = USER_IDS[AGENT],
		                      .workspace = workspace,
		                      .words = { "auto" },
		                      .fds = fds,
		                      .fd_count = 2 };

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	fds[0] = pair[1];
	fds[1] = lock_fd;
	*e = (struct err){ .kind = ERR_NONE };
	ck_assert_int_eq(seteuid(USER_IDS[SERVICE]), 0);
	got = owner_start(users.owner_socket, &question, AGENT_PATIENCE_MS, p, e);
	ck_assert_int_eq(seteuid(0), 0);
	(void)close(pair[1]);
	*ours = pair[0];
	return got;
}

static void filer_is_refused(const char *workspace, const char *why)
{
	struct owner_process p;
	struct err e;
	int ours;

	ck_assert_int_eq(ask_filer(workspace, &p, &ours, &e), -1);
	ck_assert_msg(e.kind == ERR_REFUSED && strstr(e.text, why), "%s: %s", workspace, e.text);
	(void)close(ours);
}

/* A folder of that user's in the agent's home, or where anybody may enter. */
static const char *folder(const char *name, enum user who)
{
	const char *path = below(users.base, name);

	ck_assert_int_eq(mkdir(path, 0755), 0);
	ck_assert_int_eq(chown(path, USER_IDS[who], USER_IDS[who]), 0);
	return path;
}

START_TEST(nobody_gets_a_workspace_of_another_owner_or_behind_a_symlink_or_one_that_is_none)
{
	char home[100];

	NEEDS_ACCOUNTS();
	filer_is_refused(folder("theirs", OPERATOR), "does not belong to user t-agent, but to user "
	                                             "60103");
	filer_is_refused(folder("roots", SERVICE), "but to user 60101");
	ck_assert_int_eq(chown(below(users.base, "roots"), 0, 0), 0);
	filer_is_refused(below(users.base, "roots"), "but to user 0");
	ck_assert_int_eq(symlink(users.project, below(users.base, "link")), 0);
	filer_is_refused(below(users.base, "link"), "there is a symlink on its way");
	filer_is_refused(below(users.base, "link/../project"), "there is a symlink on its way");
	filer_is_refused(below(users.base, "nothing"), "No such file");
	filer_is_refused("/", "cannot open the workspace");
	put_file(users.base, "file", "text");
	filer_is_refused(below(users.base, "file"), "Not a directory");
	(void)snprintf(home, sizeof(home), "%s/home-%u", users.base, (unsigned)USER_IDS[OPERATOR]);
	ck_assert_int_eq(mkdir(below(home, "w"), 0777), 0);
	ck_assert_int_eq(chown(below(home, "w"), USER_IDS[AGENT], USER_IDS[AGENT]), 0);
	filer_is_refused(below(home, "w"),
	                 "Permission denied"); /* it is theirs, but not reachable */
	end();
}
END_TEST

/* Somebody exchanges the folder for one of another owner all the time: whatever is opened is the
 * agent's. */
START_TEST(whoever_swaps_the_workspace_meanwhile_gets_nothing_of_another_owner)
{
	enum { TRIES = 60 };
	char place[100], other[100];
	int served = 0, refused = 0;
	pid_t swapper;

	NEEDS_ACCOUNTS();
	(void)snprintf(place, sizeof(place), "%s", folder("place", AGENT));
	(void)snprintf(other, sizeof(other), "%s", folder("other", OPERATOR));
	put_file(other, "secret", "text");
	swapper = fork();
	if (swapper == 0)
		for (;;)
			(void)renameat2(AT_FDCWD, place, AT_FDCWD, other, RENAME_EXCHANGE);
	for (int i = 0; i < TRIES; i++) {
		struct owner_process p;
		struct err e;
		int ours;

		if (ask_filer(place, &p, &ours, &e) == 0) {
			struct stat st;
			int root;

			files_use(ours, NULL);
			root = files_open_root("", O_RDONLY);
			ck_assert_int_ge(root, 0);
			ck_assert_int_eq(files_look(root, &st), 0);
			ck_assert_uint_eq(st.st_uid, USER_IDS[AGENT]);
			ck_assert_int_ne(files_stat(root, "secret", &st, 0), 0);
			files_use(-1, NULL);
			served++;
			owner_process_clear(&p);
		} else {
			ck_assert_msg(strstr(e.text, "does not belong"), "%s", e.text);
			refused++;
		}
		(void)close(ours);
	}
	(void)kill(swapper, SIGKILL);
	(void)end_of(swapper);
	ck_assert_msg(served > 0 && refused > 0, "%d served, %d refused", served, refused);
	end();
}
END_TEST

/* What the filer has open on its own account, and what is closed, nobody gets: only these two. */
static void has_open_only(int root, int out)
{
	int first = root - root % 1024, closed = files_reopen(root, O_RDONLY | O_CLOEXEC);
	struct stat st;

	ck_assert_int_eq(files_close(closed), 0);
	for (int fd = first; fd < first + 1024; fd++) {
		bool is_served = files_look(fd, &st) == 0;

		ck_assert_msg(is_served || errno == EBADF, "%d: errno %d", fd - first, errno);
		ck_assert_msg(is_served == (fd == root || fd == out), "%d is served", fd - first);
	}
}

START_TEST(a_filer_changes_nothing_outside_of_its_workspace_whatever_it_is_told)
{
	struct owner_process p;
	struct stat st;
	struct err e;
	char home[100];
	int ours, out, root;

	NEEDS_ACCOUNTS();
	(void)snprintf(home, sizeof(home), "%s/home-%u", users.base, (unsigned)USER_IDS[AGENT]);
	put_file(home, "mine", "text");
	ck_assert_int_eq(chown(below(home, "mine"), USER_IDS[AGENT], USER_IDS[AGENT]), 0);
	ck_assert_msg(ask_filer(users.project, &p, &ours, &e) == 0, "%s", e.text);
	is_program(p.pid, "filer");
	has_status(p.pid, "Uid", "60102\t60102\t60102\t60102");
	has_status(p.pid, "CapEff", "0000000000000000");
	files_use(ours, NULL);
	root = files_open_root("", O_RDONLY);
	ck_assert_int_ge(root, 0);
#ifndef __SANITIZE_ADDRESS__ /* calls.h */
	has_status(p.pid, "Seccomp", "2");
#endif
	ck_assert_int_eq(files_make_dir(root, "made", 0777), 0);
	ck_assert_int_eq(files_stat(root, "made", &st, 0), 0);
	ck_assert_uint_eq(st.st_uid, USER_IDS[AGENT]);
	/* A folder that its user may change, but its fence keeps it from that. */
	out = files_open(root, home, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	ck_assert_int_ge(out, FILES_FIRST);
	if (fence_abi() > 0) {
		ck_assert_int_eq(files_unlink(out, "mine", 0), -1);
		ck_assert_int_eq(files_make_dir(out, "made", 0777), -1);
		ck_assert_int_eq(files_open(out, "mine", O_RDONLY | O_CLOEXEC, 0), -1);
		ck_assert_int_eq(files_rename(out, "mine", root, "mine", 0), -1);
	}
	ck_assert_int_eq(files_open(root, "/etc/passwd", O_RDWR | O_CLOEXEC, 0), -1);
	has_open_only(root, out);
	ck_assert(!files_is_lost());
	ck_assert_int_eq(access(below(home, "mine"), F_OK), 0);
	files_use(-1, NULL);
	(void)close(ours);
	ends(&p);
	end();
}
END_TEST

/* Its asker was killed during a call: until that call has ended, nobody else gets the workspace. */
START_TEST(a_filer_holds_the_lock_of_its_workspace_until_it_ends)
{
	struct owner_process p;
	struct err e;
	int ours, other;

	NEEDS_ACCOUNTS();
	put_file(users.base, "lock", "");
	lock_fd = open(below(users.base, "lock"), O_RDWR | O_CLOEXEC);
	other = open(below(users.base, "lock"), O_RDWR | O_CLOEXEC);
	ck_assert_int_eq(flock(lock_fd, LOCK_EX | LOCK_NB), 0);
	ck_assert_msg(ask_filer(users.project, &p, &ours, &e) == 0, "%s", e.text);
	is_program(p.pid, "filer");
	ck_assert_int_eq(kill(p.pid, SIGSTOP), 0); /* in the middle of something */
	(void)close(ours);
	(void)close(lock_fd);
	ck_assert_int_eq(flock(other, LOCK_EX | LOCK_NB), -1);
	ck_assert_int_eq(errno, EWOULDBLOCK);
	ck_assert_int_eq(kill(p.pid, SIGCONT), 0);
	ends(&p);
	ck_assert_int_eq(flock(other, LOCK_EX | LOCK_NB), 0);
	(void)close(other);
	end();
}
END_TEST

/* The narrowest fence of those that ask. */
static bool a_fenced_reading_sees_it(const struct owner_process *p)
{
	const struct fence_view view = { .root = users.base,
		                         .objects = users.base,
		                         .is_kept = true };
	struct err e = { 0 };
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(fence_workspace("require", &view, &e) ? 2 : !owner_is_held(p->fd));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) < 2);
	return WEXITSTATUS(status) == 0;
}

START_TEST(a_filer_that_its_user_has_stopped_is_lost_long_before_one_that_is_slow)
{
	struct files_look look = { .is_held = owner_is_held };
	struct owner_process p;
	struct err e;
	int ours;

	NEEDS_ACCOUNTS();
	ck_assert_msg(ask_filer(users.project, &p, &ours, &e) == 0, "%s", e.text);
	ck_assert(!owner_is_held(p.fd));
	ck_assert_int_eq(kill(p.pid, SIGSTOP), 0);
	while (!owner_is_held(p.fd))
		(void)poll(NULL, 0, 1);
	ck_assert(owner_is_held(p.fd)); /* asked again, it is told again */
	ck_assert(a_fenced_reading_sees_it(&p));
	ck_assert_int_eq(kill(p.pid, SIGCONT), 0);
	while (owner_is_held(p.fd))
		(void)poll(NULL, 0, 1);
	ck_assert_int_eq(kill(p.pid, SIGSTOP), 0);
	look.line = p.fd;
	files_use(ours, &look);
	files_wait(INT_MAX); /* it is not waited for as long as for one that is slow */
	ck_assert_int_eq(files_open_root("", O_RDONLY), -1);
	ck_assert(files_is_lost());
	files_use(-1, NULL);
	ck_assert_int_eq(kill(p.pid, SIGCONT), 0);
	(void)close(ours);
	ends(&p);
	end();
}
END_TEST

/* Each stop is shorter than what anybody looks after. */
START_TEST(a_filer_that_is_stopped_for_a_moment_in_each_call_is_lost)
{
	struct files_look look = { .is_held = owner_is_held };
	struct owner_process p;
	struct stat st;
	struct err e;
	pid_t stopper;
	int ours, root;

	NEEDS_ACCOUNTS();
	ck_assert_msg(ask_filer(users.project, &p, &ours, &e) == 0, "%s", e.text);
	look.line = p.fd;
	files_use(ours, &look);
	files_wait(INT_MAX);
	root = files_open_root("", O_RDONLY);
	ck_assert_int_ge(root, 0);
	stopper = fork();
	if (stopper == 0)
		for (;;) {
			(void)kill(p.pid, SIGSTOP);
			(void)poll(NULL, 0, 60);
			(void)kill(p.pid, SIGCONT);
			(void)poll(NULL, 0, 1);
		}
	while (files_look(root, &st) == 0)
		continue;
	ck_assert_int_eq(errno, EIO);
	ck_assert(files_is_lost());
	files_use(-1, NULL);
	(void)kill(stopper, SIGKILL);
	(void)end_of(stopper);
	(void)kill(p.pid, SIGCONT);
	(void)close(ours);
	ends(&p);
	end();
}
END_TEST

START_TEST(a_filer_that_its_user_puts_behind_other_processes_is_held)
{
	const struct sched_param none = { 0 };
	struct owner_process p;
	struct err e;
	int ours;

	NEEDS_ACCOUNTS();
	ck_assert_msg(ask_filer(users.project, &p, &ours, &e) == 0, "%s", e.text);
	ck_assert(!owner_is_held(p.fd));
	ck_assert_int_eq(sched_setscheduler(p.pid, SCHED_IDLE, &none), 0);
	ck_assert(owner_is_held(p.fd));
	ck_assert_int_eq(sched_setscheduler(p.pid, SCHED_OTHER, &none), 0);
	ck_assert(!owner_is_held(p.fd));
	ck_assert_int_eq(setpriority(PRIO_PROCESS, (id_t)p.pid, 19), 0);
	ck_assert(owner_is_held(p.fd));
	(void)close(ours);
	ends(&p);
	end();
}
END_TEST

START_TEST(a_filer_that_is_killed_or_sends_nonsense_is_lost_and_nothing_is_called_done)
{
	struct owner_process p;
	struct err e;
	int ours, pair[2];

	NEEDS_ACCOUNTS();
	ck_assert_msg(ask_filer(users.project, &p, &ours, &e) == 0, "%s", e.text);
	files_use(ours, NULL);
	ck_assert_int_eq(kill(p.pid, SIGKILL), 0);
	ck_assert_int_eq(files_open_root("", O_RDONLY), -1);
	ck_assert_int_eq(errno, EIO);
	ck_assert(files_is_lost());
	ck_assert_int_eq(files_open_root("", O_RDONLY), -1);
	files_use(-1, NULL);
	ck_assert(!files_is_lost());
	(void)close(ours);
	owner_process_clear(&p);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	files_use(pair[0], NULL);
	ck_assert_int_eq(send(pair[1], "nonsense", 8, 0), 8);
	ck_assert_int_eq(files_open_root("", O_RDONLY), -1);
	ck_assert(files_is_lost());
	files_use(-1, NULL);
	end();
}
END_TEST

/* as-owner reads them from a descriptor. */
START_TEST(a_filer_blocks_none_of_the_signals_that_as_owner_blocks)
{
	struct owner_process p;
	struct err e;
	int ours;

	NEEDS_ACCOUNTS();
	ck_assert_msg(ask_filer(users.project, &p, &ours, &e) == 0, "%s", e.text);
	is_program(p.pid, "filer");
	has_status(users.owner_pid, "SigBlk", "0000000000004002");
	has_status(p.pid, "SigBlk", "0000000000000000");
	(void)close(ours);
	ends(&p);
	end();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("attack_owner_filer");
	TCase *c = tcase_create("attack_owner_filer");

	tcase_add_test(
	    c, nobody_gets_a_workspace_of_another_owner_or_behind_a_symlink_or_one_that_is_none);
	tcase_add_test(c, whoever_swaps_the_workspace_meanwhile_gets_nothing_of_another_owner);
	tcase_add_test(c, a_filer_changes_nothing_outside_of_its_workspace_whatever_it_is_told);
	tcase_add_test(c, a_filer_that_its_user_has_stopped_is_lost_long_before_one_that_is_slow);
	tcase_add_test(c, a_filer_that_is_stopped_for_a_moment_in_each_call_is_lost);
	tcase_add_test(c, a_filer_that_its_user_puts_behind_other_processes_is_held);
	tcase_add_test(c,
	               a_filer_that_is_killed_or_sends_nonsense_is_lost_and_nothing_is_called_done);
	tcase_add_test(c, a_filer_blocks_none_of_the_signals_that_as_owner_blocks);
	tcase_add_test(c, a_filer_holds_the_lock_of_its_workspace_until_it_ends);
	suite_add_tcase(s, c);
	return run_suite(s);
}
