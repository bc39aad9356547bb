/** An MCP server of the SDK inside the test's process, one for each connection. */

import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

export interface MemoryServer {
  /** The number of connections so far. */
  connections: number;
  /** Pages of the list. */
  pages: object[][];
  /** Names of the called tools. */
  readonly calls: string[];
  /** Announces that its list of tools has changed. */
  announce(): Promise<void>;
  /** Ends the connection from its side. */
  hangUp(): Promise<void>;
  open(): Promise<Transport>;
}

export function createMemoryServer(pages: object[][]): MemoryServer {
  let current: Server | undefined;
  const memory: MemoryServer = {
    connections: 0,
    pages,
    calls: [],
    announce: async () => current?.sendToolListChanged(),
    hangUp: async () => current?.close(),
    async open() {
      memory.connections += 1;
      const server = new Server(
        { name: "memory", version: "1" },
        { capabilities: { tools: { listChanged: true } } },
      );
      server.setRequestHandler(ListToolsRequestSchema, async ({ params }) => {
        const at = Number(params?.cursor ?? 0);
        const isLast = at + 1 >= memory.pages.length;
        const tools = (memory.pages[at] ?? []) as never[];
        return isLast ? { tools } : { tools, nextCursor: String(at + 1) };
      });
      server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
        memory.calls.push(params.name);
        return { content: [{ type: "text", text: `called ${params.name}` }] };
      });
      const [ours, theirs] = InMemoryTransport.createLinkedPair();
      await server.connect(theirs);
      current = server;
      return ours;
    },
  };
  return memory;
}

export function memoryTool(name: string, description = `Does ${name}.`): object {
  return { name, description, inputSchema: { type: "object" } };
}
