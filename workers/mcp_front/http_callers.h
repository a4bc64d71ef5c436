/* http_callers: who calls over HTTP, and whether they may: Host and Origin must be loopback names,
 * the framing must be plain, the session must exist. */
#ifndef HTTP_CALLERS_H
#define HTTP_CALLERS_H

#include "sink.h"

/* Returns 0 or the status to refuse with; *ret_why says why. */
int http_callers_check(struct evhttp_request *request, const char **ret_why);
/* Reads what the URL says about its caller. A URL cannot set a path. False: it cannot be read;
 * *ret_why says why. */
bool http_callers_take_query(struct identity *i, const char *uri, const char **ret_why);

/* A request header, NULL if missing. */
const char *http_callers_header(const struct sink *s, const char *name);
/* Whether the headers indicate a revision without initialize: one that is not a known legacy
 * revision, from a caller without a session. */
bool http_callers_are_modern(const struct sink *s);

/* Finds the process that calls; for new connections. If it cannot be looked up, refuses the message
 * and returns false: its caller would be taken for another. */
bool http_callers_find_process(struct sink *s, const char *id);

/* Finds the peer of a legacy message other than initialize; refuses the message and returns false
 * if there is none. id: JSON token of the request, NULL if the message is not a request. */
bool http_callers_identify(struct sink *s, const char *id);
/* The same for a modern request, which names its caller. */
bool http_callers_identify_modern(struct sink *s, const struct rpc_message *m);

#endif
