/* telling: what a caller is told when its wait is over, and the steering with it. */
#ifndef TELLING_H
#define TELLING_H

#include "mcp.h"
#include "steering.h"

struct telling {
	struct str result; /* JSON object */
	bool is_error;
	bool is_answer; /* a person's final answer; not 'pending' */
	int64_t session_seq;
	char *traceparent; /* of the call (trace.h) or NULL */
	struct steering steering; /* goes with it */
};

/* Borrowed from s. */
struct mcp_said telling_said(const struct steering *s);

void telling_clear(struct telling *t);

#endif
