/* broadcasts: tells the caller where in Slack its message stands, if that is known soon. */
#ifndef BROADCASTS_H
#define BROADCASTS_H

#include "hold.h"

/* Replies to a broadcast whose row is written, now or later. Takes over the job. */
void broadcasts_reply(struct front *f, struct job *job);
/* JOBS[JOB_SAID].run */
int broadcasts_run_said(struct front *f, struct job *job, struct err *e);

#endif
