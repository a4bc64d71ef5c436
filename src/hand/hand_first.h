/* hand_first: the process hand, which forks for each job, as mcp-front and the runner start and use
 * it; see workers/hand.c. */
#ifndef HAND_FIRST_H
#define HAND_FIRST_H

#include "err.h"
#include "hand_process.h"
#include "owner.h"

#include <sys/types.h>

/* Starts it from path, with the setting `fence`; it inherits watch_fd, an inotify. ret_control: the
 * socket to it. On error *ret_pid is 0. */
int hand_first_start(const char *path, const char *fence, int watch_fd, pid_t *ret_pid,
                     int *ret_control, struct err *e);

/* Has as-owner start one that runs as this user, and does not wait for it: p hears of it
 * (owner_hear). ret_control: as above; it ends when that is closed. 0 or -1. */
int hand_first_ask_owner(const char *socket, uid_t uid, const char *fence, struct owner_process *p,
                         int *ret_control, struct err *e);

/* Has it begin a job, whose process talks over fd; apart: the file that goes with the question, -1:
 * none. 0 or -1; both remain the caller's. */
int hand_first_send(int control, uint32_t number, int fd, int apart);

/* Has it end a job. 0 or -1. */
int hand_first_kill(int control, uint32_t number);

/* Reads which process does a job; ret_pidfd: -1 if none. Returns 1, 0 if nothing has arrived, -1 if
 * the process is gone, or what it sent is no struct hand_told, or has more descriptors than one, or
 * one that is no pidfd. Which process the pidfd is of is not checked. */
int hand_first_told(int control, struct hand_told *told, int *ret_pidfd);
/* The same of one of another user, of which no descriptor is taken: it may be of a file system that
 * never answers, and then even to close it waits. */
int hand_first_told_by_other(int control, struct hand_told *told);

#endif
