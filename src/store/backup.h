/* backup: a copy of the database as one file, made while others use it, and the way back.
 *
 * Both make what they make in a hidden directory beside the place that it is for, and give it its
 * name when it is whole and on disk: a kill never leaves a partial file under that name. The
 * directory of one that was killed is taken away by the next. */
#ifndef BACKUP_H
#define BACKUP_H

#include "err.h"

#include <stdio.h>

/* A directory for what is not whole yet; it is locked, so that nobody takes it for left behind. */
struct staging {
	char *parent; /* canonical */
	char *path;
	int fd;
};

#define STAGING_INIT                                                                               \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/* Makes one beside path, whose directory must exist, and takes abandoned ones away. */
int staging_open(struct staging *n, const char *path, struct err *e);
/* The file in it that is made, mode 0600, for writing. The caller closes it. NULL: error. */
FILE *staging_create(const struct staging *n, struct err *e);
/* Flushes that file and gives it its name, which nobody may have: on disk, or an error. */
int staging_publish(const struct staging *n, const char *file, struct err *e);
/* Removes it with all that is in it. */
void staging_clear(struct staging *n);

/* Writes a copy of the database, which may be in use, to file: mode 0600, checked, flushed. file
 * must not be there (ERR_INPUT). On failure nothing is. */
int backup_write(const char *database, const char *file, struct err *e);

/* Copies the backup at file into the staging directory, as "db", after a look at all of it
 * (store_examine). ret_version: of its schema, as it was written. */
int backup_fetch(const struct staging *n, const char *file, int *ret_version, struct err *e);

/* Flushes "db" of the staging directory and puts it in the place of the database, which nobody
 * uses. The one before is kept (with its log, if it is too damaged to take that in) under the name
 * kept, which must not be there. */
int backup_place(const struct staging *n, const char *database, const char *kept, struct err *e);

#endif
