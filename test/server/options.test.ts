/** Fields of a vendor's own in requests to a server: which go on, for whom, and what is said of the others. */

import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { JsonObject } from "../../src/base/json.ts";
import type { EmittedResponse } from "../../src/protocol/emitted.ts";
import { SAMPLING_FIELDS } from "../../src/providers/http/carried-fields.ts";
import type { Caller } from "../../src/responses/tenant/caller.ts";
import { reply, script } from "../../src/testing/index.ts";
import { type OpenUpstream, type Said, startOpenUpstream } from "../open-upstream.ts";
import { type ServerSetup, startServer, type TestServer } from "./server-fixture.ts";

interface World extends TestServer {
  readonly vendor: OpenUpstream;
  /** The last body that the model's server was sent. */
  sent(): JsonObject;
}

interface Setup extends ServerSetup {
  readonly model?: string;
  readonly say?: (body: JsonObject, place: number) => Said;
}

async function start(t: TestContext, { model, say, ...setup }: Setup = {}): Promise<World> {
  const vendor = await startOpenUpstream(say);
  t.after(() => vendor.close());
  const usual = {
    model: model ?? "custom/m",
    provider: "openai-chat",
    url: vendor.url,
    api_key_name: null,
  };
  const settings = { models: { named: [], usual } };
  const server = await startServer(t, script(reply.text("")), { settings, ...setup });
  return { ...server, vendor, sent: () => vendor.sent.at(-1)?.body ?? {} };
}

/** Neither of them stored: the direct way, and that of a run. */
const WAYS = [
  { store: false },
  { store: false, truncation: "auto" },
  { store: true },
] as const satisfies readonly JsonObject[];

const ignoredOf = ({ offshoot }: EmittedResponse): readonly string[] => offshoot?.ignored ?? [];

/** The options that an ordinary key may set. */
const ORDINARY: Partial<Caller> = { options: SAMPLING_FIELDS };

