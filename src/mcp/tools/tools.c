#include "tools.h"

/* In the order of tools/list. */
const struct tool *const TOOLS[] = {
	&TOOL_PING,    &TOOL_CHECK_CLEARANCE, &TOOL_CHECK_DIFF, &TOOL_AUTO_CHECK,  &TOOL_TRANSMIT,
	&TOOL_STANDBY, &TOOL_BROADCAST,       &TOOL_REBOOT,     &TOOL_SWITCH_FREQ,
};
const int TOOL_COUNT = COUNT(TOOLS);
_Static_assert(COUNT(TOOLS) <= TOOL_MAX, "room for all of them");
