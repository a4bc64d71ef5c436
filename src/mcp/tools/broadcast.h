/* broadcast: its place in Slack is known after the call has been recorded. */
#ifndef BROADCAST_H
#define BROADCAST_H

#include "store.h"
#include "str.h"

enum { BROADCAST_MS = 2000 }; /* how long its caller waits for its place in Slack */

/* Appends the result of a call that is_said: 1 if its place is known, or Slack refuses it, or late
 * is set; otherwise 0. -1 on error. */
int broadcast_said(struct store *st, int64_t call_seq, bool late, struct str *result,
                   struct err *e);
/* Records what the caller has been told. Inside a transaction. */
int broadcast_finish(struct store *st, int64_t call_seq, const char *result, struct err *e);

#endif
