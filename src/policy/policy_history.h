/* policy_history: what people decided in a workspace, to test a policy against. */
#ifndef POLICY_HISTORY_H
#define POLICY_HISTORY_H

#include "policy.h"
#include "store.h"

/* One request that a person approved or rejected. Valid during the call. */
struct policy_past {
	const char *id;
	const char *what; /* the file, or the command's first line */
	bool approved;
	struct policy_question question; /* as a policy was asked at the time */
};

/* Calls each for every one after request.seq `after`, newest first, until it returns false. 0 or
 * -1. */
int policy_history(struct store *st, const char *workspace_root, int64_t after,
                   bool (*each)(const struct policy_past *past, void *arg), void *arg,
                   struct err *e);

#endif
