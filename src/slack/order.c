#include "order.h"

#include "decision.h"
#include "err.h"
#include "form.h"
#include "json.h"
#include "say.h"
#include "setting.h"
#include "tell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- at the desk ---- */

static struct speaker speaker(const struct slack_talk *t)
{
	const struct slack_thread *th = t->thread;
	struct speaker who = { .operator_id = t->operator_id, .source = "slack" };

	who.place.channel = t->channel;
	if (th->session_seq) {
		who.place.session_seq = th->session_seq;
		who.place.session_id = th->session_id;
		who.place.request_id = *th->request_id ? th->request_id : NULL;
	}
	return who;
}

/* The words that cannot be done as they stand: shown below the question, with buttons. */
static int ask_back(struct slack_talk *t, const struct said *s, struct err *e)
{
	OWNED(str) struct str detail = STR_INIT;
	stmt *of = store_stmt(t->st, SQL_SLACK_LIVE_SESSION);
	int64_t session;

	bind_text(of, ":id", s->session_id);
	session = stmt_number(of, SLACK_LIVE_SESSION_SEQ, e);
	if (session < 0)
		return -1;
	str_add(&detail, "{\"request\":");
	json_quote(&detail, s->request_id);
	str_add(&detail, ",\"words\":");
	json_quote(&detail, str_text(&s->note));
	str_add_char(&detail, '}');
	return slack_tell_buttons(t, session, str_text(&s->text), str_text(&detail), e);
}

static int tell_said(struct slack_talk *t, const struct said *s, struct err *e)
{
	if (s->outcome == SAID_ASKED)
		return ask_back(t, s, e);
	if (s->outcome == SAID_DONE && !slack_tells_success(t))
		return 0;
	return slack_tell(t, str_text(&s->text), e);
}

/* Orders that only read, and those that nobody knows, are kept as well. */
static int keep(struct slack_talk *t, const char *verb, const char *argument, struct err *e)
{
	const struct command c = { .verb = verb,
		                   .argument = argument && *argument ? argument : NULL,
		                   .operator_id = t->operator_id,
		                   .source = "slack" };
	OWNED(command_result) struct command_result r = COMMAND_RESULT_INIT;

	return command_insert(t->st, &c, &r, e);
}

/* Mcp-front reads the file, slack-poster shows it where the person is. */
static int show_file(struct slack_talk *t, struct said *said, struct err *e)
{
	const struct slack_act *a = t->act;
	stmt *s = store_stmt(t->st, SQL_FILE_VIEW_INSERT);
	int did;

	bind_text(s, ":request", said->request_id);
	bind_text(s, ":channel", a->deed == DEED_COMMAND ? NULL : a->channel);
	bind_text(s, ":thread_ts", a->thread_ts ? a->thread_ts : a->message_ts);
	did = stmt_run(s, e);
	if (did < 0)
		return -1;
	if (did == 0)
		return slack_tell(
		    t, "that is no proposed change of a session that you may see here", e);
	return a->deed == DEED_COMMAND ? slack_tell(t, "The file comes in the session's thread.", e)
	                               : 0;
}

static int say(struct slack_talk *t, const struct words *w, struct err *e)
{
	const struct speaker who = speaker(t);
	OWNED(said) struct said s = SAID_INIT;

	if (operator_say(t->st, &who, w, &s, e))
		return -1;
	if (w->verb->row == VERB_READING && keep(t, w->verb->means[0], w->line, e))
		return -1;
	if (s.outcome == SAID_DONE && strcmp(w->verb->word, "file") == 0)
		return show_file(t, &s, e);
	return tell_said(t, &s, e);
}

/* Of a button or a form: it says which question. */
static int say_of(struct slack_talk *t, const char *verb, const char *id, const char *text,
                  struct err *e)
{
	const struct words w = { .verb = verb_find(verb), .id = id, .text = text, .certain = true };

	return w.verb ? say(t, &w, e) : 0;
}

