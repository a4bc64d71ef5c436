/* Gives an order, and finds the session that it is for. */
#include "desk.h"

#include "command.h"
#include "err.h"
#include "sql/steering.h"
#include "texts.h"

#include <limits.h>
#include <string.h>

enum { LOST_SHOWN = 300 }; /* of what was said, as in the notice in Slack */

int desk_give(struct desk *d, const char *verb, const char *session_id, const char *argument,
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

int desk_give_json(struct desk *d, const char *verb, const char *session_id, const cJSON *argument,
                   struct err *e)
{
	OWNED(char_ptr) char *text = cJSON_PrintUnformatted(argument);

	return desk_give(d, verb, session_id, text, e);
}

int desk_tell_done(struct desk *d, int sessions, const struct str *done, struct err *e)
{
	OWNED(steering_lost_row) struct steering_lost_row lost = { 0 };
	OWNED(str) struct str words = { 0 };
	cJSON *texts = cJSON_CreateArray();
	int got;

	sql_steering_lost(d->st, d->out->seq, &lost);
	while ((got = row_next(&lost.row, e)) > 0) {
		(void)cJSON_AddItemToArray(texts, cJSON_CreateString(lost.text));
		str_add(&words, words.length ? ", “" : "“");
		desk_add_said(&words, lost.text, LOST_SHOWN);
		str_add(&words, "”");
	}
	if (words.length && d->out->json)
		(void)cJSON_AddItemToObject(d->out->json, "never_told", texts);
	else
		cJSON_Delete(texts);
	if (got < 0)
		return -1;
	if (!words.length || d->who->place.channel) /* Slack has a notice of it in the thread */
		return desk_tell(d, SAID_DONE, "%s", str_text(done));
	return desk_tell(d, SAID_DONE, "%s\n%s told: %s", str_text(done),
	                 sessions == 1 ? "It ended before its agent was"
	                               : "They ended before their agents were",
	                 str_text(&words));
}

/* What ended can be restarted. A prefix that fits an ended session, too, does not name a live one:
 * to restart that would end it. Other orders reach an ended one only to be told so. */
static int find_named(const struct desk *d, const char *id, struct found *f, struct err *e)
{
	int count = 0;

	if (strcmp(d->w->verb->means[0], "session-restart") != 0)
		count = find_sessions(d->st, &d->who->place, SESSION_STATUS_NONE, id, f, e);
	return count ? count : find_any_sessions(d->st, id, f, e);
}

/* Of those that the order can be given to; one that is paused is resumed before one that lost its
 * agent. Without any, the rules say why not. */
static int find_meant(const struct desk *d, struct found *f, struct err *e)
{
	const struct place *where = &d->who->place;
	const char *order = d->w->verb->means[0];
	int count = 0;

	if (strcmp(order, "resume") == 0)
		count = find_sessions(d->st, where, SESSION_STATUS_PAUSED, NULL, f, e);
	if (count == 0)
		count = find_takers(d->st, where, order, f, e);
	return count ? count : find_sessions(d->st, where, SESSION_STATUS_NONE, NULL, f, e);
}

/* Of several, none of them named, the only one whose agent is connected; but what is resumed may be
 * one that is not, and none is ended that was not named. */
static int prefer_connected(const struct desk *d, struct found *f, struct err *e)
{
	static const char *const NAMED[] = { "resume", "stop", "session-restart", NULL };
	int got = texts_name(NAMED, d->w->verb->means[0])
	              ? 0
	              : find_connected(d->st, &d->who->place, f, e);

	return got ? got : f->count;
}

/* It was named by a part of its id. The order is kept. */
static int tell_ended(struct desk *d, const char *argument, const struct found *f, struct err *e)
{
	if (desk_give(d, d->w->verb->means[0], f->session_id, argument, e) < 0)
		return -1;
	return desk_tell(d, SAID_REFUSED, "not found: session %s has ended%s%s%s",
	                 str_text(&f->name), f->started ? "; `session-restart " : "",
	                 f->started ? f->id : "", f->started ? "` begins it afresh" : "");
}

/* Checkpoints are of a workspace, whichever session they are made from. */
static bool is_of_workspace(const struct verb *verb)
{
	return strcmp(verb->category, "checkpoint") == 0;
}

/* Whether it makes no difference which of several sessions is meant: all are in one folder, and it
 * is the one that was active last. In Slack it says in whose thread the answer comes, unless none
 * has an agent; and a diff and a restore begin at how that session began. */
static bool is_any_of_them(const struct desk *d, const struct found *f)
{
	const struct verb *v = d->w->verb;

	if (f->elsewhere || !is_of_workspace(v))
		return false;
	return !d->who->place.channel ||
	       (strcmp(v->word, "session-checkpoint") == 0 && f->connected == 0);
}

/* What is left to do where no session is live. */
static const char *without_session(const struct desk *d)
{
	if (d->who->place.channel)
		return "; `session-start <prompt>` starts one, `list` lists those of all channels";
	return is_of_workspace(d->w->verb) ? "; name a folder: --workspace DIR"
	                                   : "; `session start PROMPT` starts one";
}

int desk_find_session(struct desk *d, const char *id, const char *argument, struct found *f,
                      struct err *e)
{
	const struct place *where = &d->who->place;
	const struct verb *v = d->w->verb;
	bool by_option = !where->channel && v->text == TEXT_MAY && is_of_workspace(v);
	int count = *id ? find_named(d, id, f, e) : find_meant(d, f, e);

	if (count > 1 && !*id)
		count = prefer_connected(d, f, e);
	if (count > 1 && !*id && is_any_of_them(d, f))
		count = 1;
	if (count <= 0 && *id) {
		OWNED(found) struct found all = { 0 };
		const struct place anywhere = { .channel = where->channel };

		if (count < 0 || desk_give(d, d->w->verb->means[0], id, argument, e) < 0 ||
		    find_sessions(d->st, &anywhere, SESSION_STATUS_NONE, NULL, &all, e) < 0)
			return -1;
		return desk_tell(d, SAID_REFUSED,
		                 "not found: no session has an id that begins with '%.40s'%s%s", id,
		                 all.count ? "; live are:" : "", str_text(&all.list));
	}
	if (count == 0)
		return desk_tell_none_live(d, "here", without_session(d), e);
	if (count > 1)
		return desk_tell(d, SAID_UNCLEAR, "several sessions%s; name one, `%.*s <id>`:%s",
		                 *id ? " have an id that begins with this" : " are live here",
		                 by_option ? INT_MAX : desk_name_length(v),
		                 by_option ? "--session" : desk_name(v), str_text(&f->list));
	if (*id && f->status == SESSION_STATUS_TERMINATED && strcmp(id, f->id) != 0 &&
	    strcmp(d->w->verb->means[0], "session-restart") != 0)
		return tell_ended(d, argument, f, e);
	return count;
}
