/* refusal: why a change to files is not made: a code for the agent, a text for people. */
#ifndef REFUSAL_H
#define REFUSAL_H

#include "err.h"

#include <stdbool.h>

struct refusal {
	const char *code;
	bool again; /* the machine is short of something: the same may work soon */
	char text[ERR_TEXT_BYTES];
};

/* All return -1 and fill why. refuse_errno judges errno; refuse_err what safe_path told (with
 * errno as that left it: set it to 0 before the call). Codes: path_violation, patch_conflict,
 * invalid_diff, too_large, and of the system no_space, quota, read_only, permission, io_error,
 * busy. what, path: trusted text and a path that may hold anything. */
int refusal_set(struct refusal *why, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int refuse_errno(struct refusal *why, const char *what, const char *path);
int refuse_err(struct refusal *why, const struct err *e);

/* Whether it tells of the file, rather than of a machine that could not look at it. */
bool refusal_is_told(const struct refusal *why);

#endif
