/* via_desk: agent-intercom-ctl and the system of the machine that serves several users. An
 * operator's ctl hands what was typed, and its stdin, stdout and stderr, to the worker desk, which
 * runs a ctl for it as the system's user. */
#ifndef VIA_DESK_H
#define VIA_DESK_H

#include "ctl.h"

/* ---- the operator's ---- */

/* Whether the command is for that system: it is named, or none is, none of this user runs, and that
 * one takes operators of this user. */
bool via_desk_is_meant(const struct ctl *c);
/* Whether there is such a system, but not for operators of this user. */
bool via_desk_is_closed(void);
/* Tells a person who runs a system of their own that they are an operator of that one, too, where
 * this command shows something else. */
void via_desk_tell_of_it(const struct ctl *c, const char *command);
/* Has the desk run it; argv: all arguments, without the program. The exit status, or -1. */
int via_desk_run(struct ctl *c, char **argv, struct err *e);

/* ---- the one that desk runs ---- */

/* The operator in whose name it speaks; NULL: it was not started by desk. */
const char *via_desk_operator(void);
/* Refuses what would make the system's user read, run or open what the operator says. */
int via_desk_check(const struct ctl *c, struct err *e);
/* The path of the database. */
const char *via_desk_database(void);
/* Puts the operator into the database, unless it is there. */
int via_desk_enter(struct ctl *c, struct err *e);

#endif
