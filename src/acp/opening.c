#include "opening.h"

#include "err.h"
#include "json.h"
#include "json_writer.h"

#include <string.h>

enum {
	LOGIN_MS = 120000, /* it may open a browser and wait for a person */
	SESSION_MS = 60000, /* MCP servers are connected meanwhile */
	MODE_STEPS_MAX = 8, /* an agent that takes none of them would be asked for ever */
};

static void ask_for(struct acp *a, enum acp_step step, int64_t patience_ms)
{
	a->step = step;
	a->deadline_ms = a->now_ms + patience_ms;
}

/* ---- modes ---- */

static void is_open(struct acp *a)
{
	a->step = ACP_STEP_OPEN;
	a->deadline_ms = INT64_MAX;
	acp_tell(&a->sink,
	         &(struct acp_event){ .kind = ACP_OPENED, .id = str_text(&a->session_id) });
}

/* It does not work in a mode in which it asks. A session that has not begun does not begin. */
static void does_not_ask(struct acp *a, const char *why)
{
	OWNED(str) struct str text = { 0 };

	if (a->step == ACP_STEP_MODES) {
		acp_talk_fail(a, 0, "the agent cannot be made to ask: %s", why);
		return;
	}
	str_addf(&text, "the agent is in a mode in which it does not ask: %s", why);
	acp_tell(&a->sink,
	         &(struct acp_event){ .kind = ACP_STATUS, .level = ACP_WARN, .text = text.bytes });
}

static void next_mode(struct acp *a)
{
	OWNED(str) struct str params = { 0 };
	struct acp_mode_step step = { 0 };
	struct err e = { 0 };
	int got = acp_modes_next(&a->told.modes, a->asking, a->refused, &step, &e);

	if (got > 0 && a->mode_steps++ < MODE_STEPS_MAX) {
		const char *method =
		    acp_mode_step_add(&params, &step, str_text(&a->session_id), a->agent.version);

		acp_talk_request(a, ACP_CALL_MODE, method, params.bytes);
		return;
	}
	if (got)
		does_not_ask(a, got < 0 ? e.text : "it does not keep the setting");
	else if (a->step == ACP_STEP_MODES)
		is_open(a);
	if (got <= 0)
		a->mode_steps = 0;
}

static void take_mode(struct acp *a, const struct acp_message *m)
{
	OWNED(cJSON_ptr) cJSON *current = NULL;
	struct acp_mode_step step = { 0 };
	struct err e = { 0 };

	if (m->kind == ACP_MESSAGE_ERROR) {
		does_not_ask(a, m->text);
		return;
	}
	acp_modes_take(&a->told.modes, m->result);
	/* The answer to session/set_mode is empty. */
	if (acp_modes_next(&a->told.modes, a->asking, a->refused, &step, &e) > 0 && !step.option) {
		current = cJSON_CreateObject();
		(void)cJSON_AddStringToObject(current, "currentModeId", step.value);
		acp_modes_take(&a->told.modes, current);
	}
	next_mode(a);
}

void acp_opening_mode_changed(struct acp *a)
{
	OWNED(str) struct str text = { 0 };
	struct acp_mode_step step = { 0 };
	struct err e = { 0 };
	const char *mode = acp_modes_current(&a->told.modes);

	if (a->step != ACP_STEP_OPEN ||
	    acp_modes_next(&a->told.modes, a->asking, a->refused, &step, &e) == 0)
		return;
	str_addf(&text, "the agent changed its mode to %s, in which it does not ask: put back",
	         mode ? mode : "another");
	acp_tell(&a->sink,
	         &(struct acp_event){ .kind = ACP_STATUS, .level = ACP_WARN, .text = text.bytes });
	next_mode(a);
}

/* ---- sessions ---- */

static void add_http(const struct acp *a, struct str *params)
{
	json_object(params);
	json_member(params, "type", "http");
	json_member(params, "name", "intercom");
	json_member(params, "url", a->how.mcp_url);
	json_member_array(params, "headers");
	if (a->how.mcp_authorization) {
		json_object(params);
		json_member(params, "name", "Authorization");
		json_member(params, "value", a->how.mcp_authorization);
		json_object_end(params);
	}
	json_array_end(params);
	json_object_end(params);
}

static void add_program(const struct acp *a, struct str *params)
{
	json_object(params);
	if (a->agent.version == 2)
		json_member(params, "type", "stdio");
	json_member(params, "name", "intercom");
	json_member(params, "command", a->how.mcp_program);
	json_member_raw(params, "args", a->how.mcp_args);
	json_member_raw(params, "env", a->how.mcp_env);
	json_object_end(params);
}

static void add_servers(struct acp *a, struct str *params)
{
	bool http = a->how.mcp_url && a->agent.has_http;
	bool program = !http && a->how.mcp_program && a->agent.has_stdio;

	a->gives_tools = http || program;
	json_member_array(params, "mcpServers");
	if (http)
		add_http(a, params);
	if (program)
		add_program(a, params);
	json_array_end(params);
}

static void call_session(struct acp *a, enum acp_call_kind kind, const char *method)
{
	OWNED(str) struct str params = { 0 };

	json_object(&params);
	if (kind == ACP_CALL_RESUME)
		json_member(&params, "sessionId", a->how.resume);
	json_member(&params, "cwd", a->how.root);
	add_servers(a, &params);
	json_object_end(&params);
	acp_talk_request(a, kind, method, params.bytes);
}

