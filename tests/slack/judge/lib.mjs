// One fake Slack: its process, its control API, and waiting for what a client does.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const binary = process.env.FAKE_SLACK ?? assert.fail("FAKE_SLACK is not set; use run.sh");

export const APP_TOKEN = "xapp-1-A01APP-1-fake";
export const BOT_TOKEN = "xoxb-1-fake";

/** Says nothing: what the clients log about faults that a test has ordered. */
export const quiet = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  setLevel() {},
  getLevel: () => "error",
  setName() {},
};

export class Fake {
  /** Starts one, and ends it when the test `t` ends; the police must have found nothing then. */
  static async start(t, { findings = [] } = {}) {
    const fake = new Fake();
    fake.child = spawn(binary, [], { stdio: ["ignore", "pipe", "inherit"] });
    const [line] = await new Promise((resolve, reject) => {
      fake.child.once("exit", (code) => reject(new Error(`fake-slack ended with ${code}`)));
      createInterface({ input: fake.child.stdout }).once("line", (text) => resolve([text]));
    });
    fake.api = line.match(/^ready (http:\S+\/api\/)$/)[1];
    fake.seen = new Map();
    fake.ends = [];
    t.after(async () => {
      try {
        for (const end of fake.ends.reverse()) await end();
        const { faults } = await fake.get("faults_found");
        assert.deepEqual(faults.map((f) => f.rule), findings, JSON.stringify(faults));
      } finally {
        fake.child.removeAllListeners("exit");
        fake.child.kill("SIGTERM");
      }
    });
    return fake;
  }

  /** Done at the end of the test, the last one first, while the fake still runs. */
  atEnd(end) {
    this.ends.push(end);
  }

  async request(path, init) {
    const answer = await (await fetch(new URL(`/control/${path}`, this.api), init)).json();
    assert.equal(answer.ok, true, `${path}: ${answer.error}`);
    return answer;
  }

  get(path) {
    return this.request(path);
  }

  post(path, order) {
    return this.request(path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(order),
    });
  }

  deliver(order) {
    return this.post("deliver", order);
  }

  /** The next log entry of that name after the last one that was waited for. */
  async waitFor(name, within = 30_000) {
    const after = this.seen.get(name) ?? 0;
    const { calls } = await this.get(`calls?name=${name}&after=${after}&wait_ms=${within}`);
    assert.ok(calls.length > 0, `no ${name} within ${within} ms`);
    this.seen.set(name, calls[0].seq);
    return calls[0];
  }

  /** All entries of that name so far. */
  async all(name) {
    return (await this.get(`calls?name=${name}`)).calls;
  }
}

/** Delivers and waits for the ack of that envelope: [what deliver answered, the ack]. */
export async function delivered(fake, order) {
  const made = await fake.deliver(order);
  const ack = await fake.waitFor("ack");
  assert.equal(ack.envelope_id, made.envelope_id);
  assert.equal(ack.socket, made.socket);
  return [made, ack];
}

export const approval = {
  text: "Approval needed",
  blocks: [
    { type: "section", text: { type: "mrkdwn", text: "*Approval needed*" } },
    {
      type: "actions",
      block_id: "req:1",
      elements: [
        {
          type: "button",
          action_id: "approve_accept",
          style: "primary",
          text: { type: "plain_text", text: "Accept" },
          value: "1",
        },
      ],
    },
  ],
};

export const modal = {
  type: "modal",
  callback_id: "refine",
  notify_on_close: true,
  title: { type: "plain_text", text: "Refine" },
  submit: { type: "plain_text", text: "Send" },
  blocks: [
    {
      type: "input",
      block_id: "refined_instruction",
      label: { type: "plain_text", text: "What then?" },
      element: { type: "plain_text_input", action_id: "instruction_text", multiline: true },
    },
  ],
};
