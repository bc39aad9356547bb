/** Embeddings by a server: what is billed, whatever the client or the server does. */

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { createEmbeddedEmbeddings } from "../../../src/providers/embedded/embeddings.ts";
import { askEmbeddings } from "../../../src/providers/embeddings/ask-embeddings.ts";
import { OPENAI_FORM } from "../../../src/providers/embeddings/openai-form.ts";
import { createTransport } from "../../../src/providers/http/transport.ts";
import { createManualClock } from "../../../src/testing/manual-clock.ts";

const REQUEST = { model: "small", input: ["one text"] };

/** A server that reads each request and answers with the result of `answer`, or not at all. */
async function start(t: TestContext, answer: () => string | undefined) {
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      const said = answer();
      if (said !== undefined) response.end(said);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const transport = createTransport({});
  t.after(async () => {
    await transport.close();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    who: "acme",
    form: OPENAI_FORM,
    transport: async () => transport,
    baseUrl: `http://127.0.0.1:${port}/v1`,
    clock: createManualClock(),
    random: () => 0,
    redact: (text: string) => text,
  };
}

describe("embeddings by a server", () => {
  it("are paid by a client that disconnects after they were requested", async (t) => {
    const left = new AbortController();
    const server = await start(t, () => void left.abort());
    const told: unknown[] = [];
    const call = {
      signal: left.signal,
      told: (batch: { readonly input: unknown }, tokens: number | undefined) =>
        void told.push([batch.input, tokens]),
    };
    await assert.rejects(askEmbeddings(server, REQUEST, call));
    assert.deepEqual(told, [[REQUEST.input, undefined]]);
  });

  it("cost nothing if the client has disconnected before", async (t) => {
    const server = await start(t, () => undefined);
    const told: unknown[] = [];
    const call = { signal: AbortSignal.abort(), told: (batch: unknown) => void told.push(batch) };
    await assert.rejects(askEmbeddings(server, REQUEST, call));
    assert.deepEqual(told, []);
  });

  it("are counted here if the server's count is invalid", async (t) => {
    for (const count of ["1e999", "-5", "0"]) {
      const body = `{"data":[{"index":0,"embedding":[1,2]}],"usage":{"total_tokens":${count}}}`;
      const server = await start(t, () => body);
      const told: unknown[] = [];
      const call = {
        signal: new AbortController().signal,
        told: (_: unknown, tokens: number | undefined) => void told.push(tokens),
      };
      await askEmbeddings(server, REQUEST, call);
      assert.deepEqual(told, [undefined], count);
    }
  });
});

describe("embeddings by this process", () => {
  it("are no longer than it can hold", async () => {
    const { embed } = createEmbeddedEmbeddings();
    const call = { signal: new AbortController().signal };
    const ask = (dimensions: number) => embed({ input: ["a"], dimensions }, call);
    assert.equal((await ask(3072))[0]?.length, 3072);
    for (const dimensions of [3073, 2_000_000_000, Number.MAX_SAFE_INTEGER]) {
      await assert.rejects(ask(dimensions), { code: "invalid_request", param: "dimensions" });
    }
  });
});
