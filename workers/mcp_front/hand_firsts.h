/* hand_firsts: the processes hand that fork for each job: one of our own user, and in a system that
 * serves several users one of each user whose agents work, which as-owner starts. */
#ifndef HAND_FIRSTS_H
#define HAND_FIRSTS_H

#include "hand_first.h"
#include "owner.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

struct event;
struct front;
struct hand_task;

struct hand_first {
	LIST_ENTRY(hand_first) next;
	struct front *front;
	bool is_foreign; /* of this user: */
	uid_t uid;
	struct owner_process process;
	struct event *said;
	char why[OWNER_TEXT_BYTES]; /* as-owner has refused it, in words */
	pid_t pid; /* of our own, which is our child; 0: none */
	int control; /* -1: it does not run */
	struct event *told;
	int64_t start_ms; /* monotonic: when it may be started again */
	int64_t began_ms; /* monotonic: when it was started */
	int starts; /* before that */
	int64_t used_ms; /* monotonic: when it last got a job */
};

/* What is done when something is heard. */
struct hand_firsts_heard {
	/* Which process does a job; takes pidfd, -1 of one of another user. False: it cannot have
	 * said so honestly, and is to be ended. */
	bool (*process)(struct front *f, struct hand_first *first, const struct hand_told *told,
	                int pidfd);
	/* It is gone, and all its jobs with it. */
	void (*lost)(struct front *f, struct hand_first *first);
};

/* The one that does this job, which may not run yet. */
struct hand_first *hand_firsts_of(struct front *f, const struct hand_task *t);

/* Starts it, unless it runs. False: it does not now, and why says why not. */
bool hand_firsts_run(struct hand_first *first);

/* Whether one of another user has run for so long that it is to be started again; longer if it has
 * jobs. */
bool hand_firsts_is_old(const struct hand_first *first, bool is_busy);

/* Whether it has ended, or is about to. */
bool hand_firsts_has_ended(const struct hand_first *first);

/* Ends it, and with it its jobs. */
void hand_firsts_end(struct hand_first *first);

/* Ends those of other users that had nothing to do for some minutes; is_busy says of one that it
 * has jobs. */
void hand_firsts_tidy(struct front *f, bool (*is_busy)(const struct hand_first *first));

/* Ends all. */
void hand_firsts_clear(struct front *f);

#endif
