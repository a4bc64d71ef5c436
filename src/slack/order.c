#include "order.h"

#include "clock.h"
#include "decision.h"
#include "envelope.h"
#include "id.h"
#include "json.h"
#include "request.h"
#include "setting.h"
#include "stall.h"
#include "text.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	SHORT_ID = 13, /* of an id as it is shown: its instant, in milliseconds */
	LEAST_ID = 8, /* a word of a command is an id from this length on */
	LISTED = 20, /* sessions in one answer */
	REPLY_MOST = 3800, /* characters of one */
	FORM_MS =
	    10 * 60 * 1000, /* after it was asked for, a reply is for the form that may not show */
};

struct order {
	struct store *st;
	const struct slack_act *act;
	const struct slack_thread *thread;
	const char *operator_id;
	char channel[64]; /* where sessions are looked for */
	struct str *reply;
};

/* ---- telling the person ---- */

/* mrkdwn: what looks like markup is none (slack.md section 9). */
static void escape(struct str *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '&')
			str_add(out, "&amp;");
		else if (*text == '<')
			str_add(out, "&lt;");
		else if (*text == '>')
			str_add(out, "&gt;");
		else
			str_add_char(out, *text);
	}
}

static void reply_to_command(struct order *o, const char *text)
{
	OWNED(str) struct str escaped = STR_INIT;

	escape(&escaped, text);
	slack_name_people(&escaped);
	str_reset(o->reply);
	str_add(o->reply, "{\"response_type\":\"ephemeral\",\"text\":");
	json_quote(o->reply, str_text(&escaped));
	str_add_char(o->reply, '}');
}

/* Shown at the field of the form, which stays open. */
static void reply_to_form(struct order *o, const char *text)
{
	if (!o->act->field)
		return;
	str_reset(o->reply);
	str_add(o->reply, "{\"response_action\":\"errors\",\"errors\":{");
	json_quote(o->reply, o->act->field);
	str_add_char(o->reply, ':');
	json_quote(o->reply, text);
	str_add(o->reply, "}}");
}

