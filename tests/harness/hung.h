/* hung: file work that does not end: a mount whose file system never answers, and the processes in
 * which mcp-front reads files. */
#ifndef HUNG_H
#define HUNG_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Mounts a file system (FUSE, implemented here) on folder. Every request to it waits: its process
 * has received the request, so not even SIGKILL ends the caller. Unmounted when the test ends.
 * False: there is no /dev/fuse, or no right to mount. Processes that are to see it must be started
 * after may_mount. */
bool hung_mount(const char *folder);
/* Unmounts it: waiting callers get an error. */
void hung_unmount(void);

/* The process hand of a front, 0 if there is none. */
pid_t hand_of(pid_t front);
/* Waits for a process that does a big job for the front and has not ended; returns it. */
pid_t hand_job_of(pid_t front);
/* One that does any job for the front; 0: there is none. */
pid_t hand_any_job_of(pid_t front);
/* How many processes do jobs for the front. */
int hand_jobs_of(pid_t front);
/* Whether the process is stopped (SIGSTOP). */
bool is_stopped(pid_t pid);

/* Waits until the process has this limit, by its name in /proc/PID/limits, soft and hard. */
void gets_limit(pid_t pid, const char *name, unsigned long most);

/* Memory of a process in bytes, counting its share of what is shared (PSS). */
long memory_of(pid_t pid);
/* Fails the test if that is more than mib MiB above before. Not in a sanitized build, where what
 * was freed is kept back. */
void memory_is_within(int mib, long before, pid_t pid);
/* The same, but waits until it is not. */
void memory_gets_within(int mib, long before, pid_t pid);
/* Waits until a process has so many files without a name open. */
void gets_nameless_files(pid_t pid, int count);

#endif
