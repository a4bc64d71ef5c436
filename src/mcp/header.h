/* header: interprets request headers and URLs. Needs no connection. */
#ifndef HEADER_H
#define HEADER_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

/* Whether a Host header, host[:port], names this machine: localhost, 127.0.0.1 or [::1]. */
bool header_host_is_loopback(const char *host);
/* The same for an Origin header: http or https, and such a host. */
bool header_origin_is_loopback(const char *origin);

/* Whether a Content-Type is application/json, with or without parameters. */
bool header_is_json(const char *type);

/* The seq of the call whose stream a Last-Event-ID belongs to ("12.end"); 0: not one of ours. */
int64_t header_event_call(const char *last_event_id);

enum { HEADER_MAX_PARAMETERS = 64 };

/* The query of a URL as a JSON object of texts, the first value of each name; the caller frees it.
 * NULL: it is malformed, not UTF-8, or has more than HEADER_MAX_PARAMETERS. */
cJSON *header_query(const char *uri);

#endif
