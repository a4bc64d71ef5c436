// @slack/web-api: bodies, tokens, errors, rates, reading back, files.
import assert from "node:assert/strict";
import { test } from "node:test";
import { WebClient } from "@slack/web-api";
import { APP_TOKEN, BOT_TOKEN, Fake, approval, modal, quiet } from "./lib.mjs";

async function start(t, token = BOT_TOKEN, options = {}) {
  const fake = await Fake.start(t);
  const retryConfig = { retries: 2, minTimeout: 50, maxTimeout: 100 };
  return [fake, new WebClient(token, { slackApiUrl: fake.api, logger: quiet, retryConfig,
    ...options })];
}

async function refused(promise) {
  const { data } = await promise.then(() => assert.fail("not refused"), (error) => error);
  return data;
}

test("auth.test tells who we are and which scopes we have", async (t) => {
  const [, web] = await start(t);
  const answer = await web.auth.test();
  assert.deepEqual([answer.user_id, answer.bot_id, answer.team_id], ["U0BOT", "B01BOT", "T01TEAM"]);
  assert.ok(answer.response_metadata.scopes.includes("chat:write"));
});

test("wrong and swapped tokens are refused", async (t) => {
  const [fake, web] = await start(t, APP_TOKEN);
  assert.equal((await refused(web.auth.test())).error, "not_allowed_token_type");
  const other = new WebClient("xoxb-9-other", { slackApiUrl: fake.api, logger: quiet });
  assert.equal((await refused(other.auth.test())).error, "invalid_auth");
});

test("a missing scope names what is needed and provided", async (t) => {
  const [fake, web] = await start(t);
  await fake.post("set", { scopes: ["channels:read"] });
  const { error, needed, provided } = await refused(
    web.chat.postMessage({ channel: "C01AGENTS", text: "x" }));
  assert.deepEqual([error, needed, provided], ["missing_scope", "chat:write", "channels:read"]);
});

test("a message is found again by its metadata", async (t) => {
  const [, web] = await start(t);
  const metadata = { event_type: "intercom_request", event_payload: { id: "1", gen: 1 } };
  const { ts, message } = await web.chat.postMessage({ channel: "C01AGENTS", ...approval, metadata });
  assert.equal(message.bot_id, "B01BOT");
  const plain = await web.conversations.history({ channel: "C01AGENTS" });
  assert.deepEqual(plain.messages[0].metadata, { event_type: "intercom_request" });
  const full = await web.conversations.history({ channel: "C01AGENTS", oldest: ts, inclusive: true,
    include_all_metadata: true });
  assert.deepEqual(full.messages[0].metadata, metadata);
});

test("a thread is read parent first, a channel newest first, both by pages", async (t) => {
  const [, web] = await start(t);
  const { ts } = await web.chat.postMessage({ channel: "C01AGENTS", text: "0" });
  for (let i = 1; i < 6; i++)
    await web.chat.postMessage({ channel: "C01AGENTS", text: `${i}`, thread_ts: ts });
  await web.chat.postMessage({ channel: "C01AGENTS", text: "6" });
  const read = async (method, options) => {
    const texts = [];
    for await (const page of web.paginate(method, { channel: "C01AGENTS", limit: 2, ...options }))
      texts.push(...page.messages.map((m) => m.text));
    return texts.join("");
  };
  assert.equal(await read("conversations.replies", { ts }), "012345");
  assert.equal(await read("conversations.history", {}), "60");
});

test("blocks that are too long are refused with their place", async (t) => {
  const [, web] = await start(t);
  const { error, response_metadata } = await refused(web.chat.postMessage({ channel: "C01AGENTS",
    text: "x", blocks: [{ type: "section", text: { type: "mrkdwn", text: "x".repeat(3001) } }] }));
  assert.equal(error, "invalid_blocks");
  assert.deepEqual(response_metadata.messages,
    ["[ERROR] must be less than 3001 characters [json-pointer:/blocks/0/text/text]"]);
});

test("429 is obeyed, by the header", async (t) => {
  const [fake, web] = await start(t);
  await fake.post("set", { rate_limits: true });
  await web.chat.postMessage({ channel: "C01AGENTS", text: "one" });
  await web.chat.postMessage({ channel: "C01AGENTS", text: "two" });
  const calls = await fake.all("chat.postMessage");
  assert.deepEqual(calls.map((c) => c.status), [200, 429, 200]);
  assert.ok(calls[2].real_us - calls[1].real_us >= 1_000_000);
});

