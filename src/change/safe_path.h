/* safe_path: names that agents give, and files opened so that they stay beneath a workspace.
 *
 * Two walls: safe_path_clean judges the text; the kernel (openat2(2): RESOLVE_BENEATH,
 * RESOLVE_NO_MAGICLINKS) judges where the text leads at the moment of opening, so that no symlink
 * race escapes. In addition, the real name of what was opened, from /proc/self/fd, must not be
 * protected. Protected are `.git` and `.intercom`, in upper or lower case, and names of temporary
 * files (safe_path_is_temp), anywhere on the real absolute path, above the workspace too.
 *
 * Only safe_path_resolve follows symlinks, if they are relative and stay inside; an absolute one is
 * refused wherever it leads. Its result is opened without following any (RESOLVE_NO_SYMLINKS), so
 * that a name leads where it led when it was judged, or nowhere.
 *
 * Texts of refusals begin with "path violation: "; their kind is ERR_INPUT, errno is ELOOP for a
 * symlink that is not followed, and EXDEV for all others. For other errors, ERR_AGAIN means that
 * the machine is short of a resource, ERR_INPUT that the file is at fault; errno is EFBIG for a
 * file that is too large. `relative` is the result of safe_path_resolve, or of safe_path_clean
 * where no link is to be followed. */
#ifndef SAFE_PATH_H
#define SAFE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "err.h"
#include "sha256.h"
#include "str.h"

/* Opens a workspace for reading and fsync (O_DIRECTORY, O_CLOEXEC). An absolute root is a real name
 * that people were shown: if it has become a symlink, or lies behind one, it is refused. So is one
 * that is a protected place or lies in one. The caller closes *ret_fd. 0 or -1. */
int safe_path_open(const char *root, int *ret_fd, struct err *e);

/* Judges given (length bytes, may contain anything) by its text alone and puts the canonical
 * relative path into relative (old content is freed; untouched on failure). root is the absolute
 * path of the workspace; an absolute path that begins with it is made relative. "." and ".." are
 * removed lexically, which may differ from what symlinks would make of them, but opening is
 * confined anyway. Refused: empty, outside the root or the root itself, a trailing slash, "." or
 * ".." at the end, bytes below 0x20 and 0x7f, invalid UTF-8, 4096 bytes or more, a component over
 * 255 bytes, protected places. 0 or -1. */
int safe_path_clean(const char *root, const char *given, size_t length, struct str *relative,
                    struct err *e);

/* The same of something that exists, whoever made it, and is only looked up by its name: it may
 * have bytes below 0x20 and 0x7f. */
int safe_path_clean_known(const char *root, const char *given, size_t length, struct str *relative,
                          struct err *e);

/* The same of a directory, which may be the workspace itself (relative is then ""), end in a slash
 * or in dots. */
int safe_path_clean_dir(const char *root, const char *given, size_t length, struct str *relative,
                        struct err *e);

/* Open for reading; the caller closes *ret_fd. Of a file, as below, its state in *st. 1 opened, 0
 * it (or a directory on the way) does not exist, -1. relative of a directory may be "". */
int safe_path_open_file(int root_fd, const char *relative, int *ret_fd, struct stat *st,
                        struct err *e);
int safe_path_open_dir(int root_fd, const char *relative, int *ret_fd, struct err *e);

/* Whether a path is or lies in a protected place, by its text. */
bool safe_path_is_protected(const char *path);

/* Whether a name is of the form that a write, and the restore of a checkpoint, give what they have
 * in hand: ".intercom-", 16 hex digits, ".tmp" or ".old". */
bool safe_path_is_temp(const char *name, size_t length);

/* Whether two resolved paths have the same directory. */
bool safe_path_is_beside(const char *a, const char *b);

/* Reads a regular file of at most max_bytes into bytes (old content is freed; untouched unless
 * read) and its state into st (may be NULL). Never blocks on a FIFO and never opens a device. 1
 * read, 0 it (or a directory on the way) does not exist, -1. */
int safe_path_read(int root_fd, const char *relative, size_t max_bytes, struct str *bytes,
                   struct stat *st, struct err *e);

/* The SHA-256 of a regular file of any size. 1 hashed, 0 does not exist, -1. */
int safe_path_hash(int root_fd, const char *relative, struct sha256 *hash, struct err *e);
/* The same of a file anywhere, by its absolute name, in which no link is followed: for what is only
 * compared, never shown or written. */
int safe_path_hash_anywhere(const char *path, struct sha256 *hash, struct err *e);

/* Opens the directory that contains relative, for *at() calls and fsync; the caller closes
 * *ret_dir_fd. basename gets the last component. With create, missing directories are made (0777
 * less the umask) one at a time, and each directory in which one was made is fsynced; those made
 * before a failure stay. 0 or -1. */
int safe_path_parent(int root_fd, const char *relative, bool create, struct str *basename,
                     int *ret_dir_fd, struct err *e);

/* Resolves the name relative (from safe_path_clean) to the file that it stands for: a path free of
 * symlinks. Links must lead to something that exists inside the workspace, under a name that
 * safe_path_clean accepts. Missing directories keep their names. What was deleted, and is there
 * only because it is mounted, has no name, and is refused. resolved: old content is freed;
 * untouched on failure. 0, 1 a symlink on the way leads to something that does not exist (e says
 * so), -1. */
int safe_path_resolve(int root_fd, const char *relative, struct str *resolved, struct err *e);

#endif
