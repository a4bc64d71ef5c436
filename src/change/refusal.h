/* refusal: why files are not changed: a code for the agent, a text for people. */
#ifndef REFUSAL_H
#define REFUSAL_H

#include "err.h"

#include <stdbool.h>

struct refusal {
	const char *code;
	bool again; /* the machine is short of a resource: a retry may work */
	char text[ERR_TEXT_BYTES];
};

/* Each fills why and returns -1, like err_set. refuse_errno derives the code from errno; refuse_err
 * from an error of safe_path (and the errno it left: set errno to 0 before the call). Codes:
 * path_violation, patch_conflict, invalid_diff, too_large, and from the system no_space, quota,
 * read_only, permission, io_error, busy. what, path: trusted text and a path that may contain
 * anything.
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

/* Whether it is about the file, rather than about a machine that could not read it. */
bool refusal_is_told(const struct refusal *why);

#endif
