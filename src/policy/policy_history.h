/* policy_history: what people decided in a workspace, for a policy to be tried on. */
#ifndef POLICY_HISTORY_H
#define POLICY_HISTORY_H

#include "policy.h"
#include "store.h"

/* One question that a person approved or rejected. Valid during the call. */
struct policy_past {
	const char *id;
	const char *what; /* the file, or the command's first line */
	bool approved;
	struct policy_question question; /* as a policy was asked then */
};

/* Calls each for every one behind request.seq after, the newest first, until it returns false. 0 or
 * -1. */
int policy_history(struct store *st, const char *workspace_root, int64_t after,
                   bool (*each)(const struct policy_past *past, void *arg), void *arg,
                   struct err *e);

#endif
