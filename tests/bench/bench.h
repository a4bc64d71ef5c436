/* bench: what the measuring programs share: time, figures, /proc, and callers of an MCP server.
 * They end at once (exit 1) when something does not work: a figure of a broken run is no figure. */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

int64_t now_ns(void);
void pause_us(int64_t us);

/* A number from 0 below limit, the same ones in each run. */
unsigned chance(unsigned limit);

/* The value below which share (0..1) of them lie, in microseconds; sorts values. */
double percentile_us(int64_t *values, size_t count, double share);

/* ---- processes ---- */

struct usage {
	double cpu_us; /* on a core, all threads */
	int64_t wakeups; /* times that it slept and was woken */
};

struct usage usage_of(const pid_t *pids, int count);
int64_t pss_bytes(const pid_t *pids, int count);
/* The pids of a program's last arguments. */
int parse_pids(char **argv, int count, pid_t *pids);
/* As many descriptors as the hard limit gives; ends if that is too few. */
void raise_files(int needed);

/* ---- callers ---- */

/* One HTTP connection of one agent. */
struct caller {
	int fd;
	char session[100]; /* Mcp-Session-Id, "" before caller_initialize */
	char *in; /* the response as far as it has come */
	size_t used, room;
};

enum caller_state {
	CALLER_MORE, /* the response has not begun or tells nothing yet */
	CALLER_WAITS, /* an event stream has begun: the answer comes later */
	CALLER_DONE, /* the response is whole */
};

void caller_open(struct caller *c, int port);
void caller_close(struct caller *c);
/* Sends one POST /mcp. */
void caller_post(struct caller *c, const char *body);
/* Takes what has come, without waiting. The response stays in c->in until the next caller_post. */
enum caller_state caller_read(struct caller *c);
/* The same, waiting until the response is whole. */
void caller_finish(struct caller *c);
/* Opens an MCP session, as a client does: initialize, then notifications/initialized. */
void caller_initialize(struct caller *c);
/* A request as text, params: a JSON object; the caller frees it. */
char *request_text(int id, const char *method, const char *params);
/* The same of tools/call. */
char *call_text(int id, const char *tool, const char *arguments);

#endif
