#include "take.h"

#include "editor.h"
#include "elicit.h"
#include "elicitation.h"
#include "front.h"
#include "hook.h"
#include "peer_process.h"
#include "resources.h"
#include "tasks.h"

#include <stdlib.h>
#include <string.h>

enum { EDITOR_BYTES = 64 << 10 }; /* of an answer by an editor's user */

static void reply_now(struct sink *sink, const char *id, const char *version,
                      void (*make)(struct str *, const char *))
{
	OWNED(str) struct str result = { 0 };

	make(&result, version);
	sink_reply(sink, id, &result);
}

/* What the client says about itself applies from here on: its next message may be in the same
 * turn. */
static void introduce(struct peer *p, const cJSON *params)
{
	const cJSON *client = cJSON_GetObjectItemCaseSensitive(params, "clientInfo");

	free(p->version);
	free(p->client_name);
	free(p->client_version);
	p->version = xstrdup(mcp_negotiate(json_text(params, "protocolVersion")));
	p->client_name = peer_client_text(json_text(client, "name"));
	p->client_version = peer_client_text(json_text(client, "version"));
	p->elicits = elicit_is_offered(cJSON_GetObjectItemCaseSensitive(params, "capabilities"));
}

/* Lists have one page, so a cursor cannot be ours; an empty one may mean the beginning. */
static bool has_cursor(struct sink *sink, const struct rpc_message *m)
{
	const cJSON *cursor = cJSON_GetObjectItemCaseSensitive(m->params, "cursor");

	if (!cursor || (cJSON_IsString(cursor) && cursor->valuestring[0] == '\0'))
		return false;
	sink_refuse(sink, m->id, RPC_INVALID_PARAMS, "there is no page with this cursor");
	return true;
}

static void set_level(struct sink *sink, const struct rpc_message *m, const char *version)
{
	int level = mcp_log_level(json_text(m->params, "level"));

	if (level < 0) {
		sink_refuse(sink, m->id, RPC_INVALID_PARAMS,
		            "params.level must be debug, info, notice, warning, error, critical, "
		            "alert or emergency");
		return;
	}
	sink->peer->log_level = level;
	reply_now(sink, m->id, version, mcp_empty_result);
}

/* For sessions: which process this relay is, and which program has started it. */
static void learn_program(struct sink *sink)
{
	char name[PEER_PROCESS_BYTES];
	struct peer *p = sink->peer;
	int fd = sink->pipe && !p->seq ? bufferevent_getfd(sink->pipe) : -1;

	if (fd >= 0 && !p->process && peer_process_of(fd, name))
		p->process = xstrdup(name);
	if (fd >= 0 && !p->host_process && peer_process_of_host(fd, name))
		p->host_process = xstrdup(name);
}

/* Whether what a caller says about itself is short enough to be kept. */
static bool is_introduced(const struct peer *p, struct mcp_fault *fault)
{
	if (!p->identity.too_long)
		return true;
	*fault = (struct mcp_fault){ .status = 400, .code = RPC_INVALID_PARAMS };
	(void)snprintf(fault->text, sizeof(fault->text),
	               "the caller's '%s' is longer than %d bytes", p->identity.too_long,
	               peer_identity_most(p->identity.too_long));
	return false;
}

/* What is recorded: queued, if its user's allowance is enough. version: of the reply, or NULL. */
static void record(struct front *f, struct sink *sink, struct rpc_message *m, enum job_kind kind,
                   const char *version)
{
	struct mcp_fault fault;

	if (is_introduced(sink->peer, &fault) && allowance_take(f, sink->peer, m->length, &fault))
		job_queue(f, kind, sink, m)->version = version;
	else
		sink->by->refuse(sink, m->id, &fault);
}

