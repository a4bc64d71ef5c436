// The hosts: how each is told of the model, and how it is started. Nothing here says anything about
// agent-intercom, which its own `install` configures, nor allows a host anything.
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

const MODEL = "scripted";

/** A patch that adds a file of one line, as Codex takes it from its shell. */
const patch = (file, line) =>
  `apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ${file}\n+${line}\n*** End Patch\nEOF`;

async function put(file, content) {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await writeFile(file, typeof content === "string" ? content : JSON.stringify(content, null, 2));
}

/*
 * configure(home, workspace, base): writes what its user would have set before: the model, and that the
 * workspace is trusted. env(base): variables. headless, interactive: its command line. form: it
 * shows forms; approve: keys up to the last Return, and what the screen then says; close: the key that closes one which
 * was answered elsewhere. required: it ends without our server; entries: where that is named.
 *
 * gate: {free: options with which nothing but the gate keeps it from acting; grants: our approval is
 * enough without them; write, run: how the model calls its own tools; writeIn: the same in a folder, where its tool takes one; hooks: the file that names our
 * hook; lost: whether it is "open" or "closed" when the hook is killed, and missing: when there is none;
 * seen: what we saw of a write afterwards, null where the host does not tell us; question, plan: the
 * calls by which it asks its user, and, of what its model was told, shows them a plan, which it does
 * with the options planning; switches: files of a project that keep our hook from running, [name, text] each;
 * pause: what it is to call between two calls that are the same; trust: what the screen shows when
 * hooks are asked about, the key that chooses to trust them and what it shows then, and the file
 * that says so after Enter; escalates: its options to have a sandbox that it may ask to leave,
 * escalate: how the model calls a command outside of it}.
 */
