/* io: what read(2) and write(2) leave to their callers. */
#ifndef IO_H
#define IO_H

#include <stddef.h>

/* Writes all of it, however many calls that takes. 0, or -1 with errno. */
int write_all(int fd, const void *bytes, size_t length);

#endif
