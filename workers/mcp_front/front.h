/* front: what the parts of mcp-front share.
 *
 *   http.c, pipe.c   two transports: they take messages in and give them to turn.c
 *   ipc.c            the socket of the seeds, for local programs that answer
 *   turn.c           one loop turn: all jobs that came in, one transaction, then the replies
 *   tasks.c          calls that their clients take as tasks; who listens for them
 *   resources.c      what agents read; who reads a Slack channel is held until it is there
 *   elicitation.c    questions that a client of the legacy era shows to its own user
 *   policies.c       the policy files of the workspaces in use
 *   nudges.c         nudges, said on open streams besides
 *   wait.c           callers whose answer comes later: woken by the table answer, fed with progress
 *
 *   sink.c           where replies go, whatever the transport
 *
 * Calls go down this list only, but for what a transport puts into struct transport, and for the
 * jobs of a turn, which all may queue. A sink is an HTTP request, or a relay's pipe. It is counted,
 * because its transport may vanish while a job or a waiter still points to it. */
#ifndef FRONT_H
#define FRONT_H

#include "call.h"
#include "id.h"
#include "jsonrpc.h"
#include "lines.h"
#include "mcp.h"
#include "peer.h"
#include "policy_file.h"
#include "worker.h"

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <sys/queue.h>

enum {
	FRONT_MAX_MESSAGE = 4 << 20, /* bytes of one message */
	FRONT_MAX_OUTPUT = 1 << 20, /* unread bytes of a held caller: then it is cut off */
	FRONT_HEADER_BYTES = 16 << 10,
	FRONT_READ_SECONDS = 10, /* between two bytes of a request */
	FRONT_REQUEST_SECONDS = 10, /* between a request's first byte and its last */
	FRONT_PROGRESS_SECONDS = 15, /* between two signs of life to a waiting caller */
	FRONT_RETRY_MS = 2000, /* what a cut client waits before it comes back */
	FRONT_TRY_AGAIN_SECONDS = 1, /* after a transaction that could not be had */
	FRONT_MAX_BATCH = 100, /* messages */
	FRONT_BIG_CALL = 256 << 10, /* bytes: such a call commits alone */
	FRONT_SPARE_FDS = 64, /* kept free for files and the database */
	FRONT_MAX_LISTENED = 100, /* tasks of one subscriptions/listen */
	FRONT_ELICIT_ID_BYTES = 40, /* id of a request of ours, as a JSON token */
	FRONT_MAX_HELD = 1000, /* calls and subscriptions of one connection that wait */
	FRONT_MAX_LISTENS = 2000, /* subscriptions/listen in all */
	FRONT_MAX_UNFINISHED = 64 << 20, /* bytes of messages that have not come whole, in all; */
	FRONT_SMALL_MESSAGE = FRONT_HEADER_BYTES, /* up to here nobody is refused for that */
};

struct front;
struct waiter;
struct arrival;
struct ipc_caller;

struct sink;

/* What a transport does for turn.c and wait.c. Any of these may end the sink. */
struct transport {
	/* Gives a reply, a whole JSON-RPC message. event_id: for a client that may resume, or NULL.
	 */
	void (*reply)(struct sink *s, const struct str *message, const char *event_id);
	/* Gives a message that is no reply; an empty one is a sign of life. */
	void (*notify)(struct sink *s, const struct str *message, const char *event_id);
	/* Says that the reply will come later. */
	void (*wait)(struct sink *s, const char *event_id);
	/* Refuses what was sent: as a reply, with the HTTP status where there is one. */
	void (*refuse)(struct sink *s, const char *rpc_id, const struct mcp_fault *fault);
	/* No reply will come. status: for HTTP, where no stream has been started. */
	void (*finish)(struct sink *s, int status);
};

