#include "walk.h"

#include "files.h"
#include "hash_cache.h"
#include "ignored.h"
#include "io.h"
#include "pulse.h"
#include "safe_path.h"
#include "texts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/openat2.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum {
	SHOWN_BYTES = 200, /* of a path in a refusal */
	PERMISSIONS = 07777,
	UNNAMED_BYTES = 1 << 20, /* of paths that wait for the entry of their folder */
};

#define GITIGNORE ".gitignore"
#define EXCLUDE ".git/info/exclude"

struct walk {
	const struct walk_options *options;
	struct objects *objects;
	struct walk_result *result;
	struct manifest_writer writer;
	struct hash_cache cache;
	struct str path; /* of what is being looked at */
	struct ignore ignores[WALK_DEPTH + 2]; /* that of the repository, then one per directory */
	int depth;
	mode_t modes[WALK_DEPTH + 1]; /* of the directories on the way, by their depth */
	int named; /* of them have their entry */
	bool hidden; /* below something ignored */
	struct manifest also;
	struct entry known; /* of it: the next one */
	bool has_known;
	struct ignored then; /* what its .gitignore files ignored */
	const char *why_hidden; /* what they did not, and ours do; NULL: nobody asks */
	struct str unnamed; /* paths of that, each with its NUL: their folder has no entry yet */
	struct str root; /* ends with '/', for the names of ours; empty: none lies in it */
};

/* The names of a directory, sorted. */
struct names {
	struct str bytes; /* each with its NUL */
	char **list;
	size_t count;
};

static void names_clear(struct names *n)
{
	str_clear(&n->bytes);
	free((void *)n->list);
	*n = (struct names){ 0 };
}

/* ---- what is not held ---- */

static bool is_protected(const char *name)
{
	return strcasecmp(name, ".git") == 0 || strcasecmp(name, ".intercom") == 0;
}

static bool is_ours(struct walk *w, const struct stat *st)
{
	const struct own_places *ours = w->options->ours;
	size_t root = w->root.length;
	bool is;

	if (own_places_file(ours, st))
		return true;
	if (!root)
		return false;
	str_add(&w->root, str_text(&w->path));
	is = own_places_name(ours, w->root.bytes) != NULL;
	w->root.length = root;
	w->root.bytes[root] = '\0';
	return is;
}

static void find_ours(struct walk *w, const char *root)
{
	if (w->options->ours && own_places_within(w->options->ours, root))
		str_addf(&w->root, "%s/", root);
}

/* Reads ahead to the first path of options->also that is not before the current one. What is
 * damaged holds nothing. Whether it holds the current path. */
static bool is_known(struct walk *w)
{
	struct err e = { 0 };
	int order = -1;

	while (w->has_known && (order = manifest_order(w->known.path, str_text(&w->path))) < 0)
		w->has_known = manifest_next(&w->also, &w->known, &e) > 0;
	return w->has_known && order == 0 && w->known.kind != ENTRY_LEFT_OUT;
}

static bool fits_a_pattern(const struct walk *w, bool is_dir)
{
	for (int i = w->depth; i >= 0; i--) {
		enum ignore_says says = IGNORE_NOTHING;

		if (w->ignores[i].count > 0)
			says = ignore_judge(&w->ignores[i], str_text(&w->path), is_dir);
		if (says != IGNORE_NOTHING)
			return says == IGNORE_IT;
	}
	return false;
}

/* Whether the current path is passed over. What is below something ignored is ignored. */
static bool is_ignored(struct walk *w, bool is_dir)
{
	if (w->options->ignored || (!w->hidden && !fits_a_pattern(w, is_dir)))
		return false;
	if (!is_known(w))
		return true;
	w->hidden = true;
	return false;
}

/* Whether the current path, which is ignored, was not when options->also was taken. Of
 * .git/info/exclude nobody knows what it was then. */
static bool is_hidden_since(struct walk *w, bool is_dir)
{
	const char *path = str_text(&w->path);
	struct err e = { 0 };

	return w->why_hidden && ignore_judge(&w->ignores[0], path, is_dir) != IGNORE_IT &&
	       ignored_judge(&w->then, path, is_dir, &e) == 0;
}

