/* desk: lets the operators of a system that serves several users answer. What an operator types to
 * agent-intercom-ctl comes here, on <shared.directory>/desk.sock, with stdin, stdout and stderr
 * (desk_line.h); this process runs agent-intercom-ctl with it as the system's user, in the name of
 * the operator that the kernel names.
 *
 * Who may: root, our own user, and who is in the group shared.operators. What such a ctl does not
 * do is its own affair: it names no other system, reads no file, and starts no editor.
 *
 * Reads setting; writes no table (the ctl that it runs does). Outside: that socket, and processes
 * of agent-intercom-ctl. If it is killed, they end with it; what they have committed stays. */
#include "clock.h"
#include "desk_line.h"
#include "group_id.h"
#include "io.h"
#include "limit.h"
#include "log.h"
#include "paths.h"
#include "reach.h"
#include "shared.h"
#include "signals.h"
#include "user_name.h"
#include "variables.h"
#include "worker.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

enum {
	CALLERS_MOST = 64,
	CALLERS_OF_USER = 16, /* so that no operator takes all places */
	TYPING_MS = 10000, /* within which a caller must say what it wants */
	LEAVE_MS = 3000, /* after a signal, until it is killed */
	AGAIN_MS = 5000, /* after which it is looked up again whether a user is an operator */
	EVENTS = 16,
};

struct caller {
	int fd; /* -1: there is none */
	int pidfd; /* of its agent-intercom-ctl; -1: it does not run yet */
	pid_t pid;
	uid_t uid;
	int64_t until_ms; /* monotonic: it is cut, or its process killed; INT64_MAX: never */
	int64_t again_ms; /* monotonic: its user is looked up again; INT64_MAX: never */
	bool gone; /* its process is ending without it */
};

struct desk {
	struct worker w;
	int listener, epoll;
	gid_t operators;
	char *program; /* agent-intercom-ctl */
	struct caller callers[CALLERS_MOST];
};

static const struct caller NOBODY = {
	.fd = -1, .pidfd = -1, .until_ms = INT64_MAX, .again_ms = INT64_MAX
};

/* ---- a caller ---- */

static void forget(struct caller *c)
{
	io_shut(&c->fd);
	io_shut(&c->pidfd);
	*c = NOBODY;
}

static void say(const struct caller *c, const void *bytes, size_t length)
{
	if (c->fd >= 0)
		(void)send(c->fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void refuse(struct caller *c, const char *why)
{
	char text[200];
	int length = snprintf(text, sizeof(text), "%c%s", DESK_LINE_REFUSED, why);

	say(c, text, (size_t)length);
	forget(c);
}

static bool watch(struct desk *d, int fd, struct caller *c)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = c };

	return epoll_ctl(d->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

/* ---- its process ---- */

/* Ours, which the supervisor has cleaned, less what is the worker's own. */
static char **environment_for(const struct desk *d, const struct caller *c, bool is_plain)
{
	static char who[USER_OPERATOR_BYTES + sizeof(DESK_LINE_OPERATOR) + 1];
	static char database[PATH_MAX + sizeof(DESK_LINE_DATABASE) + 1];
	static char plain[] = "NO_COLOR=1";
	char name[USER_OPERATOR_BYTES];
	char **out;
	size_t kept;

	(void)unsetenv("INTERCOM_PARENT");
	out = variables_pick(environ, NULL, 0, 3);
	kept = variables_count(out);
	user_operator_id(c->uid, name);
	(void)snprintf(who, sizeof(who), "%s=%s", DESK_LINE_OPERATOR, name);
	(void)snprintf(database, sizeof(database), "%s=%.4095s", DESK_LINE_DATABASE, d->w.db_path);
	out[kept++] = who;
	out[kept++] = database;
	if (is_plain)
		out[kept++] = plain;
	return out;
}

__attribute__((noreturn)) static void become(const struct desk *d, const int files[DESK_LINE_FILES],
                                             char **argv, char **environment, pid_t parent)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EX_TEMPFAIL);
	(void)setsid();
	for (int i = 0; i < DESK_LINE_FILES; i++)
		(void)dup2(files[i], i); /* those that came have higher numbers */
	(void)close_range(DESK_LINE_FILES, ~0U, 0);
	signals_reset();
	(void)execve(d->program, argv, environment);
	_exit(EX_OSERR);
}

static void begin(struct desk *d, struct caller *c, const int files[DESK_LINE_FILES], char **argv,
                  bool is_plain)
{
	char **environment = environment_for(d, c, is_plain);
	pid_t parent = getpid();

	c->pid = fork();
	if (c->pid == 0)
		become(d, files, argv, environment, parent);
	free(environment);
	c->until_ms = INT64_MAX;
	c->pidfd = c->pid > 0 ? pidfd_open(c->pid, 0) : -1;
	if (c->pidfd >= 0 && watch(d, c->pidfd, c))
		return;
	if (c->pid > 0) {
		(void)kill(c->pid, SIGKILL);
		(void)waitpid(c->pid, NULL, 0);
	}
	refuse(c, "the system cannot start another process now; try again");
}

