/* commander_case: what the programs test_commander_*.c share: a commander, aliases of shell lines,
 * and orders to run them. */
#ifndef COMMANDER_CASE_H
#define COMMANDER_CASE_H

#include "harness.h"
#include "process.h"

#include <stdbool.h>
#include <sys/types.h>

enum { SESSION_A = 1, SESSION_B = 2 };

extern char workspace[300];
extern pid_t commander;

/* A store with two sessions in one workspace, without a commander; then with one that is ready. */
void given_ground(void);
void given_commander(void);
/* Another commander, after the last one has ended. */
void start_commander(void);

/* The alias is this line of shell from now on. */
void given_alias(const char *alias, const char *line);
/* Orders a run in a session, 0: in none. Returns its number. */
int order_run(const char *alias, int session);
/* The same of a new alias. */
int run_line(const char *line);
void order_stop(int run);
/* The run becomes what these words say: state|outcome|exit_code|exit_signal. */
void run_becomes(int run, const char *words);
/* A column of the run; valid until the tenth call after this one. */
const char *of_run(int run, const char *column);
/* Its whole output; the same. */
const char *output_of(int run);

/* How many processes have this argument, which is long enough to be nobody else's. */
int processes_with(const char *argument);
/* They become so many. */
void processes_become(const char *argument, int count);
/* An argument of `sleep` that no other test has: seconds; valid until the tenth call after. */
const char *mark(void);
/* Waits until a file of the workspace has this text. */
void file_becomes(const char *name, const char *text);

#endif
