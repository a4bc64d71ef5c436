/* relay: an MCP client on stdin and stdout of `agent-intercom mcp`. */
#ifndef RELAY_H
#define RELAY_H

#include "site.h"
#include "str.h"

#include <sys/types.h>

struct relay {
	pid_t pid;
	int in, out;
	struct str bytes;
	int id;
};

/* Starts `agent-intercom mcp` with arguments (NULL-terminated; NULL: none) in folder. environment:
 * NULL for that of the test. */
void relay_start(struct relay *r, const char *folder, char *const *environment,
                 const char *const *arguments);
/* Starts a relay by another program, which becomes it: argv, of the test's environment. */
void relay_start_as(struct relay *r, const char *folder, const char *const *argv);
void relay_send(struct relay *r, const char *line);
/* The next line, without its newline; NULL at the end. The caller frees it. */
char *relay_line(struct relay *r);
/* Initializes; returns the answer. */
void relay_hello(struct relay *r);
/* Sends tools/call and returns; its id is r->id. */
void relay_begin(struct relay *r, const char *tool, const char *arguments);
/* The tool's result in the next line. */
char *relay_end(struct relay *r);
char *relay_call(struct relay *r, const char *tool, const char *arguments);
/* Closes its stdin, waits for its end; returns its exit status (128 + signal if a signal killed
 * it). */
int relay_stop(struct relay *r);
void relay_kill(struct relay *r);
/* Frees a relay that has ended. */
void relay_clear(struct relay *r);

/* A relay in the site's workspace, initialized. */
struct relay given_relay(const struct site *s);
/* Starts a clearance for a new file and waits until the question is there; relay_end returns the
 * answer. */
void begin_asking(struct relay *r, const char *path, const char *content);
/* Answers everything open with this verdict, or with approve. */
void decide_all(const char *verdict);
void approve_all(void);
/* Approves the only question; checks that the waiting call is answered and that everything ends
 * well. */
void ends_approved_once(struct relay *r, struct site *s);

/* A connection to the socket of the front of test_run, over which nothing has been said. */
int front_socket(void);

#endif
