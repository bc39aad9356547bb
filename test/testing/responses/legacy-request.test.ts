import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Item } from "../../../src/protocol/items.ts";
import { firstOf } from "../../../src/testing/exchange/rejection.ts";
import { checkLegacyRequest } from "../../../src/testing/responses/legacy-request.ts";
import { createResponseMemory } from "../../../src/testing/responses/response-memory.ts";

const USER = { role: "user", content: [{ type: "input_text", text: "Hi" }] };
const TOOL = { type: "function", name: "read", parameters: {} };
const result = (id: string) => ({ type: "tool_result", tool_call_id: id, content: "ok" });

/** One answer is remembered; it made two calls. */
const memory = createResponseMemory();
const calls = ["c1", "c2"].map((call_id) => ({
  type: "function_call",
  call_id,
  name: "read",
  arguments: "{}",
}));
memory.keep("resp_1", [], calls as Item[]);

function check(change: Record<string, unknown>): ReturnType<typeof firstOf> {
  const body = {
    model: "m",
    input: [USER],
    stream: true,
    store: false,
    reasoning: { effort: "none" },
    ...change,
  };
  return firstOf(checkLegacyRequest(JSON.parse(JSON.stringify(body)), memory));
}
const next = (...input: object[]): Record<string, unknown> => ({
  previous_response_id: "resp_1",
  input,
});

describe("legacy request checks", () => {
  const refused: [string, Record<string, unknown>, string][] = [
    ["no model", { model: undefined }, "model"],
    ["a plain answer", { stream: false }, "stream"],
    ["a stored answer", { store: true }, "store"],
    ["no reasoning", { reasoning: undefined }, "reasoning"],
    ["reasoning of another form", { reasoning: { effort: "low" } }, "reasoning"],
    ["input that is text", { input: "Hi" }, "input"],
    ["a message that is text", { input: [{ role: "user", content: "Hi" }] }, "input[0].content"],
    [
      "a part of another kind",
      { input: [{ role: "user", content: [{ type: "text" }] }] },
      "input[0].content[0]",
    ],
    [
      "an assistant's message",
      { input: [USER, { role: "assistant", content: [] }] },
      "input[1].role",
    ],
    ["no tools in a list", { tools: [], tool_choice: "auto" }, "tools"],
    ["tools without a choice", { tools: [TOOL] }, "tool_choice"],
    ["a choice without tools", { tool_choice: "auto" }, "tool_choice"],
    [
      "a tool without a name",
      { tools: [{ type: "function" }], tool_choice: "auto" },
      "tools[0].name",
    ],
    ["an unknown previous id", { previous_response_id: "resp_x" }, "previous_response_id"],
    ["a result that was not asked for", { input: [result("c1")] }, "input[0].type"],
    [
      "an output in the other words",
      next({ type: "function_call_output", call_id: "c1", output: "" }, result("c2")),
      "input[0].type",
    ],
    ["a replayed history", next(USER, result("c1"), result("c2")), "input[0].type"],
    ["a missing result", next(result("c1")), "input"],
    [
      "a result given twice",
      next(result("c1"), result("c1"), result("c2")),
      "input[1].tool_call_id",
    ],
    ["a result of another call", next(result("c1"), result("c3")), "input[1].tool_call_id"],
    [
      "a result that is not text",
      next({ ...result("c1"), content: {} }, result("c2")),
      "input[0].content",
    ],
  ];
  for (const [name, change, param] of refused) {
    it(`refuses ${name}`, () => {
      const { status, error } = check(change) ?? assert.fail("taken");
      assert.deepEqual([status, error.param], [400, param]);
    });
  }

  it("names an unknown previous id in the real API's code", () => {
    assert.equal(
      check({ previous_response_id: "resp_x" })?.error.code,
      "previous_response_not_found",
    );
  });

  const taken: [string, Record<string, unknown>][] = [
    ["the least", {}],
    ["thinking", { reasoning: { effort: "high", summary: "detailed" } }],
    [
      "tools, flat and nested",
      { tools: [TOOL, { type: "function", function: TOOL }], tool_choice: "auto" },
    ],
    ["one result for each call", next(result("c1"), result("c2"))],
    ["a field it does not know", { include: ["reasoning.encrypted_content"] }],
  ];
  for (const [name, change] of taken) {
    it(`accepts ${name}`, () => assert.equal(check(change), undefined));
  }
});
