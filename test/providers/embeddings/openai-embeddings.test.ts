import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { createOpenAiEmbedder } from "../../../src/providers/embeddings/openai-embeddings.ts";
import { createTransport } from "../../../src/providers/http/transport.ts";
import { createManualClock } from "../../../src/testing/manual-clock.ts";

const signal = new AbortController().signal;

interface Asked {
  readonly url: string;
  readonly authorization: string | undefined;
  readonly body: { readonly input: string[]; readonly dimensions?: number };
}

/** A server that answers each request with the result of `answer`. */
async function start(
  t: TestContext,
  answer: (asked: Asked, count: number) => { status?: number; body: unknown },
) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on("data", (piece: Buffer) => pieces.push(piece));
    request.on("end", () => {
      const body = JSON.parse(Buffer.concat(pieces).toString()) as Asked["body"];
      const { authorization } = request.headers;
      asked.push({ url: request.url ?? "", authorization, body });
      const { status = 200, body: sent } = answer(asked.at(-1) as Asked, asked.length);
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(sent));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const transport = createTransport({});
  t.after(async () => {
    await transport.close();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const embedder = createOpenAiEmbedder({
    transport: async () => transport,
    baseUrl: `http://127.0.0.1:${port}/v1/`,
    model: "small",
    dimensions: 2,
    key: "sk-secret",
    clock: createManualClock(),
    random: () => 0,
    redact: (text) => text.replaceAll("sk-secret", "[key]"),
  });
  return { embedder, asked };
}

const vectors = ({ body }: Asked) => ({
  data: body.input
    .map((text, index) => ({ index, embedding: [3 * text.length, 4 * text.length] }))
    .reverse(),
});

describe("embeddings over HTTP", () => {
  it("come in batches, of length 1, in the order of the texts", async (t) => {
    const { embedder, asked } = await start(t, (one) => ({ body: vectors(one) }));
    const texts = Array.from({ length: 40 }, (_, at) => "x".repeat(at));
    const found = await embedder.embed(texts, signal);
    assert.equal(found.length, 40);
    assert.deepEqual(
      [...(found[39] ?? [])].map((value) => value.toFixed(4)),
      ["0.6000", "0.8000"],
    );
    assert.deepEqual(
      asked.map(({ body }) => body.input.length),
      [32, 8],
    );
    assert.deepEqual(
      [asked[0]?.url, asked[0]?.authorization],
      ["/v1/embeddings", "Bearer sk-secret"],
    );
    assert.deepEqual([asked[0]?.body.dimensions, asked[0]?.body.input[0]], [2, " "]);
    assert.equal(embedder.model, "small/2");
  });

  it("are retried if the server is busy", async (t) => {
    const { embedder, asked } = await start(t, (one, count) =>
      count === 1 ? { status: 503, body: { error: { message: "busy" } } } : { body: vectors(one) },
    );
    assert.equal((await embedder.embed(["a"], signal)).length, 1);
    assert.equal(asked.length, 2);
  });

  it("fail with the server's message, without the key", async (t) => {
    const { embedder } = await start(t, () => ({
      status: 401,
      body: { error: { message: "Wrong key sk-secret" } },
    }));
    await assert.rejects(embedder.embed(["a"], signal), {
      code: "provider_unauthorized",
      message: /Wrong key \[key\]/,
    });
  });

  it("must be one for each text", async (t) => {
    for (const body of [
      { data: [] },
      { data: [{ index: 0, embedding: [] }] },
      { data: [{ index: 0, embedding: ["x"] }] },
      {
        data: [
          { index: 3, embedding: [1] },
          { index: 3, embedding: [1] },
        ],
      },
      {},
    ]) {
      const { embedder } = await start(t, () => ({ body }));
      const texts = Array.isArray(body.data) && body.data.length === 2 ? ["a", "b"] : ["a"];
      await assert.rejects(embedder.embed(texts, signal), { code: "broken_answer" });
    }
  });
});
