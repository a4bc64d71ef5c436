/* start: the system, started by a program of an agent so that it outlives both. */
#ifndef START_H
#define START_H

#include "err.h"
#include "str.h"

#include <limits.h>
#include <sys/types.h>

/* A system that is being started; zeroed: none. */
struct started {
	pid_t watcher; /* sees how it ends, if that is soon; 0: is not asked any more */
	off_t log_from; /* where its lines begin */
};

enum start_end {
	START_GOES_ON, /* as far as is known */
	START_FAILED, /* a later one may succeed */
	START_REFUSED, /* none can succeed until somebody mends something (EX_CONFIG) */
};

/* Appends the command that starts the system which these options named (NULL: not given): another
 * command would start another one. */
void start_command(const char *config, const char *database, struct str *out);

/* Writes the path, without links, of agent-intercom, the program beside ours. 0 or -1. */
int start_program(char out[PATH_MAX], struct err *e);

/* Starts agent-intercom on a database with the configuration in a file
 * ("": none). It gets a session of its own, / as its folder, none of our descriptors, and of our
 * variables only locations and its own settings; its log is <database>-log. Several may do this at
 * once: the instance lock keeps one of the systems, which all of them then wait for. 0: it is being
 * started; -1: its program is not there, or its database or log is another user's. */
int start_detached(const char *database, const char *config, struct started *ret, struct err *e);
/* Whether it has ended at once; said once, with its last word in why. */
enum start_end start_ended(struct started *s, const char *database, struct str *why);
/* Nobody will ask how it ends. */
void start_forget(struct started *s);

#endif
