/* form: what a button that needs words opens, and where the words go if the form was not seen. */
#ifndef FORM_H
#define FORM_H

#include "id.h"
#include "tell.h"

struct slack_form_missed_row; /* sql/slack_envelope.h */

/* slack-poster opens it, before anything else, because the trigger lives for 3 s. */
int slack_form_open(struct slack_talk *t, struct err *e);
/* What was entered in the form of an agent: what does not fit is said at its field. */
int slack_form_fill(struct slack_talk *t, struct err *e);
/* A command is approved as it stands in the form. */
int slack_form_edited(struct slack_talk *t, struct err *e);
/* What this person writes next is no longer meant for the form. */
int slack_form_closed(struct slack_talk *t, struct err *e);
/* The request whose form this person, as far as we know, did not see: what they write next is what
 * they would have written there. 1, 0 there is none, -1. */
int slack_form_missed(struct slack_talk *t, struct slack_form_missed_row *form, struct err *e);

/* The session of an alert's button or form, which carry the id of the alert or of the session. 1 it
 * may be acted on, 0 the person has been told why not, -1. */
int slack_stalled_session(struct slack_talk *t, bool nudges, char id[ID_BYTES], struct err *e);

#endif
