import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Ollama } from "ollama";
import type { ModelRequest } from "../../../src/providers/provider.ts";
import { errorInStream, longLine } from "../../../src/testing/faults/stream-faults.ts";
import {
  type OllamaUpstreamOptions,
  startOllamaUpstream,
} from "../../../src/testing/ollama-upstream.ts";
import { reply } from "../../../src/testing/reply.ts";
import { script } from "../../../src/testing/script.ts";
import { createScriptedProvider } from "../../../src/testing/scripted-provider.ts";
import { type Loose, post } from "../../testing/post.ts";

const TOOL = {
  type: "function",
  function: {
    name: "read",
    description: "Reads a file.",
    parameters: { type: "object", properties: { path: { type: "string" } } },
  },
};
const USER = { role: "user", content: "Hi" };
const BODY = { model: "test-model", messages: [USER] };
const CALLS = reply.calls([
  { name: "read", arguments: { path: "first.txt" } },
  { name: "read", arguments: { path: "second.txt" } },
]);

/** The lines of an answer to a valid request with some change. */
async function linesOf(options: OllamaUpstreamOptions, more: object = {}): Promise<Loose[]> {
  await using upstream = await startOllamaUpstream(options);
  const answer = await post(`${upstream.url}/api/chat`, { ...BODY, ...more });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers["content-type"], "application/x-ndjson");
  return answer.text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

describe("ollama upstream", () => {
  it("streams pieces and a last line with the counts", async () => {
    const usage = { input: 7, output: 3 };
    const lines = await linesOf({ engine: script(reply.text("Hello, world!", { usage })) });
    assert.deepEqual(
      lines.map(({ message, done }) => [message, done]),
      [
        [{ role: "assistant", content: "Hello, " }, false],
        [{ role: "assistant", content: "world!" }, false],
        [{ role: "assistant", content: "" }, true],
      ],
    );
    const last = lines.at(-1);
    assert.equal(last.done_reason, "stop");
    assert.deepEqual([last.prompt_eval_count, last.eval_count], [7, 3]);
    assert.ok(lines.every(({ model, created_at }) => model === "test-model" && created_at));
  });

  it("streams thinking in its own field, and calls whole", async () => {
    const lines = await linesOf(
      { engine: script(reply.reasoning("Hm.", CALLS)) },
      { tools: [TOOL], think: true },
    );
    assert.equal(lines[0].message.thinking, "Hm.");
    assert.deepEqual(
      lines.flatMap(({ message }) => message.tool_calls ?? []),
      [
        { id: "call_1", function: { index: 1, name: "read", arguments: { path: "first.txt" } } },
        { id: "call_2", function: { index: 2, name: "read", arguments: { path: "second.txt" } } },
      ],
    );
  });

  it("reports `length`, and shows a refusal as text", async () => {
    const cut = await linesOf({ engine: script(reply.length("Half")) });
    assert.equal(cut.at(-1).done_reason, "length");
    const refused = await linesOf({ engine: script(reply.refusal("No.")) });
    assert.equal(refused[0].message.content, "No.");
  });

  it("ends a stream that fails with an error line and nothing after it", async () => {
    const lines = await linesOf({ engine: script(reply.failure("broke", { text: "So" })) });
    assert.deepEqual(lines.at(-1), { error: "broke" });
  });

  it("writes the fault kit's errors and padding in its own form", async () => {
    const options = { engine: script(reply.text("Hello"), reply.text("Hello")) };
    for (const shape of ["flat", "nested", "chat"] as const) {
      const engine = script(reply.text("Hello"));
      const lines = await linesOf({ engine, faults: errorInStream({ shape }) });
      const error = lines.at(-1).error;
      assert.match(error.message ?? error, /stopped in the middle/);
      assert.equal(lines.length, 2);
    }
    const [padded] = await linesOf({ ...options, faults: longLine(50) });
    assert.equal(padded.obfuscation.length, 50);
    assert.ok(!("type" in padded));
  });

  it("asks its engine for the whole conversation", async () => {
    let asked: ModelRequest | undefined;
    const inner = createScriptedProvider(reply.text("Done."));
    const engine = (request: ModelRequest, call: { signal: AbortSignal }) => {
      asked = request;
      return inner.stream(request, call);
    };
    const call = { function: { name: "read", arguments: { path: "a" } } };
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Look", images: ["AAAA"] },
      { role: "assistant", content: "", thinking: "Hm", tool_calls: [call, { id: "x", ...call }] },
      { role: "tool", tool_name: "read", content: "one" },
      { role: "tool", tool_name: "read", tool_call_id: "x", content: "two" },
    ];
    const format = { type: "object" };
    await linesOf({ engine }, { messages, tools: [TOOL], think: "low", format, options: OPTIONS });
    assert.equal(asked?.instructions, "Be brief.");
    assert.deepEqual(
      [asked?.max_output_tokens, asked?.temperature, asked?.top_p, asked?.reasoning.effort],
      [50, 0, 0.5, "low"],
    );
    assert.equal(asked?.format.type, "json_schema");
    const image_url = "data:image/png;base64,AAAA";
    assert.deepEqual(asked?.items, [
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_image", image_url },
          { type: "input_text", text: "Look" },
        ],
      },
      { type: "reasoning", summary: [], content: [{ type: "reasoning_text", text: "Hm" }] },
      { type: "function_call", call_id: "call_0", name: "read", arguments: '{"path":"a"}' },
      { type: "function_call", call_id: "x", name: "read", arguments: '{"path":"a"}' },
      { type: "function_call_output", call_id: "call_0", output: "one" },
      { type: "function_call_output", call_id: "x", output: "two" },
    ]);
  });

  const OPTIONS = { num_predict: 50, temperature: 0, top_p: 0.5 };

  it("answers from the embedded model when it is given no engine", async () => {
    const lines = await linesOf({});
    assert.ok(lines.at(-1).done && lines[0].message.content);
  });

  it("takes an empty conversation as a request to load the model, like the real one", async () => {
    await using upstream = await startOllamaUpstream({ engine: script() });
    const { status, text } = await post(`${upstream.url}/api/chat`, { ...BODY, messages: [] });
    assert.equal(status, 200);
    assert.equal(JSON.parse(text).done_reason, "load");
  });
});

