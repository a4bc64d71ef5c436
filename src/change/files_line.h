/* files_line: how a process and its hand talk (files.h): one message for each call, and one answer,
 * without descriptors. Both are of the same build. */
#ifndef FILES_LINE_H
#define FILES_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

enum files_op {
	/* on names: */
	FILES_ROOT,
	FILES_OPEN,
	FILES_BENEATH,
	FILES_MKDIR,
	FILES_SYMLINK,
	FILES_RENAME,
	FILES_LINK,
	FILES_UNLINK,
	FILES_STAT,
	FILES_READLINK,
	FILES_TYPE,
	/* on what is open: */
	FILES_REOPEN,
	FILES_CLOSE,
	FILES_READ,
	FILES_WRITE,
	FILES_REWIND,
	FILES_SYNC,
	FILES_LOOK,
	FILES_FREE,
	FILES_NAME,
	FILES_NAMES,
	FILES_CHMOD,
	FILES_CHOWN,
	FILES_ATTRIBUTES,
	FILES_UNLIST,
	FILES_COMMON,
	FILES_OPS
};

enum {
	FILES_FDS = 2, /* at most, of a call */
	FILES_OPEN_MAX = 1024, /* numbers are below this */
	FILES_BYTES = 64 << 10, /* a socket takes three of these */
};

/* Of bytes, only length are sent. */
struct files_call {
	uint32_t op, fds[FILES_FDS], mode, uid, gid, length;
	uint64_t flags, resolve;
	char bytes[FILES_BYTES]; /* its names, each with its NUL; or what is written */
};

struct files_answer {
	int32_t error; /* errno; 0: done */
	uint32_t length;
	int64_t value; /* what the call returned */
	uint64_t free;
	uint64_t attributes;
	struct stat st;
	char bytes[FILES_BYTES];
};

/* The same on both sides: fills bytes with the next names in a directory, from where the last call
 * ended. How many bytes; 0 at the end; -1. */
ssize_t files_next_names(int dir, char bytes[FILES_BYTES]);
int files_type_here(int dir, const char *name, mode_t *type, uint64_t *attributes);
int files_free_here(int fd, uint64_t *ret);
ssize_t files_name_here(int fd, char *name, size_t size);
int files_reopen_here(int fd, int flags);
int files_copy_attributes_here(int from, int to);
int files_drop_lists_here(int fd);
mode_t files_common_mode_here(int fd);

#endif
