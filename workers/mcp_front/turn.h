/* turn: one turn of the loop. Everything that arrived is written in one transaction, in which each
 * job can fail alone; replies follow after the commit. A call with long texts has steps of its own,
 * in between (big.h). */
#ifndef TURN_H
#define TURN_H

#include "job.h"

/* Runs the queued jobs. libevent callback; arg is the front. */
void turn_run(evutil_socket_t fd, short what, void *arg);
/* Does the next step of such a call. False: there is none. */
bool turn_run_big(struct front *f);
/* Frees what could not be written before the end. */
void turn_clear(struct front *f);

#endif
