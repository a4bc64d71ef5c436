/* backup: copies the database into one file while others use it, and restores it.
 *
 * Both build their result in a hidden directory next to its destination, and rename it once it is
 * complete and on disk: a kill never leaves a partial file under that name. The next run removes
 * the directory of one that was killed. */
#ifndef BACKUP_H
#define BACKUP_H

#include "err.h"
#include "str.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

/* A directory for incomplete files, locked so that nobody takes it for abandoned. */
struct staging {
	char *parent; /* canonical */
	char *path;
	int fd;
};

#define STAGING_INIT                                                                               \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/* Makes one next to path, whose directory must exist, and removes abandoned ones. */
int staging_open(struct staging *n, const char *path, struct err *e);
/* Creates the file in it, mode 0600, for writing. The caller closes it. NULL: error. */
FILE *staging_create(const struct staging *n, struct err *e);
/* Flushes that file and gives it its name, which must be unused: on disk, or an error. */
int staging_publish(const struct staging *n, const char *file, struct err *e);
/* Removes the directory with its contents. */
void staging_clear(struct staging *n);

/* Refuses a name that a backup of the database cannot get. */
int backup_check_name(const char *database, const char *file, struct err *e);
/* Writes a copy of the database, which may be in use, to file: mode 0600, checked, flushed. file
 * must not exist (ERR_INPUT). On failure no file is left. */
int backup_write(const char *database, const char *file, struct err *e);

/* Whether its mode or an access list lets other users write an open file or folder. */
bool backup_others_write(int fd, const struct stat *about);

/* Who may have written a backup. */
struct backup_writers {
	uid_t owner;
	bool others; /* may write it, or its log or journal */
};

/* Copies the backup at file, with the log or journal that is a part of it, into the staging
 * directory, as "db", and examines all of that (store_examine). file is only read, and must not be
 * in use. ret_version: its original schema version. */
int backup_fetch(const struct staging *n, const char *file, int *ret_version,
                 struct backup_writers *ret, struct err *e);

/* Flushes "db" of the staging directory and puts it in place of the database, which must not be in
 * use. The previous database is kept under the name kept, which must not exist (with its log, if it
 * is too damaged for the log to be folded in). */
int backup_place(const struct staging *n, const char *database, const char *kept, struct err *e);

/* Takes back what a backup_place that was killed has begun to keep, so that the database has one
 * name again, and its log. Under the instance's lock. Appends what was removed. */
void backup_take_back(const char *database, struct str *ret_removed);

#endif
