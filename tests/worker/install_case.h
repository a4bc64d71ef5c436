/* install_case: what the programs test_install_*.c share. */
#ifndef INSTALL_CASE_H
#define INSTALL_CASE_H

#include "err.h"
#include "str.h"
#include "suite.h"
#include <limits.h>
#include <pty.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char folder[];

extern char binary[PATH_MAX];

extern struct str out, err_out; /* of the last run */

extern int status;

/* The path of name in the test's folder; as below. */
const char *in(const char *name);

void read_file(const char *path, struct str *into);

bool shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* A file in the home, with the directories on the way. */
void given(const char *name, const char *text);

/* Runs the program in <folder>/ws without a terminal. */
void run(const char *arguments);

void does(const char *arguments);

void holds(const char *name, const char *text);

void is_missing(const char *name);

void says(const char *text);

void setup(void);

void teardown(void);

#endif
