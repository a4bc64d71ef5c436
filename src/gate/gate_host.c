#include "gate_host.h"

#include "err.h"
#include "json_writer.h"
#include "texts.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	PERSON_SECONDS = 3540, /* for a person; the timeout that install writes is 3600 s */
	STOP_SECONDS = 1740, /* for the next instruction; 1800 s */
	NOTE_SECONDS = 4, /* an event that is only noted; 5 s */
	QWEN_SECONDS = 55, /* it stops waiting for any hook after 60 s, whatever its settings say */
};

/* ---- names of arguments ---- */

static const struct gate_keys FILE_PATH = { .path = "file_path",
	                                    .content = "content",
	                                    .old_text = "old_string",
	                                    .new_text = "new_string",
	                                    .all = "replace_all",
	                                    .edits = "edits" };
static const struct gate_keys NOTEBOOK = { .path = "notebook_path" };
static const struct gate_keys PATCH_IN_COMMAND = { .content = "command", .folder = "workdir" };
static const struct gate_keys PATCH_IN_INPUT = { .content = "input" };
static const struct gate_keys GEMINI_FILE = { .path = "file_path",
	                                      .content = "content",
	                                      .old_text = "old_string",
	                                      .new_text = "new_string",
	                                      .all = "allow_multiple" };
static const struct gate_keys COPILOT_FILE = {
	.path = "path", .content = "file_text", .old_text = "old_str", .new_text = "new_str"
};
static const struct gate_keys COPILOT_INSERT = { .path = "path", .new_text = "new_str" };
static const struct gate_keys CAMEL_FILE = { .path = "filePath",
	                                     .content = "content",
	                                     .old_text = "oldString",
	                                     .new_text = "newString",
	                                     .all = "replaceAll",
	                                     .edits = "replacements" };
static const struct gate_keys OPENCODE_PATCH = { .content = "patchText" };
static const struct gate_keys VSCODE_FILES = { .path = "files" };
static const struct gate_keys ACP_FILE = { .path = "path", .content = "content" };
static const struct gate_keys ACP_DIFFS = {
	.path = "path", .old_text = "oldText", .new_text = "newText", .edits = "diffs"
};
static const struct gate_keys WORKDIR = { .folder = "workdir" };
static const struct gate_keys GEMINI_SHELL = { .folder = "dir_path" };
static const struct gate_keys QWEN_SHELL = { .folder = "directory" };
static const struct gate_keys CURSOR_SHELL = { .folder = "working_directory" };
static const struct gate_keys ACP_SHELL = { .folder = "cwd" };
static const struct gate_keys PATTERN = { .pattern = "pattern" };
static const struct gate_keys GLOB = { .pattern = "glob" };
static const struct gate_keys GLOB_PATTERN = { .pattern = "glob_pattern" };
static const struct gate_keys INCLUDE = { .pattern = "include" };
static const struct gate_keys INCLUDE_PATTERN = { .pattern = "include_pattern" };
static const struct gate_keys CAMEL_INCLUDE = { .pattern = "includePattern" };
static const struct gate_keys QUERY = { .pattern = "query" };

/* By which arguments a host's tools that read name a file or a folder, or a list of them: all of
 * these count in each of them. Read in what the versions that tests/hosts/README.md names offer to
 * a model, and older ones took. */
static const char *const CLAUDE_READS[] = { "file_path", "filePath", "notebook_path", "path",
	                                    NULL };
static const char *const CODEX_READS[] = { "path", "file_path", "dir_path", NULL };
static const char *const GEMINI_READS[] = { "file_path", "absolute_path", "dir_path",
	                                    "path",      "paths",         NULL };
static const char *const QWEN_READS[] = { "file_path", "absolute_path", "path", "paths",
	                                  "filePath",  "workspacePath", NULL };
static const char *const COPILOT_READS[] = { "path", "paths", "file_path", NULL };
static const char *const CURSOR_READS[] = { "file_path", "path", "target_file", "target_directory",
	                                    NULL };
