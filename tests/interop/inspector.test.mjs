// The MCP Inspector's command line: one process, and so one MCP session, for every call. It takes
// tasks and shows no forms; mcpdo, of the same package, keeps connections open and shows them.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { answer, proposal, refusal, run, System, TIMEOUT, TOOLS } from "./lib.mjs";

const program = (path) =>
  fileURLToPath(new URL(path, import.meta.resolve("@modelcontextprotocol/inspector/package.json")));
const launcher = program("clients/launcher/build/index.js");
const mcpdo = program("clients/mcpdo/build/mcp-bin.js");

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
    async function inspect(method, { session, tasks, flags = [] } = {}) {
      const target = [];
      if (transport === "http") {
        const url = new URL(system.url);
        if (session) url.searchParams.set("session_id", session);
        if (tasks) url.searchParams.set("tasks", "1");
        target.push(url.href, "--transport", "http");
      } else {
        const { command, args, env } = system.stdio(system.env, ...(tasks ? ["--tasks"] : []));
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

    test("a clearance is a task where the era has tasks, and is followed", TIMEOUT, async () => {
      const earlier = await system.inbox();
      const asking = answered("check_clearance", proposal("task.txt", "x\n"), { tasks: true });
      const id = await system.question(earlier, asking);
      await system.ctl("approve", id);
      assert.deepEqual(await asking, { status: "approved", request_id: id });
      assert.equal(await system.tasksOf(id), era === "legacy" ? 0 : 1);
    });

    test("the inspector reports an error result as a tool error", TIMEOUT, async () => {
      const { code, result } = await call("switch_freq", { mode: "remote" });
      assert.equal(code, TOOL_ERROR);
      assert.equal(result.isError, true);
    });
  });

for (const era of ["legacy", "modern"])
  describe(`mcpdo, ${era} era`, () => {
    let system;

    /** One command of mcpdo; what it keeps open is a process of its own, which `after` ends. */
    async function mcp(...args) {
      const ended = await run(process.execPath, [mcpdo, ...args, "--format", "json"], {
        env: { ...system.env, MCP_INSPECTOR_SECRET_STORE: "file" },
        cwd: system.workspace,
      });
      // Its daemon has ten seconds to start, which is not enough on a machine that is busy; it
      // goes on starting, and the next command finds it.
      if (ended.code !== 0 && (ended.stderr + ended.stdout).includes("daemon_start_timeout"))
        return mcp(...args);
      assert.equal(ended.code, 0, ended.stderr + ended.stdout);
      return JSON.parse(ended.stdout);
    }

    const ask = async (name) => {
      const args = JSON.stringify(proposal(name, "done\n"));
      const { elicitationPending } = await mcp("@intercom", "tools/call", "check_clearance", args);
      assert.equal(elicitationPending?.mode, "form");
      const [id] = await system.inbox();
      return { id, form: elicitationPending };
    };

    before(async () => {
      system = await System.start("\n[mcp]\nelicitation = true\n");
      await mcp("@intercom", "connect", system.url, "--era", era);
    });
    after(async () => {
      await mcp("daemon", "stop").catch(() => {});
      await system?.stop();
    });

    test("a form that is shown and answered is the decision", TIMEOUT, async () => {
      const { id, form } = await ask("done.txt");
      assert.ok(form.message.includes("+done"), form.message);
      const said = ["decision:=reject", "reason:=no tests"];
      const result = await mcp("elicitation/respond", form.elicitationId, ...said);
      assert.deepEqual(answer(result), {
        status: "rejected",
        request_id: id,
        reason: "no tests",
      });
      assert.deepEqual(await system.decisions(id), ["reject by elicitation: applied"]);
    });

    test("a form that is declined leaves the question to ctl", TIMEOUT, async () => {
      const { id, form } = await ask("declined.txt");
      const waiting = mcp("elicitation/respond", form.elicitationId, "--decline");
      await system.waited(id);
      await system.ctl("approve", id);
      assert.deepEqual(answer(await waiting), { status: "approved", request_id: id });
      assert.deepEqual(await system.decisions(id), ["approve by ctl: applied"]);
    });
  });
