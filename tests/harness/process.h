/* process: programs that a test runs, files that it gives them, and how long it waits. */
#ifndef PROCESS_H
#define PROCESS_H

#include "str.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Long, for a busy machine. */
enum {
	AGENT_PATIENCE_MS = 90000, /* what does not happen within it fails the test */
	PROGRAM_BYTES = 512,
};

/* Milliseconds of the machine's clock, whatever the test's clock says. */
int64_t agent_ms(void);

/* Path of a program of the build under test. */
void test_program(const char *name, char out[PROGRAM_BYTES]);
/* Whether it ends within ms; then *status is set. */
bool ends_within(pid_t pid, int ms, int *status);
/* A value in /proc/PID/status, as "PPid"; "" if the process or the value is not there. The caller
 * frees it. */
char *process_status(pid_t pid, const char *name);
/* Waits for its end; returns its exit status, 128 + signal if a signal killed it. */
int end_of(pid_t pid);

/* Writes a file of a folder; reads it (NULL if it does not exist; the caller frees the text). */
void put_file(const char *folder, const char *name, const char *text);
char *get_file(const char *folder, const char *name);
/* Removes the first n bytes. */
void drop(struct str *s, size_t n);
/* A free TCP port. */
int free_port(void);
/* Runs a shell command; returns its exit status and puts its output in said (may be NULL). */
int shell(struct str *said, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* `agent-intercom-ctl --db <harness's database> <arguments>`. */
int ctl(struct str *said, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
