/* child: the agent's process. It gets the environment of the editor, but nothing of Slack, and does
 * not outlive us. */
#ifndef CHILD_H
#define CHILD_H

#include "err.h"
#include "launch.h"

#include <stdbool.h>

struct config_agent;
struct located;

struct child {
	struct launch process;
	bool has_ended;
	int status; /* of its end, as a shell has it: 128 + the number of a signal */
	bool was_told; /* SIGTERM was sent */
};

/* Starts the command argv (NULL-terminated), or the profile, with its fence, in folder. ours: what
 * that keeps from it. 0 or -1. */
int child_start(struct child *c, char *const *argv, const struct config_agent *profile,
                const char *folder, const struct located *ours, struct err *e);
/* Its process has ended: reads how. */
void child_reap(struct child *c);
/* Sends it SIGTERM, once. */
void child_end(struct child *c);
/* Waits for its end, so long. */
void child_await(struct child *c, int ms);
/* Whatever is left of it is killed. */
void child_clear(struct child *c);

#endif
