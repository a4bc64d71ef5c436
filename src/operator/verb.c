#include "verb.h"

#include "err.h"
#include "id.h"
#include "texts.h"

#include <ctype.h>
#include <string.h>

enum {
	LEAST_ID = 4, /* characters of an id that suffice if they are unambiguous */
	CLEAR_ID = 7, /* from this length on a word with a digit is an id, whatever follows */
	NEAR_ID = 8, /* characters of an id's first part, as it is shown */
	NEAR_DIGITS = 3, /* that a mistyped id has at least, and */
	NEAR_WRONG = 2, /* characters that no id has, at most */
};

static const char ANSWERS[] = "answers", SESSION[] = "session", FILES[] = "files",
                  CUSTOM[] = "custom", CHECKPOINT[] = "checkpoint";

#define MEANS(...) .means = { __VA_ARGS__ }
#define OPTIONS(...) .options = { __VA_ARGS__ }

static const struct verb VERBS[] = {
	{ "approve", VERB_DECISION, MEANS("approve"), ABOUT_QUESTION, .text = TEXT_MAY,
	  .text_name = "note", .category = ANSWERS, .syntax = "approve [id]",
	  .help = "accept a change or a command; with words behind it you are asked back" },
	{ "reject", VERB_DECISION, MEANS("reject"), ABOUT_QUESTION, .text = TEXT_MAY,
	  .text_name = "reason", .category = ANSWERS, .syntax = "reject [id] [why]",
	  .help = "refuse it; the agent is told why" },
	{ "choose", VERB_DECISION, MEANS("approve", "refine"), ABOUT_QUESTION, .text = TEXT_MUST,
	  .category = ANSWERS, .syntax = "choose [id] <number>",
	  .help = "answer with one of the options that the agent offers, or fill in its form" },
	{ "continue", VERB_DECISION, MEANS("continue"), ABOUT_QUESTION, .text = TEXT_MAY,
	  .category = ANSWERS, .syntax = "continue [id]",
	  .help = "let an agent continue; with words it is `refine`" },
	{ "refine", VERB_DECISION, MEANS("refine"), ABOUT_QUESTION, .text = TEXT_MUST,
	  .category = ANSWERS, .syntax = "refine [id] <text>",
	  .help = "let it continue with new instructions" },
	{ "resume", VERB_DECISION, MEANS("resume"), ABOUT_QUESTION, .text = TEXT_MAY,
	  .or_session = "session-resume", .category = ANSWERS, .syntax = "resume [id] [text]",
	  .help = "wake an agent that stands by, or a session that is paused" },
	{ "stop", VERB_DECISION, MEANS("stop"), ABOUT_QUESTION, .text = TEXT_MAY,
	  .text_name = "reason", .or_session = "session-stop", .category = ANSWERS,
	  .syntax = "stop [id] [why]",
	  .help = "stop an agent that asks or is on standby; where none does, end the session" },
	{ "yes", VERB_DECISION, MEANS("approve", "continue", "resume"), ABOUT_QUESTION },
	{ "no", VERB_DECISION, MEANS("reject", "stop"), ABOUT_QUESTION, .text_name = "reason" },
	{ "undo", VERB_COMMAND, MEANS("undo"), ABOUT_WRITE, .category = ANSWERS,
	  .syntax = "undo [id]", .help = "revert an approved change that was written" },
	{ "list", VERB_READING, MEANS("sessions"), ABOUT_NOTHING, .category = SESSION,
	  .syntax = "sessions", .help = "what runs, and what waits for you" },
	{ "inbox", VERB_READING, MEANS("sessions"), ABOUT_NOTHING, .category = ANSWERS,
	  .syntax = "inbox", .help = "what waits for an answer" },
	{ "steer", VERB_STEERING, MEANS("steer"), ABOUT_SESSION, .text = TEXT_MUST,
	  .category = SESSION, .syntax = "steer [session] <text>",
	  .help = "tell an agent something, with the result of its next call" },
	{ "task", VERB_STEERING, MEANS("task"), ABOUT_NOTHING, .text = TEXT_MUST,
	  .category = SESSION, .syntax = "task <text>",
	  .help = "leave a task for the next agent that starts here" },
	{ "nudge", VERB_STEERING, MEANS("nudge"), ABOUT_SESSION, .text = TEXT_MAY,
	  .category = SESSION, .syntax = "nudge [session] [text]",
	  .help = "tell a silent agent to continue" },
	{ "session-start", VERB_COMMAND, MEANS("session-start"), ABOUT_NOTHING, .text = TEXT_MUST,
	  .text_name = "prompt", .category = SESSION, OPTIONS("agent", "park", "workspace"),
	  .syntax = "session-start [--agent NAME] [--workspace ID] [--park SECONDS] <prompt>",
	  .help = "start an agent on its machine" },
	{ "session-pause", VERB_COMMAND, MEANS("pause"), ABOUT_SESSION, .category = SESSION,
	  .syntax = "session-pause [session]",
	  .help = "the agent waits at its next call or question" },
	{ "session-resume", VERB_COMMAND, MEANS("resume"), ABOUT_SESSION, .category = SESSION,
	  .syntax = "session-resume [session]",
	  .help = "resume a paused session, or restart the agent of a session that lost it" },
	{ "session-stop", VERB_COMMAND, MEANS("stop"), ABOUT_SESSION, .category = SESSION,
	  .syntax = "session-clear [session]",
	  .help =
	      "end a session and the agent we started; its open questions are answered with no" },
	{ "session-restart", VERB_COMMAND, MEANS("session-restart"), ABOUT_SESSION,
	  .text = TEXT_MAY, .text_name = "prompt", .category = SESSION,
	  .syntax = "session-restart [session] [prompt]",
	  .help = "start the agent of a session afresh, in the same thread" },
	{ "session-cleanup", VERB_COMMAND, MEANS("session-cleanup"), ABOUT_NOTHING,
	  .category = SESSION, .syntax = "session-cleanup",
	  .help = "end interrupted sessions whose agent we started" },
	{ "session-checkpoint", VERB_COMMAND, MEANS("session-checkpoint"), ABOUT_SESSION,
	  .text = TEXT_MAY, .text_name = "label", .category = CHECKPOINT,
	  .syntax = "session-checkpoint [session] [label]",
	  .help = "keep what the workspace holds now" },
	{ "session-checkpoints", VERB_READING, MEANS("session-checkpoints"), ABOUT_SESSION,
	  .text = TEXT_MAY, .category = CHECKPOINT, .syntax = "session-checkpoints [session]",
	  .help = "which checkpoints there are, the newest first" },
	{ "session-restore", VERB_COMMAND, MEANS("session-restore"), ABOUT_NOTHING,
	  .text = TEXT_MAY, .category = CHECKPOINT,
	  .syntax = "session-restore <checkpoint|label|start> [path...]",
	  .help = "put the workspace back; what would change is asked first" },
	{ "diff", VERB_COMMAND, MEANS("diff"), ABOUT_FILES, .text = TEXT_MAY,
	  .text_name = "checkpoint", .category = CHECKPOINT,
	  .syntax = "diff [checkpoint|label|session]",
	  .help = "what has changed since then; alone: since the session began" },
	{ "mode", VERB_COMMAND, MEANS("mode"), ABOUT_SESSIONS, .text = TEXT_MUST,
	  .text_name = "mode", .category = SESSION,
	  .syntax = "mode [remote|local|hybrid [session]]",
	  .help =
	      "answer in Slack, at the terminal, or in both; without an argument: show the mode" },
	{ "stall", VERB_COMMAND, MEANS("stall"), ABOUT_SESSION, .text = TEXT_MUST,
	  .text_name = "switch", .category = SESSION, .syntax = "stall on|off [session]",
	  .help = "whether a silent agent raises an alert" },
	{ "list-files", VERB_COMMAND, MEANS("list-files"), ABOUT_FILES, .text = TEXT_MAY,
	  .text_name = "path", .category = FILES, OPTIONS("depth", "session", "workspace"),
	  .syntax = "list-files [path] [--depth N] [--session ID]",
	  .help = "the folders and files of a workspace, as a tree" },
	{ "show-file", VERB_COMMAND, MEANS("show-file"), ABOUT_FILES, .text = TEXT_MUST,
	  .text_name = "path", .category = FILES, OPTIONS("session", "workspace", "lines"),
	  .syntax = "show-file <path> [--lines A:B] [--session ID]",
	  .help = "a file of a workspace, or some of its lines" },
	{ "file", VERB_COMMAND, MEANS("file"), ABOUT_QUESTION, .only_talk = true, .category = FILES,
	  .syntax = "file [id]", .help = "the file that a change is about, whole, as it is now" },
	{ "run", VERB_COMMAND, MEANS("run"), ABOUT_NOTHING, .text = TEXT_MUST, .text_name = "alias",
	  .takes_name = true, .category = CUSTOM, .syntax = "run <alias>",
	  .help = "run a command of [commands]; `/intercom <alias>` does, too" },
	{ "run-stop", VERB_COMMAND, MEANS("run-stop"), ABOUT_RUN, .takes_name = true,
	  .category = CUSTOM, .syntax = "run-stop [number]", .help = "end a command that runs" },
	{ "runs", VERB_READING, MEANS("runs"), ABOUT_NOTHING, .takes_name = true,
	  .category = CUSTOM, .syntax = "runs [number]",
	  .help = "the commands that were run, or one of them with its output" },
	{ "help", VERB_READING, MEANS("help"), ABOUT_NOTHING, .text = TEXT_MAY, .only_talk = true,
	  .category = SESSION, .syntax = "help [answers|session|checkpoint|files|custom]",
	  .help = "this list, or a part of it" },
};

