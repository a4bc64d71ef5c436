/* json_edit: puts one member into a JSON text, or removes it, and leaves every other byte alone.
 *
 * For files of other programs: what cJSON would reformat (numbers over 2^53, escapes, white space)
 * stays as it is. A new member takes the file's indentation and line ends. After each change the
 * text is parsed and compared: the meaning of everything else is unchanged, too. */
#ifndef JSON_EDIT_H
#define JSON_EDIT_H

#include "err.h"
#include "str.h"

#include <cjson/cJSON.h>

/* A place: member names from the root down, the last one NULL. */
typedef const char *const *json_place;

/* Whether text is an object that we can change (or empty, or only white space). 0: it is. 1: it has
 * comments or trailing commas, so we read it but do not change it. -1: e says "name:LINE: reason".
 * root gets the object (NULL for an empty text); the caller deletes it. */
int json_edit_parse(const struct str *text, const char *name, cJSON **root, struct err *e);

/* The item at the place, NULL if there is none. */
const cJSON *json_edit_find(const cJSON *root, json_place place);

/* Sets the member at place to value and creates missing objects on the way. name is for errors. */
int json_edit_set(struct str *text, const char *name, json_place place, const cJSON *value,
                  struct err *e);
/* Removes the member at place, if there is one. */
int json_edit_remove(struct str *text, const char *name, json_place place, struct err *e);

#endif