struct sink {
	const struct transport *by;
	struct front *front;
	int holds; /* jobs and waiters that point here, and the transport itself */
	bool gone; /* nobody reads any more */
	struct peer *peer; /* owned */
	struct evhttp_request *http; /* one of these two; NULL when gone */
	struct bufferevent *pipe;
	int expected; /* HTTP: replies still to come */
	bool streaming; /* HTTP: an event stream has been started */
	int fd; /* HTTP: watched for hang-up while streaming */
	struct lines lines; /* pipe */
	size_t unfinished; /* pipe: what it has in front.unfinished */
	int held; /* waiters */
	int asking; /* calls of the transaction at hand that will wait */
	bool greeted; /* pipe: its first line has come */
	LIST_HEAD(, waiter) waiters;
	LIST_ENTRY(sink) in_pipes; /* pipe: of front.pipes; event stream: of front.streams */
	bool ends_session; /* event stream of 2024-11-05: its end is the end of the connection */
};

enum job_kind {
	JOB_CALL,
	JOB_INITIALIZE,
	JOB_CANCEL, /* notifications/cancelled */
	JOB_READ, /* resources/read of a Slack channel */
	JOB_SAID, /* the caller of a broadcast has been told where it stands, or is gone */
	JOB_TASK, /* tasks/get, tasks/update, tasks/cancel */
	JOB_ELICITED, /* the response to a request of ours */
	JOB_RESUME, /* GET with Last-Event-ID */
	JOB_REOPEN, /* a relay came back */
	JOB_END, /* DELETE, or a relay is gone */
	JOB_HANG_UP, /* a caller that may come back is gone */
	JOB_DROP, /* a modern caller is gone: that cancels its call */
};

/* One thing to do in the next turn. */
struct job {
	STAILQ_ENTRY(job) next;
	enum job_kind kind;
	struct sink *sink;
	struct rpc_message message; /* CALL, INITIALIZE, CANCEL, TASK, ELICITED */
	const char *version; /* CALL, INITIALIZE: the revision that the reply is in */
	struct call call; /* CALL */
	int64_t call_seq; /* RESUME, HANG_UP, TASK, SAID, ELICITED; CALL: one that came again */
	int64_t started_ms; /* RESUME, old CALL: unix, when its wait began */
	int64_t had_seq, had_session; /* of the peer before the transaction */
	bool refused; /* the reply is this error; */
	struct mcp_fault fault;
	struct str result; /* else this result object, */
	bool whole; /* CALL: that of the method, not only of the tool: a task has been made */
	struct str said; /* what the operator says with it, */
	bool waits; /* unless it comes later */
	bool parked; /* CALL: its session is paused; */
	int64_t read_seq; /* READ: the slack_read that it waits for; 0: fault.text says why not */
	int64_t park_seq; /* what its caller is held as (below 0), 0: not held yet; */
	int64_t park_ms; /* monotonic: since when, */
	int64_t end_ms; /* or until when */
	bool untold; /* RESUME, old CALL: its wait is over, and nobody was told */
};

STAILQ_HEAD(job_queue, job);

/* A result that has been handed over, until the next turn writes that down. */
struct told {
	STAILQ_ENTRY(told) next;
	int64_t call_seq;
	struct telling telling;
};

STAILQ_HEAD(told_queue, told);

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
	int64_t seq; /* below 0: no call, a subscriptions/listen that is held open */
	int64_t started_ms; /* unix */
	int64_t progress; /* the last that was told */
	LIST_HEAD(, waiter) waiters;
};

struct front {
	struct worker worker;
	struct event_base *base;
	struct evhttp *http;
	struct event *turn, *bell, *signal, *clock, *beat, *hang_up, *accept, *patience;
	struct evconnlistener *http_listener; /* evhttp owns it */
	struct arrival *arrivals; /* by descriptor: when a request began to come in */
	int arrival_count;
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
	struct job_queue soon; /* what waits for slack-poster */
	struct told_queue told;
	TAILQ_HEAD(, waiter) line;
	void *held; /* tree of held_call by seq */
	int64_t listen_seq; /* below 0: the last subscriptions/listen that was held */
	int64_t answer_seq; /* the last answer that was looked at */
	int listens; /* that are held */
	size_t unfinished; /* bytes of messages that have not come whole */
	int max_fd; /* callers on descriptors from here on are turned away */
	int64_t progress_ms;
	int64_t http_port;
	cJSON *allow_uids; /* of others who may ask over HTTP */
	struct call_settings settings;
	struct str default_workspace;
	struct policy_files policies;
	int policy_fd; /* inotify */
	struct event *policy_event;
	bool has_notes; /* the next turn has something to write, besides its jobs */
	struct err *failure; /* why the loop ended, if it did not end well */
};

