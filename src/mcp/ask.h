/* ask: the tools that ask a person. The question is the tool's (struct tool); here it is asked, or
 * the answer that is there already is found; the workspace's policy or the client's own user may
 * decide it at once. */
#ifndef ASK_H
#define ASK_H

#include "call.h"
#include "request.h"

enum { ASK_TITLE_BYTES = 200 };

/* An argument that is a number; -1: it is not there. */
int64_t ask_number(const struct call *c, const char *name);

/* tool->run of such a tool. Inside the transaction. */
int ask_run(struct store *st, struct call *c, const struct peer *p,
            const struct call_settings *settings, struct err *e);

/* tool->result of such a tool: add_members gives those of its result, the question being r. */
int ask_result(struct store *st, int64_t request_seq,
               void (*add_members)(struct str *out, const struct request *r), struct telling *t,
               struct err *e);

/* Has it told that the policy allowed this, if the file says so. request_seq: 0 for none. */
int ask_note_approval(struct store *st, const struct call *c, const struct peer *p,
                      const char *subject, int64_t request_seq, struct err *e);

#endif