describe("an ollama upstream refuses", () => {
  const rows: [name: string, body: object | string, status: number, error: string][] = [
    ["no body", "", 400, "missing request body"],
    ["half a body", '{"model":', 400, "unexpected EOF"],
    ["no JSON", "model=x", 400, "invalid character 'm' looking for beginning of value"],
    ["a list", "[]", 400, "json: cannot unmarshal array into Go value of type api.ChatRequest"],
    ["no model", { messages: [USER] }, 400, "model is required"],
    ["a model it does not have", { ...BODY, model: "gone" }, 404, "model 'gone' not found"],
    [
      "tools on a model without",
      { ...BODY, model: "plain-model", tools: [TOOL] },
      400,
      "registry.ollama.ai/library/plain-model:latest does not support tools",
    ],
    [
      "thinking on a model without",
      { ...BODY, model: "plain-model", think: true },
      400,
      '"plain-model" does not support thinking',
    ],
    [
      "images on a model without",
      { ...BODY, model: "plain-model", messages: [{ ...USER, images: ["AAAA"] }] },
      500,
      "this model is missing data required for image input",
    ],
    [
      "a level of thinking it does not know",
      { ...BODY, think: "huge" },
      400,
      'invalid think value: "huge" (must be "high", "medium", "low", "max", true, or false)',
    ],
    ["a number for thinking", { ...BODY, think: 3 }, 400, "think must be a boolean or string"],
    [
      "messages that are text",
      { ...BODY, messages: "Hi" },
      400,
      "json: cannot unmarshal string into Go struct field ChatRequest.messages of type []api.Message",
    ],
    [
      "a message that is text",
      { ...BODY, messages: ["Hi"] },
      400,
      "json: cannot unmarshal string into Go struct field ChatRequest.messages of type api.Message",
    ],
    [
      "content in parts",
      { ...BODY, messages: [{ role: "user", content: [{ type: "text", text: "Hi" }] }] },
      400,
      "json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string",
    ],
    [
      "an image as a data URL",
      { ...BODY, messages: [{ ...USER, images: ["data:image/png;base64,AAAA"] }] },
      400,
      "illegal base64 data at input byte 4",
    ],
    [
      "arguments as text",
      {
        ...BODY,
        messages: [
          {
            role: "assistant",
            content: "",
            tool_calls: [{ function: { name: "f", arguments: "{}" } }],
          },
        ],
      },
      400,
      "json: cannot unmarshal string into Go struct field ChatRequest.messages.tool_calls.function.arguments of type map[string]interface {}",
    ],
    [
      "a format that is neither `json` nor a schema",
      { ...BODY, format: "yaml" },
      500,
      'invalid format: "\\"yaml\\""; expected "json" or a valid JSON Schema object',
    ],
    [
      "an option of the wrong type",
      { ...BODY, options: { temperature: "hot" } },
      500,
      'option "temperature" must be of type float32',
    ],
    [
      "options in a list",
      { ...BODY, options: [] },
      400,
      "json: cannot unmarshal array into Go struct field ChatRequest.options of type map[string]interface {}",
    ],
  ];
  for (const [name, body, status, error] of rows) {
    it(name, async () => {
      await using upstream = await startOllamaUpstream({ engine: script() });
      const answer = await post(`${upstream.url}/api/chat`, body);
      assert.deepEqual([answer.status, JSON.parse(answer.text)], [status, { error }]);
    });
  }

  it("a wrong key, and paths it does not have", async () => {
    await using upstream = await startOllamaUpstream({ engine: script(), key: "k" });
    const refused = await post(`${upstream.url}/api/chat`, BODY);
    assert.deepEqual([refused.status, refused.text], [401, '{"error":"unauthorized"}']);
    const headers = { authorization: "Bearer k" };
    for (const path of ["/v1/chat", "/api/nothing"]) {
      assert.equal((await post(upstream.url + path, BODY, { headers })).status, 404);
    }
  });
});