/* ---- turn.c ---- */

/* Queues a job; the turn runs when the transports have nothing more to hand in. Takes over
 * message; counts the sink. */
struct job *front_queue(struct front *f, enum job_kind kind, struct sink *sink,
                        struct rpc_message *message);
/* Takes one message of a peer: answers it at once, or queues it. Takes over message. */
void front_take(struct front *f, struct sink *sink, struct rpc_message *message);
/* Lets the turn come, once the transports have had a look. */
void front_turn_soon(struct front *f);
/* Runs the queued jobs. libevent callback; arg is the front. */
void front_turn(evutil_socket_t fd, short what, void *arg);
/* Lets calls go whose session is not paused any more, or that have waited for long enough. */
void front_look_at_parked(struct front *f);
void front_job_free(struct job *job);
/* Replies to a call with its result. */
void front_finish_call(struct job *job);
/* Whether a job that is held got no caller any more: that has gone, or cancelled it (and is told).
 */
bool front_job_is_over(struct front *f, struct job *job);
/* Says nudges on the open streams of their agents (nudges.c). */
void front_tell_nudges(struct front *f);
/* Gives up what could not be written before the end. */
void front_clear(struct front *f);
/* The transport of a sink is gone: waiting calls are told, the peer's rows too if it was a
 * process. */
void front_gone(struct sink *s);

/* ---- resources.c ---- */

/* Does one of the methods of resources; takes m over where it is queued. */
void resource_take(struct front *f, struct sink *sink, struct rpc_message *m, const char *version,
                   enum mcp_method method);
/* Has a channel read. Inside the transaction. */
int resource_run(struct front *f, struct job *job, struct err *e);
/* Replies or holds the caller; takes over the job. */
void resource_reply(struct front *f, struct job *job);
/* Replies if the channel has been read, or it is too late for that: true. */
bool resource_is_answered(struct front *f, struct job *job, bool late);

/* ---- soon.c ---- */

/* Replies to a job (READ, or the CALL of a broadcast) when slack-poster has done its part, at the
 * latest in ms; takes over the job. */
void front_wait_for_poster(struct front *f, struct job *job, int64_t ms);
/* Replies to those whose answer is there, or who have waited for long enough. */
void front_look_at_soon(struct front *f);
/* The same as libevent callback; arg is the front. */
void front_on_patience(evutil_socket_t fd, short what, void *arg);

/* ---- views.c ---- */

/* Has the files shown that operators ask to see. */
void front_look_at_views(struct front *f);

/* ---- tasks.c ---- */

/* Makes the result of a call that waits as a task. Inside the transaction. */
int task_make(struct front *f, struct job *job, struct err *e);
/* Does one of the methods of tasks. Inside the transaction. */
int task_run(struct front *f, struct job *job, struct err *e);
/* subscriptions/listen: acknowledged, then held open. */
void task_listen(struct front *f, struct sink *sink, const struct rpc_message *m);
/* notifications/cancelled for one of them, which has no row. id: its canonical spelling. */
void task_stop_listening(struct front *f, struct sink *sink, const char *id);

/* ---- elicitation.c ---- */

/* Has the client show the question of a call that waits to its user, if it can and may. */
void elicitation_begin(struct front *f, struct sink *sink, int64_t call_seq, const char *version);
/* Has it take the question away again. */
void elicitation_withdraw(struct sink *sink, int64_t call_seq);
/* Whether a message of a client answers a request of ours. */
bool elicitation_answers(const struct rpc_message *m);
/* Takes what the client's user said. Inside the transaction. */
int elicitation_run(struct front *f, struct job *job, struct err *e);

