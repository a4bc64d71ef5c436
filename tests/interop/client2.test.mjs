// The second generation's client package in its default mode, the initialize handshake.
import { Client, SdkErrorCode, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { contract } from "./contract.mjs";

const client2 = {
  name: "client 2.x",

  async connect({ url, stdio }, onerror) {
    const client = new Client({ name: "interop-client2", version: "1.0.0" });
    client.onerror = onerror;
    const transport = url
      ? new StreamableHTTPClientTransport(url)
      : new StdioClientTransport({ ...stdio, stderr: "ignore" });
    await client.connect(transport);
    return { client, transport, version: () => client.getNegotiatedProtocolVersion() };
  },

  call: (client, name, args, options) => client.callTool({ name, arguments: args }, options),

  timedOut: (error) => error.code === SdkErrorCode.RequestTimeout,
};

contract(client2, "http");
contract(client2, "stdio");
