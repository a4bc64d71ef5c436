/* sink: where replies go, whatever the transport: an HTTP request, or a relay's pipe. It is
 * counted, because its transport may vanish while a job or a waiter still points to it. */
#ifndef SINK_H
#define SINK_H

#include "lines.h"
#include "mcp.h"
#include "peer.h"

#include <event2/bufferevent.h>
#include <event2/http.h>
#include <sys/queue.h>

struct front;
struct waiter;
struct sink;

/* What a transport does for the others. Any of these may end the sink. */
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
	/* It looks whether what it has sent arrives, and queues JOB_UNTOLD for each call of
	 * sink.told if not. */
	bool looks;
};

struct sink {
	const struct transport *by;
	struct front *front;
	int holds; /* jobs and waiters that point here, and the transport itself */
	bool gone; /* the reader has gone */
	struct peer *peer; /* owned */
	struct evhttp_request *http; /* one of these two; NULL when gone */
	struct bufferevent *pipe;
	int expected; /* HTTP: replies still to come */
	bool streaming; /* HTTP: an event stream has been started */
	bool initializes; /* HTTP: only a result names the session, so no header goes before it */
	int fd; /* HTTP: watched for hang-up while streaming */
	struct lines lines; /* pipe */
	size_t unfinished; /* pipe: what it has in front.unfinished */
	int64_t *told; /* calls whose results are being sent */
	size_t told_count;
	int held; /* waiters */
	int asking; /* calls of the transaction at hand that will wait */
	bool greeted; /* pipe: its first line has come */
	LIST_HEAD(, waiter) waiters;
	LIST_ENTRY(sink) in_pipes; /* pipe: of front.pipes; event stream: of front.streams */
	bool ends_session; /* event stream of 2024-11-05: its end is the end of the connection */
};

struct sink *sink_new(struct front *f, struct peer *peer, const struct transport *by);
void sink_hold(struct sink *s);
void sink_drop(struct sink *s);

/* Whether its caller has hung up, though the event that says so has not been looked at yet: as
 * after a moment in which nothing was read. */
bool sink_has_hung_up(const struct sink *s);

/* The next reply has the result of a call. */
void sink_tells(struct sink *s, int64_t call_seq);
/* Replies with a result object that is whole. */
void sink_reply(struct sink *s, const char *rpc_id, const struct str *result);
/* Refuses with a JSON-RPC error that has no HTTP status of its own. */
void sink_refuse(struct sink *s, const char *rpc_id, int code, const char *text);

#endif
