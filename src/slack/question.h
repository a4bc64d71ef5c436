/* slack_question: a request as a message: what is asked while it waits, and its outcome afterwards,
 * when the buttons give way to who decided what and when. */
#ifndef SLACK_QUESTION_H
#define SLACK_QUESTION_H

#include "blocks.h"
#include "request.h"
#include "shown.h"

/* A request, and the Slack users it mentions: their ids, NULL at the end. */
struct slack_ask {
	const struct request *request;
	const char *const *mentions;
	const char *told; /* slack_question_add_told; NULL: nothing */
	bool diff_above; /* the long part is in a file before the request, not below */
	enum slack_file diff; /* without it, the request cannot be approved there */
};

/* Appends words that its answer told the agent besides, and who wrote them. */
void slack_question_add_told(struct str *out, const char *words, const char *by);

void slack_question_say(const struct slack_ask *a, struct slack_said *out);
/* The same without blocks, in case Slack refuses them: says how to answer in words, too. */
void slack_question_say_plain(const struct request *r, struct slack_said *out);
/* The same as one short line, in case Slack refuses everything else. */
void slack_question_say_line(const struct request *r, struct slack_said *out);
/* A separate notice: nobody answered in time. */
void slack_question_say_expired(const struct request *r, struct slack_said *out);

#endif
