#include "tree.h"

#include "io.h"
#include "manifest.h"
#include "suite.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 4096, TEXT_MAX = 1 << 20, LONG_LINES = 2000 };

/* ---- walking ---- */

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_ours(const struct dirent *d)
{
	return strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0 &&
	       strcmp(d->d_name, ".git") != 0 && strncmp(d->d_name, ".intercom", 9) != 0;
}

typedef void each_of(int root, const char *path, const struct stat *st, void *arg);

/* In the order of a manifest: what is below a directory follows it. */
static void walk(int root, const char *directory, each_of *each, void *arg)
{
	struct dirent **names;
	int n = scandirat(root, *directory ? directory : ".", &names, is_ours, by_bytes);

	MUST(n >= 0, "%s: %s", directory, strerror(errno));
	for (int i = 0; i < n; i++) {
		char path[PATH_BYTES];
		struct stat st;

		(void)snprintf(path, sizeof(path), "%s%s%s", directory, *directory ? "/" : "",
		               names[i]->d_name);
		free(names[i]);
		MUST(fstatat(root, path, &st, AT_SYMLINK_NOFOLLOW) == 0, "%s: %s", path,
		     strerror(errno));
		each(root, path, &st, arg);
		if (S_ISDIR(st.st_mode))
			walk(root, path, each, arg);
	}
	free(names);
}

static void walk_all(const char *directory, each_of *each, void *arg)
{
	int root = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	MUST(root >= 0, "%s: %s", directory, strerror(errno));
	walk(root, "", each, arg);
	(void)close(root);
}

static void read_link(int root, const char *path, char target[PATH_BYTES])
{
	ssize_t n = readlinkat(root, path, target, PATH_BYTES - 1);

	MUST(n >= 0, "%s: %s", path, strerror(errno));
	target[n] = '\0';
}

/* ---- storing ---- */

static void store_one(int root, const char *path, const struct stat *st, void *arg)
{
	struct manifest_writer *w = arg;
	char target[PATH_BYTES] = "";
	struct err e = { 0 };
	struct entry entry = { .mode = st->st_mode & 07777, .path = path, .text = target };

	if (S_ISREG(st->st_mode)) {
		int fd = openat(root, path, O_RDONLY | O_CLOEXEC);

		entry.kind = ENTRY_FILE;
		MUST(object_put(w->objects, fd, UINT64_MAX, &entry.hash, &entry.size, &e) ==
		         OBJECT_STORED,
		     "%s: %s", path, e.text);
		(void)close(fd);
	} else if (S_ISLNK(st->st_mode)) {
		entry.kind = ENTRY_LINK;
		entry.mode = 0;
		read_link(root, path, target);
	} else {
		entry.kind = ENTRY_DIR;
	}
	MUST(manifest_add(w, &entry, &e) == 0, "%s: %s", path, e.text);
}

struct sha256 tree_store(const char *database, const char *directory)
{
	OWNED(objects) struct objects objects = OBJECTS_INIT;
	OWNED(manifest_writer) struct manifest_writer w = { .objects = &objects };
	OWNED(str) struct str path = { 0 };
	struct sha256 hash = { .text = "" };
	struct err e = { 0 };

	objects_path(database, &path);
	MUST(objects_open(str_text(&path), true, &objects, &e) == 0, "%s", e.text);
	walk_all(directory, store_one, &w);
	MUST(manifest_finish(&w, &hash, &e) == 0, "%s", e.text);
	return hash;
}

/* ---- comparing ---- */

static void list_one(int root, const char *path, const struct stat *st, void *arg)
{
	struct str *out = arg;
	char target[PATH_BYTES], *text;
	ssize_t n;
	int fd;

	str_addf(out, "%c %04o %s ",
	         S_ISREG(st->st_mode)   ? 'f'
	         : S_ISLNK(st->st_mode) ? 'l'
	         : S_ISDIR(st->st_mode) ? 'd'
	                                : '?',
	         S_ISLNK(st->st_mode) ? 0 : (unsigned)(st->st_mode & 07777), path);
	if (S_ISLNK(st->st_mode)) {
		read_link(root, path, target);
		str_add(out, target);
	} else if (S_ISREG(st->st_mode)) {
		text = xmalloc(TEXT_MAX);
		fd = openat(root, path, O_RDONLY | O_CLOEXEC);
		n = read(fd, text, TEXT_MAX);
		MUST(n >= 0, "%s: %s", path, strerror(errno));
		(void)close(fd);
		if (n < 200)
			str_add_bytes(out, text, (size_t)n);
		else
			str_add(out, sha256_of(text, (size_t)n).text);
		free(text);
	}
	str_add_char(out, '\n');
}

