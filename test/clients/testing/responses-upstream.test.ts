import assert from "node:assert/strict";
import { describe, it } from "node:test";
import OpenAI from "openai";
import { reply } from "../../../src/testing/reply.ts";
import {
  type ResponsesUpstreamOptions,
  startResponsesUpstream,
} from "../../../src/testing/responses-upstream.ts";
import { script } from "../../../src/testing/script.ts";
import { createScriptedProvider } from "../../../src/testing/scripted-provider.ts";
import { eventsIn, joined, type Loose, post } from "../../testing/post.ts";

const TOOL = {
  type: "function",
  name: "read",
  parameters: { type: "object" },
  strict: false,
} as const;
const BODY = { model: "m", input: "Hi", stream: true };
const CALL = reply.calls([{ name: "read", arguments: { path: "notes.txt" } }]);

async function eventsOf(options: ResponsesUpstreamOptions, more: object = {}): Promise<Loose[]> {
  await using upstream = await startResponsesUpstream(options);
  const answer = await post(`${upstream.url}/responses`, { ...BODY, ...more });
  assert.equal(answer.status, 200, answer.text);
  const events = eventsIn(answer.text);
  assert.deepEqual(
    events.map((event) => event.sequence_number),
    events.map((_, index) => index),
  );
  return events;
}

/** Event types with repetitions folded. */
function shapeOf(events: readonly Loose[]): string[] {
  const types = events.map((event) => String(event.type).replace("response.", ""));
  return types.filter((type, index) => type !== types[index - 1]);
}

describe("responses upstream, strict", () => {
  it("streams text in the real order", async () => {
    const events = await eventsOf({ engine: script(reply.text("Hello, world!")) });
    assert.deepEqual(shapeOf(events), [
      "created",
      "in_progress",
      "output_item.added",
      "content_part.added",
      "output_text.delta",
      "output_text.done",
      "content_part.done",
      "output_item.done",
      "completed",
    ]);
    assert.equal(joined(events, "response.output_text.delta"), "Hello, world!");
    assert.equal(events.at(-1).response.output[0].content[0].text, "Hello, world!");
    assert.equal(events[0].response.usage, null);
    assert.ok(events.at(-1).response.usage.total_tokens > 0);
  });

  it("streams thinking and a call in the real order", async () => {
    const events = await eventsOf(
      { engine: script(reply.reasoning("I need a file.", CALL)) },
      { tools: [TOOL] },
    );
    assert.deepEqual(shapeOf(events).slice(2, -1), [
      "output_item.added",
      "reasoning_summary_part.added",
      "reasoning_summary_text.delta",
      "reasoning_summary_text.done",
      "reasoning_summary_part.done",
      "output_item.done",
      "output_item.added",
      "function_call_arguments.delta",
      "function_call_arguments.done",
      "output_item.done",
    ]);
    const [reasoning, call] = events.at(-1).response.output;
    assert.ok(!("encrypted_content" in reasoning) && !("status" in reasoning));
    assert.equal(call.arguments, '{"path":"notes.txt"}');
  });

  it("sends encrypted reasoning only on request", async () => {
    const engine = script(reply.reasoning("Hm.", reply.text("Yes.")));
    const events = await eventsOf(
      { engine },
      { include: ["reasoning.encrypted_content"], store: false },
    );
    assert.match(events.at(-1).response.output[0].encrypted_content, /^gAAAA/);
  });

  it("reports an answer that was interrupted, refused or broken", async () => {
    const cut = await eventsOf({ engine: script(reply.length("Half a")) });
    assert.equal(cut.at(-1).type, "response.incomplete");
    assert.deepEqual(cut.at(-1).response.incomplete_details, { reason: "max_output_tokens" });
    const refused = await eventsOf({ engine: script(reply.refusal("No, thank you.")) });
    assert.equal(joined(refused, "response.refusal.delta"), "No, thank you.");
    assert.equal(refused.at(-1).type, "response.completed");
    const broken = await eventsOf({ engine: script(reply.failure("broke", { text: "So" })) });
    assert.deepEqual(shapeOf(broken).slice(-2), ["error", "failed"]);
    assert.equal(broken.at(-2).error.message, "broke");
    assert.equal(broken.at(-1).response.error.message, "broke");
  });

  it("chains on a stored answer and forgets one that must not be stored", async () => {
    const model = createScriptedProvider(CALL, reply.text("It says hello."), CALL);
    await using upstream = await startResponsesUpstream({
      engine: (request, call) => model.stream(request, call),
    });
    const url = `${upstream.url}/responses`;
    const output = [{ type: "function_call_output", call_id: "call_1", output: "hello" }];
    const first = eventsIn((await post(url, { ...BODY, tools: [TOOL] })).text);
    const { id } = first[0].response;
    const next = await post(url, { ...BODY, previous_response_id: id, input: output });
    assert.equal(joined(eventsIn(next.text), "response.output_text.delta"), "It says hello.");
    assert.deepEqual(
      model.requests[1]?.items.map((item) => item.type),
      ["message", "function_call", "function_call_output"],
    );

    const unstored = eventsIn((await post(url, { ...BODY, tools: [TOOL], store: false })).text);
    const refused = await post(url, { ...BODY, previous_response_id: unstored[0].response.id });
    assert.equal(refused.status, 400);
    assert.equal(JSON.parse(refused.text).error.code, "previous_response_not_found");
  });

  it("accepts its own encrypted reasoning, and no other", async () => {
    await using upstream = await startResponsesUpstream({
      engine: script(reply.reasoning("Hm.", CALL), reply.text("Done.")),
    });
    const url = `${upstream.url}/responses`;
    const stateless = {
      ...BODY,
      store: false,
      include: ["reasoning.encrypted_content"],
      tools: [TOOL],
    };
    const first = eventsIn((await post(url, stateless)).text);
    const [reasoning, call] = first.at(-1).response.output;
    const output = { type: "function_call_output", call_id: call.call_id, output: "hello" };
    const replay = (thinking: object): object => ({
      ...stateless,
      input: [{ role: "user", content: "Hi" }, thinking, call, output],
    });
    const forged = await post(url, replay({ ...reasoning, encrypted_content: "gAAAAforged" }));
    assert.equal(JSON.parse(forged.text).error.code, "invalid_encrypted_content");
    const lost = await post(url, replay({ ...reasoning, encrypted_content: null }));
    assert.equal(lost.status, 404);
    assert.match(
      JSON.parse(lost.text).error.message,
      /^Item with id 'rs_1' not found\. Items are not persisted when `store` is set to false/,
    );
    const { id: _, ...nameless } = reasoning;
    assert.equal((await post(url, replay(nameless))).status, 200);
  });

  it("answers from the embedded model when it is given no engine", async () => {
    const events = await eventsOf({});
    assert.equal(events.at(-1).type, "response.completed");
    assert.ok(joined(events, "response.output_text.delta").length > 0);
  });
});