static const char *const CAMEL_READS[] = { "filePath", "filePaths", "path", NULL };
static const char *const NO_READS[] = { NULL };

/* Other texts that tools which read take: what is searched for, left out, or noted. What hosts call
 * so names no file that is read. */
static const char *const TEXTS[] = { "pattern",     "query",
	                             "output_mode", "type",
	                             "description", "subject",
	                             "activeForm",  "metadata",
	                             "todos",       "todoList",
	                             "plan",        "explanation",
	                             "exclude",     "exclude_pattern",
	                             "ignore",      "filter",
	                             "intent",      "reason",
	                             "error",       "title",
	                             "summary",     "strategic_intent",
	                             "objective",   "findings",
	                             NULL };

/* ---- tools ---- */

#define END                                                                                        \
	{                                                                                          \
		0                                                                                  \
	}

static const struct gate_tool CLAUDE_TOOLS[] = {
	{ "Write", GATE_EDIT, GATE_FORM_WRITE, &FILE_PATH },
	{ "Edit", GATE_EDIT, GATE_FORM_REPLACE, &FILE_PATH },
	{ "MultiEdit", GATE_EDIT, GATE_FORM_REPLACE_MANY, &FILE_PATH },
	{ "NotebookEdit", GATE_EDIT, GATE_FORM_NOTEBOOK, &NOTEBOOK },
	{ "Bash PowerShell Monitor", GATE_EXECUTE, GATE_FORM_NONE, NULL },
	{ "Read NotebookRead LSP TodoWrite TodoRead TaskCreate TaskUpdate TaskGet "
	  "TaskList TaskOutput BashOutput ToolSearch WaitForMcpServers "
	  "ListMcpResourcesTool EnterPlanMode CronList ListAgents ReportFindings",
	  GATE_READ, GATE_FORM_NONE, NULL },
	{ "Glob", GATE_READ, GATE_FORM_GLOB, &PATTERN },
	{ "Grep", GATE_READ, GATE_FORM_SEARCH, &GLOB },
	{ "LS", GATE_READ, GATE_FORM_SEARCH, NULL },
	{ "WebFetch WebSearch", GATE_NETWORK, GATE_FORM_NONE, NULL },
	{ "ReadMcpResourceTool", GATE_MCP, GATE_FORM_NONE, NULL },
	{ "Task Agent", GATE_AGENT, GATE_FORM_NONE, NULL },
	{ "Skill SlashCommand", GATE_OTHER, GATE_FORM_SKILL, NULL },
	{ "AskUserQuestion", GATE_QUESTION, GATE_FORM_NONE, NULL },
	{ "ExitPlanMode", GATE_PLAN, GATE_FORM_NONE, NULL },
	END,
};

static const struct gate_tool CODEX_TOOLS[] = {
	{ "Bash", GATE_EXECUTE, GATE_FORM_NONE, &WORKDIR },
	{ "apply_patch", GATE_EDIT, GATE_FORM_PATCH, &PATCH_IN_COMMAND },
	{ "update_plan view_image get_goal create_goal update_goal list_mcp_resources "
	  "list_mcp_resource_templates multi_agent_v1wait_agent",
	  GATE_READ, GATE_FORM_NONE, NULL },
	{ "read_mcp_resource", GATE_MCP, GATE_FORM_NONE, NULL },
	{ "web_search", GATE_NETWORK, GATE_FORM_NONE, NULL },
	{ "spawn_agent", GATE_AGENT, GATE_FORM_NONE, NULL },
	{ "request_user_input", GATE_QUESTION, GATE_FORM_NONE, NULL },
	END,
};

