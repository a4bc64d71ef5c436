/* One durable commit: a row of 300 bytes in a transaction of its own, synchronous=FULL, WAL.
 * usage: commit DB MEASURE_MS
 * Prints: commits_s, p50_us, p99_us. */
#include "bench.h"
#include "plain.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 1000000 };

int main(int argc, char **argv)
{
	int64_t *took = malloc(sizeof(*took) * MOST), start, end;
	size_t count = 0;
	struct plain p;

	if (argc != 3 || !took)
		die("usage: commit DB MEASURE_MS");
	plain_open(&p, argv[1]);
	start = now_ns();
	end = start + atol(argv[2]) * 1000000;
	while (now_ns() < end && count < MOST)
		took[count++] = plain_commit(&p);
	(void)printf("commits_s %.0f\n", (double)count / ((double)(now_ns() - start) / 1e9));
	(void)printf("p50_us %.1f\n", percentile_us(took, count, 0.5));
	(void)printf("p99_us %.1f\n", percentile_us(took, count, 0.99));
	plain_close(&p);
	return 0;
}
