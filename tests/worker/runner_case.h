/* runner_case: what the programs test_runner_*.c share: a whole system, and runs of agents that are
 * shell scripts. */
#ifndef RUNNER_CASE_H
#define RUNNER_CASE_H

#include "harness.h"
#include "process.h"
#include "site.h"

#include <stdbool.h>
#include <sys/types.h>

extern struct site site;

/* A system with a profile `shell`, whose agents carry out their prompts; it does not run. */
void make_site(void);
/* The same with another profile, whose row is there already: a program of the build, and its
 * arguments as a list in quotes. */
void make_site_of(const char *name, const char *protocol, const char *program, const char *args);
/* One that runs, in which nothing is wanted. */
void setup(void);

/* Orders a run, in a new session, of an agent that is this shell script; $here is the workspace.
 * Returns the run's number, which is also the session's. */
int given_run(const char *script);
/* The same after a change of the profile's row, as "env_pass = '[..]'"; NULL: none. */
int given_run_of(const char *script, const char *profile);
/* The same as if it had been ordered so many seconds ago. */
int given_run_ago(const char *script, int seconds);
/* The same with a prompt that is no script. */
int given_run_with(const char *prompt, const char *profile);
/* The id of its session, which no other test has; valid until the next call. */
const char *session_of(int run);
/* The run becomes what these words say: state|outcome|exit_code|exit_signal|status of its session.
 */
void run_becomes(int run, const char *words);
/* A column of the run; valid until the tenth call after this one. */
const char *of_run(int run, const char *column);
/* Somebody wants it stopped. */
void want_stop(int run, const char *why);

/* How many processes there are of the agent of a run. */
int processes_of(int run);
/* They become so many. */
void processes_become(int run, int count);
/* The pid of its runner. */
pid_t runner_of(int run);

/* A file of the workspace: waits until it has so many lines, and returns its text; caller frees. */
char *file_with_lines(const char *name, int lines);

/* Orders a run of the fake agent: what it speaks ("v1", "v2", "stream") and its steps. It keeps
 * what it reads in the file `heard` of the workspace. */
int given_talk(const char *speaks, const char *const *steps);
#define STEPS(...) ((const char *const[]){ __VA_ARGS__, NULL })
/* Starts the system again, which has forgotten the fake agent. */
void start_again(const char *speaks, const char *const *steps);
/* The next run of the same session. */
void resume(int run);
/* The agent has been told this, on one line, so often in all. */
void was_told(const char *text, int times);
/* The pending request is decided. more: its reason and instruction, as SQL. */
void decide(const char *verdict, const char *more);

#endif
