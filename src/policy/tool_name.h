/* tool_name: the names that our tools had in the first generation. Agents may call by them and
 * policies may list them; tools/list does not show them. */
#ifndef TOOL_NAME_H
#define TOOL_NAME_H

/* The present name of one of our tools; name itself where it is no old one. */
const char *tool_name(const char *name);

#endif
