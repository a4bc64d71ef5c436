/* hand_reach: what a tool reads that is given a folder, or a file with several names. */
#ifndef HAND_REACH_H
#define HAND_REACH_H

#include "str.h"

#include <cjson/cJSON.h>

enum { HAND_REACH_MOST = 200000 }; /* files and folders: half a second, if the kernel knows them */

/* Looks for what one of the entries covers (always_ask.h) beneath path (absolute; no link is
 * followed), and in the workspace for another name, which one covers, of a file that is there, or
 * is path itself. 1 found: *found is its absolute name; 0 none, or path is neither file nor folder;
 * -1 none among the first `most` files and folders beneath path, or in the workspace, and there are
 * more. What cannot be read is left out. */
int hand_reach(const char *path, const char *workspace, int most, const cJSON *entries,
               struct str *found);

#endif
