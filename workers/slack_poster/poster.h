/* slack-poster's parts; main.c describes the process. Calls go up this list only, except through
 * what main sets in struct poster. */
#ifndef SLACK_POSTER_H
#define SLACK_POSTER_H

#include "blocks.h"
#include "outbox.h"
#include "web.h"
#include "worker.h"

/* A call that runs alongside the posts, so that none of them delays it. */
struct slot {
	const char *name; /* slack_gate.slot: view, call */
	struct slack_intent_row intent;
	struct slack_call call;
	bool busy;
};

/* The channel being read for agents, alongside the rest. */
struct reading {
	int64_t seq; /* slack_read.seq */
	struct slack_call call;
	bool busy;
};

enum {
	POSTER_LOOK_MS = 100, /* interval of checks on calls under way */
};

enum { POSTER_SLOTS = 2, POSTER_ID_BYTES = 40, OPERATORS_MAX = 20 };

struct poster {
	struct worker w;
	struct slack_web web;
	struct slot slots[POSTER_SLOTS];
	struct reading reading;
	char bot_id[POSTER_ID_BYTES], user_id[POSTER_ID_BYTES]; /* ours, "" until known */
	char upload[POSTER_ID_BYTES]; /* file_id of the intent whose file is being shared */
	bool unreached; /* the last call did not reach Slack */
	bool reached; /* and then one did: to be recorded */
	int64_t doubt_ms; /* monotonic: no search for posts in doubt before this */
	int64_t check_ms; /* when token and channel are checked next; INT64_MAX: all is well */
	/* Runs while a call is waited for: the slots. Returns 1 if it did something, 0 if not, -1
	 * on error. */
	int (*meanwhile)(struct poster *p, struct err *e);
};

/* ---- call.c ---- */

/* Waits for libcurl or the bell. */
void poster_wait(struct poster *p, int ms);
/* Makes a call and waits for it while the slots continue. c is done afterwards. -1: the database
 * failed meanwhile. */
int poster_call(struct poster *p, struct slack_call *c, const char *method, const struct str *form,
                struct err *e);
int poster_call_at(struct poster *p, struct slack_call *c, const char *url, const void *body,
                   size_t length, struct err *e);
/* The same of a method that takes nothing but a channel. */
int poster_call_of(struct poster *p, struct slack_call *c, const char *method, const char *channel,
                   struct err *e);
/* Takes note of the outcome of any call: a rejected token is checked again. */
void poster_heed(struct poster *p, const struct slack_call *c);
/* Settles an intent that can no longer be sent, with the reason in why; only a database failure
 * ends the process. */
int poster_unsayable(struct poster *p, const struct slack_intent_row *i, const struct err *why,
                     struct err *e);
/* The rules refused an outcome: logs it and settles the intent as dead if they let it. Afterwards e
 * is clean; other errors stay in it. */
void poster_refused(struct poster *p, const struct slack_intent_row *i, struct err *e);

/* ---- check.c: who we are, and what a person must fix ---- */

/* Checks, if due, whether the token is valid, what it may do, and whether the app is in its
 * channel. Returns 1 if it checked, 0 if it was not due or Slack was not reached, -1 if the
 * database failed. */
int poster_check(struct poster *p, struct err *e);
/* Checks the next channel that an agent named. Returns 1, 0 if there is none, -1 on error. */
int poster_check_channel(struct poster *p, struct err *e);

/* ---- render.c: from rows to a message ---- */

/* The intent's message as of now. out must be empty. */
int poster_render(struct poster *p, const struct slack_intent_row *i, struct slack_said *out,
                  struct err *e);
/* The file that the intent is about: its bytes, name and snippet type. Returns 1 if there is one, 0
 * if nothing is to be sent, -1 on error. */
int poster_file(struct poster *p, const struct slack_intent_row *i, struct str *bytes,
                struct str *name, const char **ret_type, struct err *e);
/* The modal of a view_open; NULL if its subject no longer exists. */
cJSON *poster_modal(struct poster *p, const struct slack_intent_row *i, struct err *e);
/* Adds text and blocks to the form of an intent. */
void poster_add_said(struct str *form, const struct slack_intent_row *i, struct slack_said *said);

/* ---- post.c: what is said once, and searched for before it is repeated ---- */

/* Sends a claimed post or file, and settles it. */
int poster_post(struct poster *p, struct slack_intent_row *i, struct err *e);
/* Searches for a post in doubt, and settles it. */
int poster_look_for(struct poster *p, struct slack_intent_row *i, struct err *e);

/* ---- history.c: what agents read ---- */

/* Answers the finished read and starts the next. Returns 1 if it did something, 0 if not, -1 on
 * error. */
int poster_turn_reading(struct poster *p, struct err *e);

/* ---- slot.c: single calls alongside the posts ---- */

/* Settles finished calls and starts the next, readings included. Returns 1 if it did something, 0
 * if not, -1 on error. */
int poster_turn_slots(struct poster *p, struct err *e);
bool poster_is_busy(const struct poster *p);

#endif