static int whisper(struct order *o, const char *text, struct err *e)
{
	struct instant until = clock_instant(clock_now_ms() + SLACK_WHISPER_MS);
	stmt *s = store_stmt(o->st, SQL_SLACK_WHISPER);

	bind_text(s, ":channel", o->act->channel);
	bind_text(s, ":thread_ts", o->act->thread_ts);
	bind_text(s, ":user", o->act->user);
	bind_text(s, ":text", text);
	bind_text(s, ":expires_at", until.text);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

static int answer_in_thread(struct order *o, const char *text, struct err *e)
{
	const struct slack_act *a = o->act;
	stmt *s = store_stmt(o->st, SQL_SLACK_REPLY);

	bind_seq(s, ":session", o->thread->session_seq);
	bind_text(s, ":channel", a->channel);
	bind_text(s, ":thread_ts", a->thread_ts ? a->thread_ts : a->message_ts);
	bind_text(s, ":text", text);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

/* Tells the person, in the way that fits what he did. */
static int tell(struct order *o, const char *text, struct err *e)
{
	const char *kind = o->act->kind ? o->act->kind : "";

	if (strcmp(kind, "command") == 0)
		reply_to_command(o, text);
	else if (strcmp(kind, "view_submission") == 0)
		reply_to_form(o, text);
	else if (o->act->deed == DEED_REPLY || o->act->deed == DEED_MENTION)
		return answer_in_thread(o, text, e);
	else if (o->act->channel && o->act->user)
		return whisper(o, text, e);
	return 0;
}

static int tellf(struct order *o, struct err *e, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static int tellf(struct order *o, struct err *e, const char *format, ...)
{
	char text[ERR_TEXT_BYTES + 200];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return tell(o, text, e);
}

/* Whether a success is worth a line: buttons and forms show it by the edited message. */
static bool is_written(const struct order *o)
{
	return o->act->deed == DEED_COMMAND || o->act->deed == DEED_REPLY ||
	       o->act->deed == DEED_MENTION;
}

/* ---- answers to questions ---- */

static const char *past(const char *verdict)
{
	static const char *const PAST[][2] = {
		{ "approve", "Approved" }, { "reject", "Rejected" }, { "continue", "Continued" },
		{ "refine", "Refined" },   { "stop", "Stopped" },    { "resume", "Resumed" },
	};

	for (size_t i = 0; i < COUNT(PAST); i++)
		if (strcmp(PAST[i][0], verdict) == 0)
			return PAST[i][1];
	return "Done";
}

static int decide(struct order *o, const char *request, const char *verdict, const char *text,
                  struct err *e)
{
	bool rejects = strcmp(verdict, "reject") == 0;
	const char *said = text && *text ? text : NULL;
	const struct decision d = { .request_id = request,
		                    .verdict = verdict,
		                    .reason = rejects ? said : NULL,
		                    .instruction = rejects ? NULL : said,
		                    .operator_id = o->operator_id,
		                    .source = "slack" };
	struct decision_result r = DECISION_RESULT_INIT;
	struct err why = ERR_INIT;
	int failed = decision_insert(o->st, &d, &r, e);
	bool applied = !failed && decision_check(&r, &why) == 0;

	decision_result_clear(&r);
	if (failed)
		return -1;
	if (!applied)
		return tell(o, why.text, e);
	return is_written(o) ? tellf(o, e, "%s.", past(verdict)) : 0;
}

/* The questions that a verdict can be about: how many (2: several), the first in id. */
static int candidates(struct order *o, const char *verdict, char id[40], struct err *e)
{
	bool of_thread = o->thread->session_seq != 0;
	stmt *s =
	    store_stmt(o->st, of_thread ? SQL_SLACK_CANDIDATES : SQL_SLACK_CANDIDATES_OF_CHANNEL);
	int got, count = 0;

	bind_text(s, ":verdict", verdict);
	bind_int(s, ":limit", 2);
	if (of_thread)
		bind_int(s, ":session", o->thread->session_seq);
	else
		bind_text(s, ":channel", o->channel);
	while ((got = stmt_row(s, e)) > 0)
		if (count++ == 0)
			(void)snprintf(id, 40, "%s", col_text(s, 0)); /* id first, in both */
	stmt_reset(s);
	return got < 0 ? -1 : count;
}

_Static_assert((int)SLACK_CANDIDATES_ID == 0 && (int)SLACK_CANDIDATES_OF_CHANNEL_ID == 0,
               "both statements give the id first");

static bool is_verdict(const char *verb)
{
	static const char *const VERDICTS[] = { "approve", "reject", "continue",
		                                "refine",  "stop",   "resume" };

	for (size_t i = 0; i < COUNT(VERDICTS); i++)
		if (strcmp(VERDICTS[i], verb) == 0)
			return true;
	return false;
}

/* The length of an id that a line begins with, 0 if it begins with another word. */
static size_t id_length(const char *line)
{
	size_t n = strspn(line, "0123456789abcdefABCDEF-");

	return n >= LEAST_ID && n < ID_BYTES && (line[n] == '\0' || isspace((unsigned char)line[n]))
	           ? n
	           : 0;
}

static const char *after_word(const char *line, size_t length)
{
	line += length;
	while (isspace((unsigned char)*line))
		line++;
	return line;
}

/* The whole id of the request whose id begins with the first word of *rest, which is passed over.
 * 1 found, 0 the person has been told that there is none, -1 error. */
static int named_request(struct order *o, const char **rest, size_t length, char id[40],
                         struct err *e)
{
	OWNED(request) struct request r = REQUEST_INIT;
	struct err why = ERR_INIT;
	char word[ID_BYTES];
	int64_t seq = 0;
	int got;

	(void)snprintf(word, sizeof(word), "%.*s", (int)length, *rest);
	*rest = after_word(*rest, length);
	got = request_find(o->st, word, &seq, &why);
	if (got < 0 && why.kind != ERR_INPUT) {
		*e = why;
		return -1;
	}
	if (got <= 0)
		return tellf(o, e, "%s", got < 0 ? why.text : "no question has this id") ? -1 : 0;
	if (request_read(o->st, seq, &r, e) < 0)
		return -1;
	(void)snprintf(id, 40, "%s", r.id);
	return 1;
}

/* A verdict that somebody wrote: about the question it names, or the only one it can be about. */
static int answer(struct order *o, const char *verdict, const char *rest, struct err *e)
{
	size_t length = id_length(rest);
	char id[40] = "";
	int count = 1;

	if (length) {
		count = named_request(o, &rest, length, id, e);
		if (count <= 0)
			return count;
	} else if (*o->thread->request_id) {
		(void)snprintf(id, sizeof(id), "%s", o->thread->request_id);
	} else {
		count = candidates(o, verdict, id, e);
	}
	if (count < 0)
		return -1;
	if (count == 0)
		return tellf(o, e, "nothing waits for `%s`", verdict);
	if (count > 1)
		return tellf(
		    o, e,
		    "several questions wait for `%s`: press the button at the one that you "
		    "mean, or name it: `%s <id>`",
		    verdict, verdict);
	return decide(o, id, verdict, rest, e);
}

/* ---- files ---- */

/* Mcp-front reads them, slack-poster shows them where the person is. */
static int show_file(struct order *o, const char *request, struct err *e)
{
	const struct slack_act *a = o->act;
	const struct command c = { .verb = "file",
		                   .argument = request,
		                   .operator_id = o->operator_id,
		                   .source = "slack" };
	OWNED(command_result) struct command_result result = COMMAND_RESULT_INIT;
	struct err why = ERR_INIT;
	stmt *s;
	int did;

	if (command_insert(o->st, &c, &result, e))
		return -1;
	if (command_check(&result, &why))
		return tell(o, why.text, e);
	s = store_stmt(o->st, SQL_FILE_VIEW_INSERT);
	bind_text(s, ":request", request);
	bind_text(s, ":channel", a->deed == DEED_COMMAND ? NULL : a->channel);
	bind_text(s, ":thread_ts", a->thread_ts ? a->thread_ts : a->message_ts);
	did = stmt_run(s, e);
	if (did < 0)
		return -1;
	if (did == 0)
		return tell(o, "that is no proposed change of a session that you may see here", e);
	return a->deed == DEED_COMMAND ? tell(o, "The file comes in the session's thread.", e) : 0;
}

/* `file`: of the change it names, of the thread's, or of the only one that waits. */
static int file_verb(struct order *o, const char *rest, struct err *e)
{
	size_t length = id_length(rest);
	char id[40] = "";
	int count = 1;

	if (length)
		count = named_request(o, &rest, length, id, e);
	else if (*o->thread->request_id)
		(void)snprintf(id, sizeof(id), "%s", o->thread->request_id);
	else
		count = candidates(o, "approve", id, e);
	if (count < 0 || (count == 0 && length))
		return count;
	if (count == 0)
		return tell(o, "no proposed change waits; name one: `file <id>`", e);
	if (count > 1)
		return tell(o,
		            "several changes wait: press the button at the one that you mean, or "
		            "name it: `file <id>`",
		            e);
	return show_file(o, id, e);
}

/* ---- forms ---- */

static bool names_open_request(struct order *o, int64_t *ret_seq, struct err *why, struct err *e)
{
	stmt *s = store_stmt(o->st, SQL_SLACK_IS_OPEN);
	int got;

	bind_text(s, ":id", o->act->request);
	got = stmt_row(s, e);
	if (got > 0) {
		const char *by = col_text(s, SLACK_IS_OPEN_DECIDED_BY);

		*ret_seq = col_int(s, SLACK_IS_OPEN_SEQ);
		if (by)
			(void)err_set(why, ERR_INPUT, "already answered with '%s' by %s at %s",
			              col_text(s, SLACK_IS_OPEN_DECISION), by,
			              col_text(s, SLACK_IS_OPEN_DECIDED_AT));
	} else if (got == 0) {
		(void)err_set(why, ERR_INPUT, "there is no such question any more");
	}
	stmt_reset(s);
	return got > 0 && why->kind == ERR_NONE;
}

static int64_t session_seq_of(struct order *o, const char *id, struct err *e)
{
	stmt *s = store_stmt(o->st, SQL_SLACK_LIVE_SESSION);

	bind_text(s, ":id", id);
	return stmt_number(s, SLACK_LIVE_SESSION_SEQ, e);
}

/* The session that a button of an alert, or its form, is about: they carry the alert's id or the
 * session's. 1 it may be acted on, 0 the person has been told why not, -1 error. */
static int stalled_session(struct order *o, bool nudges, char id[ID_BYTES], struct err *e)
{
	stmt *s = store_stmt(o->st, SQL_STALL_BY_ID);
	char why[200] = "";
	int got;

	bind_text(s, ":id", o->act->session);
	got = stmt_row(s, e);
	(void)snprintf(id, ID_BYTES, "%s",
	               got > 0 ? col_text(s, STALL_BY_ID_SESSION_ID) : o->act->session);
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
	return *why ? (tell(o, why, e) ? -1 : 0) : 1;
}

/* Slack-poster opens it: its first job, because the trigger lives for 3 s. */
static int open_form(struct order *o, struct err *e)
{
	const struct slack_act *a = o->act;
	struct instant until = clock_instant(clock_now_ms() + SLACK_TRIGGER_MS);
	struct err why = ERR_INIT;
	int64_t request = 0, session = 0;
	char id[ID_BYTES];
	stmt *s;

	if (a->request && !names_open_request(o, &request, &why, e))
		return why.kind == ERR_NONE ? -1 : tell(o, why.text, e);
	if (a->session) {
		int may = stalled_session(o, true, id, e);

		if (may <= 0)
			return may;
		session = session_seq_of(o, id, e);
		if (session <= 0)
			return session < 0 ? -1 : tell(o, "there is no such session any more", e);
	}
	if (!a->trigger_id)
		return tellf(o, e,
		             "Slack lets no form be opened here; answer in the thread: `%s <text>`",
		             a->view);
	s = store_stmt(o->st, SQL_SLACK_OPEN_FORM);
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

/* What this person writes next is not for the form any more. */
static int form_closed(struct order *o, struct err *e)
{
	stmt *s = store_stmt(o->st, SQL_SLACK_FORM_CLOSED);

	bind_text(s, ":request", o->act->request);
	bind_text(s, ":user", o->act->user);
	return stmt_run(s, e) < 0 ? -1 : 0;
}

/* ---- steering ---- */

/* What came of something that an agent is to be told. */
static int tell_steered(struct order *o, int64_t seq, struct err *e)
{
	stmt *s = store_stmt(o->st, SQL_STEERING_OUTCOME);
	char told[400] = "";
	int got;

	bind_int(s, ":seq", seq);
	got = stmt_row(s, e);
	if (got > 0) {
		const char *why = col_text(s, STEERING_OUTCOME_WHY);
		const char *status = col_text(s, STEERING_OUTCOME_STATUS);
		const char *line = col_text(s, STEERING_OUTCOME_CONNECTIVITY_STATUS);

		(void)snprintf(told, sizeof(told), "%s",
		               why                             ? why
		               : !status                       ? "Noted: the next agent that "
		                                                 "starts here is told."
		               : strcmp(status, "paused") == 0 ? "Noted: the agent is told when "
		                                                 "its session is resumed."
		               : line && strcmp(line, "online") != 0
		                   ? "Noted: the agent is not "
		                     "connected; it is told when it "
		                     "is back."
		                   : "Noted: the agent is told with "
		                     "its next step.");
	}
	stmt_reset(s);
	return got < 0 ? -1 : tell(o, told, e);
}

static int steer(struct order *o, const char *kind, const char *session, const char *text,
                 struct err *e)
{
	const struct saying w = { .kind = kind,
		                  .session_id = session,
		                  .channel_id = session || !*o->channel ? NULL : o->channel,
		                  .text = text,
		                  .operator_id = o->operator_id,
		                  .source = "slack" };
	int64_t seq = saying_put(o->st, &w, e);

	return seq < 0 ? -1 : tell_steered(o, seq, e);
}

/* ---- orders to sessions ---- */

static const char *done(const char *verb)
{
	return strcmp(verb, "pause") == 0    ? "paused"
	       : strcmp(verb, "resume") == 0 ? "active again"
	                                     : "stopped";
}

/* Stores an order; what came of it is told. session may be NULL. line: in place of the usual one
 * where it is done or refused. */
static int order(struct order *o, const char *verb, const char *session, const char *argument,
                 const char *line, struct err *e)
{
	const struct command c = { .verb = verb,
		                   .session_id = session,
		                   .argument = argument,
		                   .operator_id = o->operator_id,
		                   .source = "slack" };
	OWNED(command_result) struct command_result result = COMMAND_RESULT_INIT;
	struct err why = ERR_INIT;

	if (command_insert(o->st, &c, &result, e))
		return -1;
	if (line)
		return tell(o, line, e);
	if (command_check(&result, &why))
		return tell(o, why.text, e);
	return tellf(o, e, "Session %.*s is %s.", SHORT_ID, session, done(verb));
}

static int session_by_word(struct order *o, const char *line, size_t length, struct slack_thread *t,
                           struct err *e)
{
	stmt *s = store_stmt(o->st, SQL_SESSION_BY_PREFIX);
	char start[ID_BYTES], end[ID_BYTES];
	int got, count = 0;

	(void)snprintf(start, sizeof(start), "%.*s", (int)length, line);
	(void)snprintf(end, sizeof(end), "%s", start);
	end[length - 1]++;
	bind_text(s, ":start", start);
	bind_text(s, ":end", end);
	while ((got = stmt_row(s, e)) > 0)
		if (count++ == 0) {
			t->session_seq = col_int(s, SESSION_BY_PREFIX_SEQ);
			(void)snprintf(t->session_id, sizeof(t->session_id), "%s",
			               col_text(s, SESSION_BY_PREFIX_ID));
		}
	stmt_reset(s);
	return got < 0 ? -1 : count;
}

/* How many of the channel's sessions have this status (NULL: any); the most recently active one of
 * them. */
static int session_of_channel(struct order *o, const char *status, struct slack_thread *t,
                              struct err *e)
{
	stmt *s = store_stmt(o->st, SQL_SLACK_LIVE_SESSIONS);
	int got, count = 0;

	bind_text(s, ":channel", o->channel);
	bind_int(s, ":limit", LISTED);
	while ((got = stmt_row(s, e)) > 0) {
		const char *have = col_text(s, SLACK_LIVE_SESSIONS_STATUS);

		if ((status && strcmp(status, have) != 0) || count++ > 0)
			continue;
		t->session_seq = col_int(s, SLACK_LIVE_SESSIONS_SEQ);
		(void)snprintf(t->session_id, sizeof(t->session_id), "%s",
		               col_text(s, SLACK_LIVE_SESSIONS_ID));
		(void)snprintf(t->status, sizeof(t->status), "%s", have);
	}
	stmt_reset(s);
	return got < 0 ? -1 : count;
}

/* The session that a line is about: the one it names, that of the thread, else the channel's most
 * recently active one (only if it is the only one, where it matters). *rest goes behind the name.
 * 1 found, 0 the person has been told that there is none, -1 error. */
static int target(struct order *o, const char **rest, bool only, struct slack_thread *t,
                  struct err *e)
{
	size_t length = id_length(*rest);
	int count = 0;

	*t = *o->thread;
	if (length) {
		count = session_by_word(o, *rest, length, t, e);
		*rest = after_word(*rest, length);
		if (count == 0 || count > 1)
			return tell(o,
			            count ? "several sessions have an id that begins so"
			                  : "no session has an id that begins so",
			            e)
			           ? -1
			           : 0;
		return count;
	}
	if (t->session_seq)
		return 1;
	count = session_of_channel(o, NULL, t, e);
	if (count < 0)
		return -1;
	if (count == 0)
		return tell(o, "no session is live in this channel", e) ? -1 : 0;
	if (count > 1 && only)
		return tell(o, "several sessions are live here; name the one: see `sessions`", e)
		           ? -1
		           : 0;
	return 1;
}

/* ---- verbs ---- */

static const char HELP[] =
    "sessions — what runs, and what waits for you\n"
    "steer [session] <text> — tell the agent something; it reads it with its next step\n"
    "task <text> — for the next agent that starts here\n"
    "pause [session], resume [session] — the agent waits at its next call, and goes on\n"
    "stop <session> — end a session; what it asks is answered with no\n"
    "nudge [session] [text] — tell a silent agent to go on\n"
    "mode remote|local|hybrid [session] — answer in Slack, at the terminal, or in both\n"
    "approve [id], reject [id] <why> — a proposed change\n"
    "file [id] — the file that a change is about, whole, as it is now\n"
    "continue [id], refine [id] <text> — an agent that asks whether to go on\n"
    "resume [text] — an agent that waits for instructions\n"
    "In a session's thread, the same words work without /intercom, and anything else is told to "
    "the "
    "agent. Ids may be shortened to their first 13 characters.";

static const char KEYWORDS[] =
    "A question waits here, and that is none of the words for it: approve, reject <why>, continue, "
    "refine <text>, stop, resume [text], file. To tell the agent something else: steer <text>.";

static int help(struct order *o, const char *rest, struct err *e)
{
	return order(o, "help", NULL, *rest ? rest : NULL, HELP, e);
}

static void add_session(struct str *out, stmt *s)
{
	const char *tool = col_text(s, SLACK_LIVE_SESSIONS_LAST_TOOL);
	const char *client = col_text(s, SLACK_LIVE_SESSIONS_CLIENT_NAME);
	const char *at = col_text(s, SLACK_LIVE_SESSIONS_LAST_ACTIVITY_AT);
	const char *root = col_text(s, SLACK_LIVE_SESSIONS_WORKSPACE_ROOT);
	long long questions = col_int(s, SLACK_LIVE_SESSIONS_QUESTIONS);

	str_addf(out, "%.*s  %s, %s", SHORT_ID, col_text(s, SLACK_LIVE_SESSIONS_ID),
	         col_text(s, SLACK_LIVE_SESSIONS_STATUS), col_text(s, SLACK_LIVE_SESSIONS_MODE));
	if (strcmp(col_text(s, SLACK_LIVE_SESSIONS_CONNECTIVITY_STATUS), "online") != 0)
		str_addf(out, ", %s", col_text(s, SLACK_LIVE_SESSIONS_CONNECTIVITY_STATUS));
	if (client) {
		str_add(out, "  ");
		str_add_shown(out, client, strlen(client), 40);
	}
	str_add(out, "  ");
	str_add_shown(out, root, strlen(root), 100);
	if (tool)
		str_addf(out, "  last: %s", tool);
	if (at)
		str_addf(out, " at %.16sZ", at);
	if (questions)
		str_addf(out, "  %lld waiting for you", questions);
	str_add_char(out, '\n');
}

static int sessions(struct order *o, struct err *e)
{
	OWNED(str) struct str text = STR_INIT;
	stmt *s = store_stmt(o->st, SQL_SLACK_LIVE_SESSIONS);
	int got, count = 0;

	bind_int(s, ":limit", LISTED + 1);
	while ((got = stmt_row(s, e)) > 0) {
		if (count++ == LISTED || text.length > REPLY_MOST) {
			str_add(&text, "... and more; see `agent-intercom-ctl list`\n");
			got = 0;
			break;
		}
		add_session(&text, s);
	}
	stmt_reset(s);
	if (got < 0)
		return -1;
	return order(o, "sessions", NULL, NULL, count ? text.bytes : "no session is live", e);
}

static int steer_verb(struct order *o, const char *rest, struct err *e)
{
	struct slack_thread t;
	int found = target(o, &rest, false, &t, e);

	if (found <= 0)
		return found;
	return *rest ? steer(o, "steer", t.session_id, rest, e)
	             : tell(o, "what is the agent to be told? steer <text>", e);
}

/* For the session that is named, or whose thread this is; else for all, and those to come. */
static int mode_verb(struct order *o, const char *rest, struct err *e)
{
	int length = (int)strcspn(rest, " \t\r\n");
	const char *after = after_word(rest, (size_t)length);
	struct slack_thread t = *o->thread;
	OWNED(command_result) struct command_result result = COMMAND_RESULT_INIT;
	struct err why = ERR_INIT;
	char mode[16];
	int found = id_length(after) ? target(o, &after, false, &t, e) : 1;

	if (found <= 0)
		return found;
	(void)snprintf(mode, sizeof(mode), "%.*s", length, rest);
	const struct command c = { .verb = "mode",
		                   .session_id = t.session_seq ? t.session_id : NULL,
		                   .argument = mode,
		                   .operator_id = o->operator_id,
		                   .source = "slack" };
	if (command_insert(o->st, &c, &result, e))
		return -1;
	if (command_check(&result, &why))
		return tell(o, why.text, e);
	if (t.session_seq)
		return tellf(o, e, "Session %.*s is in %s mode.", SHORT_ID, t.session_id, mode);
	return tellf(o, e, "All sessions, and those to come, are in %s mode.", mode);
}

static int nudge_verb(struct order *o, const char *rest, struct err *e)
{
	struct slack_thread t;
	int64_t seq;
	int found = target(o, &rest, true, &t, e);

	if (found <= 0)
		return found;
	if (stall_nudge(o->st, t.session_id, *rest ? rest : NULL, o->operator_id, "slack", &seq, e))
		return -1;
	return tell_steered(o, seq, e);
}

/* `resume` is for a session that is paused, and where none is, for an agent that stands by. */
static int resume_verb(struct order *o, const char *rest, struct err *e)
{
	struct slack_thread t = *o->thread;
	int paused = t.session_seq ? strcmp(t.status, "paused") == 0
	                           : session_of_channel(o, "paused", &t, e);

	if (paused < 0)
		return -1;
	return paused ? order(o, "resume", t.session_id, NULL, NULL, e)
	              : answer(o, "resume", rest, e);
}

static int session_verb(struct order *o, const char *verb, const char *rest, struct err *e)
{
	struct slack_thread t;
	int found;

	if (strcmp(verb, "resume") == 0 && !id_length(rest))
		return resume_verb(o, rest, e);
	found = target(o, &rest, strcmp(verb, "stop") == 0, &t, e);
	return found <= 0 ? found : order(o, verb, t.session_id, NULL, NULL, e);
}

/* The seeds' names of what has a shorter one. */
static const char *short_verb(const char *verb)
{
	static const char *const NAMES[][2] = {
		{ "session-pause", "pause" },   { "session-resume", "resume" },
		{ "session-stop", "stop" },     { "session-clear", "stop" },
		{ "session-list", "sessions" },
	};

	for (size_t i = 0; i < COUNT(NAMES); i++)
		if (strcmp(NAMES[i][0], verb) == 0)
			return NAMES[i][1];
	return verb;
}

static bool is_later(const char *verb)
{
	static const char *const LATER[] = { "session-start",   "session-restart",
		                             "session-cleanup", "session-checkpoint",
		                             "session-restore", "session-checkpoints",
		                             "list-files",      "show-file" };

	for (size_t i = 0; i < COUNT(LATER); i++)
		if (strcmp(LATER[i], verb) == 0)
			return true;
	return false;
}

/* Whether [commands] of the configuration has this alias. */
static bool is_alias(struct order *o, const char *verb)
{
	OWNED(str) struct str commands = STR_INIT;
	OWNED(cJSON_ptr) cJSON *map = NULL;

	if (setting_get(o->st, "commands", &commands, NULL) <= 0)
		return false;
	map = cJSON_Parse(str_text(&commands));
	return cJSON_GetObjectItemCaseSensitive(map, verb) != NULL;
}

static int unknown(struct order *o, const char *verb, const char *rest, struct err *e)
{
	char text[200];

	if (is_later(verb) || is_alias(o, verb))
		return order(o, is_later(verb) ? verb : "run", NULL, is_later(verb) ? rest : verb,
		             "that needs sessions which agent-intercom starts itself; this version "
		             "does not do that yet",
		             e);
	(void)snprintf(text, sizeof(text), "command not found: %s; `help` lists the commands",
	               *verb ? verb : "that word");
	return order(o, verb, NULL, rest, text, e);
}

/* "file", or "file <id>"; not "file a bug". */
static bool names_file(const struct slack_words *w)
{
	return strcmp(w->verb, "file") == 0 && (!*w->rest || id_length(w->rest));
}

/* A command line, of /intercom or behind a mention. 0 done; 1 it begins with no verb of ours. */
static int run_line(struct order *o, const struct slack_words *w, struct err *e)
{
	const char *verb = short_verb(w->verb);

	if (strcmp(verb, "help") == 0)
		return help(o, w->rest, e);
	if (strcmp(verb, "sessions") == 0)
		return sessions(o, e);
	if (strcmp(verb, "steer") == 0)
		return steer_verb(o, w->rest, e);
	if (strcmp(verb, "task") == 0)
		return *w->rest ? steer(o, "task", NULL, w->rest, e)
		                : tell(o, "what is to be done? task <text>", e);
	if (strcmp(verb, "mode") == 0)
		return mode_verb(o, w->rest, e);
	if (strcmp(verb, "nudge") == 0)
		return nudge_verb(o, w->rest, e);
	if (strcmp(verb, "pause") == 0 || strcmp(verb, "resume") == 0 || strcmp(verb, "stop") == 0)
		return session_verb(o, verb, w->rest, e);
	if (names_file(w))
		return file_verb(o, w->rest, e);
	if (is_verdict(verb))
		return answer(o, verb, w->rest, e);
	return 1;
}

/* ---- threads and mentions ---- */

/* How many questions of the thread's session wait, up to 2. */
static int waiting(struct order *o, struct err *e)
{
	stmt *s = store_stmt(o->st, SQL_REQUEST_OPEN_OF_SESSION);
	int got, count = 0;

	bind_int(s, ":session", o->thread->session_seq);
	while (count < 2 && (got = stmt_row(s, e)) > 0)
		count++;
	stmt_reset(s);
	return count < 2 && got < 0 ? -1 : count;
}

/* The question whose form this person does not see, as far as we know: what he writes next is what
 * he would have written there. */
static int missed_form(struct order *o, char id[40], char view[16], struct err *e)
{
	struct instant since = clock_instant(clock_now_ms() - FORM_MS);
	stmt *s = store_stmt(o->st, SQL_SLACK_FORM_MISSED);
	int got;

	bind_int(s, ":session", o->thread->session_seq);
	bind_text(s, ":user", o->act->user);
	bind_text(s, ":since", since.text);
	got = stmt_row(s, e);
	if (got > 0) {
		(void)snprintf(id, 40, "%s", col_text(s, SLACK_FORM_MISSED_ID));
		(void)snprintf(view, 16, "%s", col_text(s, SLACK_FORM_MISSED_VIEW));
	}
	stmt_reset(s);
	return got;
}

/* Nothing waits here: one word alone is an order, anything else is for the agent. */
static int say_to_session(struct order *o, const struct slack_words *w, struct err *e)
{
	const char *verb = w->verb;

	if (!*w->rest && (strcmp(verb, "pause") == 0 || strcmp(verb, "resume") == 0 ||
	                  strcmp(verb, "stop") == 0))
		return order(o, verb, o->thread->session_id, NULL, NULL, e);
	return steer(o, "steer", o->thread->session_id, o->act->text, e);
}

static int reply_in_thread(struct order *o, struct err *e)
{
	const struct slack_words w = slack_words(o->act->text);
	char id[40] = "", view[16] = "";
	int open = waiting(o, e), missed = open > 0 ? missed_form(o, id, view, e) : 0, fits = 0;

	if (open < 0 || missed < 0)
		return -1;
	if (strcmp(w.verb, "help") == 0 || strcmp(w.verb, "steer") == 0 ||
	    strcmp(w.verb, "task") == 0 || (open > 0 && names_file(&w)) ||
	    (o->act->mentioned && strcmp(w.verb, "sessions") == 0))
		return run_line(o, &w, e);
	if (missed && (*w.rest || !is_verdict(w.verb)))
		return decide(o, id, view, strcmp(w.verb, view) == 0 ? w.rest : o->act->text, e);
	if (open == 0)
		return say_to_session(o, &w, e);
	if (is_verdict(w.verb)) {
		fits =
		    *o->thread->request_id || id_length(w.rest) ? 1 : candidates(o, w.verb, id, e);
		if (fits < 0)
			return -1;
	}
	if (fits)
		return answer(o, w.verb, w.rest, e);
	if (strcmp(w.verb, "pause") == 0 && !*w.rest)
		return order(o, "pause", o->thread->session_id, NULL, NULL, e);
	return tell(o, KEYWORDS, e);
}

static int mention(struct order *o, struct err *e)
{
	const struct slack_words w = slack_words(o->act->text);
	const char *rest = o->act->text;
	struct slack_thread t;
	int done = *w.verb || *w.rest ? run_line(o, &w, e) : help(o, "", e);

	if (done != 1)
		return done;
	done = target(o, &rest, false, &t, e);
	return done <= 0 ? done : steer(o, "steer", t.session_id, rest, e);
}

static int slash(struct order *o, struct err *e)
{
	const struct slack_words w = slack_words(o->act->text);
	int done = *w.verb || *w.rest ? run_line(o, &w, e) : help(o, "", e);

	return done == 1 ? unknown(o, w.verb, w.rest, e) : done;
}

/* ---- silent agents ---- */

static int nudge(struct order *o, struct err *e)
{
	const struct slack_act *a = o->act;
	bool stops = strcmp(a->verdict, "stop") == 0;
	char id[ID_BYTES];
	int64_t seq;
	int may = stalled_session(o, !stops, id, e);

	if (may <= 0)
		return may;
	if (stops)
		return order(o, "stop", id, NULL, NULL, e);
	if (stall_nudge(o->st, id, a->text, o->operator_id, "slack", &seq, e))
		return -1;
	return tell_steered(o, seq, e);
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
static int find_channel(struct order *o, struct err *e)
{
	OWNED(str) struct str channel = STR_INIT;
	const char *own = o->act->channel;

	if (own && *own && *own != 'D')
		str_add(&channel, own);
	else if (setting_get(o->st, "slack.channel_id", &channel, e) < 0)
		return -1;
	(void)snprintf(o->channel, sizeof(o->channel), "%s", str_text(&channel));
	return 0;
}

int slack_order_run(struct store *st, const struct slack_act *a, const struct slack_thread *t,
                    const char *operator_id, struct str *reply, struct err *e)
{
	struct order o = {
		.st = st, .act = a, .thread = t, .operator_id = operator_id, .reply = reply
	};

	if (find_channel(&o, e))
		return -1;
	switch (a->deed) {
	case DEED_DECIDE:
		return decide(&o, a->request, a->verdict, a->text, e);
	case DEED_OPEN:
		return open_form(&o, e);
	case DEED_EMPTY:
		return tell(&o, "Please write something.", e);
	case DEED_FILE:
		return show_file(&o, a->request, e);
	case DEED_CLOSE:
		return form_closed(&o, e);
	case DEED_NUDGE:
		return nudge(&o, e);
	case DEED_COMMAND:
		return slash(&o, e);
	case DEED_REPLY:
		return t->session_seq ? reply_in_thread(&o, e) : mention(&o, e);
	case DEED_MENTION:
		return mention(&o, e);
	case DEED_NOTHING:
	case DEED_UNKNOWN:
		break;
	}
	return 0;
}
