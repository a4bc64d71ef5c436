// @slack/bolt: commands, buttons, modals and events, as an application is written.
import assert from "node:assert/strict";
import { test } from "node:test";
import bolt from "@slack/bolt";
import { APP_TOKEN, BOT_TOKEN, Fake, approval, delivered, modal, quiet } from "./lib.mjs";

async function start(t, prepare) {
  const fake = await Fake.start(t);
  const app = new bolt.App({
    token: BOT_TOKEN,
    appToken: APP_TOKEN,
    socketMode: true,
    logger: quiet,
    clientOptions: { slackApiUrl: fake.api },
  });
  const failed = [];
  app.error(async (error) => failed.push(error));
  prepare(app);
  await app.start();
  await fake.waitFor("hello");
  fake.atEnd(() => app.stop());
  fake.atEnd(() => assert.deepEqual(failed, []));
  return [fake, app];
}

test("a command is acked and answered by respond()", async (t) => {
  const [fake] = await start(t, (app) =>
    app.command("/intercom", async ({ ack, command, respond }) => {
      await ack();
      await respond({ text: `you said ${command.text}`, response_type: "in_channel" });
    }),
  );
  await delivered(fake, { slash: { text: "sessions" } });
  const { args, answer, status } = await fake.waitFor("response_url");
  assert.equal(args.text, "you said sessions");
  assert.deepEqual([status, answer], [200, undefined]);
  const { messages } = await fake.get("messages?channel=C01AGENTS");
  assert.equal(messages.at(-1).text, "you said sessions");
});

test("a button opens a modal; ack, views.open, chat.update in this order", async (t) => {
  const [fake, app] = await start(t, (app) =>
    app.action("approve_accept", async ({ ack, body, client }) => {
      await ack();
      await client.views.open({ trigger_id: body.trigger_id, view: modal });
      await client.chat.update({ channel: body.channel.id, ts: body.message.ts, text: "Approved",
        blocks: [] });
    }),
  );
  const { ts } = await app.client.chat.postMessage({ channel: "C01AGENTS", ...approval });
  await delivered(fake, { click: { channel: "C01AGENTS", ts, action_id: "approve_accept" } });
  const opened = await fake.waitFor("views.open");
  const updated = await fake.waitFor("chat.update");
  assert.deepEqual([opened.body, opened.answer.ok, updated.answer.ok], ["form", true, true]);
  const [ack] = await fake.all("ack");
  assert.ok(ack.seq < opened.seq && opened.seq < updated.seq);
  const { messages } = await fake.get("messages?channel=C01AGENTS");
  assert.deepEqual(messages[0].blocks, []);
});

test("a submission is refused with errors, then taken; closing is told", async (t) => {
  let body;
  const closed = [];
  const [fake] = await start(t, (app) => {
    app.command("/intercom", async ({ ack, command, client }) => {
      await ack();
      await client.views.open({ trigger_id: command.trigger_id, view: modal });
    });
    app.view("refine", async ({ ack, view }) => {
      const text = view.state.values.refined_instruction.instruction_text.value;
      if (text) {
        body = text;
        await ack();
      } else {
        await ack({ response_action: "errors", errors: { refined_instruction: "Write something." } });
      }
    });
    app.view({ callback_id: "refine", type: "view_closed" }, async ({ ack, body: gone }) => {
      await ack();
      closed.push(gone.is_cleared);
    });
  });
  const values = (text) => ({ refined_instruction: { instruction_text: text } });
  await delivered(fake, { slash: { text: "refine" } });
  await fake.waitFor("views.open");
  await delivered(fake, { submit: { values: values(null) } });
  assert.equal((await fake.get("views")).views[0].open, true);
  await delivered(fake, { submit: { values: values("keep the old flag") } });
  assert.equal(body, "keep the old flag");
  assert.equal((await fake.get("views")).views[0].open, false);
  await delivered(fake, { slash: { text: "refine" } });
  await fake.waitFor("views.open");
  await delivered(fake, { close_view: { is_cleared: true } });
  assert.deepEqual(closed, [true]);
});

test("messages and mentions reach their listeners, retries are seen", async (t) => {
  const seen = [];
  const [fake] = await start(t, (app) => {
    app.message(/tests/, async ({ message, context }) =>
      seen.push(["message", message.text, context.retryNum, context.retryReason]));
    app.event("app_mention", async ({ event }) => seen.push(["app_mention", event.text]));
  });
  await delivered(fake, { message: { text: "run the tests" }, retry_attempt: 1 });
  await delivered(fake, { mention: { text: "status", only: "app_mention" } });
  assert.deepEqual(seen, [["message", "run the tests", 1, "timeout"],
    ["app_mention", "<@U0BOT> status"]]);
});
