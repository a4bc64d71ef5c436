/* canary: starts a host for a moment in an empty folder, or in one with a settings file as a
 * workspace has it, with a model of ours that has it write a file and run a command, and looks
 * whether its gate kept it from both. Nothing reaches a model of
 * the user's, and the hook, which is told by a variable that this is a canary, asks nobody. */
#ifndef CANARY_H
#define CANARY_H

#include "sql/sets.h"
#include "str.h"

#include <stdbool.h>

struct canary {
	const char *host; /* as install knows it */
	bool managed; /* its gate is that of all users, with what that forbids */
	const char *file, *text; /* a file of the folder, and what is in it; NULL: none */
	enum gate_canary_state state; /* closed: our hook kept it from both; unknown: it could not
	                               * be tried, or something else kept it */
	bool missing; /* its program is not installed */
	struct str version; /* as it says itself; empty: unknown */
	struct str detail; /* what was seen, or why nothing was */
	struct str by_hand; /* what to type instead; empty: nothing */
};

/* Looks at c->host; fills the rest. The caller clears it. */
void canary_look(struct canary *c);
void canary_clear(struct canary *c);
/* Whether there is such a file in the folder. */
bool canary_has(const char *folder, const char *name);

#endif
