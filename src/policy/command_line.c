#include "command_line.h"

#include "err.h"
#include "path.h"
#include "str.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* A word, or a separator of two commands. */
struct token {
	char *text; /* owned */
	bool separates;
};

struct line {
	struct token *tokens;
	size_t count;
	int commands;
};

enum strip { STRIP_NOTHING, STRIP_PROGRAMS, STRIP_ALL, STRIPS };

bool command_line_is(const char *text)
{
	return strpbrk(text, " \t\r\n;&|`$<>(){}\\'\"") || strchr("/.~", text[0]);
}

static void line_clear(struct line *l)
{
	for (size_t i = 0; i < l->count; i++)
		free(l->tokens[i].text);
	free(l->tokens);
}

/* ---- splitting ---- */

static void add_token(struct line *l, struct str *text, bool separates)
{
	l->tokens = xrealloc(l->tokens, (l->count + 1) * sizeof(*l->tokens));
	l->tokens[l->count++] =
	    (struct token){ .text = xstrdup(str_text(text)), .separates = separates };
	l->commands += separates;
	str_reset(text);
}

static void end_word(struct line *l, struct str *word, bool *is_word)
{
	static const char *const GROUPS[] = { "{", "}", "!" };
	bool separates = false;

	if (!*is_word)
		return;
	for (size_t i = 0; i < COUNT(GROUPS); i++)
		separates = separates || strcmp(str_text(word), GROUPS[i]) == 0;
	add_token(l, word, separates);
	*is_word = false;
}

/* Appends what is between quotes, from after the first one; returns what follows the last one. */
static const char *take_quoted(struct str *word, const char *at, char quote)
{
	while (*at && *at != quote) {
		if (quote == '"' && *at == '\\' && at[1] && strchr("\\\"$`\n", at[1]))
			at++;
		str_add_char(word, *at++);
	}
	return *at ? at + 1 : at;
}

/* Takes one character of a word, or a quoted part of it; returns what follows. */
static const char *take_part(struct str *word, const char *at)
{
	if (*at == '$' && (at[1] == '\'' || at[1] == '"'))
		at++;
	if (*at == '\'' || *at == '"')
		return take_quoted(word, at + 1, *at);
	if (*at == '\\' && at[1]) {
		if (at[1] != '\n')
			str_add_char(word, at[1]);
		return at + 2;
	}
	str_add_char(word, *at);
	return at + 1;
}

static void split(struct line *l, const char *at)
{
	OWNED(str) struct str word = { 0 };
	bool is_word = false;

	while (*at && l->commands < COMMAND_LINE_MAX) {
		if (strchr(" \t\r", *at)) {
			end_word(l, &word, &is_word);
			at++;
		} else if (strchr("\n;&|`()<>", *at)) {
			end_word(l, &word, &is_word);
			str_add_char(&word, *at == '\n' ? ';' : *at);
			add_token(l, &word, !strchr("<>", *at));
			at++;
		} else {
			is_word = true;
			at = take_part(&word, at);
		}
	}
	end_word(l, &word, &is_word);
}

/* ---- readings ---- */

/* NAME=value before a program. */
static bool is_assignment(const char *word)
{
	size_t n = 0;

	while (isalnum((unsigned char)word[n]) || word[n] == '_')
		n++;
	return n > 0 && !isdigit((unsigned char)word[0]) && word[n] == '=';
}

/* Appends a token of a command; returns whether the program has been reached. */
static bool add_reading(struct str *out, const struct token *t, bool met, enum strip strip)
{
	bool is_program = !met && !is_assignment(t->text);

	if (out->length)
		str_add_char(out, ' ');
	str_add(out, strip == STRIP_ALL || (strip == STRIP_PROGRAMS && is_program)
	                 ? path_name(t->text)
	                 : t->text);
	return met || is_program;
}

static bool read_whole(const struct line *l, enum strip strip,
                       bool (*each)(const char *reading, void *arg), void *arg)
{
	OWNED(str) struct str out = { 0 };
	bool met = false;

	for (size_t i = 0; i < l->count; i++) {
		met = add_reading(&out, &l->tokens[i], met, strip);
		met = met && !l->tokens[i].separates;
	}
	return each(str_text(&out), arg);
}

/* Each command separately, from its program on. */
static bool read_commands(const struct line *l, enum strip strip,
                          bool (*each)(const char *reading, void *arg), void *arg)
{
	OWNED(str) struct str out = { 0 };
	bool met = false;

	for (size_t i = 0; i <= l->count; i++) {
		const struct token *t = i < l->count ? &l->tokens[i] : NULL;

		if (t && !t->separates) {
			if (met || !is_assignment(t->text))
				met = add_reading(&out, t, met, strip);
			continue;
		}
		if (out.length && each(out.bytes, arg))
			return true;
		str_reset(&out);
		met = false;
	}
	return false;
}

int command_line_read(const char *line, bool (*each)(const char *reading, void *arg), void *arg)
{
	struct line l = { .count = 0 };
	bool found = false;

	split(&l, line);
	for (int strip = 0; strip < STRIPS && !found && l.commands < COMMAND_LINE_MAX; strip++)
		found = read_whole(&l, (enum strip)strip, each, arg) ||
		        read_commands(&l, (enum strip)strip, each, arg);
	line_clear(&l);
	return l.commands >= COMMAND_LINE_MAX ? -1 : found;
}
