/* keep: deletes the objects that no checkpoint needs. */
#ifndef KEEP_H
#define KEEP_H

#include "object.h"

/* A look through all objects that are needed, some at a time. */
struct keep_look {
	char after[SHA256_BYTES]; /* the last one that was read; "": begins */
	bool done; /* nothing is left */
	uint64_t read; /* objects, this time */
	struct str bad; /* hashes of missing or damaged objects, one per line, this time */
	struct str lost; /* the manifests that need one of them, likewise */
};
void keep_look_clear(struct keep_look *l);

/* Reads those that the manifests need and that come after l->after, for ms, but at
 * least one. What they need is listed
 * once, in a file, when it begins; what comes later has its turn next time. A damaged object is
 * deleted, so that its content can be put again. Nobody may put objects meanwhile. 0 or -1, as
 * keep_objects. */
int keep_look(struct objects *o, const char *manifests, int ms, struct keep_look *l,
              char damaged[SHA256_BYTES], struct err *e);

/* What all objects that the manifests need (hashes, one per line) take of the disk, each once. */
uint64_t keep_size(struct objects *o, const char *manifests);

/* Deletes all objects but those that the manifests need (hashes, one per line), and counts them.
 * Nobody may put objects meanwhile. Memory holds 65 bytes for each object that is needed. 0; or -1
 * and nothing was deleted, if a manifest cannot be read: damaged (0-terminated) is then its hash if
 * it is missing or damaged, otherwise "". */
int keep_objects(struct objects *o, const char *manifests, uint64_t *deleted,
                 char damaged[SHA256_BYTES], struct err *e);

#endif
