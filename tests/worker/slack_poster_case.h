/* slack_poster_case: what the programs test_slack_poster_*.c share. */
#ifndef SLACK_POSTER_CASE_H
#define SLACK_POSTER_CASE_H

#include "agent.h"
#include "rpc.h"
#include "slack_peer.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SECOND = 1000, MINUTE = 60 * SECOND };

/* Slack is configured, with one operator and the channel C01AGENTS. */
void desk(void);

void desk_is_left(void);

/* Session number n, in hybrid mode. */
void session(int n);

/* Clearance number n of a session; diff: SQL that makes it. */
void question(int n, int of, const char *title, const char *diff);

extern const char SHORT_DIFF[];

/* In the thread of a session. */
void reply(int of, const char *text);

/* The messages of the channel, a line each: text; below a thread's head indented. */
char *said(void);

/* How often a text occurs in what Slack shows. */
int times_said(const char *part);

/* $INTERCOM_BACKLOG: by hand with 10000, which takes minutes. */
int backlog(void);

/* What is queued gets said until only so many are left; the clock is moved, a second at a time,
 * while there are more. */
void let_it_speak_until(long most);

void let_it_speak(void);

void holds(const char *text, const char *part);

#endif
