/** What the answer to a Messages client names as left out of its request. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { toCreateResponse } from "../../../src/responses/messages/parse-messages.ts";

const OWN = { name: "t", input_schema: { type: "object" } };
const HINTS = { eager_input_streaming: true, cache_control: { type: "ephemeral" } };
const TOOLS = [
  { ...OWN, ...HINTS, allowed_callers: ["direct"], input_examples: [{}] },
  { ...OWN, name: "u", allowed_callers: ["code_execution_20250825"], new: null },
  { type: "web_search_20250305", name: "web_search", max_uses: 8 },
  { type: "web_fetch_20250910", name: "web_fetch", citations: { enabled: true } },
];
const KNOWN = { cache_control: null, metadata: {}, diagnostics: null, speed: "fast" };

function ignoredOf(body: object, isVendor = false): readonly string[] {
  const upstream = {
    isVendor,
    canStopThinking: false,
    maxOutputTokens: undefined,
    contextTokens: undefined,
  };
  const given = { model: "m", max_tokens: 10, messages: [{ role: "user", content: "Hi" }] };
  return toCreateResponse({ ...given, ...body }, { upstreamOf: () => upstream }).answer.ignored;
}

describe("what is left out of a Messages request", () => {
  it("is named: fields of the request that are not known", () => {
    assert.deepEqual(ignoredOf({ ...KNOWN, new_field_2031: { a: 1 } }), ["new_field_2031"]);
    assert.deepEqual(ignoredOf({ new_field_2031: { a: 1 } }, true), ["new_field_2031"]);
  });

  it("is named: fields of tools that only the vendor could heed", () => {
    assert.deepEqual(ignoredOf({ tools: TOOLS }), [
      "tools[0].input_examples",
      "tools[1].allowed_callers",
      "tools[2].max_uses",
      "tools[3].citations",
    ]);
    assert.deepEqual(ignoredOf({ tools: TOOLS }, true), []);
  });

  it("is named: pictures and documents from a source that is not known", () => {
    const content = ["image", "document"].map((type) => ({ type, source: { type: "moon_2031" } }));
    const messages = [{ role: "user", content: [{ type: "text", text: "Hi" }, ...content] }];
    assert.deepEqual(ignoredOf({ messages }), [
      "messages[0].content[1] (image)",
      "messages[0].content[2] (document)",
    ]);
    assert.deepEqual(ignoredOf({ messages }, true), []);
  });

  it("is nothing if every tool of the server has a limit", () => {
    const tools = TOOLS.slice(2).map(({ citations: _, ...tool }) => ({ ...tool, max_uses: 2 }));
    assert.deepEqual(ignoredOf({ tools }), []);
  });
});