describe("fields that clients of compatible servers send", () => {
  it("are passed to a server that accepts them, on every way", async (t) => {
    const server = await start(t, { caller: ORDINARY });
    const fields = { top_k: 40, seed: 7, chat_template_kwargs: { enable_thinking: false } };
    for (const way of WAYS) {
      const made = await server.create({ input: "Hi", ...way, ...fields });
      const { top_k, seed, chat_template_kwargs } = server.sent();
      assert.deepEqual({ top_k, seed, chat_template_kwargs }, fields, JSON.stringify(way));
      assert.deepEqual([made.offshoot, made.metadata], [undefined, {}]);
    }
  });

  it("are passed on from chat as well", async (t) => {
    const server = await start(t, { caller: ORDINARY });
    const fields = { top_k: 40, seed: 7, logit_bias: { "50256": -100 }, min_p: 0.1 };
    const messages = [{ role: "user", content: "Hi" }];
    const made = await server.ask("POST", "/v1/chat/completions", { messages, ...fields });
    assert.equal(made.status, 200);
    const { top_k, seed, logit_bias, min_p } = server.sent();
    assert.deepEqual({ top_k, seed, logit_bias, min_p }, fields);
  });

  it("are named if they are unknown, beside metadata that stays the client's", async (t) => {
    const server = await start(t);
    for (const way of WAYS) {
      const metadata = { who: "me" };
      const body = { input: "Hi", ...way, metadata, acme_thing: 1, prompt_cache_key: "k" };
      const made = await server.create(body);
      assert.deepEqual([...ignoredOf(made)].sort(), ["acme_thing", "prompt_cache_key"]);
      assert.deepEqual(made.metadata, { who: "me", offshoot_ignored: "acme_thing" });
      assert.equal(server.sent()["acme_thing"], undefined);
    }
  });

  it("are named where they stand on a part of the input, and are the API's own", async (t) => {
    const server = await start(t);
    const prompt_cache_breakpoint = { mode: "explicit" };
    const content = [{ type: "input_text", text: "Hi", prompt_cache_breakpoint }];
    for (const way of WAYS) {
      const made = await server.create({ input: [{ role: "user", content }], ...way });
      assert.deepEqual(ignoredOf(made), ["prompt_cache_breakpoint"]);
      assert.deepEqual(made.metadata, {});
    }
    const parts = [{ type: "text", text: "Hi", prompt_cache_breakpoint }];
    const messages = [{ role: "user", content: parts }];
    const { body } = await server.ask("POST", "/v1/chat/completions", { messages });
    const { offshoot, metadata } = body as { offshoot?: object; metadata?: object };
    assert.deepEqual([offshoot, metadata], [{ ignored: ["prompt_cache_breakpoint"] }, {}]);
  });

  it("are left out and named where the key may not set them", async (t) => {
    const server = await start(t, {
      model: "openrouter/a/b",
      env: { OPENROUTER_API_KEY: "k" },
      caller: ORDINARY,
    });
    for (const way of WAYS) {
      const fields = { provider: { order: ["groq"] }, top_k: 5 };
      const made = await server.create({ input: "Hi", ...way, ...fields });
      assert.deepEqual(ignoredOf(made), ["provider"]);
      const { provider, top_k } = server.sent();
      assert.deepEqual([provider, top_k], [undefined, 5]);
    }
  });

  it("are passed on if the key may set them, in the vendor's own words", async (t) => {
    const server = await start(t, {
      model: "openrouter/a/b",
      env: { OPENROUTER_API_KEY: "k" },
      caller: { options: ["provider", "transforms"] },
    });
    const fields = { provider: { order: ["groq"] }, transforms: ["middle-out"] };
    const made = await server.create({ input: "Hi", store: false, ...fields });
    assert.deepEqual(ignoredOf(made), []);
    const { provider, transforms } = server.sent();
    assert.deepEqual({ provider, transforms }, fields);
  });

  it("do not lead a key to models that it may not ask", async (t) => {
    const env = { OPENROUTER_API_KEY: "k" };
    const asked = { input: "Hi", store: false, models: ["dear/one"] };
    const globs = { options: ["*"], models: ["openrouter/a/*"] };
    const narrow = await start(t, { model: "openrouter/a/b", env, caller: globs });
    assert.deepEqual(ignoredOf(await narrow.create(asked)), ["models"]);
    const named = { ...globs, options: ["models"] };
    const wide = await start(t, { model: "openrouter/a/b", env, caller: named });
    await wide.create(asked);
    assert.deepEqual(wide.sent()["models"], ["dear/one"]);
  });

  it("are sent once, and then left out, where an unknown server refuses them", async (t) => {
    const say = (body: JsonObject): Said =>
      "top_k" in body ? { refusal: "Unrecognized request argument supplied: top_k" } : {};
    const server = await start(t, { say });
    for (const way of WAYS) {
      const made = await server.create({ input: "Hi", ...way, top_k: 5 });
      assert.equal(made.output_text, "Yes.");
      assert.deepEqual(ignoredOf(made), ["top_k"]);
    }
  });

  it("are not taken for the reason of another refusal", async (t) => {
    const server = await start(t, { say: () => ({ refusal: "There is no zebra here." }) });
    const made = await server.ask("POST", "/v1/responses", { input: "Hi", zebra: 1, store: false });
    assert.equal(made.status, 400);
    assert.equal(server.vendor.sent.length, 1);
  });
});

