/* calls: tools/call as jobs: started, repeated, cancelled, resumed, abandoned by the caller. For
 * JOBS. */
#ifndef CALLS_H
#define CALLS_H

#include "job.h"

/* Asks a hand what the call needs to know about files. */
bool calls_look(struct front *f, struct job *job);
void calls_prepare(struct front *f, struct job *job);
int calls_run(struct front *f, struct job *job, struct err *e);
bool calls_reply(struct front *f, struct job *job);

/* notifications/cancelled: ends the wait without a reply; the question stays open. */
int calls_run_cancel(struct front *f, struct job *job, struct err *e);
bool calls_reply_cancel(struct front *f, struct job *job);

/* GET with Last-Event-ID: a client came back for the result of a call. */
int calls_run_resume(struct front *f, struct job *job, struct err *e);
bool calls_reply_resumed(struct front *f, struct job *job);

/* A result was sent and did not arrive. */
int calls_run_untold(struct front *f, struct job *job, struct err *e);

/* A caller is gone, and nobody else waits for its call. */
int calls_run_hang_up(struct front *f, struct job *job, struct err *e);

#endif
