/* talk: what we send to an agent, and which of our calls it has not answered yet. */
#ifndef ACP_TALK_H
#define ACP_TALK_H

#include "acp.h"

enum acp_call_kind {
	ACP_CALL_NONE,
	ACP_CALL_INITIALIZE,
	ACP_CALL_AUTHENTICATE,
	ACP_CALL_NEW,
	ACP_CALL_RESUME, /* or load */
	ACP_CALL_MODE,
	ACP_CALL_PROMPT,
	ACP_CALL_CLOSE,
};

/* One message as it is sent. */
void acp_talk_send(struct acp *a, const char *json);
void acp_talk_request(struct acp *a, enum acp_call_kind kind, const char *method,
                      const char *params);
void acp_talk_notify(struct acp *a, const char *method, const char *params);
void acp_talk_result(struct acp *a, const char *id, const char *result);
void acp_talk_error(struct acp *a, const char *id, int code, const char *text);

/* Whether params name another session than the one that we have opened. */
bool acp_talk_is_other(const struct acp *a, const cJSON *params);

/* Which call an answer with this id is for; it waits no longer. */
enum acp_call_kind acp_talk_answered(struct acp *a, const char *id);
void acp_talk_forget(struct acp *a);

/* The session cannot be: tells why and is over. */
void acp_talk_fail(struct acp *a, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
