#include "order.h"

#include "err.h"
#include "form.h"
#include "json.h"
#include "line.h"
#include "setting.h"
#include "sql/slack_envelope.h"
#include "turn.h"
#include "words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- buttons ---- */

static int answer(struct slack_talk *t, struct err *e)
{
	const struct slack_intent *a = t->intent;
	OWNED(slack_is_open_row) struct slack_is_open_row row = { 0 };
	int got = sql_slack_is_open(t->st, a->request, &row, e);

	if (got <= 0)
		return got < 0 ? -1 : slack_tell(t, SLACK_GONE, e);
	return slack_say_of(t, a->verdict, a->request, a->text, e);
}

static int nudge(struct slack_talk *t, struct err *e)
{
	bool stops = strcmp(t->intent->verdict, "stop") == 0;
	char id[ID_BYTES];
	int may = slack_stalled_session(t, !stops, id, e);

	if (may <= 0)
		return may;
	return slack_say_of(t, stops ? "session-stop" : "nudge", id, stops ? NULL : t->intent->text,
	                    e);
}

static int settle_asked(struct slack_talk *t, int64_t seq, const struct said *said, struct err *e)
{
	OWNED(str) struct str answer = { 0 };

	str_add(&answer, str_text(&said->text));
	if (said->outcome == SAID_DONE)
		str_addf(&answer, "\nby %s", t->operator_id);
	return sql_slack_reply_settle(t->st, str_text(&answer), false, seq, e);
}

/* "Approve and tell", "Reject with this". */
static int answer_asked(struct slack_talk *t, struct err *e)
{
	int64_t seq = strtoll(t->intent->request, NULL, 10);
	const struct speaker who = slack_speaker(t);
	struct words w = { .verb = verb_find(t->intent->verdict), .certain = true };
	OWNED(slack_reply_read_row) struct slack_reply_read_row asked = { 0 };
	OWNED(cJSON_ptr) cJSON *detail = NULL;
	OWNED(said) struct said said = { 0 };

	if (sql_slack_reply_read(t->st, seq, t->intent->channel, &asked, e) < 0)
		return -1;
	/* {"by", "request", "words", "answer", "told"}; the last two once it is settled */
	detail = cJSON_Parse(asked.detail ? asked.detail : "");
	w.id = json_text(detail, "request");
	w.text = json_text(detail, "words");
	if (!w.id || json_text(detail, "answer"))
		return slack_tell(t, "this was answered already", e);
	if (operator_say(t->st, &who, &w, &said, e))
		return -1;
	if (said.outcome != SAID_DONE)
		str_add(&said.text,
		        ". The agent was not told your words: `steer <text>` does that");
	if (settle_asked(t, seq, &said, e))
		return -1;
	return slack_tell_said(t, &said, e);
}

/* ---- what is no order ---- */

/* "approve" among people, where a question waits for it, or in a thread of ours: whoever wrote it
 * waits, too. */
static int stray(struct slack_talk *t, struct err *e)
{
	const struct verb *v = verb_find(t->intent->verdict);
	const struct speaker who = slack_speaker(t);
	bool decides = v->row == VERB_DECISION;
	bool in_thread = t->intent->thread_ts != NULL; /* where Slack takes no /intercom */
	OWNED(found) struct found f = { 0 };
	OWNED(str) struct str text = { 0 };
	int count = decides ? find_questions(t->st, &who.place, v, NULL, &f, e)
	                    : find_sessions(t->st, &who.place, SESSION_STATUS_NONE, NULL, &f, e);

	if (count < 0 || (!count && !in_thread))
		return count;
	if (count == 0)
		str_addf(&text, "Nothing was done: nothing waits for `%s`.", v->word);
	else
		str_addf(&text,
		         "Nothing was done: write `%s` in the thread of %s, or%s `/intercom %s "
		         "<id>%s`. These %s:%s",
		         v->word, decides ? "the question" : "its session",
		         in_thread ? ", not in a thread," : " here", v->word,
		         decides ? "" : " <text>", decides ? "wait for it" : "are live",
		         str_text(&f.list));
	return slack_tell(t, str_text(&text), e);
}

