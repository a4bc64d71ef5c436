/* as-owner: starts processes as the owner of a workspace, in a system that serves several users.
 * It is the only one with rights of its own: CAP_SETUID and CAP_SETGID, from its systemd unit. It
 * has no database and no network, and executes only what is beside it (the table WISH_KINDS).
 *
 * Only processes of the service's user may ask (SO_PEERCRED). What they get is a process of a user
 * in the group of the agents, never of root, of the service or of as-owner, with a clean
 * environment; if its kind works in a workspace, that must belong to the user. The child does all
 * of that (child.c), so that a user database or a disk that does not answer holds up nobody else.
 *
 * Reads:   the user database
 * Writes:  nothing
 * Outside: the socket that systemd hands over (descriptor 3), and the processes
 * Arguments: --service USER --agents GROUP [--operators GROUP] [--starts files|agents]
 *
 * Two of them run, since what is started is confined by the unit, too: one for file work (files),
 * which needs no network and executes nothing but our own programs; one for agents and commands.
 *
 * It cannot signal what it has started, which ends when the asker closes its socket to it. If
 * as-owner is killed, its children go on; the next one does not know of them. */
#include "activation_fds.h"
#include "as_owner.h"
#include "group_id.h"
#include "instance.h"
#include "io.h"
#include "limit.h"
#include "log.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

enum {
	CALLERS_MOST = 256, /* processes, and askers that have said nothing yet */
	USER_MOST =
	    32, /* of one user, so that one who keeps them from ending cannot hold up the others */
	EVENTS = 16,
};

struct caller {
	int fd; /* -1: it is gone */
	int pidfd; /* -1: there is no process */
	pid_t pid;
	uid_t uid;
};

struct owner {
	struct parties who;
	char programs[PATH_MAX]; /* the folder of as-owner */
	int listener, epoll, signals;
	struct caller callers[CALLERS_MOST];
};

static const struct caller NOBODY = { .fd = -1, .pidfd = -1 };

/* ---- a caller ---- */

static void hang_up(struct caller *c)
{
	io_shut(&c->fd);
}

static void forget(struct caller *c)
{
	hang_up(c);
	io_shut(&c->pidfd);
	*c = NOBODY;
}

static void refuse(struct caller *c, const char *why)
{
	struct owner_said said = { .what = OWNER_REFUSED };

	(void)snprintf(said.text, sizeof(said.text), "%s", why);
	said_send(c->fd, &said, -1);
	log_warn("refused: %s", why);
	forget(c);
}

