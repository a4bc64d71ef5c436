/* attack: a whole system, an operator, and an agent that means no good: it names, links and patches
 * so that something else happens than what was approved. */
#ifndef ATTACK_H
#define ATTACK_H

#include "agent.h"

#include <stdbool.h>

extern struct site site;
extern struct agent agent;

/* A running system. policy: the workspace's policy file, NULL: none. config: lines of config.toml.
 */
void attack_begin(const char *policy, const char *config);
void attack_end(void);
/* The same with the fake Slack, where the operator is; ended by attack_end, too. */
void attack_begin_with_slack(void);

/* In the workspace: a file with its directories, and a symlink. */
void attack_file(const char *path, const char *text);
void attack_link(const char *target, const char *path);
/* The file reads so; NULL: it is not there. */
void attack_reads(const char *path, const char *text);

/* Asks for clearance; what the agent is told, after a second at the latest. Caller frees. */
char *attack_ask(const char *path, const char *body);
/* Asks, the operator approves; the request's id. Caller frees. */
char *attack_approved(const char *path, const char *body);
/* check_diff; what the agent is told, after a second at the latest. Caller frees. */
char *attack_write_once(const char *id, bool force);
/* The same, called again for as long as the answer is "pending". */
char *attack_write(const char *id, bool force);
/* check_diff is refused with this code, and each of the texts (NULL at the end) is in the message.
 */
void attack_refused(const char *id, bool force, const char *code, const char *part);
/* What the operator sees of the newest question at the terminal. Caller frees. */
char *attack_shown(void);

#endif
