/* Which checkpoint is meant; and diff: what has changed since. */
#include "desk.h"

#include "err.h"
#include "json.h"
#include "sql/checkpoint.h"
#include "sql/workspace_restore.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { SHOWN = 100 /* bytes of a label */, CANDIDATES = 5 };

static const char START[] = "start";

/* ---- which one ---- */

/* How to list them, where the person is. */
static const char *list_verb(const struct desk *d)
{
	return d->who->place.channel ? "session-checkpoints" : "checkpoint list";
}

/* That of the session began with. 1, 0 the person has been told, -1. */
static int find_begun(struct desk *d, const char *session_id, struct held_row *c, struct err *e)
{
	int got = sql_checkpoint_begun(d->st, session_id, c, e);

	if (got != 0)
		return got;
	return desk_tell(d, SAID_REFUSED,
	                 "no checkpoint was taken when session %.*s began (setting "
	                 "checkpoint.auto); `%s` lists those that there are",
	                 FIND_SHORT, session_id, list_verb(d));
}

/* The session of this place, or the one with this id. As above. */
static int find_of_place(struct desk *d, const char *id, struct held_row *c, struct err *e)
{
	OWNED(found) struct found f = { 0 };
	const char *own = d->who->place.session_id;
	int got;

	if (!*id && own)
		return find_begun(d, own, c, e);
	got = desk_find_session(d, id, NULL, &f, e);
	if (got == 0 && !*id && d->out->outcome == SAID_UNCLEAR && f.count == 0)
		return desk_tell(d, SAID_UNCLEAR,
		                 "no session is live here: name a checkpoint, its label or its "
		                 "session; `%s` lists them",
		                 list_verb(d));
	return got > 0 ? find_begun(d, f.session_id, c, e) : got;
}

/* The last one of a folder. As above. */
static int find_newest(struct desk *d, struct held_row *c, struct err *e)
{
	int got = sql_checkpoint_newest(d->st, d->w->workspace, c, e);

	if (got != 0)
		return got;
	return desk_tell(d, SAID_REFUSED, "there is no checkpoint of %.300s; `%s` lists all",
	                 d->w->workspace, list_verb(d));
}

static void add_place(struct str *list, const struct held_row *c)
{
	str_addf(list, "\n  %.*s of %.16sZ in ", FIND_SHORT, c->id, c->created_at);
	str_add_shown(list, c->workspace_root, strlen(c->workspace_root), SHOWN);
}

/* c is the first of those whose id begins with word: tells of them if it is not the only one. As
 * find_id, but 1: it is the only one. */
static int find_others(struct desk *d, const char *word, const struct held_row *c, struct err *e)
{
	OWNED(str) struct str list = { 0 };
	char after[ID_BYTES];
	int got = 1, count = 0;

	(void)snprintf(after, sizeof(after), "%s", c->id);
	add_place(&list, c);
	while (got > 0 && count <= CANDIDATES) {
		OWNED(held_row) struct held_row other = { 0 };

		got = sql_checkpoint_named(d->st, word, after, &other, e);
		if (got <= 0)
			break;
		if (++count < CANDIDATES)
			add_place(&list, &other);
		(void)snprintf(after, sizeof(after), "%s", other.id);
	}
	if (got < 0 || count == 0)
		return got < 0 ? -1 : 1;
	(void)desk_tell(d, SAID_UNCLEAR,
	                "several checkpoints have an id that begins with '%.40s':%s%s", word,
	                str_text(&list), count < CANDIDATES ? "" : "\n  ...");
	return -2;
}

/* By its id, or the one that a session with this id began with. 1, 0 none, -1; -2 the person has
 * been told. */
static int find_id(struct desk *d, const char *word, struct held_row *c, struct err *e)
{
	OWNED(found) struct found f = { 0 };
	int got;

	if (verb_id_length(word) != strlen(word) || !*word)
		return 0;
	got = sql_checkpoint_named(d->st, word, "", c, e);
	if (got < 0)
		return -1;
	if (got > 0)
		return find_others(d, word, c, e);
	got = find_any_sessions(d->st, word, &f, e);
	if (got != 1)
		return got < 0 ? -1 : 0;
	got = find_begun(d, f.session_id, c, e);
	return got == 0 ? -2 : got;
}

/* As find_id. session: NULL: of any. */
static int find_label(struct desk *d, const char *label, const char *session, struct held_row *c,
                      struct err *e)
{
	OWNED(held_row) struct held_row row = { 0 };
	OWNED(str) struct str list = { 0 };
	OWNED(char_ptr) char *first = NULL;
	int got, count = 0;

