#include "line.h"

#include "err.h"
#include "form.h"
#include "json.h"
#include "setting.h"
#include "sql/agent_turn.h"
#include "sql/slack_envelope.h"
#include "sql/stall.h"
#include "texts.h"
#include "words.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* What they wrote, without the signs around its verb and its id. */
static struct verb_line read_line(const struct slack_talk *t, struct str *plain)
{
	verb_add_plain(plain, t->intent->text ? t->intent->text : "");
	return verb_read(str_text(plain));
}

static int say_line(struct slack_talk *t, const struct verb_line *l, struct err *e)
{
	const struct words w = { .verb = l->verb, .line = l->rest };

	return slack_say(t, &w, e);
}

/* Free text for the agent. */
static int say_to_agent(struct slack_talk *t, const char *text, struct err *e)
{
	const struct speaker who = slack_speaker(t);
	OWNED(said) struct said s = { 0 };
	OWNED(str) struct str meant = { 0 };

	if (operator_tell(t->st, &who, text, &s, e) || operator_meant(t->st, text, &meant, e))
		return -1;
	if (meant.length)
		str_addf(&s.text, "\n%sIf you meant the command: %s",
		         s.outcome == SAID_DONE ? "The agent is told it as words. " : "",
		         meant.bytes);
	return slack_tell_said(t, &s, e);
}

/* Whether only an id, or nothing, follows the verb. */
static bool is_id_or_nothing(const char *rest)
{
	size_t n = verb_id_length(rest);

	return !*rest || (n && !*verb_skip_blanks(rest + n));
}

/* Whether a line in a conversation is an order: a verb and at most an id ("stop using tabs" is a
 * sentence), plus the new value for verbs that switch something. Nobody begins a sentence with
 * "session-start" or "show-file". */
static bool is_order(const struct verb_line *l)
{
	static const char *const SWITCHES[] = { "remote", "local", "hybrid", "on", "off", NULL };
	OWNED(str) struct str value = { 0 };
	const char *rest = l->rest;

	if (strncmp(l->word, "session-", strlen("session-")) == 0 ||
	    strcmp(l->word, "run-stop") == 0 ||
	    (l->verb->about == ABOUT_FILES && strcmp(l->word, "diff") != 0))
		return true;
	if (strcmp(l->word, "diff") == 0)
		return is_id_or_nothing(rest) || strcasecmp(rest, "start") == 0 ||
		       strspn(rest, "\"'`\xE2") > 0;
	if (strcmp(l->verb->word, "help") == 0)
		return strcspn(rest, " \t\r\n") == strlen(rest);
	if (strcmp(l->verb->word, "runs") == 0)
		return strspn(rest, "0123456789") == strlen(rest);
	if (l->verb->row == VERB_STEERING && l->verb->text == TEXT_MUST)
		return !*rest;
	if (verb_is_too_short(l->verb, rest))
		return true;
	if (l->verb->text == TEXT_MUST && verb_take_switch(&rest, &value) &&
	    texts_name(SWITCHES, value.bytes))
		return is_id_or_nothing(rest);
	return is_id_or_nothing(l->rest);
}

/* In such a line, what follows the verb is an id, whatever it looks like; but for an order that may
 * have a text, the desk tells a label or a prompt from an id. */
static int say_order(struct slack_talk *t, const struct verb_line *l, struct err *e)
{
	bool has_id = l->verb->text == TEXT_NONE ||
	              (l->verb->text == TEXT_MAY && l->verb->row == VERB_DECISION);
	size_t n = has_id ? verb_id_length(l->rest) : 0;
	char id[ID_BYTES];

	if (!n || *verb_skip_blanks(l->rest + n))
		return say_line(t, l, e);
	(void)snprintf(id, sizeof(id), "%.*s", (int)n, l->rest);
	return slack_say_of(t, l->verb->word, id, NULL, e);
}

/* The alias of [commands] that the first word of a line is, exactly or in small letters; the caller
 * frees; NULL: none. */
