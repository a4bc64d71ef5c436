/* keeper: keeps a program that runs as the owner of a workspace, in a system that serves several
 * users. as-owner starts it, as that user, for runner and commander, who may not signal the user's
 * processes: the keeper does, when they say so, and ends all of them when its line is closed,
 * however that comes. It looks for the program and makes its environment, as only the user can.
 *
 * Reads:   the user's files, to find the program
 * Writes:  nothing
 * Outside: the program
 * Arguments: keep, or sweep: kills what is left of a program whose keeper was killed
 *
 * Not to be traced by other processes of its user, of which the program is one. */
#include "clock.h"
#include "group.h"
#include "instance.h"
#include "io.h"
#include "keep.h"
#include "keeper_line.h"
#include "owner_line.h"
#include "recipe.h"

#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

enum {
	LINE = OWNER_FIRST_FD,
	WORKSPACE, /* open, and its user's */
	AGAIN_MS = 20,
};

/* ---- keep ---- */

/* Of the user, as the user database has it; nothing that the system has. */
static int make_environment(struct err *e)
{
	const struct passwd *user = getpwuid(getuid());
	const char *shell;

	if (!user)
		return err_set(e, ERR_INPUT, "user %u has no account on this machine",
		               (unsigned)getuid());
	shell = user->pw_shell && *user->pw_shell ? user->pw_shell : "/bin/sh";
	if (clearenv() || setenv("HOME", user->pw_dir, 1) || setenv("USER", user->pw_name, 1) ||
	    setenv("LOGNAME", user->pw_name, 1) || setenv("SHELL", shell, 1) ||
	    setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1))
		return err_errno(e, ERR_AGAIN, "cannot make an environment");
	return 0;
}

static bool take_message(int fds[KEEPER_FDS])
{
	char byte;

	return io_receive_fds(LINE, &byte, sizeof(byte), fds, KEEPER_FDS, 0) == sizeof(byte) &&
	       fds[KEEPER_FDS - 1] >= 0;
}

static int read_recipe(int fd, struct recipe *r, struct err *e)
{
	OWNED(char_ptr) char *bytes = NULL;
	struct stat about;

	if (fstat(fd, &about) || about.st_size > RECIPE_BYTES)
		return err_set(e, ERR_INPUT, "what is to be started is too long");
	bytes = xcalloc(1, (size_t)about.st_size + 1);
	if (pread(fd, bytes, (size_t)about.st_size, 0) != about.st_size)
		return err_errno(e, ERR_AGAIN, "cannot read what is to be started");
	return recipe_read(bytes, (size_t)about.st_size, r, e);
}

static int hold(const int fds[KEEPER_FDS], const struct recipe *r, struct launch *l,
                struct keeper_hello *h, struct err *e)
{
	OWNED(made) struct made made = { .plan = { .argv = NULL } };

	if (make_environment(e) || recipe_follow(r, &made, e))
		return -1;
	if (fchdir(WORKSPACE))
		return err_errno(e, ERR_INPUT, "cannot enter the workspace %s", r->workspace);
	made.plan.directory = NULL;
	if (group_adopt(NULL))
		return err_errno(e, ERR_AGAIN, "cannot adopt what the program leaves behind");
	if (launch_take(l, &fds[1], &made.plan, e))
		return -1;
	h->pid = l->pid;
	h->started = l->started;
	(void)snprintf(h->holds, sizeof(h->holds), "%s", str_text(&made.fenced.holds));
	return 0;
}

static int keep(void)
{
	OWNED(recipe) struct recipe r = { .profile = NULL };
	struct keeper_hello h = { .pid = 0 };
	struct launch l = LAUNCH_INIT;
	struct err e = { 0 };
	int fds[KEEPER_FDS];

	(void)fcntl(WORKSPACE, F_SETFD, FD_CLOEXEC);
	if (!take_message(fds))
		return EX_USAGE;
	if (read_recipe(fds[0], &r, &e) || hold(fds, &r, &l, &h, &e)) {
		h.may_try_again = e.kind == ERR_AGAIN;
		(void)snprintf(h.why, sizeof(h.why), "%.*s", (int)sizeof(h.why) - 1, e.text);
	}
	for (size_t i = 0; i < COUNT(fds); i++)
		(void)close(fds[i]);
	(void)close(WORKSPACE);
	if (send(LINE, &h, sizeof(h), MSG_NOSIGNAL) != (ssize_t)sizeof(h) || !h.pid)
		return EX_OK; /* and a program dies with us */
	keep_to_end(LINE, l.pid, l.ended);
}

/* ---- sweep ---- */

static void kill_keeper(const struct keeper_rest *rest)
{
	int fd = rest->keeper > 1 ? pidfd_open(rest->keeper, 0) : -1;

	if (fd >= 0 && group_started(rest->keeper) == rest->keeper_started)
		(void)pidfd_send_signal(fd, SIGKILL, NULL, 0);
	io_shut(&fd);
}

/* The keeper first: it would count as one that is left, and start nothing anew. */
static int sweep(void)
{
	int64_t give_up = clock_monotonic_ms() + GROUP_END_MS;
	struct keeper_rest rest;
	int32_t killed = 0, left;

	if (recv(LINE, &rest, sizeof(rest), 0) != (ssize_t)sizeof(rest))
		return EX_USAGE;
	rest.mark[sizeof(rest.mark) - 1] = '\0';
	kill_keeper(&rest);
	while ((left = group_kill_marked(rest.pid, rest.started, rest.mark)) > 0 &&
	       clock_monotonic_ms() < give_up) {
		killed += left;
		(void)poll(NULL, 0, AGAIN_MS);
	}
	if (left > 0)
		killed = -1;
	(void)send(LINE, &killed, sizeof(killed), MSG_NOSIGNAL);
	return EX_OK;
}

int main(int argc, char **argv)
{
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	if (instance_says_version(argc, argv, "keeper"))
		return EX_OK;
	if (argc != 2 || !io_has_messages(LINE)) {
		(void)fputs(
		    "keeper: keeps what runs as the owner of a workspace; as-owner starts it\n",
		    argc > 1 ? stdout : stderr);
		return argc > 1 ? EX_OK : EX_USAGE;
	}
	(void)fcntl(LINE, F_SETFD, FD_CLOEXEC);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	(void)signal(SIGPIPE, SIG_IGN);
	(void)setsid(); /* a signal to as-owner's group is not for it */
	return strcmp(argv[1], "sweep") == 0 ? sweep() : keep();
}
