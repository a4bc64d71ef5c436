/* http_arrivals: HTTP connections before their request has come whole: slow and flooding clients,
 * more callers than descriptors, other users of this machine. */
#ifndef HTTP_ARRIVALS_H
#define HTTP_ARRIVALS_H

#include <event2/bufferevent.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <stdbool.h>

struct front;

void http_arrivals_start(struct front *f);
void http_arrivals_listen(struct front *f, struct evconnlistener *listener);
void http_arrivals_stop(struct front *f);

/* evhttp's callback for a new connection; arg is the front. */
struct bufferevent *http_arrivals_connect(struct event_base *base, void *arg);

/* Logs how many callers of other users have been refused: one line a minute. */
void http_arrivals_tell(struct front *f);

/* How many event streams of revision 2024-11-05 the calling user has open. */
int http_arrivals_streams(struct front *f, struct evhttp_request *request);

/* The name of the process that asks (peer_process.h), NULL if it is not known. Looked for once for
 * each connection. */
const char *http_arrivals_process(struct front *f, struct evhttp_request *request);

/* A whole request is there. Returns whether its caller may ask: it is looked at once for each
 * connection, by the kernel's word. */
bool http_arrivals_let_in(struct front *f, struct evhttp_request *request);

/* A request of this connection waits for its answer: what comes behind it has time. */
void http_arrivals_set_held(struct front *f, int fd, bool held);

#endif
