/* What an agent is told unasked. */
#include "desk.h"

#include "err.h"
#include "sql/steering.h"
#include "stall.h"

#include <stdio.h>
#include <string.h>

enum { WORDS_SHOWN = 80 }; /* bytes of what was said, so that the person knows which it is about */

/* ---- telling ---- */

/* For an agent that takes it as a prompt. A nudge does not wait for the end of its turn. */
static const char *when_prompted(const char *prompts, bool is_nudge)
{
	if (is_nudge && strcmp(prompts, "turn") == 0)
		return "when its turn has ended: that is cancelled, unless it waits for your "
		       "answer";
	if (strcmp(prompts, "now") == 0)
		return "now; it is its next prompt";
	if (strcmp(prompts, "turn") == 0)
		return "when its turn ends; it is its next prompt";
	return "after what was said before it; each is a prompt of its own";
}

/* ": “use tabs”", or the end of a sentence if nothing was said. */
static void add_words(struct str *out, const char *text)
{
	if (!text || !*text) {
		str_add_char(out, '.');
		return;
	}
	str_add(out, ": “");
	desk_add_said(out, text, WORDS_SHOWN);
	str_add(out, "”");
}

/* Its outcome. which: the session, if the person did not name one; otherwise NULL. text: the
 * person's words, NULL: none. */
static int outcome(struct desk *d, int64_t seq, const char *which, const char *text, bool is_nudge,
                   struct err *e)
{
	OWNED(str) struct str words = { 0 };
	OWNED(steering_outcome_row) struct steering_outcome_row row = { 0 };
	int got = sql_steering_outcome(d->st, seq, &row, e);
	const char *when = "with its next step";
	const char *else_whom = "";

	d->out->row = VERB_STEERING;
	d->out->seq = seq;
	if (got <= 0)
		return got;
	if (row.why)
		return desk_tell(d, SAID_REFUSED, "%s", row.why);
	d->out->unheard = row.status == SESSION_STATUS_PAUSED || row.is_kept;
	if (d->out->unheard)
		when = "when its session is resumed (`session-resume`)";
	else if (row.prompts)
		when = when_prompted(row.prompts, is_nudge);
	else if (row.connectivity_status == SESSION_CONNECTIVITY_STATUS_OFFLINE)
		when = "when it is back; it is not connected";
	if (row.connectivity_status == SESSION_CONNECTIVITY_STATUS_OFFLINE && row.is_inherited)
		else_whom = " If another agent starts in its workspace first, that one is told.";
	add_words(&words, text);
	if (*else_whom && text && *text)
		str_add_char(&words, '.');
	if (!row.status)
		(void)desk_tell(d, SAID_DONE, "Noted: the next agent %sthat starts here is told%s",
		                strcmp(d->who->source, "slack") == 0 ? "" : "of yours ",
		                str_text(&words));
	else
		(void)desk_tell(d, SAID_DONE, "Noted: the agent%s%s is told %s%s%s",
		                which ? " of session " : "", which ? which : "", when,
		                str_text(&words), else_whom);
	if (row.session_id)
		desk_add(d, "session_id", row.session_id);
	desk_add(d, "status", "accepted");
	return 0;
}

int desk_put(struct desk *d, const char *kind, const char *session_id, const char *text,
             const char *which, struct err *e)
{
	const char *channel = session_id ? NULL : d->who->place.channel;
	const struct steering_insert_args w = { .kind = kind,
		                                .session_id = session_id,
		                                .channel_id = channel && *channel ? channel : NULL,
		                                .text = text,
		                                .operator_id = d->who->operator_id,
		                                .source = d->who->source };
	int64_t seq;

	bool is_nudge = strcmp(kind, "nudge") == 0;

	if (is_nudge) {
		if (stall_nudge(d->st, session_id, text && *text ? text : NULL, d->who->operator_id,
		                d->who->source, &seq, e))
			return -1;
	} else {
		seq = sql_steering_insert(d->st, &w, e);
	}
	return seq < 0 ? -1 : outcome(d, seq, which, text, is_nudge, e);
}

