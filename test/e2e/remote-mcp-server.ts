/** MCP servers made of the SDK's own transports, on the loopback: streamable HTTP, and the older SSE. */

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

export interface RemoteServer {
  readonly url: string;
  /** The values of the header `x-editor` that requests came with. */
  readonly editors: Set<unknown>;
}

/** It has one tool, `echo`. */
export async function startRemoteServer(
  t: TestContext,
  type: "http" | "sse",
): Promise<RemoteServer> {
  const editors = new Set<unknown>();
  const handle = type === "http" ? handleHttp : createSseHandler();
  const server = createServer((request, response) => {
    editors.add(request.headers["x-editor"]);
    void handle(request, response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, editors };
}

type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Without sessions: each request has a server of its own. */
const handleHttp: Handle = async (request, response) => {
  const transport = new StreamableHTTPServerTransport({});
  await createEcho().connect(transport as Transport);
  await transport.handleRequest(request, response);
};

/** A client opens a stream, and posts its messages to the address that comes first. */
function createSseHandler(): Handle {
  const open = new Map<string, SSEServerTransport>();
  return async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
    if (request.method === "GET") {
      const transport = new SSEServerTransport("/messages", response);
      open.set(transport.sessionId, transport);
      await createEcho().connect(transport);
      return;
    }
    const transport = open.get(searchParams.get("sessionId") ?? "");
    if (pathname === "/messages" && transport) await transport.handlePostMessage(request, response);
    else response.writeHead(405).end();
  };
}

function createEcho(): Server {
  const server = new Server({ name: "remote", version: "1" }, { capabilities: { tools: {} } });
  const inputSchema = { type: "object" as const, properties: { text: { type: "string" } } };
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [{ name: "echo", description: "Says it again.", inputSchema }],
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
    content: [{ type: "text", text: `You said: ${String(params.arguments?.["text"])}` }],
  }));
  return server;
}