/* alone: only if nothing follows; in a sentence these are ordinary words. */
static const struct {
	const char *alias, *word;
	bool alone;
} ALIASES[] = {
	{ "accept", "approve", true },
	{ "lgtm", "approve", true },
	{ "approved", "approve", true },
	{ "ok", "yes", true },
	{ "okay", "yes", true },
	{ "yes", "yes", true },
	{ "no", "no", true },
	{ "sessions", "list", false },
	{ "session-list", "list", false },
	{ "pause", "session-pause", false },
	{ "session-clear", "session-stop", false },
};

const struct verb *verb_at(size_t number)
{
	return number < COUNT(VERBS) ? &VERBS[number] : NULL;
}

const char *verb_name_at(size_t number)
{
	size_t more = number < COUNT(VERBS) ? 0 : number - COUNT(VERBS);

	if (number < COUNT(VERBS))
		return VERBS[number].word;
	for (size_t i = 0; i < COUNT(ALIASES); i++)
		if (!ALIASES[i].alone && more-- == 0)
			return ALIASES[i].alias;
	return NULL;
}

/* *ret_alone: the word counts only if nothing follows. */
static const struct verb *find(const char *word, bool *ret_alone)
{
	*ret_alone = false;
	for (size_t i = 0; i < COUNT(ALIASES); i++)
		if (strcmp(ALIASES[i].alias, word) == 0) {
			*ret_alone = ALIASES[i].alone;
			word = ALIASES[i].word;
			break;
		}
	for (size_t i = 0; i < COUNT(VERBS); i++)
		if (strcmp(VERBS[i].word, word) == 0)
			return &VERBS[i];
	return NULL;
}

