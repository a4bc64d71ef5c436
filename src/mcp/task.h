/* task: a call that its client takes as a task, from its row in tool_call to what the client is
 * told. Knowing a task's id is enough to ask for it: the id cannot be guessed, and the front has
 * checked the caller's uid. */
#ifndef TASK_H
#define TASK_H

#include "call.h"
#include "mcp_task.h"

enum { TASK_POLL_MS = 3000 }; /* how often clients are told to poll */

struct task {
	struct str id;
	enum mcp_task_status status;
	char created_at[INSTANT_BYTES], updated_at[INSTANT_BYTES];
	int64_t ttl_ms; /* negative: unlimited */
	bool untold; /* completed, and its client has not been told */
};

/* Fills t (fresh) from the row of a call. 1 found, 0 it is not a task, -1 error. */
int task_read(struct store *st, int64_t call_seq, struct task *t, struct err *e);

void task_clear(struct task *t);

/* Appends the outcome of a completed task: what the tools/call would have returned. */
void task_outcome(struct str *out, const struct telling *t);

/* The message for the client. outcome: JSON of the tool's result if t is completed, otherwise NULL;
 * it and t must outlive the message. */
struct mcp_task task_message(const struct task *t, const char *outcome);

#endif
