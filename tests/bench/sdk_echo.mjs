// An MCP server as the official SDK makes it: one session per client, JSON replies, nothing stored.
// run.sh puts it beside a link to node_modules; prints its address once it listens.
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { isInitializeRequest } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

const transports = new Map();

function newServer() {
  const server = new McpServer({ name: "echo", version: "1.0.0" });
  const inputSchema = { text: z.string() };
  server.registerTool("echo", { inputSchema }, async ({ text }) => ({
    content: [{ type: "text", text }],
  }));
  server.registerTool("wait", { inputSchema }, () => new Promise(() => {}));
  return server;
}

async function newTransport() {
  const transport = new StreamableHTTPServerTransport({
    enableJsonResponse: true,
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => transports.set(id, transport),
  });
  await newServer().connect(transport);
  return transport;
}

async function body(request) {
  const parts = [];
  for await (const part of request) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString());
}

const http = createServer(async (request, response) => {
  try {
    const message = await body(request);
    const transport = isInitializeRequest(message)
      ? await newTransport()
      : transports.get(request.headers["mcp-session-id"]);
    if (transport) await transport.handleRequest(request, response, message);
    else response.writeHead(404).end();
  } catch (error) {
    console.error(error);
    response.writeHead(500).end();
  }
});
http.requestTimeout = 0;
http.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${http.address().port}/mcp`));
