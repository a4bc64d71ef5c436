/* toml_edit: puts one table into a TOML text, or removes it, and leaves every other byte alone.
 *
 * Only a table with a header of its own ([a.b]) is changed; what else there is of that name (an
 * inline table, dotted keys) is refused. After each change the text is read and compared: nothing
 * else has changed in meaning either. */
#ifndef TOML_EDIT_H
#define TOML_EDIT_H

#include "err.h"
#include "str.h"

#include <cjson/cJSON.h>

/* The text as plain JSON (dates as text); NULL and e with "NAME:LINE: reason". */
cJSON *toml_edit_parse(const struct str *text, const char *name, struct err *e);

/* Makes entry, an object of texts, numbers, booleans and arrays of them, the table [parent.key],
 * at the end if it is new. Its subtables stay. name is for errors. */
int toml_edit_set(struct str *text, const char *name, const char *parent, const char *key,
                  const cJSON *entry, struct err *e);
/* Takes [parent.key] and its subtables out, if they are there. */
int toml_edit_remove(struct str *text, const char *name, const char *parent, const char *key,
                     struct err *e);
/* Appends entry as a table: header and lines. */
void toml_edit_print(struct str *out, const char *parent, const char *key, const cJSON *entry);

#endif
