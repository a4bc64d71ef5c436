/* elicit: a request that the agent's own client shows to its user (MCP, "Elicitation"), in addition
 * to ctl and Slack; the first answer wins. Off unless mcp.elicitation enables it: whoever runs the
 * client could answer in place of its user. */
#ifndef ELICIT_H
#define ELICIT_H

#include "request.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

enum { ELICIT_SHOWN_BYTES = 8 << 10 }; /* of a diff or a text; only ctl show has the rest */

/* Whether a client with these capabilities (JSON object or NULL) shows forms. */
bool elicit_is_offered(const cJSON *capabilities);

/* Appends the params of elicitation/create for a request. with_mode: the revision has modes
 * (2025-11-25 and later). why: of elicit_take, if it is shown once more; or "". */
void elicit_params(struct str *out, const struct request *r, bool with_mode, const char *why);

/* Takes the answer of the client's user to r: {"action":..,"content":{..}}. An answer becomes a
 * decision row; *ret_decided: r is now decided, by it or before it; otherwise why (empty before)
 * says why it does not count. Inside a transaction. 0, or -1 if the database failed. */
int elicit_take(struct store *st, const struct request *r, const cJSON *response, bool *ret_decided,
                struct str *why, struct err *e);

#endif
