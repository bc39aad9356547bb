/**
 * A request of a Messages client to a model of Anthropic's arrives there as it was sent: bodies with every kind of
 * block, tool and mark, through the endpoint and our own Messages wire.
 */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { isJsonObject, type JsonObject } from "../../../src/base/json.ts";
import { fromInput } from "../../../src/protocol/items.ts";
import type { CreateResponse } from "../../../src/protocol/request.ts";
import { encodeBody } from "../../../src/providers/messages/encode.ts";
import { type ModelRequest, TEXT_FORMAT } from "../../../src/providers/provider.ts";
import { toCreateResponse } from "../../../src/responses/messages/parse-messages.ts";
import { toReasoning } from "../../../src/responses/request/plan-response.ts";

const VENDOR = {
  isVendor: true,
  canStopThinking: false,
  maxOutputTokens: undefined,
  contextTokens: undefined,
};
const words = fc.string({ minLength: 1, maxLength: 12 }).filter((text) => text.trim() !== "");
const mark = fc.constantFrom(
  {},
  {},
  { cache_control: { type: "ephemeral" } },
  { cache_control: { type: "ephemeral", ttl: "1h" } },
);
const marked = (block: fc.Arbitrary<object>): fc.Arbitrary<JsonObject> =>
  fc.tuple(block, mark).map(([given, cached]) => ({ ...given, ...cached }) as JsonObject);
const citing = fc.constantFrom({}, { citations: { enabled: true } });

const text = marked(words.map((said) => ({ type: "text", text: said })));
const image = marked(
  fc.constantFrom(
    { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
    { type: "image", source: { type: "url", url: "https://x.org/a.png" } },
    { type: "image", source: { type: "file", file_id: "file_1" } },
    { type: "image", source: { type: "new_source_2031", place: 1 } },
  ),
);
const source = fc.constantFrom(
  { type: "base64", media_type: "application/pdf", data: "AAAA" },
  { type: "text", media_type: "text/plain", data: "Hello" },
  { type: "url", url: "https://x.org/a.pdf" },
  { type: "file", file_id: "file_2" },
  { type: "content", content: [{ type: "text", text: "One" }] },
);
const document = marked(
  fc
    .tuple(
      source,
      citing,
      fc.constantFrom({}, { title: "T" }),
      fc.constantFrom({}, { context: "C" }),
    )
    .map(([from, cited, title, context]) => ({
      type: "document",
      source: from,
      ...title,
      ...context,
      ...cited,
    })),
);
const found = marked(
  citing.map((cited) => ({
    type: "search_result",
    source: "https://x.org",
    title: "X",
    content: [{ type: "text", text: "Found" }],
    ...cited,
  })),
);
const content = fc.array(fc.oneof(text, image, document, found), { minLength: 1, maxLength: 4 });

const thought = fc.oneof(
  fc
    .record({ thinking: words, signature: fc.base64String({ minLength: 4 }) })
    .map((block) => ({ type: "thinking", ...block })),
  fc.base64String({ minLength: 4 }).map((data) => ({ type: "redacted_thinking", data })),
);
const cited = words.map((said) => ({
  type: "text",
  text: said,
  citations: [
    {
      type: "char_location",
      cited_text: "x",
      document_index: 0,
      document_title: "T",
      start_char_index: 0,
      end_char_index: 1,
    },
  ],
}));
/** Results of the vendor's own tools. */
const hosted = fc.constantFrom(
  [
    { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "q" } },
    {
      type: "web_search_tool_result",
      tool_use_id: "srvtoolu_1",
      content: [
        {
          type: "web_search_result",
          url: "https://x.org",
          title: "X",
          page_age: null,
          encrypted_content: "E",
        },
      ],
    },
  ],
  [
    { type: "server_tool_use", id: "srvtoolu_2", name: "bash_code_execution", input: {} },
    {
      type: "bash_code_execution_tool_result",
      tool_use_id: "srvtoolu_2",
      content: { type: "bash_code_execution_result", stdout: "1", stderr: "", return_code: 0 },
    },
  ],
  [
    { type: "mcp_tool_use", id: "mcptoolu_1", name: "t", server_name: "s", input: {} },
    {
      type: "mcp_tool_result",
      tool_use_id: "mcptoolu_1",
      is_error: false,
      content: [{ type: "text", text: "x" }],
    },
  ],
  [{ type: "compaction", content: "Short.", encrypted_content: "vendor's" }],
  [{ type: "new_kind_2031", anything: [1, 2] }],
);
const result = fc.record({
  content: fc.oneof(
    words,
    fc.array(
      fc.oneof(
        words.map((said) => ({ type: "text", text: said })),
        fc.constant({ type: "tool_reference", tool_name: "late" }),
        fc.constantFrom(
          {
            type: "search_result",
            source: "https://x.org",
            title: "X",
            content: [{ type: "text", text: "Found" }],
          },
          { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } },
          { type: "image", source: { type: "url", url: "https://x.org/a.png" } },
          {
            type: "document",
            source: { type: "base64", media_type: "application/pdf", data: "AAAA" },
          },
        ),
      ),
      { minLength: 1, maxLength: 3 },
    ),
  ),
  failed: fc.constantFrom({}, {}, { is_error: true }),
  caller: fc.constantFrom(
    {},
    {},
    { caller: { type: "code_execution_20250825", tool_id: "srvtoolu_2" } },
  ),
});

