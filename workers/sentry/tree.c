#include "tree.h"

#include "ignore.h"
#include "str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	DEPTH_MAX = 64, /* folders below each other */
	NONE = -1,
	/* Not IN_MODIFY: a file that is written is closed some time, and a log that grows is not.
	 */
	EVENTS = IN_CREATE | IN_DELETE | IN_MOVE | IN_CLOSE_WRITE | IN_ONLYDIR | IN_DONT_FOLLOW |
	         IN_EXCL_UNLINK,
};

struct folder {
	int wd; /* of inotify; NONE: it is gone */
	ptrdiff_t parent; /* NONE: the root */
	char *path; /* relative to the root, "" for it */
	int depth;
	struct ignore ignore; /* of its .gitignore */
};

struct tree {
	int inotify;
	char *root;
	dev_t device;
	struct folder *folders;
	size_t count, most;
	bool more; /* folders than are watched */
};

/* What tools fill with files of their own, whether git ignores it or not. */
static const char *const LEFT_OUT[] = { ".git", ".intercom", "node_modules", "target",
	                                "__pycache__" };

/* Where git notes each commit and checkout. */
static const char GIT_LOGS[] = ".git/logs";

/* ---- what is left out ---- */

static bool is_left_out(const char *name)
{
	for (size_t i = 0; i < COUNT(LEFT_OUT); i++)
		if (strcasecmp(name, LEFT_OUT[i]) == 0)
			return true;
	return false;
}

static bool is_ignored(const struct tree *t, ptrdiff_t folder, const char *path, bool is_dir)
{
	for (; folder != NONE; folder = t->folders[folder].parent) {
		const struct ignore *i = &t->folders[folder].ignore;
		enum ignore_says says = i->count ? ignore_judge(i, path, is_dir) : IGNORE_NOTHING;

		if (says != IGNORE_NOTHING)
			return says == IGNORE_IT;
	}
	return false;
}

/* As ignore_room, of the folders above. */
static size_t room_below(const struct tree *t, ptrdiff_t folder)
{
	size_t used = 0;

	for (; folder != NONE; folder = t->folders[folder].parent)
		used += t->folders[folder].ignore.length;
	return used < IGNORE_BYTES_MAX ? IGNORE_BYTES_MAX - used : 0;
}

static void read_ignore(int dir, const char *below, size_t room, struct ignore *i)
{
	OWNED(char_ptr) char *bytes = NULL;
	struct stat about;
	int fd = openat(dir, ".gitignore", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = 0;

	if (fd < 0)
		return;
	if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && (size_t)about.st_size <= room) {
		bytes = xmalloc(room + 1);
		n = read(fd, bytes, room);
	}
	(void)close(fd);
	if (n > 0)
		ignore_read(i, below, bytes, (size_t)n);
}

/* ---- folders ---- */

static void add_path(struct str *out, const char *folder, const char *name)
{
	str_addf(out, "%s%s%s", folder, *folder ? "/" : "", name);
}

/* Watches one folder. Its number, or NONE. */
static ptrdiff_t watch(struct tree *t, ptrdiff_t parent, const char *path)
{
	OWNED(str) struct str whole = { 0 };
	struct folder *f;
	int wd;

	if (t->count >= t->most) {
		t->more = true;
		return NONE;
	}
	add_path(&whole, t->root, path);
	if (!*path)
		whole.bytes[--whole.length] = '\0';
	wd = inotify_add_watch(t->inotify, str_text(&whole), EVENTS);
	if (wd < 0) {
		t->more |=
		    errno ==
		    ENOSPC; /* the kernel's own limit; else it is gone, or not ours to read */
		return NONE;
	}
	for (size_t i = 0; i < t->count; i++)
		if (t->folders[i].wd == wd)
			return NONE; /* it is watched already */
	t->folders = xrealloc(t->folders, (t->count + 1) * sizeof(*t->folders));
	f = &t->folders[t->count];
	*f = (struct folder){ .wd = wd,
		              .parent = parent,
		              .path = xstrdup(path),
		              .depth = parent == NONE ? 0 : t->folders[parent].depth + 1 };
	return (ptrdiff_t)t->count++;
}

