/* Which checkpoint is meant; and diff: what has changed since. */
#include "desk.h"

#include "err.h"
#include "json.h"
#include "sql/checkpoint.h"
#include "sql/workspace_restore.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { SHOWN = 100 /* bytes of a label */, ROOT_SHOWN = 300, CANDIDATES = 5 };

static const char START[] = "start";

/* ---- which one ---- */

/* How to list them, where the person is. */
static const char *list_verb(const struct desk *d)
{
	return d->who->place.channel ? "session-checkpoints" : "checkpoint list";
}

/* There is none of how the session began. 0 or -1. */
static int tell_unbegun(struct desk *d, const char *session_id, struct err *e)
{
	OWNED(checkpoint_unbegun_row) struct checkpoint_unbegun_row row = { 0 };
	int got = sql_checkpoint_unbegun(d->st, session_id, &row, e);

	if (got < 0)
		return -1;
	if (got > 0 && row.why)
		return desk_tell(d, SAID_REFUSED,
		                 "the checkpoint of how session %.*s began could not be taken, or "
		                 "is lost: %.400s; `%s` lists the existing ones",
		                 FIND_SHORT, session_id, row.why, list_verb(d));
	if (got > 0)
		return desk_tell(d, SAID_REFUSED,
		                 "the checkpoint of how session %.*s began is being taken; try "
		                 "again when it is done",
		                 FIND_SHORT, session_id);
	return desk_tell(d, SAID_REFUSED,
	                 "no checkpoint was taken when session %.*s began (setting "
	                 "checkpoint.auto); `%s` lists the existing ones",
	                 FIND_SHORT, session_id, list_verb(d));
}

