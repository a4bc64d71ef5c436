/* reach: the socket at which mcp-front takes relays and hooks. For programs that start quickly: no
 * configuration is read here, and nothing is hashed. */
#ifndef REACH_H
#define REACH_H

#include "str.h"

#include <stdbool.h>

/* Connects to the front of a run directory, which and whose process must be ours. Returns the
 * socket, or -1 with errno. */
int reach_front(const char *run);

/* Connects to the socket of our user's systemd that starts the system: agent-intercom.socket.
 * Returns it, or -1 with errno. */
int reach_activation(void);

/* The system of this machine that serves several users (shared.directory), in $INTERCOM_SHARED or
 * /run/agent-intercom, and its sockets: of agents (SOCK_STREAM), of operators (SOCK_SEQPACKET). */
extern const char REACH_AGENTS[], REACH_OPERATORS[];
/* Where they are. */
const char *reach_shared_directory(void);
/* Whether there is such a socket, of another user's system, that we may connect to; errno is EACCES
 * if there is one that we may not connect to. While the system is stopped it stays. */
bool reach_shared_is_open(const char *name);
/* Whether there is such a system, which serves us, as agents or as operators; or only others. */
bool reach_shared_serves(void);
bool reach_shared_excludes(void);
/* Whether there is such a system of another user, which does not serve our agents; it may serve us
 * as operators. */
bool reach_shared_bars_agents(void);
/* Connects to it; the process there must be of the user whose directory it is. Returns the socket,
 * or -1 with errno. */
int reach_shared(const char *name, int type);

/* Appends the run directory of the system that is meant if nobody names one: the last that was
 * started under the usual name. False: there is none, or only a configuration tells which is meant:
 * locate.h does. */
bool reach_usual(struct str *run);

#endif
