/** Calls that cost something beside the model's answers: embeddings and pictures. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { toUsage } from "../../../src/protocol/usage.ts";
import type { Embedder } from "../../../src/providers/embeddings/embedder.ts";
import type { ImagesApi } from "../../../src/responses/images/image-tool.ts";
import { reply, respond } from "../../../src/testing/index.ts";
import {
  createGuardBench,
  type GuardBench,
  type GuardedServer,
  startGuarded,
} from "./guard-fixture.ts";

/** Counts 50 tokens for each request, at a dollar for a thousand where it has a price. */
function createEmbedder(price?: number): Embedder & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    model: "counted",
    asked,
    costOf: (tokens) => (price === undefined ? undefined : tokens * price),
    async embed(texts, _signal, told) {
      asked.push(...texts);
      told?.(50);
      return texts.map(() => Float32Array.from([1]));
    },
  };
}

async function readUsed({ guard, spending, clock }: GuardBench, keyId: string) {
  await guard.budgets.flush();
  const { tokens, usd } = (await spending.read(keyId, clock.now())).day;
  return { tokens, usd };
}

/** A store with one file, indexed as far as the key's budget goes. */
async function fillStore(server: GuardedServer, token: string): Promise<string> {
  const form = [
    ...["--b", 'content-disposition: form-data; name="purpose"', "", "assistants"],
    ...["--b", 'content-disposition: form-data; name="file"; filename="a.txt"', "", "cheese"],
    ...["--b--", ""],
  ].join("\r\n");
  const headers = { "content-type": "multipart/form-data; boundary=b" };
  const file = await server.send({ token, path: "/v1/files", headers, body: form });
  const { id: file_id } = JSON.parse(file.text) as { id: string };
  const made = await server.send({ token, path: "/v1/vector_stores", body: { name: "s" } });
  const { id } = JSON.parse(made.text) as { id: string };
  await server.send({ token, path: `/v1/vector_stores/${id}/files`, body: { file_id } });
  await server.responses.durable.idle();
  return id;
}

const SCOPES = { scopes: ["responses", "files"] } as const;

describe("embeddings", () => {
  for (const limits of [{}, { tokens_per_day: 100_000, usd_per_day: 1 }]) {
    it(`are booked for indexing and for searching: ${JSON.stringify(limits)}`, async (t) => {
      const bench = createGuardBench();
      const embedder = createEmbedder(0.001);
      const server = await startGuarded(
        t,
        bench,
        respond(() => reply.text("Yes.")),
        { settings: { embedder } },
      );
      const { token, key } = await bench.makeKey({ ...SCOPES, limits });
      const store = await fillStore(server, token);
      assert.deepEqual(await readUsed(bench, key.id), { tokens: 50, usd: 0.05 });
      const path = `/v1/vector_stores/${store}/search`;
      const found = await server.send({ token, path, body: { query: "cheese" } });
      assert.equal(found.status, 200, found.text);
      assert.deepEqual(await readUsed(bench, key.id), { tokens: 100, usd: 0.1 });
      assert.deepEqual(await bench.spending.readHolds(key.id), []);
    });
  }

  it("are not asked for where the budget does not pay for them, or the price is unknown", async (t) => {
    for (const [limits, price] of [
      [{ tokens_per_day: 1 }, 0.001],
      [{ usd_total: 0.000_000_1 }, 0.001],
      [{ usd_total: 5 }, undefined],
    ] as const) {
      const bench = createGuardBench();
      const embedder = createEmbedder(price);
      const server = await startGuarded(
        t,
        bench,
        respond(() => reply.text("Yes.")),
        { settings: { embedder } },
      );
      const { token, key } = await bench.makeKey({ ...SCOPES, limits });
      const store = await fillStore(server, token);
      const body = { query: "cheese" };
      const path = `/v1/vector_stores/${store}/search`;
      const found = await server.send({ token, path, body });
      assert.equal(found.status, 429, found.text);
      assert.deepEqual(embedder.asked, []);
      assert.deepEqual(await readUsed(bench, key.id), { tokens: 0, usd: 0 });
    }
  });

  it("of a response are booked with it", async (t) => {
    const bench = createGuardBench();
    const embedder = createEmbedder();
    const usage = { input: 100, output: 10 };
    const queries = { queries: ["cheese"] };
    const answers = [
      reply.calls([{ name: "file_search", arguments: queries }], { usage }),
      reply.text("Yes.", { usage }),
    ];
    const server = await startGuarded(
      t,
      bench,
      respond(() => answers.shift() ?? reply.text("No.", { usage })),
      { settings: { embedder } },
    );
    const { token, key } = await bench.makeKey({ ...SCOPES, limits: { tokens_per_day: 100_000 } });
    const store = await fillStore(server, token);
    const tools = [{ type: "file_search", vector_store_ids: [store] }];
    const made = await server.send({ token, body: { input: "Cheese?", tools } });
    assert.equal(made.status, 200, made.text);
    assert.deepEqual(await readUsed(bench, key.id), { tokens: 50 + 110 + 50 + 110, usd: 0 });
  });
});

