/* toml_edit: puts one table into a TOML text, or removes it, and leaves every other byte alone.
 *
 * Only a table with its own header ([a.b]) is changed; another form of the same name (an inline
 * table, dotted keys) is refused. After each change the text is read and compared: the meaning of
 * everything else is unchanged, too. */
#ifndef TOML_EDIT_H
#define TOML_EDIT_H

#include "err.h"
#include "str.h"

#include <cjson/cJSON.h>

/* The text as plain JSON (dates as text); NULL, and e is "NAME:LINE: reason". */
cJSON *toml_edit_parse(const struct str *text, const char *name, struct err *e);

/* Makes entry, an object of texts, numbers, booleans and arrays of them, the table [parent.key]; a
 * new table goes to the end. Its subtables stay. name is for errors. */
int toml_edit_set(struct str *text, const char *name, const char *parent, const char *key,
                  const cJSON *entry, struct err *e);
/* Removes [parent.key] and its subtables, if they exist. */
int toml_edit_remove(struct str *text, const char *name, const char *parent, const char *key,
                     struct err *e);
/* Appends entry as a table: its header and its lines. */
void toml_edit_print(struct str *out, const char *parent, const char *key, const cJSON *entry);

#endif
