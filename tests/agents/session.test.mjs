// Whole sessions of the real agents, ordered from Slack: what it says, asks and writes, how it is
// stopped, and what becomes of it when something dies while it waits for an answer.
// HOSTS_LONG: the seconds of the long wait (8).
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { join } from "node:path";
import { Model } from "../hosts/model.mjs";
import { until } from "../hosts/place.mjs";
import { AGENTS } from "./agents.mjs";
import { Desk } from "./desk.mjs";

const NAMES = process.env.HOSTS_ONLY.split(" ");
const LONG = Number(process.env.HOSTS_LONG ?? 8);
const TIMEOUT = { timeout: 300_000 + LONG * 1000 };
const BIG_BYTES = 1_500_000;
const LINE = "0123456789012345678901234567890123456789\n";
const HELLO = "hello\n";
const REASON = "two spaces are enough for me";

const LOGIN = /login: the agent needs a login on this machine/;

const TASK = /Task: (\w+) ([\w.]+)/;
const GO_ON = /Continue where you left off|You take over a session/;

const contentOf = (file) =>
  file.startsWith("big") ? LINE.repeat(Math.ceil(BIG_BYTES / LINE.length)) : HELLO;

/** The last task that the user has set, and what came of it since they last said to go on. */
function taskIn(items) {
  let task,
    since = [];
  for (const item of items) {
    const found = item.said && TASK.exec(item.said);
    if (found) task = { verb: found[1], file: found[2] };
    if (found || (item.said && GO_ON.test(item.said))) since = [];
    if ("result" in item) since.push(item.result);
  }
  return { ...task, since };
}

/** The model: writes what it is told to with the agent's own tool, and says that it has. */
function works(agent, place) {
  return (_, items) => {
    const { verb, file, since } = taskIn(items);
    if (!verb) return { say: "What am I to do?" };
    if (verb === "hang") return { hang: true };
    if (verb === "ping" && since.length === 0 && !agent.hidesTools)
      return { tool: "ping", args: {} };
    if (verb === "write" && since.length === 0)
      return agent.write(join(place.workspace, file), contentOf(file));
    return { say: `All done with ${file}.` };
  };
}

const isWritten = (desk, file) => desk.has(file) && desk.read(file) === contentOf(file);

const written = (desk, file) =>
  until(`${file} is written`, () => isWritten(desk, file), 60_000).catch(async (error) => {
    throw new Error(`${error.message}\n${await desk.facts()}`);
  });