static void take_request(struct front *f, struct sink *sink, struct rpc_message *m)
{
	struct mcp_fault fault;
	bool modern = mcp_is_modern(m->params);
	const char *version = modern ? MCP_MODERN : peer_version(sink->peer);

	if (sink->pipe && strcmp(m->method, HOOK_METHOD) == 0) {
		record(f, sink, m, JOB_CALL, version);
		return;
	}
	if (sink->pipe && strcmp(m->method, EDITOR_METHOD) == 0) {
		if (m->length > EDITOR_BYTES)
			sink_refuse(sink, m->id, RPC_INVALID_PARAMS, "that is no answer");
		else
			record(f, sink, m, JOB_EDITOR, NULL);
		return;
	}
	if (modern)
		peer_take_client(sink->peer, m->params);
	switch (mcp_method_of(m->method, modern)) {
	case MCP_INITIALIZE:
		introduce(sink->peer, m->params);
		learn_program(sink);
		record(f, sink, m, JOB_INITIALIZE, NULL);
		return;
	case MCP_TOOLS_CALL:
		if (!modern && sink->peer->transport == CONNECTION_TRANSPORT_STDIO &&
		    !sink->peer->version) {
			sink_refuse(sink, m->id, RPC_INVALID_PARAMS,
			            "send initialize first, or set "
			            "_meta io.modelcontextprotocol/protocolVersion to 2026-07-28");
			return;
		}
		learn_program(sink);
		record(f, sink, m, JOB_CALL, version);
		return;
	case MCP_PING:
		reply_now(sink, m->id, version, mcp_empty_result);
		return;
	case MCP_SET_LEVEL:
		set_level(sink, m, version);
		return;
	case MCP_TOOLS_LIST:
		if (!has_cursor(sink, m))
			reply_now(sink, m->id, version, mcp_tools_list);
		return;
	case MCP_DISCOVER:
		reply_now(sink, m->id, version, mcp_discover_result);
		return;
	case MCP_LISTEN:
		tasks_listen(f, sink, m);
		return;
	case MCP_TASKS_GET:
	case MCP_TASKS_UPDATE:
	case MCP_TASKS_CANCEL:
		(void)job_queue(f, JOB_TASK, sink, m);
		return;
	case MCP_RESOURCES_LIST:
	case MCP_RESOURCES_TEMPLATES:
	case MCP_RESOURCES_READ:
		if (!has_cursor(sink, m))
			resources_take(f, sink, m, version, mcp_method_of(m->method, modern));
		return;
	case MCP_NOTIFICATION_CANCELLED:
	case MCP_NOTIFICATION_OTHER:
	case MCP_UNKNOWN:
		break;
	}
	(void)mcp_lacks_method(m->method, &fault);
	if (!modern)
		fault.status = 200;
	sink->by->refuse(sink, m->id, &fault);
}

/* The call of a tool is refused with a result, which its agent reads. */
static bool is_call(const struct rpc_message *m)
{
	return strcmp(m->method, "tools/call") == 0 || strcmp(m->method, HOOK_METHOD) == 0;
}

/* What waits for no reply. Most of it needs no reaction: other notifications, and responses to
 * requests we never sent. */
static void take_note(struct front *f, struct sink *sink, struct rpc_message *m)
{
	if (m->kind == RPC_NOTIFICATION && strcmp(m->method, "notifications/cancelled") == 0)
		(void)job_queue(f, JOB_CANCEL, sink, m);
	else if (elicitation_answers(m))
		(void)job_queue(f, JOB_ELICITED, sink, m);
}

/* What is named in a message would end at a NUL, and be taken for something else. */
void take_message(struct front *f, struct sink *sink, struct rpc_message *m)
{
	if (m->kind == RPC_REQUEST && m->has_nul && !is_call(m))
		sink_refuse(sink, m->id, RPC_INVALID_PARAMS, "a text holds a NUL byte (\\u0000)");
	else if (m->kind == RPC_REQUEST)
		take_request(f, sink, m);
	else if (!m->has_nul)
		take_note(f, sink, m);
	rpc_message_clear(m);
}
