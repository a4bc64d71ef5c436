/* signals: as a program wants them, and as a child has to have them. */
#ifndef SIGNALS_H
#define SIGNALS_H

#include "err.h"

/* From here on SIGTERM, SIGINT and one more (0: none) come as a descriptor, which does not block,
 * and SIGPIPE not at all. 0 or -1. */
int signals_hear(int more, int *ret_fd, struct err *e);

/* In a child, which is to become another program: all as at birth, and none blocked. */
void signals_reset(void);

#endif