/* ---- the agent ---- */

/* Of several that could be meant, none of them named, the only one whose agent is connected. As
 * desk_find_session. */
static int only_connected(struct desk *d, bool is_named, struct found *f, struct err *e)
{
	int got = !is_named && strcmp(d->w->verb->word, "steer") == 0
	              ? find_connected(d->st, &d->who->place, f, e)
	              : 0;

	return got ? got
	           : desk_tell(d, SAID_UNCLEAR,
	                       "several sessions could be meant; name one, `%s <id>%s`:%s",
	                       d->w->verb->word, d->w->verb->text == TEXT_MUST ? " <text>" : "",
	                       str_text(&f->list));
}

/* No session has this id: the rules refuse it, and the row is kept. It may be a question's. */
static int no_such_session(struct desk *d, const char *id, const char *text, struct err *e)
{
	OWNED(found) struct found q = { 0 };
	int got = desk_put(d, d->w->verb->means[0], id, text, NULL, e);
	int count = got < 0 ? -1 : find_question(d->st, verb_find("approve"), id, &q, e);

	if (count > 0)
		str_addf(&d->out->text, "; a question has an id that begins with this:%s",
		         str_text(&q.list));
	if (count == 1)
		str_addf(&d->out->text, "\nits session is %.*s", FIND_SHORT, q.session_id);
	return count < 0 ? -1 : 0;
}

/* *text: the line; an id at its start is removed. 1 found (*ret_several: among several), 0 the
 * person has been told, -1. */
static int find_agent(struct desk *d, const char **text, struct found *f, bool *ret_several,
                      struct err *e)
{
	size_t length = d->w->line ? verb_id_length(*text) : 0;
	bool certain = d->w->id != NULL || (length && verb_is_only_an_id(*text));
	char id[ID_BYTES] = "";
	int count;

	if (length) {
		(void)snprintf(id, sizeof(id), "%.*s", (int)length, *text);
		count = find_sessions(d->st, &d->who->place, SESSION_STATUS_NONE, id, f, e);
	} else {
		count = find_sessions(d->st, &d->who->place, SESSION_STATUS_NONE, d->w->id, f, e);
	}
	if (count == 0 && length && !certain) {
		length = 0;
		count = find_sessions(d->st, &d->who->place, SESSION_STATUS_NONE, NULL, f, e);
	}
	*text = length ? verb_skip_blanks(*text + length) : *text;
	*ret_several = count > 1;
	if (count > 1)
		return only_connected(d, length || d->w->id, f, e);
	if (count != 0)
		return count < 0 ? -1 : 1;
	if (d->w->id || length)
		return no_such_session(d, d->w->id ? d->w->id : id, *text, e);
	return desk_tell_none_live(d, "in this channel", "", e);
}

int desk_steer(struct desk *d, struct err *e)
{
	const struct words *w = d->w;
	const char *kind = w->verb->means[0];
	const char *text = w->line ? verb_skip_blanks(w->line) : w->text ? w->text : "";
	OWNED(found) struct found f = { 0 };
	bool several;
	int got;

	if (w->verb->about == ABOUT_NOTHING)
		return *text || !w->line
		           ? desk_put(d, kind, NULL, text, NULL, e)
		           : desk_tell(d, SAID_UNCLEAR, "what should be done? `task <text>`");
	got = find_agent(d, &text, &f, &several, e);
	if (got <= 0)
		return got;
	if (!*text && w->line && w->verb->text == TEXT_MUST)
		return desk_tell(d, SAID_UNCLEAR, "what should the agent be told? `%s <text>`",
		                 w->verb->word);
	(void)snprintf(d->out->session_id, ID_BYTES, "%s", f.session_id);
	return desk_put(d, kind, f.session_id, text, several ? str_text(&f.name) : NULL, e);
}
