/* slack_token: what a process is given for Slack, and whether it can be right. Without libcurl: the
 * supervisor, which calls nobody, starts faster. */
#ifndef SLACK_TOKEN_H
#define SLACK_TOKEN_H

#include "err.h"

#include <stdbool.h>

/* Whether token can be the value of variable (SLACK_APP_TOKEN, SLACK_BOT_TOKEN): 0, or -1 with a
 * text that names the variable, and not the token. */
int slack_token_check(const char *variable, const char *token, struct err *e);

/* Whether base can be the address of an API: https, or http to this machine, which *ret_loopback
 * tells. Strict: what it accepts, libcurl does. */
int slack_base_check(const char *base, bool *ret_loopback, struct err *e);

/* Takes a secret from the environment and wipes it there, so that neither children nor /proc show
 * it. NULL: not set; otherwise the caller frees it. */
char *slack_secret_take(const char *variable);
/* Wipes and frees a secret and sets it to NULL. */
void slack_secret_wipe(char **secret);
/* From now on neither a core file nor another process of this user can show this one's memory. */
void slack_secret_guard(void);

#endif
