/* hook_case: what the programs test_hook_*.c share: the program hook, run as a host runs it, and a
 * front that does as the test says. */
#ifndef HOOK_CASE_H
#define HOOK_CASE_H

#include "gate_host.h"
#include "process.h"
#include "str.h"
#include "suite.h"

#include <sys/types.h>

struct hook {
	pid_t pid;
	int in, out, err; /* -1: closed */
	int status; /* after hook_end */
	struct str said, why; /* stdout and stderr */
};

/* The run directory of a system that does not run; made anew for each test. */
void given_run_directory(void);
extern char run_directory[200];

/* Starts hook with arguments (words apart by single blanks), and --run unless they name a system.
 */
struct hook hook_start(const char *arguments);
void hook_feed(struct hook *h, const char *text);
void hook_feed_bytes(struct hook *h, const void *bytes, size_t length);
void hook_feed_end(struct hook *h);
/* Reads all that it says and waits for its end; returns its exit status. */
int hook_end(struct hook *h);
void hook_clear(struct hook *h);

/* A hook that has been given its input. */
struct hook given_hook(const char *arguments, const char *input);

/* The same with a hook beside which `agent-intercom` is this shell script. */
struct hook given_hook_beside(const char *script, const char *arguments, const char *input);

/* It ended as a deny of Claude Code's does, with part in its reason. */
void is_denied(struct hook *h, const char *part);
/* It ended with 0 and said this, without the line's end; "": nothing at all. */
void is_said(struct hook *h, const char *said);

struct front {
	int listener, fd;
	struct str in;
	const struct gate_host *host; /* of the hook that has come */
	char event[40];
};

struct front given_front(void);
/* Waits for the next hook, and for its greeting and its question; returns the question, with the
 * input as params.input. */
const char *front_hears(struct front *f);
void front_says(const struct front *f, const char *bytes);
/* Says what mcp-front would make of a message of JSON-RPC, and of a result. */
void front_words(const struct front *f, const char *message);
void front_answers(const struct front *f, const char *result);
void front_hangs_up(struct front *f);
/* As if it were killed: nobody listens any more. */
void front_ends(struct front *f);

extern const char WRITE[]; /* what Claude Code sends before it writes a file */

#endif
