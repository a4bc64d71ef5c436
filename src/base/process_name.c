#include "process_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct process_life process_name_life(pid_t pid)
{
	struct process_life life = { .parent = 0 };
	char path[40], stat[1024];
	const char *name, *end;
	FILE *file;
	size_t n;
	int parent;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (!file)
		return life;
	n = fread(stat, 1, sizeof(stat) - 1, file);
	(void)fclose(file);
	stat[n] = '\0';
	name = strchr(stat, '(');
	end = strrchr(stat, ')'); /* the name before it may contain anything */
	/* 20 fields after the name: state is the first, the parent the second, starttime the
	 * 20th. */
	if (!name || !end ||
	    sscanf(end + 1,
	           " %*c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s "
	           "%*s %llu",
	           &parent, &life.began) != 2)
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

bool process_name_of(pid_t pid, char ret[PROCESS_NAME_BYTES])
{
	unsigned long long ticks = process_name_life(pid).began;

	(void)snprintf(ret, PROCESS_NAME_BYTES, "%d.%llu.%s", (int)pid, ticks, boot());
	return ticks != 0;
}

bool process_name_runs(const char *wanted)
{
	char now[PROCESS_NAME_BYTES];

	return process_name_of((pid_t)strtol(wanted, NULL, 10), now) && strcmp(now, wanted) == 0;
}
