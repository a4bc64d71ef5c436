/* mcp: the messages of the Model Context Protocol, without transport and without rows.
 *
 * Two eras (modelcontextprotocol.io/specification): the legacy revisions 2024-11-05 to 2025-11-25
 * begin with initialize; in the modern one, 2026-07-28, each request names its revision in
 * params._meta. Both may use one connection: each request is judged separately. */
#ifndef MCP_H
#define MCP_H

#include "rpc.h"
#include "str.h"

#include <stdbool.h>
#include <stdint.h>

enum mcp_method {
	MCP_INITIALIZE, /* legacy */
	MCP_PING, /* legacy, and so is the next */
	MCP_SET_LEVEL,
	MCP_DISCOVER, /* modern */
	MCP_LISTEN, /* modern: subscriptions/listen */
	MCP_TASKS_GET, /* modern, all three: the extension io.modelcontextprotocol/tasks */
	MCP_TASKS_UPDATE,
	MCP_TASKS_CANCEL,
	MCP_TOOLS_LIST,
	MCP_TOOLS_CALL,
	MCP_RESOURCES_LIST,
	MCP_RESOURCES_TEMPLATES,
	MCP_RESOURCES_READ,
	MCP_NOTIFICATION_CANCELLED,
	MCP_NOTIFICATION_OTHER,
	MCP_UNKNOWN
};

/* Error codes of revision 2026-07-28. */
enum {
	MCP_HEADER_MISMATCH = -32020,
	MCP_MISSING_CAPABILITY = -32021,
	MCP_UNSUPPORTED_VERSION = -32022,
};

extern const char MCP_MODERN[]; /* the modern revision that we speak */
extern const char MCP_TASKS[]; /* the name of the extension for tasks (mcp_task.h) */

/* The method with this name; MCP_UNKNOWN also for a method of the other era. */
enum mcp_method mcp_method_of(const char *name, bool modern);

/* Whether a request names its revision in params._meta: then it is modern, whatever else is true of
 * the connection. */
bool mcp_is_modern(const cJSON *params);

/* The run or conversation that a request's _meta says it belongs to (a text under a name such as
 * "com.example/sessionId"), NULL: none. Borrowed. */
const char *mcp_run_of(const cJSON *params);

/* The request headers of revision 2026-07-28, NULL: missing. Names are compared after decoding
 * "=?base64?...?=". */
struct mcp_headers {
	const char *version; /* MCP-Protocol-Version */
	const char *method; /* Mcp-Method */
	const char *name; /* Mcp-Name */
};

/* The text of a header value: literal (printable ASCII), or "=?base64?<standard base64 of UTF-8>?="
 * with exactly these letters. NULL if it is neither; the caller frees it. */
char *mcp_header_text(const char *value);

/* Why a request is refused: the HTTP status and the JSON-RPC error. */
struct mcp_fault {
	int status;
	int code;
	char text[300];
	char data[300]; /* JSON, or "" */
};

/* The capabilities that the client of a modern request declares; NULL: none. */
const cJSON *mcp_client_capabilities(const cJSON *params);
/* What it says about itself: {name, version}; NULL: nothing. */
const cJSON *mcp_client_info(const cJSON *params);
/* Whether it declares an extension. */
bool mcp_client_extends(const cJSON *params, const char *extension);

/* The fault of a request that requires its client to declare the extension for tasks in it
 * (SEP-2663): fills fault and returns -1. */
int mcp_lacks_tasks(struct mcp_fault *fault);

/* The fault of a request with an unknown method: fills fault and returns -1. */
int mcp_lacks_method(const char *method, struct mcp_fault *fault);

/* Checks a modern request in the order of the specification ("Versioning", "HTTP headers"): _meta,
 * header against body, version, method header, name header; then that a client that asks for tasks
 * declares that extension. The caller checks that the method exists (mcp_lacks_method). headers:
 * NULL on stdio. 0, or -1 and fault. */
int mcp_check_modern(const struct rpc_message *m, const struct mcp_headers *headers,
                     struct mcp_fault *fault);

/* Whether version is a legacy revision that we speak. */
bool mcp_version_known(const char *version);

/* The revision with which to answer a request for `requested`: the same if we know it, otherwise
 * our newest (lifecycle, "Version Negotiation"). NULL counts as unknown. */
const char *mcp_negotiate(const char *requested);

/* How long a client may cache a result, if the modern revision says so for its method. */
enum mcp_cache { MCP_NOT_CACHEABLE, MCP_CACHE_PUBLIC, MCP_CACHE_PRIVATE };

/* Ends an open result object with the members that every result of a revision has. */
void mcp_end_result(struct str *out, const char *version, enum mcp_cache cache);

/* Append the JSON of a result in the form of a revision: the modern one has resultType, and
 * serverInfo in _meta. */
void mcp_initialize_result(struct str *out, const char *version);
void mcp_empty_result(struct str *out, const char *version);
void mcp_discover_result(struct str *out, const char *version);
void mcp_tools_list(struct str *out, const char *version);
/* What an operator says to the agent unasked, with a result; empty: nothing. */
struct mcp_said {
	const char *text; /* for the model, in paragraphs */
	const char *list; /* the same as a JSON array of texts */
};

/* result: the tool's JSON object. It is included as text and, if the revision has that, as
 * structured content. Some clients show only one of the two: so what the operator says is a second
 * text and the member operator_says of the structured content. traceparent: for _meta, NULL: the
 * call had none. */
void mcp_tool_result(struct str *out, const char *version, const char *result, struct mcp_said said,
                     bool is_error, const char *traceparent);

/* Appends a result that asks for input (multi round-trip requests). requests: JSON object. */
void mcp_input_required(struct str *out, const char *requests, const char *traceparent);

/* Appends notifications/message; level: as in MCP. */
void mcp_log(struct str *out, const char *level, const char *text);
/* The index of a level among the eight, debug is 0; -1: not a level. */
int mcp_log_level(const char *level);
enum { MCP_LOG_WARNING = 3 };

/* Appends notifications/progress. token: JSON token; progress: whole seconds. */
void mcp_progress(struct str *out, const char *token, int64_t progress, const char *message);

/* Appends notifications/subscriptions/acknowledged for a subscriptions/listen with this id. Our
 * lists never change, so only tasks are accepted. task_ids: JSON array, NULL: none. */
void mcp_listen_acknowledged(struct str *out, const char *id, const char *task_ids);

/* Appends a server-sent event (WHATWG HTML, section 9.2). id: NULL for none. data: one line, "" for
 * the event that only carries the id. */
void mcp_sse_event(struct str *out, const char *id, const char *data);

#endif
