/* pipe: the Unix socket of the relays. */
#ifndef PIPE_H
#define PIPE_H

#include "err.h"

struct front;

/* Listens; also called again after the run directory has changed. */
int pipe_listen(struct front *f, struct err *e);
void pipe_stop(struct front *f);

#endif
