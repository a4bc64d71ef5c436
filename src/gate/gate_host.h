/* gate_host: the agent programs whose hooks we answer: their events and tools by their own names,
 * and what each of them can take from a hook.
 *
 * A host runs a hook before and after a tool, when it would ask for permission, and around turns
 * and sessions. Everything here was seen in the versions that tests/hosts/README.md names, but for
 * Cursor and VS Code, which is as documented. */
#ifndef GATE_HOST_H
#define GATE_HOST_H

#include "str.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum gate_event {
	GATE_PRE_TOOL, /* before a tool: allow, deny, rewrite */
	GATE_POST_TOOL, /* after it, whether it worked or failed */
	GATE_PERMISSION, /* the host would ask for permission: allow or deny */
	GATE_PROMPT, /* the user has submitted a prompt */
	GATE_NOTIFICATION,
	GATE_STOP, /* the turn ends: it may go on */
	GATE_STOP_FAILURE, /* it ends by an error of the model's service */
	GATE_SESSION_START,
	GATE_SESSION_END,
	GATE_EVENTS
};

#define GATE_AT(event) (1U << (event))

enum gate_class {
	GATE_OTHER, /* not known, so never harmless */
	GATE_READ,
	GATE_EDIT,
	GATE_EXECUTE,
	GATE_NETWORK,
	GATE_MCP,
	GATE_AGENT, /* starts another agent, whose tools have hooks of their own */
	GATE_QUESTION, /* asks the user */
	GATE_PLAN, /* submits a plan for approval */
	GATE_CLASSES
};

/* How a tool's input says what becomes of a file (gate_edit.h). */
enum gate_form {
	GATE_FORM_NONE, /* it does not say */
	GATE_FORM_WRITE, /* path, content */
	GATE_FORM_REPLACE, /* path, old text, new text */
	GATE_FORM_REPLACE_MANY, /* path, edits: [{ old text, new text }] */
	GATE_FORM_REPLACE_EACH, /* replacements: [{ path, old text, new text }] */
	GATE_FORM_INSERT, /* path, line, text */
	GATE_FORM_NOTEBOOK, /* path, cell: not computed */
	GATE_FORM_DELETE, /* path */
	GATE_FORM_PATCH, /* a text "*** Begin Patch" */
	GATE_FORM_SEARCH, /* it reads what lies beneath its paths, or beneath where it works */
	GATE_FORM_GLOB, /* the same, but without paths only what its pattern names */
	GATE_FORM_SKILL, /* what it loads may run commands, of which no hook is told */
};

/* The names of a tool's arguments; NULL: it has none of the kind. */
struct gate_keys {
	const char *path;
	const char *content; /* the whole text, or the patch */
	const char *old_text, *new_text;
	const char *all; /* true: every occurrence is replaced */
	const char *edits; /* the list of a form with many */
	const char *folder; /* where a command runs, or where a patch's paths begin */
	const char *pattern; /* of names of files that are searched, below each of the paths */
};

/* Tools of which the same is to be known. */
struct gate_tool {
	const char *names; /* with blanks between them */
	enum gate_class class;
	enum gate_form form;
	const struct gate_keys *keys; /* NULL: no argument is a path or a text of a file */
};

/* Whether a person decides in it. */
static inline bool gate_event_asks(enum gate_event event)
{
	return event == GATE_PRE_TOOL || event == GATE_PERMISSION;
}

struct gate_event_name {
	const char *name; /* the host's own */
	enum gate_event event;
};

/* How a host words its tools from MCP servers. */
enum gate_mcp_name {
	GATE_MCP_NONE,
	GATE_MCP_DOUBLE, /* mcp__server__tool */
	GATE_MCP_SINGLE, /* mcp_server_tool */
	GATE_MCP_DASH, /* server-tool */
	GATE_MCP_COLON, /* MCP:tool, without its server */
	GATE_MCP_BARE, /* server_tool */
};

/* Which JSON a host reads and writes. */
enum gate_dialect {
	GATE_DIALECT_CLAUDE, /* hookSpecificOutput; snake_case */
	GATE_DIALECT_CODEX, /* the same, but an allow is silence */
	GATE_DIALECT_GEMINI, /* decision and reason */
	GATE_DIALECT_COPILOT, /* flat camelCase */
	GATE_DIALECT_CURSOR, /* flat snake_case */
	GATE_DIALECT_VSCODE, /* hookSpecificOutput for every event */
	GATE_DIALECT_OPENCODE, /* our own, between hook and the plugin that install writes */
};

