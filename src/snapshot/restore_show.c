#include "restore_show.h"

#include "diff.h"
#include "pulse.h"

#include <string.h>

enum { PATH_BYTES = 4096, FILE_TYPE = 0100000, EXECUTABLE = 0111 };

static void add_path(struct str *out, const char *path)
{
	str_add_shown(out, path, strlen(path), PATH_BYTES);
}

/* ---- the list ---- */

static bool is_modified(const struct tree_step *s)
{
	return s->before.kind != THING_NONE && s->after.kind != THING_NONE;
}

static bool is_deleted(const struct tree_step *s)
{
	return s->before.kind == THING_NONE;
}

static bool is_added(const struct tree_step *s)
{
	return s->after.kind == THING_NONE;
}

/* What is not plain from the path. */
static void add_how(const struct tree_step *s, struct str *out)
{
	if (is_modified(s) && s->before.kind != s->after.kind)
		str_addf(out, " (%s, becomes %s)", thing_kind_name(s->before.kind),
		         thing_kind_name(s->after.kind));
	else if (is_modified(s) && s->before.mode != s->after.mode)
		str_addf(out, " (permissions %04o, become %04o)", (unsigned)s->before.mode,
		         (unsigned)s->after.mode);
	else if (is_deleted(s) && s->after.kind == THING_FILE && (s->after.mode & EXECUTABLE))
		str_addf(out, " (permissions %04o)", (unsigned)s->after.mode);
	else if (is_added(s) && s->before.kind == THING_DIRECTORY)
		str_add(out, "/ (unless something else is in it, such as a .git)");
	else if (s->after.kind == THING_DIRECTORY || s->before.kind == THING_DIRECTORY)
		str_add(out, "/");
	if (s->leaves_set_id)
		str_add(out, " (without its set-id bits)");
	if (s->after.kind == THING_LINK) {
		str_add(out, " -> ");
		add_path(out, s->target);
	}
}

static void add_class(const struct tree_change *t, const char *title, const char *fate,
                      bool (*is)(const struct tree_step *), struct str *out)
{
	size_t count = 0;

	for (size_t i = 0; i < t->count; i++)
		count += is(&t->steps[i]);
	if (count == 0)
		return;
	str_addf(out, "%s (%zu)%s:\n", title, count, fate);
	for (size_t i = 0; i < t->count && out->length <= RESTORE_LIST_BYTES; i++) {
		if (!is(&t->steps[i]))
			continue;
		str_add(out, "  ");
		add_path(out, t->steps[i].path);
		add_how(&t->steps[i], out);
		str_add_char(out, '\n');
	}
}

static bool is_ignore_file(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strcmp(slash ? slash + 1 : path, ".gitignore") == 0;
}

static void add_left(const struct tree_change *t, const struct restore_left *left, struct str *out)
{
	bool changed = false;

	if (left->count > 0)
		str_addf(out, "Not compared (%zu), left as now:\n%s", left->count,
		         str_text(&left->list));
	for (size_t i = 0; i < t->count && !changed; i++)
		changed = is_ignore_file(t->steps[i].path);
	if (changed)
		str_add(out, "A .gitignore differs: what the checkpoint holds is put back even if "
		             "it is ignored\nnow; what was ignored then is left as it is.\n");
}

int restore_list(const struct tree_change *t, const struct restore_left *left, struct str *out,
                 struct err *e)
{
	add_class(t, "Modified", "", is_modified, out);
	add_class(t, "Deleted", ", will be back", is_deleted, out);
	add_class(t, "Added", ", will be removed", is_added, out);
	add_left(t, left, out);
	if (out->length > RESTORE_LIST_BYTES)
		return err_set(e, ERR_INPUT,
		               "%zu paths differ, too many to be shown: choose some of them",
		               t->count);
	return 0;
}

void restore_name(const struct tree_change *t, size_t most, struct str *out)
{
	for (size_t i = 0; i < t->count && i < most; i++) {
		if (i > 0)
			str_add(out, ", ");
		add_path(out, t->steps[i].path);
	}
	if (t->count > most)
		str_addf(out, " and %zu more", t->count - most);
}

/* ---- the diff ---- */

/* 1 read, 0 it is no text or too large, -1. */
static int read_text(const struct objects *objects, const struct thing *t, struct str *out,
                     struct err *e)
{
	struct err wrong = { 0 };

	if (t->kind != THING_FILE)
		return 1;
	if (object_read(objects, t->hash, RESTORE_FILE_BYTES, out, &wrong)) {
		if (object_exists(objects, t->hash))
			return 0;
		*e = wrong;
		return -1;
	}
	return memchr(str_text(out), '\0', out->length) == NULL &&
	       utf8_valid(str_text(out), out->length);
}

static unsigned git_mode(const struct thing *t)
{
	return FILE_TYPE | ((t->mode & EXECUTABLE) ? 0755U : 0644U);
}

static int add_file(const struct objects *objects, const struct tree_step *s, struct str *out,
                    struct err *e)
{
	OWNED(str) struct str old = { 0 }, new = { 0 };
	bool was = s->before.kind == THING_FILE, is = s->after.kind == THING_FILE;
	struct diff_heading h = { 0 };
	int told = read_text(objects, &s->before, &old, e);

	if (told > 0)
		told = read_text(objects, &s->after, &new, e);
	if (told < 0)
		return -1;
	if (told == 0) {
		add_path(out, s->path);
		str_add(out, ": no diff, it is large or no text\n");
		return 0;
	}
	h.old_path = was ? s->path : NULL; /* which the diff quotes itself */
	h.new_path = is ? s->path : NULL;
	if (was && is && git_mode(&s->before) != git_mode(&s->after)) {
		h.old_mode = git_mode(&s->before);
		h.new_mode = git_mode(&s->after);
	}
	diff_compute_file(&h, was ? str_text(&old) : NULL, old.length, is ? str_text(&new) : NULL,
	                  new.length, out);
	return 0;
}

int restore_diff(const struct objects *objects, const struct tree_change *t, struct str *out,
                 struct err *e)
{
	size_t left = 0;

	for (size_t i = 0; i < t->count; i++) {
		const struct tree_step *s = &t->steps[i];

		pulse();
		if (s->before.kind != THING_FILE && s->after.kind != THING_FILE)
			continue;
		if (out->length >= RESTORE_DIFF_BYTES)
			left++;
		else if (add_file(objects, s, out, e))
			return -1;
	}
	if (left > 0)
		str_addf(out, "%zu more files are in the list, without a diff\n", left);
	return 0;
}
