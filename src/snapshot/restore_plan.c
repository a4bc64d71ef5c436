#include "restore_plan.h"

#include "json.h"
#include "manifest.h"
#include "safe_path.h"

#include <stdlib.h>
#include <string.h>

/* ---- what an order is ---- */

static void add_part(struct str *text, const char *part)
{
	str_addf(text, "%zu:%s", part ? strlen(part) : 0, part ? part : "");
	str_add_char(text, part ? ';' : '-');
}

struct sha256 restore_digest(const struct restore_order *order)
{
	OWNED(str) struct str text = { 0 };

	add_part(&text, "restore");
	add_part(&text, order->from_hash);
	add_part(&text, order->to_hash);
	add_part(&text, order->paths);
	return sha256_of(str_text(&text), text.length);
}

/* ---- steps ---- */

static struct thing thing_of(const struct entry *entry)
{
	struct thing t = { .kind = THING_NONE };

	if (!entry || entry->kind == ENTRY_LEFT_OUT)
		return t;
	t.kind = entry->kind == ENTRY_FILE   ? THING_FILE
	         : entry->kind == ENTRY_LINK ? THING_LINK
	                                     : THING_DIRECTORY;
	if (t.kind != THING_LINK)
		t.mode = (int)entry->mode;
	if (t.kind == THING_FILE)
		memcpy(t.hash, entry->hash.text, sizeof(t.hash));
	if (t.kind == THING_LINK)
		memcpy(t.hash, sha256_of(entry->text, strlen(entry->text)).text, sizeof(t.hash));
	return t;
}

struct gathering {
	struct tree_change *t;
	struct err *e;
};

static int add_change(const struct manifest_change *change, void *arg)
{
	struct gathering *g = arg;
	struct thing before = thing_of(change->before), after = thing_of(change->after);
	const char *path = change->before ? change->before->path : change->after->path;
	struct tree_step *s;

	if (safe_path_is_protected(path) || thing_is_same(&before, &after))
		return 0;
	if (g->t->count >= RESTORE_STEPS_MAX)
		return err_set(g->e, ERR_INPUT,
		               "more than %d paths differ: restore some of them at a time",
		               RESTORE_STEPS_MAX);
	s = tree_change_add(g->t, path, &before, &after);
	if (after.kind == THING_FILE)
		s->size = (int64_t)change->after->size;
	if (after.kind == THING_LINK)
		s->target = xstrdup(change->after->text);
	return 0;
}

static int copy_object(void *context, const char *hash, int fd, struct err *e)
{
	return object_copy(context, hash, fd, e);
}

/* ---- a choice of paths ---- */

static bool is_chosen(const cJSON *paths, const char *path)
{
	for (const cJSON *one = paths ? paths->child : NULL; one; one = one->next)
		if (cJSON_IsString(one) && manifest_is_within(path, one->valuestring))
			return true;
	return false;
}

/* The directories above a path that something new gets. */
static void choose_above(const struct tree_change *t, const char *path, bool *chosen)
{
	OWNED(str) struct str above = { 0 };
	char *slash;

	str_add(&above, path);
	while ((slash = strrchr(above.bytes, '/'))) {
		const struct tree_step *s;

		*slash = '\0';
		s = tree_change_step(t, above.bytes);
		if (s && s->before.kind != THING_DIRECTORY)
			chosen[s - t->steps] = true;
	}
}

static int keep_chosen(struct tree_change *t, const char *list, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *paths = cJSON_Parse(list);
	bool *chosen = xcalloc(t->count + 1, sizeof(*chosen));
	size_t kept = 0;

	for (size_t i = 0; i < t->count; i++) {
		const struct tree_step *s = &t->steps[i];

		if (!is_chosen(paths, s->path))
			continue;
		chosen[i] = true;
		if (s->after.kind != THING_NONE)
			choose_above(t, s->path, chosen);
	}
	for (size_t i = 0; i < t->count; i++) {
		if (chosen[i])
			t->steps[kept++] = t->steps[i];
		else
			tree_step_clear(&t->steps[i]);
	}
	t->count = kept;
	free(chosen);
	return cJSON_IsArray(paths) ? 0
	                            : err_set(e, ERR_INPUT, "the chosen paths are no JSON list");
}

int restore_plan(const struct objects *objects, const struct restore_order *order,
                 struct tree_change *t, struct err *e)
{
	OWNED(manifest) struct manifest from = { 0 };
	OWNED(manifest) struct manifest to = { 0 };
	struct gathering g = { .t = t, .e = e };

	t->source = (struct tree_source){ .copy = copy_object, .context = (void *)objects };
	if (manifest_open(objects, order->from_hash, &from, e) ||
	    manifest_open(objects, order->to_hash, &to, e) ||
	    manifest_compare(&from, &to, add_change, &g, e))
		return -1;
	return order->paths ? keep_chosen(t, order->paths, e) : 0;
}

struct restore_count restore_count(const struct tree_change *t)
{
	struct restore_count n = { 0 };

	for (size_t i = 0; i < t->count; i++) {
		n.deleted += t->steps[i].before.kind == THING_NONE;
		n.added += t->steps[i].after.kind == THING_NONE;
		n.modified +=
		    t->steps[i].before.kind != THING_NONE && t->steps[i].after.kind != THING_NONE;
	}
	return n;
}
