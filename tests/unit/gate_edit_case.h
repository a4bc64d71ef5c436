/* gate_edit_case: what the programs test_gate_edit_*.c share: files that exist only here, and a
 * call of a tool on them. */
#ifndef GATE_EDIT_CASE_H
#define GATE_EDIT_CASE_H

#include "gate_edit.h"
#include "json_writer.h"
#include "suite.h"

/* The files by name; given_file replaces one, NULL removes it. All are gone with no_files. */
void no_files(void);
void given_file(const char *path, const char *text);

/* Computes a call: host, tool, and its input as JSON. Returns what gate_edit_compute does; *why
 * gets its reason. */
int compute(const char *host, const char *tool, const char *input, struct gate_edit *edit,
            struct err *why);

/* Computes it and carries it out on the files here; the call must be computable. */
void carry_out(const char *host, const char *tool, const char *input);
/* The file's text is this; NULL: there is none. */
void file_is(const char *path, const char *text);
/* It cannot be computed, with part in the reason. */
void is_not_computed(const char *host, const char *tool, const char *input, const char *part);

/* A JSON object of the texts: name, text, ..., NULL. Valid until the next call. */
const char *object(const char *name, ...);

#endif
