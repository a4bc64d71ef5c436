#include "group.h"

#include "err.h"
#include "str.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STAT_BYTES = 1024, READ_BYTES = 4096, MARK_BYTES = 200 };

struct process {
	pid_t pid, group, session;
	char state;
	int64_t started;
};

/* Fields of /proc/PID/stat; the name in brackets may contain blanks and brackets. */
static bool read_process(pid_t pid, struct process *ret)
{
	char path[40], text[STAT_BYTES];
	const char *rest;
	int group, session, fd;
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
	                    ") %c %*d %d %d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d"
	                    " %*d %*d %" SCNd64,
	                    &ret->state, &group, &session, &ret->started) != 4)
		return false;
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
	if (fd >= 0)
		(void)close(fd);
	for (const char *at = str_text(&all); at < str_text(&all) + all.length;
	     at += strlen(at) + 1)
		if (strcmp(at, variable) == 0)
			return true;
	return false;
}

int group_kill(pid_t pid, int64_t started, const char *session_id)
{
	char mark[MARK_BYTES];
	DIR *all = opendir("/proc");
	const struct dirent *entry;
	struct process p;
	bool ours = false, another = false;
	int count = 0;

	(void)snprintf(mark, sizeof(mark), "%s=%s", GROUP_MARK, session_id);
	while (all && pid > 1 && (entry = readdir(all)) != NULL) {
		if (!read_process((pid_t)strtol(entry->d_name, NULL, 10), &p) || p.group != pid ||
		    p.session != pid || p.state == 'Z')
			continue;
		count++;
		another = another || (p.pid == pid && p.started != started);
		ours = ours || p.pid == pid || (p.started >= started && has_variable(p.pid, mark));
	}
	if (all)
		(void)closedir(all);
	return ours && !another && kill(-pid, SIGKILL) == 0 ? count : 0;
}
