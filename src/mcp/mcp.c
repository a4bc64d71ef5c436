#include "mcp.h"

#include "err.h"
#include "json.h"
#include "json_writer.h"
#include "texts.h"
#include "tool.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
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

const char MCP_MODERN[] = "2026-07-28";
const char MCP_TASKS[] = "io.modelcontextprotocol/tasks";

/* How long clients may cache our lists: they only change with the program. */
enum { LIST_TTL_MS = 300000 };

enum mcp_method mcp_method_of(const char *name, bool modern)
{
	enum { LEGACY = 1, MODERN = 2, BOTH = 3 };
	static const struct {
		const char *name;
		enum mcp_method method;
		int eras;
	} METHODS[] = {
		{ "tools/call", MCP_TOOLS_CALL, BOTH },
		{ "tools/list", MCP_TOOLS_LIST, BOTH },
		{ "resources/list", MCP_RESOURCES_LIST, BOTH },
		{ "resources/templates/list", MCP_RESOURCES_TEMPLATES, BOTH },
		{ "resources/read", MCP_RESOURCES_READ, BOTH },
		{ "initialize", MCP_INITIALIZE, LEGACY },
		{ "ping", MCP_PING, LEGACY },
		{ "logging/setLevel", MCP_SET_LEVEL, LEGACY },
		{ "server/discover", MCP_DISCOVER, MODERN },
		{ "subscriptions/listen", MCP_LISTEN, MODERN },
		{ "tasks/get", MCP_TASKS_GET, MODERN },
		{ "tasks/update", MCP_TASKS_UPDATE, MODERN },
		{ "tasks/cancel", MCP_TASKS_CANCEL, MODERN },
		{ "notifications/cancelled", MCP_NOTIFICATION_CANCELLED, BOTH },
	};

	for (size_t i = 0; i < COUNT(METHODS); i++)
		if (strcmp(METHODS[i].name, name) == 0 &&
		    (METHODS[i].eras & (modern ? MODERN : LEGACY)))
			return METHODS[i].method;
	return strncmp(name, "notifications/", 14) == 0 ? MCP_NOTIFICATION_OTHER : MCP_UNKNOWN;
}

/* ---- the modern era ---- */

static const char VERSION_KEY[] = "io.modelcontextprotocol/protocolVersion";
static const char CAPABILITIES_KEY[] = "io.modelcontextprotocol/clientCapabilities";
static const char CLIENT_KEY[] = "io.modelcontextprotocol/clientInfo";

static bool is_modern_version(const char *version)
{
	return version && strcmp(version, MCP_MODERN) >= 0;
}

bool mcp_is_modern(const cJSON *params)
{
	const cJSON *meta = json_get(params, "_meta");

	return json_get(meta, VERSION_KEY) != NULL;
}

const char *mcp_run_of(const cJSON *params)
{
	static const char *const NAMES[] = { "sessionId",       "session_id", "conversationId",
		                             "conversation_id", "threadId",   "thread_id",
		                             "runId",           "run_id",     NULL };
	const cJSON *meta = json_get(params, "_meta");
	const cJSON *one;

	cJSON_ArrayForEach (one, meta) {
		const char *slash = strrchr(one->string, '/');
		const char *name = slash ? slash + 1 : one->string;

		if (cJSON_IsString(one) && texts_name(NAMES, name) && *one->valuestring)
			return one->valuestring;
	}
	return NULL;
}

static int fault_set(struct mcp_fault *fault, int status, int code, const char *text)
{
	fault->status = status;
	fault->code = code;
	fault->data[0] = '\0';
	(void)snprintf(fault->text, sizeof(fault->text), "%s", text);
	return -1;
}

const cJSON *mcp_client_capabilities(const cJSON *params)
{
	return json_get(json_get(params, "_meta"), CAPABILITIES_KEY);
}

const cJSON *mcp_client_info(const cJSON *params)
{
	return json_get(json_get(params, "_meta"), CLIENT_KEY);
}

bool mcp_client_extends(const cJSON *params, const char *extension)
{
	const cJSON *all = json_get(mcp_client_capabilities(params), "extensions");

	return cJSON_IsObject(json_get(all, extension));
}

