/* json_edit: puts one member into a JSON text, or removes it, and leaves every other byte alone.
 *
 * For files of other programs: what cJSON would reformat (numbers over 2^53, escapes, white
 * space) stays as it is. What is put in takes the file's indentation and line ends. After each
 * change the text is parsed and compared: nothing else has changed in meaning either. */
#ifndef JSON_EDIT_H
#define JSON_EDIT_H

#include "err.h"
#include "str.h"

#include <cjson/cJSON.h>
#include <stddef.h>

/* A place: names of members from the root on, the last one NULL. */
typedef const char *const *json_place;

/* Whether text is an object we can change (or white space, or nothing). 1 it is JSON with comments
 * or trailing commas, which we read but do not change; 0; -1: name:LINE: what is wrong.
 * root gets the object (NULL for an empty text); the caller deletes it. */
int json_edit_parse(const struct str *text, const char *name, cJSON **root, struct err *e);

/* The item at the place, NULL if there is none. */
const cJSON *json_edit_find(const cJSON *root, json_place place);

/* Sets the member at place to value, making the objects on the way. name is for errors. */
int json_edit_set(struct str *text, const char *name, json_place place, const cJSON *value,
                  struct err *e);
/* Takes the member at place out, if it is there. */
int json_edit_remove(struct str *text, const char *name, json_place place, struct err *e);

#endif
