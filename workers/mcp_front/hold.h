/* hold: callers whose answer comes later: which caller waits for which call, and its signs of
 * life. What they are told in the end is tell.c's affair. */
#ifndef HOLD_H
#define HOLD_H

#include "job.h"

/* A caller that is held until the wait of its call ends. */
struct waiter {
	LIST_ENTRY(waiter) of_sink;
	LIST_ENTRY(waiter) of_call;
	TAILQ_ENTRY(waiter) in_line; /* by next_ms */
	struct held_call *held;
	struct sink *sink;
	char *rpc_id; /* JSON token; of a subscription: of its subscriptions/listen */
	char *progress_token; /* JSON token or NULL */
	bool modern; /* its stream has no event ids, and its end cancels the call */
	bool subscription; /* it is told of a task, but does not hold the call */
	bool elicits; /* its client shows the question to its user */
	int64_t next_ms; /* monotonic: when the next sign of life is due */
};

/* All waiters of one call: a client that came back may be there twice. */
struct held_call {
	int64_t seq; /* below 0: no call, but a job or a subscriptions/listen that is held */
	int64_t started_ms; /* unix */
	int64_t progress; /* the last that was told */
	LIST_HEAD(, waiter) waiters;
};

/* Holds a caller until call_seq is answered. */
void hold_caller(struct front *f, struct sink *sink, int64_t call_seq, int64_t started_ms,
                 const char *rpc_id, const char *progress_token, bool modern);
/* Holds the caller of a job, whose number is then in job->held_as. event_id: as in transport. */
void hold_job(struct front *f, struct job *job, const char *progress_token, const char *event_id);
/* Holds a caller that is told when the task of call_seq ends. listen_id: JSON token. */
void hold_subscriber(struct front *f, struct sink *sink, int64_t call_seq, const char *listen_id);

/* The waiters of a call, NULL if there are none. */
struct held_call *hold_find(struct front *f, int64_t call_seq);
/* Whether the caller of a held job is gone, or has cancelled it (and is told). */
bool hold_is_over(struct front *f, struct job *job);
/* Whether a connection may hold this many more waits; if not, e says why. */
bool hold_has_room(const struct sink *s, int more, struct err *e);

/* Forgets a waiter. Returns whether it was the last one of its call. */
bool hold_forget(struct front *f, struct waiter *w);
/* Forgets all waiters of a call; they get their replies elsewhere. */
void hold_release(struct front *f, int64_t call_seq);
/* The transport of a sink is gone: its calls wait without it, and the peer's rows are told, if it
 * was a process. Drops the sink. */
void hold_gone(struct sink *s);

/* Sends the signs of life that are due and sets the clock for the next one. libevent callback; arg
 * is the front. */
void hold_on_clock(evutil_socket_t fd, short what, void *arg);

#endif
