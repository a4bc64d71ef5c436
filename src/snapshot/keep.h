/* keep: deletes the objects that no checkpoint needs. */
#ifndef KEEP_H
#define KEEP_H

#include "object.h"

/* Deletes all objects but those that the manifests need (hashes, one per line), and counts them.
 * Nobody may put objects meanwhile. Memory holds 65 bytes for each object that is needed. 0; or -1
 * and nothing was deleted, if a manifest cannot be read: damaged (0-terminated) is then its hash if
 * it is missing or damaged, otherwise "". */
int keep_objects(struct objects *o, const char *manifests, uint64_t *deleted,
                 char damaged[SHA256_BYTES], struct err *e);

#endif
