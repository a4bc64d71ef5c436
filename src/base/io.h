/* io: what the system's calls leave to their callers. */
#ifndef IO_H
#define IO_H

#include <dirent.h>
#include <stddef.h>

/* Writes all of it, however many calls that takes. 0, or -1 with errno. */
int io_write_all(int fd, const void *bytes, size_t length);

/* Renames a file to an unused name: EEXIST if it is taken. 0, or -1 with errno. */
int io_rename_new(int from_dir, const char *from, int to_dir, const char *to);

/* Flushes the directory that path (of a file or directory) is in: then its name survives a power
 * cut. 0, or -1 with errno. */
int io_flush_name(const char *path);

/* Writes a file to disk bit by bit, then flushes it: fsync(2) of much at once makes everybody
 * else's wait until it is through. 0, or -1 with errno. */
int io_flush_gently(int fd);

/* A listing of an open directory, with a place of its own; dir stays open. NULL with errno. */
DIR *open_listing(int dir);

#endif
