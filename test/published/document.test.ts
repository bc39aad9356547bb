/** Our description refuses what is wrong: each case is a valid value with one change. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Json, JsonObject } from "../../src/base/json.ts";
import { findFaults } from "../conformance/oracles.ts";
import { type DocumentName, ownDocument } from "./document.ts";

const TEXT = { type: "output_text", text: "Hi", annotations: [], logprobs: [] };
const MESSAGE = {
  type: "message",
  id: "msg_1",
  role: "assistant",
  status: "completed",
  content: [TEXT],
};
const CALL = { type: "function_call", call_id: "call_1", name: "read", arguments: "{}" };
const DELTA = {
  type: "response.output_text.delta",
  item_id: "msg_1",
  output_index: 0,
  content_index: 0,
  delta: "H",
  logprobs: [],
  sequence_number: 3,
};

interface Case {
  readonly oracle?: DocumentName;
  readonly schema: string;
  readonly value: JsonObject;
  /** A path in the value, and what is put there; undefined takes it away. */
  readonly wrong: readonly (readonly [string, Json | undefined, RegExp])[];
}

const CASES: readonly Case[] = [
  {
    schema: "OutputItem",
    value: MESSAGE,
    wrong: [
      ["id", undefined, /required property 'id'/],
      ["id", 1, /\/id must be string/],
      ["status", "done", /\/status must be equal to one of/],
      ["content.0.annotations", undefined, /\/content\/0 .*'annotations'/],
      ["content.0.text", null, /\/content\/0\/text must be string/],
      ["content.0.type", "output_sound", /\/content\/0\/type must be equal to one of/],
    ],
  },
  {
    schema: "OutputItem",
    value: CALL,
    wrong: [
      ["call_id", undefined, /'call_id'/],
      ["arguments", {}, /\/arguments must be string/],
      ["status", "failed", /\/status must be equal to one of/],
      ["id", null, /\/id must be string/],
    ],
  },
  {
    schema: "BetaOutputItem",
    value: { ...CALL, agent: { agent_name: "/root" } },
    wrong: [
      ["agent.agent_name", undefined, /\/agent .*'agent_name'/],
      ["agent", "/root", /\/agent must be/],
    ],
  },
  {
    schema: "ResponseStreamEvent",
    value: DELTA,
    wrong: [
      ["logprobs", undefined, /'logprobs'/],
      ["output_index", "0", /\/output_index must be integer/],
      ["sequence_number", 0.5, /\/sequence_number must be integer/],
      ["type", "response.output_text.piece", /\/type must be equal to one of/],
    ],
  },
  {
    schema: "Tool",
    value: { type: "function", name: "read", parameters: { type: "object" }, strict: null },
    wrong: [
      ["strict", undefined, /'strict'/],
      ["parameters", [], /\/parameters must be object/],
      ["allowed_callers", ["somebody"], /\/allowed_callers\/0 must be equal to one of/],
    ],
  },
  {
    schema: "ErrorResponse",
    value: { error: { type: "invalid_request_error", code: null, message: "No.", param: null } },
    wrong: [
      ["error.param", undefined, /\/error .*'param'/],
      ["error.message", null, /\/error\/message must be string/],
    ],
  },
  {
    schema: "VectorStoreSearchResultsPage",
    value: {
      object: "vector_store.search_results.page",
      search_query: ["a"],
      data: [],
      has_more: false,
      next_page: null,
    },
    wrong: [
      ["next_page", undefined, /'next_page'/],
      ["total", 1, /must NOT have additional properties/],
    ],
  },
  {
    oracle: "open-responses",
    schema: "ResponseOutputItemDoneStreamingEvent",
    value: {
      type: "response.output_item.done",
      output_index: 0,
      sequence_number: 1,
      item: { ...CALL, id: "fc_1", status: "completed" },
    },
    wrong: [
      ["item.id", undefined, /\/item .*'id'/],
      ["item.status", "failed", /\/item\/status must be equal to one of/],
      ["output_index", null, /\/output_index must be integer/],
    ],
  },
  {
    oracle: "open-responses",
    schema: "WebSocketResponseCreateEvent",
    value: { type: "response.create", model: "m", input: "Hi" },
    wrong: [
      ["type", undefined, /'type'/],
      ["stream", true, /\/stream must/],
      ["tool_choice", "always", /\/tool_choice must be equal to one of/],
    ],
  },
];

describe("the description of the API", () => {
  for (const { oracle = "openai", schema, value, wrong } of CASES) {
    it(`allows ${schema} as it is meant`, () => {
      assert.deepEqual(findFaults(oracle, schema, value), []);
    });
    for (const [path, put, message] of wrong) {
      const what = put === undefined ? "nothing" : JSON.stringify(put);
      it(`refuses ${schema} with ${what} at ${path}`, () => {
        assert.match(findFaults(oracle, schema, withChange(value, path, put)).join(), message);
      });
    }
  }

  it("has every event in beta too, with its agent", () => {
    const { schemas } = ownDocument("openai").components;
    const plain = Object.keys(schemas).filter((name) => /^Response\w*Event$/.test(name));
    assert.ok(plain.length >= 58);
    assert.deepEqual(
      plain.filter((name) => !JSON.stringify(schemas[`Beta${name}`]).includes("BetaAgentTag")),
      ["ResponseStreamEvent"],
    );
  });
});

function withChange(value: JsonObject, path: string, put: Json | undefined): JsonObject {
  const changed = structuredClone(value);
  const steps = path.split(".");
  const last = steps.pop() ?? "";
  let at: Record<string, unknown> = changed;
  for (const step of steps) at = at[step] as Record<string, unknown>;
  if (put === undefined) delete at[last];
  else at[last] = put;
  return changed;
}
