/* hand_places: which job may start next, and the state that this rests on. Places are for jobs that
 * use a processor: one that waits for a disk, or has become slow, gives its place up, and a
 * workspace with two of those gets no more. */
#ifndef HAND_PLACES_H
#define HAND_PLACES_H

#include "hand_firsts.h"
#include "hand_queue.h"

#include <sys/types.h>

enum {
	HAND_QUICK_MS = 1000, /* a job that takes longer is slow */
};

/* A process at work, or about to end. */
struct hand {
	LIST_ENTRY(hand) next;
	uint32_t number;
	struct hand_first *first; /* which has forked it */
	struct hand_task *task; /* NULL: done, or given up */
	char *root; /* the workspace it works in */
	bool is_big, is_begun, is_killed;
	int64_t began_ms, killed_ms; /* monotonic */
	pid_t pid; /* 0: not yet known */
	int64_t worked_ns; /* its processor time when last looked at */
	int64_t moved_ms; /* monotonic: when that had last grown */
	int fd;
	struct event *io;
	struct str out; /* the request, */
	size_t sent; /* of which this much is sent */
	struct str in; /* the answer, with its header */
	int pidfd; /* -1: not yet known, or of another user's hand: fd hangs up at its end */
	struct event *end;
	bool has_ended;
	struct front *front;
};

struct hands {
	char *path;
	struct str fence; /* the setting: each job is fenced to its workspace */
	int at_once, big_at_once;
	char *owner_socket; /* of as-owner; "" unless several users are served */
	LIST_HEAD(, hand_first) firsts;
	const struct hand_firsts_heard *heard;
	struct event *clock;
	bool is_soon; /* clock goes off within LOOK_SOON_MS */
	uint32_t number;
	LIST_HEAD(, hand) all;
	struct hand_queue queue;
	struct str usual; /* the default workspace, if the configuration names it */
	const char **listed; /* folders named in the configuration, */
	size_t listed_count;
	int64_t silent_ms; /* monotonic: until then folders on a silent disk are left out */
	size_t left_out; /* those are at the end of listed */
};

/* Takes the next job of this kind that may start off the queue; NULL: none may. */
struct hand_task *hand_places_next(struct hands *hands, bool is_big);
/* Whether a job of this kind may start, whoever asks. */
bool hand_places_have_room(const struct hands *hands, bool is_big);
/* Whether this one may. */
bool hand_places_have_one(const struct hands *hands, const struct hand_task *t);
/* Whether a job need not wait longer: those that are tried in its workspace do not come back. */
bool hand_places_are_hopeless(const struct hands *hands, const struct hand_task *t);

/* The workspace of a job, as it is named there. */
const char *hand_places_root(const struct hand_task *t);

#endif
