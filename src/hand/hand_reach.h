/* hand_reach: what lies beneath a folder that a tool reads as a whole. */
#ifndef HAND_REACH_H
#define HAND_REACH_H

#include "str.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

enum { HAND_REACH_MOST = 200000 }; /* files and folders: half a second, if the kernel knows them */

struct hand_reach_of {
	int most; /* files and folders to look through */
	bool is_file; /* only the names of one file: */
	int64_t device, inode;
};

/* Looks for a file or folder beneath folder (absolute; no link is followed) that one of the entries
 * covers (always_ask.h). 1 found: *found is its absolute name; 0 none, or folder is no folder; -1
 * none among the first of->most, and there are more. What cannot be read is left out. */
int hand_reach(const char *folder, const struct hand_reach_of *of, const cJSON *entries,
               struct str *found);

#endif
