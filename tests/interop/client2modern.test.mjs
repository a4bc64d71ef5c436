// The second generation's client package in revision 2026-07-28: found by asking, and insisted on.
import { Client, SdkErrorCode, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { contract } from "./contract.mjs";

const modern = (name, mode) => ({
  name: `client 2.x (${name})`,
  revision: "2026-07-28",

  async connect({ url, stdio }, onerror) {
    const client = new Client(
      { name: `interop-${name}`, version: "1.0.0" },
      { versionNegotiation: { mode } },
    );
    client.onerror = onerror;
    const transport = url
      ? new StreamableHTTPClientTransport(url)
      : new StdioClientTransport({ ...stdio, stderr: "ignore" });
    await client.connect(transport);
    return { client, transport, version: () => client.getNegotiatedProtocolVersion() };
  },

  call: (client, name, args, options) => client.callTool({ name, arguments: args }, options),

  timedOut: (error) => error.code === SdkErrorCode.RequestTimeout,
});

for (const peer of [modern("auto", "auto"), modern("pin", { pin: "2026-07-28" })]) {
  contract(peer, "http");
  contract(peer, "stdio");
}
