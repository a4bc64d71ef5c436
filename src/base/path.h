/* path: texts that are paths, and where they lead. */
#ifndef PATH_H
#define PATH_H

#include "str.h"

#include <stdbool.h>

/* What follows the last slash, for a person to read: all of it if nothing does. path may be NULL;
 * then so is the result. Valid as long as path is. */
const char *path_name(const char *path);

/* Whether path is folder, or below it. Both are absolute and real, without a slash at the end ("/"
 * has one). */
bool path_is_within(const char *path, const char *folder);

/* Appends the absolute name that path, which is absolute, stands for: links are followed, and what
 * is not there keeps its name. */
void path_real(const char *path, struct str *out);

#endif
