#include "hung.h"

#include "agent.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char mounted[700]; /* "": nothing is mounted */
static pid_t server;

/* ---- a file system that never answers ---- */

static void answer_init(int fd, const struct fuse_in_header *in)
{
	struct fuse_init_out init = { .major = FUSE_KERNEL_VERSION,
		                      .minor = FUSE_KERNEL_MINOR_VERSION,
		                      .max_write = 4096 };
	struct fuse_out_header head = { .len = sizeof(head) + sizeof(init), .unique = in->unique };
	struct iovec parts[] = { { &head, sizeof(head) }, { &init, sizeof(init) } };

	(void)!writev(fd, parts, 2);
}

static void serve_nothing(int fd)
{
	static char request[1 << 20];

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(fd, request, sizeof(request)) > 0 || errno == EINTR || errno == ENOENT) {
		const struct fuse_in_header *in = (const struct fuse_in_header *)(void *)request;

		if (in->opcode == FUSE_INIT)
			answer_init(fd, in);
	}
	_exit(0);
}

void hung_unmount(void)
{
	if (!mounted[0])
		return;
	(void)kill(server, SIGKILL); /* closing its descriptor ends the connection */
	(void)waitpid(server, NULL, 0);
	(void)umount2(mounted, MNT_DETACH);
	mounted[0] = '\0';
}

bool hung_mount(const char *folder)
{
	char options[100];
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return false;
	(void)snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", fd);
	if (mount("hung", folder, "fuse", MS_NOSUID | MS_NODEV, options)) {
		(void)close(fd);
		return false;
	}
	(void)snprintf(mounted, sizeof(mounted), "%s", folder);
	(void)atexit(hung_unmount);
	server = fork();
	if (server == 0)
		serve_nothing(fd);
	(void)close(fd);
	return true;
}

/* ---- processes ---- */

struct process {
	pid_t pid, parent;
	char state;
	long nice;
	bool is_big;
	bool is_hand;
};

/* False: there is no such process. */
static bool look_at(pid_t pid, struct process *p)
{
	char path[60], text[600] = "";
	const char *at;
	int fd;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	(void)close(fd);
	at = strrchr(text, ')');
	p->pid = pid;
	p->is_hand = strstr(text, "(hand)") != NULL;
	return at &&
	       sscanf(at, ") %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %ld",
	              &p->state, &p->parent, &p->nice) == 3;
}

/* Counts the children of parent that are called hand and have not ended; *ret is one of them,
 * preferably one with a big job. */
static int hands_below(pid_t parent, struct process *ret)
{
	DIR *all = opendir("/proc");
	const struct dirent *one;
	struct process first = { .nice = 0 };
	int count = 0;

	(void)look_at(parent, &first);
	while (all && (one = readdir(all)) != NULL) {
		struct process p;

		if (atoi(one->d_name) <= 0 || !look_at((pid_t)atoi(one->d_name), &p) ||
		    p.parent != parent || !p.is_hand || p.state == 'Z' || p.state == 'X')
			continue;
		p.is_big = p.nice > first.nice;
		if (!count++ || p.is_big)
			*ret = p;
	}
	if (all)
		(void)closedir(all);
	return count;
}

pid_t hand_of(pid_t front)
{
	struct process p;

	return hands_below(front, &p) ? p.pid : 0;
}

int hand_jobs_of(pid_t front)
{
	pid_t first = hand_of(front);
	struct process p;

	return first ? hands_below(first, &p) : 0;
}

pid_t hand_any_job_of(pid_t front)
{
	pid_t first = hand_of(front);
	struct process p;

	return first && hands_below(first, &p) ? p.pid : 0;
}

pid_t hand_job_of(pid_t front)
{
	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS; agent_ms() < end;
	     (void)poll(NULL, 0, 1)) {
		pid_t first = hand_of(front);
		struct process p;

		if (first && hands_below(first, &p) > 0 && p.is_big)
			return p.pid;
	}
	ck_abort_msg("no job is at work");
	return 0;
}

bool is_stopped(pid_t pid)
{
	struct process p;

	return look_at(pid, &p) && (p.state == 'T' || p.state == 't');
}

/* "soft hard" of the limit; "": it is unlimited, or the process has ended. */
static void read_limit(pid_t pid, const char *name, char have[100])
{
	char path[60], line[200];
	unsigned long soft, hard;
	FILE *f;

	have[0] = '\0';
	(void)snprintf(path, sizeof(path), "/proc/%d/limits", (int)pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, name, strlen(name)) == 0 &&
		    sscanf(line + strlen(name), "%lu %lu", &soft, &hard) == 2)
			(void)snprintf(have, 100, "%lu %lu", soft, hard);
	if (f)
		(void)fclose(f);
}

void gets_limit(pid_t pid, const char *name, unsigned long most)
{
	char want[100], have[100];

	(void)snprintf(want, sizeof(want), "%lu %lu", most, most);
	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS;; (void)poll(NULL, 0, 1)) {
		read_limit(pid, name, have);
		if (strcmp(have, want) == 0)
			return;
		ck_assert_msg(agent_ms() < end, "%s: '%s', not '%s'", name, have, want);
	}
}

long memory_of(pid_t pid)
{
	char path[60], line[200];
	long kib = 0;
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	f = fopen(path, "r");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "Pss: %ld kB", &kib) == 1)
			break;
	(void)fclose(f);
	return kib * 1024;
}

/* Whether a process has at most so much more than before. */
static bool has_within(int mib, long before, pid_t pid)
{
#ifdef __SANITIZE_ADDRESS__
	(void)mib;
	(void)before;
	(void)pid;
	return true;
#else
	return memory_of(pid) - before <= (long)mib << 20;
#endif
}

void memory_is_within(int mib, long before, pid_t pid)
{
	ck_assert_msg(has_within(mib, before, pid), "%ld KiB more, not %d MiB",
	              (memory_of(pid) - before) >> 10, mib);
}

void memory_gets_within(int mib, long before, pid_t pid)
{
	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS; !has_within(mib, before, pid);
	     (void)poll(NULL, 0, 10))
		ck_assert_msg(agent_ms() < end, "%ld KiB more, not %d MiB",
		              (memory_of(pid) - before) >> 10, mib);
}

static int nameless_files_of(pid_t pid)
{
	char folder[60], path[400], target[400];
	const struct dirent *one;
	int count = 0;
	DIR *d;

	(void)snprintf(folder, sizeof(folder), "/proc/%d/fd", (int)pid);
	d = opendir(folder);
	ck_assert_ptr_nonnull(d);
	while ((one = readdir(d)) != NULL) {
		ssize_t n;

		(void)snprintf(path, sizeof(path), "%s/%.300s", folder, one->d_name);
		n = readlink(path, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = '\0';
		count += strstr(target, "/#") && strstr(target, " (deleted)");
	}
	(void)closedir(d);
	return count;
}

void gets_nameless_files(pid_t pid, int count)
{
	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS; nameless_files_of(pid) != count;
	     (void)poll(NULL, 0, 10))
		ck_assert_msg(agent_ms() < end, "%d files without a name, not %d",
		              nameless_files_of(pid), count);
}
