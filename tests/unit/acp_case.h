/* acp_case: a conversation with an agent, line by line, without a process. */
#ifndef ACP_CASE_H
#define ACP_CASE_H

#include "acp.h"

#define ACP_CASE_ROOT "/srv/project"

struct acp_case {
	struct acp acp;
	struct str events; /* what was told and not looked at, one to a line */
	int64_t now_ms;
};

/* The settings that most tests begin with. */
struct acp_how acp_case_how(enum acp_dialect dialect);
void acp_case_open(struct acp_case *c, const struct acp_how *how);
/* A session of version 1 that is open, its events and bytes looked at. */
void acp_case_open_session(struct acp_case *c);

/* The agent writes a line. */
void acp_case_hears(struct acp_case *c, const char *line);
/* The agent tells an update (JSON) of its session. */
void acp_case_updates(struct acp_case *c, const char *update);
/* What was told, and what was sent, since it was looked at last. Events of kind ACP_ALIVE are left
 * out. */
void acp_case_told(struct acp_case *c, const char *expected);
void acp_case_sent(struct acp_case *c, const char *expected);
/* Looks at neither. */
void acp_case_skip(struct acp_case *c);

void acp_case_clear(struct acp_case *c);

#endif
