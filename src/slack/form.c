#include "form.h"

#include "clock.h"
#include "envelope.h"

#include <stdio.h>
#include <string.h>

enum {
	FORM_MS =
	    10 * 60 * 1000, /* after it was asked for, a reply is for the form that may not show */
};

/* ---- which question, which session ---- */

static bool names_open_request(struct slack_talk *t, int64_t *ret_seq, struct err *why,
                               struct err *e)
{
	stmt *s = store_stmt(t->st, SQL_SLACK_IS_OPEN);
	int got;

	bind_text(s, ":id", t->act->request);
	got = stmt_row(s, e);
	if (got > 0) {
		const char *by = col_text(s, SLACK_IS_OPEN_DECIDED_BY);

		*ret_seq = col_int(s, SLACK_IS_OPEN_SEQ);
		if (by)
			(void)err_set(why, ERR_INPUT, "already answered with '%s' by %s at %s",
			              col_text(s, SLACK_IS_OPEN_DECISION), by,
			              col_text(s, SLACK_IS_OPEN_DECIDED_AT));
	} else if (got == 0) {
		(void)err_set(why, ERR_INPUT, "this question is gone");
	}
	stmt_reset(s);
	return got > 0 && why->kind == ERR_NONE;
}

static int64_t session_seq_of(struct slack_talk *t, const char *id, struct err *e)
{
	stmt *s = store_stmt(t->st, SQL_SLACK_LIVE_SESSION);

	bind_text(s, ":id", id);
	return stmt_number(s, SLACK_LIVE_SESSION_SEQ, e);
}

int slack_stalled_session(struct slack_talk *t, bool nudges, char id[ID_BYTES], struct err *e)
{
	stmt *s = store_stmt(t->st, SQL_STALL_BY_ID);
	char why[200] = "";
	int got;

	bind_text(s, ":id", t->act->session);
	got = stmt_row(s, e);
	(void)snprintf(id, ID_BYTES, "%s",
	               got > 0 ? col_text(s, STALL_BY_ID_SESSION_ID) : t->act->session);
	if (got > 0) {
		const char *by = col_text(s, STALL_BY_ID_NUDGED_BY);
		const char *ended = col_text(s, STALL_BY_ID_ENDED_AT);
		bool recovered = strcmp(col_text(s, STALL_BY_ID_STATUS), "self_recovered") == 0;

		if (ended)
			(void)snprintf(why, sizeof(why), "too late: %s since %s",
			               recovered ? "the agent is active again"
			                         : "this alert is closed",
			               ended);
		else if (nudges && by && strcmp(by, "system:clock") != 0 &&
		         strcmp(col_text(s, STALL_BY_ID_STATUS), "nudged") == 0)
			(void)snprintf(why, sizeof(why), "already nudged by %.100s", by);
	}
	stmt_reset(s);
	if (got < 0)
		return -1;
	return *why ? (slack_tell(t, why, e) ? -1 : 0) : 1;
}

/* ---- forms ---- */

int slack_form_open(struct slack_talk *t, struct err *e)
{
	const struct slack_act *a = t->act;
	struct instant until = clock_instant(clock_now_ms() + SLACK_TRIGGER_MS);
	struct err why = ERR_INIT;
	int64_t request = 0, session = 0;
	char id[ID_BYTES];
	stmt *s;

	if (a->request && !names_open_request(t, &request, &why, e))
		return why.kind == ERR_NONE ? -1 : slack_tell(t, why.text, e);
	if (a->session) {
		int may = slack_stalled_session(t, true, id, e);

		if (may <= 0)
			return may;
		session = session_seq_of(t, id, e);
		if (session <= 0)
			return session < 0 ? -1 : slack_tell(t, "this session is gone", e);
	}
	if (!a->trigger_id)
		return slack_tell(t, "Slack opens no form here; answer in the thread, in words", e);
	s = store_stmt(t->st, SQL_SLACK_OPEN_FORM);
	bind_seq(s, ":request", request);
	bind_seq(s, ":session", session);
	bind_text(s, ":view", a->view);
	bind_text(s, ":trigger_id", a->trigger_id);
	bind_text(s, ":channel", a->channel);
	bind_text(s, ":thread_ts", a->thread_ts);
	bind_text(s, ":user", a->user);
	bind_text(s, ":expires_at", until.text);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

int slack_form_closed(struct slack_talk *t, struct err *e)
{
	stmt *s = store_stmt(t->st, SQL_SLACK_FORM_CLOSED);

	bind_text(s, ":request", t->act->request);
	bind_text(s, ":user", t->act->user);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

int slack_form_missed(struct slack_talk *t, char id[ID_BYTES], char view[16], struct err *e)
{
	struct instant since = clock_instant(clock_now_ms() - FORM_MS);
	stmt *s = store_stmt(t->st, SQL_SLACK_FORM_MISSED);
	int got;

	bind_int(s, ":session", t->thread->session_seq);
	bind_text(s, ":user", t->act->user);
	bind_text(s, ":since", since.text);
	got = stmt_row(s, e);
	if (got > 0) {
		(void)snprintf(id, ID_BYTES, "%s", col_text(s, SLACK_FORM_MISSED_ID));
		(void)snprintf(view, 16, "%s", col_text(s, SLACK_FORM_MISSED_VIEW));
	}
	stmt_reset(s);
	return got;
}
