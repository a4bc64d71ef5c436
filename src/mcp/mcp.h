/* mcp: the messages of the Model Context Protocol, without transport and without rows.
 *
 * Two eras (modelcontextprotocol.io/specification): the legacy revisions 2024-11-05 to 2025-11-25
 * begin with initialize; in the modern one, 2026-07-28, each request says in params._meta which
 * revision it speaks. Both may come over one connection: it is decided for each request. */
#ifndef MCP_H
#define MCP_H

#include "rpc.h"
#include "str.h"

#include <stdbool.h>
#include <stdint.h>

enum mcp_method {
	MCP_INITIALIZE, /* legacy */
	MCP_PING, /* legacy, as is the next */
	MCP_SET_LEVEL,
	MCP_DISCOVER, /* modern */
	MCP_LISTEN, /* modern: subscriptions/listen */
	MCP_TASKS_GET, /* modern, these three: the extension io.modelcontextprotocol/tasks */
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

/* The method of this name, MCP_UNKNOWN also for one of the other era. */
enum mcp_method mcp_method_of(const char *name, bool modern);

/* Whether a request says in params._meta which revision it speaks: then it is modern, whatever
 * else is true of the connection. */
bool mcp_is_modern(const cJSON *params);

/* What a request's _meta says of the run or the conversation that it belongs to (a text under a
 * name such as "com.example/sessionId"), NULL if it says nothing. Borrowed. */
const char *mcp_run_of(const cJSON *params);

/* The request headers of revision 2026-07-28, NULL where one is missing. Names are compared after
 * decoding "=?base64?...?=". */
struct mcp_headers {
	const char *version; /* MCP-Protocol-Version */
	const char *method; /* Mcp-Method */
	const char *name; /* Mcp-Name */
};

/* The text of a header value: literal (printable ASCII), or "=?base64?<standard base64 of UTF-8>?="
 * in exactly these letters. NULL if it is neither; the caller frees it. */
char *mcp_header_text(const char *value);

/* Why a request is refused: the HTTP status and the JSON-RPC error. */
struct mcp_fault {
	int status;
	int code;
	char text[300];
	char data[300]; /* JSON, or "" */
};

/* What the client of a modern request declares that it can do; NULL where it does not say. */
const cJSON *mcp_client_capabilities(const cJSON *params);
/* What it says of itself: {name, version}; NULL where it does not. */
const cJSON *mcp_client_info(const cJSON *params);
/* Whether it declares an extension. */
bool mcp_client_extends(const cJSON *params, const char *extension);

/* The fault of a request that cannot be served unless its client declares the extension for tasks
 * in it (SEP-2663): fills fault, and returns -1. */
int mcp_lacks_tasks(struct mcp_fault *fault);

/* The fault of a request whose method we do not know: fills fault, and returns -1. */
int mcp_lacks_method(const char *method, struct mcp_fault *fault);

/* Checks a modern request in the order of the specification ("Versioning", "HTTP headers"):
 * _meta, header against body, version, method header, name header; then that a client which asks
 * for tasks declares that extension. Whether there is such a method is for the caller to see
 * (mcp_lacks_method). headers: NULL on stdio. 0, or -1 and fault. */
int mcp_check_modern(const struct rpc_message *m, const struct mcp_headers *headers,
                     struct mcp_fault *fault);

/* Whether version is a legacy revision that we speak. */
bool mcp_version_known(const char *version);

/* The revision to answer a request for `requested` with: the same if we know it, else our newest
 * (lifecycle, "Version Negotiation"). NULL counts as unknown. */
const char *mcp_negotiate(const char *requested);

/* Whether a revision has title, outputSchema and structuredContent (2025-06-18 and later). */
bool mcp_has_structured(const char *version);

/* How long a client may keep a result, where its method says so in the modern revision. */
enum mcp_cache { MCP_NOT_CACHEABLE, MCP_CACHE_PUBLIC, MCP_CACHE_PRIVATE };

/* Ends an open result object with the members that every result of a revision has. */
void mcp_end_result(struct str *out, const char *version, enum mcp_cache cache);

/* Append the JSON of a result, in the form of a revision: the modern one has resultType, and
 * serverInfo in _meta. */
void mcp_initialize_result(struct str *out, const char *version);
void mcp_empty_result(struct str *out, const char *version);
void mcp_discover_result(struct str *out, const char *version);
void mcp_tools_list(struct str *out, const char *version);
/* What an operator says to the agent unasked, with a result; empty: nothing. */
struct mcp_said {
	const char *text; /* for the model, as paragraphs */
	const char *list; /* the same as a JSON array of texts */
};

/* result: the tool's JSON object. It stands as text and, where the revision has it, as structured
 * content. Some clients show only the one, some only the other: what the operator says is a second
 * text, and the member operator_says of the structured content. */
void mcp_tool_result(struct str *out, const char *version, const char *result, struct mcp_said said,
                     bool is_error);

/* Appends a result that asks for input (multi round-trip requests). requests: JSON object. */
void mcp_input_required(struct str *out, const char *requests);

/* Appends notifications/message; level: as in MCP. */
void mcp_log(struct str *out, const char *level, const char *text);
/* The place of a level among the eight, debug 0; -1: it is none. */
int mcp_log_level(const char *level);
enum { MCP_LOG_WARNING = 3 };

/* Appends notifications/progress. token: JSON token; progress: whole seconds. */
void mcp_progress(struct str *out, const char *token, int64_t progress, const char *message);

/* Appends notifications/subscriptions/acknowledged for a subscriptions/listen with this id. No
 * list of ours ever changes, so only tasks are honoured. task_ids: JSON array, NULL: none. */
void mcp_listen_acknowledged(struct str *out, const char *id, const char *task_ids);

/* Appends a server-sent event (WHATWG HTML, section 9.2). id: NULL for none. data: one line, ""
 * for the event that only carries the id. */
void mcp_sse_event(struct str *out, const char *id, const char *data);

#endif
