/* workspace_owner: as whom the files of a workspace are read and written, in a system that serves
 * several users. */
#ifndef WORKSPACE_OWNER_H
#define WORKSPACE_OWNER_H

#include "refusal.h"
#include "store.h"

#include <sys/types.h>

/* 1: *ret_uid owns it; 0: it has no owner but our own user; -1. */
int workspace_owner_now(struct store *st, const char *machine, const char *workspace,
                        uid_t *ret_uid, struct err *e);

/* An agent of this user works in a folder that belongs to the user, as was just seen. Records that,
 * in a transaction of the caller's. 0 it may; 1 it may not, because the folder belonged to somebody
 * else, and no operator has said yet that it may: why says so; -1. */
int workspace_owner_meet(struct store *st, const char *machine, const char *workspace, uid_t uid,
                         struct refusal *why, struct err *e);

#endif
