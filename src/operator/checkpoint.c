/* Checkpoints: session-checkpoint, session-checkpoints. */
#include "desk.h"

#include "err.h"
#include "json.h"
#include "sql/checkpoint.h"

#include <stdio.h>
#include <string.h>

enum {
	LISTED = 20, /* in words */
	ROWS_MOST = 1000, /* in JSON */
	SURE_ID = 13, /* from this length on a word is an id, even of no session */
	LABEL_SHOWN = 100,
	ROOT_SHOWN = 200,
};

/* The word at the beginning of a line if it is the id of a session, live or ended: otherwise it is
 * the label's. 1, 0, -1. */
static int take_id(struct desk *d, const char **line, char id[ID_BYTES], struct err *e)
{
	OWNED(found) struct found f = { 0 };
	size_t n = verb_id_length(*line);
	int count;

	id[0] = '\0';
	if (!n)
		return 0;
	(void)snprintf(id, ID_BYTES, "%.*s", (int)n, *line);
	count = find_any_sessions(d->st, id, &f, e);
	if (count < 0)
		return -1;
	if (count == 0 && n < SURE_ID) {
		id[0] = '\0';
		return 0;
	}
	*line = verb_skip_blanks(*line + n);
	return 1;
}

/* Of a folder: no session is needed. */
static int of_workspace(struct desk *d, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *argument = cJSON_CreateObject();
	int got;

	(void)cJSON_AddStringToObject(argument, "workspace", d->w->workspace);
	json_put_given(argument, "label", d->w->text);
	got = desk_give_json(d, "session-checkpoint", NULL, argument, e);
	if (got <= 0)
		return got;
	desk_add(d, "status", "ordered");
	return desk_tell(d, SAID_DONE, "Taking a checkpoint of %s.", d->w->workspace);
}

int desk_checkpoint(struct desk *d, struct err *e)
{
	const struct words *w = d->w;
	const char *label = w->line ? verb_skip_blanks(w->line) : w->text;
	OWNED(found) struct found f = { 0 };
	char id[ID_BYTES];
	int got;

	if (w->workspace && *w->workspace)
		return of_workspace(d, e);
	(void)snprintf(id, sizeof(id), "%s", w->id ? w->id : "");
	if (w->line && take_id(d, &label, id, e) < 0)
		return -1;
	got = desk_find_session(d, id, label, &f, e);
	if (got <= 0)
		return got;
	(void)snprintf(d->out->session_id, ID_BYTES, "%s", f.session_id);
	got = desk_give(d, "session-checkpoint", f.session_id, label && *label ? label : NULL, e);
	if (got <= 0)
		return got;
	desk_add(d, "session_id", f.session_id);
	desk_add(d, "status", "ordered");
	return desk_tell(d, SAID_DONE, "Taking a checkpoint of session %s.", str_text(&f.name));
}

/* ---- the list ---- */

static const char *why_taken(enum checkpoint_kind kind)
{
	switch (kind) {
	case CHECKPOINT_KIND_START:
		return "as the session began";
	case CHECKPOINT_KIND_APPLY:
		return "before a critical change";
	case CHECKPOINT_KIND_RESTORE:
		return "before a restore";
	case CHECKPOINT_KIND_ORDERED:
	case CHECKPOINT_KIND_DIFF:
	case CHECKPOINT_KIND_NONE:
		break;
	}
	return "ordered";
}

/* A line of the list. In Slack, what it says beside is for a narrow screen: the time is shown as
 * that of the reader. mixed: the list has several workspaces. */
static void add_words(struct str *out, const struct checkpoint_row *c, bool in_slack, bool mixed)
{
	if (in_slack)
		str_addf(out, "`%.*s`  %s  ", FIND_SHORT, c->id, c->created_at);
	else
		str_addf(out, "%.*s  %.16sZ  ", FIND_SHORT, c->id, c->created_at);
	if (c->label && c->kind == CHECKPOINT_KIND_ORDERED) {
		str_add_char(out, '*');
		str_add_shown(out, c->label, strlen(c->label), LABEL_SHOWN);
		str_add_char(out, '*');
	} else {
		str_add(out, why_taken(c->kind));
	}
	if (c->state == CHECKPOINT_STATE_DONE)
		str_addf(out, "  %lld file%s, %lld bytes", (long long)c->files,
		         c->files == 1 ? "" : "s", (long long)c->bytes);
	else
		str_addf(out, "  %s", checkpoint_state_name(c->state));
	if (c->state == CHECKPOINT_STATE_DONE && !in_slack)
		str_addf(out, "; %lld more on disk", (long long)c->added_bytes);
	if (c->why) {
		str_add(out, ": ");
		str_add_shown(out, c->why, strlen(c->why), LABEL_SHOWN);
	}
	if (mixed) {
		str_add(out, "  in ");
		str_add_shown(out, c->workspace_root, strlen(c->workspace_root), ROOT_SHOWN);
	}
	str_add_char(out, '\n');
}

