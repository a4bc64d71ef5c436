/* Gives an order, and finds the session that it is for. */
#include "desk.h"

#include "command.h"
#include "err.h"

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

int desk_find_session(struct desk *d, const char *id, const char *argument, struct found *f,
                      struct err *e)
{
	const struct place *where = &d->who->place;
	const char *word = d->w->verb->word;
	int count = find_sessions(d->st, where, SESSION_STATUS_NONE, *id ? id : NULL, f, e);

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
		return desk_tell(d, SAID_UNCLEAR, "no session is live here");
	if (count > 1)
		return desk_tell(d, SAID_UNCLEAR, "several sessions%s; name one, `%s <id>`:%s",
		                 *id ? " have an id that begins with this" : " are live here", word,
		                 str_text(&f->list));
	return count;
}
