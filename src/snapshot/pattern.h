/* pattern: those of .gitignore, as git reads them. */
#ifndef PATTERN_H
#define PATTERN_H

#include <stdbool.h>

/* Whether a whole path fits a pattern: "*", "?" and "[…]" match no "/"; "**" between slashes, at
 * the start or at the end matches any number of directories; "\" makes the next byte ordinary. */
bool pattern_fits(const char *pattern, const char *path);

#endif
