#include "talk.h"

#include "err.h"
#include "json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct acp_call {
	char id[16];
	enum acp_call_kind kind;
	struct acp_call *next;
};

void acp_talk_send(struct acp *a, const char *json)
{
	acp_frame_add(&a->out, a->how.framing, json);
}

void acp_talk_request(struct acp *a, enum acp_call_kind kind, const char *method,
                      const char *params)
{
	OWNED(str) struct str json = { 0 };
	struct acp_call *call = xcalloc(1, sizeof(*call));

	(void)snprintf(call->id, sizeof(call->id), "%d", ++a->next_id);
	call->kind = kind;
	call->next = a->calls;
	a->calls = call;
	acp_message_add_request(&json, call->id, method, params);
	acp_talk_send(a, json.bytes);
}

void acp_talk_notify(struct acp *a, const char *method, const char *params)
{
	OWNED(str) struct str json = { 0 };

	acp_message_add_notification(&json, method, params);
	acp_talk_send(a, json.bytes);
}

void acp_talk_result(struct acp *a, const char *id, const char *result)
{
	OWNED(str) struct str json = { 0 };

	acp_message_add_result(&json, id, result);
	acp_talk_send(a, json.bytes);
}

void acp_talk_error(struct acp *a, const char *id, int code, const char *text)
{
	OWNED(str) struct str json = { 0 };

	acp_message_add_error(&json, id, code, text);
	acp_talk_send(a, json.bytes);
}

bool acp_talk_is_other(const struct acp *a, const cJSON *params)
{
	const char *session = json_text(params, "sessionId");

	return session && a->session_id.length && strcmp(session, a->session_id.bytes) != 0;
}

enum acp_call_kind acp_talk_answered(struct acp *a, const char *id)
{
	for (struct acp_call **at = &a->calls; *at; at = &(*at)->next) {
		struct acp_call *call = *at;
		enum acp_call_kind kind = call->kind;

		if (strcmp(call->id, id) != 0)
			continue;
		*at = call->next;
		free(call);
		return kind;
	}
	return ACP_CALL_NONE;
}

void acp_talk_forget(struct acp *a)
{
	while (a->calls) {
		struct acp_call *call = a->calls;

		a->calls = call->next;
		free(call);
	}
}

void acp_talk_fail(struct acp *a, int code, const char *format, ...)
{
	char text[ERR_TEXT_BYTES];
	va_list arguments;

	if (a->step == ACP_STEP_OVER)
		return;
	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	a->step = ACP_STEP_OVER;
	a->deadline_ms = INT64_MAX;
	acp_tell(&a->sink, &(struct acp_event){ .kind = ACP_FAILED, .code = code, .text = text });
}
