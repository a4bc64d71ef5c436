/* tasks: calls that their clients take as tasks: made, looked at, cancelled, and told to those who
 * listen. */
#ifndef TASKS_H
#define TASKS_H

#include "hold.h"

/* Makes the result of a call that waits as a task. Inside the transaction. */
int tasks_make(struct front *f, struct job *job, struct err *e);

/* One of the methods of tasks, for JOBS. */
int tasks_run(struct front *f, struct job *job, struct err *e);
bool tasks_reply(struct front *f, struct job *job);

/* subscriptions/listen: acknowledged, then held open. */
void tasks_listen(struct front *f, struct sink *sink, const struct rpc_message *m);
/* notifications/cancelled for one of them, which has no row. id: its canonical spelling. */
void tasks_stop_listening(struct front *f, struct sink *sink, const char *id);

#endif
