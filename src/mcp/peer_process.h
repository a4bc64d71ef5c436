/* peer_process: which process is at the other end of a loopback TCP connection: that tells two runs
 * of one program apart, which say the same of themselves. */
#ifndef PEER_PROCESS_H
#define PEER_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

enum { PEER_PROCESS_BYTES = 64 };

/* Where one was found last: its next connection is likely to be near. Zeroed at first. */
struct peer_process_hint {
	pid_t pid;
	int fd;
};

/* Writes a name of the process whose socket is the other end of fd, an IPv4 connection on this
 * machine: its pid, when it began, and this boot. False: it is not known: it runs as another user,
 * has ended, or the other end is not on this machine. Reads /proc; milliseconds where the hint does
 * not help. */
bool peer_process_name(int fd, struct peer_process_hint *hint, char ret[PEER_PROCESS_BYTES]);

/* Whether the process of that name runs still. */
bool peer_process_runs(const char *name);

#endif
