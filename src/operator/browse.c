/* Looks into a workspace: list-files, show-file. They become orders; reader answers them. */
#include "desk.h"

#include "err.h"
#include "json.h"
#include "sql/file_look.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VALUE_BYTES = 600, PLACES_NAMED = 5 };

/* What was requested; "": not given. */
struct browse {
	struct str path;
	char depth[VALUE_BYTES], lines[VALUE_BYTES], session[VALUE_BYTES], workspace[VALUE_BYTES];
};

static void browse_clear(struct browse *b)
{
	str_clear(&b->path);
}

/* ---- words ---- */

/* Removes blanks and a pair of quotes around it, those of phones too. */
static void trim(struct str *path)
{
	static const char *const QUOTES[][2] = { { "\"", "\"" },
		                                 { "'", "'" },
		                                 { "`", "`" },
		                                 { "\xE2\x80\x9C", "\xE2\x80\x9D" },
		                                 { "\xE2\x80\x98", "\xE2\x80\x99" } };

	while (path->length && isspace((unsigned char)path->bytes[path->length - 1]))
		path->bytes[--path->length] = '\0';
	for (size_t i = 0; path->length && i < COUNT(QUOTES); i++) {
		size_t open = strlen(QUOTES[i][0]), close = strlen(QUOTES[i][1]);
		size_t inside = path->length - open - close;

		if (path->length < open + close || strncmp(path->bytes, QUOTES[i][0], open) != 0 ||
		    strcmp(path->bytes + open + inside, QUOTES[i][1]) != 0)
			continue;
		memmove(path->bytes, path->bytes + open, inside);
		path->length = inside;
		path->bytes[inside] = '\0';
		return;
	}
}

static void set(char value[VALUE_BYTES], const char *text)
{
	(void)snprintf(value, VALUE_BYTES, "%s", text ? text : "");
}

static void read_words(const struct words *w, struct browse *b)
{
	str_add(&b->path, w->line ? verb_skip_blanks(w->line) : w->text ? w->text : "");
	if (w->line)
		trim(&b->path);
	set(b->depth, w->depth);
	set(b->lines, w->lines);
	set(b->session, w->id);
	set(b->workspace, w->workspace);
}

/* ---- the workspace ---- */

/* Several workspaces have live sessions: they are named. */
static int tell_places(struct desk *d, int count, const struct str *list)
{
	return desk_tell(
	    d, SAID_UNCLEAR, "%s workspaces could be meant; name a session, `%s --session <id>`:%s",
	    count > PLACES_NAMED ? "many" : "several", d->w->verb->word, str_text(list));
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
			str_add_shown(&list, row.workspace_root, strlen(row.workspace_root), 200);
		}
	}
	if (got < 0)
		return -1;
	return count > 1 ? tell_places(d, count, &list) : 1;
}

/* As above; id "": the rules say which workspace it is. */
static int find_place(struct desk *d, const struct browse *b, char id[ID_BYTES], struct err *e)
{
	OWNED(found) struct found f = { 0 };
	int got;

	id[0] = '\0';
	if (*b->workspace && !*b->session)
		return 1;
	if (!*b->session && !d->who->place.session_id)
		return find_only_place(d, id, e);
	got = desk_find_session(d, b->session, NULL, &f, e);
	if (got > 0)
		(void)snprintf(id, ID_BYTES, "%s", f.session_id);
	return got > 0 ? 1 : got;
}

/* ---- the order ---- */

/* A number, or the text as it is: then the rules refuse it. */
static void add_number(cJSON *o, const char *name, const char *text, size_t length)
{
	char copy[VALUE_BYTES];
	bool is_number = length > 0 && length < 10 && strspn(text, "0123456789") >= length;

	(void)snprintf(copy, sizeof(copy), "%.*s", (int)length, text);
	if (is_number)
		(void)cJSON_AddNumberToObject(o, name, (double)strtol(copy, NULL, 10));
	else
		(void)cJSON_AddStringToObject(o, name, copy);
}

static void add_lines(cJSON *o, const char *lines)
{
	size_t first = strcspn(lines, ":-");

	add_number(o, "first", lines, first);
	add_number(o, "last", lines + first + (lines[first] != '\0'),
	           strlen(lines + first + (lines[first] != '\0')));
}

static int give(struct desk *d, const struct browse *b, const char *session_id, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *argument = cJSON_CreateObject();

	json_put_given(argument, "path", str_text(&b->path));
	if (*b->depth)
		add_number(argument, "depth", b->depth, strlen(b->depth));
	if (*b->lines)
		add_lines(argument, b->lines);
	if (!*session_id)
		json_put_given(argument, "workspace", b->workspace);
	json_put_given(argument, "channel", d->who->answer_channel);
	json_put_given(argument, "thread", d->who->answer_thread);
	return desk_give_json(d, d->w->verb->means[0], *session_id ? session_id : NULL, argument,
	                      e);
}

int desk_browse(struct desk *d, struct err *e)
{
	OWNED(browse) struct browse b = { .depth = "" };
	OWNED(str) struct str shown = { 0 };
	char session[ID_BYTES];
	int got;

	read_words(d->w, &b);
	got = find_place(d, &b, session, e);
	if (got > 0)
		got = give(d, &b, session, e);
	if (got <= 0)
		return got;
	(void)snprintf(d->out->session_id, ID_BYTES, "%s", session);
	desk_add(d, "status", "ordered");
	str_add_shown(&shown, b.path.length ? b.path.bytes : "the workspace",
	              b.path.length ? b.path.length : strlen("the workspace"), 200);
	return desk_tell(d, SAID_DONE, "Looking at %s: the answer comes here in a moment.",
	                 str_text(&shown));
}
