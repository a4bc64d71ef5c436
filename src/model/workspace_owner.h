/* workspace_owner: as whom the files of a workspace are read and written, in a system that serves
 * several users. */
#ifndef WORKSPACE_OWNER_H
#define WORKSPACE_OWNER_H

#include "store.h"

#include <sys/types.h>

/* 1: *ret_uid owns it; 0: it has no owner but our own user; -1. */
int workspace_owner_now(struct store *st, const char *machine, const char *workspace,
                        uid_t *ret_uid, struct err *e);

/* An agent of this user, who has this name, is about to work in a folder that belongs to the user,
 * as was just seen. Records that, in a transaction of its own. 0; -1: ERR_INPUT, the folder
 * belonged to somebody else, and no operator has said yet that it may. */
int workspace_owner_meet(struct store *st, const char *machine, const char *workspace, uid_t uid,
                         const char *name, struct err *e);

#endif
