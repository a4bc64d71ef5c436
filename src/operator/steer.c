/* What an agent is told without having asked. */
#include "desk.h"

#include "decision.h"
#include "err.h"
#include "stall.h"

#include <stdio.h>
#include <string.h>

/* ---- telling ---- */

/* What came of it. which: the session, where the person did not say; else NULL. */
static int outcome(struct desk *d, int64_t seq, const char *which, struct err *e)
{
	stmt *s = store_stmt(d->st, SQL_STEERING_OUTCOME);
	int got;

	d->out->row = VERB_STEERING;
	d->out->seq = seq;
	bind_int(s, ":seq", seq);
	got = stmt_row(s, e);
	if (got > 0) {
		const char *why = col_text(s, STEERING_OUTCOME_WHY);
		const char *status = col_text(s, STEERING_OUTCOME_STATUS);
		const char *line = col_text(s, STEERING_OUTCOME_CONNECTIVITY_STATUS);
		const char *when = "with its next step";

		if (status && strcmp(status, "paused") == 0)
			when = "when its session is resumed";
		else if (line && strcmp(line, "offline") == 0)
			when = "when it is back; it is not connected";
		if (why)
			(void)desk_tell(d, SAID_REFUSED, "%s", why);
		else if (!status)
			(void)desk_tell(d, SAID_DONE,
			                "Noted: the next agent that starts here is told.");
		else
			(void)desk_tell(d, SAID_DONE, "Noted: the agent%s%s is told %s.",
			                which ? " of session " : "", which ? which : "", when);
		if (!why && col_text(s, STEERING_OUTCOME_SESSION_ID))
			desk_add(d, "session_id", col_text(s, STEERING_OUTCOME_SESSION_ID));
		if (!why)
			desk_add(d, "status", "accepted");
	}
	stmt_reset(s);
	return got < 0 ? -1 : 0;
}

int desk_put(struct desk *d, const char *kind, const char *session_id, const char *text,
             const char *which, struct err *e)
{
	const char *channel = session_id ? NULL : d->who->place.channel;
	const struct saying w = { .kind = kind,
		                  .session_id = session_id,
		                  .channel_id = channel && *channel ? channel : NULL,
		                  .text = text,
		                  .operator_id = d->who->operator_id,
		                  .source = d->who->source };
	int64_t seq;

	if (strcmp(kind, "nudge") == 0) {
		if (stall_nudge(d->st, session_id, text && *text ? text : NULL, d->who->operator_id,
		                d->who->source, &seq, e))
			return -1;
	} else {
		seq = saying_put(d->st, &w, e);
	}
	return seq < 0 ? -1 : outcome(d, seq, which, e);
}

/* ---- to whom ---- */

/* *text: the line, an id in front of it is taken off. 1 found (*ret_several: among several), 0
 * told, -1. */
static int find_agent(struct desk *d, const char **text, struct found *f, bool *ret_several,
                      struct err *e)
{
	size_t length = d->w->line ? verb_id_length(*text) : 0;
	bool certain = d->w->id != NULL || (length && verb_is_only_an_id(*text));
	char id[ID_BYTES] = "";
	int count;

	*ret_several = false;
	if (length) {
		(void)snprintf(id, sizeof(id), "%.*s", (int)length, *text);
		count = find_sessions(d->st, &d->who->place, NULL, id, f, e);
	} else {
		count = find_sessions(d->st, &d->who->place, NULL, d->w->id, f, e);
	}
	if (count == 0 && length && !certain) {
		length = 0;
		count = find_sessions(d->st, &d->who->place, NULL, NULL, f, e);
	}
	*text = length ? verb_skip_blanks(*text + length) : *text;
	if (count > 1 && (length || d->w->id || strcmp(d->w->verb->word, "nudge") == 0))
		return desk_tell(d, SAID_UNCLEAR,
		                 "several sessions could be meant; name one, `%s <id>`:%s",
		                 d->w->verb->word, str_text(&f->list));
	*ret_several = count > 1;
	if (count != 0)
		return count < 0 ? -1 : 1;
	if (d->w->id || length) /* the rules refuse it, and it is kept */
		return desk_put(d, d->w->verb->means[0], d->w->id ? d->w->id : id, *text, NULL, e);
	return desk_tell(d, SAID_UNCLEAR, "no session is live in this channel");
}

int desk_steer(struct desk *d, struct err *e)
{
	const struct words *w = d->w;
	const char *kind = w->verb->means[0];
	const char *text = w->line ? verb_skip_blanks(w->line) : w->text ? w->text : "";
	OWNED(found) struct found f = FOUND_INIT;
	bool several;
	int got;

	if (w->verb->about == ABOUT_NOTHING)
		return *text || !w->line
		           ? desk_put(d, kind, NULL, text, NULL, e)
		           : desk_tell(d, SAID_UNCLEAR, "what is to be done? `task <text>`");
	got = find_agent(d, &text, &f, &several, e);
	if (got <= 0)
		return got;
	if (!*text && w->line && w->verb->text == TEXT_MUST)
		return desk_tell(d, SAID_UNCLEAR, "what is the agent to be told? `%s <text>`",
		                 w->verb->word);
	(void)snprintf(d->out->session_id, ID_BYTES, "%s", f.session_id);
	return desk_put(d, kind, f.session_id, text, several ? str_text(&f.name) : NULL, e);
}
