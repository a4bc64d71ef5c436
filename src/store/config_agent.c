/* The profiles of agents. A bare name of a built-in one drives the agent over ACP, so that you see
 * its work and are asked before it acts; NAME-mcp runs the program itself, headless, and knows of
 * it what it says over MCP. */
#include "config_read.h"

#include "paths.h"

#include <stdlib.h>
#include <string.h>

enum { ARGS_MAX = 3, REFUSED_MAX = 4, AS_CONFIGURED = CONFIG_NEVER - 1 };
enum { ACP_LINE_BYTES = 32 * 1024 * 1024 /* an edit of a file of 1.5 MB is a message of 3 MB */ };

/* A variable or an option with its value; name NULL: none. */
struct pair {
	const char *name, *value;
};

struct builtin {
	const char *name, *command;
	const char *package; /* in npm */
	const char *login; /* what a person runs to log in */
	int protocol;
	const char *args[ARGS_MAX];
	const char *const *passed; /* variables, NULL-terminated */
	struct pair set;
	const char *asking; /* as in struct config_agent */
	const char *refused[REFUSED_MAX];
};

const char *const CONFIG_PROTOCOLS[] = {
	[PROTOCOL_MCP] = "mcp", [PROTOCOL_ACP] = "acp", [PROTOCOL_ACP_STREAM] = "acp-stream", NULL
};
const char *const CONFIG_ACP_VERSIONS[] = {
	[ACP_OFFER_1] = "1", [ACP_OFFER_2] = "2", [ACP_OFFER_AUTO] = "auto", NULL
};

/* ---- keys ---- */

/* NAME or NAME=value. Slack's tokens are none of an agent's business, and what we tell it ourselves
 * is not to be changed. */
