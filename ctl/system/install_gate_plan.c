/* What the files that hold hooks will contain. What others put there stays: an event's list loses
 * and gets nothing but our own handlers. */
#include "install.h"

#include "gate_hooks.h"
#include "json.h"

#include <string.h>

enum { FOR_READING = 0644 }; /* of a file for all users */

/* ---- JSON ---- */

/* Our hook for an event, NULL: we have none. */
static const struct gate_event_name *hook_for(const struct gate *g, const char *event)
{
	const struct gate_event_name *hook;

	for (int i = 0; (hook = gate_hook(g, i)); i++)
		if (strcmp(hook->name, event) == 0)
			return hook;
	return NULL;
}

/* Makes the list of an event what it shall be. */
static int plan_event(struct change *c, const struct gate *g, const struct gate_place *place,
                      const struct wish *w, const char *event, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *root = NULL, *wanted = NULL, *before = NULL;
	const char *const at[] = { "hooks", event, NULL };
	const struct gate_event_name *hook = w->remove ? NULL : hook_for(g, event);
	const cJSON *there;

	if (json_edit_parse(&c->after, c->file.path, &root, e) < 0)
		return -1;
	there = json_edit_find(root, at);
	if (there && !cJSON_IsArray(there))
		return err_set(e, ERR_INPUT,
		               "%s: \"hooks\", \"%s\" is not a list; correct it first",
		               c->file.path, event);
	wanted = there ? cJSON_Duplicate(there, 1) : cJSON_CreateArray();
	found_clean_event(g, place->shape, wanted);
	if (hook)
		(void)cJSON_AddItemToArray(wanted, gate_item(g, place->shape, w, hook));
	if (there ? cJSON_Compare(there, wanted, 1) : !wanted->child)
		return 0;
	(void)json_edit_parse(&c->kept.bytes, c->kept.path, &before, NULL);
	return wanted->child || json_edit_find(before, at)
	           ? json_edit_set(&c->after, c->file.path, at, wanted, e)
	           : plan_take_out(c, at, e);
}

/* Sets the constant members of a file, or removes those that it did not have before us. */
static int plan_root(struct change *c, const struct gate_place *place, bool remove, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *members = place->root ? cJSON_Parse(place->root) : NULL;
	const cJSON *one;

	cJSON_ArrayForEach (one, members) {
		OWNED(cJSON_ptr) cJSON *root = NULL, *before = NULL;
		const char *const at[] = { one->string, NULL };
		const cJSON *hooks;

		if (json_edit_parse(&c->after, c->file.path, &root, e) < 0)
			return -1;
		(void)json_edit_parse(&c->kept.bytes, c->kept.path, &before, NULL);
		hooks = cJSON_GetObjectItemCaseSensitive(root, "hooks");
		if (remove && json_edit_find(root, at) && !json_edit_find(before, at) &&
		    (!hooks ||
		     cJSON_Compare(hooks, cJSON_GetObjectItemCaseSensitive(before, "hooks"), 1))) {
			if (plan_take_out(c, at, e))
				return -1;
		} else if (!remove && !json_edit_find(root, at) &&
		           json_edit_set(&c->after, c->file.path, at, one, e)) {
			return -1;
		}
	}
	return 0;
}

/* The names of the events in the file and in our table, each once. */
static cJSON *all_events(const struct gate *g, const cJSON *root)
{
	cJSON *names = cJSON_CreateObject();
	const struct gate_event_name *hook;
	const cJSON *one;

	for (int i = 0; (hook = gate_hook(g, i)); i++)
		(void)cJSON_AddNullToObject(names, hook->name);
	cJSON_ArrayForEach (one, cJSON_GetObjectItemCaseSensitive(root, "hooks"))
		if (!cJSON_HasObjectItem(names, one->string) && cJSON_IsArray(one))
			(void)cJSON_AddNullToObject(names, one->string);
	return names;
}

/* Whether entries, or their settings, are in the same file of this user. */
static bool is_of_entries(const struct wish *w, const char *path)
{
	const struct host_file *const files[] = { &w->host->file, &w->host->settings };

	for (size_t i = 0; i < COUNT(files); i++) {
		OWNED(str) struct str other = { 0 };
		struct err e = { 0 };

		if (host_path(files[i], false, &other, &e) == 0 &&
		    strcmp(str_text(&other), path) == 0)
			return true;
	}
	return false;
}

