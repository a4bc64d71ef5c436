/* gate_client: the hook of an agent's own program, as mcp-front sees it: one request on the agents'
 * socket. */
#ifndef GATE_CLIENT_H
#define GATE_CLIENT_H

#include "str.h"

enum { GATE_PATIENCE_MS = 600000 };

struct gate_client {
	int fd;
	struct str bytes;
};

/* Connects to the socket in the run directory and greets. */
void gate_connect(struct gate_client *h);
/* The same with a greeting of the test's. */
void gate_greet(struct gate_client *h, const char *greeting);
/* Sends the event of a host with its input (JSON), for a hook that waits so long. */
void gate_send(struct gate_client *h, const char *host, const char *event, const char *input,
               int deadline_ms, const char *env);
/* The next line; NULL: the front has hung up. The caller frees it. */
char *gate_line(struct gate_client *h);
/* What the front decides: the member `result`, or with an error `error`. The caller frees it. */
char *gate_reply(struct gate_client *h);
void gate_close(struct gate_client *h);

/* All of it for an event of Claude Code in session "s1". */
char *gate_ask(const char *event, const char *input);
/* Sends it and returns: the answer comes later. */
struct gate_client gate_begin(const char *event, const char *input);
/* The answer, after which the hook ends. */
char *gate_end(struct gate_client *h);

/* The input of a tool of Claude Code: arguments is JSON. Valid until the eighth call after it. */
const char *tool_of(const char *session, const char *cwd, const char *tool, const char *arguments);

#endif
