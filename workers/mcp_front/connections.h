/* connections: the rows of connections: opened, closed, reopened by a relay. For JOBS. */
#ifndef CONNECTIONS_H
#define CONNECTIONS_H

#include "job.h"

/* Refuses a channel that may not be used. */
void connections_prepare_initialize(struct front *f, struct job *job);
int connections_run_initialize(struct front *f, struct job *job, struct err *e);
bool connections_reply_initialize(struct front *f, struct job *job);
/* A relay came back. */
int connections_run_reopen(struct front *f, struct job *job, struct err *e);
/* DELETE, or the relay's process has ended. */
int connections_run_end(struct front *f, struct job *job, struct err *e);
bool connections_reply_end(struct front *f, struct job *job);

#endif
