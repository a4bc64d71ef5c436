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

/* Each fills why and is -1, like err_set. refuse_errno judges errno; refuse_err what safe_path told
 * (with errno as that left it: set it to 0 before the call). Codes: path_violation,
 * patch_conflict, invalid_diff, too_large, and of the system no_space, quota, read_only,
 * permission, io_error, busy. what, path: trusted text and a path that may hold anything.
 * refusal_set(why, code, format, ...)
 * refuse_errno(why, what, path)
 * refuse_err(why, e) */
#define refusal_set(...) (refusal_tell(__VA_ARGS__), err_failure())
#define refuse_errno(why, what, path) (refusal_tell_errno(why, what, path), err_failure())
#define refuse_err(why, e) (refusal_tell_err(why, e), err_failure())

void refusal_tell(struct refusal *why, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void refusal_tell_errno(struct refusal *why, const char *what, const char *path);
void refusal_tell_err(struct refusal *why, const struct err *e);

/* Whether it tells of the file, rather than of a machine that could not look at it. */
bool refusal_is_told(const struct refusal *why);

#endif
