// ACP's own SDK as the editor, its example agent behind `agent-intercom acp`: what the agent asks is
// shown by the editor and waits for the operator, too; the first answer counts.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { describe, test } from "node:test";
import * as acp from "@agentclientprotocol/sdk";
import { System, TIMEOUT, until } from "./lib.mjs";

const AGENT = fileURLToPath(
  new URL("./node_modules/@agentclientprotocol/sdk/dist/examples/agent.js", import.meta.url),
);
const PROFILE = `
[[agent]]
name = "sdk"
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(AGENT)}]
protocol = "acp"
`;

/** Prompts the agent once; permit: what the editor's user does. */
async function prompt(t, permit) {
  const system = await System.start(PROFILE);
  t.after(() => system.stop());
  const proxy = spawn(system.program, ["acp", "--config", system.config, "sdk"], {
    env: system.env,
    cwd: system.workspace,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = new Promise((resolve) => proxy.once("exit", resolve));
  const words = [];
  const stream = acp.ndJsonStream(Writable.toWeb(proxy.stdin), Readable.toWeb(proxy.stdout));
  const response = await acp
    .client({ name: "editor" })
    .onRequest(acp.methods.client.session.requestPermission, (ctx) => permit(ctx.params, system))
    .connectWith(stream, async (ctx) => {
      await ctx.request(acp.methods.agent.initialize, {
        protocolVersion: acp.PROTOCOL_VERSION,
        clientCapabilities: {},
      });
      return ctx.buildSession(system.workspace).withSession(async (session) => {
        session.prompt("Hello, agent!");
        for (;;) {
          const message = await session.nextUpdate();
          if (message.kind === "stop") return message.response;
          const { update } = message.notification;
          if (update.sessionUpdate === "agent_message_chunk") words.push(update.content.text);
        }
      });
    });
  proxy.stdin.end();
  assert.equal(await ended, 0);
  return { system, response, words: words.join("") };
}

const chosen = (params, kind) => ({
  outcome: {
    outcome: "selected",
    optionId: params.options.find((option) => option.kind === kind).optionId,
  },
});

describe("the SDK's client as an editor", TIMEOUT, () => {
  test("its user answers", async (t) => {
    const { system, response, words } = await prompt(t, (params) => chosen(params, "allow_once"));
    assert.equal(response.stopReason, "end_turn");
    assert.match(words, /Perfect|success/i);
    assert.deepEqual(await system.sql("SELECT source, verdict, outcome FROM decision"), [
      { source: "editor", verdict: "approve", outcome: "applied" },
    ]);
  });

  test("the operator answers first, and the dialog is closed", async (t) => {
    const { system, response } = await prompt(t, async (params, system) => {
      await until("the question is there", async () =>
        (await system.sql("SELECT id FROM request WHERE state = 'pending'")).length === 1,
      );
      const [{ id }] = await system.sql("SELECT id FROM request");
      await system.ctl("reject", id, "--reason", "not now");
      return chosen(params, "allow_once"); // too late
    });
    assert.equal(response.stopReason, "end_turn");
    assert.deepEqual(await system.sql("SELECT source, verdict, outcome FROM decision"), [
      { source: "ctl", verdict: "reject", outcome: "applied" },
    ]);
  });
});
