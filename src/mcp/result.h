/* result: what the results of several tools have in common. */
#ifndef RESULT_H
#define RESULT_H

#include "call.h"
#include "request.h"

/* Adds the members of an error. */
void result_add_error(struct str *out, const char *code, const char *text);
/* Makes out an object of them alone. */
void result_error(struct str *out, const char *code, const char *text);

/* Makes it the result of a call. */
void result_refuse(struct call *c, const char *code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds the members of a question that is approved, rejected, expired or still open: status,
 * request_id, and reason, note or message. */
void result_add_verdict(struct str *out, const struct request *r);

/* Adds the members of a question that is still open: its id, and that the caller is to ask again.
 */
void result_add_pending(struct str *out, const struct request *r);

#endif