static int check_meta(const cJSON *meta, struct mcp_fault *fault)
{
	char text[120];

	if (!cJSON_IsObject(meta))
		return fault_set(fault, 400, RPC_INVALID_PARAMS, "params._meta must be an object");
	if (json_text(meta, VERSION_KEY))
		return 0;
	(void)snprintf(text, sizeof(text), "params._meta lacks %s (a string)", VERSION_KEY);
	return fault_set(fault, 400, RPC_INVALID_PARAMS, text);
}

/* What else our revision requires there; another may have it otherwise. */
static int check_client(const cJSON *meta, struct mcp_fault *fault)
{
	const cJSON *client = json_get(meta, CLIENT_KEY);
	char text[120];

	if (!cJSON_IsObject(json_get(meta, CAPABILITIES_KEY))) {
		(void)snprintf(text, sizeof(text), "params._meta lacks %s (an object)",
		               CAPABILITIES_KEY);
		return fault_set(fault, 400, RPC_INVALID_PARAMS, text);
	}
	if (client && (!json_text(client, "name") || !json_text(client, "version"))) {
		(void)snprintf(text, sizeof(text), "%s must be an object with name and version",
		               CLIENT_KEY);
		return fault_set(fault, 400, RPC_INVALID_PARAMS, text);
	}
	return 0;
}

static int unsupported(const char *version, struct mcp_fault *fault)
{
	OWNED(str) struct str data = { 0 };

	str_addf(&data, "{\"supported\":[\"%s\"],\"requested\":", MCP_MODERN);
	json_quote(&data, version);
	str_add_char(&data, '}');
	(void)fault_set(fault, 400, MCP_UNSUPPORTED_VERSION, "unsupported protocol version");
	if (data.length < sizeof(fault->data))
		memcpy(fault->data, data.bytes, data.length + 1);
	return -1;
}

static bool is_printable(const char *text)
{
	for (; *text; text++)
		if ((*text < 0x20 && *text != '\t') || *text > 0x7e) /* char may be signed or not */
			return false;
	return true;
}

