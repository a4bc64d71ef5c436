/* config_agent: what a profile of an agent consists of, and the profiles that are built in.
 * Included by config*.c alone. */
#ifndef CONFIG_AGENT_H
#define CONFIG_AGENT_H

#include "config_field.h"

struct config_load;

/* The keys of a table [[agent]], in struct config_agent; `env` is split there into two,
 * and `asking` and `fence` are JSON. */
extern const struct config_field CONFIG_AGENT_KEYS[];
extern const size_t CONFIG_AGENT_KEY_COUNT;

/* Adds a profile: a copy of the built-in one of that name, else one without a command. */
struct config_agent *config_agent_add(struct config_agents *all, const char *name);

/* Makes the list complete once all else is settled: fills in what its profiles leave out, adds the
 * built-in ones and `default`, chooses the default. 0 or -1: default_agent names none. */
int config_agent_settle(struct config_load *l);

#endif