static int say_line(struct slack_talk *t, const struct verb_line *l, struct err *e)
{
	const struct words w = { .verb = l->verb, .line = l->rest };

	return say(t, &w, e);
}

/* Free text, for the agent. */
static int say_to_agent(struct slack_talk *t, const char *text, struct err *e)
{
	const struct speaker who = speaker(t);
	OWNED(said) struct said s = SAID_INIT;

	return operator_tell(t->st, &who, text, &s, e) ? -1 : tell_said(t, &s, e);
}

/* ---- lines ---- */

/* Whether nothing but an id, or nothing at all, stands behind the verb. */
static bool is_id_or_nothing(const char *rest)
{
	size_t n = verb_id_length(rest);

	return !*rest || (n && !*verb_skip_blanks(rest + n));
}

/* Whether a line in a conversation is an order: a verb and an id at most ("stop using tabs" is a
 * sentence), with what it switches to where it switches something. */
static bool is_order(const struct verb_line *l)
{
	static const char *const SWITCHES[] = { "remote", "local", "hybrid", "on", "off" };
	const char *rest = l->rest;

	if (!l->verb)
		return false;
	if (strcmp(l->verb->word, "help") == 0)
		return strcspn(rest, " \t\r\n") == strlen(rest);
	if (l->verb->row == VERB_STEERING && l->verb->text == TEXT_MUST)
		return !*rest;
	for (size_t i = 0; l->verb->text == TEXT_MUST && i < COUNT(SWITCHES); i++) {
		size_t n = strlen(SWITCHES[i]);

		if (strncmp(rest, SWITCHES[i], n) == 0 && strchr(" \t\r\n", rest[n]))
			return is_id_or_nothing(verb_skip_blanks(rest + n));
	}
	return is_id_or_nothing(rest);
}

/* Of such a line, what stands behind the verb is an id, however it looks. */
static int say_order(struct slack_talk *t, const struct verb_line *l, struct err *e)
{
	size_t n = l->verb->text == TEXT_MUST ? 0 : verb_id_length(l->rest);
	char id[ID_BYTES];

	if (!n)
		return say_line(t, l, e);
	(void)snprintf(id, sizeof(id), "%.*s", (int)n, l->rest);
	return say_of(t, l->verb->word, id, NULL, e);
}

/* Whether [commands] of the configuration has this alias. */
static bool is_alias(struct slack_talk *t, const char *word)
{
	OWNED(str) struct str commands = STR_INIT;
	OWNED(cJSON_ptr) cJSON *map = NULL;

	if (setting_get(t->st, "commands", &commands, NULL) <= 0)
		return false;
	map = cJSON_Parse(str_text(&commands));
	return cJSON_GetObjectItemCaseSensitive(map, word) != NULL;
}

static int unknown(struct slack_talk *t, const struct verb_line *l, struct err *e)
{
	OWNED(str) struct str text = STR_INIT;

	if (is_alias(t, l->word)) {
		const struct words run = { .verb = verb_find("run"), .text = l->word };

		return say(t, &run, e);
	}
	str_addf(&text, "command not found: %s; `help` lists the commands",
	         *l->word ? l->word : "that word");
	return keep(t, l->word, l->rest, e) ? -1 : slack_tell(t, str_text(&text), e);
}

static int slash(struct slack_talk *t, struct err *e)
{
	struct verb_line l = verb_read(t->act->text);

	if (!*l.word && !*l.rest)
		l.verb = verb_find("help");
	return l.verb ? say_line(t, &l, e) : unknown(t, &l, e);
}

static int mention(struct slack_talk *t, struct err *e)
{
	struct verb_line l = verb_read(t->act->text);

	if (!*l.word && !*l.rest)
		l.verb = verb_find("help");
	return is_order(&l) ? say_order(t, &l, e) : say_to_agent(t, t->act->text, e);
}

/* ---- threads ---- */

