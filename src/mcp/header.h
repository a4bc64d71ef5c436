/* header: what request headers and a URL say, without a connection to say it on. */
#ifndef HEADER_H
#define HEADER_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether a Host header, host[:port], names this machine: localhost, 127.0.0.1 or [::1]. */
bool header_host_is_loopback(const char *host);
/* The same of an Origin header: http or https, and such a host. */
bool header_origin_is_loopback(const char *origin);

/* Whether a Content-Type is application/json, with or without parameters. */
bool header_is_json(const char *type);

/* The seq of the call whose stream a Last-Event-ID belongs to ("12.end"); 0: none of ours. */
int64_t header_event_call(const char *last_event_id);

enum { HEADER_MAX_PARAMETERS = 64 };

/* What the query of a URL says, as a JSON object of texts, the first of each name; caller frees.
 * NULL: it is malformed, no UTF-8, or has more than HEADER_MAX_PARAMETERS. */
cJSON *header_query(const char *uri);

#endif
