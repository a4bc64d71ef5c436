// Calls as tasks (`?tasks=1`, `--tasks`): client 2.x in revision 2026-07-28, and on top of it the
// official package of the tasks extension, which polls.
import { SdkHttpError } from "@modelcontextprotocol/client";
import { createTaskSessionFromClient } from "@modelcontextprotocol/ext-tasks/client";
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { pinned } from "./clients.mjs";
import { Agent } from "./contract.mjs";
import { answer, body, proposal, System, TIMEOUT, UUID } from "./lib.mjs";

const CLIENT = { name: "interop-pin", version: "1.0.0" };

/** The params of a request that declares the tasks extension, where ext-tasks does not send it. */
const framed = (params) => ({
  ...params,
  _meta: {
    "io.modelcontextprotocol/protocolVersion": pinned.revision,
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {
      extensions: { "io.modelcontextprotocol/tasks": {} },
    },
  },
});

/** A JSON-RPC response as ext-tasks wants to be handed it. */
const handed = ({ error, result }) =>
  error ? { kind: "error", error } : { kind: "result", result };

/**
 * Requests beside the client, whose own codecs know no tasks: ext-tasks leaves that to its host.
 * Returns the function that sends one and resolves with its response.
 */
function beside({ transport }) {
  const open = new Map();
  const pass = transport.onmessage;
  let last = 0;
  transport.onmessage = (message, extra) => {
    const settle = message.method === undefined && open.get(message.id);
    if (settle) settle(message);
    else pass.call(transport, message, extra);
  };
  return async (request, { signal, context } = {}) => {
    const id = `beside-${++last}`;
    const response = new Promise((settle) => open.set(id, settle));
    await transport.send(
      { jsonrpc: "2.0", id, ...request },
      { headers: context?.headers, requestSignal: signal },
    );
    return handed(await response);
  };
}

