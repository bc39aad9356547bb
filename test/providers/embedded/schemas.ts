/** Random JSON schemas for property tests. */

import fc from "fast-check";
import type { JsonObject } from "../../../src/base/json.ts";

/** Schemas with some valid value, with every keyword that the filler supports. */
export function schemas(): fc.Arbitrary<JsonObject> {
  const small = fc.integer({ min: 0, max: 5 });
  const { any } = fc.letrec<{ any: JsonObject }>((tie) => ({
    any: fc.oneof({ maxDepth: 3, withCrossShrink: true }, leaf(), ...branches(tie("any"))),
  }));
  return any;

  function leaf(): fc.Arbitrary<JsonObject> {
    const word = fc.stringMatching(/^[a-z]{1,8}$/);
    return fc.oneof(
      fc.record({ type: fc.constant("string") }),
      fc.tuple(small, small).map(([a, b]) => ({ type: "string", minLength: a, maxLength: a + b })),
      fc
        .constantFrom("date", "date-time", "email", "uri", "uuid")
        .map((format) => ({ type: "string", format })),
      fc
        .constantFrom(
          "^[A-Z]{3}$",
          "^\\d{2,4}-[a-f]+$",
          "^(ab|cd)?x*y+$",
          "^v[0-9]+\\.[0-9]+$",
          "q",
        )
        .map((pattern) => ({ type: "string", pattern })),
      fc
        .tuple(fc.integer({ min: -50, max: 50 }), small)
        .map(([a, b]) => ({ type: "integer", minimum: a, maximum: a + b })),
      fc
        .tuple(fc.integer({ min: -50, max: 50 }), small)
        .map(([a, b]) => ({ type: "number", exclusiveMinimum: a, exclusiveMaximum: a + b + 1 })),
      fc
        .tuple(fc.integer({ min: 1, max: 9 }), fc.integer({ min: -99, max: 99 }))
        .map(([step, least]) => ({ type: "integer", multipleOf: step, minimum: least })),
      fc.constantFrom(
        { type: "boolean" },
        { type: "null" },
        { type: ["string", "null"] },
        { type: ["integer", "string"] },
        {},
      ),
      fc
        .uniqueArray(fc.oneof(word, fc.integer(), fc.constant(null)), {
          minLength: 1,
          maxLength: 4,
        })
        .map((options) => ({ enum: options })),
      fc.oneof(word, fc.integer(), fc.boolean()).map((value) => ({ const: value })),
    );
  }

  function branches(inner: fc.Arbitrary<JsonObject>): fc.Arbitrary<JsonObject>[] {
    const keys = fc.uniqueArray(fc.constantFrom("a", "b", "city", "count", "answer", "tags"), {
      minLength: 1,
      maxLength: 3,
    });
    return [
      fc
        .tuple(inner, small, small)
        .map(([items, a, b]) => ({ type: "array", items, minItems: a, maxItems: a + b })),
      fc
        .tuple(keys, inner, inner)
        .map(([names, a, b]) =>
          object(Object.fromEntries(names.map((key, at) => [key, at % 2 ? a : b]))),
        ),
      fc
        .tuple(keys, inner)
        .map(([names, a]) => object(Object.fromEntries(names.map((key) => [key, a])), [])),
      fc.tuple(inner, inner).map(([a, b]) => ({ anyOf: [a, b] })),
      inner.map((a) => ({
        oneOf: [object({ kind: { const: "one" }, a }), object({ kind: { const: "two" }, a })],
      })),
      fc.tuple(inner, inner).map(([a, b]) => ({
        allOf: [
          { type: "object", properties: { a }, required: ["a"] },
          { properties: { b }, required: ["b"] },
        ],
      })),
      small.map((count) => ({
        type: "array",
        items: { type: "integer" },
        uniqueItems: true,
        minItems: count,
      })),
      small.map((count) => ({
        type: "object",
        minProperties: count,
        additionalProperties: { type: "string" },
      })),
    ];
  }
}

export function object(properties: JsonObject, required = Object.keys(properties)): JsonObject {
  return { type: "object", properties, required, additionalProperties: false };
}
