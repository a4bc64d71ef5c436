/* The buttons below the end of a turn. */
#include "clock.h"
#include "envelope.h"
#include "sql/slack_envelope.h"
#include "turn.h"
#include "words.h"

#include <stdlib.h>
#include <string.h>

/* What has been decided in the meantime. */
static int tell_late(struct slack_talk *t, const struct slack_turn_row *turn, struct err *e)
{
	OWNED(str) struct str why = { 0 };

	if (turn->said)
		str_addf(&why, "too late: %.100s answered this turn already, at %s",
		         turn->said_by ? turn->said_by : "somebody", turn->followed_at);
	else if (turn->status == SESSION_STATUS_INTERRUPTED || turn->is_kept)
		str_add(&why,
		        "too late: the session was interrupted; `session-resume` continues it");
	else if (turn->run_ended_at || turn->stop_wanted_at ||
	         turn->status == SESSION_STATUS_TERMINATED)
		str_add(&why, "too late: the session has ended");
	else
		str_addf(&why, "too late: the agent works again since %s", turn->followed_at);
	return slack_tell(t, str_text(&why), e);
}

static int open_form(struct slack_talk *t, const struct slack_turn_row *turn, struct err *e)
{
	const struct slack_intent *a = t->intent;
	struct instant until = clock_instant(clock_now_ms() + SLACK_TRIGGER_MS);
	const struct slack_open_form_args args = {
		.session = turn->session_seq,
		.view = SLACK_OUTBOX_VIEW_INSTRUCT,
		.trigger_id = a->trigger_id,
		.channel = a->channel,
		.thread_ts = a->thread_ts,
		.user = a->user,
		.expires_at = until.text,
	};

	if (!a->trigger_id)
		return slack_tell(t, "Slack opens no form here; reply in the thread", e);
	return sql_slack_open_form(t->st, &args, e);
}

int slack_turn_press(struct slack_talk *t, struct err *e)
{
	const struct slack_intent *a = t->intent;
	OWNED(slack_turn_row) struct slack_turn_row turn = { 0 };
	int got;

	if (a->session) /* the form: whatever happened since, the words are for the agent */
		return slack_say_of(t, "steer", a->session, a->text, e);
	got = sql_slack_turn_read(t->st, strtoll(a->request, NULL, 10), &turn, e);
	if (got <= 0)
		return got < 0 ? -1 : slack_tell(t, "this turn is gone", e);
	if (turn.followed_at || turn.stop_wanted_at || turn.run_ended_at)
		return tell_late(t, &turn, e);
	if (strcmp(a->verdict, "stop") == 0)
		return slack_say_of(t, "session-stop", turn.session_id, NULL, e);
	if (strcmp(a->verdict, "resume") == 0)
		return slack_say_of(t, "steer", turn.session_id, OPERATOR_CONTINUE, e);
	return open_form(t, &turn, e);
}
