import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Json, JsonObject } from "../../../src/base/json.ts";
import { dropNulls, toGrammarSchema } from "../../../src/providers/gguf/grammar-schema.ts";

const ANY = {
  oneOf: [
    { type: ["string", "number", "boolean", "null"] },
    { type: "object", additionalProperties: true },
    { type: "array" },
  ],
};

describe("a schema for a grammar", () => {
  const rows: [name: string, schema: JsonObject, expected: JsonObject][] = [
    ["a type", { type: "integer", minimum: 3, title: "X" }, { type: "integer" }],
    ["a length", { type: "string", maxLength: 5, pattern: "a+" }, { type: "string", maxLength: 5 }],
    ["types", { type: ["string", "null"] }, { type: ["string", "null"] }],
    [
      "types of which one holds others",
      { type: ["array", "null"], items: { type: "string" } },
      { oneOf: [{ type: "array", items: { type: "string" } }, { type: "null" }] },
    ],
    ["a constant", { const: 3 }, { const: 3 }],
    ["an enumeration", { enum: ["a", null], type: "string" }, { enum: ["a", null] }],
    ["a constant that holds others", { const: [1] }, ANY],
    ["`anyOf`", { anyOf: [{ type: "null" }, {}] }, { oneOf: [{ type: "null" }, ANY] }],
    ["one `allOf`", { allOf: [{ type: "boolean" }] }, { type: "boolean" }],
    ["several `allOf`", { allOf: [{ type: "boolean" }, {}] }, ANY],
    ["nothing", {}, ANY],
    ["an unknown type", { type: "date" }, ANY],
    [
      "a list",
      { type: "array", items: {}, minItems: 1, maxItems: 2, uniqueItems: true },
      { type: "array", items: ANY, minItems: 1, maxItems: 2 },
    ],
    [
      "a tuple",
      { type: "array", prefixItems: [{ type: "null" }, true] },
      { type: "array", prefixItems: [{ type: "null" }, ANY] },
    ],
    [
      "an open object",
      { type: "object" },
      { type: "object", properties: {}, additionalProperties: true },
    ],
    [
      "a map",
      { type: "object", additionalProperties: { type: "integer", minimum: 0 } },
      { type: "object", properties: {}, additionalProperties: { type: "integer" } },
    ],
    [
      "references, by either name",
      {
        definitions: { a: { type: "string", format: "email" } },
        $defs: { b: { $ref: "#/definitions/a" } },
        $ref: "#/$defs/b",
      },
      { $ref: "#/$defs/b", $defs: { a: { type: "string" }, b: { $ref: "#/$defs/a" } } },
    ],
  ];
  for (const [name, schema, expected] of rows) {
    it(`keeps keywords that the package knows: ${name}`, () => {
      assert.deepEqual(toGrammarSchema(schema, "write"), expected);
    });
  }

  const node = {
    type: "object",
    properties: {
      name: { type: "string" },
      size: { type: "integer" },
      next: { $ref: "#/$defs/n" },
    },
    required: ["name"],
  };

  it("writes optional properties, unless that would never end", () => {
    assert.deepEqual(toGrammarSchema(node, "write")["properties"], {
      name: { type: "string" },
      size: { type: "integer" },
    });
  });

  it("lets a call leave out optional properties, by null", () => {
    assert.deepEqual(toGrammarSchema(node, "or null")["properties"], {
      name: { type: "string" },
      size: { oneOf: [{ type: "integer" }, { type: "null" }] },
      next: { oneOf: [{ $ref: "#/$defs/n" }, { type: "null" }] },
    });
  });
});

describe("nulls for left-out properties", () => {
  const schema = {
    type: "object",
    properties: {
      must: { type: "string" },
      may: { type: "string" },
      nullable: { type: ["string", "null"] },
      choice: { anyOf: [{ type: "string" }, { type: "null" }] },
      level: { enum: ["a", null] },
      inner: { type: "object", properties: { x: { type: "number" } } },
      next: { $ref: "#/$defs/step" },
      rows: { type: "array", items: { type: "object", properties: { y: { type: "number" } } } },
    },
    $defs: { step: { type: "object", properties: { y: { type: "number" } } } },
    required: ["must"],
  };
  const rows: [given: Json, kept: Json][] = [
    [{ must: null, may: null }, { must: null }],
    [
      { nullable: null, choice: null, level: null },
      { nullable: null, choice: null, level: null },
    ],
    [
      { inner: { x: null, z: null }, rows: [{ y: null }] },
      { inner: { z: null }, rows: [{}] },
    ],
    [{ next: null }, {}],
    [{ next: { y: null } }, { next: {} }],
    [{ unknown: null }, { unknown: null }],
    ["text", "text"],
  ];
  for (const [given, kept] of rows) {
    it(`are removed if the schema does not allow null: ${JSON.stringify(given)}`, () => {
      assert.deepEqual(dropNulls(given, schema), kept);
    });
  }

  it("are kept if there is no schema", () => {
    assert.deepEqual(dropNulls({ a: null }, undefined), { a: null });
  });
});
