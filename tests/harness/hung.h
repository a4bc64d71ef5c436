/* hung: file work that does not end: a mount whose file system never answers, and the processes
 * that mcp-front has files read by. */
#ifndef HUNG_H
#define HUNG_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Mounts a file system (FUSE, spoken here) on folder. Whatever is asked of it waits: its process
 * takes the questions, so that not even SIGKILL ends who asks. Gone when the test ends. False:
 * there is no /dev/fuse, or no right to mount. Whoever is to see it is started after may_mount. */
bool hung_mount(const char *folder);
/* Takes it away: who waits gets an error. */
void hung_unmount(void);

/* The process hand of a front, 0: there is none. */
pid_t hand_of(pid_t front);
/* A process that does a big job for it, and has not ended; waits until there is one. */
pid_t hand_job_of(pid_t front);
/* How many there are. */
int hand_jobs_of(pid_t front);
/* Whether the process stands still (SIGSTOP). */
bool is_stopped(pid_t pid);

/* Memory of a process in bytes: its own share of what is shared (PSS). */
long memory_of(pid_t pid);

#endif
