/* group_id: a group by its name, and whether who is at the other end of a socket is in it. */
#ifndef GROUP_ID_H
#define GROUP_ID_H

#include "err.h"

#include <stdbool.h>
#include <sys/types.h>

/* The group of that name, or of that number. 0; -1: ERR_INPUT, there is none. */
int group_id_find(const char *name, gid_t *ret, struct err *e);

/* Whether the process that has connected the other end of fd, a Unix socket, had the group then, as
 * its own or among the others. */
bool group_id_has_peer(gid_t group, int fd);

/* Whether the users of this machine as they are now have this one in the group: a login session
 * keeps groups from which its user was removed later. A user without an account counts only for a
 * group without a name: then only the kernel knows both. */
bool group_id_keeps(gid_t group, uid_t user);

/* Whether nobody but the user is in the group, as where each user has a group of their own and
 * umask is 0002 (Debian 13, Ubuntu): it has the user's name, is the first group of no other
 * account, and has no other member. For fenced processes, too: reads /etc/passwd and /etc/group
 * and asks none of the C library's other sources. What is not in both is not private. */
bool group_id_is_private(gid_t group, uid_t user);

#endif
