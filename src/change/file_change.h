/* file_change: one file of a proposal, on disk: staged beside its target, put in its place, put
 * back. No rows in here: apply.c journals what this module is about to do.
 *
 * A new content is written to a hidden temporary file in the target's directory and synced. Then
 * the two exchange their names (renameat2, RENAME_EXCHANGE), so that everybody sees the old or the
 * new file and never a part, and the old file is there still: it is looked at once more, and if
 * somebody else has written it in the meantime, the names are exchanged back. What is deleted is
 * renamed to a hidden name and looked at in the same way. The hidden files are removed when all
 * files of the proposal are in place. So nobody else's change is ever overwritten.
 * A file system that cannot exchange gets two renames: for a moment there is no file of the name.
 *
 * Mode, owner (where permitted) and extended attributes of the old file go to the new one; hard
 * links to the old file keep the old content; holes are filled. Where a path stands for another
 * file (a symlink inside the workspace), that file is replaced or deleted, and the link stays.
 * A process that holds the old file open writes into a file that nobody will see. */
#ifndef FILE_CHANGE_H
#define FILE_CHANGE_H

#include "proposal.h"
#include "refusal.h"
#include "sha256.h"
#include "str.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

enum { TEMP_NAME_BYTES = 48 };

/* One file's change; owns what it points to. */
struct file_change {
	struct str path; /* relative to the workspace, symlinks resolved */
	const char *action; /* create, modify, delete */
	char *other; /* a rename or copy: as in struct touched */
	char hash_before[SHA256_BYTES]; /* or NO_FILE */
	char hash_after[SHA256_BYTES];
	char temp_name[TEMP_NAME_BYTES]; /* staged bytes, then the old file; "" for a deletion */
	char backup_name[TEMP_NAME_BYTES]; /* the old file, where names cannot be exchanged */
	struct str bytes; /* the content afterwards */
	size_t size; /* of it */
	struct str old_bytes; /* the content before */
	int mode; /* permissions afterwards, -1: none is left */
	int mode_before; /* -1: there is none */
	bool exact_mode; /* of a new file: mode is taken as it is, not less the umask */
	bool leave_attributes; /* extended ones of like are not taken over */
	struct str like; /* the file whose owner and attributes it gets, resolved; "": none */
	struct stat seen; /* the old file when it was read; st_nlink 0: it was not, or is none */
	size_t made_from; /* directories of path from this length on are made by us; 0: none */
	/* Filled by file_change_open and those after it: */
	int dir_fd; /* the target's directory */
	struct str name; /* the target in it */
	bool staged; /* the temporary file is there, with the new content */
	bool placed; /* the target is the new file; the old one has a hidden name */
	bool swapped; /* ... which is temp_name */
};

#define FILE_CHANGE_INIT                                                                           \
	{                                                                                          \
		.dir_fd = -1, .mode = -1, .mode_before = -1                                        \
	}

void file_change_clear(struct file_change *f);

/* The refusal of a file that is not what it was when it was asked for; hashes, or NO_FILE. */
int file_change_refuse(struct refusal *why, const char *path, const char *expected,
                       const char *found);

/* Fills a fresh f from what was planned; the texts of p move to f. like: as in struct file_change,
 * or NULL. */
void file_change_take(int root_fd, struct planned *p, const char *like, struct file_change *f);

/* Chooses hidden names, finds which directories are missing, and hashes bytes. */
void file_change_prepare(int root_fd, struct file_change *f);

/* Opens the target's directory; for a new file, makes missing ones. 0 or -1. */
int file_change_open(int root_fd, struct file_change *f, struct refusal *why);

/* That the file systems have room for what is to be staged. changes are open. */
int file_change_check_space(const struct file_change *changes, size_t count, struct refusal *why);

/* Writes the temporary file, synced. f must be open. On failure none is left. */
int file_change_stage(int root_fd, struct file_change *f, struct refusal *why);

/* That the target is what was planned upon; a file that looks as it did then is not read again
 * (file_change_place does). */
int file_change_check(const struct file_change *f, struct refusal *why);

/* Puts what was staged in place, if the target still is what was planned upon. On failure nothing
 * is changed. */
int file_change_place(struct file_change *f, struct refusal *why);

/* Undoes what file_change_place did, if the target still is what that made it. A refusal of
 * patch_conflict: somebody else has changed it since, and it stays so. */
int file_change_put_back(struct file_change *f, struct refusal *why);

/* Makes what was placed or put back durable. */
int file_change_sync(const struct file_change *f, struct refusal *why);

/* All is in place: removes the old file's hidden name; of a deletion that takes a creation back,
 * the directories that it had made, if they are empty. */
int file_change_tidy(int root_fd, struct file_change *f, struct refusal *why);

/* Nothing is in place: removes the temporary file and the directories that were made, if they are
 * empty. Returns whether there was a temporary file. */
bool file_change_undo(int root_fd, struct file_change *f);

/* ---- after a crash: f is what the journal says ---- */

enum found {
	FOUND_BEFORE = 1, /* as it was; f->staged: and the new content is there */
	FOUND_PLACED = 2, /* in place, and the old file is there */
	FOUND_AFTER = 4, /* in place, and the old file is gone */
	FOUND_OTHER = 8, /* somebody else's */
	FOUND_GONE = 16, /* its directory leads elsewhere or, of an old file, is not there */
};

/* Where a change stands whose content was not staged yet for certain. 1 told, 0 it is no file of
 * the workspace, -1 it cannot be read. */
int file_change_look(int root_fd, const char *path, char hash[SHA256_BYTES], struct refusal *why);

/* Removes a temporary file that may be incomplete. */
int file_change_remove_temp(int root_fd, const struct file_change *f, struct refusal *why);

/* Where a change stands that was staged; opens f and sets staged and placed. A file of somebody
 * else's that had been taken for the old one gets its name back. 0 or -1. */
int file_change_find(int root_fd, struct file_change *f, enum found *ret, struct refusal *why);

#endif
