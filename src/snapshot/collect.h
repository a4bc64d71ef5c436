/* collect: brings objects from one folder into another: for a backup, and back. */
#ifndef COLLECT_H
#define COLLECT_H

#include "object.h"

struct collected {
	uint64_t count; /* objects that are in both now */
	uint64_t added, bytes; /* that were missing */
	uint64_t damaged; /* not taken: their bytes are not what their names say */
};

/* Takes every object that to does not have: as a hard link if it is ours and both are on one file
 * system, which costs no room, else as a copy that is compared with its name. What is deleted
 * meanwhile is passed over, and what is no regular file counts as damaged. Nobody else may put
 * into to. 0, and all of them are on disk; or -1. */
int collect_objects(const struct objects *from, struct objects *to, struct collected *ret,
                    struct err *e);

#endif
