// A model on loopback that follows a script, in the dialects that the hosts speak: Anthropic
// Messages, OpenAI Chat Completions and Responses, Gemini generateContent. Every request that
// reaches it is kept.
//
// A script is a function of the results of all calls so far, as they stand in the request, and of
// all {said} by the user and {result}s in order, to {tool, args}, which calls a tool, or {say},
// which ends the turn, or {hang}, which never answers; {calls: [{tool, args}, ...]} calls several at
// once. So a host may repeat a request, and ask for titles and summaries meanwhile, without the script
// going out of step. A tool that takes one text is called by {tool, input}.
import { createServer } from "node:http";

export const NOT_OFFERED = "I am not offered this tool";
const SMALL_TALK = "A conversation"; // what the model says where no tools are offered

/**
 * The name under which a host offers a tool: its own as it is, ours as mcp__intercom__ping,
 * intercom-ping and the like.
 */
const named = (offered, tool) =>
  offered.find((name) => name === tool) ?? offered.find((name) => name.endsWith(tool));

const text = (value) => (typeof value === "string" ? value : JSON.stringify(value ?? ""));

/** Function tools, and the functions in namespaces, of an OpenAI request: {name, namespace}. */
function functions(tools = [], namespace = undefined) {
  return tools.flatMap((tool) =>
    tool.type === "namespace"
      ? functions(tool.tools, tool.name)
      : [{ name: tool.function?.name ?? tool.name ?? tool.type, namespace }],
  );
}

/** What a user's message says: a text, or a list of blocks of which some have one. */
const saidIn = (content) =>
  (typeof content === "string" ? [{ text: content }] : (content ?? []))
    .filter((block) => typeof block.text === "string")
    .map((block) => ({ said: block.text }));

const event = (name, data) => `${name ? `event: ${name}\n` : ""}data: ${JSON.stringify(data)}\n\n`;

/** The calls of an answer: one, several, or none. */
const callsOf = (answer) => answer.calls ?? (answer.name ? [answer] : []);

/*
 * One dialect: which requests are in it, what a request says, and how an answer looks. An answer is
 * {name, namespace, args, id} for a call, {calls} for several, or {say}.
 */
const DIALECTS = [
  {
    name: "anthropic",
    path: /\/v1\/messages$/,
    offered: (body) => (body.tools ?? []).map((tool) => tool.name),
    items: (body) =>
      body.messages
        .filter((message) => message.role === "user")
        .flatMap((message) =>
          Array.isArray(message.content) ? message.content : [{ text: message.content }],
        )
        .flatMap((block) =>
          block.type === "tool_result" ? [{ result: text(block.content) }] : saidIn([block]),
        ),
    answer(answer, body) {
      const message = {
        id: answer.id,
        type: "message",
        role: "assistant",
        model: body.model,
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      };
      const calls = callsOf(answer);
      const blocks = calls.length
        ? calls.map((call) => ({
            block: { type: "tool_use", id: call.id, name: call.name, input: {} },
            whole: { input: call.args },
            delta: { type: "input_json_delta", partial_json: JSON.stringify(call.args) },
          }))
        : [
            {
              block: { type: "text", text: "" },
              whole: { text: answer.say },
              delta: { type: "text_delta", text: answer.say },
            },
          ];
      const stop_reason = calls.length ? "tool_use" : "end_turn";
      if (!body.stream)
        return {
          ...message,
          content: blocks.map(({ block, whole }) => ({ ...block, ...whole })),
          stop_reason,
        };
      return (
        event("message_start", { type: "message_start", message }) +
        blocks
          .map(
            ({ block, delta }, index) =>
              event("content_block_start", {
                type: "content_block_start",
                index,
                content_block: block,
              }) +
              event("content_block_delta", { type: "content_block_delta", index, delta }) +
              event("content_block_stop", { type: "content_block_stop", index }),
          )
          .join("") +
        event("message_delta", {
          type: "message_delta",
          delta: { stop_reason, stop_sequence: null },
          usage: { output_tokens: 1 },
        }) +
        event("message_stop", { type: "message_stop" })
      );
    },
  },
  {
    name: "chat completions",
    path: /\/chat\/completions$/,
    offered: (body) => functions(body.tools).map((tool) => tool.name),
    items: (body) =>
      body.messages.flatMap((message) => {
        if (message.role === "tool") return [{ result: text(message.content) }];
        return message.role === "user" ? saidIn(message.content) : [];
      }),
    answer(answer, body) {
      const calls = callsOf(answer);
      const content = calls.length
        ? {
            role: "assistant",
            content: null,
            tool_calls: calls.map((call, index) => ({
              index,
              id: call.id,
              type: "function",
              function: { name: call.name, arguments: JSON.stringify(call.args) },
            })),
          }
        : { role: "assistant", content: answer.say };
      const finish_reason = calls.length ? "tool_calls" : "stop";
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
      const common = { id: answer.id, created: 1, model: body.model };
      if (!body.stream)
        return {
          ...common,
          object: "chat.completion",
          choices: [{ index: 0, message: content, finish_reason }],
          usage,
        };
      const chunk = (delta, finish, more = {}) =>
        event("", {
          ...common,
          object: "chat.completion.chunk",
          choices: [{ index: 0, delta, finish_reason: finish }],
          ...more,
        });
      return `${chunk(content, null)}${chunk({}, finish_reason, { usage })}data: [DONE]\n\n`;
    },
  },
  {
    name: "responses",
    path: /\/responses$/,
    offered: (body) => functions(body.tools).map((tool) => tool.name),
    namespace: (body, name) => functions(body.tools).find((tool) => tool.name === name).namespace,
    items: (body) =>
      (Array.isArray(body.input) ? body.input : [{ role: "user", content: body.input }]).flatMap(
        (item) => {
          if (/_call_output$/.test(item.type ?? "")) return [{ result: text(item.output) }];
          return item.role === "user" ? saidIn(item.content) : [];
        },
      ),
    answer(answer, body) {
      const itemOf = (call) =>
        call.input
          ? {
              type: "custom_tool_call",
              id: `ctc_${call.id}`,
              call_id: call.id,
              name: call.name,
              input: call.input,
              status: "completed",
            }
          : {
              type: "function_call",
              id: `fc_${call.id}`,
              call_id: call.id,
              name: call.name,
              namespace: call.namespace,
              arguments: JSON.stringify(call.args),
              status: "completed",
            };
      const calls = callsOf(answer);
      const output = calls.length
        ? calls.map(itemOf)
        : [
            {
              type: "message",
              id: `msg_${answer.id}`,
              role: "assistant",
              status: "completed",
              content: [{ type: "output_text", text: answer.say, annotations: [] }],
            },
          ];
      const response = {
        id: `resp_${answer.id}`,
        object: "response",
        created_at: 1,
        model: body.model,
        status: "completed",
        output,
        usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
      };
      if (!body.stream) return response;
      const started = { ...response, status: "in_progress", output: [] };
      return (
        event("response.created", { type: "response.created", response: started }) +
        output
          .map(
            (item, output_index) =>
              event("response.output_item.added", {
                type: "response.output_item.added",
                output_index,
                item,
              }) +
              event("response.output_item.done", {
                type: "response.output_item.done",
                output_index,
                item,
              }),
          )
          .join("") +
        event("response.completed", { type: "response.completed", response })
      );
    },
  },
  {
    name: "gemini",
    path: /:(streamGenerateContent|generateContent)$/,
    offered: (body) =>
      (body.tools ?? [])
        .flatMap((tool) => tool.functionDeclarations ?? [])
        .map((declaration) => declaration.name),
    items: (body) =>
      body.contents
        .filter((content) => content.role !== "model")
        .flatMap((content) => content.parts ?? [])
        .flatMap((part) =>
          part.functionResponse
            ? [{ result: text(part.functionResponse.response) }]
            : saidIn([part]),
        ),
    answer(answer, body, url) {
      const calls = callsOf(answer);
      const parts = calls.length
        ? calls.map((call) => ({
            functionCall: { id: call.id, name: call.name, args: call.args },
          }))
        : [{ text: answer.say }];
      const response = {
        candidates: [{ index: 0, content: { role: "model", parts }, finishReason: "STOP" }],
        usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
        modelVersion: "scripted",
      };
      return url.searchParams.has("alt") ? event("", response) : response;
    },
  },
];