for (const name of NAMES) {
  const agent = AGENTS[name];

  describe(agent.title, () => {
    let model;

    before(async () => {
      model = await Model.start();
    });
    after(() => model.stop());

    const story = (sentence, body) =>
      test(sentence, TIMEOUT, async (t) => {
        const run = model.run(() => ({ say: "not yet" }));
        const desk = await Desk.open(t, agent, run);
        run.script = works(agent, desk);
        await body(desk, run);
      });

    test("without a login, the probe and the thread say what is missing", TIMEOUT, async (t) => {
      const desk = await Desk.open(t, agent, null);
      desk.mayEnd = true;
      const { output } = await desk.intercom("agents", name, "--probe");
      assert.match(output, agent.needsLogin === undefined ? LOGIN : /\bready\b/);
      if (agent.needsLogin === "never") return;
      await desk.order("Task: say words");
      await desk.seesWords("the agent needs a login on this machine");
    });

    story("what it says comes into the thread, and so does the end of its turn", async (desk) => {
      await desk.order("Task: say words");
      await desk.seesWords("All done with words.");
      await desk.seesWords("has ended its turn");
    });

    story("its model knows our tools, and calls one", async (desk, run) => {
      await desk.order("Task: ping us");
      if (agent.asksForOurs) await desk.approves(await desk.asked(agent.asksForOurs));
      await desk.seesWords("All done with us.");
      const knows = run.requests.some((one) => one.body.includes("check_clearance"));
      assert.equal(knows, agent.hidesTools !== "all of them");
      if (agent.hidesTools) return;
      assert.deepEqual(await desk.sql("SELECT tool, state FROM tool_call"), [
        { tool: "ping", state: "done" },
      ]);
      const [{ count }] = await desk.sql("SELECT count(*) AS count FROM request");
      assert.equal(count, agent.asksForOurs ? 1 : 0);
    });

    story("a change is shown with its diff and written once it is approved", async (desk) => {
      await desk.order("Task: write one.txt");
      const question = await desk.asked("one.txt");
      assert.match(question.body, /^\+hello$/m, JSON.stringify(question));
      assert.ok(!desk.has("one.txt"), "nothing is written unasked");
      await desk.seesWords("hello");
      await desk.approves(question);
      await written(desk, "one.txt");
      await desk.seesWords("All done with one.txt.");
    });

    story(`a question is answered after ${LONG} s, and the turn goes on`, async (desk) => {
      await desk.order("Task: write one.txt");
      const question = await desk.asked("one.txt");
      await new Promise((resolve) => setTimeout(resolve, LONG * 1000));
      assert.equal(await desk.stateOf(question), "pending");
      await desk.approves(question);
      await written(desk, "one.txt");
      await desk.seesWords("All done with one.txt.");
      assert.equal((await desk.newestRun()).generation, 1);
    });

    story("a rejection and its reason reach the model", async (desk, run) => {
      await desk.order("Task: write one.txt");
      const question = await desk.asked("one.txt");
      await desk.says(`reject ${REASON}`);
      await until("the model is told the reason", () =>
        run.requests.some((one) => one.body.includes(REASON)),
      ).catch(async (error) => assert.fail(`${error.message}\n${await desk.facts()}`));
      assert.equal(await desk.stateOf(question), "rejected");
      assert.ok(!desk.has("one.txt"));
    });

    story("a second prompt waits for the end of the first turn", async (desk, run) => {
      await desk.order("Task: write one.txt");
      const question = await desk.asked("one.txt");
      await desk.says("steer Task: write two.txt");
      await until("it is noted", async () => (await desk.sql("SELECT 1 FROM steering")).length);
      assert.ok(!run.requests.some((one) => one.body.includes("two.txt")));
      await desk.approves(question);
      await written(desk, "one.txt");
      await desk.approves(await desk.asked("two.txt"));
      await written(desk, "two.txt");
      await desk.seesWords("All done with two.txt.");
    });

    story("a nudge ends a turn that hangs and is the next prompt", async (desk, run) => {
      await desk.order("Task: hang on");
      await until("the model is asked", () => run.requests.some((one) => one.answer?.hang));
      await desk.types(`nudge ${await desk.session()} Task: write one.txt`);
      await desk.approves(await desk.asked("one.txt"));
      await written(desk, "one.txt");
    });

    story("a file of 1.5 MB is shown, or it is said that it is not, and written", async (desk) => {
      await desk.order("Task: write big.txt");
      const question = await desk.asked("big.txt");
      if (agent.hidesBig) {
        assert.equal(question.risk_level, "critical");
        await desk.seesWords("The agent does not show what it would write.");
      } else {
        await until("the whole of it is attached", async () =>
          (await desk.slack.get("files")).files.some(
            (one) => one.completed && one.length >= BIG_BYTES,
          ),
        );
      }
      await desk.approves(question);
      await written(desk, "big.txt");
    });

    story("Stop while it asks ends it, and no process is left", async (desk) => {
      await desk.order("Task: write one.txt");
      const question = await desk.asked("one.txt");
      assert.ok(desk.ofRun(await desk.becomes("active")).length > 0, "it is found while it runs");
      await desk.clicks("session_clear");
      const run = await desk.becomes("terminated");
      await until("its run is over", async () => (await desk.newestRun()).state === "ended");
      assert.equal((await desk.newestRun()).outcome, "stopped");
      await desk.isGone(run);
      assert.notEqual(await desk.stateOf(question), "pending");
      assert.ok(!desk.has("one.txt"));
    });

    story("killed while it asks, it is started again by Restart", async (desk) => {
      await desk.order("Task: write one.txt");
      await desk.asked("one.txt");
      const first = await desk.becomes("active");
      process.kill(first.pid, "SIGKILL");
      await until("its run is over", async () => (await desk.newestRun()).state === "ended");
      await desk.isGone(first);
      await desk.seesWords("terminated unexpectedly (signal: 9)");
      await desk.clicks("session_restart");
      desk.mayEnd = false;
      await until("another one runs", async () => (await desk.newestRun()).seq > first.seq);
      await desk.approves(await desk.asked("one.txt"));
      await written(desk, "one.txt");
    });

    const resumed = (sentence, kill) =>
      story(sentence, async (desk) => {
        await desk.order("Task: write one.txt");
        await desk.asked("one.txt");
        const first = await desk.becomes("active");
        await kill(desk);
        await desk.becomes("interrupted");
        await desk.isGone(first);
        await desk.clicks("session_resume");
        await until("another one runs", async () => (await desk.newestRun()).seq > first.seq);
        desk.mayEnd = false;
        await desk.approves(await desk.asked("one.txt"));
        const second = await desk.newestRun();
        await written(desk, "one.txt");
        console.log(
          `     ${name}: ${second.peer_session === first.peer_session ? "went on with its session" : "began a new session"}`,
        );
      });

    resumed("its runner killed while it asks, it is resumed", async (desk) =>
      process.kill(await desk.runner(), "SIGKILL"),
    );

    story(
      "what was approved while it was gone is told to it, and is not asked again",
      async (desk, run) => {
        await desk.order("Task: write one.txt");
        const question = await desk.asked("one.txt");
        await desk.becomes("active");
        process.kill(await desk.runner(), "SIGKILL");
        await desk.becomes("interrupted");
        await desk.approves(question);
        await until("it is approved", async () => (await desk.stateOf(question)) === "approved");
        await desk.clicks("session_resume");
        await until("the model is told", () =>
          run.requests.some((one) => one.body.includes("The operator has approved it")),
        ).catch(async (error) => assert.fail(`${error.message}\n${await desk.facts()}`));
        await written(desk, "one.txt");
        const [{ count }] = await desk.sql("SELECT count(*) AS count FROM request");
        assert.equal(count, 1);
      },
    );

    resumed("everything killed while it asks, it is resumed after the next start", async (desk) => {
      const run = await desk.becomes("active");
      await desk.crash(run.pid);
      await desk.start();
    });
  });
}
