// The example agents of the Agent Client Protocol's own SDK, under our runner: version 1 asks before
// it writes, and one speaks version 2.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, test } from "node:test";
import { System, TIMEOUT, until } from "./lib.mjs";

const example = (name) =>
  fileURLToPath(
    new URL(`./node_modules/@agentclientprotocol/sdk/dist/examples/${name}`, import.meta.url),
  );

const profile = (name, version) => `
[[agent]]
name = "sdk"
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(example(name))}]
protocol = "acp"
acp_version = ${JSON.stringify(version)}
startup_timeout_seconds = 300
`;

/** A system with an agent of the SDK, and the session that it was started for. */
async function started(t, name, version) {
  const system = await System.start(profile(name, version));
  t.after(() => system.stop());
  await system.ctl("session", "start", "--agent", "sdk", "Hello, agent!");
  const row = async () => {
    const [one] = await system.sql(
      `SELECT s.id, s.status, s.idle_since, r.state, r.outcome, r.why, r.pid, r.peer_session
         FROM session AS s JOIN agent_run AS r ON r.session_seq = s.seq`,
    );
    return one;
  };
  const becomes = (what, is) =>
    until(what, async () => {
      const one = await row();
      if (is(one)) return one;
      if (one.state === "ended") throw new Error(`not ${what}: ${JSON.stringify(one)}`);
    });
  return { system, row, becomes };
}

/** Processes of that group. */
const groupOf = (pid) =>
  readdirSync("/proc")
    .filter((one) => /^\d+$/.test(one))
    .filter((one) => {
      try {
        const [state, , group] = readFileSync(`/proc/${one}/stat`, "utf8")
          .replace(/^.*\) /s, "")
          .split(" ");
        return state !== "Z" && Number(group) === pid;
      } catch {
        return false; // it is gone
      }
    });

async function ended(system, row, becomes) {
  const { id, pid } = await row();
  await system.ctl("session", "clear", id);
  const end = await becomes("ended", (one) => one.state === "ended");
  assert.equal(end.outcome, "stopped", JSON.stringify(end));
  await until("no process of it is left", () => groupOf(pid).length === 0);
}

describe("agents of the SDK", { concurrency: true }, () => {
  test(
    "the SDK's agent asks, is told no and why, asks again, is approved, and is stopped",
    TIMEOUT,
    async (t) => {
      const { system, row, becomes } = await started(t, "agent.js", "1");
      const another = (before) =>
        until("it asks", async () => (await system.inbox()).find((id) => id !== before));
      const first = await another();
      const [asked] = await system.sql("SELECT kind, title, risk_level FROM request");
      assert.equal(asked.kind, "permission");
      assert.ok(asked.title, JSON.stringify(asked));
      assert.equal(asked.risk_level, "critical", "its file is outside of the workspace");
      await system.ctl("reject", first, "--reason", "too early");

      await system.ctl("approve", await another(first)); // the reason is its next prompt
      await becomes("done with its turn", (one) => !one.idle_since);
      assert.deepEqual(await system.sql("SELECT state FROM request ORDER BY seq"), [
        { state: "rejected" },
        { state: "approved" },
      ]);
      await ended(system, row, becomes);
    },
  );

  for (const version of ["1", "2", "auto"])
    test(
      `the SDK's agent of both versions takes prompt after prompt with acp_version ${version}`,
      TIMEOUT,
      async (t) => {
        const { system, row, becomes } = await started(t, "dual-version-agent.js", version);
        for (const count of [1, 2]) {
          await system.ctl("steer", (await row()).id, `prompt ${count}`);
          await until("the turn before it is over", async () => {
            const told = await system.sql("SELECT 1 FROM steering WHERE delivered_at IS NOT NULL");
            return told.length === count;
          });
        }
        await ended(system, row, becomes);
      },
    );
});