static const struct gate_tool GEMINI_TOOLS[] = {
	{ "write_file", GATE_EDIT, GATE_FORM_WRITE, &GEMINI_FILE },
	{ "replace", GATE_EDIT, GATE_FORM_REPLACE, &GEMINI_FILE },
	{ "run_shell_command", GATE_EXECUTE, GATE_FORM_NONE, &GEMINI_SHELL },
	{ "read_file write_todos update_topic list_background_processes "
	  "read_background_output list_mcp_resources get_internal_docs activate_skill "
	  "enter_plan_mode",
	  GATE_READ, GATE_FORM_NONE, NULL },
	{ "read_many_files", GATE_READ, GATE_FORM_NONE, &INCLUDE },
	{ "list_directory", GATE_READ, GATE_FORM_SEARCH, NULL },
	{ "glob", GATE_READ, GATE_FORM_GLOB, &PATTERN },
	{ "grep_search", GATE_READ, GATE_FORM_SEARCH, &INCLUDE_PATTERN },
	{ "search_file_content", GATE_READ, GATE_FORM_SEARCH, &INCLUDE },
	{ "read_mcp_resource", GATE_MCP, GATE_FORM_NONE, NULL },
	{ "web_fetch google_web_search", GATE_NETWORK, GATE_FORM_NONE, NULL },
	{ "codebase_investigator invoke_agent", GATE_AGENT, GATE_FORM_NONE, NULL },
	{ "ask_user", GATE_QUESTION, GATE_FORM_NONE, NULL },
	{ "exit_plan_mode", GATE_PLAN, GATE_FORM_NONE, NULL },
	END,
};

static const struct gate_tool QWEN_TOOLS[] = {
	{ "write_file", GATE_EDIT, GATE_FORM_WRITE, &FILE_PATH },
	{ "edit replace", GATE_EDIT, GATE_FORM_REPLACE, &FILE_PATH },
	{ "notebook_edit", GATE_EDIT, GATE_FORM_NOTEBOOK, &NOTEBOOK },
	{ "run_shell_command monitor", GATE_EXECUTE, GATE_FORM_NONE, &QWEN_SHELL },
	{ "read_file zoom_image display_image record_artifact lsp todo_write "
	  "tool_search skill get_goal update_goal cron_list list_agents",
	  GATE_READ, GATE_FORM_NONE, NULL },
	{ "read_many_files", GATE_READ, GATE_FORM_NONE, &INCLUDE },
	{ "list_directory", GATE_READ, GATE_FORM_SEARCH, NULL },
	{ "glob", GATE_READ, GATE_FORM_GLOB, &PATTERN },
	{ "grep_search", GATE_READ, GATE_FORM_SEARCH, &GLOB },
	{ "web_fetch web_search", GATE_NETWORK, GATE_FORM_NONE, NULL },
	{ "task agent", GATE_AGENT, GATE_FORM_NONE, NULL },
	{ "ask_user_question", GATE_QUESTION, GATE_FORM_NONE, NULL },
	{ "exit_plan_mode", GATE_PLAN, GATE_FORM_NONE, NULL },
	END,
};

static const struct gate_tool COPILOT_TOOLS[] = {
	{ "create", GATE_EDIT, GATE_FORM_WRITE, &COPILOT_FILE },
	{ "edit str_replace", GATE_EDIT, GATE_FORM_REPLACE, &COPILOT_FILE },
	{ "insert", GATE_EDIT, GATE_FORM_INSERT, &COPILOT_INSERT },
	{ "apply_patch", GATE_EDIT, GATE_FORM_PATCH, &PATCH_IN_INPUT },
	{ "bash powershell write_bash write_powershell", GATE_EXECUTE, GATE_FORM_NONE, NULL },
	{ "view read_bash list_bash report_intent update_todo task_complete "
	  "fetch_copilot_cli_documentation skill list_agents read_agent",
	  GATE_READ, GATE_FORM_NONE, NULL },
	{ "glob", GATE_READ, GATE_FORM_GLOB, &PATTERN },
	{ "grep rg", GATE_READ, GATE_FORM_SEARCH, &GLOB },
	{ "web_fetch web_search", GATE_NETWORK, GATE_FORM_NONE, NULL },
	{ "task", GATE_AGENT, GATE_FORM_NONE, NULL },
	{ "ask_user", GATE_QUESTION, GATE_FORM_NONE, NULL },
	{ "exit_plan_mode", GATE_PLAN, GATE_FORM_NONE, NULL },
	END,
};

