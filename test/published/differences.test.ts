/** The comparison finds what differs, and does not mind how a description is divided. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "../../src/base/json.ts";
import { findDifferences } from "./differences.ts";
import { parseNotation } from "./notation.ts";
import { toSchemas } from "./schemas.ts";

const read = (text: string): JsonObject => toSchemas(parseNotation(text, "a.txt")) as JsonObject;

/** What the schema `A` of two descriptions says differently. */
const differences = (ours: string, published: string): string[] =>
  findDifferences(read(ours), read(published), "A");

describe("the differences of two descriptions", () => {
  const found: Readonly<Record<string, readonly [string, string, string]>> = {
    "a missing field": ["A { a: any }", "A { a: any, b: any }", "A.b is missing"],
    "a field of ours": ["A { a: any }", "A {}", "A.a is not in the published document"],
    "a required field": ["A { a?: any }", "A { a: any }", "A.a is required as published"],
    "an optional field": ["A { a: any }", "A { a?: any }", "A.a is optional as published"],
    "another type": [
      "A { a: [string] }",
      "A { a: [string | null] }",
      "A.a[] does not allow null, and the published document does",
    ],
    "a word of ours": [
      'A { a: "x" | "y" }',
      'A { a: "x" }',
      'A.a allows "y", and the published document does not',
    ],
    "a member of a union": [
      'A = B B { type: "b" }',
      'A = B | C B { type: "b" } C { type: "c" }',
      "A does not allow C, and the published document does",
    ],
    "other fields": [
      "A = exactly { a: any }",
      "A { a: any }",
      "A.*: other fields are allowed differently",
    ],
    "the values of a map": [
      "A { [string]: string }",
      "A { [string]: boolean }",
      "A.* allows string, and the published document does not",
    ],
    "an unpublished name": ["A { a: any }", "B { a: any }", "A is not in the published document"],
    "a field of a member, where both have a type": [
      'A { a: { type: "x", b: string } | { type: "y" } }',
      'A { a: { type: "x", b?: string } | { type: "y" } }',
      "A.a.b is optional as published",
    ],
  };
  for (const [name, [ours, published, difference]] of Object.entries(found)) {
    it(`are found: ${name}`, () => {
      assert.equal(differences(ours, published)[0], difference);
    });
  }

  const same: Readonly<Record<string, readonly [string, string]>> = {
    "what is inlined": ["A { a: { b: string } }", "A { a: B } B { b: string }"],
    "another name": ["A { a: X } X { b: [X] }", "A { a: Y } Y { b: [Y] }"],
    "a union in a union": ["A = string | null | B B {}", "A = C | B C = string | null B {}"],
    "words that any text has in it": ["A = string", 'A = string | "a" | "b"'],
    "the order of members": ['A = B | { type: "c" } B {}', 'A = { type: "c" } | B B {}'],
  };
  for (const [name, [ours, published]] of Object.entries(same)) {
    it(`do not count ${name}`, () => assert.deepEqual(differences(ours, published), []));
  }

  it("do not count that an object is made of several", () => {
    const parts = [
      { type: "object", properties: { a: { type: ["string", "null"] } } },
      { type: "object", properties: { a: { type: "string" }, b: {} }, required: ["a"] },
    ];
    assert.deepEqual(
      findDifferences(read("A { a: string, b?: any }"), { A: { allOf: parts } }, "A"),
      [],
    );
  });
});
