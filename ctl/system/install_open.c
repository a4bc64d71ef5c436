#include "install.h"

#include "others.h"
#include "path.h"

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	FOR_ALL = 0644,
	FOLDER_FOR_ALL = 0755,
	DESCRIPTORS = 4,
};

static int expected; /* entries, and one less for each that is found */

static int count_one(const char *path, const struct stat *about, int flag, struct FTW *walk)
{
	(void)path;
	(void)about;
	(void)flag;
	(void)walk;
	return --expected < 0;
}

/* Whether a part of a file's path, its first `length` bytes, holds nothing but what leads there. */
static bool holds_only(const char *part, const char *file, size_t length)
{
	expected = 1;
	for (const char *at = file + length; (at = strchr(at, '/')) != NULL; at++)
		expected++;
	return nftw(part, count_one, DESCRIPTORS, FTW_PHYS) == 0 && expected == 0;
}

/* Lets others use a part of the path, or says what keeps them from it: then 1. */
static int open_part(const char *file, size_t length, const struct stat *about, bool ours,
                     const struct wish *w)
{
	OWNED(str) struct str part = { 0 };
	bool is_folder = S_ISDIR(about->st_mode);
	mode_t mode = about->st_mode | (is_folder ? FOLDER_FOR_ALL : FOR_ALL);

	str_add_bytes(&part, file, length);
	if (ours && holds_only(part.bytes, file, length) && chmod(part.bytes, mode & 07777) == 0) {
		(void)printf("other users may read %s now\n", part.bytes);
		return 0;
	}
	(void)printf(
	    "Other users cannot get to %s, so their %s runs without these hooks: chmod o+rX "
	    "%s\n",
	    file, w->host->title, part.bytes);
	return 1;
}

int install_open(const struct change *c, const struct wish *w)
{
	char root[PATH_MAX] = "", file[PATH_MAX];
	bool ours = !c->kept.exists && (c->is_installed || !c->file.exists);
	struct stat about;
	size_t at = 0;
	int left = 0;

	if (!realpath(c->file.path, file))
		return 0;
	if (w->root[0] && realpath(w->root, root) && path_is_within(file, root))
		at = root[1] ? strlen(root) : 0;
	while ((at = others_stop(file, at, S_IROTH, &about)) > 0)
		left |= open_part(file, at, &about, ours, w);
	return left;
}