test("an answer that is lost after the effect makes this client post twice", async (t) => {
  const [fake, web] = await start(t, BOT_TOKEN, { retryConfig: { retries: 1, minTimeout: 10 } });
  await fake.post("fault", { name: "chat.postMessage", what: "lost", when: "after" });
  await web.chat.postMessage({ channel: "C01AGENTS", text: "twice" });
  assert.equal((await fake.get("messages?channel=C01AGENTS")).messages.length, 2);
});

for (const [fault, messages] of [
  [{ what: "status", when: "before" }, 0],
  [{ what: "status", when: "after" }, 1],
  [{ what: "html" }, 0],
  [{ what: "truncated" }, 1],
  [{ what: "cut" }, 1],
])
  test(`fault ${JSON.stringify(fault)} is an error, and ${messages} posted`, async (t) => {
    const [fake, web] = await start(t, BOT_TOKEN, { retryConfig: { retries: 0 } });
    await fake.post("fault", { name: "chat.postMessage", ...fault });
    await assert.rejects(web.chat.postMessage({ channel: "C01AGENTS", text: "x" }));
    assert.equal((await fake.get("messages")).messages.length, messages);
  });

test("a file goes up in three steps and stands in the thread", async (t) => {
  const [fake, web] = await start(t);
  const { ts } = await web.chat.postMessage({ channel: "C01AGENTS", text: "parent" });
  await web.filesUploadV2({ channel_id: "C01AGENTS", thread_ts: ts, filename: "main.c.diff",
    title: "main.c", content: "-a\n+b\n", snippet_type: "diff" });
  const [file] = (await fake.get("files")).files;
  assert.deepEqual([file.content, file.completed, file.thread_ts], ["-a\n+b\n", true, ts]);
  const { messages } = await web.conversations.replies({ channel: "C01AGENTS", ts });
  assert.equal(messages[1].files[0].id, file.id);
});

test("channels and people are as the workspace has them", async (t) => {
  const [, web] = await start(t);
  const { user } = await web.users.info({ user: "U01OP" });
  assert.equal(user.profile.display_name, "op");
  assert.equal((await web.conversations.info({ channel: "C02OTHER" })).channel.is_member, false);
  assert.equal((await refused(web.conversations.history({ channel: "C02OTHER" }))).error,
    "not_in_channel");
  await web.conversations.join({ channel: "C02OTHER" });
  assert.deepEqual((await web.conversations.history({ channel: "C02OTHER" })).messages, []);
  const { channel } = await web.conversations.open({ users: "U02OP" });
  assert.match(channel.id, /^D/);
  assert.equal((await refused(web.conversations.info({ channel: "G01SECRET" }))).error,
    "channel_not_found");
  assert.equal((await refused(web.chat.postMessage({ channel: "C03OLD", text: "x" }))).error,
    "is_archived");
});

test("reactions, pins, permalinks and ephemerals", async (t) => {
  const [, web] = await start(t);
  const channel = "C01AGENTS";
  const { ts } = await web.chat.postMessage({ channel, text: "x" });
  await web.reactions.add({ channel, timestamp: ts, name: "eyes" });
  assert.equal((await refused(web.reactions.add({ channel, timestamp: ts, name: "eyes" }))).error,
    "already_reacted");
  await web.pins.add({ channel, timestamp: ts });
  assert.match((await web.chat.getPermalink({ channel, message_ts: ts })).permalink, /C01AGENTS/);
  assert.ok((await web.chat.postEphemeral({ channel, user: "U01OP", text: "hint" })).message_ts);
  assert.equal((await web.conversations.history({ channel })).messages.length, 1);
  await web.chat.delete({ channel, ts });
  assert.equal((await refused(web.chat.update({ channel, ts, text: "y" }))).error,
    "message_not_found");
});

test("a trigger that nobody gave opens nothing", async (t) => {
  const [, web] = await start(t);
  assert.equal((await refused(web.views.open({ trigger_id: "1.2.3", view: modal }))).error,
    "invalid_trigger_id");
});
