/* slack_turn: an agent's turns in its session's thread: what it does in one, as one message that is
 * edited, and the end of one, with buttons for what comes next. */
#ifndef SLACK_TURN_H
#define SLACK_TURN_H

#include "blocks.h"
#include "sql/agent_turn.h"
#include "tell.h"

enum { SLACK_ACTIVITY_MAX = 10 /* calls of tools that are named, the newest ones */ };

/* last: array of {"text", "status"}, oldest first; plan: array of {"label", "status"}, or NULL. */
struct slack_activity {
	const struct slack_turn_row *turn;
	int64_t calls;
	const cJSON *last, *plan;
};

void slack_turn_activity(const struct slack_activity *a, struct slack_said *out);
void slack_turn_end(const struct slack_turn_row *turn, struct slack_said *out);

/* A button below the end of a turn was pressed, or its form was sent. */
int slack_turn_press(struct slack_talk *t, struct err *e);

#endif
