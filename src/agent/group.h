/* group: the process group of an agent, created by its leader with setsid(2) and identified after a
 * crash by its row. The kernel does not reuse a pid while a process or a group has it; a reboot
 * starts the numbers over. */
#ifndef GROUP_H
#define GROUP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The variable that marks every process of an agent with its session.id. */
#define GROUP_MARK "INTERCOM_SESSION_ID"

/* When a process started, in clock ticks since boot; 0: no such process. */
int64_t group_started(pid_t pid);

/* Kills what is left of an agent: the group of pid, if its leader started at this time or, once the
 * leader is gone, if another member carries the mark of this session; and what has left the group
 * (setsid) with the mark, and was not started by hand: the leader of its own session carries the
 * mark, too, or is gone. Returns the number of processes; 0 if there are none, or they are not
 * ours. */
int group_kill(pid_t pid, int64_t started, const char *session_id);
/* The same of processes that carry another mark: a variable and its value. */
int group_kill_marked(pid_t pid, int64_t started, const char *mark);

/* From now on whatever the processes that we start leave behind becomes our child, wherever it has
 * gone. What runs the program spared, an absolute path without links, is left alone all the same:
 * the system, which serves others too, whoever started it; NULL: nothing. 0 or -1 (errno). */
int group_adopt(const char *spared);
/* Reaps what was adopted and has ended, up to the end of `except`, which stays (0: none). */
void group_reap(pid_t except);
/* Kills all children that are not spared and, as they are adopted, theirs, and reaps them, for
 * limit_ms at most. Returns how many were left then; 0: none is. */
int group_end_adopted(int64_t limit_ms);
enum { GROUP_END_MS = 2000 /* where others wait for it */ };
/* One look at all children but these: kills those that live, reaps those that have ended. Returns
 * how many there were; what those leave behind is found by the next look. */
int group_end_others(const pid_t *except, size_t count);

#endif
