/* verb: the words that operators say, from wherever, and what each becomes. One table: a source of
 * orders adds none of its own. Pure: no database. */
#ifndef VERB_H
#define VERB_H

#include "str.h"

#include <stdbool.h>
#include <stddef.h>

/* The row that a word becomes. */
enum verb_row {
	VERB_DECISION, /* an answer to a question */
	VERB_COMMAND, /* an order, to a session or about a write */
	VERB_STEERING, /* something an agent is told */
	VERB_READING /* none: rows are shown */
};

/* What the id behind it names. */
enum verb_about { ABOUT_NOTHING, ABOUT_QUESTION, ABOUT_WRITE, ABOUT_SESSION, ABOUT_SESSIONS };

enum verb_text { TEXT_NONE, TEXT_MAY, TEXT_MUST };

enum { VERB_MEANINGS = 3, VERB_BYTES = 32 };

struct verb {
	const char *word;
	enum verb_row row;
	/* Verdicts, of which each kind of question takes one at most; or command.verb; or
	 * steering.kind. The others are NULL. */
	const char *means[VERB_MEANINGS];
	enum verb_about about;
	enum verb_text text;
	const char *or_session; /* where no question takes it: the word for a session; or NULL */
	bool only_talk; /* for people: what it shows is no JSON */
	bool is_later; /* not in this version: understood, refused, and in no help */
	const char *category, *syntax, *help; /* NULL: in no help */
};

/* The verb of a word in lower case, by any of its names; NULL: it is none. */
const struct verb *verb_find(const char *word);
/* The verb with this number, in the order of the help; NULL behind the last. */
const struct verb *verb_at(size_t number);

/* A line, taken apart. */
struct verb_line {
	const struct verb *verb; /* NULL: it begins with no word of ours */
	char word[VERB_BYTES]; /* its first word in lower case, "" if it is longer than any of ours
	                        */
	const char *rest; /* into the line, behind the word and blanks */
};

/* Reads a line. A punctuation mark may stand behind the word ("Approve!"); a synonym such as "yes"
 * is an order only if it is the whole line. */
struct verb_line verb_read(const char *line);

/* Passes over blanks, also those that nobody sees. */
const char *verb_skip_blanks(const char *text);
/* The length of the first word of text if it may be the beginning of an id, else 0. */
size_t verb_id_length(const char *text);
/* Whether that word can hardly be anything else: it has a digit, and is long or alone. */
bool verb_is_only_an_id(const char *text);

/* Whether what follows a verb that needs an id is the beginning of one, but too short to be looked
 * for: a word alone, of fewer characters, with a digit. */
bool verb_is_too_short(const struct verb *verb, const char *text);

/* Appends the help: all of it, or a category ("" or NULL: all). False: there is no such category.
 */
bool verb_help(struct str *out, const char *category);

#endif
