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
import { toFormat, toReasoning } from "../../../src/responses/request/plan-response.ts";
import { eventsOf, whole } from "../chat/chat-runs.ts";
import { framesOf } from "./read-stream.ts";

const UPSTREAM = { canStopThinking: true, maxOutputTokens: undefined, contextTokens: undefined };
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
              type: "url_citation",
              url: "https://x.org",
              title: "X",
              start_index: 0,
              end_index: text.length,
              anthropic: citation,
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

const toForeign = (block: { readonly type: string; readonly id?: string }): Item =>
  ({
    type: `anthropic:${block.type}`,
    block,
    ...(block.id === undefined ? {} : { id: block.id }),
  }) as unknown as Item;

/** Other vendors get a summary of Claude's as words. */
const summary = fc
  .constant({ type: "compaction", content: "Short.", encrypted_content: "vendor's" })
  .map(toForeign);

/** What the vendor's own tools did: calls with their results, and blocks by themselves. */
const GROUPS = [
  [
    { type: "server_tool_use", id: "srvtoolu_01", name: "advisor", input: {} },
    {
      type: "advisor_tool_result",
      tool_use_id: "srvtoolu_01",
      content: { type: "advisor_result", text: "x" },
    },
  ],
  [
    { type: "mcp_tool_use", id: "mcptoolu_1", name: "t", server_name: "s", input: { a: 1 } },
    {
      type: "mcp_tool_result",
      tool_use_id: "mcptoolu_1",
      is_error: false,
      content: [{ type: "text", text: "x", citations: null }],
    },
  ],
  [
    { type: "server_tool_use", id: "srvtoolu_02", name: "web_fetch", input: { url: "u" } },
    {
      type: "web_fetch_tool_result",
      tool_use_id: "srvtoolu_02",
      content: { type: "web_fetch_tool_result_error", error_code: "unavailable" },
    },
  ],
  [
    { type: "server_tool_use", id: "srvtoolu_03", name: "bash_code_execution", input: {} },
    {
      type: "bash_code_execution_tool_result",
      tool_use_id: "srvtoolu_03",
      content: { type: "bash_code_execution_result", stdout: "1", stderr: "", return_code: 0 },
    },
  ],
  [
    {
      type: "tool_search_tool_result",
      tool_use_id: "srvtoolu_04",
      content: {
        type: "tool_search_tool_search_result",
        tool_references: [{ type: "tool_reference", tool_name: "late" }],
      },
    },
  ],
  [{ type: "fallback", from: { model: "a" }, to: { model: "b" } }],
  [{ type: "container_upload", file_id: "file_1" }],
  [{ type: "new_kind_2031", anything: [1, 2] }],
];

const foreign: fc.Arbitrary<Item> = fc.constantFrom(...GROUPS.flat()).map(toForeign);

/** Other vendors get no call without its result. */
const foreignGroup = fc.constantFrom(...GROUPS).map((blocks) => blocks.map(toForeign));

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
const toAnswerTurn = (blocks: fc.Arbitrary<readonly Item[]>) =>
  fc.record({
    thoughts: fc.array(thought, { maxLength: 2 }),
    said: fc.array(said, { maxLength: 1 }),
    foreign: blocks,
    calls: fc.array(called, { maxLength: 3 }),
  });

