/* What is to be done, whether it can be done, and the hidden directory. */
#include "files.h"
#include "id.h"
#include "own_file.h"
#include "pulse.h"
#include "regular.h"
#include "safe_path.h"
#include "tree_part.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	SHOWN_BYTES = 300, /* of a path in a text */
	LIST_BYTES_MAX = 64 << 20, /* of the file list: 50,000 steps have 2 MiB */
};

static const char LIST[] = "list";

/* ---- steps ---- */

static void close_stage(struct tree_change *t)
{
	int *const fds[] = { &t->stage_fd, &t->new_fd, &t->old_fd };

	for (size_t i = 0; i < COUNT(fds); i++) {
		if (*fds[i] >= 0)
			(void)files_close(*fds[i]);
		*fds[i] = -1;
	}
}

void tree_step_clear(struct tree_step *s)
{
	free(s->path);
	free(s->target);
	*s = (struct tree_step){ .path = NULL };
}

void tree_change_clear(struct tree_change *t)
{
	for (size_t i = 0; i < t->count; i++)
		tree_step_clear(&t->steps[i]);
	free(t->steps);
	close_stage(t);
	*t = (struct tree_change)TREE_CHANGE_INIT;
}

int tree_order(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	if (*a == *b)
		return 0;
	if (*a == '/' && *b)
		return -1;
	if (*b == '/' && *a)
		return 1;
	return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
}

struct tree_step *tree_change_add(struct tree_change *t, const char *path,
                                  const struct thing *before, const struct thing *after)
{
	t->steps = xgrow(t->steps, t->count, sizeof(*t->steps));
	t->steps[t->count] =
	    (struct tree_step){ .path = xstrdup(path), .before = *before, .after = *after };
	return &t->steps[t->count++];
}

struct tree_step *tree_change_step(const struct tree_change *t, const char *path)
{
	size_t low = 0, high = t->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = tree_order(path, t->steps[middle].path);

		if (order == 0)
			return &t->steps[middle];
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return NULL;
}

void tree_change_name(struct tree_change *t)
{
	struct secret random = id_new_secret();

	(void)snprintf(t->stage_name, sizeof(t->stage_name), ".intercom-%.16s.tmp", random.text);
}

void tree_index_name(char name[INDEX_NAME_BYTES], size_t index)
{
	(void)snprintf(name, INDEX_NAME_BYTES, "%zu", index);
}

/* ---- directories ---- */

int tree_parent(const struct tree_change *t, const char *path, struct str *name, int *ret_dir_fd,
                struct refusal *why)
{
	struct err e = { 0 };

	pulse();
	errno = 0;
	if (safe_path_parent(t->root_fd, path, false, name, ret_dir_fd, &e) == 0)
		return 1;
	if (errno == ENOENT || errno == ENOTDIR || errno == ELOOP)
		return 0;
	return refuse_err(why, &e);
}

