/* slack_modal: the forms that open at a press. */
#ifndef SLACK_MODAL_H
#define SLACK_MODAL_H

#include "sql/sets.h"
#include "str.h"

#include <cjson/cJSON.h>

/* id: what its callback_id and private_metadata carry; about: what is answered and whose it is, as
 * mrkdwn; preset: what stands in the input already, NULL: nothing. The caller deletes it. */
cJSON *slack_modal(enum slack_outbox_view view, const char *id, const char *about,
                   const char *preset);

/* What is taken for the form in its thread, by whoever does not see it: some clients show none. */
enum { SLACK_FORM_MINUTES = 10 }; /* after the button was pressed */
void slack_modal_instead(enum slack_outbox_view view, struct str *out);

#endif
