#include "suite.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATHS = 8, PATH_BYTES = 1024, OPEN_MAX_DIRS = 16 };

int run_suite(Suite *s)
{
	SRunner *r = srunner_create(s);
	int failed;

	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	srunner_free(r);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

const char *below(const char *folder, const char *name)
{
	static char ring[PATHS][PATH_BYTES];
	static int turn;
	char *text = ring[turn++ % PATHS];

	(void)snprintf(text, PATH_BYTES, "%s/%s", folder, name);
	return text;
}

/* Goes on where it fails: as little as possible stays. */
static int remove_one(const char *path, const struct stat *st, int flag, struct FTW *walk)
{
	(void)st;
	(void)flag;
	(void)walk;
	(void)remove(path);
	return 0;
}

bool remove_tree(const char *path)
{
	struct stat st;

	(void)nftw(path, remove_one, OPEN_MAX_DIRS, FTW_DEPTH | FTW_PHYS);
	return lstat(path, &st) != 0 && errno == ENOENT;
}
