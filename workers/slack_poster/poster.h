/* slack-poster's parts; what the process does is told in main.c. Calls go up this list only, but
 * for what main sets in struct poster. */
#ifndef SLACK_POSTER_H
#define SLACK_POSTER_H

#include "blocks.h"
#include "outbox.h"
#include "web.h"
#include "worker.h"

/* A call that goes beside the posts, so that none of them holds it up. */
struct slot {
	const char *name; /* slack_gate.slot: view, call */
	struct slack_intent_row intent;
	struct slack_call call;
	bool busy;
};

/* The channel that is being read for agents, beside the others. */
struct reading {
	int64_t seq; /* slack_read.seq */
	struct slack_call call;
	bool busy;
};

enum {
	POSTER_LOOK_MS = 100, /* at what is under way */
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
	bool reached; /* and then one did: to be noted */
	int64_t doubt_ms; /* monotonic: what is in doubt is not looked for before */
	int64_t check_ms; /* when token and channel are looked at next; INT64_MAX: all is well */
	/* What goes on while a call is waited for: the slots. 1 did something, 0, -1. */
	int (*meanwhile)(struct poster *p, struct err *e);
};

/* ---- call.c ---- */

/* Waits for libcurl or the bell. */
void poster_wait(struct poster *p, int ms);
/* Makes a call and waits for it, while the slots go on. c is done afterwards. -1: the database
 * failed meanwhile. */
int poster_call(struct poster *p, struct slack_call *c, const char *method, const struct str *form,
                struct err *e);
int poster_call_at(struct poster *p, struct slack_call *c, const char *url, const void *body,
                   size_t length, struct err *e);
/* In a public channel we may invite ourselves; c is the answer. -1: the database failed. */
int poster_join(struct poster *p, struct slack_call *c, const char *channel, struct err *e);
/* The outcome of any call: a token that is refused is looked at again. */
void poster_heed(struct poster *p, const struct slack_call *c);
/* Settles what can no longer be sent, with the reason in why; only the database ends the process.
 */
int poster_unsayable(struct poster *p, const struct slack_intent_row *i, const struct err *why,
                     struct err *e);
/* The rules refused the outcome of one: that is logged, and settled as dead if they let it. e is
 * clean then; other errors stay in it. */
void poster_refused(struct poster *p, const struct slack_intent_row *i, struct err *e);

/* ---- check.c: who we are, and what a person must mend ---- */

/* Looks, if it is time to, whether the token is good, what it may do, and whether the app is in its
 * channel. 1 looked, 0 it was not time or Slack was not reached, -1 the database failed. */
int poster_check(struct poster *p, struct err *e);
/* Looks at the next channel that an agent named: 1, 0 there is none, -1. */
int poster_check_channel(struct poster *p, struct err *e);

/* ---- render.c: from rows to a message ---- */

/* What the intent's message says now. out must be empty. */
int poster_render(struct poster *p, const struct slack_intent_row *i, struct slack_said *out,
                  struct err *e);
/* The file that the intent's message is: its bytes, name and snippet type. 1 there is one, 0
 * nothing is to be sent, -1. */
int poster_file(struct poster *p, const struct slack_intent_row *i, struct str *bytes,
                struct str *name, const char **ret_type, struct err *e);
/* The modal of a view_open; NULL: what it is about is not there. */
cJSON *poster_modal(struct poster *p, const struct slack_intent_row *i, struct err *e);
/* text and blocks as an intent's form has them. */
void poster_add_said(struct str *form, const struct slack_intent_row *i, struct slack_said *said);

/* ---- post.c: what is said once, and looked for before it is said again ---- */

/* Sends one post or file that is in hand, and settles it. */
int poster_post(struct poster *p, struct slack_intent_row *i, struct err *e);
/* Looks for one that is in doubt, and settles it. */
int poster_look_for(struct poster *p, struct slack_intent_row *i, struct err *e);

/* ---- history.c: what agents read ---- */

/* Answers the read that is done and starts the next. 1 did something, 0, -1. */
int poster_turn_reading(struct poster *p, struct err *e);

/* ---- slot.c: single calls beside the posts ---- */

/* Settles what is done and starts what is next, readings too. 1 did something, 0, -1. */
int poster_turn_slots(struct poster *p, struct err *e);
bool poster_is_busy(const struct poster *p);

#endif