const toConversation = (blocks: fc.Arbitrary<readonly Item[]>) =>
  fc
    .array(fc.record({ user, answer: toAnswerTurn(blocks) }), { minLength: 1, maxLength: 4 })
    .map((turns) => {
      let count = 0;
      const number = createNumbering();
      return turns.flatMap(({ user: heard, answer }): Item[] => {
        const calls = answer.calls.map((one) => ({ ...one, call_id: `toolu_${count++}` }));
        return [
          heard,
          ...answer.thoughts,
          ...answer.said,
          ...answer.foreign.map(number),
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

/** Gives each call of the vendor's tools an id of its own, which its result repeats. */
function createNumbering(): (item: Item) => Item {
  const counts = new Map<string, number>();
  return (item) => {
    const { block } = item as unknown as { block?: { id?: string; tool_use_id?: string } };
    const base = block?.id ?? block?.tool_use_id;
    if (!block || base === undefined) return item;
    if (block.id !== undefined) counts.set(base, (counts.get(base) ?? 0) + 1);
    const name = `${base}_${counts.get(base) ?? 0}`;
    const key = block.id === undefined ? "tool_use_id" : "id";
    const named = { ...block, [key]: name };
    return { ...item, block: named, ...(key === "id" ? { id: name } : {}) } as unknown as Item;
  };
}

const READ: Tool = {
  type: "function",
  name: "read",
  description: "Reads",
  strict: false,
  parameters: { type: "object", properties: { path: { type: "string" } } },
};
const TOOLS: readonly Tool[] = [
  READ,
  { type: "web_search_20250305", name: "web_search", max_uses: 3 } as unknown as Tool,
  { type: "bash_20250124", name: "bash" } as unknown as Tool,
];

const SCHEMA = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
};
const format: fc.Arbitrary<ModelRequest["format"]> = fc.constantFrom(TEXT_FORMAT, {
  type: "json_schema",
  name: "answer",
  description: undefined,
  schema: SCHEMA,
  strict: true,
});

/** How much a model thinks, with room for all of it. Without an effort a model is asked for none. */
const thinking = fc.oneof(
  fc.record({
    reasoning: fc.record({
      effort: fc.constantFrom("low", "medium", "high", "max"),
      summary: fc.constant("auto"),
    }),
    max_output_tokens: fc.constant(80_000),
  }),
  fc.record({
    reasoning: fc.record({
      effort: fc.constantFrom(undefined, "none"),
      summary: fc.constant(undefined),
    }),
    max_output_tokens: fc.integer({ min: 1, max: 8000 }),
  }),
);

interface Sent {
  readonly blocks: fc.Arbitrary<readonly Item[]>;
  readonly tools: readonly Tool[];
  readonly options: readonly ModelRequest["options"][];
}

const toRequest = ({ blocks, tools, options }: Sent): fc.Arbitrary<ModelRequest> =>
  fc
    .tuple(toPlainRequest({ blocks, tools, options }), thinking)
    .map(([plain, asked]) => ({ ...plain, ...asked }) as ModelRequest);

const toPlainRequest = ({ blocks, tools, options }: Sent) =>
  fc.record({
    // The first never thinks, the second has a budget for it, the third an effort.
    model: fc.constantFrom("claude-3-5-sonnet-latest", "claude-sonnet-4-5", "claude-opus-4-6"),
    instructions: fc.option(words, { nil: undefined }),
    items: toConversation(blocks),
    tools: fc.constantFrom([], tools),
    tool_choice: fc.constantFrom<ToolChoice>("auto", "none", "required"),
    parallel_tool_calls: fc.constantFrom(undefined, false),
    temperature: fc.option(fc.constantFrom(0, 0.5, 1), { nil: undefined }),
    top_p: fc.constant(undefined),
    format,
    previous: fc.constant(undefined),
    options: fc.constantFrom(...options),
  });

/** Tools of the vendor and the user's id are not passed on to other vendors. */
const UPSTREAMS: Readonly<Record<string, Sent & { readonly isVendor: boolean }>> = {
  "that is Anthropic": {
    isVendor: true,
    blocks: fc.array(fc.oneof({ arbitrary: foreign, weight: 9 }, summary), { maxLength: 2 }),
    tools: TOOLS,
    options: [{}, { stop: ["END"] }, { user: "u" }],
  },
  "of another vendor": {
    isVendor: false,
    blocks: fc.array(foreignGroup, { maxLength: 2 }).map((groups) => groups.flat()),
    tools: [READ],
    options: [{}, { stop: ["END"] }],
  },
};

describe("the Messages wire in front of the Messages endpoint", () => {
  for (const [name, { isVendor, ...sending }] of Object.entries(UPSTREAMS)) {
    it(`sends a request that the endpoint would send on unchanged to a model ${name}`, () => {
      fc.assert(
        fc.property(toRequest(sending), (asked) => {
          const sent = toSent(encodeBody(asked, {}));
          const parsed = toCreateResponse(sent, { upstreamOf: () => ({ ...UPSTREAM, isVendor }) });
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
            format: toFormat(made.text?.format),
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
  }

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

/**
 * Without fields that the API does not have: the state of an item, and ids that nothing refers to.
 */
function toPlain(item: Item): object {
  const { id: _, status: __, ...rest } = item as unknown as JsonObject;
  return rest;
}
