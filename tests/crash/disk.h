/* disk: a directory as a power cut may leave it. It is loaded as it is, played forward by the
 * records of record.h, and then cut: some of what was not flushed is lost.
 *
 * What may be left, as POSIX promises no more:
 * - of a file: everything written before its last fsync or fdatasync. Of later writes any part:
 *   writes up to some point, the last one torn, or any pages or sectors of them; the file as long
 *   as it was or as it became, with zeroes where data is missing; its mode.
 * - of a directory: the names as they were at its last fsync. Of later changes any part: all up to
 *   some point, in each directory independently, or any selection of them. One change happens
 *   wholly or not at all: a rename leaves both names changed or none, an exchange too.
 * - a flushed file has its name only if its directory was flushed.
 * syncfs flushes every file and directory.
 * Sectors are atomic: a later write next to a flushed one never damages it. */
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
	uint64_t inode; /* 0: another node has this number now */
	uint64_t written; /* by disk_write, as this number */
	bool is_dir;
	unsigned mode, kept_mode;
	char *first_name; /* the one it was created with */
	struct str kept;
	struct disk_name *names; /* of a directory */
	size_t name_count;
	const struct record **pending; /* changes not flushed yet; of a directory, its mode */
	size_t pending_count;
};

struct disk {
	struct disk_node *nodes; /* the first is the root */
	size_t node_count;
	struct disk_change *changes; /* of directories, not flushed yet */
	size_t change_count;
};

/* into is empty; from has no unflushed changes. */
void disk_copy(const struct disk *from, struct disk *into);

/* Reads all of root except what is named "run" or ends in "-shm": neither survives a power cut. */
void disk_load(struct disk *d, const char *root);

/* Plays the first `count` records of a log (one after the other). Flushes of files for which
 * `loses` returns true are left out; NULL: none. The log must outlive d. Returns how many records
 * there are, up to count. */
size_t disk_play(struct disk *d, const struct str *log, size_t count,
                 bool (*loses)(const struct disk_node *));

/* Makes every change safe. */
void disk_keep_all(struct disk *d);
/* Loses some of what was not flushed; seed determines what. */
void disk_cut(struct disk *d, uint64_t seed);

/* Replaces the contents of root with it; "run" stays. Inodes have other numbers then, also in a
 * file that was created as "list", which holds such numbers. */
void disk_write(struct disk *d, const char *root);

void disk_clear(struct disk *d);

/* The next number below `limit` of the pseudo-random sequence in *seed. */
size_t disk_random(uint64_t *seed, size_t limit);

#endif
