#include "agent.h"

#include "err.h"
#include "json_writer.h"

#include <string.h>

/* ---- what we say ---- */

static void add_info(struct str *out, const char *name)
{
	json_member_object(out, name);
	json_member(out, "name", "agent-intercom");
	json_member(out, "title", "Agent Intercom");
	json_member(out, "version", INTERCOM_VERSION);
	json_object_end(out);
}

/* Neither files nor terminals: an agent uses its own and asks before. */
static void add_capabilities(struct str *out, const char *name)
{
	json_member_object(out, name);
	json_member_raw(out, "elicitation", "{\"form\":{}}");
	json_member_raw(out, "session", "{\"notices\":{}}");
	json_object_end(out);
}

void acp_agent_add_offer(struct str *out, int version)
{
	json_object(out);
	json_member_int(out, "protocolVersion", version == ACP_VERSION_1 ? 1 : 2);
	if (version != ACP_VERSION_1) {
		add_info(out, "info");
		add_capabilities(out, "capabilities");
	}
	if (version != ACP_VERSION_2) {
		add_info(out, "clientInfo");
		add_capabilities(out, "clientCapabilities");
	}
	json_object_end(out);
}

/* ---- what it says ---- */

static const cJSON *in(const cJSON *object, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* Markers are objects, some older ones true. */
static bool is_marked(const cJSON *object, const char *name)
{
	const cJSON *marker = in(object, name);

	return marker && !cJSON_IsNull(marker) && !cJSON_IsFalse(marker);
}

static void read_info(struct acp_agent *agent, const cJSON *info)
{
	const char *title = json_text(info, "title"), *name = json_text(info, "name");
	const char *release = json_text(info, "version");

	str_add(&agent->name, title ? title : name ? name : "");
	str_add(&agent->release, release ? release : "");
}

static void read_1(struct acp_agent *agent, const cJSON *result)
{
	const cJSON *capabilities = in(result, "agentCapabilities");
	const cJSON *session = in(capabilities, "sessionCapabilities");

	read_info(agent, in(result, "agentInfo"));
	agent->can_load = is_marked(capabilities, "loadSession");
	agent->can_resume = is_marked(session, "resume");
	agent->can_close = is_marked(session, "close");
	agent->has_http = is_marked(in(capabilities, "mcpCapabilities"), "http");
}

static void read_2(struct acp_agent *agent, const cJSON *result)
{
	const cJSON *session = in(in(result, "capabilities"), "session");

	read_info(agent, in(result, "info"));
	agent->can_resume = agent->can_close = session != NULL;
	agent->has_http = is_marked(in(session, "mcp"), "http");
}

static void read_login(struct acp_agent *agent, const cJSON *methods)
{
	const cJSON *method;

	cJSON_ArrayForEach (method, methods) {
		const char *id = json_text(method, agent->version == 1 ? "id" : "methodId");
		const char *name = json_text(method, "name"), *type = json_text(method, "type");
		const char *description = json_text(method, "description");

		if (!id)
			continue;
		str_addf(&agent->login, "%s%s (%s)", agent->login.length ? "; " : "",
		         name ? name : id, id);
		if (description && description[0])
			str_addf(&agent->login, ": %s", description);
		if (!type || strcmp(type, "agent") == 0)
			str_addf(&agent->methods, "\n%s\n", id);
	}
}

int acp_agent_read(struct acp_agent *agent, const cJSON *result, int wanted, struct err *e)
{
	const cJSON *version = in(result, "protocolVersion");

	if (!cJSON_IsNumber(version))
		return err_set(e, ERR_INPUT, "its answer to initialize has no protocolVersion");
	agent->version = version->valueint;
	if ((agent->version != 1 && agent->version != 2) ||
	    (wanted != ACP_VERSION_ANY && agent->version != wanted))
		return err_set(e, ERR_INPUT, "it speaks version %d of the protocol, not %s",
		               agent->version,
		               wanted == ACP_VERSION_1   ? "1"
		               : wanted == ACP_VERSION_2 ? "2"
		                                         : "1 or 2");
	if (agent->version == 1)
		read_1(agent, result);
	else
		read_2(agent, result);
	read_login(agent, in(result, "authMethods"));
	return 0;
}

bool acp_agent_has_method(const struct acp_agent *agent, const char *method)
{
	OWNED(str) struct str line = { 0 };

	str_addf(&line, "\n%s\n", method);
	return strstr(str_text(&agent->methods), line.bytes) != NULL;
}

void acp_agent_clear(struct acp_agent *agent)
{
	str_clear(&agent->name);
	str_clear(&agent->release);
	str_clear(&agent->login);
	str_clear(&agent->methods);
	*agent = (struct acp_agent){ 0 };
}
