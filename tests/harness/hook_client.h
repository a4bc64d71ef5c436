/* hook_client: the hook of an agent's own program, as mcp-front sees it: one request on the agents'
 * socket. */
#ifndef HOOK_CLIENT_H
#define HOOK_CLIENT_H

#include "str.h"

enum { HOOK_PATIENCE_MS = 600000 };

struct hook_client {
	int fd;
	struct str bytes;
};

/* Connects to the socket in the run directory and greets. */
void hook_connect(struct hook_client *h);
/* Sends the event of a host with its input (JSON), for a hook that waits so long. */
void hook_send(struct hook_client *h, const char *host, const char *event, const char *input,
               int deadline_ms, const char *env);
/* The next line; NULL: the front has hung up. The caller frees it. */
char *hook_line(struct hook_client *h);
/* What the front decides: the member `result`, or with an error `error`. The caller frees it. */
char *hook_answer(struct hook_client *h);
void hook_close(struct hook_client *h);

/* All of it for an event of Claude Code in session "s1". */
char *hook_ask(const char *event, const char *input);
/* Sends it and returns: the answer comes later. */
struct hook_client hook_begin(const char *event, const char *input);
/* The answer, after which the hook ends. */
char *hook_end(struct hook_client *h);

/* The input of a tool of Claude Code: arguments is JSON. Valid until the eighth call after it. */
const char *tool_of(const char *session, const char *cwd, const char *tool, const char *arguments);

#endif
