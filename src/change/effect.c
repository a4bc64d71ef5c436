#include "effect.h"

#include <string.h>

static const char EFFECT_NONE[] = "no file changes\n";

static bool is_action(const struct planned *f, const char *action)
{
	return strcmp(f->is.action, action) == 0;
}

static unsigned git_mode(mode_t mode)
{
	return mode & 0111 ? 0100755 : 0100644;
}

/* The other file whose content a new one starts from; NULL: it starts empty, also if its diff names
 * it on both sides. */
static const struct planned *source_of(const struct plan *plan, const struct planned *f)
{
	const struct planned *from = f->from == PLAN_NONE ? f : &plan->files[f->from];

	return is_action(f, "create") && from != f ? from : NULL;
}

/* Modes are shown where the diff gives or changes them. */
static void set_modes(struct diff_heading *h, const struct planned *f, const struct planned *source)
{
	const struct planned *old = source ? source : f;

	if (is_action(f, "delete"))
		return;
	if (!source && !f->exists) {
		h->new_mode = f->is.mode ? git_mode(f->new_mode) : 0;
	} else if (git_mode(f->new_mode) != git_mode(old->st.st_mode)) {
		h->old_mode = git_mode(old->st.st_mode);
		h->new_mode = git_mode(f->new_mode);
	}
}

static void add_file(const struct plan *plan, const struct planned *f, struct str *out)
{
	const struct planned *source = source_of(plan, f), *old = source ? source : f;
	bool gone = is_action(f, "delete");
	struct diff_heading h = { .old_path = old->exists ? old->is.path : NULL,
		                  .new_path = gone ? NULL : f->is.path,
		                  .places = f->places,
		                  .place_count = f->place_count };

	set_modes(&h, f, source);
	h.is_rename = source && f->by->is_rename;
	h.is_copy = source && !h.is_rename;
	diff_compute_file(&h, old->exists ? str_text(&old->old) : NULL, old->old.length,
	                  gone ? NULL : str_text(&f->new), f->new.length, out);
}

/* Whether it is shown together with the file that it becomes. */
static bool is_shown_elsewhere(const struct plan *plan, const struct planned *f)
{
	for (size_t i = 0; i < plan->count && is_action(f, "delete"); i++)
		if (source_of(plan, &plan->files[i]) == f)
			return true;
	return false;
}

void effect_of(const struct plan *plan, struct str *out)
{
	size_t before = out->length;

	for (size_t i = 0; i < plan->count; i++) {
		const struct planned *f = &plan->files[i];

		if (!is_action(f, "read") && !is_shown_elsewhere(plan, f))
			add_file(plan, f, out);
	}
	if (out->length == before)
		str_add(out, EFFECT_NONE);
}

bool effect_is_shown(const struct plan *plan, const char *shown, size_t length)
{
	OWNED(str) struct str now = { 0 };

	effect_of(plan, &now);
	return diff_is_same(now.bytes, now.length, shown, length);
}
