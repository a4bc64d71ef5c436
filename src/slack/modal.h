/* slack_modal: the forms that buttons open. */
#ifndef SLACK_MODAL_H
#define SLACK_MODAL_H

#include "sql/sets.h"
#include "str.h"

#include <cjson/cJSON.h>

/* The block of an input is called so, followed by the number of its field, from 0. */
#define SLACK_FIELD "field_"

/* The longest command that the form to edit it holds whole, in bytes. */
enum { SLACK_EDIT_MAX = 2800 };

/* id: goes into callback_id and private_metadata; about: what is answered and whose it is, as
 * mrkdwn; preset: initial text of the input, NULL: none. The caller deletes it. */
cJSON *slack_modal(enum slack_outbox_view view, const char *id, const char *about,
                   const char *preset);

/* The form that an agent asks to have filled in (agent_question.form): an input for each field.
 * NULL: it has more than a modal takes. The caller deletes it. */
cJSON *slack_modal_form(const char *id, const char *about, const cJSON *fields);

/* How long a message in its thread counts as the form, from a person who may not see it: some
 * clients do not show forms. */
enum { SLACK_FORM_MINUTES = 10 }; /* after the button was pressed */
void slack_modal_instead(enum slack_outbox_view view, struct str *out);

#endif
