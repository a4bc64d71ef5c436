#include "summary.h"

#include <string.h>

enum { PLAIN_MODE = 0644, PERMISSIONS = 0777 };

static bool is_action(const struct touched *t, const char *action)
{
	return t->action && strcmp(t->action, action) == 0;
}

static const struct touched *find(const struct touched *files, size_t count, const char *path)
{
	for (size_t i = 0; path && i < count; i++)
		if (strcmp(files[i].path, path) == 0)
			return &files[i];
	return NULL;
}

/* Whether `to` is made from `from`, which is removed. */
static bool is_renamed(const struct touched *from, const struct touched *to)
{
	return from && to && is_action(from, "delete") && is_action(to, "create") && from->other &&
	       to->other && strcmp(from->other, to->path) == 0 &&
	       strcmp(to->other, from->path) == 0;
}

static void add_pair(struct str *out, const char *verb, const struct touched *from,
                     const struct touched *to)
{
	str_addf(out, "%s ", verb);
	proposal_touched_add_name(out, from);
	str_add(out, " to ");
	proposal_touched_add_name(out, to);
}

/* The mode that a diff always gives for a new file is not mentioned. */
static void add_mode(struct str *out, const struct touched *t)
{
	unsigned mode = t->mode & PERMISSIONS;

	if (t->mode && !is_action(t, "delete") && !(is_action(t, "create") && mode == PLAIN_MODE))
		str_addf(out, " (mode %o)", mode);
}

bool summary_add_file(struct str *out, const struct touched *files, size_t count, size_t at)
{
	const struct touched *t = &files[at], *other = find(files, count, t->other);

	if (is_action(t, "read") || is_renamed(t, other))
		return false;
	if (is_action(t, "create") && other) {
		add_pair(out, is_renamed(other, t) ? "rename" : "copy", other, t);
	} else {
		str_addf(out, "%s ", t->action ? t->action : "touch");
		proposal_touched_add_name(out, t);
		if (other)
			str_add(out, is_action(t, "delete") ? ", which becomes " : " from ");
		if (other)
			proposal_touched_add_name(out, other);
	}
	add_mode(out, t);
	return true;
}

void summary_add(struct str *out, const struct touched *files, size_t count, const char *between,
                 size_t most)
{
	size_t shown = 0, more = 0;

	for (size_t i = 0; i < count; i++) {
		OWNED(str) struct str one = { 0 };

		if (!summary_add_file(&one, files, count, i))
			continue;
		if (shown == most) {
			more++;
			continue;
		}
		str_addf(out, "%s%s", shown ? between : "", one.bytes);
		shown++;
	}
	if (more)
		str_addf(out, "%sand %zu more", between, more);
}

bool summary_is_needed(const struct touched *files, size_t count)
{
	return count > 1 || (count == 1 && (!is_action(&files[0], "modify") || files[0].mode ||
	                                    proposal_touched_is_link(&files[0])));
}
