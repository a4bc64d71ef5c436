/* launch: starts an agent's process in two steps, so that its pid is on disk before it does
 * anything: launch_hold creates the process, which waits; launch_go lets it become the agent. If we
 * die in between, so does the process.
 *
 * It leads its own session and group, dies with us, inherits none of our descriptors, and has no
 * signal blocked or ignored. The caller ignores SIGPIPE. */
#ifndef LAUNCH_H
#define LAUNCH_H

#include "err.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct launch_plan {
	char *const *argv; /* argv[0]: a path, or a name in the environment's PATH */
	char *const *environment;
	const char *directory; /* NULL: the working directory */
	/* Called in the new process last, before the program; not 0: it is not started, and errno
	 * says why. NULL: nothing is called. */
	int (*enter)(const void *entering);
	const void *entering;
	bool talks; /* its stdin is a pipe; otherwise /dev/null */
};

struct launch {
	pid_t pid; /* also of its group; 0: none */
	int64_t started; /* group_started */
	int in, out, err; /* our ends of its pipes: non-blocking; -1: closed */
	int ended; /* pidfd: readable once the process has ended */
	int go, failed; /* pipes of the two steps */
	bool is_anothers; /* another process has started it: only that ends and reaps it */
};

#define LAUNCH_INIT                                                                                \
	{                                                                                          \
		.in = -1, .out = -1, .err = -1, .ended = -1, .go = -1, .failed = -1                \
	}

/* ERR_AGAIN: the system is short of a resource. */
int launch_hold(struct launch *l, const struct launch_plan *plan, struct err *e);
/* 0: the agent runs. -1 (ERR_INPUT: do not retry): it cannot be started; e names the path and the
 * reason, and the process is gone. */
int launch_go(struct launch *l, const struct launch_plan *plan, struct err *e);
/* The same in two steps, for who must not wait for a process that others may stop. */
void launch_let_go(struct launch *l);
/* Once l->failed is readable, or it was waited for long enough: as launch_go. */
int launch_went(struct launch *l, const struct launch_plan *plan, struct err *e);

/* The ends of its pipes that the agent's process has: stdin, stdout, stderr, and those of the two
 * steps. */
enum { LAUNCH_ENDS = 5 };

/* The same in two processes. Ours makes the pipes, keeps its ends in l and gets the others, which
 * it sends and closes; launch_go then is ours, too. */
int launch_offer(struct launch *l, bool talks, int theirs[LAUNCH_ENDS], struct err *e);
/* The other one makes the process with them, which dies with it; the ends stay open. */
int launch_take(struct launch *l, const int theirs[LAUNCH_ENDS], const struct launch_plan *plan,
                struct err *e);
/* Closes what is open. Does not end the process. */
void launch_clear(struct launch *l);

#endif
