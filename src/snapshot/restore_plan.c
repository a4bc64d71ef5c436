#include "restore_plan.h"

#include "clock.h"
#include "ignored.h"
#include "json.h"
#include "manifest.h"
#include "pulse.h"
#include "regular.h"
#include "safe_path.h"

#include <stdlib.h>
#include <string.h>

enum { PATH_SHOWN = 300, LEFT_BYTES = 64 << 10 };

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
	struct ignored ignored; /* when the checkpoint was taken */
	struct str passed; /* the last path that was: what is below it is, too */
	const cJSON *paths; /* the choice; NULL: all */
	struct restore_left *left;
	int64_t until_ms; /* monotonic */
	struct err *e;
};

/* ---- a choice of paths ---- */

/* Whether a path is one of the list, or below it. */
static bool is_chosen(const cJSON *paths, const char *path)
{
	for (const cJSON *one = paths ? paths->child : NULL; one; one = one->next)
		if (cJSON_IsString(one) && manifest_is_within(path, one->valuestring))
			return true;
	return false;
}

/* Whether it concerns the choice: or above something of it. */
static bool concerns(const cJSON *paths, const char *path)
{
	if (!paths || is_chosen(paths, path))
		return true;
	for (const cJSON *one = paths->child; one; one = one->next)
		if (cJSON_IsString(one) && manifest_is_within(one->valuestring, path))
			return true;
	return false;
}

/* ---- what is left as it is ---- */

void restore_left_clear(struct restore_left *left)
{
	str_clear(&left->list);
	str_clear(&left->named);
	left->count = 0;
}

static void leave(struct gathering *g, const char *path, const char *when, const char *why)
{
	OWNED(str) struct str shown = { 0 };
	struct restore_left *left = g->left;

	if (!left || !concerns(g->paths, path))
		return;
	str_add_shown(&shown, path, strlen(path), PATH_SHOWN);
	if (left->list.length < LEFT_BYTES)
		str_addf(&left->list, "  %s: %s%s\n", str_text(&shown), when, why);
	if (left->count++ < RESTORE_NAMED)
		str_addf(&left->named, "%s%s (%s%s)", left->count > 1 ? ", " : "", str_text(&shown),
		         when, why);
}

/* What was not ignored when the workspace was read, but when the checkpoint was taken: it may have
 * been there. 1, 0, -1. */
static int is_left(struct gathering *g, const struct entry *entry)
{
	int was;

	if (g->passed.length > 0 && manifest_is_within(entry->path, g->passed.bytes))
		return 1;
	was = ignored_judge(&g->ignored, entry->path, entry->kind == ENTRY_DIR, g->e);
	if (was <= 0)
		return was;
	str_reset(&g->passed);
	str_add(&g->passed, entry->path);
	leave(g, entry->path, "", "was ignored when the checkpoint was taken");
	return 1;
}

/* All that a manifest left out; what both did, once. 0 or -1. */
static int add_left_out(struct gathering *g, const struct objects *o, const char *hash,
                        const char *other, struct err *e)
{
	OWNED(manifest) struct manifest m = { 0 }, first = { 0 };
	struct entry entry, same;
	int got = 0;

	if (manifest_open(o, hash, &m, e) || (other && manifest_open(o, other, &first, e)))
		return -1;
	while (m.sum.left_out > 0 && (got = manifest_next(&m, &entry, e)) > 0) {
		int known = 0;

		if (entry.kind != ENTRY_LEFT_OUT)
			continue;
		if (other)
			known = manifest_find(&first, entry.path, &same, e);
		if (known < 0)
			return -1;
		if (!known || same.kind != ENTRY_LEFT_OUT)
			leave(g, entry.path, other ? "left out of the checkpoint: it " : "now it ",
			      entry.text);
	}
	return got;
}

static int add_both(struct gathering *g, const struct objects *o, const char *from, const char *to,
                    struct err *e)
{
	return add_left_out(g, o, from, NULL, e) || add_left_out(g, o, to, from, e) ? -1 : 0;
}

/* ---- the steps ---- */

/* New content has neither set-id bit, as after a patch: no checkpoint says whose the file was, and
 * now it is ours. Content that stays keeps those that it has. Returns whether some go. */
static bool leave_set_id(const struct thing *before, struct thing *after)
{
	bool stays = before->kind == THING_FILE && strcmp(before->hash, after->hash) == 0;
	int kept = stays ? before->mode : 0, had = after->mode;

	if (after->kind == THING_FILE)
		after->mode &= ~((int)regular_set_id((mode_t)after->mode) & ~kept);
	return after->mode != had;
}

