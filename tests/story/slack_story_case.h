/* slack_story_case: what the programs test_slack_story_*.c share. */
#ifndef SLACK_STORY_CASE_H
#define SLACK_STORY_CASE_H

#include "agent.h"
#include "harness.h"
#include "rpc.h"
#include "slack_peer.h"
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECOND = 1000 };

extern struct site site;

void slack_with(const char *more);

void a_system_with_slack(void);

/* The same, and an agent that has said hello. */
struct agent an_agent_with_slack(void);

/* The same, and the profile `fake` of an agent with these steps (texts of TOML), started from Slack
 * with this prompt. */
void a_system_with_an_agent(const char *prompt, const char *steps);

void end_system(void);

/* Time passes until Slack has a message of this kind: the ts of the first one. */
char *ts_of(const char *kind);

/* The message with the buttons of the question that waits. */
char *ask_ts(void);

/* The second text of a tool's result, "" if there is none: what the operator says. */
char *said_in(const char *message);

char *call_for_message(struct agent *a, const char *tool, const char *arguments);

void press(const char *ts, const char *button);

/* Presses it and waits until that is acknowledged: what follows from it is committed then. */
void press_and_wait(const char *ts, const char *button);

/* n calls, or questions, have arrived: rows of this table. The front gives up a request that is not
 * whole within some seconds of its clock, so no time may pass before. */
void arrived(const char *table, int n);

/* Time passes until the query has this result: what is said keeps a pace. */
void pass_time_until(const char *sql, const char *text);

/* Slack shows what the rows say. */
void all_is_said(void);

/* The message as Slack shows it. */
char *shown(const char *ts);

/* The same, once Slack shows what the rows say. */
char *shown_now(const char *ts);

void is_not_in(const char *text, const char *part);

/* The text that only the one who pressed sees. */
void whispered(const char *text);

void a_hybrid_system(void);

struct agent an_agent_in_hybrid_mode(void);

void edits_wait(int seconds);

/* ---- silent agents (user story 4) ---- */

enum { MINUTE = 60 * SECOND };

#endif
