/* deaf: a file system that answers everything but one kind of request: FUSE, implemented here, with
 * its files in memory. */
#ifndef DEAF_H
#define DEAF_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Mounts it on folder, empty, and owned by this user, for all users or for this one alone.
 * Unmounted when the test ends. False: there is no /dev/fuse, or no right to mount. Processes that
 * are to see it must be started after may_mount. */
bool deaf_mount(const char *folder, uid_t uid, bool for_all);
/* From here on requests of this kind (FUSE_WRITE, ...) wait; 0: they are answered, and so are those
 * that have waited. */
void deaf_to(uint32_t opcode);
/* How many wait. */
int deaf_waiting(void);
/* Unmounts it: waiting callers get an error. */
void deaf_unmount(void);

#endif