const struct verb *verb_find(const char *word)
{
	bool alone;

	return find(word, &alone);
}

/* ---- lines ---- */

/* Bytes of a blank at text; keyboards insert some invisible ones. 0: it is not a blank. */
static size_t blank(const char *text)
{
	static const char *const WIDE[] = { "\xC2\xA0", "\xE2\x80\xAF", "\xE2\x80\x87",
		                            "\xE2\x80\x8B", "\xEF\xBB\xBF" };

	if (isspace((unsigned char)*text))
		return 1;
	for (size_t i = 0; i < COUNT(WIDE); i++)
		if (strncmp(text, WIDE[i], strlen(WIDE[i])) == 0)
			return strlen(WIDE[i]);
	return 0;
}

const char *verb_skip_blanks(const char *text)
{
	for (;;) {
		size_t n = blank(text);

		if (!n)
			return text;
		text += n;
	}
}

size_t verb_dashes(const char *text)
{
	static const char *const DASHES[] = { "--", "\xE2\x80\x94", "\xE2\x80\x93" };

	for (size_t i = 0; i < COUNT(DASHES); i++)
		if (strncmp(text, DASHES[i], strlen(DASHES[i])) == 0)
			return strlen(DASHES[i]);
	return 0;
}

static size_t word_length(const char *text)
{
	size_t n = 0;

	while (text[n] && !blank(text + n))
		n++;
	return n;
}

