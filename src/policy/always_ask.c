#include "always_ask.h"

#include "err.h"
#include "str.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static const char *const ENTRIES[] = {
	".git",
	".intercom",
	".hg", /* its hgrc has hooks */
	".github",
	".gitlab-ci.yml",
	".gitea",
	".forgejo",
	".circleci",
	".travis.yml",
	".drone.yml",
	".appveyor.yml",
	".cirrus.yml",
	".buildkite",
	"azure-pipelines.yml",
	"bitbucket-pipelines.yml",
	".woodpecker",
	".woodpecker.yml",
	".woodpecker.yaml",
	"Jenkinsfile",
	".husky",
	".envrc",
	".devcontainer",
	".devcontainer.json",
	".env", /* from it, Gemini CLI takes variables for the hooks that it starts, too */
	/* where agents' programs read what they may do, their hooks above all */
	".claude",
	".claude.json",
	".codex",
	".gemini",
	".qwen",
	".copilot",
	".cursor",
	".agents",
	".vscode",
	".zed",
	".idea",
	".nvim.lua",
	".nvimrc",
	".exrc",
	"_exrc",
	".vimrc",
	"_vimrc",
	".gvimrc",
	"_gvimrc",
	".opencode",
	"opencode.json",
	"opencode.jsonc",
	".config/opencode",
	".config/Code",
	".config/agent-intercom",
	".mcp.json",
	/* what they are told */
	"AGENTS.md",
	"AGENTS.override.md",
	"AGENT.md",
	"CLAUDE.md",
	"CLAUDE.local.md",
	"GEMINI.md",
	"QWEN.md",
	"CONTEXT.md",
	"WARP.md",
	".rules",
	".cursorrules",
	".clinerules",
	".windsurfrules",
	".roorules",
	".roomodes",
	".junie",
	".kiro",
	".roo",
	".windsurf",
};

static int count_names(const char *text)
{
	int names = 1;

	while ((text = strchr(text, '/')) != NULL) {
		names++;
		text++;
	}
	return names;
}

/* The length of the first `names` names of path; 0: it has fewer. */
static size_t length_of(const char *path, int names)
{
	const char *end = path;

	for (int i = 0; i < names; i++) {
		if (i > 0 && *end++ == '\0')
			return 0;
		end += strcspn(end, "/");
	}
	return (size_t)(end - path);
}

/* Whether an entry without wildcards is among the names of path. Each path is held against all of
 * ours. */
static bool covers_plain(const char *entry, const char *path)
{
	size_t length = strlen(entry);

	for (const char *at = path; at; at = strchr(at, '/')) {
		at += *at == '/';
		if (strncasecmp(entry, at, length) == 0 &&
		    (at[length] == '/' || at[length] == '\0'))
			return true;
	}
	return false;
}

static bool covers(const char *entry, const char *path)
{
	int names = count_names(entry);

	for (const char *at = path; at; at = strchr(at, '/')) {
		OWNED(str) struct str run = { 0 };
		size_t length;

		at += *at == '/';
		length = length_of(at, names);
		if (!length)
			continue;
		str_add_bytes(&run, at, length);
		if (fnmatch(entry, run.bytes, FNM_PATHNAME | FNM_CASEFOLD) == 0)
			return true;
	}
	return false;
}

const char *always_ask_added(const char *root, const char *path, const cJSON *more)
{
	OWNED(str) struct str whole = { 0 };
	const cJSON *one;

	if (!more || !more->child)
		return NULL;
	if (root && path[0] != '/')
		str_addf(&whole, "%s/", root);
	str_add(&whole, path);

	cJSON_ArrayForEach (one, more) {
		const char *entry = cJSON_GetStringValue(one);

		if (entry && *entry && covers(entry, str_text(&whole)))
			return entry;
	}
	return NULL;
}

/* The last `names` names of path; all of them if it has fewer. */
static const char *last_names(const char *path, int names)
{
	const char *at = path + strlen(path);

	while (at > path && (at[-1] != '/' || --names > 0))
		at--;
	return at;
}

bool always_ask_ends(const char *path, const cJSON *more)
{
	const cJSON *one;

	cJSON_ArrayForEach (one, more) {
		const char *entry = cJSON_GetStringValue(one);

		if (entry && *entry &&
		    fnmatch(entry, last_names(path, count_names(entry)),
		            FNM_PATHNAME | FNM_CASEFOLD) == 0)
			return true;
	}
	return false;
}

const char *always_ask_entry(const char *root, const char *path, const cJSON *more)
{
	for (size_t i = 0; i < COUNT(ENTRIES); i++)
		if (covers_plain(ENTRIES[i], path))
			return ENTRIES[i];
	return always_ask_added(root, path, more);
}
