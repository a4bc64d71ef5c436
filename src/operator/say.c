#include "desk.h"

#include "err.h"
#include "sql/operator.h"

#include <stdio.h>
#include <string.h>

int operator_say(struct store *st, const struct speaker *who, const struct words *w,
                 struct said *out, struct err *e)
{
	OWNED(desk_line) struct desk_line line = { .count = 0 };
	OWNED(str) struct str id = { 0 };
	struct words parsed = *w;
	struct desk d = { .st = st, .who = who, .w = &parsed, .out = out };

	if (w->id) {
		verb_add_id(&id, w->id);
		parsed.id = str_text(&id);
	}
	out->row = w->verb->row;
	if (w->line && !w->no_options && !w->verb->takes_name &&
	    desk_take_options(&d, &parsed, &line) <= 0)
		return 0;
	switch (w->verb->row) {
	case VERB_DECISION:
		return desk_decide(&d, e);
	case VERB_COMMAND:
		return desk_command(&d, e);
	case VERB_STEERING:
		return desk_steer(&d, e);
	case VERB_READING:
		return desk_read(&d, e);
	}
	return 0;
}

/* ---- free text ---- */

int operator_tell(struct store *st, const struct speaker *who, const char *text, struct said *out,
                  struct err *e)
{
	const struct words steer = { .verb = verb_find("steer"), .text = text };
	struct desk d = { .st = st, .who = who, .w = &steer, .out = out };
	OWNED(found) struct found f = { 0 };
	struct waiting w = { .clearances = 0 };
	OWNED(operator_session_row) struct operator_session_row session = { 0 };
	int count = find_sessions(st, &who->place, SESSION_STATUS_NONE, NULL, &f, e);

	if (count <= 0)
		return count < 0 ? -1 : desk_tell_none_live(&d, "in this channel", "", e);
	if (count > 1)
		return desk_tell(&d, SAID_UNCLEAR,
		                 "which session is that for? Reply in its thread, or say "
		                 "`steer <session> <text>`:%s",
		                 str_text(&f.list));
	(void)snprintf(out->session_id, ID_BYTES, "%s", f.session_id);
	if (sql_operator_session(st, f.session_id, &session, e) < 0 ||
	    desk_look(st, session.seq, &w, e) < 0)
		return -1;
	if (w.standbys == 1 && !w.clearances && !w.prompts) {
		const struct words resume = { .verb = verb_find("resume"),
			                      .id = w.standby,
			                      .text = text };

		return operator_say(st, who, &resume, out, e);
	}
	return desk_put(&d, "steer", f.session_id, text, NULL, e);
}