describe("responses upstream and the openai package", () => {
  const clientOf = (baseURL: string): OpenAI =>
    new OpenAI({ baseURL, apiKey: "test", maxRetries: 0 });

  it("streams thinking, text and calls", async () => {
    const engine = script(
      reply.reasoning("Hm.", reply.calls([{ name: "read", arguments: {} }], { text: "I look." })),
    );
    await using upstream = await startResponsesUpstream({ engine, key: "test" });
    const stream = clientOf(upstream.url).responses.stream({
      model: "m",
      input: "Hi",
      tools: [{ ...TOOL }],
    });
    const response = await stream.finalResponse();
    assert.equal(response.output_text, "I look.");
    assert.deepEqual(
      response.output.map((item) => item.type),
      ["reasoning", "message", "function_call"],
    );
  });

  it("returns a plain answer", async () => {
    await using upstream = await startResponsesUpstream({
      engine: script(reply.text("Hello, world!")),
    });
    const response = await clientOf(upstream.url).responses.create({ model: "m", input: "Hi" });
    assert.equal(response.output_text, "Hello, world!");
    assert.equal(response.status, "completed");
  });

  it("turns a refusal, and a failure, into the package's errors", async () => {
    await using upstream = await startResponsesUpstream({ engine: script(reply.failure("broke")) });
    const client = clientOf(upstream.url);
    await assert.rejects(client.responses.create({ model: "o3", input: "Hi", temperature: 1 }), {
      status: 400,
      code: "unsupported_parameter",
    });
    await assert.rejects(client.responses.create({ model: "m", input: "Hi" }), { status: 500 });
  });
});

describe("responses upstream, legacy", () => {
  const first = {
    model: "m",
    input: [{ role: "user", content: [{ type: "input_text", text: "Hi" }] }],
    stream: true,
    store: false,
    temperature: 0.8,
    reasoning: { effort: "none" },
    tools: [TOOL],
    tool_choice: "auto",
  };

  it("uses the seven words of its description", async () => {
    const engine = script(
      reply.reasoning(
        "Hm.",
        reply.calls([{ name: "read", arguments: { path: "a" } }], { text: "So." }),
      ),
    );
    await using upstream = await startResponsesUpstream({ personality: "legacy", engine });
    const events = eventsIn((await post(`${upstream.url}/responses`, first)).text);
    assert.deepEqual(events, [
      { type: "response.created", response: { id: "resp_1" } },
      { type: "response.reasoning_summary_text.delta", delta: "Hm." },
      { type: "response.output_text.delta", delta: "So." },
      {
        type: "response.output_item.added",
        output_index: 2,
        item: { type: "tool_call", id: "call_1", name: "read" },
      },
      {
        type: "response.tool_call_arguments.delta",
        output_index: 2,
        item_id: "call_1",
        delta: '{"path"',
      },
      {
        type: "response.tool_call_arguments.delta",
        output_index: 2,
        item_id: "call_1",
        delta: ':"a"}',
      },
      {
        type: "response.output_item.done",
        output_index: 2,
        item: { type: "tool_call", id: "call_1", name: "read", arguments: '{"path":"a"}' },
      },
      {
        type: "response.completed",
        response: { ...events.at(-1).response, id: "resp_1", status: "completed" },
      },
    ]);
  });

  it("continues from tool results alone", async () => {
    const engine = script(CALL, reply.text("It says hello."), reply.length("And so"));
    await using upstream = await startResponsesUpstream({ personality: "legacy", engine });
    const url = `${upstream.url}/responses`;
    await post(url, first);
    const results = [{ type: "tool_result", tool_call_id: "call_1", content: "hello" }];
    const next = await post(url, { ...first, previous_response_id: "resp_1", input: results });
    assert.equal(joined(eventsIn(next.text), "response.output_text.delta"), "It says hello.");
    const more = await post(url, { ...first, previous_response_id: "resp_2" });
    assert.equal(eventsIn(more.text).at(-1).type, "response.incomplete");
  });

  it("reports that it failed", async () => {
    const engine = script(reply.failure("broke", { text: "So" }));
    await using upstream = await startResponsesUpstream({ personality: "legacy", engine });
    const events = eventsIn((await post(`${upstream.url}/responses`, first)).text);
    assert.equal(events.at(-1).type, "response.failed");
  });
});
