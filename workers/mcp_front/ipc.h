/* ipc: the socket of the seeds, for local programs that answer. */
#ifndef IPC_H
#define IPC_H

#include "err.h"

struct front;

int ipc_start(struct front *f, struct err *e);
/* Listens again, in another run directory than before. */
int ipc_listen(struct front *f, struct err *e);
void ipc_stop(struct front *f);

#endif
