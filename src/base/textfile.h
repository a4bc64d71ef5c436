/* textfile: a small text file that belongs to another program, read, replaced whole, given back.
 *
 * A symbolic link is followed: the file it leads to is replaced and the link stays. Mode and, where
 * permitted, owner of the old file go to the new one; everybody sees the old or the new content. */
#ifndef TEXTFILE_H
#define TEXTFILE_H

#include "err.h"
#include "str.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

enum { TEXTFILE_BYTES_MAX = 64 << 20 };

struct textfile {
	char *path; /* as it was named */
	char *target; /* where links lead to */
	struct str bytes; /* as read */
	bool exists;
	struct stat about; /* of the file, if it exists */
	mode_t mode; /* of a file that is made; 0666 less the umask unless changed after reading */
};

/* Reads path, which need not exist. f must be fresh. 0 or -1: it is not a regular file, too large,
 * a link to nothing. */
int textfile_read(const char *path, struct textfile *f, struct err *e);

/* Puts bytes in place of what was read, making missing directories. Refused with ERR_AGAIN if the
 * file is no longer what was read. 0 or -1, and then nothing is changed. */
int textfile_replace(const struct textfile *f, const struct str *bytes, struct err *e);
/* Removes the file, under the same condition. */
int textfile_remove(const struct textfile *f, struct err *e);

/* Keeps a copy of what was read as <target><suffix>, unless there is one or there was no file. */
int textfile_keep(const struct textfile *f, const char *suffix, struct err *e);

void textfile_clear(struct textfile *f);

/* ---- blocks of lines in a text ---- */

/* Appends a block (whole lines), with an empty line before it if there is anything before it. */
void textfile_add_block(struct str *text, const char *block);
/* Takes the bytes from start to end out, and the empty line that textfile_add_block put before
 * them. */
void textfile_cut_block(struct str *text, size_t start, size_t end);

#endif
