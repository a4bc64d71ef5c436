/* slack-listener: what its parts share.
 *
 * link.c     one WebSocket, over libwebsockets
 * machine.c  when to open, replace and give up connections
 * take.c     one message: stored, then acknowledged
 * answers.c  whether other programs answer in the name of Slack
 * main.c     configuration, the loop
 *
 * Each builds on those before it; a link reports upward through struct link_events. */
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
	LISTENER_LINKS = 4, /* one, two during a hand-over, and those being closed */
	LISTENER_CURL_FDS = 16, /* libcurl's sockets; a connection has up to three */
	LISTENER_TELLS = 4, /* replies by response_url at the same time */
	LISTENER_CONNECT_MS = 10000,
	LISTENER_HELLO_MS = 10000,
	LISTENER_PING_MS = 15000, /* of silence before we send a PING */
	LISTENER_PONG_MS = 15000, /* without an answer to it: the connection is dead */
	LISTENER_DRAIN_MS = 2000, /* for what is on its way over a connection being replaced */
	LISTENER_CLOSE_MS = 1000, /* for the peer's part of the close handshake */
	LISTENER_SETTLED_MS = 60000, /* a connection up this long resets the backoff */
	LISTENER_BACKOFF_MS = 1000, /* upper bound of the first pause */
	LISTENER_FINAL_MS = 60000, /* between attempts while a person must act */
	LISTENER_CROWD_MIN_MS = 10000, /* too_many_websockets: a pause between these two */
	LISTENER_CROWD_MAX_MS = 60000,
	LISTENER_STORE_MS = 1500, /* how long the database may take; Slack waits for 3 s */
	LISTENER_MESSAGE_BYTES = 1 << 20, /* a longer message is acknowledged without being read */
	LISTENER_GAP_MS = 60000, /* of not hearing Slack, from which on people are told */
	LISTENER_TAIL_BYTES = 4096, /* kept of its end and of its beginning, where its id may be */
};

struct listener;
struct link;

enum link_state {
	LINK_FREE,
	LINK_CONNECTING, /* TCP, TLS, upgrade */
	LINK_WAIT_HELLO,
	LINK_READY,
	LINK_DRAINING, /* replaced: still takes messages, and writes its acks */
	LINK_CLOSING, /* our close frame is sent */
};

struct ack {
	STAILQ_ENTRY(ack) next;
	size_t length;
	unsigned char bytes[]; /* LWS_PRE bytes of padding, then the frame */
};

/* What a link reports, set in main.c. */
struct link_events {
	/* A complete message has arrived. too_long: only its beginning and its end. */
	void (*message)(struct link *link, const char *bytes, size_t length, bool too_long);
	/* The connection is gone; why says why. */
	void (*gone)(struct link *link, const char *why);
	/* Bell, signals or libcurl: something is ready. */
	void (*wake)(struct listener *l);
};

struct link {
	struct listener *listener;
	struct lws *wsi;
	enum link_state state;
	unsigned number; /* for the log */
	int64_t since_ms; /* monotonic: when this state started */
	int64_t heard_ms; /* monotonic: when we last received anything */
	int64_t pinged_ms; /* monotonic: our last PING */
	bool replace; /* Slack asked to replace it */
	bool ping; /* a PING is to be written */
	struct str in, tail; /* the message being received; the end of one that is too long */
	STAILQ_HEAD(ack_queue, ack) out;
};

struct listener {
	struct worker worker;
	const struct link_events *events;
	struct lws_context *context;
	int wake_fd; /* epoll of bell, signals and libcurl's sockets; watched by libwebsockets */
	lws_sorted_usec_list_t alarm;
	int curl_fds[LISTENER_CURL_FDS], curl_fd_count; /* in wake_fd during a wait */
	struct slack_web web;
	struct slack_call open; /* apps.connections.open */
	bool opening; /* that call is under way */
	struct slack_call tells[LISTENER_TELLS];
	struct link links[LISTENER_LINKS];
	unsigned opened; /* connections so far */
	int64_t heard_at_ms; /* unix: when a connection last received anything */
	bool hears; /* as far as gap.c has written down */
	bool rung; /* the bell has rung: check whether Slack is reachable again */
	int64_t lost_ms; /* unix: the last attempt that did not reach Slack; 0: a person must act,
	                  * or Slack wants the pause */
	int64_t next_ms; /* monotonic: do not open the next connection before */
	int64_t pause_ms; /* upper bound of the next pause */
	int64_t pause_max_ms;
	int warned; /* num_connections at the last warning */
	char state[200]; /* text in the worker's row */
	struct proof_key key; /* of the app token: signs what we answer in people's names */
	struct proof_look answers; /* how far answers were checked */
	char *bot_user; /* our own user id, NULL while unknown */
	struct err *failure; /* why the process must end */
};

/* ---- machine.c ---- */

/* Does what is due. Returns the monotonic instant of the next thing due. */
int64_t machine_step(struct listener *l);
void machine_hello(struct link *link, const struct slack_frame *f);
void machine_disconnect(struct link *link, const char *reason);
/* The connection of link is gone; why says why. */
void machine_gone(struct link *link, const char *why);
/* Stops opening connections; existing ones drain. */
void machine_stop(struct listener *l);
bool machine_is_stopped(const struct listener *l);
/* Makes the process end with e. */
void machine_fail(struct listener *l, const struct err *e);

/* ---- gap.c ---- */

/* Notes how long nobody heard Slack before this process. Errors are logged. */
void gap_start(struct listener *l);
/* Notes whether Slack is heard now. The first time after a longer gap in which sessions were open,
 * the channel is told. Errors are logged, and the next call tries again. */
void gap_look(struct listener *l, bool hears);

/* ---- answers.c ---- */

/* Checks new answers in the name of Slack; logs those that did not come through us. */
void answers_look(struct listener *l);

/* ---- link.c ---- */

/* The callback of libwebsockets. */
int link_callback(struct lws *wsi, enum lws_callback_reasons reason, void *user, void *in,
                  size_t length);
/* Starts connecting to the URL that Slack gave. The URL is a secret. */
int link_connect(struct link *link, const char *url, struct err *e);
/* Queues a message. */
void link_send(struct link *link, const char *text, size_t length);
void link_ping(struct link *link);
/* Sends a close frame after what is queued. */
void link_close(struct link *link);
/* Drops the connection as it is; link is free afterwards. */
void link_drop(struct link *link);

/* ---- take.c ---- */

/* Takes a complete message. too_long: only its beginning and its end. */
void take_frame(struct link *link, const char *bytes, size_t length, bool too_long);

#endif
