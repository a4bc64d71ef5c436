/* io: loops and fallbacks around system calls. */
#ifndef IO_H
#define IO_H

#include "err.h"
#include "str.h"

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Writes all bytes, in as many calls as it takes. 0, or -1 with errno. */
int io_write_all(int fd, const void *bytes, size_t length);

/* Appends what a descriptor has, up to its end, but at most so many bytes. 0 all, 1 there are more,
 * -1 with errno. */
int io_read_all(int fd, size_t most, struct str *bytes);

/* Renames a file to an unused name; EEXIST if it is taken. 0, or -1 with errno. */
int io_rename_new(int from_dir, const char *from, int to_dir, const char *to);

/* Flushes the directory that contains path (a file or directory), so that the name survives a power
 * failure. 0, or -1 with errno. */
int io_flush_name(const char *path);

/* Flushes what name stands for in dir (AT_FDCWD: in the working directory); flags are those of
 * openat(2) in addition to O_RDONLY. 0, or -1 with errno. */
int io_flush_at(int dir, const char *name, int flags);

/* Writes a file to disk in pieces, then flushes it: one fsync(2) of a lot of data stalls everybody
 * else's. 0, or -1 with errno. */
int io_flush_gently(int fd);

/* Makes the missing folders above path, of which a slash at its end names the last. 0, or -1 with
 * errno. */
int io_make_parents(const char *path, mode_t mode);

/* A listing of an open directory with its own position; dir stays open. NULL with errno. */
DIR *open_listing(int dir);

/* Opens with openat2(2) what path stands for below dir: flags O_..., resolve RESOLVE_... Again
 * while directories on the way are being renamed. -1 with errno. */
int io_open_beneath(int dir, const char *path, uint64_t flags, uint64_t resolve);

/* What a file is if it has no content of its own, with its article: "a FIFO", "a socket",
 * "a device"; NULL: nothing of these. */
const char *io_special(mode_t mode);

enum { IO_FDS = 8 };

/* Sends one message over a Unix socket, with count (at most IO_FDS) descriptors, which remain the
 * caller's. flags: those of sendmsg(2) in addition to MSG_NOSIGNAL. Returns what sendmsg does. */
ssize_t io_send_fds(int socket, const void *bytes, size_t length, const int *fds, size_t count,
                    int flags);

/* Receives one message, and the descriptors that came with it, which exec closes: they fill fds
 * from its start, the rest of its count (at most IO_FDS) is -1. flags: as above. Returns what
 * recvmsg does; -1 with EMSGSIZE where bytes or descriptors did not fit: no descriptor is left open
 * then.
 */
ssize_t io_receive_fds(int socket, void *bytes, size_t size, int *fds, size_t count, int flags);

/* Closes what *fd is (-1: nothing), which also takes it out of epoll; *fd is then -1,
 * errno what it was. */
void io_shut(int *fd);
/* In a child: closes every descriptor from `first` on but these two (-1: none), so that it holds
 * no lock or socket of its parent's. */
void io_close_all_but(int first, int one, int other);
/* Whether fd is a socket of whole messages (SOCK_SEQPACKET). */
bool io_has_messages(int fd);

/* Reads what a descriptor that does not block has, up to `reads` pieces. each gets every piece, and
 * length 0 once at the end, when *fd has been shut. 1 there may be more, 0 not now, -1 each failed.
 */
int io_drain(int *fd, int reads,
             int (*each)(void *arg, const char *bytes, size_t length, struct err *e), void *arg,
             struct err *e);

/* Whether only few files more can be made on the disk of fd, which are left to others: each takes
 * an inode, of which some file systems have a fixed number. 0: no; else how many there should be.
 */
unsigned long io_too_few_files(int fd);

#endif