size_t verb_option_dashes(const char *text)
{
	size_t long_ones = verb_dashes(text), dashes = long_ones ? long_ones : *text == '-';

	return isalpha((unsigned char)text[dashes]) ? dashes : 0;
}

bool verb_take_option(const char **line, struct str *option)
{
	size_t dashes = verb_option_dashes(*line);
	const char *word = *line + dashes;
	size_t n = word_length(word), before_value = strcspn(word, "=");

	if (!dashes)
		return false;
	if (before_value < n)
		n = before_value;
	str_add(option, dashes > 1 ? "--" : "-");
	str_add_bytes(option, word, n);
	*line = verb_skip_blanks(word + n + (word[n] == '='));
	return true;
}

const char *verb_skip_dashes(const char *text)
{
	size_t dashes = verb_dashes(text);

	return dashes && word_length(text) == dashes ? verb_skip_blanks(text + dashes) : text;
}

void verb_add_id(struct str *out, const char *id)
{
	const char *word = verb_skip_blanks(id);
	size_t n = word_length(word);

	if (n && !*verb_skip_blanks(word + n))
		str_add_bytes(out, word, n);
	else
		str_add(out, id); /* it is none, and not nothing either */
}

/* Those of phones, too. */
static const char *const QUOTES[][2] = { { "\"", "\"" },
	                                 { "'", "'" },
	                                 { "`", "`" },
	                                 { "\xE2\x80\x9C", "\xE2\x80\x9D" },
	                                 { "\xE2\x80\x98", "\xE2\x80\x99" } };

bool verb_take(const char **line, struct str *word)
{
	const char *at = verb_skip_blanks(*line);

	if (!*at)
		return false;
	for (size_t i = 0; i < COUNT(QUOTES); i++) {
		size_t open = strlen(QUOTES[i][0]);
		const char *end =
		    strncmp(at, QUOTES[i][0], open) == 0 ? strstr(at + open, QUOTES[i][1]) : NULL;

		if (!end)
			continue;
		str_add_bytes(word, at + open, (size_t)(end - at) - open);
		*line = verb_skip_blanks(end + strlen(QUOTES[i][1]));
		return true;
	}
	str_add_bytes(word, at, word_length(at));
	*line = verb_skip_blanks(at + word_length(at));
	return true;
}

void verb_take_whole(const char *line, struct str *text)
{
	const char *at = verb_skip_blanks(line);
	size_t length = 0;

	for (size_t i = 0, n; at[i]; i += n ? n : 1) {
		n = blank(at + i);
		if (!n)
			length = i + 1;
	}
	for (size_t i = 0; i < COUNT(QUOTES); i++) {
		size_t open = strlen(QUOTES[i][0]), close = strlen(QUOTES[i][1]);

		if (length < open + close || strncmp(at, QUOTES[i][0], open) != 0 ||
		    strncmp(at + length - close, QUOTES[i][1], close) != 0)
			continue;
		at += open;
		length -= open + close;
		break;
	}
	str_add_bytes(text, at, length);
}

