/* trace: W3C Trace Context (w3.org/TR/trace-context), as a client sends it in params._meta. */
#ifndef TRACE_H
#define TRACE_H

#include <cjson/cJSON.h>

/* The traceparent of a _meta (NULL, or of any type) as one of version 00, which the caller frees:
 * "00-<trace-id>-<parent-id>-<flags>". Of a later version it has what version 00 defines. NULL:
 * there is none, or it is malformed. */
char *trace_parent(const cJSON *meta);

#endif
