/* random: bytes from the kernel's generator, in one place that checks what it gets. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Fills size bytes. Ends the process if the kernel gives none: nothing here can go on without. */
void random_bytes(void *bytes, size_t size);
/* A number from 0 to limit - 1; 0 if limit is not over 0. For spreading load: slightly biased. */
int64_t random_below(int64_t limit);

#endif
