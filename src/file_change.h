/* file_change: one file of a proposal, on disk: planned, staged beside its target, put in its place
 * or taken back. No rows in here: apply.c journals what this module is about to do.
 *
 * A new content is written to a hidden temporary file in the target's directory, synced, and
 * renamed over the target, so that everybody sees the old or the new file and never a part. Mode,
 * owner (where permitted) and extended attributes of the old file go to the new one; hard links to
 * the old file keep the old content. A symlink inside the workspace is followed: the file that it
 * leads to is replaced or deleted, the link stays.
 *
 * Two windows are left open: between the last look at the target and the rename (microseconds)
 * another program's write is overwritten, and whoever holds the old file open writes into what
 * nobody will see. */
#ifndef FILE_CHANGE_H
#define FILE_CHANGE_H

#include "err.h"
#include "sha256.h"
#include "str.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

enum {
	FILE_CHANGE_MAX_BYTES = 100 << 20, /* of a file, before and after */
	TEMP_NAME_BYTES = 48,
};

#define NO_FILE "new_file" /* stands for the hash of a file that is not there */

/* Why a change is not made: a code for the agent, a text for people. */
struct refusal {
	const char *code;
	bool again; /* the machine is short of something: the same may work soon */
	char text[ERR_TEXT_BYTES];
};

/* All return -1 and fill why. refuse_errno judges errno; refuse_err what safe_path told (with
 * errno as that left it: set it to 0 before the call). */
int refuse(struct refusal *why, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int refuse_errno(struct refusal *why, const char *what, const char *path);
int refuse_err(struct refusal *why, const struct err *e);

/* One file's change; owns what it points to. */
struct file_change {
	struct str path; /* relative to the workspace, symlinks resolved */
	const char *action; /* create, modify, delete */
	char hash_before[SHA256_BYTES]; /* or NO_FILE */
	char hash_after[SHA256_BYTES];
	char temp_name[TEMP_NAME_BYTES]; /* "" for a deletion */
	struct str bytes; /* the content afterwards */
	mode_t mode; /* of the file afterwards; of a new file less the umask */
	struct stat old; /* where there is one */
	/* Filled by file_change_stage: */
	int dir_fd; /* the target's directory */
	struct str name; /* the target in it */
	size_t made_from; /* directories of path from this length on were made by us; 0: none */
	bool staged; /* the temporary file is there */
};

#define FILE_CHANGE_INIT                                                                           \
	{                                                                                          \
		.dir_fd = -1                                                                       \
	}

/* What is to become of which file. Texts are borrowed. */
struct proposal {
	const char *workspace_root;
	const char *file_path;
	const char *original_hash; /* of the file when asked, or NO_FILE */
	const char *body; /* a diff or the whole content */
	size_t body_length;
	bool force; /* also if the file has changed since */
	const char *database; /* canonical path: it and its companions are not touched; or NULL */
};

/* Reads the file as it is and computes what it is to become. f must be fresh. Changes nothing.
 * 0, or -1: path_violation, patch_conflict, invalid_diff, too_large, or a system's error. */
int file_change_plan(int root_fd, const struct proposal *p, struct file_change *f,
                     struct refusal *why);

/* Makes missing directories and writes the temporary file, synced. On failure nothing is left. */
int file_change_stage(int root_fd, struct file_change *f, struct refusal *why);

/* Looks at the target again and changes it, if it still is what was planned upon. On failure
 * nothing is changed; take back what was staged. */
int file_change_commit(struct file_change *f, struct refusal *why);

/* Makes the commit durable. */
int file_change_sync(const struct file_change *f, struct refusal *why);

/* Removes the temporary file and the directories that stage made, if they are empty. */
void file_change_undo(int root_fd, struct file_change *f);

/* After a crash: removes the temporary file `temp_name` beside path, if it is there. */
int file_change_remove_temp(int root_fd, const char *path, const char *temp_name,
                            struct refusal *why);

/* After a crash: what is at path, as a hash or NO_FILE. 1 told, 0 something that is no file of the
 * workspace (a directory, a link that leaves it), -1 it cannot be read: why. */
int file_change_look(int root_fd, const char *path, char hash[SHA256_BYTES], struct refusal *why);

/* After a crash: makes what happened to path durable. */
int file_change_sync_path(int root_fd, const char *path, struct refusal *why);

void file_change_clear(struct file_change *f);

#endif
