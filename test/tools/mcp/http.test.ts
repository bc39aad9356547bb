import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import { createTestHub, type TestHub } from "./hub-parts.ts";

type Answer = (response: ServerResponse, id: number, request: IncomingMessage) => void;

interface Server extends AsyncDisposable {
  readonly url: string;
  readonly methods: string[];
}

/** An MCP server over HTTP that answers a call of a tool as the test says. */
async function startServer(call: Answer, options: { type?: string } = {}): Promise<Server> {
  const methods: string[] = [];
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      const { id, method } = body as { id: number; method?: string };
      methods.push(method ?? request.method ?? "");
      if (request.method !== "POST") return response.writeHead(405).end();
      if (method === "tools/call") return call(response, id, request);
      const result = RESULTS[method ?? ""];
      if (!result) return response.writeHead(202).end();
      const text = JSON.stringify({ jsonrpc: "2.0", id, result });
      const isStream = options.type === "text/event-stream";
      response.writeHead(200, {
        "content-type": options.type ?? "application/json",
        "mcp-session-id": "abc",
      });
      return response.end(isStream ? `data: ${text}\n\n` : text);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    methods,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const RESULTS: Readonly<Record<string, JsonObject>> = {
  initialize: {
    protocolVersion: "2025-06-18",
    capabilities: { tools: {} },
    serverInfo: { name: "http", version: "1" },
  },
  "tools/list": { tools: [{ name: "go", inputSchema: { type: "object" } }] },
  ping: {},
};

async function readBody(request: IncomingMessage): Promise<JsonObject> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString("utf8");
  return text === "" ? {} : JSON.parse(text);
}

function answerWith(response: ServerResponse, id: number, text: string): void {
  const result = { content: [{ type: "text", text }] };
  response.writeHead(200, { "content-type": "application/json" });
  response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
}

function open({ url }: Server, more: JsonObject = {}): TestHub {
  return createTestHub({ web: { url, ...more } }, { env: { KEY: "key-of-the-user" } });
}

describe("an MCP server over HTTP", () => {
  it("gets the headers of the settings, and the end of the session", async () => {
    await using server = await startServer((response, id, { headers }) =>
      answerWith(response, id, `${headers.authorization} ${headers["mcp-session-id"]}`),
    );
    const test = open(server, { headers: { Authorization: "Bearer $KEY" } });
    assert.equal(await test.call("mcp__web__go"), "Bearer key-of-the-user abc");
    await test.hub.close();
    assert.equal(server.methods.at(-1), "DELETE");
  });

  it("names its host, so that grants and rules apply", async () => {
    await using server = await startServer((response, id) => answerWith(response, id, "ok"));
    await using test = open(server);
    const [tool] = await test.hub.tools();
    assert.deepEqual(tool?.targets?.({}), { hosts: ["127.0.0.1"] });
  });

  for (const type of ["application/json", "text/event-stream"]) {
    it(`sends 50 MB as ${type}: the call reports it, and the next one works`, async () => {
      let calls = 0;
      await using server = await startServer((response, id) => {
        calls += 1;
        if (calls > 1) return answerWith(response, id, "fine");
        response.writeHead(200, { "content-type": type });
        response.write('data: {"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"');
        const piece = "x".repeat(1_000_000);
        for (let i = 0; i < 50; i++) response.write(piece);
        response.end('"}]}}\n\n');
      });
      await using test = open(server);
      await assert.rejects(test.call("mcp__web__go"), /larger than 10 MB/);
      assert.equal(await test.call("mcp__web__go"), "fine");
    });
  }

  for (const [what, cut] of [
    ["in the middle of its answer", (response: ServerResponse) => response.destroy()],
    ["with an empty one", (response: ServerResponse) => response.end()],
  ] as const) {
    it(`ends a call ${what}: the call fails at once, the next one works`, async () => {
      let calls = 0;
      await using server = await startServer((response, id) => {
        calls += 1;
        if (calls > 1) return answerWith(response, id, "back");
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write(": hello\n\n", () => cut(response));
      });
      await using test = open(server);
      await assert.rejects(test.call("mcp__web__go"), { code: "tool_failed" });
      assert.equal(await test.call("mcp__web__go"), "back");
    });
  }

  it("forgets the session: the call fails, the next one begins a new session", async () => {
    let calls = 0;
    await using server = await startServer((response, id) => {
      calls += 1;
      if (calls > 1) return answerWith(response, id, "back");
      response.writeHead(404).end("no such session");
    });
    await using test = open(server);
    await assert.rejects(test.call("mcp__web__go"), /cannot be reached.*no such session/);
    assert.equal(await test.call("mcp__web__go"), "back");
    assert.equal(server.methods.filter((method) => method === "initialize").length, 2);
  });

  it("shows no key in its messages", async () => {
    await using server = await startServer((response, _, { headers }) => {
      response.writeHead(500).end(`wrong key ${headers.authorization}`);
    });
    await using test = open(server, { headers: { Authorization: "Bearer $KEY" } });
    await assert.rejects(test.call("mcp__web__go"), ({ message }: Error) => {
      assert.match(message, /wrong key/);
      assert.ok(!message.includes("key-of-the-user"), message);
      return true;
    });
  });

  it("is not followed to another origin with our key", async () => {
    const seen: string[] = [];
    await using other = await startServer((response, id, { headers }) => {
      seen.push(String(headers.authorization));
      answerWith(response, id, "stolen");
    });
    await using server = await startServer((response) => {
      response.writeHead(307, { location: other.url }).end();
    });
    await using test = open(server, { headers: { Authorization: "Bearer $KEY" } });
    await assert.rejects(test.call("mcp__web__go"), /Redirect .* not followed/);
    assert.deepEqual(seen, []);
  });
});
