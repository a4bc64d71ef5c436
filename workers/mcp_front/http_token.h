/* http_token: the bearer tokens of agents that we started. Such a token names the session of its
 * run, and is good for no other one, and only as long as that run lives. */
#ifndef HTTP_TOKEN_H
#define HTTP_TOKEN_H

#include "sink.h"

#include <stdbool.h>

/* Takes the token of a request, if it shows one of ours: the caller is in that session. False: the
 * request is refused, and has its reply. */
bool http_token_take(struct sink *s);
/* Whether a caller with that token may use the connection that it has named, or any if it showed
 * none. */
bool http_token_fits(const struct peer *p);

#endif
