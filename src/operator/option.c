/* Options in a line: one rule for the lines of all verbs but answers. An option stands at the start
 * (behind the id, too) or at the end; in between, and behind dashes that stand alone, everything is
 * text. */
#include "desk.h"

#include "err.h"

#include <ctype.h>
#include <string.h>

enum { SHOWN = 60 }; /* of what was said */

static const struct {
	const char *name;
	size_t place; /* in struct words */
} OPTIONS[] = {
	{ "agent", offsetof(struct words, agent) },
	{ "depth", offsetof(struct words, depth) },
	{ "lines", offsetof(struct words, lines) },
	{ "park", offsetof(struct words, park) },
	{ "session", offsetof(struct words, id) },
	{ "workspace", offsetof(struct words, workspace) },
};

/* A line that is being taken apart. */
struct reading {
	struct desk *d;
	struct words *w;
	struct desk_line *l;
	const char *id; /* into the line */
	size_t id_length;
};

void desk_line_clear(struct desk_line *l)
{
	for (size_t i = 0; i < COUNT(l->values); i++)
		str_clear(&l->values[i]);
	str_clear(&l->rest);
}

/* Where the value of an option of this verb belongs; NULL: it has no such option. */
static const char **place_of(const struct reading *r, const char *option)
{
	const char *const *own = r->w->verb->options;

	for (size_t i = 0; i < VERB_OPTIONS && own[i]; i++) {
		if (strncmp(option, "--", 2) != 0 || strcmp(option + 2, own[i]) != 0)
			continue;
		for (size_t k = 0; k < COUNT(OPTIONS); k++)
			if (strcmp(OPTIONS[k].name, own[i]) == 0)
				return (const char **)(void *)((char *)r->w + OPTIONS[k].place);
	}
	return NULL;
}

/* text: as it would stand behind dashes. */
static int tell_no_option(const struct reading *r, const char *option, const char *text)
{
	const struct verb *v = r->w->verb;
	OWNED(str) struct str told = { 0 };

	str_addf(&told, "`%.*s` has no option `", desk_name_length(v), desk_name(v));
	desk_add_said(&told, option, SHOWN);
	str_add_char(&told, '`');
	for (size_t i = 0; i < VERB_OPTIONS && v->options[i]; i++)
		str_addf(&told, "%s `--%s`", i ? "," : "; it has", v->options[i]);
	if (v->text == TEXT_NONE)
		return desk_tell(r->d, SAID_UNCLEAR, "%s: `%s`", str_text(&told), desk_name(v));
	str_addf(&told, ". A text that begins or ends so follows `--`: `%.*s ", desk_name_length(v),
	         desk_name(v));
	if (r->id_length)
		str_addf(&told, "%.*s ", (int)r->id_length, r->id);
	str_add(&told, "-- ");
	desk_add_said(&told, text, SHOWN);
	return desk_tell(r->d, SAID_UNCLEAR, "%s`", str_text(&told));
}

/* Takes what looks like options from *line on. text: as in tell_no_option; NULL: *line. 1, 0 the
 * person has been told. */
static int take(struct reading *r, const char **line, const char *text)
{
	for (;;) {
		OWNED(str) struct str option = { 0 };
		const char *at = *line, **place;
		struct str *value;

		if (!verb_take_option(&at, &option))
			return 1;
		place = place_of(r, str_text(&option));
		if (!place)
			return tell_no_option(r, str_text(&option), text ? text : *line);
		if (*place)
			return desk_tell(r->d, SAID_UNCLEAR, "%s is given twice: `%s`",
			                 str_text(&option), r->w->verb->syntax);
		value = &r->l->values[r->l->count++];
		if (verb_option_dashes(at) || !verb_take(&at, value) || !value->length)
			return desk_tell(r->d, SAID_UNCLEAR, "%s needs a value: `%s`",
			                 str_text(&option), r->w->verb->syntax);
		*place = str_text(value);
		*line = at;
	}
}

/* Whether from here to the end everything looks like options, with a value unless it is a single
 * letter. A mark or a quote in it makes it a word of a sentence. */
static bool is_end(const char *at)
{
	while (*at) {
		OWNED(str) struct str option = { 0 }, value = { 0 };
		const char *name;

		if (!verb_take_option(&at, &option))
			return false;
		for (name = option.bytes; *name; name++)
			if (!isalnum((unsigned char)*name) && !strchr("-_", *name))
				return false;
		name = option.bytes + strspn(option.bytes, "-");
		if ((name[1] || at[-1] == '=') && !verb_option_dashes(at))
			(void)verb_take(&at, &value);
	}
	return true;
}

/* Where the options at the end of a text begin; NULL: it has none. */
static const char *find_end(const char *text)
{
	while (*text && verb_skip_dashes(text) == text) {
		OWNED(str) struct str word = { 0 };

		if (verb_option_dashes(text) && is_end(text))
			return text;
		(void)verb_take(&text, &word);
	}
	return NULL;
}

/* Words for a verb that takes none, or no more than an id. 1, 0 the person has been told. */
static int check_words(const struct reading *r, const char *text)
{
	const struct verb *v = r->w->verb;
	OWNED(str) struct str word = { 0 }, shown = { 0 };

	if (v->text == TEXT_NONE && v->about != ABOUT_NOTHING && !r->id_length)
		(void)verb_take(&text, &word);
	if (v->text != TEXT_NONE || !*text)
		return 1;
	desk_add_said(&shown, text, SHOWN);
	return desk_tell(r->d, SAID_UNCLEAR, "`%.*s` does not take '%s': `%s`", desk_name_length(v),
	                 desk_name(v), str_text(&shown), desk_name(v));
}

static bool takes_id(const struct verb *v)
{
	return v->about == ABOUT_QUESTION || v->about == ABOUT_WRITE || v->about == ABOUT_SESSION;
}

int desk_take_options(struct desk *d, struct words *w, struct desk_line *l)
{
	const char *line = verb_skip_blanks(w->line), *text, *end;
	struct reading r = { .d = d, .w = w, .l = l };

	if (w->verb->row == VERB_DECISION) /* an answer is words, whatever they look like */
		return 1;
	if (take(&r, &line, NULL) <= 0)
		return 0;
	r.id = line;
	r.id_length = takes_id(w->verb) ? verb_id_length(line) : 0;
	line = verb_skip_blanks(line + r.id_length);
	if (take(&r, &line, NULL) <= 0)
		return 0;
	text = verb_skip_dashes(line);
	end = text == line ? find_end(text) : NULL;
	line = end ? end : text + strlen(text);
	str_add_bytes(&l->rest, r.id, r.id_length);
	if (r.id_length && *text)
		str_add_char(&l->rest, ' ');
	str_add_bytes(&l->rest, text, (size_t)(line - text));
	while (end && l->rest.length && isspace((unsigned char)l->rest.bytes[l->rest.length - 1]))
		l->rest.bytes[--l->rest.length] = '\0';
	w->line = str_text(&l->rest);
	return take(&r, &line, text) > 0 ? check_words(&r, verb_skip_blanks(w->line + r.id_length))
	                                 : 0;
}