static const struct gate_tool CURSOR_TOOLS[] = {
	{ "Write", GATE_EDIT, GATE_FORM_WRITE, &FILE_PATH },
	{ "StrReplace Edit", GATE_EDIT, GATE_FORM_REPLACE, &FILE_PATH },
	{ "Delete", GATE_EDIT, GATE_FORM_DELETE, &FILE_PATH },
	{ "Shell", GATE_EXECUTE, GATE_FORM_NONE, &CURSOR_SHELL },
	{ "Read", GATE_READ, GATE_FORM_NONE, NULL },
	{ "Grep", GATE_READ, GATE_FORM_SEARCH, &GLOB },
	{ "Glob", GATE_READ, GATE_FORM_GLOB, &GLOB_PATTERN },
	{ "Task", GATE_AGENT, GATE_FORM_NONE, NULL },
	END,
};

static const struct gate_tool VSCODE_TOOLS[] = {
	{ "editFiles", GATE_EDIT, GATE_FORM_NONE, &VSCODE_FILES },
	{ "create_file", GATE_EDIT, GATE_FORM_WRITE, &CAMEL_FILE },
	{ "replace_string_in_file", GATE_EDIT, GATE_FORM_REPLACE, &CAMEL_FILE },
	{ "multi_replace_string_in_file", GATE_EDIT, GATE_FORM_REPLACE_EACH, &CAMEL_FILE },
	{ "insert_edit_into_file", GATE_EDIT, GATE_FORM_NONE, &CAMEL_FILE },
	{ "edit_notebook_file", GATE_EDIT, GATE_FORM_NOTEBOOK, &CAMEL_FILE },
	{ "apply_patch", GATE_EDIT, GATE_FORM_PATCH, &PATCH_IN_INPUT },
	{ "runTerminalCommand run_in_terminal", GATE_EXECUTE, GATE_FORM_NONE, NULL },
	{ "read_file get_errors manage_todo_list", GATE_READ, GATE_FORM_NONE, NULL },
	{ "list_dir semantic_search", GATE_READ, GATE_FORM_SEARCH, NULL },
	{ "file_search", GATE_READ, GATE_FORM_SEARCH, &QUERY },
	{ "grep_search", GATE_READ, GATE_FORM_SEARCH, &CAMEL_INCLUDE },
	{ "fetch_webpage", GATE_NETWORK, GATE_FORM_NONE, NULL },
	{ "runSubagent", GATE_AGENT, GATE_FORM_NONE, NULL },
	END,
};

static const struct gate_tool OPENCODE_TOOLS[] = {
	{ "write", GATE_EDIT, GATE_FORM_WRITE, &CAMEL_FILE },
	{ "edit", GATE_EDIT, GATE_FORM_REPLACE, &CAMEL_FILE },
	{ "apply_patch patch", GATE_EDIT, GATE_FORM_PATCH, &OPENCODE_PATCH },
	{ "bash", GATE_EXECUTE, GATE_FORM_NONE, &WORKDIR },
	{ "read lsp skill todowrite todoread invalid", GATE_READ, GATE_FORM_NONE, NULL },
	{ "list", GATE_READ, GATE_FORM_SEARCH, NULL },
	{ "glob", GATE_READ, GATE_FORM_GLOB, &PATTERN },
	{ "grep", GATE_READ, GATE_FORM_SEARCH, &INCLUDE },
	{ "webfetch websearch codesearch", GATE_NETWORK, GATE_FORM_NONE, NULL },
	{ "task", GATE_AGENT, GATE_FORM_NONE, NULL },
	{ "question", GATE_QUESTION, GATE_FORM_NONE, NULL },
	{ "plan_exit", GATE_PLAN, GATE_FORM_NONE, NULL },
	END,
};

/* What an agent asks its editor for; of a permission, what workers/acp_proxy makes of it. A kind
 * that only looks is what the agent says of a tool of its own: it is judged as any other. */
