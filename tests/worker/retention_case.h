/* retention_case: what the programs test_retention_*.c share. */
#ifndef RETENTION_CASE_H
#define RETENTION_CASE_H

#include "agent.h"
#include "sha256.h"
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

extern const int64_t SECOND, HOUR, DAY; /* in ms */

extern const char COUNTS[];

/* A text of the database's language with %1$s the instant and %2$d the number. */
void given_for(const char *format, struct instant at, int n);

/* Session n with a row in every table that belongs to it; it is still active. */
void given_whole_session(int n, struct instant at);

void terminate(int n, struct instant at);

/* A system in which nobody decided anything yet. */
void begin(void);

struct instant ago(int64_t ms);

/* `agent-intercom --db <the harness's> retention --once`; what it said. */
char *run_once(const char *arguments, int wanted);

/* Runs `agent-intercom --db <the harness's> ARGUMENTS`; what it says goes to said. */
extern struct str said;
int intercom(const char *arguments);

#endif
