/** A small MCP server over HTTP on the loopback, which answers as the test says. */

import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import type { JsonObject } from "../../src/base/json.ts";

export interface SmallServer {
  readonly url: string;
  readonly port: number;
  /** The headers of each request, in order. */
  readonly headers: IncomingMessage["headers"][];
  /** What each request asked for, in order: `tools/list`. */
  readonly methods: string[];
  /** The arguments of each call, by the tool's name. */
  readonly calls: { readonly name: string; readonly arguments: JsonObject }[];
}

interface Setup {
  readonly tools?: readonly JsonObject[];
  /** Answers a request instead of the server; true if it has. */
  readonly before?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Called with each call, which is answered once it has resolved. */
  readonly onCall?: (text: string) => Promise<void>;
}

export const TEXT = { type: "object", properties: { text: { type: "string" } } };

export const TOOLS: readonly JsonObject[] = [
  {
    name: "look",
    description: "Looks.",
    inputSchema: TEXT,
    annotations: { readOnlyHint: true },
  },
  { name: "change", description: "Changes.", inputSchema: TEXT },
];

/** Answers a call of `look` with `looked at TEXT`; one of `fail` with an error. */
export async function startSmallServer(
  t: TestContext,
  { tools = TOOLS, before, onCall }: Setup = {},
): Promise<SmallServer> {
  const headers: IncomingMessage["headers"][] = [];
  const methods: string[] = [];
  const calls: SmallServer["calls"][number][] = [];
  const results: Readonly<Record<string, (params: JsonObject) => JsonObject>> = {
    initialize: () => ({
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "small", version: "1" },
    }),
    "tools/list": () => ({ tools }),
    "tools/call": (params) => {
      const { name, arguments: given } = params as { name: string; arguments: JsonObject };
      calls.push({ name, arguments: given });
      const text = `${name} did ${String(given["text"])}`;
      return { content: [{ type: "text", text }], isError: name === "fail" };
    },
    ping: () => ({}),
  };
  const server = createServer((request, response) => {
    headers.push(request.headers);
    if (before?.(request, response)) return;
    void readJson(request).then(async ({ id, method, params }) => {
      if (method !== undefined) methods.push(String(method));
      const given = (params as { readonly arguments?: JsonObject } | undefined)?.arguments;
      if (method === "tools/call") await onCall?.(String(given?.["text"]));
      const result = results[String(method)];
      if (request.method !== "POST") return response.writeHead(405).end();
      if (!result) return response.writeHead(202).end();
      response.writeHead(200, { "content-type": "application/json" });
      const answer = { jsonrpc: "2.0", id, result: result((params ?? {}) as JsonObject) };
      return response.end(JSON.stringify(answer));
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, port, headers, methods, calls };
}

async function readJson(request: IncomingMessage): Promise<JsonObject> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  return text === "" ? {} : (JSON.parse(text) as JsonObject);
}
