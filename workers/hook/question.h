/* question: one question to mcp-front, over as many connections as it takes (src/gate/gate_wire.h).
 *
 * If the front goes away while it waits, the same question is asked again of the next one. */
#ifndef QUESTION_H
#define QUESTION_H

#include "err.h"
#include "gate_answer.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* How the system is found: one of both, or neither for the usual one. Borrowed. */
struct question_system {
	const char *run; /* its run directory */
	const char *database;
};

struct question {
	const struct question_system *system;
	const struct gate_host *host;
	const char *event; /* the host's name */
	bool waits; /* for a person: through a restart of the front; otherwise only once */
	int64_t deadline_ms; /* clock_monotonic_ms */
	pid_t process; /* of the host: it can end instead of waiting; 0: it cannot */
	struct str bytes; /* the host's JSON on one line */
	/* Results: */
	bool reached; /* a front has heard the question */
	bool abandoned; /* nobody reads our stdout any more */
	bool ends; /* the host's process may end with this call */
};

/* Asks, and waits for the answer: the host's words, in answer, which must be zeroed. 0, or -1 with
 * e: no front, no answer by the deadline, or one that makes no sense. */
int question_ask(struct question *q, struct gate_answer *answer, struct err *e);

#endif
