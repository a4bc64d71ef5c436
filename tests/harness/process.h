/* process: programs that a test runs, files that it gives them, and how long it waits. */
#ifndef PROCESS_H
#define PROCESS_H

#include "str.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The patience is for a busy machine. */
enum {
	AGENT_PATIENCE_MS = 30000, /* what does not come within it fails the test */
	PROGRAM_BYTES = 512,
};

/* Milliseconds of the machine's clock, whatever the test's clock says. */
int64_t agent_ms(void);

/* Path of a program of the build that is tested. */
void test_program(const char *name, char out[PROGRAM_BYTES]);
/* Whether it ends within ms; *status is set then. */
bool ends_within(pid_t pid, int ms, int *status);
/* Waits for its end: its exit status, 128 + signal if one killed it. */
int end_of(pid_t pid);

/* A file of a folder: written, and read (NULL if it is not there; caller frees). */
void put_file(const char *folder, const char *name, const char *text);
char *get_file(const char *folder, const char *name);
/* Takes the first n bytes off. */
void drop(struct str *s, size_t n);
/* A free TCP port. */
int free_port(void);
/* Runs a shell command; its exit status, what it said in said (may be NULL). */
int shell(struct str *said, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* `agent-intercom-ctl --db <harness's database> <arguments>`. */
int ctl(struct str *said, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
