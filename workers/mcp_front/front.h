/* front: the state of mcp-front, which its parts share, and the limits that hold for all of it.
 * Each file stands on those before it:
 *
 *   front, sink        state; where replies go, whatever the transport
 *   job, hold          one thing to do in the next turn; callers whose answer comes later
 *   hands              file work, in processes of their own
 *   elicitation        questions that a client of the legacy era shows to its own user
 *   tell               what held callers are told in the end
 *   await_slack, park  held for slack-poster; held because their session is paused
 *   tasks, resources, broadcasts, calls, connections, policies, nudges, show_files
 *                      what is done
 *   jobs, turn         the table of all kinds of jobs; one loop turn
 *   take               messages of a peer: answered at once, or queued as jobs
 *   http_arrivals, http_reply, http_callers, http; socket, pipe; ipc
 *                      the transports, and the socket of the seeds
 *   main               all of it */
#ifndef FRONT_H
#define FRONT_H

#include "hold.h"
#include "id.h"
#include "policy_file.h"
#include "tell.h"
#include "worker.h"

#include <event2/event.h>
#include <event2/listener.h>

enum {
	FRONT_MAX_MESSAGE = 4 << 20, /* bytes of one message */
	FRONT_MAX_OUTPUT = 1 << 20, /* unread bytes of a held caller: then it is cut off */
	FRONT_HEADER_BYTES = 16 << 10,
	FRONT_REQUEST_SECONDS = 10, /* between two bytes of a request, and its first and its last */
	FRONT_PROGRESS_SECONDS = 15, /* between two signs of life to a waiting caller */
	FRONT_RETRY_MS = 2000, /* what a cut client waits before it comes back */
	FRONT_TRY_AGAIN_SECONDS = 1, /* after a transaction that could not be had */
	FRONT_MAX_BATCH = 100, /* messages */
	FRONT_BIG_CALL = 256 << 10, /* bytes: such a call commits alone */
	FRONT_SPARE_FDS = 64, /* kept free for files and the database */
	FRONT_MAX_LISTENED = 100, /* tasks of one subscriptions/listen */
	FRONT_MAX_HELD = 1000, /* calls and subscriptions of one connection that wait */
	FRONT_MAX_LISTENS = 2000, /* subscriptions/listen in all */
	FRONT_MAX_UNFINISHED = 64 << 20, /* bytes of messages that have not come whole, in all; */
	FRONT_SMALL_MESSAGE = FRONT_HEADER_BYTES, /* up to here nobody is refused for that */
};

struct arrival;
struct hands;
struct ipc_caller;
struct view;

struct front {
	struct worker worker;
	struct event_base *base;
	struct evhttp *http;
	struct event *turn, *bell, *signal, *clock, *beat, *hang_up, *accept, *patience, *more;
	struct evconnlistener *http_listener; /* evhttp owns it */
	struct arrival *arrivals; /* by descriptor: when a request began to come in */
	int arrival_count;
	struct bufferevent **newcomers; /* connections that nobody has looked at */
	size_t newcomer_count;
	struct event *newcomer_event; /* looks at them at the end of the pass */
	int *late; /* connections whose request took too long to come, */
	size_t late_count;
	struct event *late_event; /* judged when what has come of it is read */
	int refused_count; /* callers of other users since the log said so */
	int64_t refused_ms; /* monotonic: when it may say so again */
	struct str refused_why; /* the last of them */
	int64_t swept_ms; /* monotonic: when arrivals were last freed of what is gone */
	int hang_up_fd; /* epoll of the held HTTP connections */
	struct evconnlistener *pipe_listener, *ipc_listener;
	LIST_HEAD(, ipc_caller) ipc_pipes;
	int ipc_callers;
	bool ipc_requires_token;
	char ipc_token[SECRET_BYTES]; /* "": none is needed */
	LIST_HEAD(, sink) pipes;
	LIST_HEAD(, sink) streams; /* event streams of revision 2024-11-05 */
	struct job_queue jobs;
	struct job_queue parked; /* calls of paused sessions */
	struct job_queue awaiting_slack; /* what waits for slack-poster */
	struct hands *hands; /* what waits for files */
	struct view *view; /* files that an operator is about to be shown */
	struct told_queue told, told_words;
	TAILQ_HEAD(, waiter) line;
	void *held; /* tree of held_call by seq */
	int64_t listen_seq; /* below 0: the last subscriptions/listen that was held */
	int64_t answer_seq; /* the last answer that was looked at */
	int listens; /* subscriptions/listen that are held */
	size_t unfinished; /* bytes of messages that have not come whole */
	int max_fd; /* callers on descriptors from here on are turned away */
	int64_t progress_ms;
	int request_seconds;
	int64_t http_port;
	int64_t http_try_ms; /* monotonic: HTTP is off, and is tried again then; 0: it is on */
	cJSON *allow_uids; /* of others who may ask over HTTP */
	struct call_settings settings;
	struct str default_workspace;
	struct policy_files policies;
	int policy_fd; /* inotify */
	struct event *policy_event;
	bool turned; /* since the last look at what memory is free */
	bool has_notes; /* the next turn has something to write, besides its jobs */
	struct err *failure; /* why the loop ended, if it did not end well */
};

/* Ends the loop because of e (kept until the loop has ended). */
void front_fail(struct front *f, const struct err *e);
/* Counts what has come of a message that is not whole: now is what was before. */
void front_count(struct front *f, size_t *before, size_t now);
/* Whether a message that has come so far must be refused, since too much is under way in all. */
bool front_is_overfull(const struct front *f, size_t own);
extern const char FRONT_OVERFULL[]; /* says so */

#endif
