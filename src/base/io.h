/* io: loops and fallbacks around system calls. */
#ifndef IO_H
#define IO_H

#include <dirent.h>
#include <stddef.h>

/* Writes all bytes, in as many calls as it takes. 0, or -1 with errno. */
int io_write_all(int fd, const void *bytes, size_t length);

/* Renames a file to an unused name; EEXIST if it is taken. 0, or -1 with errno. */
int io_rename_new(int from_dir, const char *from, int to_dir, const char *to);

/* Flushes the directory that contains path (a file or directory), so that the name survives a power
 * failure. 0, or -1 with errno. */
int io_flush_name(const char *path);

/* Writes a file to disk in pieces, then flushes it: one fsync(2) of a lot of data stalls everybody
 * else's. 0, or -1 with errno. */
int io_flush_gently(int fd);

/* A listing of an open directory with its own position; dir stays open. NULL with errno. */
DIR *open_listing(int dir);

#endif
