#include "process_name.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ANCESTORS_MAX = 1000 };

struct process_life process_name_life(pid_t pid)
{
	struct process_life life = { .parent = 0 };
	char path[40], stat[1024];
	const char *name, *end;
	ssize_t n = -1;
	int parent, fd;
	char state;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, stat, sizeof(stat) - 1); /* it comes in one piece */
		(void)close(fd);
	}
	if (n < 0)
		return life;
	stat[n] = '\0';
	name = strchr(stat, '(');
	end = strrchr(stat, ')'); /* the name before it may contain anything */
	/* 20 fields after the name: its state is the first, the parent the second, starttime the
	 * 20th. */
	if (!name || !end ||
	    sscanf(end + 1,
	           " %c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
	           "%*s %llu",
	           &state, &parent, &life.began) != 3 ||
	    state == 'Z' || state == 'X')
		return (struct process_life){ .parent = 0 };
	life.parent = (pid_t)parent;
	(void)snprintf(life.command, sizeof(life.command), "%.*s", (int)(end - name - 1), name + 1);
	return life;
}

static const char *boot(void)
{
	static char id[9];
	FILE *file = *id ? NULL : fopen("/proc/sys/kernel/random/boot_id", "re");

	if (file) {
		if (!fgets(id, sizeof(id), file))
			id[0] = '\0';
		(void)fclose(file);
	}
	return id;
}

void process_name_write(pid_t pid, const struct process_life *life, char ret[PROCESS_NAME_BYTES])
{
	(void)snprintf(ret, PROCESS_NAME_BYTES, "%d.%llu.%s", (int)pid, life->began, boot());
}

bool process_name_of(pid_t pid, char ret[PROCESS_NAME_BYTES])
{
	const struct process_life life = process_name_life(pid);

	process_name_write(pid, &life, ret);
	return life.began != 0;
}

bool process_name_runs(const char *wanted)
{
	char now[PROCESS_NAME_BYTES];

	return process_name_of((pid_t)strtol(wanted, NULL, 10), now) && strcmp(now, wanted) == 0;
}

/* A parent that is younger than its child has the pid of one that has ended. */
bool process_name_descends(const char *name, const char *start)
{
	pid_t pid = (pid_t)strtol(name, NULL, 10);
	unsigned long long younger = ULLONG_MAX;
	char one[PROCESS_NAME_BYTES];

	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		const struct process_life life = process_name_life(pid);

		if (!life.began || life.began > younger)
			return false;
		process_name_write(pid, &life, one);
		if (strncmp(one, start, strlen(start)) == 0)
			return true;
		younger = life.began;
		pid = life.parent;
	}
	return false;
}
