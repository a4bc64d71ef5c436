#include "stream.h"

#include "json.h"
#include "json_writer.h"

#include <string.h>

struct method {
	const char *name;
	const char *required[5]; /* of its params; "id": beside them */
	struct acp_inquiry *(*ask)(const struct acp_message *m); /* a question, else: */
	void (*tell)(const struct acp_message *m, const struct acp_sink *sink);
};

static struct acp_inquiry *question(enum acp_inquiry_kind kind, const struct acp_message *m)
{
	struct acp_inquiry *ask = xcalloc(1, sizeof(*ask));

	ask->kind = kind;
	ask->id = xstrdup(m->id);
	return ask;
}

static struct acp_inquiry *take_clearance(const struct acp_message *m)
{
	struct acp_inquiry *ask = question(ACP_INQUIRY_PERMISSION, m);
	const char *diff = json_text(m->params, "diff");

	ask->risk = acp_risk_of(json_text(m->params, "risk_level"));
	str_add(&ask->title, json_text(m->params, "title"));
	str_add(&ask->description, json_text(m->params, "description"));
	str_add(&ask->diff, diff ? diff : "");
	ask->is_diff = diff != NULL;
	return ask;
}

static struct acp_inquiry *take_prompt(const struct acp_message *m)
{
	static const char *const TYPES[] = { "clarification", "error_recovery",
		                             "resource_warning" };
	struct acp_inquiry *ask = question(ACP_INQUIRY_PROMPT, m);
	const char *type = "continuation";

	for (size_t i = 0; i < COUNT(TYPES); i++)
		if (strcmp(TYPES[i], json_text(m->params, "type")) == 0)
			type = TYPES[i];
	ask->prompt_type = xstrdup(type);
	str_add(&ask->description, json_text(m->params, "text"));
	return ask;
}

static void take_status(const struct acp_message *m, const struct acp_sink *sink)
{
	acp_tell(sink, &(struct acp_event){ .kind = ACP_STATUS,
	                                    .level = ACP_INFO,
	                                    .text = json_text(m->params, "message") });
}

static bool is_step(const cJSON *item)
{
	const char *status = json_text(item, "status");

	return json_text(item, "label") && status &&
	       (strcmp(status, "done") == 0 || strcmp(status, "in_progress") == 0 ||
	        strcmp(status, "pending") == 0);
}

static void take_heartbeat(const struct acp_message *m, const struct acp_sink *sink)
{
	const cJSON *progress = cJSON_GetObjectItemCaseSensitive(m->params, "progress"), *item;
	OWNED(str) struct str json = { 0 };

	acp_tell(sink, &(struct acp_event){ .kind = ACP_ALIVE });
	if (!progress || cJSON_IsNull(progress))
		return;
	json_array(&json);
	cJSON_ArrayForEach (item, progress) {
		if (!is_step(item)) {
			acp_tell_note(sink, ACP_WARN, "heartbeat: progress is malformed, ignored");
			return;
		}
		json_object(&json);
		json_member(&json, "label", json_text(item, "label"));
		json_member(&json, "status", json_text(item, "status"));
		json_object_end(&json);
	}
	json_array_end(&json);
	acp_tell(sink, &(struct acp_event){ .kind = ACP_PLAN, .json = json.bytes });
}

static const struct method METHODS[] = {
	{ .name = "clearance/request",
	  .required = { "id", "title", "description", "file_path", "risk_level" },
	  .ask = take_clearance },
	{ .name = "status/update", .required = { "message" }, .tell = take_status },
	{ .name = "prompt/forward", .required = { "id", "text", "type" }, .ask = take_prompt },
	{ .name = "heartbeat", .tell = take_heartbeat },
};

/* The required field that is not there, NULL: all are. */
static const char *missing(const struct method *method, const struct acp_message *m)
{
	for (size_t i = 0; i < COUNT(method->required) && method->required[i]; i++) {
		const char *name = method->required[i];

		if (strcmp(name, "id") == 0 ? !m->id : !json_text(m->params, name))
			return name;
	}
	return NULL;
}

static struct acp_inquiry *take(const struct method *method, const struct acp_message *m,
                                const char *root, const struct acp_sink *sink)
{
	const char *path = json_text(m->params, "file_path");
	struct acp_inquiry *ask = NULL;

	if (method->tell)
		method->tell(m, sink);
	else
		ask = method->ask(m);
	if (ask && path) {
		acp_inquiry_name(ask, path);
		acp_inquiry_place(ask, root, path);
	}
	return ask;
}

struct acp_inquiry *acp_stream_take(const struct acp_message *m, const struct err *why,
                                    const char *bytes, size_t length, const char *root,
                                    const struct acp_sink *sink)
{
	enum { SHOWN_BYTES = 500 };
	OWNED(str) struct str raw = { 0 };
	const struct method *method = NULL;

	if (why || !m->method) {
		str_add_shown(&raw, bytes, length, SHOWN_BYTES);
		acp_tell_note(sink, ACP_WARN, "%s: %s", why ? why->text : "no method",
		              str_text(&raw));
		return NULL;
	}
	for (size_t i = 0; i < COUNT(METHODS); i++)
		if (strcmp(METHODS[i].name, m->method) == 0)
			method = &METHODS[i];
	if (!method)
		acp_tell_note(sink, ACP_DEBUG, "unknown method %s", m->method);
	else if (missing(method, m))
		acp_tell_note(sink, ACP_WARN, "%s: %s is missing", m->method, missing(method, m));
	else if (m->peek.has_nul)
		acp_tell_note(sink, ACP_WARN, "%s: a text contains a NUL", m->method);
	else
		return take(method, m, root, sink);
	return NULL;
}

/* ---- what it is told ---- */

static void begin(struct str *out, const char *method, const char *id)
{
	json_object(out);
	json_member(out, "method", method);
	if (id)
		json_member_raw(out, "id", id);
	json_member_object(out, "params");
}

static void end(struct str *out)
{
	json_object_end(out);
	json_object_end(out);
}

void acp_stream_add_clearance(struct str *out, const char *id, const char *status,
                              const char *reason)
{
	begin(out, "clearance/response", id);
	json_member(out, "status", status);
	json_member_or_null(out, "reason", reason);
	end(out);
}

void acp_stream_add_decision(struct str *out, const char *id, const char *decision,
                             const char *instruction)
{
	begin(out, "prompt/response", id);
	json_member(out, "decision", decision);
	json_member_or_null(out, "instruction", instruction);
	end(out);
}

void acp_stream_add_prompt(struct str *out, const char *text)
{
	begin(out, "prompt/send", NULL);
	json_member(out, "text", text);
	end(out);
}

void acp_stream_add_interrupt(struct str *out, const char *reason)
{
	begin(out, "session/interrupt", NULL);
	json_member(out, "reason", reason);
	end(out);
}

void acp_stream_add_nudge(struct str *out, const char *text)
{
	begin(out, "nudge", NULL);
	json_member(out, "message", text);
	end(out);
}
