// The first generation of the official SDK, which most hosts are built with.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ErrorCode } from "@modelcontextprotocol/sdk/types.js";
import { contract } from "./contract.mjs";

const sdk1 = {
  name: "SDK 1.x",

  async connect({ url, stdio }, onerror) {
    const client = new Client({ name: "interop-sdk1", version: "1.0.0" });
    client.onerror = onerror;
    let version;
    const transport = stdio
      ? new StdioClientTransport({ ...stdio, stderr: "ignore" })
      : url.pathname === "/sse"
        ? new SSEClientTransport(url)
        : new StreamableHTTPClientTransport(url);
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
};

contract(sdk1, "http");
contract(sdk1, "stdio");
contract(sdk1, "sse");
