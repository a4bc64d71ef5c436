// The second generation's client package as a peer, for those who say which revision they want.
import { Client, SdkErrorCode, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

export const client2 = ({ title, name, revision, options }) => ({
  name: title,
  revision,

  async connect({ url, stdio }, onerror) {
    const client = new Client({ name: `interop-${name}`, version: "1.0.0" }, options);
    client.onerror = onerror;
    const transport = url
      ? new StreamableHTTPClientTransport(url)
      : new StdioClientTransport({ ...stdio, stderr: "ignore" });
    await client.connect(transport);
    return { client, transport, version: () => client.getNegotiatedProtocolVersion() };
  },

  call: (client, tool, args, more) => client.callTool({ name: tool, arguments: args }, more),

  timedOut: (error) => error.code === SdkErrorCode.RequestTimeout,
});
