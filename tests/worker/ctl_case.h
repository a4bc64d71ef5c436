/* ctl_case: what the programs test_ctl_*.c share. */
#ifndef CTL_CASE_H
#define CTL_CASE_H

#include "err.h"
#include "paths.h"
#include "store.h"
#include "str.h"
#include "suite.h"
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Ids of the rows that given_questions makes. */
#define SESSION_A "01900000-0000-7000-8000-00000000000a"

#define SESSION_B "01900000-1111-7000-8000-00000000000b"

#define CHANGE "01911111-0000-7000-8000-000000000001"

#define CHANGE_2 "01922222-0000-7000-8000-000000000002"

#define PROMPT "01933333-0000-7000-8000-000000000003"

#define STANDBY_A "01944444-0000-7000-8000-000000000004"

#define STANDBY_B "01944444-1111-7000-8000-000000000005" /* in no given_ but given_standby */

#define T "2026-02-08T09:30:00.123Z"

extern char folder[];

extern char home[64];

extern char database[96];

extern char binary[512];

extern struct str out, err_out; /* of the last run */

extern int status;

void given(const char *sql);

/* The rows of sql, columns by '|', a line each. */
void expect(const char *sql, const char *rows);

void read_file(const char *name, struct str *into);

/* Runs a shell command; "ctl" in it is the program, $DB is --db with the database, and "await FILE
 * TEXT" waits until the text is in that file of $HOME. */
void shell(const char *command);

/* Runs the program with these arguments, given as a shell would take them. */
void ctl(const char *arguments);

void says(const char *text);

void done(const char *output);

void failed(int expected, const char *message);

void setup(void);

void teardown(void);

void given_sessions(void);

void given_changes(void);

void given_prompt(void);

void given_standby(const char *id, int session);

void given_questions(void);

/* Slack alone may answer, as if an operator had ordered it. */
void given_remote_mode(void);

/* Reads from a terminal until text came, and if asked is set, a prompt behind it; false after 10 s
 * or at its end. */
bool read_until(int fd, const char *text, bool asked);

bool until(int fd, const char *text);

/* Until the text is there, and watch asks. */
bool until_asked(int fd, const char *text);

/* Starts the program on a terminal of 60 columns; argument: NULL or one more. */
pid_t on_terminal(int *ret_fd, const char *command, const char *argument);

/* Reads until the program has ended, closes its terminal, and sets status. */
void ends(pid_t pid, const int *fd);

#endif
