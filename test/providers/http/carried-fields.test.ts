import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import { findOptionsProblem } from "../../../src/protocol/own-options.ts";
import { CARRIED_FIELDS, carryFields } from "../../../src/providers/http/carried-fields.ts";

const CASES: readonly (readonly [string, string, JsonObject, JsonObject, readonly string[]])[] = [
  ["gemini", "gemini", { top_k: 5, seed: 7 }, { generationConfig: { topK: 5, seed: 7 } }, []],
  ["gemini", "gemini", { safetySettings: [{}] }, { safetySettings: [{}] }, []],
  ["anthropic", "anthropic", { top_k: 5, seed: 7 }, { top_k: 5 }, ["seed"]],
  ["bedrock", "bedrock", { guardrailConfig: { a: 1 } }, { guardrailConfig: { a: 1 } }, []],
  ["cohere", "cohere", { top_k: 5, seed: 7, min_p: 0.1 }, { k: 5, seed: 7 }, ["min_p"]],
  ["ollama", "ollama", { top_k: 5, min_p: 0.1 }, { options: { top_k: 5, min_p: 0.1 } }, []],
  ["mistral", "openai-chat", { seed: 7, top_k: 5 }, { random_seed: 7 }, ["top_k"]],
  ["openai", "openai-chat", { seed: 7, top_k: 5 }, { seed: 7 }, ["top_k"]],
  ["openai", "openai-responses", { seed: 7 }, {}, ["seed"]],
  ["deepseek", "openai-chat", { seed: 7 }, {}, ["seed"]],
  ["openrouter", "openai-chat", { models: ["a/b"] }, { models: ["a/b"] }, []],
  ["llamacpp", "llamacpp", { top_k: 5, grammar: "g" }, { top_k: 5, grammar: "g" }, []],
  // A vendor that only the user knows.
  ["our-vllm", "openai-chat", { top_k: 5, zebra: 1 }, { top_k: 5 }, ["zebra"]],
  ["vllm", "openai-chat", { top_k: null, toString: 1 }, {}, ["toString"]],
];

/** Fields for a model at Bedrock whose maker supports them. */
const AT_BEDROCK: readonly (readonly [string, JsonObject, readonly string[]])[] = [
  ["us.anthropic.claude-sonnet-4-5-20250929-v1:0", { top_k: 5 }, ["seed"]],
  ["amazon.nova-pro-v1:0", { inferenceConfig: { topK: 5 } }, ["seed"]],
  ["cohere.command-r-plus-v1:0", { k: 5, seed: 7 }, []],
  ["meta.llama3-3-70b-instruct-v1:0", {}, ["top_k", "seed"]],
];

describe("fields that clients of compatible servers send", () => {
  for (const [model, told, left] of AT_BEDROCK) {
    it(`are sent to a model at Bedrock in its maker's form: ${model}`, () => {
      const place = { vendor: "bedrock", wire: "bedrock", model };
      const carried = carryFields({ top_k: 5, seed: 7 }, place);
      assert.deepEqual(carried.left, left);
      const isTold = Object.keys(told).length > 0;
      assert.deepEqual(carried.body, isTold ? { additionalModelRequestFields: told } : {});
    });
  }

  for (const [vendor, wire, fields, body, left] of CASES) {
    it(`are sent where ${vendor} expects them over ${wire}: ${Object.keys(fields).join(", ")}`, () => {
      const carried = carryFields(fields, { vendor, wire, model: "m" });
      assert.deepEqual([carried.body, carried.left], [body, left]);
    });
  }

  it("are never fields that the runtime itself writes", () => {
    for (const [who, places] of CARRIED_FIELDS) {
      for (const path of Object.values(places)) {
        const [first = "", second] = path.split(".");
        const options = { [first]: second === undefined ? 1 : { [second]: 1 } };
        assert.equal(findOptionsProblem(options), undefined, `${who}: ${path}`);
      }
    }
  });
});
