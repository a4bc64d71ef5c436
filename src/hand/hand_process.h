/* hand_process: the interface between mcp-front and the process hand (workers/hand.c), and its
 * limits. */
#ifndef HAND_PROCESS_H
#define HAND_PROCESS_H

#include <stdint.h>

enum {
	HAND_FRONT_FD = 3, /* SOCK_SEQPACKET: numbers of jobs, each with its socket and perhaps a
	                    * file, or without, if the job is to be ended; back comes struct
	                    * hand_told, to our own user with a pidfd */
	HAND_JOB_FDS = 2,
	HAND_WATCH_FD = 4, /* inotify of mcp-front */
	HAND_DEADLINE_MS = 20000, /* time limit of a job */
	HAND_GRACE_S = 10, /* after it, the job ends itself, if mcp-front does not */
	HAND_SMALL_MEMORY = 512 << 20, /* of address space */
};

/* Which process does a job. */
struct hand_told {
	uint32_t number; /* of the job */
	int32_t pid; /* -1: there is none */
};

#define HAND_BIG_MEMORY ((size_t)3 << 30)

#endif
