/* effect: what a proposal makes of the files as they are, as diffs that we compute: what a person
 * is shown and approves, whatever the proposal itself says of it. */
#ifndef EFFECT_H
#define EFFECT_H

#include "proposal.h"

/* Appends the diff of every file that changes, in the order of the proposal, each with its real
 * line numbers and sections (diff_compute_file); or, where none does, EFFECT_NONE. proposal_work
 * has been done, and contents and results are still there. */
void effect_of(const struct plan *plan, struct str *out);

extern const char EFFECT_NONE[];

/* Whether a forced write does what was shown: the effect on the files as they are now is the one
 * that was (shown, length), wherever its lines are now. */
bool effect_is_shown(const struct plan *plan, const char *shown, size_t length);

#endif
