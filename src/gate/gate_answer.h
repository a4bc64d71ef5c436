/* gate_answer: a decision in a host's own words: what a hook prints, and how it exits.
 *
 * A deny is one JSON line on stdout, the reason on stderr, and exit 2: the only form in which every
 * host with command hooks keeps its tool closed. (When a host asks for permission, it reads only
 * the JSON of a hook that exits 0.) Nothing else is ever on stdout. */
#ifndef GATE_ANSWER_H
#define GATE_ANSWER_H

#include "gate_host.h"
#include "str.h"

enum gate_decision {
	GATE_NONE, /* no opinion: the host goes its normal way */
	GATE_ALLOW,
	GATE_DENY,
	GATE_DEFER, /* a host that cannot is denied */
};

/* Texts are borrowed; NULL or empty: none. */
struct gate_verdict {
	enum gate_decision decision;
	const char *reason;
	const char *input; /* JSON; with an allow: the tool's input instead of its own */
	const char *context; /* told to the model beside the result */
	const char *go_on; /* of GATE_STOP: the turn goes on with this prompt */
};

struct gate_answer {
	struct str out, err; /* for stdout and stderr */
	int status;
};

/* Words the verdict for the event that the host calls event_name. An allow with another input, for
 * a host that cannot rewrite, is a deny that says what to call. answer must be zeroed; the caller
 * clears it. */
void gate_answer_write(const struct gate_host *host, const char *event_name,
                       const struct gate_verdict *verdict, struct gate_answer *answer);
void gate_answer_clear(struct gate_answer *answer);

/* Whether an allow for this event may carry another input for the tool. */
bool gate_answer_rewrites(const struct gate_host *host, const char *event_name);

/* A line about the wait, for a host that takes them; otherwise appends nothing. */
void gate_answer_progress(const struct gate_host *host, const char *message, struct str *out);

/* "allow", ...; false: no decision has this name. */
const char *gate_decision_name(enum gate_decision decision);
bool gate_decision_of(const char *name, enum gate_decision *ret);

#endif
