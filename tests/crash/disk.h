/* disk: a directory as a power cut may leave it. Loaded from where it stands, played forward by
 * what record.h tells of processes, and then cut: of what was not flushed, some is lost.
 *
 * What may be left, as POSIX promises no more:
 * - of a file, what was written before its last fsync or fdatasync is there whole. Of what came
 *   after, any part may be: writes up to some point, the last one torn, or any pages or sectors of
 *   them; the file as long as it was or as it became, with zeroes where no data came; its mode.
 * - of a directory, the names as they were at its last fsync are there. Of the changes after, any
 *   may be: all up to some point, the same for each directory by itself, or any selection of them.
 *   One change is whole or not there: a rename has both names or none, an exchange too.
 * - a file that was flushed has its name only if its directory was flushed.
 * Sectors are whole: a write that was flushed is never damaged by a later one beside it. */
#ifndef DISK_H
#define DISK_H

#include "record.h"
#include "str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct disk_name {
	char *name;
	size_t node;
};

/* A file or directory. kept: what is safe. */
struct disk_node {
	uint64_t inode; /* 0: another one has its number now */
	bool is_dir;
	unsigned mode, kept_mode;
	char *first_name; /* the one it was made with */
	struct str kept;
	struct disk_name *names; /* of a directory */
	size_t name_count;
	const struct record **pending; /* of a file: changes that were not flushed */
	size_t pending_count;
};

struct disk {
	struct disk_node *nodes; /* the first is the root */
	size_t node_count;
	struct disk_change *changes; /* of directories, not flushed */
	size_t change_count;
};

/* into is empty; from has no changes that were not flushed. */
void disk_copy(const struct disk *from, struct disk *into);

/* Reads all of root but what is named "run" or ends in "-shm": neither survives a power cut. */
void disk_load(struct disk *d, const char *root);

/* Plays the first `count` records of a log (records, one behind the other). Flushes of files for
 * which `loses` says so do not happen; NULL: all do. The log must outlive d. Returns how many
 * there are, up to count. */
size_t disk_play(struct disk *d, const struct str *log, size_t count,
                 bool (*loses)(const struct disk_node *));

/* Nothing is lost. */
void disk_keep_all(struct disk *d);
/* Some of what was not flushed is; seed says what. */
void disk_cut(struct disk *d, uint64_t seed);

/* Puts it in place of what is in root; "run" stays. */
void disk_write(const struct disk *d, const char *root);

void disk_clear(struct disk *d);

/* The next number of a sequence that *seed began, below `limit`. */
size_t disk_random(uint64_t *seed, size_t limit);

#endif
