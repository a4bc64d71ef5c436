/* ask: the tools that ask a person. The tool composes the question (struct tool); here it is asked,
 * or an existing answer is found; the workspace's policy or the client's own user may decide it at
 * once. */
#ifndef ASK_H
#define ASK_H

#include "call.h"
#include "request.h"

enum { ASK_TITLE_BYTES = 200 };

/* A number argument; -1: missing. */
int64_t ask_number(const struct call *c, const char *name);

/* tool->run of such a tool. Inside the transaction. */
int ask_run(struct store *st, struct call *c, const struct peer *p,
            const struct call_settings *settings, struct err *e);

/* The result of a call of such a tool; add_members: its tool->answer. */
int ask_result(struct store *st, int64_t request_seq,
               void (*add_members)(struct str *out, const struct request *r), struct telling *t,
               struct err *e);

#define ASK_CHANGED "a file of it has changed, and its agent has asked again"

/* Nobody asks this any longer; why: ASK_CHANGED, for example. An open question ends, a permission
 * that was not told is spent, and the words of a no go with a result. (An unused yes to a clearance
 * has ended: ask_run.) Inside the transaction. */
int ask_outdate(struct store *st, int64_t request_seq, const char *why, struct err *e);

#endif
