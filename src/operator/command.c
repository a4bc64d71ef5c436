/* Orders: to one session, to all sessions, and about writes. */
#include "desk.h"

#include "err.h"
#include "json.h"
#include "setting.h"
#include "sql/agent_turn.h"
#include "sql/operator.h"

#include <stdio.h>
#include <string.h>

/* What became of a session by an order, in words. */
struct became {
	const char *before, *now, *text;
	bool starts; /* its agent, which is not there at once: the status comes with it */
};

static struct became became(const struct desk *d, const char *verb)
{
	static const struct became RESUMED[] = {
		{ "interrupted", "interrupted", "being started again", true },
		{ "parked", "parked", "being started again", true },
		{ "paused", "parked",
		  "no longer paused; the answer to its question starts its agent", false },
		{ "paused", "created", "no longer paused; its agent is being started", true },
	};
	const char *before = json_text(d->out->json, "previous_status");
	const char *now = json_text(d->out->json, "current_status");

	if (strcmp(verb, "resume") != 0)
		return (struct became){ .text = strcmp(verb, "pause") == 0 ? "paused" : "stopped" };
	for (size_t i = 0; before && now && i < COUNT(RESUMED); i++)
		if (strcmp(before, RESUMED[i].before) == 0 && strcmp(now, RESUMED[i].now) == 0)
			return RESUMED[i];
	return (struct became){ .text = "active again" };
}

int desk_order_session(struct desk *d, const char *verb, const char *session_id, const char *name,
                       const char *why, struct err *e)
{
	OWNED(str) struct str text = { 0 };
	int got = desk_give(d, verb, session_id, why && *why ? why : NULL, e);
	struct became b;

	if (got <= 0)
		return got;
	b = became(d, verb);
	desk_add(d, "session_id", session_id);
	desk_add(d, "status", b.starts ? "ordered" : "done");
	if (b.starts)
		desk_add(d, "agent_state", "starting");
	str_addf(&text, "Session %s is %s.", name, b.text);
	got = strcmp(verb, "pause") == 0 ? sql_agent_turn_is_open(d->st, session_id, e) : 0;
	if (got < 0)
		return -1;
	if (got)
		str_add(&text, " Its agent is at work, and goes on until its turn ends or it asks "
		               "something.");
	return desk_tell_done(d, 1, &text, e);
}

/* ---- mode, stall, pause, resume, stop ---- */

static int tell_mode(struct desk *d, const char *session)
{
	const char *now = json_text(d->out->json, "current_mode");
	const char *before = json_text(d->out->json, "previous_mode");
	bool same = now && before && strcmp(now, before) == 0;
	/* In a thread, its notice says so. */
	bool not_here = !session && d->who->place.channel && now && strcmp(now, "local") == 0;

	return desk_tell(d, SAID_DONE, "%s%s %s in %s mode%s%s%s.%s", session ? "Session " : "",
	                 session ? session : "All sessions, and those to come,",
	                 session ? "is" : "are", now ? now : "?",
	                 same ? "" : " (before: ", same || !before ? "" : before, same ? "" : ")",
	                 not_here ? " Questions are asked on their machines, not here." : "");
}

/* Without a mode: the one of the thread's session, or of new sessions. */
static int show_mode(struct desk *d, struct err *e)
{
	OWNED(operator_session_row) struct operator_session_row row = { 0 };
	OWNED(str) struct str setting = { 0 };
	const char *session = d->who->place.session_id;
	const char *mode;

	if (session ? sql_operator_session(d->st, session, &row, e) < 0
	            : setting_get(d->st, "mode", &setting, e) < 0)
		return -1;
	mode = session ? session_mode_name(row.mode) : setting.bytes;
	if (!mode)
		mode = "local";
	desk_add(d, "current_mode", mode);
	if (session)
		return desk_tell(d, SAID_DONE, "The session is in %s mode.", mode);
	return desk_tell(d, SAID_DONE,
	                 "New sessions are in %s mode; `sessions` shows those that are live.",
	                 mode);
}

static int order_sessions(struct desk *d, const char *id, const char *argument, struct err *e)
{
	const struct verb *v = d->w->verb;
	OWNED(found) struct found f = { 0 };
	bool all = v->about == ABOUT_SESSIONS && !*id && !d->who->place.session_id;
	int got = all ? 1 : desk_find_session(d, id, argument, &f, e);

	if (got <= 0)
		return got;
	(void)snprintf(d->out->session_id, ID_BYTES, "%s", f.session_id);
	if (v->text == TEXT_NONE)
		return desk_order_session(d, v->means[0], f.session_id, str_text(&f.name), NULL, e);
	got = desk_give(d, v->means[0], all ? NULL : f.session_id, argument, e);
	if (got <= 0)
		return got;
	if (v->about == ABOUT_SESSION)
		return desk_tell(d, SAID_DONE, "Session %s: stall detection %s.", str_text(&f.name),
		                 argument);
	return tell_mode(d, all ? NULL : str_text(&f.name));
}

/* ---- undo, file ---- */

