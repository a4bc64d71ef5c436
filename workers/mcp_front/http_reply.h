/* http_reply: replies to HTTP callers, at once or on an event stream. The socket of a held stream
 * is in a separate epoll set, because evhttp does not notice a peer that hangs up behind unread
 * bytes. */
#ifndef HTTP_REPLY_H
#define HTTP_REPLY_H

#include "sink.h"

extern const struct transport HTTP_REPLY;
/* Everything we send goes over one stream: the transport of revision 2024-11-05. */
extern const struct transport HTTP_REPLY_STREAM;

void http_reply_start(struct front *f);
void http_reply_stop(struct front *f);

/* Takes a request that has arrived, which s answers. */
void http_reply_take(struct sink *s, struct evhttp_request *request);

void http_reply_header(struct sink *s, const char *name, const char *value);
void http_reply(struct sink *s, int status, const char *type, const void *body, size_t length);
void http_reply_status(struct sink *s, int status);
/* id: JSON token of the request, or NULL. */
void http_reply_error(struct sink *s, int status, const char *id, int code, const char *text);
/* On a stream of revision 2024-11-05. */
void http_reply_event(struct sink *s, const char *event, const char *data);
/* Whether a stream of that revision has so many answers to be read that no message for it is taken
 * until they are. */
bool http_reply_is_full(const struct sink *stream);

#endif
