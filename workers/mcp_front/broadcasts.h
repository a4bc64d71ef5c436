/* broadcasts: their callers are told where in Slack it stands, if that is known soon. */
#ifndef BROADCASTS_H
#define BROADCASTS_H

#include "hold.h"

/* Replies to a broadcast that is in its row, now or later; takes over the job. */
void broadcasts_reply(struct front *f, struct job *job);
/* JOBS[JOB_SAID].run */
int broadcasts_run_said(struct front *f, struct job *job, struct err *e);

#endif
