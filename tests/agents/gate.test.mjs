// The gate from Slack: a real host that its user has started, and whose own tools are answered from the
// cards of a thread.
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

for (const name of NAMES) {
  const agent = AGENTS[name];
  const { gate, title } = agent.host;

  describe(`${title}, gated from Slack`, () => {
    let model;

    before(async () => {
      model = await Model.start();
    });
    after(() => model.stop());

    const test_ = (sentence, body) => test(sentence, TIMEOUT, (t) => body(t));

    /** A machine with Slack, and the host with a model that makes these calls. */
    async function open(t, steps) {
      const run = model.run((results) => steps(desk)[results.length] ?? { say: DONE });
      const desk = await Desk.open(t, agent, run);
      Object.assign(desk.env, agent.host.env(run.base));
      desk.mayEnd = true;
      await desk.install("--gate");
      return desk;
    }

    test_("a write is shown as a diff, approved on its card, and is what was approved", async (t) => {
      const desk = await open(t, ({ workspace }) => [
        gate.write(join(workspace, "hello.txt"), "hello"),
      ]);
      const host = desk.headless("Do it.", {}, gate.free);

      await desk.seesWords("+hello");
      assert.ok(!desk.has("hello.txt"), "it waits");
      await desk.clicks("approve_accept");
      await host.ended();

      assert.equal(desk.has("hello.txt") && desk.read("hello.txt"), "hello\n", host.said);
      const [call] = await desk.sql(
        "SELECT decision, seen FROM gate_call WHERE request_seq IS NOT NULL",
      );
      assert.deepEqual(call, { decision: "allow", seen: gate.seen });
      await desk.seesWords("by <@U01OP>");
    });

    test_("a command is shown, approved on its card, and runs", async (t) => {
      const desk = await open(t, ({ workspace }) => [gate.run(`touch ${join(workspace, "made")}`)]);
      const host = desk.headless("Do it.", {}, gate.free);

      await desk.seesWords("touch ");
      assert.ok(!desk.has("made"), "it waits");
      await desk.clicks("approve_accept");
      await host.ended();
      assert.ok(desk.has("made"), host.said);
    });

    /** Until the model has been told the last result and has ended its turn. */
    const isDone = (desk, host) =>
      until("the turn is over", () => host.said.includes(DONE)).catch((error) =>
        assert.fail(`${error.message}; the screen:\n${host.said}`),
      );

    if (gate.plan)
      test_("a plan is shown, and approved on its card instead of in the terminal", async (t) => {
        const desk = await open(t, ({ run }) => gate.plan(run.requests.at(-1).body));
        const host = desk.interactive("Do it.", gate.planning);

        await desk.seesWords("Write ");
        await desk.clicks("approve_accept");
        await desk.seesWords("Plan to be approved");
        await desk.seesWords("1. Write hello.txt");
        const [question] = await desk.sql("SELECT digest, body FROM request WHERE kind = 'prompt'");
        assert.equal(question.body, "# Plan\n1. Write hello.txt\n");
        await desk.clicks("prompt_continue");
        await isDone(desk, host);
        const [{ input }] = await desk.sql(
          `SELECT t.arguments ->> 'input' AS input FROM tool_call AS t JOIN gate_call AS g
              ON g.call_seq = t.seq WHERE g.class = 'plan' AND g.moment = 'pre_tool'`,
        );
        assert.equal(JSON.parse(input).plan, question.body, "what was shown is what is bound");
        assert.match(desk.run.requests.at(-1).results.at(-1), /approved/);
      });

    if (gate.question)
      test_("a question of its own is answered elsewhere than in the terminal", async (t) => {
        const desk = await open(t, () => gate.question);
        const host = desk.interactive("Do it.");

        await desk.seesWords("Tabs or spaces?");
        const [{ id }] = await desk.sql("SELECT id FROM request WHERE state = 'pending'");
        await desk.says("refine Tabs, please");
        await isDone(desk, host);
        assert.match(desk.run.requests.at(-1).results.at(-1), /Tabs, please/, id);
      });
  });
}
