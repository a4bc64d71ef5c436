/* files_line: how a process and its hand talk (files.h): one message for each call, with its
 * descriptors (SCM_RIGHTS), and one answer. Both are of the same build. */
#ifndef FILES_LINE_H
#define FILES_LINE_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

enum files_op {
	FILES_ROOT,
	FILES_OPEN,
	FILES_BENEATH,
	FILES_REOPEN,
	FILES_MKDIR,
	FILES_SYMLINK,
	FILES_RENAME,
	FILES_LINK,
	FILES_UNLINK,
	FILES_STAT,
	FILES_READLINK,
	FILES_CHMOD,
	FILES_CHOWN,
	FILES_ATTRIBUTES,
	FILES_OPS
};

enum { FILES_FDS = 2 }; /* at most, with a call */

struct files_call {
	uint32_t op, mode, uid, gid;
	uint64_t flags, resolve;
	char name[PATH_MAX], other[PATH_MAX];
};

struct files_answer {
	int32_t error; /* errno; 0: done, and the descriptor goes with it, if it opens one */
	uint32_t length; /* of target */
	struct stat st;
	char target[PATH_MAX];
};

/* Waits for a message. Returns its length, with *ret_count descriptors, which are the caller's; 0:
 * the other end is closed; -1. */
ssize_t files_receive(int socket, void *bytes, size_t size, int fds[FILES_FDS], size_t *ret_count);
/* 0 or -1. */
int files_send(int socket, const void *bytes, size_t size, const int *fds, size_t count);

/* Without a hand. 0. */
int files_copy_attributes_here(int from, int to);

#endif
