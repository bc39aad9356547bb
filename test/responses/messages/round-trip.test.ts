/** Our own Messages wire in front of our own Messages endpoint: what goes through both comes out as it went in. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { JsonObject } from "../../../src/base/json.ts";
import { fromInput, type Item } from "../../../src/protocol/items.ts";
import type { ModelEvent } from "../../../src/protocol/model-events.ts";
import { seal } from "../../../src/protocol/sealed-reasoning.ts";
import type { Tool, ToolChoice } from "../../../src/protocol/tools.ts";
import { createDecoder } from "../../../src/providers/messages/decode.ts";
import { encodeBody } from "../../../src/providers/messages/encode.ts";
import { type ModelRequest, TEXT_FORMAT } from "../../../src/providers/provider.ts";
import { toCreateResponse } from "../../../src/responses/messages/parse-messages.ts";
import { toReasoning } from "../../../src/responses/request/plan-response.ts";
import { eventsOf, whole } from "../chat/chat-runs.ts";
import { framesOf } from "./read-stream.ts";

const VENDOR = {
  isVendor: true,
  canStopThinking: true,
  maxOutputTokens: undefined,
  contextTokens: undefined,
};
const words = fc.string({ minLength: 1, maxLength: 12 }).filter((text) => text.trim() !== "");
const json = fc.dictionary(
  fc.string({ minLength: 1, maxLength: 5 }).filter((name) => name !== "__proto__"),
  fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)),
  { maxKeys: 3 },
);

const picture = fc.constant({
  type: "input_image" as const,
  image_url: "data:image/png;base64,AAAA",
  detail: "auto" as const,
});
const file = fc.constantFrom(
  { type: "input_file" as const, file_data: "data:application/pdf;base64,AAAA", filename: "a.pdf" },
  { type: "input_file" as const, file_data: "data:text/plain;base64,SGVsbG8=" },
  { type: "input_file" as const, file_url: "https://x.org/a.pdf" },
);
const inputText = words.map((text) => ({ type: "input_text" as const, text }));
const parts = fc.array(fc.oneof(inputText, picture, file), { minLength: 1, maxLength: 3 });

const user: fc.Arbitrary<Item> = fc
  .oneof(words, parts)
  .map((content) => ({ type: "message", role: "user", content }) as Item);

const citation = {
  type: "web_search_result_location",
  url: "https://x.org",
  title: "X",
  cited_text: "x",
  encrypted_index: "E",
};
const said: fc.Arbitrary<Item> = fc
  .array(fc.record({ text: words, isCited: fc.boolean() }), { minLength: 1, maxLength: 2 })
  .map((texts) => ({
    type: "message",
    role: "assistant",
    content: texts.map(({ text, isCited }) => ({
      type: "output_text",
      text,
      annotations: isCited
        ? [
            {
              ...{ type: "url_citation", url: "https://x.org", title: "X" },
              ...{ start_index: 0, end_index: text.length, anthropic: citation },
            },
          ]
        : [],
    })),
  })) as fc.Arbitrary<Item>;

const thought: fc.Arbitrary<Item> = fc.oneof(
  fc
    .record({ text: words, signature: fc.base64String({ minLength: 4 }) })
    .map(({ text, signature }) => ({
      type: "reasoning" as const,
      summary: [],
      content: [{ type: "reasoning_text" as const, text }],
      encrypted_content: seal("messages", { type: "thinking", thinking: text, signature }),
    })),
  fc.base64String({ minLength: 4 }).map((data) => ({
    type: "reasoning" as const,
    summary: [],
    content: [],
    encrypted_content: seal("messages", { type: "redacted_thinking", data }),
  })),
);

const foreign: fc.Arbitrary<Item> = fc
  .constantFrom(
    { type: "server_tool_use", id: "srvtoolu_01", name: "advisor", input: {} },
    {
      type: "advisor_tool_result",
      tool_use_id: "srvtoolu_01",
      content: { type: "advisor_result", text: "x" },
    },
    { type: "mcp_tool_use", id: "mcptoolu_1", name: "t", server_name: "s", input: { a: 1 } },
    {
      ...{ type: "mcp_tool_result", tool_use_id: "mcptoolu_1", is_error: false },
      content: [{ type: "text", text: "x", citations: null }],
    },
    { type: "server_tool_use", id: "srvtoolu_02", name: "web_fetch", input: { url: "u" } },
    {
      ...{ type: "web_fetch_tool_result", tool_use_id: "srvtoolu_02" },
      content: { type: "web_fetch_tool_result_error", error_code: "unavailable" },
    },
    { type: "server_tool_use", id: "srvtoolu_03", name: "bash_code_execution", input: {} },
    {
      ...{ type: "bash_code_execution_tool_result", tool_use_id: "srvtoolu_03" },
      content: { type: "bash_code_execution_result", stdout: "1", stderr: "", return_code: 0 },
    },
    {
      ...{ type: "tool_search_tool_result", tool_use_id: "srvtoolu_04" },
      content: {
        type: "tool_search_tool_search_result",
        tool_references: [{ type: "tool_reference", tool_name: "late" }],
      },
    },
    { type: "compaction", content: "Short.", encrypted_content: "vendor's" },
    { type: "fallback", from: { model: "a" }, to: { model: "b" } },
    { type: "container_upload", file_id: "file_1" },
    { type: "new_kind_2031", anything: [1, 2] },
  )
  .map(
    (block) =>
      ({
        type: `anthropic:${block.type}`,
        block,
        ...("id" in block ? { id: block.id } : {}),
      }) as unknown as Item,
  );

interface Called {
  readonly name: string;
  readonly input: object;
  readonly output: string;
  readonly failed: boolean;
}

const called: fc.Arbitrary<Called> = fc.record({
  name: fc.constantFrom("read", "write"),
  input: json,
  output: words,
  failed: fc.boolean(),
});

/** An assistant's turn: thoughts, words, what the vendor's tools did, calls; then the calls' results. */
const answerTurn = fc.record({
  thoughts: fc.array(thought, { maxLength: 2 }),
  said: fc.array(said, { maxLength: 1 }),
  foreign: fc.array(foreign, { maxLength: 2 }),
  calls: fc.array(called, { maxLength: 3 }),
});

