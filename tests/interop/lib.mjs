// The system under test, its operator, and waiting.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { createWriteStream, existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "../port.mjs";

const build = process.env.INTEROP_BUILD ?? assert.fail("INTEROP_BUILD is not set; use run.sh");
const scratch =
  process.env.INTEROP_SCRATCH ?? assert.fail("INTEROP_SCRATCH is not set; use run.sh");

export const TOOLS = [
  "auto_check",
  "broadcast",
  "check_clearance",
  "check_diff",
  "ping",
  "reboot",
  "standby",
  "switch_freq",
  "transmit",
];

/** Looks again and again until `look` returns something true; fails after `within` ms. */
export async function until(what, look, within = 100_000) {
  const end = performance.now() + within;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (performance.now() > end) throw new Error(`waited ${within} ms in vain until ${what}`);
    await delay(20);
  }
}

/** Runs a program to its end: {code, stdout, stderr}. It never throws because of the exit code. */
export function run(file, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = execFile(file, args, { timeout: 120_000, ...options }, (error, stdout, stderr) => {
      if (error && typeof error.code !== "number") reject(error);
      else resolve({ code: error ? error.code : 0, stdout, stderr });
    });
    child.stdin?.end();
  });
}

/** Kills a process, which may have ended with another one. */
function kill(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

function alive(pid) {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** Processes whose command line or environment names `path`: those that a test caused. */
function processesNaming(path) {
  const found = [];
  for (const entry of readdirSync("/proc")) {
    if (!/^\d+$/.test(entry) || Number(entry) === process.pid) continue;
    try {
      const command = readFileSync(`/proc/${entry}/cmdline`, "utf8");
      const environment = readFileSync(`/proc/${entry}/environ`, "utf8");
      if ((command.includes(path) || environment.includes(path)) && alive(Number(entry)))
        found.push(Number(entry));
    } catch {
      // gone, or somebody else's
    }
  }
  return found;
}

const quoted = (text) => `'${String(text).replaceAll("'", "''")}'`;

/** One installation: a scratch directory with its own config, database, home and workspaces. */
export class System {
  #child = null;

  /** `more` is added to its configuration. */
  static async create(more = "") {
    const system = new System();
    // The slash keeps one directory's name from being the beginning of another's.
    system.dir = `${await mkdtemp(join(scratch, "s"))}/`;
    const inside = (name) => join(system.dir, name);
    for (const name of ["home", "run", "state", "xdg", "ws", "alpha", "beta"])
      await mkdir(inside(name), { mode: 0o700 });
    system.workspace = inside("ws");
    system.alpha = inside("alpha");
    system.beta = inside("beta");
    system.config = inside("config.toml");
    system.db = inside("intercom.db");
    system.log = inside("system.log");
    system.port = await freePort();
    system.url = `http://127.0.0.1:${system.port}/mcp`;
    system.program = join(build, "agent-intercom");
    const string = JSON.stringify;
    await writeFile(
      system.config,
      `default_workspace_root = ${string(system.workspace)}
host_cli = "true"
http_port = ${system.port}

[database]
path = ${string(system.db)}

[[workspace]]
id = "alpha"
path = ${string(system.alpha)}
channel_id = "C0ALPHA0001"

[[workspace]]
id = "beta"
path = ${string(system.beta)}
channel_id = "C0BETA00001"
${more}`,
      { mode: 0o600 },
    );
    system.env = {
      PATH: process.env.PATH,
      HOME: inside("home"),
      LANG: "C.UTF-8",
      XDG_RUNTIME_DIR: inside("run"),
      XDG_STATE_HOME: inside("state"),
      XDG_CONFIG_HOME: inside("xdg"),
    };
    for (const [name, value] of Object.entries(process.env))
      if (/SAN_OPTIONS$|^INTERCOM_PROGRESS_SECONDS$/.test(name)) system.env[name] = value;
    return system;
  }

  static async start(more) {
    const system = await System.create(more);
    await system.start();
    return system;
  }

  /** Starts the system and returns when it has said that it is ready. */
  async start() {
    const child = spawn(this.program, ["--config", this.config], {
      env: this.env,
      cwd: this.dir,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    const log = createWriteStream(this.log, { flags: "a" });
    let said = "";
    let failed = null;
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => {
        said += chunk;
        log.write(chunk);
      });
    child.once("error", (error) => (failed = error));
    await until(
      "the system says that it is ready",
      () => {
        if (failed) throw failed;
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error(`the system ended with ${child.exitCode ?? child.signalCode}:\n${said}`);
        return /\bready\b/.test(said);
      },
      60_000,
    );
  }

  /** SIGTERM, and nothing may be left of it. Also for a system that a stdio client started. */
  async stop() {
    const ours = this.#child ? [this.#child.pid] : processesNaming(this.config);
    this.#child = null;
    for (const pid of ours) if (alive(pid)) process.kill(pid, "SIGTERM");
    let left = [];
    try {
      await until("the system has stopped", () => {
        left = [...new Set([...ours.filter(alive), ...processesNaming(this.dir)])];
        return left.length === 0;
      });
    } catch (error) {
      const names = left.map((pid) => {
        try {
          return `${pid} ${readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ")}`;
        } catch {
          return String(pid);
        }
      });
      for (const pid of left) if (alive(pid)) kill(pid);
      throw new Error(`${error.message}; left: ${names.join("; ")}`);
    }
  }

  /** Stops the system, not its clients, and starts it again. */
  async restart() {
    const child = this.#child;
    child.kill("SIGTERM");
    await until(
      "the system has stopped",
      () => child.exitCode !== null || child.signalCode !== null,
    );
    assert.equal(child.exitCode, 0, "the system leaves with 0 after SIGTERM");
    await this.start();
  }

  /** Kills the system and its workers at one blow, not its clients, and starts it again. */
  async crash() {
    const workers = await this.sql("SELECT pid FROM worker WHERE state IN ('starting', 'ready')");
    const pids = [this.#child.pid, ...workers.map((row) => row.pid)];
    for (const pid of pids) kill(pid);
    await until("everything is dead", () => !pids.some(alive));
    await this.start();
  }

  /** What an MCP client needs to start us over stdio, in the workspace as hosts do. */
  stdio(env = this.env, ...flags) {
    const args = ["mcp", "--config", this.config, ...flags];
    return { command: this.program, args, env, cwd: this.workspace };
  }

  async healthy() {
    try {
      const answer = await fetch(`http://127.0.0.1:${this.port}/health`);
      await answer.text();
      return answer.status === 200;
    } catch {
      return false;
    }
  }

  /** agent-intercom-ctl --json: the parsed answer, or an error with what it printed. */
  async ctl(...args) {
    const { code, stdout, stderr } = await run(
      join(build, "agent-intercom-ctl"),
      ["--config", this.config, "--json", ...args],
      { env: this.env, cwd: this.dir },
    );
    if (code !== 0)
      throw new Error(`ctl ${args.join(" ")} exited with ${code}: ${stderr}${stdout}`);
    return JSON.parse(stdout);
  }

  /** The sqlite3 shell on the live database, as an operator would use it: rows as objects. */
  async sql(statement) {
    const { code, stdout, stderr } = await run("sqlite3", [
      "-bail",
      "-json",
      "-cmd",
      ".timeout 30000",
      `file:${this.db}?mode=rw`,
      statement,
    ]);
    if (code !== 0) throw new Error(`sqlite3: ${stderr}\n${statement}`);
    return stdout.trim() === "" ? [] : JSON.parse(stdout);
  }

  async inbox() {
    return (await this.sql("SELECT id FROM inbox")).map((row) => row.id);
  }

  /** Waits for the question that `call` asks: an id in the inbox that was not there `before`. */
  async question(before, call) {
    let over = null;
    call.then(
      (result) => (over = `answered ${JSON.stringify(result)}`),
      (error) => (over = `failed: ${error.stack}`),
    );
    return until("the question is in the inbox", async () => {
      const [id] = (await this.inbox()).filter((other) => !before.includes(other));
      if (!id && over) throw new Error(`nobody was asked, the call ${over}`);
      return id;
    });
  }

  /** How many questions of this title were ever asked. */
  async asked(title) {
    const [row] = await this.sql(
      `SELECT count(*) AS n FROM approval_request WHERE title = ${quoted(title)}`,
    );
    return row.n;
  }

  /** The id of the pending clearance that a session asked for. */
  async pendingOf(sessionId) {
    return until(`session ${sessionId} has a pending question`, async () => {
      const rows = await this.sql(
        `SELECT id FROM approval_request WHERE session_id = ${quoted(sessionId)} AND status = 'pending'`,
      );
      return rows[0]?.id;
    });
  }

  /** Everything that was ever said to a question, in order: "verdict by source: outcome". */
  async decisions(id) {
    const rows = await this.sql(
      `SELECT verdict, source, outcome FROM decision WHERE request_id = ${quoted(id)} ORDER BY seq`,
    );
    return rows.map((row) => `${row.verdict} by ${row.source}: ${row.outcome}`);
  }

  /** Waits until a call waits for the answer to a question. */
  async waited(id) {
    await until("a call waits for the answer", async () => {
      const [row] = await this.sql(
        `SELECT count(*) AS n FROM tool_call AS t JOIN request AS r ON r.seq = t.request_seq
          WHERE r.id = ${quoted(id)} AND t.state = 'waiting'`,
      );
      return row.n > 0;
    });
  }

  /** How many tasks a question was asked by. */
  async tasksOf(id) {
    const [row] = await this.sql(
      `SELECT count(t.task_id) AS n FROM tool_call AS t JOIN request AS r ON r.seq = t.request_seq
        WHERE r.id = ${quoted(id)}`,
    );
    return row.n;
  }

  /** A decision typed into the sqlite3 shell. */
  async decide(id, verdict, instruction) {
    const value = instruction === undefined ? "NULL" : quoted(instruction);
    await this.sql(
      `INSERT INTO decision(request_id, verdict, instruction)
       VALUES(${quoted(id)}, ${quoted(verdict)}, ${value})`,
    );
  }

  read(name, workspace = this.workspace) {
    return readFile(join(workspace, name), "utf8");
  }

  write(name, text, workspace = this.workspace) {
    return writeFile(join(workspace, name), text);
  }

  has(name, workspace = this.workspace) {
    return existsSync(join(workspace, name));
  }
}

/**
 * The object that a tool answered: exactly one text block with JSON in it, and where there is
 * structured content it says the same.
 */
export function body(result) {
  assert.equal(result.content?.length, 1, "one content block");
  assert.equal(result.content[0].type, "text");
  const object = JSON.parse(result.content[0].text);
  if (result.structuredContent !== undefined) assert.deepEqual(result.structuredContent, object);
  return object;
}

/** A successful answer, which must be structured because every tool has an output schema. */
export function answer(result) {
  assert.ok(!result.isError, `unexpected error result: ${JSON.stringify(result.content)}`);
  assert.ok(result.structuredContent, "a tool with an output schema answers structured content");
  return body(result);
}

/** An error result: isError, and an object with code and message. */
export function refusal(result) {
  assert.equal(result.isError, true, `not an error result: ${JSON.stringify(result.content)}`);
  const object = body(result);
  assert.equal(object.status, "error");
  assert.equal(typeof object.error_code, "string");
  assert.ok(object.error_message, "an error result has a message");
  return object;
}

export const proposal = (name, text, more = {}) => ({
  title: `write ${name}`,
  description: "asked by an interop test",
  diff: text,
  file_path: name,
  ...more,
});

/** One test; none may take longer. */
export const TIMEOUT = { timeout: 240_000 };

/** A client's own time-out, in ms: long enough for its question to be asked on a busy machine. */
export const GIVES_UP_MS = 10_000;

export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
