/* sink: where replies go, whatever the transport: an HTTP request, or a relay's pipe. It is
 * reference counted, because its transport may vanish while a job or a waiter still points to
 * it. */
#ifndef SINK_H
#define SINK_H

#include "gate_host.h"
#include "lines.h"
#include "mcp.h"
#include "peer.h"

#include <event2/bufferevent.h>
#include <event2/http.h>
#include <sys/queue.h>

struct front;
struct waiter;
struct sink;

typedef void sink_take(struct sink *s);

/* What a transport provides. Any of these functions may end the sink. */
struct transport {
	/* Sends a reply, a whole JSON-RPC message. event_id: for a client that may resume, or
	 * NULL. */
	void (*reply)(struct sink *s, const struct str *message, const char *event_id);
	/* Sends a message that is not a reply; an empty one is a keep-alive. */
	void (*notify)(struct sink *s, const struct str *message, const char *event_id);
	/* Says that the reply will come later; NULL: it need not. */
	void (*wait)(struct sink *s, const char *event_id);
	/* Refuses the message: with an error reply, and the HTTP status where there is one. */
	void (*refuse)(struct sink *s, const char *rpc_id, const struct mcp_fault *fault);
	/* No reply will come; NULL: as above. status: for HTTP, if no stream was started. */
	void (*finish)(struct sink *s, int status);
	/* The transport checks that what it sends arrives; if not, it calls job_untold. */
	bool looks;
	/* Whether all that was sent has been read; NULL: it sends one reply. */
	bool (*has_read)(const struct sink *s);
};

struct sink {
	const struct transport *by;
	struct front *front;
	int holds; /* jobs and waiters that point here, plus the transport itself */
	bool gone; /* the reader has gone */
	struct peer *peer;
	struct evhttp_request *http; /* http or pipe, the other is NULL; NULL when gone */
	struct bufferevent *pipe;
	int expected; /* HTTP: replies still to come */
	bool streaming; /* HTTP: an event stream was started */
	bool initializes; /* HTTP: send no header before the result, which names the session */
	int fd; /* HTTP: watched for hang-up while streaming */
	struct lines lines; /* pipe */
	size_t unfinished; /* its share of front.unfinished; HTTP: of a message that is unread */
	bool full; /* pipe: its answers are not read; nothing more is read from it */
	bool overfull; /* pipe: the line that is being skipped would have been too much for all */
	int64_t *told; /* calls whose results are being sent, or have not been read yet */
	size_t told_count;
	int held; /* waiters */
	int asking; /* calls of the current transaction that will wait */
	bool greeted; /* pipe: its first line has arrived */
	const struct gate_host *hook_host; /* pipe of a hook; else NULL */
	const struct gate_event_name *hook_event;
	struct str hook_params; /* of its question, without its input */
	int64_t editor_call; /* tool_call.seq of the question that its editor may answer; 0: none */
	LIST_HEAD(, waiter) waiters;
	LIST_ENTRY(sink) in_pipes; /* pipe: of front.pipes; event stream: of front.streams */
	sink_take *take; /* of its big message, which waits to be parsed; NULL: none does */
	STAILQ_ENTRY(sink) in_unread;
	bool ends_session; /* event stream of 2024-11-05: when it ends, so does the connection */
};

struct sink *sink_new(struct front *f, struct peer *peer, const struct transport *by);
void sink_hold(struct sink *s);
void sink_drop(struct sink *s);

/* Whether the caller has hung up, even if the event for that is not processed yet, as after a pause
 * in reading. */
bool sink_has_hung_up(const struct sink *s);

/* The next reply carries the result of a call; 0: of none. */
void sink_tells(struct sink *s, int64_t call_seq);
/* What was sent may have been read in the meantime. */
void sink_look(struct sink *s);
/* Replies with a complete result object. */
void sink_reply(struct sink *s, const char *rpc_id, const struct str *result);
/* One of the replies that were expected is not sent here; without another one, the stream ends. */
void sink_owes_less(struct sink *s);
/* The reply will come later. */
void sink_wait(struct sink *s, const char *event_id);
/* Refuses with a JSON-RPC error that has no special HTTP status. */
void sink_refuse(struct sink *s, const char *rpc_id, int code, const char *text);

#endif
