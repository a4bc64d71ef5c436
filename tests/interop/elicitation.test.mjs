// Forms: what `[mcp] elicitation = true` has official clients show to their own user. The legacy
// era asks on the stream of the call; revision 2026-07-28 with a result, which the client's own
// driver fulfils and sends the call again.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { client2, pinned, sdk1 } from "./clients.mjs";
import { Agent } from "./contract.mjs";
import { answer, GIVES_UP_MS, proposal, System, TIMEOUT, until } from "./lib.mjs";

const ALLOWED = "\n[mcp]\nelicitation = true\n";

/** The client's user: is shown forms, and answers them when the test does. */
class User {
  shown = [];

  show(params, signal) {
    return new Promise((answer) => this.shown.push({ params, signal, answer }));
  }

  /** The next form, once it is on the screen. */
  form() {
    return until("a form is shown", () => this.shown.shift());
  }
}

const accept = (decision, more) => ({ action: "accept", content: { decision, ...more } });

/** Everything that the server sends to a client from now on, as JSON. */
function overhear({ transport }) {
  const heard = [];
  const pass = transport.onmessage;
  transport.onmessage = (message, extra) => {
    heard.push(JSON.stringify(message));
    pass.call(transport, message, extra);
  };
  return heard;
}

const count = (heard, method) =>
  heard.filter((message) => message.includes(`"method":"${method}"`)).length;

/** Resolves when a client of the legacy era has sent what its user said to a form. */
function responded({ transport }) {
  const send = transport.send;
  return new Promise((resolve) => {
    transport.send = async (message, options) => {
      await send.call(transport, message, options);
      if (message.result?.action) resolve();
    };
  });
}

