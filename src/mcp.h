/* mcp: the messages of the Model Context Protocol, without transport and without rows.
 * Revisions 2024-11-05 to 2025-11-25 (modelcontextprotocol.io/specification). */
#ifndef MCP_H
#define MCP_H

#include "str.h"

#include <stdbool.h>
#include <stdint.h>

enum mcp_method {
	MCP_INITIALIZE,
	MCP_PING,
	MCP_TOOLS_LIST,
	MCP_TOOLS_CALL,
	MCP_NOTIFICATION_CANCELLED,
	MCP_NOTIFICATION_OTHER,
	MCP_UNKNOWN
};

enum mcp_method mcp_method_of(const char *name);

/* Whether version is a legacy revision that we speak. */
bool mcp_version_known(const char *version);

/* The revision to answer a request for `requested` with: the same if we know it, else our newest
 * (lifecycle, "Version Negotiation"). NULL counts as unknown. */
const char *mcp_negotiate(const char *requested);

/* Whether a revision has title, outputSchema and structuredContent (2025-06-18 and later). */
bool mcp_has_structured(const char *version);

/* Append the JSON of a result. */
void mcp_initialize_result(struct str *out, const char *version);
void mcp_tools_list(struct str *out, const char *version);
/* result: the tool's JSON object. It stands as text and, where the revision has it, as structured
 * content. */
void mcp_tool_result(struct str *out, const char *version, const char *result, bool is_error);

/* Appends notifications/progress. token: JSON token; progress: whole seconds. */
void mcp_progress(struct str *out, const char *token, int64_t progress, const char *message);

/* Appends a server-sent event (WHATWG HTML, section 9.2). id: NULL for none. data: one line, ""
 * for the event that only carries the id. */
void sse_event(struct str *out, const char *id, const char *data);

#endif
