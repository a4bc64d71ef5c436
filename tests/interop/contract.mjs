// What every official client must see, whatever its version and transport.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import {
  answer,
  body,
  GIVES_UP_MS,
  proposal,
  refusal,
  System,
  TIMEOUT,
  TOOLS,
  until,
  UUID,
} from "./lib.mjs";

const OLD_NAMES = {
  ask_approval: "check_clearance",
  accept_diff: "check_diff",
  check_auto_approve: "auto_check",
  forward_prompt: "transmit",
  remote_log: "broadcast",
  recover_state: "reboot",
  set_operational_mode: "switch_freq",
  wait_for_instruction: "standby",
  heartbeat: "ping",
};

const progressSeconds = Number(process.env.INTERCOM_PROGRESS_SECONDS || 0);

/** An agent: one connected client that remembers every complaint of its transport. */
export class Agent {
  static async connect(t, peer, target) {
    const agent = new Agent();
    agent.peer = peer;
    agent.complaints = [];
    Object.assign(agent, await peer.connect(target, (error) => agent.complaints.push(error)));
    t?.after(() => agent.close());
    // The clients check answers against output schemas that they have seen in a list.
    agent.tools = (await agent.client.listTools()).tools;
    return agent;
  }

  call(name, args = {}, options = {}) {
    return this.peer.call(this.client, name, args, options);
  }

  async sessionId() {
    return answer(await this.call("ping")).session_id;
  }

  /** Neither stray bytes on stdout, nor a message nobody waits for, nor a refused GET. */
  undisturbed() {
    assert.deepEqual(this.complaints.map(String), []);
  }

  close() {
    return this.client.close();
  }
}

async function rejection(promise) {
  try {
    const result = await promise;
    assert.fail(`not rejected: ${JSON.stringify(result)}`);
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    return error;
  }
}

/** Bad arguments may be a JSON-RPC error or an error result; a success they are not. */
async function refusedEitherWay(promise) {
  try {
    const result = await promise;
    assert.equal(result.isError, true, `accepted: ${JSON.stringify(result.content)}`);
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    assert.equal(error.code, -32602, error.stack);
  }
}

