/* task: a call that its client takes as a task, from its row in tool_call to what the client is
 * told of it. Whoever knows a task's id may ask for it: the id cannot be guessed, and the front
 * has looked at the caller's uid. */
#ifndef TASK_H
#define TASK_H

#include "call.h"
#include "mcp_task.h"

enum { TASK_POLL_MS = 3000 }; /* how often a client is told to look */

struct task {
	struct str id;
	enum mcp_task_status status;
	char created_at[INSTANT_BYTES], updated_at[INSTANT_BYTES];
	int64_t ttl_ms; /* below 0: it does not end by itself */
	bool untold; /* completed, and its client has not been told */
};

/* Fills t (fresh) from the row of a call. 1 found, 0 it is no task, -1 error. */
int task_read(struct store *st, int64_t call_seq, struct task *t, struct err *e);

void task_clear(struct task *t);

/* Appends the outcome of a completed task: what a tools/call would have answered. */
void task_outcome(struct str *out, const struct telling *t);

/* What the client is told. outcome: JSON of the tool's result where t is completed, else NULL; it
 * and t stay where they are as long as the answer is used. */
struct mcp_task task_message(const struct task *t, const char *outcome);

#endif
