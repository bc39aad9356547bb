import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { NO_LIMITS } from "../../src/agent/limits.ts";
import type { EmittedEmbeddings } from "../../src/protocol/embeddings.ts";
import type { UsedEmbeddings } from "../../src/responses/embeddings/embeddings-api.ts";
import type { ModelTarget } from "../../src/responses/models/model-target.ts";
import {
  type EmbeddingsUpstreamOptions,
  startEmbeddingsUpstream,
} from "../../src/testing/embeddings-upstream.ts";
import { script, type Upstream } from "../../src/testing/index.ts";
import { createGuardBench, startGuarded } from "./guard/guard-fixture.ts";
import { type ServerSetup, startServer, type TestServer } from "./server-fixture.ts";

/** The vendors, and the place of each in the upstream. */
const VENDORS: Readonly<Record<string, Pick<ModelTarget, "model"> & { base: string }>> = {
  openai: { model: "openai/text-embedding-3-small", base: "/v1" },
  custom: { model: "custom/own", base: "/v1" },
  gemini: { model: "gemini/gemini-embedding-001", base: "/v1beta" },
  ollama: { model: "ollama/nomic-embed-text", base: "" },
  titan: { model: "bedrock/amazon.titan-embed-text-v2:0", base: "" },
  cohere: { model: "cohere/embed-v4.0", base: "/v2" },
  "cohere at Bedrock": { model: "bedrock/cohere.embed-multilingual-v3", base: "" },
  vertex: { model: "vertex/gemini-embedding-001", base: "/v1/projects/p/locations/l" },
};

const ENV = {
  OPENAI_API_KEY: "sk-openai-secret",
  GEMINI_API_KEY: "gemini-secret",
  COHERE_API_KEY: "cohere-secret",
  AWS_BEARER_TOKEN_BEDROCK: "bedrock-secret",
  CLOUD_TOKEN: "cloud-secret",
};

interface Bench extends TestServer {
  readonly vendor: Upstream;
  embed(body: object): Promise<{ status: number; body: EmittedEmbeddings }>;
}

function toSetup(vendor: Upstream, setup: ServerSetup): ServerSetup {
  const named = Object.entries(VENDORS).map(([name, { model, base }]): [string, ModelTarget] => {
    const api_key_name = name === "vertex" ? "CLOUD_TOKEN" : null;
    return [name, { model, provider: null, url: `${vendor.url}${base}`, api_key_name }];
  });
  const usual = {
    model: "custom/own",
    provider: null,
    url: `${vendor.url}/v1`,
    api_key_name: null,
  };
  const settings = { models: { named, usual }, ...setup.settings };
  return { ...setup, env: { PATH: process.env["PATH"], ...ENV }, settings };
}

async function start(
  t: TestContext,
  options: EmbeddingsUpstreamOptions = {},
  setup: ServerSetup = {},
): Promise<Bench> {
  const vendor = await startEmbeddingsUpstream(options);
  t.after(() => vendor.close());
  const server = await startServer(t, script(), toSetup(vendor, setup));
  const embed = async (body: object): Promise<{ status: number; body: EmittedEmbeddings }> => {
    const { status, body: answer } = await server.ask("POST", "/v1/embeddings", body);
    return { status, body: answer as EmittedEmbeddings };
  };
  return { ...server, vendor, embed };
}

