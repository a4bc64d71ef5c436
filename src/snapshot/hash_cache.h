/* hash_cache: the hashes of a workspace's files as they were at the last checkpoint, so that what
 * has not changed is not read again. A file in the folder of objects, in the order of a walk: it is
 * read and rewritten alongside it, in memory that does not grow with it.
 *
 * A file counts as unchanged if device, inode, size, mtime and ctime are the same, and its content
 * as there if nothing was deleted since (objects_mark). What was changed less than two seconds
 * before it was read is not remembered: its times might not show the next change. A cache that knew
 * almost everything is left as it is. One that is lost or cannot be written costs time and nothing
 * else. */
#ifndef HASH_CACHE_H
#define HASH_CACHE_H

#include "object.h"

#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

struct hash_cache {
	struct objects *objects; /* borrowed */
	int dir; /* their folder, borrowed */
	char name[OBJECT_NAME_BYTES + 16], temp[OBJECT_NAME_BYTES + 16];
	FILE *old, *next;
	struct str path; /* of the record that was read ahead */
	struct hash_cache_record *record;
	bool has, failed;
	uint64_t unchecked; /* bytes of next since the disk had room for more */
	bool trusted; /* what the old one names is among the objects */
	uint64_t unknown, unknown_bytes; /* files that it did not know */
};

/* Opens the cache of a workspace; c must be fresh. */
void hash_cache_open(struct hash_cache *c, struct objects *o, const char *root);
/* The hash of a file, if it is as it was and its content is there; st gets the mode that was added
 * with it. Paths must be asked in the order of manifest_order. */
bool hash_cache_find(struct hash_cache *c, const char *path, struct stat *st, struct sha256 *hash);
/* Remembers a file; read_at: just before st was taken and the file was read. */
void hash_cache_add(struct hash_cache *c, const char *path, const struct stat *st,
                    const struct sha256 *hash, const struct timespec *read_at);
/* Replaces the old cache by what was added, unless that would be almost the same. */
void hash_cache_finish(struct hash_cache *c);
/* Closes it; without hash_cache_finish the old one stays. */
void hash_cache_clear(struct hash_cache *c);

/* Removes caches that no walk has used for that many days. */
void hash_cache_expire(const struct objects *o, int days);

#endif