/* ---- what it wants ---- */

/* Its texts, at most DESK_LINE_ARGUMENTS; the number, or 0. */
static size_t split(char *bytes, size_t length, char **words)
{
	size_t count = 0;

	for (size_t i = 0; i < length; i += strlen(bytes + i) + 1) {
		if (count == DESK_LINE_ARGUMENTS)
			return 0;
		words[count++] = bytes + i;
	}
	return count;
}

static bool needs_group(uid_t uid)
{
	return uid != 0 && uid != geteuid();
}

/* Whether its user is an operator now, whoever was when it came. */
static bool is_operator(const struct desk *d, uid_t uid)
{
	return !needs_group(uid) || group_id_keeps(d->operators, uid);
}

static const char NO_OPERATOR[] = "your user is not in the group of the operators";

static void take_wish(struct desk *d, struct caller *c)
{
	static char bytes[DESK_LINE_BYTES], program[] = "agent-intercom-ctl";
	static char *words[DESK_LINE_ARGUMENTS + 1];
	int files[DESK_LINE_FILES];
	ssize_t n =
	    io_receive_fds(c->fd, bytes, sizeof(bytes), files, DESK_LINE_FILES, MSG_DONTWAIT);
	bool is_whole = n > 0 && !bytes[n - 1] && files[DESK_LINE_FILES - 1] >= 0;
	size_t count = is_whole ? split(bytes, (size_t)n, words) : 0;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (count < 2 || strcmp(words[0], DESK_LINE_VERSION) != 0) {
		refuse(c, "agent-intercom-ctl is of another version than the system");
	} else if (!is_operator(d, c->uid)) {
		refuse(c, NO_OPERATOR);
	} else {
		bool is_plain = strcmp(words[1], DESK_LINE_PLAIN) == 0;

		words[1] = program;
		words[count] = NULL;
		begin(d, c, files, words + 1, is_plain);
	}
	for (int i = 0; i < DESK_LINE_FILES; i++)
		io_shut(&files[i]);
}

/* ---- while it runs ---- */

static bool is_passed_on(int number)
{
	return number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT ||
	       number == SIGWINCH;
}

/* Its caller has got a signal, or is gone. */
static void hear(struct caller *c)
{
	unsigned char number;
	ssize_t n = recv(c->fd, &number, sizeof(number), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n == sizeof(number) && is_passed_on(number)) {
		(void)pidfd_send_signal(c->pidfd, number, NULL, 0);
		return;
	}
	c->gone = true;
	c->until_ms = clock_monotonic_ms() + LEAVE_MS;
	(void)pidfd_send_signal(c->pidfd, SIGTERM, NULL, 0);
	(void)close(c->fd);
	c->fd = -1;
}

/* Whether its process has ended; then its caller is told, and forgotten. */
static bool reap(struct caller *c)
{
	unsigned char told[] = { DESK_LINE_EXIT, EXIT_FAILURE };
	int status;

	if (waitpid(c->pid, &status, WNOHANG) != c->pid)
		return false;
	told[1] = (unsigned char)(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	say(c, told, sizeof(told));
	forget(c);
	return true;
}

static void serve(struct desk *d, struct caller *c)
{
	if (c->pidfd >= 0 && reap(c))
		return;
	if (c->pidfd >= 0 && c->fd >= 0)
		hear(c);
	else if (c->fd >= 0)
		take_wish(d, c);
}

/* ---- who comes ---- */

static bool may_answer(const struct desk *d, int fd, uid_t *ret_uid)
{
	struct ucred who;
	socklen_t size = sizeof(who);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size))
		return false;
	*ret_uid = who.uid;
	return !needs_group(who.uid) ||
	       (group_id_has_peer(d->operators, fd) && is_operator(d, who.uid));
}

/* A place for one more command of this user; NULL: there is none. */
static struct caller *free_place(struct desk *d, uid_t uid)
{
	struct caller *place = NULL;
	int theirs = 0;

	for (size_t i = 0; i < COUNT(d->callers); i++) {
		struct caller *c = &d->callers[i];

		if (c->fd < 0 && c->pidfd < 0)
			place = c;
		else
			theirs += c->uid == uid;
	}
	return needs_group(uid) && theirs >= CALLERS_OF_USER ? NULL : place;
}

