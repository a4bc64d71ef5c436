// A machine of its own for one test: a home, a workspace, a host that is configured as its user
// would, agent-intercom installed into it by its own `install`, and an operator.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { appendFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { HOSTS } from "./hosts.mjs";
import { freePort } from "../port.mjs";
import { Terminal } from "./terminal.mjs";

const { HOSTS_BUILD: build, HOSTS_SCRATCH: scratch } = process.env;
assert.ok(build && scratch, "HOSTS_BUILD and HOSTS_SCRATCH are not set; use run.sh");

const FORMS = "\n[mcp]\nelicitation = true\n";

/** Looks again and again until `look` returns something true; fails after `within` ms. */
export async function until(what, look, within = 120_000) {
  const end = performance.now() + within;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (performance.now() > end) throw new Error(`waited ${within} ms in vain until ${what}`);
    await delay(50);
  }
}

/** Runs a program to its end: {code, output}; null as code: it was killed after `timeout` ms. */
function run(file, args, options) {
  return new Promise((resolve) => {
    const child = execFile(
      file,
      args,
      { timeout: 60_000, killSignal: "SIGKILL", ...options },
      (error, stdout, stderr) =>
        resolve({
          code: error ? (error.killed ? null : error.code) : 0,
          stdout,
          output: stdout + stderr,
        }),
    );
    child.stdin.end();
  });
}

