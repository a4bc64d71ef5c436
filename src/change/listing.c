#include "listing.h"

#include "files.h"
#include "io.h"
#include "own_file.h"
#include "safe_path.h"
#include "visible.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct entry {
	char *name;
	mode_t mode;
	bool is_mount;
	bool is_hidden; /* a folder that is only shown when it is asked for */
};

struct entries {
	struct entry *items;
	size_t count;
	size_t more; /* not kept: the folder is too big */
};

/* A walk down: the prefix of lines, and where we are. */
struct walk {
	const struct listed *what;
	struct listing *out;
	struct str path, prefix;
};

void listing_clear(struct listing *l)
{
	str_clear(&l->text);
	*l = (struct listing){ 0 };
}

static void entries_clear(struct entries *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i].name);
	free(list->items);
	*list = (struct entries){ 0 };
}

static void walk_clear(struct walk *w)
{
	str_clear(&w->path);
	str_clear(&w->prefix);
}

/* ---- reading a folder ---- */

/* Hidden ones, and those that package managers and compilers fill. */
static bool is_left_out(const char *name)
{
	return name[0] == '.' || strcmp(name, "node_modules") == 0 || strcmp(name, "target") == 0;
}

/* False: it is gone already. */
static bool look_at(int dir, const char *name, struct entry *entry)
{
	uint64_t attributes;

	*entry = (struct entry){ 0 };
	if (files_type(dir, name, &entry->mode, &attributes))
		return errno != ENOENT; /* of a type that is not known */
	entry->is_mount = (attributes & STATX_ATTR_MOUNT_ROOT) != 0;
	entry->is_hidden = S_ISDIR(entry->mode) && is_left_out(name);
	return true;
}

