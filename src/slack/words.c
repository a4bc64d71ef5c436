#include "words.h"

#include "clock.h"
#include "command.h"
#include "err.h"
#include "json.h"
#include "json_writer.h"
#include "shown.h"
#include "sql/file_view.h"
#include "sql/request.h"
#include "sql/slack_envelope.h"
#include "sql/slack_outbox.h"

#include <stdlib.h>
#include <string.h>

enum {
	WORDS_SHOWN = 300, /* bytes of what was asked back, which shows them all */
	TITLE_SHOWN = 80,
};

#define UNSEEN_FILE                                                                                \
	"is not shown in Slack in full yet: its file is missing. Answer it when that is there"

/* What did not fit in its message is in a file next to it, once Slack has taken that. */
static int has_seen(struct store *st, const struct request *r, struct str *why, struct err *e)
{
	enum slack_file file = SLACK_FILE_THERE;

	if (!slack_is_whole(r) && slack_file_find(st, r->row.seq, &file, e))
		return -1;
	if (file == SLACK_FILE_THERE)
		return 1;
	if (file == SLACK_FILE_AWAITED) {
		str_addf(why, "%.*s " UNSEEN_FILE, FIND_SHORT, r->row.id);
		return 0;
	}
	str_addf(why,
	         "Slack did not take the file with all of it, so it cannot be seen here. On the "
	         "machine, `agent-intercom-ctl show %.*s` shows it, and `approve` approves it (in "
	         "remote mode after `mode hybrid`)",
	         FIND_SHORT, r->row.id);
	return 0;
}

/* Slack's timestamps, in microseconds, are exact as doubles. */
static bool is_before(const char *ts, const char *said_ts)
{
	return !said_ts || strtod(ts, NULL) < strtod(said_ts, NULL);
}

/* A file behind the message has no timestamp of Slack's: ours. */
static bool is_file_before(const struct slack_asked_at_row *asked, const char *said_ts)
{
	if (!asked->file_seq || asked->file_seq < asked->seq || !said_ts)
		return true;
	return (double)clock_parse(asked->file_at) < strtod(said_ts, NULL) * 1000;
}

/* A request that is not in Slack, or came after the words, is not what they were about. Only an
 * approval needs its file. */
static int was_asked(struct store *st, const char *said_ts, int64_t request_seq, bool approves,
                     struct str *why, struct err *e)
{
	OWNED(slack_asked_at_row) struct slack_asked_at_row asked = { 0 };
	OWNED(request) struct request r = { 0 };
	int got = sql_slack_asked_at(st, request_seq, &asked, e);
	bool has_file;

	if (got < 0 || request_read(st, request_seq, &r, e) < 0)
		return -1;
	has_file = approves && !slack_is_whole(&r); /* otherwise the row of one does not count */
	if (got == 0)
		str_add(
		    why,
		    "may not be shown in Slack yet: that is not known. If you see it, press its "
		    "button, or say this again in a moment");
	else if (asked.form == SLACK_OUTBOX_FORM_LINE)
		str_addf(why,
		         "is not shown in Slack: `agent-intercom-ctl show %.*s` on the machine "
		         "shows it. Answer it there (in remote mode after `mode hybrid`)",
		         FIND_SHORT, r.row.id);
	else if (!is_before(asked.ts, said_ts) || (has_file && !is_file_before(&asked, said_ts)))
		str_add(why, "was shown only after you wrote that. Answer it now");
	return why->length == 0;
}

struct speaker slack_speaker(const struct slack_talk *t)
{
	const struct slack_thread_row *th = t->thread;
	struct speaker who = { .operator_id = t->operator_id,
		               .source = "slack",
		               .key = t->key,
		               .has_seen = has_seen,
		               .was_asked = was_asked };
	enum slack_meaning meaning = t->intent->meaning;

	if (meaning == INTENT_REPLY || meaning == INTENT_MENTION)
		who.said_ts = t->intent->message_ts;
	who.place.channel = t->channel;
	if (th->seq) {
		who.place.session_seq = th->seq;
		who.place.session_id = th->id;
		who.place.request_id = th->request_id;
	}
	return who;
}

/* The words that cannot be done as they are: shown below the request, with buttons. */
static int ask_back(struct slack_talk *t, const struct said *s, struct err *e)
{
	OWNED(str) struct str detail = { 0 };
	int64_t session = sql_slack_live_session(t->st, s->session_id, e);

	if (session < 0 || sql_slack_asked_anew(t->st, s->request_id, t->operator_id, e))
		return -1;
	json_object(&detail);
	json_member(&detail, "by", t->operator_id);
	json_member(&detail, "request", s->request_id);
	json_member(&detail, "words", str_text(&s->note));
	json_object_end(&detail);
	return slack_tell_buttons(t, session, str_text(&s->text), str_text(&detail), e);
}

int slack_tell_said(struct slack_talk *t, const struct said *s, struct err *e)
{
	if (s->outcome == SAID_ASKED)
		return ask_back(t, s, e);
	if (s->outcome == SAID_DONE)
		return slack_tell_done(t, s, e);
	return slack_tell(t, str_text(&s->text), e);
}

int slack_keep(struct slack_talk *t, const char *verb, const char *argument, struct err *e)
{
	const struct command c = { .verb = verb,
		                   .argument = argument && *argument ? argument : NULL,
		                   .operator_id = t->operator_id,
		                   .source = "slack" };
	OWNED(command_result) struct command_result r = { 0 };

	return command_insert(t->st, &c, &r, e);
}