static bool is_verb(const struct verb_line *l, const char *word)
{
	return l->verb && strcmp(l->verb->word, word) == 0;
}

/* Whether a line with words is an answer here, or about one that was given: 1, 0, -1. */
static int is_answer(struct slack_talk *t, const struct verb_line *l, struct err *e)
{
	const struct speaker who = speaker(t);
	OWNED(found) struct found f = FOUND_INIT;

	if (l->verb->row != VERB_DECISION)
		return 0;
	if (who.place.request_id || is_verb(l, "approve") || is_verb(l, "reject"))
		return 1;
	return find_questions(t->st, &who.place, l->verb, NULL, &f, e) < 0 ? -1 : f.count > 0;
}

/* Words that are no answer to what waits. */
static int free_text(struct slack_talk *t, const char *text, struct err *e)
{
	OWNED(str) struct str hint = STR_INIT;
	OWNED(str) struct str told = STR_INIT;
	bool stands_by;
	int waiting = operator_hint(t->st, t->thread->session_seq, &hint, &stands_by, e);

	if (waiting < 0)
		return -1;
	if (waiting == 0 || stands_by)
		return say_to_agent(t, text, e);
	str_addf(&told,
	         "A question waits here, and that is no answer to it; nothing was done. It takes "
	         "%s. To tell the agent something else: `steer <text>`.",
	         str_text(&hint));
	return slack_tell(t, str_text(&told), e);
}

static int reply_in_thread(struct slack_talk *t, struct err *e)
{
	const char *text = t->act->text;
	const struct verb_line l = verb_read(text);
	bool order = is_order(&l);
	char id[ID_BYTES] = "", view[16] = "";
	int missed = slack_form_missed(t, id, view, e), answers;

	if (missed < 0)
		return -1;
	if (missed && !(order && l.verb->row == VERB_DECISION) && !is_verb(&l, "steer") &&
	    !is_verb(&l, "task") && !(order && is_verb(&l, "help")))
		return say_of(t, view, id, is_verb(&l, view) ? l.rest : text, e);
	if (l.verb && l.verb->row == VERB_READING && !is_verb(&l, "help") && !t->act->mentioned)
		return free_text(t, text, e);
	if (order)
		return say_order(t, &l, e);
	if (is_verb(&l, "steer") || is_verb(&l, "task"))
		return say_line(t, &l, e);
	answers = l.verb ? is_answer(t, &l, e) : 0;
	if (answers < 0)
		return -1;
	return answers ? say_line(t, &l, e) : free_text(t, text, e);
}

/* ---- buttons ---- */

static int nudge(struct slack_talk *t, struct err *e)
{
	bool stops = strcmp(t->act->verdict, "stop") == 0;
	char id[ID_BYTES];
	int may = slack_stalled_session(t, !stops, id, e);

	if (may <= 0)
		return may;
	return say_of(t, stops ? "session-stop" : "nudge", id, stops ? NULL : t->act->text, e);
}

/* What was asked back: {"request", "words", "answer"}, the last one once a person has pressed a
 * button. NULL: there is no such message. */
static int read_asked(struct slack_talk *t, int64_t seq, cJSON **ret_detail, struct err *e)
{
	stmt *s = store_stmt(t->st, SQL_SLACK_REPLY_READ);
	int got;

	bind_int(s, ":seq", seq);
	bind_text(s, ":channel", t->act->channel);
	got = stmt_row(s, e);
	if (got > 0 && col_text(s, SLACK_REPLY_READ_DETAIL))
		*ret_detail = cJSON_Parse(col_text(s, SLACK_REPLY_READ_DETAIL));
	stmt_reset(s);
	return got < 0 ? -1 : 0;
}

