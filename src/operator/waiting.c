/* What waits in a session, and which words it accepts. */
#include "desk.h"

#include "err.h"
#include "sql/operator.h"
#include "sql/request.h"

#include <stdio.h>

static void add_clearance(struct waiting *w, const struct request_open_of_session_row *row)
{
	w->clearances++;
	w->files += row->has_file;
	w->offers += row->has_options;
	w->several += row->has_options && row->yeses != 1;
}

static void add_prompt(struct waiting *w, const struct request_open_of_session_row *row)
{
	w->prompts++;
	w->forms += row->is_form;
	w->wide += row->is_wide;
	w->lists += row->is_list;
}

int desk_look(struct store *st, int64_t session_seq, struct waiting *w, struct err *e)
{
	OWNED(request_open_of_session_row) struct request_open_of_session_row row = { 0 };
	int got;

	sql_request_open_of_session(st, session_seq, &row);
	while ((got = row_next(&row.row, e)) > 0) {
		if (row.kind == REQUEST_KIND_PROMPT)
			add_prompt(w, &row);
		else if (row.kind != REQUEST_KIND_STANDBY)
			add_clearance(w, &row);
		else if (w->standbys++ == 0)
			(void)snprintf(w->standby, ID_BYTES, "%s", row.id);
	}
	return got < 0 ? -1 : w->clearances + w->prompts + w->standbys;
}

int desk_add_local(struct desk *d, bool asking, struct str *out, struct err *e)
{
	OWNED(found) struct found f = { 0 };
	int count = find_local_sessions(d->st, &d->who->place, asking, &f, e);

	if (count == 1)
		str_addf(out,
		         "Session %s is in local mode: do that at its machine, or switch with "
		         "`mode hybrid %.*s` first",
		         str_text(&f.name), FIND_SHORT, f.id);
	else if (count > 1)
		str_addf(out,
		         "%d sessions are in local mode: do that at their machine, or switch with "
		         "`mode hybrid <id>` first:%s",
		         count, str_text(&f.list));
	return count;
}

int desk_tell_none_live(struct desk *d, const char *where, const char *otherwise, struct err *e)
{
	OWNED(str) struct str local = { 0 };
	int count = desk_add_local(d, false, &local, e);

	if (count < 0)
		return -1;
	if (count > 0)
		return desk_tell(d, SAID_UNCLEAR,
		                 "nothing was done: the live sessions %s are in local "
		                 "mode. %s",
		                 where, local.bytes);
	if (!d->who->place.channel)
		return desk_tell(d, SAID_UNCLEAR, "no session is live%s", otherwise);
	return desk_tell(d, SAID_UNCLEAR, "no session is live %s%s", where, otherwise);
}

static void add_word(struct str *out, const char *word, bool takes)
{
	if (takes)
		str_addf(out, "%s%s", out->length ? ", " : "", word);
}

int operator_hint(struct store *st, const struct speaker *who, int64_t session_seq, struct str *out,
                  bool *ret_stands_by, struct err *e)
{
	OWNED(operator_shut_row) struct operator_shut_row shut = { 0 };
	struct waiting w = { .clearances = 0 };
	int count = desk_look(st, session_seq, &w, e), got;

	*ret_stands_by = count == 1 && w.standbys == 1;
	if (count <= 0)
		return count;
	got = sql_operator_shut(st, who->source, session_seq, &shut, e);
	if (got < 0)
		return -1;
	if (got > 0) {
		str_addf(out, "an answer %s: the session is in %s mode (`mode hybrid` switches)",
		         shut.mode == SESSION_MODE_LOCAL ? "at its machine" : "in Slack",
		         session_mode_name(shut.mode));
		return count;
	}
	if (w.clearances)
		str_addf(out, "%s%s`reject [why]`%s", w.several < w.clearances ? "`approve`, " : "",
		         w.offers ? "`choose <number>`, " : "", w.files ? ", `file`" : "");
	add_word(out, "`continue`, `refine <text>`", w.prompts > w.forms);
	add_word(out, "`choose <number>`", w.lists && !w.offers);
	add_word(out, "`refine <value>`", w.forms > w.wide);
	add_word(out, "`refine <name>: <value>`", w.wide);
	add_word(out, "`resume [text]`", w.standbys);
	add_word(out, "`stop [why]`", w.prompts || w.standbys);
	return count;
}