describe("embeddings", () => {
  for (const [name, { model }] of Object.entries(VENDORS)) {
    it(`of ${model} come in the order of the texts`, async (t) => {
      const { embed } = await start(t);
      const { status, body } = await embed({ model: name, input: ["ab", "c", "def"] });
      assert.equal(status, 200, JSON.stringify(body));
      assert.deepEqual(
        body.data.map(({ index, embedding }) => [index, embedding]),
        [
          [0, [2.5, 97.5]],
          [1, [1.5, 99.5]],
          [2, [3.5, 100.5]],
        ],
      );
      assert.equal(body.model, model);
      assert.ok(body.usage.prompt_tokens > 0);
    });

    it(`of ${model} have the length that is asked for`, async (t) => {
      const { embed } = await start(t);
      const { status, body } = await embed({ model: name, input: "ab", dimensions: 4 });
      assert.equal(status, 200, JSON.stringify(body));
      assert.deepEqual(body.data[0]?.embedding, [2.5, 97.5, 0.5, 0.5]);
    });
  }

  it("count the tokens that the vendor says, and estimate them where it does not", async (t) => {
    const { embed } = await start(t);
    const counted = await embed({ model: "openai", input: ["one", "two"] });
    assert.deepEqual(counted.body.usage, { prompt_tokens: 6, total_tokens: 6 });
    const billed = await embed({ model: "cohere", input: ["one", "two"] });
    assert.deepEqual(billed.body.usage, { prompt_tokens: 6, total_tokens: 6 });
    const estimated = await embed({ model: "gemini", input: "twelve chars" });
    assert.deepEqual(estimated.body.usage, { prompt_tokens: 4, total_tokens: 4 });
  });

  it("are signed with the vendor's key", async (t) => {
    const { embed, vendor } = await start(t);
    for (const model of ["openai", "gemini", "titan", "vertex", "cohere"]) {
      await embed({ model, input: "a" });
    }
    const shown = vendor.requests.map(
      ({ headers }) => headers["x-goog-api-key"] ?? headers.authorization,
    );
    const [openai, ...others] = [
      ...["sk-openai-secret", "bedrock-secret", "cloud-secret", "cohere-secret"],
    ].map((key) => `Bearer ${key}`);
    assert.deepEqual(shown, [openai, "gemini-secret", ...others]);
  });

  it("are 32-bit floats in base64 where that is asked for", async (t) => {
    const { embed } = await start(t);
    const { body } = await embed({ model: "openai", input: "ab", encoding_format: "base64" });
    const bytes = Buffer.from(String(body.data[0]?.embedding), "base64");
    assert.deepEqual([bytes.readFloatLE(0), bytes.readFloatLE(4), bytes.length], [2.5, 97.5, 8]);
  });

  it("are made of tokens where the vendor takes them, and refused where it does not", async (t) => {
    const { embed, vendor } = await start(t);
    const one = await embed({ model: "openai", input: [7, 8, 9] });
    assert.deepEqual(one.body.data[0]?.embedding, [3.5, 7.5]);
    const two = await embed({ model: "custom", input: [[7], [8, 9]] });
    assert.equal(two.body.data.length, 2);
    for (const model of ["gemini", "ollama", "cohere", "titan", "vertex", "embedded"]) {
      const refused = await embed({ model, input: [[7], [8]] });
      assert.equal(refused.status, 400);
      assert.match(JSON.stringify(refused.body), /takes texts alone.*"param":"input"/);
    }
    assert.equal(vendor.requests.length, 2);
  });

  it("of many texts are asked for in batches that the vendor takes", async (t) => {
    const { embed, vendor } = await start(t);
    const input = Array.from({ length: 250 }, (_, at) => "x".repeat(at + 1));
    for (const model of ["gemini", "cohere"]) {
      const before = vendor.requests.length;
      const { body } = await embed({ model, input });
      assert.equal(vendor.requests.length - before, 3);
      assert.deepEqual(
        body.data.map(({ embedding }) => Number(embedding[0])),
        input.map(({ length }) => length + 0.5),
      );
    }
  });

  it("pass on who asks and what they are for", async (t) => {
    const { embed, vendor } = await start(t);
    await embed({ model: "openai", input: "a", user: "ada", input_type: "query" });
    for (const model of ["cohere", "cohere at Bedrock"]) {
      await embed({ model, input: "a", input_type: "search_query" });
      await embed({ model, input: "a" });
    }
    const [openai, ...rest] = vendor.requests.map(({ body }) => body);
    assert.deepEqual([openai?.["user"], openai?.["input_type"]], ["ada", "query"]);
    const types = rest.map((body) => body["input_type"]);
    const both = ["search_query", "search_document"];
    assert.deepEqual(types, [...both, ...both]);
  });

  it("of a server that does not hear `dimensions` are refused and not given in another length", async (t) => {
    const { embed } = await start(t, { hearsDimensions: false });
    const { status, body } = await embed({ model: "custom", input: "a", dimensions: 8 });
    assert.equal(status, 400);
    assert.match(
      JSON.stringify(body),
      /gives vectors of 2 numbers, not of 8.*"param":"dimensions"/,
    );
  });

  it("are refused by the name of the field that is wrong", async (t) => {
    const { embed, vendor } = await start(t);
    const wrong: readonly [object, RegExp][] = [
      [{ input: "a" }, /`model` is missing.*"param":"model"/],
      [{ model: null, input: "a" }, /`model` must be a string.*"param":"model"/],
      [{ model: "", input: "a" }, /`model`.*"param":"model"/],
      [{ model: "openai" }, /`input` is missing/],
      [{ model: "openai", input: "" }, /`input` is an empty text/],
      [{ model: "openai", input: ["a", ""] }, /`input\[1\]` is an empty text/],
      [{ model: "openai", input: [] }, /`input` must be at least 1/],
      [{ model: "openai", input: ["a", 1] }, /`input\[1\]` must be a string/],
      [{ model: "openai", input: [[]] }, /`input\[0\]` must be at least 1/],
      [{ model: "openai", input: [-1] }, /`input\[0\]` must be at least 0/],
      [{ model: "openai", input: "a", dimensions: 0 }, /`dimensions`/],
      [{ model: "openai", input: "a", encoding_format: "int8" }, /`encoding_format` must be/],
      [
        { model: "openai", input: "a", truncate: true },
        /`truncate` is not a field of this request; leave it out.*"param":"truncate"/,
      ],
    ];
    for (const [body, message] of wrong) {
      const answer = await embed(body);
      assert.equal(answer.status, 400, JSON.stringify(answer.body));
      assert.match(JSON.stringify(answer.body), message);
    }
    assert.equal(vendor.requests.length, 0);
  });

  it("of a model that has none are refused with a message", async (t) => {
    const { embed } = await start(t, {}, { settings: { models: { named: [], usual: undefined } } });
    const none = await embed({ model: "anthropic/claude-sonnet-5-5", input: "a" });
    assert.equal(none.status, 400);
    assert.match(JSON.stringify(none.body), /`anthropic` has no embeddings/);
    const other = await embed({ model: "bedrock/meta.llama3-8b-instruct-v1:0", input: "a" });
    assert.match(JSON.stringify(other.body), /models of Amazon Titan and Cohere/);
    const unknown = await embed({ model: "nobody-knows", input: "a" });
    assert.equal(unknown.status, 404);
  });

  it("say what the vendor said, without its key", async (t) => {
    const body = { error: { message: "Incorrect API key sk-openai-secret", type: "x" } };
    const { embed } = await start(t, { fail: () => ({ status: 401, body }) });
    const answer = await embed({ model: "openai", input: "a" });
    assert.equal(answer.status, 502);
    assert.doesNotMatch(JSON.stringify(answer.body), /sk-openai-secret/);
  });

  it("of the embedded model need no network: the same text has the same vector, a like one is near", async (t) => {
    const { embed } = await start(t);
    const input = ["The cat sat.", "The cats sit.", "Quarterly revenue fell.", "The cat sat.", "…"];
    const { body } = await embed({ model: "embedded", input });
    const [cat, cats, money, again, dots] = body.data.map(({ embedding }) =>
      [...embedding].map(Number),
    );
    assert.deepEqual(cat, again);
    const near = (a: number[] = [], b: number[] = []): number =>
      a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);
    assert.ok(near(cat, cats) > near(cat, money) + 0.2);
    assert.ok(Math.abs(near(dots, dots) - 1) < 1e-5);
    const short = await embed({ model: "embedded", input: "a", dimensions: 8 });
    assert.equal(short.body.data[0]?.embedding.length, 8);
  });

  it("are made by the model of vector stores where it is named", async (t) => {
    const target = {
      model: "custom/text-embedding-3-small",
      provider: "openai-chat",
      api_key_name: null,
    };
    const vendor = await startEmbeddingsUpstream();
    t.after(() => vendor.close());
    const embeddings = { ...target, url: `${vendor.url}/v1` };
    const { embed } = await start(t, {}, { settings: { embeddings } });
    await embed({ model: "text-embedding-3-small", input: "a" });
    assert.equal(vendor.requests.length, 1);
    await embed({ model: "custom", input: "a" });
    assert.equal((await embed({ input: "a" })).status, 400);
    assert.equal(vendor.requests.length, 1);
  });

  it("of long texts let the server do other work meanwhile", async (t) => {
    const { embed, ask } = await start(t);
    const order: string[] = [];
    const text = "Some words of a long text. ".repeat(100_000);
    const made = embed({ model: "embedded", input: text }).then(({ status, body }) => {
      order.push("vectors");
      assert.equal(status, 200);
      assert.ok(body.usage.prompt_tokens > 500_000);
    });
    let asked = 0;
    while (order.length === 0) {
      assert.equal((await ask("GET", "/v1/responses/resp_nobody")).status, 404);
      asked++;
    }
    await made;
    assert.ok(asked >= 10, `${asked} requests were answered meanwhile`);
  });

  it("are reported with their usage", async (t) => {
    const used: UsedEmbeddings[] = [];
    const observeEmbeddings = (_: string, one: UsedEmbeddings): void => void used.push(one);
    const { embed } = await start(t, {}, { settings: { observeEmbeddings } });
    await embed({ model: "openai", input: ["a", "b"] });
    const model = "openai/text-embedding-3-small";
    const [one] = used;
    assert.deepEqual([one?.model, one?.input_tokens], [model, 6]);
    assert.ok(Math.abs((one?.cost_usd ?? 0) - (6 * 0.02) / 1e6) < 1e-12);
  });
});