static const struct gate_tool ACP_TOOLS[] = {
	{ "fs/write_text_file", GATE_EDIT, GATE_FORM_WRITE, &ACP_FILE },
	{ "terminal/create execute", GATE_EXECUTE, GATE_FORM_NONE, &ACP_SHELL },
	{ "edit", GATE_EDIT, GATE_FORM_REPLACE_EACH, &ACP_DIFFS },
	{ "fetch", GATE_NETWORK, GATE_FORM_NONE, NULL },
	END,
};

/* ---- events ---- */

/* Claude Code's, and Qwen Code's after it. */
static const struct gate_event_name CLAUDE_EVENTS[] = {
	{ "PreToolUse", GATE_PRE_TOOL },
	{ "PermissionRequest", GATE_PERMISSION },
	{ "PostToolUse", GATE_POST_TOOL },
	{ "PostToolUseFailure", GATE_POST_TOOL },
	{ "UserPromptSubmit", GATE_PROMPT },
	{ "Notification", GATE_NOTIFICATION },
	{ "Stop", GATE_STOP },
	{ "StopFailure", GATE_STOP_FAILURE },
	{ "SessionStart", GATE_SESSION_START },
	{ "SessionEnd", GATE_SESSION_END },
	END,
};

static const struct gate_event_name CODEX_EVENTS[] = {
	{ "PreToolUse", GATE_PRE_TOOL },
	{ "PermissionRequest", GATE_PERMISSION },
	{ "PostToolUse", GATE_POST_TOOL },
	{ "UserPromptSubmit", GATE_PROMPT },
	{ "Stop", GATE_STOP },
	{ "SessionStart", GATE_SESSION_START },
	{ "SessionEnd", GATE_SESSION_END },
	END,
};

static const struct gate_event_name GEMINI_EVENTS[] = {
	{ "BeforeTool", GATE_PRE_TOOL },       { "AfterTool", GATE_POST_TOOL },
	{ "BeforeAgent", GATE_PROMPT },        { "AfterAgent", GATE_STOP },
	{ "Notification", GATE_NOTIFICATION }, { "SessionStart", GATE_SESSION_START },
	{ "SessionEnd", GATE_SESSION_END },    END,
};

static const struct gate_event_name COPILOT_EVENTS[] = {
	{ "preToolUse", GATE_PRE_TOOL },
	{ "postToolUse", GATE_POST_TOOL },
	{ "postToolUseFailure", GATE_POST_TOOL },
	{ "permissionRequest", GATE_PERMISSION },
	{ "userPromptSubmitted", GATE_PROMPT },
	{ "notification", GATE_NOTIFICATION },
	{ "agentStop", GATE_STOP },
	{ "errorOccurred", GATE_STOP_FAILURE },
	{ "sessionStart", GATE_SESSION_START },
	{ "sessionEnd", GATE_SESSION_END },
	END,
};

static const struct gate_event_name CURSOR_EVENTS[] = {
	{ "preToolUse", GATE_PRE_TOOL },
	{ "beforeShellExecution", GATE_PRE_TOOL },
	{ "beforeMCPExecution", GATE_PRE_TOOL },
	{ "postToolUse", GATE_POST_TOOL },
	{ "postToolUseFailure", GATE_POST_TOOL },
	{ "beforeSubmitPrompt", GATE_PROMPT },
	{ "stop", GATE_STOP },
	{ "sessionStart", GATE_SESSION_START },
	{ "sessionEnd", GATE_SESSION_END },
	END,
};

static const struct gate_event_name VSCODE_EVENTS[] = {
	{ "PreToolUse", GATE_PRE_TOOL },        { "PostToolUse", GATE_POST_TOOL },
	{ "UserPromptSubmit", GATE_PROMPT },    { "Stop", GATE_STOP },
	{ "SessionStart", GATE_SESSION_START }, END,
};

static const struct gate_event_name OPENCODE_EVENTS[] = {
	{ "tool.execute.before", GATE_PRE_TOOL }, { "tool.execute.after", GATE_POST_TOOL },
	{ "chat.message", GATE_PROMPT },          { "session.created", GATE_SESSION_START },
	{ "session.error", GATE_STOP_FAILURE },   { "session.idle", GATE_STOP },
	{ "session.deleted", GATE_SESSION_END },  END,
};

