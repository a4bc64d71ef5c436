/* regular: regular files in an open directory, opened without side effects on anything else. */
#ifndef REGULAR_H
#define REGULAR_H

#include "sha256.h"

#include <stdbool.h>
#include <sys/stat.h>

/* Opens a regular file that is not a symlink for reading, and fills st. -1 with errno; EEXIST if
 * something else is there. */
int regular_open(int dir_fd, const char *name, struct stat *st);

/* The SHA-256 from fd's position to its end. 0, or -1 with errno. */
int regular_hash(int fd, char hash[SHA256_BYTES]);

/* The set-id bits of a mode that make a program run as somebody else: set-gid is one only together
 * with the group's execution. */
mode_t regular_set_id(mode_t mode);

/* Gives a file or folder a group, if that is permitted. Returns the mode for it if it is to have
 * `mode`: without the group what the group and others have in common. */
mode_t regular_take_group(int fd, gid_t group, mode_t mode);

/* Gives file `to`, which is to have `mode`, the owner and group of file `from`, as far as
 * permitted, and, if it is to have them, its extended attributes. old is what `from` is. Returns
 * the mode for `to`, with which nobody may more than `mode` lets them: without that owner or group
 * no set-id bits, and without the group what the file's group and others have in common. If `from`
 * has an access list: with the list, the mode that belongs to it if `mode` is what the list leaves
 * to everybody alike (files_common_mode); without it no more than that. */
mode_t regular_take_over(int from, const struct stat *old, int to, mode_t mode, bool attributes);

#endif
