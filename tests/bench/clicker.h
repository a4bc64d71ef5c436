/* clicker: an operator who clicks on Approve in the fake Slack. */
#ifndef CLICKER_H
#define CLICKER_H

#include "bench.h"

struct clicker {
	struct caller fake;
	long long heard; /* the last number of the fake's log that we have seen */
};

/* Connects, and waits until clicks are heard. */
void clicker_open(struct clicker *c, int port);
void clicker_close(struct clicker *c);
/* The count-th click: approves that request. */
void clicker_click(struct clicker *c, const char *request_id, int count);
/* When the next log entry of that name was made, CLOCK_MONOTONIC. */
int64_t clicker_happened_ns(struct clicker *c, const char *name);
/* The number behind name in text; ends if there is none. */
long long clicker_number(const char *text, const char *name);

#endif
