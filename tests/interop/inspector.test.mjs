// The MCP Inspector's command line: one process, and so one MCP session, for every call.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { answer, proposal, refusal, run, System, TIMEOUT, TOOLS } from "./lib.mjs";

const launcher = fileURLToPath(
  new URL(
    "clients/launcher/build/index.js",
    import.meta.resolve("@modelcontextprotocol/inspector/package.json"),
  ),
);

// Its exit codes, as `mcp-inspector` documents them.
const TOOL_ERROR = 5;

for (const [transport, era] of ["legacy", "auto", "modern"].flatMap((one) => [
  ["http", one],
  ["stdio", one],
]))
  describe(`inspector over ${transport}, ${era} era`, () => {
    let system;

    before(async () => {
      system = await System.start();
    });
    after(async () => {
      await system?.stop();
    });

    /** Runs one method; `session` joins a session that an earlier run started. */
    async function inspect(method, { session, flags = [] } = {}) {
      const target = [];
      if (transport === "http") {
        target.push(
          session ? `${system.url}?session_id=${session}` : system.url,
          "--transport",
          "http",
        );
      } else {
        const { command, args, env } = system.stdio();
        const file = join(system.dir, `servers-${session ?? "new"}.json`);
        const servers = {
          intercom: {
            command,
            args,
            env: session ? { ...env, INTERCOM_SESSION_ID: session } : env,
          },
        };
        await writeFile(file, JSON.stringify({ mcpServers: servers }));
        target.push("--config", file, "--server", "intercom");
      }
      const { code, stdout, stderr } = await run(
        process.execPath,
        [launcher, "--cli", ...target, "--protocol-era", era, "--format", "json", "--method", method, ...flags],
        { env: { ...system.env, MCP_INSPECTOR_SECRET_STORE: "memory" }, cwd: system.workspace },
      );
      return { code, stderr, result: stdout.trim() === "" ? null : JSON.parse(stdout).result };
    }

    const call = (name, args = {}, options = {}) =>
      inspect("tools/call", {
        ...options,
        flags: ["--tool-name", name, "--tool-args-json", JSON.stringify(args)],
      });

    async function answered(name, args, options) {
      const { code, stderr, result } = await call(name, args, options);
      assert.equal(code, 0, stderr);
      return answer(result);
    }

    test(
      "the inspector lists the nine tools and finds no error in their schemas",
      TIMEOUT,
      async () => {
        const { code, stderr, result } = await inspect("tools/list", { flags: ["--strict"] });
        assert.equal(code, 0, stderr);
        assert.deepEqual(result.tools.map((tool) => tool.name).sort(), TOOLS);
      },
    );

    test("a ping from the inspector is acknowledged", TIMEOUT, async () => {
      assert.equal((await answered("ping")).acknowledged, true);
    });

    test(
      "a file proposed, approved through ctl and applied by the inspector is on disk",
      TIMEOUT,
      async () => {
        const session = (await answered("ping")).session_id;
        const earlier = await system.inbox();
        const asking = answered("check_clearance", proposal("inspected.txt", "inspected\n"), {
          session,
        });
        const id = await system.question(earlier, asking);
        await system.ctl("approve", id);
        assert.deepEqual(await asking, { status: "approved", request_id: id });
        assert.deepEqual(await answered("check_diff", { request_id: id }, { session }), {
          status: "applied",
          files_written: [{ path: "inspected.txt", bytes: 10 }],
        });
        assert.equal(await system.read("inspected.txt"), "inspected\n");
        const { code, result } = await call("check_diff", { request_id: id }, { session });
        assert.equal(code, TOOL_ERROR);
        assert.equal(refusal(result).error_code, "already_consumed");
      },
    );

    test("a rejection reaches the inspector with its reason", TIMEOUT, async () => {
      const earlier = await system.inbox();
      const asking = answered("check_clearance", proposal("refused.txt", "x\n"));
      const id = await system.question(earlier, asking);
      await system.ctl("reject", id, "--reason", "not today");
      assert.deepEqual(await asking, { status: "rejected", request_id: id, reason: "not today" });
      assert.equal(system.has("refused.txt"), false);
    });

    test("an operator's continue reaches the inspector", TIMEOUT, async () => {
      const earlier = await system.inbox();
      const asking = answered("transmit", { prompt_text: "go on?" });
      await system.ctl("continue", await system.question(earlier, asking));
      assert.deepEqual(await asking, { decision: "continue" });
    });

    test("the inspector reports an error result as a tool error", TIMEOUT, async () => {
      const { code, result } = await call("switch_freq", { mode: "remote" });
      assert.equal(code, TOOL_ERROR);
      assert.equal(result.isError, true);
    });
  });