static bool is_folder(const struct tree *t, int dir, const char *name)
{
	struct stat about;

	return fstatat(dir, name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(about.st_mode) &&
	       about.st_dev == t->device;
}

/* Watches what is in a folder that is watched: first the folder, then what it has, so that nothing
 * that is made meanwhile is missed. */
static void watch_below(struct tree *t, ptrdiff_t folder)
{
	OWNED(str) struct str whole = { 0 };
	const struct dirent *entry;
	DIR *list;

	add_path(&whole, t->root, t->folders[folder].path);
	list = opendir(str_text(&whole));
	if (!list)
		return;
	read_ignore(dirfd(list), t->folders[folder].path, room_below(t, t->folders[folder].parent),
	            &t->folders[folder].ignore);
	while ((entry = readdir(list)) != NULL) { /* NOLINT(concurrency-mt-unsafe) */
		OWNED(str) struct str path = { 0 };

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
		    is_left_out(entry->d_name) || !is_folder(t, dirfd(list), entry->d_name))
			continue;
		add_path(&path, t->folders[folder].path, entry->d_name);
		if (is_ignored(t, folder, str_text(&path), true) ||
		    t->folders[folder].depth >= DEPTH_MAX)
			continue;
		(void)watch(t, folder, str_text(&path));
	}
	(void)closedir(list);
}

/* Watches a folder and all below it. */
static void watch_all(struct tree *t, ptrdiff_t first)
{
	if (first == NONE)
		return;
	for (size_t i = (size_t)first; i < t->count; i++)
		watch_below(t, (ptrdiff_t)i);
}

struct tree *tree_open(int inotify, const char *root, size_t most)
{
	struct tree *t;
	struct stat about;

	if (stat(root, &about) != 0 || !S_ISDIR(about.st_mode))
		return NULL;
	t = xcalloc(1, sizeof(*t));
	*t = (struct tree){
		.inotify = inotify, .root = xstrdup(root), .device = about.st_dev, .most = most
	};
	watch_all(t, watch(t, NONE, ""));
	(void)watch(t, t->count ? 0 : NONE, GIT_LOGS);
	return t;
}

static void forget(struct tree *t, struct folder *f)
{
	if (f->wd != NONE)
		(void)inotify_rm_watch(t->inotify, f->wd);
	f->wd = NONE;
}

void tree_free(struct tree *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->count; i++) {
		forget(t, &t->folders[i]);
		ignore_clear(&t->folders[i].ignore);
		free(t->folders[i].path);
	}
	free(t->folders);
	free(t->root);
	free(t);
}

const char *tree_root(const struct tree *t)
{
	return t->root;
}

size_t tree_count(const struct tree *t, bool *ret_more)
{
	*ret_more = t->more;
	return t->count;
}

/* ---- events ---- */

static ptrdiff_t find(const struct tree *t, int wd)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->folders[i].wd == wd)
			return (ptrdiff_t)i;
	return NONE;
}

int tree_hear(struct tree *t, const struct inotify_event *event, struct str *path)
{
	ptrdiff_t folder = find(t, event->wd);
	bool is_dir = event->mask & IN_ISDIR;

	if (folder == NONE)
		return 0;
	if (event->mask & IN_IGNORED) { /* it was removed */
		t->folders[folder].wd = NONE;
		return 0;
	}
	if (!event->len)
		return 0;
	add_path(path, t->folders[folder].path, event->name);
	if (strcmp(t->folders[folder].path, GIT_LOGS) == 0)
		return strcmp(event->name, "HEAD") == 0;
	if (is_left_out(event->name) || is_ignored(t, folder, str_text(path), is_dir))
		return 0;
	if (is_dir && (event->mask & (IN_CREATE | IN_MOVED_TO)))
		watch_all(t, watch(t, folder, str_text(path)));
	return 1;
}
