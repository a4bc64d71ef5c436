// The gate in the real hosts, as `agent-intercom install HOST --gate` makes it: what they do with their
// own tools, each started so that nothing but the gate keeps it from acting.
//
// HOSTS_LONG: the seconds of the long wait (8); 660 is longer than every host waits by itself.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { existsSync } from "node:fs";
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { HOSTS } from "./hosts.mjs";
import { Model } from "./model.mjs";
import { Place, until } from "./place.mjs";

const NAMES = process.env.HOSTS_ONLY.split(" ");
const LONG = Number(process.env.HOSTS_LONG ?? 8);
const TIMEOUT = { timeout: 300_000 + 2000 * LONG };
const DONE = "All of it is done.";
const DEADLINE = 3;
const MS = 1000;
const TYPE_AGAIN = 5 * MS;
const TRIES = 20;

const isParked = (result) => /same again/.test(result ?? "");

/** A model that makes its call again while the answer is that it is parked; pause: after this one. */
const patient = (step, pause) => (results) => {
  if (results.length === 0) return step;
  if (isParked(results.at(-1))) return pause ?? step;
  return pause && isParked(results.at(-2)) ? step : { say: DONE };
};

/** Types a key again and again until it was heard: what comes while a screen is drawn may be lost. */
async function typed(agent, key, what, heard) {
  for (let tries = 0; ; tries++) {
    agent.type(key);
    try {
      return await until(`${what} was heard`, heard, TYPE_AGAIN);
    } catch (error) {
      assert.ok(tries < TRIES, `${error.message}; the screen:\n${agent.said}`);
    }
  }
}

/** A model that makes one call, once. */
const once = (step) => (results) => (results.length === 0 ? step : { say: DONE });

