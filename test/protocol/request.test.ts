import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseCreateResponse } from "../../src/protocol/request.ts";

const pairs = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key${index}`, "value"]));

describe("parseCreateResponse", () => {
  const fine: readonly object[] = [
    {},
    { model: "m", input: "Hello", stop: "end" },
    { input: [{ role: "user", content: "Hello" }, { id: "msg_1" }, { type: "acme:thing" }] },
    { conversation: "conv_1" },
    { conversation: { id: "conv_1" }, stop: ["a", "b"] },
    { reasoning: { effort: "max", generate_summary: "auto" }, text: { verbosity: "low" } },
    { metadata: pairs(16), temperature: 2, top_p: 0, frequency_penalty: -2 },
    { metadata: { ["k".repeat(64)]: "v".repeat(512) } },
    {
      tools: [
        { type: "acme:tool", anything: true },
        { type: "function", name: "f" },
      ],
    },
    { tool_choice: "required" },
    { tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "mcp" }] } },
    { tool_choice: { type: "acme:choice" } },
    { include: ["something.new"], service_tier: "new" },
    { multi_agent: { enabled: true, max_concurrent_subagents: 3 } },
    { context_management: [{ type: "compaction", compact_threshold: 1000 }] },
    { temperature: null, tools: null, tool_choice: null, text: null, reasoning: null, input: null },
  ];
  for (const request of fine) {
    it(`accepts ${JSON.stringify(request).slice(0, 80)}`, () => {
      assert.equal(parseCreateResponse(request), request);
    });
  }

  const wrong: readonly [request: unknown, param: string | undefined, message: string][] = [
    [[], undefined, "The request must be an object, not an array."],
    [{ model: 1 }, "model", "`model` must be a string, not 1."],
    [{ temperature: 3 }, "temperature", "`temperature` must be at most 2, not 3."],
    [{ top_p: -1 }, "top_p", "`top_p` must be at least 0, not -1."],
    [{ top_logprobs: 1.5 }, "top_logprobs", "`top_logprobs` must be a whole number, not 1.5."],
    [{ stream: "yes" }, "stream", "`stream` must be true or false, not a string."],
    [
      { tools: [{ type: "mcp", server_label: "s", headers: "Bearer abcdefgh" }] },
      "tools[0].headers",
      "`tools[0].headers` must be an object, not a string.",
    ],
    [
      { truncation: "some" },
      "truncation",
      '`truncation` must be "auto" or "disabled", not "some".',
    ],
    [
      { tool_choice: "any" },
      "tool_choice",
      '`tool_choice` must be "auto", "required" or "none", not "any".',
    ],
    [{ tools: [{ type: "function" }] }, "tools[0].name", "`tools[0].name` is missing."],
    [
      { text: { format: { type: "json_schema", name: "n" } } },
      "text.format.schema",
      "`text.format.schema` is missing.",
    ],
    [{ metadata: pairs(17) }, "metadata", "`metadata` has 17 pairs; at most 16 are allowed."],
    [
      { metadata: { ["k".repeat(65)]: "" } },
      "metadata",
      "`metadata` has a key of 65 characters; at most 64 are allowed.",
    ],
    [
      { metadata: { key: "v".repeat(513) } },
      "metadata.key",
      "`metadata.key` has 513 characters; at most 512 are allowed.",
    ],
    [{ metadata: { key: 1 } }, "metadata.key", "`metadata.key` must be a string, not 1."],
    [
      { prompt_cache_key: "k".repeat(65) },
      "prompt_cache_key",
      "`prompt_cache_key` has 65 characters; at most 64 are allowed.",
    ],
    [
      { context_management: [{ type: "compaction", compact_threshold: 999 }] },
      "context_management[0].compact_threshold",
      "`context_management[0].compact_threshold` must be at least 1000, not 999.",
    ],
    [
      { input: [{ type: "function_call_output", call_id: "c" }] },
      "input[0].output",
      "`input[0].output` is missing.",
    ],
  ];
  for (const [request, param, message] of wrong) {
    it(`refuses a request with: ${message}`, () => {
      assert.throws(() => parseCreateResponse(request), {
        code: "invalid_request",
        param,
        message,
      });
    });
  }
});
