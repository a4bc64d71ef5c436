/* The hosts that install knows: where each reads its MCP servers, and in which form.
 *
 * Sources, as of November 2026: Claude Code docs "Connect Claude Code to tools via MCP" and
 * "Environment variables"; Codex docs "Model Context Protocol"; Gemini CLI docs "MCP servers" and
 * "Trusted folders"; GitHub docs "Adding MCP servers for GitHub Copilot CLI"; Cursor docs "Model
 * Context Protocol" (interpolation); VS Code docs "MCP configuration reference"; opencode docs
 * "MCP servers" (the form of V1, which V2 reads too). What keeps a host from asking before our own
 * tools was tried with Claude Code 2.1, Codex 0.169, Gemini CLI 0.61, Copilot CLI 1.0.102 and Qwen
 * Code 0.24.4.
 * tests/hosts runs those that start without a login. */
#include "hosts.h"

#include "json.h"
#include "paths.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

enum { MS_PER_S = 1000 };

/* Without it, interactive Claude Code continues after two minutes without the answer. */
#define BLOCKING "env", "CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS"

static const struct host HOSTS[] = {
	{ .name = "claude",
	  .title = "Claude Code",
	  .instructions = "CLAUDE.md",
	  .servers = "mcpServers",
	  .waits_long = true,
	  .file = { ".mcp.json", "CLAUDE_CONFIG_DIR", "", ".claude.json" },
	  .types = { "stdio", "http" },
	  .url = "url",
	  .timeout = { "timeout", MS_PER_S },
	  .settings = { ".claude/settings.json", "CLAUDE_CONFIG_DIR", ".claude/", "settings.json" },
	  .members = "{\"alwaysLoad\":true}", /* else its tool search hides our tools */
	  .setting = { { { BLOCKING }, "\"0\"", false },
	               { { "permissions", "allow" }, "\"mcp__$name\"", true } },
	  .hint = "CLAUDE_CODE_MCP_AUTO_BACKGROUND_MS=0 makes it wait for an answer instead of "
	          "working on after two minutes; it holds for all MCP servers.",
	  .project_hint = "Claude Code asks once before it starts a server of .mcp.json." },
	{ .name = "codex",
	  .title = "Codex CLI",
	  .instructions = "AGENTS.md",
	  .servers = "mcp_servers",
	  .toml = true,
	  .waits_long = true,
	  .file = { ".codex/config.toml", "CODEX_HOME", ".codex/", "config.toml" },
	  .url = "url",
	  .members = "{\"default_tools_approval_mode\":\"approve\",\"required\":true}",
	  .passes = "env_vars",
	  .timeout = { "tool_timeout_sec", 1 },
	  .project_hint = "Codex reads a project's config.toml only if it trusts the project." },
	{ .name = "gemini",
	  .title = "Gemini CLI",
	  .instructions = "GEMINI.md",
	  .servers = "mcpServers",
	  .waits_long = true,
	  .file = { ".gemini/settings.json", NULL, "", ".gemini/settings.json" },
	  .url = "httpUrl",
	  .members = "{\"trust\":true}", /* else its own dialog appears before our tools */
	  .timeout = { "timeout", MS_PER_S },
	  .hint = "Gemini CLI starts MCP servers only in folders that it trusts." },
	{ .name = "copilot",
	  .title = "GitHub Copilot CLI",
	  .instructions = "AGENTS.md",
	  .servers = "mcpServers",
	  .waits_long = true,
	  .file = { ".github/mcp.json", "COPILOT_HOME", ".copilot/", "mcp-config.json" },
	  .types = { "local", "http" },
	  .url = "url",
	  .members = "{\"tools\":[\"*\"]}",
	  .settings = { NULL, "COPILOT_HOME", ".copilot/", "permissions-config.json" },
	  .setting = { { { "locations", "$cwd", "tool_approvals" },
	                 "{\"kind\":\"mcp\",\"serverName\":\"$name\",\"toolName\":null}",
	                 true } },
	  .hint = "Copilot CLI keeps approvals by folder: run install in each folder that you work "
	          "in, or start it with --allow-tool intercom.",
	  .timeout = { "timeout", MS_PER_S },
	  .project_hint = "Copilot CLI reads a project's servers only in folders that it trusts." },
	{ .name = "cursor",
	  .title = "Cursor",
	  .instructions = "AGENTS.md",
	  .servers = "mcpServers",
	  .is_editor = true,
	  .file = { ".cursor/mcp.json", NULL, "", ".cursor/mcp.json" },
	  .types = { "stdio", "http" },
	  .url = "url",
	  .hint = "Cursor has no setting for long calls: a call ends as `pending` after the "
	          "server's own cap, and the agent asks again (--wait SECONDS to change that)." },
	{ .name = "vscode",
	  .title = "VS Code",
	  .instructions = "AGENTS.md",
	  .servers = "servers",
	  .is_editor = true,
	  .in_project = true,
	  .waits_long = true,
	  .file = { ".vscode/mcp.json", "XDG_CONFIG_HOME", ".config/", "Code/User/mcp.json" },
	  .types = { "stdio", "http" },
	  .url = "url",
	  .hint = "VS Code has no limit of its own for a call, and no setting for one." },
	{ .name = "opencode",
	  .title = "opencode",
	  .instructions = "AGENTS.md",
	  .servers = "mcp",
	  .waits_long = true,
	  .file = { "opencode.json", "XDG_CONFIG_HOME", ".config/", "opencode/opencode.json",
	            .or_jsonc = true },
	  .types = { "local", "remote" },
	  .url = "url",
	  .one_array = true,
	  .members = "{\"enabled\":true}",
	  .timeout = { "timeout", MS_PER_S } },
	{ .name = "qwen",
	  .title = "Qwen Code",
	  .instructions = "QWEN.md",
	  .servers = "mcpServers",
	  .waits_long = true,
	  .file = { ".qwen/settings.json", NULL, "", ".qwen/settings.json" },
	  .url = "httpUrl",
	  .members = "{\"trust\":true,\"alwaysLoadTools\":true}", /* as for Claude */
	  .timeout = { "timeout", MS_PER_S },
	  .hint = "Qwen Code starts MCP servers only in folders that it trusts." },
};

