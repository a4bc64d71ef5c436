/* tool: the nine MCP tools as data: names, schemas, annotations, and the check of arguments
 * against the schema that is published. What they do is in call.h. */
#ifndef TOOL_H
#define TOOL_H

#include "err.h"
#include "str.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

enum tool_id {
	TOOL_PING,
	TOOL_CHECK_CLEARANCE,
	TOOL_CHECK_DIFF,
	TOOL_AUTO_CHECK,
	TOOL_TRANSMIT,
	TOOL_STANDBY,
	TOOL_BROADCAST,
	TOOL_REBOOT,
	TOOL_SWITCH_FREQ,
	TOOL_COUNT
};

struct tool {
	enum tool_id id;
	const char *name;
	const char *title;
	const char *description;
	const char *input; /* JSON Schema */
	const char *output; /* JSON Schema, pending and errors included */
	bool read_only, destructive, idempotent, open_world; /* annotations */
};

extern const struct tool TOOLS[TOOL_COUNT];

/* The tool of this name, or of this name of the first generation (tool_name.h); NULL if there is
 * none. */
const struct tool *tool_find(const char *name);

/* Appends the entry of tools/list. with_output: whether the revision knows outputSchema and title
 * (2025-06-18 and later). */
void tool_describe(struct str *out, const struct tool *tool, bool with_output);

/* Whether arguments fit the input schema; -1 and a text that names the argument if not. */
int tool_check(const struct tool *tool, const cJSON *arguments, struct err *e);

/* The arguments that the schema names, nulls dropped and defaults filled in; the caller deletes the
 * result. What it does not name is ignored. */
cJSON *tool_arguments(const struct tool *tool, const cJSON *arguments);

#endif
