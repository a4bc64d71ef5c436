/* slack_question: a question as a message: what is asked while it waits, and what became of it
 * afterwards: buttons go, who decided what and when comes. */
#ifndef SLACK_QUESTION_H
#define SLACK_QUESTION_H

#include "blocks.h"
#include "request.h"
#include "shown.h"

/* A question, and the Slack users it mentions: their ids, NULL at the end. */
struct slack_ask {
	const struct request *request;
	const char *const *mentions;
	bool diff_above; /* what is too long is in a file before the question, not below */
	bool diff_missing; /* Slack did not take that: nobody can approve it there */
};

void slack_question_say(const struct slack_ask *a, struct slack_said *out);
/* The same without blocks, for when Slack refuses those: how to answer in words, too. */
void slack_question_say_plain(const struct request *r, struct slack_said *out);
/* The same as one short line, for when Slack refuses everything else. */
void slack_question_say_line(const struct request *r, struct slack_said *out);
/* A notice of its own: nobody answered in time. */
void slack_question_say_expired(const struct request *r, struct slack_said *out);

#endif
