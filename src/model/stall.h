/* stall: agents that are silent although it is their turn: an alert, nudges, and the call for the
 * operator. The consequences of each row are in schema/rules/stall.sql; who is notified and how, in
 * schema/README.md.
 *
 * The clock is session.idle_since. It is set by an agent's calls and by whatever gives the agent
 * the turn, and only examined when its time has come: an agent that waits for a person by then is
 * not silent. */
#ifndef STALL_H
#define STALL_H

#include "store.h"

#include <stdbool.h>

/* A batch holds the write lock for a few milliseconds at most; the caller comes back for more. */
enum { STALL_BATCH = 100 };

/* The configuration's [stall]. */
struct stall_settings {
	bool enabled;
	int64_t threshold_ms; /* silence until the alert */
	int64_t escalation_ms; /* from the alert to a nudge, and between nudges */
	int64_t max_nudges; /* then the operator is called */
};

/* What a pass did, for the log. */
struct stall_tally {
	int raised, nudged, escalated;
	int left; /* sessions whose client has left */
	struct err_refused refused; /* rows that their rules refused; they stay due */
};

void stall_settings_read(struct store *st, struct stall_settings *s);

/* The instant at which stall_pass has something to do, in unix ms; INT64_MAX: none. */
int stall_next(struct store *st, const struct stall_settings *s, int64_t *ret_ms, struct err *e);

/* Does what is due at now_ms: raises alerts, nudges, escalates, and interrupts sessions whose agent
 * has left. Counts into *tally. Returns whether there was anything (come back), -1 on error. */
int stall_pass(struct store *st, const struct stall_settings *s, int64_t now_ms,
               struct stall_tally *tally, struct err *e);

/* Nudges the agent of a session. text NULL: the configured text. operator_id NULL: the default.
 * Inside a transaction. The outcome is that of the steering row, whose seq is in *ret_seq. */
int stall_nudge(struct store *st, const char *session_id, const char *text, const char *operator_id,
                const char *source, int64_t *ret_seq, struct err *e);

#endif
