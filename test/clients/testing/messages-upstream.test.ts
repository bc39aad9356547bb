import assert from "node:assert/strict";
import { describe, it } from "node:test";
import Anthropic from "@anthropic-ai/sdk";
import type { JsonObject } from "../../../src/base/json.ts";
import {
  type MessagesUpstreamOptions,
  startMessagesUpstream,
} from "../../../src/testing/messages-upstream.ts";
import { reply } from "../../../src/testing/reply.ts";
import { script } from "../../../src/testing/script.ts";
import { eventsIn, post } from "../../testing/post.ts";

const VERSION = { "anthropic-version": "2023-06-01" };
const hears = (...content: readonly JsonObject[]) => ({ role: "user", content });
const says = (...content: readonly JsonObject[]) => ({ role: "assistant", content });
const text = (words: string) => ({ type: "text", text: words });
const use = (id: string) => ({ type: "tool_use", id, name: "read", input: {} });
const result = (tool_use_id: string) => ({ type: "tool_result", tool_use_id, content: "1" });
const HELLO = hears(text("Hello"));
const TOOL = { name: "read", input_schema: { type: "object" } };

const body = (more: JsonObject = {}): JsonObject => ({
  model: "claude-sonnet-4-5",
  max_tokens: 4096,
  messages: [HELLO],
  ...more,
});

async function ask(
  sent: JsonObject,
  options: MessagesUpstreamOptions = {},
  headers: Readonly<Record<string, string>> = VERSION,
) {
  await using upstream = await startMessagesUpstream({
    engine: script(reply.text("Hi.")),
    ...options,
  });
  const { status, text: answer } = await post(`${upstream.url}/messages`, sent, { headers });
  return { status, answer: JSON.parse(answer) };
}

