// The official clients, as contract.mjs and the tests beside it drive them. Where a target names
// a `user`, the client declares elicitation, and user.show(params, signal) is its form on a screen.
import {
  Client as Client2,
  isSpecType,
  SdkErrorCode,
  StreamableHTTPClientTransport as Http2,
} from "@modelcontextprotocol/client";
import { StdioClientTransport as Stdio2 } from "@modelcontextprotocol/client/stdio";
import { AjvJsonSchemaValidator as Validator2 } from "@modelcontextprotocol/client/validators/ajv";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport as Stdio1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  ElicitRequestFormParamsSchema,
  ElicitRequestSchema,
  ErrorCode,
} from "@modelcontextprotocol/sdk/types.js";
import { AjvJsonSchemaValidator as Validator1 } from "@modelcontextprotocol/sdk/validation/ajv";

const declaring = (user) => ({ capabilities: user ? { elicitation: {} } : {} });

/** The first generation of the official SDK, which most hosts are built with. */
export const sdk1 = {
  name: "SDK 1.x",

  async connect({ url, stdio, user }, onerror) {
    const client = new Client1({ name: "interop-sdk1", version: "1.0.0" }, declaring(user));
    client.onerror = onerror;
    if (user)
      client.setRequestHandler(ElicitRequestSchema, ({ params }, { signal }) =>
        user.show(params, signal),
      );
    let version;
    const transport = stdio
      ? new Stdio1({ ...stdio, stderr: "ignore" })
      : url.pathname === "/sse"
        ? new SSEClientTransport(url)
        : new Http1(url);
    const told = transport.setProtocolVersion?.bind(transport);
    transport.setProtocolVersion = (agreed) => {
      version = agreed;
      told?.(agreed);
    };
    await client.connect(transport);
    return { client, transport, version: () => version };
  },

  call: (client, name, args, options) =>
    client.callTool({ name, arguments: args }, undefined, options),

  timedOut: (error) => error.code === ErrorCode.RequestTimeout,

  isForm: (params) => ElicitRequestFormParamsSchema.safeParse(params).success,
  fits: (schema, content) => new Validator1().getValidator(schema)(content).valid,
};

/** The second generation: its default mode (initialize), or with `mode` revision 2026-07-28. */
export const client2 = (label, mode) => ({
  name: label ? `client 2.x (${label})` : "client 2.x",
  revision: mode && "2026-07-28",

  async connect({ url, stdio, user }, onerror) {
    const client = new Client2(
      { name: `interop-${label ?? "client2"}`, version: "1.0.0" },
      { ...declaring(user), ...(mode && { versionNegotiation: { mode } }) },
    );
    client.onerror = onerror;
    if (user)
      client.setRequestHandler("elicitation/create", ({ params }, { mcpReq }) =>
        user.show(params, mcpReq.signal),
      );
    const transport = url ? new Http2(url) : new Stdio2({ ...stdio, stderr: "ignore" });
    await client.connect(transport);
    return { client, transport, version: () => client.getNegotiatedProtocolVersion() };
  },

  call: (client, name, args, options) => client.callTool({ name, arguments: args }, options),

  timedOut: (error) => error.code === SdkErrorCode.RequestTimeout,

  isForm: (params) => isSpecType.ElicitRequestFormParams(params),
  fits: (schema, content) => new Validator2().getValidator(schema)(content).valid,
});

/** Revision 2026-07-28 insisted on. */
export const pinned = client2("pin", { pin: "2026-07-28" });
