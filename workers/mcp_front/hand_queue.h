/* hand_queue: file work waiting for a process (hands.h). Askers are served round robin, each in the
 * order in which it asked. */
#ifndef HAND_QUEUE_H
#define HAND_QUEUE_H

#include "hands.h"

TAILQ_HEAD(hand_tasks, hand_task);

/* One asker with waiting jobs. */
struct hand_turn {
	TAILQ_ENTRY(hand_turn) next;
	char asker[HANDS_ASKER_BYTES];
	struct hand_tasks tasks; /* never empty */
	size_t bytes;
};
TAILQ_HEAD(hand_turns, hand_turn);

struct hand_queue {
	struct hand_turns turns[2]; /* [0] small jobs, [1] big jobs */
	size_t bytes; /* of all jobs */
};

void hand_queue_init(struct hand_queue *q);
bool hand_queue_is_empty(const struct hand_queue *q);
/* Whether this much more may wait, in total and for this asker, counting its big jobs too. Small
 * jobs wait however much the others have waiting. */
bool hand_queue_has_room(const struct hand_queue *q, const struct hand_task *t);
void hand_queue_add(struct hand_queue *q, struct hand_task *t);
/* Takes a job out of this turn; the turn moves behind the others, or is freed after its last
 * job. */
void hand_queue_take(struct hand_queue *q, struct hand_turn *turn, struct hand_task *t);

#endif