/* mcp-front reads the file, slack-poster shows it where the person is. */
static int show_file(struct slack_talk *t, struct said *said, struct err *e)
{
	const struct slack_intent *a = t->intent;
	int did =
	    sql_file_view_insert(t->st, a->meaning == INTENT_COMMAND ? NULL : a->channel,
	                         a->thread_ts ? a->thread_ts : a->message_ts, said->request_id, e);

	if (did < 0)
		return -1;
	if (did == 0)
		return slack_tell(t,
		                  "that question is about no file; `list-files` and `show-file` "
		                  "show what is there",
		                  e);
	return a->meaning == INTENT_COMMAND
	           ? slack_tell(t, "The file comes in the session's thread.", e)
	           : 0;
}

/* What reader finds goes where it was asked. A command in a direct message is answered in the
 * channel that it means. */
static void set_answer_place(const struct slack_talk *t, struct speaker *who)
{
	const struct slack_intent *a = t->intent;
	bool direct = !a->channel || *a->channel == 'D';

	who->answer_channel = direct ? t->channel : a->channel;
	if (a->meaning != INTENT_COMMAND && !direct)
		who->answer_thread = a->thread_ts ? a->thread_ts : a->message_ts;
}

/* Whether something is said to the agent with these words themselves. */
static bool says_something(const struct words *w)
{
	const char *line = verb_skip_blanks(w->line ? w->line : "");

	return (w->text && *verb_skip_blanks(w->text)) ||
	       *verb_skip_blanks(line + verb_id_length(line));
}

/* What was asked back, for an agent that may have asked several things: with its question. */
static int add_about(struct store *st, const char *words, const struct said *decided,
                     struct str *out, struct err *e)
{
	OWNED(request) struct request r = { 0 };
	OWNED(request_by_id_row) struct request_by_id_row row = { 0 };

	int got = sql_request_by_id(st, decided->request_id, &row, e);

	if (got > 0)
		got = request_read(st, row.seq, &r, e);
	if (got <= 0)
		return got;
	str_add(out, "About \"");
	str_add_shown(out, r.row.title, strlen(r.row.title), TITLE_SHOWN);
	str_addf(out, "\", which was %s: %s", request_state_name(row.state), words);
	return 0;
}

/* Tells the agent of the request words that an operator was asked back about, as theirs, unless
 * something was said in their place. *ret_told: they are told. */
static int tell_words(struct slack_talk *t, const cJSON *asked, const struct words *w,
                      const struct said *decided, bool *ret_told, struct err *e)
{
	struct speaker who = slack_speaker(t);
	struct words steer = { .verb = verb_find("steer"),
		               .id = decided->session_id,
		               .certain = true };
	OWNED(said) struct said said = { 0 };
	OWNED(str) struct str text = { 0 };

	*ret_told = false;
	if (says_something(w))
		return 0;
	if (add_about(t->st, json_text(asked, "words"), decided, &text, e))
		return -1;
	steer.text = str_text(&text);
	who.operator_id = json_text(asked, "by");
	if (operator_say(t->st, &who, &steer, &said, e))
		return -1;
	*ret_told = said.outcome == SAID_DONE;
	return 0;
}

static void add_told(struct str *out, const cJSON *asked, bool told)
{
	const char *words = json_text(asked, "words"), *by = json_text(asked, "by");

	if (told)
		str_addf(out, "\nThe agent is also told what %s wrote: “", by);
	else
		str_add(out, "\nThe agent was not told “");
	str_add_shown(out, words, strlen(words), WORDS_SHOWN);
	if (told)
		str_add(out, "”");
	else
		str_addf(out, "”, which %s wrote: `steer <text>` does that", by);
}

/* A request that is decided, while words about it are still asked back about: in its thread or on
 * its card, not by the buttons below them. */
static int settle_asked(struct slack_talk *t, const struct words *w, struct said *s, struct err *e)
{
	OWNED(slack_asked_row) struct slack_asked_row asked = { 0 };
	int64_t session = sql_slack_live_session(t->st, s->session_id, e);
	int got = session < 0 ? -1 : sql_slack_asked(t->st, session, s->request_id, &asked, e);

	for (; got > 0; got = sql_slack_asked(t->st, session, s->request_id, &asked, e)) {
		OWNED(cJSON_ptr) cJSON *detail = cJSON_Parse(asked.detail);
		OWNED(str) struct str answer = { 0 };
		bool told;

		if (tell_words(t, detail, w, s, &told, e))
			return -1;
		add_told(&s->text, detail, told);
		str_addf(&answer, "%s\nby %s", str_text(&s->text), t->operator_id);
		if (sql_slack_reply_settle(t->st, str_text(&answer), told, asked.seq, e))
			return -1;
		slack_asked_row_clear(&asked);
	}
	return got;
}

int slack_say(struct slack_talk *t, const struct words *w, struct err *e)
{
	struct speaker who = slack_speaker(t);
	OWNED(said) struct said s = { 0 };

	set_answer_place(t, &who);

	if (operator_say(t->st, &who, w, &s, e))
		return -1;
	if (s.outcome == SAID_DONE && w->verb->row == VERB_DECISION && s.request_id[0] &&
	    settle_asked(t, w, &s, e))
		return -1;
	if (w->verb->row == VERB_READING && slack_keep(t, w->verb->means[0], w->line, e))
		return -1;
	if (s.outcome == SAID_DONE && strcmp(w->verb->word, "file") == 0)
		return show_file(t, &s, e);
	if (s.outcome == SAID_DONE && w->verb->about == ABOUT_FILES &&
	    t->intent->meaning != INTENT_COMMAND)
		return 0; /* the answer itself follows */
	return slack_tell_said(t, &s, e);
}

int slack_say_of(struct slack_talk *t, const char *verb, const char *id, const char *text,
                 struct err *e)
{
	const struct words w = { .verb = verb_find(verb), .id = id, .text = text, .certain = true };

	return w.verb ? slack_say(t, &w, e) : 0;
}
