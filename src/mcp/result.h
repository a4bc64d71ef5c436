/* result: shared by the results of several tools. */
#ifndef RESULT_H
#define RESULT_H

#include "call.h"
#include "request.h"

/* Adds the members of an error. */
void result_add_error(struct str *out, const char *code, const char *text);
/* Makes out an object of only these. */
void result_error(struct str *out, const char *code, const char *text);

/* Makes them the result of a call. */
void result_refuse(struct call *c, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds the members of a request that is approved, rejected, expired or still open: status,
 * request_id, and reason, note or message. */
void result_add_verdict(struct str *out, const struct request *r);

/* Adds the members of a request that is still open: its id, and that the caller should ask
 * again. */
void result_add_pending(struct str *out, const struct request *r);

#endif
