// What becomes of a conversation in the real hosts: install, ask, be approved, be told something,
// have the file written; without a terminal and on one; over HTTP; and over a stop of the system.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { HOSTS } from "./hosts.mjs";
import { Model, NOT_OFFERED } from "./model.mjs";
import { Place, until } from "./place.mjs";

const NAMES = process.env.HOSTS_ONLY.split(" ");
const TIMEOUT = { timeout: 300_000 };
const WORDS = "Prefer tabs, please.";
const DONE = "All of it is done.";

const proposal = (file) => ({
  title: `write ${file}`,
  description: "asked by a real host",
  diff: "hello\n",
  file_path: file,
});

const idIn = (result) => /request_id\W+([0-9a-f-]{36})/.exec(result)?.[1];

/** A model that asks whether it may write `file`, writes it, and asks again while told `pending`. */
function writes(file, awake = async () => {}) {
  return async (results) => {
    const last = results.at(-1) ?? "";
    if (last === "") return { tool: "check_clearance", args: proposal(file) };
    if (last.includes("applied")) return { say: DONE };
    if (last.includes("approved"))
      return { tool: "check_diff", args: { request_id: idIn(last) ?? "none" } };
    if (!last.includes("pending")) return { say: `I gave up: ${last}` };
    await awake();
    return { tool: "check_clearance", args: proposal(file) };
  };
}

/** Whether the file stands there as it was approved. */
const isWritten = (place, file) => place.has(file) && place.read(file) === "hello\n";

const sessions = (place) => place.sql("SELECT id, status, client_name FROM session ORDER BY seq");

/** Until the model has been asked with our tools at hand: some hosts begin before they have them. */
async function isOffered(run, agent) {
  const answered = () => {
    assert.ok(!agent.over, agent.said);
    return run.requests.findLast((one) => one.offered.length > 0 && one.answer);
  };
  let last = await until("the model is asked", answered);
  while (last.answer.say?.startsWith(NOT_OFFERED)) {
    const before = last;
    agent.type("Write hello.txt.");
    await until("it stands on the screen", () => /[>❯›┃] +Write hello/.test(agent.said));
    agent.type("\r");
    last = await until("it is asked again", () => answered() !== before && answered());
  }
}

/** Until the file is written and the model has ended its turn, on a terminal. */
function isDone(place, file, agent) {
  return until("the file is written and the turn is over", () => {
    assert.ok(!agent.over, agent.said);
    return isWritten(place, file) && agent.said.includes(DONE);
  }).catch((error) => assert.fail(`${error.message}; the screen:\n${agent.said}`));
}

/** In how many results of the last request, which carries them all, the words are. */
const timesTold = (run) =>
  run.requests.at(-1).results.filter((result) => result.includes(WORDS)).length;