char *mcp_header_text(const char *value)
{
	static const char HEAD[] = "=?base64?", TAIL[] = "?=";
	static const char DIGITS[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	size_t length = strlen(value), packed, padding = 0;
	unsigned char *bytes;
	int n;

	if (strncmp(value, HEAD, sizeof(HEAD) - 1) != 0 || length < sizeof(HEAD) + 1 ||
	    strcmp(value + length - 2, TAIL) != 0)
		return is_printable(value) ? xstrdup(value) : NULL;
	value += sizeof(HEAD) - 1;
	packed = length - (sizeof(HEAD) - 1) - (sizeof(TAIL) - 1);
	for (size_t i = packed; i > 0 && value[i - 1] == '='; i--)
		padding++;
	if (packed % 4 != 0 || padding > 2 || strspn(value, DIGITS) != packed - padding)
		return NULL; /* EVP_DecodeBlock accepts more than that */
	bytes = xmalloc(packed + 1);
	n = EVP_DecodeBlock(bytes, (const unsigned char *)value, (int)packed);
	length = n < 0 ? 0 : (size_t)n - padding;
	if (n < 0 || !utf8_valid(bytes, length) || memchr(bytes, '\0', length)) {
		free(bytes);
		return NULL;
	}
	bytes[length] = '\0';
	return (char *)bytes;
}

/* What Mcp-Name must repeat, by method; NULL: nothing. */
static const char *named(const struct rpc_message *m)
{
	static const struct {
		const char *method, *member;
	} NAMES[] = { { "tools/call", "name" },
		      { "resources/read", "uri" },
		      { "tasks/get", "taskId" },
		      { "tasks/update", "taskId" },
		      { "tasks/cancel", "taskId" } };

	for (size_t i = 0; i < COUNT(NAMES); i++)
		if (strcmp(NAMES[i].method, m->method) == 0)
			return json_text(m->params, NAMES[i].member);
	return NULL;
}

static int check_name(const struct rpc_message *m, const char *header, struct mcp_fault *fault)
{
	const char *name = named(m);
	OWNED(char_ptr) char *given = NULL;

	if (!name)
		return 0;
	if (!header)
		return fault_set(fault, 400, MCP_HEADER_MISMATCH, "the header Mcp-Name is missing");
	given = mcp_header_text(header);
	if (!given || strcmp(given, name) != 0)
		return fault_set(fault, 400, MCP_HEADER_MISMATCH,
		                 "the header Mcp-Name does not match the body");
	return 0;
}

/* Whether a request is about tasks: one of their methods, or a subscription to tasks. */
static bool needs_tasks(const struct rpc_message *m)
{
	const cJSON *wanted = json_get(m->params, "notifications");
	enum mcp_method method = mcp_method_of(m->method, true);

	return method == MCP_TASKS_GET || method == MCP_TASKS_UPDATE ||
	       method == MCP_TASKS_CANCEL || (method == MCP_LISTEN && json_get(wanted, "taskIds"));
}

int mcp_lacks_tasks(struct mcp_fault *fault)
{
	(void)fault_set(fault, 400, MCP_MISSING_CAPABILITY,
	                "this needs the client capability extensions "
	                "io.modelcontextprotocol/tasks, declared in the request's _meta");
	(void)snprintf(fault->data, sizeof(fault->data),
	               "{\"requiredCapabilities\":{\"extensions\":{\"%s\":{}}}}", MCP_TASKS);
	return -1;
}

int mcp_lacks_method(const char *method, struct mcp_fault *fault)
{
	char text[160];

	(void)snprintf(text, sizeof(text), "method not found: %.100s", method);
	return fault_set(fault, 404, RPC_METHOD_NOT_FOUND, text);
}

int mcp_check_modern(const struct rpc_message *m, const struct mcp_headers *headers,
                     struct mcp_fault *fault)
{
	const cJSON *meta = json_get(m->params, "_meta");
	const char *version;

	if (check_meta(meta, fault))
		return -1;
	version = json_text(meta, VERSION_KEY);
	if (headers && (!headers->version || strcmp(headers->version, version) != 0))
		return fault_set(
		    fault, 400, MCP_HEADER_MISMATCH,
		    "the header MCP-Protocol-Version is not the version in params._meta");
	if (strcmp(version, MCP_MODERN) != 0)
		return unsupported(version, fault);
	if (check_client(meta, fault))
		return -1;
	if (headers && (!headers->method || strcmp(headers->method, m->method) != 0))
		return fault_set(fault, 400, MCP_HEADER_MISMATCH,
		                 "the header Mcp-Method is not the method of the body");
	if (headers && check_name(m, headers->name, fault))
		return -1;
	if (needs_tasks(m) && !mcp_client_extends(m->params, MCP_TASKS))
		return mcp_lacks_tasks(fault);
	return 0;
}

/* ---- results ---- */

static void add_traceparent(struct str *out, const char *traceparent)
{
	str_addf(out, "\"traceparent\":\"%s\"", traceparent);
}

static void add_modern_meta(struct str *out, const char *traceparent)
{
	str_addf(out,
	         "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{"
	         "\"name\":\"agent-intercom\",\"version\":\"%s\"}",
	         INTERCOM_VERSION);
	if (traceparent) {
		str_add_char(out, ',');
		add_traceparent(out, traceparent);
	}
	str_add_char(out, '}');
}

static void end_result(struct str *out, const char *version, enum mcp_cache cache,
                       const char *traceparent)
{
	if (is_modern_version(version)) {
		if (out->bytes[out->length - 1] != '{')
			str_add_char(out, ',');
		str_add(out, "\"resultType\":\"complete\",");
		if (cache == MCP_CACHE_PRIVATE)
			str_add(out, "\"ttlMs\":0,\"cacheScope\":\"private\",");
		if (cache == MCP_CACHE_PUBLIC)
			str_addf(out, "\"ttlMs\":%d,\"cacheScope\":\"public\",", LIST_TTL_MS);
		add_modern_meta(out, traceparent);
	} else if (traceparent) {
		str_add(out, ",\"_meta\":{");
		add_traceparent(out, traceparent);
		str_add_char(out, '}');
	}
	str_add_char(out, '}');
}

void mcp_end_result(struct str *out, const char *version, enum mcp_cache cache)
{
	end_result(out, version, cache, NULL);
}

void mcp_empty_result(struct str *out, const char *version)
{
	str_add_char(out, '{');
	mcp_end_result(out, version, MCP_NOT_CACHEABLE);
}

void mcp_discover_result(struct str *out, const char *version)
{
	str_addf(out,
	         "{\"supportedVersions\":[\"%s\"],\"capabilities\":{\"tools\":{},"
	         "\"resources\":{},\"extensions\":{\"%s\":{}}},",
	         MCP_MODERN, MCP_TASKS);
	str_add(out, "\"instructions\":");
	json_quote(out, INSTRUCTIONS);
	mcp_end_result(out, version, MCP_CACHE_PUBLIC);
}

void mcp_listen_acknowledged(struct str *out, const char *id, const char *task_ids)
{
	str_addf(out,
	         "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\","
	         "\"params\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":%s},"
	         "\"notifications\":{",
	         id);
	if (task_ids) {
		str_add(out, "\"taskIds\":");
		str_add(out, task_ids);
	}
	str_add(out, "}}}");
}

