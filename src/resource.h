/* resource: what agents may read over MCP (resources/list, templates/list, read).
 *
 *   slack://channel/{id}/recent        the session's own Slack channel (seeds 000 section 2.1)
 *   intercom://session/{id}/timeline   what happened in the caller's own session
 *   intercom://inbox                   what waits for the operator in the caller's workspace */
#ifndef RESOURCE_H
#define RESOURCE_H

#include "peer.h"
#include "store.h"
#include "str.h"

/* Append the members of a result object, without its end: "{"resources":[...]". p is settled. */
void resource_list(struct str *out, const struct peer *p);
void resource_templates(struct str *out);

/* Appends {"contents":[...] of a URI. 1 read, 0 there is no such resource for this caller: e says
 * why, -1 the database failed. */
int resource_read(struct store *st, const struct peer *p, const char *uri, struct str *out,
                  struct err *e);

#endif
