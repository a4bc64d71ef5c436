/* tool_name: the names that our tools had in the first generation. Agents may call them by these
 * and policies may list them; tools/list does not show them. */
#ifndef TOOL_NAME_H
#define TOOL_NAME_H

/* The current name of one of our tools; name itself if it is not an old one. */
const char *tool_name(const char *name);

#endif
