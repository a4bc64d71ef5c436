/* peer_uid: the user at the other end of a loopback TCP connection, according to the kernel
 * (sock_diag(7)); works for any user and does not involve the peer. */
#ifndef PEER_UID_H
#define PEER_UID_H

#include "err.h"

#include <sys/types.h>

/* The uid of the process whose socket is the other end of fd, an IPv4 connection on this machine.
 * 0, or -1: the other end is not on this machine, or already closed. */
int peer_uid(int fd, uid_t *ret_uid, struct err *e);
/* The same, and the inode of its socket. */
int peer_uid_socket(int fd, uid_t *ret_uid, unsigned *ret_inode, struct err *e);

#endif
