#include "result.h"

#include "json_writer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void result_add_error(struct str *out, const char *code, const char *text)
{
	json_member(out, "status", "error");
	json_member(out, "error_code", code);
	json_member(out, "error_message", text);
}

void result_error(struct str *out, const char *code, const char *text)
{
	str_reset(out);
	json_object(out);
	result_add_error(out, code, text);
	json_object_end(out);
}

void result_refuse(struct call *c, const char *code, const char *format, ...)
{
	char text[ERR_TEXT_BYTES];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	result_error(&c->result, code, text);
	c->is_error = true;
}

static const char AGAIN[] =
    "not decided yet; do not go on with it; call this tool again with exactly the same arguments "
    "to keep waiting for the same question";

void result_add_pending(struct str *out, const struct request *r)
{
	json_member(out, "request_id", r->row.id);
	json_member(out, "message", AGAIN);
}

void result_add_verdict(struct str *out, const struct request *r)
{
	bool approved =
	    r->row.state == REQUEST_STATE_APPROVED || r->row.state == REQUEST_STATE_CONSUMED;
	bool rejected = r->row.state == REQUEST_STATE_REJECTED;
	bool expired = r->row.state == REQUEST_STATE_EXPIRED;

	if (!approved && !rejected && !expired) {
		json_member(out, "status", "pending");
		result_add_pending(out, r);
		return;
	}
	json_member(out, "status", approved ? "approved" : rejected ? "rejected" : "timeout");
	json_member(out, "request_id", r->row.id);
	if (rejected)
		json_member(out, "reason", r->row.reason ? r->row.reason : "rejected by operator");
	else if (approved)
		json_member(out, "note", r->row.instruction);
}