export const HOSTS = {
  claude: {
    title: "Claude Code",
    package: "@anthropic-ai/claude-code",
    configure: (home, workspace) =>
      put(join(home, ".claude.json"), {
        hasCompletedOnboarding: true,
        projects: { [workspace]: { hasTrustDialogAccepted: true } },
      }),
    env: (base) => ({
      ANTHROPIC_BASE_URL: base,
      ANTHROPIC_AUTH_TOKEN: "none",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
      DISABLE_TELEMETRY: "1",
    }),
    headless: (prompt) => ["claude", "-p", prompt],
    interactive: (prompt) => ["claude", prompt],
    gate: {
      free: ["--allowedTools", "Write", "Bash"],
      grants: true,
      write: (file, line) => ({ tool: "Write", args: { file_path: file, content: `${line}\n` } }),
      run: (command) => ({ tool: "Bash", args: { command, description: "as asked" } }),
      question: [
        {
          tool: "AskUserQuestion",
          args: {
            questions: [
              {
                question: "Tabs or spaces?",
                header: "Indent",
                multiSelect: false,
                options: [
                  { label: "Tabs", description: "one each" },
                  { label: "Spaces", description: "two each" },
                ],
              },
            ],
          },
        },
      ],
      /* The plan is in the file that the model was told of; ExitPlanMode takes none. */
      plan: (told) => [
        { tool: "ToolSearch", args: { query: "select:ExitPlanMode", max_results: 1 } },
        {
          tool: "Write",
          args: {
            file_path: /\/[^\s"'`\\]*\/plans\/[^\s"'`\\]+\.md/.exec(told)?.[0],
            content: "# Plan\n1. Write hello.txt\n",
          },
        },
        { tool: "ExitPlanMode", args: {} },
      ],
      planning: ["--permission-mode", "plan"],
      hooks: ".claude/settings.json",
      switches: [
        [".claude/settings.json", '{"disableAllHooks": true}'],
        [".claude/settings.local.json", '{"disableAllHooks": true}'],
      ],
      lost: "open",
      missing: "open",
      seen: "same",
    },
    form: {
      approve: [
        ["\x1b[C", /❯ ◯ approve/], // right
        ["\r", /Decision: approve[^]*Type something/],
      ],
      close: "\x1b",
    },
  },
  codex: {
    title: "Codex CLI",
    package: "@openai/codex",
    configure: (home, workspace, base) =>
      put(
        join(home, ".codex/config.toml"),
        `model = "${MODEL}"
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "${base}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"

[analytics]
enabled = false

[projects."${workspace}"]
trust_level = "trusted"
`,
      ),
    env: () => ({ SCRIPTED_KEY: "none" }),
    headless: (prompt) => ["codex", "exec", "--skip-git-repo-check", prompt],
    interactive: (prompt) => ["codex", prompt],
    gate: {
      free: ["--dangerously-bypass-approvals-and-sandbox", "--dangerously-bypass-hook-trust"],
      write: (file, line) => ({ tool: "exec_command", args: { cmd: patch(file, line) } }),
      run: (command) => ({ tool: "exec_command", args: { cmd: command } }),
      writeIn: (folder, file, line) => ({
        tool: "exec_command",
        args: { cmd: patch(file, line), workdir: folder },
      }),
      escalates: ["-a", "on-request", "-s", "workspace-write", "--dangerously-bypass-hook-trust"],
      escalate: (command) => ({
        tool: "exec_command",
        args: {
          cmd: command,
          sandbox_permissions: "require_escalated",
          justification: "because I must",
        },
      }),
      trust: {
        asked: /Trust all and continue/,
        key: "\x1b[B",
        chosen: /› *2. Trust all and continue/,
        file: ".codex/config.toml",
      },
      hooks: ".codex/hooks.json",
      switches: [[".codex/config.toml", "[features]\nhooks = false\n"]],
      lost: "open",
      missing: "open",
      seen: null,
    },
    form: { approve: [] },
    required: true,
    entries: ".codex/config.toml",
  },
  gemini: {
    title: "Gemini CLI",
    package: "@google/gemini-cli",
    configure: async (home, workspace) => {
      await put(join(home, ".gemini/settings.json"), {
        security: { auth: { selectedType: "gemini-api-key" } },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
        model: { name: "gemini-2.5-pro" }, // else it asks the model which model to ask
      });
      await put(join(home, ".gemini/trustedFolders.json"), { [workspace]: "TRUST_FOLDER" });
    },
    env: (base) => ({
      GEMINI_API_KEY: "none",
      GOOGLE_GEMINI_BASE_URL: base,
      GEMINI_CLI_NO_RELAUNCH: "true",
    }),
    headless: (prompt) => ["gemini", "-p", prompt],
    interactive: (prompt) => ["gemini", "-i", prompt],
    gate: {
      free: ["--yolo"],
      write: (file, line) => ({
        tool: "write_file",
        args: { file_path: file, content: `${line}\n` },
      }),
      run: (command) => ({ tool: "run_shell_command", args: { command } }),
      hooks: ".gemini/settings.json",
      switches: [[".gemini/settings.json", '{"hooksConfig": {"enabled": false}}']],
      lost: "open",
      missing: "closed",
      seen: "same",
    },
  },
  copilot: {
    title: "GitHub Copilot CLI",
    package: "@github/copilot",
    configure: (home, workspace) =>
      put(join(home, ".copilot/config.json"), {
        trusted_folders: [workspace],
        auto_update: false,
      }),
    env: (base) => ({
      COPILOT_OFFLINE: "true",
      COPILOT_PROVIDER_BASE_URL: `${base}/v1`,
      COPILOT_MODEL: MODEL,
    }),
    headless: (prompt) => ["copilot", "--disable-builtin-mcps", "--no-auto-update", "-p", prompt],
    interactive: (prompt) => [
      "copilot",
      "--disable-builtin-mcps",
      "--no-auto-update",
      "-i",
      prompt,
    ],
    gate: {
      free: ["--allow-all-tools", "--allow-all-paths"],
      grants: true,
      write: (file, line) => ({ tool: "create", args: { path: file, file_text: `${line}\n` } }),
      run: (command) => ({ tool: "bash", args: { command, description: "as asked" } }),
      hooks: ".copilot/hooks/agent-intercom.json",
      switches: [
        [".github/copilot/settings.json", '{"disableAllHooks": true}'],
        [".github/copilot/settings.local.json", '{"disableAllHooks": true}'],
        [".claude/settings.json", '{"disableAllHooks": true}'],
        [".claude/settings.local.json", '{"disableAllHooks": true}'],
      ],
      lost: "closed",
      missing: "closed",
      seen: "same",
    },
    form: {
      approve: [
        ["\r", /\[reason\]/],
      ],
      close: "\x1b",
    },
  },
  opencode: {
    title: "opencode",
    package: "opencode-ai",
    configure: async (home, workspace, base) => {
      // With plugins it fetches this package, and hangs at its start where it cannot.
      const config = join(home, ".config/opencode");
      const dependencies = { "@opencode-ai/plugin": "1.18.33" };
      await mkdir(join(config, "node_modules"), { recursive: true, mode: 0o700 });
      await put(join(config, "package.json"), { dependencies });
      await put(join(config, "package-lock.json"), { packages: { "": { dependencies } } });
      await put(join(home, ".config/opencode/opencode.json"), {
        $schema: "https://opencode.ai/config.json",
        model: `scripted/${MODEL}`,
        autoupdate: false,
        share: "disabled",
        provider: {
          scripted: {
            npm: "@ai-sdk/openai-compatible",
            name: "scripted",
            options: { baseURL: `${base}/v1`, apiKey: "none" },
            models: { [MODEL]: { name: MODEL, tool_call: true } },
          },
        },
      });
    },
    env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" }),
    headless: (prompt) => ["opencode", "run", prompt],
    interactive: (prompt) => ["opencode", "--prompt", prompt],
    gate: {
      free: [],
      write: (file, line) => ({ tool: "write", args: { filePath: file, content: `${line}\n` } }),
      run: (command) => ({ tool: "bash", args: { command, description: "as asked" } }),
      hooks: ".config/opencode/plugins/agent-intercom.js",
      switches: [],
      lost: "closed",
      missing: "closed",
      seen: "same",
    },
  },
  qwen: {
    title: "Qwen Code",
    package: "@qwen-code/qwen-code",
    configure: async (home, workspace, base) => {
      await put(join(home, ".qwen/settings.json"), {
        security: { auth: { selectedType: "openai" } },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        general: { enableAutoUpdate: false },
      });
      await put(join(home, ".qwen/trustedFolders.json"), { [workspace]: "TRUST_FOLDER" });
    },
    env: (base) => ({
      OPENAI_API_KEY: "none",
      OPENAI_BASE_URL: `${base}/v1`,
      OPENAI_MODEL: MODEL,
    }),
    headless: (prompt) => ["qwen", "-p", prompt],
    interactive: (prompt) => ["qwen", "-i", prompt],
    gate: {
      free: ["--yolo"],
      write: (file, line) => ({
        tool: "write_file",
        args: { file_path: file, content: `${line}\n` },
      }),
      run: (command) => ({ tool: "run_shell_command", args: { command } }),
      pause: { tool: "ping", args: {} },
      hooks: ".qwen/settings.json",
      switches: [
        [".qwen/settings.json", '{"disableAllHooks": true}'],
        [".qwen/settings.json", '{"env": {"QWEN_CODE_SIMPLE": "1"}}'],
        [".qwen/.env", "QWEN_CODE_SAFE_MODE=1\n"],
        [".env", "QWEN_CODE_SAFE_MODE=1\n"],
      ],
      lost: "open",
      missing: "open",
      seen: "same",
    },
  },
};