static const struct gate_event_name ACP_EVENTS[] = {
	{ "session/request_permission", GATE_PERMISSION },
	{ "fs/write_text_file", GATE_PRE_TOOL },
	{ "terminal/create", GATE_PRE_TOOL },
	END,
};

/* ---- environment ---- */

#define OURS "INTERCOM_SESSION_ID", "INTERCOM_WORKSPACE_ID", "INTERCOM_CHANNEL_ID", "INTERCOM_AGENT"

static const char *const CLAUDE_VARIABLES[] = { OURS,
	                                        "CLAUDE_CODE_SESSION_ID",
	                                        "CLAUDE_CODE_SESSION_ATTENDED",
	                                        "CLAUDE_PROJECT_DIR",
	                                        "CLAUDE_PID",
	                                        "AI_AGENT", /* gate_version.h */
	                                        "HOME", /* gate_path.h */
	                                        NULL };
static const char *const GEMINI_VARIABLES[] = { OURS, "GEMINI_SESSION_ID", "GEMINI_PROJECT_DIR",
	                                        "GEMINI_CWD", NULL };
static const char *const COPILOT_VARIABLES[] = { OURS, "COPILOT_PROJECT_DIR",
	                                         "COPILOT_CLI_BINARY_VERSION", NULL };
static const char *const QWEN_VARIABLES[] = { OURS, "QWEN_CODE_SESSION_ID", "QWEN_PROJECT_DIR",
	                                      "QWEN_CODE_STARTUP_VERSION", NULL };
static const char *const CURSOR_VARIABLES[] = { OURS, "CURSOR_PROJECT_DIR", "CURSOR_VERSION",
	                                        NULL };
static const char *const OUR_VARIABLES[] = { OURS, NULL };

/* ---- hosts ---- */

