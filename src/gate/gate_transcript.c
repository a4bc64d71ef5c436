#include "gate_transcript.h"

#include "err.h"
#include "json.h"

#include <string.h>

enum { INSTANT_LENGTH = 24 };

/* What is known of a line. */
struct line {
	const struct gate_host *host;
	const cJSON *root;
	const char *at;
	gate_transcript_each *each;
	void *arg;
};

static void tell(const struct line *l, const char *use)
{
	if (use && *use)
		l->each(l->arg, &(struct gate_ran){ .use = use, .at = l->at });
}

/* What the tool returned is beside the message: a command has an output, an edit its file. */
static void read_claude(const struct line *l)
{
	const cJSON *result = json_get(l->root, "toolUseResult"), *one;

	if (!json_text(result, "stdout") && !json_text(result, "filePath"))
		return;
	cJSON_ArrayForEach (one, json_get(json_get(l->root, "message"), "content"))
		if (json_says(one, "type", "tool_result") &&
		    !cJSON_IsTrue(json_get(one, "is_error")))
			tell(l, json_text(one, "tool_use_id"));
}

/* Whether what is typed can be more than a wait, or the end of the program. */
static bool says_something(const char *typed)
{
	static const char NOTHING[] = " \t\r\n\x03";

	return typed && typed[strspn(typed, NOTHING)];
}

/* Input for a program that runs, such as a shell or a pager: Codex calls no hook for it. */
static void read_codex_input(const struct line *l, const cJSON *payload)
{
	const char *text = json_text(payload, "arguments"), *use = json_text(payload, "call_id");
	OWNED(cJSON_ptr) cJSON *arguments = text ? cJSON_Parse(text) : NULL;

	if (use && *use && says_something(json_text(arguments, "chars")))
		l->each(l->arg, &(struct gate_ran){ .use = use, .at = l->at, .is_input = true });
}

/* Commands that its user types, and input for those that run, have other sources. */
static void read_codex(const struct line *l)
{
	const cJSON *payload = json_get(l->root, "payload"), *item = json_get(payload, "item");
	bool is_command = json_says(item, "type", "CommandExecution") &&
	                  (json_says(item, "source", "agent") ||
	                   json_says(item, "source", "unified_exec_startup"));

	if (json_says(payload, "type", "function_call") &&
	    json_says(payload, "name", "write_stdin"))
		read_codex_input(l, payload);
	if (json_says(payload, "type", "item_completed") &&
	    json_says(item, "status", "completed") &&
	    (is_command || json_says(item, "type", "FileChange")))
		tell(l, json_text(item, "id"));
}

static bool acts(const struct gate_host *host, const char *name)
{
	const struct gate_tool *tool = name ? gate_host_tool(host, name) : NULL;

	return tool && (tool->class == GATE_EDIT || tool->class == GATE_EXECUTE);
}

static void read_qwen(const struct line *l)
{
	const cJSON *result = json_get(l->root, "toolCallResult"), *one;
	const char *use = json_text(result, "callId");

	if (!use || !json_says(result, "status", "success"))
		return;
	cJSON_ArrayForEach (one, json_get(json_get(l->root, "message"), "parts")) {
		const cJSON *response = json_get(one, "functionResponse");

		if (json_says(response, "id", use) && acts(l->host, json_text(response, "name")))
			tell(l, use);
	}
}

static const struct form {
	const char *host;
	const char *marks[2]; /* one is in each line of interest */
	void (*read)(const struct line *l);
} FORMS[] = {
	{ "claude", { "\"tool_result\"" }, read_claude },
	{ "codex", { "\"item_completed\"", "\"write_stdin\"" }, read_codex },
	{ "qwen", { "\"toolCallResult\"" }, read_qwen },
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

static bool is_of_interest(const struct form *f, const char *line, size_t length)
{
	for (size_t i = 0; i < COUNT(f->marks); i++)
		if (f->marks[i] && memmem(line, length, f->marks[i], strlen(f->marks[i])))
			return true;
	return false;
}

void gate_transcript_read(const char *host, const char *line, size_t length,
                          gate_transcript_each *each, void *arg)
{
	const struct form *f = find(host);
	struct line l = { .host = gate_host_named(host), .each = each, .arg = arg };
	OWNED(cJSON_ptr) cJSON *root = NULL;

	if (!f || !l.host || !is_of_interest(f, line, length))
		return;
	root = cJSON_ParseWithLength(line, length);
	l.root = root;
	l.at = json_text(root, "timestamp");
	if (l.at && strlen(l.at) == INSTANT_LENGTH && l.at[INSTANT_LENGTH - 1] == 'Z')
		f->read(&l);
}
