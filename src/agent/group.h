/* group: the process group of an agent, which its leader made with setsid(2), recognized after a
 * crash by what its row says. The kernel gives a pid to others only when no process has it, as
 * leader or as group; and it counts from a new boot. */
#ifndef GROUP_H
#define GROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The variable in the environment of every agent that says whose it is: session.id. */
#define GROUP_MARK "INTERCOM_SESSION_ID"

/* When a process started, in clock ticks since boot; 0: there is none. */
int64_t group_started(pid_t pid);

/* Kills what is left of an agent: the group of pid, if its leader started at this time, or, if the
 * leader is gone, if one of the others bears the mark of this session. Returns how many processes
 * there were, 0 if there is none, or none of ours. */
int group_kill(pid_t pid, int64_t started, const char *session_id);

#endif
