/* take: the messages of a peer, whatever their transport. */
#ifndef TAKE_H
#define TAKE_H

#include "sink.h"

/* Takes one message of a peer: answers it at once, or queues a job. Takes over message. */
void take_message(struct front *f, struct sink *sink, struct rpc_message *message);

#endif
