#include "tell.h"

#include "clock.h"
#include "envelope.h"
#include "json_writer.h"
#include "sql/slack_envelope.h"
#include "text.h"

#include <string.h>

static void reply_to_command(struct slack_talk *t, const char *text)
{
	OWNED(str) struct str escaped = { 0 };

	(void)slack_add(&escaped, text, strlen(text), SLACK_REPLY_UNITS, SLACK_MRKDWN);
	slack_name_people(&escaped);
	slack_show_times(&escaped);
	str_reset(t->reply);
	str_add(t->reply, "{\"response_type\":\"ephemeral\",\"text\":");
	json_quote(t->reply, str_text(&escaped));
	str_add_char(t->reply, '}');
}

/* Shown at the field of the form, which stays open. Plain: no mentions, no local dates. */
static void reply_to_form(struct slack_talk *t, const char *text)
{
	OWNED(str) struct str plain = { 0 };

	if (!t->intent->field)
		return;
	str_add(&plain, text);
	slack_plain_names(&plain, t->intent->user);
	str_reset(t->reply);
	str_add(t->reply, "{\"response_action\":\"errors\",\"errors\":{");
	json_quote(t->reply, t->intent->field);
	str_add_char(t->reply, ':');
	json_quote(t->reply, str_text(&plain));
	str_add(t->reply, "}}");
}

static int whisper(struct slack_talk *t, const char *text, struct err *e)
{
	struct instant until = clock_instant(clock_now_ms() + SLACK_WHISPER_MS);
	const struct slack_whisper_args args = {
		.channel = t->intent->channel,
		.thread_ts = t->intent->thread_ts,
		.user = t->intent->user,
		.text = text,
		.expires_at = until.text,
	};

	return sql_slack_whisper(t->st, &args, e);
}

static int say(struct slack_talk *t, int64_t session_seq, const char *channel,
               const char *thread_ts, const char *text, const char *detail, struct err *e)
{
	OWNED(str) struct str said = { 0 };

	str_add(&said, text);
	if (t->intent->has_files && *t->intent->text)
		str_add(&said, "\nThe file was not passed on: only the words are.");
	const struct slack_reply_args args = { .session = session_seq,
		                               .channel = channel,
		                               .thread_ts = thread_ts,
		                               .text = str_text(&said),
		                               .detail = detail };
	return sql_slack_reply(t->st, &args, e);
}

static bool is_message(const struct slack_talk *t)
{
	return t->intent->meaning == INTENT_REPLY || t->intent->meaning == INTENT_MENTION;
}

static bool is_form(const struct slack_talk *t)
{
	return t->intent->kind && strcmp(t->intent->kind, "view_submission") == 0;
}

int slack_tell(struct slack_talk *t, const char *text, struct err *e)
{
	const struct slack_intent *a = t->intent;
	const char *kind = a->kind ? a->kind : "";

	if (strcmp(kind, "command") == 0)
		reply_to_command(t, text);
	else if (is_form(t))
		reply_to_form(t, text);
	else if (is_message(t))
		return say(t, t->thread->seq, a->channel,
		           a->thread_ts ? a->thread_ts : a->message_ts, text, NULL, e);
	else if (a->channel && a->user)
		return whisper(t, text, e);
	return 0;
}

int slack_tell_buttons(struct slack_talk *t, int64_t session_seq, const char *text,
                       const char *detail, struct err *e)
{
	const struct slack_intent *a = t->intent;

	if (is_message(t) && a->thread_ts && t->thread->seq == session_seq)
		return say(t, session_seq, a->channel, a->thread_ts, text, detail, e);
	if (say(t, session_seq, NULL, NULL, text, detail, e))
		return -1;
	return slack_tell(t, "You are asked back in the session's thread.", e);
}

/* Whether the message that was pressed, or whose form it was, does not show the outcome. What was
 * asked back shows all that was answered. */
static bool is_to_be_told(const struct slack_talk *t, const struct said *s)
{
	enum slack_meaning meaning = t->intent->meaning;

	return meaning == INTENT_COMMAND || meaning == INTENT_NUDGE || is_message(t) ||
	       (s->unheard && meaning != INTENT_ASKED);
}

int slack_tell_done(struct slack_talk *t, const struct said *s, struct err *e)
{
	const char *text = str_text(&s->text);
	int64_t session;

	if (!is_to_be_told(t, s))
		return 0;
	if (!is_form(t))
		return slack_tell(t, text, e);
	session = sql_slack_live_session(t->st, s->session_id, e);
	return session < 0 ? -1 : say(t, session, NULL, NULL, text, NULL, e);
}
