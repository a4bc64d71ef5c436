/* dialog: the editor's side of a permission: what it is shown, what its user answers, and what
 * comes too late. */
#ifndef DIALOG_H
#define DIALOG_H

#include "err.h"
#include "held.h"

/* Shows the editor a permission, unless it is shown, or may not be. */
void dialog_show(struct proxy *p, struct question *q);
/* The editor closes its dialog, if it knows of that; what it still answers is dropped. */
void dialog_close(struct proxy *p, struct question *q);
/* What the editor has answered, or answers to the dialog that it has, is of a question that is no
 * longer asked: the next one has a dialog of its own. */
void dialog_forget(struct proxy *p, struct question *q);

/* Reads the editor's answer. 0; 1: it chooses none of the options, but says something else; or -1:
 * the agent may take it for another answer than we do. */
int dialog_read(struct question *q, const char *line, size_t length, struct err *e);

/* Whether an answer to a dialog that was closed is still to come; take: it has come. */
bool dialog_is_late(struct proxy *p, const char *token);
bool dialog_take_late(struct proxy *p, const char *token);
void dialog_clear_lates(struct proxy *p);

#endif
