/* peer_uid: which user is at the other end of a loopback TCP connection. The kernel tells
 * (sock_diag(7)); it works for any user and asks nothing of the peer. */
#ifndef PEER_UID_H
#define PEER_UID_H

#include "err.h"

#include <sys/types.h>

/* The uid of the process whose socket is the other end of fd, an IPv4 connection on this machine.
 * 0, or -1: the other end is not on this machine, or closed already. */
int peer_uid(int fd, uid_t *ret_uid, struct err *e);
/* The same, and the inode of its socket. */
int peer_uid_socket(int fd, uid_t *ret_uid, unsigned *ret_inode, struct err *e);

#endif
