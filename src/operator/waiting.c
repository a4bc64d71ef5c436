/* What waits in a session, and which words it takes. */
#include "desk.h"

#include "err.h"

#include <stdio.h>
#include <string.h>

int desk_look(struct store *st, int64_t session_seq, struct waiting *w, struct err *e)
{
	stmt *s = store_stmt(st, SQL_REQUEST_OPEN_OF_SESSION);
	int got;

	bind_int(s, ":session", session_seq);
	while ((got = stmt_row(s, e)) > 0) {
		const char *kind = col_text(s, REQUEST_OPEN_OF_SESSION_KIND);

		if (strcmp(kind, "prompt") == 0)
			w->prompts++;
		else if (strcmp(kind, "standby") != 0)
			w->clearances++;
		else if (w->standbys++ == 0)
			(void)snprintf(w->standby, ID_BYTES, "%s",
			               col_text(s, REQUEST_OPEN_OF_SESSION_ID));
	}
	stmt_reset(s);
	return got < 0 ? -1 : w->clearances + w->prompts + w->standbys;
}

int operator_hint(struct store *st, int64_t session_seq, struct str *out, bool *ret_stands_by,
                  struct err *e)
{
	struct waiting w = { .clearances = 0 };
	int count = desk_look(st, session_seq, &w, e);

	*ret_stands_by = count == 1 && w.standbys == 1;
	if (count <= 0)
		return count;
	if (w.clearances)
		str_add(out, "`approve`, `reject [why]`, `file`");
	if (w.prompts)
		str_addf(out, "%s`continue`, `refine <text>`", out->length ? ", " : "");
	if (w.standbys)
		str_addf(out, "%s`resume [text]`", out->length ? ", " : "");
	if (w.prompts || w.standbys)
		str_add(out, ", `stop [why]`");
	return count;
}
