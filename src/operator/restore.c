/* session-restore: an order to put a checkpoint back. What it would change is asked about. */
#include "desk.h"

#include "err.h"
#include "json.h"
#include "safe_path.h"
#include "sql/workspace_restore.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOT_SHOWN = 300 };

/* The checkpoint that text names or begins to name. 1, 0 the person has been told, -1. */
static int find_checkpoint(struct desk *d, const char *text, size_t length,
                           struct checkpoint_named_row *row, struct err *e)
{
	OWNED(checkpoint_named_row) struct checkpoint_named_row other = { 0 };
	OWNED(str) struct str id = { 0 };
	int got, more;

	str_add_bytes(&id, text, length);
	if (id.length == 0)
		return desk_tell(d, SAID_UNCLEAR,
		                 "which checkpoint? `session-checkpoints` lists them");
	got = sql_checkpoint_named(d->st, str_text(&id), "", row, e);
	if (got < 0)
		return -1;
	if (got == 0)
		return desk_give(d, "session-restore", NULL, str_text(&id), e) < 0
		           ? -1
		           : desk_tell(
		                 d, SAID_REFUSED,
		                 "not found: no checkpoint has an id that begins with '%.40s'",
		                 str_text(&id));
	more = sql_checkpoint_named(d->st, str_text(&id), row->id, &other, e);
	if (more > 0)
		return desk_tell(
		    d, SAID_UNCLEAR,
		    "several checkpoints have an id that begins with '%.40s'; give more "
		    "of it",
		    str_text(&id));
	return more < 0 ? -1 : 1;
}

/* Adds a path in its canonical form. 1, 0 the person has been told. */
static int add_path(struct desk *d, const char *root, const char *path, size_t length, cJSON *paths)
{
	OWNED(str) struct str clean = { 0 };
	struct err why = { 0 };

	while (length > 1 && path[length - 1] == '/')
		length--;
	if (safe_path_clean(root, path, length, &clean, &why))
		return desk_tell(d, SAID_REFUSED, "%s", why.text);
	(void)cJSON_AddItemToArray(paths, cJSON_CreateString(str_text(&clean)));
	return 1;
}

/* Splits the rest at these bytes. 1, 0 the person has been told. */
static int add_paths(struct desk *d, const char *root, const char *rest, const char *at,
                     cJSON *paths)
{
	int got = 1;

	while (got > 0 && *(rest += strspn(rest, at))) {
		size_t n = strcspn(rest, at);

		got = add_path(d, root, rest, n, paths);
		rest += n;
	}
	return got;
}

/* The question may stand in another session than that of the checkpoint: restore_order. */
static int tell_ordered(struct desk *d, const struct checkpoint_named_row *c)
{
	const char *asked = json_text(d->out->json, "asked_in");
	OWNED(str) struct str where = { 0 };

	(void)snprintf(d->out->session_id, ID_BYTES, "%s", asked ? asked : "");
	if (!c->session_id)
		str_add(&where, " of ");
	if (!c->session_id)
		str_add_shown(&where, c->workspace_root, strlen(c->workspace_root), ROOT_SHOWN);
	else if (asked && strcmp(asked, c->session_id) != 0)
		str_addf(&where, "; it is asked in session %.*s, which works there now", FIND_SHORT,
		         asked);
	desk_add(d, "status", "ordered");
	return desk_tell(d, SAID_DONE,
	                 "Comparing the workspace with checkpoint %s%s; what would change is asked "
	                 "before anything is written.",
	                 c->label ? c->label : c->id, str_text(&where));
}

int desk_restore(struct desk *d, struct err *e)
{
	static const char BLANKS[] = " \t\r\n";
	const struct words *w = d->w;
	const char *line = verb_skip_blanks(w->line ? w->line : w->id ? w->id : "");
	const char *rest = w->line ? line + strcspn(line, BLANKS) : w->text ? w->text : "";
	OWNED(checkpoint_named_row) struct checkpoint_named_row c = { 0 };
	OWNED(cJSON_ptr) cJSON *argument = cJSON_CreateObject();
	cJSON *paths = cJSON_CreateArray();
	int got = find_checkpoint(d, line, strcspn(line, BLANKS), &c, e);

	(void)cJSON_AddItemToObject(argument, "paths", paths);
	if (got <= 0)
		return got;
	if (!add_paths(d, c.workspace_root, rest, w->line ? BLANKS : "\n", paths))
		return 0;
	if (cJSON_GetArraySize(paths) == 0)
		cJSON_DeleteItemFromObject(argument, "paths");
	(void)cJSON_AddStringToObject(argument, "checkpoint", c.id);
	got = desk_give_json(d, "session-restore", c.session_id, argument, e);
	if (got <= 0)
		return got;
	return tell_ordered(d, &c);
}
