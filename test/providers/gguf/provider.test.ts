import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { FunctionCall } from "../../../src/protocol/items.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import { toUsage } from "../../../src/protocol/usage.ts";
import { createGgufLibrary } from "../../../src/providers/gguf/library.ts";
import { createGgufProvider } from "../../../src/providers/gguf/provider.ts";
import type { ModelRequest, Provider } from "../../../src/providers/provider.ts";
import { createCountingIds } from "../../../src/testing/reply-events.ts";
import { patience } from "../../patience.ts";
import { eventsOf, request, textOf } from "../provider-contract.ts";
import { endOf, itemsOf } from "../streams.ts";
import { createFakeLlama, type FakeAnswer, type FakeLlama } from "./fake-llama.ts";

const folder = await mkdtemp(join(tmpdir(), "offshoot-gguf-"));
const path = join(folder, "tiny.gguf");
await writeFile(path, "GGUF and weights");
after(() => rm(folder, { recursive: true }));

function open(...answers: readonly FakeAnswer[]): { provider: Provider; llama: FakeLlama } {
  const llama = createFakeLlama(...answers);
  const library = createGgufLibrary({ load: async () => llama, contextTokens: 512 });
  return { provider: createGgufProvider({ path, library, makeId: createCountingIds() }), llama };
}

const WEATHER = {
  type: "function" as const,
  name: "weather",
  description: "The weather of a city.",
  parameters: {
    type: "object",
    properties: { city: { type: "string" }, days: { type: "integer" } },
    required: ["city"],
  },
  strict: false,
};

/** The options that the package gets for this request. */
async function optionsFor(more: Partial<ModelRequest>) {
  const { provider, llama } = open({});
  await eventsOf(provider, request(more));
  const [asked] = llama.asked;
  assert.ok(asked);
  return asked;
}

