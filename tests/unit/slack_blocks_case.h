/* slack_blocks_case: what the programs test_slack_blocks_*.c share. */
#ifndef SLACK_BLOCKS_CASE_H
#define SLACK_BLOCKS_CASE_H

#include "modal.h"
#include "notice.h"
#include "question.h"
#include "slack_limits.h"
#include "suite.h"
#include <check.h>
#include <stdlib.h>

struct request a_clearance(void);

/* The message as JSON text; checked against all limits first. */
char *said(struct slack_said *s);

void holds(const char *text, const char *part);

void lacks(const char *text, const char *part);

#endif