static void meet(struct desk *d)
{
	struct caller refused = NOBODY, *c;
	uid_t uid = (uid_t)-1;
	bool may;
	int fd = accept4(d->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	may = may_answer(d, fd, &uid);
	c = may ? free_place(d, uid) : NULL;
	if (c) {
		*c = (struct caller){ .fd = fd,
			              .pidfd = -1,
			              .uid = uid,
			              .until_ms = clock_monotonic_ms() + TYPING_MS,
			              .again_ms = needs_group(uid) ? clock_monotonic_ms() + AGAIN_MS
			                                           : INT64_MAX };
		if (!watch(d, fd, c))
			forget(c);
		return;
	}
	refused.fd = fd;
	log_warn("refused a caller that runs as user %u", (unsigned)uid);
	refuse(&refused, may ? "too many commands run at once; try again" : NO_OPERATOR);
}

/* ---- its life ---- */

/* A command may run for days (watch), and its user leave the operators meanwhile. */
static void look_up_again(struct desk *d, struct caller *c, int64_t now)
{
	c->again_ms = now + AGAIN_MS;
	if (c->pidfd < 0 || c->gone || is_operator(d, c->uid))
		return;
	log_warn("the command of user %u ends: it is no operator any longer", (unsigned)c->uid);
	c->gone = true;
	c->until_ms = now + LEAVE_MS;
	(void)pidfd_send_signal(c->pidfd, SIGTERM, NULL, 0);
}

static void end_late(struct desk *d)
{
	int64_t now = clock_monotonic_ms();

	for (size_t i = 0; i < COUNT(d->callers); i++) {
		struct caller *c = &d->callers[i];

		if (now >= c->again_ms)
			look_up_again(d, c, now);
		if (now < c->until_ms)
			continue;
		if (c->pidfd < 0)
			refuse(c, "no command came in time");
		else
			(void)pidfd_send_signal(c->pidfd, SIGKILL, NULL, 0);
		c->until_ms = INT64_MAX;
	}
}

static void set_alarm(struct desk *d)
{
	int64_t due = INT64_MAX, now = clock_monotonic_ms();

	for (size_t i = 0; i < COUNT(d->callers); i++)
		due = clock_earlier(due,
		                    clock_earlier(d->callers[i].until_ms, d->callers[i].again_ms));
	d->w.due_ms = due == INT64_MAX ? INT64_MAX : clock_now_ms() + due - now;
}

static void look(struct desk *d)
{
	struct epoll_event events[EVENTS];
	int n = epoll_wait(d->epoll, events, EVENTS, 0);

	for (int i = 0; i < n; i++) {
		struct caller *c = events[i].data.ptr;

		if (c)
			serve(d, c);
		else
			meet(d);
	}
	end_late(d);
}

static int run(struct desk *d, struct err *e)
{
	do {
		look(d);
		set_alarm(d);
		if (worker_heartbeat(&d->w, e))
			return -1;
	} while (!worker_wait(&d->w, false));
	return 0;
}

static int find_program(struct desk *d, struct err *e)
{
	OWNED(str) struct str path = { 0 };

	if (paths_bin(&path, e))
		return -1;
	str_add(&path, "/agent-intercom-ctl");
	d->program = str_take(&path);
	return 0;
}

static int listen_to_operators(struct desk *d, struct err *e)
{
	struct shared_door door = { .type = SOCK_SEQPACKET };
	int dir, got = shared_open(&d->w.store, &dir, e);

	if (got == 0)
		return err_set(e, ERR_INPUT, "desk: shared.directory is not set");
	if (got < 0)
		return -1;
	if (shared_group(&d->w.store, "shared.operators", &d->operators, e) == 0) {
		door.group = d->operators;
		d->listener = shared_listen(dir, REACH_OPERATORS, &door, e);
	}
	(void)close(dir);
	return d->listener < 0 ? -1 : 0;
}

static int open_desk(struct desk *d, int argc, char **argv, struct err *e)
{
	for (size_t i = 0; i < COUNT(d->callers); i++)
		d->callers[i] = NOBODY;
	if (worker_open(&d->w, "desk", "Runs agent-intercom-ctl for operators of other users.",
	                argc, argv, e))
		return -1;
	limit_to(RLIMIT_CORE, 0);
	d->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (d->epoll < 0)
		return err_errno(e, ERR_AGAIN, "cannot watch the socket for operators");
	d->w.extra_fd = d->epoll; /* closed with it */
	if (find_program(d, e) || listen_to_operators(d, e))
		return -1;
	if (!watch(d, d->listener, NULL))
		return err_errno(e, ERR_AGAIN, "cannot watch the socket for operators");
	return worker_ready(&d->w, NULL, e);
}

int main(int argc, char **argv)
{
	static struct desk d = { .listener = -1, .epoll = -1 };
	struct err e = { 0 };

	if (open_desk(&d, argc, argv, &e) == 0)
		(void)run(&d, &e);
	for (size_t i = 0; i < COUNT(d.callers); i++)
		forget(&d.callers[i]);
	io_shut(&d.listener);
	free(d.program);
	worker_close(&d.w, &e);
	return worker_exit(&d.w, &e);
}
