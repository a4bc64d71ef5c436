/* policy: a workspace's policy file, and an agent whose questions it decides. */
#ifndef POLICY_CASE_H
#define POLICY_CASE_H

#include "agent.h"
#include "site.h"

extern struct site site;
extern struct agent agent;

extern const char DOCS[]; /* a policy that allows to write docs/ */
extern const char PUSH[]; /* the arguments of auto_check for a command of high risk */

void given_policy(const char *text);
void given_agent(const char *query);
/* A site that runs, with this policy (NULL: none), and an agent that waits a second. */
void given_all(const char *policy);

/* A clearance for a new file of this name is told this. */
void clearance_is(const char *path, const char *status);
/* PUSH once more is told this. */
void push_is(const char *approved, const char *status);

#endif
