// A machine with the system and an agent on it, and an operator who has nothing but Slack.
import assert from "node:assert/strict";
import { appendFileSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Place, until } from "../hosts/place.mjs";
import { APP_TOKEN, BOT_TOKEN, Fake } from "../slack/judge/lib.mjs";

const CHANNEL = "C01AGENTS";
const string = JSON.stringify;

/** With AGENTS_FENCE=1: the agent is behind a fence, with the folders where these agents keep what they need. */
const FOLDERS = [".claude/", ".claude.json", ".codex/", ".gemini/", ".copilot/", ".qwen/", ".cache/", ".npm/"].concat(
  [".config/opencode/", ".local/share/opencode/", ".local/state/opencode/", "../tmp/"],
);
const FENCE = process.env.AGENTS_FENCE
  ? `fence = { write = [${FOLDERS.map((one) => string(`~/${one}`)).join(", ")}] }\n`
  : "";

/** The processes that look() says something true of. */
function processes(look) {
  return readdirSync("/proc")
    .filter((one) => /^\d+$/.test(one))
    .map(Number)
    .filter((pid) => {
      try {
        return pid !== process.pid && look(pid);
      } catch {
        return false; // it is gone
      }
    });
}

/** The state, process group and session of a process. */
const stat = (pid) => {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return { state: fields[0], group: Number(fields[2]), session: Number(fields[3]) };
};

const command = (pid) => readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");

export class Desk extends Place {
  /** The system with Slack and one agent, whose model is `run`; null: it is as it was installed. */
  static async open(t, agent, run) {
    const desk = await this.create(agent.name);
    t.after(() => desk.end());
    desk.agent = agent;
    desk.profile = agent.profile ?? agent.name;
    desk.run = run;
    desk.slack = await Fake.start(t);
    desk.slack.atEnd(() => desk.stop().catch(() => {}));
    if (run) await agent.host.configure(desk.home, desk.workspace, run.base);
    if (run) agent.prepare?.(desk.home);
    const env = Object.entries(run ? agent.host.env(run.base) : {});
    appendFileSync(
      join(desk.home, ".config/agent-intercom/config.toml"),
      `
[timeouts]
approval_seconds = 7200

[slack]
channel_id = "${CHANNEL}"

[[agent]]
name = "${desk.profile}"
${FENCE}${agent.lines ?? ""}${desk.#wire()}env = [${env.map(([name, value]) => string(`${name}=${value}`)).join(", ")}]
`,
    );
    Object.assign(desk.env, {
      SLACK_API_URL: desk.slack.api,
      SLACK_APP_TOKEN: APP_TOKEN,
      SLACK_BOT_TOKEN: BOT_TOKEN,
      SLACK_TEAM_ID: "T01TEAM",
      SLACK_MEMBER_IDS: "U01OP",
    });
    await desk.start();
    await desk.slack.waitFor("hello");
    return desk;
  }