function alive(pid) {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

export class Place {
  #children = [];

  static async create(name) {
    const place = new this();
    const host = HOSTS[name];
    // The slash keeps one directory's name from being the beginning of another's.
    place.dir = `${mkdtempSync(join(scratch, "p"))}/`;
    const folder = (one) => {
      mkdirSync(join(place.dir, one), { mode: 0o700 });
      return join(place.dir, one);
    };
    place.home = folder("home");
    place.workspace = folder("ws");
    place.name = name;
    place.host = host;
    place.port = await freePort();
    place.url = `http://127.0.0.1:${place.port}/mcp`;
    mkdirSync(join(place.home, ".config/agent-intercom"), { recursive: true, mode: 0o700 });
    writeFileSync(
      join(place.home, ".config/agent-intercom/config.toml"),
      `http_port = ${place.port}\ndefault_workspace_root = "${place.workspace}"\n`,
    );
    place.env = {
      PATH: process.env.PATH,
      HOME: place.home,
      XDG_RUNTIME_DIR: folder("run"),
      TMPDIR: folder("tmp"),
      LANG: "C.UTF-8",
      TERM: "xterm-256color",
      HTTP_PROXY: "http://127.0.0.1:9",
      HTTPS_PROXY: "http://127.0.0.1:9",
      NO_PROXY: "127.0.0.1,localhost",
    };
    return place;
  }

  /** The host as its user has it, who has just run `agent-intercom install`. */
  async configure(model, ...options) {
    this.model = model;
    await this.host.configure(this.home, this.workspace, model.base);
    Object.assign(this.env, this.host.env(model.base));
    return this.install(...options);
  }

  async install(...options) {
    const { code, output } = await this.intercom("install", this.name, "--yes", ...options);
    assert.equal(code, 0, output);
    return output;
  }

  /** Lets our server show forms. */
  allowForms() {
    return appendFile(join(this.home, ".config/agent-intercom/config.toml"), FORMS);
  }

  /** Replaces a text in a file of the home, which has it. */
  async edit(file, from, to) {
    const path = join(this.home, file);
    const text = readFileSync(path, "utf8");
    assert.ok(text.includes(from), text);
    writeFileSync(path, text.replaceAll(from, to));
  }

  /** Makes the host start a program that is not there. */
  break() {
    return this.edit(this.host.entries, build, "/nonexistent");
  }

  intercom(...args) {
    return run(join(build, "agent-intercom"), args, { env: this.env, cwd: this.workspace });
  }

  /** Starts the system by hand, as HTTP needs it; a host on stdio starts it itself. */
  async start() {
    const child = this.#spawn([join(build, "agent-intercom")], "system.log");
    await until("the system is ready", () => /\bready\b/.test(child.said));
    return child;
  }

  /** Ends the system by SIGTERM, whoever started it, and waits until it is gone. */
  async stop() {
    const file = `${await this.database()}-instance`;
    const pid = Number(readFileSync(file, "utf8").split("\n")[0]);
    process.kill(pid, "SIGTERM");
    await until("the system is gone", () => !alive(pid));
  }

  async database() {
    this.db ??= (await this.intercom("where", "database")).stdout.trim();
    return this.db;
  }

  async ctl(...args) {
    const { code, output } = await run(join(build, "agent-intercom-ctl"), args, {
      env: this.env,
      cwd: this.dir,
    });
    assert.equal(code, 0, `ctl ${args.join(" ")}: ${output}`);
    return output;
  }

  async sql(statement) {
    const db = await this.database();
    if (!existsSync(db)) return [];
    const { stdout } = await run("sqlite3", [
      "-json",
      "-cmd",
      ".timeout 5000",
      `file:${db}?mode=ro`,
      statement,
    ]);
    return stdout.trim() === "" ? [] : JSON.parse(stdout);
  }

  /** Waits for an open question that a call waits for, and whose id is not among `before`. */
  async question(host, before = []) {
    return until("a call waits for the operator", async () => {
      assert.ok(!host?.over, `the host ended before it asked:\n${host?.said}`);
      const rows = await this.sql(
        `SELECT r.id FROM request AS r JOIN tool_call AS t ON t.request_seq = r.seq
          WHERE r.state = 'pending' AND t.state = 'waiting' ORDER BY r.seq`,
      );
      return rows.map((row) => row.id).find((id) => !before.includes(id));
    });
  }

  #spawn(command, log, env = {}) {
    const child = spawn(command[0], command.slice(1), {
      env: { ...this.env, ...env },
      cwd: this.workspace,
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => {
        child.said += chunk;
        writeFileSync(join(this.dir, log), child.said);
      });
    child.once("error", (error) => (child.said += `${error}`));
    child.once("close", () => (child.over = true));
    this.#children.push(child);
    return child;
  }

  /** Runs the host without a terminal. {said, over, exitCode, ended()} */
  headless(prompt, env = {}, options = []) {
    const command = [...this.host.headless(prompt), ...options];
    const child = this.#spawn(command, `headless-${this.#children.length}.log`, env);
    child.ended = () =>
      until(`${this.host.title} has ended`, () => child.over).catch((error) => {
        throw new Error(`${error.message}; it said:\n${child.said}`);
      });
    return child;
  }

  /** Runs the host on a terminal. */
  interactive(prompt, options = []) {
    const terminal = new Terminal([...this.host.interactive(prompt), ...options], {
      env: this.env,
      cwd: this.workspace,
      log: join(this.dir, "terminal.log"),
    });
    this.#children.push(terminal.child);
    return terminal;
  }

  /** The ids of the processes of this place whose program has that name. */
  processes(name) {
    return readdirSync("/proc")
      .filter((one) => /^\d+$/.test(one))
      .filter((pid) => {
        try {
          const [program] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
          const ours = readFileSync(`/proc/${pid}/environ`, "utf8").includes(this.dir);
          return ours && program.split("/").at(-1) === name && alive(pid);
        } catch {
          return false; // gone, or somebody else's
        }
      })
      .map(Number);
  }

  /** Every file and folder of the home and the workspace, with what it holds. */
  files() {
    const found = {};
    const look = (folder) => {
      for (const entry of readdirSync(join(this.dir, folder), { withFileTypes: true })) {
        const path = join(folder, entry.name);
        found[path] = entry.isDirectory() ? "a folder" : readFileSync(join(this.dir, path), "utf8");
        if (entry.isDirectory()) look(path);
      }
    };
    look("home");
    look("ws");
    return found;
  }

  read(file) {
    return readFileSync(join(this.workspace, file), "utf8");
  }

  /** Writes a file of the workspace. */
  put(file, text) {
    mkdirSync(dirname(join(this.workspace, file)), { recursive: true });
    writeFileSync(join(this.workspace, file), text);
  }

  has(file) {
    return existsSync(join(this.workspace, file));
  }

  /** Ends all that a test has started here: what names its folder. */
  async end() {
    for (let round = 0; round < 2; round++) {
      for (const entry of readdirSync("/proc").filter((one) => /^\d+$/.test(one))) {
        try {
          const pid = Number(entry);
          const named =
            readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(this.dir) ||
            readFileSync(`/proc/${pid}/environ`, "utf8").includes(this.dir);
          if (named && pid !== process.pid && alive(pid)) process.kill(pid, "SIGKILL");
        } catch {
          // gone, or somebody else's
        }
      }
      await delay(50);
    }
  }
}
