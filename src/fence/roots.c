#include "roots.h"

#include "clock.h"
#include "disk.h"
#include "io.h"
#include "str.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	ROW_MS = 100, /* for one after the other, which takes a fraction of it */
	APART_MS = 900, /* then for those that are left, all at once */
	APART_S = 2, /* after which a process that is left behind is killed, if its disk lets it */
};

void roots_clear(struct roots *r)
{
	for (size_t i = 0; i < r->count; i++)
		free(r->items[i].path);
	free(r->items);
	*r = (struct roots){ 0 };
}

const struct root *roots_find(const struct roots *r, const char *path)
{
	for (size_t i = 0; i < r->count; i++)
		if (strcmp(r->items[i].path, path) == 0)
			return &r->items[i];
	return NULL;
}

void roots_add(struct roots *r, const char *path)
{
	if (roots_find(r, path))
		return;
	r->items = xrealloc(r->items, (r->count + 1) * sizeof(*r->items));
	r->items[r->count++] = (struct root){ .path = xstrdup(path) };
}

/* ---- in another process ---- */

struct look {
	const struct roots *roots;
	size_t first;
	int ruleset;
	uint64_t rights;
};

/* What it tells of a root. */
struct answer {
	size_t at;
	bool is_held;
};

static void allow(const struct look *l, size_t at, int out)
{
	const struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
		                      .resolve = RESOLVE_NO_SYMLINKS };
	struct landlock_path_beneath_attr rule = { .allowed_access = l->rights };
	struct answer a;

	memset(&a, 0, sizeof(a));
	a.at = at;
	rule.parent_fd =
	    (int)syscall(SYS_openat2, AT_FDCWD, l->roots->items[at].path, &how, sizeof(how));
	a.is_held = rule.parent_fd >= 0 && syscall(SYS_landlock_add_rule, l->ruleset,
	                                           LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
	if (rule.parent_fd >= 0)
		(void)close(rule.parent_fd);
	(void)io_write_all(out, &a, sizeof(a));
}

static void allow_in_a_row(const void *arg, int out)
{
	const struct look *l = arg;

	for (size_t i = l->first; i < l->roots->count; i++)
		allow(l, i, out);
}

/* Each in a process of its own. */
static void allow_apart(const void *arg, int out)
{
	const struct look *l = arg;

	for (size_t i = l->first; i < l->roots->count; i++)
		if (fork() == 0) {
			(void)alarm(APART_S);
			allow(l, i, out);
			_exit(0);
		}
}

/* ---- here ---- */

/* Runs it, and takes what it tells. 1 it has told all, 0 it has not within ms, -1. */
static int take(struct roots *r, const struct look *l, disk_look *look, int ms, size_t *ret_told)
{
	OWNED(str) struct str told = { 0 };
	struct answer a;
	int left, got = disk_ask_with(look, l, l->ruleset, ms, &told, &left);

	if (got == 0)
		(void)close(left);
	*ret_told = told.length / sizeof(a);
	for (size_t i = 0; i < *ret_told; i++) {
		memcpy(&a, told.bytes + i * sizeof(a), sizeof(a));
		if (a.at >= r->count)
			continue;
		r->items[a.at].is_held = a.is_held;
		r->items[a.at].is_silent = false;
	}
	return got;
}

int roots_allow(struct roots *r, int ruleset, uint64_t rights, struct err *e)
{
	struct look l = { .roots = r, .ruleset = ruleset, .rights = rights };
	size_t told;
	int got;

	for (size_t i = 0; i < r->count; i++)
		r->items[i].is_silent = true;
	got = r->count ? take(r, &l, allow_in_a_row, ROW_MS, &told) : 1;

	/* One disk is silent. The others may answer. */
	if (got == 0) {
		l.first = told;
		got = take(r, &l, allow_apart, APART_MS, &told);
	}
	r->asked_ms = clock_monotonic_ms();
	if (got < 0)
		return err_errno(e, ERR_AGAIN, "fence: cannot look at workspaces");
	return 0;
}
