/* hand_process: the interface between mcp-front and the process hand (workers/hand.c), and its
 * limits. */
#ifndef HAND_PROCESS_H
#define HAND_PROCESS_H

enum {
	HAND_FRONT_FD = 3, /* SOCK_SEQPACKET: numbers of jobs, each with a descriptor */
	HAND_WATCH_FD = 4, /* inotify of mcp-front */
	HAND_DEADLINE_MS = 20000, /* time limit of a job */
	HAND_GRACE_S = 10, /* after it, the job ends itself, if mcp-front does not */
	HAND_SMALL_MEMORY = 512 << 20, /* of address space */
};
#define HAND_BIG_MEMORY ((size_t)3 << 30)

#endif