static int open_directory(int dir_fd, const char *name)
{
	return files_open(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
}

/* The one after last of those that files_list has found; last is NULL: the first. */
static const char *next_name(const struct str *names, const char *last)
{
	const char *next = last ? last + strlen(last) + 1 : str_text(names);

	return next < str_text(names) + names->length ? next : NULL;
}

static int look_below(int fd, const char *path, int (*each)(const char *path, void *context),
                      void *context)
{
	OWNED(str) struct str below = { 0 }, names = { 0 };
	int got = files_list(fd, &names);

	for (const char *name = NULL; got == 0 && (name = next_name(&names, name));) {
		struct stat st;

		str_reset(&below);
		str_addf(&below, "%s/%s", path, name);
		if (files_stat(fd, name, &st, AT_SYMLINK_NOFOLLOW))
			got = errno == ENOENT ? 0 : -1;
		else if (S_ISDIR(st.st_mode))
			got = tree_below(fd, name, str_text(&below), each, context);
		else
			got = each(str_text(&below), context);
	}
	return got;
}

int tree_below(int dir_fd, const char *name, const char *path,
               int (*each)(const char *path, void *context), void *context)
{
	int fd = open_directory(dir_fd, name), got;

	if (fd < 0)
		return -1;
	got = look_below(fd, path, each, context);
	files_close_quietly(fd);
	return got;
}

static int remove_directories(int dir_fd, const char *name);

static int remove_in(int fd)
{
	OWNED(str) struct str names = { 0 };
	int failed = files_list(fd, &names);

	for (const char *name = NULL; !failed && (name = next_name(&names, name));)
		failed = remove_directories(fd, name);
	if (errno == ENOTDIR)
		errno = ENOTEMPTY;
	return failed;
}

/* Removes a tree of directories. 0, or -1 with errno: ENOTEMPTY if there is something else. */
static int remove_directories(int dir_fd, const char *name)
{
	int fd, failed;

	if (files_unlink(dir_fd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	if (errno != ENOTEMPTY && errno != EEXIST)
		return -1;
	fd = open_directory(dir_fd, name);
	if (fd < 0)
		return -1;
	failed = remove_in(fd);
	files_close_quietly(fd);
	return failed ? -1 : files_unlink(dir_fd, name, AT_REMOVEDIR);
}

/* ---- checking ---- */

static int changed(struct refusal *why, const char *path, const char *how)
{
	OWNED(str) struct str shown = { 0 };

	str_add_shown(&shown, path, strlen(path), SHOWN_BYTES);
	return refusal_set(why, "workspace_changed", "%s %s since it was compared",
	                   str_text(&shown), how);
}

static int in_the_way(struct refusal *why, const char *path, const char *blocked)
{
	OWNED(str) struct str shown = { 0 }, target = { 0 };

	str_add_shown(&shown, path, strlen(path), SHOWN_BYTES);
	str_add_shown(&target, blocked, strlen(blocked), SHOWN_BYTES);
	return refusal_set(why, "in_the_way",
	                   "%s is in the way of %s, and is no part of any checkpoint: move it",
	                   str_text(&shown), str_text(&target));
}

struct way {
	struct tree_change *t;
	const char *blocked;
	struct refusal *why;
};

/* Whether something below a directory in the way is removed before. */
static int check_below(const char *path, void *context)
{
	const struct way *way = context;
	const struct tree_step *s = tree_change_step(way->t, path);

	if (s && tree_is_entry(s->before.kind) && s->after.kind == THING_NONE)
		return 0;
	(void)in_the_way(way->why, path, way->blocked);
	return 1;
}

static int check_directory(struct tree_change *t, const struct tree_step *s, int dir_fd,
                           const char *name, struct refusal *why)
{
	struct way way = { .t = t, .blocked = s->path, .why = why };
	int got = tree_below(dir_fd, name, s->path, check_below, &way);

	if (got < 0)
		return refuse_errno(why, "look into", s->path);
	return got > 0 ? -1 : 0;
}

/* Checks that the directory of a path is there, or will be. */
static int check_above(struct tree_change *t, const char *path, struct refusal *why)
{
	OWNED(str) struct str above = { 0 };
	const struct tree_step *s;
	char *slash;
	struct stat st;
	int failed;

	str_add(&above, path);
	slash = strrchr(above.bytes, '/');
	if (!slash)
		return 0;
	*slash = '\0';
	s = tree_change_step(t, above.bytes);
	if (s)
		return s->after.kind == THING_DIRECTORY ? 0
		                                        : changed(why, above.bytes, "has changed");
	failed = files_stat(t->root_fd, above.bytes, &st, AT_SYMLINK_NOFOLLOW);
	if (failed && errno != ENOENT && errno != ENOTDIR && errno != ELOOP)
		return refuse_errno(why, "look at", above.bytes);
	return failed || !S_ISDIR(st.st_mode)
	           ? changed(why, above.bytes, "is no longer a directory")
	           : 0;
}

/* Checks what was found at a name. */
static int check_found(struct tree_change *t, const struct tree_step *s, const struct thing *found,
                       int dir_fd, const char *name, struct refusal *why)
{
	if (!thing_is_same(found, &s->before))
		return changed(why, s->path,
		               found->kind == THING_NONE      ? "is gone"
		               : s->before.kind == THING_NONE ? "has appeared"
		                                              : "has changed");
	if (found->kind == THING_DIRECTORY && tree_is_entry(s->after.kind))
		return check_directory(t, s, dir_fd, name, why);
	return 0;
}

static int check_step(struct tree_change *t, const struct tree_step *s, struct refusal *why)
{
	OWNED(str) struct str name = { 0 };
	struct thing found = { .kind = THING_NONE };
	int dir = -1, failed, there;
	const char *own;

	if (safe_path_is_protected(s->path))
		return refusal_set(why, "path_violation", "path violation: %.300s is protected",
		                   s->path);
	own = own_file(t->root_fd, s->path, t->ours);
	if (own)
		return refusal_set(why, "path_violation", "path violation: %.300s %s", s->path,
		                   own);
	there = tree_parent(t, s->path, &name, &dir, why);
	if (there < 0)
		return -1;
	failed = there && thing_look(dir, str_text(&name), &found, NULL);
	if (failed)
		(void)refuse_errno(why, "read", s->path);
	else
		failed = check_found(t, s, &found, dir, str_text(&name), why);
	if (dir >= 0)
		(void)files_close(dir);
	if (failed)
		return -1;
	return s->after.kind == THING_NONE ? 0 : check_above(t, s->path, why);
}

int tree_change_check(struct tree_change *t, struct refusal *why)
{
	if (files_is_append_only(t->root_fd)) /* the hidden directory would stay */
		return refusal_set(why, "permission",
		                   "the workspace's folder is append-only (chattr +a): nothing in "
		                   "it can be replaced, renamed or removed");
	for (size_t i = 0; i < t->count; i++)
		if (check_step(t, &t->steps[i], why))
			return -1;
	return 0;
}

/* ---- staging ---- */

static int check_space(const struct tree_change *t, struct refusal *why)
{
	uint64_t bytes = 0, room = 0;

	for (size_t i = 0; i < t->count; i++)
		if (t->steps[i].after.kind == THING_FILE)
			bytes += (uint64_t)t->steps[i].size;
	if (files_free_bytes(t->root_fd, &room) || room >= bytes)
		return 0; /* unknown: writing will show */
	errno = ENOSPC;
	return refuse_errno(why, "write to", "the workspace");
}

static int make_and_open(int dir_fd, const char *name, int *ret_fd)
{
	if (files_make_dir(dir_fd, name, TREE_STAGE_MODE))
		return -1;
	*ret_fd = open_directory(dir_fd, name);
	return *ret_fd < 0 ? -1 : 0;
}

/* In it nothing gets the access list of the workspace's folder: it would open what comes back to
 * more people. */
static int make_stage(struct tree_change *t, struct refusal *why)
{
	close_stage(t);
	if (make_and_open(t->root_fd, t->stage_name, &t->stage_fd) ||
	    files_drop_lists(t->stage_fd) || make_and_open(t->stage_fd, "new", &t->new_fd) ||
	    make_and_open(t->stage_fd, "old", &t->old_fd))
		return refuse_errno(why, "make the directory", t->stage_name);
	return 0;
}

/* What was made for a new name gets the group that its folder gives, or will give once it is there
 * again. Returns its mode. */
static mode_t take_group(const struct tree_change *t, const char *path, int fd, mode_t mode)
{
	OWNED(str) struct str above = { 0 }, name = { 0 };
	const char *slash = strrchr(path, '/');
	const struct tree_step *s;
	struct refusal why;
	struct stat st;
	int dir = -1, failed;

	str_add_bytes(&above, path, slash ? (size_t)(slash - path) : 0);
	s = slash ? tree_change_step(t, str_text(&above)) : NULL;
	if (s && s->before.kind != THING_DIRECTORY)
		return s->after.mode & S_ISGID ? take_group(t, str_text(&above), fd, mode) : mode;
	if (tree_parent(t, path, &name, &dir, &why) <= 0)
		return mode;
	failed = files_look(dir, &st);
	(void)files_close(dir);
	return failed || !(st.st_mode & S_ISGID) ? mode : regular_take_group(fd, st.st_gid, mode);
}

/* Gives a staged file the owner and attributes of the one that it replaces. Returns its mode. */
static int take_over(const struct tree_change *t, const struct tree_step *s, int fd)
{
	OWNED(str) struct str name = { 0 };
	struct refusal why;
	struct stat old;
	int dir = -1, from, mode = s->after.mode;

	if (s->before.kind != THING_FILE)
		return (int)take_group(t, s->path, fd, (mode_t)mode);
	if (tree_parent(t, s->path, &name, &dir, &why) <= 0)
		return mode;
	from = regular_open(dir, str_text(&name), &old);
	(void)files_close(dir);
	if (from < 0)
		return mode;
	mode = (int)regular_take_over(from, &old, fd, (mode_t)mode, !t->leave_attributes);
	(void)files_close(from);
	return mode;
}

/* Files are flushed once all are written, as those of file_change_stage; but one that its owner may
 * not open once more, at once. */
static bool is_flushed_later(int mode)
{
	return (mode & S_IRUSR) != 0;
}

static int fill(struct tree_change *t, struct tree_step *s, int fd, struct refusal *why)
{
	struct err e = { 0 };
	struct stat st;

	if (t->source.copy(t->source.context, s->after.hash, fd, &e))
		return e.kind == ERR_INPUT
		           ? refusal_set(why, "content_missing", "%s: %s", s->path, e.text)
		           : refuse_err(why, &e);
	if (files_chmod(fd, (mode_t)take_over(t, s, fd)) || files_look(fd, &st) ||
	    (!is_flushed_later(s->after.mode) && files_sync(fd)))
		return refuse_errno(why, "write", s->path);
	s->staged = st.st_ino;
	return 0;
}

static int stage_file(struct tree_change *t, struct tree_step *s, const char *name,
                      struct refusal *why)
{
	int fd =
	    files_open(t->new_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int failed;

	if (fd < 0)
		return refuse_errno(why, "make a file for", s->path);
	failed = fill(t, s, fd, why);
	if (files_close(fd) && !failed)
		return refuse_errno(why, "write", s->path);
	return failed;
}

static int stage_link(struct tree_change *t, struct tree_step *s, const char *name,
                      struct refusal *why)
{
	if (files_symlink(s->target, t->new_fd, name))
		return refuse_errno(why, "make a symlink for", s->path);
	return 0;
}

/* Its permissions come last: something may have to be put into it. */
static int stage_directory(struct tree_change *t, struct tree_step *s, const char *name,
                           struct refusal *why)
{
	int fd = -1;

	if (make_and_open(t->new_fd, name, &fd))
		return refuse_errno(why, "make a directory for", s->path);
	(void)take_group(t, s->path, fd, TREE_STAGE_MODE);
	(void)files_close(fd);
	return 0;
}

static int stage_step(struct tree_change *t, size_t index, struct refusal *why)
{
	struct tree_step *s = &t->steps[index];
	char name[INDEX_NAME_BYTES];
	struct stat st;
	int failed;

	tree_index_name(name, index);
	pulse();
	if (s->after.kind == THING_FILE)
		return stage_file(t, s, name, why);
	failed = s->after.kind == THING_LINK ? stage_link(t, s, name, why)
	                                     : stage_directory(t, s, name, why);
	if (failed)
		return -1;
	if (files_stat(t->new_fd, name, &st, AT_SYMLINK_NOFOLLOW))
		return refuse_errno(why, "look at what was made for", s->path);
	s->staged = st.st_ino;
	return 0;
}

static int write_list(struct tree_change *t, struct refusal *why)
{
	OWNED(str) struct str list = { 0 };
	int fd, failed;

	for (size_t i = 0; i < t->count; i++) {
		str_addf(&list, "%" PRIuMAX, (uintmax_t)t->steps[i].staged);
		str_add_char(&list, '\0');
	}
	fd = files_open(t->stage_fd, LIST, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	                0600);
	if (fd < 0)
		return refuse_errno(why, "make a file in", t->stage_name);
	failed = files_write_all(fd, str_text(&list), list.length) || files_sync(fd);
	if (failed)
		(void)refuse_errno(why, "write a file in", t->stage_name);
	(void)files_close(fd);
	return failed ? -1 : 0;
}

static int sync_stage(const struct tree_change *t, struct refusal *why)
{
	const int dirs[] = { t->new_fd, t->old_fd, t->stage_fd, t->root_fd };

	for (size_t i = 0; i < t->count; i++) {
		const struct tree_step *s = &t->steps[i];
		char name[INDEX_NAME_BYTES];

		pulse();
		tree_index_name(name, i);
		if (s->after.kind == THING_FILE && s->staged && is_flushed_later(s->after.mode) &&
		    files_sync_at(t->new_fd, name))
			return refuse_errno(why, "write", s->path);
	}
	for (size_t i = 0; i < COUNT(dirs); i++)
		if (files_sync_dir(dirs[i]))
			return refuse_errno(why, "sync", t->stage_name);
	return 0;
}

int tree_change_stage(struct tree_change *t, struct refusal *why)
{
	if (check_space(t, why) || make_stage(t, why))
		return -1;
	for (size_t i = 0; i < t->count; i++) {
		struct tree_step *s = &t->steps[i];

		s->placed = s->taken = s->left = s->gone = false;
		s->staged = 0;
		if (tree_is_made(s) && stage_step(t, i, why))
			return -1;
	}
	return write_list(t, why) || sync_stage(t, why) ? -1 : 0;
}

/* ---- after a crash ---- */

/* 1 read, 0 it is not there, -1. */
static int read_list(struct tree_change *t, struct str *list, struct refusal *why)
{
	struct stat st;
	int fd = regular_open(t->stage_fd, LIST, &st);
	char chunk[4096];
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT ? 0 : refuse_errno(why, "read the list in", t->stage_name);
	while ((n = files_read(fd, chunk, sizeof(chunk))) > 0 && list->length < LIST_BYTES_MAX)
		str_add_bytes(list, chunk, (size_t)n);
	if (n < 0)
		(void)refuse_errno(why, "read the list in", t->stage_name);
	(void)files_close(fd);
	return n < 0 ? -1 : 1;
}

static int take_list(struct tree_change *t, const struct str *list, struct refusal *why)
{
	const char *at = str_text(list), *end = at + list->length;

	for (size_t i = 0; i < t->count; i++) {
		if (at >= end)
			return refusal_set(why, "corrupt", "the list in %s is not that of this job",
			                   t->stage_name);
		t->steps[i].staged = (ino_t)strtoumax(at, NULL, 10);
		at += strlen(at) + 1;
	}
	return 0;
}

/* 1 open, 0 it is not there, -1. */
static int open_stage(struct tree_change *t, struct refusal *why)
{
	close_stage(t);
	t->stage_fd = open_directory(t->root_fd, t->stage_name);
	if (t->stage_fd >= 0)
		t->new_fd = open_directory(t->stage_fd, "new");
	if (t->new_fd >= 0)
		t->old_fd = open_directory(t->stage_fd, "old");
	if (t->old_fd >= 0 || errno == ENOENT)
		return t->old_fd >= 0;
	return refuse_errno(why, "open the directory", t->stage_name);
}

/* 1 there is such a name, 0, -1 with errno. */
static int is_there(int dir_fd, const char *name, struct stat *st)
{
	if (files_stat(dir_fd, name, st, AT_SYMLINK_NOFOLLOW) == 0)
		return 1;
	return errno == ENOENT ? 0 : -1;
}

static int find_step(struct tree_change *t, size_t index, struct refusal *why)
{
	struct tree_step *s = &t->steps[index];
	char name[INDEX_NAME_BYTES];
	struct stat st;
	int old, new;

	tree_index_name(name, index);
	old = is_there(t->old_fd, name, &st);
	new = s->staged &&old >= 0 ? is_there(t->new_fd, name, &st) : 0;
	if (old < 0 || new < 0)
		return refuse_errno(why, "look into", t->stage_name);
	s->taken = old > 0;
	s->placed = s->staged && (new == 0 || st.st_ino != s->staged);
	return 0;
}

int tree_change_find(struct tree_change *t, struct refusal *why)
{
	OWNED(str) struct str list = { 0 };

	int there = open_stage(t, why);

	if (there > 0)
		there = read_list(t, &list, why);
	if (there <= 0)
		return there;
	if (take_list(t, &list, why))
		return -1;
	for (size_t i = 0; i < t->count; i++)
		if (find_step(t, i, why))
			return -1;
	return 1;
}

/* ---- removing the hidden directory ---- */

/* Removes files, links and trees of directories in a directory, then itself. */
static int empty(int dir_fd, const char *name)
{
	OWNED(str) struct str names = { 0 };
	int fd = open_directory(dir_fd, name), failed;

	if (fd < 0)
		return errno == ENOENT ? 0 : -1;
	failed = files_list(fd, &names);
	for (const char *one = NULL; !failed && (one = next_name(&names, one));) {
		pulse();
		if (files_unlink(fd, one, 0) == 0 || errno == ENOENT)
			continue;
		failed = errno == EISDIR || errno == EPERM ? remove_directories(fd, one) : -1;
	}
	files_close_quietly(fd);
	return failed ? -1 : files_unlink(dir_fd, name, AT_REMOVEDIR);
}

int tree_change_remove_stage(struct tree_change *t, struct refusal *why)
{
	int stage = open_directory(t->root_fd, t->stage_name), failed;

	close_stage(t);
	if (stage < 0)
		return errno == ENOENT ? 0 : refuse_errno(why, "open", t->stage_name);
	/* Without its list, it holds nothing that is needed: tree_change_find. */
	failed = (files_unlink(stage, LIST, 0) ? errno != ENOENT : files_sync_dir(stage)) ||
	         empty(stage, "new") || empty(stage, "old") || empty(t->root_fd, t->stage_name) ||
	         files_sync_dir(t->root_fd);
	if (failed)
		(void)refuse_errno(why, "remove", t->stage_name);
	(void)files_close(stage);
	return failed ? -1 : 0;
}
