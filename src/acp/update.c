#include "update.h"

#include "err.h"
#include "json.h"
#include "json_writer.h"
#include "texts.h"

#include <string.h>

/* One update on its way. */
struct taking {
	struct acp_told *told;
	const cJSON *update;
	int version;
	int64_t now_ms;
	const struct acp_sink *sink;
	enum acp_turn turn;
	const char *stop;
};

/* ---- words ---- */

/* The text of a block, or of a list of blocks. */
static void add_words(struct str *out, const cJSON *content)
{
	const char *text = json_text(content, "text");
	const cJSON *block;

	if (text)
		str_add(out, text);
	else if (cJSON_IsArray(content))
		cJSON_ArrayForEach (block, content)
			add_words(out, block);
}

static void take_chunk(struct taking *t)
{
	OWNED(str) struct str words = { 0 };

	add_words(&words, json_get(t->update, "content"));
	acp_gather_add(&t->told->gather, json_text(t->update, "messageId"), str_text(&words),
	               t->now_ms, t->sink);
}

static void take_message(struct taking *t)
{
	OWNED(str) struct str words = { 0 };

	add_words(&words, json_get(t->update, "content"));
	acp_gather_replace(&t->told->gather, json_text(t->update, "messageId"), str_text(&words),
	                   t->now_ms, t->sink);
}

static enum acp_level level_of(const char *severity)
{
	return texts_same(severity, "error")     ? ACP_ERROR
	       : texts_same(severity, "warning") ? ACP_WARN
	                                         : ACP_INFO;
}

static void take_notice(struct taking *t)
{
	const char *title = json_text(t->update, "title");
	const char *description = json_text(t->update, "description");
	OWNED(str) struct str line = { 0 };

	str_add(&line, title ? title : "notice");
	if (description && description[0])
		str_addf(&line, ": %s", description);
	acp_tell(t->sink, &(struct acp_event){ .kind = ACP_STATUS,
	                                       .level = level_of(json_text(t->update, "severity")),
	                                       .text = line.bytes });
}

/* ---- tools ---- */

static void take_tool(struct taking *t)
{
	bool is_first = false;
	struct acp_tool_call *call =
	    acp_tool_call_merge(&t->told->tools, t->update, t->version == 2, &is_first);

	if (!call)
		return;
	if (is_first)
		acp_gather_flush(&t->told->gather, t->sink);
	acp_tell(t->sink,
	         &(struct acp_event){ .kind = ACP_TOOL, .tool = call, .is_first = is_first });
	acp_tool_calls_sweep(&t->told->tools);
}

static void take_tool_content(struct taking *t)
{
	acp_tool_call_append(&t->told->tools, json_text(t->update, "toolCallId"),
	                     json_get(t->update, "content"));
	acp_tell(t->sink, &(struct acp_event){ .kind = ACP_ALIVE });
}

/* ---- plans ---- */

static void add_entries(struct str *out, const cJSON *entries)
{
	const cJSON *entry;

	cJSON_ArrayForEach (entry, entries) {
		const char *label = json_text(entry, "content"),
		           *status = json_text(entry, "status");

		if (!label || texts_same(status, "cancelled"))
			continue;
		json_object(out);
		json_member(out, "label", label);
		json_member(out, "status",
		            texts_same(status, "completed")     ? "done"
		            : texts_same(status, "in_progress") ? "in_progress"
		                                                : "pending");
		json_object_end(out);
	}
}

static void take_plan(struct taking *t)
{
	OWNED(str) struct str json = { 0 };

	json_array(&json);
	add_entries(&json, json_get(t->update, "entries"));
	json_array_end(&json);
	acp_tell(t->sink, &(struct acp_event){ .kind = ACP_PLAN, .json = json.bytes });
}

/* Several plans are told as one. */
static void take_plans(struct taking *t)
{
	const cJSON *plan = json_get(t->update, "plan");
	const char *id = json_text(plan, "planId");
	OWNED(str) struct str json = { 0 };

	if (!t->told->plans)
		t->told->plans = cJSON_CreateObject();
	id = id ? id : "";
	cJSON_DeleteItemFromObjectCaseSensitive(t->told->plans, id);
	cJSON_AddItemToObject(t->told->plans, id, cJSON_Duplicate(plan, true));
	json_array(&json);
	cJSON_ArrayForEach (plan, t->told->plans)
		add_entries(&json, json_get(plan, "entries"));
	json_array_end(&json);
	acp_tell(t->sink, &(struct acp_event){ .kind = ACP_PLAN, .json = json.bytes });
}

