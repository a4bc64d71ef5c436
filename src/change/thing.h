/* thing: what a name in a directory is, as far as a checkpoint knows: kind, permissions, content.
 */
#ifndef THING_H
#define THING_H

#include "sha256.h"

#include <stdbool.h>
#include <sys/stat.h>

enum thing_kind { THING_NONE, THING_FILE, THING_LINK, THING_DIRECTORY, THING_OTHER };

struct thing {
	enum thing_kind kind;
	int mode; /* permissions of a file or directory, 0 of the others; if there is an access
	             list, what that leaves to everybody alike (files_common_mode) */
	char hash[SHA256_BYTES]; /* of a file's bytes, of a link's target; "" of the others */
};

/* What name is; its content is read. st (may be NULL) is filled unless it is THING_NONE. 0, or -1
 * with errno. */
int thing_look(int dir_fd, const char *name, struct thing *t, struct stat *st);

bool thing_is_same(const struct thing *a, const struct thing *b);

/* "a file", "a symlink", ... */
const char *thing_kind_name(enum thing_kind kind);

#endif
