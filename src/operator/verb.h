/* verb: the words that operators say, from any source, and what each becomes. One table: a source
 * adds no words of its own. Pure: no database. */
#ifndef VERB_H
#define VERB_H

#include "str.h"

#include <stdbool.h>
#include <stddef.h>

/* The row that a word becomes. */
enum verb_row {
	VERB_DECISION, /* an answer to a request */
	VERB_COMMAND, /* an order, to a session or about a write */
	VERB_STEERING, /* something told to an agent */
	VERB_READING /* none: shows rows */
};

/* What the id after it names. */
enum verb_about {
	ABOUT_NOTHING,
	ABOUT_QUESTION,
	ABOUT_WRITE,
	ABOUT_SESSION,
	ABOUT_SESSIONS,
	ABOUT_FILES,
	ABOUT_RUN
};

enum verb_text { TEXT_NONE, TEXT_MAY, TEXT_MUST };

enum { VERB_MEANINGS = 3, VERB_OPTIONS = 3, VERB_BYTES = 32 };

struct verb {
	const char *word;
	enum verb_row row;
	/* Verdicts, of which each kind of request accepts at most one; or command.verb; or
	 * steering.kind. The others are NULL. */
	const char *means[VERB_MEANINGS];
	enum verb_about about;
	enum verb_text text;
	const char *text_name; /* the member of a program's order that holds the text; NULL:
	                          instruction */
	const char *or_session; /* if no request accepts it: the word for a session; or NULL */
	bool only_talk; /* for people: its output is not JSON */
	bool takes_name; /* of a command or a run; it refuses itself what is none */
	const char *options[VERB_OPTIONS]; /* without dashes; each has a value */
	const char *category, *syntax, *help; /* NULL: not in the help */
};

/* The verb of a word in lower case, by any of its names; NULL: none. */
const struct verb *verb_find(const char *word);
/* The verb with this number, in the order of the help; NULL after the last. */
const struct verb *verb_at(size_t number);

/* All its names, likewise, but those that are an order only alone. */
const char *verb_name_at(size_t number);

/* A parsed line. */
struct verb_line {
	const struct verb *verb; /* NULL: it does not begin with one of our words */
	char word[VERB_BYTES]; /* first word, in lower case; "": longer than any of ours */
	const char *rest; /* into the line, after the word and blanks */
};

/* Parses a line. A punctuation mark may follow the word ("Approve!"); a synonym such as "yes" is an
 * order only if it is the whole line. */
struct verb_line verb_read(const char *line);

/* Skips blanks, invisible ones too. */
const char *verb_skip_blanks(const char *text);
/* The bytes of the dashes before an option at text; phones turn two into one. 0: none. */
size_t verb_dashes(const char *text);
/* The same of what looks like an option, also one with a single dash: a letter follows. */
size_t verb_option_dashes(const char *text);
/* Appends what looks like an option at *line, "-x" or "--name", and moves *line behind it and the
 * blanks or '=' that follow. False: it looks like none. */
bool verb_take_option(const char **line, struct str *option);
/* Skips dashes that stand alone: behind them nothing is an option. */
const char *verb_skip_dashes(const char *text);
/* Appends the next word of *line, or what stands in quotes there (those of phones, too), and moves
 * *line behind it and the blanks that follow. False: there is none. */
bool verb_take(const char **line, struct str *word);
/* The same of a value that is switched to: in lower case, without a punctuation mark behind it. */
bool verb_take_switch(const char **line, struct str *word);
/* Appends all of a line: without the blanks around it, nor a pair of quotes around that. */
void verb_take_whole(const char *line, struct str *text);
/* Appends the line without the signs around its verb and its id: "`approve`", "*Reject* "01911111",
 * no". Quotes around words stay, as does everything if the verb is quoted in a sentence: "*reject*
 * it breaks", in Slack's signs, is none. */
void verb_add_plain(struct str *out, const char *line);
/* Appends an id without the blanks around it. */
void verb_add_id(struct str *out, const char *id);
/* The length of the first word of text if it may be a prefix of an id, otherwise 0. */
size_t verb_id_length(const char *text);
/* Whether that word can hardly be anything else: it has a digit, and is long or alone. */
bool verb_is_only_an_id(const char *text);

/* Whether what follows a verb that needs an id is a prefix of one, but too short for a search: a
 * single word of fewer characters, with a digit. */
bool verb_is_too_short(const struct verb *verb, const char *text);

/* Appends the help: all of it, or a category ("" or NULL: all). False: no such category. */
bool verb_help(struct str *out, const char *category);

#endif
