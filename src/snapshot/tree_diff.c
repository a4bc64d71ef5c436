#include "tree_diff.h"

#include "diff.h"

#include <string.h>
#include <sys/stat.h>

enum { NAME_BYTES = 300 /* of a path in a line */ };

struct tree {
	const struct objects *objects;
	struct str *out;
	size_t most;
	struct err *e;
};

static void add_path(struct str *out, const char *path)
{
	str_add_shown(out, path, strlen(path), NAME_BYTES);
}

static bool is_file(const struct entry *entry)
{
	return entry && entry->kind == ENTRY_FILE;
}

/* What an entry is, in words. */
static void add_what(struct str *out, const struct entry *entry)
{
	if (!entry)
		str_add(out, "nothing");
	else if (entry->kind == ENTRY_FILE)
		str_addf(out, "a file of %llu bytes, mode %o", (unsigned long long)entry->size,
		         (unsigned)entry->mode);
	else if (entry->kind == ENTRY_DIR)
		str_addf(out, "a folder, mode %o", (unsigned)entry->mode);
	else
		str_add(out, "a link to ");
	if (entry && entry->kind == ENTRY_LINK)
		add_path(out, entry->text);
}

static void add_line(const struct tree *t, const struct manifest_change *c, const char *why)
{
	add_path(t->out, c->before ? c->before->path : c->after->path);
	str_addf(t->out, "%s: ", why);
	add_what(t->out, c->before);
	str_add(t->out, " -> ");
	add_what(t->out, c->after);
	str_add_char(t->out, '\n');
}

/* Reads a side of a file that may be shown. 0, and *unfit is why it is not, if it is not; -1. */
static int read_text(const struct tree *t, const struct entry *entry, struct str *bytes,
                     const char **unfit)
{
	if (!entry || *unfit)
		return 0;
	if (entry->size > TREE_DIFF_FILE_BYTES) {
		*unfit = " (binary or long)";
		return 0;
	}
	if (object_read(t->objects, entry->hash.text, TREE_DIFF_FILE_BYTES, bytes, t->e))
		return -1;
	if (memchr(str_text(bytes), '\0', bytes->length))
		*unfit = " (binary or long)";
	else if (!utf8_valid(str_text(bytes), bytes->length))
		*unfit = " (no text in UTF-8)";
	return 0;
}

/* Whether there is more to say of a file than its text: another mode, or one that lets it be run.
 */
static bool has_mode_to_tell(const struct manifest_change *c)
{
	const mode_t to_run = S_ISUID | S_ISGID | S_IXUSR | S_IXGRP | S_IXOTH;

	if (!c->after)
		return false;
	return c->before ? c->before->mode != c->after->mode : (c->after->mode & to_run) != 0;
}

static int add_change(const struct manifest_change *c, void *arg)
{
	struct tree *t = arg;
	OWNED(str) struct str before = { 0 }, after = { 0 };
	const struct entry *named = c->before ? c->before : c->after;
	const char *unfit = NULL;

	if (!named)
		return 0; /* neither: never */
	if (t->out->length >= t->most) {
		str_add(t->out, "... and more\n");
		return 1;
	}
	if (c->kind == CHANGE_MODE || (c->before && !is_file(c->before)) ||
	    (c->after && !is_file(c->after))) {
		add_line(t, c, "");
		return 0;
	}
	if (read_text(t, c->before, &before, &unfit) || read_text(t, c->after, &after, &unfit))
		return -1;
	if (unfit || has_mode_to_tell(c))
		add_line(t, c, unfit ? unfit : "");
	if (!unfit)
		diff_compute(named->path, c->before ? str_text(&before) : NULL, before.length,
		             c->after ? str_text(&after) : NULL, after.length, t->out);
	return 0;
}

int tree_diff(struct manifest *a, struct manifest *b, size_t most, struct str *out, struct err *e)
{
	struct tree t = { .objects = a->objects, .out = out, .most = most, .e = e };

	return manifest_compare(a, b, add_change, &t, e) < 0 ? -1 : 0;
}