describe("ollama upstream and the ollama package", () => {
  it("streams text, thinking, calls and counts", async () => {
    await using upstream = await startOllamaUpstream({
      engine: script(reply.reasoning("Hm.", CALLS)),
    });
    const client = new Ollama({ host: upstream.url });
    const stream = await client.chat({ ...BODY, tools: [TOOL], think: "high", stream: true });
    const names: unknown[] = [];
    let thinking = "";
    let count = 0;
    for await (const part of stream) {
      thinking += part.message.thinking ?? "";
      names.push(...(part.message.tool_calls ?? []).map((call) => call.function.arguments["path"]));
      count = part.eval_count ?? 0;
    }
    assert.deepEqual([thinking, names], ["Hm.", ["first.txt", "second.txt"]]);
    assert.ok(count > 0);
  });

  it("returns a plain answer", async () => {
    const engine = script(reply.reasoning("Hm", reply.text("Hello, world!")));
    await using upstream = await startOllamaUpstream({ engine });
    const { message, done_reason } = await new Ollama({ host: upstream.url }).chat(BODY);
    assert.deepEqual(message, { role: "assistant", content: "Hello, world!", thinking: "Hm" });
    assert.equal(done_reason, "stop");
  });

  it("lists, shows and pulls models", async () => {
    await using upstream = await startOllamaUpstream({ registry: { tiny: 1000 } });
    const client = new Ollama({ host: upstream.url });
    const before = (await client.list()).models.map(({ name }) => name);
    assert.deepEqual(before, ["test-model:latest", "plain-model:latest"]);
    const shown = await client.show({ model: "test-model" });
    assert.ok(shown.capabilities.includes("tools"));
    let last = "";
    for await (const { status } of await client.pull({ model: "tiny", stream: true }))
      last = status;
    assert.equal(last, "success");
    assert.equal((await client.list()).models.length, 3);
  });

  it("turns a refusal into the package's error", async () => {
    await using upstream = await startOllamaUpstream({ engine: script() });
    const call = new Ollama({ host: upstream.url }).chat({ ...BODY, model: "gone" });
    await assert.rejects(call, { status_code: 404, message: "model 'gone' not found" });
  });
});
