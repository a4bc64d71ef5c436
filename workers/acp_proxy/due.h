/* due: the answers that the editor owes the agent. Only these are passed on: an editor that guesses
 * an id, or spells it as only some readers understand it, answers nothing. */
#ifndef DUE_H
#define DUE_H

#include "proxy.h"

/* The editor owes an answer to the request with this id; token: as it came. False: too many are
 * owed, and this one is not noted. */
bool due_add(struct proxy *p, const char *token);
/* Sends the agent's request to the editor. If too many are owed, the agent gets an error. */
void due_send(struct proxy *p, const char *token, const char *line, size_t length);
/* Whether an answer with this id is owed; it is not any more. */
bool due_take(struct proxy *p, const char *token);
void due_clear(struct proxy *p);

#endif
