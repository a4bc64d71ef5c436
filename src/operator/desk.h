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

/* An order to one session: `pause` and the like. why: of a stop, for what it answers; or NULL. */
int desk_order_session(struct desk *d, const char *verb, const char *session_id, const char *name,
                       const char *why, struct err *e);

/* Words for an agent: a row, and its outcome. which: the session, where the person
 * did not say which; else NULL. */
int desk_put(struct desk *d, const char *kind, const char *session_id, const char *text,
             const char *which, struct err *e);

#endif
