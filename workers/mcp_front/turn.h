/* turn: one turn of the loop. Everything that arrived is written in one transaction, in which each
 * job can fail alone; replies follow after the commit. */
#ifndef TURN_H
#define TURN_H

#include "job.h"

/* Runs the queued jobs. libevent callback; arg is the front. */
void turn_run(evutil_socket_t fd, short what, void *arg);
/* Frees what could not be written before the end. */
void turn_clear(struct front *f);

#endif
