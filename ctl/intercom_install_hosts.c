/* The hosts that install knows: where each reads its MCP servers, and in which form.
 *
 * Sources, as of November 2026: Claude Code docs "Connect Claude Code to tools via MCP" and
 * "Environment variables"; Codex docs "Model Context Protocol"; Gemini CLI docs "MCP servers" and
 * "Trusted folders"; GitHub docs "Adding MCP servers for GitHub Copilot CLI"; Cursor docs "Model
 * Context Protocol" (interpolation); VS Code docs "MCP configuration reference"; opencode docs
 * "MCP servers" (the form of V1, which V2 reads too). The limits are those of mcp.md 11.2.
 * tests/hosts runs those that start without a login. */
#include "intercom_install.h"

#include "paths.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MS_PER_S = 1000 };

/* ---- places ---- */

/* $variable/name, else ~/below/name. */
static int below(const char *variable, const char *home, const char *name, struct str *out,
                 struct err *e)
{
	const char *base = variable ? paths_from_env(variable) : NULL;

	if (base) {
		str_addf(out, "%s/%s", base, name);
		return 0;
	}
	base = paths_from_env("HOME");
	if (!base)
		return err_set(e, ERR_INPUT, "$HOME is not an absolute path; set it");
	str_addf(out, "%s/%s%s", base, home, name);
	return 0;
}

static int here(const char *name, struct str *out, struct err *e)
{
	return paths_absolute(NULL, name, out, e);
}

static int claude_file(bool project, struct str *out, struct err *e)
{
	return project ? here(".mcp.json", out, e)
	               : below("CLAUDE_CONFIG_DIR", "", ".claude.json", out, e);
}

static int claude_settings(bool project, struct str *out, struct err *e)
{
	return project ? here(".claude/settings.json", out, e)
	               : below("CLAUDE_CONFIG_DIR", ".claude/", "settings.json", out, e);
}

static int codex_file(bool project, struct str *out, struct err *e)
{
	return project ? here(".codex/config.toml", out, e)
	               : below("CODEX_HOME", ".codex/", "config.toml", out, e);
}

static int gemini_file(bool project, struct str *out, struct err *e)
{
	return project ? here(".gemini/settings.json", out, e)
	               : below(NULL, ".gemini/", "settings.json", out, e);
}

static int copilot_file(bool project, struct str *out, struct err *e)
{
	return project ? here(".github/mcp.json", out, e)
	               : below("COPILOT_HOME", ".copilot/", "mcp-config.json", out, e);
}

static int cursor_file(bool project, struct str *out, struct err *e)
{
	return project ? here(".cursor/mcp.json", out, e)
	               : below(NULL, ".cursor/", "mcp.json", out, e);
}

static int vscode_file(bool project, struct str *out, struct err *e)
{
	return project ? here(".vscode/mcp.json", out, e)
	               : below("XDG_CONFIG_HOME", ".config/", "Code/User/mcp.json", out, e);
}

/* opencode.jsonc if that is the one that is there. */
static int opencode_file(bool project, struct str *out, struct err *e)
{
	OWNED(str) struct str commented = STR_INIT;

	if (project ? here("opencode.json", out, e)
	            : below("XDG_CONFIG_HOME", ".config/", "opencode/opencode.json", out, e))
		return -1;
	str_addf(&commented, "%sc", str_text(out));
	if (access(str_text(out), F_OK) != 0 && access(str_text(&commented), F_OK) == 0)
		str_add_char(out, 'c');
	return 0;
}

/* ---- entries ---- */

static void add_text(cJSON *entry, const char *name, const char *text)
{
	(void)cJSON_AddStringToObject(entry, name, text);
}

static void add_program(cJSON *entry, const struct wish *w)
{
	add_text(entry, "command", w->command);
	(void)cJSON_AddItemToObject(entry, "args", cJSON_Duplicate(w->args, 1));
}

/* A little more than a call may wait, so that the answer "pending" still arrives. */
static void add_timeout(cJSON *entry, const char *name, const struct wish *w, int unit)
{
	if (w->wait > 0)
		(void)cJSON_AddNumberToObject(entry, name,
		                              (double)(w->wait + SLACK_SECONDS) * unit);
}

static cJSON *claude_entry(const struct wish *w)
{
	cJSON *entry = cJSON_CreateObject();

	add_text(entry, "type", w->http ? "http" : "stdio");
	if (w->http)
		add_text(entry, "url", w->url);
	else
		add_program(entry, w);
	add_timeout(entry, "timeout", w, MS_PER_S);
	return entry;
}

static cJSON *codex_entry(const struct wish *w)
{
	cJSON *entry = cJSON_CreateObject();

	if (w->http)
		add_text(entry, "url", w->url);
	else
		add_program(entry, w);
	add_timeout(entry, "tool_timeout_sec", w, 1);
	return entry;
}

static cJSON *gemini_entry(const struct wish *w)
{
	cJSON *entry = cJSON_CreateObject();

	if (w->http)
		add_text(entry, "httpUrl", w->url);
	else
		add_program(entry, w);
	add_timeout(entry, "timeout", w, MS_PER_S);
	return entry;
}

