/* checkpoint: what reading a workspace into objects costs.
 *   checkpoint TREE FOLDER
 * prints milliseconds, files read, bytes added, and the most memory that it took (KiB). */
#include "bench.h"
#include "walk.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

int main(int argc, char **argv)
{
	const struct walk_options options = { .most_files = 10000000, .most_bytes = 1ULL << 40 };
	OWNED(objects) struct objects o = OBJECTS_INIT;
	OWNED(char_ptr) char *tree = argc == 3 ? realpath(argv[1], NULL) : NULL;
	struct walk_result r;
	struct rusage used;
	struct err e = { 0 };
	int64_t began = now_ns();

	if (!tree)
		die("usage: checkpoint TREE FOLDER");
	if (objects_open(argv[2], true, &o, &e) || walk_workspace(tree, &o, &options, &r, &e))
		die("%s", e.text);
	(void)getrusage(RUSAGE_SELF, &used);
	printf("ms %" PRId64 "\nread %" PRIu64 "\nadded %" PRIu64 "\nrss_kib %ld\n",
	       (now_ns() - began) / 1000000, r.read, r.added, used.ru_maxrss);
	return 0;
}
