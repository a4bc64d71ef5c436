/* seen: what of a question the operator has been shown where they answer: nothing is approved that
 * was not shown whole. */
#ifndef SEEN_H
#define SEEN_H

#include "request.h"

#include <cjson/cJSON.h>

#include <stdbool.h>

enum { SEEN_BYTES = 4000, SEEN_LINES = 40 }; /* of a command, in the inbox */

/* Appends what an approval lets happen, for a person: what becomes of which files, with their
 * modes; a command whole, or as far as the inbox goes. Nothing for what is not approved. */
void seen_add(struct str *out, const struct request *r);

/* Adds the same to the row of a listing: "changes": [text of each file], "command", "is_whole". */
void seen_add_members(cJSON *row, const struct request *r);

/* Whether the inbox shows a command whole. Of changes it names the files. */
bool seen_is_whole(const struct request *r);

/* For struct speaker, of those who answer what the inbox shows. */
int seen_in_inbox(struct store *st, const struct request *r, struct str *why, struct err *e);

#endif