const struct gate_host GATE_HOSTS[] = {
	{ "claude",
	  "Claude Code",
	  GATE_DIALECT_CLAUDE,
	  GATE_MCP_DOUBLE,
	  .rewrites = true,
	  .grants = true,
	  .defers_since = "2.1.330",
	  .defers_before = "2.2",
	  .process_variable = "CLAUDE_PID",
	  .resume_option = "--resume",
	  .keeps_shell = true,
	  .names_subagents = true, /* agent_id */
	  .deletes_line_ends = true,
	  .trims_lines = true,
	  .expands_paths = true,
	  .tells = GATE_AT(GATE_PRE_TOOL) | GATE_AT(GATE_POST_TOOL) | GATE_AT(GATE_PROMPT),
	  .events = CLAUDE_EVENTS,
	  .tools = CLAUDE_TOOLS,
	  .reads = CLAUDE_READS,
	  .variables = CLAUDE_VARIABLES },
	{ "codex", "Codex CLI", GATE_DIALECT_CODEX, GATE_MCP_DOUBLE, .rewrites = true,
	  .escalates = true, .script_uses = "exec-",
	  .tells = GATE_AT(GATE_PRE_TOOL) | GATE_AT(GATE_POST_TOOL) | GATE_AT(GATE_PROMPT),
	  .events = CODEX_EVENTS, .tools = CODEX_TOOLS, .reads = CODEX_READS,
	  .variables = OUR_VARIABLES },
	{ "gemini", "Gemini CLI", GATE_DIALECT_GEMINI, GATE_MCP_SINGLE, .rewrites = true,
	  .keeps_last_end = true, .decodes_paths = true, .finds_files = true,
	  .tells = GATE_AT(GATE_POST_TOOL), .fails_untold = true, .events = GEMINI_EVENTS,
	  .tools = GEMINI_TOOLS, .reads = GEMINI_READS, .variables = GEMINI_VARIABLES },
	{ "copilot", "GitHub Copilot CLI", GATE_DIALECT_COPILOT, GATE_MCP_DASH, .rewrites = true,
	  .grants = true, .takes_progress = true, .splits_paths = true,
	  .tells = GATE_AT(GATE_PRE_TOOL) | GATE_AT(GATE_POST_TOOL), .fails_untold = true,
	  .events = COPILOT_EVENTS, .tools = COPILOT_TOOLS, .reads = COPILOT_READS,
	  .variables = COPILOT_VARIABLES },
	{ "cursor", "Cursor", GATE_DIALECT_CURSOR, GATE_MCP_COLON, .rewrites = true,
	  .takes_uris = true, .events = CURSOR_EVENTS, .tools = CURSOR_TOOLS, .reads = CURSOR_READS,
	  .variables = CURSOR_VARIABLES },
	{ "vscode", "VS Code", GATE_DIALECT_VSCODE, GATE_MCP_SINGLE, .rewrites = true,
	  .grants = true, .takes_uris = true,
	  .tells = GATE_AT(GATE_PRE_TOOL) | GATE_AT(GATE_POST_TOOL) | GATE_AT(GATE_PROMPT),
	  .events = VSCODE_EVENTS, .tools = VSCODE_TOOLS, .reads = CAMEL_READS,
	  .variables = OUR_VARIABLES },
	{ "opencode", "opencode", GATE_DIALECT_OPENCODE, GATE_MCP_BARE, .rewrites = true,
	  .events = OPENCODE_EVENTS, .tools = OPENCODE_TOOLS, .reads = CAMEL_READS,
	  .variables = OUR_VARIABLES },
	{ "qwen", "Qwen Code", GATE_DIALECT_CLAUDE, GATE_MCP_DOUBLE,
	  .wait_seconds_max = QWEN_SECONDS, .decodes_paths = true, .tells = GATE_AT(GATE_POST_TOOL),
	  .fails_untold = true, /* where it works for an editor */
	  .events = CLAUDE_EVENTS, .tools = QWEN_TOOLS, .reads = QWEN_READS,
	  .variables = QWEN_VARIABLES },
	/* No program with hooks, but all agents behind an editor, told by agent-intercom acp. */
	{ "acp", "the agent behind an editor", GATE_DIALECT_OPENCODE, GATE_MCP_NONE, .grants = true,
	  .relays = true, .takes_uris = true, .events = ACP_EVENTS, .tools = ACP_TOOLS,
	  .reads = NO_READS, .variables = OUR_VARIABLES },
};

const size_t GATE_HOST_COUNT = COUNT(GATE_HOSTS);

const struct gate_host *gate_host_named(const char *name)
{
	for (size_t i = 0; i < COUNT(GATE_HOSTS); i++)
		if (strcmp(GATE_HOSTS[i].name, name) == 0)
			return &GATE_HOSTS[i];
	return NULL;
}

const struct gate_event_name *gate_host_event(const struct gate_host *host, const char *name)
{
	for (const struct gate_event_name *n = host->events; n->name; n++)
		if (strcmp(n->name, name) == 0)
			return n;
	return NULL;
}

const char *gate_host_event_name(const struct gate_host *host, enum gate_event event)
{
	for (const struct gate_event_name *n = host->events; n->name; n++)
		if (n->event == event)
			return n->name;
	return NULL;
}

const char *gate_event_word(enum gate_event event)
{
	static const char *const WORDS[] = {
		[GATE_PRE_TOOL] = "pre_tool",         [GATE_POST_TOOL] = "post_tool",
		[GATE_PERMISSION] = "permission",     [GATE_PROMPT] = "prompt",
		[GATE_NOTIFICATION] = "notification", [GATE_STOP] = "stop",
		[GATE_STOP_FAILURE] = "stop_failure", [GATE_SESSION_START] = "session_start",
		[GATE_SESSION_END] = "session_end",
	};

	_Static_assert(COUNT(WORDS) == GATE_EVENTS, "each event has a word");
	return WORDS[event];
}

