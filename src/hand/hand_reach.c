#include "hand_reach.h"

#include "always_ask.h"
#include "err.h"

#include <fts.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A file by whatever name. */
struct file {
	dev_t device;
	ino_t inode;
};

struct reach {
	const cJSON *entries;
	struct file *files; /* with several names, that are read; owned */
	size_t count;
};

static void reach_clear(struct reach *r)
{
	free(r->files);
}

static int by_file(const void *a, const void *b)
{
	const struct file *x = a, *y = b;

	if (x->device != y->device)
		return x->device < y->device ? -1 : 1;
	return x->inode == y->inode ? 0 : x->inode < y->inode ? -1 : 1;
}

static bool has_names(const FTSENT *one)
{
	return one->fts_info == FTS_F && one->fts_statp->st_nlink > 1;
}

static struct file file_of(const FTSENT *one)
{
	return (struct file){ one->fts_statp->st_dev, one->fts_statp->st_ino };
}

/* What lies above has been looked at before. */
static bool is_read(const FTSENT *one, struct reach *r)
{
	if (has_names(one)) {
		r->files = xgrow(r->files, r->count, sizeof(*r->files));
		r->files[r->count++] = file_of(one);
	}
	return one->fts_level > FTS_ROOTLEVEL && always_ask_ends(one->fts_path, r->entries);
}

static bool is_other_name(const FTSENT *one, struct reach *r)
{
	const struct file file = file_of(one);

	return has_names(one) && one->fts_level > FTS_ROOTLEVEL &&
	       bsearch(&file, r->files, r->count, sizeof(file), by_file) &&
	       always_ask_added(NULL, one->fts_path, r->entries);
}

/* 1 one is it, 0 none, -1 none of the first `most` that are in it. */
static int walk(const char *path, int most, bool (*is_it)(const FTSENT *one, struct reach *r),
                struct reach *r, struct str *found)
{
	char *const roots[] = { (char *)path, NULL };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	const FTSENT *one;
	int got = 0;

	if (!tree)
		return 0;
	while (!got && (one = fts_read(tree)) != NULL) {
		if (one->fts_info == FTS_DP)
			continue;
		if (one->fts_level > FTS_ROOTLEVEL && most-- == 0) {
			got = -1;
		} else if (is_it(one, r)) {
			str_add(found, one->fts_path);
			got = 1;
		}
	}
	(void)fts_close(tree);
	return got;
}

int hand_reach(const char *path, const char *workspace, int most, const cJSON *entries,
               struct str *found)
{
	OWNED(reach) struct reach r = { .entries = entries };
	int got = walk(path, most, is_read, &r, found);

	if (got || !r.count || strcmp(path, workspace) == 0)
		return got;
	qsort(r.files, r.count, sizeof(*r.files), by_file);
	return walk(workspace, most, is_other_name, &r, found);
}
