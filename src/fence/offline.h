/* offline: what Landlock does not hold of a process without a network: sockets of other kinds than
 * TCP (UDP, MPTCP, raw), data that is sent while a connection is made (TCP Fast Open), and
 * io_uring, which makes such calls itself. A seccomp filter; sockets of this machine (AF_UNIX)
 * stay. */
#ifndef OFFLINE_H
#define OFFLINE_H

#include "err.h"

#include <stdbool.h>

/* Whether this build knows the calls of its architecture. */
bool offline_can(void);

/* Puts the filter up around the calling thread and what it starts, for good; needs no_new_privs. 0,
 * or -1: ERR_AGAIN, the kernel has none, or this build. A call of another architecture ends the
 * process. */
int offline_restrict(struct err *e);

#endif
