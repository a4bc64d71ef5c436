/* always_ask: files that no policy lets anybody write unasked, whatever its patterns say: they
 * decide what is run, what is allowed, or what agents are told. */
#ifndef ALWAYS_ASK_H
#define ALWAYS_ASK_H

#include <cjson/cJSON.h>

/* The entry that covers a path (relative to its workspace), NULL if there is none. An entry stands
 * for its name at any depth, in upper or lower case, and for what is beneath it; with slashes for
 * that run of names; * ? and [..] stay within a name. more: a list of further entries (setting
 * policy.always_ask), or NULL. */
const char *always_ask_entry(const char *path, const cJSON *more);

#endif