	sql_checkpoint_labelled(d->st, label, session, &row);
	while ((got = row_next(&row.row, e)) > 0) {
		if (count++ == 0)
			first = xstrdup(row.id);
		add_place(&list, &row);
	}
	if (got < 0 || count == 0)
		return got;
	if (count == 1)
		return sql_checkpoint_named(d->st, first, "", c, e);
	(void)desk_tell(d, SAID_UNCLEAR, "several checkpoints are called '%.100s'; take the id:%s",
	                label, str_text(&list));
	return -2;
}

static int find_called(struct desk *d, const char *label, struct held_row *c, struct err *e)
{
	const char *own = d->who->place.session_id;
	int got = own && *label ? find_label(d, label, own, c, e) : 0;

	return got || !*label ? got : find_label(d, label, NULL, c, e);
}

int desk_find_held(struct desk *d, const char *word, const char *line, const char *id,
                   struct held_row *c, bool *ret_whole, struct err *e)
{
	int got;

	*ret_whole = false;
	if (!*word && d->w->workspace && *d->w->workspace)
		return find_newest(d, c, e);
	if (!*word || strcasecmp(word, START) == 0)
		return find_of_place(d, id, c, e);
	got = find_id(d, word, c, e);
	if (got == 0 && strcmp(word, line) != 0) {
		got = find_called(d, line, c, e);
		*ret_whole = got > 0;
	}
	if (got == 0)
		got = find_called(d, word, c, e);
	if (got != 0)
		return got == -2 ? 0 : got;
	if (strcmp(d->w->verb->word, "session-restore") == 0 &&
	    desk_give(d, "session-restore", NULL, word, e) < 0)
		return -1;
	return desk_tell(d, SAID_REFUSED,
	                 "not found: no checkpoint has an id that begins with '%.40s', and none is "
	                 "called that; `%s` lists them",
	                 word, list_verb(d));
}

int operator_checkpoint(struct store *st, const struct speaker *who, const struct words *w,
                        struct said *out, char id[ID_BYTES], struct err *e)
{
	struct desk d = { .st = st, .who = who, .w = w, .out = out };
	OWNED(held_row) struct held_row c = { 0 };
	bool whole;
	int got = desk_find_held(&d, w->text, w->text, w->id ? w->id : "", &c, &whole, e);

	(void)snprintf(id, ID_BYTES, "%s", got > 0 ? c.id : "");
	return got;
}

/* ---- diff ---- */

/* The name may have blanks, in quotes or not. */
static void read_name(const struct desk *d, struct str *name)
{
	const char *line = verb_skip_blanks(d->w->line ? d->w->line : d->w->text ? d->w->text : "");
	const char *rest = line;

	if (d->w->line && verb_take(&rest, name) && !*rest)
		return;
	str_reset(name);
	str_add(name, line);
	while (name->length > 0 && strchr(" \t\r\n", name->bytes[name->length - 1]))
		name->bytes[--name->length] = '\0';
}

int desk_diff(struct desk *d, struct err *e)
{
	OWNED(held_row) struct held_row c = { 0 };
	OWNED(cJSON_ptr) cJSON *argument = cJSON_CreateObject();
	OWNED(str) struct str name = { 0 };
	const char *id = d->w->id ? d->w->id : "", *label;
	bool whole, began;
	int got;

	read_name(d, &name);
	got = desk_find_held(d, str_text(&name), str_text(&name), id, &c, &whole, e);
	if (got <= 0)
		return got;
	(void)cJSON_AddStringToObject(argument, "checkpoint", c.id);
	if (d->who->answer_channel)
		(void)cJSON_AddStringToObject(argument, "channel", d->who->answer_channel);
	if (d->who->answer_thread)
		(void)cJSON_AddStringToObject(argument, "thread", d->who->answer_thread);
	(void)snprintf(d->out->session_id, ID_BYTES, "%s", c.session_id ? c.session_id : "");
	got = desk_give_json(d, "diff", c.session_id, argument, e);
	if (got <= 0)
		return got;
	desk_add(d, "checkpoint_id", c.id);
	desk_add(d, "status", "ordered");
	began = !c.label && c.kind == CHECKPOINT_KIND_START;
	label = began ? "it was when the session began" : c.label ? c.label : c.id;
	return desk_tell(d, SAID_DONE, "Comparing %s with %s%s: the answer comes %s.",
	                 c.workspace_root, began ? "what " : "checkpoint ", label,
	                 d->who->answer_channel && c.session_id ? "in the thread of its session"
	                                                        : "here in a moment");
}
