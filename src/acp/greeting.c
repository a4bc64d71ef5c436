#include "greeting.h"

#include "err.h"
#include "json.h"
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
static void add_capabilities(struct str *out, const char *name, bool forms)
{
	json_member_object(out, name);
	if (forms)
		json_member_raw(out, "elicitation", "{\"form\":{}}");
	json_member_raw(out, "session", "{\"notices\":{}}");
	json_object_end(out);
}

void acp_greeting_add_offer(struct str *out, int version, bool forms)
{
	json_object(out);
	json_member_int(out, "protocolVersion", version == ACP_VERSION_1 ? 1 : 2);
	if (version != ACP_VERSION_1) {
		add_info(out, "info");
		add_capabilities(out, "capabilities", forms);
	}
	if (version != ACP_VERSION_2) {
		add_info(out, "clientInfo");
		add_capabilities(out, "clientCapabilities", forms);
	}
	json_object_end(out);
}

/* ---- what it says ---- */

/* Markers are objects, some older ones true. */
static bool is_marked(const cJSON *object, const char *name)
{
	const cJSON *marker = json_get(object, name);

	return marker && !cJSON_IsNull(marker) && !cJSON_IsFalse(marker);
}

static void read_info(struct acp_greeting *greeting, const cJSON *info)
{
	const char *title = json_text(info, "title"), *name = json_text(info, "name");
	const char *release = json_text(info, "version");

	str_add(&greeting->name, title ? title : name ? name : "");
	str_add(&greeting->release, release ? release : "");
}

static void read_1(struct acp_greeting *greeting, const cJSON *result)
{
	const cJSON *capabilities = json_get(result, "agentCapabilities");
	const cJSON *session = json_get(capabilities, "sessionCapabilities");

	read_info(greeting, json_get(result, "agentInfo"));
	greeting->can_load = is_marked(capabilities, "loadSession");
	greeting->can_resume = is_marked(session, "resume");
	greeting->can_close = is_marked(session, "close");
	greeting->has_http = is_marked(json_get(capabilities, "mcpCapabilities"), "http");
	greeting->has_stdio = true; /* every agent of this version has to */
}

static void read_2(struct acp_greeting *greeting, const cJSON *result)
{
	const cJSON *session = json_get(json_get(result, "capabilities"), "session");

	read_info(greeting, json_get(result, "info"));
	greeting->can_resume = greeting->can_close = session != NULL;
	greeting->has_http = is_marked(json_get(session, "mcp"), "http");
	greeting->has_stdio = is_marked(json_get(session, "mcp"), "stdio");
}

static void read_login(struct acp_greeting *greeting, const cJSON *methods)
{
	const cJSON *method;

	cJSON_ArrayForEach (method, methods) {
		const char *id = json_text(method, greeting->version == 1 ? "id" : "methodId");
		const char *name = json_text(method, "name"), *type = json_text(method, "type");
		const char *description = json_text(method, "description");

		if (!id)
			continue;
		str_addf(&greeting->login, "%s%s (%s)", greeting->login.length ? "; " : "",
		         name ? name : id, id);
		if (description && description[0])
			str_addf(&greeting->login, ": %s", description);
		if (!type || strcmp(type, "agent") == 0)
			str_addf(&greeting->methods, "\n%s\n", id);
	}
}

int acp_greeting_read(struct acp_greeting *greeting, const cJSON *result, int wanted, struct err *e)
{
	const cJSON *version = json_get(result, "protocolVersion");

	if (!cJSON_IsNumber(version))
		return err_set(e, ERR_INPUT, "its answer to initialize has no protocolVersion");
	greeting->version = version->valueint;
	if ((greeting->version != 1 && greeting->version != 2) ||
	    (wanted != ACP_VERSION_ANY && greeting->version != wanted))
		return err_set(e, ERR_INPUT, "it speaks version %d of the protocol, not %s",
		               greeting->version,
		               wanted == ACP_VERSION_1   ? "1"
		               : wanted == ACP_VERSION_2 ? "2"
		                                         : "1 or 2");
	if (greeting->version == 1)
		read_1(greeting, result);
	else
		read_2(greeting, result);
	read_login(greeting, json_get(result, "authMethods"));
	return 0;
}

bool acp_greeting_has_method(const struct acp_greeting *greeting, const char *method)
{
	OWNED(str) struct str line = { 0 };

	str_addf(&line, "\n%s\n", method);
	return strstr(str_text(&greeting->methods), line.bytes) != NULL;
}

void acp_greeting_clear(struct acp_greeting *greeting)
{
	str_clear(&greeting->name);
	str_clear(&greeting->release);
	str_clear(&greeting->login);
	str_clear(&greeting->methods);
	*greeting = (struct acp_greeting){ 0 };
}
