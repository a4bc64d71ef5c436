/* desk: shared by the files behind operator_say. */
#ifndef DESK_H
#define DESK_H

#include "say.h"
#include "sql/checkpoint.h"

struct desk {
	struct store *st;
	const struct speaker *who;
	const struct words *w;
	struct said *out;
};

/* Tells the person; returns 0. */
int desk_tell(struct desk *d, enum said_outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Reports the rules' refusal; -1 only if e is not one. */
int desk_refuse(struct desk *d, const struct err *why);
/* A verb as the help names it, in its first characters; the rest is what follows it. */
const char *desk_name(const struct verb *v);
int desk_name_length(const struct verb *v);
/* Reports that an id is too short; returns 0. */
int desk_tell_short(struct desk *d, const char *id);
/* Appends a person's words as far as they are shown again, on one line. */
void desk_add_said(struct str *out, const char *text, size_t most);
/* Appends an agent's words on one line, about `most` bytes of them; where they could format what is
 * told in Slack, as code. */
void desk_add_foreign(const struct desk *d, struct str *out, const char *text, size_t most);
/* Adds a member to the answer's JSON, which is created if necessary. NULL becomes null. */
void desk_add(struct desk *d, const char *name, const char *text);

/* What a line says in options, and without them. */
struct desk_line {
	struct str values[VERB_OPTIONS];
	size_t count;
	struct str rest;
};
void desk_line_clear(struct desk_line *l);
/* Takes the options off w->line, at its start (and behind an id) and at its end; their values are
 * kept in l. 1; 0 the person has been told what the verb does not take. */
int desk_take_options(struct desk *d, struct words *w, struct desk_line *l);

/* The kinds of requests that wait in a session. */
struct waiting {
	int clearances, prompts, standbys;
	int files; /* of the clearances, those that are about a file which can be looked at */
	int forms; /* of the prompts, those that ask for values */
	int wide; /* of the forms, those with several fields */
	int lists; /* of the forms, those whose only field has numbered choices */
	int offers; /* of the clearances, those whose agent offers answers of its own */
	int several; /* of these, those that a plain yes does not answer */
	char standby[ID_BYTES]; /* the first one */
};

/* Appends which sessions of the channel are in local mode, and what can be done about that. asking:
 * only those that ask something. How many, -1 on error. */
int desk_add_local(struct desk *d, bool asking, struct str *out, struct err *e);
/* Appends the one value that the words have: a name or a path, which may have blanks. */
void desk_add_value(const struct desk *d, struct str *out);
/* Reports that no session is live where (said in Slack only), with those in local mode or, without
 * any, with what else there is to do (text that follows). Returns 0, -1 on error. */
int desk_tell_none_live(struct desk *d, const char *where, const char *otherwise, struct err *e);

/* How many wait, -1 on error. */
int desk_look(struct store *st, int64_t session_seq, struct waiting *w, struct err *e);

int desk_decide(struct desk *d, struct err *e); /* VERB_DECISION */
int desk_command(struct desk *d, struct err *e); /* VERB_COMMAND */
int desk_steer(struct desk *d, struct err *e); /* VERB_STEERING */
int desk_read(struct desk *d, struct err *e); /* VERB_READING */

/* The answer of its own that an agent offers and text means, by its number or name. 1 found, with
 * its id, and its name and number in f (where the agent does not say whether it is a yes or a no,
 * the verdict is approve); 0 the person has been told what there is; -1. */
int desk_choose(struct desk *d, struct found *f, const char *text, enum request_verdict *verdict,
                struct str *choice, struct err *e);

/* Whether an approval of it must name one of the answers that its agent offers: 1, and the person
 * has been told which there are; 0; -1. */
int desk_must_choose(struct desk *d, const struct found *f, struct err *e);

/* The content of the form that a request is, from words, and what it says in words; f->filled shows
 * it. 1 filled in, or it is no form and content stays empty; 0 the person has been told what does
 * not fit; -1. */
int desk_fill(struct desk *d, struct found *f, const char *text, struct str *content,
              struct str *said, struct err *e);

/* Stores an order and adds its outcome to the JSON. 1 done, or queued for a worker; 0 refused, and
 * the person has been told; -1. */
int desk_give(struct desk *d, const char *verb, const char *session_id, const char *argument,
              struct err *e);
/* The same with an argument that is JSON. */
int desk_give_json(struct desk *d, const char *verb, const char *session_id, const cJSON *argument,
                   struct err *e);
/* The session that an order is for. id: the word in the place of an id, or ""; argument: of the
 * order, which is kept even if there is no such session. 1 found; 0 the person has been told that
 * there is none, or several; -1. */
int desk_find_session(struct desk *d, const char *id, const char *argument, struct found *f,
                      struct err *e);
/* Tells that an order to so many sessions is done, and if they have ended, what their agents are
 * never told. */
int desk_tell_done(struct desk *d, int sessions, const struct str *done, struct err *e);
/* list-files, show-file. */
int desk_browse(struct desk *d, struct err *e);
/* session-start, session-restart, session-cleanup. */
int desk_start(struct desk *d, struct err *e);
int desk_restart(struct desk *d, struct err *e);
int desk_clean_up(struct desk *d, struct err *e);

/* The checkpoint that is meant: by its label (of several words: line), the beginning of its id, the
 * session that began with it, or "start" or "" for that of this place; id: of that session, or "".
 * One of another session than id, or of another folder than words.workspace, is refused.
 * *ret_whole: line was the label. c must be fresh. 1; 0 the person has been told; -1. */
int desk_find_held(struct desk *d, const char *word, const char *line, const char *id,
                   struct held_row *c, bool *ret_whole, struct err *e);
/* The only session, live or ended, whose id begins with this. As above. */
int desk_find_any_session(struct desk *d, const char *id, char session[ID_BYTES], struct err *e);

/* session-checkpoint, session-checkpoints, session-restore, diff. */
int desk_checkpoint(struct desk *d, struct err *e);
int desk_list_checkpoints(struct desk *d, struct err *e);
int desk_restore(struct desk *d, struct err *e);
int desk_diff(struct desk *d, struct err *e);

/* run, run-stop, runs: commands of [commands]. */
int desk_run(struct desk *d, struct err *e);
int desk_run_stop(struct desk *d, struct err *e);
int desk_runs(struct desk *d, struct err *e);

/* An order to one session: `pause` and the like. why: a stop's reason, for the requests that it
 * answers; or NULL. */
int desk_order_session(struct desk *d, const char *verb, const char *session_id, const char *name,
                       const char *why, struct err *e);

/* Words for an agent: a row, and its outcome. which: the session, if the person did not name one;
 * otherwise NULL. */
int desk_put(struct desk *d, const char *kind, const char *session_id, const char *text,
             const char *which, struct err *e);

#endif
