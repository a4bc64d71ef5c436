#include "hand_queue.h"

#include "str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	WAITING_BYTES = 48 << 20, /* of waiting jobs in total: ten of the longest, */
	WAITING_OF_ONE = 8 << 20, /* and per asker */
	SMALL_JOB_BYTES = 64 << 10, /* an asker may always have this much waiting, */
	FIRST_JOB_BYTES = 256 << 10, /* or this much if it has nothing else waiting */
};

void hand_queue_init(struct hand_queue *q)
{
	TAILQ_INIT(&q->turns[0]);
	TAILQ_INIT(&q->turns[1]);
	q->bytes = 0;
}

bool hand_queue_is_empty(const struct hand_queue *q)
{
	return TAILQ_EMPTY(&q->turns[0]) && TAILQ_EMPTY(&q->turns[1]);
}

static struct hand_turn *find(const struct hand_turns *turns, const char *asker)
{
	struct hand_turn *turn;

	TAILQ_FOREACH (turn, turns, next)
		if (strcmp(turn->asker, asker) == 0)
			return turn;
	return NULL;
}

bool hand_queue_has_room(const struct hand_queue *q, const struct hand_task *t)
{
	size_t own = 0;

	for (int i = 0; i < 2; i++) {
		const struct hand_turn *turn = find(&q->turns[i], t->asker);

		own += turn ? turn->bytes : 0;
	}
	return own + t->bytes <= WAITING_OF_ONE &&
	       (t->bytes <= (own ? SMALL_JOB_BYTES : FIRST_JOB_BYTES) ||
	        q->bytes + t->bytes <= WAITING_BYTES);
}

void hand_queue_add(struct hand_queue *q, struct hand_task *t)
{
	struct hand_turns *turns = &q->turns[t->ask.is_big];
	struct hand_turn *turn = find(turns, t->asker);

	if (!turn) {
		turn = xcalloc(1, sizeof(*turn));
		(void)snprintf(turn->asker, sizeof(turn->asker), "%s", t->asker);
		TAILQ_INIT(&turn->tasks);
		TAILQ_INSERT_TAIL(turns, turn, next);
	}
	TAILQ_INSERT_TAIL(&turn->tasks, t, next);
	turn->bytes += t->bytes;
	q->bytes += t->bytes;
}

void hand_queue_take(struct hand_queue *q, struct hand_turn *turn, struct hand_task *t)
{
	struct hand_turns *turns = &q->turns[t->ask.is_big];

	TAILQ_REMOVE(&turn->tasks, t, next);
	turn->bytes -= t->bytes;
	q->bytes -= t->bytes;
	TAILQ_REMOVE(turns, turn, next);
	if (TAILQ_EMPTY(&turn->tasks))
		free(turn);
	else
		TAILQ_INSERT_TAIL(turns, turn, next);
}