const struct gate_tool *gate_host_tool(const struct gate_host *host, const char *name)
{
	for (const struct gate_tool *t = host->tools; t->names; t++)
		if (texts_has_word(t->names, name))
			return t;
	return NULL;
}

bool gate_host_reads_by(const struct gate_host *host, const struct gate_keys *keys,
                        const char *argument)
{
	return texts_name(host->reads, argument) || texts_name(TEXTS, argument) ||
	       (keys && keys->pattern && strcmp(keys->pattern, argument) == 0);
}

/* "server<separator>tool" after a prefix. A server's name may contain the separator: the first one
 * is taken, and the server is shorter than it is. */
static bool split(const char *name, const char *prefix, const char *separator,
                  const char **ret_server, size_t *ret_length, const char **ret_tool)
{
	size_t skip = strlen(prefix);
	const char *end;

	if (strncmp(name, prefix, skip) != 0)
		return false;
	end = strstr(name + skip, separator);
	if (!end || end == name + skip || !end[strlen(separator)])
		return false;
	*ret_server = name + skip;
	*ret_length = (size_t)(end - *ret_server);
	*ret_tool = end + strlen(separator);
	return true;
}

bool gate_host_is_mcp(const struct gate_host *host, const char *name, const char **ret_server,
                      size_t *ret_server_length, const char **ret_tool)
{
	*ret_server = NULL;
	*ret_server_length = 0;
	*ret_tool = NULL;
	if (gate_host_tool(host, name))
		return false;
	switch (host->mcp_name) {
	case GATE_MCP_DOUBLE:
		return split(name, "mcp__", "__", ret_server, ret_server_length, ret_tool);
	case GATE_MCP_SINGLE:
		return split(name, "mcp_", "_", ret_server, ret_server_length, ret_tool);
	case GATE_MCP_DASH:
		return split(name, "", "-", ret_server, ret_server_length, ret_tool);
	case GATE_MCP_BARE:
		return split(name, "", "_", ret_server, ret_server_length, ret_tool);
	case GATE_MCP_COLON:
		if (strncmp(name, "MCP:", 4) != 0 || !name[4])
			return false;
		*ret_tool = name + 4;
		return true;
	case GATE_MCP_NONE:
		break;
	}
	return false;
}

static const char *const CLASSES[] = {
	[GATE_OTHER] = "other",     [GATE_READ] = "read",         [GATE_EDIT] = "edit",
	[GATE_EXECUTE] = "execute", [GATE_NETWORK] = "network",   [GATE_MCP] = "mcp",
	[GATE_AGENT] = "agent",     [GATE_QUESTION] = "question", [GATE_PLAN] = "plan",
};

const char *gate_class_name(enum gate_class class)
{
	_Static_assert(COUNT(CLASSES) == GATE_CLASSES, "each class has a name");
	return CLASSES[class];
}

int gate_host_wait_seconds(const struct gate_host *host, enum gate_event event)
{
	int seconds = NOTE_SECONDS;

	if (gate_event_asks(event))
		seconds = PERSON_SECONDS;
	else if (event == GATE_STOP)
		seconds = STOP_SECONDS;
	if (host->wait_seconds_max && seconds > host->wait_seconds_max)
		seconds = host->wait_seconds_max;
	return seconds;
}

void gate_host_add_variables(const struct gate_host *host, struct str *out)
{
	json_member_object(out, "env");
	for (const char *const *name = host->variables; *name; name++) {
		const char *value = getenv(*name);

		if (value && utf8_valid(value, strlen(value)))
			json_member(out, *name, value);
	}
	json_object_end(out);
}

pid_t gate_host_process(const struct gate_host *host)
{
	const char *attended = getenv("CLAUDE_CODE_SESSION_ATTENDED");
	const char *text = host->defers_since ? getenv(host->process_variable) : NULL;
	char *end;
	long pid = text ? strtol(text, &end, 10) : 0;

	if (!getenv("INTERCOM_SESSION_ID") || !attended || strcmp(attended, "0") != 0)
		return 0;
	return text && !*end && pid > 1 && pid <= INT32_MAX ? (pid_t)pid : 0;
}