/* Reads a file of patterns; what cannot be read says nothing. */
static void read_ignore(struct walk *w, int dir)
{
	OWNED(str) struct str bytes = { 0 };
	struct err e = { 0 };
	size_t room = ignore_room(w->ignores, (size_t)w->depth);

	if (room > 0 && safe_path_read(dir, GITIGNORE, room, &bytes, NULL, &e) > 0)
		ignore_read(&w->ignores[w->depth], str_text(&w->path), str_text(&bytes),
		            bytes.length);
}

/* safe_path reads nothing below .git, whatever the descriptor. */
static void read_exclude(int root, struct ignore *i)
{
	OWNED(char_ptr) char *bytes = xmalloc(IGNORE_BYTES_MAX);
	int fd = files_open(root, EXCLUDE, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC, 0);
	size_t had = 0;
	ssize_t n;

	if (fd < 0)
		return;
	while ((n = files_read(fd, bytes + had, IGNORE_BYTES_MAX - had)) > 0)
		had += (size_t)n;
	if (n == 0)
		ignore_read(i, "", bytes, had);
	(void)files_close(fd);
}

/* ---- entries ---- */

static int refuse_count(const struct walk *w, struct err *e)
{
	return err_set(e, ERR_INPUT,
	               "the workspace has more than %" PRIu64
	               " files and folders (setting checkpoint.max_files)",
	               w->options->most_files);
}

static int refuse_bytes(const struct walk *w, struct err *e)
{
	OWNED(str) struct str shown = { 0 };

	str_add_shown(&shown, str_text(&w->path), w->path.length, SHOWN_BYTES);
	return err_set(e, ERR_INPUT,
	               "the files of the workspace have more than %" PRIu64
	               " bytes, counted up to %s (setting checkpoint.max_bytes)",
	               w->options->most_bytes, str_text(&shown));
}

static int add_path(struct walk *w, struct entry *entry, struct err *e)
{
	const struct manifest_sum *sum = &w->writer.sum;

	if (sum->files + sum->links + sum->dirs + sum->left_out >= w->options->most_files)
		return refuse_count(w, e);
	return manifest_add(&w->writer, entry, e);
}

/* The entries of what is unnamed and not behind a path; NULL: of all of it. */
static int name_hidden(struct walk *w, const char *path, struct err *e)
{
	struct entry entry = { .kind = ENTRY_LEFT_OUT, .text = w->why_hidden };
	OWNED(str) struct str all = { 0 };
	size_t at = 0;

	if (w->unnamed.length == 0)
		return 0;
	str_move(&all, &w->unnamed);
	for (; at < all.length; at += strlen(entry.path) + 1) {
		entry.path = all.bytes + at;
		if (path && manifest_order(entry.path, path) > 0)
			break;
		if (add_path(w, &entry, e))
			return -1;
	}
	str_add_bytes(&w->unnamed, str_text(&all) + at, all.length - at);
	return 0;
}

/* The entries of the directories on the way, down to the depth-th. */
static int name_dirs(struct walk *w, int depth, struct err *e)
{
	OWNED(str) struct str path = { 0 };

	for (; w->named < depth; w->named++) {
		struct entry entry = { .kind = ENTRY_DIR, .text = "" };
		const char *at = str_text(&w->path);

		for (int i = 0; i < w->named; i++)
			at += strcspn(at, "/") + 1;
		str_reset(&path);
		str_add_bytes(&path, str_text(&w->path),
		              (size_t)(at - str_text(&w->path)) + strcspn(at, "/"));
		entry.path = str_text(&path);
		entry.mode = w->modes[w->named + 1];
		if (name_hidden(w, entry.path, e) || add_path(w, &entry, e))
			return -1;
	}
	return name_hidden(w, NULL, e);
}

/* Of the current path; its directories come first. */
static int add_entry(struct walk *w, struct entry *entry, struct err *e)
{
	entry->path = str_text(&w->path);
	return name_dirs(w, w->depth - 1, e) || add_path(w, entry, e) ? -1 : 0;
}

static int leave_out(struct walk *w, const char *why, struct err *e)
{
	struct entry entry = { .kind = ENTRY_LEFT_OUT, .text = why };

	return add_entry(w, &entry, e);
}

