/* line: what people write in Slack: which of it is an order, an answer, or a message to the
 * agent. */
#ifndef LINE_H
#define LINE_H

#include "tell.h"

/* A slash command: always an order. */
int slack_line_of_command(struct slack_talk *t, struct err *e);
/* A mention outside our threads, or a direct message: an order only if it is a verb, or a verb and
 * an id. */
int slack_line_of_mention(struct slack_talk *t, struct err *e);
/* A reply in a session's thread: an answer to what waits there, an order, or a message to the
 * agent. */
int slack_line_of_thread(struct slack_talk *t, struct err *e);

#endif
