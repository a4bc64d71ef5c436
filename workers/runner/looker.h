/* looker: a process that looks at files, because a disk may hang: then it is given up instead of
 * the runner. It is forked at the first question and kept until nothing was asked for a while: a
 * fork costs a question more than the look. For an agent of another user it is a hand of theirs, as
 * long as as-owner is there (looker_owner.h). */
#ifndef LOOKER_H
#define LOOKER_H

#include "hand.h"
#include "looker_owner.h"

#include <stdbool.h>
#include <sys/types.h>

struct looker {
	pid_t pid; /* 0: there is none */
	int fd; /* of its socket, while there is one */
	pid_t stuck; /* one that did not answer and does not end; 0: none */
	struct looker_owner *owner; /* whose hand looks; NULL: ours does */
};

/* found is fresh; the caller clears it. False: the answer did not come in time, or an earlier look
 * still hangs. */
bool looker_ask(struct looker *l, const struct hand_ask *ask, struct hand_found *found);
/* It ends; the next question starts another. */
void looker_rest(struct looker *l);
void looker_clear(struct looker *l);

#endif
