#include "tool_name.h"

#include "err.h"

#include <stddef.h>
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
