/** The official client repeats a POST by itself when the connection breaks: that makes one response. */

import assert from "node:assert/strict";
import { connect, createServer, type Socket } from "node:net";
import { describe, it, type TestContext } from "node:test";
import OpenAI from "openai";
import { createEmbeddedEngine, type ScriptEngine } from "../../../src/testing/index.ts";
import { readBlocks } from "../../doc-blocks.ts";
import { startServer, type TestServer } from "../../server/server-fixture.ts";

/** A connection to the server that is cut once, after the model has been asked. */
async function openCutWay(t: TestContext, server: TestServer, onCut: () => void): Promise<string> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const way = createServer((client) => {
    const isFirst = ++connections === 1;
    const behind = connect(Number(new URL(server.url).port), "127.0.0.1");
    for (const socket of [client, behind]) {
      sockets.add(socket);
      socket.on("error", () => {});
    }
    client.pipe(behind).pipe(client);
    if (!isFirst) return;
    void server.upstream.waitForRequest(1).then(() => {
      client.destroy();
      behind.destroy();
      onCut();
    });
  });
  await new Promise<void>((resolve) => way.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    way.close();
  });
  const address = way.address();
  assert.ok(address !== null && typeof address === "object");
  return `http://127.0.0.1:${address.port}/v1`;
}

/** Answers once it is released. */
function createHeld(): { engine: ScriptEngine; release(): void } {
  const gate = new AbortController();
  const opened = new Promise<void>((resolve) =>
    gate.signal.addEventListener("abort", () => resolve()),
  );
  const embedded = createEmbeddedEngine();
  return {
    async *engine(request, call) {
      await opened;
      yield* embedded(request, call);
    },
    release: () => gate.abort(),
  };
}

describe("the official client, disconnected from its answer", () => {
  for (const stream of [false, true]) {
    it(`makes one response with its key, ${stream ? "streamed" : "plain"}`, async (t) => {
      const { engine, release } = createHeld();
      const server = await startServer(t, engine, {
        server: { send: { keepAliveMs: 1000, commitMs: 60_000 } },
      });
      const baseURL = await openCutWay(t, server, release);
      const client = new OpenAI({ baseURL, apiKey: "key", maxRetries: 3 });
      const headers = { "Idempotency-Key": "order-7" };
      const body = { model: "scripted", input: "compute 6 * 7" };
      const text = stream
        ? await readStream(client, body, headers)
        : await readPlain(client, body, headers);
      assert.match(text, /42/);
      const runs = await server.responses.durable.record.listRuns({ limit: 10 });
      assert.equal(runs.length, 1);
      assert.equal(server.upstream.requests.length, 1);
    });
  }
});

describe("the line of docs/server.md", () => {
  it("makes one response, however often it is sent with its key", async (t) => {
    const [block = assert.fail("no block")] = readBlocks("docs/server.md").filter(({ text }) =>
      text.includes("Idempotency-Key"),
    );
    const server = await startServer(t, createEmbeddedEngine());
    const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: "key", maxRetries: 0 });
    const line = block.text.replace("crypto.randomUUID()", "key");
    assert.notEqual(line, block.text);
    const program = new Function("client", "body", "key", `return (async () => { ${line} })()`);
    const body = { model: "scripted", input: "compute 6 * 7" };
    for (let time = 0; time < 2; time++) await program(client, body, "order-8");
    assert.equal(server.upstream.requests.length, 1);
  });
});

type Body = { readonly model: string; readonly input: string };
type Headers = Record<string, string>;

async function readPlain(client: OpenAI, body: Body, headers: Headers): Promise<string> {
  return (await client.responses.create(body, { headers })).output_text;
}

async function readStream(client: OpenAI, body: Body, headers: Headers): Promise<string> {
  let text = "";
  for await (const event of await client.responses.create({ ...body, stream: true }, { headers })) {
    if (event.type === "response.output_text.delta") text += event.delta;
  }
  return text;
}
