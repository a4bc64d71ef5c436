/* slack_listener_case: what the programs test_slack_listener_*.c share. */
#ifndef SLACK_LISTENER_CASE_H
#define SLACK_LISTENER_CASE_H

#include "agent.h"
#include "harness.h"
#include "slack_peer.h"
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE };

/* A session in hybrid mode in the agents' channel, with its thread. */
void a_session_in_slack(void);

void a_question_in_slack(void);

void operators(void);

void slack(void);

pid_t listener_starts(void);

#endif