interface Called {
  readonly content: unknown;
  readonly failed: object;
  readonly caller: object;
}

interface Turn {
  readonly heard: readonly object[];
  readonly thoughts: readonly object[];
  readonly said: readonly object[];
  readonly hosted: readonly (readonly object[])[];
  readonly calls: readonly Called[];
  readonly system: readonly object[];
}

const turn: fc.Arbitrary<Turn> = fc.record({
  heard: content,
  thoughts: fc.array(thought, { maxLength: 2 }),
  said: fc.array(fc.oneof(text, cited), { minLength: 1, maxLength: 2 }),
  hosted: fc.array(hosted, { maxLength: 1 }),
  calls: fc.array(result, { maxLength: 2 }),
  system: fc.array(text, { maxLength: 1 }),
});

/** Turns in the order that the API asks for, each role once in a row. */
function toMessages(turns: readonly Turn[]): JsonObject[] {
  let count = 0;
  const messages: JsonObject[] = [];
  for (const [at, one] of turns.entries()) {
    const calls = one.calls.map((call) => ({ id: `toolu_${count++}`, ...call }));
    const uses = calls.map(({ id, caller }) => {
      return { type: "tool_use", id, name: "read", input: { id }, ...caller };
    });
    const results = calls.map(({ id, content: output, failed }) => ({
      type: "tool_result",
      tool_use_id: id,
      content: output,
      // The vendor refuses an error with anything but text.
      ...(isText(output) ? failed : {}),
    }));
    const last = messages.at(-1);
    const heard = [...one.heard] as JsonObject[];
    if (last?.["role"] === "user") (last["content"] as JsonObject[]).push(...heard);
    else messages.push({ role: "user", content: heard });
    for (const said of one.system) {
      messages.push({ role: "system", content: [said as JsonObject] });
    }
    // A model may think again after its words, before it calls tools.
    const isSplit = uses.length > 0;
    const first = isSplit ? one.thoughts.slice(0, 1) : one.thoughts;
    const again = isSplit ? one.thoughts.slice(1) : [];
    const blocks = [
      ...first,
      ...one.said,
      ...again,
      ...one.hosted.flatMap((group) => inTurn(group, at)),
      ...uses,
    ];
    messages.push({ role: "assistant", content: blocks as JsonObject[] });
    if (results.length > 0) messages.push({ role: "user", content: results as JsonObject[] });
  }
  return messages;
}

/** Ids are unique in the whole conversation. */
function inTurn(group: readonly object[], at: number): object[] {
  return group.map((block) => {
    const { id, tool_use_id } = block as { id?: string; tool_use_id?: string };
    return {
      ...block,
      ...(id === undefined ? {} : { id: `${id}_${at}` }),
      ...(tool_use_id === undefined ? {} : { tool_use_id: `${tool_use_id}_${at}` }),
    };
  });
}