/* ---- what the table says ---- */

int host_path(const struct host_file *f, bool project, struct str *out, struct err *e)
{
	OWNED(str) struct str commented = { 0 };
	const char *base = f->variable ? paths_from_env(f->variable) : NULL;
	const char *home = paths_from_env("HOME");

	if (project && f->project) {
		if (paths_absolute(NULL, f->project, out, e))
			return -1;
	} else if (base) {
		str_addf(out, "%s/%s", base, f->name);
	} else if (home) {
		str_addf(out, "%s/%s%s", home, f->home, f->name);
	} else {
		return err_set(e, ERR_INPUT, "$HOME is not an absolute path; set it");
	}
	if (!f->or_jsonc || access(str_text(out), F_OK) == 0)
		return 0;
	str_addf(&commented, "%sc", str_text(out));
	if (access(str_text(&commented), F_OK) == 0)
		str_add_char(out, 'c');
	return 0;
}

bool host_setting_is_per_folder(const struct host_setting *s, int *ret_at)
{
	for (int i = 0; i < PLACE_MAX && s->place[i]; i++) {
		*ret_at = i;
		if (strcmp(s->place[i], "$cwd") == 0)
			return true;
	}
	return false;
}

static void add_folder(struct str *out, const struct wish *w)
{
	char cwd[PATH_MAX];

	if (w->folder)
		str_add(out, w->folder);
	else
		str_add(out, getcwd(cwd, sizeof(cwd)) ? cwd : ".");
}

void host_fill(struct str *out, const char *text, const struct wish *w)
{
	for (; *text; text++) {
		if (strncmp(text, "$name", 5) == 0) {
			str_add(out, w->name);
			text += 4;
		} else if (strncmp(text, "$cwd", 4) == 0) {
			add_folder(out, w);
			text += 3;
		} else {
			str_add_char(out, *text);
		}
	}
}

static void add_text(cJSON *entry, const char *name, const char *text)
{
	(void)cJSON_AddStringToObject(entry, name, text);
}

static void add_program(cJSON *entry, const struct wish *w)
{
	cJSON *args = cJSON_Duplicate(w->args, 1);

	if (w->host->one_array) {
		(void)cJSON_InsertItemInArray(args, 0, cJSON_CreateString(w->command));
		(void)cJSON_AddItemToObject(entry, "command", args);
	} else {
		add_text(entry, "command", w->command);
		(void)cJSON_AddItemToObject(entry, "args", args);
	}
}

/* What says which system a relay reaches, and who its agent is. Hooks get all variables: without
 * these, the two could reach different systems. */
static const char *const VARIABLES[] = {
	"XDG_CONFIG_HOME",     "XDG_STATE_HOME",          "XDG_RUNTIME_DIR",
	"INTERCOM_CONFIG",     "INTERCOM_WORKSPACE_ROOT", "INTERCOM_WORKSPACE_ID",
	"INTERCOM_SESSION_ID", "INTERCOM_CHANNEL_ID",     "INTERCOM_AGENT",
	"INTERCOM_STALL",
};

static void add_variables(cJSON *entry, const char *member)
{
	(void)cJSON_AddItemToObject(entry, member,
	                            cJSON_CreateStringArray(VARIABLES, COUNT(VARIABLES)));
}

cJSON *host_entry(const struct wish *w)
{
	const struct host *h = w->host;
	const char *type = h->types[w->http];
	OWNED(cJSON_ptr) cJSON *members = h->members ? cJSON_Parse(h->members) : NULL;
	cJSON *entry = cJSON_CreateObject();

	if (type)
		add_text(entry, "type", type);
	if (w->http)
		add_text(entry, h->url, w->url);
	else
		add_program(entry, w);
	if (h->passes && !w->http)
		add_variables(entry, h->passes);
	while (members && members->child) {
		cJSON *one = cJSON_DetachItemViaPointer(members, members->child);

		(void)cJSON_AddItemToObject(entry, one->string, one);
	}
	/* A little more than a call may wait, so that the answer "pending" still arrives. */
	if (h->timeout.name && w->wait > 0)
		(void)cJSON_AddNumberToObject(entry, h->timeout.name,
		                              (double)(w->wait + SPARE_SECONDS) * h->timeout.unit);
	return entry;
}

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
