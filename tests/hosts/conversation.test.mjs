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
      assert.match(run.requests.find((one) => one.results.length === 1).results[0], /Prefer tabs/);
      assert.equal(timesTold(run), 1, "the words are told once");
      const [told] = await place.sql("SELECT delivered_at, call_seq FROM steering");
      assert.ok(told.delivered_at, "and known to be told");
      assert.ok(session.client_name, "the host is known by name");
    });

    test_("on a terminal a file is written after one approval", async (place) => {
      const run = model.run(writes("hello.txt"));
      await place.configure(run);
      const agent = place.interactive("Write hello.txt.");

      // Some send their first request before they have connected to us.
      const first = await until("the model is asked", () => {
        assert.ok(!agent.over, agent.said);
        return run.requests.find((one) => one.offered.length > 0 && one.answer);
      });
      for (let again = first.answer.say?.startsWith(NOT_OFFERED); again; ) {
        const count = run.requests.length;
        agent.type("Write hello.txt.");
        await until("it stands on the screen", () => /[>❯›┃] +Write hello/.test(agent.said));
        agent.type("\r");
        await until("the model is asked again", () => run.requests.length > count);
        const last = await until("it has answered", () => run.requests.at(-1).answer);
        again = last.say?.startsWith(NOT_OFFERED);
      }
      const question = await place.question(agent);
      const [session] = await sessions(place);
      await place.ctl("steer", session.id, WORDS);
      await place.ctl("approve", question);
      await until("the file is written and the model has ended its turn", () => {
        assert.ok(!agent.over, agent.said);
        return isWritten(place, "hello.txt") && agent.said.includes(DONE);
      }).catch((error) => assert.fail(`${error.message}; the screen:\n${agent.said}`));

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
