#include "form.h"

#include "clock.h"
#include "envelope.h"
#include "json.h"
#include "json_writer.h"
#include "modal.h"
#include "sql/slack_envelope.h"
#include "sql/stall.h"
#include "words.h"

#include <stdio.h>
#include <string.h>

/* For this long after the request for a form, a reply may be meant for it, in case it did not
 * show. */
enum { FORM_MS = SLACK_FORM_MINUTES * 60 * 1000 };

/* ---- finding the request, the session ---- */

/* 1 it is still waiting, 0 the person has been told why not, -1. */
static int find_open_request(struct slack_talk *t, int64_t *ret_seq, struct err *e)
{
	OWNED(slack_is_open_row) struct slack_is_open_row row = { 0 };
	int got = sql_slack_is_open(t->st, t->intent->request, &row, e);
	char why[200];

	if (got <= 0)
		return got < 0 ? -1 : slack_tell(t, SLACK_GONE, e);
	*ret_seq = row.seq;
	if (!row.decided_by)
		return 1;
	(void)snprintf(why, sizeof(why), "already answered with '%.60s' by %.100s at %s",
	               row.chosen ? row.chosen : request_verdict_name(row.decision), row.decided_by,
	               row.decided_at);
	return slack_tell(t, why, e);
}

int slack_stalled_session(struct slack_talk *t, bool nudges, char id[ID_BYTES], struct err *e)
{
	OWNED(stall_by_id_row) struct stall_by_id_row row = { 0 };
	int got = sql_stall_by_id(t->st, t->intent->session, &row, e);
	bool recovered = row.status == STALL_STATUS_SELF_RECOVERED;
	char why[200] = "";

	if (got < 0)
		return -1;
	(void)snprintf(id, ID_BYTES, "%s", got > 0 ? row.session_id : t->intent->session);
	if (row.ended_at)
		(void)snprintf(why, sizeof(why), "too late: %s since %s",
		               recovered ? "the agent is active again" : "this alert is closed",
		               row.ended_at);
	else if (nudges && row.status == STALL_STATUS_NUDGED && row.nudged_by &&
	         strcmp(row.nudged_by, "system:clock") != 0)
		(void)snprintf(why, sizeof(why), "already nudged by %.100s", row.nudged_by);
	return *why ? (slack_tell(t, why, e) ? -1 : 0) : 1;
}

/* ---- forms ---- */

int slack_form_open(struct slack_talk *t, struct err *e)
{
	const struct slack_intent *a = t->intent;
	struct instant until = clock_instant(clock_now_ms() + SLACK_TRIGGER_MS);
	int64_t request = 0, session = 0;
	int may = a->request ? find_open_request(t, &request, e) : 1;
	char id[ID_BYTES];

	if (may <= 0)
		return may;
	if (a->session) {
		may = slack_stalled_session(t, true, id, e);
		if (may <= 0)
			return may;
		session = sql_slack_live_session(t->st, id, e);
		if (session <= 0)
			return session < 0 ? -1
			                   : slack_tell(t,
			                                "this session is gone; `/intercom list` "
			                                "lists those there are",
			                                e);
	}
	if (!a->trigger_id)
		return slack_tell(t, "Slack opens no form here; answer in the thread, in words", e);
	const struct slack_open_form_args args = {
		.request = request,
		.session = session,
		.view = slack_outbox_view_of(a->view),
		.trigger_id = a->trigger_id,
		.channel = a->channel,
		.thread_ts = a->thread_ts,
		.user = a->user,
		.expires_at = until.text,
	};
	return sql_slack_open_form(t->st, &args, e);
}

/* {"0": why}, as the answer that Slack shows in the form, which stays open. */
static void reply_errors(struct slack_talk *t, const cJSON *errors)
{
	const cJSON *one;

	str_reset(t->reply);
	json_object(t->reply);
	json_member(t->reply, "response_action", "errors");
	json_member_object(t->reply, "errors");
	cJSON_ArrayForEach (one, errors) {
		OWNED(str) struct str block = { 0 };

		str_addf(&block, SLACK_FIELD "%s", one->string);
		json_member(t->reply, block.bytes, one->valuestring);
	}
	json_object_end(t->reply);
	json_object_end(t->reply);
}

int slack_form_fill(struct slack_talk *t, struct err *e)
{
	OWNED(cJSON_ptr) cJSON *form = cJSON_Parse(t->intent->text);
	OWNED(said) struct said said = { 0 };
	const struct speaker who = slack_speaker(t);
	const struct words w = {
		.verb = verb_find("refine"), .id = t->intent->request, .text = "form", .form = form
	};
	const cJSON *errors;

	if (operator_say(t->st, &who, &w, &said, e))
		return -1;
	errors = cJSON_GetObjectItemCaseSensitive(said.json, "errors");
	if (!errors)
		return slack_tell_said(t, &said, e);
	reply_errors(t, errors);
	return 0;
}

int slack_form_edited(struct slack_talk *t, struct err *e)
{
	const struct words w = { .verb = verb_find(t->intent->verdict),
		                 .id = t->intent->request,
		                 .edited = t->intent->text,
		                 .certain = true };

	return slack_say(t, &w, e);
}

int slack_form_closed(struct slack_talk *t, struct err *e)
{
	return sql_slack_form_closed(t->st, t->intent->request, t->intent->user, e);
}

int slack_form_missed(struct slack_talk *t, struct slack_form_missed_row *form, struct err *e)
{
	struct instant since = clock_instant(clock_now_ms() - FORM_MS);

	return sql_slack_form_missed(t->st, t->thread->seq, t->intent->user, since.text, form, e);
}
