/* others: whether users other than a file's owner get to it. */
#ifndef OTHERS_H
#define OTHERS_H

#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

/* How much of a path is what keeps others from a file: a folder that they cannot enter, or list if
 * it is called NAME.d, or the file if it does not have the permissions `wanted`. Looks beyond the
 * first `from` bytes, which end before a slash; 0: nothing there does. path is absolute and real.
 */
size_t others_stop(const char *path, size_t from, mode_t wanted, struct stat *ret_about);

#endif
