/* resources: read from rows, so they need no turn; but a Slack channel is read by slack-poster, and
 * who asks for it is held until that has answered. */
#ifndef RESOURCES_H
#define RESOURCES_H

#include "hold.h"

/* Does one of the methods of resources; takes m over where it is queued. */
void resources_take(struct front *f, struct sink *sink, struct rpc_message *m, const char *version,
                    enum mcp_method method);

/* Has a channel read; for JOBS. */
int resources_run(struct front *f, struct job *job, struct err *e);
bool resources_reply(struct front *f, struct job *job);

#endif
