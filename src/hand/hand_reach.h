/* hand_reach: what lies beneath a folder that a tool reads as a whole. */
#ifndef HAND_REACH_H
#define HAND_REACH_H

#include "str.h"

#include <cjson/cJSON.h>

enum { HAND_REACH_MOST = 200000 }; /* files and folders: half a second, if the kernel knows them */

/* Looks for a file or folder beneath folder (absolute; no link is followed) that one of the entries
 * covers (always_ask.h). 1 found: *found is its absolute name; 0 none, or folder is no folder; -1
 * none among the first `most`, and there are more. What cannot be read is left out. */
int hand_reach(const char *folder, const cJSON *entries, int most, struct str *found);

#endif
