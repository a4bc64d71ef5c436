/* desk: what the files behind operator_say share. */
#ifndef DESK_H
#define DESK_H

#include "say.h"

struct desk {
	struct store *st;
	const struct speaker *who;
	const struct words *w;
	struct said *out;
};

/* Words to the person; 0. */
int desk_tell(struct desk *d, enum said_outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* What the rules said; -1 only where e is no refusal of theirs. */
int desk_refuse(struct desk *d, const struct err *why);
/* That an id was cut too short; 0. */
int desk_tell_short(struct desk *d, const char *id);
/* A member of the answer's JSON, which is made if there is none. NULL becomes null. */
void desk_add(struct desk *d, const char *name, const char *text);

/* The kinds of what waits in a session. */
struct waiting {
	int clearances, prompts, standbys;
	char standby[ID_BYTES]; /* the first */
};

/* How many wait, -1 on error. */
int desk_look(struct store *st, int64_t session_seq, struct waiting *w, struct err *e);

int desk_decide(struct desk *d, struct err *e); /* VERB_DECISION */
int desk_command(struct desk *d, struct err *e); /* VERB_COMMAND */
int desk_steer(struct desk *d, struct err *e); /* VERB_STEERING */
int desk_read(struct desk *d, struct err *e); /* VERB_READING */

/* Stores an order; what it was answered goes to the JSON. 1 done, or to be done by a worker; 0
 * refused, and told; -1. */
int desk_give(struct desk *d, const char *verb, const char *session_id, const char *argument,
              struct err *e);
/* The session that an order is for. id: what stands where an id belongs, "" if nothing does;
 * argument: of the order, which is kept even if there is no such session. 1 found; 0 the person has
 * been told that there is none, or several; -1. */
int desk_find_session(struct desk *d, const char *id, const char *argument, struct found *f,
                      struct err *e);
/* session-start, session-restart, session-cleanup. */
int desk_start(struct desk *d, struct err *e);
int desk_restart(struct desk *d, struct err *e);
int desk_clean_up(struct desk *d, struct err *e);

/* An order to one session: `pause` and the like. why: of a stop, for what it answers; or NULL. */
int desk_order_session(struct desk *d, const char *verb, const char *session_id, const char *name,
                       const char *why, struct err *e);

/* Words for an agent: a row, and its outcome. which: the session, where the person
 * did not say which; else NULL. */
int desk_put(struct desk *d, const char *kind, const char *session_id, const char *text,
             const char *which, struct err *e);

#endif
