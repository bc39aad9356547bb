import assert from "node:assert/strict";
import { describe, it } from "node:test";
import OpenAI from "openai";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { type ChatUpstreamOptions, startChatUpstream } from "../../../src/testing/chat-upstream.ts";
import { reply } from "../../../src/testing/reply.ts";
import { script } from "../../../src/testing/script.ts";
import { createScriptedProvider } from "../../../src/testing/scripted-provider.ts";
import { eventsIn, type Loose, post } from "../../testing/post.ts";

const TOOL = {
  type: "function",
  function: {
    name: "read",
    parameters: { type: "object", properties: { path: { type: "string" } } },
  },
} as const;
const BODY = { model: "m", messages: [{ role: "user", content: "Hi" }], stream: true };
const CALLS = reply.calls([
  { name: "read", arguments: { path: "first.txt" } },
  { name: "read", arguments: { path: "second.txt" } },
]);

async function chunksOf(options: ChatUpstreamOptions, more: object = {}): Promise<Loose[]> {
  await using upstream = await startChatUpstream(options);
  const answer = await post(`${upstream.url}/chat/completions`, { ...BODY, ...more });
  assert.equal(answer.status, 200, answer.text);
  return eventsIn(answer.text);
}

const fragmentsOf = (chunks: readonly Loose[]): Loose[] =>
  chunks.flatMap((chunk) => chunk.choices?.[0]?.delta.tool_calls ?? []);

describe("chat upstream", () => {
  it("streams role, pieces, finish reason and [DONE], and no usage unless asked", async () => {
    const chunks = await chunksOf({ engine: script(reply.text("Hello, world!")) });
    const deltas = chunks.map((chunk) => chunk.choices?.[0]?.delta);
    assert.deepEqual(deltas, [
      { role: "assistant", content: "", refusal: null },
      { content: "Hello, " },
      { content: "world!" },
      {},
      undefined,
    ]);
    assert.equal(chunks[3].choices[0].finish_reason, "stop");
    assert.equal(chunks[4], "[DONE]");
    assert.ok(
      chunks.slice(0, 4).every((chunk) => !("usage" in chunk) && chunk.id === chunks[0].id),
    );
  });

  it("sends usage in a chunk of its own, without choices, when asked", async () => {
    const usage = { input: 7, output: 3, cached: 2 };
    const chunks = await chunksOf(
      { engine: script(reply.text("Hi", { usage })) },
      { stream_options: { include_usage: true } },
    );
    assert.deepEqual(chunks.at(-2).choices, []);
    assert.equal(chunks.at(-2).usage.total_tokens, 10);
    assert.equal(chunks.at(-2).usage.prompt_tokens_details.cached_tokens, 2);
    assert.equal(chunks.at(-3).usage, null);
  });

  it("sends the id and name of a call once, then fragments by index", async () => {
    const fragments = fragmentsOf(await chunksOf({ engine: script(CALLS) }, { tools: [TOOL] }));
    assert.deepEqual(fragments[0], {
      index: 0,
      id: "call_1",
      type: "function",
      function: { name: "read", arguments: "" },
    });
    assert.deepEqual(Object.keys(fragments[1]), ["index", "function"]);
    const second = fragments.filter((fragment) => fragment.index === 1);
    assert.equal(
      second.map((fragment) => fragment.function.arguments).join(""),
      '{"path":"second.txt"}',
    );
  });

  it("can leave the index out and send the id instead", async () => {
    const options = { engine: script(CALLS), includeIndex: false };
    const fragments = fragmentsOf(await chunksOf(options, { tools: [TOOL] }));
    assert.ok(fragments.every((fragment) => !("index" in fragment) && fragment.id));
    assert.equal(new Set(fragments.map((fragment) => fragment.id)).size, 2);
  });

  it("can repeat id and name in every fragment", async () => {
    const options = { engine: script(CALLS), repeatIdAndName: true };
    const fragments = fragmentsOf(await chunksOf(options, { tools: [TOOL] }));
    assert.ok(fragments.every((fragment) => fragment.id && fragment.function.name === "read"));
  });

  for (const reasoningField of ["reasoning_content", "reasoning"] as const) {
    it(`streams thinking as ${reasoningField}`, async () => {
      const engine = script(reply.reasoning("Hmm.", reply.text("Yes.")));
      const chunks = await chunksOf({ engine, reasoningField });
      assert.equal(chunks[1].choices[0].delta[reasoningField], "Hmm.");
    });
  }

  it("reports length, tool_calls and refusal in the finish reason and the delta", async () => {
    const cut = await chunksOf({ engine: script(reply.length("Half a")) });
    assert.equal(cut.at(-2).choices[0].finish_reason, "length");
    const calls = await chunksOf({ engine: script(CALLS) }, { tools: [TOOL] });
    assert.equal(calls.at(-2).choices[0].finish_reason, "tool_calls");
    const refused = await chunksOf({ engine: script(reply.refusal("No.")) });
    assert.equal(refused[1].choices[0].delta.refusal, "No.");
  });

  it("ends a stream that fails with an error object and no [DONE]", async () => {
    const chunks = await chunksOf({ engine: script(reply.failure("broke", { text: "So" })) });
    assert.equal(chunks.at(-1).error.message, "broke");
    assert.ok(!chunks.includes("[DONE]"));
  });

  it("asks its engine for the whole conversation", async () => {
    let asked: ModelRequest | undefined;
    const inner = createScriptedProvider(reply.text("Done."));
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "Read it" }] },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: { name: "read", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c1", content: "text" },
    ];
    const engine = (request: ModelRequest, call: { signal: AbortSignal }) => {
      asked = request;
      return inner.stream(request, call);
    };
    await chunksOf({ engine }, { messages, tools: [TOOL], max_tokens: 50, tool_choice: "auto" });
    assert.equal(asked?.instructions, "Be brief.");
    assert.equal(asked?.max_output_tokens, 50);
    assert.deepEqual(asked?.items, [
      { type: "message", role: "user", content: [{ type: "input_text", text: "Read it" }] },
      { type: "function_call", call_id: "c1", name: "read", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: "text" },
    ]);
    assert.equal(asked?.tools[0]?.type === "function" && asked.tools[0].name, "read");
  });

  it("answers from the embedded model when it is given no engine", async () => {
    const chunks = await chunksOf({});
    assert.equal(chunks.at(-1), "[DONE]");
    assert.ok(chunks.some((chunk) => chunk.choices?.[0]?.delta.content));
  });
});

