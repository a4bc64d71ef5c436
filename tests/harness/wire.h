/* wire: a TCP connection to the front, on raw sockets, event streams included. What does not arrive
 * within AGENT_PATIENCE_MS fails the test. */
#ifndef WIRE_H
#define WIRE_H

#include "str.h"

#include <stdbool.h>
#include <stddef.h>

/* One TCP connection and the answer being read from it. */
struct wire {
	int fd;
	struct str in; /* bytes received but not yet parsed */
	int status; /* of the current answer */
	struct str head; /* its status line and headers */
	struct str body; /* of a stream: an incomplete event */
	long left; /* bytes of the body, or of its chunk, still to come; -1: until the end */
	bool chunked, ended;
};

struct event {
	char id[64]; /* "" if the event has none */
	struct str data;
};

/* w may hold anything before. */
void wire_open(struct wire *w, int port);
void wire_send(struct wire *w, const char *text);
void wire_send_bytes(struct wire *w, const void *bytes, size_t length);
/* Reads the next answer up to the end of its headers; returns its status. */
int wire_head(struct wire *w);
/* Reads the whole next answer; returns its status. */
int wire_answer(struct wire *w);
/* The same, but of a stream only the headers. */
int wire_plain(struct wire *w);
/* Whether the current answer is a stream of events. */
bool wire_is_stream(const struct wire *w);
/* A header of the current answer, NULL if missing. Valid until the next call. */
const char *wire_header(const struct wire *w, const char *name);
/* The next event of a stream, skipping comments; false: the stream has ended. e must be zeroed. */
bool wire_event(struct wire *w, struct event *e);
/* Whether the other side hangs up within ms; what it still sends is discarded. */
bool wire_is_cut_within(struct wire *w, int ms);
void wire_close(struct wire *w);
/* Ends it as the death of a process does: by a reset. */
void wire_break(struct wire *w);
void event_clear(struct event *e);

#endif
