// Claude Code without a terminal, started from Slack: while its question waits there is no process of
// it, and the click starts it again.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { join } from "node:path";
import { Model } from "../hosts/model.mjs";
import { until } from "../hosts/place.mjs";
import { AGENTS } from "./agents.mjs";
import { Desk } from "./desk.mjs";

const NAMES = process.env.HOSTS_ONLY.split(" ");
const TIMEOUT = { timeout: 300_000 };
const DONE = "All of it is done.";
const CLAUDE = {
  ...AGENTS.claude,
  profile: "claude-mcp",
  lines: "park_after_seconds = 0\n",
};

if (NAMES.includes("claude"))
  describe("Claude Code, parked", () => {
    const { gate } = CLAUDE.host;
    let model;

    before(async () => {
      model = await Model.start();
    });
    after(() => model.stop());

    const test_ = (sentence, body) => test(sentence, TIMEOUT, (t) => body(t));

    /** A machine with Slack, and a session whose model makes these calls. */
    async function ordered(t, steps) {
      const run = model.run((results) => steps(desk)[results.length] ?? { say: DONE });
      const desk = await Desk.open(t, CLAUDE, run);
      desk.mayEnd = true;
      await desk.install("--gate");
      await desk.order("Do it.");
      return desk;
    }

    const writes = ({ workspace }) => [gate.write(join(workspace, "hello.txt"), "hello")];

    /** Its session is parked, and no process is left. */
    async function parked(desk) {
      const run = await desk.becomes("parked");
      assert.equal(run.outcome, "parked", JSON.stringify(run));
      await desk.isGone(run);
      assert.ok(!desk.has("hello.txt"), "it waits");
      return run;
    }

    const count = async (desk, what) =>
      (await desk.sql(`SELECT count(*) AS count FROM ${what}`))[0].count;

    /** It was started again, and has written what was approved, once. */
    async function written(desk) {
      const run = await desk.becomes("terminated");
      assert.equal(run.outcome, "exited", JSON.stringify(run));
      assert.equal(run.exit_code, 0, run.stderr_tail);
      assert.equal(desk.has("hello.txt") && desk.read("hello.txt"), "hello\n");
      const calls = await desk.sql(
        "SELECT decision, seen FROM gate_call WHERE request_seq IS NOT NULL ORDER BY seq",
      );
      assert.deepEqual(calls, [
        { decision: "defer", seen: null },
        { decision: "allow", seen: "same" },
      ]);
      assert.equal(await count(desk, "request"), 1, "one question");
      assert.equal(await count(desk, "gate_amiss"), 0);
    }

    test_("a write parks it; approved on the card, it goes on in its thread", async (t) => {
      const desk = await ordered(t, writes);
      await desk.seesWords("+hello");
      await parked(desk);
      await desk.seesWords("parked until its question is answered");
      await desk.clicks("approve_accept");
      await written(desk);

      assert.equal(await count(desk, "agent_run"), 2);
      assert.equal(await count(desk, "session"), 1);
      const { thread_ts } = await desk.root();
      const messages = (await desk.messages()).filter((one) => !one.ephemeral_for);
      assert.ok(
        messages.every((one) => one.ts === thread_ts || one.thread_ts === thread_ts),
        JSON.stringify(messages),
      );
      assert.equal(desk.run.requests.at(-1).results.length, 1, "one call");
    });

    test_("rejected with a reason, it goes on and its model hears why", async (t) => {
      const desk = await ordered(t, writes);
      await parked(desk);
      await desk.seesWords("+hello");
      await desk.says("reject not this file");
      const run = await desk.becomes("terminated");
      assert.equal(run.exit_code, 0, run.stderr_tail);
      assert.ok(!desk.has("hello.txt"));
      assert.match(desk.run.requests.at(-1).results.at(-1), /not this file/);
    });

    test_("everything is killed while it is parked: it is approved after the start", async (t) => {
      const desk = await ordered(t, writes);
      await parked(desk);
      await desk.seesWords("+hello");
      await desk.crash();
      await desk.start();
      await desk.clicks("approve_accept");
      await written(desk);
    });

    test_("a command parks it, and a file after that parks it again", async (t) => {
      const desk = await ordered(t, ({ workspace }) => [
        gate.run(`touch ${join(workspace, "made")}`),
        ...writes({ workspace }),
      ]);
      const first = await parked(desk);
      await desk.clicks("approve_accept");
      await until("it is parked again", async () => {
        const run = await desk.newestRun();
        return run.seq > first.seq && run.outcome === "parked";
      });
      assert.ok(desk.has("made"));
      assert.equal(await count(desk, "request WHERE state = 'pending'"), 1);
      const [{ id }] = await desk.sql("SELECT id FROM request WHERE state = 'pending'");
      await desk.says(`approve ${id}`);
      await desk.becomes("terminated");
      assert.equal(desk.has("hello.txt") && desk.read("hello.txt"), "hello\n");
      assert.equal(await count(desk, "gate_amiss"), 0);
    });

    test_("of two calls at once none parks it, and both are done", async (t) => {
      const desk = await ordered(t, ({ workspace }) => [
        { calls: [gate.run(`touch ${join(workspace, "made")}`), ...writes({ workspace })] },
      ]);
      for (let answered = 0; answered < 2; answered++) {
        const id = await until("it asks", async () => {
          const [row] = await desk.sql(
            `SELECT r.id FROM request AS r JOIN tool_call AS t ON t.request_seq = r.seq
              WHERE r.state = 'pending' AND t.state = 'waiting'`,
          );
          return row?.id;
        });
        await desk.says(`approve ${id}`);
        await until("it is approved", () => count(desk, `request WHERE id = '${id}' AND state = 'approved'`));
      }
      await desk.becomes("terminated");
      assert.ok(desk.has("made") && desk.has("hello.txt"));
      assert.equal(await count(desk, "agent_run"), 1);
    });
  });
