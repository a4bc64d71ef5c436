/* peer_process: identifies the process at the other end of a loopback TCP connection. This
 * distinguishes two runs of one program that say the same about themselves. */
#ifndef PEER_PROCESS_H
#define PEER_PROCESS_H

#include "err.h"
#include "process_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { PEER_PROCESS_BYTES = PROCESS_NAME_BYTES };

/* Where the last one was found: its next connection is likely to be near. Initially zeroed. */
struct peer_process_hint {
	pid_t pid;
	int fd;
};

/* From here on a process forked from this one searches, and ends with it: one that is fenced by
 * Landlock may not look into processes that it did not start, and so cannot fork another one later.
 * Returns a descriptor that becomes readable once nothing is found any more; -1. */
int peer_process_fork(struct err *e);

/* Writes the name (process_name.h) of the process whose socket is the other end of fd, an IPv4
 * connection on this machine: 1. 0: unknown: it runs as another user, has ended, or the other end
 * is not on this machine. -1: the process that searches is lost, or does not answer. Reads /proc;
 * takes milliseconds if the hint does not help. */
int peer_process_name(int fd, struct peer_process_hint *hint, char ret[PEER_PROCESS_BYTES]);

/* The same of the process at the other end of fd, a Unix socket. */
bool peer_process_of(int fd, char ret[PEER_PROCESS_BYTES]);

/* The same of the agent's program that has started the process at the other end of fd, a Unix
 * socket: its parent, or, if that is a shell or a hook, too, the parent of that. */
bool peer_process_of_host(int fd, char ret[PEER_PROCESS_BYTES]);

/* Whether the process that has connected the other end of fd, a Unix socket, is one of these, or
 * descends from one: 1, 0. -1: nobody knows, because it has ended, or is not to be seen. */
int peer_process_descends(int fd, const pid_t *pids, size_t count);

#endif