const resultsIn = (items) => items.filter((item) => "result" in item).map((item) => item.result);

/** What the model answers: the next step of the script, or small talk where it has no tools. */
async function next(dialect, body, script) {
  const offered = dialect.offered(body);
  const items = dialect.items(body);
  const results = resultsIn(items);
  const id = `call_${results.length}_${Date.now().toString(36)}`;
  if (offered.length === 0) return { id, say: SMALL_TALK };
  const step = await script(results, items);
  if (step.hang) return step;
  if (step.say) return { id, say: step.say };
  const steps = step.calls ?? [step];
  const calls = steps.map(({ tool, args, input }, index) => {
    const name = named(offered, tool);
    const namespace = name && dialect.namespace?.(body, name);
    return { id: index ? `${id}_${index}` : id, tool, name, namespace, args, input };
  });
  const missing = calls.find((call) => !call.name);
  if (missing) return { id, say: `${NOT_OFFERED}: ${missing.tool}` };
  return step.calls ? { id, name: calls[0].name, calls } : calls[0];
}

async function read(request) {
  let bytes = "";
  for await (const chunk of request) bytes += chunk;
  return bytes;
}

/** Serves scripts on a port of its own; each run of a host has one, below a path of its own. */
export class Model {
  #server;
  #runs = new Map();

  static async start() {
    const model = new Model();
    model.#server = createServer((request, response) => void model.#serve(request, response));
    await new Promise((listening) => model.#server.listen(0, "127.0.0.1", listening));
    return model;
  }

  stop() {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /**
   * A run of a script below a path of its own: {base, requests}. Each request is {dialect, body,
   * offered, results, answer}. A script may be replaced.
   */
  run(script) {
    const name = `run${this.#runs.size}`;
    const base = `http://127.0.0.1:${this.#server.address().port}/${name}`;
    const run = { base, requests: [], script };
    this.#runs.set(name, run);
    return run;
  }

  async #serve(request, response) {
    const url = new URL(request.url, "http://127.0.0.1");
    const run = this.#runs.get(url.pathname.split("/")[1]);
    const bytes = await read(request);
    const dialect = DIALECTS.find((one) => one.path.test(url.pathname));
    if (!run || !dialect || request.method !== "POST") {
      response.writeHead(request.method === "HEAD" ? 200 : 404, {
        "content-type": "application/json",
      });
      response.end(request.method === "HEAD" ? undefined : '{"error":{"message":"not here"}}');
      return;
    }
    const body = JSON.parse(bytes);
    const kept = {
      dialect: dialect.name,
      body: bytes,
      offered: dialect.offered(body),
      results: resultsIn(dialect.items(body)),
    };
    run.requests.push(kept);
    const answer = (kept.answer = await next(dialect, body, run.script));
    if (answer.hang) return;
    const out = dialect.answer(answer, body, url);
    const streams = typeof out === "string";
    response.writeHead(200, {
      "content-type": streams ? "text/event-stream" : "application/json",
    });
    response.end(streams ? out : JSON.stringify(out));
  }
}
