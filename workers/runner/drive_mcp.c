/* An agent that speaks MCP: it calls our tools over HTTP, at INTERCOM_MCP_URL, or through a relay
 * that it starts. Nothing comes in by its stdin; what it says on stdout is for a terminal, and is
 * read only so that it can go on. */
#include "runner.h"

const struct driver DRIVE_MCP = { .talks = false };
