/* greeting: what is said of each other before a session begins: who we are, who the agent is, what
 * it can do, how one logs in to it. */
#ifndef ACP_GREETING_H
#define ACP_GREETING_H

#include "err.h"
#include "json.h"

#include <stdbool.h>

enum { ACP_VERSION_ANY = 0, ACP_VERSION_1 = 1, ACP_VERSION_2 = 2 };

/* What the answer to initialize says. */
struct acp_greeting {
	int version; /* of the protocol */
	struct str name, release; /* "" where it does not say */
	bool can_load, can_resume, can_close;
	bool has_http; /* it can call MCP servers over HTTP */
	bool has_stdio; /* it can start MCP servers */
	struct str login; /* its ways to log in: "Log in with X (id): description; ..." */
	struct str methods; /* their ids, each between two newlines */
};

/* Appends the params of initialize. version: what we want to speak; forms: that we show forms. */
void acp_greeting_add_offer(struct str *out, int version, bool forms);

/* Reads the answer; wanted: as it was offered. 0, or -1: we have no version in common. */
int acp_greeting_read(struct acp_greeting *greeting, const cJSON *result, int wanted,
                      struct err *e);

/* Whether it can be logged in to by a call of authenticate with that method. */
bool acp_greeting_has_method(const struct acp_greeting *greeting, const char *method);

void acp_greeting_clear(struct acp_greeting *greeting);

#endif
