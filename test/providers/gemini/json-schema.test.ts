import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../../src/base/json.ts";
import { toGeminiSchema } from "../../../src/providers/gemini/json-schema.ts";

describe("a schema in Gemini's words", () => {
  const cases: readonly [name: string, schema: JsonObject, written: JsonObject][] = [
    [
      "keeps what is known, at any depth",
      {
        type: ["object", "null"],
        properties: { a: { type: "array", items: { anyOf: [{ type: "string" }] }, minItems: 1 } },
        required: ["a"],
        additionalProperties: { type: "string" },
      },
      {
        type: ["object", "null"],
        properties: { a: { type: "array", items: { anyOf: [{ type: "string" }] }, minItems: 1 } },
        required: ["a"],
        additionalProperties: { type: "string" },
      },
    ],
    [
      "leaves out what is not",
      {
        $schema: "x",
        $comment: "x",
        type: "string",
        pattern: "a",
        minLength: 1,
        default: "a",
        not: {},
        if: {},
        else: {},
      },
      { type: "string" },
    ],
    [
      "keeps a property that is called like a keyword",
      { type: "object", properties: { pattern: { type: "string", pattern: "a" } } },
      { type: "object", properties: { pattern: { type: "string" } } },
    ],
    ["lists a constant", { const: "a" }, { enum: ["a"] }],
    ["lists texts and numbers alone", { enum: ["a", 1, null, true] }, { enum: ["a", 1] }],
    ["lists nothing else", { type: "boolean", const: true }, { type: "boolean" }],
    [
      "joins what must all hold",
      {
        allOf: [
          { type: "object", properties: { a: {} }, required: ["a"] },
          { properties: { b: { type: "string" } }, required: ["b", "a"] },
        ],
        description: "Both.",
      },
      {
        description: "Both.",
        type: "object",
        properties: { a: {}, b: { type: "string" } },
        required: ["a", "b"],
      },
    ],
    [
      "names definitions as newer drafts do, and says nothing beside a reference",
      {
        definitions: { A: { type: "string", pattern: "x" } },
        $defs: { B: { type: "number" } },
        properties: { a: { $ref: "#/definitions/A", description: "x" }, b: { $ref: "#/$defs/B" } },
      },
      {
        properties: { a: { $ref: "#/$defs/A" }, b: { $ref: "#/$defs/B" } },
        $defs: { A: { type: "string" }, B: { type: "number" } },
      },
    ],
    [
      "takes a property of any kind",
      { properties: { a: true }, additionalProperties: false },
      { properties: { a: {} }, additionalProperties: false },
    ],
  ];
  for (const [name, schema, written] of cases) {
    it(name, () => assert.deepEqual(toGeminiSchema(schema), written));
  }
});
