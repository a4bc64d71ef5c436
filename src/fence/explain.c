#include "explain.h"

#include "denied.h"
#include "path.h"
#include "refusals.h"
#include "str.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LAYERS = 4 };

/* Rules that let write, of each fence. */
static struct layer {
	char **paths;
	size_t count;
} layers[LAYERS];
static size_t layer_count;

/* The absolute path in a text like "cannot open /x/y: Permission denied". */
static bool find_path(const char *text, char path[PATH_MAX])
{
	const char *begin = strchr(text, '/'), *end = NULL;

	while (begin && begin > text && begin[-1] != ' ' && begin[-1] != '\'')
		begin = strchr(begin + 1, '/');
	if (!begin)
		return false;
	for (const char *at = begin; (at = strstr(at, ": ")); at++)
		end = at;
	if (!end)
		end = begin + strlen(begin);
	return snprintf(path, PATH_MAX, "%.*s", (int)(end - begin), begin) < PATH_MAX;
}

/* Shortens a path to what of it exists. */
static void climb(char *path)
{
	while (access(path, F_OK) != 0) {
		char *slash = strrchr(path, '/');

		if (!slash || slash == path) {
			path[1] = '\0';
			return;
		}
		*slash = '\0';
	}
}

static bool layer_allows(const struct layer *l, const char *path)
{
	for (size_t i = 0; i < l->count; i++) {
		OWNED(char_ptr) char *folder = realpath(l->paths[i], NULL);

		if (folder && path_is_within(path, folder))
			return true;
	}
	return false;
}

bool explain_denies(const char *text, char *ret_path, size_t size)
{
	char path[PATH_MAX], real[PATH_MAX];

	if (!find_path(text, path))
		return false;
	(void)snprintf(ret_path, size, "%s", path);
	climb(path);
	if (!realpath(path, real) || faccessat(AT_FDCWD, real, R_OK | W_OK, AT_EACCESS) != 0)
		return false;
	for (size_t i = 0; i < layer_count; i++)
		if (!layer_allows(&layers[i], real))
			return true;
	return false;
}

static void hear(const char *text)
{
	char path[REFUSALS_NAME_BYTES];

	if (explain_denies(text, path, sizeof(path)))
		refusals_add_path(path);
}

void explain_fence(const struct fence *f)
{
	struct layer *l = &layers[layer_count];
	size_t roots = f->roots ? f->roots->count : 0;

	if (layer_count == LAYERS)
		return;
	l->paths = xcalloc(f->path_count + roots + 1, sizeof(*l->paths));
	for (size_t i = 0; i < f->path_count; i++)
		if (f->paths[i].may & FENCE_WRITE)
			l->paths[l->count++] = xstrdup(f->paths[i].path);
	for (size_t i = 0; i < roots; i++)
		l->paths[l->count++] = xstrdup(f->roots->items[i].path);
	layer_count++;
	denied_watch(hear);
}