struct gate_host {
	const char *name; /* as in `agent-intercom hook NAME EVENT` */
	const char *title;
	enum gate_dialect dialect;
	enum gate_mcp_name mcp_name;
	bool rewrites; /* a tool's input can be replaced */
	bool grants; /* an allow before a tool replaces the host's own dialog */
	bool escalates; /* it asks for permission to run a command outside of its sandbox, and its
	                   hook before the tool is not told of that */
	/* The first version of which is known that a process without a terminal can end, and make
	 * its call again when it is resumed; NULL: none. Then: the first one of which nothing is
	 * known any more: a version that does not know this answer runs the tool; the variable with
	 * the process; and the option that resumes a session. */
	const char *defers_since, *defers_before, *process_variable, *resume_option;
	unsigned tells; /* GATE_AT of the events whose model is shown words with an answer that
	                   denies nothing */
	bool fails_untold; /* except after a tool that has failed */
	bool keeps_shell; /* a command may leave its shell in another folder, and its hook after the
	                     tool is told that one */
	bool names_subagents; /* its hooks say of a subagent's tool that it is one's: what is told
	                         there never reaches the agent that it works for */
	const char *script_uses; /* how its id of a use begins where a script of its model's uses
	                            the tool, and may keep from it why that was denied; NULL: it
	                            runs none */
	bool takes_progress; /* lines about the wait may precede the answer */
	bool relays; /* it passes on what other agents ask: a reason reaches no model */
	/* Its tool that replaces a text: */
	bool deletes_line_ends; /* a text that is replaced by nothing takes the line's end along */
	bool keeps_last_end; /* whether the last line ends in LF stays as it was */
	bool trims_lines; /* may remove blanks at the ends of new lines, but in Markdown */
	/* A path of a tool that reads: */
	bool expands_paths; /* white space around it counts for nothing, "~" is a home */
	bool takes_uris; /* it may be a URI, also in a tool that writes */
	bool decodes_paths; /* "%73" is "s", and "@" in front nothing, also in one that writes */
	bool splits_paths; /* one with white space in it is several, in a tool that searches */
	bool finds_files; /* its tool that replaces a text takes a relative path that names no file
	                     for the end of another file's */
	int wait_seconds_max; /* no hook may wait longer, whatever is configured; 0: no limit */
	const struct gate_event_name *events; /* the last has no name */
	const struct gate_tool *tools; /* the last has no names */
	const char *const *reads; /* arguments of those that read: paths; NULL at the end */
	const char *const
	    *variables; /* of its environment, that the front is told; NULL at the end */
};

extern const struct gate_host GATE_HOSTS[];
extern const size_t GATE_HOST_COUNT;

/* The host with this name; NULL: none. */
const struct gate_host *gate_host_named(const char *name);

/* Appends the member "env" of a question to the front: those of the host's variables that are set,
 * and are UTF-8. */
void gate_host_add_variables(const struct gate_host *host, struct str *out);

/* The host's process that would end with a call instead of waiting for its answer (gate_defer.h),
 * as our environment, which is that of its hook, says; 0: it has to wait. */
pid_t gate_host_process(const struct gate_host *host);

/* The event that the host calls so; NULL: none. */
const struct gate_event_name *gate_host_event(const struct gate_host *host, const char *name);
/* The host's first name for an event; NULL: it has no such event. */
const char *gate_host_event_name(const struct gate_host *host, enum gate_event event);
/* "pre_tool", ... */
const char *gate_event_word(enum gate_event event);

/* The tool of the host's own that it calls so; NULL: none that we know. */
const struct gate_tool *gate_host_tool(const struct gate_host *host, const char *name);
/* Whether it is known what an argument of a tool that reads is for: a path, the pattern, or a text
 * that names no file. */
bool gate_host_reads_by(const struct gate_host *host, const struct gate_keys *keys,
                        const char *argument);
/* Whether the host's name of a tool says that it comes from an MCP server, and which parts of the
 * name are server and tool. *ret_server is NULL where the name does not tell. A name of its own
 * tools never does. */
bool gate_host_is_mcp(const struct gate_host *host, const char *name, const char **ret_server,
                      size_t *ret_server_length, const char **ret_tool);

/* "read", "edit", ... */
const char *gate_class_name(enum gate_class class);

/* How long a hook waits for this event at most, in seconds, unless its --deadline says otherwise;
 * never more than the host allows. The timeout that install writes is longer. */
int gate_host_wait_seconds(const struct gate_host *host, enum gate_event event);

#endif
