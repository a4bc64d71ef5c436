/* agents: what `agent-intercom agents` found out about one profile. */
#ifndef AGENTS_H
#define AGENTS_H

#include "config.h"

enum agent_state {
	AGENT_MISSING, /* there is no such program */
	AGENT_FOUND,
	AGENT_READY, /* it was started, and opened a session */
	AGENT_LOGIN, /* it needs a login first */
	AGENT_FAILED,
};

enum { AGENT_VERSION_BYTES = 20 /* that are shown */ };

struct agent_look {
	const struct config_agent *profile;
	struct str path; /* of the program */
	struct str version; /* of the program, "" where it is not known */
	enum agent_state state;
	struct str detail; /* in words: what is wrong, and what to do */
	int acp_version; /* that it speaks; 0: not known */
	int64_t milliseconds; /* until it was known whether it is ready */
};

/* Starts the agent of a profile of protocol acp that was found, opens a session in the folder root
 * ("": an empty one), and ends it with all that it has started; fills in the rest. */
void agents_probe(struct agent_look *look, const char *root);

#endif
