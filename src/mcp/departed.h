/* departed: HTTP does not say that a client has ended, but its process tells: connections of
 * processes that have ended are closed here before somebody takes over what they left. */
#ifndef DEPARTED_H
#define DEPARTED_H

#include "store.h"

/* Those of a session. Inside a transaction; 0 or -1. */
int departed_of_session(struct store *st, int64_t session_seq, struct err *e);
/* Those of sessions that ask the question with this digest. */
int departed_of_question(struct store *st, const char *digest, struct err *e);
/* Those that work in a folder. */
int departed_of_workspace(struct store *st, const char *machine, const char *workspace_root,
                          struct err *e);

#endif
