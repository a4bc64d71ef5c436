/* events: what an agent said, in whichever protocol it said it. */
#ifndef ACP_EVENTS_H
#define ACP_EVENTS_H

#include <stdint.h>

#include "inquiry.h"
#include "tool_call.h"

enum acp_event_kind {
	ACP_OPENED, /* its session is open and it can be prompted. id: the session's, at the agent
	             */
	ACP_FAILED, /* it cannot be. text: why, for a person; code: -32000 it needs a login */
	ACP_TURN_STARTED,
	ACP_TURN_ENDED, /* stop; text: of an error, else NULL */
	ACP_TEXT, /* words to the operator, joined from what came in pieces */
	ACP_STATUS, /* one line about what it does. level; text */
	ACP_TOOL, /* tool: a call of its own as it is now; is_first: it is new */
	ACP_PLAN, /* json: [{"label", "status"}], of done, in_progress, pending */
	ACP_USAGE, /* used, size: tokens of the context; json: the cost as it came, or NULL. Or,
	              with total: tokens of its session, or of the turn, as its agent counts */
	ACP_MODE, /* text: the mode it is in now */
	ACP_TITLE, /* text: what it calls the session */
	ACP_ASKED, /* ask: a question that waits for an answer */
	ACP_WITHDRAWN, /* id: of a question that needs no answer any longer; text: why */
	ACP_ALIVE, /* anything else */
	ACP_HUNG, /* it was told to stop and does not. text: what it did not do */
	ACP_CLOSED, /* it will say nothing more. text: why */
	ACP_NOTE, /* for the log. level; text */
};

enum acp_level { ACP_DEBUG, ACP_INFO, ACP_WARN, ACP_ERROR };

enum acp_stop {
	ACP_STOP_NONE,
	ACP_STOP_END_TURN,
	ACP_STOP_MAX_TURN_REQUESTS,
	ACP_STOP_MAX_TOKENS,
	ACP_STOP_REFUSAL,
	ACP_STOP_CANCELLED,
	ACP_STOP_ERROR,
	ACP_STOP_OTHER, /* a reason that we do not know, or none */
};

/* All that it points to is valid during the call. */
struct acp_event {
	enum acp_event_kind kind;
	const char *id;
	const char *text;
	enum acp_level level;
	enum acp_stop stop;
	int code;
	const struct acp_inquiry *ask;
	const struct acp_tool_call *tool;
	bool is_first;
	const char *json;
	int64_t used, size;
	int64_t input, output, total;
};

typedef void acp_take(void *arg, const struct acp_event *event);

/* Who is told. */
struct acp_sink {
	acp_take *take;
	void *arg;
};

void acp_tell(const struct acp_sink *sink, const struct acp_event *event);
void acp_tell_note(const struct acp_sink *sink, enum acp_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

enum acp_stop acp_stop_of(const char *reason);
const char *acp_stop_name(enum acp_stop stop);

#endif
