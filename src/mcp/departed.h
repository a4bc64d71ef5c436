/* departed: HTTP does not say that a client has ended, nor a relay that ended without a front, but
 * their processes do: connections of ended processes are given up here, before somebody takes over
 * what they left. Another process may
 * continue with an Mcp-Session-Id: its next call reopens the connection (peer_join). own: the
 * caller's connection, which is not given up. */
#ifndef DEPARTED_H
#define DEPARTED_H

#include "store.h"

/* Those of a session. Inside a transaction; 0 or -1. */
int departed_of_session(struct store *st, int64_t session_seq, int64_t own, struct err *e);
/* Those of sessions that ask the request with this digest. */
int departed_of_question(struct store *st, const char *digest, int64_t own, struct err *e);
/* Those that work in a folder. */
int departed_of_workspace(struct store *st, const char *machine, const char *workspace_root,
                          int64_t own, struct err *e);
/* Those of relays, when a front starts: the others come back to it. */
int departed_of_relays(struct store *st, const char *machine, struct err *e);
/* Whether the agent of a session may still call, or is gone: 1, 0, -1. label: what the caller is
 * called. Inside a transaction. */
int departed_is_there(struct store *st, int64_t session_seq, int64_t own, const char *label,
                      struct err *e);

#endif