/* A message that holds something else: files, another message. A mention alone asks for help. */
static bool is_without_words(const struct slack_intent *a)
{
	return !*a->text && (a->has_files || !a->mentioned);
}

static int message(struct slack_talk *t, struct err *e)
{
	int64_t known;

	if (t->intent->is_me)
		return slack_tell(t,
		                  "Nothing was done: what `/me` says is not passed on. Write it "
		                  "without `/me`.",
		                  e);
	if (is_without_words(t->intent))
		return slack_tell(t,
		                  "Nothing was done: only words are passed on, no files and no "
		                  "forwarded messages.",
		                  e);
	if (t->thread->seq && *t->intent->text)
		return slack_line_of_thread(t, e);
	if (t->intent->mentioned)
		return slack_line_of_mention(t, e);
	known = sql_slack_thread_of_ours(t->st, t->intent->channel, t->intent->thread_ts, e);
	if (known <= 0)
		return known < 0 ? -1 : slack_tell(t, SLACK_GONE, e);
	return stray(t, e);
}

/* ---- all of it ---- */

/* A direct message is in no session's channel: it means the default channel. */
static int find_channel(struct slack_talk *t, struct err *e)
{
	OWNED(str) struct str channel = { 0 };
	const char *own = t->intent->channel;

	if (own && *own && *own != 'D')
		str_add(&channel, own);
	else if (setting_get(t->st, "slack.channel_id", &channel, e) < 0)
		return -1;
	(void)snprintf(t->channel, sizeof(t->channel), "%s", str_text(&channel));
	return 0;
}

int slack_order_run(struct store *st, const struct slack_intent *a,
                    const struct slack_thread_row *thread, const char *operator_id,
                    const struct proof_key *key, struct str *reply, struct err *e)
{
	struct slack_talk t = { .st = st,
		                .intent = a,
		                .thread = thread,
		                .operator_id = operator_id,
		                .key = key,
		                .reply = reply };

	if (find_channel(&t, e))
		return -1;
	switch (a->meaning) {
	case INTENT_DECIDE:
		return answer(&t, e);
	case INTENT_ORDER:
		return slack_say_of(&t, a->verdict, a->request, a->text, e);
	case INTENT_ASKED:
		return answer_asked(&t, e);
	case INTENT_OPEN:
		return slack_form_open(&t, e);
	case INTENT_FORM:
		return slack_form_fill(&t, e);
	case INTENT_EDIT:
		return slack_form_edited(&t, e);
	case INTENT_EMPTY:
		return slack_tell(&t, "Please write something.", e);
	case INTENT_CLOSE:
		return slack_form_closed(&t, e);
	case INTENT_NUDGE:
		return nudge(&t, e);
	case INTENT_TURN:
		return slack_turn_press(&t, e);
	case INTENT_MODE:
		return slack_say_of(&t, "mode", a->session, a->verdict, e);
	case INTENT_SESSION:
		return slack_say_of(&t, a->verdict, a->session, NULL, e);
	case INTENT_COMMAND:
		return slack_line_of_command(&t, e);
	case INTENT_REPLY:
	case INTENT_MENTION:
		return message(&t, e);
	case INTENT_STRAY:
		return stray(&t, e);
	case INTENT_EDITED:
		return slack_tell(
		    &t,
		    "What you change is not read again: what came of it before stands. "
		    "Write a new message.",
		    e);
	case INTENT_DELETED:
		return slack_tell(
		    &t,
		    "What you delete is not taken back: what came of it stands. Write a "
		    "new message.",
		    e);
	case INTENT_NOTHING:
	case INTENT_UNKNOWN:
		break;
	}
	return 0;
}
