/* doorbell: a bell wakes a worker; rows tell it what to do. A bell is an empty datagram on a unix
 * socket `<name>.bell` (mode 0600) in the run directory. It carries no data and may be lost. */
#ifndef DOORBELL_H
#define DOORBELL_H

#include "err.h"

#include <stdint.h>

struct doorbell {
	int fd; /* readable when rung; non-blocking; -1 while closed */
};

#define DOORBELL_INIT                                                                              \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/* Binds the bell of worker name in the directory open at run_fd (which stays the caller's);
 * replaces one left by a dead predecessor. */
int doorbell_open(struct doorbell *bell, int run_fd, const char *name, struct err *e);
/* Consumes all pending rings. Look at the rows after this, never before. */
void doorbell_drain(const struct doorbell *bell);
void doorbell_clear(struct doorbell *bell);

/* Rings the bell of worker name; for a worker that runs once per row ("runner"), all of them
 * ("runner-12"). Never blocks; a missing or full bell is not an error. */
void doorbell_ring(int run_fd, const char *name);
/* Rings that of the runner of one run. */
void doorbell_ring_runner(int run_fd, int64_t run);
/* Rings every bell in the directory: after changes by an unknown writer. */
void doorbell_ring_all(int run_fd);
/* The same, but for those of workers that run once per row. */
void doorbell_ring_common(int run_fd);

#endif