static bool variable(const char *text)
{
	static const char LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
	static const char ALLOWED[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
	                              "0123456789";
	size_t length = strspn(text, ALLOWED);

	return length > 0 && strchr(LETTERS, *text) && (!text[length] || text[length] == '=') &&
	       strncmp(text, "SLACK_", 6) != 0 && strncmp(text, "INTERCOM_", 9) != 0;
}

static bool any_text(const char *text)
{
	(void)text;
	return true;
}

static const struct config_rule VARIABLE = {
	variable, "NAME or NAME=value, where NAME does not begin with SLACK_ or INTERCOM_"
};
static const struct config_rule ANY_TEXT = { any_text, "a text" };

static const struct config_rule OPTION = { any_text, "a text, true or false" };

static const struct config_rule FENCE = {
	any_text,
	"a table with write and read, lists of folders that begin with / or ~/, and network, "
	"true or false"
};

#define AT(member) .at = offsetof(struct config_agent, member)

const struct config_field CONFIG_AGENT_KEYS[] = {
	{ "agent.name", KIND_TEXT, AT(name), .rule = &CONFIG_WORKSPACE_ID, .example = "\"mine\"",
	  .comment = "letters, digits, '-' and '_'" },
	{ "agent.command", KIND_TEXT, AT(command), .rule = &CONFIG_NOT_EMPTY,
	  .example = "\"my-agent\"", .comment = "a program: its name, or a path" },
	{ "agent.args", KIND_TEXTS, AT(args), .rule = &ANY_TEXT, .example = "[\"--acp\"]",
	  .comment = "its arguments; for mcp the prompt comes after them" },
	{ "agent.protocol", KIND_CHOICE, AT(protocol), .choices = CONFIG_PROTOCOLS,
	  .example = "\"acp\"", .comment = "mcp (default), acp or acp-stream" },
	{ "agent.env", KIND_TEXTS, AT(env_pass), .rule = &VARIABLE,
	  .example = "[\"MY_API_KEY\", \"MY_MODE=quiet\"]",
	  .comment = "variables that it gets: a NAME that passes, or NAME=value" },
	{ "agent.workspace", KIND_TEXT, AT(workspace), .rule = &CONFIG_WORKSPACE_ID,
	  .example = "\"my-backend\"",
	  .comment = "id of the [[workspace]] where it works if no other is named" },
	{ "agent.acp_version", KIND_CHOICE, AT(acp_version), .choices = CONFIG_ACP_VERSIONS,
	  .example = "1",
	  .comment = "the newest version of ACP to offer: 1 (default), 2 or \"auto\"" },
	{ "agent.auth_method", KIND_TEXT, AT(auth_method), .rule = &CONFIG_NOT_EMPTY,
	  .example = "\"api-key\"",
	  .comment = "the way to log in that is called before each session" },
	{ "agent.asking", KIND_MAP, AT(asking), .rule = &OPTION,
	  .example = "{ mode = \"default\" }",
	  .comment = "its options that make it ask before it acts" },
	{ "agent.refused_modes", KIND_TEXTS, AT(refused_modes), .rule = &CONFIG_NOT_EMPTY,
	  .example = "[\"yolo\"]", .comment = "modes in which it does not ask; they are put back" },
	{ "agent.fence", KIND_MAP, AT(fence), .rule = &FENCE, .example = "{ network = false }",
	  .comment = "[agent.fence]: besides its workspace it writes only the folders in write, "
	             "reads only those in read, and calls only us without network" },
	{ "agent.startup_timeout_seconds", KIND_NUMBER, AT(startup_timeout_seconds), .low = 1,
	  .high = 3600, .example = "30", .comment = "instead of that of [acp]" },
	{ "agent.park_after_seconds", KIND_NUMBER, AT(park_after_seconds), .low = CONFIG_NEVER,
	  .high = 30 * 24 * 3600, .example = "60", .comment = "instead of that of [gate]" },
	{ "agent.max_line_length", KIND_NUMBER, AT(max_line_length), .low = 1024,
	  .high = 1024 * 1024 * 1024, .example = "33554432",
	  .comment = "bytes of one message; default 33554432, for acp-stream that of [acp]" },
	{ "agent.framing", KIND_CHOICE, AT(framing), .choices = CONFIG_FRAMINGS,
	  .example = "\"ndjson\"",
	  .comment = "ndjson or lsp; default ndjson, for acp-stream that of [acp]" },
};
const size_t CONFIG_AGENT_KEY_COUNT = COUNT(CONFIG_AGENT_KEYS);

/* ---- built-in profiles ---- */

/* How to the model's provider; every profile passes it. */
static const char *const NETWORK[] = { "HTTP_PROXY",    "HTTPS_PROXY",  "NO_PROXY",
	                               "http_proxy",    "https_proxy",  "no_proxy",
	                               "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS" };

/* What the login of an agent and its model may be in. */
static const char *const CLAUDE[] = { "ANTHROPIC_API_KEY",
	                              "ANTHROPIC_AUTH_TOKEN",
	                              "ANTHROPIC_BASE_URL",
	                              "ANTHROPIC_MODEL",
	                              "CLAUDE_CODE_OAUTH_TOKEN",
	                              "CLAUDE_CONFIG_DIR",
	                              NULL };
static const char *const CODEX[] = { "CODEX_HOME", "CODEX_API_KEY", "OPENAI_API_KEY",
	                             "OPENAI_BASE_URL", NULL };
static const char *const GEMINI[] = { "GEMINI_API_KEY",
	                              "GEMINI_MODEL",
	                              "GOOGLE_API_KEY",
	                              "GOOGLE_APPLICATION_CREDENTIALS",
	                              "GOOGLE_CLOUD_LOCATION",
	                              "GOOGLE_CLOUD_PROJECT",
	                              "GOOGLE_GEMINI_BASE_URL",
	                              "GOOGLE_GENAI_USE_GCA",
	                              "GOOGLE_GENAI_USE_VERTEXAI",
	                              NULL };
static const char *const COPILOT[] = {
	"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "GH_HOST", "COPILOT_HOME",
	"COPILOT_MODEL",        NULL
};
static const char *const OPENCODE[] = { "OPENCODE_CONFIG",   "OPENCODE_API_KEY",
	                                "ANTHROPIC_API_KEY", "OPENAI_API_KEY",
	                                "GEMINI_API_KEY",    "OPENROUTER_API_KEY",
	                                "GITHUB_TOKEN",      NULL };
static const char *const QWEN[] = { "OPENAI_API_KEY", "OPENAI_BASE_URL", "OPENAI_MODEL",
	                            "DASHSCOPE_API_KEY", NULL };

static const struct builtin BUILTINS[] = {
	{ .name = "claude",
	  .command = "claude-agent-acp",
	  .package = "@agentclientprotocol/claude-agent-acp",
	  .login = "claude",
	  .protocol = PROTOCOL_ACP,
	  .passed = CLAUDE,
	  .asking = "{\"mode\":\"default\"}",
	  .refused = { "auto", "acceptEdits", "bypassPermissions" } },
	{ .name = "codex",
	  .command = "codex-acp",
	  .package = "@agentclientprotocol/codex-acp",
	  .login = "codex login",
	  .protocol = PROTOCOL_ACP,
	  .passed = CODEX,
	  .asking = "{\"mode\":\"read-only\"}", /* in `agent` a model is asked, not a person */
	  .refused = { "agent", "auto", "full-access" } },
	{ .name = "gemini",
	  .command = "gemini",
	  .package = "@google/gemini-cli",
	  .login = "gemini",
	  .protocol = PROTOCOL_ACP,
	  .args = { "--acp" },
	  .passed = GEMINI,
	  .asking = "{\"mode\":\"default\"}",
	  .refused = { "yolo", "autoEdit" } },
	{ .name = "copilot",
	  .command = "copilot",
	  .package = "@github/copilot",
	  .login = "copilot login",
	  .protocol = PROTOCOL_ACP,
	  .args = { "--acp" },
	  .passed = COPILOT,
	  .asking = "{\"allow_all\":\"off\"}",
	  .refused = { "autopilot" } },
	{ .name = "opencode",
	  .command = "opencode",
	  .package = "opencode-ai",
	  .login = "opencode auth login",
	  .protocol = PROTOCOL_ACP,
	  .args = { "acp" },
	  .passed = OPENCODE,
	  /* it asks nothing of itself, and has no mode that does */
	  .set = { "OPENCODE_CONFIG_CONTENT", "{\"permission\":{\"*\":\"ask\"}}" } },
	{ .name = "qwen",
	  .command = "qwen",
	  .package = "@qwen-code/qwen-code",
	  .login = "qwen",
	  .protocol = PROTOCOL_ACP,
	  .args = { "--acp" },
	  .passed = QWEN,
	  .asking = "{\"mode\":\"default\"}",
	  .refused = { "yolo", "autoEdit" } },
	{ .name = "claude-mcp",
	  .command = "claude",
	  .package = "@anthropic-ai/claude-code",
	  .args = { "-p" },
	  .passed = CLAUDE },
	{ .name = "codex-mcp",
	  .command = "codex",
	  .package = "@openai/codex",
	  .args = { "exec", "--skip-git-repo-check" },
	  .passed = CODEX },
	{ .name = "gemini-mcp",
	  .command = "gemini",
	  .package = "@google/gemini-cli",
	  .args = { "-p" },
	  .passed = GEMINI },
	{ .name = "copilot-mcp",
	  .command = "copilot",
	  .package = "@github/copilot",
	  .args = { "-p" },
	  .passed = COPILOT },
	{ .name = "opencode-mcp",
	  .command = "opencode",
	  .package = "opencode-ai",
	  .args = { "run" },
	  .passed = OPENCODE },
	{ .name = "qwen-mcp",
	  .command = "qwen",
	  .package = "@qwen-code/qwen-code",
	  .args = { "-p" },
	  .passed = QWEN },
};

static const struct builtin *find_builtin(const char *name)
{
	for (size_t i = 0; i < COUNT(BUILTINS); i++)
		if (strcmp(BUILTINS[i].name, name) == 0)
			return &BUILTINS[i];
	return NULL;
}

/* The built-in profile that runs the same program headless. */
static const struct builtin *find_program(const char *command)
{
	const char *slash = strrchr(command, '/');
	const char *name = slash ? slash + 1 : command;

	for (size_t i = 0; i < COUNT(BUILTINS); i++)
		if (BUILTINS[i].protocol == PROTOCOL_MCP && strcmp(BUILTINS[i].command, name) == 0)
			return &BUILTINS[i];
	return NULL;
}

/* ---- profiles ---- */

static void add_texts(struct texts *texts, const char *const *items, size_t most)
{
	for (size_t i = 0; i < most && items[i]; i++)
		texts_add(texts, items[i]);
}

static void add_pair(struct config_map *map, const struct pair *pair)
{
	if (pair->name)
		config_field_add_pair(map, pair->name, pair->value);
}

static struct config_agent *find_agent(const struct config_agents *all, const char *name)
{
	for (size_t i = 0; i < all->count; i++)
		if (strcmp(all->items[i].name, name) == 0)
			return &all->items[i];
	return NULL;
}

static struct config_agent *add_agent(struct config_agents *all, const char *name)
{
	struct config_agent *a;

	all->items = xrealloc(all->items, (all->count + 1) * sizeof(*all->items));
	a = &all->items[all->count++];
	*a = (struct config_agent){ .name = xstrdup(name),
		                    .framing = -1,
		                    .park_after_seconds = AS_CONFIGURED };
	add_texts(&a->env_pass, NETWORK, COUNT(NETWORK));
	return a;
}

static void add_environment(struct config_agent *a, const struct builtin *b)
{
	for (size_t i = 0; b->passed[i]; i++)
		texts_add(&a->env_pass, b->passed[i]);
	add_pair(&a->env_set, &b->set);
}

struct config_agent *config_agent_add(struct config_agents *all, const char *name)
{
	const struct builtin *b = find_builtin(name);
	struct config_agent *a = add_agent(all, name);

	if (!b)
		return a;
	a->command = xstrdup(b->command);
	a->package = b->package;
	a->login = b->login;
	a->protocol = b->protocol;
	add_texts(&a->args, b->args, ARGS_MAX);
	add_environment(a, b);
	a->asking = xstrdup_if(b->asking);
	add_texts(&a->refused_modes, b->refused, REFUSED_MAX);
	return a;
}

static void add_host_cli(struct config *c)
{
	const struct builtin *b = find_program(c->host_cli);
	struct config_agent *a = add_agent(&c->agents, CONFIG_HOST_CLI_AGENT);

	a->command = xstrdup(c->host_cli);
	for (size_t i = 0; i < c->host_cli_args.count; i++)
		texts_add(&a->args, c->host_cli_args.items[i]);
	if (!b)
		return;
	a->package = b->package;
	add_environment(a, b);
}

static void fill_in(const struct config *c, struct config_agent *a)
{
	bool streams = a->protocol == PROTOCOL_ACP_STREAM;

	if (!a->startup_timeout_seconds)
		a->startup_timeout_seconds = c->acp.startup_timeout_seconds;
	if (!a->max_line_length)
		a->max_line_length = streams ? c->acp.max_line_length : ACP_LINE_BYTES;
	if (a->park_after_seconds == AS_CONFIGURED)
		a->park_after_seconds = c->gate.park_after_seconds;
	if (a->framing < 0)
		a->framing = streams ? c->acp.framing : FRAMING_NDJSON;
}

/* A path is relative to the file that names it; a name is looked for when the agent is started. */
static int settle_command(struct config_load *l, struct config_agent *a)
{
	OWNED(char_ptr) char *dir = config_read_dir(l->c);
	OWNED(str) struct str path = { 0 };
	struct err why = { 0 };

	if (!strchr(a->command, '/'))
		return 0;
	if (paths_absolute(dir, a->command, &path, &why))
		return config_read_wrong(l, a->line, a->line ? "agent.command" : "host_cli", "%s",
		                         why.text);
	xreplace(&a->command, str_text(&path));
	return 0;
}

static int check_workspace(struct config_load *l, const struct config_agent *a)
{
	const struct config_workspaces *all = &l->c->workspaces;

	for (size_t i = 0; a->workspace && i < all->count; i++) {
		if (strcmp(all->items[i].id, a->workspace) != 0)
			continue;
		if (*all->items[i].path)
			return 0;
		return config_read_wrong(l, a->line, "agent.workspace",
		                         "the [[workspace]] '%.64s' has no path; give it one",
		                         a->workspace);
	}
	return !a->workspace
	           ? 0
	           : config_read_wrong(l, a->line, "agent.workspace",
	                               "there is no [[workspace]] '%.64s'; add it, with its path",
	                               a->workspace);
}

static int choose_default(struct config_load *l)
{
	const char *name = l->c->default_agent;
	struct config_agent *a = find_agent(&l->c->agents, *name ? name : CONFIG_HOST_CLI_AGENT);

	if (a)
		a->is_default = true;
	if (a || !*name)
		return 0;
	return config_read_wrong(l, l->lines[config_field_index("default_agent")], "default_agent",
	                         "there is no profile '%.64s'; write one that `agent-intercom "
	                         "agents` lists",
	                         name);
}

int config_agent_settle(struct config_load *l)
{
	struct config_agents *all = &l->c->agents;
	const struct config_agent *other = find_agent(all, CONFIG_HOST_CLI_AGENT);

	if (other && *l->c->host_cli)
		return config_read_wrong(l, other->line, "agent.name",
		                         "'%s' is host_cli; remove one of the two", other->name);
	for (size_t i = 0; i < COUNT(BUILTINS); i++)
		if (!find_agent(all, BUILTINS[i].name))
			config_agent_add(all, BUILTINS[i].name)->is_builtin = true;
	if (*l->c->host_cli)
		add_host_cli(l->c);
	for (size_t i = 0; i < all->count; i++) {
		fill_in(l->c, &all->items[i]);
		if (settle_command(l, &all->items[i]) || check_workspace(l, &all->items[i]))
			return -1;
	}
	return choose_default(l);
}