function tasks(transport) {
  describe(`tasks, client 2.x with ext-tasks over ${transport}`, () => {
    let system;

    /** `asked`: whether the connection asks for tasks; `says`: what the user says to a form. */
    const connect = async (t, { asked = true, one = system, says } = {}) => {
      const agent = await Agent.connect(
        t,
        pinned,
        transport === "stdio"
          ? { stdio: one.stdio(one.env, ...(asked ? ["--tasks"] : [])) }
          : { url: new URL(asked ? `${one.url}?tasks=1` : one.url) },
      );
      agent.raw = beside(agent);
      agent.session = createTaskSessionFromClient(agent.client, {
        endpointId: "interop",
        rawDispatch: agent.raw,
        v2RequestFraming: {
          protocolVersion: pinned.revision,
          clientInfo: CLIENT,
          clientCapabilities: says ? { elicitation: {} } : {}, // it adds the extension itself
        },
        tools: { currentTool: () => undefined },
        onInputRequest: says && (async () => says),
        onError: (error) => agent.complaints.push(error),
      });
      t?.after(() => agent.session.close());
      return agent;
    };
    /** Asks for clearance and has a task at once: its execution and the question's id. */
    const begin = async (agent, name, one = system) => {
      const earlier = await one.inbox();
      const args = proposal(name, "hello\n");
      const execution = await agent.session.callTool("check_clearance", args);
      assert.equal(execution.kind, "task");
      const [id] = (await one.inbox()).filter((other) => !earlier.includes(other));
      assert.ok(id, "the question is asked before the task is answered");
      return { execution, id, args, taskId: execution.handle.taskId };
    };

    before(async () => {
      system = await System.start();
    });
    after(async () => {
      await system?.stop();
    });

    test(
      "a clearance is a task, polled until ctl approves, and its result is a plain call's",
      TIMEOUT,
      async (t) => {
        const agent = await connect(t);
        const { execution, id, args, taskId } = await begin(agent, "polled.txt");
        const task = await agent.session.task(taskId).snapshot();
        assert.equal(task.status, "working");
        assert.match(task.statusMessage, /waiting for the operator/);
        assert.equal(task.retentionMs, 7_200_000);
        assert.equal(task.suggestedPollIntervalMs, 3000);
        const seen = [];
        const settled = execution.settle({ onEvent: (event) => seen.push(event.task?.status) });
        await system.ctl("approve", id);
        const { outcome } = await settled;
        assert.equal(outcome.status, "completed", String(outcome.error));
        assert.deepEqual(answer(outcome.result), { status: "approved", request_id: id });
        assert.equal(await system.tasksOf(id), 1);
        assert.deepEqual(new Set(seen), new Set(["working", "completed", undefined]));
        const plain = await agent.raw({
          method: "tools/call",
          params: framed({ name: "check_clearance", arguments: args }),
        });
        assert.deepEqual(outcome.result, plain.result);
        const written = await agent.session.callTool("check_diff", { request_id: id });
        assert.equal(written.kind, "immediate", "what does not wait for a person is no task");
        assert.equal(answer((await written.result()).result).status, "applied");
        assert.equal(await system.read("polled.txt"), "hello\n");
        agent.undisturbed();
      },
    );

    test("a rejection completes the task and says why", TIMEOUT, async (t) => {
      const agent = await connect(t);
      const { execution, id } = await begin(agent, "rejected.txt");
      await system.ctl("reject", id, "--reason", "not today");
      const { outcome } = await execution.settle();
      assert.equal(outcome.status, "completed", String(outcome.error));
      assert.deepEqual(answer(outcome.result), {
        status: "rejected",
        request_id: id,
        reason: "not today",
      });
      agent.undisturbed();
    });

    test("a cancelled task leaves its question, which the next task finds", TIMEOUT, async (t) => {
      const agent = await connect(t);
      const first = await begin(agent, "cancelled.txt");
      await first.execution.cancel();
      const { outcome } = await first.execution.settle();
      assert.equal(outcome.status, "cancelled");
      assert.equal((await agent.session.task(first.taskId).snapshot()).status, "cancelled");
      assert.ok((await system.inbox()).includes(first.id), "the question outlives its task");
      const second = await agent.session.callTool("check_clearance", first.args);
      assert.equal(second.kind, "task");
      assert.notEqual(second.handle.taskId, first.taskId);
      await system.ctl("approve", first.id);
      const again = await second.settle();
      assert.deepEqual(answer(again.outcome.result), { status: "approved", request_id: first.id });
      assert.equal(await system.asked(first.args.title), 1);
      agent.undisturbed();
    });

    test("a task outlives the crash of everything", TIMEOUT, async (t) => {
      const agent = await connect(t);
      const { execution, id, taskId } = await begin(agent, "crash.txt");
      let reference;
      await execution.handoff((kept) => (reference = JSON.stringify(kept)));
      await system.crash();
      const resumed = await agent.session.resumeTask(JSON.parse(reference));
      assert.equal(resumed.handle.taskId, taskId);
      assert.equal((await agent.session.task(taskId).snapshot()).status, "working");
      await system.ctl("approve", id);
      const { outcome } = await resumed.settle();
      assert.equal(outcome.status, "completed", String(outcome.error));
      assert.deepEqual(answer(outcome.result), { status: "approved", request_id: id });
      const late = await connect(t);
      const kept = await late.session.resumeTask(JSON.parse(reference));
      assert.deepEqual((await kept.result()).result, outcome.result);
    });

    test("there is no list of tasks, and an unknown task is refused", TIMEOUT, async (t) => {
      const agent = await connect(t);
      for (const method of ["tasks/list", "tasks/result"])
        if (transport === "http")
          await assert.rejects(agent.raw({ method, params: framed() }), (error) => {
            assert.ok(error instanceof SdkHttpError, error.stack);
            assert.equal(error.data.status, 404);
            return JSON.parse(error.data.text).error.code === -32601;
          });
        else assert.equal((await agent.raw({ method, params: framed() })).error.code, -32601);
      await assert.rejects(agent.session.task("nothing").snapshot(), { code: -32602 });
      await assert.rejects(agent.session.cancelTask("nothing"), { code: -32602 });
    });

    test("who does not declare the extension, or asks for no tasks, waits", TIMEOUT, async (t) => {
      const silent = await connect(t);
      const unasked = await connect(t, { asked: false });
      for (const [name, call] of [
        ["silent.txt", (args) => silent.call("check_clearance", args)],
        [
          "unasked.txt",
          async (args) => {
            const execution = await unasked.session.callTool("check_clearance", args);
            assert.equal(execution.kind, "immediate");
            return (await execution.result()).result;
          },
        ],
      ]) {
        const earlier = await system.inbox();
        const waiting = call(proposal(name, "hello\n"));
        const id = await system.question(earlier, waiting);
        await system.waited(id);
        await system.ctl("approve", id);
        assert.deepEqual(answer(await waiting), { status: "approved", request_id: id });
        assert.equal(await system.tasksOf(id), 0);
      }
      silent.undisturbed();
      unasked.undisturbed();
    });

    test("a form comes before the task, and without an answer the task", TIMEOUT, async (t) => {
      const forms = await System.start("\n[mcp]\nelicitation = true\n");
      t.after(() => forms.stop());
      const yes = await connect(null, {
        one: forms,
        says: { action: "accept", content: { decision: "approve" } },
      });
      const no = await connect(null, { one: forms, says: { action: "decline" } });
      try {
        const done = await yes.session.callTool("check_clearance", proposal("yes.txt", "x\n"));
        assert.equal(done.kind, "immediate");
        const said = body((await done.result()).result);
        assert.equal(said.status, "approved");
        assert.match(said.request_id, UUID);
        assert.deepEqual(await forms.decisions(said.request_id), [
          "approve by elicitation: applied",
        ]);
        const { execution, id } = await begin(no, "no.txt", forms);
        await forms.ctl("approve", id);
        const { outcome } = await execution.settle();
        assert.equal(answer(outcome.result).status, "approved");
        assert.deepEqual(await forms.decisions(id), ["approve by ctl: applied"]);
        yes.undisturbed();
        no.undisturbed();
      } finally {
        for (const agent of [yes, no]) {
          await agent.session.close();
          await agent.close();
        }
      }
    });
  });
}

tasks("http");
tasks("stdio");
