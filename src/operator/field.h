/* field: one field of a form that an agent asks to have filled in (agent_question.form), and
 * whether what a person says fits it. */
#ifndef FIELD_H
#define FIELD_H

#include "str.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* A member of the field's limits; NULL: it has none. */
const cJSON *field_limit(const cJSON *field, const char *name);
/* Whether it is of this kind: "text", "number", ... */
bool field_is(const cJSON *field, const char *kind);

enum field_fit {
	FIELD_FITS,
	FIELD_EMPTY, /* nothing was said, and nothing need be */
	FIELD_WRONG, /* why says what it must be */
};

/* given: what was said of the field: a text, as typed, where choices have numbers and names, and
 * several are separated by commas; or a number, the position of the choice from 1, or an array
 * of them; NULL: nothing. Appends the value as a JSON member to content, and to said what it is in
 * words. */
enum field_fit field_fit(const cJSON *field, const cJSON *given, struct str *content,
                         struct str *said, struct str *why);
/* What the field holds before anybody says anything, as something given; NULL: nothing. The caller
 * deletes it. */
cJSON *field_default(const cJSON *field);

#endif
