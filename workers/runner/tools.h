/* tools: our MCP server, as an agent is offered it when its session begins: over HTTP with a token,
 * or as a program on its stdin and stdout.
 *
 * The token is random, of one run, and told to nobody but its agent, on its stdin: the row has its
 * SHA-256. mcp-front takes it as long as the run lives, for the session of that run. */
#ifndef TOOLS_H
#define TOOLS_H

#include "acp.h"
#include "runner.h"

/* All zero: nothing is offered. */
struct tools {
	struct str url; /* "": mcp-front serves no HTTP */
	struct str authorization; /* the value of the header */
	struct str program;
	struct str args, env; /* JSON lists */
};

/* Makes a token, and its row; again after an error. 0 or -1. */
int tools_open(struct tools *t, struct runner *r, struct err *e);
/* What of this goes into how; t must outlive the session. */
void tools_offer(const struct tools *t, struct acp_how *how);
void tools_clear(struct tools *t);

#endif
