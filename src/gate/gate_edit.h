/* gate_edit: what an edit tool of a host will make of the files, computed from its input and from
 * the files as they are, so that a person approves the change and not the agent's word for it.
 *
 * A host may be more lenient than its documentation: it may find a text that is indented
 * otherwise, or ask a model to repair it. Then nothing is computed, and the answer says why: a
 * person is shown the tool's input instead. */
#ifndef GATE_EDIT_H
#define GATE_EDIT_H

#include "gate_input.h"
#include "str.h"

/* One file that changes. */
struct gate_edit_file {
	char *path; /* as the tool names it */
	bool existed, exists; /* before, afterwards */
	struct str before, after; /* bytes; empty where there is no file */
};

/* Owns everything it points to; at first zeroed. */
struct gate_edit {
	struct gate_edit_file *files; /* a path once, in the order of the tool */
	size_t count;
};

/* Reads a file: path as the tool names it (see gate_input_absolute), bytes are empty. 1 read, 0
 * there is none, -1 it cannot be read. */
typedef int gate_edit_read(void *arg, const char *path, struct str *bytes, struct err *e);

/* Computes the result. edit must be zeroed; the caller clears it. 1 computed. 0 it cannot be
 * computed, and e says why: "cannot compute the result: ...". -1 a file cannot be read. */
int gate_edit_compute(const struct gate_input *in, gate_edit_read *read, void *arg,
                      struct gate_edit *edit, struct err *e);
void gate_edit_clear(struct gate_edit *edit);

#endif
