// @slack/socket-mode: envelopes, acks, and coming back after each way of losing a socket.
import assert from "node:assert/strict";
import { test } from "node:test";
import { SocketModeClient } from "@slack/socket-mode";
import { APP_TOKEN, Fake, delivered, quiet } from "./lib.mjs";

/** A client that acks everything, connected. */
async function connect(fake, options = {}) {
  const client = new SocketModeClient({
    appToken: APP_TOKEN,
    clientOptions: { slackApiUrl: fake.api },
    logger: quiet,
    ...options,
  });
  client.on("slack_event", async ({ ack }) => ack());
  fake.atEnd(() => client.disconnect());
  await client.start();
  await fake.waitFor("hello");
  return client;
}

test("every kind of envelope is acked on its socket", async (t) => {
  const fake = await Fake.start(t);
  await connect(fake);
  await delivered(fake, { slash: { text: "sessions" } });
  await delivered(fake, { message: { text: "please also run the tests" } });
  await delivered(fake, { mention: { text: "status", only: "app_mention" } });
  await delivered(fake, { envelope: { type: "interactive", accepts_response_payload: true,
    payload: { type: "block_actions", actions: [] } } });
  await delivered(fake, { envelope: { type: "something_new", payload: { a: null } } });
});

test("a large envelope in many frames arrives", async (t) => {
  const fake = await Fake.start(t);
  const client = await connect(fake);
  const got = new Promise((resolve) => client.once("slash_commands", resolve));
  await delivered(fake, { slash: { text: "big" }, pad: 200_000, fragments: 7 });
  assert.equal((await got).body.unknown_member.length, 200_000);
});

test("an ack carries its payload, and the person sees it", async (t) => {
  const fake = await Fake.start(t);
  const client = await connect(fake);
  client.removeAllListeners("slack_event");
  client.on("slash_commands", async ({ ack, body }) => ack({ text: `got ${body.text}` }));
  const [, ack] = await delivered(fake, { slash: { text: "sessions" } });
  assert.equal(ack.payload.text, "got sessions");
  const { messages } = await fake.get("messages");
  assert.equal(messages.at(-1).ephemeral_for, "U01OP");
});

test("two envelopes of one mention come in either order", async (t) => {
  const fake = await Fake.start(t);
  const client = await connect(fake);
  const types = [];
  client.on("slack_event", ({ body }) => types.push(body.event.type));
  for (const swapped of [false, true]) {
    await fake.deliver({ mention: { text: "status", swapped } });
    await fake.waitFor("ack");
    await fake.waitFor("ack");
  }
  assert.deepEqual(types, ["message", "app_mention", "app_mention", "message"]);
});

test("two clients get envelopes in turn", async (t) => {
  const fake = await Fake.start(t);
  await connect(fake);
  await connect(fake);
  const sockets = [];
  for (let i = 0; i < 4; i++)
    sockets.push((await delivered(fake, { slash: { text: `${i}` } }))[0].socket);
  assert.deepEqual(sockets, [1, 2, 1, 2]);
});

test("our ping is answered, and theirs by us", async (t) => {
  const fake = await Fake.start(t);
  await fake.post("set", { ping_every_ms: 300 });
  // It gives up on a socket that does not answer its pings within this time.
  const client = await connect(fake, { clientPingTimeout: 600, serverPingTimeout: 900 });
  let lost = false;
  client.on("reconnecting", () => (lost = true));
  await new Promise((resolve) => setTimeout(resolve, 2500));
  assert.equal(lost, false);
});

for (const reason of ["warning", "refresh_requested", "too_many_websockets", "link_disabled"])
  test(`it comes back after disconnect: ${reason}`, async (t) => {
    const fake = await Fake.start(t);
    await connect(fake);
    await fake.post("socket", { do: "disconnect", reason });
    await fake.waitFor("hello");
    const [made] = await delivered(fake, { slash: { text: "after" } });
    assert.equal(made.socket, 2);
    assert.equal((await fake.all("apps.connections.open")).length, 2);
  });

for (const order of [
  { do: "close", code: 1000 },
  { do: "close", code: 1011 },
  { do: "cut" },
])
  test(`it comes back after ${JSON.stringify(order)}`, async (t) => {
    const fake = await Fake.start(t);
    await connect(fake);
    await fake.post("socket", order);
    await fake.waitFor("hello");
    assert.equal((await delivered(fake, { slash: { text: "after" } }))[0].socket, 2);
  });

test("it leaves a socket that has fallen silent", async (t) => {
  const fake = await Fake.start(t);
  await connect(fake, { clientPingTimeout: 600 });
  await fake.post("socket", { do: "silence" });
  await fake.waitFor("hello");
});

test("an envelope that was not acked comes again on the next socket", async (t) => {
  const fake = await Fake.start(t);
  await fake.post("set", { redeliver: "same" });
  const client = await connect(fake);
  client.removeAllListeners("slack_event");
  let deaf = true;
  const retries = [];
  client.on("slack_event", async ({ ack, retry_num }) => {
    retries.push(retry_num);
    if (!deaf) await ack();
  });
  const made = await fake.deliver({ message: { text: "lost" } });
  await fake.waitFor("envelope");
  deaf = false;
  await fake.post("socket", { do: "cut" });
  await fake.waitFor("hello");
  assert.equal((await fake.waitFor("ack")).envelope_id, made.envelope_id);
  assert.deepEqual(retries, [undefined, 1]);
});

test("429 at apps.connections.open is obeyed", async (t) => {
  const fake = await Fake.start(t);
  await fake.post("fault", { name: "apps.connections.open", what: "rate", retry_after: 2 });
  await connect(fake);
  const [first, second] = await fake.all("apps.connections.open");
  assert.ok(second.real_us - first.real_us >= 2_000_000);
});

test("internal_error is tried again, invalid_auth is not", async (t) => {
  const fake = await Fake.start(t);
  await fake.post("fault", { name: "apps.connections.open", what: "error" });
  await connect(fake);
  const other = await Fake.start(t);
  await other.post("set", { app_error: "invalid_auth" });
  await assert.rejects(connect(other), /invalid_auth/);
  assert.equal((await other.all("apps.connections.open")).length, 1);
});