bool mcp_version_known(const char *version)
{
	return strcmp(mcp_negotiate(version), version) == 0;
}

const char *mcp_negotiate(const char *requested)
{
	for (size_t i = 0; requested && i < COUNT(VERSIONS); i++)
		if (strcmp(VERSIONS[i], requested) == 0)
			return VERSIONS[i];
	return VERSIONS[0];
}

/* Whether a revision has title, outputSchema and structuredContent. */
static bool has_structured(const char *version)
{
	return strcmp(version, "2025-06-18") >= 0; /* revisions are dates */
}

void mcp_initialize_result(struct str *out, const char *version)
{
	str_addf(out,
	         "{\"protocolVersion\":\"%s\",\"capabilities\":{\"tools\":{},\"resources\":{},"
	         "\"logging\":{}},",
	         version);
	str_addf(out, "\"serverInfo\":{\"name\":\"agent-intercom\",%s\"version\":\"%s\"},",
	         has_structured(version) ? "\"title\":\"Agent Intercom\"," : "", INTERCOM_VERSION);
	str_add(out, "\"instructions\":");
	json_quote(out, INSTRUCTIONS);
	str_add_char(out, '}');
}

void mcp_tools_list(struct str *out, const char *version)
{
	json_object(out);
	json_member_array(out, "tools");
	for (int i = 0; i < TOOL_COUNT; i++)
		tool_describe(out, TOOLS[i], has_structured(version));
	json_array_end(out);
	mcp_end_result(out, version, MCP_CACHE_PUBLIC);
}

static void add_text_content(struct str *out, const char *text)
{
	json_object(out);
	json_member(out, "type", "text");
	json_member(out, "text", text);
	json_object_end(out);
}

void mcp_tool_result(struct str *out, const char *version, const char *result, struct mcp_said said,
                     bool is_error, const char *traceparent)
{
	json_object(out);
	json_member_array(out, "content");
	add_text_content(out, result);
	if (*said.text)
		add_text_content(out, said.text);
	json_array_end(out);
	if (has_structured(version)) {
		json_member_name(out, "structuredContent");
		json_object_from(out, result);
		if (*said.text)
			json_member_raw(out, "operator_says", said.list);
		json_object_end(out);
	}
	json_member_bool(out, "isError", is_error);
	end_result(out, version, MCP_NOT_CACHEABLE, traceparent);
}

void mcp_input_required(struct str *out, const char *requests, const char *traceparent)
{
	str_add(out, "{\"resultType\":\"input_required\",\"inputRequests\":");
	str_add(out, requests);
	str_add_char(out, ',');
	add_modern_meta(out, traceparent);
	str_add_char(out, '}');
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

int mcp_log_level(const char *level)
{
	static const char *const LEVELS[] = { "debug", "info",     "notice", "warning",
		                              "error", "critical", "alert",  "emergency" };

	for (size_t i = 0; level && i < COUNT(LEVELS); i++)
		if (strcmp(LEVELS[i], level) == 0)
			return (int)i;
	return -1;
}

void mcp_log(struct str *out, const char *level, const char *text)
{
	str_addf(out,
	         "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{"
	         "\"level\":\"%s\",\"logger\":\"agent-intercom\",\"data\":",
	         level);
	json_quote(out, text);
	str_add(out, "}}");
}

void mcp_sse_event(struct str *out, const char *id, const char *data)
{
	if (id)
		str_addf(out, "id: %s\n", id);
	str_add(out, "data: ");
	str_add(out, data);
	str_add(out, "\n\n");
}
