/* await_slack: holds callers for a few seconds until slack-poster has done its part: checked a
 * channel that is to be read, or posted a broadcast whose place in Slack the caller is told. Each
 * caller is held with its job. */
#ifndef AWAIT_SLACK_H
#define AWAIT_SLACK_H

#include "hold.h"

/* What a job waits for. */
struct awaited {
	/* Replies if slack-poster has done its part, or if late. Returns whether it replied. */
	bool (*answer)(struct front *f, struct job *job, bool late);
	/* The caller is gone and gets no reply. NULL: nothing to do. */
	void (*end)(struct front *f, struct job *job);
	int64_t ms; /* how long the caller waits at most */
};

/* Replies to a job when slack-poster has done its part or the deadline has passed; at once if late.
 * Takes over the job. */
void await_slack(struct front *f, struct job *job, const struct awaited *awaited, bool late);
/* Replies to callers whose answer has arrived or whose deadline has passed. */
void await_slack_look(struct front *f);
/* The same as a libevent callback; arg is the front. */
void await_slack_on_patience(evutil_socket_t fd, short what, void *arg);

#endif
