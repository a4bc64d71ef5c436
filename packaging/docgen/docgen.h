/* docgen: writes manual pages and shell completion, from what the programs say of themselves
 * (`help` as JSON, `COMMAND --help`), from the table of settings and from schema/. Nothing of it is
 * kept in the tree, so none of it can be out of date. */
#ifndef DOCGEN_H
#define DOCGEN_H

#include "err.h"
#include "str.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* A program and its commands. Members of a command: name, arguments, help, more (text or null),
 * has_help. */
struct program {
	const char *name;
	const char *folder; /* where it was built */
	cJSON *said;
	const cJSON *commands;
};

/* ---- main.c ---- */

/* What a program of the build prints; ends us if it fails. arguments: for the shell. */
void program_output(const struct program *p, const char *arguments, struct str *out);
/* The text of a member; "": there is none. */
const char *command_text(const cJSON *command, const char *member);
/* What `COMMAND --help` prints, of a command that has that; otherwise `more`. */
void command_more(const struct program *p, const cJSON *command, struct str *out);

/* ---- man.c ---- */

/* Begin a page; name in lower case. */
void man_begin(struct str *out, const char *name, int section, const char *what);
void man_section(struct str *out, const char *title);
void man_subsection(struct str *out, const char *title);
/* Running text: words with a meaning for man(7) are escaped. */
void man_text(struct str *out, const char *text);
void man_paragraph(struct str *out, const char *text);
/* Lines as they are. */
void man_lines(struct str *out, const char *text);
/* A term and what it means; further paragraphs may follow, indented. */
void man_term(struct str *out, const char *term, const char *more, const char *text);

/* ---- pages ---- */

void page_program(struct str *out, const struct program *p);
void page_config(struct str *out);
/* source: the folder of the tree. */
void page_schema(struct str *out, const char *source);

/* ---- completion.c ---- */

void completion_bash(struct str *out, const struct program *p);
void completion_zsh(struct str *out, const struct program *p);
void completion_fish(struct str *out, const struct program *p);

#endif
