/* files: what is done to names and to rights of files in a workspace: each call as its system call,
 * with its errno. Either this process makes it, or a hand does: a process that runs as the owner of
 * the workspace, for a system of another user. Reading, writing and syncing of what is open, fstat
 * and fstatvfs need no rights, and stay here.
 *
 * A hand does one call at a time and keeps nothing, so whoever drives it journals and recovers as
 * if it made the calls itself. What a hand says is not believed further than its owner could bring
 * it about in the workspace anyway: a descriptor is a file or directory, opened as was asked for.
 *
 * A hand that ends, or does not answer within FILES_PATIENCE_MS, is lost: the call under way and
 * all further ones fail with EIO, and nobody knows whether that call was done. Whoever has a
 * journal treats the work as after a crash (files_is_lost), and never as undone. */
#ifndef FILES_H
#define FILES_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

enum { FILES_PATIENCE_MS = 30000 };

/* From here on a hand makes the calls: socket is the connection to it, SOCK_SEQPACKET, which stays
 * the caller's; -1: this process does. */
void files_use(int socket);
/* How long the hand has for a call from here on. */
void files_wait(int ms);
/* Whether a hand makes the calls; whether it was lost since files_use. */
bool files_have_hand(void);
bool files_is_lost(void);

/* Is the hand until the other end is closed. root: the workspace. */
void files_serve(int socket, int root);

/* Opens the workspace, for which path is the name without a hand; O_DIRECTORY | flags. */
int files_open_root(const char *path, int flags);
int files_open(int dir, const char *name, int flags, mode_t mode);
/* As io_open_beneath. */
int files_open_beneath(int dir, const char *path, uint64_t flags, uint64_t resolve);
/* Opens once more what is open. */
int files_reopen(int fd, int flags);
/* As open_listing. */
DIR *files_list(int dir);
int files_make_dir(int dir, const char *name, mode_t mode);
int files_symlink(const char *target, int dir, const char *name);
int files_rename(int from_dir, const char *from, int to_dir, const char *to, unsigned flags);
/* As io_rename_new. */
int files_rename_new(int from_dir, const char *from, int to_dir, const char *to);
int files_unlink(int dir, const char *name, int flags);
int files_stat(int dir, const char *name, struct stat *st, int flags);
ssize_t files_read_link(int dir, const char *name, char *target, size_t size);
int files_chmod(int fd, mode_t mode);
int files_chown(int fd, uid_t uid, gid_t gid);
/* Copies extended attributes (access lists too), as far as permitted. */
void files_copy_attributes(int from, int to);

#endif
