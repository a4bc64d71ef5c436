/* What daily operations cost with a history of ROWS calls (history.h) behind them.
 * usage: grow fill DB ROWS    makes the database; prints its size, bytes
 *        grow measure DB TURNS
 * Prints for each operation: <name>_p50_us and _p99_us of its statements, <name>_commit_p50_us with
 * its commit. */
#include "bench.h"
#include "history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { WARM = 50, DAYS = 5, CHECKPOINT = 8 };

/* As the worker retention does it, outside of what is measured. */
static void keep_log_short(struct history *h, int turn)
{
	struct err e = { 0 };

	if (turn % CHECKPOINT == 0 && store_checkpoint(&h->store, true, 20, &e) < 0)
		die("%s", e.text);
}

static void fill(const char *path, int64_t rows)
{
	struct stat about;

	history_make(path);
	if (rows > 0)
		(void)history_fill(path, 0, rows, DAYS);
	(void)stat(path, &about);
	(void)printf("bytes %lld\n", (long long)about.st_size);
}

static void print(enum history_operation o, int64_t *work, int64_t *all, size_t turns)
{
	const char *name = HISTORY_NAMES[o];

	(void)printf("%s_p50_us %.1f\n", name, percentile_us(work, turns, 0.5));
	(void)printf("%s_p99_us %.1f\n", name, percentile_us(work, turns, 0.99));
	(void)printf("%s_commit_p50_us %.1f\n", name, percentile_us(all, turns, 0.5));
}

static void measure(const char *path, size_t turns)
{
	int64_t *work = calloc(2 * HISTORY_OPERATIONS * turns + 1, sizeof(*work));
	int64_t *all = work + HISTORY_OPERATIONS * turns;
	struct history h;

	history_open(&h, path);
	for (int i = 0; i < WARM; i++)
		history_turn(&h);
	for (size_t t = 0; t < turns; t++) {
		keep_log_short(&h, (int)t);
		history_turn(&h);
		for (size_t o = 0; o < HISTORY_OPERATIONS; o++) {
			work[o * turns + t] = h.work_ns[o];
			all[o * turns + t] = h.all_ns[o];
		}
	}
	for (size_t o = 0; o < HISTORY_OPERATIONS; o++)
		print((enum history_operation)o, work + o * turns, all + o * turns, turns);
	history_close(&h);
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "fill") == 0)
		fill(argv[2], atol(argv[3]));
	else if (argc == 4 && strcmp(argv[1], "measure") == 0 && atol(argv[3]) > 0)
		measure(argv[2], (size_t)atol(argv[3]));
	else
		die("usage: grow fill DB ROWS | grow measure DB TURNS");
	return 0;
}
