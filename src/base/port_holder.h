/* port_holder: who listens on a TCP port of 127.0.0.1, as the kernel says. */
#ifndef PORT_HOLDER_H
#define PORT_HOLDER_H

#include "str.h"

#include <stdbool.h>
#include <sys/types.h>

/* The user who opened the socket that listens there: root of a port that systemd holds. False:
 * nobody listens (the port may be bound all the same). */
bool port_holder(int port, uid_t *ret_uid);
/* Whether that is another user than ours and root. */
bool port_holder_is_other(int port);
/* Who it is, for people, added to out: a name, "root", or "a program that does not listen there".
 */
void port_holder_tell(int port, struct str *out);
/* Tries to bind it: 0 if it is free, else errno. */
int port_try(int port);

#endif
