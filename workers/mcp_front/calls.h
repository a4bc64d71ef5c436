/* calls: tools/call as jobs: begun, come again, cancelled, resumed, left by their callers. For
 * JOBS. */
#ifndef CALLS_H
#define CALLS_H

#include "job.h"

/* Asks a hand what has to be known of files. */
bool calls_look(struct front *f, struct job *job);
void calls_prepare(struct front *f, struct job *job);
int calls_run(struct front *f, struct job *job, struct err *e);
bool calls_reply(struct front *f, struct job *job);

/* notifications/cancelled: the wait ends and gets no reply, the question stays. */
int calls_run_cancel(struct front *f, struct job *job, struct err *e);
bool calls_reply_cancel(struct front *f, struct job *job);

/* GET with Last-Event-ID: a client came back for the answer of a call. */
int calls_run_resume(struct front *f, struct job *job, struct err *e);
bool calls_reply_resumed(struct front *f, struct job *job);

/* A result was handed over, and did not arrive. */
int calls_run_untold(struct front *f, struct job *job, struct err *e);

/* A caller is gone, and nobody else waits for its call. */
int calls_run_hang_up(struct front *f, struct job *job, struct err *e);

#endif
