/* sentry: what its parts share.
 *
 * main.c     the loop
 * gates.c    whether the hooks that hold gates are there and are called
 * transcripts.c  whether tools ran of which no hook told
 * changes.c  whether files change although no tool runs
 * tree.c     the folders of a workspace under inotify */
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

/* ---- transcripts.c ---- */

struct transcripts;

struct transcripts *transcripts_new(void);
void transcripts_free(struct transcripts *t);
/* Looks at what the hosts have written since the last look, and notes what no hook had asked. 0 or
 * -1. */
int transcripts_look(struct transcripts *t, struct worker *w, struct err *e);

/* ---- changes.c ---- */

struct changes;

/* The caller frees it. */
struct changes *changes_new(void);
void changes_free(struct changes *c);
/* Watches the workspaces that the rows say, and no others; w->extra_fd is the descriptor of their
 * events, -1 while there are none, or the kernel gives no more of them (which is logged). 0 or -1.
 */
int changes_watch(struct changes *c, struct worker *w, struct err *e);
/* Takes in what has changed; what changed a while ago and nothing explains is noted. 0 or -1. */
int changes_step(struct changes *c, struct worker *w, struct err *e);
/* Brings w->due_ms forward to when that is next to be judged. */
void changes_due(const struct changes *c, struct worker *w);

#endif
