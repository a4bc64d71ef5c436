/* hands: file work, done by processes of their own (hand.h) while the front goes on serving. So
 * many at once (setting mcp.hands), and besides them a quarter as many with big jobs; the jobs of
 * each asker in turn. A job that takes over a second gives its place to others; of one workspace
 * there are two of those at most, since its disk may hang. */
#ifndef HANDS_H
#define HANDS_H

#include "hand.h"

#include <stdint.h>
#include <sys/queue.h>

struct front;
struct hand_task;
struct hands;

enum { HANDS_ASKER_BYTES = 100 };

#define HANDS_STOPPING "agent-intercom is stopping; nothing was asked; call again"

/* What becomes of a task: one of done, failed and dropped is called, once, and not within
 * hands_ask. */
struct hand_asker {
	/* found may be taken from; it is cleared afterwards. */
	void (*done)(struct front *f, struct hand_task *t, struct hand_found *found);
	void (*failed)(struct front *f, struct hand_task *t, const struct refusal *why);
	/* It takes a while. NULL: nothing. */
	void (*slow)(struct front *f, struct hand_task *t);
	/* Whether nobody waits for it any more: then it is dropped. NULL: never. */
	bool (*is_over)(struct front *f, struct hand_task *t);
	/* Whether its caller must be told that the front stops. NULL: nobody waits, or whoever
	 * waits asks the next front by itself. */
	bool (*is_told)(const struct hand_task *t);
	void (*dropped)(struct front *f, struct hand_task *t);
};

/* A piece of file work, part of what it is done for. ask.given and ask.root are copied, what else
 * ask points to must stay. */
struct hand_task {
	TAILQ_ENTRY(hand_task) next;
	const struct hand_asker *by;
	struct hand_ask ask;
	char asker[HANDS_ASKER_BYTES]; /* who is served in turn with others */
	size_t bytes; /* memory that it keeps meanwhile, */
	int64_t asked_ms; /* monotonic: since when */
	bool told_slow;
	bool tried; /* its process has been lost once, for no fault of its own */
};

int hands_start(struct front *f, struct err *e);
/* The front will stop: the tasks of callers who must be told so fail. True: there were any. */
bool hands_refuse(struct front *f);
void hands_stop(struct front *f);

/* Whether so much more may wait; by, ask, asker and bytes are set. */
bool hands_have_room(struct front *f, const struct hand_task *t);
/* Has it done. */
void hands_ask(struct front *f, struct hand_task *t);

/* Looks at the clock: what has hung for too long is ended. */
void hands_look(struct front *f);

/* Calls it for every task. */
void hands_each(struct front *f, void (*visit)(struct front *f, struct hand_task *t, void *arg),
                void *arg);

#endif
