#include "gate_hooks.h"

#include <stdlib.h>
#include <string.h>

/* $variable/name, else ~/<home><name>. */
struct hooks_file {
	const char *host;
	const char *variable, *home, *name;
	const char *managed; /* for all users; NULL: no such file */
	/* The user's own settings, in the same folder, which may switch hooks off; NULL: none */
	const char *settings;
};

static const struct hooks_file FILES[] = {
	{ "claude", "CLAUDE_CONFIG_DIR", ".claude/", "settings.json",
	  "/etc/claude-code/managed-settings.d/agent-intercom.json", "settings.json" },
	{ "codex", "CODEX_HOME", ".codex/", "hooks.json", "/etc/codex/requirements.toml",
	  "config.toml" },
	{ "gemini", NULL, "", ".gemini/settings.json", "/etc/gemini-cli/settings.json",
	  ".gemini/settings.json" },
	{ "copilot", "COPILOT_HOME", ".copilot/", "hooks/agent-intercom.json",
	  "/etc/github-copilot/policy.d/agent-intercom.json", "settings.json" },
	{ "cursor", NULL, "", ".cursor/hooks.json", "/etc/cursor/hooks.json", NULL },
	{ "vscode", NULL, "", ".config/agent-intercom/vscode-hooks/gate.json", NULL, NULL },
	{ "opencode", "XDG_CONFIG_HOME", ".config/", "opencode/plugins/agent-intercom.js", NULL,
	  NULL },
	{ "qwen", NULL, "", ".qwen/settings.json", "/etc/qwen-code/settings.json",
	  ".qwen/settings.json" },
};

const char *gate_hooks_host(size_t i)
{
	return i < COUNT(FILES) ? FILES[i].host : NULL;
}

static const struct hooks_file *find(const char *host)
{
	for (size_t i = 0; i < COUNT(FILES); i++)
		if (strcmp(FILES[i].host, host) == 0)
			return &FILES[i];
	return NULL;
}

bool gate_hooks_exist(const char *host, bool managed)
{
	const struct hooks_file *f = find(host);

	return f && (!managed || f->managed);
}

static const char *folder_of(const char *variable)
{
	const char *value = variable ? getenv(variable) : NULL;

	return value && value[0] == '/' ? value : NULL;
}

/* A file of the user's. */
static int add_path(const struct hooks_file *f, const char *name, struct str *out, struct err *e)
{
	const char *folder = folder_of(f->variable), *home = folder_of("HOME");

	if (folder)
		str_addf(out, "%s/%s", folder, name);
	else if (home)
		str_addf(out, "%s/%s%s", home, f->home, name);
	else
		return err_set(e, ERR_INPUT, "$HOME is not an absolute path; set it");
	return 0;
}

int gate_hooks_path(const char *host, bool managed, const char *root, struct str *out,
                    struct err *e)
{
	const struct hooks_file *f = find(host);

	if (!f || (managed && !f->managed))
		return err_set(e, ERR_INPUT, "%s reads no hooks there", host);
	if (!managed)
		return add_path(f, f->name, out, e);
	str_addf(out, "%s%s", root, f->managed);
	return 0;
}

bool gate_hooks_settings(const char *host, struct str *out)
{
	const struct hooks_file *f = find(host);

	return f && f->settings && add_path(f, f->settings, out, NULL) == 0;
}

bool gate_hooks_are_ours(const char *host, const char *text)
{
	OWNED(str) struct str plain = { 0 }, quoted = { 0 };

	str_addf(&plain, "/hook %s ", host);
	str_addf(&quoted, "/hook' %s ", host);
	return strstr(text, str_text(&plain)) || strstr(text, str_text(&quoted)) ||
	       strncmp(text, GATE_HOOKS_PLUGIN_MARK, strlen(GATE_HOOKS_PLUGIN_MARK)) == 0;
}

/* ---- the programs ---- */

/* The line of opencode's plugin that names it. */
static const char PLUGIN_LINE[] = "\nconst HOOK = \"";

/* Adds the path that ends there and begins after one of these. */
static void add_before(const char *text, const char *end, const char *delimiters,
                       struct texts *programs)
{
	OWNED(str) struct str path = { 0 };
	const char *at = end;

	while (at > text && !strchr(delimiters, at[-1]))
		at--;
	str_add_bytes(&path, at, (size_t)(end - at));
	if (*str_text(&path) == '/' && !strchr(path.bytes, '\\') &&
	    !texts_has(programs, path.bytes))
		texts_add(programs, path.bytes);
}

static void add_plugins(const char *text, struct texts *programs)
{
	const char *at = strstr(text, PLUGIN_LINE), *end;

	at = at ? at + strlen(PLUGIN_LINE) : NULL;
	end = at ? strpbrk(at, "\"\n") : NULL;
	if (end && *end == '"')
		add_before(at, end, "", programs);
}

void gate_hooks_programs(const char *host, const char *text, struct texts *programs)
{
	OWNED(str) struct str plain = { 0 }, quoted = { 0 };
	const char *at;

	str_addf(&plain, "/hook %s ", host);
	str_addf(&quoted, "/hook' %s ", host);
	for (at = text; (at = strstr(at, str_text(&plain))) != NULL; at++)
		add_before(text, at + strlen("/hook"), "\"' \n", programs);
	for (at = text; (at = strstr(at, str_text(&quoted))) != NULL; at++)
		add_before(text, at + strlen("/hook"), "\"'\n", programs);
	if (strncmp(text, GATE_HOOKS_PLUGIN_MARK, strlen(GATE_HOOKS_PLUGIN_MARK)) == 0)
		add_plugins(text, programs);
}
