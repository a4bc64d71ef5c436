/* tool_name: the names that our tools had in the first generation. Agents may call them by these
 * and policies may list them; tools/list does not show them. */
#ifndef TOOL_NAME_H
#define TOOL_NAME_H

#include <cjson/cJSON.h>
#include <stdbool.h>

/* The current name of one of our tools; name itself if it is not an old one. */
const char *tool_name(const char *name);

/* Whether an agent calls one of our tools by this title, exactly: "mcp__intercom__ping",
 * "intercom-ping", "ping (intercom MCP Server)", and with no argument but those of that tool (NULL:
 * without any). A bare name counts only where no other server is likely to have a tool of that
 * name. */
bool tool_name_is_call(const char *title, const cJSON *arguments);

/* Whether it is the name of one of our tools, of either generation. */
bool tool_name_is_ours(const char *name);

#endif
