#include "mcp.h"

#include "err.h"
#include "jsonrpc.h"
#include "tool.h"

#include <string.h>

#ifndef INTERCOM_VERSION
#define INTERCOM_VERSION "unknown"
#endif

/* Newest first. */
static const char *const VERSIONS[] = { "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05" };

static const char INSTRUCTIONS[] =
    "agent-intercom carries your questions to the operator, who may be away from the machine. "
    "Before you change a file, call check_clearance and wait for its answer; when it is approved, "
    "call check_diff and the change is written for you. When a result says 'pending', nothing has "
    "been decided: do not go on, call the same tool again with exactly the same arguments. Call "
    "reboot when you start, ping during long work, transmit to ask whether to go on, standby when "
    "you have nothing to do.";

enum mcp_method mcp_method_of(const char *name)
{
	static const struct {
		const char *name;
		enum mcp_method method;
	} METHODS[] = {
		{ "tools/call", MCP_TOOLS_CALL },
		{ "initialize", MCP_INITIALIZE },
		{ "ping", MCP_PING },
		{ "tools/list", MCP_TOOLS_LIST },
		{ "notifications/cancelled", MCP_NOTIFICATION_CANCELLED },
	};

	for (size_t i = 0; i < COUNT(METHODS); i++)
		if (strcmp(METHODS[i].name, name) == 0)
			return METHODS[i].method;
	return strncmp(name, "notifications/", 14) == 0 ? MCP_NOTIFICATION_OTHER : MCP_UNKNOWN;
}

bool mcp_version_known(const char *version)
{
	for (size_t i = 0; i < COUNT(VERSIONS); i++)
		if (strcmp(VERSIONS[i], version) == 0)
			return true;
	return false;
}

const char *mcp_negotiate(const char *requested)
{
	for (size_t i = 0; requested && i < COUNT(VERSIONS); i++)
		if (strcmp(VERSIONS[i], requested) == 0)
			return VERSIONS[i];
	return VERSIONS[0];
}

bool mcp_has_structured(const char *version)
{
	return strcmp(version, "2025-06-18") >= 0; /* revisions are dates */
}

void mcp_initialize_result(struct str *out, const char *version)
{
	str_addf(out, "{\"protocolVersion\":\"%s\",\"capabilities\":{\"tools\":{}},", version);
	str_addf(out, "\"serverInfo\":{\"name\":\"agent-intercom\",%s\"version\":\"%s\"},",
		 mcp_has_structured(version) ? "\"title\":\"Agent Intercom\"," : "",
		 INTERCOM_VERSION);
	str_add(out, "\"instructions\":");
	json_quote(out, INSTRUCTIONS);
	str_add_char(out, '}');
}

void mcp_tools_list(struct str *out, const char *version)
{
	str_add(out, "{\"tools\":[");
	for (int i = 0; i < TOOL_COUNT; i++) {
		if (i > 0)
			str_add_char(out, ',');
		tool_describe(out, &TOOLS[i], mcp_has_structured(version));
	}
	str_add(out, "]}");
}

void mcp_tool_result(struct str *out, const char *version, const char *result, bool is_error)
{
	str_add(out, "{\"content\":[{\"type\":\"text\",\"text\":");
	json_quote(out, result);
	str_add(out, "}]");
	if (mcp_has_structured(version)) {
		str_add(out, ",\"structuredContent\":");
		str_add(out, result);
	}
	str_addf(out, ",\"isError\":%s}", is_error ? "true" : "false");
}

void mcp_progress(struct str *out, const char *token, int64_t progress, const char *message)
{
	str_addf(out,
		 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
		 "\"progressToken\":%s,\"progress\":%lld,\"message\":",
		 token, (long long)progress);
	json_quote(out, message);
	str_add(out, "}}");
}

void sse_event(struct str *out, const char *id, const char *data)
{
	if (id)
		str_addf(out, "id: %s\n", id);
	str_add(out, "data: ");
	str_add(out, data);
	str_add(out, "\n\n");
}
