/* say: the operator's desk. Whatever an operator says, from wherever, comes here as a verb, an id
 * and a text; it becomes a row (decision, command, steering), and an answer in words and as JSON.
 * agent-intercom-ctl prints the words, the socket sends the JSON, Slack shows the words.
 *
 * An id must fit what it is given for, else nothing is done and the candidates are named; without
 * one, the only thing that waits is meant, and the answer says which that was. */
#ifndef SAY_H
#define SAY_H

#include "find.h"
#include "request.h"
#include "verb.h"

#include <cjson/cJSON.h>

/* Who speaks, and from where. Texts are borrowed. */
struct speaker {
	const char *operator_id; /* NULL: the default operator */
	const char *source; /* ctl, socket, slack */
	const struct proof_key *key; /* with which answers are proved (model/proof.h); NULL: not */
	/* Whether they have been shown all that this approval lets happen: 1, 0 why says why not,
	 * -1. NULL: they always have. */
	int (*has_seen)(struct store *st, const struct request *r, struct str *why, struct err *e);
	const char *no_reason; /* what a reject without words says; NULL: nothing */
	struct place place;
};

/* What is said. Texts are borrowed; NULL where there is none. */
struct words {
	const struct verb *verb;
	const char
	    *line; /* what stood behind the verb, not taken apart; then id and text are NULL */
	const char *id; /* or the beginning of one */
	const char *text; /* reason, instruction, note; mode; on or off; prompt */
	const char *agent, *workspace; /* of an agent that is to be started */
	const char *digest; /* of the question as they saw all of it, or its first 8 digits; NULL:
	                       as it stands */
	bool certain; /* an approval with words: they know that it is told, not done */
};

enum said_outcome {
	SAID_DONE, /* the row is written and accepted */
	SAID_REFUSED, /* the rules refused the row, which is kept */
	SAID_UNCLEAR, /* nothing or several things could be meant: nothing was written */
	SAID_ASKED, /* asked back: is request_id to be approved as it is, and note told? */
};

struct said {
	enum said_outcome outcome;
	enum verb_row row; /* where seq is one */
	int64_t seq; /* of the row; 0: none */
	struct str text; /* for the person; of many lines perhaps */
	struct str note; /* SAID_ASKED: the words */
	cJSON *json; /* an object where something was done, else NULL */
	char request_id[ID_BYTES], session_id[ID_BYTES]; /* what it was about, "" if it was not */
};

void said_clear(struct said *s);

/* Does it, in a transaction that is to be committed whatever the outcome is: refused orders are
 * part of the audit. out is empty. 0, or -1 if the database failed. */
int operator_say(struct store *st, const struct speaker *who, const struct words *w,
                 struct said *out, struct err *e);

/* Free text to the agent of the place (the most recently active one of several): its instruction if
 * all it does is stand by, else it reads it with its next step. As above. */
int operator_tell(struct store *st, const struct speaker *who, const char *text, struct said *out,
                  struct err *e);

/* Appends what may be said to what waits in a session: "`approve`, `reject [why]`, `file`". Nothing
 * if nothing waits. *ret_stands_by: all that waits is one agent on standby. The number of questions
 * that wait, -1 on error. */
int operator_hint(struct store *st, int64_t session_seq, struct str *out, bool *ret_stands_by,
                  struct err *e);

#endif
