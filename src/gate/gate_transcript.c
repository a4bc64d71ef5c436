#include "gate_transcript.h"

#include "err.h"
#include "json.h"

#include <string.h>

enum { INSTANT_BYTES = 24 };

/* What is known of a line. */
struct line {
	const struct gate_host *host;
	const cJSON *root;
	const char *at;
	void (*each)(void *arg, const char *use, const char *at);
	void *arg;
};

static const cJSON *member(const cJSON *object, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(object, name);
}

static bool is(const cJSON *object, const char *name, const char *value)
{
	const char *text = json_text(object, name);

	return text && strcmp(text, value) == 0;
}

static void tell(const struct line *l, const char *use)
{
	if (use && *use)
		l->each(l->arg, use, l->at);
}

/* What the tool returned is beside the message: a command has an output, an edit its file. */
static void read_claude(const struct line *l)
{
	const cJSON *result = member(l->root, "toolUseResult"), *one;

	if (!json_text(result, "stdout") && !json_text(result, "filePath"))
		return;
	cJSON_ArrayForEach (one, member(member(l->root, "message"), "content"))
		if (is(one, "type", "tool_result") && !cJSON_IsTrue(member(one, "is_error")))
			tell(l, json_text(one, "tool_use_id"));
}

/* Commands that its user types, and input for those that run, have other sources. */
static void read_codex(const struct line *l)
{
	const cJSON *payload = member(l->root, "payload"), *item = member(payload, "item");
	bool is_command =
	    is(item, "type", "CommandExecution") &&
	    (is(item, "source", "agent") || is(item, "source", "unified_exec_startup"));

	if (is(payload, "type", "item_completed") && is(item, "status", "completed") &&
	    (is_command || is(item, "type", "FileChange")))
		tell(l, json_text(item, "id"));
}

static bool acts(const struct gate_host *host, const char *name)
{
	const struct gate_tool *tool = name ? gate_host_tool(host, name) : NULL;

	return tool && (tool->class == GATE_EDIT || tool->class == GATE_EXECUTE);
}

static void read_qwen(const struct line *l)
{
	const cJSON *result = member(l->root, "toolCallResult"), *one;
	const char *use = json_text(result, "callId");

	if (!use || !is(result, "status", "success"))
		return;
	cJSON_ArrayForEach (one, member(member(l->root, "message"), "parts")) {
		const cJSON *response = member(one, "functionResponse");

		if (is(response, "id", use) && acts(l->host, json_text(response, "name")))
			tell(l, use);
	}
}

static const struct form {
	const char *host;
	const char *mark; /* in each line of interest */
	void (*read)(const struct line *l);
} FORMS[] = {
	{ "claude", "\"tool_result\"", read_claude },
	{ "codex", "\"item_completed\"", read_codex },
	{ "qwen", "\"toolCallResult\"", read_qwen },
};

static const struct form *find(const char *host)
{
	for (size_t i = 0; i < COUNT(FORMS); i++)
		if (strcmp(FORMS[i].host, host) == 0)
			return &FORMS[i];
	return NULL;
}

bool gate_transcript_known(const char *host)
{
	return find(host);
}

void gate_transcript_read(const char *host, const char *line, size_t length,
                          void (*each)(void *arg, const char *use, const char *at), void *arg)
{
	const struct form *f = find(host);
	struct line l = { .host = gate_host_named(host), .each = each, .arg = arg };
	OWNED(cJSON_ptr) cJSON *root = NULL;

	if (!f || !l.host || !memmem(line, length, f->mark, strlen(f->mark)))
		return;
	root = cJSON_ParseWithLength(line, length);
	l.root = root;
	l.at = json_text(root, "timestamp");
	if (l.at && strlen(l.at) == INSTANT_BYTES && l.at[INSTANT_BYTES - 1] == 'Z')
		f->read(&l);
}