describe("chat upstream and the openai package", () => {
  const clientOf = (baseURL: string): OpenAI =>
    new OpenAI({ baseURL, apiKey: "test", maxRetries: 0 });
  const request = {
    model: "m",
    messages: [{ role: "user" as const, content: "Hi" }],
    tools: [TOOL],
  };

  it("streams text, calls and usage", async () => {
    await using upstream = await startChatUpstream({ engine: script(CALLS), key: "test" });
    const stream = clientOf(upstream.url).chat.completions.stream({
      ...request,
      tools: [{ ...TOOL, function: { ...TOOL.function } }],
      stream_options: { include_usage: true },
    });
    const { choices, usage } = await stream.finalChatCompletion();
    const calls = choices[0]?.message.tool_calls ?? [];
    assert.deepEqual(
      calls.map((call) => call.type === "function" && call.function.arguments),
      ['{"path":"first.txt"}', '{"path":"second.txt"}'],
    );
    assert.ok(usage && usage.total_tokens > 0);
  });

  it("returns a plain answer", async () => {
    const engine = script(reply.reasoning("Hm", reply.text("Hello, world!")));
    await using upstream = await startChatUpstream({ engine });
    const completion = await clientOf(upstream.url).chat.completions.create(request);
    assert.equal(completion.choices[0]?.message.content, "Hello, world!");
    assert.equal(completion.choices[0]?.finish_reason, "stop");
  });

  it("turns a refusal into the package's error", async () => {
    await using upstream = await startChatUpstream({ engine: script() });
    const call = clientOf(upstream.url).chat.completions.create({ ...request, temperature: 3 });
    await assert.rejects(call, {
      status: 400,
      code: "decimal_above_max_value",
      param: "temperature",
    });
  });
});
