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

/* Appends the run directory of the system that is meant if nobody names one: the last that was
 * started under the usual name. False: there is none, or only a configuration tells which is meant:
 * locate.h does. */
bool reach_usual(struct str *run);

#endif
