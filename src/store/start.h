/* start: the system, started by a program of an agent so that it outlives both. */
#ifndef START_H
#define START_H

#include "err.h"

#include <limits.h>

/* Writes the path, without links, of agent-intercom, the program beside ours. 0 or -1. */
int start_program(char out[PATH_MAX], struct err *e);

/* Starts agent-intercom on a database with the configuration in a file
 * ("": none). It gets a session of its own, / as its folder, none of our descriptors, and of our
 * variables only locations and its own settings; its log is <database>-log. Several may do this at
 * once: the instance lock keeps one of the systems, which all of them then wait for. 0: it is being
 * started; -1: its program is not there. */
int start_detached(const char *database, const char *config, struct err *e);

#endif