/* That of how the session began. 1, 0 the person has been told, -1. */
static int find_begun(struct desk *d, const char *session_id, struct held_row *c, struct err *e)
{
	int got = sql_checkpoint_begun(d->st, session_id, c, e);

	return got != 0 ? got : tell_unbegun(d, session_id, e);
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
		return desk_tell(d, SAID_UNCLEAR, "no session is live%s; `%s` lists them",
		                 d->who->place.channel
		                     ? " here: name a checkpoint, its label or its session"
		                     : ": name a checkpoint, its label, its session (--session "
		                       "ID) or its folder (--workspace DIR)",
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

/* ---- of which session, of which folder ---- */

/* Whose checkpoint it must be. */
struct limits {
	char session[ID_BYTES]; /* "": any */
	const char *root; /* NULL: any */
};

/* 1, 0 the person has been told, -1. */
static int read_limits(struct desk *d, const char *id, struct limits *l, struct err *e)
{
	const char *root = d->w->workspace;

	l->root = root && *root ? root : NULL;
	return *id ? desk_find_any_session(d, id, l->session, e) : 1;
}

static bool fits(const struct limits *l, const struct held_row *c)
{
	if (*l->session && (!c->session_id || strcmp(c->session_id, l->session) != 0))
		return false;
	return !l->root || (c->workspace_root && strcmp(c->workspace_root, l->root) == 0);
}

/* Both are named: what was meant, and what it is. Returns 0. */
static int tell_contradiction(struct desk *d, const struct limits *l, const struct held_row *c)
{
	OWNED(str) struct str root = { 0 };
	const char *is = c->workspace_root ? c->workspace_root : "";
	const char *of = l->root ? l->root : l->session;
	int length = l->root ? ROOT_SHOWN : FIND_SHORT;

	str_add_shown(&root, is, strlen(is), ROOT_SHOWN);
	if (*l->session && c->session_id)
		return desk_tell(d, SAID_REFUSED, "checkpoint %.*s is of session %.*s, not of %.*s",
		                 FIND_SHORT, c->id, FIND_SHORT, c->session_id, FIND_SHORT,
		                 l->session);
	return desk_tell(d, SAID_REFUSED, "checkpoint %.*s is of %s, not of %s%.*s", FIND_SHORT,
	                 c->id, str_text(&root), l->root ? "" : "session ", length, of);
}

/* ---- by id, by label ---- */

/* Those whose id begins with a word. */
struct candidates {
	int count; /* of those that fit */
	char first[ID_BYTES], other[ID_BYTES]; /* the first that fits, that does not; "": none */
	struct str list;
};

static void candidates_clear(struct candidates *s)
{
	str_clear(&s->list);
}

static int find_candidates(struct desk *d, const char *word, const struct limits *l,
                           struct candidates *s, struct err *e)
{
	char after[ID_BYTES] = "";
	int got = 1;

	while (got > 0 && s->count <= CANDIDATES) {
		OWNED(held_row) struct held_row c = { 0 };

		got = sql_checkpoint_named(d->st, word, after, &c, e);
		if (got <= 0)
			break;
		(void)snprintf(after, sizeof(after), "%s", c.id);
		if (!fits(l, &c)) {
			if (!*s->other)
				(void)snprintf(s->other, sizeof(s->other), "%s", c.id);
			continue;
		}
		if (s->count++ == 0)
			(void)snprintf(s->first, sizeof(s->first), "%s", c.id);
		if (s->count <= CANDIDATES)
			add_place(&s->list, &c);
	}
	return got < 0 ? -1 : 0;
}

/* A session whose id begins so, too, was perhaps meant. 0 or -1. */
static int add_session(struct desk *d, const char *word, struct str *list, struct err *e)
{
	OWNED(found) struct found f = { 0 };
	int count = d->who->place.channel ? 0 : find_any_sessions(d->st, word, &f, e);

	if (count == 1)
		str_addf(list, "\n  as session %.*s began: start --session %.*s", FIND_SHORT,
		         f.session_id, FIND_SHORT, f.session_id);
	return count < 0 ? -1 : 0;
}

/* The only one that fits, or why there is none. As find_id. */
static int take_candidate(struct desk *d, const char *word, const struct limits *l,
                          struct candidates *s, struct held_row *c, struct err *e)
{
	OWNED(held_row) struct held_row other = { 0 };

	if (s->count == 1)
		return sql_checkpoint_named(d->st, s->first, "", c, e);
	if (s->count > CANDIDATES)
		str_add(&s->list, "\n  ...");
	if (s->count > 1 && add_session(d, word, &s->list, e))
		return -1;
	if (s->count > 1)
		(void)desk_tell(d, SAID_UNCLEAR,
		                "several checkpoints have an id that begins with '%.40s':%s", word,
		                str_text(&s->list));
	else if (sql_checkpoint_named(d->st, s->other, "", &other, e) <= 0)
		return -1;
	else
		(void)tell_contradiction(d, l, &other);
	return -2;
}

/* By its id, or the one that a session with this id began with. 1, 0 none, -1; -2 the person has
 * been told. */
static int find_id(struct desk *d, const char *word, const struct limits *l, struct held_row *c,
                   struct err *e)
{
	OWNED(candidates) struct candidates s = { 0 };
	OWNED(found) struct found f = { 0 };
	int got;

	if (verb_id_length(word) != strlen(word) || !*word)
		return 0;
	if (find_candidates(d, word, l, &s, e))
		return -1;
	if (s.count > 0 || *s.other)
		return take_candidate(d, word, l, &s, c, e);
	got = find_any_sessions(d->st, word, &f, e);
	if (got != 1)
		return got < 0 ? -1 : 0;
	got = find_begun(d, f.session_id, c, e);
	return got == 0 ? -2 : got;
}

/* As find_id. session, root: NULL: of any. */
static int find_label(struct desk *d, const char *label, const char *session, const char *root,
                      struct held_row *c, struct err *e)
{
	OWNED(held_row) struct held_row row = { 0 };
	OWNED(str) struct str list = { 0 };
	OWNED(char_ptr) char *first = NULL;
	int got, count = 0;

	sql_checkpoint_labelled(d->st, label, session, root, &row);
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

/* Of the session or folder that was named, or of this place, before any other. */
static int find_called(struct desk *d, const char *label, const struct limits *l,
                       struct held_row *c, struct err *e)
{
	const char *own = *l->session ? l->session : l->root ? NULL : d->who->place.session_id;
	int got = 0;

	if (!*label)
		return 0;
	if (own || l->root)
		got = find_label(d, label, own, l->root, c, e);
	return got ? got : find_label(d, label, NULL, NULL, c, e);
}

/* As find_id. The label of several words comes first: *ret_whole. */
static int find_named(struct desk *d, const char *word, const char *line, const struct limits *l,
                      struct held_row *c, bool *ret_whole, struct err *e)
{
	int got = 0;

	if (strcmp(word, line) != 0) {
		got = find_called(d, line, l, c, e);
		*ret_whole = got > 0;
	}
	if (got == 0)
		got = find_called(d, word, l, c, e);
	return got ? got : find_id(d, word, l, c, e);
}

int desk_find_held(struct desk *d, const char *word, const char *line, const char *id,
                   struct held_row *c, bool *ret_whole, struct err *e)
{
	struct limits l = { .root = NULL };
	int got = read_limits(d, id, &l, e);

	*ret_whole = false;
	if (got <= 0)
		return got;
	if (!*word && l.root)
		return find_newest(d, c, e);
	if (!*word || strcasecmp(word, START) == 0)
		got = find_of_place(d, l.session, c, e);
	else
		got = find_named(d, word, line, &l, c, ret_whole, e);
	if (got > 0 && !fits(&l, c))
		return tell_contradiction(d, &l, c);
	if (got != 0 || !*word || strcasecmp(word, START) == 0)
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

int desk_diff(struct desk *d, struct err *e)
{
	OWNED(held_row) struct held_row c = { 0 };
	OWNED(cJSON_ptr) cJSON *argument = cJSON_CreateObject();
	OWNED(str) struct str name = { 0 }, what = { 0 }, where = { 0 };
	const char *id = d->w->id ? d->w->id : "";
	bool whole, began;
	int got;

	desk_add_value(d, &name);
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
	began = !c.label && c.kind == CHECKPOINT_KIND_START && c.session_id;
	if (began)
		str_addf(&what, "what it was when session %.*s began", FIND_SHORT, c.session_id);
	else
		str_addf(&what, "checkpoint %s", c.label ? c.label : c.id);
	if (d->who->answer_channel && c.session_id)
		str_addf(&where, "in the thread of session %.*s", FIND_SHORT, c.session_id);
	else
		str_add(&where, "here in a moment");
	return desk_tell(d, SAID_DONE, "Comparing %s with %s: the answer comes %s.",
	                 c.workspace_root, str_text(&what), str_text(&where));
}
