/* The gates that install knows: where each host reads its hooks, and in which form.
 *
 * Seen in November 2026 in Claude Code 2.1.330, Codex 0.169.0, Gemini CLI 0.61.0, Copilot CLI
 * 1.0.102, opencode 1.18.33 and Qwen Code 0.24.4 (tests/hosts runs them); from the vendors' pages
 * for Cursor ("Hooks") and VS Code ("Agent hooks").
 *
 * The command line always goes through the host's shell: a version that does not know the form
 * without one would start the program without its arguments, or not at all, and run the tool. */
#include "hosts.h"

#include "gate_hooks.h"
#include "json.h"
#include "json_writer.h"
#include "texts.h"

#include <string.h>

enum {
	MS_PER_S = 1000,
	TELL_SECONDS = 10, /* for a hook that nobody waits for */
	END_SECONDS = 3, /* the longest that Codex allows at its end */
	MARGIN_SECONDS = 5, /* between our answer and the host's limit, where that is fixed */
	SHORT_MARGIN_SECONDS = 1,
};

static const struct gate GATES[] = {
	{ .host = "claude",
	  .user = { .shape = GATE_GROUPS },
	  .system = { .shape = GATE_GROUPS,
	              .setting = { { { "allowManagedHooksOnly" }, "true", false },
	                           { { "permissions", "disableBypassPermissionsMode" },
	                             "\"disable\"",
	                             false },
	                           { { "permissions", "disableAutoMode" }, "\"disable\"", false } },
	              .hint = "Claude Code then runs no other hooks than those in its managed "
	                      "settings, and neither bypasses permissions nor decides by itself." },
	  .command = "command",
	  .matches = true,
	  .timeout = { "timeout", 1, 0 } },
	{ .host = "codex",
	  .user = { .shape = GATE_GROUPS,
	            .hint =
	                "Codex runs these hooks only after you have trusted them, and skips them "
	                "without a word until then: start codex, type /hooks, look at them and "
	                "trust them. It writes their hashes into its own config.toml; do the "
	                "same after each change." },
	  .system = { .shape = GATE_TABLES,
	              .hint =
	                  "Codex trusts these hooks without asking, runs no others, and does not "
	                  "start without its sandbox." },
	  .command = "command",
	  .timeout = { "timeout", 1, 0 } },
	{ .host = "gemini",
	  .user = { .shape = GATE_GROUPS,
	            .hint =
	                "Gemini CLI runs hooks only in folders that it trusts. Its hooks cannot "
	                "grant anything: its own dialogs stay, and without a terminal it has no "
	                "tools that write unless it is started with --yolo." },
	  .system = { .shape = GATE_GROUPS,
	              .setting = { { { "security", "disableYoloMode" }, "true", false },
	                           { { "hooksConfig", "enabled" }, "true", false } },
	              .hint = "Gemini CLI refuses --yolo then. Its hooks cannot grant anything, so "
	                      "its own dialogs stay." },
	  .command = "command",
	  .matches = true,
	  .timeout = { "timeout", MS_PER_S, 0 } },
	{ .host = "copilot",
	  .user = { .shape = GATE_FLAT, .root = "{\"version\":1}" },
	  .system = { .shape = GATE_FLAT,
	              .root = "{\"version\":1}",
	              .hint =
	                  "Copilot CLI has no setting that forbids --allow-all-tools; its hooks "
	                  "are asked before that counts." },
	  .left_out = "permissionRequest", /* after an allow of preToolUse, too, in other words */
	  .command = "bash",
	  .members = "{\"type\":\"command\"}",
	  .timeout = { "timeoutSec", 1, 0 } },
	{ .host = "cursor",
	  .user = { .shape = GATE_FLAT, .root = "{\"version\":1}" },
	  .system = { .shape = GATE_FLAT,
	              .root = "{\"version\":1}",
	              .hint =
	                  "Cursor has no setting in a file that forbids running everything; its "
	                  "hooks are asked all the same." },
	  .left_out = "beforeShellExecution beforeMCPExecution", /* preToolUse is asked, too */
	  .command = "command",
	  .members = "{\"failClosed\":true}",
	  .timeout = { "timeout", 1, 0 } },
	{ .host = "vscode",
	  .user = { .shape = GATE_FLAT,
	            .settings = { NULL, "XDG_CONFIG_HOME", ".config/", "Code/User/settings.json" },
	            .setting = { { { "chat.hookFilesLocations",
	                             "~/.config/agent-intercom/vscode-hooks" },
	                           "true",
	                           false } },
	            .hint =
	                "VS Code also runs the hooks of Claude Code and Copilot CLI: with a gate "
	                "there, set ~/.claude/settings.json and ~/.copilot/hooks to false in "
	                "chat.hookFilesLocations, else each call is judged twice." },
	  .command = "command",
	  .members = "{\"type\":\"command\"}",
	  .timeout = { "timeout", 1, 0 } },
	{ .host = "opencode",
	  .user = { .shape = GATE_PLUGIN,
	            .hint =
	                "opencode fetches its package @opencode-ai/plugin at its next start, and "
	                "hangs then if it cannot. It skips a plugin that it cannot load without "
	                "a word." } },
	{ .host = "qwen",
	  .user = { .shape = GATE_GROUPS,
	            .hint =
	                "Qwen Code waits for a hook for 60 seconds at most, so a question that "
	                "takes longer is denied after 55 and found again when the agent repeats "
	                "the call." },
	  .system = { .shape = GATE_GROUPS,
	              .setting = { { { "disableAllHooks" }, "false", false } },
	              .hint =
	                  "Qwen Code has no setting that forbids --yolo; its hooks are asked all "
	                  "the same." },
	  .command = "command",
	  .matches = true,
	  .timeout = { "timeout", 1, 60 } },
};