export function contract(peer, transport) {
  describe(`${peer.name} over ${transport}`, () => {
    let system;
    const revision = peer.revision ?? "2025-11-25";
    // Without MCP sessions, two agents of one name are told apart by the label that they were given.
    const label = (name) =>
      peer.revision && transport === "http" ? { query: `agent=${name}` } : undefined;
    // The transport of revision 2024-11-05 has an address of its own.
    const at = (one) => (transport === "sse" ? one.url.replace(/mcp$/, "sse") : one.url);
    const target = (more = {}) =>
      transport === "stdio"
        ? { stdio: system.stdio(more.env) }
        : { url: new URL(more.query ? `${at(system)}?${more.query}` : at(system)) };
    const connect = (t, more) => Agent.connect(t, peer, target(more));
    /** Asks, finds the question in the inbox, and hands both over. */
    const ask = async (agent, name, args, options) => {
      const earlier = await system.inbox();
      const call = agent.call(name, args, options);
      return { call, id: await system.question(earlier, call) };
    };

    before(async () => {
      system = await System.start();
    });
    after(async () => {
      await system?.stop();
    });

    test(
      `both agree on ${revision}, and the server names itself and its capabilities`,
      TIMEOUT,
      async (t) => {
        const agent = await connect(t);
        assert.equal(agent.client.getServerVersion().name, "agent-intercom");
        assert.ok(agent.client.getServerVersion().version);
        assert.ok(agent.client.getServerCapabilities().tools);
        assert.ok(agent.client.getServerCapabilities().resources);
        assert.equal(agent.version(), revision);
        agent.undisturbed();
      },
    );

    test(
      "the list has exactly the nine tools, each described with schemas and hints",
      TIMEOUT,
      async (t) => {
        const { tools } = await connect(t);
        assert.deepEqual(tools.map((tool) => tool.name).sort(), TOOLS);
        for (const tool of tools) {
          assert.ok(tool.description, `${tool.name} has a description`);
          assert.equal(tool.inputSchema?.type, "object", `${tool.name} has an input schema`);
          assert.equal(tool.outputSchema?.type, "object", `${tool.name} has an output schema`);
          assert.equal(typeof tool.annotations?.readOnlyHint, "boolean", `${tool.name} has hints`);
        }
        const of = (name) => tools.find((tool) => tool.name === name);
        assert.deepEqual(of("check_clearance").inputSchema.required.toSorted(), [
          "diff",
          "file_path",
          "title",
        ]);
        assert.deepEqual(of("check_diff").inputSchema.required, ["request_id"]);
        for (const name of ["check_clearance", "standby", "transmit"])
          assert.match(
            JSON.stringify(of(name).outputSchema),
            /"pending"/,
            `${name} may be pending`,
          );
      },
    );

    test("the inbox and the session's timeline can be read, Slack's channel can't yet", TIMEOUT, async (t) => {
      const { client } = await connect(t);
      const { resourceTemplates } = await client.listResourceTemplates();
      assert.deepEqual(resourceTemplates.map((one) => one.uriTemplate).sort(), [
        "intercom://session/{id}/timeline",
        "slack://channel/{id}/recent",
      ]);
      const { resources } = await client.listResources();
      assert.ok(resources.some((one) => one.uri === "intercom://inbox"));
      const { contents } = await client.readResource({ uri: "intercom://inbox" });
      assert.ok(Array.isArray(JSON.parse(contents[0].text).questions));
      await assert.rejects(client.readResource({ uri: "slack://channel/C0OTHER/recent?limit=5" }), /channel/);
    });

    test("ping acknowledges with the session and nothing else", TIMEOUT, async (t) => {
      const agent = await connect(t);
      const pong = answer(await agent.call("ping"));
      assert.deepEqual(Object.keys(pong).sort(), [
        "acknowledged",
        "session_id",
        "stall_detection_enabled",
      ]);
      assert.equal(pong.acknowledged, true);
      assert.match(pong.session_id, UUID);
      assert.equal(typeof pong.stall_detection_enabled, "boolean");
      const again = answer(
        await agent.call("ping", {
          status_message: "half way",
          progress_snapshot: [
            { label: "first half", status: "done" },
            { label: "second half", status: "pending" },
          ],
        }),
      );
      assert.equal(again.session_id, pong.session_id);
      await refusedEitherWay(
        agent.call("ping", { progress_snapshot: [{ label: "", status: "done" }] }),
      );
      agent.undisturbed();
    });

    test(
      "what ctl approves is written once, and a second check_diff is already_consumed",
      TIMEOUT,
      async (t) => {
        const agent = await connect(t);
        const { call, id } = await ask(
          agent,
          "check_clearance",
          proposal("new/by-ctl.txt", "grüß dich\n"),
        );
        assert.match(id, UUID);
        assert.equal(system.has("new/by-ctl.txt"), false, "nothing is written before the verdict");
        assert.deepEqual(await system.ctl("approve", id), { request_id: id, status: "approved" });
        assert.deepEqual(answer(await call), { status: "approved", request_id: id });
        const files = [{ path: "new/by-ctl.txt", bytes: 12 }];
        assert.deepEqual(answer(await agent.call("check_diff", { request_id: id })), {
          status: "applied",
          files_written: files,
        });
        assert.equal(await system.read("new/by-ctl.txt"), "grüß dich\n");
        await system.write("new/by-ctl.txt", "mine now\n");
        const second = refusal(await agent.call("check_diff", { request_id: id, force: true }));
        assert.equal(second.error_code, "already_consumed");
        assert.deepEqual(second.files_written, files);
        assert.equal(await system.read("new/by-ctl.txt"), "mine now\n");
        assert.ok(!(await system.inbox()).includes(id), "an answered question leaves the inbox");
        agent.undisturbed();
      },
    );

    test("an approval typed into the sqlite3 shell counts like any other", TIMEOUT, async (t) => {
      const agent = await connect(t);
      const { call, id } = await ask(
        agent,
        "check_clearance",
        proposal("by-sql.txt", "from the shell\n", { risk_level: "critical" }),
      );
      await system.sql(`INSERT INTO decision(request_id, verdict) VALUES('${id}','approve')`);
      assert.deepEqual(answer(await call), { status: "approved", request_id: id });
      const applied = answer(await agent.call("check_diff", { request_id: id }));
      assert.deepEqual(applied.files_written, [{ path: "by-sql.txt", bytes: 15 }]);
      assert.equal(await system.read("by-sql.txt"), "from the shell\n");
      agent.undisturbed();
    });

    test("an approved unified diff changes the file it was made for", TIMEOUT, async (t) => {
      const agent = await connect(t);
      await system.write("poem.txt", "one\ntwo\nthree\n");
      const diff = "--- a/poem.txt\n+++ b/poem.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\n";
      const { call, id } = await ask(agent, "check_clearance", proposal("poem.txt", diff));
      await system.ctl("approve", id);
      assert.equal(answer(await call).status, "approved");
      const applied = answer(await agent.call("check_diff", { request_id: id }));
      assert.deepEqual(applied.files_written, [{ path: "poem.txt", bytes: 14 }]);
      assert.equal(await system.read("poem.txt"), "one\nTWO\nthree\n");
    });

    test(
      "a file that changed after the question is a patch_conflict until force is set",
      TIMEOUT,
      async (t) => {
        const agent = await connect(t);
        const { call, id } = await ask(
          agent,
          "check_clearance",
          proposal("race.txt", "the agent's\n"),
        );
        await system.ctl("approve", id);
        await call;
        await system.write("race.txt", "somebody else's\n");
        const conflict = refusal(await agent.call("check_diff", { request_id: id }));
        assert.equal(conflict.error_code, "patch_conflict");
        assert.equal(await system.read("race.txt"), "somebody else's\n");
        answer(await agent.call("check_diff", { request_id: id, force: true }));
        assert.equal(await system.read("race.txt"), "the agent's\n");
      },
    );

    test(
      "a rejection carries its reason and check_diff refuses it as not_approved",
      TIMEOUT,
      async (t) => {
        const agent = await connect(t);
        const { call, id } = await ask(agent, "check_clearance", proposal("no.txt", "no\n"));
        assert.deepEqual(await system.ctl("reject", id, "--reason", 'wrong "file" – sorry'), {
          request_id: id,
          status: "rejected",
        });
        assert.deepEqual(answer(await call), {
          status: "rejected",
          request_id: id,
          reason: 'wrong "file" – sorry',
        });
        const refused = refusal(await agent.call("check_diff", { request_id: id }));
        assert.equal(refused.error_code, "not_approved");
        assert.equal(system.has("no.txt"), false);
        agent.undisturbed();
      },
    );

    test("check_diff of an id that nobody issued is request_not_found", TIMEOUT, async (t) => {
      const agent = await connect(t);
      const request_id = "01900000-0000-7000-8000-000000000000";
      assert.equal(
        refusal(await agent.call("check_diff", { request_id })).error_code,
        "request_not_found",
      );
    });

    test("a path outside the workspace and a missing argument ask nobody", TIMEOUT, async (t) => {
      const agent = await connect(t);
      const earlier = await system.inbox();
      await refusedEitherWay(agent.call("check_clearance", proposal("../outside.txt", "x\n")));
      await refusedEitherWay(agent.call("check_clearance", { title: "no path", diff: "x\n" }));
      assert.deepEqual(await system.inbox(), earlier);
    });

    test(
      "transmit brings back continue, refine with the instruction, and stop",
      TIMEOUT,
      async (t) => {
        const agent = await connect(t);
        const prompt = (prompt_text) => ({
          prompt_text,
          prompt_type: "clarification",
          actions_taken: 3,
        });
        const first = await ask(agent, "transmit", prompt("shall I go on?"));
        await system.ctl("continue", first.id);
        assert.deepEqual(answer(await first.call), { decision: "continue" });
        const second = await ask(agent, "transmit", prompt("and now?"));
        await system.decide(second.id, "refine", "only the tests, it's late");
        assert.deepEqual(answer(await second.call), {
          decision: "refine",
          instruction: "only the tests, it's late",
        });
        const third = await ask(agent, "transmit", prompt("and after that?"));
        await system.decide(third.id, "stop");
        assert.deepEqual(answer(await third.call), { decision: "stop" });
        agent.undisturbed();
      },
    );

    test("standby ends with the instruction that ctl resume gives", TIMEOUT, async (t) => {
      const agent = await connect(t);
      const first = await ask(agent, "standby", { message: "done, what next?" });
      const resumed = await system.ctl("resume", "write the release notes");
      assert.equal(resumed.status, "resumed");
      assert.deepEqual(answer(await first.call), {
        status: "resumed",
        instruction: "write the release notes",
      });
      const second = await ask(agent, "standby", {});
      await system.decide(second.id, "resume");
      assert.deepEqual(answer(await second.call), { status: "resumed" });
      agent.undisturbed();
    });

    test("broadcast without Slack is not posted and does not fail", TIMEOUT, async (t) => {
      const agent = await connect(t);
      const said = answer(
        await agent.call("broadcast", { message: "build is green", level: "success" }),
      );
      assert.equal(said.posted, false);
      assert.ok(!said.ts, "no timestamp without Slack");
      await refusedEitherWay(agent.call("broadcast", { message: "x", level: "shouting" }));
    });

    test(
      "switch_freq knows the local mode and refuses remote for want of Slack",
      TIMEOUT,
      async (t) => {
        const agent = await connect(t);
        const local = { previous_mode: "local", current_mode: "local" };
        assert.deepEqual(answer(await agent.call("switch_freq", { mode: "local" })), local);
        const refused = await agent.call("switch_freq", { mode: "remote" });
        assert.equal(refused.isError, true);
        assert.match(refused.content[0].text, /slack/i);
        assert.deepEqual(answer(await agent.call("switch_freq", { mode: "local" })), local);
      },
    );

    test("auto_check without a workspace policy approves nothing", TIMEOUT, async (t) => {
      const agent = await connect(t);
      const context = { file_path: "src/main.c", risk_level: "low" };
      const nothing = {
        auto_approved: false,
        matched_rule: null,
        reason: "there is no policy, or it cannot be read",
      };
      assert.deepEqual(
        answer(await agent.call("auto_check", { tool_name: "git status" })),
        nothing,
      );
      const file = await agent.call("auto_check", { tool_name: "broadcast", context });
      assert.deepEqual(answer(file), nothing);
    });

    test("the old tool names still work", TIMEOUT, async (t) => {
      const agent = await connect(t);
      const listed = agent.tools.map((tool) => tool.name);
      for (const [old, name] of Object.entries(OLD_NAMES)) {
        assert.ok(!listed.includes(old), `${old} is not listed`);
        assert.ok(listed.includes(name), `${name} is listed`);
      }
      assert.equal(body(await agent.call("heartbeat")).acknowledged, true);
      assert.equal(body(await agent.call("remote_log", { message: "hello" })).posted, false);
      assert.match(body(await agent.call("recover_state")).status, /^(clean|recovered)$/);
      assert.equal(
        body(await agent.call("set_operational_mode", { mode: "local" })).current_mode,
        "local",
      );
      assert.equal(
        body(await agent.call("check_auto_approve", { tool_name: "rm" })).auto_approved,
        false,
      );
      const clearance = await ask(agent, "ask_approval", proposal("old.txt", "old\n"));
      await system.ctl("approve", clearance.id);
      assert.equal(body(await clearance.call).status, "approved");
      assert.equal(
        body(await agent.call("accept_diff", { request_id: clearance.id })).status,
        "applied",
      );
      const prompt = await ask(agent, "forward_prompt", { prompt_text: "old?" });
      await system.decide(prompt.id, "continue");
      assert.equal(body(await prompt.call).decision, "continue");
      const wait = await ask(agent, "wait_for_instruction", {});
      await system.decide(wait.id, "resume");
      assert.equal(body(await wait.call).status, "resumed");
    });

    test("an unknown tool is the JSON-RPC error -32602", TIMEOUT, async (t) => {
      const agent = await connect(t);
      const error = await rejection(agent.call("launch_rockets"));
      assert.equal(error.code, -32602, error.stack);
      assert.match(error.message, /launch_rockets/);
      await agent.call("ping");
    });

    test(
      "the operator sees the agent in ctl list and its question in ctl inbox",
      TIMEOUT,
      async (t) => {
        const agent = await connect(t);
        const session = await agent.sessionId();
        const { call, id } = await ask(agent, "check_clearance", proposal("seen.txt", "seen\n"));
        const { sessions } = await system.ctl("list");
        const mine = sessions.find((one) => one.session_id === session);
        assert.equal(mine?.status, "active");
        assert.equal(mine.mode, "local");
        assert.equal(mine.workspace_root, system.workspace);
        assert.equal(mine.last_tool, "check_clearance");
        assert.match(JSON.stringify(await system.ctl("inbox")), new RegExp(id));
        await system.ctl("reject", id);
        assert.equal(answer(await call).status, "rejected");
        assert.doesNotMatch(JSON.stringify(await system.ctl("inbox")), new RegExp(id));
      },
    );

    test(
      "a call that the client gave up on is not asked twice when it is repeated",
      TIMEOUT,
      async (t) => {
        const agent = await connect(t);
        const question = proposal("patience.txt", "patience\n");
        const { call, id } = await ask(agent, "check_clearance", question, {
          timeout: GIVES_UP_MS,
        });
        assert.ok(peer.timedOut(await rejection(call)), "the client's own timeout ended the call");
        assert.ok((await system.inbox()).includes(id), "the question outlives the call");
        const again = agent.call("check_clearance", question);
        const pong = await agent.call("ping");
        assert.equal(pong.isError ?? false, false, "others are served while a call waits");
        await system.ctl("approve", id);
        assert.deepEqual(answer(await again), { status: "approved", request_id: id });
        assert.equal(await system.asked(question.title), 1);
        assert.equal(answer(await agent.call("check_diff", { request_id: id })).status, "applied");
        // Not even the cancelled call may be answered now.
        agent.undisturbed();
      },
    );

    test(
      "an answer given while nobody listens is there when the call is repeated",
      TIMEOUT,
      async (t) => {
        const agent = await connect(t);
        const question = proposal("meanwhile.txt", "meanwhile\n");
        const { call, id } = await ask(agent, "check_clearance", question, {
          timeout: GIVES_UP_MS,
        });
        await rejection(call);
        await system.decide(id, "approve");
        assert.deepEqual(answer(await agent.call("check_clearance", question)), {
          status: "approved",
          request_id: id,
        });
        assert.equal(await system.asked(question.title), 1);
      },
    );

    test(
      "a call that waits is told that it waits",
      {
        ...TIMEOUT,
        skip: progressSeconds
          ? false
          : "INTERCOM_PROGRESS_SECONDS is not set; the server's own beat is 15 s",
      },
      async (t) => {
        const agent = await connect(t);
        const heard = [];
        const { call, id } = await ask(agent, "check_clearance", proposal("slow.txt", "slow\n"), {
          onprogress: (progress) => heard.push(progress),
          timeout: 10_000 * progressSeconds,
          resetTimeoutOnProgress: true,
        });
        await until(
          "two progress notifications came",
          () => heard.length >= 2,
          9000 * progressSeconds,
        );
        assert.ok(heard[1].progress > heard[0].progress, "progress increases");
        assert.ok(heard[0].message, "progress says what it waits for");
        await system.ctl("approve", id);
        assert.equal(answer(await call).status, "approved");
        agent.undisturbed();
      },
    );

    test("two agents with the same question in one workspace stay apart", TIMEOUT, async (t) => {
      const agents = [await connect(t, label("one")), await connect(t, label("two"))];
      const sessions = [await agents[0].sessionId(), await agents[1].sessionId()];
      assert.notEqual(sessions[0], sessions[1]);
      const calls = agents.map((agent) =>
        agent.call("check_clearance", proposal("both.txt", "both\n")),
      );
      const ids = await Promise.all(sessions.map((session) => system.pendingOf(session)));
      assert.notEqual(ids[0], ids[1]);
      await system.ctl("reject", ids[0], "--reason", "not you");
      await system.ctl("approve", ids[1]);
      assert.deepEqual(answer(await calls[0]), {
        status: "rejected",
        request_id: ids[0],
        reason: "not you",
      });
      assert.deepEqual(answer(await calls[1]), { status: "approved", request_id: ids[1] });
      const stolen = await agents[0].call("check_diff", { request_id: ids[1] });
      assert.equal(stolen.isError, true, "an approval belongs to the session that asked");
      assert.equal(system.has("both.txt"), false);
      assert.equal(
        answer(await agents[1].call("check_diff", { request_id: ids[1] })).status,
        "applied",
      );
      for (const agent of agents) agent.undisturbed();
    });

    test("reboot on a session without a past is clean", TIMEOUT, async (t) => {
      const fresh = await System.start();
      t.after(() => fresh.stop());
      const where = transport === "stdio" ? { stdio: fresh.stdio() } : { url: new URL(at(fresh)) };
      const agent = await Agent.connect(null, peer, where);
      try {
        assert.deepEqual(answer(await agent.call("reboot")), { status: "clean" });
      } finally {
        await agent.close();
      }
    });

    test("a question outlives a restart of the system", TIMEOUT, async (t) => {
      let agent = await connect(t);
      const session = await agent.sessionId();
      const question = proposal("restart.txt", "still here\n");
      const { call, id } = await ask(agent, "check_clearance", question);
      call.catch(() => {});
      await system.restart();
      // The client may go on (http and a patient relay) or must be started again.
      const back = await agent.call("reboot", { session_id: session }).catch(() => null);
      if (back === null) {
        agent = await connect(t, {
          query: `session_id=${session}`,
          env: { ...system.env, INTERCOM_SESSION_ID: session },
        });
      }
      const state = answer(back ?? (await agent.call("reboot", { session_id: session })));
      assert.equal(state.status, "recovered");
      assert.equal(state.session_id, session);
      const pending = state.pending_requests.find((one) => one.request_id === id);
      assert.equal(pending?.type, "approval");
      assert.equal(pending.title, question.title);
      const again = agent.call("check_clearance", question);
      await until("the question is back in the inbox", async () =>
        (await system.inbox()).includes(id),
      );
      await system.ctl("approve", id);
      assert.deepEqual(answer(await again), { status: "approved", request_id: id });
      assert.equal(await system.asked(question.title), 1);
      assert.equal(answer(await agent.call("check_diff", { request_id: id })).status, "applied");
      assert.equal(await system.read("restart.txt"), "still here\n");
    });

    if (transport === "http") {
      test("agents of different workspaces stay apart", TIMEOUT, async (t) => {
        const alpha = await connect(t, { query: "workspace_id=alpha" });
        const beta = await connect(t, { query: "workspace_id=beta" });
        const sessions = [await alpha.sessionId(), await beta.sessionId()];
        const calls = [
          alpha.call("check_clearance", proposal("same.txt", "alpha\n")),
          beta.call("check_clearance", proposal("same.txt", "beta\n")),
        ];
        const ids = await Promise.all(sessions.map((session) => system.pendingOf(session)));
        await Promise.all(ids.map((id) => system.ctl("approve", id)));
        assert.deepEqual(
          (await Promise.all(calls)).map((result) => answer(result).request_id),
          ids,
        );
        assert.equal((await alpha.call("check_diff", { request_id: ids[1] })).isError, true);
        assert.equal(system.has("same.txt", system.beta), false);
        for (const [agent, id] of [
          [alpha, ids[0]],
          [beta, ids[1]],
        ])
          assert.equal(
            answer(await agent.call("check_diff", { request_id: id })).status,
            "applied",
          );
        assert.equal(await system.read("same.txt", system.alpha), "alpha\n");
        assert.equal(await system.read("same.txt", system.beta), "beta\n");
        assert.equal(system.has("same.txt"), false);
      });

      const ended = { ...TIMEOUT, skip: peer.revision && "this revision has no sessions" };
      test("a session that the client ended is unknown afterwards", ended, async () => {
        const agent = await connect();
        const id = agent.transport.sessionId;
        assert.match(id, /^[\x21-\x7e]+$/, "initialize answers a session id");
        await agent.transport.terminateSession();
        const answer = await fetch(system.url, {
          method: "POST",
          headers: {
            accept: "application/json, text/event-stream",
            "content-type": "application/json",
            "mcp-session-id": id,
            "mcp-protocol-version": "2025-11-25",
          },
          body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
        });
        await answer.text();
        assert.equal(answer.status, 404);
        await agent.close();
      });
    } else if (transport === "stdio") {
      test("the relay leaves by itself when its client closes stdin", TIMEOUT, async (t) => {
        const agent = await connect(t);
        const { pid } = agent.transport;
        assert.ok(pid);
        const start = performance.now();
        await agent.close();
        // The clients send SIGTERM after 2 s.
        assert.ok(performance.now() - start < 1500, "the relay needed a signal");
      });

      test(
        "a relay with the few variables that the SDK passes on finds the running system",
        TIMEOUT,
        async (t) => {
          const { HOME, PATH, LANG } = system.env;
          const agent = await connect(t, { env: { HOME, PATH, LANG } });
          const { call, id } = await ask(agent, "check_clearance", proposal("bare.txt", "bare\n"));
          await system.ctl("reject", id);
          assert.equal(answer(await call).status, "rejected");
        },
      );

      test("the first stdio client starts the system, which outlives it", TIMEOUT, async (t) => {
        const cold = await System.create();
        t.after(() => cold.stop());
        const agents = await Promise.all([
          Agent.connect(null, peer, { stdio: cold.stdio() }),
          Agent.connect(null, peer, { stdio: cold.stdio() }),
        ]);
        for (const agent of agents) {
          answer(await agent.call("ping"));
          agent.undisturbed();
          await agent.close();
        }
        assert.ok(await cold.healthy(), "the system runs on without its clients");
      });
    }
  });
}
