/* words: takes what a person in Slack says to the operator's desk (src/operator/say.h), and reports
 * the outcome. */
#ifndef WORDS_H
#define WORDS_H

#include "say.h"
#include "tell.h"

/* Of a question that no row knows: it was asked after the backup that was restored, or long ago. */
#define SLACK_GONE "this question is gone; `/intercom inbox` lists what waits"

struct speaker slack_speaker(const struct slack_talk *t);

int slack_say(struct slack_talk *t, const struct words *w, struct err *e);
/* From a button or a form, which names the request or the session. */
int slack_say_of(struct slack_talk *t, const char *verb, const char *id, const char *text,
                 struct err *e);
/* Reports the desk's answer; a question that it asks back gets its buttons. */
int slack_tell_said(struct slack_talk *t, const struct said *s, struct err *e);
/* Orders that only read, and unknown ones, are kept as rows, too. */
int slack_keep(struct slack_talk *t, const char *verb, const char *argument, struct err *e);

#endif