function forms(peer, transport) {
  describe(`forms, ${peer.name} over ${transport}`, () => {
    let system;

    const connect = (t, user, one = system) =>
      Agent.connect(
        t,
        peer,
        transport === "stdio"
          ? { stdio: one.stdio(), user }
          : { url: new URL(transport === "sse" ? one.url.replace(/mcp$/, "sse") : one.url), user },
      );
    /** An agent whose user sees the question of one call. */
    const ask = async (t, name, args, options) => {
      const user = new User();
      const agent = await connect(t, user);
      const earlier = await system.inbox();
      const call = agent.call(name, args, options);
      const id = await system.question(earlier, call);
      return { agent, user, call, id, form: await user.form() };
    };

    before(async () => {
      system = await System.start(ALLOWED);
    });
    after(async () => {
      await system?.stop();
    });

    test(
      "the user's yes on the form answers the call and is the one decision",
      TIMEOUT,
      async (t) => {
        const { agent, user, call, id, form } = await ask(
          t,
          "check_clearance",
          proposal("yes.txt", "grüß dich\n"),
        );
        for (const part of ["write yes.txt", "asked by an interop test", "+grüß dich"])
          assert.ok(form.params.message.includes(part), `the form says ${part}`);
        assert.deepEqual(await system.decisions(id), []);
        form.answer(accept("approve"));
        assert.deepEqual(answer(await call), { status: "approved", request_id: id });
        assert.deepEqual(await system.decisions(id), ["approve by elicitation: applied"]);
        assert.equal(
          answer(await agent.call("check_diff", { request_id: id })).status,
          "applied",
        );
        assert.equal(await system.read("yes.txt"), "grüß dich\n");
        assert.deepEqual(user.shown, [], "the user is asked once");
        agent.undisturbed();
      },
    );

    test("the user's no reaches the agent with its reason", TIMEOUT, async (t) => {
      const { agent, call, id, form } = await ask(t, "check_clearance", proposal("no.txt", "no\n"));
      form.answer(accept("reject", { reason: "no tests" }));
      assert.deepEqual(answer(await call), {
        status: "rejected",
        request_id: id,
        reason: "no tests",
      });
      assert.deepEqual(await system.decisions(id), ["reject by elicitation: applied"]);
      agent.undisturbed();
    });

    test("the forms of all questions fit the client's own schemas", TIMEOUT, async (t) => {
      const user = new User();
      const agent = await connect(t, user);
      for (const [tool, args, right, wrong, said] of [
        [
          "check_clearance",
          proposal("form.txt", "form\n"),
          accept("reject", { reason: "slower" }),
          "continue",
          { status: "rejected", reason: "slower" },
        ],
        [
          "transmit",
          { prompt_text: "go on?" },
          accept("refine", { instruction: "slower" }),
          "approve",
          { decision: "refine", instruction: "slower" },
        ],
        [
          "standby",
          { message: "done" },
          accept("resume", { instruction: "slower" }),
          "refine",
          { status: "resumed", instruction: "slower" },
        ],
      ]) {
        const call = agent.call(tool, args);
        const form = await user.form();
        const { requestedSchema } = form.params;
        assert.ok(peer.isForm(form.params), JSON.stringify(form.params));
        assert.ok(peer.fits(requestedSchema, right.content));
        assert.ok(peer.fits(requestedSchema, { decision: right.content.decision }));
        assert.ok(!peer.fits(requestedSchema, { decision: wrong }));
        assert.ok(!peer.fits(requestedSchema, {}));
        form.answer(right);
        const got = answer(await call);
        for (const [name, value] of Object.entries(said)) assert.equal(got[name], value);
      }
      agent.undisturbed();
    });

    for (const action of ["decline", "cancel"])
      test(`a user who answers ${action} leaves the question to ctl`, TIMEOUT, async (t) => {
        const { agent, user, call, id, form } = await ask(
          t,
          "check_clearance",
          proposal(`${action}.txt`, "who?\n"),
        );
        const heard = overhear(agent);
        const sent = responded(agent);
        form.answer({ action });
        await (peer.revision ? system.waited(id) : sent);
        await agent.call("ping"); // what was sent before it has been taken
        assert.deepEqual(await system.decisions(id), []);
        await system.ctl("approve", id);
        assert.deepEqual(answer(await call), { status: "approved", request_id: id });
        const takenBack = count(heard, "notifications/cancelled");
        assert.equal(takenBack, 0, "a form that was answered is not taken back");
        assert.deepEqual(await system.decisions(id), ["approve by ctl: applied"]);
        assert.deepEqual(user.shown, [], "the user is not asked again");
        agent.undisturbed();
      });

    test("an answer by ctl wins over the open form", TIMEOUT, async (t) => {
      const { agent, call, id, form } = await ask(t, "check_clearance", proposal("won.txt", "x\n"));
      await system.ctl("reject", id, "--reason", "first");
      if (peer.revision) assert.equal(form.signal?.aborted ?? false, false);
      else await until("the form is taken off the screen", () => form.signal.aborted);
      form.answer(accept("approve"));
      assert.deepEqual(answer(await call), {
        status: "rejected",
        request_id: id,
        reason: "first",
      });
      assert.deepEqual(await system.decisions(id), ["reject by ctl: applied"]);
      agent.undisturbed();
    });

    test("who declares no elicitation is not asked, who does is", TIMEOUT, async (t) => {
      for (const user of [undefined, new User()]) {
        const agent = await connect(t, user);
        const heard = overhear(agent);
        const earlier = await system.inbox();
        const call = agent.call("check_clearance", proposal(`asked-${Boolean(user)}.txt`, "x\n"));
        const id = await system.question(earlier, call);
        if (user) (await user.form()).answer({ action: "decline" });
        await system.waited(id);
        await system.ctl("approve", id);
        assert.equal(answer(await call).status, "approved");
        assert.equal(count(heard, "elicitation/create"), user ? 1 : 0);
        agent.undisturbed();
      }
    });

    test("no client is asked unless the configuration says so", TIMEOUT, async (t) => {
      const silent = await System.start();
      t.after(() => silent.stop());
      const user = new User();
      const agent = await connect(null, user, silent);
      try {
        const heard = overhear(agent);
        const call = agent.call("check_clearance", proposal("off.txt", "off\n"));
        const id = await silent.question([], call);
        await silent.waited(id);
        await silent.ctl("approve", id);
        assert.equal(answer(await call).status, "approved");
        assert.equal(count(heard, "elicitation/create"), 0);
        assert.deepEqual(user.shown, []);
        agent.undisturbed();
      } finally {
        await agent.close();
      }
    });

    const legacy = { ...TIMEOUT, skip: peer.revision && "no call is open while a form is" };
    test("the form of a call that the client gave up on is taken back", legacy, async (t) => {
      const question = proposal("patience.txt", "patience\n");
      const { agent, user, call, id, form } = await ask(t, "check_clearance", question, {
        timeout: GIVES_UP_MS,
      });
      await assert.rejects(call, peer.timedOut);
      await until("the form is taken off the screen", () => form.signal.aborted);
      const again = agent.call("check_clearance", question);
      (await user.form()).answer(accept("approve"));
      assert.deepEqual(answer(await again), { status: "approved", request_id: id });
      assert.deepEqual(await system.decisions(id), ["approve by elicitation: applied"]);
      agent.undisturbed();
    });
  });
}

for (const peer of [sdk1, client2(), pinned])
  for (const transport of ["http", "stdio"]) forms(peer, transport);
forms(sdk1, "sse");