for (const name of NAMES) {
  const host = HOSTS[name];
  const { gate } = host;

  describe(`${host.title}, gated`, () => {
    let model;

    before(async () => {
      model = await Model.start();
    });
    after(() => model.stop());

    const test_ = (sentence, body) =>
      test(sentence, TIMEOUT, async (t) => {
        const place = await Place.create(name);
        t.after(() => place.end());
        place.file = join(place.workspace, "hello.txt");
        place.write = gate.write(place.file, "hello");
        place.command = gate.run(`touch ${place.file}`);
        await body(place, t);
      });

    /** Runs the host with a script until it has asked. */
    async function asks(place, script, options = [], free = gate.free) {
      const run = model.run(script);
      await place.configure(run, "--gate", ...options);
      const agent = place.headless("Do it.", {}, free);
      return { run, agent, question: await place.question(agent) };
    }

    test_("a write of its own waits, is shown as a diff, and is done after approval", async (place) => {
      const { run, agent, question } = await asks(place, patient(place.write));

      assert.ok(!place.has("hello.txt"), "it waits");
      const shown = JSON.parse(await place.ctl("show", question));
      assert.match(shown.effect, /^\+hello$/m, JSON.stringify(shown));
      await place.ctl("approve", question);
      await agent.ended();

      assert.equal(agent.exitCode, 0, agent.said);
      assert.equal(place.read("hello.txt"), "hello\n", agent.said);
      assert.match(agent.said, new RegExp(DONE));
      assert.equal(run.requests.at(-1).results.length, 1, "one call");
      const [{ count }] = await place.sql("SELECT count(*) AS count FROM request");
      assert.equal(count, 1, "one question");
      const [{ seen, version }] = await place.sql(
        "SELECT seen, version FROM gate_call WHERE decision = 'allow' AND request_seq IS NOT NULL",
      );
      assert.equal(seen, gate.seen, "what was done is what was allowed");
      const { output } = await place.intercom("doctor", "--gate", name);
      assert.ok(output.includes(version), `${version} is the version: ${output}`);
    });

    if (gate.writeIn)
      test_("a write in a folder of its own is shown where it goes", async (place) => {
        const script = patient(gate.writeIn("sub", "hello.txt", "hello"));
        place.put("sub/other.txt", "");
        const { agent, question } = await asks(place, script);

        const [{ file_path }] = await place.sql("SELECT file_path FROM request");
        assert.equal(file_path, "sub/hello.txt");
        await place.ctl("approve", question);
        await agent.ended();
        assert.equal(place.read("sub/hello.txt"), "hello\n", agent.said);
      });

    if (gate.grants)
      test_("our approval is enough: its own permissions are not asked", async (place) => {
        const { agent, question } = await asks(place, patient(place.write), [], []);

        await place.ctl("approve", question);
        await agent.ended();
        assert.equal(place.has("hello.txt") && place.read("hello.txt"), "hello\n", agent.said);
      });

    if (gate.trust)
      test_("its hooks run once its user has trusted them, and the doctor knows", async (place) => {
        const run = model.run(once(place.command));
        await place.configure(run, "--gate", "--wait", `${DEADLINE}`);
        const before = await place.intercom("doctor", "--gate", name);
        const agent = place.interactive("Do it.");
        await until("it asks", () => gate.trust.asked.test(agent.said));
        await typed(agent, gate.trust.key, "trust", () => gate.trust.chosen.test(agent.said));
        await typed(agent, "\r", "it has noted that", async () =>
          (await readFile(join(place.home, gate.trust.file), "utf8")).includes("trusted_hash"),
        );
        agent.child.kill();

        const after = await place.intercom("doctor", "--gate", name);
        assert.match(before.output, /not trusted it[^]*OPEN/);
        assert.match(after.output, /: closed/);
        assert.equal(after.code, 0, after.output);
        for (const [file, text] of gate.switches) {
          place.put(file, text);
          const { code, output } = await place.intercom("doctor", "--gate", name);
          assert.match(output, /: closed[^]*OPEN in /);
          assert.ok(code !== 0 && output.includes(file), output);
        }
      });

    if (gate.escalate)
      for (const verdict of ["approve", "reject"])
        test_(`to leave its sandbox is a question of its own: ${verdict}`, async (place) => {
          const outside = join(place.home, "outside.txt");
          await place.configure(model.run(once(gate.escalate(`touch ${outside}`))), "--gate");
          const agent = place.interactive("Do it.", gate.escalates);
          const tool = await place.question();

          await place.ctl("approve", tool);
          const own = await place.question(null, [tool]);
          const shown = JSON.parse(await place.ctl("show", own));
          assert.ok(!existsSync(outside), "it waits");
          assert.equal(shown.risk_level, "high", JSON.stringify(shown));
          assert.match(JSON.stringify(shown), /because I must/);
          await place.ctl(verdict, own);
          await until("its turn is over", () => agent.said.includes(DONE));
          assert.equal(existsSync(outside), verdict === "approve", agent.said);
          const [{ count }] = await place.sql("SELECT count(*) AS count FROM request");
          assert.equal(count, 2, "two questions");
          agent.child.kill();
        });

    for (const [file, text] of gate.switches)
      test_(`with ${file} a project opens it, and the doctor names that file`, async (place) => {
        await place.configure(model.run(once(place.command)), "--gate", "--http");
        if (host.required) await place.edit(host.entries, "required = true", "required = false");
        place.put(file, text);
        const agent = place.headless("Do it.", {}, gate.free);
        await agent.ended();
        const { code, output } = await place.intercom("doctor", "--gate", name);

        assert.ok(place.has("hello.txt"), agent.said);
        assert.ok(code !== 0 && output.includes(`OPEN in ${place.workspace}: ${file}: `), output);
      });

    test_("a canary tells whether it is closed, and its version is noted", async (place) => {
      const state = gate.trust ? "open" : "closed";
      await place.configure(model.run(once(place.command)), "--gate");
      await place.start();
      const { output } = await place.intercom("doctor", "--gate", name);

      assert.match(output, new RegExp(`gate ${name}: ${state} `, "i"));
      const [row] = await place.sql(`SELECT state FROM gate_canary WHERE host = '${name}'`);
      assert.deepEqual(row, { state });
    });

    if (gate.switches.length)
      test_("a project that opens it is noticed while its agent works, and that no hook calls", async (place) => {
        const script = (results) => (results.length < 2 ? { tool: "ping", args: {} } : { hang: true });
        await place.configure(model.run(script), "--gate");
        place.put(...gate.switches[0]);
        const agent = place.headless("Do it.", {}, gate.free);
        const lapses = () =>
          place.sql("SELECT kind, host FROM gate_lapse WHERE kind <> 'untried' ORDER BY kind");

        await until("it is noticed", async () => agent.over || (await lapses()).length === 2);
        assert.deepEqual(
          await lapses(),
          ["silent", "switched_off"].map((kind) => ({ kind, host: name })),
          agent.said,
        );
        const health = await place.ctl("health");
        assert.match(health, /disableAllHooks|hooks is false|enabled is false/);
      });

    test_("a command of its own that is rejected does not run, and the model hears why", async (place) => {
      const { run, agent, question } = await asks(place, patient(place.command));

      await place.ctl("reject", question, "--reason", "not today");
      await agent.ended();

      assert.ok(!place.has("hello.txt"), agent.said);
      assert.match(run.requests.at(-1).results[0], /not today/);
    });

    const isTold = (result) => /now with exactly this input/.test(result ?? "");

    /** A model that makes one call, and does what it is told to call instead. */
    const obedient = (step, instead) => (results) => {
      if (results.length === 0) return step;
      return isTold(results.at(-1)) ? instead : patient(step)(results);
    };

    /** Approves with this text; what was compared afterwards. */
    async function changes(place, script, text) {
      const { agent, question } = await asks(place, script);
      const file = join(place.dir, "instead");

      await writeFile(file, text);
      await place.ctl("approve", question, "--with", file);
      await agent.ended();
      const [row] = await place.sql(
        "SELECT seen, seen_why AS why FROM gate_call WHERE decision = 'allow' AND request_seq IS NOT NULL",
      );
      return { agent, row };
    }

    test_("a command that is approved with a change runs as the operator wrote it", async (place) => {
      const command = `touch ${join(place.workspace, "changed.txt")}`;
      const script = obedient(place.command, gate.run(command));
      const { agent, row } = await changes(place, script, command);

      assert.ok(place.has("changed.txt"), agent.said);
      assert.ok(!place.has("hello.txt"), agent.said);
      assert.deepEqual(row, { seen: "same", why: null });
    });

    if (gate.seen)
      test_("a file that is approved with a change is written as the operator wrote it", async (place) => {
        const script = obedient(place.write, gate.write(place.file, "changed"));
        const { agent, row } = await changes(place, script, "changed\n");

        assert.equal(place.has("hello.txt") && place.read("hello.txt"), "changed\n", agent.said);
        assert.deepEqual(row, { seen: "same", why: null });
      });

    test_("at its deadline a call is denied as parked, and its repetition is approved once", async (place) => {
      let wake;
      const awake = new Promise((resolve) => (wake = resolve));
      const script = async (results) => {
        if (results.length === 1) await awake;
        return results.length < 3 ? place.command : { say: DONE };
      };
      const run = model.run(script);
      await place.configure(run, "--gate", "--wait", `${DEADLINE}`);
      const agent = place.headless("Do it.", {}, gate.free);
      const question = await place.question(agent);
      const told = await until("the model is told", () =>
        run.requests.find((one) => one.results.length === 1),
      );

      assert.ok(!place.has("hello.txt"), "it is denied");
      assert.ok(told.results[0].includes(question), told.results[0]);
      await place.ctl("approve", question);
      wake();
      assert.notEqual(await place.question(agent, [question]), question, "a third one is asked again");
      assert.ok(place.has("hello.txt"), "the second one was done");
      await agent.ended();
      const [{ count }] = await place.sql("SELECT count(*) AS count FROM request");
      assert.equal(count, 2, "two questions");
    });

    test_(`a hook that is killed leaves it ${gate.lost}`, async (place) => {
      const { agent } = await asks(place, once(place.command));
      const hooks = place.processes("hook");

      assert.ok(hooks.length > 0, "the hook runs");
      for (const pid of hooks) process.kill(pid, "SIGKILL");
      await agent.ended();
      assert.equal(place.has("hello.txt"), gate.lost === "open", agent.said);
      const events = () => place.sql("SELECT kind, actor FROM event WHERE kind = 'gate.unasked'");
      if (gate.lost === "open") {
        await until("it is noticed", async () => (await events()).length > 0);
        assert.equal((await events())[0].actor, name);
      } else assert.deepEqual(await events(), []);
    });

    test_(`a hook that is missing leaves it ${gate.missing}`, async (place) => {
      await place.configure(model.run(once(place.command)), "--gate");
      await place.edit(gate.hooks, process.env.HOSTS_BUILD, "/nonexistent");
      const agent = place.headless("Do it.", {}, gate.free);

      await agent.ended();
      assert.equal(place.has("hello.txt"), gate.missing === "open", agent.said);
    });

    test_("nothing runs while the system does not, and the model hears why", async (place) => {
      const run = model.run(once(place.command));
      await place.configure(run, "--gate", "--http"); // over stdio the host would start it
      if (host.required) await place.edit(host.entries, "required = true", "required = false");
      const agent = place.headless("Do it.", {}, gate.free);

      await agent.ended();
      assert.ok(!place.has("hello.txt"), agent.said);
      assert.match(run.requests.at(-1).results[0], /agent-intercom/);
    });

    test_("it runs while the system does not, if install was told so", async (place) => {
      await place.configure(model.run(once(place.command)), "--gate", "--http", "--when-down", "allow");
      if (host.required) await place.edit(host.entries, "required = true", "required = false");
      const agent = place.headless("Do it.", {}, gate.free);

      await agent.ended();
      assert.ok(place.has("hello.txt"), agent.said);
    });

    test_("a front that is killed while a call waits lets nothing run unasked", async (place) => {
      const { agent, question } = await asks(place, patient(place.command));

      for (const pid of place.processes("mcp-front")) process.kill(pid, "SIGKILL");
      await until(
        "there is another front, or the host has ended",
        () => agent.over || place.processes("mcp-front").length > 0,
      );
      assert.ok(!place.has("hello.txt"), agent.said);
      await place.ctl("reject", question, "--reason", "no");
      await agent.ended();
      assert.ok(!place.has("hello.txt"), agent.said);
    });

    test_("a login shell that prints something neither opens nor closes it", async (place) => {
      const noise = "echo hello from the profile\n";
      const write = patient(place.write);
      const script = (results) => {
        if (results.length === 0) return place.command;
        return results.length === 1 ? place.write : write(results);
      };
      place.env.SHELL = "/bin/bash";
      place.env.BASH_ENV = join(place.home, ".bashrc");
      for (const file of [".profile", ".bash_profile", ".bashrc"])
        await appendFile(join(place.home, file), noise);
      const { agent, question } = await asks(place, script);

      await place.ctl("reject", question, "--reason", "not today");
      const next = await place.question(agent, [question]);
      assert.ok(!place.has("hello.txt"), "the command did not run");
      await place.ctl("approve", next);
      await agent.ended();
      assert.equal(place.has("hello.txt") && place.read("hello.txt"), "hello\n", agent.said);
    });

    for (const verdict of ["approve", "reject"])
      test_(`after ${LONG} s of waiting, ${verdict} counts`, async (place) => {
        const { agent, question } = await asks(place, patient(place.command, gate.pause));

        await delay(LONG * MS);
        assert.ok(!place.has("hello.txt"), "it waits");
        if (verdict === "approve") await place.ctl("approve", question);
        else await place.ctl("reject", question, "--reason", "not today");
        await agent.ended();
        assert.equal(place.has("hello.txt"), verdict === "approve", agent.said);
      });

    test_("of two calls at once each has its own answer", async (place) => {
      const calls = ["one", "two"].map((file) => gate.run(`touch ${join(place.workspace, file)}`));
      const script = (results) => {
        if (results.length === 0) return { calls };
        return isParked(results.at(-1)) ? calls[1] : { say: DONE };
      };
      const { agent, question } = await asks(place, script);
      const answer = async (id) =>
        /touch \S*one/.test(await place.ctl("show", id))
          ? place.ctl("approve", id)
          : place.ctl("reject", id, "--reason", "not two");

      await answer(question);
      await answer(await place.question(agent, [question]));
      await agent.ended();
      assert.ok(place.has("one"), agent.said);
      assert.ok(!place.has("two"), agent.said);
    });
  });
}
