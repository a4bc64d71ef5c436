/* rpc: JSON-RPC 2.0 messages as MCP uses them (jsonrpc.org/specification; MCP "Base protocol").
 */
#ifndef RPC_H
#define RPC_H

#include "json.h"
#include "str.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

enum {
	RPC_PARSE_ERROR = -32700,
	RPC_INVALID_REQUEST = -32600,
	RPC_METHOD_NOT_FOUND = -32601,
	RPC_INVALID_PARAMS = -32602,
	RPC_INTERNAL_ERROR = -32603,
	RPC_RESOURCE_NOT_FOUND = -32002, /* MCP, legacy revisions */
	RPC_MAX_DEPTH = 64, /* nesting of a message */
	RPC_MAX_BATCH = 100, /* messages */
};

enum rpc_kind { RPC_REQUEST, RPC_NOTIFICATION, RPC_RESPONSE, RPC_BATCH };

struct rpc_message {
	enum rpc_kind kind;
	cJSON *root; /* owned */
	const char *method; /* into root; NULL for responses and batches */
	const cJSON *params; /* into root; NULL: none */
	char *id; /* owned: the JSON token as received ("7", "\"a\""); NULL for notifications */
	size_t length; /* bytes */
	bool has_nul; /* a string contains \u0000, which C texts cannot represent */
};

struct rpc_error {
	int code;
	char text[300];
};

/* Looks for what no message may have, whatever it says: bytes that are not UTF-8, NUL, control
 * characters between its parts, too many levels. 0, or -1 with error filled. */
int rpc_check(const char *bytes, size_t length, struct rpc_error *error);

/* Parses one message. 0, or -1 with error filled; even then m->id is set, if it was readable and
 * there once. Neither the message nor its params may name something twice. A batch (a JSON array,
 * MCP 2025-03-26 only) has kind RPC_BATCH: see rpc_batch_item. */
int rpc_parse(const char *bytes, size_t length, struct rpc_message *m, struct rpc_error *error);

/* The item at index of a batch as a message of its own. 0, or -1 with error filled. */
int rpc_batch_item(const struct rpc_message *batch, int index, struct rpc_message *m,
                   struct rpc_error *error);

void rpc_message_clear(struct rpc_message *m);

/* Appends a response. id: JSON token, NULL if unknown; result: JSON text. */
void rpc_result(struct str *out, const char *id, const char *result);
/* data: JSON text or NULL. */
void rpc_failure(struct str *out, const char *id, int code, const char *text, const char *data);

#endif