describe("model calls that a request does not show", () => {
  const usage = { input: 100, output: 10 };

  it("of subagents side by side together take at most what the key has", async (t) => {
    const bench = createGuardBench();
    const big = { input: 200, output: 1_800 };
    const tasks = Array.from({ length: 40 }, (_, at) => `part ${at}`);
    const engine = respond(({ items }) => {
      const text = JSON.stringify(items);
      if (text.includes("function_call_output")) return reply.text("Done.", { usage });
      if (!text.includes("Begin")) return reply.text("Done.", { usage: big });
      return reply.calls(
        tasks.map((task_prompt) => ({
          name: "offshoot__subagent",
          arguments: { label: "a", task_prompt },
        })),
        { usage },
      );
    });
    const server = await startGuarded(t, bench, engine);
    const limits = { tokens_per_day: 50_000 };
    const { token, key } = await bench.makeKey({ limits });
    const tools = [{ type: "mcp", server_label: "offshoot", require_approval: "never" }];
    const made = await server.send({ token, body: { input: "Begin", tools } });
    assert.equal(made.status, 200, made.text);
    const { tokens } = await readUsed(bench, key.id);
    assert.ok(tokens <= limits.tokens_per_day, `${tokens} tokens`);
    assert.ok(tokens >= 10_000, `${tokens} tokens: children have worked`);
  });

  it("of subagents are booked to the key of the response, at any depth", async (t) => {
    const bench = createGuardBench();
    const engine = respond(({ items }) => {
      const text = JSON.stringify(items);
      const start = (name: string, task_prompt: string) =>
        reply.calls([{ name, arguments: { label: "a", task_prompt } }], { usage });
      if (text.includes("function_call_output")) return reply.text("Done.", { usage });
      if (text.includes("level one")) return start("subagent", "level two");
      if (text.includes("Begin")) return start("offshoot__subagent", "level one");
      return reply.text("Done.", { usage });
    });
    const server = await startGuarded(t, bench, engine);
    const own = { type: "mcp", server_label: "offshoot", require_approval: "never" };
    for (const limits of [{}, { tokens_per_day: 100_000 }]) {
      const { token, key } = await bench.makeKey({ limits });
      const before = server.upstream.requests.length;
      const made = await server.send({ token, body: { input: "Begin", tools: [own] } });
      assert.equal(made.status, 200, made.text);
      const calls = server.upstream.requests.length - before;
      assert.ok(calls >= 5, `${calls} model calls`);
      assert.deepEqual(await readUsed(bench, key.id), { tokens: calls * 110, usd: 0 });
    }
  });

  it("of a compaction are booked to the key that asks for it", async (t) => {
    const bench = createGuardBench();
    const engine = respond(() => reply.text("In short.", { usage }));
    const server = await startGuarded(t, bench, engine);
    const { token, key } = await bench.makeKey({ limits: { tokens_per_day: 100_000 } });
    const body = { model: "scripted", input: "A long conversation." };
    const made = await server.send({ token, path: "/v1/responses/compact", body });
    assert.equal(made.status, 200, made.text);
    assert.deepEqual(await readUsed(bench, key.id), { tokens: 110, usd: 0 });
    assert.deepEqual(await bench.spending.readHolds(key.id), []);
  });
});

describe("pictures", () => {
  const usage = { input: 100, output: 10 };
  const start = async (t: TestContext, limits: object) => {
    const bench = createGuardBench();
    const answers = [
      reply.calls(
        [{ name: "image_generation", arguments: { prompt: "A dog", action: "generate" } }],
        { usage },
      ),
      reply.text("Here.", { usage }),
    ];
    let made = 0;
    const images: ImagesApi = {
      host: "127.0.0.1",
      async make() {
        made++;
        return { b64_json: "AAAA", usage: toUsage({ input: 20, output: 1000 }) };
      },
    };
    const server = await startGuarded(
      t,
      bench,
      respond(() => answers.shift() ?? reply.text("No.", { usage })),
      {
        settings: {
          machine: { images, patches: "client", interpreter: undefined, shell: undefined },
        },
      },
    );
    const { token, key } = await bench.makeKey({ limits });
    const body = { input: "Draw", tools: [{ type: "image_generation" }], max_output_tokens: 50 };
    const { text } = await server.send({ token, body });
    return { text, made: () => made, used: () => readUsed(bench, key.id) };
  };

  it("are booked with what the server counted for them", async (t) => {
    const { text, used } = await start(t, { tokens_per_day: 100_000 });
    assert.match(text, /AAAA/);
    assert.deepEqual(await used(), { tokens: 110 + 1020 + 110, usd: 0 });
  });

  it("are not asked for where the budget does not pay for them", async (t) => {
    // Enough for the answers around it.
    const { text, made, used } = await start(t, { tokens_per_day: 2000 });
    assert.doesNotMatch(text, /AAAA/);
    assert.equal(made(), 0);
    assert.ok((await used()).tokens <= 220, text);
  });
});
