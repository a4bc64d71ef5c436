/* file_change: one file of a proposal on disk: staged next to its target, put in place, put back.
 * No rows here: apply.c journals what this module is about to do.
 *
 * New content is written to a hidden temporary file in the target's directory and synced. Then the
 * two exchange names (renameat2, RENAME_EXCHANGE), so that everybody sees either the old or the new
 * file, never a part, and the old file still exists: it is checked once more, and if somebody else
 * has written to it in the meantime, the names are exchanged back. A file to be deleted is renamed
 * to a hidden name and checked in the same way. The hidden files are removed once all files of the
 * proposal are in place. So nobody else's change is ever overwritten. On a file system that cannot
 * exchange names, two renames do it: for a moment there is no file with that name.
 *
 * The new file gets the mode, the owner (where permitted) and the extended attributes of the old
 * one, but no set-id bits and capabilities, as after write(2); hard links to the old file keep the
 * old content; holes are filled. If a path stands for another file (a symlink inside the
 * workspace), that file is replaced or deleted, and the link stays. A process that holds the old
 * file open writes to a file that nobody will see. */
#ifndef FILE_CHANGE_H
#define FILE_CHANGE_H

#include "proposal.h"
#include "refusal.h"
#include "sha256.h"
#include "str.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

enum { TEMP_NAME_BYTES = 48 };

/* One file's change; owns what it points to. */
struct file_change {
	struct str path; /* relative to the workspace, symlinks resolved */
	const char *action; /* create, modify, delete */
	char *other; /* of a rename or copy: as in struct touched */
	char hash_before[SHA256_BYTES]; /* or NO_FILE */
	char hash_after[SHA256_BYTES];
	char temp_name[TEMP_NAME_BYTES]; /* staged bytes, then the old file; "" for a deletion */
	char backup_name[TEMP_NAME_BYTES]; /* the old file, where names cannot be exchanged */
	struct str bytes; /* the content afterwards */
	size_t size; /* of bytes */
	struct str old_bytes; /* the content before */
	int mode; /* permissions afterwards, -1: no file is left */
	int mode_before; /* -1: no file */
	bool exact_mode; /* of a new file: mode is used as it is, not less the umask */
	bool leave_attributes; /* do not copy the extended attributes of like */
	struct str like; /* resolved: its owner and attributes are copied; "": none */
	struct stat seen; /* the old file when it was read; st_nlink 0: not read, or no file */
	size_t made_from; /* we make the directories of path beyond this length; 0: none */
	/* Filled by file_change_open and the functions after it: */
	int dir_fd; /* the target's directory */
	struct str name; /* the target's name in it */
	bool staged; /* the temporary file exists, with the new content */
	bool placed; /* the target is the new file; the old one has a hidden name */
	bool swapped; /* ... which is temp_name */
};

static inline bool file_change_is(const struct file_change *f, const char *action)
{
	return strcmp(f->action, action) == 0;
}

#define FILE_CHANGE_INIT                                                                           \
	{                                                                                          \
		.dir_fd = -1, .mode = -1, .mode_before = -1                                        \
	}

void file_change_clear(struct file_change *f);

/* The refusal of a file that has changed since the request. It tells no hash, with which one could
 * guess what is in it. */
int file_change_refuse(struct refusal *why, const char *path);

/* files_common_mode of the file with that resolved path. */
mode_t file_change_common_mode(int root_fd, const char *path);

/* Fills a fresh f from the plan; the texts of p move to f. like: as in struct file_change, or
 * NULL. */
void file_change_take(int root_fd, struct planned *p, const char *like, struct file_change *f);

/* Chooses hidden names, finds the missing directories, and hashes bytes. */
void file_change_prepare(int root_fd, struct file_change *f);

/* f takes back a write that left the mode written: permission bits that the write did not change
 * keep their present value (that of the file f is modelled on), except set-id bits. */
void file_change_keep_mode(int root_fd, int written, struct file_change *f);

/* Opens the target's directory; for a new file, makes missing ones. 0 or -1. */
int file_change_open(int root_fd, struct file_change *f, struct refusal *why);

/* Checks that the file systems have room for staging. changes are open. */
int file_change_check_space(const struct file_change *changes, size_t count, struct refusal *why);

/* Writes the temporary files, then syncs them. changes are open. */
int file_change_stage(int root_fd, struct file_change *changes, size_t count, struct refusal *why);

/* Checks that the target is the file that was planned for; one that looks unchanged is not read
 * again (file_change_place does that). */
int file_change_check(const struct file_change *f, struct refusal *why);

/* Puts the staged file in place, if the target is still the file that was planned for. On failure
 * nothing is changed. */
int file_change_place(struct file_change *f, struct refusal *why);

/* Undoes file_change_place, if the target is still what that made it. A refusal with
 * patch_conflict: somebody else has changed it since, and it stays. */
int file_change_put_back(struct file_change *f, struct refusal *why);

/* Makes what was placed or put back durable, those that are open: each directory once, if those of
 * one follow each other. */
int file_change_sync(const struct file_change *changes, size_t count, struct refusal *why);

/* Once everything is in place: removes the old file's hidden name and, for a deletion that undoes a
 * creation, the directories that the creation had made, if they are empty. */
int file_change_tidy(int root_fd, struct file_change *f, struct refusal *why);

/* If nothing is in place: removes the temporary file and the directories that were made, if they
 * are empty. Returns whether there was a temporary file. */
bool file_change_undo(int root_fd, struct file_change *f);

/* ---- after a crash: f is what the journal says ---- */

enum file_change_found {
	FOUND_BEFORE = 1, /* as it was; f->staged: the new content is there, too */
	FOUND_PLACED = 2, /* in place, and the old file still exists */
	FOUND_AFTER = 4, /* in place, and the old file is gone */
	FOUND_OTHER = 8, /* somebody else's */
	FOUND_GONE = 16, /* its directory leads elsewhere or, of an old file, is not there */
};

/* The state of a change that may not have been staged yet. 1 known, 0 it is not a file of the
 * workspace, -1 it cannot be read. */
int file_change_look(int root_fd, const char *path, char hash[SHA256_BYTES], struct refusal *why);

/* Removes a temporary file that may be incomplete. */
int file_change_remove_temp(int root_fd, const struct file_change *f, struct refusal *why);

/* The state of a change that was staged; opens f and sets staged and placed. A file of somebody
 * else's that was taken for the old one gets its name back. 0 or -1. */
int file_change_find(int root_fd, struct file_change *f, enum file_change_found *ret,
                     struct refusal *why);

/* Whether a file tells if the change is in place: by its content, or by whether it can be run. */
bool file_change_shows(const struct file_change *f);

/* Of a change that is FOUND_AFTER: writes the old file once more, next to its target, so that the
 * change can be put back. 0 or -1. */
int file_change_remake_old(int root_fd, struct file_change *f, const struct str *old,
                           struct refusal *why);

#endif
