#include "suite.h"

#include <errno.h>
#include <ftw.h>
#include <grp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATHS = 8, PATH_BYTES = 1024, OPEN_MAX_DIRS = 16 };

static int *skipped; /* shared with the children in which Check runs tests */

void suite_note_skipped(const char *test, const char *needs)
{
	size_t length = strlen(test);

	if (length > 3 && strcmp(test + length - 3, "_fn") == 0) /* appended by Check */
		length -= 3;
	(void)printf("skipped: %.*s: needs %s\n", (int)length, test, needs);
	(void)fflush(stdout);
	(*skipped)++;
}

int run_suite(Suite *s)
{
	SRunner *r = srunner_create(s);
	int failed;

	skipped =
	    mmap(NULL, sizeof(*skipped), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (skipped == MAP_FAILED) {
		perror("mmap");
		return EXIT_FAILURE;
	}
	srunner_run_all(r, CK_ENV);
	failed = srunner_ntests_failed(r);
	if (*skipped)
		(void)printf("%d of %d tests skipped\n", *skipped, srunner_ntests_run(r));
	srunner_free(r);
	return failed ? EXIT_FAILURE : *skipped ? SUITE_SKIPPED : EXIT_SUCCESS;
}

bool become_nobody(void)
{
	return setgroups(0, NULL) == 0 && setresgid(NOBODY_ID, NOBODY_ID, NOBODY_ID) == 0 &&
	       setresuid(NOBODY_ID, NOBODY_ID, NOBODY_ID) == 0;
}

bool may_mount(void)
{
	return geteuid() == 0 && unshare(CLONE_NEWNS) == 0 &&
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

const char *below(const char *folder, const char *name)
{
	static char ring[PATHS][PATH_BYTES];
	static int turn;
	char *text = ring[turn++ % PATHS];

	(void)snprintf(text, PATH_BYTES, "%s/%s", folder, name);
	return text;
}

/* Continues after a failure, so that as little as possible stays. */
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
