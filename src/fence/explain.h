/* explain: whether a fence is why a path was denied, so that "Permission denied" is not a mystery.
 */
#ifndef EXPLAIN_H
#define EXPLAIN_H

#include "fence.h"

/* A fence that stands around this process from now on. Paths that it denies are counted
 * (refusals.h), as far as err_errno words them. */
void explain_fence(const struct fence *f);

/* Whether a text with an absolute path in it is about one that a fence denies: no rule lets it be
 * written, and its permissions, and those of the folder it is in, would let us read and write it.
 */
bool explain_denies(const char *text, char *ret_path, size_t size);

#endif
