/* channel: one direction of the talk between editor and agent: lines in, the same bytes out.
 *
 * A line is kept until it is complete: half a line is no message, and may become one with what
 * follows. */
#ifndef CHANNEL_H
#define CHANNEL_H

#include "json_peek.h"
#include "str.h"

#include <stdbool.h>

enum {
	CHANNEL_LINE = 32 << 20, /* bytes of a message that can be held; the SDK's own limit */
	CHANNEL_MOST = 256 << 20, /* bytes of any line */
	CHANNEL_HIGH = 1 << 20, /* waiting for the reader: then nothing more is read */
};

/* What is done with what comes. */
struct channel_taker {
	/* A line with its end ("\n"; the last may have none), and what is known of it. It is passed
	 * on with channel_send, or not. */
	void (*take)(void *arg, const char *line, size_t length, const struct json_peek *peek);
	/* A line was longer than CHANNEL_MOST, and is gone. */
	void (*refuse)(void *arg, const struct json_peek *peek);
	void *arg;
};

struct channel {
	int from, to; /* non-blocking; -1: closed. Of the caller */
	const struct channel_taker *by;
	struct str line; /* that has not ended */
	struct json_peek peek;
	bool skips; /* it is too long to be kept */
	struct str queue; /* for the reader; */
	size_t sent; /* so much of it was written */
	bool is_broken; /* the reader is gone */
};

/* Reads what is there, unless the reader is behind. 0, or -1: there will be nothing more, and a
 * line without its end was taken. */
int channel_read(struct channel *c);
/* Whether more may be read now. */
bool channel_is_open(const struct channel *c);
/* Queues bytes for the reader, whole lines. */
void channel_send(struct channel *c, const char *bytes, size_t length);
/* Queues a message, to which it adds the end of its line. */
void channel_say(struct channel *c, struct str *message);
/* Writes what the reader takes. */
void channel_write(struct channel *c);
bool channel_is_empty(const struct channel *c);
void channel_clear(struct channel *c);

#endif
