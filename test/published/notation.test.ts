import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseNotation } from "./notation.ts";
import { toSchemas } from "./schemas.ts";

const read = (text: string) => toSchemas(parseNotation(text, "a.txt"));
const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const words = (...values: string[]) => ({ type: "string", enum: values });

describe("the notation of descriptions", () => {
  it("has objects whose fields may be absent or null, and lists", () => {
    assert.deepEqual(read("A { a: string, b?: integer | null, c: [boolean] } # a comment"), {
      A: {
        type: "object",
        properties: {
          a: { type: "string" },
          b: { anyOf: [{ type: "integer" }, { type: "null" }] },
          c: { type: "array", items: { type: "boolean" } },
        },
        required: ["a", "c"],
      },
    });
  });

  it("has objects without other fields, and maps", () => {
    const { A, B } = read("A = exactly { a: any } B { [string]: number }");
    assert.deepEqual(A, {
      type: "object",
      properties: { a: {} },
      required: ["a"],
      additionalProperties: false,
    });
    assert.deepEqual(B, {
      type: "object",
      properties: {},
      required: [],
      additionalProperties: { type: "number" },
    });
  });

  it("puts the words of a union into one schema, and those of unions inside it", () => {
    const { A, B } = read('A = "a" | B | ("b" | null) B = "x.y" | "z"');
    assert.deepEqual(A, { anyOf: [words("a", "b"), ref("B"), { type: "null" }] });
    assert.deepEqual(B, words("x.y", "z"));
  });

  it("has fields that may not be there at all", () => {
    assert.deepEqual(read("A { a?: never }")["A"]?.["properties"], { a: { not: {} } });
  });

  it("joins objects to one, in which the later field counts", () => {
    const { C } = read("A { a: string, b?: string } B { b: integer } C = A & B & { c?: A }");
    assert.deepEqual(C, {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "integer" }, c: ref("A") },
      required: ["a", "b"],
    });
  });

  it("joins a union with an object as both", () => {
    const { D } = read("A { a: any } B { b: any } C = A | B D = C & { c?: any }");
    assert.deepEqual(Object.keys(D ?? {}), ["allOf"]);
  });

  it("replaces short forms, also inside of others", () => {
    const schemas = read('A { a: short } short = [word] word = "x" | "y"');
    assert.deepEqual(Object.keys(schemas), ["A"]);
    assert.deepEqual(schemas["A"]?.["properties"], {
      a: { type: "array", items: words("x", "y") },
    });
  });

  it("copies what a name reaches, and leaves what is defined under the new name", () => {
    const schemas = read("A { b: B, c: C } B { c: C } C = string NewC = integer copy A as New");
    assert.deepEqual(Object.keys(schemas).sort(), ["A", "B", "C", "NewA", "NewB", "NewC"]);
    assert.deepEqual(schemas["NewA"]?.["properties"], { b: ref("NewB"), c: ref("NewC") });
    assert.deepEqual(schemas["NewC"], { type: "integer" });
  });

  it("adds fields to objects, to each member of a union, and to what is made of them", () => {
    const { A, B, C } = read(
      "U = A | B A { a: any } B { b: any } C = A & { c: any } U &= { n?: any }",
    );
    assert.deepEqual(Object.keys(A?.["properties"] ?? {}), ["a", "n"]);
    assert.deepEqual(Object.keys(B?.["properties"] ?? {}), ["b", "n"]);
    assert.deepEqual(Object.keys(C?.["properties"] ?? {}), ["a", "n", "c"]);
  });

  it("adds members to unions", () => {
    const { U } = read('U = A | "x" A { a: any } B { b: any } U |= B | "y"');
    assert.deepEqual(U, { anyOf: [words("x", "y"), ref("A"), ref("B")] });
  });

  const wrong: Readonly<Record<string, readonly [string, RegExp]>> = {
    "a sign that means nothing": ["A {\n  a: string;\n}", /^a\.txt:2: `;` is not known/],
    "a field without a type": ["A { a }", /^a\.txt:1: expected `:`, not `}`/],
    "an object that does not end": ["A { a: string", /^a\.txt:1: expected `,`, not ``/],
    "a type that is missing": ["A =\nB = string", /^a\.txt:2: expected a name, not `=`/],
    "two names for one definition": ["A, B = string", /expected `\|=` or `&=`/],
    "a word as a name": ["string = integer", /expected a name, not `string`/],
    "a name that is not defined": ["A { b: B }", /^B is not defined/],
    "a short form that is not defined": ["A { b: b }", /^b is not defined/],
    "a definition that is there twice": ["A = string A = integer", /^A is defined twice/],
  };
  for (const [name, [text, message]] of Object.entries(wrong)) {
    it(`refuses ${name}`, () => {
      assert.throws(
        () => read(text),
        (thrown: Error) => message.test(thrown.message),
      );
    });
  }
});
