/* find: what an order is about: by an id or a prefix of one, or because it is the only candidate
 * where the operator speaks. Only reads. */
#ifndef FIND_H
#define FIND_H

#include "id.h"
#include "sql/sets.h"
#include "store.h"
#include "verb.h"

#include <limits.h>

enum {
	FIND_SHORT = 13, /* of an id as shown: its instant, in milliseconds */
	FIND_LEAST = 4, /* characters required of an id */
	FIND_NAMED = 5, /* candidates that a refusal names */
	FIND_OPTION = 80, /* bytes of an answer that an agent offers */
};

/* Where an operator speaks; all NULL: at this machine, about everything on it. */
struct place {
	const char *channel; /* a Slack channel: only its sessions, except those in local mode */
	const char *session_id; /* a session's thread */
	const char *request_id; /* the thread of one request */
	int64_t session_seq; /* of session_id */
};

/* What was found: how many, the first in full, the first few as lines. */
struct found {
	int count;
	int64_t seq;
	char id[ID_BYTES], session_id[ID_BYTES];
	enum request_verdict verdict; /* what a request would get */
	enum request_kind kind;
	enum session_status status; /* of a session */
	bool started; /* that session, by us */
	char workspace[PATH_MAX]; /* of that session */
	bool elsewhere; /* another session is in another workspace than the first */
	int connected; /* of live sessions: whose agent is connected */
	char connected_id[ID_BYTES]; /* the first of them */
	struct str name; /* of the first, for a person: "01911111-0000: Change a.c (a.c)" */
	struct str whose; /* of a request: "claude in web" */
	struct str list; /* "\n  <name>, <client> in <workspace>" for each */
	struct str chosen; /* the name of the option that was; "": none */
	int chosen_number; /* in the list that a person sees, from 1: long names are cut */
	struct str filled; /* how its agent is answered: the values of a form, its name of a yes */
	struct str story; /* how a closed request ended: "expired at ..." */
	bool unwritten; /* it is approved, and its agent may write it at any moment */
	bool expired; /* its agent asked, and has to ask again */
	bool is_newest; /* its session has asked nothing since */
	bool listening; /* a caller is waiting for the answer right now */
	bool is_driven; /* an agent whose protocol we speak asks, not a caller of our tools */
	bool is_held; /* the same, and it is told no answer while its session is paused */
};

void found_clear(struct found *f);

/* "claude “left”": an agent, by the name of its program and its label (or NULL). */
void find_add_agent(struct str *out, const char *client, const char *label);
/* "claude “left” in web": an agent, by the name of its program, its label and its workspace; with
 * its user first, if that is another than ours, so that neither of these names can look like one.
 */
void find_add_whose(struct str *out, const char *user, const char *client, const char *label,
                    const char *root);

/* If exactly one session in f has its agent connected, reduces f to it: 1; 0: none has, or several;
 * -1. */
int find_connected(struct store *st, const struct place *where, struct found *f, struct err *e);

/* Open requests that v can answer. id: a prefix of theirs or, for `resume`, their session's whole
 * id, anywhere; NULL: those of the place. A prefix of a single one that an answered request of a
 * kind that v answers has, too, finds both. -1 on error, otherwise f->count. */
int find_questions(struct store *st, const struct place *where, const struct verb *v,
                   const char *id, struct found *f, struct err *e);
/* A request with this id or prefix, whatever its state: 0, 1, or how many, FIND_NAMED + 1 for more
 * than are named. Of several, those that v answers, or all if it answers none: then f->verdict is
 * NONE. */
int find_question(struct store *st, const struct verb *v, const char *id, struct found *f,
                  struct err *e);
/* The last request of a session that v would have answered: 1, 0, -1. */
int find_last_question(struct store *st, int64_t session_seq, const struct verb *v, struct found *f,
                       struct err *e);
/* Writes that can be undone; as find_questions. */
int find_writes(struct store *st, const struct place *where, struct found *f, struct err *e);
/* The newest change that was approved after that of request write_seq (0: any), and is not written
 * yet: 1, 0, -1. */
int find_unwritten(struct store *st, const struct place *where, int64_t write_seq, struct found *f,
                   struct err *e);
/* The write that was last undone, or is about to be, with that as its story: 1, 0, -1. */
int find_undone(struct store *st, const struct place *where, struct found *f, struct err *e);
/* Live sessions, those that run first (sql/operator.sql). id: as above, with those that ended;
 * NULL: that of the thread, or else those of the place. status: only sessions with it; NONE: any.
 */
int find_sessions(struct store *st, const struct place *where, enum session_status status,
                  const char *id, struct found *f, struct err *e);
/* The session of the thread, or else the live ones of the place that an order can be given to as
 * they are; order: of command.verb. */
int find_takers(struct store *st, const struct place *where, const char *order, struct found *f,
                struct err *e);
/* Live sessions of the channel that Slack may not act on: they are in local mode. asking: only
 * those that ask something. None at this machine. */
int find_local_sessions(struct store *st, const struct place *where, bool asking, struct found *f,
                        struct err *e);
/* Sessions with this id or prefix, live or ended, newest first. */
int find_any_sessions(struct store *st, const char *id, struct found *f, struct err *e);

#endif
