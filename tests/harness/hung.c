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

static char mounted[700]; /* "": nothing is */
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
	(void)kill(server, SIGKILL); /* with its descriptor goes the connection */
	(void)waitpid(server, NULL, 0);
	(void)umount2(mounted, MNT_DETACH);
	mounted[0] = '\0';
}

bool hung_mount(const char *folder)
{
	char options[100];
	int fd = may_mount() ? open("/dev/fuse", O_RDWR | O_CLOEXEC) : -1;

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

/* Its parent, its state and whether it is called hand; 0: there is no such process. */
static pid_t parent_of(pid_t pid, char *state, bool *is_hand)
{
	char path[60], text[600] = "";
	const char *at;
	int fd, parent = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	(void)close(fd);
	at = strrchr(text, ')');
	*is_hand = strstr(text, "(hand)") != NULL;
	if (!at || sscanf(at, ") %c %d", state, &parent) != 2)
		return 0;
	return parent;
}

/* Counts the children of parent that are called hand and have not ended; the last in *ret. */
static int hands_below(pid_t parent, pid_t *ret)
{
	DIR *all = opendir("/proc");
	const struct dirent *one;
	int count = 0;

	while (all && (one = readdir(all)) != NULL) {
		pid_t pid = (pid_t)atoi(one->d_name);
		bool is_hand = false;
		char state = 'Z';

		if (pid > 0 && parent_of(pid, &state, &is_hand) == parent && is_hand &&
		    state != 'Z' && state != 'X') {
			*ret = pid;
			count++;
		}
	}
	if (all)
		(void)closedir(all);
	return count;
}

pid_t hand_of(pid_t front)
{
	pid_t pid = 0;

	return hands_below(front, &pid) ? pid : 0;
}

int hand_jobs_of(pid_t front)
{
	pid_t first = hand_of(front), pid;

	return first ? hands_below(first, &pid) : 0;
}

pid_t hand_job_of(pid_t front)
{
	for (int64_t end = agent_ms() + AGENT_PATIENCE_MS; agent_ms() < end;
	     (void)poll(NULL, 0, 1)) {
		pid_t first = hand_of(front), pid;

		if (first && hands_below(first, &pid) > 0)
			return pid;
	}
	ck_abort_msg("no job is at work");
	return 0;
}

bool is_stopped(pid_t pid)
{
	bool is_hand;
	char state = '?';

	return parent_of(pid, &state, &is_hand) && (state == 'T' || state == 't');
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
