/* resources: read from rows, without a turn. A Slack channel is read by slack-poster, and its
 * caller is held until the answer is there. */
#ifndef RESOURCES_H
#define RESOURCES_H

#include "hold.h"

/* Handles one of the resources methods; takes over m if it queues a job. */
void resources_take(struct front *f, struct sink *sink, struct rpc_message *m, const char *version,
                    enum mcp_method method);

/* Has a channel read. For JOBS. */
int resources_run(struct front *f, struct job *job, struct err *e);
bool resources_reply(struct front *f, struct job *job);

#endif