/* "01a21934-e22x": an id with a typing error. It is no word of a sentence either. */
static bool is_nearly_an_id(const char *word, size_t n)
{
	size_t dash = strcspn(word, "-"), digits = 0, wrong = 0;

	if (n < NEAR_ID || (dash < n && (dash + 1 < NEAR_ID || dash > NEAR_ID + 1)))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!isalnum((unsigned char)word[i]) && word[i] != '-')
			return false;
		digits += isdigit((unsigned char)word[i]) != 0;
		wrong += word[i] != '-' && !isxdigit((unsigned char)word[i]);
	}
	return digits >= NEAR_DIGITS && wrong <= NEAR_WRONG;
}

size_t verb_id_length(const char *text)
{
	size_t n = word_length(text);
	bool is_id = strspn(text, "0123456789abcdefABCDEF-") == n || is_nearly_an_id(text, n);

	return n >= LEAST_ID && n < ID_BYTES && is_id ? n : 0;
}

static bool is_one_id(const char *text)
{
	size_t n = verb_id_length(text);

	return n >= CLEAR_ID && !*verb_skip_blanks(text + n) && strcspn(text, "0123456789") < n;
}

struct verb_line verb_read(const char *line)
{
	const char *word = verb_skip_blanks(line);
	size_t n = word_length(word), k = n;
	struct verb_line l = { .rest = verb_skip_blanks(word + n) };
	bool alone;

	while (k > 1 && strchr(".!,:;", word[k - 1]))
		k--;
	if (k >= sizeof(l.word))
		return l;
	for (size_t i = 0; i < k; i++)
		l.word[i] = (char)tolower((unsigned char)word[i]);
	l.verb = find(l.word, &alone);
	if (alone && *l.rest && !is_one_id(l.rest))
		l.verb = NULL;
	return l;
}

static bool is_mark(char c)
{
	return c && strchr(".!,:;", c);
}

bool verb_take_switch(const char **line, struct str *word)
{
	if (!verb_take(line, word))
		return false;
	while (word->length > 1 && is_mark(word->bytes[word->length - 1]))
		word->bytes[--word->length] = '\0';
	while (is_mark(**line)) /* behind its quotes */
		*line = verb_skip_blanks(*line + 1);
	for (size_t i = 0; i < word->length; i++)
		word->bytes[i] = (char)tolower((unsigned char)word->bytes[i]);
	return true;
}

/* Between two signs that belong together, or without: the first word of what stands there, and what
 * follows it behind the marks. Bold and italics count, a line through it does not. */
struct plain {
	struct str word;
	const char *after;
	bool quoted;
	bool emphasised; /* by Slack's signs, not by quotes */
};

static void plain_clear(struct plain *p)
{
	str_clear(&p->word);
}

/* Whether the word ends there: marks, then a blank or the end. *ret: behind them. */
static bool ends_at(const char *text, const char **ret)
{
	while (is_mark(*text))
		text++;
	*ret = verb_skip_blanks(text);
	return !*text || blank(text);
}

/* False: it is no single word, or something else stands behind it. */
static bool plain_read(struct plain *p, const char *text)
{
	static const struct {
		const char *open, *close;
		bool emphasise;
	} SIGNS[] = {
		{ "\"", "\"", false },
		{ "'", "'", false },
		{ "`", "`", true },
		{ "*", "*", true },
		{ "_", "_", true },
		{ "\xE2\x80\x9C", "\xE2\x80\x9D", false },
		{ "\xE2\x80\x98", "\xE2\x80\x99", false },
	};
	size_t n = word_length(text);

	for (size_t i = 0; i < COUNT(SIGNS); i++) {
		size_t open = strlen(SIGNS[i].open);
		const char *end = strncmp(text, SIGNS[i].open, open) == 0
		                      ? strstr(text + open, SIGNS[i].close)
		                      : NULL;

		if (!end)
			continue;
		p->quoted = true;
		p->emphasised = SIGNS[i].emphasise;
		str_add_bytes(&p->word, text + open, (size_t)(end - text) - open);
		return ends_at(end + strlen(SIGNS[i].close), &p->after);
	}
	while (n > 1 && is_mark(text[n - 1]))
		n--;
	str_add_bytes(&p->word, text, n);
	return ends_at(text + n, &p->after);
}

