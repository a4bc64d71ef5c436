#include "events.h"

#include "err.h"
#include "str.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const STOPS[] = {
	[ACP_STOP_NONE] = "",
	[ACP_STOP_END_TURN] = "end_turn",
	[ACP_STOP_MAX_TURN_REQUESTS] = "max_turn_requests",
	[ACP_STOP_MAX_TOKENS] = "max_tokens",
	[ACP_STOP_REFUSAL] = "refusal",
	[ACP_STOP_CANCELLED] = "cancelled",
	[ACP_STOP_ERROR] = "error",
	[ACP_STOP_OTHER] = "other",
};

void acp_tell(const struct acp_sink *sink, const struct acp_event *event)
{
	sink->take(sink->arg, event);
}

void acp_tell_note(const struct acp_sink *sink, enum acp_level level, const char *format, ...)
{
	char text[ERR_TEXT_BYTES];
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	acp_tell(sink, &(struct acp_event){ .kind = ACP_NOTE, .level = level, .text = text });
}

enum acp_stop acp_stop_of(const char *reason)
{
	for (size_t i = ACP_STOP_END_TURN; reason && i < COUNT(STOPS); i++)
		if (strcmp(reason, STOPS[i]) == 0)
			return (enum acp_stop)i;
	return ACP_STOP_OTHER;
}

const char *acp_stop_name(enum acp_stop stop)
{
	return STOPS[stop];
}
