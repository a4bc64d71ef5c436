/* files: every call on what is in a workspace, as its system call, with its errno. Either this
 * process makes it, or a hand does: a process that runs as the owner of the workspace, for a system
 * of another user.
 *
 * Which calls run where. Without a hand a number is a descriptor, and all calls run here. With one,
 * all of these calls run in the hand, also those on what is open. Any of them may wait for the file
 * system, close (FLUSH) too; the file system may be a daemon of the owner's (FUSE) that answers all
 * but one of them, and it may answer nobody but its owner. So this process holds no descriptor of
 * it. What the hand opens it keeps, and names by a number from FILES_FIRST on, which no descriptor
 * has: a call outside of files.h fails with EBADF. Bytes go over the socket, in pieces: nothing is
 * shared that the hand could change, or cut off, while it is used.
 *
 * A hand does one call at a time and keeps nothing but what is open, so whoever drives it journals
 * and recovers as if it made the calls itself. What a hand says is not believed further than its
 * owner could bring it about in the workspace anyway.
 *
 * A hand that ends, or does not answer within FILES_PATIENCE_MS, is lost: the call under way and
 * all further ones fail with EIO, and nobody knows whether that call was done. Whoever has a
 * journal treats the work as after a crash (files_is_lost), and never as undone. */
#ifndef FILES_H
#define FILES_H

#include "str.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

/* What people are told of a lost hand in whose workspace only was read. */
#define FILES_LOST "the process that reads the workspace as its owner has ended, or does not answer"

enum {
	FILES_PATIENCE_MS = 30000, /* for a call */
	FILES_ALL_MS = 4 * FILES_PATIENCE_MS, /* for all calls of a hand: the time that each takes
	                                         is subtracted, */
	FILES_CALL_MS = 20, /* and this much added, for large changes on slow disks */
	FILES_FIRST = 1 << 24,
	FILES_ALL_MODES = 07777,
};

/* Whether the user of a hand keeps it from running: it is lost then at once. line: what is_held
 * needs. */
struct files_look {
	bool (*is_held)(int line);
	int line;
};

/* From here on files_open_root asks a hand: socket is the connection to it, SOCK_SEQPACKET, which
 * stays the caller's; -1: none. look: is copied; NULL: it is waited for. What an earlier one has
 * open is closed by its end. */
void files_use(int socket, const struct files_look *look);
/* How long the hand has for a call from here on. */
void files_wait(int ms);
/* Whether the hand was lost since files_use. */
bool files_is_lost(void);

/* Is the hand until the other end is closed. root: the workspace. */
void files_serve(int socket, int root);

/* ---- names ---- */

/* Opens the workspace, for which path is the name without a hand; O_DIRECTORY | flags. */
int files_open_root(const char *path, int flags);
int files_open(int dir, const char *name, int flags, mode_t mode);
/* As io_open_beneath. */
int files_open_beneath(int dir, const char *path, uint64_t flags, uint64_t resolve);
int files_make_dir(int dir, const char *name, mode_t mode);
int files_symlink(const char *target, int dir, const char *name);
int files_rename(int from_dir, const char *from, int to_dir, const char *to, unsigned flags);
/* As io_rename_new. */
int files_rename_new(int from_dir, const char *from, int to_dir, const char *to);
int files_unlink(int dir, const char *name, int flags);
int files_stat(int dir, const char *name, struct stat *st, int flags);
/* What a name is (S_IFMT), and what else statx(2) says of it (STATX_ATTR_MOUNT_ROOT: another file
 * system is mounted there); nothing is followed, mounted or woken. 0, or -1 with errno. */
int files_type(int dir, const char *name, mode_t *type, uint64_t *attributes);
/* Whether names in a directory can be added, but neither removed nor replaced (chattr +a). */
bool files_is_append_only(int dir);
ssize_t files_read_link(int dir, const char *name, char *target, size_t size);

/* ---- what is open ---- */

/* Opens it once more. */
int files_reopen(int fd, int flags);
/* Once there is no hand, nothing. */
int files_close(int fd);
/* The same; errno stays what it was. */
void files_close_quietly(int fd);
ssize_t files_read(int fd, void *bytes, size_t size);
/* As io_write_all. */
int files_write_all(int fd, const void *bytes, size_t length);
int files_rewind(int fd);
int files_sync(int fd);
/* Of the file of that name, which is opened for reading. */
int files_sync_at(int dir_fd, const char *name);
/* Of a directory; where the file system cannot (EINVAL, ENOTSUP), there is nothing to wait for. */
int files_sync_dir(int fd);
int files_look(int fd, struct stat *st);
/* What is free for writing; -1: not known. */
int files_free_bytes(int fd, uint64_t *ret);
/* Its absolute name, as the kernel has it now. 0, or -1 with errno. */
int files_name(int fd, struct str *name);
/* Appends the names in a directory but "." and "..", each with its NUL, in no order. 0, or -1 with
 * errno. */
int files_list(int dir, struct str *names);
/* The same of an open directory, some names at a time, from where the last call ended. 1 some, 0
 * there are no more, -1 with errno. */
int files_list_some(int fd, struct str *names);
int files_chmod(int fd, mode_t mode);
int files_chown(int fd, uid_t uid, gid_t gid);
/* Copies extended attributes (access lists too, but not a program's capabilities), as far as
 * permitted. */
void files_copy_attributes(int from, int to);
/* Removes the access lists of a file or folder that was just made: what its folder gave it, and
 * what it would give. 0, or -1 with errno. */
int files_drop_lists(int fd);
/* The permissions that an access list (ACL) leaves to everybody alike: with them and without the
 * list, nobody may more than with it. FILES_ALL_MODES: there is no list. */
mode_t files_common_mode(int fd);

#endif