static char *find_alias(struct slack_talk *t, const char *line)
{
	OWNED(cJSON_ptr) cJSON *map = NULL;
	OWNED(str) struct str word = { 0 };
	const cJSON *found;

	(void)setting_json(t->st, "commands", &map, NULL);
	line = verb_skip_blanks(line);
	str_add_bytes(&word, line, strcspn(line, " \t\r\n"));
	found = cJSON_GetObjectItemCaseSensitive(map, str_text(&word));
	if (!found)
		found = cJSON_GetObjectItemCaseSensitive(map, verb_read(line).word);
	return found ? xstrdup(found->string) : NULL;
}

static int unknown(struct slack_talk *t, const struct verb_line *l, struct err *e)
{
	OWNED(char_ptr) char *alias = find_alias(t, t->intent->text);
	OWNED(str) struct str text = { 0 };

	if (alias) {
		str_addf(&text, "%s %s", alias, l->rest);
		const struct words run = { .verb = verb_find("run"), .line = str_text(&text) };

		return slack_say(t, &run, e);
	}
	if (slack_keep(t, l->word, l->rest, e) || operator_unknown(t->st, l->word, true, &text, e))
		return -1;
	return slack_tell(t, str_text(&text), e);
}

/* "run test" in a conversation is an order if `test` is an alias, and nothing but an id follows. */
static bool is_run(struct slack_talk *t, const struct verb_line *l)
{
	OWNED(char_ptr) char *alias = NULL;

	if (strcmp(l->word, "run") != 0)
		return false;
	alias = find_alias(t, l->rest);
	return alias && is_id_or_nothing(verb_skip_blanks(l->rest + strcspn(l->rest, " \t\r\n")));
}

/* Whether a line in a conversation is an order, also by what the rows know. 1, 0, -1. */
static int is_known_order(struct slack_talk *t, const struct verb_line *l, struct err *e)
{
	if (!l->verb || is_order(l) || is_run(t, l))
		return l->verb != NULL;
	return strcmp(l->word, "diff") == 0 ? operator_is_label(t->st, l->rest, e) : 0;
}

int slack_line_of_command(struct slack_talk *t, struct err *e)
{
	OWNED(str) struct str plain = { 0 };
	struct verb_line l = read_line(t, &plain);

	if (!*l.word && !*l.rest)
		l.verb = verb_find("help");
	return l.verb ? say_line(t, &l, e) : unknown(t, &l, e);
}

static bool is_verb(const struct verb_line *l, const char *word)
{
	return l->verb && strcmp(l->verb->word, word) == 0;
}

/* Whether an answer begins with the id of a question, of whatever agent and state: its words are
 * for nobody else. -1 on error. */
static int names_question(struct slack_talk *t, const struct verb_line *l, struct err *e)
{
	size_t n = verb_id_length(l->rest);
	OWNED(found) struct found f = { 0 };
	char id[ID_BYTES];

	if (!l->verb || l->verb->row != VERB_DECISION || !n)
		return 0;
	(void)snprintf(id, sizeof(id), "%.*s", (int)n, l->rest);
	return find_question(t->st, l->verb, id, &f, e);
}

int slack_line_of_mention(struct slack_talk *t, struct err *e)
{
	OWNED(str) struct str plain = { 0 };
	struct verb_line l = read_line(t, &plain);
	int named, order;

	if (!*l.word && !*l.rest)
		l.verb = verb_find("help");
	named = names_question(t, &l, e);
	order = is_known_order(t, &l, e);
	if (named < 0 || order < 0)
		return -1;
	if (named > 0 || (is_verb(&l, "steer") && verb_is_only_an_id(l.rest))) /* the session's */
		return say_line(t, &l, e);
	return order ? say_order(t, &l, e) : say_to_agent(t, t->intent->text, e);
}

/* ---- threads ---- */

