// The JSON Schema of .intercom/settings.json says the same as the parser: what one takes or refuses,
// the other does, document by document. The schema is judged by ajv, an independent validator.
import { test } from "node:test";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Ajv from "ajv";

const program = join(process.env.INTEROP_BUILD, "agent-intercom");
const scratch = mkdtempSync(join(process.env.INTEROP_SCRATCH, "policy-"));

function intercom(...args) {
  return spawnSync(program, ["policy", ...args], { encoding: "utf8", cwd: scratch });
}

// Whether `policy check FILE` takes a document. 78 is its word for a file that cannot be used.
function parserTakes(text) {
  const file = join(scratch, "document.json");
  writeFileSync(file, text);
  const { status, stdout, stderr } = intercom("check", file);
  assert.ok(status === 0 || status === 78, `status ${status}: ${stdout}${stderr}`);
  assert.equal(status === 78, stderr.includes("allows nothing"), stderr);
  return status === 0;
}

const schema = JSON.parse(intercom("schema").stdout);
const validate = new Ajv({ allErrors: true, strict: true, allowUnionTypes: true }).compile(schema);

function schemaTakes(text) {
  try {
    return validate(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

const TERMINAL = "chat.tools.terminal.autoApprove";
const many = (n) => Array.from({ length: n }, (_, i) => `c${i}`);
const entries = (n) => Object.fromEntries(many(n).map((name) => [name, true]));

const TAKEN = [
  {},
  { enabled: true },
  { enabled: null, commands: null, tools: null, file_patterns: null, risk_level_threshold: null },
  { log_auto_approved: null, summary_interval_seconds: null },
  { $schema: "x", autoApprove: {}, notifications: {} },
  { $schema: 7 },
  { enabled: true, commands: ["git status", "cargo test *", "^git (log|diff)", "/npm run [a-z]+/i"] },
  { commands: [] },
  { commands: ["/", "/usr/bin/make", "/a/u", "/a/", "/a/iu", "/opt/tool/X", "/opt/tool", "/a/1"] },
  { commands: many(500) },
  { tools: ["ping", "heartbeat", "no such tool"] },
  { file_patterns: {} },
  { file_patterns: { write: null, read: ["**"] } },
  { file_patterns: { write: ["docs/**", "a{b,c}", "[", "./x"], other: 1 } },
  { risk_level_threshold: "low" },
  { risk_level_threshold: "high" },
  { risk_level_threshold: "critical" },
  { log_auto_approved: true, summary_interval_seconds: 0 },
  { summary_interval_seconds: 86400 },
  { summary_interval_seconds: 0.5 },
  { autoApprove: { enabled: true, commands: ["ls"], tools: ["ping"], riskLevelThreshold: "high" } },
  { autoApprove: { filePatterns: { write: ["docs/**"], read: ["**"] } } },
  { notifications: { logAutoApproved: true, summaryIntervalSeconds: 7 } },
  { notifications: { logAutoApproved: null, summaryIntervalSeconds: null } },
  { [TERMINAL]: {} },
  { [TERMINAL]: [] },
  { [TERMINAL]: ["git status", "/git [a-z]+/"] },
  { [TERMINAL]: { "git status": true, rm: false, gone: null, "/^git/": true } },
  { [TERMINAL]: { "/curl/i": { approve: false, matchCommandLine: true }, x: { approve: null } } },
  { [TERMINAL]: { "": null, "/a/g": null, "/b/x": { approve: null } } },
  { [TERMINAL]: entries(500) },
  { comands: [], autoApprove: { misspelt: 1 } },
];

const REFUSED = [
  [],
  "text",
  7,
  null,
  true,
  { enabled: 1 },
  { enabled: "true" },
  { commands: "ls" },
  { commands: {} },
  { commands: ["ls", 2] },
  { commands: [""] },
  { commands: [null] },
  { commands: ["/git/g"] },
  { commands: ["/git/ig"] },
  { commands: ["/opt/my"] }, // as it stands: the expression "opt" with the flags "my"
  { commands: many(501) },
  { tools: [""] },
  { tools: "ping" },
  { tools: [true] },
  { tools: many(501) },
  { file_patterns: ["**"] },
  { file_patterns: "**" },
  { file_patterns: { write: "**" } },
  { file_patterns: { read: [1] } },
  { file_patterns: { write: [""] } },
  { risk_level_threshold: "medium" },
  { risk_level_threshold: "LOW" },
  { risk_level_threshold: 1 },
  { log_auto_approved: "yes" },
  { summary_interval_seconds: -1 },
  { summary_interval_seconds: 86401 },
  { summary_interval_seconds: "300" },
  { autoApprove: true },
  { autoApprove: null },
  { autoApprove: [] },
  { autoApprove: { enabled: "x" } },
  { autoApprove: { commands: "ls" } },
  { autoApprove: { filePatterns: [] } },
  { autoApprove: { riskLevelThreshold: "none" } },
  { notifications: null },
  { notifications: { logAutoApproved: 1 } },
  { notifications: { summaryIntervalSeconds: -5 } },
  { [TERMINAL]: null },
  { [TERMINAL]: "ls" },
  { [TERMINAL]: { ls: "yes" } },
  { [TERMINAL]: { ls: 1 } },
  { [TERMINAL]: { ls: {} } },
  { [TERMINAL]: { ls: { approve: "x" } } },
  { [TERMINAL]: { "": true } },
  { [TERMINAL]: { "/a/g": false } },
  { [TERMINAL]: [1] },
  { [TERMINAL]: entries(501) },
];

// No JSON at all.
const BROKEN = ["", " \n", "{", "{} x", "{'a':1}", '{"enabled": tru', '{"enabled":true,}', "{}{}"];

test("the schema and the parser take the same documents", () => {
  for (const document of TAKEN) {
    const text = JSON.stringify(document);
    assert.ok(schemaTakes(text), `the schema refuses ${text}: ${JSON.stringify(validate.errors)}`);
    assert.ok(parserTakes(text), `the parser refuses ${text}`);
  }
});

test("the schema and the parser refuse the same documents", () => {
  for (const text of [...REFUSED.map((document) => JSON.stringify(document)), ...BROKEN]) {
    assert.ok(!schemaTakes(text), `the schema takes ${text}`);
    assert.ok(!parserTakes(text), `the parser takes ${text}`);
  }
});

test("what is printed is the file that is installed", () => {
  const file = new URL("../../src/policy/settings.schema.json", import.meta.url);
  assert.equal(intercom("schema").stdout, readFileSync(file, "utf8"));
});
