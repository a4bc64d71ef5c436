/* gate_input: what a host tells its hook, in the host's own JSON, as one struct for all hosts. */
#ifndef GATE_INPUT_H
#define GATE_INPUT_H

#include "err.h"
#include "gate_host.h"
#include "gate_wire.h"
#include "json.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	GATE_INPUT_BYTES = GATE_WIRE_INPUT_BYTES,
	GATE_PATHS_MAX = 500, /* as PROPOSAL_FILES */
};

/* Texts and JSON are borrowed from root unless said otherwise; NULL: the host did not say. */
struct gate_input {
	const struct gate_host *host;
	enum gate_event event;
	const char *event_name; /* the host's */
	const cJSON *root;
	cJSON *owned; /* root, if gate_input_read made it */
	const char *session; /* the host's id of it */
	const char *agent; /* of a subagent within the session */
	const char *cwd;
	const char *transcript; /* path */
	/* Of a tool's events: */
	const char *tool; /* the host's name */
	enum gate_class class;
	enum gate_form form;
	const struct gate_keys *keys;
	const char *tool_use_id;
	const cJSON *tool_input; /* an object */
	cJSON *unpacked; /* the same, owned, where the host sends it otherwise: as a text, or */
	bool is_bare; /* beside what it says of itself: then nothing can replace it. Of MCP, it is
	                 the arguments and what the host says of the server */
	char *server, *server_tool; /* of MCP; owned. server: NULL also where the tool's name and
	                               the host name two */
	const char *command; /* of class execute, or an edit in a command; NULL: it is not a text */
	const char *command_dir; /* where it runs, if not in cwd, by the host's own argument for
	                            that: relative or absolute */
	const char *patch; /* of form patch: points into patch_text, or into tool_input */
	char *patch_text, *patch_dir; /* owned; patch_dir: the patch's paths are relative to it,
	                                 and it to cwd; NULL: they are relative to cwd */
	bool hides_patch; /* a command that is more than the patch in it: its host may apply that */
	const char *home; /* of who runs the host, if the caller of gate_input_from knows it */
	const char *unplaced; /* why it is not certain which files are written or read, or where a
	                         command runs; NULL: it is */
	char **paths; /* what is read or written, as the tool names it; owned */
	size_t path_count;
	size_t known_count; /* of what reads: so many are in arguments that name what is read; the
	                       others, of which that is not known, follow */
	bool names_more; /* than GATE_PATHS_MAX: such an input is refused */
	const cJSON *response; /* after the tool */
	bool failed; /* after the tool: it has */
	/* Of the others: */
	const char *message; /* notification, last message of a turn, prompt */
	const char *kind; /* of a notification, a failure (rate_limit, ...), a start or an end */
};

/* Reads what came on stdin of `hook HOST EVENT`; in must be zeroed, but for home. The event that
 * the JSON names must be the one given. 0, or -1 (ERR_INPUT) with what is wrong: too long, not
 * UTF-8, a text with \u0000, not one JSON object, an event that the host does not have, no tool.
 * After -1, in is empty. */
int gate_input_read(const struct gate_host *host, const char *event, const char *bytes,
                    size_t length, struct gate_input *in, struct err *e);
/* The same from JSON that is read already and stays valid as long as in. */
int gate_input_from(const struct gate_host *host, const char *event, const cJSON *root,
                    struct gate_input *in, struct err *e);
void gate_input_clear(struct gate_input *in);

/* What gate_input_from reads such a use of a tool from; cwd may be NULL. The caller deletes it. */
cJSON *gate_input_json(const struct gate_host *host, const char *event, const char *tool,
                       const char *cwd, const cJSON *tool_input);

/* Whether a permission may be to leave the host's sandbox: then it is more than what was allowed
 * before the tool, and nothing in the input tells whether it is. A patch of the host's own tool
 * says what becomes of the files wherever it runs, and no tool of an MCP server runs in there. */
bool gate_input_escalates(const struct gate_input *in);

/* Of an input with a patch: the name of the argument that holds it. */
const char *gate_input_patch_argument(const struct gate_input *in);

/* An absolute form of a path that a tool names: relative ones are below cwd (for a patch: below
 * patch_dir). Resolves no links and removes no dots. -1: it is relative, and the host named no cwd.
 */
int gate_input_absolute(const struct gate_input *in, const char *path, struct str *out,
                        struct err *e);

#endif
