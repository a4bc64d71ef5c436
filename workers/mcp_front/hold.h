/* hold: callers whose answer comes later: which caller waits for which call, and its keep-alives
 * (progress notifications where the caller asked for them). tell.c delivers the answers. */
#ifndef HOLD_H
#define HOLD_H

#include "job.h"

/* A caller held until the wait of its call ends. */
struct waiter {
	LIST_ENTRY(waiter) of_sink;
	LIST_ENTRY(waiter) of_call;
	TAILQ_ENTRY(waiter) in_line; /* by next_ms */
	struct held_call *held; /* NULL: taken out */
	struct sink *sink;
	char *rpc_id; /* JSON token; for a subscription: of its subscriptions/listen */
	char *progress_token; /* JSON token or NULL */
	bool modern; /* its stream has no event ids, and its end cancels the call */
	bool subscription; /* is notified about a task, but does not keep the call waiting */
	bool elicits; /* its client shows the question to its user */
	int forms; /* how often it was asked to */
	int64_t next_ms; /* monotonic: when the next keep-alive is due */
};

/* All waiters of one call: a relay that reconnected may be there twice. */
struct held_call {
	int64_t seq; /* below 0: not a call, but a held job or subscriptions/listen */
	int64_t started_ms; /* unix */
	int64_t progress; /* the last value sent */
	LIST_HEAD(, waiter) waiters;
};

/* Holds a caller until call_seq is answered. */
void hold_caller(struct front *f, struct sink *sink, int64_t call_seq, int64_t started_ms,
                 const char *rpc_id, const char *progress_token, bool modern);
/* Holds the caller of a job and sets job->held_as to its number. event_id: as in transport. */
void hold_job(struct front *f, struct job *job, const char *progress_token, const char *event_id);
/* Holds a caller that is notified when the task of call_seq ends. listen_id: JSON token. */
void hold_subscriber(struct front *f, struct sink *sink, int64_t call_seq, const char *listen_id);

/* The waiters of a call, NULL if there are none. */
struct held_call *hold_find(struct front *f, int64_t call_seq);
/* Whether the caller of a held job is gone or has cancelled it (then it has been told). */
bool hold_is_over(struct front *f, struct job *job);
/* Whether a connection may hold this many more waiters; if not, e says why. */
bool hold_has_room(const struct sink *s, int more, struct err *e);

/* Takes a waiter of a call out, for hold_free; NULL: it has none. */
struct waiter *hold_take(struct front *f, int64_t call_seq);
/* Drops its sink, too. */
void hold_free(struct waiter *w);
/* Forgets a waiter. Returns whether it was the last one of its call. */
bool hold_forget(struct front *f, struct waiter *w);
/* Forgets all waiters of a call; their replies are sent elsewhere. */
void hold_release(struct front *f, int64_t call_seq);
/* The transport of a sink is gone: its calls wait without it; if the peer was a process, its rows
 * are updated. Drops the sink. */
void hold_gone(struct sink *s);

/* Sends the keep-alives that are due and sets the timer for the next one. libevent callback; arg is
 * the front. */
void hold_on_clock(evutil_socket_t fd, short what, void *arg);

#endif
