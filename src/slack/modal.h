/* slack_modal: the forms that buttons open. */
#ifndef SLACK_MODAL_H
#define SLACK_MODAL_H

#include "sql/sets.h"
#include "str.h"

#include <cjson/cJSON.h>

/* id: goes into callback_id and private_metadata; about: what is answered and whose it is, as
 * mrkdwn; preset: initial text of the input, NULL: none. The caller deletes it. */
cJSON *slack_modal(enum slack_outbox_view view, const char *id, const char *about,
                   const char *preset);

/* How long a message in its thread counts as the form, from a person who may not see it: some
 * clients do not show forms. */
enum { SLACK_FORM_MINUTES = 10 }; /* after the button was pressed */
void slack_modal_instead(enum slack_outbox_view view, struct str *out);

#endif
