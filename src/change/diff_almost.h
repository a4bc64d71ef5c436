/* diff_almost: what is not a diff, so that it would become a file as it stands, but was plainly
 * meant as one: in a code fence, behind a sentence, indented, quoted as in a mail, behind what
 * nobody sees, or in a form that is not ours. */
#ifndef DIFF_ALMOST_H
#define DIFF_ALMOST_H

#include <stdbool.h>
#include <stddef.h>

#include "refusal.h"

/* Refuses bytes, for which diff_looks_like is false and which are to become the file `path`, as
 * invalid_diff, if in their first lines a diff begins that names this path; one that names none
 * (hunks alone), unless the name is one of texts that hold diffs (README.md, fix.patch). A text
 * with diffs of other files is none of these, nor is one with more of its own before its first. 0
 * or -1. */
int diff_almost_refuse(const char *bytes, size_t length, const char *path, struct refusal *why);

#endif
