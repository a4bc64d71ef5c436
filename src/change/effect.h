/* effect: what a proposal does to the files as they are, as diffs that we compute. This is what a
 * person is shown and approves, whatever the proposal itself claims. */
#ifndef EFFECT_H
#define EFFECT_H

#include "proposal.h"

/* Appends the diff of every file that changes, in the order of the proposal, each with its actual
 * line numbers and sections (diff_compute_file); if none changes, it says so. Call it after
 * proposal_work, while contents and results are still there. */
void effect_of(const struct plan *plan, struct str *out);

/* Whether a forced write does what was shown: its effect on the current files is the one shown
 * (shown, length), at whatever lines it is now. */
bool effect_is_shown(const struct plan *plan, const char *shown, size_t length);

#endif
