/* ipc: the JSON socket for local programs that answer questions. */
#ifndef IPC_H
#define IPC_H

#include "err.h"

struct front;

int ipc_start(struct front *f, struct err *e);
/* Listens; also called again after the run directory has changed. */
int ipc_listen(struct front *f, struct err *e);
/* Answers callers whose looks into a workspace are settled. */
void ipc_look(struct front *f);
void ipc_stop(struct front *f);

#endif