/* Names the current path as left out: with the first entry of its folder, if it gets one. */
static int hide(struct walk *w, struct err *e)
{
	if (w->named >= w->depth - 1 || w->unnamed.length > UNNAMED_BYTES)
		return leave_out(w, w->why_hidden, e);
	str_add_bytes(&w->unnamed, str_text(&w->path), w->path.length + 1);
	return 0;
}

/* What failed to open or read: gone is as if it had never been there. */
static int leave_out_errno(struct walk *w, struct err *e)
{
	OWNED(str) struct str why = { 0 };

	if (files_is_lost())
		return err_set(e, ERR_AGAIN, FILES_LOST);
	if (errno == ENOENT)
		return 0;
	if (errno == EXDEV)
		return leave_out(w, "is a mount point", e);
	if (errno == ELOOP)
		return leave_out(w, "keeps changing while it is read", e);
	str_addf(&why, "cannot be read: %s", strerror(errno)); /* NOLINT(concurrency-mt-unsafe) */
	return leave_out(w, str_text(&why), e);
}

static int leave_out_special(struct walk *w, mode_t mode, struct err *e)
{
	const char *what = io_special(mode);
	OWNED(str) struct str why = { 0 };

	str_addf(&why, "is %s", what ? what : "neither a file nor a folder");
	return leave_out(w, str_text(&why), e);
}

/* ---- files and links ---- */

/* Opens a name in a directory for reading: no link, no other mount. -1 with errno. */
static int open_below(int dir, const char *name, uint64_t flags)
{
	return files_open_beneath(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | flags,
	                          RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV);
}

