/* hand_queue: file work that waits for its turn (hands.h). Who asks is served in turn with others,
 * and in the order in which they asked. */
#ifndef HAND_QUEUE_H
#define HAND_QUEUE_H

#include "hands.h"

TAILQ_HEAD(hand_tasks, hand_task);

/* Who has jobs that wait. */
struct hand_turn {
	TAILQ_ENTRY(hand_turn) next;
	char asker[HANDS_ASKER_BYTES];
	struct hand_tasks tasks; /* never empty */
	size_t bytes;
};
TAILQ_HEAD(hand_turns, hand_turn);

struct hand_queue {
	struct hand_turns turns[2]; /* jobs that are not big, jobs that are */
	size_t bytes; /* of all */
};

void hand_queue_init(struct hand_queue *q);
bool hand_queue_is_empty(const struct hand_queue *q);
/* Whether so much more may wait, of all and of this asker, whose big jobs count, too. Small ones
 * wait whatever the others have waiting. */
bool hand_queue_has_room(const struct hand_queue *q, const struct hand_task *t);
void hand_queue_add(struct hand_queue *q, struct hand_task *t);
/* Takes a job out of this turn, which goes behind the others, or is gone if that was its last. */
void hand_queue_take(struct hand_queue *q, struct hand_turn *turn, struct hand_task *t);

#endif
