#include "ignored.h"

#include "pulse.h"

#include <string.h>

int ignored_open(struct ignored *i, const struct objects *o, const char *hash, struct err *e)
{
	return manifest_open(o, hash, &i->m, e);
}

void ignored_clear(struct ignored *i)
{
	for (int k = 0; k <= IGNORED_DEPTH; k++)
		ignore_clear(&i->levels[k]);
	manifest_clear(&i->m);
	str_clear(&i->dir);
	i->depth = 0;
}

/* The patterns of the directory that is the first length bytes of path. 0 or -1. */
static int read_level(struct ignored *i, const char *path, size_t length, struct err *e)
{
	OWNED(str) struct str name = { 0 }, bytes = { 0 };
	size_t room = ignore_room(i->levels, (size_t)i->depth);
	struct entry entry;
	int got;

	str_add_bytes(&name, path, length);
	str_addf(&name, "%s.gitignore", length > 0 ? "/" : "");
	got = manifest_find(&i->m, str_text(&name), &entry, e);
	if (got <= 0 || entry.kind != ENTRY_FILE || entry.size > room)
		return got < 0 ? -1 : 0;
	if (object_read(i->m.objects, entry.hash.text, room, &bytes, e))
		return -1;
	name.length = length;
	if (name.bytes)
		name.bytes[length] = '\0';
	ignore_read(&i->levels[i->depth], str_text(&name), str_text(&bytes), bytes.length);
	return 0;
}

/* Forgets the directories that path is not in. */
static void leave_levels(struct ignored *i, const char *path)
{
	while (i->depth > 1 &&
	       !(manifest_is_within(path, str_text(&i->dir)) && path[i->dir.length] == '/')) {
		char *slash = strrchr(i->dir.bytes, '/');

		i->dir.length = slash ? (size_t)(slash - i->dir.bytes) : 0;
		i->dir.bytes[i->dir.length] = '\0';
		ignore_clear(&i->levels[--i->depth]);
	}
}

/* What the directories on the way say of the first length bytes of path. */
static bool is_ignored(const struct ignored *i, const char *path, size_t length, bool is_dir)
{
	OWNED(str) struct str part = { 0 };

	pulse();
	str_add_bytes(&part, path, length);
	for (int k = i->depth - 1; k >= 0; k--) {
		enum ignore_says says = IGNORE_NOTHING;

		if (i->levels[k].count > 0)
			says = ignore_judge(&i->levels[k], str_text(&part), is_dir);
		if (says != IGNORE_NOTHING)
			return says == IGNORE_IT;
	}
	return false;
}

int ignored_judge(struct ignored *i, const char *path, bool is_dir, struct err *e)
{
	size_t at;

	if (i->m.sum.ignored)
		return 0;
	if (i->depth == 0) {
		if (read_level(i, path, 0, e))
			return -1;
		i->depth = 1;
	}
	leave_levels(i, path);
	at = i->dir.length > 0 ? i->dir.length + 1 : 0;
	for (;;) {
		size_t end = at + strcspn(path + at, "/");
		bool last = path[end] == '\0';

		if (is_ignored(i, path, end, last ? is_dir : true))
			return 1;
		if (last || i->depth >= IGNORED_DEPTH)
			return 0;
		if (read_level(i, path, end, e))
			return -1;
		i->depth++;
		str_reset(&i->dir);
		str_add_bytes(&i->dir, path, end);
		at = end + 1;
	}
}