void tree_list(const char *directory, struct str *out)
{
	walk_all(directory, list_one, out);
}

/* ---- random changes ---- */

static unsigned below_n(unsigned *seed, unsigned n)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 16) % n;
}

static void random_path(unsigned *seed, char path[PATH_BYTES])
{
	static const char *const NAMES[] = { "a", "a-b", "b", "c\n\xff", "d e" };
	unsigned depth = 1 + below_n(seed, 4);
	size_t length = 0;

	for (unsigned i = 0; i < depth; i++)
		length += (size_t)snprintf(path + length, PATH_BYTES - length, "%s%s", i ? "/" : "",
		                           NAMES[below_n(seed, COUNT(NAMES))]);
}

static void put_file(int root, const char *path, unsigned *seed)
{
	static const mode_t MODES[] = { 0644, 0600, 0755, 0444, 0640 };
	unsigned times = below_n(seed, 8) ? 1 : LONG_LINES;
	char text[64];
	int fd = openat(root, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return;
	(void)snprintf(text, sizeof(text), "text %u", below_n(seed, 20));
	for (unsigned i = 0; i < times; i++)
		MUST(io_write_all(fd, text, strlen(text)) == 0, "%s", path);
	(void)fchmod(fd, MODES[below_n(seed, COUNT(MODES))]);
	(void)close(fd);
}

static void put_one(int root, const char *path, unsigned *seed)
{
	switch (below_n(seed, 4)) {
	case 0:
		if (mkdirat(root, path, 0755) == 0)
			(void)fchmodat(root, path, below_n(seed, 2) ? 0755 : 0700, 0);
		break;
	case 1:
		(void)symlinkat(below_n(seed, 2) ? "a" : "../nowhere", root, path);
		break;
	default:
		put_file(root, path, seed);
	}
}

/* No link is followed above path: it could lead out of the directory. */
static bool lies_behind_a_link(int root, char *path)
{
	struct stat st;

	for (char *slash = path; (slash = strchr(slash + 1, '/'));) {
		int found;

		*slash = '\0';
		found = fstatat(root, path, &st, AT_SYMLINK_NOFOLLOW);
		*slash = '/';
		if (found == 0 && S_ISLNK(st.st_mode))
			return true;
	}
	return false;
}

static void remove_below(int root, const char *path)
{
	struct dirent **names;
	int n;

	if (unlinkat(root, path, 0) == 0)
		return;
	n = scandirat(root, path, &names, is_ours, by_bytes);
	for (int i = 0; i < n; i++) {
		char inner[PATH_BYTES];

		(void)snprintf(inner, sizeof(inner), "%s/%s", path, names[i]->d_name);
		free(names[i]);
		remove_below(root, inner);
	}
	if (n >= 0)
		free(names);
	(void)unlinkat(root, path, AT_REMOVEDIR);
}

void tree_edit(const char *directory, unsigned *seed, unsigned times)
{
	int root = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	MUST(root >= 0, "%s: %s", directory, strerror(errno));
	for (unsigned i = 0; i < times; i++) {
		char path[PATH_BYTES];
		struct stat st;
		bool there;

		random_path(seed, path);
		if (lies_behind_a_link(root, path))
			continue;
		there = fstatat(root, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
		if (there && S_ISREG(st.st_mode) && below_n(seed, 3) == 0)
			(void)fchmodat(root, path, 0755, 0);
		else if (there && below_n(seed, 3) != 0)
			remove_below(root, path);
		put_one(root, path, seed);
	}
	(void)close(root);
}
