/* hooks: the hooks of agents' own programs (hook.h): who they are, and what they are told after a
 * wait. Others are told first, and then it is recorded; a hook's answer is recorded first, so that
 * an approval is never used twice. */
#ifndef HOOKS_H
#define HOOKS_H

#include "hold.h"

/* Makes the peer of an opened call of a hook that of its host's session. 0, or -1. */
int hooks_introduce(struct front *f, struct job *job, struct err *e);

/* Whether these callers are hooks. */
bool hooks_holds(const struct held_call *held);
/* The wait of a held call has ended: its hook is told after the next commit. */
void hooks_tell(struct front *f, const struct held_call *held);

/* Its process has ended while it waited: it denied, or was killed. Inside the transaction. */
int hooks_hang_up(struct front *f, struct job *job, struct err *e);

/* JOB_HOOK. What was approved is looked at again, as it may have changed while it waited. */
bool hooks_look(struct front *f, struct job *job);
int hooks_run(struct front *f, struct job *job, struct err *e);
bool hooks_reply(struct front *f, struct job *job);

#endif
