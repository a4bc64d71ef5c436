/* session-restore: an order to put a checkpoint back. What it would change is asked about. */
#include "desk.h"

#include "err.h"
#include "json.h"
#include "safe_path.h"
#include "sql/workspace_restore.h"

#include <stdio.h>
#include <string.h>

enum { ROOT_SHOWN = 300 };

/* Adds a path in its canonical form. It is only compared: also one that no agent could name. 1, 0
 * the person has been told. */
static int add_path(struct desk *d, const char *root, const char *path, size_t length, cJSON *paths)
{
	OWNED(str) struct str clean = { 0 };
	struct err why = { 0 };

	while (length > 1 && path[length - 1] == '/')
		length--;
	if (safe_path_clean_known(root, path, length, &clean, &why))
		return desk_tell(d, SAID_REFUSED, "%s", why.text);
	(void)cJSON_AddItemToArray(paths, cJSON_CreateString(str_text(&clean)));
	return 1;
}

/* The words of a line; with blanks inside, in quotes. 1, 0 the person has been told. */
static int add_words(struct desk *d, const char *root, const char *rest, cJSON *paths)
{
	int got = 1;

	while (got > 0) {
		OWNED(str) struct str word = { 0 };

		if (!verb_take(&rest, &word))
			break;
		got = add_path(d, root, str_text(&word), word.length, paths);
	}
	return got;
}

/* A list, as programs say them: an empty one is not all. 1, 0 the person has been told. */
static int add_list(struct desk *d, const char *root, const cJSON *list, cJSON *paths)
{
	const cJSON *one;
	int got = 1;

	if (!list)
		return 1;
	if (!cJSON_IsArray(list) || !list->child)
		return desk_tell(d, SAID_REFUSED,
		                 "paths must be a list of texts, at least one; without it all is "
		                 "put back");
	for (one = list->child; one && got > 0; one = one->next)
		got = cJSON_IsString(one)
		          ? add_path(d, root, one->valuestring, strlen(one->valuestring), paths)
		          : desk_tell(d, SAID_REFUSED, "paths must be a list of texts");
	return got;
}

/* The question may stand in another session than that of the checkpoint: restore_order. */
static int tell_ordered(struct desk *d, const struct held_row *c)
{
	const char *asked = json_text(d->out->json, "asked_in");
	OWNED(str) struct str where = { 0 };

	(void)snprintf(d->out->session_id, ID_BYTES, "%s", asked ? asked : "");
	if (!c->session_id) {
		const char *root = c->workspace_root ? c->workspace_root : "";

		str_add(&where, " of ");
		str_add_shown(&where, root, strlen(root), ROOT_SHOWN);
	} else {
		str_addf(&where, " of session %.*s", FIND_SHORT, c->session_id);
	}
	if (c->session_id && *d->out->session_id && strcmp(d->out->session_id, c->session_id) != 0)
		str_addf(&where, "; it is asked in session %.*s, which works there now", FIND_SHORT,
		         d->out->session_id);
	desk_add(d, "status", "ordered");
	return desk_tell(d, SAID_DONE,
	                 "Comparing the workspace with checkpoint %s%s; what would change is asked "
	                 "before anything is written.",
	                 c->label ? c->label : c->id, str_text(&where));
}

/* The checkpoint, and the paths that are chosen. 1, 0 the person has been told, -1. */
static int read_order(struct desk *d, struct held_row *c, cJSON *paths, struct err *e)
{
	const struct words *w = d->w;
	const char *line = verb_skip_blanks(w->line ? w->line : w->id ? w->id : "");
	const char *rest = line;
	OWNED(str) struct str word = { 0 };
	bool whole;
	int got;

	if (w->line)
		(void)verb_take(&rest, &word);
	else
		str_add(&word, line);
	if (word.length == 0)
		return desk_tell(d, SAID_UNCLEAR, "which checkpoint? `%s` lists them",
		                 d->who->place.channel ? "session-checkpoints" : "checkpoint list");
	got = desk_find_held(d, str_text(&word), line, w->session ? w->session : "", c, &whole, e);
	if (got <= 0 || (w->line && whole))
		return got;
	return w->line ? add_words(d, c->workspace_root, rest, paths)
	               : add_list(d, c->workspace_root, w->paths, paths);
}

int desk_restore(struct desk *d, struct err *e)
{
	OWNED(held_row) struct held_row c = { 0 };
	OWNED(cJSON_ptr) cJSON *argument = cJSON_CreateObject();
	cJSON *paths = cJSON_CreateArray();
	int got;

	(void)cJSON_AddItemToObject(argument, "paths", paths);
	got = read_order(d, &c, paths, e);
	if (got <= 0)
		return got;
	if (cJSON_GetArraySize(paths) == 0)
		cJSON_DeleteItemFromObject(argument, "paths");
	(void)cJSON_AddStringToObject(argument, "checkpoint", c.id);
	got = desk_give_json(d, "session-restore", c.session_id, argument, e);
	if (got <= 0)
		return got;
	return tell_ordered(d, &c);
}