/* ---- what the table says ---- */

const struct gate *gate_find(const char *host)
{
	for (size_t i = 0; i < COUNT(GATES); i++)
		if (strcmp(GATES[i].host, host) == 0)
			return &GATES[i];
	return NULL;
}

const struct gate_event_name *gate_hook(const struct gate *g, int i)
{
	for (const struct gate_event_name *n = gate_host_named(g->host)->events; n->name; n++)
		if (!(g->left_out && texts_has_word(g->left_out, n->name)) && i-- == 0)
			return n;
	return NULL;
}

/* Seconds after which the host gives a hook up; *ret_deadline: after which the hook itself does,
 * and denies. opencode's plugin waits for none but that before a tool. */
static long gate_timeout(const struct gate *g, const struct wish *w, enum gate_event event,
                         long *ret_deadline)
{
	long wait = w->wait > 0 ? w->wait : WAIT_SECONDS, most = g->timeout.most;

	if (gate_event_asks(event) || (event == GATE_STOP && g->user.shape != GATE_PLUGIN)) {
		*ret_deadline =
		    most > 0 && wait > most - MARGIN_SECONDS ? most - MARGIN_SECONDS : wait;
		wait += SPARE_SECONDS;
		return most > 0 && wait > most ? most : wait;
	}
	wait = event == GATE_SESSION_END ? END_SECONDS : TELL_SECONDS;
	*ret_deadline = wait - SHORT_MARGIN_SECONDS;
	return wait;
}

/* ---- command lines ---- */

/* The command line of a hook, for a shell. Returns the seconds after which the host gives it up. */
static long gate_command(const struct gate *g, const struct wish *w,
                         const struct gate_event_name *hook, struct str *out)
{
	long deadline, timeout = gate_timeout(g, w, hook->event, &deadline);
	const cJSON *one;

	str_add_shell_word(out, w->hook);
	str_addf(out, " %s %s --deadline %ld", g->host, hook->name, deadline);
	cJSON_ArrayForEach (one, w->hook_args) {
		str_add_char(out, ' ');
		str_add_shell_word(out, one->valuestring);
	}
	return timeout;
}

/* ---- what is written ---- */

cJSON *gate_item(const struct gate *g, enum gate_shape shape, const struct wish *w,
                 const struct gate_event_name *hook)
{
	OWNED(str) struct str line = { 0 };
	cJSON *handler = g->members ? cJSON_Parse(g->members) : cJSON_CreateObject();
	cJSON *group, *handlers;
	long timeout = gate_command(g, w, hook, &line);

	if (shape == GATE_GROUPS)
		(void)cJSON_AddStringToObject(handler, "type", "command");
	(void)cJSON_AddStringToObject(handler, g->command, str_text(&line));
	(void)cJSON_AddNumberToObject(handler, g->timeout.name, (double)timeout * g->timeout.unit);
	if (shape != GATE_GROUPS)
		return handler;
	group = cJSON_CreateObject();
	if (g->matches && (gate_event_asks(hook->event) || hook->event == GATE_POST_TOOL))
		(void)cJSON_AddStringToObject(group, "matcher", ".*");
	handlers = cJSON_AddArrayToObject(group, "hooks");
	(void)cJSON_AddItemToArray(handlers, handler);
	return group;
}

const char *gate_mark(enum gate_shape shape)
{
	return shape == GATE_TABLES ? GATE_HOOKS_TABLES_MARK : GATE_HOOKS_PLUGIN_MARK;
}

/* TOML. Its basic strings take what JSON's do, but for the escape of a slash, which is not used. */
static void add_tables(const struct gate *g, const struct wish *w, struct str *out)
{
	const struct gate_event_name *hook;
	OWNED(str) struct str folder = { 0 };

	str_add(&folder, w->hook);
	*strrchr(folder.bytes, '/') = '\0';
	str_addf(out,
	         "%swrote this file: install %s --managed. Uninstall it the same way.\n"
	         "allow_managed_hooks_only = true\n"
	         "allowed_sandbox_modes = [\"read-only\", \"workspace-write\"]\n\n"
	         "[features]\nhooks = true\n\n[hooks]\nmanaged_dir = ",
	         gate_mark(GATE_TABLES), g->host);
	json_quote(out, folder.bytes);
	str_add_char(out, '\n');
	for (int i = 0; (hook = gate_hook(g, i)); i++) {
		OWNED(str) struct str line = { 0 };
		long timeout = gate_command(g, w, hook, &line);

		str_addf(out, "\n[[hooks.%s]]\n[[hooks.%s.hooks]]\ntype = \"command\"\ncommand = ",
		         hook->name, hook->name);
		json_quote(out, str_text(&line));
		str_addf(out, "\ntimeout = %ld\n", timeout);
	}
}

