/* Orders: to a session, to all of them, and about what was written. */
#include "desk.h"

#include "command.h"
#include "err.h"
#include "json.h"

#include <stdio.h>
#include <string.h>

/* ---- giving one ---- */

static const char *done(const char *verb)
{
	return strcmp(verb, "pause") == 0    ? "paused"
	       : strcmp(verb, "resume") == 0 ? "active again"
	                                     : "stopped";
}

/* Stores it; what it was answered goes to the JSON. 1 done, or to be done by a worker; 0 refused,
 * and told; -1. */
static int give(struct desk *d, const char *verb, const char *session_id, const char *argument,
                struct err *e)
{
	const struct command c = { .verb = verb,
		                   .session_id = session_id,
		                   .argument = argument,
		                   .operator_id = d->who->operator_id,
		                   .source = d->who->source };
	OWNED(command_result) struct command_result r = { 0 };
	struct err refused = { 0 };

	if (command_insert(d->st, &c, &r, e))
		return -1;
	d->out->row = VERB_COMMAND;
	d->out->seq = r.seq;
	if (command_check(&r, &refused))
		return desk_refuse(d, &refused);
	if (r.is.reply)
		d->out->json = cJSON_Parse(r.is.reply);
	return 1;
}

int desk_order_session(struct desk *d, const char *verb, const char *session_id, const char *name,
                       const char *why, struct err *e)
{
	int got = give(d, verb, session_id, why && *why ? why : NULL, e);

	if (got <= 0)
		return got;
	desk_add(d, "session_id", session_id);
	desk_add(d, "status", "done");
	return desk_tell(d, SAID_DONE, "Session %s is %s.", name, done(verb));
}

/* ---- which session ---- */

/* 1 found; 0 the person has been told that there is none, or several; -1. id: what stands where an
 * id belongs, "" if nothing does. */
static int find_one(struct desk *d, const char *id, const char *argument, struct found *f,
                    struct err *e)
{
	const struct place *where = &d->who->place;
	const char *word = d->w->verb->word;
	int count = find_sessions(d->st, where, SESSION_STATUS_NONE, *id ? id : NULL, f, e);

	if (count <= 0 && *id) {
		OWNED(found) struct found all = { 0 };
		const struct place anywhere = { .channel = where->channel };

		if (count < 0 || give(d, d->w->verb->means[0], id, argument, e) < 0 ||
		    find_sessions(d->st, &anywhere, SESSION_STATUS_NONE, NULL, &all, e) < 0)
			return -1;
		return desk_tell(d, SAID_REFUSED,
		                 "not found: no session has an id that begins with '%.40s'%s%s", id,
		                 all.count ? "; live are:" : "", str_text(&all.list));
	}
	if (count == 0)
		return desk_tell(d, SAID_UNCLEAR, "no session is live here");
	if (count > 1)
		return desk_tell(d, SAID_UNCLEAR, "several sessions%s; name one, `%s <id>`:%s",
		                 *id ? " have an id that begins with this" : " are live here", word,
		                 str_text(&f->list));
	return count;
}

/* ---- mode, stall, pause, resume, stop ---- */

static int tell_mode(struct desk *d, const char *session)
{
	const char *now = json_text(d->out->json, "current_mode");
	const char *before = json_text(d->out->json, "previous_mode");
	bool same = now && before && strcmp(now, before) == 0;

	return desk_tell(d, SAID_DONE, "%s%s %s in %s mode%s%s%s.", session ? "Session " : "",
	                 session ? session : "All sessions, and those to come,",
	                 session ? "is" : "are", now ? now : "?",
	                 same ? "" : " (before: ", same || !before ? "" : before, same ? "" : ")");
}

static int order_sessions(struct desk *d, const char *id, const char *argument, struct err *e)
{
	const struct verb *v = d->w->verb;
	OWNED(found) struct found f = { 0 };
	bool all = v->about == ABOUT_SESSIONS && !*id && !d->who->place.session_id;
	int got = all ? 1 : find_one(d, id, argument, &f, e);

	if (got <= 0)
		return got;
	(void)snprintf(d->out->session_id, ID_BYTES, "%s", f.session_id);
	if (v->text == TEXT_NONE)
		return desk_order_session(d, v->means[0], f.session_id, str_text(&f.name), NULL, e);
	got = give(d, v->means[0], all ? NULL : f.session_id, argument, e);
	if (got <= 0)
		return got;
	if (v->about == ABOUT_SESSION)
		return desk_tell(d, SAID_DONE, "Session %s: stall detection %s.", str_text(&f.name),
		                 argument);
	return tell_mode(d, all ? NULL : str_text(&f.name));
}

/* ---- undo, file ---- */

/* What was written here last was undone, or nothing was. */
static int nothing_to_undo(struct desk *d, struct err *e)
{
	OWNED(found) struct found last = { 0 };
	int got = find_undone(d->st, &d->who->place, &last, e);

	if (got < 0)
		return -1;
	if (got == 0)
		return desk_tell(d, SAID_UNCLEAR, "nothing was written here that could be undone");
	return desk_tell(d, SAID_UNCLEAR, "nothing is left to be undone here: %s %s",
	                 str_text(&last.name), str_text(&last.story));
}

/* The question that an order about a write, or a file, names or means. As find_one. */
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
		count = undoes ? find_writes(d->st, where, NULL, f, e)
		               : find_questions(d->st, where, v, NULL, f, e);
	if (count == 0 && *id)
		return give(d, v->means[0], NULL, id, e) < 0
		           ? -1
		           : desk_tell(d, SAID_REFUSED,
		                       "not found: no question has an id that begins with '%.40s'",
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
	return count;
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
	got = give(d, v->means[0], NULL, f.id, e);
	if (got <= 0)
		return got;
	desk_add(d, "request_id", f.id);
	desk_add(d, "status", "ordered");
	return desk_tell(d, SAID_DONE, "%s %s", v->about == ABOUT_WRITE ? "Undoing" : "Showing",
	                 str_text(&f.name));
}

/* ---- all of them ---- */

int desk_command(struct desk *d, struct err *e)
{
	const struct words *w = d->w;
	const struct verb *v = w->verb;
	const char *line = verb_skip_blanks(w->line ? w->line : "");
	OWNED(str) struct str first = { 0 };
	OWNED(str) struct str id = { 0 };

	if (v->is_later)
		return give(d, v->means[0], NULL, w->text ? w->text : line, e) < 0 ? -1 : 0;
	if (w->line && v->text == TEXT_MUST) { /* what to switch to, then whom */
		size_t n = strcspn(line, " \t\r\n");

		str_add_bytes(&first, line, n);
		line = verb_skip_blanks(line + n);
	}
	str_add(&id, w->id ? w->id : line);
	while (id.length && strchr(" \t\r\n", id.bytes[id.length - 1]))
		id.bytes[--id.length] = '\0';
	if (v->about == ABOUT_SESSION || v->about == ABOUT_SESSIONS)
		return order_sessions(d, str_text(&id), w->line ? str_text(&first) : w->text, e);
	return order_about(d, str_text(&id), e);
}