static cJSON *copilot_entry(const struct wish *w)
{
	cJSON *entry = cJSON_CreateObject();
	cJSON *tools;

	add_text(entry, "type", w->http ? "http" : "local");
	if (w->http)
		add_text(entry, "url", w->url);
	else
		add_program(entry, w);
	tools = cJSON_AddArrayToObject(entry, "tools");
	(void)cJSON_AddItemToArray(tools, cJSON_CreateString("*"));
	add_timeout(entry, "timeout", w, MS_PER_S);
	return entry;
}

static cJSON *editor_entry(const struct wish *w)
{
	cJSON *entry = cJSON_CreateObject();

	add_text(entry, "type", w->http ? "http" : "stdio");
	if (w->http)
		add_text(entry, "url", w->url);
	else
		add_program(entry, w);
	return entry;
}

static cJSON *opencode_entry(const struct wish *w)
{
	cJSON *entry = cJSON_CreateObject();

	add_text(entry, "type", w->http ? "remote" : "local");
	if (w->http) {
		add_text(entry, "url", w->url);
	} else {
		cJSON *command = cJSON_AddArrayToObject(entry, "command");
		const cJSON *arg;

		(void)cJSON_AddItemToArray(command, cJSON_CreateString(w->command));
		cJSON_ArrayForEach (arg, w->args) {
			(void)cJSON_AddItemToArray(command, cJSON_Duplicate(arg, 1));
		}
	}
	(void)cJSON_AddBoolToObject(entry, "enabled", 1);
	add_timeout(entry, "timeout", w, MS_PER_S);
	return entry;
}

/* ---- the table ---- */

/* Without it interactive Claude Code goes on working after two minutes (mcp.md 10.3). */
static const char *const BLOCKING[] = { "env", "CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS", NULL };

static const struct host HOSTS[] = {
	{ .name = "claude",
	  .title = "Claude Code",
	  .instructions = "CLAUDE.md",
	  .servers = "mcpServers",
	  .waits_long = true,
	  .file = claude_file,
	  .entry = claude_entry,
	  .settings = claude_settings,
	  .setting = BLOCKING,
	  .value = "0",
	  .hint = "CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS=0 makes it wait for an answer instead of "
	          "working on after two minutes; it holds for all MCP servers.",
	  .project_hint = "Claude Code asks once before it starts a server of .mcp.json." },
	{ .name = "codex",
	  .title = "Codex CLI",
	  .instructions = "AGENTS.md",
	  .servers = "mcp_servers",
	  .toml = true,
	  .waits_long = true,
	  .file = codex_file,
	  .entry = codex_entry,
	  .project_hint = "Codex reads a project's config.toml only if it trusts the project." },
	{ .name = "gemini",
	  .title = "Gemini CLI",
	  .instructions = "GEMINI.md",
	  .servers = "mcpServers",
	  .waits_long = true,
	  .file = gemini_file,
	  .entry = gemini_entry,
	  .hint = "Gemini CLI starts MCP servers only in folders that it trusts." },
	{ .name = "copilot",
	  .title = "GitHub Copilot CLI",
	  .instructions = "AGENTS.md",
	  .servers = "mcpServers",
	  .waits_long = true,
	  .file = copilot_file,
	  .entry = copilot_entry,
	  .project_hint = "Copilot CLI reads a project's servers only in folders that it trusts." },
	{ .name = "cursor",
	  .title = "Cursor",
	  .instructions = "AGENTS.md",
	  .servers = "mcpServers",
	  .is_editor = true,
	  .file = cursor_file,
	  .entry = editor_entry,
	  .hint = "Cursor has no setting for long calls: a call ends as `pending` after the "
	          "server's own cap, and the agent asks again (--wait SECONDS to change that)." },
	{ .name = "vscode",
	  .title = "VS Code",
	  .instructions = "AGENTS.md",
	  .servers = "servers",
	  .is_editor = true,
	  .in_project = true,
	  .waits_long = true,
	  .file = vscode_file,
	  .entry = editor_entry,
	  .hint = "VS Code has no limit of its own for a call, and no setting for one." },
	{ .name = "opencode",
	  .title = "opencode",
	  .instructions = "AGENTS.md",
	  .servers = "mcp",
	  .waits_long = true,
	  .file = opencode_file,
	  .entry = opencode_entry },
};

const struct host *host_find(const char *name)
{
	for (size_t i = 0; i < COUNT(HOSTS); i++)
		if (strcmp(HOSTS[i].name, name) == 0)
			return &HOSTS[i];
	return NULL;
}

void host_names(struct str *out)
{
	for (size_t i = 0; i < COUNT(HOSTS); i++)
		str_addf(out, "%s%s", i ? "|" : "", HOSTS[i].name);
}

bool host_entry_is_ours(const cJSON *entry)
{
	static const char *const URLS[] = { "url", "httpUrl" };
	const cJSON *command = cJSON_GetObjectItemCaseSensitive(entry, "command");
	const char *slash;

	if (cJSON_IsArray(command))
		command = command->child;
	if (cJSON_IsString(command)) {
		slash = strrchr(command->valuestring, '/');
		return strcmp(slash ? slash + 1 : command->valuestring, "agent-intercom") == 0;
	}
	for (size_t i = 0; i < COUNT(URLS); i++) {
		const cJSON *url = cJSON_GetObjectItemCaseSensitive(entry, URLS[i]);

		if (cJSON_IsString(url) &&
		    (strncmp(url->valuestring, "http://127.0.0.1:", 17) == 0 ||
		     strncmp(url->valuestring, "http://localhost:", 17) == 0))
			return true;
	}
	return false;
}