/* Whether the words may answer the prompt that this session has asked last, although it is settled
 * and its agent goes on. 1, 0, -1. */
static int comes_late(struct slack_talk *t, const struct verb_line *l, struct err *e)
{
	OWNED(found) struct found last = { 0 };
	int turn = sql_agent_turn_waits(t->st, t->thread->seq, e), got;

	if (turn)
		return turn < 0 ? -1 : 0;
	got = find_last_question(t->st, t->thread->seq, l->verb, &last, e);
	return got <= 0 ? got : last.kind == REQUEST_KIND_PROMPT && last.is_newest;
}

/* "resume: use tabs" where a session is paused: it goes on, and is told the words. 1, 0, -1. */
static int resumes_paused(struct slack_talk *t, const struct verb_line *l, struct err *e)
{
	const struct speaker who = slack_speaker(t);
	OWNED(found) struct found f = { 0 };

	if (!is_verb(l, "resume"))
		return 0;
	if (find_sessions(t->st, &who.place, SESSION_STATUS_PAUSED, NULL, &f, e) < 0)
		return -1;
	return f.count == 1 && f.status == SESSION_STATUS_PAUSED;
}

/* Whether a line with words is an answer here, or about an earlier answer: 1, 0, -1. */
static int is_answer(struct slack_talk *t, const struct verb_line *l, struct err *e)
{
	const struct speaker who = slack_speaker(t);
	OWNED(found) struct found f = { 0 };
	int named;

	if (l->verb->row != VERB_DECISION)
		return 0;
	if (who.place.request_id || is_verb(l, "approve") || is_verb(l, "reject") ||
	    is_verb(l, "choose"))
		return 1;
	if (find_questions(t->st, &who.place, l->verb, NULL, &f, e) < 0)
		return -1;
	if (f.count > 0)
		return 1;
	named = names_question(t, l, e);
	if (!named)
		named = resumes_paused(t, l, e);
	return named ? named : comes_late(t, l, e);
}

/* The question that waits in the thread: its name for a person. 0, -1. */
static int add_waiting(struct store *st, const struct place *where, struct str *out, struct err *e)
{
	static const char *const ANSWERS[] = { "approve", "continue", "resume", NULL };

	for (size_t i = 0; ANSWERS[i] && !out->length; i++) {
		OWNED(found) struct found f = { 0 };

		if (find_questions(st, where, verb_find(ANSWERS[i]), NULL, &f, e) < 0)
			return -1;
		str_add(out, str_text(&f.name));
	}
	if (!out->length) /* answered just now */
		str_add(out, "It");
	return 0;
}

/* Words that do not answer what is waiting. */
static int free_text(struct slack_talk *t, const char *text, struct err *e)
{
	OWNED(str) struct str hint = { 0 }, name = { 0 }, told = { 0 }, meant = { 0 };
	const struct speaker who = slack_speaker(t);
	bool stands_by;
	int waiting = operator_hint(t->st, &who, t->thread->seq, &hint, &stands_by, e);

	if (waiting < 0)
		return -1;
	if (waiting == 0 || stands_by)
		return say_to_agent(t, text, e);
	if (add_waiting(t->st, &who.place, &name, e))
		return -1;
	if (waiting > 1)
		str_addf(&told,
		         "%d questions wait here, and that answers none of them; nothing was done. "
		         "They take %s; a word that several take needs an id: `inbox` lists them.",
		         waiting, str_text(&hint));
	else
		str_addf(&told,
		         "A question waits here, and that is no answer to it; nothing was done. "
		         "%s takes %s.",
		         str_text(&name), str_text(&hint));
	str_add(&told, " To tell the agent something else: `steer <text>`.");
	if (operator_meant(t->st, text, &meant, e))
		return -1;
	if (meant.length)
		str_addf(&told, "\nIf you meant the command: %s", meant.bytes);
	return slack_tell(t, str_text(&told), e);
}