static bool watch(struct owner *o, int fd, void *what)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = what };

	return epoll_ctl(o->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

/* ---- its wish ---- */

static size_t count_of(const struct owner *o, uid_t uid)
{
	size_t count = 0;

	for (size_t i = 0; i < COUNT(o->callers); i++)
		count += o->callers[i].pidfd >= 0 && o->callers[i].uid == uid;
	return count;
}

static void begin(struct owner *o, struct caller *c, const struct wish *w)
{
	struct owner_said started = { .what = OWNER_STARTED };
	pid_t pid;

	if (count_of(o, w->uid) >= USER_MOST) {
		refuse(c, "too many processes of this user run already");
		return;
	}
	c->uid = w->uid;
	pid = fork();
	if (pid == 0)
		child_become(&o->who, w, c->fd, o->programs);
	c->pid = pid;
	c->pidfd = pid > 0 ? pidfd_open(pid, 0) : -1;
	if (c->pidfd < 0 || !watch(o, c->pidfd, c)) {
		/* Where it has become somebody else already: its asker closes its sockets. */
		if (pid > 0)
			(void)kill(pid, SIGKILL);
		refuse(c, "no process can be started now; try again");
		c->pid = pid; /* reap_unwatched waits for it */
		return;
	}
	started.number = pid;
	said_send(c->fd, &started, c->pidfd);
}

static bool is_call(const char *bytes, ssize_t n)
{
	struct owner_wish head;

	if (n != sizeof(head))
		return false;
	memcpy(&head, bytes, sizeof(head));
	return head.kind == OWNER_CALL;
}

/* fds stay the caller's. */
static void answer(struct owner *o, struct caller *c, char *bytes, ssize_t n, const int *fds,
                   size_t fd_count)
{
	const struct owner_said here = { .what = OWNER_READY };
	struct wish w;
	const char *why;

	if (is_call(bytes, n)) {
		said_send(c->fd, &here, -1);
		forget(c);
		return;
	}
	why = n <= 0 ? "that is no wish" : wish_read(bytes, (size_t)n, fds, fd_count, &w);
	if (!why && WISH_KINDS[w.kind].is_agents != o->who.starts_agents)
		why = "that is started by the other as-owner";
	if (why)
		refuse(c, why);
	else
		begin(o, c, &w);
}

static void take_wish(struct owner *o, struct caller *c)
{
	static char bytes[OWNER_BYTES];
	int fds[OWNER_FDS];
	size_t fd_count = 0;
	ssize_t n = io_receive_fds(c->fd, bytes, sizeof(bytes), fds, OWNER_FDS, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	while (fd_count < OWNER_FDS && fds[fd_count] >= 0)
		fd_count++;
	answer(o, c, bytes, n, fds, fd_count);
	for (size_t i = 0; i < fd_count; i++)
		(void)close(fds[i]);
}

/* ---- its process ---- */

/* Whether it has ended; then its asker is told, and forgotten. */
static bool reap(struct caller *c)
{
	struct owner_said ended = { .what = OWNER_ENDED };
	int status;

	if (waitpid(c->pid, &status, WNOHANG) != c->pid)
		return false;
	ended.number = status;
	if (c->fd >= 0)
		said_send(c->fd, &ended, -1);
	forget(c);
	return true;
}

/* The kernel tells a parent, who need not see /proc. */
static bool is_stopped(const struct caller *c)
{
	siginfo_t about = { .si_pid = 0 };

	return waitid(P_PID, (id_t)c->pid, &about, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
	       about.si_pid == c->pid;
}

/* It began with our own policy and priority. */
static bool is_put_behind(const struct caller *c)
{
	return sched_getscheduler(c->pid) != sched_getscheduler(0) ||
	       getpriority(PRIO_PROCESS, (id_t)c->pid) > getpriority(PRIO_PROCESS, 0);
}

/* An asker with a process has one question, or ends. */
static void hear(struct caller *c)
{
	struct owner_said state = { .what = OWNER_STATE };
	char byte = 0;
	ssize_t n = recv(c->fd, &byte, sizeof(byte), MSG_DONTWAIT);

	if (n == sizeof(byte) && byte == OWNER_QUESTION) {
		state.number = is_stopped(c) || is_put_behind(c);
		said_send(c->fd, &state, -1);
	} else if (n >= 0 || (errno != EAGAIN && errno != EINTR)) {
		hang_up(c);
	}
}

static void serve(struct owner *o, struct caller *c)
{
	if (c->pidfd >= 0 && reap(c))
		return;
	if (c->pidfd >= 0 && c->fd >= 0)
		hear(c);
	else if (c->fd >= 0)
		take_wish(o, c);
}

/* ---- who comes ---- */

/* What could not be watched, and has ended meanwhile; it is not waited for here. */
static void reap_unwatched(struct owner *o)
{
	for (size_t i = 0; i < COUNT(o->callers); i++) {
		struct caller *c = &o->callers[i];

		if (c->pid > 0 && c->pidfd < 0 && waitpid(c->pid, NULL, WNOHANG) != 0)
			*c = NOBODY;
	}
}

static struct caller *free_place(struct owner *o)
{
	for (size_t i = 0; i < COUNT(o->callers); i++)
		if (o->callers[i].fd < 0 && o->callers[i].pid <= 0)
			return &o->callers[i];
	return NULL;
}

static void meet(struct owner *o)
{
	struct ucred peer = { .uid = (uid_t)-1 };
	socklen_t size = sizeof(peer);
	struct caller refused = NOBODY, *c;
	int fd = accept4(o->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	bool may;

	reap_unwatched(o);
	if (fd < 0)
		return;
	may = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
	      peer.uid == o->who.service;
	c = may ? free_place(o) : NULL;
	if (!c) {
		refused.fd = fd;
		refuse(&refused, may ? "too many processes run already"
		                     : "only the system that serves several users may ask");
		return;
	}
	*c = (struct caller){ .fd = fd, .pidfd = -1 };
	if (!watch(o, fd, c))
		forget(c);
}

/* ---- its life ---- */

static void run(struct owner *o)
{
	struct epoll_event events[EVENTS];

	for (;;) {
		int n = epoll_wait(o->epoll, events, EVENTS, -1);

		for (int i = 0; i < n; i++)
			if (events[i].data.ptr == &o->signals)
				return;
			else if (events[i].data.ptr == &o->listener)
				meet(o);
			else
				serve(o, events[i].data.ptr);
	}
}

static bool find_user(const char *name, uid_t *ret)
{
	const struct passwd *user = getpwnam(name);
	char *end;
	unsigned long number;

	errno = 0;
	number = strtoul(name, &end, 10);
	if (user)
		*ret = user->pw_uid;
	else if (!errno && *name >= '0' && *name <= '9' && !*end && number < (uid_t)-1)
		*ret = (uid_t)number;
	else
		log_error("there is no user '%.60s'", name);
	return user || *ret != (uid_t)-1;
}

static bool find_group(const char *name, gid_t *ret)
{
	struct err e = { 0 };

	if (group_id_find(name, ret, &e) == 0)
		return true;
	log_error("%s", e.text);
	return false;
}

static bool find_kinds(const char *name, bool *ret_agents)
{
	*ret_agents = strcmp(name, "agents") == 0;
	if (*ret_agents || strcmp(name, "files") == 0)
		return true;
	log_error("--starts takes files or agents");
	return false;
}

/* EX_OK, or why not. */
static int read_arguments(struct owner *o, int argc, char **argv)
{
	static const struct option OPTIONS[] = {
		{ "service", required_argument, NULL, 's' },
		{ "agents", required_argument, NULL, 'a' },
		{ "operators", required_argument, NULL, 'o' },
		{ "starts", required_argument, NULL, 't' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	o->who =
	    (struct parties){ .service = (uid_t)-1, .agents = (gid_t)-1, .operators = (gid_t)-1 };
	while ((option = getopt_long(argc, argv, "", OPTIONS, NULL)) >= 0) {
		bool good = option == 's'   ? find_user(optarg, &o->who.service)
		            : option == 'a' ? find_group(optarg, &o->who.agents)
		            : option == 'o' ? find_group(optarg, &o->who.operators)
		            : option == 't' ? find_kinds(optarg, &o->who.starts_agents)
		                            : false;

		if (option == '?')
			return EX_USAGE;
		if (!good)
			return EX_CONFIG;
		if (option == 'a')
			o->who.agents_name = optarg;
	}
	if (o->who.service != (uid_t)-1 && o->who.agents != (gid_t)-1 && optind == argc)
		return EX_OK;
	log_error("usage: as-owner --service USER --agents GROUP [--operators GROUP] "
	          "[--starts files|agents]");
	return EX_USAGE;
}

static bool is_listener(int fd)
{
	int listens = 0;
	socklen_t size = sizeof(listens);

	return io_has_messages(fd) &&
	       getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens;
}

static bool find_programs(struct owner *o)
{
	ssize_t n = readlink("/proc/self/exe", o->programs, sizeof(o->programs) - 1);
	char *slash = n > 0 ? strrchr(o->programs, '/') : NULL;

	if (slash)
		*slash = '\0';
	return slash;
}

static int open_all(struct owner *o)
{
	sigset_t ends;

	for (size_t i = 0; i < COUNT(o->callers); i++)
		o->callers[i] = NOBODY;
	o->listener = ACTIVATION_FIRST_FD;
	if (!is_listener(o->listener)) {
		log_error("as-owner is started by systemd, with a socket (SOCK_SEQPACKET)");
		return EX_USAGE;
	}
	(void)sigemptyset(&ends);
	(void)sigaddset(&ends, SIGTERM);
	(void)sigaddset(&ends, SIGINT);
	(void)sigprocmask(SIG_BLOCK, &ends, NULL);
	o->signals = signalfd(-1, &ends, SFD_CLOEXEC);
	o->epoll = epoll_create1(EPOLL_CLOEXEC);
	(void)fcntl(o->listener, F_SETFD, FD_CLOEXEC);
	(void)fcntl(o->listener, F_SETFL, O_NONBLOCK);
	if (o->signals < 0 || o->epoll < 0 || !find_programs(o) ||
	    !watch(o, o->signals, &o->signals) || !watch(o, o->listener, &o->listener)) {
		log_error("cannot start: %s", strerror(errno));
		return EX_OSERR;
	}
	return EX_OK;
}

int main(int argc, char **argv)
{
	static struct owner o;
	int status;

	log_open("as-owner", 0, LOG_LEVEL_INFO);
	if (instance_says_version(argc, argv, "as-owner"))
		return EX_OK;
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	limit_to(RLIMIT_CORE, 0);
	status = read_arguments(&o, argc, argv);
	if (status == EX_OK)
		status = open_all(&o);
	if (status == EX_OK)
		run(&o);
	return status;
}
