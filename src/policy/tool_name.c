#include "tool_name.h"

#include "err.h"
#include "texts.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { ARGUMENTS = 6 };

static const struct {
	const char *name, *old;
	const char *arguments[ARGUMENTS];
} NAMES[] = {
	{ "ping", "heartbeat", { "status_message", "progress_snapshot" } },
	{ "check_clearance",
	  "ask_approval",
	  { "title", "description", "diff", "file_path", "risk_level" } },
	{ "check_diff", "accept_diff", { "request_id", "force" } },
	{ "auto_check", "check_auto_approve", { "tool_name", "context", "kind" } },
	{ "transmit",
	  "forward_prompt",
	  { "prompt_text", "prompt_type", "elapsed_seconds", "actions_taken" } },
	{ "standby", "wait_for_instruction", { "message", "timeout_seconds" } },
	{ "broadcast", "remote_log", { "message", "level", "thread_ts" } },
	{ "reboot", "recover_state", { "session_id" } },
	{ "switch_freq", "set_operational_mode", { "mode" } },
};

const char *tool_name(const char *name)
{
	for (size_t i = 0; i < COUNT(NAMES); i++)
		if (strcmp(NAMES[i].old, name) == 0)
			return NAMES[i].name;
	return name;
}

bool tool_name_is_ours(const char *name)
{
	for (size_t i = 0; i < COUNT(NAMES); i++)
		if (strcmp(NAMES[i].name, name) == 0 || strcmp(NAMES[i].old, name) == 0)
			return true;
	return false;
}

static bool is_title_of(const char *title, const char *name)
{
	static const char *const SHAPES[][2] = { { "mcp__intercom__", "" },
		                                 { "intercom-", "" },
		                                 { "", " (intercom MCP Server)" } };
	char whole[80];

	if (strchr(name, '_') && strcmp(name, title) == 0)
		return true;
	for (size_t k = 0; k < COUNT(SHAPES); k++) {
		(void)snprintf(whole, sizeof(whole), "%s%s%s", SHAPES[k][0], name, SHAPES[k][1]);
		if (strcmp(whole, title) == 0)
			return true;
	}
	return false;
}

static bool takes(const char *const names[ARGUMENTS], const cJSON *arguments)
{
	const cJSON *one;

	cJSON_ArrayForEach (one, arguments)
		if (!one->string || !texts_name(names, one->string))
			return false;
	return !arguments || cJSON_IsObject(arguments);
}

bool tool_name_is_call(const char *title, const cJSON *arguments)
{
	for (size_t i = 0; i < COUNT(NAMES); i++)
		if (is_title_of(title, NAMES[i].name))
			return takes(NAMES[i].arguments, arguments);
	return false;
}
