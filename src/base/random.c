#include "random.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sysexits.h>

void random_bytes(void *bytes, size_t size)
{
	unsigned char *at = bytes;

	while (size > 0) {
		ssize_t got = getrandom(at, size, 0); /* partial only above 256 bytes */

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			(void)fputs("the kernel gives no random bytes\n", stderr);
			_Exit(EX_TEMPFAIL);
		}
		at += got;
		size -= (size_t)got;
	}
}

int64_t random_below(int64_t limit)
{
	uint64_t r;

	random_bytes(&r, sizeof(r));
	return limit > 0 ? (int64_t)(r % (uint64_t)limit) : 0;
}
