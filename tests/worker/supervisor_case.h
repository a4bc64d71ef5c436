/* supervisor_case: what the programs test_supervisor_*.c share. */
#ifndef SUPERVISOR_CASE_H
#define SUPERVISOR_CASE_H

#include "clock.h"
#include "harness.h"
#include "process.h"
#include "str.h"
#include "worker.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SECOND = 1000, MINUTE = 60 * SECOND, LOOK_MS = 5, IMPATIENT_MS = 250, PATH_BYTES = 600 };

extern char dir[PATH_BYTES]; /* of this test */

extern const char *runtime; /* $XDG_RUNTIME_DIR of the next start */

extern const char *bin; /* the folder of the binaries */

extern const char *database; /* of the next start; NULL: what the config says */

extern uid_t as_uid; /* of the next start; 0: ours */

extern pid_t supervisor;

extern int out_fd;

int64_t real_ms(void);

/* The path of name in the test's folder; as below. */
const char *in(const char *name);

void write_file(const char *path, const char *text, mode_t mode);

char *read_file(const char *path);

void given_config(const char *more);

void setup(void);

void exec_it(const char *const *arguments, int out, const char *log);

/* Becomes the program argv[0], in the environment of this test. */
void exec_by_name(const char *const *argv, int out, const char *log);

pid_t spawn(const char *const *arguments, int *ret_out, const char *log);

void start(void);

char *log_text(void);

/* The exit status, 128 + signal if one killed it. */
int finish(void);

/* What it has written to stdout when it is ready. */
const char *ready_line(void);

/* Waits until the system that was started last has all its workers. */
void await_all(void);
/* Starts it, and waits for that. */
void start_ready(void);

void stop(void);

void log_has(const char *text);

void log_has_soon(const char *text);

void ends_with(int status, const char *text);

/* Runs it to its end; what it wrote to stdout, and its status. */
char *output_of(const char *const *arguments, int *ret_status);

void doctor_says(int status, const char *text);

pid_t pid_of(const char *worker);

/* A folder with our binaries, which every user reaches and of which some can be replaced. */
void own_folder(void);

/* What is run next is run as nobody, whose $XDG_RUNTIME_DIR it is. */
void as_nobody(void);

void replace(const char *worker, const char *script);

int listen_somewhere(int *ret_port);

#endif
