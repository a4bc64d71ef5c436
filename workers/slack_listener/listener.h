/* slack-listener: what its parts share.
 *
 * link.c     one WebSocket, over libwebsockets
 * machine.c  when to open, replace and give up connections
 * take.c     one message: stored, then acknowledged
 * answers.c  whether others answer in the name of Slack
 * main.c     configuration, the loop
 *
 * Each stands on those before it; a link tells what happens to it by struct link_events. */
#ifndef LISTENER_H
#define LISTENER_H

#include "payload.h"
#include "proof.h"
#include "str.h"
#include "web.h"
#include "worker.h"

#include <libwebsockets.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

enum {
	LISTENER_LINKS = 4, /* one, two in a hand-over, and those that are being closed */
	LISTENER_CURL_FDS = 16, /* libcurl's sockets; one connection has up to three */
	LISTENER_TELLS = 4, /* answers by response_url at one time */
	LISTENER_CONNECT_MS = 10000,
	LISTENER_HELLO_MS = 10000,
	LISTENER_PING_MS = 15000, /* of silence, then we ask */
	LISTENER_PONG_MS = 15000, /* without an answer to that: the connection is dead */
	LISTENER_DRAIN_MS = 2000, /* for the acks of one that is replaced */
	LISTENER_CLOSE_MS = 1000, /* for the peer's part of closing */
	LISTENER_SETTLED_MS = 60000, /* a connection up this long resets the backoff */
	LISTENER_BACKOFF_MS = 1000, /* the first pause, at most */
	LISTENER_FINAL_MS = 60000, /* between attempts while a person must act */
	LISTENER_CROWD_MIN_MS = 10000, /* too_many_websockets: between these two */
	LISTENER_CROWD_MAX_MS = 60000,
	LISTENER_STORE_MS = 1500, /* how long the database may take; Slack waits for 3 s */
	LISTENER_MESSAGE_BYTES = 1 << 20, /* what is longer is not read, but acknowledged */
	LISTENER_TAIL_BYTES = 4096, /* of its end, and of its beginning: where its id may stand */
};

struct listener;
struct link;

enum link_state {
	LINK_FREE,
	LINK_CONNECTING, /* TCP, TLS, upgrade */
	LINK_WAIT_HELLO,
	LINK_READY,
	LINK_DRAINING, /* replaced: its acks are written, and what still comes is taken */
	LINK_CLOSING, /* our close frame is out */
};

struct ack {
	STAILQ_ENTRY(ack) next;
	size_t length;
	unsigned char bytes[]; /* LWS_PRE, then the frame */
};

/* What a link tells the others, set in main.c. */
struct link_events {
	/* One whole message has come. too_long: its beginning and its end only. */
	void (*message)(struct link *link, const char *bytes, size_t length, bool too_long);
	/* The connection is gone, and why. */
	void (*gone)(struct link *link, const char *why);
	/* Bell, signals or libcurl: something is there. */
	void (*wake)(struct listener *l);
};

struct link {
	struct listener *listener;
	struct lws *wsi;
	enum link_state state;
	unsigned number; /* for the log */
	int64_t since_ms; /* monotonic: when this state began */
	int64_t heard_ms; /* monotonic: the last sign of life */
	int64_t pinged_ms; /* monotonic: our last PING */
	bool replace; /* Slack wants it replaced */
	bool ping; /* one is to be written */
	struct str in, tail; /* the message that is coming; the end of one that is too long */
	STAILQ_HEAD(ack_queue, ack) out;
};

struct listener {
	struct worker worker;
	const struct link_events *events;
	struct lws_context *context;
	int wake_fd; /* epoll: bell, signals, libcurl's sockets; a part of libwebsockets' loop */
	lws_sorted_usec_list_t alarm;
	int curl_fds[LISTENER_CURL_FDS], curl_fd_count; /* in wake_fd during a wait */
	struct slack_web web;
	struct slack_call open; /* apps.connections.open */
	bool opening; /* it is under way */
	struct slack_call tells[LISTENER_TELLS];
	struct link links[LISTENER_LINKS];
	unsigned opened; /* connections so far */
	bool rung; /* the bell was: is Slack there again? */
	int64_t lost_ms; /* unix: the last attempt that did not reach Slack; 0: a person must act,
	                    or Slack wants the pause */
	int64_t next_ms; /* monotonic: not before this is the next one opened */
	int64_t pause_ms; /* the most that the next pause may last */
	int64_t pause_max_ms;
	int warned; /* num_connections that was warned about */
	char state[200]; /* as the worker's row has it */
	struct proof_key key; /* of the app token: what we answer in the name of people is proved */
	struct proof_look answers; /* how far answers were looked at */
	char *bot_user; /* our own user id, NULL where nobody has said it yet */
	struct err *failure; /* why the process must end */
};

/* ---- machine.c ---- */

/* Does what is due; the monotonic instant when something is due next. */
int64_t machine_step(struct listener *l);
void machine_hello(struct link *link, const struct slack_frame *f);
void machine_disconnect(struct link *link, const char *reason);
/* The connection of link is gone, and why. */
void machine_gone(struct link *link, const char *why);
/* All are replaced by nobody. */
void machine_stop(struct listener *l);
bool machine_is_stopped(const struct listener *l);
/* The process must end. */
void machine_fail(struct listener *l, const struct err *e);

/* ---- answers.c ---- */

/* Looks at what was answered in the name of Slack since; what did not come through us is told. */
void answers_look(struct listener *l);

/* ---- link.c ---- */

/* How libwebsockets calls us. */
int link_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                  size_t length);
/* Begins a connection to the address that Slack gave. The address is a secret. */
int link_connect(struct link *link, const char *url, struct err *e);
/* Queues a message. */
void link_send(struct link *link, const char *text, size_t length);
void link_ping(struct link *link);
/* Sends a close frame behind what is queued. */
void link_close(struct link *link);
/* Gives up the connection as it is; link is free. */
void link_drop(struct link *link);

/* ---- take.c ---- */

/* One whole message has come. too_long: its beginning and its end only. */
void take_frame(struct link *link, const char *bytes, size_t length, bool too_long);

#endif
