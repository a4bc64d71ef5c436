/* reading: the process in which a workspace is read, and objects are kept. It has no database, and
 * nothing of ours but its end of a pipe. */
#ifndef READING_H
#define READING_H

#include "archive.h"

/* In the child, which ends then: reads the workspace at root, or keeps the objects (KEEPER), and
 * reports to out, one object of JSON: what was found; or why not, again: whether another attempt
 * may help, and left: bytes that were stored for nothing. owner: whose it is; may be filled in. */
void reading_do(const struct archive *a, struct filer_owner *owner, const char *root, int out);

#endif
