import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { createOpenAI } from "@ai-sdk/openai";
import { OpenAIEmbeddings } from "@langchain/openai";
import { embedMany } from "ai";
import OpenAI from "openai";
import { startEmbeddingsUpstream } from "../../../src/testing/embeddings-upstream.ts";
import { script, type Upstream } from "../../../src/testing/index.ts";
import { startServer } from "../../server/server-fixture.ts";

interface Bench {
  readonly baseURL: string;
  readonly vendor: Upstream;
}

async function start(t: TestContext): Promise<Bench> {
  const vendor = await startEmbeddingsUpstream();
  t.after(() => vendor.close());
  const target = { model: "openai/text-embedding-3-small", provider: null, api_key_name: null };
  const named = [["small", { ...target, url: `${vendor.url}/v1` }]] as const;
  const settings = { models: { named, usual: undefined } };
  const env = { PATH: process.env["PATH"], OPENAI_API_KEY: "sk-test" };
  const server = await startServer(t, script(), { settings, env });
  return { baseURL: `${server.url}/v1`, vendor };
}

describe("embeddings with the official client", () => {
  it("come as numbers, whether base64 is requested on the way or not", async (t) => {
    const { baseURL } = await start(t);
    const client = new OpenAI({ baseURL, apiKey: "key", maxRetries: 0 });
    for (const format of [{}, { encoding_format: "float" }] as const) {
      const made = await client.embeddings.create({
        model: "small",
        input: ["ab", "c"],
        ...format,
      });
      assert.deepEqual(
        made.data.map(({ embedding }) => embedding),
        [
          [2.5, 97.5],
          [1.5, 99.5],
        ],
      );
      assert.deepEqual(made.usage, { prompt_tokens: 6, total_tokens: 6 });
    }
  });

  it("accept tokens, dimensions and a user", async (t) => {
    const { baseURL, vendor } = await start(t);
    const client = new OpenAI({ baseURL, apiKey: "key", maxRetries: 0 });
    const input = [[1, 2, 3], [4]];
    const made = await client.embeddings.create({
      model: "small",
      input,
      dimensions: 3,
      user: "u",
    });
    assert.equal(made.data[0]?.embedding.length, 3);
    assert.deepEqual(vendor.requests[0]?.body["input"], input);
  });

  it("fail as the client's own errors", async (t) => {
    const { baseURL } = await start(t);
    const client = new OpenAI({ baseURL, apiKey: "key", maxRetries: 0 });
    await assert.rejects(client.embeddings.create({ model: "small", input: "" }), {
      status: 400,
      param: "input",
    });
    await assert.rejects(client.embeddings.create({ model: "nobody", input: "a" }), {
      status: 404,
    });
  });
});

describe("embeddings with other clients", () => {
  it("work in LangChain, for documents and a question", async (t) => {
    const { baseURL } = await start(t);
    const model = new OpenAIEmbeddings({
      model: "small",
      apiKey: "key",
      dimensions: 2,
      configuration: { baseURL },
      maxRetries: 0,
    });
    assert.deepEqual(await model.embedDocuments(["ab", "c"]), [
      [2.5, 97.5],
      [1.5, 99.5],
    ]);
    assert.deepEqual(await model.embedQuery("ab"), [2.5, 97.5]);
  });

  it("work in the AI SDK", async (t) => {
    const { baseURL } = await start(t);
    const openai = createOpenAI({ baseURL, apiKey: "key" });
    const { embeddings, usage } = await embedMany({
      model: openai.textEmbeddingModel("small"),
      values: ["ab", "c"],
      maxRetries: 0,
    });
    assert.equal(embeddings.length, 2);
    assert.equal(usage.tokens, 6);
  });
});