/* opencode's plugin: it starts the hook as the other hosts do. Whatever goes wrong before a tool
 * throws, which keeps the tool closed. */
static const char PLUGIN[] =
    "import { spawn } from \"node:child_process\";\n"
    "\n"
    "// Resolves to what the hook printed; rejects with its reason, or with what went wrong.\n"
    "function ask(event, input) {\n"
    "  return new Promise((resolve, reject) => {\n"
    "    const args = [\"opencode\", event, \"--deadline\", String(EVENTS[event]), ...OPTIONS];\n"
    "    const child = spawn(HOOK, args);\n"
    "    let out = \"\";\n"
    "    let why = \"\";\n"
    "    child.stdout.on(\"data\", (bytes) => (out += bytes));\n"
    "    child.stderr.on(\"data\", (bytes) => (why += bytes));\n"
    "    child.stdin.on(\"error\", () => {}); // it has ended; its exit says why\n"
    "    child.once(\"error\", (error) => reject(new Error(`agent-intercom: ${error.message}`)));\n"
    "    child.once(\"close\", (code, signal) => {\n"
    "      if (code === 0) resolve(out);\n"
    "      else reject(new Error(why.trim() || `agent-intercom: the hook ended by ${signal ?? "
    "code}`));\n"
    "    });\n"
    "    child.stdin.end(JSON.stringify(input));\n"
    "  });\n"
    "}\n"
    "\n"
    "export const AgentIntercom = async ({ directory: cwd }) => ({\n"
    "  \"tool.execute.before\": async ({ tool, sessionID, callID }, output) => {\n"
    "    const answer = await ask(\"tool.execute.before\", {\n"
    "      session_id: sessionID,\n"
    "      cwd,\n"
    "      tool_name: tool,\n"
    "      tool_use_id: callID,\n"
    "      tool_input: output.args,\n"
    "    });\n"
    "    const args = answer.trim() === \"\" ? undefined : JSON.parse(answer).input;\n"
    "    if (!args) return;\n"
    "    for (const name of Object.keys(output.args)) delete output.args[name];\n"
    "    Object.assign(output.args, args);\n"
    "  },\n"
    "  \"tool.execute.after\": async ({ tool, sessionID, callID, args }, output) => {\n"
    "    await ask(\"tool.execute.after\", {\n"
    "      session_id: sessionID,\n"
    "      cwd,\n"
    "      tool_name: tool,\n"
    "      tool_use_id: callID,\n"
    "      tool_input: args,\n"
    "      tool_response: { title: output.title, output: output.output },\n"
    "    }).catch(() => {});\n"
    "  },\n"
    "  \"chat.message\": async ({ sessionID }, { parts }) => {\n"
    "    const prompt = parts.map((part) => part.text ?? \"\").join(\"\");\n"
    "    await ask(\"chat.message\", { session_id: sessionID, cwd, prompt }).catch(() => {});\n"
    "  },\n"
    "  event: async ({ event: { type, properties } }) => {\n"
    "    if (!type.startsWith(\"session.\") || !(type in EVENTS)) return;\n"
    "    const session_id = properties.sessionID ?? properties.info?.id;\n"
    "    ask(type, { session_id, cwd, error: properties.error?.name }).catch(() => {});\n"
    "  },\n"
    "});\n";

static void add_plugin(const struct gate *g, const struct wish *w, struct str *out)
{
	const struct gate_event_name *hook;
	long deadline;

	str_addf(out,
	         "%swrote this file: install %s --gate. Uninstall it the same way.\nconst HOOK = ",
	         gate_mark(GATE_PLUGIN), g->host);
	json_quote(out, w->hook);
	str_add(out, ";\nconst OPTIONS = ");
	json_add(out, w->hook_args);
	str_add(out, ";\nconst EVENTS = {");
	for (int i = 0; (hook = gate_hook(g, i)); i++) {
		(void)gate_timeout(g, w, hook->event, &deadline);
		str_addf(out, "%s \"%s\": %ld", i ? "," : "", hook->name, deadline);
	}
	str_add(out, " }; // and the seconds that each may take\n\n");
	str_add(out, PLUGIN);
}

void gate_text(const struct gate *g, const struct gate_place *place, const struct wish *w,
               struct str *out)
{
	if (place->shape == GATE_TABLES)
		add_tables(g, w, out);
	else
		add_plugin(g, w, out);
}