/* ---- the rest ---- */

static int64_t number(const cJSON *object, const char *name)
{
	static const double MOST = 9e15; /* whole in a double */
	const cJSON *value = json_get(object, name);

	return cJSON_IsNumber(value) && value->valuedouble >= 0 && value->valuedouble <= MOST
	           ? (int64_t)value->valuedouble
	           : 0;
}

static void take_usage(struct taking *t)
{
	const cJSON *cost = json_get(t->update, "cost");
	char *json = cJSON_IsObject(cost) ? cJSON_PrintUnformatted(cost) : NULL;

	acp_tell(t->sink, &(struct acp_event){ .kind = ACP_USAGE,
	                                       .used = number(t->update, "used"),
	                                       .size = number(t->update, "size"),
	                                       .json = json });
	cJSON_free(json);
}

void acp_update_tell_tokens(const cJSON *usage, const struct acp_sink *sink)
{
	struct acp_event event = { .kind = ACP_USAGE,
		                   .input = number(usage, "inputTokens"),
		                   .output = number(usage, "outputTokens"),
		                   .total = number(usage, "totalTokens") };

	if (event.total < event.input + event.output)
		event.total = event.input + event.output;
	if (event.total > 0)
		acp_tell(sink, &event);
}

static void take_mode(struct taking *t)
{
	const char *mode;

	acp_modes_take(&t->told->modes, t->update);
	mode = acp_modes_current(&t->told->modes);
	acp_tell(t->sink, &(struct acp_event){ .kind = mode ? ACP_MODE : ACP_ALIVE, .text = mode });
}

static void take_info(struct taking *t)
{
	const char *title = json_text(t->update, "title");

	acp_tell(t->sink,
	         &(struct acp_event){ .kind = title ? ACP_TITLE : ACP_ALIVE, .text = title });
}

/* A state that we do not know is not idle. */
static void take_state(struct taking *t)
{
	bool is_idle = texts_same(json_text(t->update, "state"), "idle");

	acp_update_tell_tokens(json_get(t->update, "usage"), t->sink);
	t->turn = is_idle ? ACP_TURN_IDLE : ACP_TURN_RUNS;
	t->stop = is_idle ? json_text(t->update, "stopReason") : NULL;
	acp_tell(t->sink, &(struct acp_event){ .kind = ACP_ALIVE });
}

static const struct kind {
	const char *name;
	void (*take)(struct taking *t);
} KINDS[] = {
	{ "agent_message_chunk", take_chunk },
	{ "agent_message", take_message },
	{ "tool_call", take_tool },
	{ "tool_call_update", take_tool },
	{ "tool_call_content_chunk", take_tool_content },
	{ "plan", take_plan },
	{ "plan_update", take_plans },
	{ "current_mode_update", take_mode },
	{ "config_option_update", take_mode },
	{ "session_info_update", take_info },
	{ "usage_update", take_usage },
	{ "notice", take_notice },
	{ "state_update", take_state },
};

enum acp_turn acp_update_take(struct acp_told *told, const cJSON *update, int version,
                              int64_t now_ms, const struct acp_sink *sink, const char **ret_stop)
{
	struct taking t = {
		.told = told, .update = update, .version = version, .now_ms = now_ms, .sink = sink
	};
	const char *kind = json_text(update, "sessionUpdate");
	const struct kind *known = NULL;

	for (size_t i = 0; kind && i < COUNT(KINDS); i++)
		if (strcmp(KINDS[i].name, kind) == 0)
			known = &KINDS[i];
	if (known)
		known->take(&t);
	else
		acp_tell(sink, &(struct acp_event){ .kind = ACP_ALIVE });
	*ret_stop = t.stop;
	return t.turn;
}

void acp_told_clear(struct acp_told *told)
{
	acp_gather_clear(&told->gather);
	acp_tool_calls_clear(&told->tools);
	acp_modes_clear(&told->modes);
	cJSON_Delete(told->plans);
	told->plans = NULL;
}