const conversation = fc
  .array(fc.record({ user, answer: answerTurn }), { minLength: 1, maxLength: 4 })
  .map((turns) => {
    let count = 0;
    return turns.flatMap(({ user: heard, answer }): Item[] => {
      const calls = answer.calls.map((one) => ({ ...one, call_id: `toolu_${count++}` }));
      return [
        heard,
        ...answer.thoughts,
        ...answer.said,
        ...answer.foreign,
        ...calls.map(({ call_id, name, input }): Item => {
          return { type: "function_call", call_id, name, arguments: JSON.stringify(input) };
        }),
        ...calls.map(({ call_id, output, failed }): Item => {
          const status = failed ? { status: "incomplete" as const } : {};
          return { type: "function_call_output", call_id, output, ...status };
        }),
      ];
    });
  });

const TOOLS: readonly Tool[] = [
  {
    ...{ type: "function", name: "read", description: "Reads", strict: false },
    parameters: { type: "object", properties: { path: { type: "string" } } },
  },
  { type: "web_search_20250305", name: "web_search", max_uses: 3 } as unknown as Tool,
  { type: "bash_20250124", name: "bash" } as unknown as Tool,
];

const request: fc.Arbitrary<ModelRequest> = fc.record({
  model: fc.constant("claude-3-5-sonnet-latest"),
  instructions: fc.option(words, { nil: undefined }),
  items: conversation,
  tools: fc.constantFrom([], TOOLS),
  tool_choice: fc.constantFrom<ToolChoice>("auto", "none", "required"),
  parallel_tool_calls: fc.constantFrom(undefined, false),
  temperature: fc.option(fc.constantFrom(0, 0.5, 1), { nil: undefined }),
  top_p: fc.constant(undefined),
  max_output_tokens: fc.integer({ min: 1, max: 8000 }),
  reasoning: fc.constant({ effort: undefined, summary: undefined }),
  format: fc.constant(TEXT_FORMAT),
  previous: fc.constant(undefined),
  options: fc.constantFrom({}, { stop: ["END"] }, { user: "u" }),
}) as fc.Arbitrary<ModelRequest>;

describe("the Messages wire in front of the Messages endpoint", () => {
  it("sends a request that the endpoint would send on unchanged", () => {
    fc.assert(
      fc.property(request, (asked) => {
        const sent = toSent(encodeBody(asked, {}));
        const parsed = toCreateResponse(sent, { upstreamOf: () => VENDOR });
        const { request: made } = parsed;
        const again: ModelRequest = {
          ...asked,
          instructions: made.instructions ?? undefined,
          items: fromInput(made.input ?? []),
          tools: made.tools ?? [],
          tool_choice: made.tool_choice ?? "auto",
          parallel_tool_calls: made.parallel_tool_calls ?? undefined,
          temperature: made.temperature ?? undefined,
          max_output_tokens: made.max_output_tokens ?? undefined,
          reasoning: toReasoning(made),
          options: {
            ...(made.stop ? { stop: made.stop as string[] } : {}),
            ...(made.user ? { user: made.user } : {}),
          },
        };
        assert.deepEqual(toSent(encodeBody(again, {})), sent);
        assert.deepEqual(parsed.answer.ignored, []);
      }),
      { numRuns: 300 },
    );
  });

  it("reads the answer that the endpoint was given", () => {
    const answer = fc.record({
      thoughts: fc.array(thought, { maxLength: 2 }),
      said: fc.array(said, { maxLength: 1 }),
      foreign: fc.array(foreign, { maxLength: 2 }),
      calls: fc.array(called, { maxLength: 3 }),
    });
    fc.assert(
      fc.property(answer, (given) => {
        const items: Item[] = [
          ...given.thoughts,
          ...given.said,
          ...given.foreign,
          ...given.calls.map(({ name, input }, at): Item => {
            return {
              type: "function_call",
              call_id: `toolu_${at}`,
              name,
              arguments: JSON.stringify(input),
            };
          }),
        ];
        const frames = framesOf(eventsOf(whole(...items)));
        const decoder = createDecoder(TOOLS);
        const events: ModelEvent[] = [];
        for (const frame of frames) decoder.read(JSON.stringify(frame), events);
        decoder.end(events);
        const read = events.flatMap((event) => (event.type === "item_end" ? [event.item] : []));
        assert.deepEqual(read.map(toPlain), items.map(toPlain));
        const end = events.at(-1);
        assert.equal(end?.type === "end" && end.usage.input_tokens, 1200);
      }),
      { numRuns: 300 },
    );
  });
});

function toSent(body: object): JsonObject {
  return JSON.parse(JSON.stringify(body)) as JsonObject;
}

/** Without what the API has no place for: the state of an item, and ids that nobody refers to. */
function toPlain(item: Item): object {
  const { id: _, status: __, ...rest } = item as unknown as JsonObject;
  return rest;
}
