/* http_callers: who calls over HTTP, and whether they may: Host and Origin must be loopback names,
 * the framing must be plain, a session must exist. */
#ifndef HTTP_CALLERS_H
#define HTTP_CALLERS_H

#include "sink.h"

/* 0 or the status to refuse with; *ret_why says why. */
int http_callers_check(struct evhttp_request *request, const char **ret_why);
/* What the URL says of its caller; false: it cannot be read. A path is not taken from a URL. */
bool http_callers_take_query(struct identity *i, const char *uri);

/* A request header, NULL if it is not there. */
const char *http_callers_header(const struct sink *s, const char *name);
/* Whether the headers speak of a revision that has no initialize: one that we do not know as a
 * legacy one, from a caller without a session. */
bool http_callers_are_modern(const struct sink *s);

/* Looks which process asks, for those who begin. */
void http_callers_find_process(struct sink *s);

/* The peer behind a legacy message that is no initialize; refuses and returns false if there is
 * none. id: JSON token of the request, NULL if it is none. */
bool http_callers_identify(struct sink *s, const char *id);
/* The same of a modern request, which names its caller. */
bool http_callers_identify_modern(struct sink *s, const struct rpc_message *m);

#endif
