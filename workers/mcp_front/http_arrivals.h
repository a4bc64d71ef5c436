/* http_arrivals: HTTP connections before their request is complete: slow and flooding clients, more
 * callers than descriptors, other users of this machine. */
#ifndef HTTP_ARRIVALS_H
#define HTTP_ARRIVALS_H

#include <event2/bufferevent.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <stdbool.h>
#include <sys/types.h>

struct front;
struct sink;

/* evhttp's own timeout: connections are ended here, earlier. */
enum { HTTP_ARRIVALS_TIMEOUT_SECONDS = 86400 };

void http_arrivals_start(struct front *f);
void http_arrivals_listen(struct front *f, struct evconnlistener *listener);
void http_arrivals_stop(struct front *f);

/* evhttp's callback for a new connection; arg is the front. */
struct bufferevent *http_arrivals_connect(struct event_base *base, void *arg);

/* Logs how many callers were refused, at most one line a minute. */
void http_arrivals_tell(struct front *f);

/* Counts a caller that was turned away; format completes "the last one ...". */
void http_arrivals_refuse(struct front *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
#define RUNS_AS "runs as user %u"

/* The user of a caller that may ask. */
uid_t http_arrivals_user(struct front *f, struct evhttp_request *request);

/* How many event streams of revision 2024-11-05 the calling user has open. */
int http_arrivals_streams(struct front *f, struct evhttp_request *request);

/* The name of the calling process (peer_process.h), in *ret: NULL if unknown. Looked up once per
 * connection. False: it could not be looked up. */
bool http_arrivals_process(struct front *f, struct evhttp_request *request, const char **ret);

/* A request is complete. Returns whether its caller may ask; the kernel is asked for its uid once
 * per connection. */
bool http_arrivals_let_in(struct front *f, struct evhttp_request *request);

/* A request of this connection waits for its answer, so the time limit for the next request does
 * not run. */
void http_arrivals_set_held(struct front *f, int fd, bool held);

/* Where the sink is noted whose answer on this connection has left, until it is known whether it
 * arrived; NULL there: none. */
struct sink **http_arrivals_sent(struct front *f, int fd);

#endif
