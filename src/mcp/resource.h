/* resource: what agents may read over MCP (resources/list, templates/list, read).
 *
 *   slack://channel/{id}/recent        the session's own Slack channel
 *   intercom://session/{id}/timeline   what happened in the caller's own session
 *   intercom://inbox                   what waits for the operator in the caller's workspace */
#ifndef RESOURCE_H
#define RESOURCE_H

#include "peer.h"
#include "store.h"
#include "str.h"

/* Append the members of a result object, without its end: "{"resources":[...]". p is settled. */
void resource_list(struct str *out, struct store *st, const struct peer *p);
void resource_templates(struct str *out);

/* Appends {"contents":[...] of a URI. 1 read; 0 this caller has no such resource, e says why; -1
 * the database failed. */
int resource_read(struct store *st, const struct peer *p, const char *uri, struct str *out,
                  struct err *e);
/* Appends the same for a resource whose content is known. */
void resource_content(struct str *out, const char *uri, const char *json);

/* ---- the channel: asked for here, read by slack-poster, answered later ---- */

enum { RESOURCE_CHANNEL_MS = 10000 /* the caller stops waiting then */ };

/* Whether a URI is a channel's; if so, use resource_ask. */
bool resource_is_channel(const char *uri);
/* Asks for it, or finds the same question from a moment ago: *ret_read is the slack_read's seq. 1
 * asked, 0 refused: e says why, -1 the database failed. Inside a transaction. */
int resource_ask(struct store *st, const struct peer *p, const char *uri, int64_t *ret_read,
                 struct err *e);
/* Its outcome. 1 its JSON is appended to json; 0 none yet; -1 e says why there is none. */
int resource_answer(struct store *st, int64_t read, struct str *json, struct err *e);

#endif
