/* summary: what a proposal does to which files, in words; agents' texts are included unescaped. */
#ifndef SUMMARY_H
#define SUMMARY_H

#include "proposal.h"

/* Appends what happens to file `at` of a request: "delete secret.key", "rename a.c to b.c (mode
 * 755)", "modify docs/notes.md → src/auth.c". False: another file's text covers it. */
bool summary_add_file(struct str *out, const struct touched *files, size_t count, size_t at);

/* Appends all of them, separated by `between`, but at most `most`, then "and 3 more". */
void summary_add(struct str *out, const struct touched *files, size_t count, const char *between,
                 size_t most);

/* Whether there is more to say than that one file is modified. */
bool summary_is_needed(const struct touched *files, size_t count);

#endif
