/* sentry: what its parts share.
 *
 * main.c   the loop
 * gates.c  whether the hooks that hold gates are there and are called */
#ifndef SENTRY_H
#define SENTRY_H

#include "sql/sets.h"
#include "texts.h"
#include "worker.h"

/* ---- gates.c ---- */

/* Notices what keeps gates open now, and that it is over. roots: the workspaces in which sessions
 * work. 0 or -1. */
int gates_look(struct worker *w, const struct texts *roots, struct err *e);

/* What is noticed (schema/gate_lapse.sql). */
struct lapse {
	enum gate_lapse_kind kind;
	const char *host, *subject;
	const char *root; /* the workspace whose newest session is told; NULL: */
	int64_t session; /* that one, 0: none */
	const char *detail;
};

/* Notes a lapse, unless it is known. 1 it is new, 0, -1. */
int gates_note(struct worker *w, const struct lapse *l, struct err *e);

#endif