describe("a request that the Messages upstream refuses", { concurrency: 8 }, () => {
  const image = (media_type: string) => ({
    type: "image",
    source: { type: "base64", media_type, data: "AA" },
  });
  const marked = { ...text("A"), cache_control: { type: "ephemeral" } };
  const enabled = { type: "enabled", budget_tokens: 1024 };
  const schema = (fields: JsonObject) => ({
    output_config: { format: { type: "json_schema", schema: { type: "object", ...fields } } },
  });
  const rows: readonly [name: string, more: JsonObject, words: RegExp][] = [
    ["no limit", { max_tokens: undefined }, /^max_tokens: Field required$/],
    ["no model", { model: undefined }, /^model: Field required$/],
    ["no messages", { messages: undefined }, /^messages: Field required$/],
    ["an empty list", { messages: [] }, /at least one message is required/],
    ["an unknown field", { seed: 1 }, /^seed: Extra inputs are not permitted$/],
    [
      "an unknown field of a block",
      { messages: [hears({ ...text("A"), id: "x" })] },
      /^messages\.0\.content\.0\.text\.id: Extra inputs are not permitted$/,
    ],
    ["an unknown field of a message", { messages: [{ ...HELLO, id: "x" }] }, /^messages\.0\.id:/],
    ["the assistant first", { messages: [says(text("A"))] }, /first message must use the "user"/],
    ["a role twice", { messages: [HELLO, HELLO] }, /roles must alternate/],
    ["a role of its own", { messages: [{ ...HELLO, role: "tool" }] }, /Input should be 'user' or/],
    ["instructions among the turns", { messages: [{ ...HELLO, role: "system" }] }, /"system"/],
    ["an empty text", { messages: [hears(text(""))] }, /text content blocks must be non-empty/],
    ["a text of blanks", { messages: [hears(text(" \n"))] }, /non-whitespace/],
    ["an empty message", { messages: [hears()] }, /non-empty content/],
    [
      "a result without its call",
      { messages: [hears(result("a"))] },
      /unexpected `tool_use_id` found in `tool_result` blocks: a\. Each/,
    ],
    [
      "a call without its result",
      { messages: [HELLO, says(use("a"), use("b")), hears(result("a"))] },
      /^messages\.1: `tool_use` ids were found without `tool_result` blocks immediately after: b\./,
    ],
    [
      "a result after a text",
      { messages: [HELLO, says(use("a")), hears(text("A"), result("a"))] },
      /without `tool_result` blocks immediately after: a/,
    ],
    [
      "an id twice",
      {
        messages: [HELLO, says(use("a")), hears(result("a")), says(use("a")), hears(result("a"))],
      },
      /ids must be unique/,
    ],
    [
      "an id of strange letters",
      { messages: [HELLO, says(use("a:1")), hears(result("a:1"))] },
      /String should match pattern/,
    ],
    [
      "what a server's tool gave, without its call",
      {
        messages: [HELLO, says({ type: "web_search_tool_result", tool_use_id: "s", content: [] })],
      },
      /must have a corresponding `server_tool_use` block before it/,
    ],
    [
      "a thought that was changed",
      {
        messages: [HELLO, says({ type: "thinking", thinking: "X", signature: "s" }, text("A"))],
      },
      /Invalid `signature` in `thinking` block/,
    ],
    [
      "a turn under way without its thought",
      { thinking: enabled, messages: [HELLO, says(use("a")), hears(result("a"))] },
      /Expected `thinking` or `redacted_thinking`, but found `tool_use`/,
    ],
    ["heat while thinking", { thinking: enabled, temperature: 0.5 }, /may only be set to 1/],
    ["two ways of sampling", { temperature: 0.5, top_p: 0.5 }, /cannot both be specified/],
    ["all tokens for thinking", { thinking: enabled, max_tokens: 1024 }, /must be greater than/],
    [
      "too little for thinking",
      { thinking: { ...enabled, budget_tokens: 10 } },
      /greater than or equal to 1024/,
    ],
    [
      "a budget where there is none",
      { thinking: enabled, model: "claude-opus-5" },
      /not supported/,
    ],
    [
      "no thinking where that cannot be",
      { thinking: { type: "disabled" }, model: "claude-opus-5-5" },
      /"thinking\.type\.disabled" is not supported for this model/,
    ],
    ["thinking of the newer kind", { thinking: { type: "adaptive" } }, /not supported/],
    ["heat for a newer model", { model: "claude-opus-5", temperature: 0.5 }, /deprecated/],
    [
      "a forced call while thinking",
      { thinking: enabled, tools: [TOOL], tool_choice: { type: "any" } },
      /may not be enabled when tool_choice forces/,
    ],
    ["a choice among none", { tool_choice: { type: "auto" } }, /while providing tools/],
    [
      "a tool that is not there",
      { tools: [TOOL], tool_choice: { type: "tool", name: "write" } },
      /'write' not found/,
    ],
    [
      "a tool whose input is not an object",
      { tools: [{ ...TOOL, input_schema: { type: "string" } }] },
      /input_schema\.type: Input should be 'object'/,
    ],
    [
      "five marks for the cache",
      { messages: [hears(marked, marked, marked, marked, marked)] },
      /A maximum of 4 blocks with cache_control may be provided\. Found 5\./,
    ],
    [
      "an image of another kind",
      { messages: [hears(image("image/bmp"))] },
      /media_type: Input should be 'image\/jpeg'/,
    ],
    ["an open schema", schema({}), /'additionalProperties' must be explicitly set to false/],
    [
      "a limit in a schema",
      schema({ additionalProperties: false, properties: { a: { type: "number", minimum: 1 } } }),
      /property 'minimum' is not supported/,
    ],
    ["an effort of its own", { output_config: { effort: "huge" } }, /^output_config\.effort:/],
    ["an empty instruction", { system: [text("")] }, /^system: text content blocks/],
  ];
  for (const [name, more, words] of rows) {
    it(`is ${name}`, async () => {
      const { status, answer } = await ask(body(more));
      assert.equal(status, 400);
      assert.equal(answer.type, "error");
      assert.equal(answer.error.type, "invalid_request_error");
      assert.match(answer.error.message, words);
    });
  }

  it("is a request without a version, or with another", async () => {
    const { status, answer } = await ask(body(), {}, {});
    assert.equal(status, 400);
    assert.match(answer.error.message, /anthropic-version: header is required/);
    const wrong = await ask(body(), {}, { "anthropic-version": "2020-01-01" });
    assert.match(wrong.answer.error.message, /is not a valid version/);
    const newer = await ask(body({ temperature: 1 }), {}, { "anthropic-version": "2026-10-21" });
    assert.equal(newer.answer.error.message, "temperature: Extra inputs are not permitted");
  });

  it("is a request without its key, or with another", async () => {
    const none = await ask(body(), { key: "right" });
    assert.deepEqual([none.status, none.answer.error.type], [401, "authentication_error"]);
    const wrong = await ask(body(), { key: "right" }, { ...VERSION, "x-api-key": "wrong" });
    assert.equal(wrong.answer.error.message, "invalid x-api-key");
    const right = await ask(body(), { key: "right" }, { ...VERSION, "x-api-key": "right" });
    assert.equal(right.status, 200);
    const bearer = await ask(
      body(),
      { key: "right" },
      { ...VERSION, authorization: "Bearer right" },
    );
    assert.equal(bearer.status, 200);
  });

  it("is a turn whose reasoning was lost on the way to the result", async () => {
    const call = reply.calls([{ name: "read", arguments: {}, call_id: "a" }]);
    const engine = script(reply.reasoning("Hm.", call), reply.text("Done."));
    await using upstream = await startMessagesUpstream({ engine });
    const send = async (messages: JsonObject[]) => {
      const sent = body({ model: "claude-opus-5", messages, tools: [TOOL] });
      const answered = await post(`${upstream.url}/messages`, sent, { headers: VERSION });
      return JSON.parse(answered.text);
    };
    const first = await send([HELLO]);
    const [thought, called] = first.content;
    const lost = await send([HELLO, says(called), hears(result("a"))]);
    assert.match(lost.error.message, /cannot be modified/);
    const kept = await send([HELLO, says(thought, called), hears(result("a"))]);
    assert.equal(kept.content[0].text, "Done.");
  });
});