static bool is_id(const char *word)
{
	size_t n = verb_id_length(word);

	return n > 0 && !*verb_skip_blanks(word + n);
}

static bool is_number(const char *word)
{
	size_t digits = strspn(word, "0123456789");

	return digits && !word[digits + (word[digits] == '.')];
}

/* "approve", "approve 01911111", "choose 2": as our own answers name a command. */
static bool is_whole(const char *text)
{
	struct verb_line l = verb_read(text);

	return l.verb && (!*l.rest || is_id(l.rest) ||
	                  (strcmp(l.verb->word, "choose") == 0 && is_number(l.rest)));
}

/* Whether words after the verb are its own although it stands in signs. Only of verbs that permit
 * nothing: "*continue* with the tests" may be a sentence. */
static bool takes_words(const struct plain *verb)
{
	static const char *const WORDS[] = { "reject", "steer", "task", NULL };
	struct verb_line l = verb_read(str_text(&verb->word));

	return verb->emphasised && l.verb && texts_name(WORDS, l.verb->word);
}

void verb_add_plain(struct str *out, const char *line)
{
	OWNED(plain) struct plain verb = { .quoted = false };
	OWNED(plain) struct plain id = { .quoted = false };
	const char *text = verb_skip_blanks(line);
	bool has_id;

	if (!plain_read(&verb, text) || !is_whole(str_text(&verb.word))) {
		str_add(out, line);
		return;
	}
	has_id = plain_read(&id, verb.after) && is_id(str_text(&id.word)) &&
	         (id.quoted || !*id.after || id.word.length >= CLEAR_ID);
	if (verb.quoted && *verb.after && !(has_id && !*id.after) && !takes_words(&verb)) {
		str_add(out, line); /* a quotation in a sentence */
		return;
	}
	str_add(out, str_text(&verb.word));
	if (has_id)
		str_addf(out, " %s", str_text(&id.word));
	if (*(has_id ? id.after : verb.after))
		str_addf(out, " %s", has_id ? id.after : verb.after);
}

bool verb_is_only_an_id(const char *text)
{
	size_t n = verb_id_length(text), digit = strcspn(text, "0123456789");

	return n && digit < n && (n >= CLEAR_ID || !*verb_skip_blanks(text + n));
}

bool verb_is_too_short(const struct verb *verb, const char *text)
{
	static const char *const NEED_ID[] = { "approve", "reject", "undo", "file", NULL };
	size_t n = strspn(text, "0123456789abcdefABCDEF"), digit = strcspn(text, "0123456789");

	return texts_name(NEED_ID, verb->word) && n < LEAST_ID && digit < n &&
	       !*verb_skip_blanks(text + n);
}

/* ---- help ---- */

bool verb_help(struct str *out, const char *category)
{
	static const struct {
		const char *name, *title;
	} CATEGORIES[] = {
		{ ANSWERS, "Answers" }, { SESSION, "Sessions" }, { CHECKPOINT, "Checkpoints" },
		{ FILES, "Files" },     { CUSTOM, "Commands" },
	};
	bool all = !category || !*category, found = false;

	for (size_t c = 0; c < COUNT(CATEGORIES); c++) {
		if (!all && strcmp(category, CATEGORIES[c].name) != 0)
			continue;
		found = true;
		str_addf(out, "%s*%s*\n", out->length ? "\n" : "", CATEGORIES[c].title);
		for (size_t i = 0; i < COUNT(VERBS); i++)
			if (VERBS[i].category && strcmp(VERBS[i].category, CATEGORIES[c].name) == 0)
				str_addf(out, "`%s` — %s\n", VERBS[i].syntax, VERBS[i].help);
	}
	return found;
}