static bool is_as_before(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* For how many ms a file has to rest yet; 0 too if its file system has another clock. */
static int rest_ms(const struct stat *st)
{
	struct timespec now;
	int64_t age_ms;

	(void)clock_gettime(CLOCK_REALTIME, &now); /* not clock.h's, which tests set */
	age_ms = (now.tv_sec - st->st_ctim.tv_sec) * INT64_C(1000) +
	         (now.tv_nsec - st->st_ctim.tv_nsec) / 1000000;
	return age_ms >= 0 && age_ms < WALK_REST_MS ? WALK_REST_MS - (int)age_ms : 0;
}

/* Looks at an open file when it rests. 1; 0: somebody writes it again and again; -1 with errno. */
static int look_at_rest(int fd, struct stat *st)
{
	int ms;

	if (files_look(fd, st) != 0)
		return -1;
	ms = rest_ms(st);
	if (ms == 0)
		return 1;
	(void)poll(NULL, 0, ms);
	if (files_look(fd, st) != 0)
		return -1;
	return rest_ms(st) == 0;
}

/* One attempt to read an open file. 1 read, 0 it changed meanwhile, -1 it cannot be read (errno),
 * -2 it cannot be stored. */
static int read_once(struct walk *w, int fd, struct stat *st, struct entry *entry, struct err *e)
{
	struct timespec now;
	struct stat after;
	enum object_put did;
	int rests = look_at_rest(fd, st);

	if (rests <= 0)
		return rests;
	(void)clock_gettime(CLOCK_REALTIME_COARSE, &now);
	if (files_rewind(fd) != 0)
		return -1;
	did = object_put(w->objects, fd, (uint64_t)st->st_size, &entry->hash, &entry->size, e);
	if (did == OBJECT_FAILED)
		return -2;
	st->st_mode &= S_IFMT | files_common_mode(fd);
	if (did == OBJECT_UNREADABLE || files_look(fd, &after) != 0)
		return -1;
	if (did != OBJECT_STORED || !is_as_before(st, &after) ||
	    entry->size != (uint64_t)st->st_size)
		return 0;
	hash_cache_add(&w->cache, str_text(&w->path), st, &entry->hash, &now);
	return 1;
}

/* Reads an open file until it does not change meanwhile, and closes it. As read_once; never 0. */
static int read_open_file(struct walk *w, int fd, struct stat *st, struct entry *entry,
                          struct err *e)
{
	int did = 0;

	for (int try = 0; try < WALK_TRIES && did == 0; try++)
		did = read_once(w, fd, st, entry, e);
	if (did == 0)
		errno = ELOOP;
	files_close_quietly(fd);
	w->result->read += did > 0;
	return did == 0 ? -1 : did;
}

static int add_file(struct walk *w, int dir, const char *name, struct stat *st, struct err *e)
{
	struct entry entry = { .kind = ENTRY_FILE, .size = (uint64_t)st->st_size, .text = "" };
	struct timespec now;
	int fd, did;

	if (entry.size > w->options->most_bytes ||
	    w->writer.sum.bytes > w->options->most_bytes - entry.size)
		return refuse_bytes(w, e);
	(void)clock_gettime(CLOCK_REALTIME_COARSE, &now);
	if (hash_cache_find(&w->cache, str_text(&w->path), st, &entry.hash)) {
		hash_cache_add(&w->cache, str_text(&w->path), st, &entry.hash, &now);
		entry.mode = st->st_mode & PERMISSIONS;
		return add_entry(w, &entry, e);
	}
	fd = open_below(dir, name, 0);
	if (fd < 0)
		return leave_out_errno(w, e);
	if (files_look(fd, st) != 0) {
		files_close_quietly(fd);
		return leave_out_errno(w, e);
	}
	if (!S_ISREG(st->st_mode)) {
		(void)files_close(fd);
		return leave_out_special(w, st->st_mode, e);
	}
	did = read_open_file(w, fd, st, &entry, e);
	if (did < 0)
		return did < -1 ? -1 : leave_out_errno(w, e);
	entry.mode = st->st_mode & PERMISSIONS;
	if (entry.size > w->options->most_bytes - w->writer.sum.bytes)
		return refuse_bytes(w, e);
	return add_entry(w, &entry, e);
}

static int add_link(struct walk *w, int dir, const char *name, struct err *e)
{
	char target[PATH_MAX];
	struct entry entry = { .kind = ENTRY_LINK, .text = target };
	ssize_t length = files_read_link(dir, name, target, sizeof(target) - 1);

	if (length < 0)
		return leave_out_errno(w, e);
	target[length] = '\0';
	return add_entry(w, &entry, e);
}

/* ---- directories ---- */

/* The names of an open directory. 0, or -1 with errno. */
static int list_names(int dir, struct names *n)
{
	char *name;
	size_t all = 0;

	if (files_list(dir, &n->bytes))
		return -1;
	for (size_t at = 0; at < n->bytes.length; at += strlen(n->bytes.bytes + at) + 1)
		all++;
	n->list = xcalloc(all + 1, sizeof(*n->list));
	for (size_t at = 0; at < n->bytes.length; at += strlen(name) + 1) {
		name = n->bytes.bytes + at;
		if (!is_protected(name))
			n->list[n->count++] = name;
	}
	qsort((void *)n->list, n->count, sizeof(*n->list), texts_order);
	return 0;
}

static bool has_name(const struct names *n, const char *name)
{
	return n->count > 0 && bsearch((const void *)&name, (const void *)n->list, n->count,
	                               sizeof(*n->list), texts_order);
}

static int walk_names(struct walk *w, int dir, const struct names *n, struct err *e);

/* What is in an open directory. Its entry comes with the first of it, so that one with nothing but
 * what is ignored has none, unless it is known; if some of that is hidden, it is, as a whole. */
static int walk_dir(struct walk *w, int dir, struct err *e)
{
	OWNED(names) struct names n = { 0 };
	bool known = w->path.length > 0 && is_known(w);
	size_t unnamed = w->unnamed.length;
	struct stat st;
	int failed;

	if (files_look(dir, &st) != 0 || list_names(dir, &n) != 0)
		return leave_out_errno(w, e);
	w->modes[w->depth] = st.st_mode & files_common_mode(dir);
	if (w->path.length > 0 && (n.count == 0 || known) && name_dirs(w, w->depth, e))
		return -1;
	w->depth++;
	if (!w->options->ignored && has_name(&n, GITIGNORE))
		read_ignore(w, dir);
	failed = walk_names(w, dir, &n, e);
	ignore_clear(&w->ignores[w->depth]);
	w->depth--;
	if (w->named >= w->depth)
		w->named = w->depth > 0 ? w->depth - 1 : 0;
	if (failed || w->unnamed.length <= unnamed)
		return failed;
	w->unnamed.length = unnamed;
	return hide(w, e);
}

static int add_dir(struct walk *w, int dir, const char *name, struct err *e)
{
	int fd, failed;

	if (w->depth >= WALK_DEPTH)
		return leave_out(w, "is too many folders deep", e);
	if (w->path.length > PATH_MAX - NAME_MAX - 2)
		return leave_out(w, "has too long a path", e);
	fd = open_below(dir, name, O_DIRECTORY);
	if (fd < 0)
		return leave_out_errno(w, e);
	failed = walk_dir(w, fd, e);
	(void)files_close(fd);
	return failed;
}

static int add_found(struct walk *w, int dir, const char *name, struct stat *st, struct err *e)
{
	if (is_ours(w, st))
		return leave_out(w, "belongs to agent-intercom", e);
	if (safe_path_is_temp(name, strlen(name)))
		return leave_out(w, "is named like a temporary file of agent-intercom", e);
	if (S_ISDIR(st->st_mode))
		return add_dir(w, dir, name, e);
	if (S_ISREG(st->st_mode))
		return add_file(w, dir, name, st, e);
	if (S_ISLNK(st->st_mode))
		return add_link(w, dir, name, e);
	return leave_out_special(w, st->st_mode, e);
}

/* What a name stands for; w->path is its path. */
static int add_name(struct walk *w, int dir, const char *name, struct err *e)
{
	int failed = 0;
	bool above = w->hidden;
	struct stat st;

	if (files_stat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return leave_out_errno(w, e);
	if (!is_ignored(w, S_ISDIR(st.st_mode)))
		failed = add_found(w, dir, name, &st, e);
	else if (is_hidden_since(w, S_ISDIR(st.st_mode)))
		failed = hide(w, e);
	w->hidden = above;
	return failed;
}

static int walk_names(struct walk *w, int dir, const struct names *n, struct err *e)
{
	size_t length = w->path.length;
	int failed = 0;

	for (size_t i = 0; i < n->count && !failed; i++) {
		pulse();
		if (length > 0)
			str_add_char(&w->path, '/');
		str_add(&w->path, n->list[i]);
		failed = add_name(w, dir, n->list[i], e);
		w->path.length = length;
		if (w->path.bytes)
			w->path.bytes[length] = '\0';
	}
	return failed;
}

/* ---- the workspace ---- */

static void open_known(struct walk *w)
{
	const char *also = w->options->ignored ? NULL : w->options->also;
	struct err e = { 0 };

	w->writer.sum.ignored = w->options->ignored;
	w->has_known = also && manifest_open(w->objects, also, &w->also, &e) == 0 &&
	               manifest_next(&w->also, &w->known, &e) > 0;
	if (also && ignored_open(&w->then, w->objects, also, &e) == 0)
		w->why_hidden = w->then.m.sum.ignored ? "is ignored"
		                                      : "is hidden by a new or changed .gitignore";
}

static int walk_root(struct walk *w, const char *root, struct err *e)
{
	int dir = -1, failed;

	if (safe_path_open(root, &dir, e))
		return -1;
	find_ours(w, root);
	if (!w->options->ignored)
		read_exclude(dir, &w->ignores[0]);
	open_known(w);
	hash_cache_open(&w->cache, w->objects, root);
	failed = walk_dir(w, dir, e) || manifest_finish(&w->writer, &w->result->manifest, e);
	(void)files_close(dir);
	if (failed)
		return -1;
	hash_cache_finish(&w->cache);
	w->result->sum = w->writer.sum;
	return 0;
}

int walk_workspace(const char *root, struct objects *o, const struct walk_options *options,
                   struct walk_result *result, struct err *e)
{
	struct walk *w = xcalloc(1, sizeof(*w));
	uint64_t before = o->added;
	int failed;

	*result = (struct walk_result){ .read = 0 };
	w->options = options;
	w->objects = o;
	w->result = result;
	w->writer.objects = o;
	failed = walk_root(w, root, e);
	result->added = o->added - before;
	hash_cache_clear(&w->cache);
	manifest_writer_clear(&w->writer);
	manifest_clear(&w->also);
	ignored_clear(&w->then);
	for (int i = 0; i < WALK_DEPTH + 2; i++)
		ignore_clear(&w->ignores[i]);
	str_clear(&w->path);
	str_clear(&w->unnamed);
	str_clear(&w->root);
	free(w);
	return failed;
}