/* Whether words are not those of the form that was opened: "approve but rename it" is no reason to
 * reject, and what names a question, or looks as if it did, is an answer to that one. 1, 0, -1. */
static int is_not_for_form(struct slack_talk *t, const struct verb_line *l, const char *view,
                           struct err *e)
{
	if ((is_verb(l, "approve") || is_verb(l, "reject") || is_verb(l, "choose")) &&
	    !is_verb(l, view))
		return 1;
	if (is_verb(l, "stop") && (strcmp(view, "refine") == 0 || strcmp(view, "resume") == 0))
		return 1;
	if (is_verb(l, view) && verb_is_only_an_id(l->rest))
		return 1;
	return names_question(t, l, e);
}

/* Whether words are probably none of the form's: a mistyped answer or command. 1, 0, -1. */
static int may_be_for_form(struct slack_talk *t, const struct verb_line *l, const char *view,
                           struct err *e)
{
	OWNED(str) struct str meant = { 0 };

	if (is_verb(l, view))
		return 1;
	if (operator_meant(t->st, t->intent->text, &meant, e))
		return -1;
	return !meant.length && !operator_seems_answer(t->intent->text);
}

/* Words of somebody who has a form open. 1 they are dealt with, 0 they are none of the form's, -1.
 */
static int say_form(struct slack_talk *t, const struct verb_line *l,
                    const struct slack_form_missed_row *form, struct err *e)
{
	const char *view = slack_outbox_view_name(form->view);
	const char *text = is_verb(l, view) ? l->rest : t->intent->text;
	int other = is_not_for_form(t, l, view, e), may, did;

	if (other >= 0 && (!verb_find(view) || (other && !is_verb(l, view))))
		return 0; /* nothing in words takes the place of *Edit* */
	may = other ? other : may_be_for_form(t, l, view, e);
	if (other < 0 || may < 0)
		return -1;
	if (other)
		did = say_line(t, l, e);
	else if (may)
		did = slack_say_of(t, view, form->id, text, e);
	else
		did = free_text(t, text, e);
	return did ? -1 : 1;
}

/* What is told whether or not a question waits. "nudge the button to the left" is a sentence,
 * unless the agent is silent: then it is what its alert says to write. 1, 0, -1. */
static int is_steering(struct slack_talk *t, const struct verb_line *l, struct err *e)
{
	if (is_verb(l, "steer") || is_verb(l, "task"))
		return 1;
	if (!is_verb(l, "nudge") || verb_is_only_an_id(l->rest))
		return is_verb(l, "nudge");
	return sql_stall_is_open(t->st, t->thread->seq, e);
}

/* Words around a look, and a "list" alone, are for the agent. */
static bool is_for_agent(const struct slack_talk *t, const struct verb_line *l, bool order)
{
	return l->verb && l->verb->row == VERB_READING && !is_verb(l, "help") &&
	       !t->intent->mentioned && !(order && strcmp(l->word, "list") != 0);
}

int slack_line_of_thread(struct slack_talk *t, struct err *e)
{
	const char *text = t->intent->text;
	OWNED(str) struct str plain = { 0 };
	const struct verb_line l = read_line(t, &plain);
	int order = is_known_order(t, &l, e);
	OWNED(slack_form_missed_row) struct slack_form_missed_row form = { 0 };
	int missed = slack_form_missed(t, &form, e), steers = is_steering(t, &l, e), answers;

	if (order < 0 || missed < 0 || steers < 0)
		return -1;
	answers = missed && !order && !steers ? say_form(t, &l, &form, e) : 0;
	if (answers)
		return answers < 0 ? -1 : 0;
	if (is_for_agent(t, &l, order))
		return free_text(t, text, e);
	if (order)
		return say_order(t, &l, e);
	if (steers)
		return say_line(t, &l, e);
	answers = l.verb ? is_answer(t, &l, e) : 0;
	if (answers < 0)
		return -1;
	return answers ? say_line(t, &l, e) : free_text(t, text, e);
}
