/* owner_of: whose a workspace is, as far as the system's own user can see. as-owner, which looks at
 * the folder as that user, has the last word. */
#ifndef OWNER_OF_H
#define OWNER_OF_H

#include "err.h"

#include <sys/types.h>

/* The owner of the folder; where we may not look at it, of the last one on its way that we may look
 * at: a home of mode 0700 belongs to whose the folders in it are. 0; -1: ERR_INPUT, it is missing.
 */
int owner_of(const char *path, uid_t *ret, struct err *e);

#endif