static int add_change(const struct manifest_change *change, void *arg)
{
	struct gathering *g = arg;
	struct thing before = thing_of(change->before), after = thing_of(change->after);
	const char *path = change->before ? change->before->path : change->after->path;
	bool leaves_set_id = leave_set_id(&before, &after);
	struct tree_step *s;

	pulse();
	if (clock_monotonic_ms() > g->until_ms)
		return err_set(g->e, ERR_INPUT,
		               "comparing takes more than %d s, at %.*s: restore some of them at a "
		               "time",
		               RESTORE_COMPARE_MS / 1000, PATH_SHOWN, path);
	if (safe_path_is_protected(path) || thing_is_same(&before, &after))
		return 0;
	if (!change->after) {
		int was;

		if (g->paths && !is_chosen(g->paths, path))
			return 0; /* it stays, whatever is chosen */
		was = is_left(g, change->before);
		if (was)
			return was < 0 ? -1 : 0;
	}
	if (g->t->count >= RESTORE_STEPS_MAX)
		return err_set(g->e, ERR_INPUT,
		               "more than %d paths differ: restore some of them at a time",
		               RESTORE_STEPS_MAX);
	s = tree_change_add(g->t, path, &before, &after);
	s->leaves_set_id = leaves_set_id;
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

/* ---- those that were chosen ---- */

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

static void keep_chosen(struct tree_change *t, const cJSON *paths)
{
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
}

static int compare(struct gathering *g, const struct objects *objects,
                   const struct restore_order *order)
{
	OWNED(manifest) struct manifest from = { 0 }, to = { 0 };
	struct err *e = g->e;

	if (manifest_open(objects, order->from_hash, &from, e) ||
	    manifest_open(objects, order->to_hash, &to, e) ||
	    ignored_open(&g->ignored, objects, order->to_hash, e) ||
	    manifest_compare(&from, &to, add_change, g, e))
		return -1;
	return g->left ? add_both(g, objects, order->from_hash, order->to_hash, e) : 0;
}

int restore_left_out(const struct objects *objects, const char *from_hash, const char *to_hash,
                     struct restore_left *left, struct err *e)
{
	struct gathering g = { .left = left, .e = e };

	return add_both(&g, objects, from_hash, to_hash, e);
}

int restore_plan(const struct objects *objects, const struct restore_order *order,
                 struct tree_change *t, struct restore_left *left, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *paths = order->paths ? cJSON_Parse(order->paths) : NULL;
	struct gathering g = { .t = t,
		               .paths = paths,
		               .left = left,
		               .until_ms = clock_monotonic_ms() + RESTORE_COMPARE_MS,
		               .e = e };
	int failed;

	if (order->paths && !cJSON_IsArray(paths))
		return err_set(e, ERR_INPUT, "the chosen paths are no JSON list");
	t->source = (struct tree_source){ .copy = copy_object, .context = (void *)objects };
	failed = compare(&g, objects, order);
	if (!failed && paths)
		keep_chosen(t, paths);
	ignored_clear(&g.ignored);
	str_clear(&g.passed);
	return failed;
}

/* Whether a manifest has a path, or has left out what it lies in. 1, 0, -1. */
static int is_known(struct manifest *m, const char *path, struct err *e)
{
	OWNED(str) struct str at = { 0 };
	struct entry entry;
	int got;
	char *slash;

	str_add(&at, path);
	got = manifest_find(m, at.bytes, &entry, e);
	while (got == 0 && (slash = strrchr(at.bytes, '/'))) {
		*slash = '\0';
		got = manifest_find(m, at.bytes, &entry, e);
		if (got > 0)
			return entry.kind == ENTRY_LEFT_OUT;
	}
	return got;
}

int restore_unknown(const struct objects *objects, const struct restore_order *order,
                    struct str *path, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *paths = order->paths ? cJSON_Parse(order->paths) : NULL;
	OWNED(manifest) struct manifest from = { 0 }, to = { 0 };

	if (!paths)
		return 0;
	if (manifest_open(objects, order->from_hash, &from, e) ||
	    manifest_open(objects, order->to_hash, &to, e))
		return -1;
	for (const cJSON *one = paths->child; one; one = one->next) {
		const char *text = cJSON_IsString(one) ? one->valuestring : "";
		int known = is_known(&to, text, e);

		if (known == 0)
			known = is_known(&from, text, e);
		if (known < 0)
			return -1;
		if (known == 0) {
			str_add(path, text);
			return 1;
		}
	}
	return 0;
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
