/* channels: whether a channel that an agent names (?channel_id=) exists and the bot is in it. Slack
 * is asked by slack-poster; until it has said so, no agent is served with that channel. */
#ifndef CHANNELS_H
#define CHANNELS_H

#include "front.h"

/* Looks, and has Slack asked if need be; outside of a transaction. 0 it may be used (or Slack is
 * not configured), 1 Slack has not said so yet, -1 not; e says why. */
int channels_check(struct front *f, const char *channel, struct err *e);

#endif
