#include "group.h"

#include "clock.h"
#include "err.h"
#include "io.h"
#include "str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STAT_BYTES = 1024, READ_BYTES = 4096, MARK_BYTES = 200, END_TRY_MS = 5 };

struct process {
	pid_t pid, parent, group, session;
	char state;
	int64_t started;
};

/* Fields of /proc/PID/stat; the name in brackets may contain blanks and brackets. */
static bool read_process(pid_t pid, struct process *ret)
{
	char path[40], text[STAT_BYTES];
	const char *rest;
	int parent, group, session, fd;
	ssize_t n;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	text[n > 0 ? n : 0] = '\0';
	rest = strrchr(text, ')');
	*ret = (struct process){ .pid = pid };
	if (!rest || sscanf(rest,
	                    ") %c %d %d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d"
	                    " %*d %*d %" SCNd64,
	                    &ret->state, &parent, &group, &session, &ret->started) != 5)
		return false;
	ret->parent = parent;
	ret->group = group;
	ret->session = session;
	return true;
}

int64_t group_started(pid_t pid)
{
	struct process p;

	return read_process(pid, &p) ? p.started : 0;
}

/* Whether a process was started with this variable in its environment. */
static bool has_variable(pid_t pid, const char *variable)
{
	OWNED(str) struct str all = { 0 };
	char path[40], buffer[READ_BYTES];
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && (n = read(fd, buffer, sizeof(buffer))) > 0)
		str_add_bytes(&all, buffer, (size_t)n);
	io_shut(&fd);
	for (const char *at = str_text(&all); at < str_text(&all) + all.length;
	     at += strlen(at) + 1)
		if (strcmp(at, variable) == 0)
			return true;
	return false;
}

/* ---- what is left ---- */

/* Of one agent, in one look at all processes. */
struct rest {
	pid_t pid; /* of the group */
	int64_t started;
	char mark[MARK_BYTES];
	bool ours, another; /* its group is certainly that of the agent; it is certainly not */
	int in_group, strays;
};

/* What was started by hand belongs to a session whose leader has no mark. */
static bool is_stray(const struct rest *r, const struct process *p)
{
	struct process leader;

	return p->started >= r->started && has_variable(p->pid, r->mark) &&
	       (p->session == p->pid || !read_process(p->session, &leader) ||
	        has_variable(p->session, r->mark));
}

/* By a descriptor: its number may be somebody else's by now. */
static bool kill_one(const struct process *p)
{
	int fd = pidfd_open(p->pid, 0);
	bool killed = fd >= 0 && group_started(p->pid) == p->started &&
	              pidfd_send_signal(fd, SIGKILL, NULL, 0) == 0;

	io_shut(&fd);
	return killed;
}

static void look_at(struct rest *r, const struct process *p)
{
	if (p->state == 'Z' || p->pid <= 1 || p->pid == getpid())
		return;
	if (p->group == r->pid && p->session == r->pid) {
		r->in_group++;
		r->another = r->another || (p->pid == r->pid && p->started != r->started);
		r->ours = r->ours || p->pid == r->pid ||
		          (p->started >= r->started && has_variable(p->pid, r->mark));
	} else if (is_stray(r, p)) {
		r->strays += kill_one(p);
	}
}

int group_kill_marked(pid_t pid, int64_t started, const char *mark)
{
	struct rest r = { .pid = pid, .started = started };
	DIR *all = opendir("/proc");
	const struct dirent *entry;
	struct process p;

	(void)snprintf(r.mark, sizeof(r.mark), "%s", mark);
	while (all && pid > 1 && (entry = readdir(all)) != NULL)
		if (read_process((pid_t)strtol(entry->d_name, NULL, 10), &p))
			look_at(&r, &p);
	if (all)
		(void)closedir(all);
	return r.strays + (r.ours && !r.another && kill(-pid, SIGKILL) == 0 ? r.in_group : 0);
}

int group_kill(pid_t pid, int64_t started, const char *session_id)
{
	char mark[MARK_BYTES];

	(void)snprintf(mark, sizeof(mark), "%s=%s", GROUP_MARK, session_id);
	return group_kill_marked(pid, started, mark);
}

/* ---- what we inherit ---- */

static char spared[PATH_MAX]; /* "": nothing is */

int group_adopt(const char *program)
{
	(void)snprintf(spared, sizeof(spared), "%s", program ? program : "");
	return prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* Also where the file has been replaced since: the kernel says so behind its path. */
static bool is_spared(pid_t pid)
{
	char link[40], path[PATH_MAX];
	size_t length = strlen(spared);
	ssize_t n;

	(void)snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	n = length ? readlink(link, path, sizeof(path) - 1) : -1;
	path[n > 0 ? n : 0] = '\0';
	return n > 0 && strncmp(path, spared, length) == 0 &&
	       (!path[length] || strcmp(path + length, " (deleted)") == 0);
}

void group_reap(pid_t except)
{
	siginfo_t info = { 0 };

	while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0 &&
	       info.si_pid != except) {
		(void)waitpid(info.si_pid, NULL, WNOHANG);
		info = (siginfo_t){ 0 };
	}
}

/* Our children; nobody else has their numbers before we reap them. One that has ended counts: what
 * it left behind may have become our child after we had looked at that, and of its threads others
 * than the first may live. */
static int kill_children(void)
{
	DIR *all = opendir("/proc");
	const struct dirent *entry;
	struct process p;
	int count = 0;

	while (all && (entry = readdir(all)) != NULL)
		if (read_process((pid_t)strtol(entry->d_name, NULL, 10), &p) &&
		    p.parent == getpid() && !is_spared(p.pid))
			count += kill(p.pid, SIGKILL) == 0;
	if (all)
		(void)closedir(all);
	return count;
}

/* The kernel knows; a look at all processes is long. */
static bool has_child(void)
{
	siginfo_t info;

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

int group_end_adopted(int64_t limit_ms)
{
	int64_t give_up = clock_monotonic_ms() + limit_ms;
	int left;

	for (;;) {
		group_reap(0);
		left = has_child() ? kill_children() : 0;
		if (!left || clock_monotonic_ms() >= give_up)
			return left;
		(void)poll(NULL, 0, END_TRY_MS);
	}
}

static bool is_among(pid_t pid, const pid_t *all, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (all[i] == pid)
			return true;
	return false;
}

int group_end_others(const pid_t *except, size_t count)
{
	DIR *all = opendir("/proc");
	const struct dirent *entry;
	struct process p;
	int left = 0;

	while (all && (entry = readdir(all)) != NULL) {
		if (!read_process((pid_t)strtol(entry->d_name, NULL, 10), &p) ||
		    p.parent != getpid() || is_among(p.pid, except, count))
			continue;
		left += kill(p.pid, SIGKILL) == 0;
		(void)waitpid(p.pid, NULL, WNOHANG);
	}
	if (all)
		(void)closedir(all);
	return left;
}