const tool = fc
  .tuple(
    fc.constantFrom({}, { defer_loading: true }, { eager_input_streaming: true }),
    fc.constantFrom({}, { allowed_callers: ["code_execution_20250825"], input_examples: [{}] }),
    mark,
  )
  .map(([one, two, three]) => ({
    name: "read",
    description: "Reads",
    input_schema: { properties: { path: { type: "string" } }, type: "object" },
    ...one,
    ...two,
    ...three,
  }));
const tools = fc.tuple(
  tool,
  fc.subarray([
    { type: "web_search_20250305", name: "web_search", max_uses: 3 },
    { type: "code_execution_20250825", name: "code_execution" },
    { type: "bash_20250124", name: "bash" },
    { type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" },
  ]),
);

const body: fc.Arbitrary<JsonObject> = fc
  .record({
    turns: fc.array(turn, { minLength: 1, maxLength: 3 }),
    tools: fc.option(tools, { nil: undefined }),
    system: fc.option(fc.array(text, { minLength: 1, maxLength: 3 }), { nil: undefined }),
    max_tokens: fc.integer({ min: 1, max: 8000 }),
    stop_sequences: fc.option(fc.constant(["END"]), { nil: undefined }),
    metadata: fc.option(fc.constant({ user_id: "u" }), { nil: undefined }),
    isBegun: fc.boolean(),
  })
  .map(({ turns, tools: offered, isBegun, ...fields }) => {
    const messages = toMessages(turns);
    // The last message may be the beginning of the answer, which has no call that waits.
    const isOpen = messages.at(-1)?.["role"] === "user";
    const rest: JsonObject[] = isOpen || isBegun ? [] : [{ role: "user", content: [GO] }];
    const all: JsonObject = {
      model: "claude-sonnet-4-5",
      messages: [...messages, ...rest],
      ...fields,
      ...(offered ? { tools: [offered[0], ...offered[1]], tool_choice: { type: "auto" } } : {}),
    };
    return JSON.parse(JSON.stringify(all)) as JsonObject;
  });

const GO = { type: "text", text: "Go" };

function toModelRequest(made: CreateResponse): ModelRequest {
  return {
    model: made.model ?? "",
    instructions: made.instructions ?? undefined,
    items: fromInput(made.input ?? []),
    tools: made.tools ?? [],
    tool_choice: made.tool_choice ?? "auto",
    parallel_tool_calls: made.parallel_tool_calls ?? undefined,
    temperature: undefined,
    top_p: undefined,
    max_output_tokens: made.max_output_tokens ?? undefined,
    reasoning: toReasoning(made),
    format: TEXT_FORMAT,
    previous: undefined,
    options: {
      ...(made.stop ? { stop: made.stop as string[] } : {}),
      ...(made.user ? { user: made.user } : {}),
    },
  };
}

/** Without what means the same in two spellings: one text in a result is a text. */
function toPlain(sent: object): JsonObject {
  const { stream: _, ...plain } = JSON.parse(JSON.stringify(sent), (_key, value) => {
    const isResult = isJsonObject(value) && value["type"] === "tool_result";
    const [first, ...more] = isResult && Array.isArray(value["content"]) ? value["content"] : [];
    const isText = isJsonObject(first) && first["type"] === "text" && more.length === 0;
    return isText ? { ...value, content: first["text"] } : value;
  }) as JsonObject;
  return plain;
}

/** A mark inside of a result, or on a call, has no place of its own; the vendor's API takes it at the block's end. */
function countMarks(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + countMarks(one), 0);
  if (!isJsonObject(value)) return 0;
  const own = "cache_control" in value ? 1 : 0;
  return Object.values(value).reduce((sum: number, one) => sum + countMarks(one), own);
}

function isText(content: unknown): boolean {
  return !Array.isArray(content) || content.every((block: JsonObject) => block["type"] === "text");
}

describe("a client's request to a model of Anthropic's", () => {
  it("arrives as it was sent, with every kind of block, tool and mark", () => {
    fc.assert(
      fc.property(body, (given) => {
        const { request, answer } = toCreateResponse(given, { upstreamOf: () => VENDOR });
        const sent = toPlain(encodeBody(toModelRequest(request), {}));
        assert.deepEqual(sent, toPlain(given));
        assert.equal(countMarks(sent), countMarks(given));
        assert.deepEqual(answer.ignored, []);
      }),
      { numRuns: 500 },
    );
  });
});
