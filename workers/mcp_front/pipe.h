/* pipe: the unix socket of the relays. */
#ifndef PIPE_H
#define PIPE_H

#include "err.h"

struct front;

int pipe_start(struct front *f, struct err *e);
void pipe_stop(struct front *f);

#endif
