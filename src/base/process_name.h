/* process_name: names of processes that are not used again, as a pid is: its pid, its start time,
 * and this boot. */
#ifndef PROCESS_NAME_H
#define PROCESS_NAME_H

#include <stdbool.h>
#include <sys/types.h>

enum { PROCESS_NAME_BYTES = 64 };

struct process_life {
	char command[32];
	pid_t parent;
	unsigned long long began; /* in ticks since boot; 0: it is gone, though its parent may
	                             not have taken its end yet */
};

/* What /proc says of a process. */
struct process_life process_name_life(pid_t pid);

/* Writes the name of a process. False: there is none. */
bool process_name_of(pid_t pid, char ret[PROCESS_NAME_BYTES]);
/* The same of one whose life is known. */
void process_name_write(pid_t pid, const struct process_life *life, char ret[PROCESS_NAME_BYTES]);

/* Whether the process with that name is still running. */
bool process_name_runs(const char *name);
/* Whether that process is, or descends from, one whose name begins so. */
bool process_name_descends(const char *name, const char *start);

#endif
