/* What of ours is in a file: entries and hooks. */
#include "install.h"

#include "gate_hooks.h"
#include "json.h"
#include "toml_edit.h"

#include <string.h>

/* ---- hooks ---- */

static bool is_ours(const struct gate *g, const cJSON *handler)
{
	const char *command = cJSON_GetStringValue(json_get(handler, g->command));

	return command && gate_hooks_are_ours(g->host, command);
}

/* Takes our handlers out of a list of them. */
static void clean_handlers(const struct gate *g, cJSON *list)
{
	cJSON *one = list ? list->child : NULL;

	while (one) {
		cJSON *next = one->next;

		if (is_ours(g, one))
			cJSON_Delete(cJSON_DetachItemViaPointer(list, one));
		one = next;
	}
}

void found_clean_event(const struct gate *g, enum gate_shape shape, cJSON *list)
{
	cJSON *group = list ? list->child : NULL;

	if (shape != GATE_GROUPS) {
		clean_handlers(g, list);
		return;
	}
	while (group) {
		cJSON *next = group->next,
		      *handlers = cJSON_GetObjectItemCaseSensitive(group, "hooks");
		bool had_any = handlers && handlers->child;

		clean_handlers(g, handlers);
		if (had_any && !handlers->child)
			cJSON_Delete(cJSON_DetachItemViaPointer(list, group));
		group = next;
	}
}

bool found_hooks(const struct gate *g, enum gate_shape shape, const cJSON *root)
{
	OWNED(cJSON_ptr)
	cJSON *hooks = cJSON_Duplicate(json_get(root, "hooks"), 1);
	const cJSON *there = json_get(root, "hooks");
	cJSON *one;

	cJSON_ArrayForEach (one, hooks)
		found_clean_event(g, shape, one);
	return there && !cJSON_Compare(there, hooks, 1);
}

bool found_our_hooks(const struct change *c, const struct wish *w)
{
	const struct gate *g = gate_find(w->host->name);
	OWNED(cJSON_ptr) cJSON *root = NULL;
	struct err e = { 0 };

	return g && (g->user.shape == GATE_GROUPS || g->user.shape == GATE_FLAT) &&
	       json_edit_parse(&c->file.bytes, c->file.path, &root, &e) >= 0 &&
	       found_hooks(g, g->user.shape, root);
}

/* ---- entries ---- */

int found_entries(const struct str *text, const char *path, const struct wish *w, int *ret_others)
{
	OWNED(cJSON_ptr) cJSON *root = NULL;
	const char *const place[] = { w->host->servers, NULL };
	const cJSON *one;
	struct err e = { 0 };
	int count = 0;

	*ret_others = 0;
	if (w->host->toml)
		root = toml_edit_parse(text, path, &e);
	else if (json_edit_parse(text, path, &root, &e) < 0)
		return 0;
	cJSON_ArrayForEach (one, json_edit_find(root, place)) {
		bool ours = cJSON_IsObject(one) && host_entry_is_ours(one);

		count += ours;
		*ret_others += ours && strcmp(one->string, w->name) != 0;
	}
	return count;
}
