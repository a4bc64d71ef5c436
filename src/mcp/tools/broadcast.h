/* broadcast: where in Slack it stands is known after the call has been written down. */
#ifndef BROADCAST_H
#define BROADCAST_H

#include "store.h"
#include "str.h"

enum { BROADCAST_MS = 2000 }; /* how long its caller waits to be told its place in Slack */

/* Appends the result. ts: Slack's name of the message that says it, or NULL. */
void broadcast_result(struct str *out, bool posted, const char *ts);
/* Appends the result of a call that is_said: 1, if it is known where it stands or that Slack
 * refuses it, or if late; else 0. -1 on error. */
int broadcast_said(struct store *st, int64_t call_seq, bool late, struct str *result,
                   struct err *e);
/* Writes what the caller has been told. Inside a transaction. */
int broadcast_finish(struct store *st, int64_t call_seq, const char *result, struct err *e);

#endif
