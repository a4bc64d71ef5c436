/* telling: what a caller is told when its wait is over, and what goes with it. */
#ifndef TELLING_H
#define TELLING_H

#include "mcp.h"
#include "steering.h"

struct telling {
	struct str result; /* JSON object */
	bool is_error;
	bool is_answer; /* of a person, final; not 'pending' */
	int64_t session_seq;
	struct steering steering; /* what goes with it */
};

/* Borrowed from s. */
struct mcp_said telling_said(const struct steering *s);

void telling_clear(struct telling *t);

#endif
