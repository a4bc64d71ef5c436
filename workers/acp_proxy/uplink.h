/* uplink: a connection to mcp-front for one question, and the system that it leads to. The front
 * takes it as it takes a hook (workers/hook): a greeting and one request; then, of ours, the
 * editor's answer. When it closes, the question is given up. */
#ifndef UPLINK_H
#define UPLINK_H

#include "contact.h"
#include "lines.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	UPLINK_LINE = 8 << 20, /* bytes of a line of the front's */
	UPLINK_DOWN_MS = 15000, /* a system that cannot be reached for so long is down */
	UPLINK_OPENING = 64, /* connections at once that the front has not greeted */
};

struct uplink_system {
	struct contact to;
	struct str refusal; /* why the one that we started refuses to start; empty: it does not */
	int64_t try_ms; /* when to try again */
	int opening; /* links that are not greeted yet */
};

/* All zero but fd: not connected. */
struct uplink {
	int fd; /* -1: none */
	bool greeted;
	struct lines in;
	struct str out;
};

#define UPLINK_INIT                                                                                \
	{                                                                                          \
		.fd = -1, .in = LINES_INIT(UPLINK_LINE)                                            \
	}

/* Whether it could not be reached for UPLINK_DOWN_MS, or refuses to start. */
bool uplink_system_is_down(const struct uplink_system *s, int64_t now_ms);
void uplink_system_clear(struct uplink_system *s);

/* Connects and greets, if it is time to try; starts: the system, if it does not run. Whether it has
 * connected now. */
bool uplink_open(struct uplink *l, struct uplink_system *s, bool starts, int64_t now_ms);
/* Whether it would, at try_ms. */
bool uplink_may_open(const struct uplink *l, const struct uplink_system *s);
void uplink_close(struct uplink *l, struct uplink_system *s);

/* Sends a line, which has no newline. */
void uplink_send(struct uplink *l, const char *line, size_t length);
/* Hands each line of the front to take; 0, or -1: it is gone. */
int uplink_read(struct uplink *l, struct uplink_system *s, lines_take *take, void *arg);
/* Writes what the front takes; 0 or -1. */
int uplink_write(struct uplink *l);

#endif
