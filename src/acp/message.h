/* message: one JSON-RPC message, as far as both of an agent's protocols have it: told apart by what
 * it contains, in any order, with or without "jsonrpc". */
#ifndef ACP_MESSAGE_H
#define ACP_MESSAGE_H

#include "err.h"
#include "json.h"
#include "json_peek.h"

enum acp_message_kind {
	ACP_MESSAGE_REQUEST, /* method and id */
	ACP_MESSAGE_NOTIFICATION, /* method alone */
	ACP_MESSAGE_RESULT,
	ACP_MESSAGE_ERROR,
	ACP_MESSAGE_BATCH, /* an array: see json_split */
};

enum {
	ACP_PARSE_ERROR = -32700,
	ACP_METHOD_NOT_FOUND = -32601,
	ACP_INVALID_PARAMS = -32602,
	ACP_INTERNAL_ERROR = -32603,
	ACP_CANCELLED = -32800,
	ACP_LOGIN_NEEDED = -32000,
};

struct acp_message {
	enum acp_message_kind kind;
	cJSON *root; /* owned */
	const char *id; /* the token as it came, to be copied into an answer; NULL: none */
	const char *method; /* NULL: none */
	const cJSON *params; /* of a request or a notification, an object; NULL: none */
	const cJSON *result; /* of a result, NULL of an error */
	int code; /* of an error */
	const char *text; /* of an error, "" if it says nothing */
	struct json_peek peek;
};

/* Reads one message. 0, or -1 with what is wrong (ERR_INPUT); id and method are set even then where
 * they could be read, so that a broken request need not wait for ever. A message that readers may
 * understand differently is refused, and has no id. */
int acp_message_read(const char *bytes, size_t length, struct acp_message *m, struct err *e);
void acp_message_clear(struct acp_message *m);

/* Append a message; id: a token, params and result: JSON. */
void acp_message_add_request(struct str *out, const char *id, const char *method,
                             const char *params);
void acp_message_add_notification(struct str *out, const char *method, const char *params);
void acp_message_add_result(struct str *out, const char *id, const char *result);
void acp_message_add_error(struct str *out, const char *id, int code, const char *text);

#endif
