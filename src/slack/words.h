/* words: what a person in Slack says, at the operator's desk (src/operator/say.h), and how they are
 * told the outcome. */
#ifndef WORDS_H
#define WORDS_H

#include "say.h"
#include "tell.h"

struct speaker slack_speaker(const struct slack_talk *t);

int slack_say(struct slack_talk *t, const struct words *w, struct err *e);
/* Of a button or a form: it says which question, or which session. */
int slack_say_of(struct slack_talk *t, const char *verb, const char *id, const char *text,
                 struct err *e);
/* Tells what the desk answered; what it asks back gets its buttons. */
int slack_tell_said(struct slack_talk *t, const struct said *s, struct err *e);
/* Orders that only read, and those that nobody knows, are kept as rows as well. */
int slack_keep(struct slack_talk *t, const char *verb, const char *argument, struct err *e);

#endif
