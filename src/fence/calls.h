/* calls: the system calls that each process may make, from the table calls.txt, as a seccomp
 * filter.
 *
 * What is not in its row fails: with ENOSYS if the call is not older than Linux 5.1, or younger
 * than the headers that this was built with, so that libraries fall back to an older one; else with
 * EPERM. Each refusal is counted (refusals.h), but for those of clone and fork, which libraries
 * make with all signals blocked, and of sockets of the machine alone (AF_UNIX). A call of another
 * architecture ends the process. */
#ifndef CALLS_H
#define CALLS_H

#include "err.h"

#include <stdbool.h>

/* The name of those that look into one workspace: jobs of hand, looks of reader, readings of
 * archivist. */
#define CALLS_LOOKER "looker"
/* The one that changes files as the owner of a workspace. */
#define CALLS_FILER "filer"

/* Puts the filter of `process` up around the calling thread and what it starts, for good; needs
 * no_new_privs, and refusals_listen before. 1: it stands; 0: this build has none (sanitizers make
 * calls of their own; an architecture that it does not know); -1: ERR_AGAIN, the kernel has none.
 */
int calls_restrict(const char *process, struct err *e);

/* The name of a call, NULL: unknown; its number, -1: this architecture has no such call. */
const char *calls_name(int number);
int calls_number(const char *name);

/* Whether the table allows it. */
bool calls_allowed(const char *process, int number);

#endif
