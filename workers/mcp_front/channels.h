/* channels: checks that a channel named by an agent (?channel_id=) exists and that the bot is in
 * it. slack-poster asks Slack; no agent is served with that channel until Slack has confirmed
 * it. */
#ifndef CHANNELS_H
#define CHANNELS_H

#include "front.h"

/* Checks the channel, and has Slack asked if necessary. Call outside a transaction. Returns 0 if
 * the channel may be used (or Slack is not configured), 1 if Slack has not answered yet, -1 if it
 * may not be used (e says why). */
int channels_check(struct front *f, const char *channel, struct err *e);

#endif
