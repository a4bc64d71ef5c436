/* Looks into a workspace: list-files, show-file. They become orders; reader answers them. */
#include "desk.h"

#include "err.h"
#include "json.h"
#include "sql/file_look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES_NAMED = 5, NAME_SHOWN = 200 };

/* ---- the workspace ---- */

/* Several workspaces have live sessions: they are named. */
static int tell_places(struct desk *d, int count, const struct str *list)
{
	OWNED(str) struct str path = { 0 }, order = { 0 };

	desk_add_value(d, &path);
	str_addf(&order, "%s%s", d->w->verb->word, path.length ? " " : "");
	str_add_shown(&order, str_text(&path), path.length, NAME_SHOWN);
	return desk_tell(d, SAID_UNCLEAR,
	                 "%s workspaces could be meant; name a session, `%s --session <id>`:%s",
	                 count > PLACES_NAMED ? "many" : "several", order.bytes, str_text(list));
}

/* The session of the only workspace in which agents work here. 1, also if there is none (id is
 * then ""); 0 the person has been told that there are several; -1. */
static int find_only_place(struct desk *d, char id[ID_BYTES], struct err *e)
{
	OWNED(file_look_places_row) struct file_look_places_row row = { 0 };
	OWNED(str) struct str list = { 0 };
	int got, count = 0;

	id[0] = '\0';
	sql_file_look_places(d->st, d->who->place.channel, &row);
	while ((got = row_next(&row.row, e)) > 0) {
		if (count++ == 0)
			(void)snprintf(id, ID_BYTES, "%s", row.id);
		if (count <= PLACES_NAMED) {
			str_addf(&list, "\n  %.18s in ", row.id);
			str_add_shown(&list, row.workspace_root, strlen(row.workspace_root),
			              NAME_SHOWN);
		}
	}
	if (got < 0)
		return -1;
	return count > 1 ? tell_places(d, count, &list) : 1;
}

/* As above; id "": the rules say which workspace it is. */
static int find_place(struct desk *d, char id[ID_BYTES], struct err *e)
{
	OWNED(found) struct found f = { 0 };
	const char *session = d->w->id ? d->w->id : "";
	int got;

	id[0] = '\0';
	if (d->w->workspace && *d->w->workspace && !*session)
		return 1;
	if (!*session && !d->who->place.session_id)
		return find_only_place(d, id, e);
	got = desk_find_session(d, session, NULL, &f, e);
	if (got > 0)
		(void)snprintf(id, ID_BYTES, "%s", f.session_id);
	return got > 0 ? 1 : got;
}

/* ---- the order ---- */

/* A number, or the text as it is: then the rules refuse it. */
static void add_number(cJSON *o, const char *name, const char *text, size_t length)
{
	OWNED(str) struct str value = { 0 };

	str_add_bytes(&value, text, length);
	if (length > 0 && length < 10 && strspn(text, "0123456789") >= length)
		(void)cJSON_AddNumberToObject(o, name, (double)strtol(value.bytes, NULL, 10));
	else
		(void)cJSON_AddStringToObject(o, name, str_text(&value));
}

static void add_lines(cJSON *o, const char *lines)
{
	size_t first = strcspn(lines, ":-");

	add_number(o, "first", lines, first);
	add_number(o, "last", lines + first + (lines[first] != '\0'),
	           strlen(lines + first + (lines[first] != '\0')));
}

static int give(struct desk *d, const char *path, const char *session_id, struct err *e)
{
	const struct words *w = d->w;
	OWNED(cJSON_ptr) cJSON *argument = cJSON_CreateObject();

	json_put_given(argument, "path", path);
	if (w->depth && *w->depth)
		add_number(argument, "depth", w->depth, strlen(w->depth));
	if (w->lines && *w->lines)
		add_lines(argument, w->lines);
	if (!*session_id)
		json_put_given(argument, "workspace", w->workspace);
	json_put_given(argument, "channel", d->who->answer_channel);
	json_put_given(argument, "thread", d->who->answer_thread);
	return desk_give_json(d, w->verb->means[0], *session_id ? session_id : NULL, argument, e);
}

int desk_browse(struct desk *d, struct err *e)
{
	OWNED(str) struct str path = { 0 }, shown = { 0 };
	char session[ID_BYTES];
	int got;

	desk_add_value(d, &path);
	got = find_place(d, session, e);
	if (got > 0)
		got = give(d, str_text(&path), session, e);
	if (got <= 0)
		return got;
	(void)snprintf(d->out->session_id, ID_BYTES, "%s", session);
	desk_add(d, "status", "ordered");
	if (!path.length)
		str_add(&path, "the workspace");
	str_add_shown(&shown, path.bytes, path.length, 200);
	return desk_tell(d, SAID_DONE, "Looking at %s: the answer comes here in a moment.",
	                 str_text(&shown));
}
