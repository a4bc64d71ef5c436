/* front: the state of mcp-front that its parts share, and the limits that apply to all of them.
 * The files, by subject:
 *
 *   front, sink        state; where replies go, whatever the transport
 *   activation         sockets that systemd has opened
 *   job, shelf, hold   one thing to do in the next turn; callers whose answer comes later
 *   hand_queue, hand_places, hand_firsts, hands
 *                      file work, in separate processes
 *   elicitation        questions that a legacy client shows to its own user
 *   editor             questions of hooks that an editor shows to its user
 *   tell               delivers answers to held callers
 *   await_slack, park  callers held for slack-poster; callers held because their session is paused
 *   tasks, resources, broadcasts, calls, connections, channels, hooks, policies, nudges,
 *   show_files         the work itself
 *   jobs, turn         the table of job kinds; one turn of the loop
 *   big, ahead         steps of the work on big messages, between the turns
 *   guests, guests_place, allowance
 *                      agents of other users; how much they may have recorded
 *   take               messages from a peer: answered at once, or queued as jobs
 *   unread             big messages that are not parsed yet
 *   http_arrivals, http_reply, http_callers, http_token, http; socket, pipe, hook_pipe; ipc
 *                      the transports, and the JSON socket for local programs
 *   main               puts them together */
#ifndef FRONT_H
#define FRONT_H

#include "activation.h"
#include "allowance.h"
#include "guests.h"
#include "hold.h"
#include "id.h"
#include "policy_file.h"
#include "tell.h"
#include "worker.h"

#include <event2/event.h>
#include <event2/listener.h>

enum {
	FRONT_MAX_MESSAGE = 4 << 20, /* bytes in one message */
	/* Unread bytes of answers above which nothing more is taken from their reader, and above
	 * which it is cut off: many big answers to what had been taken by then. */
	FRONT_FULL_OUTPUT = 1 << 20,
	FRONT_MAX_OUTPUT = 64 << 20,
	FRONT_HEADER_BYTES = 16 << 10,
	FRONT_REQUEST_SECONDS = 10, /* for a request to arrive, and for its first byte */
	FRONT_PROGRESS_SECONDS = 15, /* between two keep-alives to a waiting caller */
	FRONT_RETRY_MS = 2000, /* how long a disconnected client waits before it reconnects */
	FRONT_TRY_AGAIN_SECONDS = 1, /* after a transaction could not be started */
	FRONT_BIG_CALL = 256 << 10, /* bytes; a larger call commits alone */
	FRONT_SPARE_FDS = 64, /* kept free for files and the database */
	FRONT_MAX_LISTENED = 100, /* tasks of one subscriptions/listen */
	FRONT_MAX_HELD = 1000, /* waiting calls and subscriptions per connection */
	FRONT_MAX_LISTENS = 2000, /* subscriptions/listen in all */
	FRONT_MAX_UNFINISHED = 64 << 20, /* bytes of incomplete messages in total; */
	FRONT_SMALL_MESSAGE = FRONT_HEADER_BYTES, /* up to this size never refused for it */
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
	struct event *searcher; /* the process that looks for callers is lost */
	struct evconnlistener *http_listener; /* evhttp owns it */
	struct arrival *arrivals; /* by descriptor: when its current request started to arrive */
	int arrival_count;
	struct bufferevent **newcomers; /* connections not yet checked */
	size_t newcomer_count;
	struct event *newcomer_event; /* checks them at the end of the pass */
	struct event *look; /* at connections that are to send a request */
	int refused_count; /* callers that were refused since the last log line */
	int64_t refused_ms; /* monotonic: when the next log line is allowed */
	struct str refused_why; /* reason for the last refusal */
	int64_t swept_ms; /* monotonic: when closed connections were last removed from arrivals */
	int hang_up_fd; /* epoll of the held HTTP connections */
	struct evconnlistener *pipe_listener, *ipc_listener;
	struct guests guests;
	struct allowance *allowances; /* of other users */
	size_t allowance_count;
	int64_t recorded_bytes; /* the whole of one */
	struct activation activation;
	LIST_HEAD(, ipc_caller) ipc_pipes;
	int ipc_callers;
	bool ipc_requires_token;
	char ipc_token[SECRET_BYTES]; /* "": no token required */
	LIST_HEAD(, sink) pipes;
	LIST_HEAD(, sink) streams; /* event streams of revision 2024-11-05 */
	STAILQ_HEAD(, sink) unread; /* callers whose big message waits to be parsed */
	bool has_read_big; /* since memory was last given back */
	struct job_queue jobs;
	struct job_queue bigs; /* calls with long texts, which are done in steps */
	struct event *big; /* does the next step of these, or parses the next message */
	bool (*big_step)(struct front *f); /* how; false: there is none */
	bool big_waited; /* it has let a turn go first */
	int64_t big_rest_ms; /* monotonic: not before */
	struct job_queue parked; /* calls of paused sessions */
	struct job_queue awaiting_slack; /* jobs that wait for slack-poster */
	struct hands *hands; /* jobs that wait for files */
	struct view *view; /* files about to be shown to an operator */
	struct told_queue told, told_words;
	TAILQ_HEAD(, waiter) line;
	void *held; /* tree of held_call by seq */
	int64_t listen_seq; /* below 0: number of the last held subscriptions/listen */
	int64_t answer_seq; /* the last answer processed */
	int listens; /* subscriptions/listen now held */
	size_t unfinished; /* bytes of incomplete messages */
	int max_fd; /* callers on descriptors from here on are refused */
	int64_t progress_ms;
	int request_seconds;
	int64_t http_port;
	int64_t http_try_ms; /* monotonic: HTTP is off and retried then; 0: it is on */
	cJSON *allow_uids; /* other users who may connect */
	struct call_settings settings;
	struct str default_workspace;
	struct policy_files policies;
	int policy_fd; /* inotify */
	struct event *policy_event;
	bool turned; /* a turn ran since free memory was last given back */
	bool has_notes; /* the next turn has something to write even without jobs */
	struct err *failure; /* why the loop ended, if it failed */
};

/* Ends the loop because of e, which must stay valid until the loop has ended. */
void front_fail(struct front *f, const struct err *e);
/* Accounts for the bytes of an incomplete message: now replaces *before. */
void front_count(struct front *f, size_t *before, size_t now);
/* Whether an incomplete message of own bytes must be refused because all of them together exceed
 * the limit. */
bool front_is_overfull(const struct front *f, size_t own);
extern const char FRONT_OVERFULL[]; /* the message for that */
/* Lets a timer end in ms, at least 1. */
void front_in(struct event *timer, int64_t ms);
/* Free an event, or a listener, if there is one; it is then NULL. */
void front_drop(struct event **event);
void front_deafen(struct evconnlistener **listener);

#endif
