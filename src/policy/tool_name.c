#include "tool_name.h"

#include "err.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name, *old;
} NAMES[] = {
	{ "ping", "heartbeat" },
	{ "check_clearance", "ask_approval" },
	{ "check_diff", "accept_diff" },
	{ "auto_check", "check_auto_approve" },
	{ "transmit", "forward_prompt" },
	{ "standby", "wait_for_instruction" },
	{ "broadcast", "remote_log" },
	{ "reboot", "recover_state" },
	{ "switch_freq", "set_operational_mode" },
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

bool tool_name_is_title(const char *title)
{
	static const char *const SHAPES[][2] = { { "mcp__intercom__", "" },
		                                 { "intercom-", "" },
		                                 { "", " (intercom MCP Server)" } };
	char whole[80];

	for (size_t i = 0; i < COUNT(NAMES); i++) {
		if (strchr(NAMES[i].name, '_') && strcmp(NAMES[i].name, title) == 0)
			return true;
		for (size_t k = 0; k < COUNT(SHAPES); k++) {
			(void)snprintf(whole, sizeof(whole), "%s%s%s", SHAPES[k][0], NAMES[i].name,
			               SHAPES[k][1]);
			if (strcmp(whole, title) == 0)
				return true;
		}
	}
	return false;
}
