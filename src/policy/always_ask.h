/* always_ask: files that no policy lets anybody write unasked, whatever its patterns: ours decide
 * what is run, what is allowed, or what agents are told; those that the configuration adds are not
 * read unasked, either. */
#ifndef ALWAYS_ASK_H
#define ALWAYS_ASK_H

#include <cjson/cJSON.h>
#include <stdbool.h>

/* The entry that covers a path (relative to its workspace), NULL if there is none. An entry matches
 * its name at any depth, in upper or lower case, and everything beneath it; with slashes, that
 * sequence of names; * ? and [..] match within a name. more: additional entries (setting
 * policy.always_ask), or NULL. They count in the names above the workspace, too: root is its
 * absolute path, or NULL; ours do not (a checkout may lie in .claude). */
const char *always_ask_entry(const char *root, const char *path, const cJSON *more);

/* The additional entry that covers a path, which may be absolute; NULL: none does. */
const char *always_ask_added(const char *root, const char *path, const cJSON *more);
/* Whether one of them is of the path itself, and not only of a folder above it. */
bool always_ask_ends(const char *path, const cJSON *more);

#endif