/* A file with comments stays as it is; says what to do. */
static void leave_to_hand(struct change *c, const struct gate *g, const struct gate_place *place,
                          const struct wish *w)
{
	OWNED(cJSON_ptr) cJSON *hooks = cJSON_CreateObject();
	const struct gate_event_name *hook;
	char *text;

	str_addf(&c->by_hand, "%s has comments or trailing commas, so I do not change it. ",
	         c->file.path);
	if (w->remove) {
		str_addf(&c->by_hand, "Take out of \"hooks\" there what calls `hook %s`.\n",
		         g->host);
		return;
	}
	for (int i = 0; (hook = gate_hook(g, i)); i++)
		(void)cJSON_AddItemToArray(cJSON_AddArrayToObject(hooks, hook->name),
		                           gate_item(g, place->shape, w, hook));
	text = cJSON_Print(hooks);
	str_addf(&c->by_hand, "Put this there:\n\n\"hooks\": %s\n", text ? text : "");
	cJSON_free(text);
}

static int plan_json(struct change *c, const struct gate *g, const struct gate_place *place,
                     const struct wish *w, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *root = NULL, *events = NULL;
	int kind = json_edit_parse(&c->after, c->file.path, &root, e);
	const cJSON *one;
	bool had;

	if (kind < 0)
		return -1;
	had = found_hooks(g, place->shape, root);
	c->is_installed |= had;
	if (w->remove && !had)
		return 0;
	if (kind > 0) {
		leave_to_hand(c, g, place, w);
		return 0;
	}
	if (!w->remove && plan_root(c, place, false, e))
		return -1;
	events = all_events(g, root);
	cJSON_ArrayForEach (one, events)
		if (plan_event(c, g, place, w, one->string, e))
			return -1;
	if (!w->remove)
		return 0;
	if (plan_root(c, place, true, e))
		return -1;
	plan_give_back(c);
	return 0;
}

/* ---- files of our own ---- */

static int plan_own(struct change *c, const struct gate *g, const struct gate_place *place,
                    const struct wish *w, struct err *e)
{
	const char *mark = gate_mark(place->shape);
	bool ours = strncmp(str_text(&c->file.bytes), mark, strlen(mark)) == 0;

	if (c->file.exists && c->file.bytes.length > 0 && !ours) {
		if (w->remove)
			return 0;
		return err_set(e, ERR_INPUT,
		               "%s is not ours; move it away, install again, and put into our file "
		               "what you need of it",
		               c->file.path);
	}
	c->is_installed = ours;
	c->remove = w->remove && c->file.exists;
	if (w->remove)
		return 0;
	str_reset(&c->after);
	gate_text(g, place, w, &c->after);
	return 0;
}

/* ---- a gate ---- */

static int plan_beside(struct plan *p, const struct gate_place *place, const struct wish *w,
                       bool had, const char *path, struct err *e)
{
	OWNED(str) struct str other = { 0 };
	struct change *c;

	if (!place->setting[0].value)
		return 0;
	if (place->settings.name) {
		if (host_path(&place->settings, false, &other, e))
			return -1;
		path = str_text(&other);
	}
	c = plan_file(p, path, e);
	if (c) {
		c->keep |= !w->remove && !had;
		c->is_installed |= had;
	}
	if (c && w->remove && !had && !c->kept.exists)
		return 0; /* nothing there is ours */
	for (int i = 0; c && i < SETTINGS_MAX && place->setting[i].value; i++)
		if (plan_setting(c, &place->setting[i], w, e))
			return -1;
	return c ? 0 : -1;
}

int plan_gate(struct plan *p, const struct wish *w, struct err *e)
{
	const struct gate *g = gate_find(w->host->name);
	const struct gate_place *place;
	OWNED(str) struct str path = { 0 };
	struct change *c;

	if (!g)
		return 0;
	place = w->managed ? &g->system : &g->user;
	if (!gate_hooks_exist(g->host, w->managed))
		return err_set(e, ERR_INPUT,
		               "%s reads no hooks from a path of the system; install them for each "
		               "user with --gate",
		               w->host->title);
	if (gate_hooks_path(g->host, w->managed, w->root, &path, e))
		return -1;
	c = plan_file(p, str_text(&path), e);
	if (!c || (place->shape == GATE_GROUPS || place->shape == GATE_FLAT
	               ? plan_json(c, g, place, w, e)
	               : plan_own(c, g, place, w, e)))
		return -1;
	if (!c->file.exists)
		c->file.mode = w->managed ? FOR_READING : c->file.mode & 0700;
	if (!w->managed && is_of_entries(w, str_text(&path)) && plan_leaves_entry(p, w))
		c->is_shared = c->is_installed = true;
	return plan_beside(p, place, w, c->is_installed, str_text(&path), e);
}