describe("`options` in a request", () => {
  it("is merged into the body unchanged, on every way, and over the settings", async (t) => {
    const options = { top_k: 1, a: { b: 1 } };
    const server = await start(t, { options });
    for (const way of WAYS) {
      const asked = { top_k: 5, a: { c: 2 }, guided_regex: "x+" };
      const made = await server.create({ input: "Hi", ...way, options: asked });
      const { top_k, a, guided_regex } = server.sent();
      assert.deepEqual([top_k, a, guided_regex], [5, { b: 1, c: 2 }, "x+"]);
      assert.deepEqual(ignoredOf(made), []);
    }
  });

  it("is in the record of a stored response", async (t) => {
    const server = await start(t, { options: { min_p: 0.1 } });
    const { id } = await server.create({ input: "Hi", seed: 3, options: { top_k: 5 } });
    const run = id.replace("resp_", "run_");
    const [first] =
      (await server.runtime.engine.result(run).then(() => readAll(server, run))) ?? [];
    assert.equal(first?.type, "run_start");
    assert.deepEqual(first?.type === "run_start" && first.settings.options, {
      min_p: 0.1,
      seed: 3,
      top_k: 5,
    });
  });

  it("is refused where the key may not set it, by its name, and nothing is sent", async (t) => {
    const server = await start(t, { caller: ORDINARY });
    const body = { input: "Hi", options: { top_k: 5, provider: {} } };
    for (const path of ["/v1/responses", "/v1/chat/completions"]) {
      const messages = [{ role: "user", content: "Hi" }];
      const made = await server.ask("POST", path, { ...body, messages });
      assert.equal(made.status, 403, path);
      const { error } = made.body as { error: { message: string; param: string } };
      assert.match(error.message, /may not set the option `provider`.*--options provider/);
      assert.equal(error.param, "options.provider");
    }
    assert.equal(server.vendor.sent.length, 0);
  });

  it("never sets what the server itself writes", async (t) => {
    const server = await start(t);
    for (const options of [
      ...[{ model: "other" }, { messages: [] }, { stream: true }, { tools: [] }, { n: 4 }],
      ...[{ max_tokens: 9 }, { maxTokens: 9 }, { MAX_COMPLETION_TOKENS: 9 }, { best_of: 2 }],
      ...[
        { generationConfig: { maxOutputTokens: 9 } },
        { generation_config: { candidateCount: 2 } },
      ],
      ...[{ extra_headers: { authorization: "x" } }, { api_key: "x" }, { api_base: "http://a" }],
      ...[{ additionalModelRequestFields: { inferenceConfig: { max_tokens: 9 } } }],
    ] as JsonObject[]) {
      const made = await server.ask("POST", "/v1/responses", { input: "Hi", options });
      assert.equal(made.status, 400, JSON.stringify(options));
      assert.match(JSON.stringify(made.body), /`options` cannot set `/);
    }
    const made = await server.ask("POST", "/v1/responses", { input: "Hi", options: [1] });
    assert.equal(made.status, 400);
    assert.equal(server.vendor.sent.length, 0);
  });

  it("and the fields beside it leave a budget as it is", async (t) => {
    const caller = {
      limits: { turns: null, tokens: 2000, usd: null, tool_calls: null, children: null },
    };
    const server = await start(t, { caller });
    await server.create({ input: "Hi", max_tokens: 900_000, n: 3, best_of: 3 });
    const { max_tokens, n, best_of } = server.sent();
    assert.ok(Number(max_tokens) <= 2000, String(max_tokens));
    assert.deepEqual([n, best_of], [undefined, undefined]);
  });
});

describe("what a chat answer says of what was left out", () => {
  const messages = [{ role: "user", content: "Hi", name: "Zoe" }];
  const body = { messages, audio: { voice: "ash" }, acme_thing: 1, metadata: { who: "me" } };

  it("is in a field of our own, and for unknown fields in the metadata", async (t) => {
    const server = await start(t);
    const { body: made } = await server.ask("POST", "/v1/chat/completions", body);
    const { offshoot, metadata } = made as { offshoot: object; metadata: object };
    assert.deepEqual(offshoot, { ignored: ["acme_thing", "audio", "messages.name"] });
    assert.deepEqual(metadata, { who: "me", offshoot_ignored: "acme_thing" });
  });

  it("is in the chunk that ends a stream", async (t) => {
    const server = await start(t);
    const asked = { ...body, stream: true };
    const { body: text } = await server.ask("POST", "/v1/chat/completions", asked);
    const chunks = String(text)
      .split("\n")
      .flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6))] : []));
    const told = chunks.filter(({ offshoot }) => offshoot);
    assert.equal(told.length, 1);
    assert.equal(told[0].choices[0].finish_reason, "stop");
    assert.deepEqual(told[0].offshoot.ignored, ["acme_thing", "audio", "messages.name"]);
  });
});

async function readAll({ runtime }: TestServer, id: string) {
  for await (const batch of runtime.engine.follow(id, -1)) return batch.map(({ event }) => event);
  return [];
}
