/* runner: runs one agent: one row of `agent_run`, one process with what it starts. What its parts
 * share; each stands on those below it.
 *
 * main.c       its life
 * begin.c      from the row to a running agent
 * ending.c     how an agent ends
 * pipes.c      the agent's stdin, stdout and stderr
 * run.c        the row
 * said.c       its turns and the lines that it says, as rows
 * look_line.c  a question to a process that looks at files
 * looker_owner.c  one of another user
 * looker.c     one of ours, or of theirs
 * judge.c      what the policy says about its questions
 * tools.c      our MCP server, for the agent
 * asks.c       its questions, as rows, and their answers
 * heard.c      all that an agent said, until it is in rows
 * prompts.c    what it is told, from rows
 * returning.c  what it is told when it is back after an interruption
 * usage_rows.c what it uses, and budgets
 * drive_*.c    what a protocol makes of stdin and stdout */
#ifndef RUNNER_H
#define RUNNER_H

#include "err.h"
#include "keeper_owner.h"
#include "launch.h"
#include "sql/agent_run.h"
#include "str.h"
#include "tail.h"
#include "worker.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RUNNER_BUSY_MS = 1000 }; /* until rows are tried again that could not be written */

struct runner;

/* What a protocol makes of the agent's stdin and stdout. A member that is NULL does nothing. -1: e
 * says why the agent has to end (ERR_AGAIN: the database is busy, so later again). */
struct driver {
	bool talks; /* the agent's stdin is a pipe: pipes_say. Else it is /dev/null */
	int (*open)(struct runner *r, struct err *e); /* the agent runs, as its row says */
	/* The agent wrote this to its stdout; length 0: it has closed it. The database may be
	 * closed: what becomes a row is remembered for look, which comes next. */
	int (*hear)(struct runner *r, const char *bytes, size_t length, struct err *e);
	/* Rows may have changed, or due_ms is over, or hear was called. 1 did something, 0 nothing
	 * to do. */
	int (*look)(struct runner *r, struct err *e);
	/* The agent shall end: says goodbye, and returns whether that takes longer. Called at each
	 * turn until it is false; r->due_ms bounds the wait. */
	bool (*leave)(struct runner *r);
	void (*rest)(struct runner *r); /* nothing was to do for a while: gives up what can wait */
	void (*close)(struct runner *r); /* gives up what open made */
};

enum ending_phase {
	ENDING_NOT,
	ENDING_LEAVE, /* the driver says goodbye */
	ENDING_TERM, /* the group has SIGTERM */
	ENDING_DRAIN, /* the agent has ended; what it wrote is read */
	ENDING_OVER, /* and all of its group is killed */
};

struct runner {
	struct worker w;
	struct agent_run_read_row row; /* as it was claimed */
	char *fence; /* what holds its agent, for the row; NULL: nothing */
	bool is_told; /* its row says that it runs, and the driver is open */
	struct launch agent;
	struct keeper keeper; /* of an agent that runs as another user; pid 0: there was none */
	bool is_kept; /* it is such an agent: */
	uid_t uid; /* whose it is, */
	char *user; /* by name, */
	struct str start_socket; /* and by whom it was started */
	const struct driver *driver;
	void *driving; /* the driver's own */
	int64_t due_ms; /* monotonic: when the driver wants to look again; INT64_MAX: at a bell */
	int64_t look_ms; /* monotonic: when rows are looked at, at the latest */
	int64_t busy_ms; /* monotonic: when there was last anything to do with them */
	int64_t rest_ms; /* monotonic: bells ring often now; until then the database stays open */
	/* pipes.c */
	int epoll;
	bool heard; /* the driver's hear was called, its look not yet */
	bool has_ended; /* the agent's own process, which is not reaped */
	bool has_lost; /* its keeper has ended first */
	struct str queue; /* what is to be written to its stdin, */
	size_t written; /* of which so much is */
	int64_t stuck_ms; /* monotonic: since when it takes nothing; 0: it does */
	struct tail tail;
	/* ending.c */
	enum ending_phase phase;
	int64_t phase_due_ms; /* monotonic: when the next phase begins */
	enum agent_run_outcome outcome;
	struct str why; /* it ends or has ended, in words; "" where its exit says it all */
	int status; /* as waitpid(2) says */
};

/* ---- drive_*.c ---- */

extern const struct driver DRIVE_MCP, DRIVE_ACP;

/* ---- run.c ---- */

/* Takes the row. 1 it is ours, 0 nobody wants it to be started any more, -1 error. */
int run_claim(struct runner *r, struct err *e);
/* The process is there, and waits: on disk before it is let go. */
int run_note_process(struct runner *r, struct err *e);
int run_note_running(struct runner *r, struct err *e);
/* Appends where mcp-front serves MCP over HTTP, for the session of the run; nothing if it does not.
 */
int run_mcp_url(struct runner *r, struct str *out, struct err *e);
/* Whether somebody wants it stopped: 1 yes, and why is added to why; 0 no; -1 error. *ret_keeps: so
 * that its session can be resumed. */
int run_stop_is_wanted(struct runner *r, struct str *why, bool *ret_keeps, struct err *e);
/* It has ended, or could not begin; its session follows. Tries until the database takes it. */
int run_settle(struct runner *r, struct err *e);

/* ---- pipes.c ---- */

int pipes_open(struct runner *r, struct err *e);
/* Reads what is there and writes what fits. 1 there may be more, or something has ended; 0 not now,
 * -1 error. */
int pipes_turn(struct runner *r, struct err *e);
/* Queues bytes for the agent's stdin: whole messages only. */
void pipes_say(struct runner *r, const char *bytes, size_t length);
/* Closes the agent's stdin; what is queued is dropped. */
void pipes_hang_up(struct runner *r);
/* Whether somebody still has the other end of its stdout or stderr. */
bool pipes_are_open(const struct runner *r);
void pipes_close(struct runner *r);

/* ---- ending.c ---- */

/* The agent shall end, for this reason (in words); the first one stands. */
void ending_begin(struct runner *r, enum agent_run_outcome outcome, const char *why);
/* Takes the next step that is due. true: it is over: r->status and r->outcome are set. */
bool ending_turn(struct runner *r);
/* Monotonic ms of the next step, INT64_MAX: none. */
int64_t ending_due_ms(const struct runner *r);

/* ---- begin.c ---- */

/* From the row to a running agent. 1 it runs; 0 there is nothing to run (any more), and the row
 * says why; -1 error. */
int begin_run(struct runner *r, struct err *e);

#endif
