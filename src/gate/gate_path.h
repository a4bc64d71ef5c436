/* gate_path: which file a text names to the host that is given it as a path. */
#ifndef GATE_PATH_H
#define GATE_PATH_H

#include "gate_host.h"

/* Why it is not certain which file the host takes the path for; NULL: for the one that it names, or
 * if is_expanded, for that of gate_path_expand. */
const char *gate_path_doubt(const struct gate_host *host, const char *path, bool is_expanded);
/* The same where nobody knows which program is given it. reads: it may find files by a pattern. */
const char *gate_path_doubt_any(const char *path, bool reads);
/* The same of a pattern of names of files. */
const char *gate_path_doubt_pattern(const char *pattern, bool is_expanded);

/* The path as a host with expands_paths reads it: without white space at its ends (where nothing
 * is left: "."), and from home on if it begins with "~". False: it is the same. */
bool gate_path_expand(const char *home, const char *path, struct str *out);
/* The path after one more step of a host with decodes_paths: without an "@" in front, or with "s"
 * for "%73". False: nothing is left to do. */
bool gate_path_decode(const char *path, struct str *out);
/* Why it is not certain that a host with splits_paths takes it for one path; NULL: it does. */
const char *gate_path_doubt_one(const char *path);
/* Whether home is needed to expand it. */
bool gate_path_needs_home(const char *path);

#endif