static void begin_session(struct acp *a)
{
	ask_for(a, ACP_STEP_SESSION, SESSION_MS);
	if (a->how.resume && a->agent.can_resume) {
		call_session(a, ACP_CALL_RESUME, "session/resume");
	} else if (a->how.resume && a->agent.can_load) {
		a->replaying = true; /* what it tells until it answers is history */
		call_session(a, ACP_CALL_RESUME, "session/load");
	} else {
		call_session(a, ACP_CALL_NEW, "session/new");
	}
}

void acp_opening_add_login(const struct acp *a, const char *text, struct str *out)
{
	str_addf(out, "the agent needs a login on this machine%s%s", text[0] ? ": " : "", text);
	if (a->agent.login.length)
		str_addf(out, "; it offers %s", a->agent.login.bytes);
}

static void needs_login(struct acp *a, const char *text)
{
	OWNED(str) struct str why = { 0 };

	acp_opening_add_login(a, text, &why);
	acp_talk_fail(a, ACP_LOGIN_NEEDED, "%s", why.bytes);
}

/* It is there: what is left to be set? */
static void has_session(struct acp *a, const char *id, const cJSON *said)
{
	str_reset(&a->session_id);
	str_add(&a->session_id, id);
	acp_modes_take(&a->told.modes, said);
	ask_for(a, ACP_STEP_MODES, SESSION_MS);
	next_mode(a);
}

static void take_new(struct acp *a, const struct acp_message *m)
{
	const char *id = json_text(m->result, "sessionId");

	if (m->kind == ACP_MESSAGE_ERROR && m->code == ACP_LOGIN_NEEDED)
		needs_login(a, m->text);
	else if (m->kind == ACP_MESSAGE_ERROR)
		acp_talk_fail(a, m->code, "the agent opens no session: %s (%d)", m->text, m->code);
	else if (!id)
		acp_talk_fail(a, 0, "the agent opens no session: its answer has no sessionId");
	else
		has_session(a, id, m->result);
}

static void take_resumed(struct acp *a, const struct acp_message *m)
{
	a->replaying = false;
	if (m->kind != ACP_MESSAGE_ERROR) {
		a->is_new = false;
		has_session(a, a->how.resume, m->result);
	} else if (m->code == ACP_LOGIN_NEEDED) {
		needs_login(a, m->text);
	} else {
		acp_tell_note(&a->sink, ACP_WARN,
		              "session %s is not resumed: %s (%d); a new one begins", a->how.resume,
		              m->text, m->code);
		ask_for(a, ACP_STEP_SESSION, SESSION_MS);
		call_session(a, ACP_CALL_NEW, "session/new");
	}
}

/* ---- the version, the login ---- */

static void begin_login(struct acp *a)
{
	OWNED(str) struct str params = { 0 };

	ask_for(a, ACP_STEP_AUTHENTICATE, LOGIN_MS);
	json_object(&params);
	json_member(&params, "methodId", a->how.auth_method);
	json_object_end(&params);
	acp_talk_request(a, ACP_CALL_AUTHENTICATE,
	                 a->agent.version == 2 ? "auth/login" : "authenticate", params.bytes);
}

static void take_initialized(struct acp *a, const struct acp_message *m)
{
	struct err e = { 0 };

	if (m->kind == ACP_MESSAGE_ERROR)
		acp_talk_fail(a, m->code, "the agent refuses initialize: %s (%d)", m->text,
		              m->code);
	else if (acp_greeting_read(&a->agent, m->result, a->how.version, &e))
		acp_talk_fail(a, 0, "the agent cannot be used: %s", e.text);
	else if (!a->how.auth_method)
		begin_session(a);
	else if (!acp_greeting_has_method(&a->agent, a->how.auth_method))
		acp_talk_fail(a, 0, "the agent has no login %s; it offers %s", a->how.auth_method,
		              a->agent.login.length ? a->agent.login.bytes : "none");
	else
		begin_login(a);
}

void acp_opening_begin(struct acp *a)
{
	OWNED(str) struct str params = { 0 };

	ask_for(a, ACP_STEP_INITIALIZE, a->how.startup_ms);
	acp_greeting_add_offer(&params, a->how.version, a->how.forms);
	acp_talk_request(a, ACP_CALL_INITIALIZE, "initialize", params.bytes);
}

void acp_opening_take(struct acp *a, enum acp_call_kind kind, const struct acp_message *m)
{
	if (kind == ACP_CALL_INITIALIZE)
		take_initialized(a, m);
	else if (kind == ACP_CALL_AUTHENTICATE && m->kind == ACP_MESSAGE_ERROR)
		needs_login(a, m->text);
	else if (kind == ACP_CALL_AUTHENTICATE)
		begin_session(a);
	else if (kind == ACP_CALL_NEW)
		take_new(a, m);
	else if (kind == ACP_CALL_RESUME)
		take_resumed(a, m);
	else if (kind == ACP_CALL_MODE)
		take_mode(a, m);
}

void acp_opening_late(struct acp *a)
{
	static const char *const NAMES[] = {
		[ACP_STEP_INITIALIZE] = "initialize",
		[ACP_STEP_AUTHENTICATE] = "authenticate",
		[ACP_STEP_SESSION] = "session/new",
		[ACP_STEP_MODES] = "the setting of its mode",
	};

	acp_talk_fail(a, 0, "the agent does not answer %s", NAMES[a->step]);
}
