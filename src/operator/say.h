/* say: the operator's desk. Whatever an operator says, from any source, arrives here as a verb, an
 * id and a text; it becomes a row (decision, command, steering), and an answer in words and as
 * JSON. agent-intercom-ctl prints the words, the socket sends the JSON, Slack shows the words.
 *
 * An id must fit its verb, otherwise nothing is done and the candidates are listed; without an id,
 * the only candidate that waits is meant, and the answer names it. */
#ifndef SAY_H
#define SAY_H

#include "find.h"
#include "request.h"
#include "verb.h"

#include <cjson/cJSON.h>

/* The speaker, and the place. Texts are borrowed. */
struct speaker {
	const char *operator_id; /* NULL: the default operator */
	const char *source; /* ctl, socket, slack */
	const struct proof_key *key; /* proves answers (model/proof.h); NULL: no proof */
	/* Whether they have been shown everything that this approval permits: 1; 0, and why says
	 * why not; -1. NULL: always. */
	int (*has_seen)(struct store *st, const struct request *r, struct str *why, struct err *e);
	/* Whether they had been shown the request when they spoke: 1; 0, and why says why not, as a
	 * sentence about it; -1. Asked where they did not name it. approves: that counts all of
	 * it. NULL: always. */
	int (*was_asked)(struct store *st, const char *said_ts, int64_t request_seq, bool approves,
	                 struct str *why, struct err *e);
	const char *said_ts; /* when, in Slack's time; NULL: now */
	const char *no_reason; /* the reason of a reject without words, for a caller of
	                          check_clearance; NULL: none */
	struct place place;
	const char *answer_channel, *answer_thread; /* where in Slack a worker answers; NULL:
	                                               nowhere, or in the channel */
};

enum { OPERATOR_EDITED_BYTES = 1 << 20 }; /* of words.edited; schema/rules/decision.sql, too */

/* What is said. Texts are borrowed; NULL: none. */
struct words {
	const struct verb *verb;
	const char *line; /* what followed the verb, not parsed; then id and text are NULL */
	bool no_options; /* what looks like an option in line is text */
	const char *id; /* or a prefix of one */
	const char *text; /* reason, instruction, note; mode; on or off; prompt */
	const char *option; /* approve, reject: which of the agent's own answers, as for choose */
	const cJSON *form; /* refine: a value for each field of a form, by its number from 0, as for
	                      field_fit: {"0": "a text", "1": 2, "2": [1, 3]}; NULL: text says it */
	const char *agent, *workspace; /* of an agent to be started; of files: also a folder */
	const char *session; /* session-restore: whose checkpoint it must be */
	const cJSON *paths; /* session-restore: a list of texts, what of it; NULL: all */
	const char *park; /* of an agent to be started: seconds, or "never" */
	const char *depth, *lines; /* of files: a number; 10:50 */
	const char *edited; /* approve: the command or the file's content that is approved instead
	                       of what was asked; the same text is a plain approval */
	int64_t most; /* of a list, in words; 0: as many as one likes to read */
	const char *digest; /* of the question as they saw all of it, or its first 8 digits; NULL:
	                       as it stands */
	bool certain; /* an approval with words: they know that the words are told, not done */
};

enum said_outcome {
	SAID_DONE, /* the row is written and accepted */
	SAID_REFUSED, /* the rules refused the row, which is kept */
	SAID_UNCLEAR, /* nothing or several things could be meant: nothing was written */
	SAID_ASKED, /* asked back: approve request_id as it is, and tell note? */
};

struct said {
	enum said_outcome outcome;
	enum verb_row row; /* if seq is set */
	int64_t seq; /* of the row; 0: none */
	struct str text; /* for the person; may have several lines */
	struct str note; /* SAID_ASKED: the words */
	bool unheard; /* what the agent is told only when it is back, or resumed, as text says */
	cJSON *json; /* an object if something was done, or what does not fit in a form: {"errors":
	                {"0": "must be ..."}}; otherwise NULL */
	char request_id[ID_BYTES], session_id[ID_BYTES]; /* what it was about; "": none */
};

void said_clear(struct said *s);

/* What an agent is prompted with that is to go on after a turn, without words of the person's. */
#define OPERATOR_CONTINUE "Continue."

/* Does it, in a transaction that must be committed whatever the outcome: refused orders are part of
 * the audit. out is empty. 0, or -1 if the database failed. */
int operator_say(struct store *st, const struct speaker *who, const struct words *w,
                 struct said *out, struct err *e);

/* Free text to the agent of the place (of several, the person is asked which): its instruction if
 * it is only standing by; otherwise it reads the text with its next step. As above. */
int operator_tell(struct store *st, const struct speaker *who, const char *text, struct said *out,
                  struct err *e);

/* Finds the checkpoint that w->text names: by the beginning of its id, its label, the session that
 * began with it, or as "start" of session w->id (NULL: the one that is live). It must be of that
 * session, and of the folder w->workspace, if they are given. 1; 0 out says why not; -1. As
 * operator_say. */
int operator_checkpoint(struct store *st, const struct speaker *who, const struct words *w,
                        struct said *out, char id[ID_BYTES], struct err *e);

/* Appends that there is no such word, with the alias of [commands], or of_ours the word of ours,
 * that was probably meant, else where those are listed, or all aliases. 0, -1. */
int operator_unknown(struct store *st, const char *word, bool of_ours, struct str *out,
                     struct err *e);

/* Appends, in backticks, the command that a line in a conversation was probably meant to be, though
 * it is none; nothing if it is only text. 0, -1. */
int operator_meant(struct store *st, const char *line, struct str *out, struct err *e);

/* Whether a line begins with a mistyped "approve", or is one other word that nearly says yes. */
bool operator_seems_answer(const char *line);

/* Whether a checkpoint is called so. 1, 0, -1. */
int operator_is_label(struct store *st, const char *text, struct err *e);

/* Appends what may be said to what waits in a session: "`approve`, `reject [why]`, `file`"; if its
 * mode shuts out who speaks, where that may be said. Nothing if nothing waits. *ret_stands_by: all
 * that waits is one agent on standby. Returns the number of waiting requests, -1 on error. */
int operator_hint(struct store *st, const struct speaker *who, int64_t session_seq, struct str *out,
                  bool *ret_stands_by, struct err *e);

#endif