/* The last write here has been undone, or there was none. */
static int nothing_to_undo(struct desk *d, struct err *e)
{
	OWNED(found) struct found last = { 0 };
	int got = find_undone(d->st, &d->who->place, &last, e);

	if (got < 0)
		return -1;
	if (got == 0)
		return desk_tell(
		    d, SAID_UNCLEAR,
		    "nothing was written here that could be undone; a restore is taken back with "
		    "`session-restore` and the checkpoint before it");
	return desk_tell(d, SAID_UNCLEAR, "nothing is left to be undone here: %s %s",
	                 str_text(&last.name), str_text(&last.story));
}

/* Who says no more than `undo` means what they approved last, which may not be written yet. f: what
 * could be undone. 0 it was told, 1 that is not so, -1. */
static int is_last_written(struct desk *d, const struct found *f, struct err *e)
{
	OWNED(found) struct found newest = { 0 };
	int got = find_unwritten(d->st, &d->who->place, f->seq, &newest, e);

	if (got <= 0)
		return got < 0 ? -1 : 1;
	return desk_tell(d, SAID_UNCLEAR,
	                 "%s was approved and is not written yet, so that it cannot be undone; its "
	                 "agent may write it at any moment. The change before it: `undo %.*s`, %s",
	                 str_text(&newest.name), FIND_SHORT, f->id, str_text(&f->name));
}

/* The request that an order about a write, or a file, names or means. As desk_find_session. */
static int find_subject(struct desk *d, const char *id, struct found *f, struct err *e)
{
	static const struct verb APPROVAL = { .word = "approve", .means = { "approve" } };
	const struct verb *v = d->w->verb;
	const struct place *where = &d->who->place;
	bool undoes = v->about == ABOUT_WRITE;
	int count;

	if (verb_is_too_short(v, id))
		return desk_tell_short(d, id);
	if (!*id && where->request_id)
		id = where->request_id;
	if (*id)
		count = find_question(d->st, &APPROVAL, id, f, e);
	else
		count = undoes ? find_writes(d->st, where, f, e)
		               : find_questions(d->st, where, v, NULL, f, e);
	if (count == 0 && *id)
		return desk_give(d, v->means[0], NULL, id, e) < 0
		           ? -1
		           : desk_tell(d, SAID_REFUSED,
		                       "not found: no question has an id that begins with '%.40s'; "
		                       "`inbox` lists what waits",
		                       id);
	if (count == 0)
		return undoes ? nothing_to_undo(d, e)
		              : desk_tell(d, SAID_UNCLEAR,
		                          "no proposed change waits; name one: `file <id>`");
	if (count > 1)
		return desk_tell(d, SAID_UNCLEAR, "several changes%s; name one, `%s <id>`:%s",
		                 *id      ? " have an id that begins with this"
		                 : undoes ? " could be undone"
		                          : " wait",
		                 v->word, str_text(&f->list));
	return undoes && !*id ? is_last_written(d, f, e) : count;
}

static int order_about(struct desk *d, const char *id, struct err *e)
{
	const struct verb *v = d->w->verb;
	OWNED(found) struct found f = { 0 };
	int got = find_subject(d, id, &f, e);

	if (got <= 0)
		return got;
	(void)snprintf(d->out->request_id, ID_BYTES, "%s", f.id);
	(void)snprintf(d->out->session_id, ID_BYTES, "%s", f.session_id);
	got = desk_give(d, v->means[0], NULL, f.id, e);
	if (got == 0 && f.unwritten && v->about == ABOUT_WRITE)
		str_addf(&d->out->text, ": %s %s", str_text(&f.name), str_text(&f.story));
	if (got <= 0)
		return got;
	desk_add(d, "request_id", f.id);
	desk_add(d, "status", "ordered");
	return desk_tell(d, SAID_DONE, "%s %s", v->about == ABOUT_WRITE ? "Undoing" : "Showing",
	                 str_text(&f.name));
}

/* ---- all of them ---- */

/* Orders that are more than a verb and what it is about. */
static const struct {
	const char *word;
	int (*give)(struct desk *d, struct err *e);
} OTHERS[] = {
	{ "session-start", desk_start },
	{ "session-restart", desk_restart },
	{ "session-cleanup", desk_clean_up },
	{ "session-restore", desk_restore },
	{ "session-checkpoint", desk_checkpoint },
	{ "diff", desk_diff },
	{ "run", desk_run },
	{ "run-stop", desk_run_stop },
};

int desk_command(struct desk *d, struct err *e)
{
	const struct words *w = d->w;
	const struct verb *v = w->verb;
	const char *line = verb_skip_blanks(w->line ? w->line : "");
	OWNED(str) struct str first = { 0 }, id = { 0 };

	for (size_t i = 0; i < COUNT(OTHERS); i++)
		if (strcmp(OTHERS[i].word, v->word) == 0)
			return OTHERS[i].give(d, e);
	if (v->about == ABOUT_FILES)
		return desk_browse(d, e);
	if (w->line && !*line && strcmp(v->word, "mode") == 0)
		return show_mode(d, e);
	if (w->line && v->text == TEXT_MUST) { /* what to switch to, then whom */
		(void)verb_take_switch(&line, &first);
	}
	verb_add_id(&id, w->id ? w->id : line);
	if (v->about == ABOUT_SESSION || v->about == ABOUT_SESSIONS)
		return order_sessions(d, str_text(&id), w->line ? str_text(&first) : w->text, e);
	return order_about(d, str_text(&id), e);
}
