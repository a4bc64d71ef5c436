/* seen: how much of a request the operator was shown where they answer: nothing can be approved
 * that was not shown in full. */
#ifndef SEEN_H
#define SEEN_H

#include "request.h"

#include <cjson/cJSON.h>

#include <stdbool.h>

enum { SEEN_BYTES = 4000, SEEN_LINES = 40 }; /* of a command, in the inbox */

/* Appends what an approval permits, for a person: what happens to which files, with their modes; a
 * command in full, or as much as the inbox shows. Nothing for what is not approved. */
void seen_add(struct str *out, const struct request *r);

/* Adds the same to the row of a listing: "changes": [text of each file], "command", "is_whole". */
void seen_add_members(cJSON *row, const struct request *r);

/* Whether the inbox shows a command in full. Of changes it names the files. */
bool seen_is_whole(const struct request *r);

/* Whether it is what an agent behind an editor asks for that is no command and no change: what that
 * is, its description says, too. */
bool seen_is_described(const struct request *r);

/* For struct speaker, for people who answer what the inbox shows. */
int seen_in_inbox(struct store *st, const struct request *r, struct str *why, struct err *e);

#endif
