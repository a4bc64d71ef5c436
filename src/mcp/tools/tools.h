/* tools: all tools, one file each; tools.c lists them. */
#ifndef TOOLS_H
#define TOOLS_H

#include "tool.h"

extern const struct tool TOOL_PING, TOOL_CHECK_CLEARANCE, TOOL_CHECK_DIFF, TOOL_AUTO_CHECK,
    TOOL_TRANSMIT, TOOL_STANDBY, TOOL_BROADCAST, TOOL_REBOOT, TOOL_SWITCH_FREQ;

#endif