describe("the Messages upstream", { concurrency: 8 }, () => {
  it("streams in the order of the real one", async () => {
    const call = reply.calls([{ name: "read", arguments: { path: "a" } }], { text: "Let me." });
    await using upstream = await startMessagesUpstream({
      engine: script(reply.reasoning("Hm.", call)),
    });
    const sent = body({ stream: true });
    const answered = await post(`${upstream.url}/messages`, sent, { headers: VERSION });
    const types: string[] = eventsIn(answered.text).map(({ type }) => type);
    const runs = types.filter((type, index) => type !== types[index - 1]);
    const block = ["content_block_start", "content_block_delta", "content_block_stop"];
    assert.deepEqual(runs, [
      "message_start",
      "content_block_start",
      "ping",
      "content_block_delta",
      "content_block_stop",
      ...block,
      ...block,
      "message_delta",
      "message_stop",
    ]);
  });

  it("answers at Google Cloud with the model of the path", async () => {
    await using upstream = await startMessagesUpstream({
      engine: script(reply.text("Hi.")),
      platform: "vertex",
    });
    const url = `${upstream.url}/publishers/anthropic/models/claude-opus-5:rawPredict`;
    const { model: _, ...rest } = body();
    const sent = { ...rest, anthropic_version: "vertex-2023-10-16" };
    assert.equal(JSON.parse((await post(url, sent)).text).model, "claude-opus-5");
    assert.match((await post(url, rest)).text, /anthropic_version: Field required/);
    assert.match((await post(url, { ...sent, model: "x" })).text, /model: Extra inputs/);
    assert.equal((await post(`${upstream.url}/messages`, sent)).status, 404);
  });

  it("calls tools with the embedded model", async () => {
    await using upstream = await startMessagesUpstream();
    const sent = body({ messages: [hears(text("What is 6 times 7?"))] });
    const answered = await post(`${upstream.url}/messages`, sent, { headers: VERSION });
    assert.match(JSON.parse(answered.text).content[0].text, /42/);
  });
});

describe("the vendor's own client", () => {
  const WEATHER = {
    name: "weather",
    input_schema: { type: "object" as const, properties: { city: { type: "string" } } },
  };

  it("streams from the upstream, through a tool and its reasoning", async () => {
    const call = reply.calls([{ name: "weather", arguments: { city: "Köln" } }]);
    const usage = { input: 30, cached: 20, output: 9 };
    await using upstream = await startMessagesUpstream({
      engine: script(reply.reasoning("Hm.", call), reply.text("Cold.", { usage })),
      key: "k",
    });
    const client = new Anthropic({ apiKey: "k", baseURL: upstream.url.replace(/\/v1$/, "") });
    const ask = (messages: Anthropic.MessageParam[]) =>
      client.messages
        .stream({
          model: "claude-opus-5",
          max_tokens: 4096,
          thinking: { type: "adaptive" },
          tools: [WEATHER],
          messages,
        })
        .finalMessage();
    const question = { role: "user" as const, content: "Weather?" };
    const first = await ask([question]);
    assert.deepEqual(
      first.content.map(({ type }) => type),
      ["thinking", "tool_use"],
    );
    assert.equal(first.stop_reason, "tool_use");
    const called = first.content[1];
    assert.ok(called?.type === "tool_use");
    assert.deepEqual(called.input, { city: "Köln" });
    const answer = { type: "tool_result" as const, tool_use_id: called.id, content: "cold" };
    const second = await ask([
      question,
      { role: "assistant", content: first.content },
      { role: "user", content: [answer] },
    ]);
    assert.deepEqual(
      second.content.map((block) => block.type === "text" && block.text),
      ["Cold."],
    );
    assert.deepEqual([second.usage.input_tokens, second.usage.cache_read_input_tokens], [10, 20]);
  });

  it("reads the upstream's refusals", async () => {
    await using upstream = await startMessagesUpstream({ key: "k" });
    const baseURL = upstream.url.replace(/\/v1$/, "");
    const client = new Anthropic({ apiKey: "wrong", baseURL, maxRetries: 0 });
    const asked = {
      model: "m",
      max_tokens: 1,
      messages: [{ role: "user" as const, content: "A" }],
    };
    await assert.rejects(client.messages.create(asked), Anthropic.AuthenticationError);
  });
});