describe("embeddings of a key", () => {
  async function startWithKey(t: TestContext, wish: object, options = {}) {
    const vendor = await startEmbeddingsUpstream(options);
    t.after(() => vendor.close());
    const bench = createGuardBench();
    const server = await startGuarded(t, bench, script(), toSetup(vendor, {}));
    const { token, key } = await bench.makeKey({ scopes: ["responses"], ...wish });
    const send = (body: object) => server.send({ token, path: "/v1/embeddings", body });
    const used = async () => {
      await bench.guard.budgets.flush();
      return (await bench.spending.read(key.id, bench.clock.now())).day;
    };
    return { bench, vendor, send, used, key };
  }

  for (const limits of [{}, { tokens_per_day: 1000, usd_per_day: 1 }]) {
    it(`are booked, and in the audit: ${JSON.stringify(limits)}`, async (t) => {
      const { send, used, bench, key } = await startWithKey(t, { limits });
      const { status, text } = await send({ model: "openai", input: ["a", "b"] });
      assert.equal(status, 200, text);
      const { tokens, usd, requests } = await used();
      assert.deepEqual([tokens, requests], [6, 1]);
      assert.ok(Math.abs(usd - (6 * 0.02) / 1e6) < 1e-12);
      assert.deepEqual(await bench.spending.readHolds(key.id), []);
      const [entry] = await bench.audit.list({ limit: 1 });
      assert.deepEqual([entry?.action, entry?.key_id], ["POST /v1/embeddings", key.id]);
    });
  }

  it("are not asked for where the budget does not pay for them", async (t) => {
    const { send, vendor } = await startWithKey(t, { limits: { tokens_per_day: 10 } });
    const { status, text } = await send({ model: "openai", input: "x".repeat(300) });
    assert.equal(status, 429, text);
    assert.equal(vendor.requests.length, 0);
  });

  it("are not asked for beyond what one request of the key may use", async (t) => {
    const responseLimits = { ...NO_LIMITS, tokens: 10 };
    const { send, vendor } = await startWithKey(t, { responseLimits });
    const { status, text } = await send({ model: "openai", input: "x".repeat(300) });
    assert.equal(status, 429, text);
    assert.equal(vendor.requests.length, 0);
  });

  it("are booked as far as they went when one of their batches fails", async (t) => {
    const fail = (number: number) =>
      number === 5 ? { status: 400, body: { message: "No." } } : undefined;
    const { send, used } = await startWithKey(t, {}, { fail });
    // One text in each request, four at once: the fifth is sent when one has been answered.
    const input = Array.from({ length: 9 }, () => "x");
    const { status, text } = await send({ model: "titan", input });
    assert.equal(status, 400, text);
    const { tokens } = await used();
    // Texts in progress are counted too, by an estimate: the vendor has read them.
    assert.ok(tokens >= 3 && tokens <= 15, `${tokens}`);
  });

  it("are of models that the key may ask, and need its scope", async (t) => {
    const { send, vendor } = await startWithKey(t, { models: ["gemini"] });
    const { status, text } = await send({ model: "openai", input: "a" });
    assert.equal(status, 403, text);
    assert.match(
      text,
      /may not ask the model `openai`. Name one of those that `GET \/v1\/models` lists/,
    );
    const other = await startWithKey(t, { scopes: ["models"] });
    assert.equal((await other.send({ model: "openai", input: "a" })).status, 403);
    assert.equal(vendor.requests.length, 0);
  });
});