for (const name of NAMES) {
  const host = HOSTS[name];

  describe(host.title, () => {
    let model;

    before(async () => {
      model = await Model.start();
    });
    after(() => model.stop());

    const test_ = (sentence, body) =>
      test(sentence, TIMEOUT, async (t) => {
        const place = await Place.create(name);
        t.after(() => place.end());
        await body(place, t);
      });

    test_("without a terminal a file is written after one approval", async (place) => {
      const run = model.run(writes("hello.txt"));
      await place.configure(run);
      const agent = place.headless("Write hello.txt.");

      const question = await place.question(agent);
      const [session] = await sessions(place);
      await place.ctl("steer", session.id, WORDS);
      await place.ctl("approve", question);
      await agent.ended();

      assert.equal(agent.exitCode, 0, agent.said);
      assert.ok(isWritten(place, "hello.txt"), agent.said);
      assert.match(agent.said, new RegExp(DONE));
      const first = run.requests.find((one) => one.offered.length > 0);
      assert.ok(first.answer.name, "our tools are offered with the first request");
      const next = run.requests.find((one) => one.results.length === 1);
      assert.ok(next.results[0].includes(WORDS), "the words are in the next request");
      assert.equal(timesTold(run), 1, "the words are told once");
      const [told] = await place.sql("SELECT delivered_at, call_seq FROM steering");
      assert.ok(told.delivered_at, "and known to be told");
      assert.ok(session.client_name, "the host is known by name");
    });

    test_("on a terminal a file is written after one approval", async (place) => {
      const run = model.run(writes("hello.txt"));
      await place.configure(run);
      const agent = place.interactive("Write hello.txt.");

      await isOffered(run, agent);
      const question = await place.question(agent);
      const [session] = await sessions(place);
      await place.ctl("steer", session.id, WORDS);
      await place.ctl("approve", question);
      await isDone(place, "hello.txt", agent);

      assert.equal(timesTold(run), 1, "the words are told once");
    });

    test_("two runs over HTTP at once are two sessions", async (place) => {
      const runs = [model.run(writes("one.txt")), model.run(writes("two.txt"))];
      await place.start();
      await place.configure(runs[0], "--http");
      const one = place.headless("Write one.txt.");
      const first = await place.question(one);
      await place.configure(runs[1], "--http");
      const two = place.headless("Write two.txt.");
      const second = await place.question(two, [first]);

      const both = await sessions(place);
      assert.equal(both.length, 2, JSON.stringify(both));
      await place.ctl("steer", both[1].id, WORDS);
      await place.ctl("approve", first);
      await one.ended();
      await place.ctl("approve", second);
      await two.ended();

      assert.ok(isWritten(place, "one.txt"), one.said);
      assert.ok(isWritten(place, "two.txt"), two.said);
      assert.equal(timesTold(runs[0]), 0, "words for the other run");
      assert.equal(timesTold(runs[1]), 1, "words for this run");
    });

    test_("a stop of the system ends a held call over HTTP with pending", async (place) => {
      let wake;
      const awake = new Promise((resolve) => (wake = resolve));
      const run = model.run(writes("hello.txt", () => awake));
      await place.start();
      await place.configure(run, "--http");
      const agent = place.headless("Write hello.txt.");
      const question = await place.question(agent);

      await place.stop();
      const told = await until(
        "the model is told",
        () => run.requests.find((one) => one.results.length === 1),
        20_000,
      );
      assert.match(told.results[0], /pending/);
      await place.start();
      wake();
      assert.equal(await place.question(agent), question, "asking again is not asking twice");
      await place.ctl("approve", question);
      await agent.ended();

      assert.ok(isWritten(place, "hello.txt"), agent.said);
    });

    test_("a held call over stdio outlives a stop of the system", async (place) => {
      const run = model.run(writes("hello.txt"));
      await place.configure(run);
      const agent = place.headless("Write hello.txt.");
      const question = await place.question(agent);

      await place.stop();
      await place.start();
      assert.equal(await place.question(agent), question, "the relay has found it again");
      await place.ctl("approve", question);
      await agent.ended();

      assert.ok(isWritten(place, "hello.txt"), agent.said);
      assert.deepEqual(
        run.requests.filter((one) => one.results.length === 1).map((one) => idIn(one.results[0])),
        [question],
        "the model noticed nothing",
      );
    });

    if (host.required)
      test_("without our server it does nothing at all", async (place) => {
        const run = model.run(writes("hello.txt"));
        await place.configure(run);
        await place.break();
        const agent = place.headless("Write hello.txt.");
        await until("it has ended", () => agent.over);

        assert.notEqual(agent.exitCode, 0, agent.said);
        assert.equal(run.requests.length, 0, "the model is not asked");
      });

    if (host.form) {
      const shown = async (place, run) => {
        await place.configure(run);
        await place.allowForms();
        const agent = place.interactive("Write hello.txt.");
        await isOffered(run, agent);
        await until("the form is shown", () => /approve|Decision/.test(agent.said)).catch((error) =>
          assert.fail(`${error.message}; the screen:\n${agent.said}`),
        );
        return agent;
      };

      test_("a form on the terminal is answered there", async (place) => {
        const run = model.run(writes("hello.txt"));
        const agent = await shown(place, run);
        for (const [keys, then] of host.form.approve) {
          agent.type(keys);
          await until(`${then} is on the screen`, () => then.test(agent.said)).catch((error) =>
            assert.fail(`${error.message}; the screen:\n${agent.said}`),
          );
        }
        // A key that comes while the form is drawn anew is for the field that was: one at a time.
        await until("the answer is given", async () => {
          const isGiven = async () => (await place.sql("SELECT 1 FROM decision")).length > 0;
          agent.type("\r");
          return await until("a key has its effect", isGiven, 1_000).catch(() => false);
        });
        await isDone(place, "hello.txt", agent);

        const decisions = await place.sql("SELECT source, verdict FROM decision");
        assert.deepEqual(decisions, [{ source: "elicitation", verdict: "approve" }]);
      });

      test_("a form does not keep away an answer from elsewhere", async (place) => {
        const run = model.run(writes("hello.txt"));
        const agent = await shown(place, run);
        const [{ id }] = await place.sql("SELECT id FROM inbox");
        await place.ctl("approve", id);
        if (host.form.close) agent.type(host.form.close);
        await isDone(place, "hello.txt", agent);

        const decisions = await place.sql("SELECT source, verdict FROM decision");
        assert.deepEqual(decisions, [{ source: "ctl", verdict: "approve" }]);
      });

      test_("a form that nobody sees does not keep away an answer", async (place) => {
        const run = model.run(writes("hello.txt"));
        await place.configure(run);
        await place.allowForms();
        const agent = place.headless("Write hello.txt.");
        await place.ctl("approve", await place.question(agent));
        await agent.ended();

        assert.ok(isWritten(place, "hello.txt"), agent.said);
      });
    }

    test_("uninstall leaves nothing behind", async (place) => {
      const run = model.run(writes("hello.txt"));
      await host.configure(place.home, place.workspace, run.base);
      const was = place.files();
      for (const options of [[], ["--http"], ["--project"]]) {
        await place.install(...options, "--instructions", "AGENTS.md");
        assert.notDeepEqual(place.files(), was);
        const { code, output } = await place.intercom(
          "uninstall",
          name,
          "--yes",
          ...options.filter((one) => one === "--project"),
          "--instructions",
          "AGENTS.md",
        );
        assert.equal(code, 0, output);
        assert.deepEqual(place.files(), was);
      }
    });
  });
}
