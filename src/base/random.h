/* random: bytes from the kernel's generator; the one place that checks the result. */
#ifndef RANDOM_H
#define RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Fills size bytes. Ends the process if the kernel provides none: nothing here can work without. */
void random_bytes(void *bytes, size_t size);
/* A number from 0 to limit - 1; 0 if limit is not positive. For spreading load: slightly biased. */
int64_t random_below(int64_t limit);

#endif