static void add_entry(struct entries *list, const struct entry *entry, const char *name)
{
	list->items = xgrow(list->items, list->count, sizeof(*list->items));
	list->items[list->count] = *entry;
	list->items[list->count++].name = xstrdup(name);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static void take_names(int dir, const struct str *names, struct entries *list)
{
	for (size_t at = 0; at < names->length; at += strlen(names->bytes + at) + 1) {
		const char *name = names->bytes + at;
		struct entry entry;

		if (list->count >= LISTING_LINES_MAX)
			list->more++;
		else if (look_at(dir, name, &entry) && !entry.is_hidden)
			add_entry(list, &entry, name);
	}
}

/* 0, or -1 with errno. */
static int read_entries(int dir, struct entries *list)
{
	int got = 1;

	while (got > 0 && list->count + list->more < LISTING_SEEN_MAX) {
		OWNED(str) struct str names = { 0 };

		got = files_list_some(dir, &names);
		take_names(dir, &names, list);
	}
	if (list->count)
		qsort(list->items, list->count, sizeof(*list->items), by_name);
	return got < 0 ? -1 : 0;
}

/* 1 read, 0 there is none, -1. */
static int read_folder(const struct walk *w, struct entries *list, struct err *e)
{
	int fd = -1, got = safe_path_open_dir(w->what->root_fd, str_text(&w->path), &fd, e);

	if (got <= 0)
		return got;
	if (read_entries(fd, list))
		got = err_errno(e, ERR_AGAIN, "cannot read the directory %s", str_text(&w->path));
	(void)files_close(fd);
	return got;
}

/* ---- lines ---- */

static void begin_line(struct walk *w, bool is_last)
{
	str_add(&w->out->text, str_text(&w->prefix));
	str_add(&w->out->text, is_last ? "└── " : "├── ");
	w->out->lines++;
}

static void add_name(struct str *out, const char *name)
{
	visible_add(out, name, strlen(name), false);
}

/* "notes -> ../secret": where it leads is shown, whatever that is. */
static void add_link(struct walk *w, const char *name)
{
	char target[PATH_MAX];
	OWNED(str) struct str base = { 0 };
	int dir = -1;
	ssize_t n = -1;
	OWNED(str) struct str link = { 0 };

	str_addf(&link, "%s%s%s", str_text(&w->path), w->path.length ? "/" : "", name);
	if (safe_path_parent(w->what->root_fd, link.bytes, false, &base, &dir, NULL) == 0) {
		n = files_read_link(dir, base.bytes, target, sizeof(target));
		(void)files_close(dir);
	}
	str_add(&w->out->text, " -> ");
	if (n > 0)
		visible_add(&w->out->text, target, (size_t)n, false);
	else
		str_add_char(&w->out->text, '?');
}

/* What is no file, folder or link: only named. */
static const char *type_name(mode_t mode)
{
	const char *what = io_special(mode);

	return what ? what + strlen("a ") : "unknown";
}

static void add_other(struct walk *w, const struct entry *entry)
{
	w->out->others++;
	if (S_ISLNK(entry->mode))
		add_link(w, entry->name);
	else
		str_addf(&w->out->text, " (%s)", type_name(entry->mode));
	str_add_char(&w->out->text, '\n');
}

static void note(struct walk *w, const char *why)
{
	str_addf(&w->out->text, "/ (%s)\n", why);
}

/* ---- the tree ---- */

static void add_entries(struct walk *w, const struct entries *list, int level);

/* What is in a folder, or why that is not shown. */
static void add_inside(struct walk *w, const struct entry *entry, int level)
{
	OWNED(entries) struct entries list = { 0 };
	OWNED(str) struct str why = { 0 };
	struct err e = { 0 };
	const char *own;
	int got;

	if (entry->is_mount || level == w->what->depth) {
		str_add(&w->out->text, entry->is_mount ? "/ (mount point)\n" : "/\n");
		return;
	}
	own = own_file(w->what->root_fd, str_text(&w->path), w->what->ours);
	if (own) {
		note(w, own);
		return;
	}
	got = read_folder(w, &list, &e);
	if (got <= 0) {
		note(w, got ? "cannot be read" : "gone");
		return;
	}
	if (list.count + list.more > LISTING_FOLDER_MAX) {
		str_addf(&why, "%zu entries, not listed", list.count + list.more);
		note(w, why.bytes);
		w->out->is_cut = true;
		return;
	}
	str_add(&w->out->text, "/\n");
	add_entries(w, &list, level + 1);
}

static void add_folder(struct walk *w, const struct entry *entry, int level, bool is_last)
{
	size_t path = w->path.length, prefix = w->prefix.length;

	w->out->folders++;
	str_addf(&w->path, "%s%s", path ? "/" : "", entry->name);
	str_add(&w->prefix, is_last ? "    " : "│   ");
	add_inside(w, entry, level);
	w->path.length = path;
	w->path.bytes[path] = '\0';
	w->prefix.length = prefix;
	w->prefix.bytes[prefix] = '\0';
}

static void add_entry_lines(struct walk *w, const struct entry *entry, int level, bool is_last)
{
	begin_line(w, is_last);
	add_name(&w->out->text, entry->name);
	if (S_ISDIR(entry->mode)) {
		add_folder(w, entry, level, is_last);
	} else if (S_ISREG(entry->mode)) {
		w->out->files++;
		str_add_char(&w->out->text, '\n');
	} else {
		add_other(w, entry);
	}
}

static void add_entries(struct walk *w, const struct entries *list, int level)
{
	size_t more = list->more;

	for (size_t i = 0; i < list->count; i++) {
		if (w->out->lines >= LISTING_LINES_MAX) {
			more += list->count - i;
			break;
		}
		add_entry_lines(w, &list->items[i], level, !more && i + 1 == list->count);
	}
	if (!more)
		return;
	begin_line(w, true);
	str_addf(&w->out->text, "... and %zu more\n", more);
	w->out->is_cut = true;
}

int listing_read(const struct listed *what, struct listing *l, struct err *e)
{
	OWNED(walk) struct walk w = { .what = what, .out = l };
	OWNED(entries) struct entries list = { 0 };
	int got;

	str_add(&w.path, what->relative);
	got = read_folder(&w, &list, e);
	if (got <= 0)
		return got;
	add_name(&l->text, what->name);
	str_add(&l->text, "/\n");
	l->lines++;
	add_entries(&w, &list, 1);
	return 1;
}