static int settle_asked(struct slack_talk *t, int64_t seq, const struct said *said, struct err *e)
{
	OWNED(str) struct str answer = STR_INIT;
	stmt *s;

	str_add(&answer, str_text(&said->text));
	if (said->outcome == SAID_DONE)
		str_addf(&answer, "\nby %s", t->operator_id);
	s = store_stmt(t->st, SQL_SLACK_REPLY_SETTLE);
	bind_int(s, ":seq", seq);
	bind_text(s, ":answer", str_text(&answer));
	return stmt_run(s, e) < 0 ? -1 : 0;
}

/* "Approve and tell", "Reject with this". */
static int answer_asked(struct slack_talk *t, struct err *e)
{
	int64_t seq = strtoll(t->act->request, NULL, 10);
	const struct speaker who = speaker(t);
	struct words w = { .verb = verb_find(t->act->verdict), .certain = true };
	OWNED(cJSON_ptr) cJSON *detail = NULL;
	OWNED(said) struct said said = SAID_INIT;

	if (read_asked(t, seq, &detail, e))
		return -1;
	w.id = json_text(detail, "request");
	w.text = json_text(detail, "words");
	if (!w.id || json_text(detail, "answer"))
		return slack_tell(t, "this was answered already", e);
	if (operator_say(t->st, &who, &w, &said, e) || settle_asked(t, seq, &said, e))
		return -1;
	return tell_said(t, &said, e);
}

/* ---- all of it ---- */

int slack_thread_find(struct store *st, const struct slack_act *a, struct slack_thread *t,
                      struct err *e)
{
	stmt *s = store_stmt(st, SQL_SLACK_THREAD);
	int got;

	bind_text(s, ":channel", a->channel);
	bind_text(s, ":thread", a->thread_ts);
	got = stmt_row(s, e);
	if (got > 0) {
		const char *request = col_text(s, SLACK_THREAD_REQUEST_ID);

		t->session_seq = col_int(s, SLACK_THREAD_SEQ);
		(void)snprintf(t->session_id, sizeof(t->session_id), "%s",
		               col_text(s, SLACK_THREAD_ID));
		(void)snprintf(t->request_id, sizeof(t->request_id), "%s", request ? request : "");
		(void)snprintf(t->status, sizeof(t->status), "%s",
		               col_text(s, SLACK_THREAD_STATUS));
	}
	stmt_reset(s);
	return got < 0 ? -1 : 0;
}

/* A direct message stands in no session's channel: there the default one is meant. */
static int find_channel(struct slack_talk *t, struct err *e)
{
	OWNED(str) struct str channel = STR_INIT;
	const char *own = t->act->channel;

	if (own && *own && *own != 'D')
		str_add(&channel, own);
	else if (setting_get(t->st, "slack.channel_id", &channel, e) < 0)
		return -1;
	(void)snprintf(t->channel, sizeof(t->channel), "%s", str_text(&channel));
	return 0;
}

int slack_order_run(struct store *st, const struct slack_act *a, const struct slack_thread *thread,
                    const char *operator_id, struct str *reply, struct err *e)
{
	struct slack_talk t = {
		.st = st, .act = a, .thread = thread, .operator_id = operator_id, .reply = reply
	};

	if (find_channel(&t, e))
		return -1;
	switch (a->deed) {
	case DEED_DECIDE:
	case DEED_ORDER:
		return say_of(&t, a->verdict, a->request, a->text, e);
	case DEED_ASKED:
		return answer_asked(&t, e);
	case DEED_OPEN:
		return slack_form_open(&t, e);
	case DEED_EMPTY:
		return slack_tell(&t, "Please write something.", e);
	case DEED_CLOSE:
		return slack_form_closed(&t, e);
	case DEED_NUDGE:
		return nudge(&t, e);
	case DEED_COMMAND:
		return slash(&t, e);
	case DEED_REPLY:
		return thread->session_seq ? reply_in_thread(&t, e) : mention(&t, e);
	case DEED_MENTION:
		return mention(&t, e);
	case DEED_NOTHING:
	case DEED_UNKNOWN:
		break;
	}
	return 0;
}
