/* group: the process group of an agent, created by its leader with setsid(2) and identified after a
 * crash by its row. The kernel does not reuse a pid while a process or a group has it; a reboot
 * starts the numbers over. */
#ifndef GROUP_H
#define GROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The variable that marks every process of an agent with its session.id. */
#define GROUP_MARK "INTERCOM_SESSION_ID"

/* When a process started, in clock ticks since boot; 0: no such process. */
int64_t group_started(pid_t pid);

/* Kills what is left of an agent: the group of pid, if its leader started at this time or, once the
 * leader is gone, if another member carries the mark of this session. Returns the number of
 * processes in it; 0 if there are none, or they are not ours. */
int group_kill(pid_t pid, int64_t started, const char *session_id);

#endif