  /** With AGENTS_WIRE=1, what the agent reads and writes is kept. */
  #wire() {
    if (!process.env.AGENTS_WIRE) return "";
    const file = join(this.dir, "wire");
    const script = `tee -a "$0.in" | ${this.agent.command} "$@" | tee -a "$0.out"`;
    writeFileSync(file, `#!/bin/sh\n${script}\n`, { mode: 0o700 });
    return `command = ${string(file)}\n`;
  }

  // ---- what the operator does ----

  /** What the operator types after /intercom; returns what they are answered at once. */
  async types(text) {
    await this.slack.deliver({ slash: { text } });
    return (await this.slack.waitFor("ack")).payload.text;
  }

  /** What the operator writes in the session's thread. */
  async says(text) {
    const { thread_ts } = await this.root();
    await this.slack.deliver({ message: { text, channel: CHANNEL, thread_ts } });
  }

  /** Clicks on a button as soon as a message of the thread has it. */
  async clicks(action_id) {
    const has = (one) => string(one.blocks ?? []).includes(`"${action_id}"`);
    const { ts } = await this.sees(`a button ${action_id}`, has);
    await this.#click(ts, action_id);
  }

  /** Clicks on Approve of a question. */
  approves({ ts }) {
    return this.#click(ts, "approve_accept");
  }

  #click(ts, action_id) {
    return this.slack.deliver({ click: { channel: CHANNEL, ts, action_id } });
  }

  /** Starts the agent from Slack with this prompt. */
  async order(prompt) {
    const answer = await this.types(`session-start --agent ${this.profile} ${prompt}`);
    assert.match(answer, /Starting session/, answer);
  }

  // ---- what the operator sees ----

  /** The messages of the channel, newest last. */
  async messages() {
    const { messages } = await this.slack.get(`messages?channel=${CHANNEL}`);
    return messages.filter((one) => !one.deleted);
  }

  /** Where its thread is. */
  async root() {
    const [row] = await this.sql(
      "SELECT thread_ts FROM session WHERE thread_ts IS NOT NULL LIMIT 1",
    );
    return row;
  }

  /** The newest message of which `is` is true, as soon as there is one. */
  async sees(what, is) {
    return until(what, async () => {
      await this.lives();
      return (await this.messages()).findLast(is);
    }).catch(async (error) => {
      const all = (await this.messages()).map((one) => `  ${one.text}`).join("\n");
      throw new Error(`${error.message}; Slack shows:\n${all}\n${await this.facts()}`);
    });
  }

  /** A message whose text or blocks have these words. */
  seesWords(words) {
    const quoted = string(words).slice(1, -1);
    const has = (one) => string([one.text, one.blocks]).includes(quoted);
    return this.sees(`Slack shows "${words}"`, has);
  }

  // ---- what the rows say ----

  /** What there is to be known of a failure. */
  async facts() {
    const rows = [
      ...(await this.sql(
        "SELECT state, outcome, exit_code, exit_signal, why, stderr_tail FROM agent_run",
      )),
      ...(await this.sql("SELECT kind, state, title, file_path FROM request")),
    ];
    const last = (this.run?.requests ?? [])
      .slice(-3)
      .map(({ offered, answer }) => string({ offered, answer }));
    return [...rows.map(string), ...last].join("\n");
  }

  /** The newest run is not over before it should be. */
  async lives() {
    if (this.mayEnd) return;
    const [run] = await this.sql("SELECT * FROM agent_run ORDER BY seq DESC LIMIT 1");
    if (run?.state === "ended") throw new Error(`the agent has ended: ${string(run)}`);
  }

  /** The open question of its newest process about a file, once Slack shows it. */
  async asked(file) {
    return until(`it asks about ${file}`, async () => {
      await this.lives();
      const rows = await this.sql(
        `SELECT r.id, r.title, r.body, r.file_path, r.risk_level, m.ts
           FROM agent_question AS q JOIN request AS r ON r.seq = q.request_seq
           JOIN slack_message AS m ON m.request_seq = r.seq AND m.kind = 'ask' AND m.ts IS NOT NULL
          WHERE r.state = 'pending' AND q.run_seq = (SELECT max(seq) FROM agent_run)`,
      );
      return rows.find((one) => string(one).includes(file));
    }).catch(async (error) => {
      throw new Error(`${error.message}\n${await this.facts()}`);
    });
  }

  async stateOf(question) {
    const [row] = await this.sql(`SELECT state FROM request WHERE id = '${question.id}'`);
    return row.state;
  }

  /** Until the session is in this state; returns its newest run. */
  async becomes(status) {
    this.mayEnd = true;
    return until(`the session is ${status}`, async () => {
      const [row] = await this.sql(
        `SELECT r.*, s.status, s.id FROM agent_run AS r JOIN session AS s ON s.seq = r.session_seq
          ORDER BY r.seq DESC LIMIT 1`,
      );
      return row?.status === status && row;
    }).catch(async (error) => {
      throw new Error(`${error.message}\n${await this.facts()}`);
    });
  }

  async newestRun() {
    const [row] = await this.sql("SELECT * FROM agent_run ORDER BY seq DESC LIMIT 1");
    return row;
  }

  /** The id of the newest session. */
  async session() {
    const [row] = await this.sql("SELECT id FROM session ORDER BY seq DESC LIMIT 1");
    return row.id;
  }

  // ---- processes ----

  /** The processes of the agent of a run: by its group, its session, and what its environment says. */
  ofRun({ pid, id }) {
    return processes((one) => {
      const { state, group, session } = stat(one);
      if (state === "Z") return false;
      if (group === pid || session === pid) return true;
      return readFileSync(`/proc/${one}/environ`, "utf8").includes(`INTERCOM_SESSION_ID=${id}\0`);
    });
  }

  /** No process of the agent is left. */
  async isGone(run) {
    await until("no process of it is left", () => this.ofRun(run).length === 0, 20_000).catch(() =>
      assert.fail(`left: ${this.ofRun(run).map(command).join("; ")}`),
    );
  }

  /** The pid of its newest runner. */
  async runner() {
    const run = await this.newestRun();
    const [row] = await this.sql(
      `SELECT pid FROM worker
        WHERE name = 'runner-${run.seq}' AND state IN ('starting', 'ready')
        ORDER BY started_at DESC LIMIT 1`,
    );
    return row.pid;
  }

  /** Kills all that runs of us at one blow, and these. */
  async crash(...agents) {
    const rows = await this.sql("SELECT pid FROM worker WHERE state IN ('starting', 'ready')");
    const file = `${await this.database()}-instance`;
    const supervisor = Number(readFileSync(file, "utf8").split("\n")[0]);
    const pids = [supervisor, ...rows.map((row) => row.pid), ...agents];
    for (const pid of pids) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // it died with its supervisor
      }
    }
    const alive = (pid) => pids.includes(pid) && stat(pid).state !== "Z";
    await until("all is dead", () => processes(alive).length === 0);
  }
}
