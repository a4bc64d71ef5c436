/* hands: file work, done in separate processes (hand.h) so that the front keeps serving. The
 * setting mcp.hands limits how many work at once; big jobs have a quarter as many places of their
 * own, but leave a processor to others. Askers take turns. A job that uses no processor gives up
 * its place, since its disk may hang; per workspace, at most two jobs may run for over a second. */
#ifndef HANDS_H
#define HANDS_H

#include "hand.h"

#include <stdint.h>
#include <sys/queue.h>

struct front;
struct hand_task;
struct hands;

enum { HANDS_ASKER_BYTES = 100 };

#define HANDS_STOPPING "agent-intercom is stopping or restarting; nothing was done; call again"

/* How a task ends: exactly one of done, failed and dropped is called, once, and never from within
 * hands_ask. */
struct hand_asker {
	/* May take members out of found, which is cleared afterwards. */
	void (*done)(struct front *f, struct hand_task *t, struct hand_found *found);
	void (*failed)(struct front *f, struct hand_task *t, const struct refusal *why);
	/* The task takes a while. NULL: nothing to do. */
	void (*slow)(struct front *f, struct hand_task *t);
	/* Whether nobody waits for the task, which is then dropped. NULL: never. */
	bool (*is_over)(struct front *f, struct hand_task *t);
	/* Whether the caller must be told that the front is stopping. NULL: nobody waits, or the
	 * one who waits asks the next front by itself. */
	bool (*is_told)(const struct hand_task *t);
	void (*dropped)(struct front *f, struct hand_task *t);
};

/* A piece of file work, embedded in what it is done for. ask.given and ask.root are copied;
 * everything else that ask points to must stay valid. */
struct hand_task {
	TAILQ_ENTRY(hand_task) next;
	const struct hand_asker *by;
	struct hand_ask ask;
	char asker[HANDS_ASKER_BYTES]; /* whom the task counts for in round robin */
	int apart; /* the file for ask.is_apart; the asker's */
	size_t bytes; /* memory that the task holds meanwhile, */
	int64_t asked_ms; /* monotonic: since when it waits */
	bool told_slow;
	bool tried; /* its process was lost once, through no fault of the task */
};

int hands_start(struct front *f, struct err *e);
/* The front is about to stop: fails the tasks of callers who must be told. Returns whether there
 * were any. */
bool hands_refuse(struct front *f);
void hands_stop(struct front *f);

/* Whether the queue has room for the task; by, ask, asker and bytes are set. */
bool hands_have_room(struct front *f, const struct hand_task *t);
/* Starts or queues the task. */
void hands_ask(struct front *f, struct hand_task *t);

/* Ends processes that have hung for too long. */
void hands_look(struct front *f);

/* Calls visit for every task. */
void hands_each(struct front *f, void (*visit)(struct front *f, struct hand_task *t, void *arg),
                void *arg);

#endif
