/* doorbell: a bell wakes a worker, rows tell it what to do. A bell is an empty datagram on a unix
 * socket `<name>.bell` (mode 0600) in the run directory. It carries nothing and may be lost. */
#ifndef DOORBELL_H
#define DOORBELL_H

#include "err.h"

struct doorbell {
	int fd; /* readable when rung; non-blocking; -1 while closed */
};

#define DOORBELL_INIT                                                                              \
	{                                                                                          \
		.fd = -1                                                                           \
	}

/* Hangs up the bell of worker name in the directory open at run_fd (kept by the caller), in place
 * of one that a dead predecessor left. */
int doorbell_open(struct doorbell *bell, int run_fd, const char *name, struct err *e);
/* Takes every ring that is waiting. Look at the rows after this, never before. */
void doorbell_drain(const struct doorbell *bell);
void doorbell_clear(struct doorbell *bell);

/* Rings the bell of worker name; of a worker of which there is one per row ("runner"), all of them
 * ("runner-12"). Never blocks; nobody there, or a full bell, is no error. */
void doorbell_ring(int run_fd, const char *name);
/* Rings every bell in the directory: for changes whose writer is not known. */
void doorbell_ring_all(int run_fd);

#endif
