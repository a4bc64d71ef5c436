/* agents: what `agent-intercom agents` found out about one profile. */
#ifndef AGENTS_H
#define AGENTS_H

#include "config.h"

enum agent_state {
	AGENT_MISSING, /* there is no such program */
	AGENT_FOUND,
};

struct agent_look {
	const struct config_agent *profile;
	struct str path; /* of the program */
	struct str version; /* of the program, "" where it is not known */
	enum agent_state state;
	struct str detail; /* in words: what is wrong, and what to do */
};

void agent_look_clear(struct agent_look *look);

#endif
