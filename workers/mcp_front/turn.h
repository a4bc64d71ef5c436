/* turn: one turn of the loop. Everything that came in is written in one transaction, each job a
 * part that can fail alone; the replies follow when it is on disk. */
#ifndef TURN_H
#define TURN_H

#include "job.h"

/* Runs the queued jobs. libevent callback; arg is the front. */
void turn_run(evutil_socket_t fd, short what, void *arg);
/* Gives up what could not be written before the end. */
void turn_clear(struct front *f);

#endif
