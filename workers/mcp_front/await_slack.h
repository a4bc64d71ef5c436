/* await_slack: callers who wait for slack-poster, for seconds: for a channel that is read, and to
 * be told where in Slack a broadcast stands. Each is held with its job. */
#ifndef AWAIT_SLACK_H
#define AWAIT_SLACK_H

#include "hold.h"

/* What is awaited. */
struct awaited {
	/* Replies if slack-poster has done its part, or if late: true. */
	bool (*answer)(struct front *f, struct job *job, bool late);
	/* Its caller is gone, and will not be replied to. NULL: nothing. */
	void (*end)(struct front *f, struct job *job);
	int64_t ms; /* how long its caller waits at most */
};

/* Replies to a job when slack-poster has done its part, or at once if late; takes over the job. */
void await_slack(struct front *f, struct job *job, const struct awaited *awaited, bool late);
/* Replies to those whose answer is there, or who have waited for long enough. */
void await_slack_look(struct front *f);
/* The same as libevent callback; arg is the front. */
void await_slack_on_patience(evutil_socket_t fd, short what, void *arg);

#endif
