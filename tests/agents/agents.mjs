// The agents: what each is called in our profiles, and how its model writes a file with its own
// tools. How each is told of its model is in ../hosts/hosts.mjs.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HOSTS } from "../hosts/hosts.mjs";

const host = (name, more) => ({ name, host: HOSTS[name], ...more });

/*
 * profile: the profile, if it is not the name; lines: more of it, for config.toml. command: the
 * program of its profile. write(path, text): the step of the model that writes a new file. prepare(home): what it needs beside what it is told of the model. hidesBig: its question
 * about a change of over 1 MiB does not show it. needsLogin: when it says that it needs a login,
 * undefined: at once. hidesTools: it hides tools of MCP servers behind a search,
 * true: it lists their names. asksForOurs: under which title it asks before it calls one of ours.
 */
export const AGENTS = {
  claude: host("claude", {
    title: "claude-agent-acp",
    command: "claude-agent-acp",
    needsLogin: "with the first prompt",
    hidesTools: true,
    write: (path, text) => ({ tool: "Write", args: { file_path: path, content: text } }),
  }),
  codex: host("codex", {
    title: "codex-acp",
    command: "codex-acp",
    hidesBig: true,
    hidesTools: true,
    // Only a model that it knows is offered apply_patch.
    prepare: (home) => {
      const file = join(home, ".codex/config.toml");
      writeFileSync(file, readFileSync(file, "utf8").replace(/^model = .*/m, 'model = "gpt-5.5"'));
    },
    write: (path, text) => ({
      tool: "apply_patch",
      input: `*** Begin Patch\n*** Add File: ${path}\n${text.replace(/^(.*)\n/gm, "+$1\n")}*** End Patch\n`,
    }),
  }),
  gemini: host("gemini", {
    title: "gemini --acp",
    command: "gemini",
    write: (path, text) => ({ tool: "write_file", args: { file_path: path, content: text } }),
  }),
  copilot: host("copilot", {
    title: "copilot --acp",
    command: "copilot",
    asksForOurs: "Ping",
    write: (path, text) => ({ tool: "create", args: { path, file_text: text } }),
  }),
  opencode: host("opencode", {
    title: "opencode acp",
    command: "opencode",
    asksForOurs: "intercom_ping",
    needsLogin: "never", // it has models of its own that need none, elsewhere
    write: (path, text) => ({ tool: "write", args: { filePath: path, content: text } }),
  }),
  qwen: host("qwen", {
    title: "qwen --acp",
    command: "qwen",
    hidesTools: "all of them",
    write: (path, text) => ({ tool: "write_file", args: { file_path: path, content: text } }),
  }),
};
