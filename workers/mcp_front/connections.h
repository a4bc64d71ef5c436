/* connections: their beginning, their end, and relays that come back; as rows. For JOBS. */
#ifndef CONNECTIONS_H
#define CONNECTIONS_H

#include "job.h"

/* Refuses a channel that may not be named. */
void connections_prepare_initialize(struct front *f, struct job *job);
int connections_run_initialize(struct front *f, struct job *job, struct err *e);
bool connections_reply_initialize(struct front *f, struct job *job);
/* A relay came back. */
int connections_run_reopen(struct front *f, struct job *job, struct err *e);
/* DELETE, or the relay's process is gone. */
int connections_run_end(struct front *f, struct job *job, struct err *e);
bool connections_reply_end(struct front *f, struct job *job);

#endif