describe("a GGUF model in this process", () => {
  it("streams text in pieces, after its reasoning", async () => {
    const { provider, llama } = open({ thoughts: ["Hm", "."], text: ["Hel", "lo", ""] });
    const batches: (readonly ModelEvent[])[] = [];
    const call = { signal: patience() };
    for await (const batch of provider.stream(request(), call)) batches.push(batch);
    assert.ok(batches.length > 2, "pieces come as they are made");
    const events = batches.flat();
    assert.deepEqual(events[0], { type: "start", response_id: "resp_1", model: "tiny.gguf" });
    assert.equal(textOf(events), "Hello");
    assert.deepEqual(
      itemsOf(events).map(({ type }) => type),
      ["reasoning", "message"],
    );
    assert.equal(endOf(events).reason, "stop");
    assert.ok(llama.log.includes("chat over"));
  });

  it("counts all tokens in memory, and those that were still there from before", async () => {
    const { provider } = open({ thoughts: ["Hm"], text: ["A", "B"] }, { text: ["C"] });
    const first = endOf(await eventsOf(provider, request())).usage;
    assert.deepEqual(first, toUsage({ input: 10, output: 3, reasoning: 1 }));
    const second = endOf(await eventsOf(provider, request())).usage;
    assert.deepEqual(second, toUsage({ input: 23, cached: 13, output: 1 }));
  });

  it("passes on the limits", async () => {
    const { options } = await optionsFor({
      max_output_tokens: 50,
      temperature: 0.2,
      top_p: 0.9,
      parallel_tool_calls: false,
      reasoning: { effort: "none", summary: undefined },
    });
    const { maxTokens, temperature, topP, maxParallelFunctionCalls, budgets } = options;
    assert.deepEqual(
      { maxTokens, temperature, topP, maxParallelFunctionCalls, budgets },
      {
        maxTokens: 50,
        temperature: 0.2,
        topP: 0.9,
        maxParallelFunctionCalls: 1,
        budgets: { thoughtTokens: 0 },
      },
    );
    const free = await optionsFor({ reasoning: { effort: "high", summary: undefined } });
    assert.deepEqual(Object.keys(free.options).sort(), [
      "contextShift",
      "onResponseChunk",
      "signal",
    ]);
  });

  it("passes on the options that it supports, and reports the others", async () => {
    const { provider, llama } = open({});
    const dropped: string[] = [];
    const asked = request({
      tools: [WEATHER],
      tool_choice: "required",
      options: { stop: ["END"], frequency_penalty: 0.5, presence_penalty: 0.25, user: "u" },
    });
    const stream = provider.stream(asked, {
      signal: patience(),
      notice: ({ params = [] }) => dropped.push(...params),
    });
    for await (const _ of stream);
    assert.deepEqual(dropped, ["user", "tool_choice"]);
    const { customStopTriggers, repeatPenalty } = llama.asked[0]?.options ?? {};
    assert.deepEqual(customStopTriggers, ["END"]);
    assert.deepEqual(repeatPenalty, { frequencyPenalty: 0.5, presencePenalty: 0.25 });
  });

  it("reports that the limit truncated the answer", async () => {
    const { provider } = open({ text: ["Once"], stopReason: "maxTokens" });
    const events = await eventsOf(provider, request());
    assert.equal(endOf(events).reason, "length");
    const [item] = itemsOf(events);
    assert.ok(item && "status" in item && item.status === "incomplete");
  });

  it("offers tools in the package's form, and accepts parallel calls", async () => {
    const { provider, llama } = open({
      text: ["Let me."],
      calls: [
        { functionName: "weather", params: { city: "Oslo", days: null } },
        { functionName: "weather", params: { city: "Köln", days: 2 } },
        { functionName: "now", params: undefined },
      ],
      stopReason: "functionCalls",
    });
    const now = { type: "function" as const, name: "now" };
    const events = await eventsOf(provider, request({ tools: [WEATHER, now] }));
    const calls = itemsOf(events).slice(1) as FunctionCall[];
    assert.deepEqual(
      calls.map(({ call_id, name, arguments: text }) => [call_id, name, text]),
      [
        ["call_1", "weather", '{"city":"Oslo"}'],
        ["call_2", "weather", '{"city":"Köln","days":2}'],
        ["call_3", "now", "{}"],
      ],
    );
    assert.equal(endOf(events).reason, "tool_calls");
    const { functions } = llama.asked[0]?.options ?? {};
    assert.deepEqual(functions?.["now"], {});
    assert.equal(functions?.["weather"]?.description, WEATHER.description);
    assert.deepEqual(functions?.["weather"]?.params?.["properties"], {
      city: { type: "string" },
      days: { oneOf: [{ type: "integer" }, { type: "null" }] },
    });
  });

  it("offers no tools if none may be called", async () => {
    const { options } = await optionsFor({ tools: [WEATHER], tool_choice: "none" });
    assert.equal(options.functions, undefined);
  });

  it("is bound to a schema by a grammar, and with tools by instructions", async () => {
    const schema = { type: "object", properties: { a: { type: "boolean" } }, required: ["a"] };
    const format = { type: "json_schema", name: "out", schema, strict: true } as const;
    const held = await optionsFor({ format });
    assert.deepEqual(held.options.grammar, {
      schema: {
        type: "object",
        properties: { a: { type: "boolean" } },
        additionalProperties: false,
      },
    });
    const told = await optionsFor({ format, tools: [WEATHER] });
    assert.equal(told.options.grammar, undefined);
    assert.match(JSON.stringify(told.history[0]), /fits this JSON schema/);
    const object = await optionsFor({ format: { type: "json_object" } });
    assert.deepEqual(object.options.grammar, { type: "json" });
  });

  it("reports that a context is too small, or cuts the answer that filled it", async () => {
    const { provider } = open({ isFull: true }, { text: ["Some"], isFull: true });
    await assert.rejects(eventsOf(provider, request()), {
      code: "context_exceeded",
      message: /context of tiny\.gguf: 512 tokens/,
    });
    const events = await eventsOf(provider, request());
    assert.equal(endOf(events).reason, "length");
    assert.equal(textOf(events), "Some");
  });

  it("fails with the package's message, after the output so far", async () => {
    const { provider } = open({ text: ["Some"], error: new Error("out of memory") });
    let text = "";
    await assert.rejects(async () => {
      const call = { signal: patience() };
      for await (const batch of provider.stream(request(), call)) text += textOf(batch);
    }, /The model stopped: out of memory/);
    assert.equal(text, "Some");
  });

  it("stops if it is cancelled in the middle, and is free for the next call", async () => {
    const { provider } = open({ text: ["Some"], hangs: true }, { text: ["Next."] });
    const abort = new AbortController();
    await assert.rejects(
      async () => {
        for await (const _ of provider.stream(request(), { signal: abort.signal })) abort.abort();
      },
      { code: "cancelled" },
    );
    assert.equal(textOf(await eventsOf(provider, request())), "Next.");
  });

  it("stops if the reader stops, and is free for the next call", async () => {
    const { provider, llama } = open({ text: ["Some"], hangs: true }, { text: ["Next."] });
    const { signal } = new AbortController();
    for await (const _ of provider.stream(request(), { signal })) break;
    assert.ok(llama.asked[0]?.options.signal.aborted);
    assert.equal(textOf(await eventsOf(provider, request())), "Next.");
  });

  it("refuses what it cannot read before anything is loaded", async () => {
    const { provider, llama } = open({});
    const image = { type: "input_image" as const, image_url: "data:image/png;base64,AA" };
    const items = [{ type: "message" as const, role: "user" as const, content: [image] }];
    await assert.rejects(eventsOf(provider, request({ items })), { code: "invalid_request" });
    const aborted = provider.stream(request(), { signal: AbortSignal.abort() });
    await assert.rejects(aborted.next(), { code: "cancelled" });
    assert.deepEqual(llama.log, []);
  });
});
