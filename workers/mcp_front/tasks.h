/* tasks: calls that clients run as tasks: created, polled, cancelled, and reported to listeners. */
#ifndef TASKS_H
#define TASKS_H

#include "hold.h"

/* Builds the result of a waiting call as a task. Call in the transaction. */
int tasks_make(struct front *f, struct job *job, struct err *e);

/* Runs one of the tasks methods. For JOBS. */
int tasks_run(struct front *f, struct job *job, struct err *e);
bool tasks_reply(struct front *f, struct job *job);

/* subscriptions/listen: acknowledges it, then holds it open. */
void tasks_listen(struct front *f, struct sink *sink, const struct rpc_message *m);
/* notifications/cancelled for a subscription, which has no row. id: its canonical spelling. */
void tasks_stop_listening(struct front *f, struct sink *sink, const char *id);

#endif
