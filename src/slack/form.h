/* form: what a button that needs words opens, and where the words go if the form was not
 * seen. */
#ifndef FORM_H
#define FORM_H

#include "id.h"
#include "tell.h"

struct slack_form_missed_row; /* sql/slack_envelope.h */

/* Slack-poster opens it: its first job, because the trigger lives for 3 s. */
int slack_form_open(struct slack_talk *t, struct err *e);
/* What this person writes next is not for the form any longer. */
int slack_form_closed(struct slack_talk *t, struct err *e);
/* The question whose form this person does not see, as far as we know: what they write next is what
 * they would have written there. 1, 0 there is none, -1. */
int slack_form_missed(struct slack_talk *t, struct slack_form_missed_row *form, struct err *e);

/* The session that a button of an alert, or its form, is about: they carry the alert's id or the
 * session's. 1 it may be acted on, 0 the person has been told why not, -1. */
int slack_stalled_session(struct slack_talk *t, bool nudges, char id[ID_BYTES], struct err *e);

#endif