/* ---- policies.c ---- */

int policies_start(struct front *f, struct err *e);
void policies_stop(struct front *f);
/* The policy of a workspace as it is now; never NULL. From here on its changes are noticed. */
struct policy_file *policies_of(struct front *f, const char *workspace_root);
/* Writes which versions were found. Inside a transaction. */
void policies_write(struct front *f);
/* It is on disk. */
void policies_written(struct front *f);

/* ---- wait.c ---- */

/* Holds a caller until call_seq is answered. */
void front_hold(struct front *f, struct sink *sink, int64_t call_seq, int64_t started_ms,
                const char *rpc_id, const char *progress_token, bool modern);
/* Tells a subscriptions/listen when the task of call_seq ends. listen_id: JSON token. */
void front_subscribe(struct front *f, struct sink *sink, int64_t call_seq, const char *listen_id);
/* Forgets a waiter. Returns whether it was the last one of its call. */
bool front_forget(struct front *f, struct waiter *w);
/* Forgets all waiters of a call; they get their replies elsewhere. */
void front_release(struct front *f, int64_t call_seq);
/* The call was cancelled: its waiters get no reply any more, its subscriptions are told. */
void front_let_go(struct front *f, int64_t call_seq);
/* Hands over the answer of a call that has one to those who wait for it. -1: the database could not
 * be read, and it is to be tried again. */
int front_answer_call(struct front *f, int64_t call_seq);
/* Looks for new answers and hands them over. The bytes leave first; the next turn, which comes when
 * the transports have nothing more to do, writes that they have left. */
void front_answer(struct front *f);
/* Writes down what was handed over. Inside a transaction; a call of which that cannot be written
 * stays 'answered', and a client that asks again is told again. */
void front_write_told(struct front *f);
/* It is on disk. */
void front_forget_told(struct front *f);
/* The client has answered what it was asked to show for this call: there is nothing to withdraw. */
void front_elicited(struct front *f, int64_t call_seq);
/* Sends the signs of life that are due and sets the clock for the next one. */
void front_progress(evutil_socket_t fd, short what, void *arg);
bool front_is_held(struct front *f, int64_t call_seq);
/* Whether a connection may wait for so many things more; if not, e says why. */
bool front_has_room(const struct sink *s, int more, struct err *e);

/* ---- sink.c ---- */

struct sink *sink_new(struct front *f, struct peer *peer, const struct transport *by);
void sink_hold(struct sink *s);
void sink_drop(struct sink *s);
/* Ends the loop because of e (kept until the loop has ended). */
void front_fail(struct front *f, const struct err *e);
/* Refuses with a JSON-RPC error that has no HTTP status of its own. */
void sink_refuse(struct sink *s, const char *rpc_id, int code, const char *text);
/* Counts what has come of a message that is not whole: now is what was before. */
void front_count(struct front *f, size_t *before, size_t now);
/* Whether a message that has come so far must be refused, since too much is under way in all. */
bool front_is_overfull(const struct front *f, size_t own);
extern const char FRONT_OVERFULL[]; /* says so */

/* ---- http.c ---- */

int http_start(struct front *f, struct err *e);
void http_stop(struct front *f);

/* ---- pipe.c ---- */

int pipe_start(struct front *f, struct err *e);
void pipe_stop(struct front *f);
/* Whether the process at the other end of a unix socket runs under our uid. */
bool socket_is_ours(int fd);
/* Listens on a unix socket of this name (mode 0600) in the run directory; NULL on error. */
struct evconnlistener *socket_listen(struct front *f, const char *name, evconnlistener_cb on_caller,
                                     struct err *e);

/* ---- ipc.c ---- */

int ipc_start(struct front *f, struct err *e);
void ipc_stop(struct front *f);

#endif