static cJSON *json_of(const struct checkpoint_row *c)
{
	cJSON *o = cJSON_CreateObject();

	json_put_text(o, "checkpoint_id", c->id);
	json_put_text(o, "session_id", c->session_id);
	json_put_text(o, "label", c->label);
	json_put_text(o, "kind", checkpoint_kind_name(c->kind));
	json_put_text(o, "state", checkpoint_state_name(c->state));
	json_put_text(o, "workspace_root", c->workspace_root);
	json_put_text(o, "created_at", c->created_at);
	json_put_text(o, "why", c->why);
	if (c->has_files) {
		(void)cJSON_AddNumberToObject(o, "files", (double)c->files);
		(void)cJSON_AddNumberToObject(o, "bytes", (double)c->bytes);
		(void)cJSON_AddNumberToObject(o, "added_bytes", (double)c->added_bytes);
		(void)cJSON_AddNumberToObject(o, "left_out", (double)c->left_out);
	}
	return o;
}

int desk_find_any_session(struct desk *d, const char *id, char session[ID_BYTES], struct err *e)
{
	OWNED(found) struct found f = { 0 };
	int count = find_any_sessions(d->st, id, &f, e);

	if (count < 0)
		return -1;
	(void)snprintf(session, ID_BYTES, "%s", f.session_id);
	if (count == 1)
		return 1;
	return desk_tell(d, SAID_UNCLEAR, "%s an id that begins with '%.40s'%s%s",
	                 count ? "several sessions have" : "no session has", id, count ? ":" : "",
	                 str_text(&f.list));
}

/* The session that is meant, "": all of them. 1, 0 the person has been told, -1. */
static int find_whose(struct desk *d, char session[ID_BYTES], struct err *e)
{
	const char *line = d->w->line ? verb_skip_blanks(d->w->line) : d->w->id;
	const char *own = d->who->place.session_id;

	(void)snprintf(session, ID_BYTES, "%s", own ? own : "");
	return line && *line ? desk_find_any_session(d, line, session, e) : 1;
}

static void list(struct desk *d, const char *session, int most, struct checkpoint_row *c)
{
	const char *root = d->w->workspace;

	sql_checkpoint_list(d->st, *session ? session : NULL, root && *root ? root : NULL, most, c);
}

/* Whether the first ones are of several workspaces: 1, 0, -1. */
static int is_mixed(struct desk *d, const char *session, int most, struct err *e)
{
	OWNED(checkpoint_row) struct checkpoint_row c = { 0 };
	OWNED(char_ptr) char *first = NULL;
	bool mixed = false;
	int got;

	list(d, session, most, &c);
	while ((got = row_next(&c.row, e)) > 0) {
		if (!first)
			first = xstrdup(c.workspace_root);
		mixed = mixed || strcmp(first, c.workspace_root) != 0;
	}
	return got < 0 ? -1 : mixed;
}

int desk_list_checkpoints(struct desk *d, struct err *e)
{
	OWNED(checkpoint_row) struct checkpoint_row c = { 0 };
	char session[ID_BYTES];
	int got = find_whose(d, session, e), count = 0, mixed;
	bool in_slack = d->who->place.channel != NULL;
	int most = d->w->most > 0 && d->w->most < ROWS_MOST ? (int)d->w->most
	           : d->w->most > 0                         ? ROWS_MOST
	                                                    : LISTED;
	cJSON *all;

	if (got <= 0)
		return got;
	d->out->json = cJSON_CreateObject();
	all = cJSON_AddArrayToObject(d->out->json, "checkpoints");
	mixed = is_mixed(d, session, most, e);
	if (mixed < 0)
		return -1;
	list(d, session, ROWS_MOST, &c);
	while ((got = row_next(&c.row, e)) > 0) {
		if (d->w->most == 0 || count < most)
			(void)cJSON_AddItemToArray(all, json_of(&c));
		if (count++ < most)
			add_words(&d->out->text, &c, in_slack, mixed > 0);
	}
	if (count == 0)
		str_add(&d->out->text, "there are no checkpoints");
	else if (count > most)
		str_addf(
		    &d->out->text, "... and %s%d more: %s", count == ROWS_MOST ? "at least " : "",
		    count - most,
		    in_slack
		        ? "`session-checkpoints <session>` lists those of one session; all: "
		          "`agent-intercom-ctl checkpoint list -n 0`"
		        : "`checkpoint list -n 0` lists all, --session ID those of one session");
	if (count > 0 && in_slack)
		str_addf(&d->out->text,
		         "%s`diff <checkpoint>` shows what has changed since then, "
		         "`session-restore <checkpoint>` puts it back after it has asked.",
		         count > most ? "\n" : "");
	return got < 0 ? -1 : 0;
}
