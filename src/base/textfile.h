/* textfile: a small text file that belongs to another program: read, replaced as a whole, restored.
 *
 * A symbolic link is followed: its target is replaced and the link stays. The new file gets the
 * mode and, where permitted, the owner of the old one; readers see either the old or the new
 * content. */
#ifndef TEXTFILE_H
#define TEXTFILE_H

#include "err.h"
#include "str.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

enum { TEXTFILE_BYTES_MAX = 64 << 20 };

struct textfile {
	char *path; /* as given */
	char *target; /* where links lead */
	struct str bytes; /* as read */
	bool exists;
	struct stat about; /* of the file, if it exists */
	mode_t mode; /* of a new file; 0644 less the umask unless changed after reading */
};

/* Reads path, which need not exist. f must be fresh. 0, or -1: it is not a regular file, is too
 * large, or is a link to nothing. */
int textfile_read(const char *path, struct textfile *f, struct err *e);

/* Appends what a file of others contains; links are followed, nothing is waited for. 1; 0: it is no
 * regular file, or cannot be read; -1: it is larger than most bytes, and not all of it was read. */
int textfile_look(const char *path, size_t most, struct str *out);

/* Replaces what was read with bytes; creates missing directories, for all users if the file is,
 * else by the umask. Refused with ERR_AGAIN if the file has changed since. 0, or -1 with nothing
 * changed. */
int textfile_replace(const struct textfile *f, const struct str *bytes, struct err *e);
/* Removes the file, on the same condition. */
int textfile_remove(const struct textfile *f, struct err *e);

/* Keeps a copy of what was read as <target><suffix>, unless that exists or there was no file. */
int textfile_keep(const struct textfile *f, const char *suffix, struct err *e);

void textfile_clear(struct textfile *f);

/* ---- blocks of lines in a text ---- */

/* Appends a block (whole lines), after an empty line unless the text is empty. */
void textfile_add_block(struct str *text, const char *block);
/* Removes the bytes from start to end, and the empty line that textfile_add_block put before
 * them. */
void textfile_cut_block(struct str *text, size_t start, size_t end);

#endif
