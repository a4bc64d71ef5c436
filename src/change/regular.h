/* regular: regular files in an open directory, opened without side effects on anything else. */
#ifndef REGULAR_H
#define REGULAR_H

#include "sha256.h"

#include <sys/stat.h>

/* Opens a regular file that is not a symlink for reading, and fills st. -1 with errno; EEXIST if
 * something else is there. */
int regular_open(int dir_fd, const char *name, struct stat *st);

/* The SHA-256 from fd's position to its end. 0, or -1 with errno. */
int regular_hash(int fd, char hash[SHA256_BYTES]);

/* The set-id bits of a mode that make a program run as somebody else: set-gid is one only together
 * with the group's execution. */
mode_t regular_set_id(mode_t mode);

/* The mode for a file `to` that is to have `mode` and that was given the attributes of file `from`,
 * whose mode is old. If `from` has an access list: with the list, the mode that belongs to it if
 * `mode` is what the list leaves to everybody alike (files_common_mode); without it no more than
 * that. */
mode_t regular_copied_mode(int from, mode_t old, int to, mode_t mode);

#endif
